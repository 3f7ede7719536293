/*
 * serials_test.c - the serial of a thread by its pthread_t, which the next thread has again: of the
 * thread that has it now, and 0 when that has ended.
 */
#include <check.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include "recorder/guest/session.h"
#include "recorder/ring/rec.h"
#include "tests/suite.h"

enum { AT_ONCE = 40, ROUNDS = 60 };

struct one {
	pthread_t thread;
	sem_t go;
	uint32_t serial;
};

static sem_t step;

static void *live(void *arg)
{
	struct one *one = arg;

	trc_thread_started(0, 0, 0, 0);
	one->serial = trc_self.serial;
	sem_post(&step);
	sem_wait(&one->go);
	trc_thread_ended();
	sem_post(&step);
	sem_wait(&one->go);
	return NULL;
}

static void begin(struct one *one)
{
	sem_init(&one->go, 0, 0);
	ck_assert_int_eq(pthread_create(&one->thread, NULL, live, one), 0);
	sem_wait(&step);
}

/* As the drain does, at times. */
static void free_ended_slots(void)
{
	struct trc_shared *shared = trc_session_shared();

	for (uint32_t i = 0; i < trc_slots_used(shared, shared->n_threads); i++) {
		uint32_t ended = TRC_SLOT_ENDED;

		atomic_compare_exchange_strong(&trc_slot_at(shared, i)->state, &ended,
					       TRC_SLOT_FREE);
	}
}

/* First the recorder's end, then the thread's. */
static void end(struct one *one)
{
	sem_post(&one->go);
	sem_wait(&step);
	ck_assert_uint_eq(trc_thread_serial((uint64_t)one->thread), 0);
	sem_post(&one->go);
	pthread_join(one->thread, NULL);
	ck_assert_uint_eq(trc_thread_serial((uint64_t)one->thread), 0);
}

static void open_session(void)
{
	struct trc_session_options o;
	char error[256] = "";

	ck_assert_int_eq(trc_session_options_init(&o, error, sizeof(error)), 0);
	ck_assert_msg(trc_session_open(&o, error, sizeof(error)) == 0, "%s", error);
	trc_session_record(true);
	/* Nobody waits for room. */
	atomic_store(&trc_session_shared()->drain_state, TRC_DRAIN_NONE);
}

START_TEST(a_serial_is_that_of_the_thread_that_has_the_pthread_t_now)
{
	static struct one one[AT_ONCE];
	uint32_t newest = 0;

	sem_init(&step, 0, 0);
	open_session();
	for (int i = 0; i < AT_ONCE; i++)
		begin(&one[i]);
	for (int i = 0; i < AT_ONCE * ROUNDS; i++) {
		struct one *next = &one[i * 7 % AT_ONCE];

		end(next);
		if (i % 100 == 99)
			free_ended_slots();
		begin(next);
		ck_assert_uint_gt(next->serial, newest);
		newest = next->serial;
		for (int k = 0; k < AT_ONCE; k++)
			ck_assert_uint_eq(trc_thread_serial((uint64_t)one[k].thread),
					  one[k].serial);
	}
	/* Whatever their hashes are, these are no threads. */
	for (uint64_t thread = 8; thread < 8 * 10000; thread += 8)
		ck_assert_uint_eq(trc_thread_serial(thread), 0);
	for (int i = 0; i < AT_ONCE; i++)
		end(&one[i]);
	trc_session_close();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("serials");
	TCase *c = tcase_create("serials");

	tcase_add_test(c, a_serial_is_that_of_the_thread_that_has_the_pthread_t_now);
	tcase_set_timeout(c, 60);
	suite_add_tcase(suite, c);
	return suite_run(suite);
}
