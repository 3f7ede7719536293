/*
 * holds.h - rows of model.h: when threads held locks, and when they could have run and had no proc.
 */
#ifndef TRC_ANALYZER_MODEL_HOLDS_H
#define TRC_ANALYZER_MODEL_HOLDS_H

#include <stdbool.h>
#include <stdint.h>

/* A thread held a lock, from its first acquisition to its last release; rows by start.  Known with
 * --locks=all, except holds during which events were lost. */
struct trc_hold {
	int64_t start_ns, end_ns; /* end_ns TRC_NEVER: it was not released in the trace */
	uint64_t object;
	uint32_t thread;
	uint32_t stack; /* where it was taken */
	uint32_t depth; /* so often it is to be released: of derivation, 0 in the end */
	uint32_t proc;	/* where it was taken */
	uint8_t reason;
	bool tried; /* taken by a call that would not have waited */
};

/* Of an unlock's critical section, where switch records tell. */
struct trc_preempted_section {
	int64_t preempted_ns;	    /* its holder had no proc, while others waited for the lock */
	int64_t preempted_waits_ns; /* that others waited meanwhile, summed: a part of caused_ns */
};

enum trc_latency_kind {
	TRC_LATENCY_WOKEN,     /* another thread ended its wait */
	TRC_LATENCY_NEW,       /* it was created */
	TRC_LATENCY_PREEMPTED, /* it was taken off its proc, and could have gone on */
};

/* A thread could run, and did so later: known from switch records.  Rows by woken_ns. */
struct trc_latency {
	int64_t woken_ns, running_ns; /* since when it could run, and since when it ran */
	int64_t own_ns;	    /* of that time the program's threads ran on instead_proc; the rest is
			 * other programs', the kernel's or idle */
	int64_t instead_ns; /* one of them most of it; TRC_NEVER = not counted */
	uint32_t instead;   /* that thread; 0 = none did, or not counted */
	uint32_t instead_proc; /* where it was taken off; of who was woken, where it ran then */
	uint32_t thread, proc; /* the thread, and where it ran then */
	uint32_t park;	       /* the wait from which it was woken, its id in parks; 0 = none */
	uint32_t waker;	       /* thread, or who created it; 0 = none */
	uint8_t kind;	       /* enum trc_latency_kind */
};

#endif
