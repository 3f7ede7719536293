/* causes.c - see causes.h: the rows of one wait, by the steps of steps.h. */
#include "causes.h"

#include <errno.h>
#include <stdlib.h>
#include "steps.h"
#include "analyzer/model/on_procs.h"
#include "analyzer/model/order.h"
#include "analyzer/model/waits.h"

struct trc_causes {
	struct trc_steps steps;
	struct trc_array rows; /* struct trc_cause */
	size_t rows_max;       /* 0 = any number */
	/* By row of thread: the piece where it was found last.  Waits are mostly asked for in the order of time. */
	size_t *near;
	struct trc_on_procs procs;
	bool has_procs; /* somebody had none */

	/* The wait that is being explained. */
	uint32_t wait;
	uint32_t chain[TRC_CAUSES_DEPTH_MAX + 1]; /* ids of the waits that a row lies in */
	uint32_t n_chain;
	bool only_heads; /* what waits for locks were for is left to together.h */
};

/* Where rows go, and what is known of a piece whose thread is to be looked at. */
struct place {
	uint32_t parent, depth;
	uint32_t stack;	 /* of the event that ended the piece; 0 = not known */
	uint32_t unlock; /* id; 0 = none */
	uint32_t hops;	 /* creators that were asked instead of their threads */
};

/* ---- rows ---- */

/* The row before goes on. */
static bool cause_goes_on(struct trc_causes *c, const struct trc_cause *next)
{
	struct trc_cause *last;

	if (!c->rows.n || !next->leaf)
		return false;
	last = (struct trc_cause *)c->rows.row + c->rows.n - 1;
	if (!last->leaf || last->parent != next->parent || last->depth != next->depth ||
	    last->kind != next->kind || last->thread != next->thread ||
	    last->stack != next->stack || last->stack_of != next->stack_of ||
	    last->park != next->park || last->unlock != next->unlock ||
	    last->to_ns != next->from_ns)
		return false;
	last->to_ns = next->to_ns;
	return true;
}

static int cause_row_add(struct trc_causes *c, const struct place *at, struct trc_cause row)
{
	struct trc_cause *added;

	row.wait = c->wait;
	row.parent = at->parent;
	row.depth = at->depth;
	row.unlock = at->unlock;
	row.leaf = row.kind != TRC_CAUSE_WAITING;
	if (row.kind == TRC_CAUSE_UNKNOWN && trc_steps_lost(&c->steps, row.from_ns, row.to_ns))
		row.kind = TRC_CAUSE_LOST;
	if (cause_goes_on(c, &row))
		return 0;
	if (c->rows_max && c->rows.n >= c->rows_max)
		return -E2BIG;
	added = trc_array_add(&c->rows);
	if (!added)
		return -ENOMEM;
	row.id = (uint32_t)c->rows.n;
	*added = row;
	return 0;
}

/* Of a thread that waits. */
static int causes_add_park(struct trc_causes *c, const struct place *at, uint8_t kind,
			   uint32_t park, int64_t from_ns, int64_t to_ns)
{
	const struct trc_park *p = &c->steps.park[park - 1];

	return cause_row_add(
		c, at,
		(struct trc_cause){
			.kind = kind,
			.thread = p->thread,
			.from_ns = from_ns,
			.to_ns = to_ns,
			.park = park,
			.reason = p->reason,
			.object = p->object,
			.descriptor = p->descriptor,
			.stack = p->stack,
			.stack_of = p->stack ? TRC_CAUSE_STACK_WAIT : TRC_CAUSE_STACK_NONE,
		});
}

/* Of one that does not; without a stack of its own it has that of the event that ended the piece. */
static int causes_add_active(struct trc_causes *c, const struct place *at,
			     const struct trc_step *step, uint32_t thread, int64_t from_ns,
			     int64_t to_ns)
{
	struct trc_cause row = {
		.kind = step->kind, .thread = thread, .from_ns = from_ns, .to_ns = to_ns};

	row.stack = step->stack_of ? step->stack : at->stack;
	row.stack_of = step->stack_of ? step->stack_of
		       : at->stack    ? TRC_CAUSE_STACK_END
				      : TRC_CAUSE_STACK_NONE;
	return cause_row_add(c, at, row);
}

static int causes_add_alone(struct trc_causes *c, const struct place *at, uint8_t kind,
			    uint32_t thread, int64_t from_ns, int64_t to_ns)
{
	return causes_add_active(c, at, &(struct trc_step){.kind = kind}, thread, from_ns, to_ns);
}

/* ---- what a thread does in a piece ---- */

static int explain_wait(struct trc_causes *c, const struct place *at, uint32_t park,
			int64_t from_ns, int64_t to_ns);
static int explain_thread(struct trc_causes *c, const struct place *at, uint32_t serial,
			  int64_t from_ns, int64_t to_ns);

static bool waits_in_chain(const struct trc_causes *c, uint32_t thread)
{
	for (uint32_t i = 0; i < c->n_chain; i++)
		if (c->steps.park[c->chain[i] - 1].thread == thread)
			return true;
	return false;
}

/* A thread that is still to come is waited for until its creator gets there; one whose creator
 * waits has been created. */
static int explain_unborn(struct trc_causes *c, const struct place *at, const struct trc_step *step,
			  uint32_t thread, int64_t from_ns, int64_t to_ns)
{
	struct place creator = *at;

	if (waits_in_chain(c, step->on))
		return causes_add_alone(c, at, TRC_CAUSE_STARTING, thread, from_ns, to_ns);
	creator.hops++;
	creator.stack = step->stack;
	return explain_thread(c, &creator, step->on, from_ns, to_ns);
}

static int explain_step(struct trc_causes *c, const struct place *at, const struct trc_step *step,
			uint32_t thread, int64_t from_ns, int64_t to_ns)
{
	if (step->kind == TRC_CAUSE_STARTING && !step->born && !step->created)
		return explain_unborn(c, at, step, thread, from_ns, to_ns);
	if (step->kind == TRC_CAUSE_WAITING)
		return explain_wait(c, at, step->park, from_ns, to_ns);
	if (step->park) /* timeline:P1 */
		return causes_add_park(c, at, step->kind, step->park, from_ns, to_ns);
	return causes_add_active(c, at, step, thread, from_ns, to_ns);
}

static int seek(struct trc_causes *c, struct trc_step_cursor *cursor, const struct trc_thread *t,
		int64_t ts_ns)
{
	size_t i = (size_t)(t - c->steps.thread);
	int err = trc_step_seek_near(&c->steps, cursor, i, ts_ns, c->near[i]);

	if (!err)
		c->near[i] = cursor->piece;
	return err;
}

/* What the thread with this serial did. */
static int explain_thread(struct trc_causes *c, const struct place *at, uint32_t serial,
			  int64_t from_ns, int64_t to_ns)
{
	const struct trc_thread *t = serial ? trc_model_thread(c->steps.m, serial) : NULL;
	struct trc_step_cursor cursor;
	struct trc_step step;
	int err;

	if (from_ns >= to_ns)
		return 0;
	if (!t)
		return causes_add_alone(c, at, TRC_CAUSE_UNKNOWN, serial, from_ns, to_ns);
	if (at->depth > TRC_CAUSES_DEPTH_MAX || at->hops > TRC_CAUSES_DEPTH_MAX)
		return causes_add_alone(c, at, TRC_CAUSE_DEEP, serial, from_ns, to_ns);
	err = seek(c, &cursor, t, from_ns);
	while (from_ns < to_ns && !err) {
		trc_step_of_thread(&c->steps, &cursor, from_ns, &step);
		step.until_ns = trc_earlier_ns(step.until_ns, to_ns);
		err = explain_step(c, at, &step, serial, from_ns, step.until_ns);
		from_ns = step.until_ns;
	}
	return err;
}

/* ---- a wait ---- */

static bool is_in_chain(const struct trc_causes *c, uint32_t park)
{
	for (uint32_t i = 0; i < c->n_chain; i++)
		if (c->chain[i] == park)
			return true;
	return false;
}

/* timeline:P1: a part of the wait in which its own thread had no proc, or none of these. */
static int step_preempted(struct trc_causes *c, uint32_t park, int64_t ts_ns, struct trc_step *step)
{
	const struct trc_thread *t = trc_model_thread(c->steps.m, c->steps.park[park - 1].thread);
	struct trc_step_cursor cursor;
	struct trc_step own;
	int err;

	if (!t || !trc_wait_may_be_preempted(&c->steps.park[park - 1]))
		return 0;
	err = seek(c, &cursor, t, ts_ns);
	if (err)
		return err;
	trc_step_of_thread(&c->steps, &cursor, ts_ns, &own);
	step->until_ns = trc_earlier_ns(step->until_ns, own.until_ns);
	if (own.kind == TRC_CAUSE_PREEMPTED && own.park == park)
		step->kind = own.kind;
	return 0;
}

/* Below the row of the wait, in from_ns..to_ns. */
static int explain_pieces(struct trc_causes *c, struct place *below, uint32_t park, int64_t from_ns,
			  int64_t to_ns)
{
	struct trc_step_wait wait;
	struct trc_step step;
	int err = 0;

	trc_step_wait_begin(&c->steps, &wait, park, from_ns);
	while (from_ns < to_ns && !err) {
		trc_step_of_wait(&c->steps, &wait, from_ns, &step);
		err = step_preempted(c, park, from_ns, &step);
		step.until_ns = trc_earlier_ns(step.until_ns, to_ns);
		below->stack = step.stack;
		below->unlock = step.unlock;
		if (!err)
			err = step.kind == TRC_CAUSE_WAITING
				      ? explain_thread(c, below, step.on, from_ns, step.until_ns)
				      : causes_add_park(c, below, step.kind, park, from_ns,
							step.until_ns);
		from_ns = step.until_ns;
	}
	return err;
}

/* A wait whose only cause is the waiter's own state is that leaf itself; one of no length is one, too. */
static void fold_single(struct trc_causes *c, size_t i)
{
	struct trc_cause *row = (struct trc_cause *)c->rows.row + i;

	if (c->rows.n == i + 1) {
		row->kind = trc_step_kind_alone(&c->steps.park[row->park - 1]);
		row->leaf = true;
	} else if (c->rows.n == i + 2 && row[1].park == row->park && !row[1].unlock) {
		row->kind = row[1].kind;
		row->leaf = true;
		c->rows.n--;
	}
}

/* As far as it lies in from_ns..to_ns. */
static int explain_wait(struct trc_causes *c, const struct place *at, uint32_t park,
			int64_t from_ns, int64_t to_ns)
{
	struct place below = {.depth = at->depth + 1, .hops = at->hops};
	size_t i = c->rows.n;
	int64_t until_ns;
	int err;

	if (c->only_heads && !at->depth &&
	    trc_step_lock_of_part(&c->steps, park, from_ns, to_ns, &until_ns))
		return causes_add_park(c, at, TRC_CAUSE_WAITING, park, from_ns, to_ns);
	if (is_in_chain(c, park))
		return causes_add_park(c, at,
				       trc_step_kind_of_cycle(&c->steps, &c->steps.park[park - 1]),
				       park, from_ns, to_ns);
	if (at->depth >= TRC_CAUSES_DEPTH_MAX)
		return causes_add_park(c, at, TRC_CAUSE_DEEP, park, from_ns, to_ns);
	err = causes_add_park(c, at, TRC_CAUSE_WAITING, park, from_ns, to_ns);
	if (err)
		return err;
	below.parent = (uint32_t)c->rows.n;
	c->chain[c->n_chain++] = park;
	err = explain_pieces(c, &below, park, from_ns, to_ns);
	c->n_chain--;
	if (!err)
		fold_single(c, i);
	return err;
}

/* ---- what samples tell ---- */

static int64_t times_ns(int64_t ns, uint32_t times)
{
	return __builtin_mul_overflow(ns, (int64_t)times, &ns) ? INT64_MAX : ns;
}

/* The row was made of the same steps. */
int trc_causes_draws(struct trc_causes *c, const struct trc_cause *row, uint32_t times,
		     uint32_t group, struct trc_draws *draws)
{
	const struct trc_thread *t = trc_model_thread(c->steps.m, row->thread);
	int64_t at_ns = row->from_ns;
	struct trc_step_cursor cursor;
	struct trc_step step;
	int err = 0;

	if (!t || row->stack_of != TRC_CAUSE_STACK_SAMPLE || at_ns >= row->to_ns)
		return 0;
	err = trc_step_seek(&c->steps, &cursor, (size_t)(t - c->steps.thread), at_ns);
	while (!err && at_ns < row->to_ns) {
		trc_step_of_thread(&c->steps, &cursor, at_ns, &step);
		step.until_ns = trc_earlier_ns(step.until_ns, row->to_ns);
		if (step.sample)
			err = trc_draws_add(draws, group, step.sample,
					    times_ns(step.until_ns - at_ns, times));
		at_ns = step.until_ns;
	}
	return err;
}

int trc_causes_margins(struct trc_causes *c, void *rows, size_t n, size_t row_bytes)
{
	struct trc_draws draws = {0};
	double *margin = NULL;
	int err = 0;

	for (size_t i = 0; i < n && !err; i++)
		err = trc_causes_draws(c, (struct trc_cause *)((char *)rows + i * row_bytes), 1,
				       (uint32_t)i, &draws);
	if (!err && draws.rows.n) {
		margin = calloc(n, sizeof(*margin));
		err = margin ? trc_draws_margins(&draws, c->steps.m, NULL, n, margin) : -ENOMEM;
	}
	for (size_t i = 0; margin && i < n && !err; i++)
		((struct trc_cause *)((char *)rows + i * row_bytes))->margin_ns =
			trc_estimate_whole(margin[i]);
	trc_draws_free(&draws);
	free(margin);
	return err;
}

/* ---- what is asked for ---- */

static void causes_begin(struct trc_causes *c, uint32_t wait)
{
	c->rows.n = 0;
	c->wait = wait;
	c->n_chain = 0;
}

static int cause_find_instead(struct trc_causes *c, struct trc_cause *row)
{
	const struct trc_thread *t = trc_model_thread(c->steps.m, row->thread);
	struct trc_instead instead;
	int err = 0;

	if (!c->has_procs) {
		err = trc_on_procs_make(&c->procs, c->steps.m);
		if (err) {
			trc_on_procs_free(&c->procs);
			return err;
		}
		c->has_procs = true;
	}
	trc_on_procs_instead(
		&c->procs, trc_step_proc_of(&c->steps, (size_t)(t - c->steps.thread), row->from_ns),
		row->from_ns, row->to_ns, &instead);
	row->instead = instead.thread;
	row->instead_ns = instead.ns;
	return 0;
}

static int causes_finish(struct trc_causes *c, int err, const struct trc_cause **rows, size_t *n)
{
	struct trc_cause *row = c->rows.row;

	for (size_t i = 0; i < c->rows.n && !err; i++)
		if (row[i].kind == TRC_CAUSE_PREEMPTED)
			err = cause_find_instead(c, &row[i]);
	*rows = c->rows.row;
	*n = err ? 0 : c->rows.n;
	return err;
}

int trc_causes_of_wait(struct trc_causes *c, uint32_t park, const struct trc_cause **rows,
		       size_t *n)
{
	const struct trc_park *p = &c->steps.park[park - 1];
	int64_t from_ns = trc_park_start_ns(c->steps.m, p), to_ns = trc_park_end_ns(c->steps.m, p);
	const struct place top = {0};

	causes_begin(c, park);
	return causes_finish(c, explain_wait(c, &top, park, from_ns, to_ns), rows, n);
}

int trc_causes_of_part(struct trc_causes *c, uint32_t park, int64_t from_ns, int64_t to_ns,
		       bool of_others, const struct trc_cause **rows, size_t *n)
{
	const struct place top = {0};
	struct place below = {.parent = 1, .depth = 1};
	int err;

	causes_begin(c, park);
	if (!of_others)
		c->chain[c->n_chain++] = park;
	err = causes_add_park(c, &top, TRC_CAUSE_WAITING, park, from_ns, to_ns);
	if (!err)
		err = explain_pieces(c, &below, park, from_ns, to_ns);
	return causes_finish(c, err, rows, n);
}

const struct trc_steps *trc_causes_steps(const struct trc_causes *c)
{
	return &c->steps;
}

int trc_causes_of_thread(struct trc_causes *c, uint32_t thread, int64_t from_ns, int64_t to_ns,
			 const struct trc_cause **rows, size_t *n)
{
	const struct place top = {0};

	causes_begin(c, 0);
	return causes_finish(c, explain_thread(c, &top, thread, from_ns, to_ns), rows, n);
}

/* What of it lies within the trace. */
static int of_stretch(struct trc_causes *c, uint32_t thread, int64_t from_ns, int64_t to_ns,
		      const struct trc_cause **rows, size_t *n)
{
	int64_t start_ns = trc_model_start_ns(c->steps.m), end_ns = trc_model_end_ns(c->steps.m);

	if (from_ns == TRC_NEVER || from_ns < start_ns)
		from_ns = start_ns;
	if (to_ns == TRC_NEVER || to_ns > end_ns)
		to_ns = end_ns;
	return trc_causes_of_thread(c, thread, from_ns, to_ns, rows, n);
}

int trc_causes_of_task(struct trc_causes *c, const struct trc_task *task,
		       const struct trc_cause **rows, size_t *n)
{
	return of_stretch(c, task->end_thread ? task->end_thread : task->start_thread,
			  task->start_ns, task->end_ns, rows, n);
}

int trc_causes_heads_of_task(struct trc_causes *c, const struct trc_task *task,
			     const struct trc_cause **rows, size_t *n)
{
	int err;

	c->only_heads = true;
	err = trc_causes_of_task(c, task, rows, n);
	c->only_heads = false;
	return err;
}

int trc_causes_of_region(struct trc_causes *c, const struct trc_region *region,
			 const struct trc_cause **rows, size_t *n)
{
	return of_stretch(c, region->thread, region->start_ns, region->end_ns, rows, n);
}

static void work_add(struct trc_cause_work *work, int64_t from_ns, int64_t to_ns)
{
	int64_t ns;

	/* A damaged clock makes times that are farther apart than can be told. */
	if (__builtin_sub_overflow(to_ns, from_ns, &ns) ||
	    __builtin_add_overflow(work->ns, ns, &work->ns))
		work->ns = INT64_MAX;
	work->last_ns = to_ns;
}

int trc_causes_work(struct trc_causes *c, uint32_t thread, int64_t from_ns, int64_t to_ns,
		    struct trc_cause_work *work)
{
	const struct trc_thread *t = trc_model_thread(c->steps.m, thread);
	struct trc_step_cursor cursor;
	struct trc_step step;
	bool stirred = false;
	int err = 0;

	*work = (struct trc_cause_work){0, TRC_NEVER};
	if (!t)
		return 0;
	err = trc_step_seek(&c->steps, &cursor, (size_t)(t - c->steps.thread), from_ns);
	for (; !err && from_ns < to_ns; from_ns = step.until_ns) {
		trc_step_of_thread(&c->steps, &cursor, from_ns, &step);
		step.until_ns = trc_earlier_ns(step.until_ns, to_ns);
		if (step.kind != TRC_CAUSE_WAITING && step.kind != TRC_CAUSE_STARTING &&
		    step.kind != TRC_CAUSE_GONE)
			work_add(work, from_ns, step.until_ns);
		stirred |= step.kind != TRC_CAUSE_OFF;
	}
	if (!stirred)
		*work = (struct trc_cause_work){0, TRC_NEVER};
	return err;
}

int trc_causes_open(struct trc_causes **out, const struct trc_model *m)
{
	struct trc_causes *c = calloc(1, sizeof(*c));

	if (!c)
		return -ENOMEM;
	c->rows.row_bytes = sizeof(struct trc_cause);
	if (!trc_steps_open(&c->steps, m))
		c->near = calloc(c->steps.n_threads + 1, sizeof(*c->near));
	if (!c->near) {
		trc_causes_close(c);
		return -ENOMEM;
	}
	*out = c;
	return 0;
}

void trc_causes_swap(struct trc_causes *c, struct trc_array *rows)
{
	struct trc_array own = c->rows;

	c->rows = *rows;
	c->rows.row_bytes = sizeof(struct trc_cause);
	c->rows.n = 0;
	*rows = own;
}

void trc_causes_limit(struct trc_causes *c, size_t rows_max)
{
	c->rows_max = rows_max;
}

void trc_causes_close(struct trc_causes *c)
{
	if (!c)
		return;
	if (c->has_procs)
		trc_on_procs_free(&c->procs);
	trc_steps_close(&c->steps);
	free(c->near);
	trc_array_free(&c->rows);
	free(c);
}
