/*
 * test_trigger.c - conditions and times as users write them: what they mean, what is refused; and
 * tasks that threads begin at the same time.
 */
#include <check.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include "format/schema.h"
#include "recorder/ring/rec.h"
#include "recorder/guest/session.h"
#include "recorder/shared/trigger.h"
#include "tests/suite.h"

#define BIT(NAME) (1u << TRC_REASON_##NAME)
#define LOCKS	  (BIT(MUTEX) | BIT(RWLOCK_READ) | BIT(RWLOCK_WRITE) | BIT(SPIN) | BIT(ONCE))
#define WAITS	  (LOCKS | BIT(COND) | BIT(COND_MUTEX) | BIT(SEM) | BIT(BARRIER) | BIT(JOIN))

static const struct {
	const char *sentence, *text;
	int err;
	uint64_t ns;
} durations[] = {
	{"seconds", "10s", 0, 10000000000},
	{"milliseconds", "500ms", 0, 500000000},
	{"microseconds", "7us", 0, 7000},
	{"nanoseconds", "1ns", 0, 1},
	{"nothing at all is a time too", "0s", 0, 0},
	{"a fraction", "1.5s", 0, 1500000000},
	{"leading zeros in a fraction", "1.005ms", 0, 1005000},
	{"less than a nanosecond is nothing", "1.9ns", 0, 1},
	{"more digits than there are nanoseconds", "0.1234567891s", 0, 123456789},
	{"the longest", "18446744073s", 0, UINT64_C(18446744073000000000)},
	{"too long for 64 bits of nanoseconds", "18446744074s", -EINVAL, 0},
	{"too long by its fraction", "18446744073.8s", -EINVAL, 0},
	{"too many digits", "99999999999999999999ns", -EINVAL, 0},
	{"a number without a unit", "10", -EINVAL, 0},
	{"a unit without a number", "ms", -EINVAL, 0},
	{"nothing", "", -EINVAL, 0},
	{"a unit that is none", "10m", -EINVAL, 0},
	{"something after it", "10s ", -EINVAL, 0},
	{"something before it", " 10s", -EINVAL, 0},
	{"a sign", "-1s", -EINVAL, 0},
	{"a fraction without digits", "1.s", -EINVAL, 0},
	{"a fraction alone", ".5s", -EINVAL, 0},
	{"another country's fraction", "1,5s", -EINVAL, 0},
};

START_TEST(duration)
{
	uint64_t ns = 42;

	ck_assert_msg(trc_duration_parse(durations[_i].text, &ns) == durations[_i].err, "%s",
		      durations[_i].sentence);
	ck_assert_msg(ns == (durations[_i].err ? 42 : durations[_i].ns), "%s: %llu",
		      durations[_i].sentence, (unsigned long long)ns);
}
END_TEST

static const struct {
	const char *sentence, *text;
	enum trc_trigger_kind kind;
	uint64_t min_ns;
	uint32_t reasons;
	int signal;
	const char *name;
} good[] = {
	{"locks and what else one thread does for another", "park>100ms", TRC_TRIGGER_PARK,
	 100000000, WAITS, 0, ""},
	{"one reason", "park:mutex>1s", TRC_TRIGGER_PARK, 1000000000, BIT(MUTEX), 0, ""},
	{"several reasons", "park:mutex,cond,rwlock_write>5us", TRC_TRIGGER_PARK, 5000,
	 BIT(MUTEX) | BIT(COND) | BIT(RWLOCK_WRITE), 0, ""},
	{"I/O if it is named", "park:fsync,read>20ms", TRC_TRIGGER_PARK, 20000000,
	 BIT(FSYNC) | BIT(READ), 0, ""},
	{"the last of the reasons", "park:user>1ms", TRC_TRIGGER_PARK, 1000000, BIT(USER), 0, ""},
	{"a region", "region:parse>50ms", TRC_TRIGGER_REGION, 50000000, 0, 0, "parse"},
	{"a task", "task:GET /index.html>200ms", TRC_TRIGGER_TASK, 200000000, 0, 0,
	 "GET /index.html"},
	{"the last > is the one that counts", "region:a>b>1ms", TRC_TRIGGER_REGION, 1000000, 0, 0,
	 "a>b"},
	{"a colon in a name", "task:a:b>1ms", TRC_TRIGGER_TASK, 1000000, 0, 0, "a:b"},
	{"a signal", "signal=USR2", TRC_TRIGGER_SIGNAL, 0, 0, SIGUSR2, ""},
	{"a signal in full", "signal=SIGUSR1", TRC_TRIGGER_SIGNAL, 0, 0, SIGUSR1, ""},
	{"a signal by number", "signal=15", TRC_TRIGGER_SIGNAL, 0, 0, SIGTERM, ""},
	{"the end in good order", "exit", TRC_TRIGGER_EXIT, 0, 0, 0, ""},
	{"the other end", "crash", TRC_TRIGGER_CRASH, 0, 0, 0, ""},
};

START_TEST(understood)
{
	struct trc_trigger_spec spec;
	char error[128] = "untouched";

	ck_assert_msg(!trc_trigger_parse(&spec, good[_i].text, error, sizeof(error)), "%s: %s",
		      good[_i].sentence, error);
	ck_assert_int_eq(spec.kind, good[_i].kind);
	ck_assert_uint_eq(spec.min_ns, good[_i].min_ns);
	ck_assert_uint_eq(spec.reasons, good[_i].reasons);
	ck_assert_int_eq(spec.signal, good[_i].signal);
	ck_assert_str_eq(spec.name, good[_i].name);
	ck_assert_str_eq(spec.text, good[_i].text);
}
END_TEST

#define BYTES_30 "123456789012345678901234567890"

static const struct {
	const char *sentence, *text, *says;
} bad[] = {
	{"nothing", "", "not one of park>TIME"},
	{"an unknown word", "parks>1ms", "parks>1ms: not one of park>TIME"},
	{"an end with a time", "exit>1ms", "exit>1ms: not one of park>TIME"},
	{"a wait without a time", "park", "park: a time is missing"},
	{"a wait with an empty time", "park>", "not a time"},
	{"a time without a unit", "park>100", "100: not a time"},
	{"two times", "park>1s>2s", "park>1s>2s: more than one time"},
	{"a reason that is none", "park:mutex,cheese>1ms", "cheese: no such reason"},
	{"an empty reason", "park:>1ms", "no such reason"},
	{"an empty reason at the end", "park:mutex,>1ms", "no such reason"},
	{"a region without a name", "region>1ms", "a name is missing"},
	{"a region with an empty name", "region:>1ms", "a name is missing"},
	{"a region without a time", "region:parse", "region:parse: a time is missing"},
	{"a name that is too long", "task:" BYTES_30 BYTES_30 "1234>1s", "this name is too long"},
	{"a condition that is too long", "task:" BYTES_30 BYTES_30 BYTES_30 ">1s",
	 "this condition is too long"},
	{"what separates conditions", "region:a;b>1ms", "region:a: a condition holds no ';'"},
	{"a control character", "region:a\nb>1ms", "holds no ';' and no control character"},
	{"no signal", "signal=", "no such signal"},
	{"an unknown signal", "signal=USR3", "USR3: no such signal"},
	{"signal 0", "signal=0", "0: no such signal"},
	{"a number beyond the last signal", "signal=65", "65: no such signal"},
	{"a real-time signal beyond the last", "signal=RTMIN+64", "no such signal"},
	{"a signal that nobody sees", "signal=KILL", "KILL: no process sees this signal"},
	{"another that nobody sees", "signal=19", "19: no process sees this signal"},
};

START_TEST(refused)
{
	struct trc_trigger_spec spec;
	char error[256] = "";

	ck_assert_msg(trc_trigger_parse(&spec, bad[_i].text, error, sizeof(error)) == -EINVAL, "%s",
		      bad[_i].sentence);
	ck_assert_msg(strstr(error, bad[_i].says) != NULL, "%s: %s", bad[_i].sentence, error);
}
END_TEST

START_TEST(real_time_signals)
{
	struct trc_trigger_spec spec;
	char error[64];

	ck_assert(!trc_trigger_parse(&spec, "signal=RTMIN", error, sizeof(error)));
	ck_assert_int_eq(spec.signal, SIGRTMIN);
	ck_assert(!trc_trigger_parse(&spec, "signal=SIGRTMIN+3", error, sizeof(error)));
	ck_assert_int_eq(spec.signal, SIGRTMIN + 3);
}
END_TEST

START_TEST(short_errors)
{
	struct trc_trigger_spec spec;
	char error[9] = "12345678";

	ck_assert_int_eq(trc_trigger_parse(&spec, "park>1", error, 6), -EINVAL);
	ck_assert_str_eq(error, "1: no");
	ck_assert_int_eq(error[6], '7');
	ck_assert_int_eq(trc_trigger_parse(&spec, "park>1", NULL, 0), -EINVAL);
}
END_TEST

/* ---- open tasks ------------------------------------------------------------------------ */

enum { TASK_WAYS = 8, TASKS = 200000 };
static uint64_t task_type;
static uint64_t neighbour[TASK_WAYS + 1]; /* tasks of one set */

/* Any task that ends has lasted long enough. */
static struct trc_shared *open_session(void)
{
	struct trc_session_options o;
	char error[256] = "";

	ck_assert_int_eq(trc_session_options_init(&o, error, sizeof(error)), 0);
	ck_assert(!trc_trigger_parse(&o.trigger[0], "task:work>0ns", error, sizeof(error)));
	o.n_triggers = 1;
	ck_assert_msg(trc_session_open(&o, error, sizeof(error)) == 0, "%s", error);
	trc_session_record(true);
	/* Nobody waits for room. */
	atomic_store(&trc_session_shared()->drain_state, TRC_DRAIN_NONE);
	task_type = trc_string_intern("work", 4);
	return trc_session_shared();
}

/* As trigger_guest.c has them; that they are is seen by the first, which loses its place
 * (trigger_guest:Q2). */
static void find_neighbours(struct trc_shared *shared)
{
	uint64_t n = 0;

	for (uint64_t task = 1; n < TASK_WAYS + 1; task++)
		if (task * UINT64_C(0x9e3779b97f4a7c15) >> 55 == 0)
			neighbour[n++] = task;
	for (uint64_t i = 0; i < n; i++)
		trc_trigger_task_begin(neighbour[i], task_type);
	for (uint64_t i = 0; i < n; i++) {
		trc_trigger_task_end(neighbour[i]);
		ck_assert_uint_eq(atomic_load(&shared->n_triggers), i);
	}
	atomic_store(&shared->n_triggers, 0);
}

static void *begin_and_end(void *task)
{
	for (int i = 0; i < TASKS; i++) {
		trc_trigger_task_begin(*(uint64_t *)task, task_type);
		trc_trigger_task_end(*(uint64_t *)task);
	}
	return NULL;
}

START_TEST(tasks_that_begin_at_the_same_time_all_have_a_place)
{
	struct trc_shared *shared = open_session();
	pthread_t thread[2];

	find_neighbours(shared);
	for (int i = 0; i < 2; i++)
		pthread_create(&thread[i], NULL, begin_and_end, &neighbour[i]);
	for (int i = 0; i < 2; i++)
		pthread_join(thread[i], NULL);
	ck_assert_uint_eq(atomic_load(&shared->n_triggers), 2 * TASKS);
	trc_session_close();
}
END_TEST

/* Threads that bring a name at the same time may make an entry each. */
START_TEST(a_type_is_known_in_whichever_place_its_name_lies)
{
	struct trc_shared *shared = open_session();
	struct trc_entry_head *e = trc_string_entry(shared, task_type);
	uint64_t key = atomic_exchange(&e->key, TRC_KEY_BUSY);
	uint64_t other = trc_string_intern("work", 4);

	atomic_store(&e->key, key);
	ck_assert_uint_ne(other, 0);
	ck_assert_uint_ne(other, task_type);
	trc_trigger_task_begin(1, other);
	trc_trigger_task_end(1);
	ck_assert_uint_eq(atomic_load(&shared->n_triggers), 1);
	trc_trigger_task_begin(1, trc_string_intern("play", 4));
	trc_trigger_task_end(1);
	ck_assert_uint_eq(atomic_load(&shared->n_triggers), 1);
	trc_session_close();
}
END_TEST

#define N(array) (int)(sizeof(array) / sizeof(*(array)))

int main(void)
{
	Suite *suite = suite_create("trigger");
	TCase *tests = tcase_create("trigger");

	tcase_add_loop_test(tests, duration, 0, N(durations));
	tcase_add_loop_test(tests, understood, 0, N(good));
	tcase_add_loop_test(tests, refused, 0, N(bad));
	tcase_add_test(tests, real_time_signals);
	tcase_add_test(tests, short_errors);
	tcase_add_test(tests, tasks_that_begin_at_the_same_time_all_have_a_place);
	tcase_add_test(tests, a_type_is_known_in_whichever_place_its_name_lies);
	tcase_set_timeout(tests, 60);
	suite_add_tcase(suite, tests);
	return suite_run(suite);
}
