/*
 * truth_tasks.c - tasks, regions, logs and counters of known number and length.
 *
 * Links libtrc.  With an argument it records itself into that file, by trace_start(); without,
 * somebody else is expected to.  Prints what the trace has to contain, by its own clock: one line
 * a type, "task|region", type, count, total_ns, longest_ns; of what threads did in them "slept" or "ran", type, count,
 * total_ns, longest_ns; then "spread", type, nothing, p50_ns, p95_ns, p99_ns; then "log", category, count; then
 * "counter", name, count, last value.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <trc/trace.h>
#include "truth.h"

enum { ORDERS = 20, QUERIES = 3, WORKERS = 3 };

/* Handed from the thread that begins an order to the one that ends it. */
struct order {
	trace_task task;
	uint64_t began_ns;
};

static atomic_uint logs, counts;

/* How long each of a type lasted. */
struct spread {
	const char *type;
	uint64_t ns[WORKERS * ORDERS * QUERIES];
	atomic_uint n;
};
static struct spread orders = {.type = "order"}, even = {.type = "query 0"},
		     odd = {.type = "query 1"}, prices = {.type = "price"},
		     finishes = {.type = "finish"};

static void lasted(struct spread *spread, const char *what, uint64_t from_ns)
{
	uint64_t ns = now_ns() - from_ns;

	spread->ns[spread->n++] = ns;
	site_add(site_row(what, spread->type, ""), ns, 1);
}

static int by_value(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* The smallest value that so many percent do not exceed. */
static uint64_t percentile(const struct spread *spread, unsigned int percent)
{
	return spread->ns[(spread->n * percent + 99) / 100 - 1];
}

static void print_spread(struct spread *spread)
{
	qsort(spread->ns, spread->n, sizeof(*spread->ns), by_value);
	printf("spread\t%s\t\t%ju\t%ju\t%ju\n", spread->type, (uintmax_t)percentile(spread, 50),
	       (uintmax_t)percentile(spread, 95), (uintmax_t)percentile(spread, 99));
}

/* Sleeps, in a region or task of this type, which is in a region of an order. */
static void pass_ms(unsigned int ms, const char *type)
{
	struct timespec ts = {0, (long)ms * 1000000};
	uint64_t from = now_ns();

	nanosleep(&ts, NULL);
	from = now_ns() - from;
	site_add(site_row("slept", type, ""), from, 1);
	site_add(site_row("slept", "finish", ""), from, 0);
	site_add(site_row("slept", "order", ""), from, 0);
}

/* CPU time of the thread. */
static uint64_t ran_ns(void)
{
	struct timespec ts = {0, 0};

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static void compute(uint64_t ns)
{
	uint64_t from = ran_ns();

	while (ran_ns() - from < ns)
		;
}

/* A name that is no literal, made anew each time. */
static void computed_name(char *out, size_t room, int i)
{
	snprintf(out, room, "query %d", i % 2);
}

static void query(struct order *order, int i)
{
	static atomic_uint asked;
	unsigned int n = asked++;
	char type[16];
	uint64_t from = now_ns();
	trace_task task;

	computed_name(type, sizeof(type), i);
	task = trace_task_begin(type, order->task);
	pass_ms(n % 20 ? 1 + n % 4 : 12, i % 2 ? "query 1" : "query 0");
	trace_task_end(task);
	lasted(i % 2 ? &odd : &even, "task", from);
}

static void price(const struct order *order)
{
	uint64_t from = now_ns(), ran;

	{
		TRACE_REGION_OF(order->task, "price");
		ran = ran_ns();
		pass_ms(1, "price");
		compute(1000000);
		site_add(site_row("ran", "price", ""), ran_ns() - ran, 1);
	}
	lasted(&prices, "region", from);
}

static void *order_finish(void *arg)
{
	struct order *order = arg;
	uint64_t from = now_ns();

	trace_region_begin(order->task, "finish");
	for (int i = 0; i < QUERIES; i++)
		query(order, i);
	price(order);
	trace_logf(order->task, "orders", "order of %d queries, <b>\"%s\"</b>", QUERIES, "ü");
	logs++;
	trace_counter_set("orders done", (int64_t)++counts);
	trace_region_end();
	lasted(&finishes, "region", from);
	site_add(site_row("slept", "finish", ""), 0, 1);
	site_add(site_row("slept", "order", ""), 0, 1);
	trace_task_end(order->task);
	lasted(&orders, "task", order->began_ns);
	return NULL;
}

static void *orders_main(void *arg)
{
	for (int i = 0; i < ORDERS; i++) {
		struct order order = {.began_ns = now_ns()};
		pthread_t thread;

		order.task = trace_task_begin("order", 0);
		if (pthread_create(&thread, NULL, order_finish, &order))
			exit(1);
		pthread_join(thread, NULL);
	}
	return arg;
}

static void run_all(void)
{
	pthread_t worker[WORKERS];

	for (int i = 0; i < WORKERS; i++) {
		if (pthread_create(&worker[i], NULL, orders_main, NULL))
			exit(1);
	}
	for (int i = 0; i < WORKERS; i++)
		pthread_join(worker[i], NULL);
}

static int fail(const char *what)
{
	fprintf(stderr, "truth_tasks: %s: %s\n", what, trace_last_error());
	return 1;
}

int main(int argc, char **argv)
{
	truth_begin();
	if (argc > 1) {
		/* Before the start annotations go nowhere, and a second start is refused. */
		trace_task_end(trace_task_begin("too early", 0));
		if (trace_enabled() || trace_start(argv[1], NULL))
			return fail("trace_start");
		if (trace_start("other.trc", NULL) != -16 || !strstr(trace_last_error(), argv[1]))
			return fail("a second trace_start");
	}
	if (!trace_enabled())
		return fail("nothing records");
	run_all();
	if (argc > 1) {
		if (trace_stop() || trace_enabled())
			return fail("trace_stop");
		trace_task_end(trace_task_begin("too late", 0));
	}
	truth_print(stdout);
	print_spread(&orders);
	print_spread(&even);
	print_spread(&odd);
	print_spread(&prices);
	print_spread(&finishes);
	printf("log\torders\t\t%u\n", (unsigned int)logs);
	printf("counter\torders done\t\t%u\t%u\n", (unsigned int)counts, (unsigned int)counts);
	return 0;
}
