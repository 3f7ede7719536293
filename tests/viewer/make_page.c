/*
 * make_page.c - writes a timeline of made-up rows, for looking at and for measuring.
 *
 *   make-page [-k] [-x] [-t THREADS] [-n WAITS] [-f FIBERS] [-l LIMIT] [-i IDLE] [-s SAMPLES] [-c] [-m BYTES] OUT.html
 *
 * Threads of a pool take turns at a lock, wait for work, read and sleep; a few tasks with
 * regions run on them.  -c adds scheduling; -f gives each thread so many fibers; -l bounds the
 * page's intervals; -i says that the last threads are idle; -s adds samples of CPU time; -k writes
 * the known model instead, -m writes it with names of so many bytes, -x with one type of tasks and one counter more than are drawn, and
 * regions deeper than are drawn.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "known_model.h"
#include "viewer/html.h"

static uint64_t random_state = 88172645463325252;

static uint64_t random_next(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

/* Mostly short, now and then a thousand times longer. */
static int64_t random_length(int64_t shortest)
{
	return shortest + (int64_t)(random_next() % (uint64_t)shortest) *
				  (1 << (random_next() % 4 * (random_next() % 4)));
}

static void *table(size_t n, size_t size)
{
	void *rows = calloc(n + 1, size);

	if (!rows) {
		perror("make-page");
		exit(1);
	}
	return rows;
}

static int by_start(const void *a, const void *b)
{
	const struct trc_park *x = a, *y = b;

	return x->start_ns < y->start_ns ? -1 : x->start_ns > y->start_ns;
}

static const uint8_t reasons[] = {TRC_REASON_MUTEX,	  TRC_REASON_COND, TRC_REASON_COND,
				  TRC_REASON_EPOLL,	  TRC_REASON_READ, TRC_REASON_SLEEP,
				  TRC_REASON_RWLOCK_READ, TRC_REASON_FSYNC};

struct made {
	struct trc_thread *thread;
	struct trc_park *park;
	struct trc_on_cpu *on_cpu;
	struct trc_region *region;
	struct trc_task *task;
	struct trc_log *log;
	struct trc_fiber *fiber;
	struct trc_fiber_run *fiber_run;
	struct trc_fiber_wait *fiber_wait;
	size_t n_fibers, n_fiber_runs, n_fiber_waits; /* the first: of a thread */
	size_t n_threads, n_parks, n_on_cpu, n_regions, n_tasks, n_logs;
	int64_t end_ns;
};

static void make_annotations(struct made *d, uint32_t thread, int64_t start, int64_t end)
{
	static const char *const types[] = {"parse", "lookup", "render", "send reply"};
	static const char *const kinds[] = {"GET", "SET", "DELETE"};
	struct trc_task *t = &d->task[d->n_tasks++];

	*t = (struct trc_task){.task = d->n_tasks * 10,
			       .type = kinds[random_next() % 3],
			       .start_ns = start,
			       .end_ns = end,
			       .start_thread = thread,
			       .end_thread = thread};
	d->region[d->n_regions++] = (struct trc_region){.task = t->task,
							.type = "request",
							.thread = thread,
							.start_ns = start,
							.end_ns = end};
	d->region[d->n_regions++] = (struct trc_region){.task = t->task,
							.type = types[random_next() % 4],
							.thread = thread,
							.depth = 1,
							.start_ns = start + (end - start) / 8,
							.end_ns = end - (end - start) / 3};
	d->log[d->n_logs++] = (struct trc_log){.ts_ns = start,
					       .task = t->task,
					       .thread = thread,
					       .category = "http",
					       .message = "request begins"};
}

/* What a fiber did since it was left: it waited, or another had its turn. */
static void make_fiber_wait(struct made *d, struct trc_fiber *f, const struct trc_fiber_run *last,
			    int64_t at, uint32_t serial)
{
	struct trc_fiber_wait *w;

	if (!last->reason) {
		f->runnable_ns += at - last->end_ns;
		return;
	}
	w = &d->fiber_wait[d->n_fiber_waits++];
	*w = (struct trc_fiber_wait){
		.start_ns = last->end_ns,
		.ready_ns = at - (at - last->end_ns) / 5,
		.end_ns = at,
		.object = 0x7f00beef0000,
		.fiber = last->fiber,
		.thread = serial,
		.end_thread = serial,
		.stack = 1 + last->fiber % 4,
		.waker_thread = serial,
		.waker_stack = 5,
		.reason = last->reason,
	};
	f->waited_ns += w->ready_ns - w->start_ns;
	f->runnable_ns += at - w->ready_ns;
	f->n_waits++;
}

/* Two of its fibers take turns while a thread runs; `last` is the last run of each. */
static void make_fiber_runs(struct made *d, uint32_t serial, int64_t at, int64_t end,
			    struct trc_fiber_run *last)
{
	static const uint8_t left[] = {0, TRC_REASON_USER, TRC_REASON_SLEEP, TRC_REASON_POLL};
	int64_t middle = at + (end - at) / 3;

	for (int i = 0; i < 2; i++) {
		size_t k = random_next() % d->n_fibers;
		size_t row = (serial - 1) * d->n_fibers + k;
		struct trc_fiber *f = &d->fiber[row];

		if (last[k].fiber)
			make_fiber_wait(d, f, &last[k], i ? middle : at, serial);
		last[k] = (struct trc_fiber_run){.start_ns = i ? middle : at,
						 .end_ns = i ? end : middle,
						 .fiber = (uint32_t)row + 1,
						 .thread = serial,
						 .reason = left[random_next() % 4]};
		f->run_ns += last[k].end_ns - last[k].start_ns;
		f->n_runs++;
		d->fiber_run[d->n_fiber_runs++] = last[k];
	}
}

static void make_fibers(struct made *d, size_t n_waits)
{
	static const char *const names[] = {"accept", "session", "session", "flusher"};

	d->fiber = table(d->n_fibers * d->n_threads, sizeof(*d->fiber));
	d->fiber_run = table(2 * n_waits, sizeof(*d->fiber_run));
	d->fiber_wait = table(2 * n_waits, sizeof(*d->fiber_wait));
	for (size_t i = 0; i < d->n_fibers * d->n_threads; i++)
		d->fiber[i] = (struct trc_fiber){.fiber = i + 1,
						 .name = names[i % 4],
						 .creator_thread = 1,
						 .created_ns = 1000,
						 .ended_ns = TRC_NEVER,
						 .create_stack = 4};
}

static void make_thread(struct made *d, uint32_t serial, size_t n_waits, bool sched)
{
	int64_t at = 1000 + (int64_t)(random_next() % 100000);
	int64_t opened = at;
	struct trc_fiber_run *last = table(d->n_fibers, sizeof(*last));

	for (size_t i = 0; i < n_waits; i++) {
		uint8_t reason = reasons[random_next() % sizeof(reasons)];
		int64_t run = random_length(2000);
		struct trc_park *p = &d->park[d->n_parks++];

		if (sched) {
			d->on_cpu[d->n_on_cpu++] =
				(struct trc_on_cpu){at, at + run / 2, serial, serial % 4, true};
			d->on_cpu[d->n_on_cpu++] = (struct trc_on_cpu){
				at + run / 2 + run / 8, at + run, serial, (serial + 1) % 4, false};
		}
		if (d->n_fibers)
			make_fiber_runs(d, serial, at, at + run, last);
		at += run;
		if (i % 16 == 15) {
			make_annotations(d, serial, opened, at);
			opened = at + 1;
		}
		*p = (struct trc_park){
			.start_ns = at,
			.end_ns = at + random_length(reason == TRC_REASON_MUTEX ? 500 : 4000),
			.object = reason == TRC_REASON_READ ? 7 : 0x7f00dead0000ULL + reason * 64U,
			.thread = serial,
			.stack = 1 + (uint32_t)(reason % 4),
			.reason = reason,
			.proc = serial % 4,
			.wake_ns = TRC_NEVER,
		};
		if (reason == TRC_REASON_MUTEX || reason == TRC_REASON_COND) {
			p->waker = 1 + (uint32_t)(random_next() % d->n_threads);
			p->wake_ns = p->end_ns - (p->end_ns - p->start_ns) / 10;
			p->waker_stack = 5;
		}
		at = p->end_ns;
	}
	if (at > d->end_ns)
		d->end_ns = at;
	free(last);
}

static int by_run_start(const void *a, const void *b)
{
	const struct trc_fiber_run *x = a, *y = b;

	return x->start_ns < y->start_ns ? -1 : x->start_ns > y->start_ns;
}

static int by_wait_start(const void *a, const void *b)
{
	const struct trc_fiber_wait *x = a, *y = b;

	return x->start_ns < y->start_ns ? -1 : x->start_ns > y->start_ns;
}

static int by_task_start(const void *a, const void *b)
{
	const struct trc_task *x = a, *y = b;

	return x->start_ns < y->start_ns ? -1 : x->start_ns > y->start_ns;
}

static int by_region_start(const void *a, const void *b)
{
	const struct trc_region *x = a, *y = b;

	return x->start_ns < y->start_ns ? -1 : x->start_ns > y->start_ns;
}

static int by_log_time(const void *a, const void *b)
{
	const struct trc_log *x = a, *y = b;

	return x->ts_ns < y->ts_ns ? -1 : x->ts_ns > y->ts_ns;
}

/* By begin, as the model has them.  Ids are given in this order, too, as a server does that counts its requests. */
static void order_annotations(struct made *d)
{
	uint64_t *id = table(d->n_tasks, sizeof(*id));

	qsort(d->task, d->n_tasks, sizeof(*d->task), by_task_start);
	qsort(d->region, d->n_regions, sizeof(*d->region), by_region_start);
	qsort(d->log, d->n_logs, sizeof(*d->log), by_log_time);
	for (size_t i = 0; i < d->n_tasks; i++) {
		id[d->task[i].task / 10 - 1] = (i + 1) * 10;
		d->task[i].task = (i + 1) * 10;
	}
	for (size_t i = 0; i < d->n_regions; i++)
		d->region[i].task = id[d->region[i].task / 10 - 1];
	for (size_t i = 0; i < d->n_logs; i++)
		d->log[i].task = id[d->log[i].task / 10 - 1];
	free(id);
}

static const struct trc_frame frames[] = {
	{0x401000, "pthread_mutex_lock", NULL, 0, 1, false},
	{0x401100, "cache_get", "/src/demo/cache.c", 120, 0, false},
	{0x401200, "hash_find", "/src/demo/hash.c", 77, 0, true},
	{0x401300, "serve", "/src/demo/server.c", 310, 0, false},
	{0x401400, "worker_main", "/src/demo/server.c", 412, 0, false},
	{0x7f1234567890, NULL, NULL, 0, 1, false},
};
static const uint32_t stack_first[] = {0, 0, 4, 7, 10, 13, 16};
static const uint32_t stack_frame[] = {1, 2, 4, 5, 1, 3, 5, 6, 4, 5, 1, 4, 5, 2, 4, 5};

static void make(struct made *d, size_t n_waits, bool sched)
{
	static char names[10000][16];
	size_t each = n_waits / d->n_threads;

	d->thread = table(d->n_threads, sizeof(*d->thread));
	d->park = table(n_waits, sizeof(*d->park));
	d->on_cpu = table(2 * n_waits, sizeof(*d->on_cpu));
	d->region = table(n_waits, sizeof(*d->region));
	d->task = table(n_waits, sizeof(*d->task));
	d->log = table(n_waits, sizeof(*d->log));
	make_fibers(d, n_waits);
	for (uint32_t i = 0; i < d->n_threads; i++) {
		snprintf(names[i], sizeof(names[i]), i ? "worker-%u" : "main", i);
		d->thread[i] = (struct trc_thread){.serial = i + 1,
						   .tid = 4000 + i,
						   .creator = i ? 1 : 0,
						   .name = names[i],
						   .start_ns = i ? 1000 * (int64_t)i : TRC_NEVER,
						   .end_ns = TRC_NEVER,
						   .creator_stack = i ? 4 : 0,
						   .n_events = 3 * each,
						   .n_parks = each};
		make_thread(d, i + 1, each, sched);
	}
	qsort(d->park, d->n_parks, sizeof(*d->park), by_start);
	order_annotations(d);
	qsort(d->fiber_run, d->n_fiber_runs, sizeof(*d->fiber_run), by_run_start);
	qsort(d->fiber_wait, d->n_fiber_waits, sizeof(*d->fiber_wait), by_wait_start);
	d->end_ns += 1000;
}

/* Spread over all threads and the whole time. */
static struct trc_sample *make_samples(const struct made *d, size_t n)
{
	struct trc_sample *sample = table(n + 1, sizeof(*sample));

	for (size_t i = 0; i < n; i++)
		sample[i] = (struct trc_sample){
			.ts_ns = (int64_t)((double)d->end_ns * (double)i / (double)n),
			.value = 1000000,
			.thread = (uint32_t)(i % d->n_threads) + 1,
			.stack = 1 + (uint32_t)(i * 7 / 3 % 5),
			.event = 1};
	return sample;
}

static int write_page(const struct trc_model *rows, const char *path,
		      const struct trc_html_limits *limits)
{
	struct trc_model m = *rows;
	struct trc_error error = {""};

	if (!trc_html_write_limited(&m, path, limits, &error))
		return 0;
	fprintf(stderr, "make-page: %s\n", error.text);
	return 1;
}

static void *copy_of(const void *rows, size_t n, size_t row_bytes)
{
	void *copy = table(n, row_bytes);

	memcpy(copy, rows, n * row_bytes);
	return copy;
}

/* The known model, in which each thread, function, type, counter, label and message has a name of n_bytes. */
static int write_long_names(const char *path, size_t n_bytes, const struct trc_html_limits *limits)
{
	struct trc_model m = known_model;
	char *name = table(n_bytes + 1, 1);
	struct trc_thread *threads = copy_of(m.threads, m.n_threads, sizeof(*threads));
	struct trc_task *tasks = copy_of(m.tasks, m.n_tasks, sizeof(*tasks));
	struct trc_region *regions = copy_of(m.regions, m.n_regions, sizeof(*regions));
	struct trc_log *logs = copy_of(m.logs, m.n_logs, sizeof(*logs));
	struct trc_counter *counters = copy_of(m.counters, m.n_counters, sizeof(*counters));
	struct trc_set_label *labels = copy_of(m.labels, m.n_labels, sizeof(*labels));
	struct trc_frame *frame =
		copy_of(m.stacks.frame, m.stacks.n_frames, sizeof(*m.stacks.frame));
	int status;

	memset(name, 'n', n_bytes);
	for (size_t i = 0; i < m.n_threads; i++)
		threads[i].name = name;
	for (size_t i = 0; i < m.n_tasks; i++)
		tasks[i].type = name;
	for (size_t i = 0; i < m.n_regions; i++)
		regions[i].type = name;
	for (size_t i = 0; i < m.n_logs; i++)
		logs[i].category = logs[i].message = name;
	for (size_t i = 0; i < m.n_counters; i++)
		counters[i].name = name;
	for (size_t i = 0; i < m.n_labels; i++)
		labels[i].key = labels[i].value = name;
	for (size_t i = 0; i < m.stacks.n_frames; i++)
		frame[i].function = frame[i].file = name;
	m.threads = threads;
	m.tasks = tasks;
	m.regions = regions;
	m.logs = logs;
	m.counters = counters;
	m.labels = labels;
	m.stacks.frame = frame;
	status = write_page(&m, path, limits);
	free(threads);
	free(tasks);
	free(regions);
	free(logs);
	free(counters);
	free(labels);
	free(frame);
	free(name);
	return status;
}

/* The known model with 201 types of tasks and 201 counters, type-0 and counter-0 with least time and last, and 66 regions in each other. */
static int write_too_many(const char *path, const struct trc_html_limits *limits)
{
	enum { MANY = 201, DEPTH = 66 };
	static char type[MANY][16], name[MANY][16], region[DEPTH][16];
	static struct trc_task tasks[MANY];
	static struct trc_counter counters[MANY];
	static struct trc_region regions[DEPTH];
	struct trc_model m = known_model;

	for (int i = 0; i < MANY; i++) {
		snprintf(type[i], sizeof(type[i]), "type-%d.", MANY - 1 - i);
		snprintf(name[i], sizeof(name[i]), "counter-%d.", MANY - 1 - i);
		tasks[i] = (struct trc_task){.task = (uint64_t)i + 1,
					     .type = type[i],
					     .start_ns = 1000 * (int64_t)i,
					     .end_ns = 1000 * (int64_t)(2 * MANY - i),
					     .start_thread = 1,
					     .end_thread = 1};
		counters[i] = (struct trc_counter){
			.ts_ns = 10000 * (int64_t)i, .thread = 1, .name = name[i], .value = i};
	}
	for (int i = 0; i < DEPTH; i++) {
		snprintf(region[i], sizeof(region[i]), "depth-%d.", i);
		regions[i] = (struct trc_region){.type = region[i],
						 .thread = 2,
						 .depth = (uint32_t)i,
						 .start_ns = 1000 * (int64_t)i,
						 .end_ns = 5000000 - 1000 * (int64_t)i};
	}
	m.tasks = tasks;
	m.n_tasks = MANY;
	m.counters = counters;
	m.n_counters = MANY;
	m.regions = regions;
	m.n_regions = DEPTH;
	return write_page(&m, path, limits);
}

int main(int argc, char **argv)
{
	static const char *const info[][2] = {{"command", "demo-server --threads 8"},
					      {"host", "example"}};
	static const struct trc_gap gaps[] = {{.since_ns = 900000,
					       .ts_ns = 1100000,
					       .lost_events = 321,
					       .proc = 2,
					       .cause = TRC_GAP_RING_FULL}};
	static const struct trc_sample_event event = {.event = 1,
						      .how = TRC_SAMPLE_TIMER,
						      .frequency_hz = 1000,
						      .name = "cpu-clock",
						      .unit = "nanoseconds",
						      .note = ""};
	struct made d = {.n_threads = 8};
	struct trc_sample *samples;
	size_t n_samples = 0;
	struct trc_html_limits limits = {0};
	size_t n_waits = 20000, n_idle = 0, name_bytes = 0;
	bool sched = false, known = false, too_many = false;
	int option;

	while ((option = getopt(argc, argv, "kxt:n:f:l:i:s:cm:")) != -1) {
		if (option == 't')
			d.n_threads = strtoul(optarg, NULL, 10);
		else if (option == 'n')
			n_waits = strtoul(optarg, NULL, 10);
		else if (option == 'f')
			d.n_fibers = strtoul(optarg, NULL, 10);
		else if (option == 'l')
			limits.intervals = strtoull(optarg, NULL, 10);
		else if (option == 'i')
			n_idle = strtoul(optarg, NULL, 10);
		else if (option == 's')
			n_samples = strtoul(optarg, NULL, 10);
		else if (option == 'm')
			name_bytes = strtoul(optarg, NULL, 10);
		else if (option == 'k')
			known = true;
		else if (option == 'x')
			too_many = true;
		else
			sched = true;
	}
	if (optind != argc - 1 || !d.n_threads || d.n_threads > 10000 || d.n_fibers > 10000)
		return 2;
	if (name_bytes)
		return write_long_names(argv[optind], name_bytes, &limits);
	if (too_many)
		return write_too_many(argv[optind], &limits);
	if (known)
		return write_page(&known_model, argv[optind], &limits);
	make(&d, n_waits, sched);
	samples = make_samples(&d, n_samples);

	struct trc_model m = {
		.end_ns = d.end_ns,
		.lost_events = 321,
		.threads = d.thread,
		.n_threads = d.n_threads,
		.parks = d.park,
		.n_parks = d.n_parks,
		.regions = d.region,
		.n_regions = d.n_regions,
		.tasks = d.task,
		.n_tasks = d.n_tasks,
		.logs = d.log,
		.n_logs = d.n_logs,
		.fibers = d.fiber,
		.n_fibers = d.n_fibers * d.n_threads,
		.fiber_runs = d.fiber_run,
		.n_fiber_runs = d.n_fiber_runs,
		.fiber_waits = d.fiber_wait,
		.n_fiber_waits = d.n_fiber_waits,
		.on_cpu = d.on_cpu,
		.n_on_cpu = d.n_on_cpu,
		.samples = samples,
		.n_samples = n_samples,
		.sample_events = &event,
		.n_sample_events = n_samples > 0,
		.gaps = gaps,
		.n_gaps = 1,
		.info = info,
		.n_info = 2,
		.stacks = {6, stack_first, stack_frame, 6, frames, NULL},
	};
	uint8_t *idle = table(d.n_threads, sizeof(*idle));

	for (size_t i = 0; i < d.n_threads; i++)
		idle[i] = i + n_idle >= d.n_threads;
	m.idle = idle;
	int status = write_page(&m, argv[optind], &limits);

	free(idle);
	free(samples);
	free(d.thread);
	free(d.park);
	free(d.on_cpu);
	free(d.region);
	free(d.task);
	free(d.log);
	free(d.fiber);
	free(d.fiber_run);
	free(d.fiber_wait);
	return status;
}
