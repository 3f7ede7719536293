/*
 * fibers.c - a server of fibers on two threads, with a scheduler of its own that tells trc what
 * it does.
 *
 * A request is a fiber: it parses, waits for one of three connections, asks the backend over it
 * (which is a time to pass), lets others go first, and replies.  Each belongs to a tenant: whoever
 * takes requests in sets the label, and the fiber begins with it.  One tenant's queries are slow:
 * everybody waits for connections that these have taken.
 *
 * The program measures its own waits and prints them for each tenant when it is done, so that the
 * trace can be compared with them: at least, at most (the clock is read before and after each call
 * that tells trc of a switch).
 *
 *   trace-record -o fibers.trc -- fibers      recorded from outside
 *   fibers -o fibers.trc                      records itself
 *
 *   trace-analyze fibers.trc --sql "SELECT l.value AS tenant, count(*), sum(w.duration_ns) / 1e6 AS ms
 *     FROM fiber_waits AS w JOIN labels AS l USING (labels) WHERE w.reason = 'user' GROUP BY tenant"
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _GNU_SOURCE 1 /* pthread_setname_np() */
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <trc/fiber.h>
#include <trc/labels.h>
#include <trc/trace.h>
#include <ucontext.h>
#include <unistd.h>

enum {
	WORKERS = 2,
	CONNECTIONS = 3,
	TENANTS = 2,
	REQUESTS = 120,
	STACK_BYTES = 128 << 10,
	WORK_US = 150,
	QUICK_US = 500,
	SLOW_US = 4000,
};

struct tenant {
	const char *name;
	unsigned int query_us;
	/* What its fibers measured; under the scheduler's lock. */
	unsigned int waits, sleeps, yields;
	uint64_t wait_least_ns, wait_most_ns;
};

static struct tenant tenants[TENANTS] = {{.name = "acme", .query_us = QUICK_US},
					 {.name = "umbrella", .query_us = SLOW_US}};

struct fiber {
	struct fiber *next; /* in the list that it is in */
	struct trace_fiber *trace;
	struct tenant *tenant;
	struct worker *worker;			/* that runs it */
	uint64_t wake_ns;			/* of one that sleeps */
	uint64_t left_before_ns, left_after_ns; /* around the call that told of its leaving */
	enum trace_fiber_leave how;
	bool done;
	ucontext_t context;
	void *stack;
};

struct list {
	struct fiber *first, **end;
};

struct worker {
	ucontext_t context;
	/* Done for a fiber once its context has been saved, by whoever comes back: then it may
	 * run elsewhere. */
	struct list *put;
};

static struct {
	pthread_mutex_t lock; /* guards all of this */
	pthread_cond_t changed;
	struct list ready, sleeping, want_connection;
	unsigned int connections, alive;
} sched = {.lock = PTHREAD_MUTEX_INITIALIZER,
	   .changed = PTHREAD_COND_INITIALIZER,
	   .connections = CONNECTIONS};

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static void work(void)
{
	uint64_t until = now_ns() + WORK_US * 1000;

	while (now_ns() < until)
		;
}

/* ---- lists ------------------------------------------------------------------------------- */

static void list_put(struct list *list, struct fiber *f)
{
	f->next = NULL;
	*(list->first ? list->end : &list->first) = f;
	list->end = &f->next;
}

static struct fiber *list_take(struct list *list)
{
	struct fiber *f = list->first;

	if (f)
		list->first = f->next;
	return f;
}

/* ---- the scheduler ----------------------------------------------------------------------- */

/* The fiber goes into a list, and its thread to whatever comes next.  Comes back when it is run
 * again, perhaps by another thread. */
static void fiber_leave(struct fiber *f, enum trace_fiber_leave how, const void *object,
			struct list *put)
{
	f->how = how;
	f->worker->put = put;
	f->left_before_ns = now_ns();
	trace_fiber_switch(NULL, how, object);
	f->left_after_ns = now_ns();
	swapcontext(&f->context, &f->worker->context);
}

/* With the lock held. */
static void fiber_ready(struct fiber *f)
{
	trace_fiber_ready(f->trace);
	list_put(&sched.ready, f);
	pthread_cond_signal(&sched.changed);
}

/* Those whose time has come are ready.  Returns when the next one's comes; 0 = nobody sleeps. */
static uint64_t sleepers_wake(void)
{
	struct list all = sched.sleeping;
	uint64_t now = now_ns(), next = 0;
	struct fiber *f;

	sched.sleeping.first = NULL;
	while ((f = list_take(&all))) {
		if (f->wake_ns <= now) {
			fiber_ready(f);
			continue;
		}
		list_put(&sched.sleeping, f);
		if (!next || f->wake_ns < next)
			next = f->wake_ns;
	}
	return next;
}

/* The next fiber to run, waited for; NULL: there will be none any more. */
static struct fiber *next_ready(void)
{
	struct fiber *f = NULL;

	pthread_mutex_lock(&sched.lock);
	while (sched.alive) {
		uint64_t next = sleepers_wake();
		struct timespec ts = {(time_t)(next / 1000000000), (long)(next % 1000000000)};

		f = list_take(&sched.ready);
		if (f)
			break;
		if (next)
			pthread_cond_clockwait(&sched.changed, &sched.lock, CLOCK_MONOTONIC, &ts);
		else
			pthread_cond_wait(&sched.changed, &sched.lock);
	}
	pthread_mutex_unlock(&sched.lock);
	return f;
}

/* What the fiber measured of the time when it did not run. */
static void account(const struct fiber *f, uint64_t before_ns, uint64_t after_ns)
{
	struct tenant *t = f->tenant;

	pthread_mutex_lock(&sched.lock);
	t->yields += f->how == TRACE_FIBER_YIELD;
	t->sleeps += f->how == TRACE_FIBER_SLEEP;
	if (f->how == TRACE_FIBER_WAIT) {
		t->waits++;
		t->wait_least_ns += before_ns - f->left_after_ns;
		t->wait_most_ns += after_ns - f->left_before_ns;
	}
	pthread_mutex_unlock(&sched.lock);
}

static void fiber_end(struct fiber *f)
{
	trace_fiber_destroy(f->trace);
	free(f->stack);
	free(f);
	pthread_mutex_lock(&sched.lock);
	if (!--sched.alive)
		pthread_cond_broadcast(&sched.changed);
	pthread_mutex_unlock(&sched.lock);
}

static void fiber_run(struct worker *worker, struct fiber *f)
{
	uint64_t before = now_ns();

	f->worker = worker;
	trace_fiber_switch(f->trace, TRACE_FIBER_YIELD, NULL);
	if (f->left_before_ns)
		account(f, before, now_ns());
	swapcontext(&worker->context, &f->context);
	if (f->done) {
		fiber_end(f);
		return;
	}
	pthread_mutex_lock(&sched.lock);
	list_put(worker->put, f);
	if (worker->put != &sched.want_connection)
		pthread_cond_signal(&sched.changed);
	else if (sched.connections) { /* one was given back meanwhile */
		sched.connections--;
		fiber_ready(list_take(&sched.want_connection));
	}
	pthread_mutex_unlock(&sched.lock);
}

static void *worker_main(void *arg)
{
	struct worker worker;
	struct fiber *f;

	pthread_setname_np(pthread_self(), arg);
	while ((f = next_ready()))
		fiber_run(&worker, f);
	return NULL;
}

/* ---- requests ---------------------------------------------------------------------------- */

static void connection_take(struct fiber *f)
{
	bool free_one;

	pthread_mutex_lock(&sched.lock);
	free_one = sched.connections > 0;
	sched.connections -= free_one;
	pthread_mutex_unlock(&sched.lock);
	if (!free_one)
		fiber_leave(f, TRACE_FIBER_WAIT, &sched.connections, &sched.want_connection);
}

static void connection_give(void)
{
	struct fiber *next;

	pthread_mutex_lock(&sched.lock);
	next = list_take(&sched.want_connection);
	if (next)
		fiber_ready(next); /* it has it now */
	else
		sched.connections++;
	pthread_mutex_unlock(&sched.lock);
}

static void backend_ask(struct fiber *f)
{
	TRACE_REGION("query");

	f->wake_ns = now_ns() + f->tenant->query_us * 1000;
	fiber_leave(f, TRACE_FIBER_SLEEP, NULL, &sched.sleeping);
}

static void request_handle(struct fiber *f)
{
	work();
	connection_take(f);
	backend_ask(f);
	connection_give();
	fiber_leave(f, TRACE_FIBER_YIELD, NULL, &sched.ready);
	work();
}

/* makecontext() hands over nothing wider than an int. */
static void fiber_main(unsigned int high, unsigned int low)
{
	struct fiber *f = (struct fiber *)((uintptr_t)high << 32 | low);

	request_handle(f);
	f->done = true;
	trace_fiber_switch(NULL, TRACE_FIBER_YIELD, NULL);
	setcontext(&f->worker->context);
}

static void fiber_make(struct tenant *tenant, unsigned int number)
{
	struct fiber *f = calloc(1, sizeof(*f));
	char name[32];

	if (!f || !(f->stack = malloc(STACK_BYTES)))
		abort();
	snprintf(name, sizeof(name), "request %u", number);
	f->trace = trace_fiber_create(name);
	trace_fiber_set_stack(f->trace, f->stack, STACK_BYTES);
	f->tenant = tenant;
	getcontext(&f->context);
	f->context.uc_stack.ss_sp = f->stack;
	f->context.uc_stack.ss_size = STACK_BYTES;
	makecontext(&f->context, (void (*)(void))fiber_main, 2, (unsigned int)((uintptr_t)f >> 32),
		    (unsigned int)(uintptr_t)f);
	pthread_mutex_lock(&sched.lock);
	sched.alive++;
	list_put(&sched.ready, f);
	pthread_cond_signal(&sched.changed);
	pthread_mutex_unlock(&sched.lock);
}

static void requests_make(void)
{
	for (unsigned int i = 1; i <= REQUESTS; i++) {
		struct tenant *tenant = &tenants[i % TENANTS];
		TRACE_LABELS("tenant", tenant->name);

		fiber_make(tenant, i);
		usleep(WORK_US);
	}
	pthread_mutex_lock(&sched.lock);
	if (!--sched.alive)
		pthread_cond_broadcast(&sched.changed);
	pthread_mutex_unlock(&sched.lock);
}

int main(int argc, char **argv)
{
	bool itself = argc == 3 && !strcmp(argv[1], "-o");
	static char name[WORKERS][16];
	pthread_t thread[WORKERS];

	if (argc > 1 && !itself) {
		fprintf(stderr, "usage: fibers [-o TRACE]\n");
		return 2;
	}
	if (itself && trace_start(argv[2], NULL)) {
		fprintf(stderr, "fibers: %s\n", trace_last_error());
		return 1;
	}
	sched.alive = 1; /* requests are still to come */
	for (int i = 0; i < WORKERS; i++) {
		snprintf(name[i], sizeof(name[i]), "worker %d", i + 1);
		pthread_create(&thread[i], NULL, worker_main, name[i]);
	}
	requests_make();
	for (int i = 0; i < WORKERS; i++)
		pthread_join(thread[i], NULL);
	if (itself && trace_stop()) {
		fprintf(stderr, "fibers: %s\n", trace_last_error());
		return 1;
	}
	printf("tenant\twaits\tleast_ns\tmost_ns\tsleeps\tyields\n");
	for (int i = 0; i < TENANTS; i++)
		printf("%s\t%u\t%llu\t%llu\t%u\t%u\n", tenants[i].name, tenants[i].waits,
		       (unsigned long long)tenants[i].wait_least_ns,
		       (unsigned long long)tenants[i].wait_most_ns, tenants[i].sleeps,
		       tenants[i].yields);
	return 0;
}
