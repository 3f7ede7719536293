/*
 * open_waits.h - waits in progress that their threads have not recorded: where threads of a living
 * process wait, and for which file or peer.  A call that may or may not wait (read, recv, poll)
 * leaves three registers in its thread's slot, and mostly neither a stack nor a name.
 *
 * Not for recorded processes: these functions allocate, and call libc.
 *
 *   open_waits:Z1  a finding counts only if the slot did not change during the look.  The finding
 *       belongs to the wait of the slot's counter alone, and to no earlier or later wait
 *   open_waits:Z2  the next round takes up the younger waits at the slot where the last round had looked at as
 *       many as it may: threads of low slots that begin new waits again and again do not keep others out
 */
#ifndef TRC_RECORDER_DRAIN_OPEN_WAITS_H
#define TRC_RECORDER_DRAIN_OPEN_WAITS_H

#include "drain.h"
#include "recorder/shared/layout.h"

struct trc_open_waits; /* owned: trc_open_waits_free() it */

/* Where the slots of the process are; the process is not trusted. */
struct trc_open_waits_at {
	const struct trc_shared *mapping; /* NULL = the file, which may be cut short meanwhile */
	int fd;
	const struct trc_shared *header; /* a checked copy of the header, of now */
	int pid;
	bool no_names; /* its threads are called otherwise here: descriptors stay without names */
	/* A descriptor of /proc/PID/mem from before, by which a new image of the process is told from the one
	 * that has the mapping; NULL = it is not asked. */
	const int *mem_fd;
	/* 0 = a whole round, 200 ms at most; else a round takes several calls of about this length */
	uint64_t slice_ns;
	/* Of younger waits, that began at `young_until` (ticks) or before, a round looks at so many at most. */
	uint64_t young_until;
	uint32_t young_max;
};

/* A descriptor for `mem_fd`, to be opened when the image begins; the caller's.  -1 = the kernel does not
 * let us. */
int trc_open_waits_memory(int pid);

/* NULL = no memory. */
struct trc_open_waits *trc_open_waits_new(void);
/*
 * A round looks at the waits that began at `until` (ticks) or before.  Findings about waits that
 * still go on are kept, and these waits are not looked at again; other findings are forgotten.
 * True: the round is over.
 */
bool trc_open_waits_look(struct trc_open_waits *waits, const struct trc_open_waits_at *at,
			 uint64_t until);
void trc_open_waits_free(struct trc_open_waits *waits); /* accepts NULL */

/* `context` is a struct trc_open_waits, or NULL. */
trc_wait_find_fn trc_open_waits_find;

#endif
