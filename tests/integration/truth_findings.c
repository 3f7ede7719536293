/*
 * truth_findings.c - programs with one fault each, which say themselves what it cost.
 *
 *   truth_findings KIND
 *
 * KIND is that of a finding (analyzer/findings/findings.h), or "lock_table", locks that are alike, or "ruby_lock", an interpreter's, or
 * without a fault: "nothing", "even_locks", "even_pool", "server"; or without one that others could be taken for: "even_stages",
 * "even_barrier", "handed_out".  Each is as small as it can be and has no other fault.  Output, separated by tabs: "cost",
 * nanoseconds; of herd "in_vain", wakings; of lock_convoy "handovers", one after the other.  Waits are measured around the calls.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _GNU_SOURCE 1
#include <poll.h>
#include <sched.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <trc/trace.h>
#include "truth.h"

#define MS 1000000u

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static atomic_uint_fast64_t cost_ns, in_vain;
static atomic_bool over;
static uint64_t last_join_ns;

static void work(uint64_t ns)
{
	uint64_t from = now_ns();

	while (now_ns() - from < ns)
		;
}

/* Processor time, however long that takes. */
static void burn(uint64_t ns)
{
	struct timespec ts;
	uint64_t from, now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	from = (uint64_t)ts.tv_sec * 1000 * MS + (uint64_t)ts.tv_nsec;
	do {
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
		now = (uint64_t)ts.tv_sec * 1000 * MS + (uint64_t)ts.tv_nsec;
	} while (now - from < ns);
}

static void pass(uint64_t ns)
{
	struct timespec ts = {0, (long)ns};

	nanosleep(&ts, NULL);
}

static void *stages(void *arg);
static const char *const STAGE_NAME[] = {"reader", "packer", "sender"};

static void run_threads(int n, void *(*run)(void *))
{
	pthread_t thread[16];
	char name[16];

	for (int i = 0; i < n; i++) {
		if (pthread_create(&thread[i], NULL, run, (void *)(intptr_t)i))
			exit(1);
		if (run == stages)
			snprintf(name, sizeof(name), "%s", STAGE_NAME[i]);
		else
			snprintf(name, sizeof(name), "worker-%d", i);
		pthread_setname_np(thread[i], name);
	}
	for (int i = 0; i < n; i++) {
		uint64_t from = now_ns();

		pthread_join(thread[i], NULL);
		last_join_ns = now_ns() - from;
	}
}

/* ---- locks ---- */

SITE void site_lock_it(void)
{
	uint64_t from = now_ns();

	pthread_mutex_lock(&lock);
	cost_ns += now_ns() - from;
}

/* While one thread is in its section, the other waits for the lock. */
static void *hold_working(void *arg)
{
	for (int i = 0; i < 60; i++) {
		site_lock_it();
		work(2 * MS);
		pthread_mutex_unlock(&lock);
		pass(MS / 2);
	}
	return arg;
}

static void *hold_sleeping(void *arg)
{
	for (int i = 0; i < 60; i++) {
		site_lock_it();
		pass(2 * MS);
		pthread_mutex_unlock(&lock);
		work(MS / 5);
	}
	return arg;
}

/* On one proc with threads that have no locks: whoever holds the lock has to give them the proc. */
static void *hold_preempted(void *arg)
{
	if ((intptr_t)arg >= 2) {
		while (!over)
			work(MS);
		return arg;
	}
	for (int i = 0; i < 20; i++) {
		site_lock_it();
		burn(4 * MS);
		pthread_mutex_unlock(&lock);
		pass(MS / 10);
	}
	over = true;
	return arg;
}

/* More threads than procs. */
static void *want_proc(void *arg)
{
	struct timespec ts;
	uint64_t from = now_ns();

	burn(150 * MS);
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	cost_ns += now_ns() - from - ((uint64_t)ts.tv_sec * 1000 * MS + (uint64_t)ts.tv_nsec);
	return arg;
}

/* A lock that who gives it back gives to the first that waits.  Whoever that is has to be woken first; meanwhile all
 * others come and wait, too. */
enum { CONVOY = 3, ROUNDS = 2000 };
static pthread_mutex_t handed;
static uint64_t left_ns; /* when it was given back last */
static unsigned int handovers, most_handovers; /* without another way to the lock in between */
static atomic_uint n_asking;
static atomic_bool is_held;

static int make_handed(void)
{
	pthread_mutexattr_t attr;

	return pthread_mutexattr_init(&attr) || pthread_mutexattr_setprotocol(&attr, PTHREAD_PRIO_INHERIT) ||
	       pthread_mutex_init(&handed, &attr);
}

SITE void site_lock_handed(void)
{
	uint64_t from = now_ns();

	pthread_mutex_lock(&handed);
	cost_ns += now_ns() - from;
	handovers = from < left_ns ? handovers + 1 : 0;
	if (handovers > most_handovers)
		most_handovers = handovers;
}

/* They begin when all of them wait: from then on each finds the lock taken. */
static void *in_convoy(void *arg)
{
	if ((intptr_t)arg == CONVOY) {
		pthread_mutex_lock(&handed);
		is_held = true;
		while (n_asking < CONVOY)
			pass(MS);
		pass(5 * MS);
		left_ns = now_ns();
		pthread_mutex_unlock(&handed);
		return arg;
	}
	while (!is_held)
		pass(MS);
	n_asking++;
	for (int i = 0; i < ROUNDS; i++) {
		site_lock_handed();
		left_ns = now_ns();
		pthread_mutex_unlock(&handed);
	}
	return arg;
}

/* A lock for each row, which two functions take. */
static struct {
	long n;
	pthread_mutex_t lock;
} table[4] = {{.lock = PTHREAD_MUTEX_INITIALIZER},
	      {.lock = PTHREAD_MUTEX_INITIALIZER},
	      {.lock = PTHREAD_MUTEX_INITIALIZER},
	      {.lock = PTHREAD_MUTEX_INITIALIZER}};

SITE void site_get(int row)
{
	uint64_t from = now_ns();

	pthread_mutex_lock(&table[row].lock);
	cost_ns += now_ns() - from;
	pass(MS);
	pthread_mutex_unlock(&table[row].lock);
}

SITE void site_put(int row)
{
	uint64_t from = now_ns();

	pthread_mutex_lock(&table[row].lock);
	cost_ns += now_ns() - from;
	pass(MS);
	table[row].n++;
	pthread_mutex_unlock(&table[row].lock);
}

static void *use_table(void *arg)
{
	unsigned int random = (unsigned int)(intptr_t)arg + 1;

	for (int i = 0; i < 100; i++) {
		random = random * 1103515245 + 12345;
		if (i % 2)
			site_get(random >> 16 & 3);
		else
			site_put(random >> 16 & 3);
	}
	return arg;
}

static void one_proc(void)
{
	cpu_set_t all, one;
	size_t cpu = 0;

	sched_getaffinity(0, sizeof(all), &all);
	while (!CPU_ISSET(cpu, &all))
		cpu++;
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	sched_setaffinity(0, sizeof(one), &one);
}

/* As in CPython: a flag, which one waits for by a condition variable. */
static bool held;

SITE void take_gil(void)
{
	pthread_mutex_lock(&lock);
	while (held) {
		uint64_t from = now_ns();
		struct timespec until;

		clock_gettime(CLOCK_REALTIME, &until);
		until.tv_nsec += 5 * (long)MS;
		until.tv_sec += until.tv_nsec / 1000000000;
		until.tv_nsec %= 1000000000;
		pthread_cond_timedwait(&cond, &lock, &until);
		cost_ns += now_ns() - from;
	}
	held = true;
	pthread_mutex_unlock(&lock);
}

SITE void drop_gil(void)
{
	pthread_mutex_lock(&lock);
	held = false;
	pthread_mutex_unlock(&lock);
	pthread_cond_signal(&cond);
}

static void *interpret(void *arg)
{
	for (int i = 0; i < 40; i++) {
		take_gil();
		work(3 * MS);
		drop_gil();
		pass(MS / 2);
	}
	return arg;
}

/* As in Ruby: threads that want the lock queue up, each with a condition variable of its own.  One keeps it for long. */
struct wanting {
	pthread_cond_t cond;
	struct wanting *next;
};
static struct wanting *first_wanting, **last_wanting = &first_wanting;

SITE void gvl_acquire_common(struct wanting *me)
{
	pthread_mutex_lock(&lock);
	if (held) {
		me->next = NULL;
		*last_wanting = me;
		last_wanting = &me->next;
		while (held || first_wanting != me) {
			uint64_t from = now_ns();

			pthread_cond_wait(&me->cond, &lock);
			cost_ns += now_ns() - from;
		}
		first_wanting = me->next;
		if (!first_wanting)
			last_wanting = &first_wanting;
	}
	held = true;
	pthread_mutex_unlock(&lock);
}

SITE void gvl_release(void)
{
	pthread_mutex_lock(&lock);
	held = false;
	if (first_wanting)
		pthread_cond_signal(&first_wanting->cond);
	pthread_mutex_unlock(&lock);
}

static void *run_ruby(void *arg)
{
	struct wanting me = {.cond = PTHREAD_COND_INITIALIZER};

	for (int i = 0; arg ? !over : i < 30; i++) {
		gvl_acquire_common(&me);
		work(arg ? 0 : 8 * MS);
		gvl_release();
		pass(MS / 4);
	}
	if (!arg)
		over = true;
	return arg;
}

/* ---- threads ---- */

/* Beyond its share; the others wait until it has done all. */
static void *one_works(void *arg)
{
	if (!arg) {
		struct timespec ts;

		burn(300 * MS);
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
		cost_ns += ((uint64_t)ts.tv_sec * 1000 * MS + (uint64_t)ts.tv_nsec) / 4 * 3;
		pthread_mutex_lock(&lock);
		over = true;
		pthread_cond_broadcast(&cond);
		pthread_mutex_unlock(&lock);
		return arg;
	}
	pthread_mutex_lock(&lock);
	while (!over)
		pthread_cond_wait(&cond, &lock);
	pthread_mutex_unlock(&lock);
	return arg;
}

/* ---- threads that wait for others ---- */

enum { PARTS = 80, ROOM = 3 };

struct line {
	pthread_mutex_t lock;
	pthread_cond_t room, part;
	int n;
};
static struct line lines[2] = {
	{PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, PTHREAD_COND_INITIALIZER, 0},
	{PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, PTHREAD_COND_INITIALIZER, 0},
};

static void await(struct line *line, pthread_cond_t *what, bool costs)
{
	uint64_t from = now_ns();

	pthread_cond_wait(what, &line->lock);
	if (costs)
		cost_ns += now_ns() - from;
}

static void put(struct line *line, bool costs)
{
	pthread_mutex_lock(&line->lock);
	while (line->n == ROOM)
		await(line, &line->room, costs);
	line->n++;
	pthread_cond_signal(&line->part);
	pthread_mutex_unlock(&line->lock);
}

static void get(struct line *line, bool costs)
{
	pthread_mutex_lock(&line->lock);
	while (!line->n)
		await(line, &line->part, costs);
	line->n--;
	pthread_cond_signal(&line->room);
	pthread_mutex_unlock(&line->lock);
}

static uint64_t stage_ns[3];

/* Reader, packer, sender: the packer is slow if its stage_ns is the largest. */
static void *stages(void *arg)
{
	intptr_t stage = (intptr_t)arg;

	for (int i = 0; i < PARTS; i++) {
		if (stage > 0)
			get(&lines[stage - 1], stage != 1);
		work(stage_ns[stage]);
		if (stage < 2)
			put(&lines[stage], stage != 1);
	}
	return arg;
}

static pthread_barrier_t both;
static uint64_t late_ns;

static void *meet(void *arg)
{
	for (int i = 0; i < PARTS; i++) {
		uint64_t from;

		work(arg ? late_ns : MS);
		from = now_ns();
		pthread_barrier_wait(&both);
		if (!arg)
			cost_ns += now_ns() - from;
	}
	return arg;
}

/* The last goes on when the others have ended. */
static void *end_late(void *arg)
{
	for (int i = 0; i < ((intptr_t)arg == 3 ? 40 : 10); i++)
		pass(8 * MS);
	return arg;
}

SITE void site_ask(void)
{
	pass(MS / 2);
}

static void *ask_again(void *arg)
{
	struct timespec ts;

	for (int i = 0; i < 400; i++) {
		work(MS / 10);
		site_ask();
	}
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	cost_ns += (uint64_t)ts.tv_sec * 1000 * MS + (uint64_t)ts.tv_nsec;
	return arg;
}

/* Looks into a pipe in which nothing comes, without waiting; or works most of the time. */
SITE void site_spin(int fd)
{
	struct pollfd in = {.fd = fd, .events = POLLIN};

	poll(&in, 1, 0);
}

static void *look(uint64_t works_ns)
{
	struct timespec ts = {0};
	int fd[2];

	if (pipe(fd))
		return NULL;
	while (ts.tv_sec < 1 && ts.tv_nsec < 400000000) {
		for (int i = 0; i < 1000; i++)
			site_spin(fd[0]);
		work(works_ns);
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	}
	cost_ns += (uint64_t)ts.tv_sec * 1000 * MS + (uint64_t)ts.tv_nsec;
	return NULL;
}

static void *spin(void *arg)
{
	(void)arg;
	return look(0);
}

static void *seldom_look(void *arg)
{
	(void)arg;
	return look(10 * MS);
}

/* ---- herds ---- */

enum { ITEMS = 300, HERD = 6 };
static unsigned int items;

SITE void site_await_item(void)
{
	pthread_cond_wait(&cond, &lock);
}

static void *await_items(void *arg)
{
	pthread_mutex_lock(&lock);
	while (!over) {
		site_await_item();
		if (items) {
			items--;
			pthread_mutex_unlock(&lock);
			work(MS / 5);
			pthread_mutex_lock(&lock);
		} else if (!over) {
			in_vain++;
		}
	}
	pthread_mutex_unlock(&lock);
	return arg;
}

static void *feed_herd(void *arg)
{
	for (int i = 0; i < ITEMS; i++) {
		pass(MS);
		pthread_mutex_lock(&lock);
		items++;
		pthread_cond_broadcast(&cond);
		pthread_mutex_unlock(&lock);
	}
	pthread_mutex_lock(&lock);
	over = true;
	pthread_cond_broadcast(&cond);
	pthread_mutex_unlock(&lock);
	return arg;
}

static void *herd(void *arg)
{
	return (intptr_t)arg < HERD ? await_items(arg) : feed_herd(arg);
}

/* ---- one for all ---- */

enum { CLIENTS = 3, COMMITS = 40 };
static pthread_cond_t asked = PTHREAD_COND_INITIALIZER, done = PTHREAD_COND_INITIALIZER;
static unsigned int wanted, written, clients_left = CLIENTS;

/* Until a write that began after it asked is done. */
SITE void site_commit(void)
{
	uint64_t from;
	unsigned int mine;

	pthread_mutex_lock(&lock);
	mine = ++wanted;
	pthread_cond_signal(&asked);
	while (written < mine) {
		from = now_ns();
		pthread_cond_wait(&done, &lock);
		cost_ns += now_ns() - from;
	}
	pthread_mutex_unlock(&lock);
}

SITE void site_write(void)
{
	pass(4 * MS);
}

static void *write_all(void *arg)
{
	pthread_mutex_lock(&lock);
	while (clients_left) {
		unsigned int upto = wanted;

		if (written == wanted) {
			pthread_cond_wait(&asked, &lock);
			continue;
		}
		pthread_mutex_unlock(&lock);
		site_write();
		pthread_mutex_lock(&lock);
		written = upto;
		pthread_cond_broadcast(&done);
	}
	pthread_mutex_unlock(&lock);
	return arg;
}

static void *commit(void *arg)
{
	if ((intptr_t)arg == CLIENTS)
		return write_all(arg);
	for (int i = 0; i < COMMITS; i++) {
		pass(9 * MS); /* more than two writes take: the writer waits now and then */
		site_commit();
	}
	pthread_mutex_lock(&lock);
	clients_left--;
	pthread_cond_signal(&asked);
	pthread_mutex_unlock(&lock);
	return arg;
}

/* One that sleeps between two pieces of work for the others, and waits for none of them. */
static void *hand_out(void *arg)
{
	pthread_mutex_lock(&lock);
	while (!over) {
		if ((intptr_t)arg < CLIENTS && !items) {
			pthread_cond_wait(&cond, &lock);
			continue;
		}
		items -= (intptr_t)arg < CLIENTS;
		pthread_mutex_unlock(&lock);
		if ((intptr_t)arg == CLIENTS)
			pass(MS);
		work(MS / 8);
		pthread_mutex_lock(&lock);
		if ((intptr_t)arg < CLIENTS)
			continue;
		items++;
		over = ++wanted == ITEMS;
		if (over)
			pthread_cond_broadcast(&cond);
		else
			pthread_cond_signal(&cond);
	}
	pthread_mutex_unlock(&lock);
	return arg;
}

/* ---- tasks ---- */

/* 198 of about 0.3 ms, and 4 of 30 ms; what these took beyond the others' length is the cost of the two
 * slowest, which are a hundredth of them. */
static void *serve(void *arg)
{
	for (int i = 0; i < 202; i++) {
		trace_task task = trace_task_begin("serve", 0);
		uint64_t from = now_ns();

		work(MS / 5);
		if (i % 50 == 7)
			pass(30 * MS);
		if (i % 50 == 7 && i < 100)
			cost_ns += now_ns() - from - MS / 5;
		trace_task_end(task);
	}
	return arg;
}

/* ---- nothing wrong ---- */

/* Each works for itself, and seldom meets the other. */
static void *share_little(void *arg)
{
	static uint64_t n;

	for (int i = 0; i < 100; i++) {
		work(2 * MS);
		pthread_mutex_lock(&lock);
		n++;
		pthread_mutex_unlock(&lock);
	}
	return arg;
}

enum { EVENLY = 80, TAKERS = 2 };

/* Two that take what there is to do from one queue, and have time to spare. */
static void *take_items(void *arg)
{
	pthread_mutex_lock(&lock);
	for (;;) {
		while (!items && !over)
			pthread_cond_wait(&cond, &lock);
		if (!items)
			break;
		items--;
		pthread_mutex_unlock(&lock);
		work(MS);
		pthread_mutex_lock(&lock);
	}
	pthread_mutex_unlock(&lock);
	return arg;
}

static void *feed_takers(void *arg)
{
	for (int i = 0; i < EVENLY; i++) {
		pass(4 * MS);
		pthread_mutex_lock(&lock);
		items++;
		pthread_cond_signal(&cond);
		pthread_mutex_unlock(&lock);
	}
	pthread_mutex_lock(&lock);
	over = true;
	pthread_cond_broadcast(&cond);
	pthread_mutex_unlock(&lock);
	return arg;
}

static void *even_pool(void *arg)
{
	return (intptr_t)arg < TAKERS ? take_items(arg) : feed_takers(arg);
}

/* A server that answers one request after the other, and its client. */
static int requests[2];

static void *answer(void *arg)
{
	char request;

	if (arg) {
		for (int i = 0; i < EVENLY; i++) {
			pass(4 * MS);
			if (write(requests[1], "x", 1) != 1)
				exit(1);
		}
		close(requests[1]);
		return arg;
	}
	while (read(requests[0], &request, 1) == 1) {
		trace_task task = trace_task_begin("answer", 0);

		work(MS);
		trace_task_end(task);
	}
	return arg;
}

static void *compute(void *arg)
{
	work(200 * MS);
	return arg;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *kind;
		int threads;
		void *(*run)(void *);
	} KINDS[] = {
		{"lock", 2, hold_working},	{"lock_blocking", 3, hold_sleeping},
		{"lock_preempted", 4, hold_preempted}, {"interpreter_lock", 2, interpret},
		{"lock_table", 3, use_table},	{"slow_stage", 3, stages},
		{"even_stages", 3, stages},	{"barrier_imbalance", 2, meet},
		{"even_barrier", 2, meet},	{"late_thread", 4, end_late},
		{"one_worker", 4, one_works},	{"poll_loop", 1, ask_again},
		{"spins", 1, spin},		{"seldom_looks", 1, seldom_look},
		{"herd", HERD + 1, herd},	{"task_tail", 1, serve},
		{"waited_for", CLIENTS + 1, commit}, {"handed_out", CLIENTS + 1, hand_out},
		{"lock_convoy", CONVOY + 1, in_convoy},	{"procs", 3, want_proc},
		{"ruby_lock", 3, run_ruby},	{"nothing", 1, compute},
		{"even_locks", 2, share_little}, {"even_pool", TAKERS + 1, even_pool},
		{"server", 2, answer},
	};
	const char *kind = argc == 2 ? argv[1] : "";

	truth_begin();
	if (!strcmp(kind, "lock_preempted") || !strcmp(kind, "procs"))
		one_proc();
	/* Who is woken must not run in place of who woke it: a thread comes to wait before another has the lock. */
	if (!strcmp(kind, "lock_convoy") && sched_setscheduler(0, SCHED_BATCH, &(struct sched_param){0}))
		return 1;
	if (make_handed() || pipe(requests))
		return 1;
	stage_ns[0] = stage_ns[2] = MS / 2;
	stage_ns[1] = strcmp(kind, "even_stages") ? 3 * MS : MS / 2;
	late_ns = strcmp(kind, "even_barrier") ? 3 * MS : MS;
	pthread_barrier_init(&both, NULL, 2);
	for (size_t i = 0; i < sizeof(KINDS) / sizeof(*KINDS); i++) {
		if (strcmp(kind, KINDS[i].kind) != 0)
			continue;
		run_threads(KINDS[i].threads, KINDS[i].run);
		if (!strcmp(kind, "late_thread"))
			cost_ns = last_join_ns;
		printf("cost\t%ju\nin_vain\t%ju\nhandovers\t%u\n", (uintmax_t)cost_ns,
		       (uintmax_t)in_vain, most_handovers);
		return fflush(stdout) ? 1 : 0;
	}
	fputs("usage: truth_findings KIND\n", stderr);
	return 2;
}
