/* drain_observers.c - who looks on while a mapping is drained. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "drain_fixture.h"
#include "recorder/shared/clock.h"
#include "recorder/drain/private.h"
#include "recorder/drain/perf_buffer.h"

/* ---- who looks on ---------------------------------------------------------------------- */

static struct seen {
	struct trc_event event[4096];
	size_t n;
	char labels[8][64]; /* "thread key=value" */
	size_t n_labels;
} seen;

static void see_event(void *context, const struct trc_writer *writer, const struct trc_event *event)
{
	ck_assert_ptr_eq(context, &seen);
	ck_assert_ptr_eq(writer, f.w);
	ck_assert_uint_lt(seen.n, sizeof(seen.event) / sizeof(*seen.event));
	seen.event[seen.n++] = *event;
}

static void see_labels(void *context, const struct trc_writer *writer, uint32_t thread,
		       uint32_t labels)
{
	struct trc_label label[TRC_LABELS_MAX];

	ck_assert_ptr_eq(context, &seen);
	ck_assert_uint_eq(trc_writer_label_set_of(writer, labels, label), 1);
	snprintf(seen.labels[seen.n_labels++], sizeof(*seen.labels), "%u %.*s=%.*s", thread,
		 (int)label->key_bytes, label->key, (int)label->value_bytes, label->value);
}

static const struct trc_drain_observer observer = {see_event, see_labels, &seen};

static void put_some_of_all(void)
{
	uint64_t frame[2] = {0x1000, 0x2000}, log[3 + 1] = {41, 0, 3};
	uint64_t park[4] = {TRC_REASON_MUTEX, 0xabc, 0, 0};
	uint64_t gap[3] = {5, fake_time(&f, 1), TRC_GAP_RING_FULL};
	struct trc_perf_record lost = {.what = TRC_PERF_LOST, .lost = 3};

	park[3] = fake_stack(&f, 5, 0, frame, 2);
	memcpy(log + 3, "abc", 3);
	for (uint64_t n = 1; n <= 20; n++) {
		put_counted(0, 10 * n);
		fake_put(&f, 1, 100 + 10 * n, TRC_KIND_PARK, 0, 7, park, 4);
		fake_put(&f, 0, 100 + 10 * n + 1, TRC_KIND_LOG, 0, 9, log, 4);
	}
	fake_put(&f, 1, 500, TRC_KIND_GAP, 0, 7, gap, 3);
	fake_cell_put(&f, 600, 77, 3, 4);
	lost.raw_ns = f.shared->start.monotonic_raw_ns + 1000000;
	trc_drain_pass(f.drain);
	trc_drain_kernel(f.drain, &lost);
	trc_drain_procs(f.drain, lost.raw_ns + 1, 2);
}

static bool is_row(const struct trc_event *e, const struct fake_row *r)
{
	return e->kind == r->kind && e->source == r->source && e->thread == r->thread &&
	       e->proc == r->proc;
}

/* Of each stream the same events in the same order, with the ids that the file has. */
START_TEST(an_observer_sees_what_the_writer_is_given)
{
	memset(&seen, 0, sizeof(seen));
	trc_drain_observe(f.drain, &observer);
	put_some_of_all();
	fake_finish(&f, TRC_DRAIN_DEAD, &file);
	ck_assert_uint_eq(seen.n, file.n_rows);
	ck_assert_uint_ge(fake_count(&file, TRC_KIND_GAP), 2);
	for (size_t i = 0; i < file.n_rows; i++) {
		const struct fake_row *r = &file.row[i];
		const struct trc_kind_info *info = trc_kind_info(r->kind);
		struct trc_event *e = seen.event;
		int64_t ns;

		while (e < seen.event + seen.n && (!e->kind || !is_row(e, r)))
			e++;
		ck_assert_msg(e < seen.event + seen.n, "event %zu (%s) was not seen", i,
			      info->name);
		for (unsigned int a = 0; a < info->n_args; a++)
			if (info->arg[a].type != TRC_ARG_TEXT && info->arg[a].type != TRC_ARG_TICKS)
				ck_assert_uint_eq(e->arg[a], r->arg[a]);
		/* The file's clock is set by its sync points. */
		ns = (int64_t)trc_clock_ticks_to_ns(e->time - fake_time(&f, 0));
		ck_assert_int_le(llabs(ns - r->ns), 2000 + r->ns / 10);
		e->kind = 0; /* the next one is the next row's */
	}
}
END_TEST

/* It reads no file, in which the thread comes later. */
START_TEST(an_observer_is_told_no_thread_where_the_file_has_a_tid)
{
	uint64_t park[4] = {TRC_REASON_JOIN, 0xabc, TRC_THREAD_IS_TID | 333, 0};

	memset(&seen, 0, sizeof(seen));
	trc_drain_observe(f.drain, &observer);
	fake_put(&f, 0, 500, TRC_KIND_PARK, 0, 1, park, 4);
	trc_drain_pass(f.drain);
	fake_slot(&f, 0, 5, 333, "late");
	fake_finish(&f, TRC_DRAIN_DEAD, &file);
	ck_assert_uint_eq(row(TRC_KIND_PARK, 0)->arg[2], 5);
	ck_assert_uint_eq(seen.event[0].kind, TRC_KIND_PARK);
	ck_assert_uint_eq(seen.event[0].args.park.holder, 0);
}
END_TEST

START_TEST(an_observer_sees_what_a_failed_sink_does_not)
{
	size_t n;

	memset(&seen, 0, sizeof(seen));
	f.sink_error = -ENOSPC;
	ck_assert_int_eq(trc_writer_generation(f.w), -ENOSPC);
	put_some_of_all();
	ck_assert_uint_eq(seen.n, 0);
	trc_drain_observe(f.drain, &observer);
	put_some_of_all();
	n = seen.n;
	ck_assert_uint_ge(n, 60);
	trc_drain_observe(f.drain, NULL);
	put_some_of_all();
	ck_assert_uint_eq(seen.n, n);
}
END_TEST

START_TEST(an_observer_is_told_which_labels_threads_have)
{
	atomic_store(&fake_slot(&f, 0, 30, 3030, "one")->labels,
		     fake_labels(&f, 3, "tenant", "42"));
	fake_slot(&f, 1, 31, 3031, "none");
	memset(&seen, 0, sizeof(seen));
	trc_drain_observe(f.drain, &observer);
	ck_assert_uint_eq(seen.n_labels, 1);
	ck_assert_str_eq(seen.labels[0], "30 tenant=42");
}
END_TEST

static void see_wait(void *context, const struct trc_writer *writer,
		     const struct trc_status_entry *wait)
{
	ck_assert_ptr_eq(writer, f.w);
	*(struct trc_status_entry *)context = *wait;
}

START_TEST(what_threads_wait_for_is_told_to_who_begins_to_look)
{
	uint64_t frame[1] = {0x1000};
	struct trc_slot *slot = fake_slot(&f, 0, 30, 3030, "waits");
	struct trc_status_entry seen_wait = {0};
	const uint64_t *stack;
	uint32_t epoch;

	fake_slot(&f, 1, 31, 3031, "runs");
	atomic_store(&slot->wait_reason, TRC_REASON_SEM);
	atomic_store(&slot->wait_object, 0xabc);
	atomic_store(&slot->wait_since, fake_time(&f, 77));
	atomic_store(&slot->wait_stack, fake_stack(&f, 5, 0, frame, 1));
	trc_drain_tell_waits(f.drain, see_wait, &seen_wait);
	ck_assert_uint_eq(seen_wait.thread, 30);
	ck_assert_uint_eq(seen_wait.reason, TRC_REASON_SEM);
	ck_assert_uint_eq(seen_wait.object, 0xabc);
	ck_assert_uint_eq(seen_wait.since, fake_time(&f, 77));
	ck_assert_uint_eq(trc_writer_stack_of(f.w, seen_wait.stack, &epoch, &stack), 1);
	ck_assert_uint_eq(stack[0], 0x1000);
}
END_TEST

/* A record that is begun and not committed keeps back what is later than the one before it. */
START_TEST(what_is_settled_has_been_handed_over)
{
	uint64_t before = trc_clock_now(), settled, position, now;

	fake_cell_put(&f, 1, 77, 3, 4);
	sleep_ms(5);
	trc_drain_pass(f.drain);
	settled = trc_drain_settled(f.drain);
	ck_assert_uint_gt(settled, before);
	now = trc_clock_now();
	ck_assert_uint_lt(settled, now);
	position = fake_reserve(&f, 1);
	fake_claim(&f, position, 1, 0, (uint32_t)getpid());
	trc_drain_pass(f.drain);
	ck_assert_uint_eq(trc_drain_settled(f.drain), fake_time(&f, 1));
}
END_TEST

void drain_observers(TCase *t)
{
	tcase_add_test(t, an_observer_sees_what_the_writer_is_given);
	tcase_add_test(t, an_observer_is_told_no_thread_where_the_file_has_a_tid);
	tcase_add_test(t, an_observer_sees_what_a_failed_sink_does_not);
	tcase_add_test(t, an_observer_is_told_which_labels_threads_have);
	tcase_add_test(t, what_threads_wait_for_is_told_to_who_begins_to_look);
	tcase_add_test(t, what_is_settled_has_been_handed_over);
}
