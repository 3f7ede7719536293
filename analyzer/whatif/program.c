/* program.c - see program.h. */
#include "program.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include "analyzer/model/order.h"
#include "turns.h"

int64_t trc_time_between(int64_t from_ns, int64_t to_ns)
{
	int64_t ns;

	if (to_ns <= from_ns)
		return 0;
	return __builtin_sub_overflow(to_ns, from_ns, &ns) ? INT64_MAX : ns;
}

int64_t trc_time_after(int64_t ns, int64_t more_ns)
{
	int64_t sum;

	return __builtin_add_overflow(ns, more_ns, &sum) ? INT64_MAX : sum;
}

/* ---- operations ---- */

static struct trc_op *op_add(struct trc_program *p, enum trc_op_kind kind, size_t thread,
			     int64_t ts_ns)
{
	struct trc_op *op = trc_array_add(&p->ops);

	if (op)
		*op = (struct trc_op){.ts_ns = ts_ns, .thread = (uint32_t)thread, .kind = kind};
	return op;
}

/* When a thread told others something: it was in no wait then, so not after the next one's begin. */
static int64_t told_ns(const struct trc_program *p, uint32_t serial, int64_t ts_ns)
{
	uint32_t wait = trc_outer_wait_at(&p->waits, serial, ts_ns);

	return wait ? p->waits.park[wait - 1].start_ns : ts_ns;
}

/* The thread tells the next moment at that time. */
static int program_tell(struct trc_program *p, uint32_t serial, int64_t ts_ns)
{
	struct trc_op *op = op_add(p, TRC_OP_TELL, trc_outer_waits_row(&p->waits, serial), ts_ns);

	if (!op)
		return -ENOMEM;
	op->what = p->n_moments;
	return 0;
}

static int await(struct trc_program *p, enum trc_op_kind kind, size_t thread, int64_t ts_ns,
		 int64_t wait_ns, uint32_t park)
{
	struct trc_op *op = op_add(p, kind, thread, ts_ns);

	if (!op)
		return -ENOMEM;
	op->what = p->n_moments++;
	op->wait_ns = wait_ns;
	op->park = park;
	return 0;
}

/* ---- locks ---- */

/* From the unlock that ended it; the whole, if the unlock was before. */
static int64_t woken_ns(const struct trc_park *park)
{
	if (park->wake_ns == TRC_NEVER || park->wake_ns < park->start_ns)
		return trc_time_between(park->start_ns, park->end_ns);
	return trc_time_between(park->wake_ns, park->end_ns);
}

/* taken[] is set for each wait that has become an ACQUIRE.  One that no unlock explains is a DELAY as well,
 * and the ACQUIRE comes behind it. */
static int program_add_section(struct trc_program *p, const struct trc_section *section,
			       bool *taken)
{
	const struct trc_park *park = section->park ? &p->waits.park[section->park - 1] : NULL;
	size_t thread = trc_outer_waits_row(&p->waits, section->thread);
	bool explained = park && park->unlock;
	int64_t from_ns = explained ? park->start_ns : section->begin_ns;
	struct trc_op *op;

	if (thread == SIZE_MAX || section->end_ns <= from_ns ||
	    (park && p->waits.outer[section->park - 1]))
		return 0;
	op = op_add(p, TRC_OP_ACQUIRE, thread, from_ns);
	if (!op)
		return -ENOMEM;
	op->what = section->lock;
	op->reader = section->reader;
	op->tried = section->tried;
	op->park = explained ? section->park : 0;
	op->wait_ns = explained ? woken_ns(park) : -1;
	if (explained)
		taken[section->park - 1] = true;
	op = op_add(p, TRC_OP_RELEASE, thread, section->end_ns);
	if (!op)
		return -ENOMEM;
	op->what = section->lock;
	op->reader = section->reader;
	return 0;
}

static int program_add_sections(struct trc_program *p, bool *taken)
{
	const struct trc_section *section = p->sections.sections.row;
	int err = 0;

	for (size_t i = 0; i < p->sections.sections.n && !err; i++)
		err = program_add_section(p, &section[i], taken);
	return err;
}

/* ---- other waits ---- */

static bool other_ended(const struct trc_program *p, const struct trc_park *park)
{
	return park->waker && park->waker != park->thread && park->wake_ns != TRC_NEVER &&
	       !park->result && park->wake_ns <= park->end_ns &&
	       !trc_reason_is_lock(park->reason) &&
	       trc_outer_waits_row(&p->waits, park->waker) != SIZE_MAX;
}

static int add_delay(struct trc_program *p, size_t thread, uint32_t id)
{
	const struct trc_park *park = &p->waits.park[id - 1];
	int64_t ns = trc_time_between(park->start_ns, trc_park_end_ns(p->m, park));
	struct trc_op *op = op_add(p, TRC_OP_DELAY, thread, park->start_ns);

	if (!op)
		return -ENOMEM;
	op->wait_ns = ns;
	op->park = id;
	if (trc_wait_class(park->reason) <= TRC_WAIT_THREADS && park->result <= 0) {
		p->n_kept++;
		p->kept_ns = trc_time_after(p->kept_ns, ns);
	}
	return 0;
}

static int program_add_wait(struct trc_program *p, uint32_t id, bool taken)
{
	const struct trc_park *park = &p->waits.park[id - 1];
	size_t thread = trc_outer_waits_row(&p->waits, park->thread);
	struct trc_op *op;
	int err;

	if (thread == SIZE_MAX || p->waits.outer[id - 1])
		return 0;
	if (park->flags & TRC_PARK_OPEN || park->end_ns == TRC_NEVER) {
		op = op_add(p, TRC_OP_STOP, thread, park->start_ns);
		if (op)
			op->park = id;
		return op ? 0 : -ENOMEM;
	}
	if (taken)
		return 0;
	if (!other_ended(p, park))
		return add_delay(p, thread, id);
	err = program_tell(p, park->waker, told_ns(p, park->waker, park->wake_ns));
	return err ? err : await(p, TRC_OP_AWAIT, thread, park->start_ns, woken_ns(park), id);
}

static int program_add_waits(struct trc_program *p, const bool *taken)
{
	int err = 0;

	for (size_t i = 0; i < p->waits.n_parks && !err; i++)
		err = program_add_wait(p, (uint32_t)i + 1, taken[i]);
	return err;
}

/* ---- threads ---- */

/* Where the trace has the thread from. */
static int64_t thread_from_ns(const struct trc_program *p, const struct trc_thread *t)
{
	int64_t start_ns = trc_model_start_ns(p->m);

	return t->start_ns != TRC_NEVER && t->start_ns > start_ns ? t->start_ns : start_ns;
}

static int program_add_thread(struct trc_program *p, size_t row)
{
	const struct trc_thread *t = &p->waits.thread[row];
	int64_t from_ns = thread_from_ns(p, t), at_ns;
	int err;

	p->begin_ns[row] = from_ns;
	if (!op_add(p, TRC_OP_LAST, row, INT64_MAX)) /* it is sorted behind all others */
		return -ENOMEM;
	if (t->start_ns == TRC_NEVER || t->creator == t->serial ||
	    trc_outer_waits_row(&p->waits, t->creator) == SIZE_MAX)
		return 0;
	p->begin_ns[row] = trc_model_start_ns(p->m);
	at_ns = told_ns(p, t->creator, t->start_ns);
	err = program_tell(p, t->creator, at_ns);
	return err ? err
		   : await(p, TRC_OP_AWAIT_START, row, INT64_MIN, trc_time_between(at_ns, from_ns),
			   0);
}

static int program_add_threads(struct trc_program *p)
{
	int err = 0;

	p->begin_ns = calloc(p->waits.n_threads + 1, sizeof(*p->begin_ns));
	if (!p->begin_ns)
		return -ENOMEM;
	for (size_t i = 0; i < p->waits.n_threads && !err; i++)
		err = program_add_thread(p, i);
	return err;
}

/* ---- tasks ---- */

/* Of each task the first region on the thread that ended it. */
static int find_touches(const struct trc_program *p, int64_t *touch_ns)
{
	size_t n_tasks, n_regions;
	const struct trc_task *task = trc_model_tasks(p->m, &n_tasks);
	const struct trc_region *region = trc_model_regions(p->m, &n_regions);
	struct trc_index rows = {0};
	int err = 0;

	for (size_t i = 0; i < n_tasks && !err; i++) {
		touch_ns[i] = task[i].end_ns;
		err = trc_index_put(&rows, task[i].task, (uint32_t)i);
	}
	for (size_t i = 0; i < n_regions && !err; i++) {
		uint32_t row = trc_index_get(&rows, region[i].task);

		if (region[i].task && row != TRC_INDEX_NONE && region[i].start_ns != TRC_NEVER &&
		    region[i].thread == task[row].end_thread && region[i].start_ns < touch_ns[row])
			touch_ns[row] = region[i].start_ns;
	}
	trc_index_free(&rows);
	return err;
}

/* B6.  before_ns: where the thread ended the task before. */
static int add_pick_up(struct trc_program *p, const struct trc_task *task, int64_t before_ns,
		       int64_t touch_ns)
{
	int64_t at_ns = before_ns < touch_ns ? before_ns : touch_ns;
	int err;

	if (task->start_thread == task->end_thread || task->start_ns == TRC_NEVER)
		return 0;
	if (at_ns < task->start_ns)
		at_ns = task->start_ns;
	err = program_tell(p, task->start_thread, task->start_ns);
	return err ? err
		   : await(p, TRC_OP_AWAIT_TASK, trc_outer_waits_row(&p->waits, task->end_thread),
			   at_ns, 0, 0);
}

static int add_mark(struct trc_program *p, enum trc_op_kind kind, uint32_t serial, int64_t ts_ns,
		    size_t task)
{
	size_t thread = trc_outer_waits_row(&p->waits, serial);
	struct trc_op *op;

	if (thread == SIZE_MAX || ts_ns == TRC_NEVER)
		return 0;
	op = op_add(p, kind, thread, ts_ns);
	if (!op)
		return -ENOMEM;
	op->what = (uint32_t)task;
	return 0;
}

/* key: tasks that have ended, by their ends. */
static int add_ends(struct trc_program *p, const struct trc_key *key, size_t n,
		    const int64_t *touch_ns, int64_t *before_ns)
{
	size_t n_tasks;
	const struct trc_task *task = trc_model_tasks(p->m, &n_tasks);
	int err = 0;

	for (size_t i = 0; i < n && !err; i++) {
		const struct trc_task *t = &task[key[i].row];
		size_t end = trc_outer_waits_row(&p->waits, t->end_thread);

		if (end == SIZE_MAX)
			continue;
		if (trc_outer_waits_row(&p->waits, t->start_thread) != SIZE_MAX)
			err = add_pick_up(p, t, before_ns[end], touch_ns[key[i].row]);
		before_ns[end] = t->end_ns;
		if (!err)
			err = add_mark(p, TRC_OP_END, t->end_thread, t->end_ns, key[i].row);
	}
	return err;
}

static int program_add_tasks(struct trc_program *p)
{
	size_t n_tasks, n = 0;
	const struct trc_task *task = trc_model_tasks(p->m, &n_tasks);
	struct trc_key *key = calloc(n_tasks + 1, 2 * sizeof(*key));
	int64_t *touch_ns = calloc(n_tasks + 1, sizeof(*touch_ns));
	int64_t *before_ns = calloc(p->waits.n_threads + 1, sizeof(*before_ns));
	int err = key && touch_ns && before_ns ? find_touches(p, touch_ns) : -ENOMEM;

	for (size_t i = 0; i < n_tasks && !err; i++) {
		err = add_mark(p, TRC_OP_BEGIN, task[i].start_thread, task[i].start_ns, i);
		if (task[i].end_ns != TRC_NEVER)
			key[n++] = (struct trc_key){task[i].end_ns, (uint32_t)i};
	}
	for (size_t i = 0; i < p->waits.n_threads && !err; i++)
		before_ns[i] = INT64_MIN;
	if (!err) {
		trc_keys_sort(key, key + n, n);
		err = add_ends(p, key, n, touch_ns, before_ns);
	}
	free(key);
	free(touch_ns);
	free(before_ns);
	return err;
}

/* ---- by thread ---- */

/* ops: from by time to by thread. */
static int sort_ops(struct trc_program *p)
{
	size_t n = p->waits.n_threads;
	const struct trc_op *op;
	struct trc_op *sorted;

	if (trc_array_sort(&p->ops, offsetof(struct trc_op, ts_ns), offsetof(struct trc_op, kind)))
		return -ENOMEM;
	p->first = calloc(n + 2, sizeof(*p->first));
	sorted = calloc(p->ops.n + 1, sizeof(*sorted));
	op = p->ops.row;
	if (!p->first || !sorted) {
		free(sorted);
		return -ENOMEM;
	}
	for (size_t i = 0; i < p->ops.n; i++)
		p->first[op[i].thread + 2]++;
	for (size_t i = 0; i < n; i++)
		p->first[i + 2] += p->first[i + 1];
	for (size_t i = 0; i < p->ops.n; i++)
		sorted[p->first[op[i].thread + 1]++] = op[i];
	free(p->ops.row);
	p->ops.row = sorted;
	p->ops.capacity = p->ops.n + 1;
	return 0;
}

/* A thread's time on procs, gone through once. */
struct procs_cursor {
	const struct trc_on_cpu *on_cpu;
	const struct trc_by_thread *by;
	int64_t switches_ns;
	uint32_t at, end;
	bool preempted; /* by what it was taken off last; also before it ran at all */
};

/* How from_ns..op->ts_ns was spent; from_ns does not go back. */
static void split_active(struct trc_op *op, struct procs_cursor *c, int64_t from_ns)
{
	int64_t to_ns = op->ts_ns, at_ns = from_ns;

	op->on_ns = op->active_ns;
	if (from_ns >= to_ns || from_ns < c->switches_ns || c->at == c->end)
		return;
	op->on_ns = 0;
	for (; c->at < c->end; c->at++) {
		const struct trc_on_cpu *on = &c->on_cpu[c->by->row[c->at]];
		int64_t end_ns = on->end_ns == TRC_NEVER ? INT64_MAX : on->end_ns;
		int64_t on_from_ns = on->start_ns > at_ns ? on->start_ns : at_ns;
		int64_t on_to_ns = end_ns < to_ns ? end_ns : to_ns;

		if (on_from_ns > to_ns)
			break;
		if (!c->preempted)
			op->off_ns += trc_time_between(at_ns, on_from_ns);
		op->on_ns += trc_time_between(on_from_ns, on_to_ns);
		at_ns = on_to_ns > at_ns ? on_to_ns : at_ns;
		c->preempted = true;
		if (end_ns > to_ns)
			return;
		c->preempted = on->preempted;
	}
	if (!c->preempted)
		op->off_ns += trc_time_between(at_ns, to_ns);
}

/* When the thread was last seen, but not before now_ns. */
static int64_t thread_last_ns(const struct trc_thread *t, int64_t now_ns)
{
	int64_t last_ns = t->end_ns != TRC_NEVER ? t->end_ns : t->last_ns;

	return last_ns != TRC_NEVER && last_ns > now_ns ? last_ns : now_ns;
}

/* B6: who holds a lock, perhaps that of the queue, gives it up to wait for a task, and is in a wait then that
 * the trace has. */
static void drop_if_held(struct trc_op *op, uint32_t *n_held)
{
	if (op->kind == TRC_OP_ACQUIRE)
		++*n_held;
	else if (op->kind == TRC_OP_RELEASE && *n_held)
		--*n_held;
	else if (op->kind == TRC_OP_AWAIT_TASK && *n_held)
		op->kind = TRC_OP_TELL; /* which nobody awaits now */
}

static void measure_thread(struct trc_program *p, size_t thread, struct procs_cursor *c)
{
	const struct trc_thread *t = &p->waits.thread[thread];
	struct trc_op *op = p->ops.row;
	int64_t now_ns = thread_from_ns(p, t);
	uint32_t n_held = 0;

	c->at = c->by->first[thread];
	c->end = c->by->first[thread + 1];
	c->preempted = true;
	for (size_t i = p->first[thread]; i < p->first[thread + 1]; i++) {
		int64_t end_ns;

		drop_if_held(&op[i], &n_held);
		if (op[i].kind == TRC_OP_LAST)
			op[i].ts_ns = thread_last_ns(t, now_ns);
		end_ns = op[i].ts_ns;
		op[i].active_ns = trc_time_between(now_ns, op[i].ts_ns);
		split_active(&op[i], c, now_ns);
		if (op[i].park)
			end_ns = trc_park_end_ns(p->m, &p->waits.park[op[i].park - 1]);
		now_ns = end_ns > now_ns ? end_ns : now_ns;
	}
}

static int measure_active(struct trc_program *p)
{
	struct trc_by_thread by = {0};
	struct procs_cursor c = {.by = &by, .switches_ns = trc_model_switches_from_ns(p->m)};
	size_t n;
	int err;

	c.on_cpu = trc_model_on_cpu(p->m, &n);
	err = trc_by_thread_make(&by, p->m, c.on_cpu, n, sizeof(*c.on_cpu), trc_thread_of_on_cpu);
	for (size_t i = 0; i < p->waits.n_threads && !err; i++)
		measure_thread(p, i, &c);
	trc_by_thread_free(&by);
	return err;
}

/* B7. */
static int measure_wakes(struct trc_program *p)
{
	const struct trc_op *op = p->ops.row;
	int64_t *ns = calloc(p->ops.n + 1, sizeof(*ns));
	size_t n = 0;

	if (!ns)
		return -ENOMEM;
	for (size_t i = 0; i < p->ops.n; i++)
		if ((op[i].kind == TRC_OP_ACQUIRE || op[i].kind == TRC_OP_AWAIT) &&
		    op[i].wait_ns >= 0)
			ns[n++] = op[i].wait_ns;
	qsort(ns, n, sizeof(*ns), trc_compare_ns);
	p->wake_ns = n ? ns[n / 2] : 0;
	p->wake_low_ns = n ? ns[n / 4] : 0;
	free(ns);
	return 0;
}

/* ---- all of it ---- */

static int make_ops(struct trc_program *p)
{
	bool *taken = calloc(p->waits.n_parks + 1, sizeof(*taken));
	int err = taken ? program_add_sections(p, taken) : -ENOMEM;

	if (!err)
		err = program_add_waits(p, taken);
	free(taken);
	if (!err)
		err = program_add_threads(p);
	if (!err)
		err = program_add_tasks(p);
	if (!err)
		err = sort_ops(p);
	if (!err)
		err = measure_active(p);
	return err ? err : measure_wakes(p);
}

int trc_program_make(struct trc_program *p, const struct trc_model *m, bool assume,
		     struct trc_error *error)
{
	int err;

	*p = (struct trc_program){.m = m, .ops = {.row_bytes = sizeof(struct trc_op)}};
	err = trc_outer_waits_open(&p->waits, m);
	if (!err)
		err = trc_sections_make(&p->sections, &p->waits, assume, error);
	if (!err)
		err = make_ops(p);
	if (!err)
		err = trc_turn_measure(&p->turn_ns, m);
	if (err && !*error->text)
		snprintf(error->text, sizeof(error->text), "what if: out of memory");
	return err;
}

void trc_program_free(struct trc_program *p)
{
	trc_array_free(&p->ops);
	free(p->first);
	free(p->begin_ns);
	trc_sections_free(&p->sections);
	trc_outer_waits_close(&p->waits);
}
