/*
 * unwind_kept_units.c - what is kept of stacks, and what makes a kept stack be found no more
 * (kept.h); and an entry that changes under the eyes of who compares it, between any two
 * instructions (K4).
 */
#include <check.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>
#include "own_stack.h"
#include "recorder/unwind/kept.h"
#include "recorder/unwind/memory.h"
#include "recorder/unwind/unwind.h"
#include "unwind_bare.h"

enum { TAG = 1, NUMBER = 1000 };

/* unwind_bare.h's. */
uint64_t truth[16];
uint32_t truths;

/* A stack as it is taken, at the bottom of one of several ways. */
static struct trc_unwind_start start;
static uint64_t frame[TRC_UNWIND_FRAMES_MAX];
static uint32_t frames;
static void (*act)(void);

/* Not to be tail calls: their frames are what differs. */
#define STAY() __asm__ volatile("" ::: "memory")

static __attribute__((noinline)) void take(void)
{
	start = TRC_UNWIND_CALLER();
	frames = trc_unwind_from(&start, frame, TRC_UNWIND_FRAMES_MAX);
	act();
	STAY();
}

static __attribute__((noinline)) void middle(void)
{
	take();
	STAY();
}

static __attribute__((noinline)) void outer(void)
{
	middle();
	STAY();
}

/* Twelve stacks of one depth: frame[0] and frame[1] are the same, frame[2] is not. */
static __attribute__((noinline)) void at_site(int site, void (*what)(void))
{
	act = what;
	switch (site) {
/* Assembly that differs, or else compilers make one call of them. */
#define SITE(n)                                                                                    \
	case n:                                                                                    \
		outer();                                                                           \
		__asm__ volatile("# after call " #n ::: "memory");                                 \
		break;
		SITE(0)
		SITE(1)
		SITE(2)
		SITE(3)
		SITE(4)
		SITE(5)
		SITE(6)
		SITE(7)
		SITE(8)
		SITE(9)
		SITE(10)
		SITE(11)
	default:
		break;
	}
	STAY();
}

static void add_twice(uint64_t number)
{
	trc_kept_add(&start, TAG, number, frame, frames, 1);
	trc_kept_add(&start, TAG, number, frame, frames, 1);
}

static void mode_set(enum trc_unwind_mode mode)
{
	const char *note;

	ck_assert_int_eq(trc_unwind_setup(mode, &note), 0);
}

/* ---- what is found ------------------------------------------------------------------------ */

static void check_second_meeting(void)
{
	ck_assert_uint_eq(trc_kept_find(&start, TAG), 0);
	trc_kept_add(&start, TAG, NUMBER, frame, frames, 0);
	ck_assert_uint_eq(trc_kept_find(&start, TAG), 0);
	trc_kept_add(&start, TAG, NUMBER, frame, frames, 0);
	ck_assert_uint_eq(trc_kept_find(&start, TAG), NUMBER);
}

static void check_tag(void)
{
	add_twice(NUMBER);
	ck_assert_uint_eq(trc_kept_find(&start, TAG), NUMBER);
	ck_assert_uint_eq(trc_kept_find(&start, TAG + 1), 0);
}

static void check_dropped(void)
{
	add_twice(NUMBER);
	trc_kept_drop(&start, NUMBER + 1);
	ck_assert_uint_eq(trc_kept_find(&start, TAG), NUMBER);
	trc_kept_drop(&start, NUMBER);
	ck_assert_uint_eq(trc_kept_find(&start, TAG), 0);
	add_twice(NUMBER + 2);
	ck_assert_uint_eq(trc_kept_find(&start, TAG), NUMBER + 2);
}

static void check_modules(void)
{
	add_twice(NUMBER);
	ck_assert_uint_eq(trc_kept_find(&start, TAG), NUMBER);
	trc_unwind_modules_changed();
	ck_assert_uint_eq(trc_kept_find(&start, TAG), 0);
	trc_unwind_from(&start, frame, TRC_UNWIND_FRAMES_MAX); /* the rules are cached again */
	add_twice(NUMBER);
	ck_assert_uint_eq(trc_kept_find(&start, TAG), NUMBER);
}

static void check_mode(void)
{
	add_twice(NUMBER);
	mode_set(TRC_UNWIND_FP);
	ck_assert_uint_eq(trc_kept_find(&start, TAG), 0);
	mode_set(TRC_UNWIND_CFI);
	ck_assert_uint_eq(trc_kept_find(&start, TAG), 0);
	mode_set(TRC_UNWIND_AUTO);
	ck_assert_uint_eq(trc_kept_find(&start, TAG), NUMBER);
	mode_set(TRC_UNWIND_NONE);
	ck_assert_uint_eq(trc_kept_find(&start, TAG), 0);
}

/* Many others, of which some belong to the same set. */
static void check_pc(void)
{
	struct trc_unwind_start other = start;

	add_twice(NUMBER);
	for (int i = 0; i < 4096; i++) {
		other.pc++;
		ck_assert_uint_eq(trc_kept_find(&other, TAG), 0);
	}
	ck_assert_uint_eq(trc_kept_find(&start, TAG), NUMBER);
}

static void check_depth(void)
{
	struct trc_range range = {start.sp - 65536, start.sp + (1 << 20), true, NULL};

	add_twice(NUMBER);
	/* Beyond the true top: nothing that was compared lies there, and nothing is read. */
	for (int i = 0; i < 4096; i++, range.hi += 8) {
		trc_range_coroutine(&range);
		ck_assert_uint_eq(trc_kept_find(&start, TAG), 0);
	}
	trc_range_coroutine(NULL);
	ck_assert_uint_eq(trc_kept_find(&start, TAG), NUMBER);
}

/* Frames that the walk did not find: not kept. */
static void check_other_frames(void)
{
	frame[2] += 1;
	add_twice(NUMBER);
	ck_assert_uint_eq(trc_kept_find(&start, TAG), 0);
	frame[2] -= 1;
	trc_kept_add(&start, TAG, NUMBER, frame, frames - 1, 0);
	ck_assert_uint_eq(trc_kept_find(&start, TAG), 0);
	add_twice(NUMBER + 1);
	ck_assert_uint_eq(trc_kept_find(&start, TAG), NUMBER + 1);
}

static void check_unaligned(void)
{
	start.sp += 4;
	add_twice(NUMBER);
	ck_assert_uint_eq(trc_kept_find(&start, TAG), 0);
}

static void (*const checks[])(void) = {
	check_second_meeting, check_tag,	  check_dropped,
	check_modules,	      check_mode,	  check_pc,
	check_depth,	      check_other_frames, check_unaligned,
};

static void nothing(void)
{
}

START_TEST(kept_stacks_are_found_while_all_is_as_it_was)
{
	mode_set(TRC_UNWIND_AUTO);
	at_site(0, nothing); /* the rules are cached */
	at_site(0, checks[_i]);
}
END_TEST

static uint64_t number_now, found;

static void find(void)
{
	found = trc_kept_find(&start, TAG);
}

static void add_now(void)
{
	add_twice(number_now);
}

START_TEST(stacks_of_one_depth_are_told_apart)
{
	mode_set(TRC_UNWIND_AUTO);
	/* volatile: compilers must not make two loops of it, with calls of their own. */
	for (volatile int i = 0; i < 8; i++) {
		number_now = NUMBER + (uint64_t)i % 4;
		at_site(i % 4, i < 4 ? add_now : find);
		if (i >= 4)
			ck_assert_uint_eq(found, number_now);
	}
}
END_TEST

static void find_or_add(void)
{
	found = trc_kept_find(&start, TAG);
	if (!found)
		trc_kept_add(&start, TAG, number_now, frame, frames, 2);
}

/* A set holds eight: of more that take turns some are found, and all that is found is right. */
START_TEST(more_stacks_than_ways_take_turns)
{
	uint32_t n_found = 0;

	mode_set(TRC_UNWIND_AUTO);
	for (uint32_t i = 0; i < 1200; i++) {
		number_now = NUMBER + i % 12;
		at_site((int)(i % 12), find_or_add);
		if (found)
			ck_assert_uint_eq(found, number_now);
		n_found += found != 0;
	}
	ck_assert_uint_gt(n_found, 400);
}
END_TEST

/* ---- what is not kept --------------------------------------------------------------------- */

static void add_and_find(void)
{
	add_twice(NUMBER);
	found = trc_kept_find(&start, TAG);
}

static void on_signal(int number)
{
	(void)number;
	at_site(0, add_and_find);
}

START_TEST(a_walk_across_a_signal_frame_is_not_kept)
{
	mode_set(TRC_UNWIND_AUTO);
	signal(SIGUSR1, on_signal);
	found = 1;
	raise(SIGUSR1);
	ck_assert_uint_gt(frames, 6);
	ck_assert_uint_eq(found, 0);
}
END_TEST

static void below_bare(void)
{
	at_site(0, add_and_find);
}

START_TEST(a_walk_that_ends_at_code_without_rules_is_not_kept)
{
	mode_set(TRC_UNWIND_CFI); /* by rules alone */
	found = 1;
	bare_with_fp(below_bare);
	ck_assert_uint_gt(frames, 3);
	ck_assert_uint_eq(found, 0);
}
END_TEST

static uint32_t n_found;

static void find_until_used_up(void)
{
	uint64_t before[TRC_UNWIND_FRAMES_MAX];
	uint32_t n = trc_unwind_from(&start, before, TRC_UNWIND_FRAMES_MAX);

	ck_assert_uint_eq(n, frames);
	ck_assert_mem_eq(before, frame, n * sizeof(before[0]));
	add_twice(NUMBER);
	for (n_found = 0; n_found < 1000 && trc_kept_find(&start, TAG) == NUMBER;)
		n_found++;
	/* Walked anew it is kept at once, in the same place: it has been met before. */
	for (int i = 0; i < 20 && n_found == 64; i++) {
		trc_kept_add(&start, TAG, NUMBER, frame, frames, 1);
		ck_assert_uint_eq(trc_kept_find(&start, TAG), NUMBER);
		while (trc_kept_find(&start, TAG))
			;
	}
}

static void below_bare_again(void)
{
	at_site(0, find_until_used_up);
}

static void below_bare_find(void)
{
	at_site(0, find);
}

/* The code without rules is called at two places: nothing but its return address differs. */
static __attribute__((noinline)) void at_bare_site(bool first, void (*call)(void))
{
	if (first) {
		__asm__ volatile("# or else compilers make one call" ::: "memory");
		bare_with_fp(call);
		__asm__ volatile("# of both" ::: "memory");
	} else {
		bare_with_fp(call);
	}
	STAY();
}

/* K6. */
START_TEST(a_walk_across_code_without_rules_is_kept_for_a_while)
{
	static const struct {
		bool first;
		void (*call)(void);
		uint64_t number; /* found then */
	} calls[] = {
		{true, below_bare_again, 0}, /* it is used up in the end */
		{true, below_bare, NUMBER},  /* kept anew */
		{false, below_bare_find, 0},
		{true, below_bare_find, NUMBER},
	};

	mode_set(TRC_UNWIND_AUTO);
	for (volatile int i = 0; i < 4; i++) {
		at_bare_site(calls[i].first, calls[i].call);
		ck_assert_uint_gt(frames, 6);
		ck_assert_uint_eq(n_found, 64);
		if (i)
			ck_assert_uint_eq(found, calls[i].number);
	}
}
END_TEST

static __attribute__((noinline)) void deep(uint32_t depth)
{
	if (depth)
		deep(depth - 1);
	else
		at_site(0, add_and_find);
	STAY();
}

START_TEST(a_stack_with_too_many_words_is_not_kept)
{
	mode_set(TRC_UNWIND_AUTO);
	deep(60);
	ck_assert_uint_eq(found, NUMBER);
	found = 1;
	deep(110);
	ck_assert_uint_lt(frames, TRC_UNWIND_FRAMES_MAX);
	ck_assert_uint_eq(found, 0);
}
END_TEST

/* ---- changed while it is compared --------------------------------------------------------- */

#if defined(__x86_64__)
#define TRAP_FLAG 0x100ll

static volatile int steps, change_at;
static void (*change)(void);

static void on_trap(int number, siginfo_t *info, void *context)
{
	ucontext_t *uc = context;

	(void)number;
	(void)info;
	if (steps++ < change_at)
		return;
	uc->uc_mcontext.gregs[REG_EFL] &= ~TRAP_FLAG;
	change();
}

/* Makes the change between two of its instructions, if there are so many. */
static __attribute__((noinline)) void step_through(void (*what)(void))
{
	steps = 0;
	__asm__ volatile("pushfq; orq $0x100, (%%rsp); popfq" ::: "memory", "cc");
	what();
	__asm__ volatile("pushfq; andq $~0x100, (%%rsp); popfq" ::: "memory", "cc");
}

/* The place of the other site's stack is taken by this one's. */
static void replace(void)
{
	trc_kept_drop(&start, NUMBER + 1);
	add_twice(NUMBER);
}

static void add_other(void)
{
	add_twice(NUMBER + 1);
	ck_assert_uint_eq(trc_kept_find(&start, TAG), NUMBER + 1);
}

static void find_while_replaced(void)
{
	step_through(find);
	/* Not the number of what was there before. */
	if (found)
		ck_assert_uint_eq(found, NUMBER);
	trc_kept_drop(&start, NUMBER);
}

static void add_this(void)
{
	add_twice(NUMBER);
}

static void look_and_add(void)
{
	uint64_t seen = trc_kept_find(&start, TAG);

	if (seen)
		ck_assert_uint_eq(seen, NUMBER);
	add_twice(NUMBER);
}

static void add_while_looked_at(void)
{
	step_through(add_this);
	ck_assert_uint_eq(trc_kept_find(&start, TAG), NUMBER);
	trc_kept_drop(&start, NUMBER);
	ck_assert_uint_eq(trc_kept_find(&start, TAG), 0);
}

static void trap_setup(void)
{
	struct sigaction action = {.sa_sigaction = on_trap, .sa_flags = SA_SIGINFO | SA_ONSTACK};
	stack_t stack = {.ss_size = 1 << 18};

	stack.ss_sp = mmap(NULL, stack.ss_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			   -1, 0);
	sigaltstack(&stack, NULL);
	sigaction(SIGTRAP, &action, NULL);
}

START_TEST(an_entry_may_change_between_any_two_instructions)
{
	mode_set(TRC_UNWIND_AUTO);
	trap_setup();
	change = replace;
	for (int i = 0; i == 0 || steps > change_at; i++) {
		change_at = i / 2;
		steps = change_at + 1;
		/* The other's stack is at the same depth, and has the same frame[1]. */
		at_site(i % 2, i % 2 ? find_while_replaced : add_other);
	}
	ck_assert_int_gt(change_at, 80);
}
END_TEST

START_TEST(a_handler_may_look_and_keep_at_any_instruction)
{
	mode_set(TRC_UNWIND_AUTO);
	trap_setup();
	change = look_and_add;
	change_at = 0;
	do
		at_site(0, add_while_looked_at);
	while (steps > change_at && (change_at += 37));
	ck_assert_int_gt(change_at, 500);
}
END_TEST
#endif

int main(void)
{
	Suite *suite = suite_create("kept");
	TCase *tests = tcase_create("kept");
	SRunner *runner = srunner_create(suite);
	int failed;

	suite_add_tcase(suite, tests);
	tcase_set_timeout(tests, 120);
	tcase_add_loop_test(tests, kept_stacks_are_found_while_all_is_as_it_was, 0,
			    (int)(sizeof(checks) / sizeof(checks[0])));
	tcase_add_test(tests, stacks_of_one_depth_are_told_apart);
	tcase_add_test(tests, a_walk_across_a_signal_frame_is_not_kept);
	tcase_add_test(tests, a_walk_that_ends_at_code_without_rules_is_not_kept);
	tcase_add_test(tests, a_walk_across_code_without_rules_is_kept_for_a_while);
	tcase_add_test(tests, a_stack_with_too_many_words_is_not_kept);
	tcase_add_test(tests, more_stacks_than_ways_take_turns);
#if defined(__x86_64__)
	tcase_add_test(tests, an_entry_may_change_between_any_two_instructions);
	tcase_add_test(tests, a_handler_may_look_and_keep_at_any_instruction);
#endif
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
