/*
 * thread_answer.h - asks threads what they are doing, by a signal to each thread.
 *
 * The asking thread fills in a cell and sends a SIGPROF that names the cell.  The handler writes
 * the thread's stack, and other facts that only the thread itself knows, into the cell.  The cells
 * lie in memory of this process alone, mapped once for ever: an answer may come at any time later.
 *
 *   thread_answer:W1  a cell is FREE, ASKED, FILLING, ANSWERED or DROPPED, together with the number
 *       of the question; numbers are never used twice, so that the signal of an old question finds
 *       no cell.  Only one side takes a cell from ASKED: the asked thread to FILLING, or the asking
 *       thread, when it has waited long enough, to DROPPED.  A DROPPED cell is FREE again when the
 *       signal has come after all, or the thread is gone
 *   thread_answer:W2  a cell that is FILLING or ANSWERED has its content only once it is ANSWERED
 *   thread_answer:W3  a thread has at most one SIGPROF pending besides those of timers.  So a
 *       question may be lost if one is pending already, and is then asked again
 *   thread_answer:W4  if the kernel has no memory for a signal's siginfo, the kernel sends the
 *       signal without it.  Such a signal goes to the cell by which the thread was asked, and never
 *       to the program.  So a cell stays the thread's, as DROPPED, while an unanswered signal may
 *       be on its way
 *   thread_answer:W5  while a thread is in an exec, nothing is sent: a signal pending then would
 *       stay pending for the next program, which has no handler
 */
#ifndef TRC_RECORDER_SAMPLING_THREAD_ANSWER_H
#define TRC_RECORDER_SAMPLING_THREAD_ANSWER_H

#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include "recorder/shared/layout.h"

enum { TRC_ANSWERS_MAX = 4096 };

enum trc_answer_phase {
	TRC_ANSWER_FREE,
	TRC_ANSWER_ASKED,
	TRC_ANSWER_FILLING,
	TRC_ANSWER_ANSWERED,
	TRC_ANSWER_DROPPED,
};
#define TRC_ANSWER_NUMBER(state)   ((state) >> 3)
#define TRC_ANSWER_PHASE(state)	   ((enum trc_answer_phase)((state)&7))
#define TRC_ANSWER_STATE(n, phase) ((uint64_t)(n) << 3 | (uint64_t)(phase))

struct trc_answer {
	_Alignas(TRC_LINE_BYTES) _Atomic uint64_t state; /* number of the question, phase */
	_Atomic uint32_t tid;				 /* who is asked */
	bool sent_again;				 /* by who asks, for who asks */

	/* Stored by that thread. */
	uint32_t serial; /* 0 = it is not of the session */
	uint32_t epoch;	 /* of modules */
	uint32_t n_frames;
	uint32_t reason; /* as in struct trc_slot; 0 = its slot tells of no wait */
	bool blocked;	 /* the signal found it in a call that waited */
	bool cramped;	 /* on an alternate stack that is too small: it has no frames */
	uint64_t object, since, holder, labels;
	uint64_t begin, end; /* ticks: for so long it was interrupted */
	char name[16];
	uint64_t frame[TRC_STACK_DEPTH_MAX]; /* return addresses (also the first, made one) */
};

/* Makes the cells, and SIGPROF ours.  Cells that were answered too late, or whose thread is gone,
 * are FREE again.  0 or -ENOMEM.  Context: any thread, may block; one at a time; while this process
 * is recorded. */
int trc_answers_setup(void);
/* i < TRC_ANSWERS_MAX, after the above. */
struct trc_answer *trc_answer_cell(uint32_t i);

/* Asks a thread of this process by a cell that is FREE (or ANSWERED, which forgets the answer; or
 * DROPPED: better so than not at all).
 * 0; -ESRCH: there is no such thread; -EAGAIN: not yet, some thread is in an exec (W5), the cell is
 * ASKED; or what else the kernel says.  Context: the one thread that asks. */
int trc_answer_ask(uint32_t i, uint32_t tid);
/* The same question again (W3).  As above. */
int trc_answer_ask_again(uint32_t i);
/* Takes the question back; false: an answer comes, or is there. */
bool trc_answer_drop(uint32_t i);
/* Gives back an ANSWERED cell, whose answer is no longer wanted. */
void trc_answer_give(uint32_t i);

/*
 * Around an exec of the calling thread (W5).  True: from here on no question is sent, and sent
 * questions are pending or have arrived.  Then the second function has to follow if the exec fails.
 * False: there is nothing to do, as in a child that runs in our memory.  The call waits, for a
 * bounded time, for questions that are just being sent.  Context: any thread, signal handlers.
 */
bool trc_answers_hold(void);
void trc_answers_release(void);
/* True if any thread has ever been asked here: a signal may be pending.  Context: as above. */
bool trc_answers_asked(void);
/* In a forked child, where no thread is in an exec.  Context: the child's only thread. */
void trc_answers_forget(void);

/* The first returns the number of answers so far.  The second waits until there are more answers,
 * for a limited time.  Context: the one thread that asks. */
uint32_t trc_answers_count(void);
void trc_answers_wait(uint32_t seen, uint64_t ns);

/* True if a SIGPROF is a question. */
bool trc_answer_is_question(const siginfo_t *info);
/* Answers a question that is not out of date.  `context` NULL: the thread has waited for the
 * signal.  Context: signal handler of the interrupted thread, all signals blocked. */
void trc_answer_signal(const siginfo_t *info, const void *context);

#endif
