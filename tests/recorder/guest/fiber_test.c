/*
 * fiber_test.c - fibers: what is in force in them, what of them is in the ring and in the slots of
 * the threads that run them.
 *
 * No stack is ever changed here: to the recorder a fiber is what it is told.
 */
#include <check.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "recorder/guest/runtime.h"
#include "recorder/guest/fiber.h"
#include "recorder/guest/labels.h"
#include "recorder/ring/rec.h"
#include "recorder/guest/session.h"
#include "recorder/ring/slot_inline.h"
#include "recorder/shared/trigger.h"
#include "fiber_fixture.h"
#include "tests/suite.h"

static void expect_switch(unsigned int n, uint64_t fiber, uint64_t left, const char *name,
			  enum trc_reason reason, uint64_t object)
{
	const struct seen *seen = event(TRC_KIND_FIBER_SWITCH, n);

	ck_assert_ptr_nonnull(seen);
	ck_assert_uint_eq(seen->a, fiber);
	ck_assert_uint_eq(seen->b, left);
	ck_assert_str_eq(string(seen->c), name);
	ck_assert_uint_eq(seen->d, reason);
	ck_assert_uint_eq(seen->e, object);
	ck_assert_int_eq(seen->f != 0, reason != 0); /* with a stack only where it waits */
}

static uint64_t slot_fiber(void)
{
	return atomic_load(&trc_self.slot->fiber);
}

/* ---- nothing records ------------------------------------------------------------------- */

START_TEST(null_is_the_root_fiber_and_always_fine)
{
	ck_assert_ptr_null(trc_fiber_switch(NULL, WAIT, NULL));
	trc_fiber_ready(NULL);
	trc_fiber_destroy(NULL);
	open_session();
	ck_assert_ptr_null(trc_fiber_switch(NULL, WAIT, NULL));
	trc_fiber_ready(NULL);
	trc_fiber_destroy(NULL);
	ck_assert_uint_eq(count(TRC_KIND_FIBER_SWITCH), 0);
	ck_assert_uint_eq(count(TRC_KIND_FIBER_READY), 0);
	ck_assert_uint_eq(count(TRC_KIND_FIBER_END), 0);
	close_session();
}
END_TEST

START_TEST(switch_returns_what_was_left)
{
	struct trace_fiber *a = trc_fiber_create("a"), *b = trc_fiber_create(NULL);

	ck_assert_ptr_null(trc_fiber_switch(a, YIELD, NULL));
	ck_assert_ptr_eq(trc_fiber_switch(b, YIELD, NULL), a);
	ck_assert_ptr_eq(trc_fiber_switch(b, YIELD, NULL), b);
	ck_assert_ptr_eq(trc_fiber_switch(a, YIELD, NULL), b);
	ck_assert_ptr_eq(trc_fiber_switch(NULL, YIELD, NULL), a);
	ck_assert_ptr_null(trc_fiber_switch(NULL, YIELD, NULL));
	trc_fiber_destroy(a);
	trc_fiber_destroy(b);
}
END_TEST

START_TEST(a_name_is_cut_at_63_bytes)
{
	char name[80];
	struct trace_fiber *fiber;

	memset(name, 'x', 79);
	name[79] = '\0';
	open_session();
	fiber = trc_fiber_create(name);
	ck_assert_str_eq(fiber->name, name + 79 - 63);
	ck_assert_str_eq(string(event(TRC_KIND_FIBER_CREATE, 0)->b), name + 79 - 63);
	trc_fiber_destroy(fiber);
	close_session();
}
END_TEST

/* ---- labels ---------------------------------------------------------------------------- */

START_TEST(a_fiber_begins_with_the_labels_of_its_creator)
{
	const struct trace_labels *labels = with("tenant", "42");
	struct trace_fiber *fiber;

	put_in_force(labels);
	fiber = trc_fiber_create("f");
	ck_assert_uint_eq(references(labels), 3);
	put_in_force(NULL);
	trc_fiber_switch(fiber, YIELD, NULL);
	ck_assert_ptr_eq(trc_labels_now(), labels);
	trc_fiber_switch(NULL, YIELD, NULL);
	ck_assert_ptr_null(trc_labels_now());
	ck_assert_uint_eq(references(labels), 2);
	trc_fiber_destroy(fiber);
	ck_assert_uint_eq(references(labels), 1);
	trc_labels_unref(labels);
}
END_TEST

START_TEST(labels_stay_with_their_fibers)
{
	const struct trace_labels *root = with("of", "root"), *of_a = with("of", "a");
	struct trace_fiber *a = trc_fiber_create("a"), *b = trc_fiber_create("b");

	for (int recording = 0; recording < 2; recording++) {
		if (recording)
			open_session();
		put_in_force(root);
		trc_fiber_switch(a, YIELD, NULL);
		ck_assert_ptr_null(trc_labels_now());
		put_in_force(of_a);
		trc_fiber_switch(b, YIELD, NULL);
		ck_assert_ptr_null(trc_labels_now());
		trc_fiber_switch(NULL, YIELD, NULL);
		ck_assert_ptr_eq(trc_labels_now(), root);
		trc_fiber_switch(a, YIELD, NULL);
		ck_assert_ptr_eq(trc_labels_now(), of_a);
		put_in_force(NULL);
		trc_fiber_switch(NULL, YIELD, NULL);
		ck_assert_uint_eq(references(of_a), 1);
		ck_assert_uint_eq(references(root), 2);
	}
	close_session();
	put_in_force(NULL);
	trc_fiber_destroy(a);
	trc_fiber_destroy(b);
	trc_labels_unref(of_a);
	trc_labels_unref(root);
}
END_TEST

START_TEST(the_switch_is_told_before_the_labels_change)
{
	const struct trace_labels *labels = with("of", "fiber");
	struct trace_fiber *fiber;
	const struct seen *before, *after;

	put_in_force(labels);
	fiber = trc_fiber_create("f");
	put_in_force(NULL);
	open_session();
	trc_fiber_switch(fiber, YIELD, NULL);
	before = event(TRC_KIND_FIBER_SWITCH, 0);
	after = event(TRC_KIND_LABELS, 0);
	ck_assert(before && after && before->time <= after->time && before < after);
	ck_assert_uint_eq(after->a, trc_self.labels);
	ck_assert_uint_eq(after->b, 0);
	ck_assert_ptr_null(event(TRC_KIND_LABELS, 1));
	trc_fiber_destroy(fiber);
	ck_assert_uint_eq(event(TRC_KIND_LABELS, 1)->a, 0);
	ck_assert_uint_eq(references(labels), 1);
	close_session();
	trc_labels_unref(labels);
}
END_TEST

static void *end_inside(void *fiber)
{
	put_in_force(with("left", "behind"));
	trc_labels_unref(trc_labels_now());
	trc_fiber_switch(fiber, YIELD, NULL);
	trc_thread_ended();
	trc_self.ended = true;
	trc_labels_leave();
	return NULL;
}

START_TEST(a_thread_that_ends_leaves_its_fiber)
{
	const struct trace_labels *labels = with("tenant", "42");
	struct trace_fiber *fiber;
	pthread_t thread;

	open_session();
	put_in_force(labels);
	fiber = trc_fiber_create("f");
	put_in_force(NULL);
	pthread_create(&thread, NULL, end_inside, fiber);
	pthread_join(thread, NULL);
	ck_assert_ptr_eq(fiber->labels, labels);
	expect_switch(1, 0, 1, "", TRC_REASON_NONE, 0);
	ck_assert(event(TRC_KIND_FIBER_SWITCH, 1) < event(TRC_KIND_THREAD_EXIT, 0));
	trc_fiber_switch(fiber, YIELD, NULL); /* and another one goes on with it */
	ck_assert_ptr_eq(trc_labels_now(), labels);
	trc_fiber_destroy(fiber);
	ck_assert_uint_eq(references(labels), 1);
	close_session();
	trc_labels_unref(labels);
}
END_TEST

static _Atomic bool is_inside, may_end;

static void *end_unknown(void *fiber)
{
	trc_fiber_switch(fiber, YIELD, NULL);
	atomic_store(&is_inside, true);
	while (!atomic_load(&may_end))
		sched_yield();
	trc_self.ended = true; /* as interposers say it, before */
	trc_thread_ended();
	trc_labels_leave();
	return NULL;
}

START_TEST(a_thread_that_ends_before_it_is_known_loses_nothing)
{
	struct trace_fiber *fiber = trc_fiber_create("f");
	const struct trc_shared *shared;
	pthread_t thread;

	atomic_store(&is_inside, false);
	atomic_store(&may_end, false);
	pthread_create(&thread, NULL, end_unknown, fiber);
	while (!atomic_load(&is_inside))
		sched_yield();
	open_session();
	shared = trc_session_shared();
	atomic_store(&may_end, true);
	pthread_join(thread, NULL);
	ck_assert_uint_eq(
		atomic_load(&((struct trc_overflow *)trc_area(
				      (struct trc_shared *)(uintptr_t)shared, shared->overflow_off))
				     ->lost_total),
		0);
	close_session();
	trc_fiber_destroy(fiber);
}
END_TEST

START_TEST(a_stack_that_is_told_of_is_known_while_its_fiber_runs)
{
	static _Alignas(16) char stack[16384];
	uintptr_t inside = (uintptr_t)stack + 8192;
	struct trace_fiber *fiber = trc_fiber_create("f");
	struct trc_range range;

	trc_fiber_stack(fiber, stack, sizeof(stack));
	trc_range_stack(&range, inside, 0);
	ck_assert(!range.whole);
	trc_fiber_switch(fiber, YIELD, NULL);
	trc_range_stack(&range, inside, 0);
	ck_assert(range.whole);
	ck_assert_uint_eq(range.lo, inside);
	ck_assert_uint_eq(range.hi, (uintptr_t)stack + sizeof(stack));
	trc_range_stack(&range, (uintptr_t)stack + sizeof(stack), 0);
	ck_assert(!range.whole);
	trc_fiber_switch(NULL, YIELD, NULL);
	trc_range_stack(&range, inside, 0);
	ck_assert(!range.whole);
	trc_fiber_destroy(fiber);
}
END_TEST

/* As between a program's libtrc and libtrc-preload. */
START_TEST(what_a_thread_is_in_is_handed_over)
{
	const struct trace_labels *inside = with("in", "side"), *outside = with("out", "side");
	struct trc_fiber_state state;
	struct trace_fiber *fiber;

	open_session();
	ck_assert(!trc_fiber_give_up(&state));
	put_in_force(inside);
	fiber = trc_fiber_create("f");
	put_in_force(outside);
	trc_fiber_switch(fiber, YIELD, NULL);
	ck_assert(trc_fiber_give_up(&state));
	ck_assert(!trc_self.on_fiber);
	ck_assert_ptr_null(trc_labels_now());
	ck_assert(!trc_fiber_give_up(&state));
	trc_fiber_take_over(&state);
	ck_assert(trc_self.on_fiber);
	ck_assert_ptr_eq(trc_labels_now(), inside);
	expect_switch(1, 1, 0, "f", TRC_REASON_NONE, 0);
	trc_fiber_switch(NULL, YIELD, NULL);
	ck_assert_ptr_eq(trc_labels_now(), outside);
	trc_fiber_destroy(fiber);
	put_in_force(NULL);
	ck_assert_uint_eq(references(inside), 1);
	ck_assert_uint_eq(references(outside), 1);
	close_session();
	trc_labels_unref(inside);
	trc_labels_unref(outside);
}
END_TEST

/* ---- events ---------------------------------------------------------------------------- */

START_TEST(each_step_is_an_event)
{
	struct trace_fiber *a, *b;
	int object;

	open_session();
	a = trc_fiber_create("a");
	b = trc_fiber_create("b");
	ck_assert_uint_eq(event(TRC_KIND_FIBER_CREATE, 0)->a, 1);
	ck_assert_uint_ne(event(TRC_KIND_FIBER_CREATE, 0)->c, 0);
	ck_assert_str_eq(string(event(TRC_KIND_FIBER_CREATE, 1)->b), "b");
	trc_fiber_switch(a, YIELD, &object);
	ck_assert_uint_eq(slot_fiber(), 1);
	ck_assert_str_eq(string(atomic_load(&trc_self.slot->fiber_name)), "a");
	trc_fiber_switch(b, WAIT, &object);
	trc_fiber_switch(a, TRACE_FIBER_SLEEP, NULL);
	trc_fiber_switch(NULL, TRACE_FIBER_IO, (void *)5);
	ck_assert_uint_eq(slot_fiber(), 0);
	ck_assert_uint_eq(atomic_load(&trc_self.slot->fiber_name), 0);
	trc_fiber_ready(b);
	trc_fiber_destroy(a);
	trc_fiber_destroy(b);
	expect_switch(0, 1, 0, "a", TRC_REASON_NONE, 0);
	expect_switch(1, 2, 1, "b", TRC_REASON_USER, (uintptr_t)&object);
	expect_switch(2, 1, 2, "a", TRC_REASON_SLEEP, 0);
	expect_switch(3, 0, 1, "", TRC_REASON_POLL, 5);
	ck_assert_ptr_null(event(TRC_KIND_FIBER_SWITCH, 4));
	ck_assert_uint_eq(event(TRC_KIND_FIBER_READY, 0)->a, 2);
	ck_assert_uint_ne(event(TRC_KIND_FIBER_READY, 0)->b, 0);
	ck_assert_uint_eq(event(TRC_KIND_FIBER_END, 0)->a, 1);
	ck_assert_uint_eq(event(TRC_KIND_FIBER_END, 1)->a, 2);
	close_session();
}
END_TEST

START_TEST(destroying_what_runs_leaves_it_first)
{
	struct trace_fiber *fiber;

	open_session();
	fiber = trc_fiber_create("f");
	trc_fiber_switch(fiber, YIELD, NULL);
	trc_fiber_destroy(fiber);
	expect_switch(1, 0, 1, "", TRC_REASON_NONE, 0);
	ck_assert(event(TRC_KIND_FIBER_SWITCH, 1) < event(TRC_KIND_FIBER_END, 0));
	ck_assert_uint_eq(slot_fiber(), 0);
	ck_assert_ptr_null(trc_fiber_switch(NULL, YIELD, NULL));
	close_session();
}
END_TEST

START_TEST(each_session_numbers_the_fibers_that_it_sees)
{
	struct trace_fiber *a = trc_fiber_create("a"), *b = trc_fiber_create("b"),
			   *unseen = trc_fiber_create("unseen");

	for (int session = 0; session < 2; session++) {
		open_session();
		ck_assert(trc_self_ready());
		trc_fiber_ready(b);
		trc_fiber_switch(a, YIELD, NULL);
		trc_fiber_switch(NULL, YIELD, NULL);
		ck_assert_uint_eq(count(TRC_KIND_FIBER_CREATE), 2);
		ck_assert_uint_eq(event(TRC_KIND_FIBER_CREATE, 0)->a, 1);
		ck_assert_str_eq(string(event(TRC_KIND_FIBER_CREATE, 0)->b), "b");
		ck_assert_uint_eq(event(TRC_KIND_FIBER_CREATE, 0)->c, 0); /* nobody knows where */
		ck_assert_uint_eq(event(TRC_KIND_FIBER_READY, 0)->a, 1);
		expect_switch(0, 2, 0, "a", TRC_REASON_NONE, 0);
		expect_switch(1, 0, 2, "", TRC_REASON_NONE, 0);
		close_session();
	}
	open_session();
	trc_fiber_destroy(unseen); /* and of a fiber that was never seen there is no end */
	trc_fiber_destroy(a);
	trc_fiber_destroy(b);
	ck_assert_uint_eq(count(TRC_KIND_FIBER_END), 0);
	close_session();
}
END_TEST

START_TEST(a_recording_sees_what_a_thread_has_been_in)
{
	const struct trace_labels *labels = with("tenant", "42");
	struct trace_fiber *fiber = trc_fiber_create("f");

	trc_fiber_switch(fiber, YIELD, NULL);
	put_in_force(labels);
	for (int session = 0; session < 2; session++) {
		open_session();
		ck_assert(trc_self_ready());
		expect_switch(0, 1, 0, "f", TRC_REASON_NONE, 0);
		ck_assert_uint_eq(slot_fiber(), 1);
		ck_assert_str_eq(string(atomic_load(&trc_self.slot->fiber_name)), "f");
		ck_assert(event(TRC_KIND_THREAD_START, 0) < event(TRC_KIND_FIBER_SWITCH, 0));
		ck_assert(event(TRC_KIND_FIBER_SWITCH, 0) < event(TRC_KIND_LABELS, 0));
		close_session();
	}
	/* The first thing that it does is to leave it. */
	open_session();
	trc_fiber_switch(NULL, WAIT, NULL);
	expect_switch(0, 1, 0, "f", TRC_REASON_NONE, 0);
	expect_switch(1, 0, 1, "", TRC_REASON_USER, 0);
	close_session();
	trc_fiber_destroy(fiber);
	trc_labels_unref(labels);
}
END_TEST

START_TEST(a_forked_child_is_in_its_fiber_still)
{
	struct trace_fiber *fiber;
	int status;
	pid_t child;
	bool good;

	open_session();
	trc_fiber_destroy(trc_fiber_create("first"));
	fiber = trc_fiber_create("f");
	trc_fiber_switch(fiber, YIELD, NULL);
	child = fork();
	if (!child) {
		const struct seen *seen;

		trc_session_forget();
		open_session();
		good = trc_self_ready();
		seen = event(TRC_KIND_FIBER_SWITCH, 0);
		good = good && seen && seen->a == 1 && !seen->b && slot_fiber() == 1;
		close_session(); /* _exit() would leave its ring */
		_exit(!good);
	}
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_int_eq(status, 0);
	ck_assert_uint_eq(slot_fiber(), 2);
	trc_fiber_destroy(fiber);
	close_session();
}
END_TEST

START_TEST(an_id_whose_entry_is_gone_is_looked_up_again)
{
	struct trace_fiber *fiber;
	uint64_t id;

	open_session();
	fiber = trc_fiber_create("f");
	id = atomic_load(&fiber->name_id);
	atomic_store(&trc_string_entry(trc_session_shared(), id)->key, 0);
	trc_fiber_switch(fiber, YIELD, NULL);
	expect_switch(0, 1, 0, "f", TRC_REASON_NONE, 0);
	trc_fiber_destroy(fiber);
	close_session();
}
END_TEST

static void fill_strings(uint64_t key)
{
	struct trc_shared *shared = trc_session_shared();

	for (uint64_t class = 0; class < TRC_STRING_CLASSES; class ++)
		for (uint64_t i = 0; i < 8 * shared->string_sets[class]; i++)
			atomic_store(&trc_string_entry(shared, TRC_ID(class, i, 1))->key, key);
}

static void fill_stacks(void)
{
	struct trc_shared *shared = trc_session_shared();

	for (uint64_t class = 0; class < TRC_STACK_CLASSES; class ++)
		for (uint64_t i = 0; i < 8 * shared->stack_sets[class]; i++)
			atomic_store(&trc_stack_entry(shared, TRC_ID(class, i, 1))->key,
				     TRC_KEY_BUSY);
}

/* The reader of this test does not understand it, but knows what the record says that it has. */
START_TEST(where_the_tables_have_no_room_the_records_carry_it)
{
	struct trace_fiber *a, *b;
	const struct seen *seen;

	open_session();
	ck_assert(trc_self_ready());
	fill_strings(TRC_KEY_BUSY);
	fill_stacks();
	a = trc_fiber_create("a");
	b = trc_fiber_create(NULL);
	seen = event(TRC_KIND_FIBER_CREATE, 0);
	ck_assert_uint_eq(seen->b, 0);
	ck_assert_uint_eq(seen->flags, TRC_REC_INLINE_STRING | TRC_REC_INLINE_STACK);
	ck_assert_uint_eq(event(TRC_KIND_FIBER_CREATE, 1)->flags, TRC_REC_INLINE_STACK);
	trc_fiber_switch(a, YIELD, NULL);
	ck_assert_uint_eq(event(TRC_KIND_FIBER_SWITCH, 0)->flags, TRC_REC_INLINE_STRING);
	ck_assert_uint_eq(event(TRC_KIND_FIBER_SWITCH, 0)->c, 0);
	ck_assert_uint_eq(slot_fiber(), 1);
	ck_assert_uint_eq(atomic_load(&trc_self.slot->fiber_name), 0);
	trc_fiber_switch(b, WAIT, NULL);
	ck_assert_uint_eq(event(TRC_KIND_FIBER_SWITCH, 1)->flags, TRC_REC_INLINE_STACK);
	trc_fiber_switch(a, WAIT, NULL);
	ck_assert_uint_eq(event(TRC_KIND_FIBER_SWITCH, 2)->flags,
			  TRC_REC_INLINE_STRING | TRC_REC_INLINE_STACK);
	fill_strings(0); /* room again */
	trc_fiber_switch(NULL, YIELD, NULL);
	trc_fiber_switch(a, YIELD, NULL);
	expect_switch(4, 1, 0, "a", TRC_REASON_NONE, 0);
	trc_fiber_destroy(a);
	trc_fiber_destroy(b);
	close_session();
}
END_TEST

/* layout:T4.  The ring is read meanwhile, so that nothing is lost; of two batches the names are
 * in use. */
START_TEST(a_name_for_each_fiber_leaves_room_for_what_others_cite)
{
	enum { MANY = 100000, BATCH = 4000 };
	size_t n_inline = 0;
	char name[TRC_FIBER_NAME_BYTES];

	open_session();
	for (int i = 0; i < MANY; i++) {
		struct trace_fiber *fiber;

		snprintf(name, sizeof(name), "request %d", i);
		fiber = trc_fiber_create(name);
		trc_fiber_destroy(fiber);
		if (i % BATCH)
			continue;
		for (take(); reader.n_seen; reader.n_seen--) {
			const struct seen *seen = &reader.seen[reader.n_seen - 1];
			bool is_inline = (seen->flags & TRC_REC_INLINE_STRING) != 0;

			if (seen->kind != TRC_KIND_FIBER_CREATE)
				continue;
			ck_assert_int_eq(is_inline, seen->b == 0); /* its name, or the id of it */
			n_inline += is_inline;
		}
	}
	ck_assert_uint_gt(n_inline, 0);
	trc_own_runtime.region_begin(NULL, 0, "a type");
	ck_assert_uint_eq(atomic_load(&trc_self.slot->n_regions), 1);
	ck_assert_str_eq(string(atomic_load(&trc_self.slot->region[0].type)), "a type");
	trc_own_runtime.region_end();
	close_session();
}
END_TEST

START_TEST(errno_is_kept)
{
	struct trace_fiber *fiber;

	open_session();
	errno = 77;
	fiber = trc_fiber_create("f");
	trc_fiber_switch(fiber, WAIT, NULL);
	trc_fiber_ready(fiber);
	trc_fiber_switch(NULL, WAIT, NULL);
	trc_fiber_destroy(fiber);
	ck_assert_int_eq(errno, 77);
	close_session();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("fibers");
	TCase *c = tcase_create("fibers");

	tcase_set_timeout(c, 240);
	tcase_add_test(c, null_is_the_root_fiber_and_always_fine);
	tcase_add_test(c, switch_returns_what_was_left);
	tcase_add_test(c, a_name_is_cut_at_63_bytes);
	tcase_add_test(c, a_fiber_begins_with_the_labels_of_its_creator);
	tcase_add_test(c, labels_stay_with_their_fibers);
	tcase_add_test(c, the_switch_is_told_before_the_labels_change);
	tcase_add_test(c, a_thread_that_ends_leaves_its_fiber);
	tcase_add_test(c, a_thread_that_ends_before_it_is_known_loses_nothing);
	tcase_add_test(c, a_stack_that_is_told_of_is_known_while_its_fiber_runs);
	tcase_add_test(c, what_a_thread_is_in_is_handed_over);
	tcase_add_test(c, each_step_is_an_event);
	tcase_add_test(c, destroying_what_runs_leaves_it_first);
	tcase_add_test(c, each_session_numbers_the_fibers_that_it_sees);
	tcase_add_test(c, a_recording_sees_what_a_thread_has_been_in);
	tcase_add_test(c, a_forked_child_is_in_its_fiber_still);
	tcase_add_test(c, an_id_whose_entry_is_gone_is_looked_up_again);
	tcase_add_test(c, where_the_tables_have_no_room_the_records_carry_it);
	tcase_add_test(c, a_name_for_each_fiber_leaves_room_for_what_others_cite);
	tcase_add_test(c, errno_is_kept);
	fiber_regions(c);
	suite_add_tcase(suite, c);
	return suite_run(suite);
}
