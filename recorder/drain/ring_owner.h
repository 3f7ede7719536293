/*
 * ring_owner.h - which process a ring belongs to, and whether it lives: asked by another process,
 * which may be in another pid namespace.
 *
 * "Here" is the pid namespace of the asking process.  A process of a namespace inside ours has a
 * pid here as well: /proc/PID/status has both pids (NSpid).  Processes of namespaces that ours does
 * not contain are not in our /proc; the initial namespace contains all.
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
	TRC_OWNER_UNKNOWN, /* in a pid namespace that cannot be seen from here */
};

/* The inode of /proc/self/ns/pid; 0 = not known. */
uint64_t trc_namespace_here(void);
/* True if the ring's process is in another pid namespace, where its pid differs from its pid
 * here. */
bool trc_ring_is_elsewhere(const struct trc_shared *header);
/* Finds the owner of a ring file with this header and inode.  *pid is the owner's pid here, or if
 * that is not known, its pid in its own namespace. */
enum trc_ring_owner trc_ring_owner_find(const struct trc_shared *header, ino_t inode,
					uint32_t *pid);
/* The pid here of an owner in a namespace inside ours; 0 = the owner has ended. */
uint32_t trc_ring_owner_inside(const struct trc_shared *header, ino_t inode);
/* True if this process is still the owner, and the pid has not become another process's.  `inside`:
 * the owner is in a namespace inside ours. */
bool trc_ring_owner_is(uint32_t pid, const struct trc_shared *header, ino_t inode, bool inside);
/* True if no process has this pid in this namespace (0 = ours); false if this is not known. */
bool trc_pid_is_free(uint32_t pid, uint64_t pid_namespace);
/* True if the process has ended, also if its parent has not waited for it yet. */
bool trc_process_has_ended(uint32_t pid);
/* The tid of this thread in its own namespace; 0 = the thread is gone. */
uint32_t trc_tid_inside(uint32_t pid, uint32_t tid);

#endif
