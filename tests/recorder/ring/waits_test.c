/*
 * waits_test.c - which waits become events: those for which the thread was taken off its proc,
 * where that can be told (recorder/ring/offproc.h); else those that lasted long enough.
 *
 * All are recorded that are not shorter than 0 ns, so that it is not the clock that decides.
 */
#include <check.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/rseq.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>
#include "format/raw.h"
#include "recorder/ring/offproc.h"
#include "recorder/guest/session.h"
#include "ring_reader.h"
#include "tests/suite.h"

enum { SEEN_MAX = 1 << 16, WAITS = 300, BLOCK_BYTES = 1 << 20, UNREGISTER = 1 };

static char block[BLOCK_BYTES];
static int zero_fd;

/*
 * How often at most the calling thread can have lost a mark without having had to wait: by being
 * taken off its proc although it could have gone on, and by what the kernel has threads do every
 * 100 ms or so on their way back to the program.
 */
static size_t disturbances(void)
{
	struct timespec now;
	struct rusage usage;

	clock_gettime(CLOCK_MONOTONIC, &now);
	getrusage(RUSAGE_THREAD, &usage);
	return (size_t)usage.ru_nivcsw + (size_t)now.tv_sec * 20 + (size_t)now.tv_nsec / 50000000;
}

static void ready_read(size_t n_bytes)
{
	struct trc_wait wait;

	trc_wait_begin(&wait, TRC_REASON_READ, (uint64_t)zero_fd, NULL);
	trc_raw3(SYS_read, zero_fd, block, n_bytes);
	trc_wait_end(&wait, 0);
}

/* How many of the sleeps were sleeps: a thread that is kept from going to sleep for long enough
 * finds that it need not. */
static size_t slept;

static long times_off(void)
{
	struct rusage usage;

	getrusage(RUSAGE_THREAD, &usage);
	return usage.ru_nvcsw;
}

static void sleep_ns(long ns)
{
	struct timespec t = {0, ns};
	long before = times_off();
	struct trc_wait wait;

	trc_wait_begin(&wait, TRC_REASON_SLEEP, 0, NULL);
	trc_raw2(SYS_nanosleep, &t, NULL);
	trc_wait_end(&wait, 0);
	slept += times_off() != before;
}

/* ---- what is done, WAITS times -------------------------------------------------------- */

static void many_ready_reads(void)
{
	for (int i = 0; i < WAITS; i++)
		ready_read(BLOCK_BYTES);
}

static void many_sleeps(void)
{
	for (int i = 0; i < WAITS; i++)
		sleep_ns(1);
}

static sigjmp_buf before_the_wait;
static void (*in_handler)(void);

static void on_alarm(int sig)
{
	in_handler();
}

static void interrupted_sleeps(void (*handler)(void))
{
	const struct itimerval soon = {.it_value = {0, 1000}};

	in_handler = handler;
	signal(SIGALRM, on_alarm);
	for (int i = 0; i < WAITS; i++) {
		setitimer(ITIMER_REAL, &soon, NULL);
		sleep_ns(2000000);
	}
}

static void read_a_little(void)
{
	ready_read(1);
}
static void sleeps_whose_handler_waits(void)
{
	interrupted_sleeps(read_a_little);
}

static void record_something(void)
{
	if (trc_self_ready())
		trc_record_two(TRC_REC_WORD1(TRC_KIND_COUNTER, 0, 4, trc_self.serial), 1, 2);
}
static void sleeps_whose_handler_records(void)
{
	interrupted_sleeps(record_something);
}

static void leave(void)
{
	siglongjmp(before_the_wait, 1);
}

/* The wait that a handler jumps out of is never ended: the next one is another. */
static void sleeps_after_one_left_by_a_jump(void)
{
	const struct timespec forever = {1000, 0};
	const struct itimerval soon = {.it_value = {0, 1000}, .it_interval = {0, 1000}};
	const struct itimerval never = {.it_interval = {0, 0}};
	struct trc_wait wait;

	in_handler = leave;
	signal(SIGALRM, on_alarm);
	if (!sigsetjmp(before_the_wait, 1)) {
		trc_wait_begin(&wait, TRC_REASON_SLEEP, 0, NULL);
		setitimer(ITIMER_REAL, &soon, NULL);
		trc_raw2(SYS_nanosleep, &forever, NULL);
	}
	setitimer(ITIMER_REAL, &never, NULL);
	in_handler = record_something; /* one may be on its way */
	many_sleeps();
}

/* As in a vfork child: in its parent's memory, and quiet. */
static void sleeps_around_a_quiet_wait(void)
{
	for (int i = 0; i < WAITS; i++) {
		struct timespec t = {0, 1};
		long before = times_off();
		struct trc_wait wait;

		trc_wait_begin(&wait, TRC_REASON_SLEEP, 0, NULL);
		trc_raw2(SYS_nanosleep, &t, NULL);
		slept += times_off() != before;
		trc_self.quiet++;
		ready_read(1);
		trc_self.quiet--;
		trc_wait_end(&wait, 0);
	}
}

static void many_parks(void)
{
	for (int i = 0; i < WAITS; i++) {
		struct trc_wait wait;

		trc_park(&wait, TRC_REASON_MUTEX, block, 0);
		trc_resume(&wait, 0);
	}
}

/* ---- what is recorded of it ----------------------------------------------------------- */

enum expected {
	ALL,
	SLEPT,	   /* those that were; all where that cannot be told */
	DISTURBED, /* no more than it was disturbed; all where that cannot be told */
};

struct row {
	const char *says;
	void (*wait)(void);
	enum trc_reason reason;
	enum trc_kind kind;
	enum expected expected;
	enum trc_ring_path path;
	bool unregistered; /* the thread has no restartable sequences, but others do */
};

static const struct row ROWS[] = {
	{"a read that finds its bytes is no wait, however long it copies them", many_ready_reads,
	 TRC_REASON_READ, TRC_KIND_WAIT, DISTURBED, TRC_PATH_AUTO, false},
	{"a sleep is one, however short", many_sleeps, TRC_REASON_SLEEP, TRC_KIND_WAIT, SLEPT,
	 TRC_PATH_AUTO, false},
	{"a sleep interrupted by a handler that reads is one", sleeps_whose_handler_waits,
	 TRC_REASON_SLEEP, TRC_KIND_WAIT, SLEPT, TRC_PATH_AUTO, false},
	{"the handler's read is none", sleeps_whose_handler_waits, TRC_REASON_READ, TRC_KIND_WAIT,
	 DISTURBED, TRC_PATH_AUTO, false},
	{"a sleep interrupted by a handler that records is one", sleeps_whose_handler_records,
	 TRC_REASON_SLEEP, TRC_KIND_WAIT, SLEPT, TRC_PATH_AUTO, false},
	{"sleeps after a wait that was left by a jump are", sleeps_after_one_left_by_a_jump,
	 TRC_REASON_SLEEP, TRC_KIND_WAIT, SLEPT, TRC_PATH_AUTO, false},
	{"a sleep in which a vfork child reads is one", sleeps_around_a_quiet_wait,
	 TRC_REASON_SLEEP, TRC_KIND_WAIT, SLEPT, TRC_PATH_AUTO, false},
	{"a park is announced, so it is recorded in any case", many_parks, TRC_REASON_MUTEX,
	 TRC_KIND_PARK, ALL, TRC_PATH_AUTO, false},
	{"and so is its end", many_parks, TRC_REASON_MUTEX, TRC_KIND_RESUME, ALL, TRC_PATH_AUTO,
	 false},
	{"without restartable sequences the clock decides", many_ready_reads, TRC_REASON_READ,
	 TRC_KIND_WAIT, ALL, TRC_PATH_OVERFLOW, false},
	{"without them a sleep is a wait as well", many_sleeps, TRC_REASON_SLEEP, TRC_KIND_WAIT,
	 ALL, TRC_PATH_OVERFLOW, false},
	{"the clock decides for a thread that the kernel does not know", many_ready_reads,
	 TRC_REASON_READ, TRC_KIND_WAIT, ALL, TRC_PATH_AUTO, true},
};

static void unregister(void)
{
	char *area = (char *)__builtin_thread_pointer() + trc_rseq_offset;

	if (trc_rseq_usable)
		ck_assert_int_eq(trc_raw4(SYS_rseq, area, 32, UNREGISTER, RSEQ_SIG), 0);
}

static size_t count(const struct ring_reader *r, const struct row *row)
{
	size_t n = 0;

	for (size_t i = 0; i < r->n_seen; i++)
		n += r->seen[i].kind == row->kind && r->seen[i].a == row->reason;
	return n;
}

static void begin(const struct row *row)
{
	struct trc_session_options o;
	char error[256] = "";

	ck_assert_int_eq(trc_session_options_init(&o, error, sizeof(error)), 0);
	o.min_wait_ns = 0;
	o.path = getenv("TRC_RING_PATH") ? o.path : row->path;
	o.unwind = TRC_UNWIND_NONE;
	ck_assert_msg(trc_session_open(&o, error, sizeof(error)) == 0, "%s", error);
	if (row->unregistered)
		unregister();
	zero_fd = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	ck_assert_int_ge(zero_fd, 0);
	trc_session_record(true);
}

START_TEST(which_waits_are_recorded)
{
	const struct row *row = &ROWS[_i];
	struct ring_reader reader;
	size_t n, n_disturbed;

	begin(row);
	ring_reader_init(&reader, trc_session_shared(), SEEN_MAX);
	n_disturbed = disturbances();
	row->wait();
	n_disturbed = disturbances() - n_disturbed + 1;
	trc_session_record(false);
	ring_reader_finish(&reader, trc_session_shared());
	ck_assert_uint_eq(reader.lost, 0);
	n = count(&reader, row);
	printf("%-68s %zu (disturbed at most %zu times)\n", row->says, n, n_disturbed);
	if (row->expected == ALL || !trc_mark_tells) {
		ck_assert_uint_eq(n, WAITS);
	} else if (row->expected == SLEPT) {
		ck_assert_uint_ge(slept, WAITS / 2);
		ck_assert_uint_ge(n, slept);
		ck_assert_uint_le(n, WAITS);
	} else {
		ck_assert_uint_le(n, n_disturbed);
	}
	ring_reader_free(&reader);
	trc_session_close();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("waits");
	TCase *waits = tcase_create("waits");

	tcase_set_timeout(waits, 60);
	tcase_add_loop_test(waits, which_waits_are_recorded, 0,
			    (int)(sizeof(ROWS) / sizeof(ROWS[0])));
	suite_add_tcase(suite, waits);
	return suite_run(suite);
}
