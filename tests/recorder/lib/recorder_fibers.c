/*
 * recorder_fibers.c - profiles of a program that runs fibers, on stacks of their own.
 *
 * A fiber runs where resume() is called, and goes back there where it waits.
 */
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <ucontext.h>
#include "recorder_fixture.h"
#include "trc/fiber.h"
#include "trc/labels.h"

enum { STACK_BYTES = 256 << 10 };

struct fiber {
	struct trace_fiber *trace;
	ucontext_t context, back;
	void (*body)(struct fiber *);
	void *stack;
};

static struct fiber *starting;

static void start(void)
{
	struct fiber *f = starting;

	f->body(f);
	trace_fiber_switch(NULL, TRACE_FIBER_YIELD, NULL);
	swapcontext(&f->context, &f->back);
}

static void make(struct fiber *f, const char *name, void (*body)(struct fiber *))
{
	f->trace = trace_fiber_create(name);
	f->body = body;
	f->stack = malloc(STACK_BYTES);
	ck_assert(f->trace && f->stack);
	ck_assert_int_eq(getcontext(&f->context), 0);
	f->context.uc_stack.ss_sp = f->stack;
	f->context.uc_stack.ss_size = STACK_BYTES;
	makecontext(&f->context, start, 0);
}

static void destroy(struct fiber *f)
{
	trace_fiber_destroy(f->trace);
	free(f->stack);
}

static __attribute__((noinline)) void resume(struct fiber *f)
{
	starting = f;
	trace_fiber_switch(f->trace, TRACE_FIBER_YIELD, NULL);
	swapcontext(&f->back, &f->context);
}

static void *resume_elsewhere(void *f)
{
	resume(f);
	return NULL;
}

static __attribute__((noinline)) void leave(struct fiber *f, enum trace_fiber_leave how)
{
	trace_fiber_switch(NULL, how, f);
	swapcontext(&f->context, &f->back);
}

static __attribute__((noinline)) void wait_for_turn(struct fiber *f)
{
	leave(f, TRACE_FIBER_WAIT);
}

static __attribute__((noinline)) void let_others_go_first(struct fiber *f)
{
	leave(f, TRACE_FIBER_YIELD);
}

static __attribute__((noinline)) void nap(struct fiber *f)
{
	leave(f, TRACE_FIBER_SLEEP);
}

/* ---- waits ----------------------------------------------------------------------------- */

static __attribute__((noinline)) void body_that_waits(struct fiber *f)
{
	wait_for_turn(f);
	let_others_go_first(f);
	nap(f);
	wait_for_mutex();
}

/* Its own labels, whatever its threads have. */
static void make_labelled(struct fiber *f, void (*body)(struct fiber *))
{
	TRACE_LABELS("tenant", "acme");
	make(f, "of acme", body);
}

static void run_to_the_mutex(struct fiber *f)
{
	pthread_t thread;

	hold_mutex();
	ck_assert_int_eq(pthread_create(&thread, NULL, resume_elsewhere, f), 0);
	until_mutex_is_waited_for();
	sleep_ns(HOLD_NS);
	let_go_of_mutex();
	pthread_join(thread, NULL);
}

static const char labels[] = "# labels: {\"tenant\": \"acme\"}\n";

/* Stacks with labels, of those that have this function in them; NULL: of all. */
static int labelled(const char *text, const char *function)
{
	int n = 0;

	while ((text = strstr(text, labels))) {
		const char *end = strstr(text, "\n\n");
		const char *found = function ? strstr(text, function) : text;

		ck_assert_ptr_nonnull(end);
		n += found && found < end;
		text = end;
	}
	return n;
}

/* Where it was left, until another thread runs it.  On that it waits for a mutex as threads do. */
START_TEST(waits_of_fibers_are_in_the_block_profile_and_in_no_other)
{
	struct waits_recorders w;
	struct fiber f = {0};
	pthread_t thread;
	char *text, *of_mutex;

	waits_begin(&w);
	make_labelled(&f, body_that_waits);
	resume(&f);
	sleep_ns(HOLD_NS);
	text = text_of(w.block); /* it waits */
	ck_assert_msg(value_at(text, "wait_for_turn", 1) == 1, "%s", text);
	ck_assert_msg(value_at(text, "wait_for_turn", 0) >= HOLD_NS, "%s", text);
	free(text);
	trace_fiber_ready(f.trace);
	ck_assert_int_eq(pthread_create(&thread, NULL, resume_elsewhere, &f), 0);
	pthread_join(thread, NULL);
	resume(&f);
	sleep_ns(HOLD_NS);
	run_to_the_mutex(&f);
	destroy(&f);
	ck_good(trace_recorder_stop(w.block));
	ck_good(trace_recorder_stop(w.mutex));
	text = memory_text(&w.of_block);
	of_mutex = memory_text(&w.of_mutex);
	ck_assert_msg(value_at(text, "wait_for_turn", 1) == 1, "%s", text);
	ck_assert_msg(value_at(text, "wait_for_turn", 0) >= HOLD_NS, "%s", text);
	ck_assert_msg(value_at(text, "wait_for_mutex", 1) == 1, "%s", text);
	ck_assert_msg(value_at(text, "wait_for_mutex", 0) >= HOLD_NS / 2, "%s", text);
	ck_assert_msg(value_at(text, "body_that_waits", 1) == 2, "%s", text);
	ck_assert_msg(labelled(text, "wait_for_turn") == 1, "%s", text);
	ck_assert_msg(labelled(text, "wait_for_mutex") == 1, "%s", text);
	ck_assert_msg(labelled(text, NULL) == 2, "%s", text);
	ck_assert_msg(value_at(of_mutex, "let_go_of_mutex", 1) == 1, "%s", of_mutex);
	ck_assert_msg(sum_of(of_mutex, 1) == 1, "%s", of_mutex);
	free(text);
	free(of_mutex);
	trace_recorder_destroy(w.block);
	trace_recorder_destroy(w.mutex);
}
END_TEST

/* ---- threads --------------------------------------------------------------------------- */

static sem_t go_on;
static _Atomic bool comes;

static __attribute__((noinline)) void body_that_blocks(struct fiber *f)
{
	atomic_store(&comes, true);
	while (sem_wait(&go_on))
		;
}

/* A thread is where the fiber is that it runs, with its labels; one that waits is nowhere. */
START_TEST(a_thread_is_in_the_fiber_that_it_runs)
{
	struct trace_thread_options options = TRACE_THREAD_OPTIONS_INIT;
	struct fiber running = {0}, waiting = {0};
	struct trace_recorder *r;
	pthread_t thread;
	char *text;

	atomic_store(&comes, false);
	ck_assert_int_eq(sem_init(&go_on, 0, 0), 0);
	make_labelled(&running, body_that_blocks);
	make_labelled(&waiting, body_that_waits);
	resume(&waiting);
	ck_assert_int_eq(pthread_create(&thread, NULL, resume_elsewhere, &running), 0);
	while (!atomic_load(&comes))
		sleep_ns(1000000);
	options.format = TRACE_PROFILE_FORMAT_TEXT;
	options.deadline_ns = UINT64_C(20000000000); /* more than any answer takes */
	ck_good(trace_recorder_create_thread(&r, &options));
	text = text_of(r);
	ck_assert_msg(strstr(text, "wait_for_turn") == NULL, "%s", text);
	ck_assert_msg(labelled(text, "body_that_blocks") == 1, "%s", text);
	ck_assert_msg(labelled(text, NULL) == 1, "%s", text);
	free(text);
	trace_recorder_destroy(r);
	sem_post(&go_on);
	pthread_join(thread, NULL);
	destroy(&running);
	destroy(&waiting);
}
END_TEST

TCase *recorder_fibers(void)
{
	TCase *tc = recorder_case("fibers");

	tcase_add_test(tc, waits_of_fibers_are_in_the_block_profile_and_in_no_other);
	tcase_add_test(tc, a_thread_is_in_the_fiber_that_it_runs);
	return tc;
}
