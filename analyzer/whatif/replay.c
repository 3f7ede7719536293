/* replay.c - see replay.h. */
#include "replay.h"

#include <errno.h>
#include <stdlib.h>
#include "heap.h"
#include "turns.h"

/* Looking for a thread that is made to go on takes as many steps as there are threads. */
#define FORCED_STEPS_MAX UINT64_C(20000000)

enum stage {
	STAGE_ACTIVE, /* before the operation: to be active first, ... */
	STAGE_OFF,    /* ... then off the procs, ... */
	STAGE_DO,     /* ... then to do it */
	STAGE_TRY,    /* to look at the lock again */
	STAGE_NEXT,   /* it is done */
	STAGE_OVER
};

enum { NOBODY = UINT32_MAX, TOLD = UINT32_MAX - 1 };

struct thread {
	size_t op;
	uint32_t next; /* behind it in a queue */
	uint8_t stage;
	bool blocked; /* until another thread does something */
};

struct queue {
	uint32_t first, last;
};

struct lock {
	uint32_t owner, n_owned; /* the owner may take it again */
	uint32_t n_readers;
	uint32_t
		next_writer; /* the lock is this writer's when the last reader leaves; NOBODY = none's */
	struct queue writers;	/* all others */
	struct queue readers;	/* the writer that leaves lets them in */
	struct queue held_back; /* readers that let next_writer go first */
	bool woken;		/* the first of the writers is about to look */
	bool for_writers;	/* a writer left it to the writers that wait: no reader gets it */
};

struct sim {
	const struct trc_program *p;
	const struct trc_replay_options *options;
	struct trc_replay *replay;
	const struct trc_op *op;
	struct thread *thread;
	struct lock *lock;
	bool *without;		/* by operation: the release of a lock that was only tried */
	uint32_t *moment;	/* NOBODY, TOLD, or the thread that awaits it */
	struct trc_heap timers; /* by time */
	struct trc_turns turns; /* Y3 */
	int64_t now_ns;
	int64_t start_ns;
};

/* ---- time ---- */

static void wait_for(struct sim *s, uint32_t thread, int64_t ns, enum stage then)
{
	s->thread[thread].stage = (uint8_t)then;
	trc_heap_push(&s->timers, trc_time_after(s->now_ns, ns), thread);
}

static void be_active(struct sim *s, uint32_t thread, const struct trc_op *op)
{
	if (!s->options->procs) {
		wait_for(s, thread, op->active_ns, STAGE_DO);
		return;
	}
	s->thread[thread].stage = STAGE_OFF;
	trc_turns_need(&s->turns, s->now_ns, thread, op->on_ns);
}

/* B7; with `procs` waiting for one is part of the simulation. */
static int64_t wake_ns(const struct sim *s, const struct trc_op *op)
{
	int64_t ns = op->wait_ns < 0 ? s->p->wake_ns : op->wait_ns;

	if (s->options->procs && op->kind != TRC_OP_AWAIT_START && ns > s->p->wake_low_ns)
		return s->p->wake_low_ns;
	return ns;
}

static const struct trc_op *sim_op(const struct sim *s, uint32_t thread)
{
	return &s->op[s->thread[thread].op];
}

static void wake(struct sim *s, uint32_t thread, enum stage then)
{
	s->thread[thread].blocked = false;
	wait_for(s, thread, wake_ns(s, sim_op(s, thread)), then);
}

/* ---- locks ---- */

static void queue_add(struct sim *s, struct queue *queue, uint32_t thread)
{
	s->thread[thread].next = NOBODY;
	if (queue->first == NOBODY)
		queue->first = thread;
	else
		s->thread[queue->last].next = thread;
	queue->last = thread;
}

static void queue_remove(struct sim *s, struct queue *queue, uint32_t thread)
{
	uint32_t before = NOBODY, at = queue->first;

	while (at != NOBODY && at != thread) {
		before = at;
		at = s->thread[at].next;
	}
	if (at == NOBODY)
		return;
	if (before == NOBODY)
		queue->first = s->thread[thread].next;
	else
		s->thread[before].next = s->thread[thread].next;
	if (queue->last == thread)
		queue->last = before;
}

static enum trc_rwlock_prefers sim_prefers(const struct sim *s, const struct lock *lock)
{
	return (enum trc_rwlock_prefers)s->p->sections.prefers[lock - s->lock];
}

/* False: the reader is in one of the queues. */
static bool take_to_read(struct sim *s, struct lock *lock, uint32_t thread)
{
	if (lock->owner != NOBODY || lock->for_writers) {
		queue_add(s, &lock->readers, thread);
		return false;
	}
	if (lock->next_writer != NOBODY && sim_prefers(s, lock) == TRC_RWLOCK_WRITERS) {
		queue_add(s, &lock->held_back, thread);
		return false;
	}
	lock->n_readers++;
	return true;
}

/* False: the writer is the next, or in the queue. */
static bool take_to_write(struct sim *s, struct lock *lock, uint32_t thread)
{
	if (lock->owner == thread) {
		lock->n_owned++;
		return true;
	}
	if (lock->owner == NOBODY && !lock->n_readers) {
		lock->owner = thread;
		lock->n_owned = 1;
		lock->for_writers = false;
		return true;
	}
	if (lock->owner == NOBODY && lock->next_writer == NOBODY)
		lock->next_writer = thread;
	else
		queue_add(s, &lock->writers, thread);
	return false;
}

static bool sim_take(struct sim *s, struct lock *lock, uint32_t thread, bool reader)
{
	bool taken = reader ? take_to_read(s, lock, thread) : take_to_write(s, lock, thread);

	s->thread[thread].blocked = !taken;
	return taken;
}

static void wake_writer(struct sim *s, struct lock *lock)
{
	if (lock->writers.first == NOBODY || lock->woken)
		return;
	lock->woken = true;
	wake(s, lock->writers.first, STAGE_TRY);
}

static uint32_t queue_take(struct sim *s, struct queue *queue)
{
	uint32_t thread = queue->first;

	if (thread != NOBODY)
		queue->first = s->thread[thread].next;
	return thread;
}

static void writer_left(struct sim *s, struct lock *lock)
{
	uint32_t thread;

	lock->for_writers =
		sim_prefers(s, lock) != TRC_RWLOCK_READERS && lock->writers.first != NOBODY;
	while (!lock->for_writers && (thread = queue_take(s, &lock->readers)) != NOBODY) {
		lock->n_readers++;
		wake(s, thread, STAGE_NEXT);
	}
	wake_writer(s, lock);
}

static void readers_left(struct sim *s, struct lock *lock)
{
	uint32_t thread;

	if (lock->next_writer == NOBODY) {
		wake_writer(s, lock);
		return;
	}
	lock->owner = lock->next_writer;
	lock->n_owned = 1;
	lock->next_writer = NOBODY;
	wake(s, lock->owner, STAGE_NEXT);
	while ((thread = queue_take(s, &lock->held_back)) != NOBODY)
		queue_add(s, &lock->readers, thread);
}

static void release(struct sim *s, uint32_t thread, const struct trc_op *op)
{
	struct lock *lock = &s->lock[op->what];

	if (lock->owner == thread) {
		if (--lock->n_owned)
			return;
		lock->owner = NOBODY;
		writer_left(s, lock);
	} else if (op->reader && lock->n_readers && !--lock->n_readers) {
		readers_left(s, lock);
	}
}

static bool is_left_out(const struct sim *s, const struct trc_op *op)
{
	return s->options->no_lock && s->options->no_lock[op->what];
}

/* Whether a thread that does not wait gets the lock. */
static bool is_free(const struct sim *s, const struct lock *lock, uint32_t thread, bool reader)
{
	if (!reader)
		return lock->owner == thread || (lock->owner == NOBODY && !lock->n_readers);
	return lock->owner == NOBODY && !lock->for_writers &&
	       (lock->next_writer == NOBODY || sim_prefers(s, lock) != TRC_RWLOCK_WRITERS);
}

/* The thread does not have the lock: its release, the next of the thread's, is none. */
static void do_without(struct sim *s, const struct trc_op *op)
{
	const struct trc_op *last = op;

	while (last->kind != TRC_OP_LAST &&
	       (last->kind != TRC_OP_RELEASE || last->what != op->what))
		last++;
	s->without[last - s->op] = true;
}

/* True if the thread goes on: it has the lock, or only tried, and does what it did without. */
static bool acquire(struct sim *s, uint32_t thread, const struct trc_op *op)
{
	struct lock *lock = &s->lock[op->what];

	if (is_left_out(s, op))
		return true;
	if (op->tried && !is_free(s, lock, thread, op->reader)) {
		do_without(s, op);
		return true;
	}
	return sim_take(s, lock, thread, op->reader);
}

/* The first of the queue looks; if another thread was quicker it is the last now, as with futexes. */
static bool try_again(struct sim *s, uint32_t thread, const struct trc_op *op)
{
	struct lock *lock = &s->lock[op->what];

	lock->woken = false;
	queue_remove(s, &lock->writers, thread);
	return sim_take(s, lock, thread, op->reader);
}

/* Y4. */
static void stop_waiting(struct sim *s, struct lock *lock, uint32_t thread)
{
	queue_remove(s, &lock->readers, thread);
	queue_remove(s, &lock->held_back, thread);
	queue_remove(s, &lock->writers, thread);
	if (lock->next_writer != thread)
		return;
	lock->next_writer = NOBODY;
	wake_writer(s, lock);
}

/* ---- operations ---- */

static void sim_tell(struct sim *s, uint32_t moment)
{
	uint32_t thread = s->moment[moment];

	s->moment[moment] = TOLD;
	if (thread < TOLD)
		wake(s, thread, STAGE_NEXT);
}

static void over(struct sim *s, uint32_t thread)
{
	int64_t ns = trc_time_between(s->start_ns, s->now_ns);

	s->thread[thread].stage = STAGE_OVER;
	if (ns > s->replay->length_ns)
		s->replay->length_ns = ns;
}

/* True if it is done, and the next may be. */
static bool do_op(struct sim *s, uint32_t thread, const struct trc_op *op)
{
	switch ((enum trc_op_kind)op->kind) {
	case TRC_OP_RELEASE:
		if (!is_left_out(s, op) && !s->without[op - s->op])
			release(s, thread, op);
		return true;
	case TRC_OP_TELL:
		sim_tell(s, op->what);
		return true;
	case TRC_OP_BEGIN:
		s->replay->task_begin_ns[op->what] = s->now_ns;
		return true;
	case TRC_OP_END:
		s->replay->task_end_ns[op->what] = s->now_ns;
		return true;
	case TRC_OP_AWAIT_TASK:
	case TRC_OP_AWAIT_START:
	case TRC_OP_AWAIT:
		if (s->moment[op->what] == TOLD)
			return true;
		s->moment[op->what] = thread;
		s->thread[thread].blocked = true;
		return false;
	case TRC_OP_DELAY:
		wait_for(s, thread, op->wait_ns, STAGE_NEXT);
		return false;
	case TRC_OP_ACQUIRE:
		return acquire(s, thread, op);
	case TRC_OP_STOP:
	case TRC_OP_LAST:
		over(s, thread);
		return false;
	}
	return false;
}

/* Goes on with a thread until it waits. */
static void go_on(struct sim *s, uint32_t thread)
{
	struct thread *t = &s->thread[thread];

	for (;;) {
		const struct trc_op *op = &s->op[t->op];
		bool done = true;

		switch ((enum stage)t->stage) {
		case STAGE_ACTIVE:
			be_active(s, thread, op);
			return;
		case STAGE_OFF:
			if (op->off_ns) {
				wait_for(s, thread, op->off_ns, STAGE_DO);
				return;
			}
			t->stage = STAGE_DO; /* at once: it still has its proc */
			continue;
		case STAGE_DO:
			done = do_op(s, thread, op);
			break;
		case STAGE_TRY:
			done = try_again(s, thread, op);
			break;
		case STAGE_NEXT:
			break;
		case STAGE_OVER:
			return;
		}
		if (!done)
			return;
		t->op++;
		t->stage = STAGE_ACTIVE;
		op++;
		if (!op->active_ns && !op->on_ns && !op->off_ns)
			t->stage = STAGE_DO;
	}
}

/* ---- the run ---- */

/* Y4.  0, or -ELOOP; -ENOENT: nobody waits. */
static int force_one(struct sim *s, uint64_t *steps)
{
	uint32_t found = NOBODY;
	const struct trc_op *op;

	*steps += s->p->waits.n_threads;
	for (uint32_t i = 0; i < s->p->waits.n_threads; i++)
		if (s->thread[i].blocked &&
		    (found == NOBODY || sim_op(s, i)->ts_ns < sim_op(s, found)->ts_ns))
			found = i;
	if (found == NOBODY)
		return -ENOENT;
	if (*steps > FORCED_STEPS_MAX)
		return -ELOOP;
	s->replay->n_forced++;
	op = sim_op(s, found);
	if (op->kind == TRC_OP_ACQUIRE) {
		struct lock *lock = &s->lock[op->what];

		stop_waiting(s, lock, found);
		lock->n_readers += op->reader; /* of whom it is not known which they are */
	} else {
		s->moment[op->what] = TOLD;
	}
	wake(s, found, STAGE_NEXT);
	return 0;
}

static int sim_run(struct sim *s)
{
	uint64_t steps = 0;

	for (;;) {
		int64_t turns_ns = trc_turns_next_ns(&s->turns);
		uint32_t thread;

		if (s->timers.n && s->timers.entry[0].key <= turns_ns) {
			s->now_ns = s->timers.entry[0].key;
			go_on(s, trc_heap_pop(&s->timers));
		} else if (s->turns.running.n) {
			s->now_ns = turns_ns;
			if (!trc_turns_next(&s->turns, &thread))
				continue;
			go_on(s, thread);
			trc_turns_leave(&s->turns, s->now_ns);
		} else {
			int err = force_one(s, &steps);

			if (err)
				return err == -ENOENT ? 0 : err;
		}
	}
}

static int turns_open(struct sim *s)
{
	uint32_t n_threads = s->options->procs ? (uint32_t)s->p->waits.n_threads : 0;
	int64_t active_ns = 0;

	for (size_t i = 0; n_threads && i < s->p->ops.n; i++)
		active_ns = trc_time_after(active_ns, s->op[i].on_ns);
	return trc_turns_make(&s->turns, n_threads, s->options->procs, s->p->turn_ns, active_ns);
}

static int sim_open(struct sim *s)
{
	size_t n_threads = s->p->waits.n_threads, n_tasks;
	size_t n_locks = s->p->sections.locks.n;

	trc_model_tasks(s->p->m, &n_tasks);
	s->thread = calloc(n_threads + 1, sizeof(*s->thread));
	s->without = calloc(s->p->ops.n + 1, sizeof(*s->without));
	s->lock = calloc(n_locks + 1, sizeof(*s->lock));
	s->moment = calloc((size_t)s->p->n_moments + 1, sizeof(*s->moment));
	s->replay->task_begin_ns = calloc(n_tasks + 1, sizeof(int64_t));
	s->replay->task_end_ns = calloc(n_tasks + 1, sizeof(int64_t));
	if (trc_heap_make(&s->timers, n_threads) || turns_open(s) || !s->thread || !s->without ||
	    !s->lock || !s->moment || !s->replay->task_begin_ns || !s->replay->task_end_ns)
		return -ENOMEM;
	for (size_t i = 0; i < n_tasks; i++)
		s->replay->task_begin_ns[i] = s->replay->task_end_ns[i] = TRC_NEVER;
	for (size_t i = 0; i < n_locks; i++)
		s->lock[i] = (struct lock){.owner = NOBODY,
					   .next_writer = NOBODY,
					   .writers = {NOBODY, NOBODY},
					   .readers = {NOBODY, NOBODY},
					   .held_back = {NOBODY, NOBODY}};
	for (uint32_t i = 0; i < s->p->n_moments; i++)
		s->moment[i] = NOBODY;
	return 0;
}

static void sim_close(struct sim *s)
{
	free(s->thread);
	free(s->without);
	free(s->lock);
	free(s->moment);
	trc_heap_free(&s->timers);
	trc_turns_free(&s->turns);
}

int trc_replay_run(struct trc_replay *replay, const struct trc_program *p,
		   const struct trc_replay_options *options)
{
	struct sim s = {.p = p, .options = options, .replay = replay, .op = p->ops.row};
	int err;

	*replay = (struct trc_replay){0};
	err = sim_open(&s);
	s.start_ns = s.now_ns = trc_model_start_ns(p->m);
	for (uint32_t i = 0; i < p->waits.n_threads && !err; i++) {
		s.thread[i].op = p->first[i];
		wait_for(&s, i, trc_time_between(s.start_ns, p->begin_ns[i]), STAGE_ACTIVE);
	}
	if (!err)
		err = sim_run(&s);
	sim_close(&s);
	return err;
}

void trc_replay_free(struct trc_replay *replay)
{
	free(replay->task_begin_ns);
	free(replay->task_end_ns);
}

int64_t trc_replay_recorded_ns(const struct trc_program *p)
{
	const struct trc_op *op = p->ops.row;
	int64_t start_ns = trc_model_start_ns(p->m), length_ns = 0;

	for (size_t t = 0; t < p->waits.n_threads; t++) {
		size_t i = p->first[t];
		int64_t ns;

		while (op[i].kind != TRC_OP_STOP && op[i].kind != TRC_OP_LAST)
			i++;
		ns = trc_time_between(start_ns, op[i].ts_ns);
		length_ns = ns > length_ns ? ns : length_ns;
	}
	return length_ns;
}
