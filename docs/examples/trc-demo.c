/*
 * trc-demo.c - a small order server with one bad habit, to be recorded and explained by trc.
 *
 * Requests arrive in a queue; four workers parse them, look into the settings and ask a backend
 * over one of three connections.  Ten times a second the settings are reloaded, and
 * settings_reload() writes its audit log while it holds the settings lock: every worker queues
 * up behind a disk.  Nothing in a profile of CPU time shows that.
 *
 * The program measures its own waits with the clock and prints them when it is done, so that
 * the trace can be compared with them.
 *
 *   trace-record -o demo.trc -- trc-demo      recorded from outside
 *   trc-demo -o demo.trc                      records itself, through <trc/trace.h>
 *   trc-demo                                  just runs
 *
 * Compiled with -DTRC_DEMO_PLAIN it knows nothing of trc: for trace-record that is enough,
 * only tasks, regions, logs and counters are missing then.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _GNU_SOURCE 1 /* pthread_setname_np() */
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#ifndef TRC_DEMO_PLAIN
#include <trc/trace.h>
#else
typedef uint64_t trace_task;
#define TRACE_REGION_OF(task, type)	((void)(task))
#define trace_task_begin(type, parent)	((trace_task)(parent))
#define trace_task_end(task)		((void)(task))
#define trace_logf(task, category, ...) ((void)(task))
#define trace_counter_set(name, value)	((void)(value))
#define trace_thread_set_name(name)	((void)(name))
#define trace_start(path, options)	(-ENOSYS)
#define trace_stop()			(-ENOSYS)
#define trace_last_error()		"built without trc"
#endif

enum {
	WORKERS = 4,
	CONNECTIONS = 3,
	QUEUE_LENGTH = 64,
	REQUEST_EVERY_US = 2500,
	BACKEND_US = 3000,
	RELOAD_EVERY_US = 80000,
	AUDIT_US = 20000,
	STATS_EVERY_US = 20000,
	RELOADS_KEPT = 8,
};

/* What the program measures itself; each field is only added to. */
struct measured {
	uint64_t waits, wait_ns, longest_ns;
};

struct interval {
	uint64_t from_ns, until_ns;
};

struct request {
	trace_task task;
	uint32_t number;
	uint64_t arrived_ns;
};

static struct {
	pthread_mutex_t lock; /* guards all of this */
	pthread_cond_t not_empty;
	struct request slot[QUEUE_LENGTH];
	uint32_t head, tail;
	bool closed;
} queue = {.lock = PTHREAD_MUTEX_INITIALIZER, .not_empty = PTHREAD_COND_INITIALIZER};

static struct {
	pthread_mutex_t lock; /* guards all of this */
	uint32_t version, price;
	/* The last reloads, each from taking the lock to giving it back: whoever waited meanwhile
	 * waited for it. */
	struct interval reload[RELOADS_KEPT];
} settings = {.lock = PTHREAD_MUTEX_INITIALIZER, .price = 42};

static struct {
	pthread_mutex_t lock; /* guards all of this; leaf */
	struct measured settings_wait, reload_wait, backend_wait, latency, reload_hold;
	uint64_t refused;
} stats = {.lock = PTHREAD_MUTEX_INITIALIZER};

static sem_t connections;
static int audit_fd = -1;
static atomic_bool stopping; /* set once, by main(); looked at between rounds */
static uint32_t seconds = 2;

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static void measure(struct measured *m, uint64_t from_ns, uint64_t to_ns)
{
	uint64_t ns = to_ns - from_ns;

	pthread_mutex_lock(&stats.lock);
	m->waits++;
	m->wait_ns += ns;
	if (ns > m->longest_ns)
		m->longest_ns = ns;
	pthread_mutex_unlock(&stats.lock);
}

/* Something for a processor to do: parsing, pricing. */
static uint32_t compute(uint32_t seed, uint32_t rounds)
{
	for (uint32_t i = 0; i < rounds; i++)
		seed = seed * 1664525u + 1013904223u;
	return seed;
}

static void thread_name(const char *name)
{
	pthread_setname_np(pthread_self(), name);
	trace_thread_set_name(name);
}

/* ---- the settings, and the bad habit -------------------------------------------------------- */

static uint64_t overlap_ns(const struct interval *a, const struct interval *b)
{
	uint64_t from_ns = a->from_ns > b->from_ns ? a->from_ns : b->from_ns;
	uint64_t until_ns = a->until_ns < b->until_ns ? a->until_ns : b->until_ns;

	return until_ns > from_ns ? until_ns - from_ns : 0;
}

static uint32_t settings_price(void)
{
	struct interval wait = {.from_ns = now_ns()};
	uint64_t for_reloads_ns = 0;
	uint32_t price;

	pthread_mutex_lock(&settings.lock);
	wait.until_ns = now_ns();
	for (uint32_t i = 0; i < RELOADS_KEPT; i++)
		for_reloads_ns += overlap_ns(&wait, &settings.reload[i]);
	measure(&stats.settings_wait, wait.from_ns, wait.until_ns);
	if (for_reloads_ns)
		measure(&stats.reload_wait, 0, for_reloads_ns);
	price = settings.price;
	pthread_mutex_unlock(&settings.lock);

	return price;
}

/* A line in the audit log, on a disk that takes its time. */
static void audit_write(uint32_t version)
{
	char line[64];
	int n = snprintf(line, sizeof(line), "settings version %u\n", version);

	if (audit_fd >= 0 && write(audit_fd, line, (size_t)n) == n)
		fdatasync(audit_fd);
	usleep(AUDIT_US);
}

static void settings_reload(uint32_t version)
{
	struct interval *reload;
	uint64_t from;

	pthread_mutex_lock(&settings.lock);
	from = now_ns();
	settings.version = version;
	settings.price = 40 + version % 5;
	audit_write(version); /* under the lock: this is what trc has to find */
	measure(&stats.reload_hold, from, now_ns());
	reload = &settings.reload[version % RELOADS_KEPT];
	reload->from_ns = from;
	reload->until_ns = now_ns();
	pthread_mutex_unlock(&settings.lock);
	trace_logf(0, "settings", "reloaded, version %u", version);
}

static void *reloader_main(void *arg)
{
	thread_name("reloader");
	for (uint32_t version = 1; !stopping; version++) {
		usleep(RELOAD_EVERY_US);
		settings_reload(version);
	}
	return arg;
}

/* ---- requests ------------------------------------------------------------------------------- */

static bool queue_push(const struct request *request)
{
	bool room;

	pthread_mutex_lock(&queue.lock);
	room = queue.tail - queue.head < QUEUE_LENGTH;
	if (room)
		queue.slot[queue.tail++ % QUEUE_LENGTH] = *request;
	trace_counter_set("queue length", (int64_t)(queue.tail - queue.head));
	pthread_cond_signal(&queue.not_empty);
	pthread_mutex_unlock(&queue.lock);
	return room;
}

/* False once the queue is closed and empty. */
static bool queue_pop(struct request *request)
{
	bool got;

	pthread_mutex_lock(&queue.lock);
	while (queue.head == queue.tail && !queue.closed)
		pthread_cond_wait(&queue.not_empty, &queue.lock);
	got = queue.head != queue.tail;
	if (got)
		*request = queue.slot[queue.head++ % QUEUE_LENGTH];
	pthread_mutex_unlock(&queue.lock);
	return got;
}

static void queue_close(void)
{
	pthread_mutex_lock(&queue.lock);
	queue.closed = true;
	pthread_cond_broadcast(&queue.not_empty);
	pthread_mutex_unlock(&queue.lock);
}

static uint32_t request_parse(const struct request *request)
{
	TRACE_REGION_OF(request->task, "parse");
	return compute(request->number, 100000);
}

static void backend_query(const struct request *request)
{
	TRACE_REGION_OF(request->task, "backend");
	uint64_t from = now_ns();

	while (sem_wait(&connections) && errno == EINTR)
		;
	measure(&stats.backend_wait, from, now_ns());
	usleep(BACKEND_US);
	sem_post(&connections);
}

static void request_handle(const struct request *request)
{
	TRACE_REGION_OF(request->task, "handle");
	uint32_t order = request_parse(request);
	uint32_t price;

	{
		TRACE_REGION_OF(request->task, "settings");
		price = settings_price();
	}
	if (order % 8)
		backend_query(request);
	compute(order * price, 20000);
}

static void *worker_main(void *arg)
{
	struct request request;
	char name[16];

	snprintf(name, sizeof(name), "worker %d", *(const int *)arg);
	thread_name(name);
	while (queue_pop(&request)) {
		request_handle(&request);
		trace_task_end(request.task);
		measure(&stats.latency, request.arrived_ns, now_ns());
	}
	return arg;
}

static void *acceptor_main(void *arg)
{
	uint64_t next_ns = now_ns();

	thread_name("acceptor");
	for (uint32_t number = 0; !stopping; number++) {
		struct request request = {.number = number, .arrived_ns = now_ns()};
		struct timespec until;

		request.task = trace_task_begin("request", 0);
		if (!queue_push(&request)) {
			trace_task_end(request.task);
			stats.refused++;
		}
		next_ns += (uint64_t)REQUEST_EVERY_US * 1000;
		until.tv_sec = (time_t)(next_ns / 1000000000u);
		until.tv_nsec = (long)(next_ns % 1000000000u);
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
	}
	queue_close();
	return arg;
}

/* ---- set-up and results --------------------------------------------------------------------- */

static void start(pthread_t *thread, void *(*run)(void *), void *arg)
{
	int err = pthread_create(thread, NULL, run, arg);

	if (err) {
		fprintf(stderr, "trc-demo: pthread_create: %s\n", strerror(err));
		exit(1);
	}
}

static void serve(void)
{
	static int number[WORKERS] = {1, 2, 3, 4};
	pthread_t worker[WORKERS], acceptor, reloader;

	start(&reloader, reloader_main, NULL);
	for (int i = 0; i < WORKERS; i++)
		start(&worker[i], worker_main, &number[i]);
	start(&acceptor, acceptor_main, NULL);
	sleep(seconds);
	stopping = true;
	pthread_join(acceptor, NULL);
	for (int i = 0; i < WORKERS; i++)
		pthread_join(worker[i], NULL);
	pthread_join(reloader, NULL);
}

static void print_measured(const char *what, const struct measured *m)
{
	printf("trc-demo: %-38s %5llu times, %8.1f ms in all, longest %5.1f ms\n", what,
	       (unsigned long long)m->waits, (double)m->wait_ns / 1e6, (double)m->longest_ns / 1e6);
}

static void print_results(void)
{
	printf("trc-demo: served %llu requests in %u s; its own clock says:\n",
	       (unsigned long long)stats.latency.waits, seconds);
	if (stats.refused)
		printf("trc-demo: refused %llu requests, as the queue was full\n",
		       (unsigned long long)stats.refused);
	print_measured("settings_price() took the lock", &stats.settings_wait);
	print_measured("settings_reload() made it wait", &stats.reload_wait);
	print_measured("settings_reload() held the lock", &stats.reload_hold);
	print_measured("backend_query() got a connection", &stats.backend_wait);
	print_measured("a request, from arrival to answer", &stats.latency);
}

static void audit_open(void)
{
	char path[] = "/tmp/trc-demo-audit-XXXXXX";

	audit_fd = mkstemp(path);
	if (audit_fd >= 0)
		unlink(path);
}

static const char *parse_options(int argc, char **argv)
{
	const char *path = NULL;
	int opt;

	while ((opt = getopt(argc, argv, "o:s:")) != -1) {
		if (opt == 'o') {
			path = optarg;
		} else if (opt == 's' && atoi(optarg) > 0) {
			seconds = (uint32_t)atoi(optarg);
		} else {
			fprintf(stderr, "usage: trc-demo [-o TRACE] [-s SECONDS]\n");
			exit(2);
		}
	}
	return path;
}

int main(int argc, char **argv)
{
	const char *path = parse_options(argc, argv);

	sem_init(&connections, 0, CONNECTIONS);
	audit_open();
	if (path && trace_start(path, NULL)) {
		fprintf(stderr, "trc-demo: %s\n", trace_last_error());
		return 1;
	}
	serve();
	if (path && trace_stop()) {
		fprintf(stderr, "trc-demo: %s\n", trace_last_error());
		return 1;
	}
	print_results();
	return 0;
}
