/* test_trigger.c - conditions and times as users write them: what they mean, what is refused. */
#include <check.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include "format/schema.h"
#include "recorder/trigger.h"

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

#define N(array) (int)(sizeof(array) / sizeof(*(array)))

int main(void)
{
	Suite *suite = suite_create("trigger");
	TCase *tests = tcase_create("trigger");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_add_loop_test(tests, duration, 0, N(durations));
	tcase_add_loop_test(tests, understood, 0, N(good));
	tcase_add_loop_test(tests, refused, 0, N(bad));
	tcase_add_test(tests, real_time_signals);
	tcase_add_test(tests, short_errors);
	suite_add_tcase(suite, tests);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
