/*
 * user.c - tasks, regions, logs and counters: TRC_PART_USER.
 *
 * Regions nest within their fiber, which may run on other threads when they end.  If a thread is in its root fiber, or in
 * an unknown fiber, its regions nest within the thread.  Which fiber a thread was in is known only
 * after the last event (spans.h): until then the ends of regions wait.
 *
 * An end without a begin closes a region that began before the trace did; how deep such a region lay
 * is known only when the last of them has ended, so depths are counted relative to that until then:
 *
 *   user:U1  a region's depth = its place among the known open ones
 *       + the regions from before the trace still open then
 *   user:U2  a region of the file's table of open ones that began before all that the events of its
 *       fiber, which its thread is in at the end, tell of began before the trace, and is one of its
 *       rows; of fibers that no thread is in then the file has no such table
 *   user:U3  regions are followed from the beginning of a snapshot's window on.  Before the window streams
 *       are missing, and an end may belong to another region
 */
#include <errno.h>
#include <stdlib.h>
#include "analyzer/model/parts.h"

/* The regions of a fiber, or of a thread's root fiber, that are open, and how many ended that began
 * before the trace. */
struct region_stack {
	size_t *region; /* indices in m->regions, outermost first */
	uint32_t n, capacity;
	uint32_t n_from_before;
	/* Those that never ended: outside of all others. */
	uint32_t n_open_before, n_numbered;
};

struct user {
	struct trc_derive derive; /* first: the two share an address */
	struct trc_model *m;
	uint64_t place;			/* of the event that is looked at */
	bool fibers;			/* some thread is in one */
	struct trc_index task_row;	/* the task's id to its row */
	struct trc_index stack_row;	/* stack_key() to its row in stacks */
	struct trc_array stacks;	/* struct region_stack */
	struct trc_array region_events; /* struct region_event; with fibers */
};

struct region_event {
	int64_t ts_ns;
	uint64_t place;
	uint32_t thread;
	uint32_t region; /* its row id, if it begins one */
};

static uint64_t stack_key(uint32_t thread, uint32_t fiber)
{
	return fiber ? (uint64_t)1 << 32 | fiber : thread;
}

static struct region_stack *region_stack_of(struct user *u, uint32_t thread, uint32_t fiber)
{
	uint64_t key = stack_key(thread, fiber);
	uint32_t row = trc_index_get(&u->stack_row, key);
	struct region_stack *stack;

	if (row != TRC_INDEX_NONE)
		return (struct region_stack *)u->stacks.row + row;
	stack = trc_array_add(&u->stacks);
	if (!stack || trc_index_put(&u->stack_row, key, (uint32_t)(u->stacks.n - 1)))
		return NULL;
	return stack;
}

static int stack_push(struct region_stack *stack, size_t region)
{
	if (stack->n == stack->capacity) {
		uint32_t capacity = stack->capacity ? stack->capacity * 2 : 8;
		size_t *grown = realloc(stack->region, capacity * sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		stack->region = grown;
		stack->capacity = capacity;
	}
	stack->region[stack->n++] = region;
	return 0;
}

static int task_begin(struct user *u, const struct trc_columns *c, uint32_t row)
{
	struct trc_task *task = trc_array_add(&u->m->tasks);

	if (!task)
		return -ENOMEM;
	task->task = TRC_ROW_ARG(c, row, task_begin, task);
	task->parent = TRC_ROW_ARG(c, row, task_begin, parent);
	task->type = trc_model_string(u->m, TRC_ROW_ARG(c, row, task_begin, type));
	task->start_ns = c->time_ns[row];
	task->start_place = u->place;
	task->end_ns = TRC_NEVER;
	task->start_thread = c->thread[row];
	if (!task->type)
		return -ENOMEM;
	return trc_index_put(&u->task_row, task->task, (uint32_t)(u->m->tasks.n - 1));
}

/* The row that an end belongs to: that of its begin, or a new one for a begin before the trace. */
static struct trc_task *task_to_end(struct user *u, uint64_t id)
{
	uint32_t row = trc_index_get(&u->task_row, id);
	struct trc_task *task;

	if (row != TRC_INDEX_NONE)
		return (struct trc_task *)u->m->tasks.row + row;
	task = trc_array_add(&u->m->tasks);
	if (!task || trc_index_put(&u->task_row, id, (uint32_t)(u->m->tasks.n - 1)))
		return NULL;
	task->task = id;
	task->type = "";
	task->start_ns = task->end_ns = TRC_NEVER;
	return task;
}

static int task_end(struct user *u, const struct trc_columns *c, uint32_t row)
{
	struct trc_task *task = task_to_end(u, TRC_ROW_ARG(c, row, task_begin, task));

	if (!task)
		return -ENOMEM;
	if (task->end_ns == TRC_NEVER) {
		task->end_ns = c->time_ns[row];
		task->end_thread = c->thread[row];
	}
	return 0;
}

/* Its place is known when its fiber is. */
static int region_add(struct user *u, const struct trc_columns *c, uint32_t row)
{
	struct trc_region *region = trc_array_add(&u->m->regions);

	if (!region)
		return -ENOMEM;
	region->task = TRC_ROW_ARG(c, row, region_begin, task);
	region->type = trc_model_string(u->m, TRC_ROW_ARG(c, row, region_begin, type));
	region->thread = c->thread[row];
	region->start_ns = c->time_ns[row];
	region->start_place = u->place;
	region->end_ns = TRC_NEVER;
	return region->type ? 0 : -ENOMEM;
}

static int region_begin(struct user *u, const struct region_event *e, uint32_t fiber)
{
	struct region_stack *stack = region_stack_of(u, e->thread, fiber);
	struct trc_region *region = (struct trc_region *)u->m->regions.row + e->region - 1;

	if (!stack)
		return -ENOMEM;
	region->fiber = fiber;
	region->depth = stack->n - stack->n_from_before; /* wraps; U1 is made true at the end */
	return stack_push(stack, e->region - 1);
}

static int region_end(struct user *u, const struct region_event *e, uint32_t fiber)
{
	struct region_stack *stack = region_stack_of(u, e->thread, fiber);
	struct trc_region *region;

	if (!stack)
		return -ENOMEM;
	if (stack->n) {
		region = (struct trc_region *)u->m->regions.row + stack->region[--stack->n];
		region->end_ns = e->ts_ns;
		return 0;
	}
	region = trc_array_add(&u->m->regions);
	if (!region)
		return -ENOMEM;
	region->type = "";
	region->thread = e->thread;
	region->fiber = fiber;
	region->depth = -++stack->n_from_before;
	region->start_ns = TRC_NEVER;
	region->end_ns = e->ts_ns;
	return 0;
}

static int region_nest(struct user *u, const struct region_event *e, uint32_t fiber)
{
	return e->region ? region_begin(u, e, fiber) : region_end(u, e, fiber);
}

static int region_event(struct user *u, const struct trc_columns *c, uint32_t row)
{
	struct region_event e = {c->time_ns[row], u->place, c->thread[row], 0}, *later;

	if (e.ts_ns < u->m->window_ns) /* U3 */
		return 0;
	if (c->kind[row] == TRC_KIND_REGION_BEGIN) {
		if (region_add(u, c, row))
			return -ENOMEM;
		e.region = (uint32_t)u->m->regions.n;
	}
	if (!u->fibers)
		return region_nest(u, &e, 0);
	later = trc_array_add(&u->region_events);
	if (later)
		*later = e;
	return later ? 0 : -ENOMEM;
}

/* Now that it is known in which fiber each thread was. */
static int region_events_nest(struct user *u)
{
	const struct region_event *e = u->region_events.row;
	int err = 0;

	for (size_t i = 0; i < u->region_events.n && !err; i++, e++)
		err = region_nest(u, e, trc_model_fiber_at(u->m, e->thread, e->ts_ns, e->place));
	return err;
}

static int log_add(struct user *u, const struct trc_columns *c, uint32_t row)
{
	struct trc_log *log = trc_array_add(&u->m->logs);
	size_t n_bytes;
	const char *bytes = trc_arg_text(c, row, &n_bytes);

	if (!log)
		return -ENOMEM;
	log->ts_ns = c->time_ns[row];
	log->place = u->place;
	log->thread = c->thread[row];
	log->task = TRC_ROW_ARG(c, row, log, task);
	log->category = trc_model_string(u->m, TRC_ROW_ARG(c, row, log, category));
	log->message = trc_pool_text(&u->m->text, bytes, n_bytes);
	return log->category && log->message ? 0 : -ENOMEM;
}

static int counter_add(struct user *u, const struct trc_columns *c, uint32_t row)
{
	struct trc_counter *counter = trc_array_add(&u->m->counters);

	if (!counter)
		return -ENOMEM;
	counter->ts_ns = c->time_ns[row];
	counter->place = u->place;
	counter->thread = c->thread[row];
	counter->name = trc_model_string(u->m, TRC_ROW_ARG(c, row, counter, name));
	counter->value = (int64_t)TRC_ROW_ARG(c, row, counter, value);
	return counter->name ? 0 : -ENOMEM;
}

static int user_span(struct trc_derive *derive, const struct trc_span *span)
{
	struct user *u = (struct user *)derive;
	const struct trc_columns *c = span->columns;
	int err = 0;

	for (uint32_t row = span->first; row < span->last && !err; row++) {
		u->place = span->place + row;
		switch (c->kind[row]) {
		case TRC_KIND_TASK_BEGIN:
			err = task_begin(u, c, row);
			break;
		case TRC_KIND_TASK_END:
			err = task_end(u, c, row);
			break;
		case TRC_KIND_REGION_BEGIN:
		case TRC_KIND_REGION_END:
			err = region_event(u, c, row);
			break;
		case TRC_KIND_LOG:
			err = log_add(u, c, row);
			break;
		case TRC_KIND_COUNTER:
			err = counter_add(u, c, row);
			break;
		}
	}
	return err;
}

/* Whether this open region began before the first that events tell of (U2).  Its time was read after
 * the event of its begin was recorded, and before anything that lies inside it. */
static bool open_from_before(const struct user *u, const struct region_stack *stack,
			     int64_t since_ns)
{
	const struct trc_region *region = u->m->regions.row;

	if (stack->n)
		return since_ns < region[stack->region[0]].start_ns;
	return since_ns <= u->m->end_ns;
}

static int open_region_add(struct user *u, struct region_stack *stack,
			   const struct trc_open_region_entry *e, uint32_t fiber, int64_t since_ns)
{
	struct trc_region *region = trc_array_add(&u->m->regions);

	if (!region)
		return -ENOMEM;
	region->task = e->task;
	region->type = trc_model_string(u->m, e->type);
	region->thread = e->thread;
	region->fiber = fiber;
	region->start_ns = since_ns;
	region->start_place = TRC_PLACE_LAST;
	region->end_ns = TRC_NEVER;
	stack->n_open_before++;
	return region->type ? 0 : -ENOMEM;
}

static int open_regions_add(struct user *u)
{
	const struct trc_open_region_entry *e;
	size_t n = trc_reader_open_regions(u->m->reader, &e);
	int err = 0;

	for (size_t i = 0; i < n && !err; i++, e++) {
		uint32_t fiber = trc_model_fiber_at(u->m, e->thread, INT64_MAX, TRC_PLACE_LAST);
		struct region_stack *stack = region_stack_of(u, e->thread, fiber);
		int64_t since_ns = trc_model_since_ns(u->m, e->since);

		if (!stack)
			return -ENOMEM;
		if (open_from_before(u, stack, since_ns))
			err = open_region_add(u, stack, e, fiber, since_ns);
	}
	return err;
}

/* Adds to each depth what it was counted relative to (U1). */
static void regions_set_depth(struct user *u, size_t n_from_events)
{
	struct trc_region *region = u->m->regions.row;
	struct region_stack *stack = u->stacks.row;

	for (size_t i = 0; i < u->m->regions.n; i++) {
		uint64_t key = stack_key(region[i].thread, region[i].fiber);
		struct region_stack *s = &stack[trc_index_get(&u->stack_row, key)];

		if (i < n_from_events)
			region[i].depth += s->n_from_before + s->n_open_before;
		else
			region[i].depth = s->n_numbered++;
	}
}

static int user_end(struct trc_derive *derive)
{
	struct user *u = (struct user *)derive;
	struct trc_model *m = u->m;
	int err = region_events_nest(u);
	size_t n_from_events = m->regions.n;

	if (!err)
		err = open_regions_add(u);
	if (!err)
		regions_set_depth(u, n_from_events);
	if (!err)
		err = trc_array_sort(&m->tasks, offsetof(struct trc_task, start_ns),
				     offsetof(struct trc_task, start_thread));
	if (!err)
		err = trc_array_sort(&m->regions, offsetof(struct trc_region, start_ns),
				     offsetof(struct trc_region, thread));
	if (!err)
		err = trc_array_sort(&m->logs, offsetof(struct trc_log, ts_ns),
				     offsetof(struct trc_log, thread));
	if (!err)
		err = trc_array_sort(&m->counters, offsetof(struct trc_counter, ts_ns),
				     offsetof(struct trc_counter, thread));
	return err;
}

static void user_free(struct trc_derive *derive)
{
	struct user *u = (struct user *)derive;

	for (size_t i = 0; i < u->stacks.n; i++)
		free(((struct region_stack *)u->stacks.row)[i].region);
	trc_array_free(&u->stacks);
	trc_array_free(&u->region_events);
	trc_index_free(&u->stack_row);
	trc_index_free(&u->task_row);
	free(u);
}

int trc_derive_user(struct trc_derive **out, struct trc_model *m)
{
	static const unsigned int kinds[] = {TRC_KIND_TASK_BEGIN,   TRC_KIND_TASK_END,
					     TRC_KIND_REGION_BEGIN, TRC_KIND_REGION_END,
					     TRC_KIND_LOG,	    TRC_KIND_COUNTER};
	struct user *u = calloc(1, sizeof(*u));

	if (!u)
		return -ENOMEM;
	u->m = m;
	u->fibers = trc_model_has_fibers(m);
	u->stacks.row_bytes = sizeof(struct region_stack);
	u->region_events.row_bytes = sizeof(struct region_event);
	u->derive = (struct trc_derive){
		.part = TRC_PART_USER, .span = user_span, .end = user_end, .free = user_free};
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		trc_kind_mask_add(&u->derive.kinds, kinds[i]);
	*out = &u->derive;
	return 0;
}
