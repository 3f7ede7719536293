/* thread_profile_fixture.h - threads that do something, and the profile that is taken of them. */
#ifndef TRC_TESTS_THREAD_PROFILE_FIXTURE_H
#define TRC_TESTS_THREAD_PROFILE_FIXTURE_H

#include <check.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include "recorder/profile/thread_profile.h"

#define LONG_NS UINT64_C(20000000000) /* more than any answer takes */

/* The part of the suite, in a file of its own, of how threads are asked; a flight recorder runs. */
void thread_profile_asks(TCase *t);
/* The same, of threads that are looked at. */
void thread_profile_looks(TCase *t);
/* Before any recorder runs. */
void thread_profile_looks_before(TCase *t);

struct worker {
	pthread_t thread;
	_Atomic uint32_t tid; /* 0 = not there yet */
	sem_t go_on;
	void (*work)(struct worker *worker);
	_Atomic bool stop;
	_Atomic uint32_t go_on_hidden; /* a futex word */
	int result;
};
/* Returns when the thread is there. */
void worker_start(struct worker *w, void (*work)(struct worker *));
void worker_end(struct worker *w);

/* The state that /proc tells of a thread. */
char state_of(uint32_t tid);
void wait_until_it_sleeps(const struct worker *w);

/* What workers do.  Until worker_end(), or sem_post() of go_on; also across handlers. */
void wait_to_go_on(struct worker *w);
void burn(struct worker *w);
/* The same, but the stack cannot be followed without a register that only the thread has: so it is
 * asked.  Also until worker_go_on_hidden(). */
void wait_hidden(struct worker *w);
void worker_go_on_hidden(struct worker *w);
/* As the interposer of a lock, lock_object, that the main thread has. */
void park(struct worker *w);
extern int lock_object;
/* As the interposer of a call that may take long, with its stack told only when it has. */
void wait_unannounced(struct worker *w);
void wait_unannounced_and_hidden(struct worker *w);

void thread_profile_set_up(void);
void thread_profile_tear_down(void);
extern struct trc_thread_profile *profile;
void take(uint64_t deadline_ns);
/* NULL = the thread is not in the profile. */
const struct trc_thread_row *row_of(uint32_t tid);
const struct trc_thread_row *expect_row(uint32_t tid, enum trc_thread_is is);
/* That a stack has a return address into this function of ours, which is small. */
void expect_function(const struct trc_thread_row *row, void (*function)(struct worker *));

#endif
