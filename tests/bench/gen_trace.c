/*
 * gen_trace.c - writes a made-up trace of as many events as wanted, for the analyzer to chew on.
 *
 *   gen_trace OUT.trc [EVENTS [THREADS [LOCKS [TASKS]]]]      default 10000000 events, 32 threads
 *
 * 32 threads use 12 locks at a time, and more threads as many more.  Of more LOCKS than these some are in use at first, others later: all of
 * them are waited for.  If there are fewer LOCKS, all are in use all the time, and each has more waiters.  TASKS is how many of 100 steps begin or end a task, 8 if it is not given.
 *
 * Threads take locks from each other, wait for conditions and reads, work in regions and
 * tasks, log and count.  A simulation, so that what is in the trace is consistent:
 * trace-analyze --check finds nothing.  The same events each time.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "format/writer.h"

enum {
	PROCS = 4,
	THREADS = 32,
	THREADS_LOCKS = 12,
	CONDS = 4,
	STACKS = 300,
	DEPTH = 16,
	TYPES = 8
};

enum state { RUNS, WAITS_FOR_LOCK, WAITS_FOR_SIGNAL };

struct thread {
	enum state state;
	uint32_t proc;
	int lock; /* waited for or held; -1 = none */
	int cond;
	uint32_t depth; /* of open regions */
	uint64_t task;
};

struct simulation {
	struct trc_writer *writer;
	uint64_t random, now_ns, n, wanted;
	uint32_t n_threads, n_locks, locks_at_once, tasks_percent;
	struct thread *thread;	    /* [n_threads + 1] */
	uint32_t *holder, *waiters; /* [n_locks] */
	uint32_t sleepers[CONDS];
	uint32_t stack[STACKS], type[TYPES];
	uint64_t next_task;
	int error;
};

static int to_file(void *context, const void *bytes, size_t n_bytes)
{
	return write(*(int *)context, bytes, n_bytes) == (ssize_t)n_bytes ? 0 : -EIO;
}

static uint32_t draw(struct simulation *s, uint32_t limit)
{
	s->random ^= s->random << 13;
	s->random ^= s->random >> 7;
	s->random ^= s->random << 17;
	return (uint32_t)((s->random >> 32) % limit);
}

static void emit_text(struct simulation *s, uint32_t thread, uint8_t kind, uint64_t a, uint64_t b,
		      uint64_t c, uint64_t d, const char *text)
{
	struct trc_event event = {.time = s->now_ns,
				  .thread = thread,
				  .proc = s->thread[thread].proc,
				  .kind = kind,
				  .text = text,
				  .text_bytes = (uint16_t)(text ? strlen(text) : 0),
				  .arg = {a, b, c, d}};
	int err;

	if (kind == TRC_KIND_UNLOCK || kind == TRC_KIND_UNPARK)
		event.arg[4] = s->now_ns - 20;
	err = trc_writer_event(s->writer, &event);
	s->error = s->error ? s->error : err;
	s->n++;
	s->now_ns += 30 + draw(s, 300);
}

static void emit(struct simulation *s, uint32_t thread, uint8_t kind, uint64_t a, uint64_t b,
		 uint64_t c, uint64_t d)
{
	emit_text(s, thread, kind, a, b, c, d, NULL);
}

static uint64_t lock_address(int lock)
{
	return 0x7f0000001000 + 64 * (uint64_t)lock;
}

static uint32_t any_stack(struct simulation *s)
{
	return s->stack[draw(s, STACKS)];
}

/* Locks that are in use no more. */
static uint32_t locks_passed(const struct simulation *s)
{
	uint32_t later = s->n_locks - s->locks_at_once;

	return (uint32_t)((double)later * (double)s->n / (double)s->wanted);
}

static void take_lock(struct simulation *s, uint32_t id)
{
	struct thread *t = &s->thread[id];

	t->lock = (int)(locks_passed(s) + draw(s, s->locks_at_once));
	if (!s->holder[t->lock]) {
		s->holder[t->lock] = id;
		return;
	}
	emit(s, id, TRC_KIND_PARK, TRC_REASON_MUTEX, lock_address(t->lock), s->holder[t->lock],
	     any_stack(s));
	t->state = WAITS_FOR_LOCK;
	s->waiters[t->lock]++;
}

static void leave_lock(struct simulation *s, uint32_t id)
{
	struct thread *t = &s->thread[id];

	s->holder[t->lock] = 0;
	if (s->waiters[t->lock])
		emit(s, id, TRC_KIND_UNLOCK, TRC_REASON_MUTEX, lock_address(t->lock),
		     s->waiters[t->lock], any_stack(s));
	t->lock = -1;
}

static void wait_for_signal(struct simulation *s, uint32_t id)
{
	struct thread *t = &s->thread[id];

	t->cond = (int)draw(s, CONDS);
	emit(s, id, TRC_KIND_PARK, TRC_REASON_COND, 0x7f0000009000 + 64 * (uint64_t)t->cond, 0,
	     any_stack(s));
	t->state = WAITS_FOR_SIGNAL;
	s->sleepers[t->cond]++;
}

/* One of those that wait for the condition, right away: the signal names nobody. */
static void signal_one(struct simulation *s, uint32_t id)
{
	int cond = (int)draw(s, CONDS);
	uint32_t woken = 1;

	if (!s->sleepers[cond])
		return;
	emit(s, id, TRC_KIND_UNPARK, TRC_REASON_COND, 0x7f0000009000 + 64 * (uint64_t)cond, 1,
	     any_stack(s));
	while (s->thread[woken].state != WAITS_FOR_SIGNAL || s->thread[woken].cond != cond)
		woken++;
	emit(s, woken, TRC_KIND_RESUME, TRC_REASON_COND, 0x7f0000009000 + 64 * (uint64_t)cond, 0,
	     0);
	s->thread[woken].state = RUNS;
	s->sleepers[cond]--;
}

static void task_step(struct simulation *s, uint32_t id)
{
	struct thread *t = &s->thread[id];

	if (t->task) {
		emit(s, id, TRC_KIND_TASK_END, t->task, 0, 0, 0);
		t->task = 0;
	} else {
		t->task = ++s->next_task;
		emit(s, id, TRC_KIND_TASK_BEGIN, t->task, 0, s->type[draw(s, TYPES)], 0);
	}
}

static void region_step(struct simulation *s, uint32_t id)
{
	struct thread *t = &s->thread[id];

	if (t->depth && (t->depth == 4 || draw(s, 2))) {
		emit(s, id, TRC_KIND_REGION_END, 0, 0, 0, 0);
		t->depth--;
	} else {
		emit(s, id, TRC_KIND_REGION_BEGIN, t->task, s->type[draw(s, TYPES)], 0, 0);
		t->depth++;
	}
}

static void log_step(struct simulation *s, uint32_t id)
{
	char text[48];

	snprintf(text, sizeof(text), "request %" PRIu64 " took %u us", s->n, draw(s, 1000));
	emit_text(s, id, TRC_KIND_LOG, s->thread[id].task, s->type[draw(s, TYPES)], 0, 0, text);
}

static void run_step(struct simulation *s, uint32_t id)
{
	uint32_t choice = draw(s, 100);

	if (choice < 30 && s->thread[id].lock < 0)
		take_lock(s, id);
	else if (choice < 42)
		region_step(s, id);
	else if (choice < 42 + s->tasks_percent)
		task_step(s, id);
	else if (choice < 60)
		emit(s, id, TRC_KIND_COUNTER, s->type[draw(s, TYPES)], 2 * draw(s, 5000), 0, 0);
	else if (choice < 65)
		log_step(s, id);
	else if (choice < 80)
		signal_one(s, id);
	else if (choice < 87)
		emit(s, id, TRC_KIND_WAIT, TRC_REASON_READ, draw(s, 64),
		     s->now_ns - 20 - draw(s, 2000), 0);
	else if (choice < 95 && s->thread[id].lock < 0)
		wait_for_signal(s, id);
	else
		s->thread[id].proc = draw(s, PROCS);
}

static void step(struct simulation *s)
{
	uint32_t id = 1 + draw(s, s->n_threads);
	struct thread *t = &s->thread[id];

	if (t->state == WAITS_FOR_LOCK) {
		if (s->holder[t->lock])
			return;
		s->holder[t->lock] = id;
		s->waiters[t->lock]--;
		emit(s, id, TRC_KIND_RESUME, TRC_REASON_MUTEX, lock_address(t->lock), 0, 0);
		t->state = RUNS;
	} else if (t->state == RUNS && t->lock >= 0 && draw(s, 3) == 0) {
		leave_lock(s, id);
	} else if (t->state == RUNS) {
		run_step(s, id);
	} else if (draw(s, 50) == 0) {
		signal_one(s, 1 + draw(s, s->n_threads)); /* somebody else's, lest all sleep */
	}
}

static void make_tables(struct simulation *s)
{
	static const char *const type[TYPES] = {"request", "parse", "execute", "reply",
						"flush",   "queue", "cache",   "evict"};
	struct trc_sync_point sync = {.monotonic_raw_ns = 0};

	trc_writer_sync(s->writer, &sync);
	trc_writer_info(s->writer, "command", "gen_trace");
	for (int i = 0; i < TYPES; i++)
		s->type[i] = trc_writer_string(s->writer, type[i], (uint32_t)strlen(type[i]));
	for (int i = 0; i < STACKS; i++) {
		uint64_t frame[DEPTH];

		for (int k = 0; k < DEPTH; k++)
			frame[k] = 0x401000 + 16 * draw(s, 200) * (uint32_t)(k + 1);
		s->stack[i] = trc_writer_stack(s->writer, 0, frame, DEPTH);
	}
	for (uint32_t i = 1; i <= s->n_threads; i++) {
		struct trc_thread_entry entry = {
			.serial = i, .tid = 1000 + i, .name = "worker", .name_bytes = 6};

		trc_writer_thread(s->writer, &entry);
		s->thread[i].lock = -1;
		s->thread[i].proc = i % PROCS;
	}
}

static bool begin(struct simulation *s, int argc, char **argv)
{
	s->wanted = argc > 2 ? strtoull(argv[2], NULL, 10) : 10000000;
	s->n_threads = argc > 3 ? (uint32_t)strtoul(argv[3], NULL, 10) : THREADS;
	s->locks_at_once =
		(s->n_threads > THREADS ? s->n_threads : THREADS) * THREADS_LOCKS / THREADS;
	s->n_locks = argc > 4 ? (uint32_t)strtoul(argv[4], NULL, 10) : s->locks_at_once;
	if (s->locks_at_once > s->n_locks)
		s->locks_at_once = s->n_locks;
	s->tasks_percent = argc > 5 ? (uint32_t)strtoul(argv[5], NULL, 10) : 8;
	if (!s->wanted || !s->n_threads || !s->n_locks || s->tasks_percent > 58)
		return false;
	s->thread = calloc(s->n_threads + 1, sizeof(*s->thread));
	s->holder = calloc(s->n_locks, sizeof(*s->holder));
	s->waiters = calloc(s->n_locks, sizeof(*s->waiters));
	return s->thread && s->holder && s->waiters;
}

int main(int argc, char **argv)
{
	static struct simulation s = {.random = 0x2545f4914f6cdd1d, .now_ns = 10000};
	struct trc_writer_options options = {
		.clock = TRC_CLOCK_MONOTONIC_RAW, .ticks_per_second = 1000000000, .n_procs = PROCS};
	int fd = argc > 1 && begin(&s, argc, argv)
			 ? open(argv[1], O_WRONLY | O_CREAT | O_TRUNC, 0666)
			 : -1;

	if (fd < 0 || trc_writer_open(&s.writer, &options, to_file, &fd)) {
		fprintf(stderr, "usage: gen_trace OUT.trc [EVENTS [THREADS [LOCKS [TASKS]]]]\n");
		return 2;
	}
	make_tables(&s);
	while (s.n < s.wanted && !s.error)
		step(&s);
	if (!s.error)
		s.error = trc_writer_finish(s.writer);
	trc_writer_close(s.writer);
	if (close(fd) || s.error) {
		fprintf(stderr, "gen_trace: %s: %s\n", argv[1],
			strerror(s.error ? -s.error : errno));
		return 1;
	}
	printf("%" PRIu64 " events\n", s.n);
	return 0;
}
