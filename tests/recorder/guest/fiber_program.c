/*
 * fiber_program.c - fibers on stacks of their own, which two threads take turns to run.
 *
 *	fiber_program TRACE         records itself, unless trace-record does
 *	fiber_program --child TRACE a forked child records itself
 *
 * Fiber job-I has the label job=I and the region job-I open all the time, and a log of that in each
 * round; it is woken by the main thread, and then runs on the other of the two threads.  The stacks
 * are the heap's, mappings, and a piece of the main thread's own.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>
#include <trc/fiber.h>
#include <trc/labels.h>

#define NOINLINE __attribute__((noinline))
#define STAY()	 __asm__ volatile("" ::: "memory") /* no call before it is a jump */

enum { FIBERS = 6, ROUNDS = 6, THREADS = 2, STACK_BYTES = 64 << 10, BURN_NS = 20000000 };

static struct fiber {
	ucontext_t context;
	struct trace_fiber *fiber;
	char name[16];
	bool waits, has_ended;
} fibers[FIBERS];

/* What a thread is to run. */
static struct runner {
	ucontext_t context;
	struct fiber *next;
	bool ends;
} runners[THREADS];

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

/* Of whoever runs the fiber now. */
static _Atomic(struct runner *) runner_of[FIBERS];

static void die(const char *what)
{
	fprintf(stderr, "fiber_program: %s\n", what);
	exit(1);
}

/* ---- in fibers ---------------------------------------------------------------------------- */

static int number_of(const struct fiber *f)
{
	return (int)(f - fibers);
}

static NOINLINE void wait_for_main(struct fiber *f)
{
	f->waits = true;
	trace_fiber_switch(NULL, TRACE_FIBER_WAIT, f);
	swapcontext(&f->context, &atomic_load(&runner_of[number_of(f)])->context);
	STAY();
}

static NOINLINE void burn(void)
{
	struct timespec start, now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &start);
	do {
		for (int i = 0; i < 20000; i++)
			STAY();
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	} while ((now.tv_sec - start.tv_sec) * 1000000000L + now.tv_nsec - start.tv_nsec < BURN_NS);
}

static NOINLINE void round_inner(struct fiber *f)
{
	burn();
	trace_log(0, "job", f->name);
	wait_for_main(f);
	STAY();
}

static NOINLINE void round_outer(struct fiber *f)
{
	round_inner(f);
	STAY();
}

static void fiber_main(int number)
{
	struct fiber *f = &fibers[number];

	trace_region_begin(0, f->name);
	for (int i = 0; i < ROUNDS; i++)
		round_outer(f);
	trace_region_end();
	f->has_ended = true;
	trace_fiber_switch(NULL, TRACE_FIBER_YIELD, NULL);
	setcontext(&atomic_load(&runner_of[number])->context);
}

/* ---- who runs them ------------------------------------------------------------------------ */

static void run(struct runner *self, struct fiber *f)
{
	atomic_store(&runner_of[number_of(f)], self);
	f->waits = false;
	trace_fiber_switch(f->fiber, TRACE_FIBER_YIELD, NULL);
	swapcontext(&self->context, &f->context);
}

static void *runner_main(void *arg)
{
	struct runner *self = arg;

	pthread_mutex_lock(&mutex);
	while (!self->ends || self->next) {
		struct fiber *f = self->next;

		if (!f) {
			pthread_cond_wait(&changed, &mutex);
			continue;
		}
		pthread_mutex_unlock(&mutex);
		run(self, f);
		pthread_mutex_lock(&mutex);
		self->next = NULL;
		pthread_cond_broadcast(&changed);
	}
	pthread_mutex_unlock(&mutex);
	return NULL;
}

/* Context: mutex held. */
static void give(struct runner *runner, struct fiber *f)
{
	while (runner->next)
		pthread_cond_wait(&changed, &mutex);
	if (f->waits)
		trace_fiber_ready(f->fiber);
	runner->next = f;
	pthread_cond_broadcast(&changed);
}

static void fiber_make(int i, void *stack)
{
	struct fiber *f = &fibers[i];
	char value[8];

	snprintf(value, sizeof(value), "%d", i);
	snprintf(f->name, sizeof(f->name), "job-%d", i);
	getcontext(&f->context);
	f->context.uc_stack.ss_sp = stack;
	f->context.uc_stack.ss_size = STACK_BYTES;
	makecontext(&f->context, (void (*)(void))(uintptr_t)fiber_main, 1, i);
	TRACE_LABELS("job", value);
	f->fiber = trace_fiber_create(f->name);
	if (!f->fiber)
		die("no fiber");
	if (i % 2) /* with and without */
		trace_fiber_set_stack(f->fiber, stack, STACK_BYTES);
}

static void *stack_for(int i, char *own)
{
	void *stack;

	if (i == 0)
		return own;
	if (i % 2)
		return malloc(STACK_BYTES);
	stack = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return stack == MAP_FAILED ? NULL : stack;
}

static void run_all(void)
{
	pthread_t thread[THREADS];
	char own[STACK_BYTES] __attribute__((aligned(16)));
	void *stack[FIBERS];

	for (int i = 0; i < FIBERS; i++) {
		stack[i] = stack_for(i, own);
		if (!stack[i])
			die("no stack");
		fiber_make(i, stack[i]);
	}
	for (int i = 0; i < THREADS; i++)
		pthread_create(&thread[i], NULL, runner_main, &runners[i]);
	pthread_mutex_lock(&mutex);
	for (int round = 0; round <= ROUNDS; round++)
		for (int i = 0; i < FIBERS; i++) {
			struct runner *before = &runners[(i + round + 1) % THREADS];

			while (before->next == &fibers[i])
				pthread_cond_wait(&changed, &mutex);
			give(&runners[(i + round) % THREADS], &fibers[i]);
		}
	for (int i = 0; i < THREADS; i++)
		runners[i].ends = true;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&mutex);
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	for (int i = 0; i < FIBERS; i++) {
		if (!fibers[i].has_ended)
			die("a fiber has not ended");
		trace_fiber_destroy(fibers[i].fiber);
		if (i % 2)
			free(stack[i]);
	}
}

static void sample_by_timers(void)
{
	struct trace_sampling_event event = TRACE_SAMPLING_EVENT_INIT;

	event.name = "timer";
	event.frequency_hz = 1000;
	if (trace_sampling_start(&event, 1))
		die(trace_last_error());
}

/* ---- a child ------------------------------------------------------------------------------ */

/* What it knew of its parent's session is of no use in its own. */
static int in_child(const char *path, struct trace_fiber *before, const struct trace_labels *labels)
{
	struct trace_fiber *fiber;

	trace_labels_destroy(trace_labels_set(NULL));
	fiber = trace_fiber_create("child's");
	if (trace_start(path, NULL))
		die(trace_last_error());
	trace_labels_destroy(trace_labels_set(trace_labels_copy(labels)));
	trace_log(0, "child", "with labels");
	trace_fiber_switch(fiber, TRACE_FIBER_YIELD, NULL);
	trace_log(0, "child", "in a fiber");
	trace_fiber_switch(NULL, TRACE_FIBER_YIELD, NULL);
	trace_fiber_destroy(fiber);
	trace_fiber_ready(before);
	trace_fiber_destroy(before);
	trace_labels_destroy(trace_labels_set(NULL));
	return trace_stop() ? 1 : 0;
}

static int with_child(const char *path)
{
	const struct trace_label label = {.key = "tenant", .value = "42"};
	struct trace_fiber *fiber = trace_fiber_create("parent's");
	const struct trace_labels *labels;
	int status = 1;
	pid_t child;

	if (!fiber || trace_labels_create(&labels, NULL, &label, 1))
		die("no memory");
	trace_fiber_switch(fiber, TRACE_FIBER_YIELD, NULL);
	trace_labels_set(trace_labels_copy(labels));
	child = fork();
	if (!child)
		exit(in_child(path, fiber, labels));
	if (child < 0 || waitpid(child, &status, 0) != child)
		die("no child");
	trace_labels_destroy(trace_labels_set(NULL));
	trace_fiber_destroy(fiber);
	trace_labels_destroy(labels);
	return status != 0;
}

int main(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[1], "--child"))
		return with_child(argv[2]);
	if (argc != 2)
		return 2;
	if (trace_start(argv[1], NULL))
		die(trace_last_error());
	if (!getenv("TRC_SESSION"))
		sample_by_timers();
	run_all();
	return trace_stop() ? 1 : 0;
}
