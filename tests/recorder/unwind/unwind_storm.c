/*
 * unwind_storm.c - modules come and go while signals at high rate unwind, in all threads: no
 * crash, no deadlock, and every stack is whole: it ends where the thread's stack ends.
 *
 *	unwind_storm THREADS PLUGIN...
 *
 * The plugins differ in their frames, and are mapped at each other's addresses.
 */
#include <dlfcn.h>
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include "own_stack.h"
#include "recorder/unwind/unwind.h"
#include "recorder/unwind/module.h"

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

enum {
	THREADS_MAX = 8,
	RUN_MS = 1000,
	PERIOD_NS = 400000,
	/* However slow the machine is. */
	LOADS_MIN = 20,
	CAPTURES_MIN = 1000,
};

static _Atomic uint32_t captures, cut_short, errno_changed, loads;
/* The first stack that was cut short, for the message. */
static uint64_t cut_frame[TRC_UNWIND_FRAMES_MAX];
static uint32_t cut_frames;
static char **plugins;
static uint32_t plugin_count;
/* The outermost address of the calling thread, seen when it started. */
static __thread uint64_t outermost __attribute__((tls_model("initial-exec")));

/* The few instructions of _init and _fini have no rules. */
static bool without_rules(uint64_t pc)
{
	struct trc_cfi_bytes bytes;
	struct trc_rule rule;

	return trc_module_cfi(pc, &bytes) || trc_cfi_rule(&bytes, pc, &rule) == -ENOENT;
}

static void check(const uint64_t *frame, uint32_t n)
{
	atomic_fetch_add(&captures, 1);
	if (n == TRC_UNWIND_FRAMES_MAX || (n && frame[n - 1] == outermost))
		return;
	if (atomic_fetch_add(&cut_short, 1) == 0) {
		cut_frames = n;
		memcpy(cut_frame, frame, n * sizeof(frame[0]));
	}
}

static void on_timer(int number, siginfo_t *info, void *context)
{
	uint64_t frame[TRC_UNWIND_FRAMES_MAX];
	int before = errno;
	uint32_t n;

	(void)number;
	(void)info;
	if (!outermost)
		return;
	errno = 4711;
	n = trc_unwind_context(context, frame, TRC_UNWIND_FRAMES_MAX);
	if (!n || !without_rules(frame[0])) {
		check(frame, n);
		check(frame, trc_unwind(frame, TRC_UNWIND_FRAMES_MAX, 0));
	}
	if (errno != 4711)
		atomic_fetch_add(&errno_changed, 1);
	errno = before;
}

static int callback(int value)
{
	uint64_t frame[TRC_UNWIND_FRAMES_MAX];

	if (value % 5 == 0)
		check(frame, trc_unwind(frame, TRC_UNWIND_FRAMES_MAX, 0));
	return value;
}

static void timer_begin(timer_t *timer)
{
	struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGRTMIN};
	struct itimerspec period = {{0, PERIOD_NS}, {0, PERIOD_NS}};

	event.sigev_notify_thread_id = (pid_t)syscall(SYS_gettid);
	if (timer_create(CLOCK_MONOTONIC, &event, timer) || timer_settime(*timer, 0, &period, NULL))
		abort();
}

static uint64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static void load_and_run(const char *plugin, uint32_t depth)
{
	int (*run)(int (*)(int), uint32_t);
	void *module = dlopen(plugin, RTLD_NOW | RTLD_LOCAL);

	if (!module) {
		fprintf(stderr, "%s\n", dlerror());
		abort();
	}
	trc_unwind_modules_changed(); /* another thread may be about to */
	*(void **)&run = dlsym(module, "plugin_run");
	run(callback, depth);
	dlclose(module);
	trc_unwind_modules_changed();
	atomic_fetch_add(&loads, 1);
}

static void *storm(void *number)
{
	uint64_t frame[TRC_UNWIND_FRAMES_MAX], end = now_ms() + RUN_MS;
	uint32_t n;
	timer_t timer;

	if ((uintptr_t)number % 2) /* the others' stacks stay unknown */
		trc_unwind_thread(own_stack_bytes());
	n = trc_unwind(frame, TRC_UNWIND_FRAMES_MAX, 0);
	if (!n)
		abort();
	outermost = frame[n - 1];
	timer_begin(&timer);
	for (uint32_t i = 0; now_ms() < end || loads < LOADS_MIN || captures < CAPTURES_MIN; i++)
		load_and_run(plugins[i % plugin_count], i / 2 % 8);
	timer_delete(timer);
	return NULL;
}

int main(int argc, char **argv)
{
	struct sigaction action = {.sa_sigaction = on_timer, .sa_flags = SA_SIGINFO | SA_RESTART};
	pthread_t thread[THREADS_MAX];
	uint32_t threads = argc > 2 ? (uint32_t)strtoul(argv[1], NULL, 10) : 0;
	const char *note;

	if (!threads || threads > THREADS_MAX || trc_unwind_setup(TRC_UNWIND_AUTO, &note))
		return 2;
	plugins = argv + 2;
	plugin_count = (uint32_t)argc - 2;
	alarm(60); /* a deadlock ends the test */
	sigaction(SIGRTMIN, &action, NULL);
	for (uintptr_t i = 0; i < threads; i++)
		pthread_create(&thread[i], NULL, storm, (void *)i);
	for (uint32_t i = 0; i < threads; i++)
		pthread_join(thread[i], NULL);
	printf("%" PRIu32 " loads, %" PRIu32 " captures, %" PRIu32
	       " cut short, errno changed %" PRIu32 " times\n",
	       loads, captures, cut_short, errno_changed);
	for (uint32_t i = 0; i < cut_frames; i++) {
		Dl_info info = {0};

		dladdr((void *)(uintptr_t)cut_frame[i], &info);
		fprintf(stderr, "  %" PRIu32 " %#" PRIx64 " %s+%#" PRIx64 "\n", i, cut_frame[i],
			info.dli_fname ? info.dli_fname : "?",
			cut_frame[i] - (uintptr_t)info.dli_fbase);
	}
	return cut_short || errno_changed;
}
