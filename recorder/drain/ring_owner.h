/*
 * ring_owner.h - who a ring belongs to, and whether that process lives: seen from another process,
 * which may be in another pid namespace.
 *
 * A process of a namespace inside ours has a pid here as well: /proc/PID/status tells both (NSpid).
 * Those of namespaces that ours does not contain are nowhere in our /proc; the initial namespace
 * contains all.
 */
#ifndef TRC_RECORDER_DRAIN_RING_OWNER_H
#define TRC_RECORDER_DRAIN_RING_OWNER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include "recorder/shared/layout.h"

enum trc_ring_owner {
	TRC_OWNER_ALIVE,
	TRC_OWNER_DEAD,
	TRC_OWNER_UNKNOWN, /* of another pid namespace: it cannot be told from here */
};

/* The inode of /proc/self/ns/pid; 0 = not known. */
uint64_t trc_namespace_here(void);
/* Whether it is of another pid namespace, where its pid is not what it is here. */
bool trc_ring_is_elsewhere(const struct trc_shared *header);
/* The owner of a ring file with this header and inode.  *pid: its pid here, or if that cannot be told
 * there. */
enum trc_ring_owner trc_ring_owner_find(const struct trc_shared *header, ino_t inode,
					uint32_t *pid);
/* What the owner, a process of a namespace inside ours, is called here; 0 = it has ended. */
uint32_t trc_ring_owner_inside(const struct trc_shared *header, ino_t inode);
/* Whether this process is still the owner, and the pid not another's by now; `inside` as above. */
bool trc_ring_owner_is(uint32_t pid, const struct trc_shared *header, ino_t inode, bool inside);
/* Whether nobody has this pid in this namespace (0 = ours); false if it cannot be told. */
bool trc_pid_is_free(uint32_t pid, uint64_t pid_namespace);
/* Whether the process has ended: also one that nobody has waited for yet. */
bool trc_process_has_ended(uint32_t pid);
/* What this thread is called in its own namespace; 0 = it is gone. */
uint32_t trc_tid_inside(uint32_t pid, uint32_t tid);

#endif
