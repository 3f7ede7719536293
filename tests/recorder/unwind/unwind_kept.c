/*
 * unwind_kept.c - stacks that are found without a walk are those that a walk finds.
 *
 *	unwind_kept MODE THREADS PLUGIN... -- CXX_PLUGIN
 *
 * Each stack is walked, and looked for among those that are kept; its number is a hash of its
 * frames.  The threads call down ways that come again, through frames of variable length whose old
 * contents stay, callbacks of the C library, modules that come and go at each other's addresses,
 * and exceptions; they run coroutines, and leave by longjmp().  Signals interrupt all of it, the
 * search and the keeping included, and handlers look for stacks themselves, or never return.
 */
#include <alloca.h>
#include <dlfcn.h>
#include <inttypes.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>
#include "own_stack.h"
#include "recorder/unwind/kept.h"
#include "recorder/unwind/memory.h"
#include "recorder/unwind/unwind.h"

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

enum {
	THREADS_MAX = 8,
	ROUNDS = 6000,
	WAYS = 24,
	DEPTH = 20,
	PERIOD_NS = 150000,
	FIBER_BYTES = 64 << 10,
	TAG = 7,
};

static _Atomic uint32_t probes, found, wrong, jumps;
static bool by_pointers;
static char **plugins;
static uint32_t plugin_count;
static void (*throw_through)(void (*)(void), uint32_t depth);

/* Of the calling thread. */
struct own {
	uint64_t random;
	uint64_t way; /* chooses the functions that are called */
	uint32_t depth;
	volatile sig_atomic_t may_jump;
	sigjmp_buf base;
	ucontext_t main, fiber;
	struct trc_range range;
	char *fiber_stack;
};
static __thread struct own own __attribute__((tls_model("initial-exec")));

static uint64_t next(uint64_t *random)
{
	*random ^= *random << 13;
	*random ^= *random >> 7;
	*random ^= *random << 17;
	return *random;
}

static uint64_t hash(const uint64_t *frame, uint32_t n)
{
	uint64_t sum = n;

	for (uint32_t i = 0; i < n; i++)
		sum = (sum ^ frame[i]) * UINT64_C(0x9e3779b97f4a7c15) ^ sum >> 29;
	return sum | 1;
}

/*
 * By frame pointers a walk steps by a rule only up to the first frame that keeps one, if the rule is
 * in the cache; just after a module came or went it is not, and the walk takes one such step more.
 * In code without frame pointers this leads elsewhere.  Then the next walk tells.
 */
static bool walk_says(const struct trc_unwind_start *start, uint64_t number)
{
	uint64_t frame[TRC_UNWIND_FRAMES_MAX];

	for (int attempt = 0; attempt < 4 && by_pointers; attempt++)
		if (hash(frame, trc_unwind_from(start, frame, TRC_UNWIND_FRAMES_MAX)) == number)
			return true;
	return false;
}

static __attribute__((noinline)) void probe(void)
{
	struct trc_unwind_start start = TRC_UNWIND_CALLER();
	uint64_t frame[TRC_UNWIND_FRAMES_MAX], number, walked;
	uint32_t n;

	number = trc_kept_find(&start, TAG);
	n = trc_unwind_from(&start, frame, TRC_UNWIND_FRAMES_MAX);
	walked = hash(frame, n);
	atomic_fetch_add(&probes, 1);
	if (!number) {
		if (n && n < TRC_UNWIND_FRAMES_MAX)
			trc_kept_add(&start, TAG, walked, frame, n, (uint32_t)(walked >> 8 & 3));
		return;
	}
	atomic_fetch_add(&found, 1);
	if (number != walked && !walk_says(&start, number))
		atomic_fetch_add(&wrong, 1);
	else if (walked % 64 == 2)
		trc_kept_drop(&start, number);
}

/* ---- functions to be called --------------------------------------------------------------- */

static void down(void);

#define FRAME(name, words)                                                                         \
	static __attribute__((noinline)) void name(void)                                           \
	{                                                                                          \
		volatile uint64_t local[words];                                                    \
		local[0] = 1;                                                                      \
		down();                                                                            \
		local[words - 1] = local[0];                                                       \
	}

FRAME(frame_of_2, 2)
FRAME(frame_of_6, 6)
FRAME(frame_of_30, 30)
FRAME(frame_of_100, 100)

/* What lies in the array stays what it was. */
static __attribute__((noinline)) void of_variable_length(size_t n_bytes, void (*call)(void))
{
	volatile char *array = alloca(n_bytes);

	__asm__ volatile("" : : "r"(array) : "memory");
	call();
	__asm__ volatile("" : : "r"(array) : "memory");
}

/* Saves a frame pointer, always at the same depth. */
static __attribute__((noinline)) void probe_further_in(void)
{
	of_variable_length(16, probe);
}

/*
 * Two calls, at the same depth, with the frame that is called elsewhere each time.  Where it was the
 * last time, its return address is still to be found, perhaps that of the other call: only a frame
 * pointer differs, in its register or where it was saved.
 */
static __attribute__((noinline)) void split(size_t upper, size_t lower, bool first,
					    void (*call)(void))
{
	volatile char *array = alloca(upper);

	__asm__ volatile("" : : "r"(array) : "memory");
	if (first) {
		of_variable_length(lower, call);
		__asm__ volatile("# or else compilers make one call of both" : : : "memory");
	} else {
		of_variable_length(lower, call);
	}
	__asm__ volatile("" : : "r"(array) : "memory");
}

static void split_in_turn(void)
{
	for (size_t i = 0; i < 64; i++)
		split(16 + i % 4 * 16, 16 + (3 - i % 4) * 16, i & 1,
		      i & 4 ? probe : probe_further_in);
}

static int by_sort(const void *a, const void *b)
{
	if (*(const int *)a == 0)
		down();
	return *(const int *)a - *(const int *)b;
}

static __attribute__((noinline)) void through_library(void)
{
	int number[4] = {3, 2, 0, 1};

	qsort(number, 4, sizeof(number[0]), by_sort);
}

static __attribute__((noinline)) void leave_by_jump(void)
{
	jmp_buf back;
	uint32_t depth = own.depth;

	if (setjmp(back) == 0) {
		down();
		longjmp(back, 1);
	}
	own.depth = depth;
	probe();
}

/* Code that is made as the program runs: calls its argument, on a frame with a frame pointer (kept:K6). */
#if defined(__x86_64__)
static const uint8_t made_bytes[] = {0x55, 0x48, 0x89, 0xe5, 0xff, 0xd7, 0x5d, 0xc3};
#else
static const uint32_t made_bytes[] = {0xa9bf7bfd, 0x910003fd, 0xd63f0000, 0xa8c17bfd, 0xd65f03c0};
#endif
static void (*made)(void (*)(void));

static bool make_code(void)
{
	void *code = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (code == MAP_FAILED)
		return false;
	memcpy(code, made_bytes, sizeof(made_bytes));
	__builtin___clear_cache((char *)code, (char *)code + sizeof(made_bytes));
	memcpy(&made, &code, sizeof(made));
	return mprotect(code, 4096, PROT_READ | PROT_EXEC) == 0;
}

/* Two calls, as in split(). */
static __attribute__((noinline)) void through_made_code(bool first)
{
	if (first) {
		made(down);
		__asm__ volatile("# or else compilers make one call of both" : : : "memory");
	} else {
		made(down);
	}
	__asm__ volatile("");
}

static __attribute__((noinline)) void recurse(uint32_t depth)
{
	if (depth)
		recurse(depth - 1);
	else
		probe();
	__asm__ volatile("");
}

static void down(void)
{
	uint64_t choice;

	probe();
	if (!own.depth)
		return;
	own.depth--;
	choice = next(&own.way);
	switch ((choice >> 8) % 9) {
	case 0:
		frame_of_2();
		break;
	case 1:
		frame_of_6();
		break;
	case 2:
		frame_of_30();
		break;
	case 3:
		frame_of_100();
		break;
	case 4:
		of_variable_length(16 + (choice >> 16 & 7) * 16, down);
		break;
	case 5:
		split(16 + (choice >> 16 & 7) * 16, 16 + (7 - (choice >> 16 & 7)) * 16,
		      choice >> 19 & 1, down);
		break;
	case 6:
		through_library();
		break;
	case 7:
		through_made_code(choice >> 16 & 1);
		break;
	default:
		leave_by_jump();
	}
	probe();
}

static void go(uint64_t way, uint32_t depth)
{
	own.way = (way + 1) * UINT64_C(0x9e3779b97f4a7c15);
	own.depth = depth;
	down();
}

/* ---- what a round does -------------------------------------------------------------------- */

static int called_by_plugin(int value)
{
	if (value % 5 == 0)
		probe();
	return value;
}

static void through_plugin(uint32_t i)
{
	int (*run)(int (*)(int), uint32_t);
	void *module = dlopen(plugins[i % plugin_count], RTLD_NOW | RTLD_LOCAL);

	if (!module)
		abort();
	trc_unwind_modules_changed(); /* another thread may be about to */
	*(void **)&run = dlsym(module, "plugin_run");
	run(called_by_plugin, i / 2 % 4);
	run(called_by_plugin, i / 2 % 4);
	run(called_by_plugin, i / 2 % 4);
	dlclose(module);
	trc_unwind_modules_changed();
}

static void fiber_main(void)
{
	for (;;) {
		go(own.random % WAYS, DEPTH / 2);
		trc_range_coroutine(NULL);
		swapcontext(&own.fiber, &own.main);
	}
}

/* Half of the coroutines' stacks are told of. */
static void through_fiber(bool told)
{
	if (told)
		trc_range_coroutine(&own.range);
	swapcontext(&own.main, &own.fiber);
	trc_range_coroutine(NULL);
}

static void fiber_make(void)
{
	own.fiber_stack = malloc(FIBER_BYTES);
	if (!own.fiber_stack || getcontext(&own.fiber))
		abort();
	own.range = (struct trc_range){((uintptr_t)own.fiber_stack + 15) & ~(uintptr_t)15,
				       ((uintptr_t)own.fiber_stack + FIBER_BYTES) & ~(uintptr_t)15,
				       true, NULL};
	own.fiber.uc_stack.ss_sp = (void *)own.range.lo;
	own.fiber.uc_stack.ss_size = own.range.hi - own.range.lo;
	own.fiber.uc_link = NULL;
	makecontext(&own.fiber, fiber_main, 0);
}

static void frames_jumped(void)
{
	atomic_fetch_add(&jumps, 1);
	probe();
}

/* Only here may a handler not return: nothing but probe() is at work. */
static __attribute__((noinline)) void where_handlers_jump(uint64_t way)
{
	if (sigsetjmp(own.base, 1)) {
		frames_jumped();
		return;
	}
	own.may_jump = 1;
	go(way, DEPTH);
	own.may_jump = 0;
}

static void round_of(uint32_t i)
{
	uint64_t choice = next(&own.random);

	switch (choice >> 8 & 15) {
	case 0:
		through_plugin((uint32_t)(choice >> 16));
		break;
	case 1:
		throw_through(probe, (uint32_t)(choice >> 16) % 4);
		break;
	case 2:
	case 3:
		through_fiber(choice >> 16 & 1);
		break;
	case 4:
		recurse(i % 8 ? 30 : 300);
		break;
	case 5:
	case 6:
		where_handlers_jump((choice >> 16) % WAYS);
		break;
	case 7:
		split_in_turn();
		break;
	default:
		go((choice >> 16) % WAYS, DEPTH);
	}
}

/* ---- signals ------------------------------------------------------------------------------ */

static void on_timer(int number, siginfo_t *info, void *context)
{
	uint64_t frame[TRC_UNWIND_FRAMES_MAX];

	(void)number;
	(void)info;
	trc_unwind_context(context, frame, TRC_UNWIND_FRAMES_MAX);
	probe();
	probe();
	if (own.may_jump && next(&own.random) % 16 == 0) {
		own.may_jump = 0;
		siglongjmp(own.base, 1);
	}
}

static void timer_begin(timer_t *timer)
{
	struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGRTMIN};
	struct itimerspec period = {{0, PERIOD_NS}, {0, PERIOD_NS}};

	event.sigev_notify_thread_id = (pid_t)syscall(SYS_gettid);
	if (timer_create(CLOCK_MONOTONIC, &event, timer) || timer_settime(*timer, 0, &period, NULL))
		abort();
}

/* Threads follow one another on the same stack. */
static void *thread_main(void *number)
{
	timer_t timer;

	trc_unwind_thread(own_stack_bytes());
	own.random = ((uintptr_t)number + 1) * UINT64_C(0x2545f4914f6cdd1d);
	fiber_make();
	timer_begin(&timer);
	for (uint32_t i = 0; i < ROUNDS / 3; i++)
		round_of(i);
	timer_delete(timer);
	free(own.fiber_stack);
	return NULL;
}

static int usage(int argc, char **argv, enum trc_unwind_mode *mode)
{
	const char *note;
	void *module;

	if (argc < 6 || !trc_unwind_mode_parse(argv[1], mode) || trc_unwind_setup(*mode, &note))
		return 2;
	by_pointers = *mode == TRC_UNWIND_FP;
	plugins = argv + 3;
	while (plugins[plugin_count] && strcmp(plugins[plugin_count], "--"))
		plugin_count++;
	module = plugins[plugin_count] ? dlopen(plugins[plugin_count + 1], RTLD_NOW) : NULL;
	if (!module)
		return 2;
	*(void **)&throw_through = dlsym(module, "throw_through");
	trc_unwind_modules_changed();
	return throw_through ? 0 : 2;
}

int main(int argc, char **argv)
{
	struct sigaction action = {.sa_sigaction = on_timer, .sa_flags = SA_SIGINFO | SA_RESTART};
	uint32_t threads = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : 0;
	pthread_t thread[THREADS_MAX];
	enum trc_unwind_mode mode;

	if (!threads || threads > THREADS_MAX || usage(argc, argv, &mode) || !make_code())
		return 2;
	alarm(300); /* a deadlock ends the test */
	sigaction(SIGRTMIN, &action, NULL);
	for (int turn = 0; turn < 3; turn++) {
		for (uintptr_t i = 0; i < threads; i++)
			pthread_create(&thread[i], NULL, thread_main,
				       (void *)(i + (uintptr_t)turn * threads));
		for (uint32_t i = 0; i < threads; i++)
			pthread_join(thread[i], NULL);
	}
	printf("%s: %" PRIu32 " stacks, %" PRIu32 " found, %" PRIu32 " of them wrong, %" PRIu32
	       " jumps out of a handler\n",
	       argv[1], probes, found, wrong, jumps);
	return wrong || found < probes / 20;
}
