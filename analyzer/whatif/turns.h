/*
 * turns.h - threads that take turns on a number of procs, as Linux's scheduler gives them.
 *
 *   turns:T1  a thread keeps its proc for a turn, if it is active for so long.  At the end of the turn it goes on, unless a
 *       waiting thread has had a proc for no longer than it
 *   turns:T2  a thread that becomes active again counts as if it had had a proc for as long as the active threads on
 *       average.  If it had had less than they when it began to wait, it keeps up to one turn of this.  So threads that sleep a
 *       lot soon have a proc, and do not catch up on what they did not need
 *   turns:T3  a thread that becomes active interrupts nobody: it waits for the end of a turn, and for the waiting threads that
 *       have had a proc for no longer than it
 *
 * The rules are those of EEVDF (Linux from 6.6 on) for threads of equal weight, with one queue for all procs.
 */
#ifndef TRC_ANALYZER_WHATIF_TURNS_H
#define TRC_ANALYZER_WHATIF_TURNS_H

#include "analyzer/model/model.h"
#include "heap.h"

struct trc_turn_taker;

struct trc_turns {
	uint32_t procs;
	int64_t turn_ns;
	struct trc_heap running; /* by when it stops: its time is over, or its turn */
	struct trc_heap ready;	 /* by had_ns */
	struct trc_turn_taker *taker;
	uint32_t last; /* had its time, and may ask for more; UINT32_MAX = none */
	uint32_t n_active;
	__int128 had_ns; /* by all that are active */
};

/* `active_ns` is what all threads need in all: it bounds the number of turns.  0 or -ENOMEM; free it in both cases. */
int trc_turns_make(struct trc_turns *t, uint32_t n_threads, uint32_t procs, int64_t turn_ns,
		   int64_t active_ns);
void trc_turns_free(struct trc_turns *t);

/* The thread needs a proc for need_ns.  If it has just had its time (trc_turns_next()) it still has its proc. */
void trc_turns_need(struct trc_turns *t, int64_t now_ns, uint32_t thread, int64_t need_ns);
/* When something happens next; INT64_MAX = never. */
int64_t trc_turns_next_ns(const struct trc_turns *t);
/* What happens then.  True: the thread has had its time; when it does something else, call trc_turns_leave(). */
bool trc_turns_next(struct trc_turns *t, uint32_t *thread);
/* Gives back the proc of the thread that had its time last, unless it has asked for more. */
void trc_turns_leave(struct trc_turns *t, int64_t now_ns);

/*
 * How long a turn was in the trace: half of the time of turns was in longer ones.  Turns are stretches on a proc after which the
 * proc ran another thread of the program at once, though the first could have gone on.  If there are too few: a tick of the
 * kernel at 250 Hz, as Debian's.  0 or -ENOMEM.
 */
int trc_turn_measure(int64_t *turn_ns, const struct trc_model *m);

#endif
