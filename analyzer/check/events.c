/* events.c - what --check says of threads and tasks; see check.h. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include "parts.h"
#include "regions.h"

struct open_park {
	int64_t start_ns;
	uint64_t reason, object;
};

/*
 * What a thread records between a park and its resume: a condition wait the release of its mutex, the
 * wait for it and the taking of it, any wait for a lock its taking.  Each comes at most once, in this order.
 */
enum inside {
	INSIDE_NOTHING,
	INSIDE_RELEASE,
	INSIDE_UNLOCK,
	INSIDE_WAIT,
	INSIDE_ACQUIRE,
	INSIDE_NO_WAIT
};

/* Events of a thread, one after the other, taken as part of a wait whose park is not in the trace. */
struct cut_wait {
	enum inside last; /* INSIDE_NO_WAIT: it is none */
	uint64_t reason, object;
};

/* What a thread has one of at a time. */
struct given {
	int64_t ns; /* of the event before that gave it one; TRC_NEVER = none */
	uint64_t id;
};

struct check_thread {
	uint32_t serial;
	/* All that it has recorded since the window began; and its last events, the longest row of them that may be
	 * part of one wait. */
	struct cut_wait cut, recent;
	struct trc_array parks; /* struct open_park */
	int64_t last_ns;	/* its event before; TRC_NEVER = none */
	int64_t outside_ns;	/* its event before those of `recent`; TRC_NEVER = none */
	int64_t exit_ns;
	int64_t start_ns; /* TRC_NEVER: it was there before the trace (check:V3) */
	struct given labels, fiber;
};

struct check_task {
	uint64_t task;
	int64_t start_ns, end_ns; /* TRC_NEVER = not seen */
	int64_t named_ns;	  /* where it was first named by something else */
};

struct event_check {
	struct trc_check *check;
	struct trc_index thread_row, task_row;
	struct trc_array threads; /* struct check_thread */
	struct trc_array tasks;	  /* struct check_task */
	struct trc_check_regions regions;
	uint64_t place; /* of the event that is looked at (merge.h) */
	bool fibers;	/* which fiber each thread is in can be told */
};

static const struct trc_reader *reader_of(const struct event_check *e)
{
	return trc_model_reader(e->check->m);
}

/* When the table says that it began; TRC_NEVER = before the trace, or not known. */
static int64_t table_start_ns(const struct event_check *e, uint32_t serial)
{
	const struct trc_thread_entry *entry = trc_check_thread_entry(reader_of(e), serial);

	return entry && entry->start ? trc_reader_ns(reader_of(e), entry->start) : TRC_NEVER;
}

static struct check_thread *check_thread_of(struct event_check *e, uint32_t serial)
{
	uint32_t row = trc_index_get(&e->thread_row, serial);
	struct check_thread *t;

	if (row != TRC_INDEX_NONE)
		return (struct check_thread *)e->threads.row + row;
	t = trc_array_add(&e->threads);
	if (!t || trc_index_put(&e->thread_row, serial, (uint32_t)(e->threads.n - 1)))
		return NULL;
	t->serial = serial;
	t->parks.row_bytes = sizeof(struct open_park);
	t->last_ns = t->outside_ns = t->exit_ns = t->labels.ns = TRC_NEVER;
	t->start_ns = table_start_ns(e, serial);
	t->fiber.ns = t->start_ns; /* in its root fiber */
	return t;
}

static struct check_task *check_task_of(struct event_check *e, uint64_t id)
{
	uint32_t row = trc_index_get(&e->task_row, id);
	struct check_task *task;

	if (row != TRC_INDEX_NONE)
		return (struct check_task *)e->tasks.row + row;
	task = trc_array_add(&e->tasks);
	if (!task || trc_index_put(&e->task_row, id, (uint32_t)(e->tasks.n - 1)))
		return NULL;
	*task = (struct check_task){id, TRC_NEVER, TRC_NEVER, TRC_NEVER};
	return task;
}

/* --- parks --- */

static enum inside inside_of(const struct trc_columns *c, uint32_t row)
{
	switch (c->kind[row]) {
	case TRC_KIND_RELEASE:
		return INSIDE_RELEASE;
	case TRC_KIND_UNLOCK:
		return INSIDE_UNLOCK;
	case TRC_KIND_WAIT:
		return TRC_ROW_ARG(c, row, wait, reason) == TRC_REASON_COND_MUTEX ? INSIDE_WAIT
										  : INSIDE_NO_WAIT;
	case TRC_KIND_ACQUIRE:
		return INSIDE_ACQUIRE;
	default:
		return INSIDE_NO_WAIT;
	}
}

_Static_assert(TRC_ARG_INDEX(unlock, reason) == TRC_ARG_INDEX(acquire, reason) &&
		       TRC_ARG_INDEX(unlock, object) == TRC_ARG_INDEX(acquire, object) &&
		       TRC_ARG_INDEX(wait, object) == TRC_ARG_INDEX(acquire, object),
	       "all kinds are read alike");

static void cut_wait_goes_on(struct cut_wait *cut, const struct trc_columns *c, uint32_t row)
{
	enum inside now = inside_of(c, row);
	uint64_t reason, object;

	if (now == INSIDE_NO_WAIT || now <= cut->last) {
		cut->last = INSIDE_NO_WAIT;
		return;
	}
	reason = now == INSIDE_WAIT ? TRC_REASON_MUTEX : TRC_ROW_ARG(c, row, acquire, reason);
	object = TRC_ROW_ARG(c, row, acquire, object);
	if (cut->last != INSIDE_NOTHING && (cut->reason != reason || cut->object != object))
		now = INSIDE_NO_WAIT;
	*cut = (struct cut_wait){now, reason, object};
}

/* Before the thread's last_ns is that of this event. */
static void recent_goes_on(struct check_thread *t, const struct trc_columns *c, uint32_t row)
{
	cut_wait_goes_on(&t->recent, c, row);
	if (t->recent.last != INSIDE_NO_WAIT)
		return;
	t->recent.last = INSIDE_NOTHING; /* it may be the first of another wait */
	t->outside_ns = t->last_ns;
	cut_wait_goes_on(&t->recent, c, row);
	if (t->recent.last == INSIDE_NO_WAIT) {
		t->recent.last = INSIDE_NOTHING;
		t->outside_ns = c->time_ns[row];
	}
}

/* Can it be the wait that this resume ends? */
static bool cut_wait_fits(const struct cut_wait *cut, uint64_t reason, uint64_t object)
{
	switch (cut->last) {
	case INSIDE_NOTHING:
		return true;
	case INSIDE_NO_WAIT:
		return false;
	default:
		break;
	}
	if (reason == TRC_REASON_COND)
		return cut->reason == TRC_REASON_MUTEX;
	return cut->last == INSIDE_ACQUIRE && cut->reason == reason && cut->object == object;
}

static void parks_left(struct event_check *e, struct check_thread *t, size_t first, int64_t now_ns)
{
	const struct open_park *park = t->parks.row;

	for (size_t i = first; i < t->parks.n; i++)
		trc_check_missing(
			e->check, park[i].start_ns, now_ns,
			"thread %u: its park at %" PRId64 " ns (%s 0x%" PRIx64 ") has no resume",
			t->serial, park[i].start_ns,
			trc_reader_reason_name(reader_of(e), (unsigned int)park[i].reason),
			park[i].object);
	t->parks.n = first;
}

static int check_park_begin(struct check_thread *t, const struct trc_columns *c, uint32_t row)
{
	struct open_park *park = trc_array_add(&t->parks);

	if (!park)
		return -ENOMEM;
	*park = (struct open_park){c->time_ns[row], TRC_ROW_ARG(c, row, park, reason),
				   TRC_ROW_ARG(c, row, park, object)};
	return 0;
}

static void check_park_end(struct event_check *e, struct check_thread *t,
			   const struct trc_columns *c, uint32_t row)
{
	uint64_t reason = TRC_ROW_ARG(c, row, resume, reason);
	uint64_t object = TRC_ROW_ARG(c, row, resume, object);
	const struct open_park *park = t->parks.row;
	bool cut = cut_wait_fits(&t->cut, reason, object);
	bool recent = t->outside_ns != TRC_NEVER && cut_wait_fits(&t->recent, reason, object);
	int64_t from_ns = cut ? t->start_ns : recent ? t->outside_ns : t->last_ns;
	size_t i = t->parks.n;

	while (i && (park[i - 1].reason != reason || park[i - 1].object != object))
		i--;
	if (i) {
		parks_left(e, t, i, c->time_ns[row]);
		t->parks.n = i - 1;
	} else if (from_ns != TRC_NEVER) {
		trc_check_missing(
			e->check, from_ns, c->time_ns[row],
			"thread %u: its resume at %" PRId64 " ns (%s 0x%" PRIx64 ") has no park",
			t->serial, c->time_ns[row],
			trc_reader_reason_name(reader_of(e), (unsigned int)reason), object);
	}
}

static int thread_exit_seen(struct event_check *e, struct check_thread *t, int64_t now_ns)
{
	parks_left(e, t, 0, now_ns);
	t->exit_ns = now_ns;
	return trc_check_regions_exit(&e->regions, t->serial, now_ns);
}

/* --- labels, fibers and samples --- */

static void fiber_named(struct event_check *e, const char *kind, const struct trc_columns *c,
			uint32_t row)
{
	if (e->fibers)
		trc_check_fiber_named(e->check, kind, TRC_ROW_ARG(c, row, fiber_create, fiber),
				      c->thread[row], c->time_ns[row]);
}

/* Each event says what the thread had before: what the event before that gave it. */
static void give(struct event_check *e, const struct check_thread *t, struct given *given,
		 const struct given *now, uint64_t before, const char *const words[2])
{
	if (given->ns != TRC_NEVER && given->id != before)
		trc_check_missing(e->check, given->ns, now->ns,
				  "thread %u: until %" PRId64 " ns it %s %" PRIu64
				  ", but at %" PRId64 " ns it %s %" PRIu64,
				  t->serial, now->ns, words[0], before, given->ns, words[1],
				  given->id);
	*given = *now;
}

static void labels_set(struct event_check *e, struct check_thread *t, const struct trc_columns *c,
		       uint32_t row)
{
	static const char *const words[] = {"had label set", "was given set"};
	struct given now = {c->time_ns[row], TRC_ROW_ARG(c, row, labels, labels)};
	uint64_t before = TRC_ROW_ARG(c, row, labels, before);

	if (trc_reader_same_labels(reader_of(e), before, t->labels.id))
		before = t->labels.id;
	give(e, t, &t->labels, &now, before, words);
}

static void fiber_switched(struct event_check *e, struct check_thread *t,
			   const struct trc_columns *c, uint32_t row)
{
	static const char *const words[] = {"ran fiber", "went over to fiber"};
	struct given now = {c->time_ns[row], TRC_ROW_ARG(c, row, fiber_switch, fiber)};

	give(e, t, &t->fiber, &now, TRC_ROW_ARG(c, row, fiber_switch, left), words);
}

/* What is sampled is in a table, which comes at the end at the latest. */
static void sample_seen(struct event_check *e, const struct trc_columns *c, uint32_t row)
{
	uint64_t event = TRC_ROW_ARG(c, row, sample, event);
	const struct trc_sample_event_entry *entry;
	size_t n = trc_reader_sample_events(reader_of(e), &entry);

	for (size_t i = 0; i < n; i++)
		if (entry[i].event == event)
			return;
	if (trc_reader_info(reader_of(e))->complete)
		trc_check_violation(e->check, c->time_ns[row], c->time_ns[row],
				    "thread %u: the sample at %" PRId64 " ns is of event %" PRIu64
				    ", which is in no table",
				    c->thread[row], c->time_ns[row], event);
}

/* --- tasks --- */

static int task_named(struct event_check *e, uint64_t id, int64_t now_ns)
{
	struct check_task *task = id ? check_task_of(e, id) : NULL;

	if (task && task->named_ns == TRC_NEVER)
		task->named_ns = now_ns;
	return task || !id ? 0 : -ENOMEM;
}

static int check_task_begin(struct event_check *e, const struct trc_columns *c, uint32_t row)
{
	uint64_t id = TRC_ROW_ARG(c, row, task_begin, task);
	struct check_task *task = check_task_of(e, id);

	if (!task)
		return -ENOMEM;
	if (task->start_ns != TRC_NEVER)
		trc_check_violation(e->check, task->start_ns, c->time_ns[row],
				    "task %" PRIu64 ": begins at %" PRId64
				    " ns, and again at %" PRId64 " ns",
				    id, task->start_ns, c->time_ns[row]);
	task->start_ns = c->time_ns[row];
	return task_named(e, TRC_ROW_ARG(c, row, task_begin, parent), c->time_ns[row]);
}

static int check_task_end(struct event_check *e, const struct trc_columns *c, uint32_t row)
{
	uint64_t id = TRC_ROW_ARG(c, row, task_begin, task);
	struct check_task *task = check_task_of(e, id);

	if (!task)
		return -ENOMEM;
	if (task->end_ns != TRC_NEVER)
		trc_check_violation(e->check, task->end_ns, c->time_ns[row],
				    "task %" PRIu64 ": ends at %" PRId64
				    " ns, and again at %" PRId64 " ns",
				    id, task->end_ns, c->time_ns[row]);
	else if (task->start_ns == TRC_NEVER)
		trc_check_missing(e->check, INT64_MIN, c->time_ns[row],
				  "task %" PRIu64 ": ends at %" PRId64 " ns without having begun",
				  id, c->time_ns[row]);
	task->end_ns = c->time_ns[row];
	return 0;
}

static void tasks_missing(struct event_check *e)
{
	const struct check_task *task = e->tasks.row;

	for (size_t i = 0; i < e->tasks.n; i++)
		if (task[i].start_ns == TRC_NEVER && task[i].end_ns == TRC_NEVER)
			trc_check_missing(e->check, INT64_MIN, task[i].named_ns,
					  "task %" PRIu64 ": named at %" PRId64
					  " ns but never begun",
					  task[i].task, task[i].named_ns);
}

/* --- events --- */

static void thread_lives(struct event_check *e, struct check_thread *t, unsigned int kind,
			 int64_t now_ns)
{
	if (t->exit_ns != TRC_NEVER)
		trc_check_violation(
			e->check, t->exit_ns, now_ns,
			"thread %u: %s at %" PRId64 " ns, after its exit at %" PRId64 " ns",
			t->serial, trc_reader_kind(reader_of(e), kind)->name, now_ns, t->exit_ns);
	else if (kind == TRC_KIND_THREAD_START && t->last_ns != TRC_NEVER)
		trc_check_violation(e->check, t->last_ns, now_ns,
				    "thread %u: starts at %" PRId64
				    " ns, after an event at %" PRId64 " ns",
				    t->serial, now_ns, t->last_ns);
}

static int check_event(struct event_check *e, struct check_thread *t, const struct trc_columns *c,
		       uint32_t row)
{
	switch (c->kind[row]) {
	case TRC_KIND_PARK:
		return check_park_begin(t, c, row);
	case TRC_KIND_RESUME:
		check_park_end(e, t, c, row);
		return 0;
	case TRC_KIND_REGION_BEGIN:
		if (trc_check_region_begin(&e->regions, t->serial, e->place, c->time_ns[row],
					   TRC_ROW_ARG(c, row, region_begin, type)))
			return -ENOMEM;
		return task_named(e, TRC_ROW_ARG(c, row, region_begin, task), c->time_ns[row]);
	case TRC_KIND_REGION_END:
		return trc_check_region_end(&e->regions, t->serial, t->start_ns, e->place,
					    c->time_ns[row]);
	case TRC_KIND_THREAD_EXIT:
		return thread_exit_seen(e, t, c->time_ns[row]);
	case TRC_KIND_TASK_BEGIN:
		return check_task_begin(e, c, row);
	case TRC_KIND_TASK_END:
		return check_task_end(e, c, row);
	case TRC_KIND_LOG:
		return task_named(e, TRC_ROW_ARG(c, row, log, task), c->time_ns[row]);
	case TRC_KIND_LABELS:
		labels_set(e, t, c, row);
		return 0;
	case TRC_KIND_FIBER_SWITCH:
		fiber_switched(e, t, c, row);
		return 0;
	case TRC_KIND_FIBER_CREATE:
		fiber_named(e, "fiber_create", c, row);
		return 0;
	case TRC_KIND_FIBER_READY:
		fiber_named(e, "fiber_ready", c, row);
		return 0;
	case TRC_KIND_FIBER_END:
		fiber_named(e, "fiber_end", c, row);
		trc_check_regions_fiber_end(&e->regions, TRC_ROW_ARG(c, row, fiber_create, fiber),
					    c->time_ns[row]);
		return 0;
	default:
		return 0;
	}
}

static int check_span(struct event_check *e, const struct trc_span *span)
{
	const struct trc_columns *c = span->columns;
	int64_t window_ns = trc_model_window_ns(e->check->m);
	int err = 0;

	for (uint32_t row = span->first; row < span->last && !err; row++) {
		struct check_thread *t;

		if (c->kind[row] == TRC_KIND_SAMPLE)
			sample_seen(e, c, row);
		if (!c->thread[row] || !trc_kind_is_own(c->kind[row]))
			continue;
		t = check_thread_of(e, c->thread[row]);
		if (!t)
			return -ENOMEM;
		e->place = span->place + row;
		thread_lives(e, t, c->kind[row], c->time_ns[row]);
		err = check_event(e, t, c, row);
		/* What one stream held from before, others may have continued: check:V5. */
		if (c->time_ns[row] >= window_ns)
			cut_wait_goes_on(&t->cut, c, row);
		recent_goes_on(t, c, row);
		t->last_ns = c->time_ns[row];
	}
	return err;
}

static int check_all(struct event_check *e)
{
	struct trc_merge_options options = TRC_MERGE_EVERYTHING;
	struct trc_error ignored; /* damaged blocks have been reported */
	struct trc_merge *merge;
	struct trc_span span;
	int got, err;

	options.ahead = true;
	err = trc_merge_open(&merge, reader_of(e), &options);
	if (err)
		return err;
	while (!err && (got = trc_merge_next(merge, &span, &ignored)) != 0) {
		if (got == -ENOMEM)
			err = got;
		else if (got > 0)
			err = check_span(e, &span);
	}
	trc_merge_close(merge);
	if (!err) {
		trc_check_regions_left(&e->regions);
		tasks_missing(e);
	}
	return err;
}

/* 0 or -ENOMEM; damaged blocks have been reported. */
static int need_fibers(struct event_check *e)
{
	struct trc_error ignored;
	int err = 0;

	if (trc_model_has_fibers(e->check->m))
		err = trc_model_need(e->check->m, TRC_PART_FIBERS, &ignored);
	e->fibers = !err && trc_model_has_fibers(e->check->m);
	return err == -ENOMEM ? err : 0;
}

int trc_check_events(struct trc_check *check)
{
	struct event_check e = {.check = check,
				.threads = {.row_bytes = sizeof(struct check_thread)},
				.tasks = {.row_bytes = sizeof(struct check_task)}};
	int err = need_fibers(&e);

	trc_check_regions_begin(&e.regions, check, e.fibers);
	if (!err)
		err = check_all(&e);
	for (size_t i = 0; i < e.threads.n; i++)
		trc_array_free(&((struct check_thread *)e.threads.row)[i].parks);
	trc_array_free(&e.threads);
	trc_array_free(&e.tasks);
	trc_check_regions_end(&e.regions);
	trc_index_free(&e.thread_row);
	trc_index_free(&e.task_row);
	return err;
}
