/* test_perf_buffer.c - the kernel's switch records, where they may be had. */
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "perf_fixture.h"
#include "recorder/shared/layout.h"
#include "tests/suite.h"

static struct {
	uint32_t main_tid, old_tid, new_tid;
	uint64_t on[3], off[3]; /* of those three */
	uint64_t lost, others, last_ns[64];
	uint64_t latest_ns; /* of the new thread's */
	bool is_off;	    /* the new thread, by its latest */
	bool ordered;
} seen;

static void note(void *context, const struct trc_perf_record *r)
{
	int who = r->tid == seen.main_tid  ? 0
		  : r->tid == seen.old_tid ? 1
		  : r->tid == seen.new_tid ? 2
					   : -1;

	ck_assert_uint_lt(r->proc, 64);
	ck_assert_int_le(r->what, TRC_PERF_LOST);
	seen.ordered &= r->raw_ns >= seen.last_ns[r->proc];
	seen.last_ns[r->proc] = r->raw_ns;
	seen.lost += r->lost;
	if (r->lost)
		return;
	seen.others += r->pid != (uint32_t)getpid();
	if (who >= 0 && r->out)
		seen.off[who]++;
	else if (who >= 0)
		seen.on[who]++;
	if (who == 2 && r->raw_ns >= seen.latest_ns) {
		seen.latest_ns = r->raw_ns;
		seen.is_off = r->out;
	}
}

static struct trc_perf *open_or_skip(void)
{
	const struct trc_perf_options options = {.pid = getpid(), .switches = true};
	struct trc_perf *p;
	char why[128];

	if (!trc_perf_open(&p, &options, why, sizeof(why)))
		return p;
	printf("skipped: %s\n", why);
	exit(0);
}

START_TEST(threads_that_are_there_and_those_to_come_are_seen)
{
	struct trc_perf *p;
	pthread_t old, new;

	seen.ordered = true;
	seen.main_tid = (uint32_t)getpid();
	old = start(&seen.old_tid);
	p = open_or_skip();
	play(TURNS);
	stop(old);
	new = start(&seen.new_tid);
	play(TURNS);
	stop(new);
	trc_perf_pass(p, true, note, NULL);
	trc_perf_close(p);
	for (int i = 0; i < 3; i++) {
		ck_assert_uint_ge(seen.on[i], TURNS / 4);
		ck_assert_uint_ge(seen.off[i], TURNS / 4);
	}
	ck_assert(seen.ordered);
	ck_assert_uint_eq(seen.others, 0);
	ck_assert_uint_eq(seen.lost, 0);
}
END_TEST

/* It has been joined before the kernel is done with it. */
START_TEST(who_has_ended_is_off)
{
	struct trc_perf *p = open_or_skip();
	struct timespec t = {0, 1000000};
	pthread_t new = start(&seen.new_tid);

	play(TURNS);
	stop(new);
	do { /* until the test's time is over */
		nanosleep(&t, NULL);
		trc_perf_pass(p, true, note, NULL);
	} while (tgkill(getpid(), (int)seen.new_tid, 0) == 0);
	trc_perf_pass(p, true, note, NULL);
	trc_perf_close(p);
	ck_assert(seen.is_off);
	ck_assert_uint_eq(seen.on[2], seen.off[2]);
}
END_TEST

START_TEST(the_latest_records_wait_for_their_thread_to_be_known)
{
	struct trc_perf *p = open_or_skip();
	pthread_t other = start(&seen.old_tid);
	struct timespec t = {0, 30000000};

	/* On a busy machine they may be old enough already when the pass comes. */
	for (int i = 0; i < 50; i++) {
		trc_perf_pass(p, true, note, NULL);
		play(20);
		if (!trc_perf_pass(p, false, note, NULL))
			break;
		ck_assert_int_lt(i, 49);
	}
	nanosleep(&t, NULL);
	ck_assert_uint_ge(trc_perf_pass(p, false, note, NULL), 20);
	stop(other);
	trc_perf_close(p);
}
END_TEST

START_TEST(what_the_kernel_had_no_room_for_is_counted)
{
	struct trc_perf *p = open_or_skip();
	pthread_t other = start(&seen.old_tid);
	uint64_t n;

	play(FLOOD_TURNS);
	n = trc_perf_pass(p, true, note, NULL);
	play_on_every_proc(); /* now there is room to tell */
	n += trc_perf_pass(p, true, note, NULL);
	stop(other);
	trc_perf_close(p);
	ck_assert_uint_gt(seen.lost, 0);
	/* Each turn of each thread is a switch out and one in, unless it did not have to wait. */
	ck_assert_uint_gt(n + seen.lost, FLOOD_TURNS);
}
END_TEST

static _Atomic int signals;
static void on_signal(int sig)
{
	atomic_fetch_add(&signals, 1);
}

START_TEST(half_a_buffer_is_told_by_a_signal_if_asked_for)
{
	struct trc_perf *p = open_or_skip();
	pthread_t other = start(&seen.old_tid);

	signal(SIGIO, on_signal);
	play(FLOOD_TURNS);
	ck_assert_int_eq(atomic_load(&signals), 0);
	trc_perf_pass(p, true, note, NULL);
	play_on_every_proc(); /* tells what was lost until now */
	trc_perf_pass(p, true, note, NULL);
	ck_assert_uint_gt(seen.lost, 0);
	seen.lost = 0;
	ck_assert(trc_perf_signal(p));
	for (int i = 0; i < FLOOD_TURNS / TURNS && !atomic_load(&signals); i++)
		play(TURNS);
	ck_assert_int_ge(atomic_load(&signals), 1);
	/* It came in time. */
	trc_perf_pass(p, true, note, NULL);
	play_on_every_proc();
	trc_perf_pass(p, true, note, NULL);
	ck_assert_uint_eq(seen.lost, 0);
	stop(other);
	trc_perf_close(p);
}
END_TEST

static struct trc_perf *open_flight_or_skip(void)
{
	const struct trc_perf_options options = {
		.pid = getpid(), .switches = true, .flight = true, .max_bytes = 1};
	struct trc_perf *p;
	char why[128];

	if (!trc_perf_open(&p, &options, why, sizeof(why)))
		return p;
	printf("skipped: %s\n", why);
	exit(0);
}

/* Any proc that had more than its 16 KiB, 512 records, hold. */

START_TEST(in_flight_mode_a_copy_has_all_while_there_is_room)
{
	struct trc_perf *p = open_flight_or_skip();
	pthread_t other = start(&seen.old_tid);

	seen.ordered = true;
	seen.main_tid = (uint32_t)getpid();
	play(40);
	ck_assert_uint_eq(trc_perf_pass(p, true, note, NULL), 0);
	ck_assert_int_eq(trc_perf_copy(p), 0);
	ck_assert_uint_ge(trc_perf_pass(p, false, note, NULL), 40);
	ck_assert(seen.ordered);
	ck_assert_uint_ge(seen.off[0], 10);
	ck_assert_uint_eq(seen.lost, 0);
	ck_assert_uint_eq(oldest_of_any(p), 0);
	stop(other);
	trc_perf_close(p);
}
END_TEST

START_TEST(in_flight_mode_the_latest_are_held_and_it_is_said_since_when)
{
	struct trc_perf *p = open_flight_or_skip();
	pthread_t other = start(&seen.old_tid);
	uint64_t n, first_ns;

	play(4000);
	ck_assert_int_eq(trc_perf_copy(p), 0);
	n = trc_perf_pass(p, true, note, NULL);
	first_ns = oldest_of_any(p);
	ck_assert_uint_gt(first_ns, 0);
	ck_assert_uint_ge(n, 256);
	ck_assert_uint_le(n, (uint64_t)sysconf(_SC_NPROCESSORS_CONF) * 512);
	play(4000);
	ck_assert_int_eq(trc_perf_copy(p), 0);
	ck_assert_uint_gt(oldest_of_any(p), first_ns);
	/* The copy stays as it is, whatever happens. */
	memset(&seen, 0, sizeof(seen));
	seen.ordered = true;
	n = trc_perf_pass(p, true, note, NULL);
	play(100);
	memset(&seen, 0, sizeof(seen));
	seen.ordered = true;
	ck_assert_uint_eq(trc_perf_pass(p, true, note, NULL), n);
	ck_assert(seen.ordered);
	stop(other);
	trc_perf_close(p);
}
END_TEST

START_TEST(in_flight_mode_copies_may_go_on_where_others_ended)
{
	struct trc_perf *p = open_flight_or_skip();
	uint64_t head[TRC_PROCS_MAX] = {0}, n[2];
	pthread_t other = start(&seen.old_tid);

	seen.ordered = true;
	seen.main_tid = (uint32_t)getpid();
	play(20);
	ck_assert_int_eq(trc_perf_copy_since(p, head), 0);
	n[0] = trc_perf_pass(p, true, note, NULL);
	ck_assert_uint_ge(seen.off[0], 10);
	seen.off[0] = 0;
	play(20);
	ck_assert_int_eq(trc_perf_copy_since(p, head), 0);
	n[1] = trc_perf_pass(p, true, note, NULL);
	ck_assert_uint_ge(seen.off[0], 10);
	ck_assert(seen.ordered);
	ck_assert_uint_eq(oldest_of_any(p), 0);
	/* Of all that there is they have had each once. */
	ck_assert_int_eq(trc_perf_copy(p), 0);
	ck_assert_uint_ge(trc_perf_pass(p, true, note, NULL), n[0] + n[1]);
	/* More than there is room for. */
	play(4000);
	ck_assert_int_eq(trc_perf_copy_since(p, head), 0);
	ck_assert_uint_gt(oldest_of_any(p), 0);
	stop(other);
	trc_perf_close(p);
}
END_TEST

START_TEST(a_process_that_is_not_there_is_an_error_with_a_reason)
{
	const struct trc_perf_options options = {
		.pid = 0x3ffffff0, .at_exec = true, .switches = true};
	struct trc_perf *p = NULL;
	char why[128] = "";

	ck_assert_int_lt(trc_perf_open(&p, &options, why, sizeof(why)), 0);
	ck_assert_ptr_null(p);
	ck_assert_ptr_nonnull(strstr(why, "no: perf_event_open: "));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("perf_buffer");
	TCase *t = tcase_create("perf_switch");

	tcase_set_timeout(t, 30);
	tcase_add_test(t, threads_that_are_there_and_those_to_come_are_seen);
	tcase_add_test(t, who_has_ended_is_off);
	tcase_add_test(t, the_latest_records_wait_for_their_thread_to_be_known);
	tcase_add_test(t, what_the_kernel_had_no_room_for_is_counted);
	tcase_add_test(t, half_a_buffer_is_told_by_a_signal_if_asked_for);
	tcase_add_test(t, in_flight_mode_a_copy_has_all_while_there_is_room);
	tcase_add_test(t, in_flight_mode_the_latest_are_held_and_it_is_said_since_when);
	tcase_add_test(t, in_flight_mode_copies_may_go_on_where_others_ended);
	tcase_add_test(t, a_process_that_is_not_there_is_an_error_with_a_reason);
	perf_samples(t);
	perf_by_hand(t);
	perf_deferred(t);
	suite_add_tcase(suite, t);
	players_init();
	return suite_run(suite);
}
