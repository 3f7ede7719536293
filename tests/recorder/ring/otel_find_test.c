/*
 * otel_find_test.c - the search for `otel_thread_ctx_v1`, with something going on in the middle of it:
 * the thread leaves by a longjmp(), an object is unloaded, memory cannot be read.
 *
 * The test stands between the search and the kernel, which copies memory for it.
 */
#include <check.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "recorder/guest/session.h"
#include "recorder/ring/otel.h"
#include "recorder/shared/clock.h"
#include "recorder/unwind/memory.h"
#include "tests/suite.h"

__attribute__((visibility("default"))) __thread void *volatile otel_thread_ctx_v1;

bool __real_trc_memory_copy(void *to, uintptr_t from, uint32_t bytes);
bool __wrap_trc_memory_copy(void *to, uintptr_t from, uint32_t bytes);

static int n_copies, step_at; /* 0 = never */
static bool (*step)(void);

/* False: it cannot be read. */
bool __wrap_trc_memory_copy(void *to, uintptr_t from, uint32_t bytes)
{
	if (++n_copies == step_at && !step())
		return false;
	return __real_trc_memory_copy(to, from, bytes);
}

bool __real_trc_memory_readable(uintptr_t at);
bool __wrap_trc_memory_readable(uintptr_t at);

static int n_asked;

bool __wrap_trc_memory_readable(uintptr_t at)
{
	n_asked++;
	return __real_trc_memory_readable(at);
}

static uint64_t where(void)
{
	return atomic_load(&trc_switch.otel);
}

static uint64_t due(void)
{
	return atomic_load(&trc_switch.otel_search);
}

static bool is_found(void)
{
	return TRC_OTEL_KIND(where()) == TRC_OTEL_STATIC;
}

static void search_with(bool (*do_step)(void), int at)
{
	step = do_step;
	step_at = at;
	n_copies = 0;
	trc_otel_search(trc_clock_now());
	step_at = 0;
}

/* False: this C library's list cannot be read (otel_find.c), nothing is ever found. */
static bool begin(void)
{
	trc_clock_setup(0);
	trc_otel_setup();
	trc_otel_begin(true);
	return is_found();
}

/* Where in a search that finds nothing out from before. */
static int copies_of_a_search(void)
{
	trc_otel_forget();
	search_with(NULL, 0);
	ck_assert(is_found());
	ck_assert_uint_eq(due(), UINT64_MAX);
	ck_assert_int_gt(n_copies, 3);
	return n_copies;
}

static bool unload(void)
{
	trc_otel_forget();
	return true;
}

START_TEST(what_was_found_before_an_object_went_is_not_told)
{
	int n;

	if (!begin())
		return;
	n = copies_of_a_search();
	for (int at = 1; at <= n; at++) {
		trc_otel_forget();
		search_with(unload, at);
		ck_assert_int_ge(n_copies, at);
		ck_assert_msg(TRC_OTEL_KIND(where()) == TRC_OTEL_GONE, "at %d of %d", at, n);
		ck_assert_uint_eq(due(), 0); /* and at once again */
		search_with(NULL, 0);
		ck_assert(is_found());
	}
}
END_TEST

static bool refuse(void)
{
	return false;
}

START_TEST(what_cannot_be_read_is_not_gone)
{
	uint64_t known;
	int n, n_kept = 0;

	if (!begin())
		return;
	n = copies_of_a_search();
	known = where();
	for (int at = 1; at <= n; at++) {
		/* As when a block of another kind may have become a static one. */
		search_with(refuse, at);
		ck_assert_msg(where() == known, "at %d of %d", at, n);
		n_kept++;
		/* And of one that is to be found again, nothing is told before it is. */
		trc_otel_forget();
		search_with(refuse, at);
		ck_assert_msg(is_found() || TRC_OTEL_KIND(where()) == TRC_OTEL_GONE, "at %d of %d",
			      at, n);
		ck_assert_uint_ne(due(), 0);
		search_with(NULL, 0);
		ck_assert(is_found());
	}
	ck_assert_int_eq(n_kept, n);
}
END_TEST

static jmp_buf out;

static bool leave(void)
{
	longjmp(out, 1);
}

START_TEST(a_search_that_was_left_is_begun_again)
{
	uint64_t now;

	if (!begin())
		return;
	trc_otel_forget();
	if (!setjmp(out))
		search_with(leave, 2);
	step_at = 0;
	now = trc_clock_now();
	trc_otel_search(now); /* perhaps it still goes on */
	ck_assert(!is_found());
	trc_otel_search(now + trc_clock_ns_to_ticks(2 * TRC_OTEL_SEARCH_NS));
	ck_assert(is_found());
}
END_TEST

struct record {
	unsigned char trace[16], span[8], valid, flags, rest[2];
};
static __thread struct record beside;

/* How often the kernel is asked by a wait of a thread whose context is in this record. */
static int asked_for(struct record *record)
{
	static unsigned char span;

	memset(record, 0, sizeof(*record));
	record->trace[0] = record->span[0] = record->valid = 1;
	record->span[7] = ++span;
	otel_thread_ctx_v1 = record;
	n_asked = 0;
	trc_otel_look(where(), trc_clock_now());
	otel_thread_ctx_v1 = NULL;
	ck_assert_uint_eq(trc_self.otel.span >> 56, 1); /* it was read */
	ck_assert_uint_eq(trc_self.otel.span & 0xff, span);
	return n_asked;
}

static bool is_own(const void *at)
{
	return trc_memory_is_own((uintptr_t)at, sizeof(struct record));
}

/* otel:C1 */
START_TEST(nobody_is_asked_of_the_stack_and_the_variables_of_the_thread_itself)
{
	struct record here, *heap = malloc(sizeof(*heap));
	uintptr_t frame = (uintptr_t)__builtin_frame_address(0);
	struct trc_session_options o;
	char error[256] = "";

	ck_assert_int_eq(trc_session_options_init(&o, error, sizeof(error)), 0);
	ck_assert_msg(trc_session_open(&o, error, sizeof(error)) == 0, "%s", error);
	trc_session_record(true);
	ck_assert(trc_self_ready());
	if (!begin())
		return;
	ck_assert_ptr_nonnull(heap);
	ck_assert_int_eq(asked_for(&here), 0);
	ck_assert_int_eq(asked_for(&beside), 0);
	ck_assert_int_gt(asked_for(heap), 0);
	ck_assert(is_own(&here));
	ck_assert(!is_own(heap));
	ck_assert(!is_own((void *)(frame - (1 << 20)))); /* not mapped yet, as a rule */
	ck_assert(!is_own((void *)(UINTPTR_MAX - 8)));
	ck_assert(!is_own(NULL));
	free(heap);
	trc_session_close();
}
END_TEST

START_TEST(switched_off_nothing_is_looked_for)
{
	begin();
	trc_otel_begin(false);
	ck_assert_uint_eq(where(), 0);
	ck_assert_uint_eq(due(), UINT64_MAX);
	trc_otel_forget();
	ck_assert_uint_eq(where(), 0);
	ck_assert_uint_eq(due(), UINT64_MAX);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("otel find");
	TCase *c = tcase_create("otel find");

	if (!begin())
		printf("otel_find_test: nothing is found here: not tried\n");
	tcase_add_test(c, what_was_found_before_an_object_went_is_not_told);
	tcase_add_test(c, what_cannot_be_read_is_not_gone);
	tcase_add_test(c, a_search_that_was_left_is_begun_again);
	tcase_add_test(c, nobody_is_asked_of_the_stack_and_the_variables_of_the_thread_itself);
	tcase_add_test(c, switched_off_nothing_is_looked_for);
	suite_add_tcase(suite, c);
	return suite_run(suite);
}
