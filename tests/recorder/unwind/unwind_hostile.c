/*
 * unwind_hostile.c - stacks that cannot be unwound, or should not be believed: code without
 * tables, code made at run time, registers and stacks full of garbage.  Whatever is found must
 * be true; nothing may crash, nor change errno.
 */
#include <check.h>
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>
#include "own_stack.h"
#include "recorder/unwind/unwind.h"
#include "recorder/unwind/module.h"
#include "unwind_bare.h"

enum { MAX = 64 };

uint64_t truth[16];
uint32_t truths;
static uint64_t frame[MAX];
static uint32_t frames;

static void mode_set(enum trc_unwind_mode mode)
{
	const char *note;

	ck_assert_int_eq(trc_unwind_setup(mode, &note), 0);
}

/* ---- code without tables ---------------------------------------------------------------- */

static __attribute__((noinline)) void capture(void)
{
	frames = trc_unwind(frame, MAX, 0);
	__asm__ volatile("" ::: "memory");
}

static __attribute__((noinline)) void outer(void (*bare)(void (*)(void)))
{
	truths = 0;
	truth[truths++] = (uint64_t)(uintptr_t)__builtin_return_address(0);
	bare(capture);
	__asm__ volatile("" ::: "memory");
}

/* How many of the noted addresses the capture has, in their order. */
static uint32_t truths_found(void)
{
	uint32_t found = 0;

	for (uint32_t i = 0; i < frames && found < truths; i++)
		found += frame[i] == truth[truths - 1 - found];
	return found;
}

START_TEST(rules_stop_at_code_without_them)
{
	mode_set(TRC_UNWIND_CFI);
	outer(bare_with_fp);
	ck_assert_uint_eq(frames, 1);
	outer(bare_without_fp);
	ck_assert_uint_eq(frames, 1);
}
END_TEST

START_TEST(auto_crosses_it_by_frame_pointers)
{
	mode_set(TRC_UNWIND_AUTO);
	outer(bare_with_fp);
	ck_assert_uint_ge(frames, truths + 1);
	ck_assert_uint_eq(truths_found(), truths);
	ck_assert_uint_eq(frame[1], truth[truths - 1]);
}
END_TEST

START_TEST(fp_crosses_it_too)
{
	mode_set(TRC_UNWIND_FP);
	outer(bare_with_fp);
	ck_assert_uint_ge(frames, 4);
	ck_assert_uint_ge(truths_found(), 3);
	ck_assert_uint_eq(frame[1], truth[truths - 1]); /* whether or not capture() keeps one */
}
END_TEST

/* ---- code made at run time -------------------------------------------------------------- */

#if defined(__x86_64__)
static const uint8_t code_with_frame[] = {0x55, 0x48, 0x89, 0xe5, 0xff, 0xd7, 0x5d, 0xc3};
static const uint8_t code_without[] = {0x48, 0x83, 0xec, 0x08, 0xff, 0xd7,
				       0x48, 0x83, 0xc4, 0x08, 0xc3};
/* Calls its first argument with its second, on a frame of its own. */
static const uint8_t code_nesting[] = {0x55, 0x48, 0x89, 0xe5, 0x48, 0x89, 0xf8,
				       0x48, 0x89, 0xf7, 0xff, 0xd0, 0x5d, 0xc3};
enum {
	CALL_END = 6, /* where the first two return to */
	NESTING_CALL_END = 12
};
#else
/* stp x29, x30, [sp, -16]!; mov x29, sp; blr x0; ldp x29, x30, [sp], 16; ret */
static const uint32_t code_with_frame[] = {0xa9bf7bfd, 0x910003fd, 0xd63f0000, 0xa8c17bfd,
					   0xd65f03c0};
/* str x30, [sp, -16]!; nop; blr x0; ldr x30, [sp], 16; ret */
static const uint32_t code_without[] = {0xf81f0ffe, 0xd503201f, 0xd63f0000, 0xf84107fe, 0xd65f03c0};
static const uint32_t code_nesting[] = {0xa9bf7bfd, 0x910003fd, 0xaa0003e2, 0xaa0103e0,
					0xd63f0040, 0xa8c17bfd, 0xd65f03c0};
enum { CALL_END = 12, NESTING_CALL_END = 20 };
#endif

static uint8_t *code_make(const void *bytes, size_t count)
{
	uint8_t *code =
		mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	ck_assert(code != MAP_FAILED);
	memcpy(code, bytes, count);
	__builtin___clear_cache((char *)code, (char *)code + count);
	ck_assert_int_eq(mprotect(code, 4096, PROT_READ | PROT_EXEC), 0);
	return code;
}

static __attribute__((noinline)) void through_code(void (*code)(void (*)(void)))
{
	truths = 0;
	truth[truths++] = (uint64_t)(uintptr_t)__builtin_return_address(0);
	truth[truths++] = (uint64_t)(uintptr_t)code + CALL_END;
	code(capture);
	__asm__ volatile("" ::: "memory");
}

START_TEST(made_code_ends_the_stack_or_is_crossed)
{
	static const enum trc_unwind_mode modes[] = {TRC_UNWIND_CFI, TRC_UNWIND_AUTO,
						     TRC_UNWIND_FP};
	uint8_t *code = _i < 3 ? code_make(code_with_frame, sizeof(code_with_frame))
			       : code_make(code_without, sizeof(code_without));
	void (*call)(void (*)(void));

	memcpy(&call, &code, sizeof(call));
	mode_set(modes[_i % 3]);
	through_code(call);
	ck_assert_uint_ge(frames, 1);
	ck_assert_uint_eq(frame[0], truth[1]);
	if (modes[_i % 3] == TRC_UNWIND_CFI)
		ck_assert_uint_eq(frames, 1);
	if (modes[_i % 3] == TRC_UNWIND_AUTO && _i < 3)
		ck_assert_uint_eq(truths_found(), 2);
	munmap(code, 4096);
}
END_TEST

static __attribute__((noinline)) void through_two(void (*outer_code)(uint8_t *, void (*)(void)),
						  uint8_t *code)
{
	truths = 0;
	truth[truths++] = (uint64_t)(uintptr_t)__builtin_return_address(0);
	truth[truths++] = (uint64_t)(uintptr_t)outer_code + NESTING_CALL_END;
	truth[truths++] = (uint64_t)(uintptr_t)code + CALL_END;
	outer_code(code, capture);
	__asm__ volatile("" ::: "memory");
}

START_TEST(made_code_calls_made_code)
{
	uint8_t *outer_code = code_make(code_nesting, sizeof(code_nesting));
	uint8_t *code = code_make(code_with_frame, sizeof(code_with_frame));
	void (*call)(uint8_t *, void (*)(void));

	memcpy(&call, &outer_code, sizeof(call));
	mode_set(TRC_UNWIND_AUTO);
	through_two(call, code);
	ck_assert_uint_eq(truths_found(), 3);
	munmap(outer_code, 4096);
	munmap(code, 4096);
}
END_TEST

/* That a call lies before an address is remembered, but not for long, and that none does is not
 * (module:O2). */
START_TEST(what_made_code_was_is_believed_for_a_while)
{
	uint8_t *code = code_make(code_with_frame, sizeof(code_with_frame));
	uintptr_t ra = (uintptr_t)code + CALL_END;
	uint32_t believed = 0;

	mode_set(TRC_UNWIND_AUTO);
	ck_assert(trc_module_is_return(ra));
	ck_assert(!trc_module_is_return(ra - 4));
	ck_assert_int_eq(mprotect(code, 4096, PROT_READ | PROT_WRITE), 0);
	memset(code, 0, sizeof(code_with_frame));
	while (believed < 1000 && trc_module_is_return(ra))
		believed++;
	ck_assert_uint_eq(believed, 64);
	memcpy(code, code_with_frame, sizeof(code_with_frame));
	ck_assert(trc_module_is_return(ra));
	munmap(code, 4096);
	for (believed = 0; believed < 1000 && trc_module_is_return(ra);)
		believed++;
	ck_assert_uint_eq(believed, 64);
}
END_TEST

/* ---- garbage ---------------------------------------------------------------------------- */

static uint64_t random_state = 88172645463325252ull;

static uint64_t random_next(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

struct code {
	uint32_t count;
	struct {
		uintptr_t start;
		size_t bytes;
	} segment[64];
};

static int code_find(struct dl_phdr_info *info, size_t bytes, void *to)
{
	struct code *code = to;

	(void)bytes;
	for (int i = 0; i < info->dlpi_phnum && code->count < 64; i++) {
		if (info->dlpi_phdr[i].p_type != PT_LOAD || !(info->dlpi_phdr[i].p_flags & PF_X))
			continue;
		code->segment[code->count].start = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
		code->segment[code->count++].bytes = info->dlpi_phdr[i].p_memsz;
	}
	return 0;
}

static uintptr_t random_code(const struct code *code)
{
	uint32_t i = (uint32_t)(random_next() % code->count);

	return code->segment[i].start + random_next() % code->segment[i].bytes;
}

/* An address where a stack may be, might have been, or cannot be. */
static uintptr_t random_address(const uintptr_t *near, uint32_t count)
{
	uint64_t kind = random_next() % 16;
	uintptr_t at = near[random_next() % count];

	if (kind == 0)
		return random_next();
	if (kind == 1)
		return random_next() % 3 - 1;
	if (kind < 4)
		return at + random_next() % (1 << 24) - (1 << 23);
	return (at + random_next() % 8192 - 4096) & ~(uintptr_t)(kind == 4 ? 0 : 7);
}

static void context_make(ucontext_t *uc, uintptr_t pc, uintptr_t sp, uintptr_t fp)
{
	uint8_t *registers = (uint8_t *)&uc->uc_mcontext;

	for (size_t i = 0; i < sizeof(uc->uc_mcontext); i += 8)
		memcpy(registers + i, &sp, 8);
#if defined(__x86_64__)
	uc->uc_mcontext.gregs[REG_RIP] = (long long)pc;
	uc->uc_mcontext.gregs[REG_RSP] = (long long)sp;
	uc->uc_mcontext.gregs[REG_RBP] = (long long)fp;
	uc->uc_mcontext.gregs[REG_RBX] = (long long)fp;
#else
	uc->uc_mcontext.pc = pc;
	uc->uc_mcontext.sp = sp;
	uc->uc_mcontext.regs[29] = fp;
	uc->uc_mcontext.regs[30] = pc ^ 64;
#endif
}

/* Memory like a stack: return addresses, frame pointers, odds and ends; then an abyss. */
static uintptr_t *stack_make(const struct code *code, size_t words)
{
	size_t bytes = words * 8;
	uint8_t *map = mmap(NULL, bytes + 131072, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uintptr_t *word = (uintptr_t *)(void *)(map + 65536);

	ck_assert(map != MAP_FAILED);
	ck_assert_int_eq(mprotect(word, bytes, PROT_READ | PROT_WRITE), 0);
	for (size_t i = 0; i < words; i++) {
		uint64_t kind = random_next() % 8;

		if (kind < 4)
			word[i] = random_code(code);
		else if (kind < 7)
			word[i] = (uintptr_t)&word[i + random_next() % 64];
		else
			word[i] = random_next();
	}
	return word;
}

static void garbage_contexts(uint32_t rounds)
{
	struct code code = {0};
	uintptr_t *stack, near[5];
	int on_main;
	ucontext_t uc;

	memset(&uc, 0, sizeof(uc));
	dl_iterate_phdr(code_find, &code);
	stack = stack_make(&code, 8192);
	near[0] = (uintptr_t)&on_main;
	near[1] = (uintptr_t)environ;
	near[2] = (uintptr_t)stack + 16384;
	near[3] = (uintptr_t)&stack[8192];
	near[4] = (uintptr_t)malloc(100);
	for (uint32_t i = 0; i < rounds; i++) {
		uintptr_t pc = random_next() % 8 ? random_code(&code) : random_address(near, 5);
		uint32_t max = (uint32_t)(random_next() % 200), n;

		context_make(&uc, pc, random_address(near, 5), random_address(near, 5));
		errno = 4711;
		memset(frame, 0x5a, sizeof(frame));
		n = trc_unwind_context(&uc, frame, max < MAX ? max : MAX - 1);
		ck_assert_uint_le(n, max < MAX ? max : MAX - 1);
		ck_assert_uint_eq(frame[n], 0x5a5a5a5a5a5a5a5aull);
		ck_assert_int_eq(errno, 4711);
	}
	free((void *)near[4]);
	munmap((uint8_t *)stack - 65536, 65536 + 131072);
}

static void *garbage_thread(void *argument)
{
	trc_unwind_thread(own_stack_bytes());
	garbage_contexts(30000);
	return argument;
}

START_TEST(garbage_does_no_harm)
{
	static const enum trc_unwind_mode modes[] = {TRC_UNWIND_CFI, TRC_UNWIND_AUTO,
						     TRC_UNWIND_FP};
	pthread_t thread;

	mode_set(modes[_i]);
	garbage_contexts(60000);
	ck_assert_int_eq(pthread_create(&thread, NULL, garbage_thread, NULL), 0);
	pthread_join(thread, NULL);
}
END_TEST

/* ---- a stack of which nothing tells where it ends --------------------------------------- */

#if defined(__x86_64__)
/* What lies beyond a coroutine's stack, and comes and goes as it likes. */
struct vanishing {
	uint8_t *from;
	size_t bytes;
	_Atomic bool stop;
};

static void *vanishing_thread(void *argument)
{
	struct vanishing *v = argument;

	while (!v->stop) {
		mprotect(v->from, v->bytes, PROT_NONE);
		mprotect(v->from, v->bytes, PROT_READ);
	}
	return NULL;
}

/* Calls f() with `top` as stack pointer.  As compilers would it tells that its caller's frame lies
 * there; and leaves a frame pointer that leads there too. */
void call_on(void *top, void (*f)(void));
__asm__(".text\n"
	".type call_on, @function\n"
	"call_on:\n"
	".cfi_startproc\n"
	"push %rbp\n"
	"push %r12\n"
	"mov %rsp, %r12\n"
	"mov %rdi, %rsp\n"
	"lea 64(%rdi), %rbp\n"
	"call *%rsi\n"
	"mov %r12, %rsp\n"
	"pop %r12\n"
	"pop %rbp\n"
	"ret\n"
	".cfi_endproc\n"
	".size call_on, . - call_on\n");

static void capture_often(void)
{
	for (uint32_t i = 0; i < 200; i++)
		capture();
}

/* In each mode the walk reads beyond the stack's end, if it can. */
START_TEST(a_neighbour_that_vanishes_does_no_harm)
{
	static const enum trc_unwind_mode modes[] = {TRC_UNWIND_CFI, TRC_UNWIND_AUTO, TRC_UNWIND_FP,
						     TRC_UNWIND_LIBUNWIND};
	uint8_t *map =
		mmap(NULL, 131072, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct vanishing v = {.from = map + 65536, .bytes = 65536};
	pthread_t thread;

	ck_assert(map != MAP_FAILED);
	memset(v.from, 0, v.bytes);
	mode_set(modes[_i]);
	capture();
	ck_assert_int_eq(pthread_create(&thread, NULL, vanishing_thread, &v), 0);
	for (uint32_t i = 0; i < 500; i++) {
		call_on(v.from, capture_often);
		ck_assert_uint_ge(frames, 2);
	}
	v.stop = true;
	pthread_join(thread, NULL);
	munmap(map, 131072);
}
END_TEST
#endif

/* ---- the contract's edges --------------------------------------------------------------- */

static __attribute__((noinline)) uint32_t deep(uint32_t depth, uint64_t *to, uint32_t max,
					       uint32_t skip)
{
	uint32_t n = depth ? deep(depth - 1, to, max, skip) : trc_unwind(to, max, skip);

	__asm__ volatile("" : "+r"(n));
	return n;
}

START_TEST(no_more_than_asked_for)
{
	uint64_t many[TRC_UNWIND_FRAMES_MAX + 2], all[TRC_UNWIND_FRAMES_MAX];

	mode_set(_i ? TRC_UNWIND_AUTO : TRC_UNWIND_FP);
	memset(many, 0x5a, sizeof(many));
	ck_assert_uint_eq(deep(300, many, 0, 0), 0);
	ck_assert_uint_eq(many[0], 0x5a5a5a5a5a5a5a5aull);
	ck_assert_uint_eq(deep(300, many, 5, 0), 5);
	ck_assert_uint_eq(many[5], 0x5a5a5a5a5a5a5a5aull);
	ck_assert_uint_eq(deep(300, many, TRC_UNWIND_FRAMES_MAX + 2, 0), TRC_UNWIND_FRAMES_MAX);
	ck_assert_uint_eq(many[TRC_UNWIND_FRAMES_MAX], 0x5a5a5a5a5a5a5a5aull);
	ck_assert_uint_eq(deep(10, all, TRC_UNWIND_FRAMES_MAX, 0),
			  deep(10, many, TRC_UNWIND_FRAMES_MAX, 3) + 3);
	/* From the innermost frames left out on, it is the same stack; the last calls differ. */
	ck_assert_mem_eq(&all[3], many, 7 * sizeof(many[0]));
	ck_assert_uint_eq(deep(10, many, 4, 1000), 0);
}
END_TEST

START_TEST(each_mode_sees_the_caller)
{
	static const enum trc_unwind_mode modes[] = {TRC_UNWIND_CFI, TRC_UNWIND_AUTO, TRC_UNWIND_FP,
						     TRC_UNWIND_LIBUNWIND};
	const char *note;
	uint64_t in_third;

	mode_set(TRC_UNWIND_CFI);
	outer(bare_with_fp);
	in_third = frame[0];
	/* The first time libunwind learns the addresses; then it takes its other path. */
	for (uint32_t i = 0; i < 3; i++) {
		ck_assert_int_eq(trc_unwind_setup(modes[_i], &note), 0);
		ck_assert_ptr_null(note);
		outer(bare_with_fp);
		ck_assert_uint_ge(frames, 1);
		ck_assert_uint_eq(frame[0], in_third);
	}
	ck_assert_int_eq(trc_unwind_setup(TRC_UNWIND_NONE, &note), 0);
	ck_assert_uint_eq(trc_unwind(frame, MAX, 0), 0);
}
END_TEST

/* ---- a C library that cannot tell which module an address lies in ----------------------- */

START_TEST(modules_are_found_by_our_own_list)
{
	struct trc_cfi_bytes theirs, ours;
	struct code code = {0};
	uint64_t expected[MAX];
	uint32_t expected_frames, compared = 0;

	mode_set(TRC_UNWIND_CFI);
	capture();
	expected_frames = frames;
	memcpy(expected, frame, sizeof(frame));
	dl_iterate_phdr(code_find, &code);
	for (uint32_t i = 0; i < 20000; i++) {
		uintptr_t pc = random_code(&code);
		int err = trc_module_cfi(pc, &theirs);

		ck_assert_int_eq(trc_module_setup(true), 0);
		ck_assert_int_eq(trc_module_cfi(pc, &ours), err);
		ck_assert(err || (ours.start == theirs.start && ours.end == theirs.end &&
				  ours.hdr == theirs.hdr));
		compared += !err;
		ck_assert_int_eq(trc_module_setup(false), 0);
	}
	ck_assert_uint_gt(compared, 10000);
	trc_unwind_modules_changed();
	ck_assert_int_eq(trc_module_setup(true), 0);
	capture();
	ck_assert_uint_eq(frames, expected_frames);
	ck_assert_uint_gt(frames, 3);
	ck_assert_mem_eq(&frame[1], &expected[1], (frames - 1) * sizeof(frame[0]));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("unwind, hostile");
	TCase *tests = tcase_create("stacks");
	SRunner *runner = srunner_create(suite);
	int failed;

	suite_add_tcase(suite, tests);
	tcase_set_timeout(tests, 60);
	tcase_add_test(tests, rules_stop_at_code_without_them);
	tcase_add_test(tests, auto_crosses_it_by_frame_pointers);
	tcase_add_test(tests, fp_crosses_it_too);
	tcase_add_loop_test(tests, made_code_ends_the_stack_or_is_crossed, 0, 6);
	tcase_add_test(tests, made_code_calls_made_code);
	tcase_add_test(tests, what_made_code_was_is_believed_for_a_while);
	tcase_add_loop_test(tests, garbage_does_no_harm, 0, 3);
#if defined(__x86_64__)
	tcase_add_loop_test(tests, a_neighbour_that_vanishes_does_no_harm, 0, 4);
#endif
	tcase_add_loop_test(tests, no_more_than_asked_for, 0, 2);
	tcase_add_test(tests, modules_are_found_by_our_own_list);
	tcase_add_loop_test(tests, each_mode_sees_the_caller, 0, 4);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
