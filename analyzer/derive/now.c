/*
 * now.c - what every thread is doing when the trace ends: TRC_PART_NOW.
 *
 * If the trace has a status table, the table says it: the table was read after the last event, and is newer
 * than the events of a running process.  If the trace has none, a park without a resume says it.
 *
 *   now:N1  a thread waits if the status table says so and its events do not say that this
 *       wait has ended; without a status table, if it has an open park
 *   now:N2  a thread with neither, which has not ended either, is in an unknown state
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "locks.h"

struct now_thread {
	uint32_t stack; /* of its newest event with one */
	int64_t stack_ns;
	/* After the last event: */
	uint32_t park;	 /* id of its innermost open park, 0 = none */
	uint32_t status; /* its entry in the status table + 1, 0 = none */
	uint32_t n_told; /* entries in the file's table of open regions */
};

struct now {
	struct trc_derive derive; /* first: the two share an address */
	struct trc_model *m;
	struct trc_index row;	  /* by serial */
	struct trc_array threads; /* struct now_thread */
	struct trc_index running; /* the fibers that run: row id to thread */
	struct trc_lock_uses uses;
};

enum {
	/* A slot of the recorder's tells of this many open regions: the outermost. */
	TOLD_REGIONS_MAX = 8,
};

static struct now_thread *now_thread_of(struct now *w, uint32_t serial)
{
	uint32_t row = trc_index_get(&w->row, serial);
	struct now_thread *t;

	if (row != TRC_INDEX_NONE)
		return (struct now_thread *)w->threads.row + row;
	t = trc_array_add(&w->threads);
	if (!t || trc_index_put(&w->row, serial, (uint32_t)(w->threads.n - 1)))
		return NULL;
	t->stack_ns = TRC_NEVER;
	return t;
}

/* --- while the events go by --- */

static int signal_add(struct now *w, const struct trc_columns *c, uint32_t row)
{
	struct trc_signal *s = trc_array_add(&w->m->signals);

	if (!s)
		return -ENOMEM;
	s->ts_ns = c->time_ns[row];
	s->thread = c->thread[row];
	s->signal = (uint32_t)TRC_ROW_ARG(c, row, signal, signal);
	s->code = (int64_t)TRC_ROW_ARG(c, row, signal, code);
	s->address = TRC_ROW_ARG(c, row, signal, address);
	s->fatal = TRC_ROW_ARG(c, row, signal, fatal) != 0;
	s->stack = (uint32_t)TRC_ROW_ARG(c, row, signal, stack);
	return 0;
}

static int trigger_add(struct now *w, const struct trc_columns *c, uint32_t row)
{
	struct trc_trigger *t = trc_array_add(&w->m->triggers);
	size_t n_bytes;
	const char *bytes = trc_arg_text(c, row, &n_bytes);

	if (!t)
		return -ENOMEM;
	t->ts_ns = c->time_ns[row];
	t->thread = c->thread[row];
	t->condition = trc_pool_text(&w->m->text, bytes, n_bytes);
	return t->condition ? 0 : -ENOMEM;
}

/* The argument that is the thread's own stack; that of a start is its creator's. */
static int stack_argument(unsigned int kind)
{
	switch (kind) {
	case TRC_KIND_PARK:
		return TRC_ARG_INDEX(park, stack);
	case TRC_KIND_WAIT:
		return TRC_ARG_INDEX(wait, stack);
	case TRC_KIND_UNLOCK:
		return TRC_ARG_INDEX(unlock, stack);
	case TRC_KIND_UNPARK:
		return TRC_ARG_INDEX(unpark, stack);
	case TRC_KIND_ACQUIRE:
		return TRC_ARG_INDEX(acquire, stack);
	case TRC_KIND_SIGNAL:
		return TRC_ARG_INDEX(signal, stack);
	case TRC_KIND_SAMPLE:
		return TRC_ARG_INDEX(sample, stack);
	default:
		return -1;
	}
}

static int stack_seen(struct now *w, const struct trc_columns *c, uint32_t row)
{
	int argument = stack_argument(c->kind[row]);
	uint64_t stack = argument < 0 ? 0 : trc_arg(c, row, (unsigned int)argument);
	struct now_thread *t = stack ? now_thread_of(w, c->thread[row]) : NULL;

	if (t) {
		t->stack = (uint32_t)stack;
		t->stack_ns = c->time_ns[row];
	}
	return t || !stack ? 0 : -ENOMEM;
}

static int now_event(struct now *w, const struct trc_columns *c, uint32_t row)
{
	switch (c->kind[row]) {
	case TRC_KIND_UNLOCK:
	case TRC_KIND_ACQUIRE:
	case TRC_KIND_RELEASE:
		return trc_lock_uses_event(&w->uses, c, row);
	case TRC_KIND_SIGNAL:
		return signal_add(w, c, row);
	case TRC_KIND_TRIGGER:
		return trigger_add(w, c, row);
	default:
		return 0;
	}
}

static int now_span(struct trc_derive *derive, const struct trc_span *span)
{
	struct now *w = (struct now *)derive;
	int err = 0;

	for (uint32_t row = span->first; row < span->last && !err; row++) {
		err = now_event(w, span->columns, row);
		if (!err)
			err = stack_seen(w, span->columns, row);
	}
	return err;
}

/* --- open regions --- */

static bool has_ended(const struct trc_model *m, const struct trc_region *region)
{
	const struct trc_thread *thread = trc_model_thread(m, region->thread);
	const struct trc_fiber *fiber = m->fibers.row;

	if (region->fiber)
		return fiber[region->fiber - 1].ended_ns != TRC_NEVER;
	return thread && thread->end_ns != TRC_NEVER;
}

static int find_running_fibers(struct now *w)
{
	const struct trc_fiber_run *run = w->m->fiber_runs.row;
	int err = 0;

	for (size_t i = 0; i < w->m->fiber_runs.n && !err; i++)
		if (run[i].flags & TRC_FIBER_RUN_OPEN)
			err = trc_index_put(&w->running, run[i].fiber, run[i].thread);
	return err;
}

static int open_region_put(struct trc_model *m, const struct trc_open_region *region)
{
	struct trc_open_region *row = trc_array_add(&m->open_regions);

	if (row)
		*row = *region;
	return row ? 0 : -ENOMEM;
}

/* As the file's table has them. */
static int open_regions_told(struct now *w)
{
	const struct trc_open_region_entry *e;
	size_t n = trc_reader_open_regions(w->m->reader, &e);
	int err = 0;

	for (size_t i = 0; i < n && !err; i++, e++) {
		struct now_thread *t = now_thread_of(w, e->thread);
		struct trc_open_region region = {
			.since_ns = e->since ? trc_model_since_ns(w->m, e->since) : TRC_NEVER,
			.task = e->task,
			.type = trc_model_string(w->m, e->type),
			.thread = e->thread,
			.depth = e->depth,
			.fiber = trc_model_fiber_at(w->m, e->thread, INT64_MAX, TRC_PLACE_LAST),
		};

		if (!t || !region.type)
			return -ENOMEM;
		t->n_told++;
		err = open_region_put(w->m, &region);
	}
	return err;
}

/* The region's thread is the one that runs its fiber, if one does. */
static struct trc_open_region open_region_of(const struct now *w, const struct trc_region *g)
{
	uint32_t thread = g->fiber ? trc_index_get(&w->running, g->fiber) : TRC_INDEX_NONE;

	return (struct trc_open_region){
		.since_ns = g->start_ns,
		.task = g->task,
		.type = g->type,
		.thread = thread == TRC_INDEX_NONE ? g->thread : thread,
		.depth = g->depth,
		.fiber = g->fiber,
	};
}

/* What events say, where the file does not: it has no such table, the thread has more, or no thread
 * is in the fiber. */
static int open_regions_seen(struct now *w)
{
	const struct trc_open_region_entry *ignored;
	bool any_told = trc_reader_open_regions(w->m->reader, &ignored) > 0;
	const struct trc_region *g = w->m->regions.row;
	int err = 0;

	for (size_t i = 0; i < w->m->regions.n && !err; i++, g++) {
		struct now_thread *t;
		struct trc_open_region region = open_region_of(w, g);
		bool is_in = g->fiber ==
			     trc_model_fiber_at(w->m, region.thread, INT64_MAX, TRC_PLACE_LAST);

		if (g->end_ns != TRC_NEVER || has_ended(w->m, g))
			continue;
		t = now_thread_of(w, region.thread);
		if (!t)
			return -ENOMEM;
		/* Those of a fiber that was left before the table was made are not in it. */
		is_in &= !g->fiber || t->n_told;
		if (any_told && is_in && (t->n_told < TOLD_REGIONS_MAX || g->depth < t->n_told))
			continue;
		err = open_region_put(w->m, &region);
	}
	return err;
}

static int compare_open_regions(const void *a, const void *b)
{
	const struct trc_open_region *x = a, *y = b;

	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	if (x->fiber != y->fiber)
		return x->fiber < y->fiber ? -1 : 1;
	return (x->depth > y->depth) - (x->depth < y->depth);
}

static int find_open_regions(struct now *w)
{
	int err = find_running_fibers(w);

	if (!err)
		err = open_regions_told(w);
	if (!err)
		err = open_regions_seen(w);
	if (!err && w->m->open_regions.n)
		qsort(w->m->open_regions.row, w->m->open_regions.n, w->m->open_regions.row_bytes,
		      compare_open_regions);
	return err;
}

/* --- threads --- */

static int find_open_parks(struct now *w)
{
	const struct trc_park *park = w->m->parks.row;

	for (size_t i = 0; i < w->m->parks.n; i++) {
		struct now_thread *t;

		if (!(park[i].flags & TRC_PARK_OPEN))
			continue;
		t = now_thread_of(w, park[i].thread);
		if (!t)
			return -ENOMEM;
		t->park = (uint32_t)i + 1; /* by start: the innermost comes last */
	}
	return 0;
}

static int find_status(struct now *w)
{
	const struct trc_status_entry *entry;
	size_t n = trc_reader_status(w->m->reader, &entry);

	for (size_t i = 0; i < n; i++) {
		struct now_thread *t = now_thread_of(w, entry[i].thread);

		if (!t)
			return -ENOMEM;
		t->status = (uint32_t)i + 1;
	}
	return 0;
}

/* The wait that it is in, or NULL (N1). */
static const struct trc_park *wait_of(const struct now *w, const struct now_thread *t)
{
	const struct trc_status_entry *entry;
	const struct trc_park *park =
		t->park ? (const struct trc_park *)w->m->parks.row + t->park - 1 : NULL;

	if (!t->status || !park)
		return park;
	trc_reader_status(w->m->reader, &entry);
	entry += t->status - 1;
	return entry->reason == park->reason && entry->object == park->object ? park : NULL;
}

static void set_wait(struct now *w, struct trc_thread_now *now, const struct trc_park *park)
{
	now->state = TRC_THREAD_WAITING;
	now->reason = park->reason;
	now->object = park->object;
	now->since_ns = park->start_ns;
	now->park = (uint32_t)(park - (const struct trc_park *)w->m->parks.row) + 1;
	now->holder = park->holder;
	if (park->stack) {
		now->stack = park->stack;
		now->stack_ns = park->start_ns;
	}
}

static int thread_add(struct now *w, const struct trc_thread *thread)
{
	struct now_thread *t = now_thread_of(w, thread->serial);
	struct trc_thread_now *now = t ? trc_array_add(&w->m->threads_now) : NULL;
	const struct trc_park *park;

	if (!now)
		return -ENOMEM;
	*now = (struct trc_thread_now){
		.thread = thread->serial,
		.state = t->status ? TRC_THREAD_NOT_WAITING : TRC_THREAD_UNKNOWN,
		.since_ns = TRC_NEVER,
		.stack = t->stack,
		.stack_ns = t->stack_ns,
		.region = "",
	};
	park = wait_of(w, t);
	if (park)
		set_wait(w, now, park);
	return 0;
}

/* Both are sorted by thread. */
static void add_open_regions(struct trc_model *m)
{
	struct trc_thread_now *now = m->threads_now.row;
	const struct trc_open_region *g = m->open_regions.row;
	size_t i = 0;

	for (size_t r = 0; r < m->open_regions.n; r++, g++) {
		while (i < m->threads_now.n && now[i].thread < g->thread)
			i++;
		if (i == m->threads_now.n || now[i].thread != g->thread ||
		    g->fiber != trc_model_fiber_at(m, g->thread, INT64_MAX, TRC_PLACE_LAST))
			continue;
		now[i].n_open_regions++;
		now[i].region = g->type;
		if (g->task)
			now[i].task = g->task;
	}
}

static int find_threads(struct now *w)
{
	const struct trc_thread *thread = w->m->threads.row;
	int err = find_open_parks(w);

	if (!err)
		err = find_status(w);
	for (size_t i = 0; i < w->m->threads.n && !err; i++)
		if (thread[i].end_ns == TRC_NEVER)
			err = thread_add(w, &thread[i]);
	if (!err)
		add_open_regions(w->m);
	return err;
}

static int now_end(struct trc_derive *derive)
{
	struct now *w = (struct now *)derive;
	int err = find_open_regions(w);

	if (!err)
		err = find_threads(w);
	return err ? err : trc_derive_deadlocks(w->m, &w->uses);
}

static void now_free(struct trc_derive *derive)
{
	struct now *w = (struct now *)derive;

	trc_lock_uses_free(&w->uses);
	trc_array_free(&w->threads);
	trc_index_free(&w->row);
	trc_index_free(&w->running);
	free(w);
}

int trc_derive_now(struct trc_derive **out, struct trc_model *m)
{
	static const unsigned int kinds[] = {TRC_KIND_PARK,   TRC_KIND_WAIT,	TRC_KIND_UNLOCK,
					     TRC_KIND_UNPARK, TRC_KIND_ACQUIRE, TRC_KIND_RELEASE,
					     TRC_KIND_SIGNAL, TRC_KIND_TRIGGER, TRC_KIND_SAMPLE};
	struct now *w = calloc(1, sizeof(*w));

	if (!w)
		return -ENOMEM;
	w->m = m;
	w->threads.row_bytes = sizeof(struct now_thread);
	trc_lock_uses_init(&w->uses);
	w->derive = (struct trc_derive){
		.part = TRC_PART_NOW, .span = now_span, .end = now_end, .free = now_free};
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		trc_kind_mask_add(&w->derive.kinds, kinds[i]);
	*out = &w->derive;
	return 0;
}
