/* apply.c - see apply.h. */
#include "apply.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "analyzer/model/margin.h"
#include "near.h"

struct applying {
	const struct trc_changes *changes;
	struct trc_program *p;
	struct trc_applied *applied;
	uint8_t *lock_change;  /* by row of locks: number of the change + 1 */
	uint8_t *stack_change; /* by id of stacks, the same */
	size_t n_stacks;
	struct trc_by_thread samples;
	struct trc_array classes; /* struct sampled: between waits at the same two places */
	struct trc_index class_row;
	bool has_samples;
	bool again; /* a lock is changed by two changes, which have two names for it */
};

/* What is sampled, and how much of that is in each changed function. */
struct sampled {
	double all, in[TRC_CHANGES_MAX];
	uint64_t n;
};

/* So many samples between two waits say as much as those between other waits at these places. */
enum { SAMPLES_TRUSTED = 2 };

/* Ids of a damaged file may be any. */
static uint8_t change_of_stack(const struct applying *a, uint32_t stack)
{
	return stack < a->n_stacks ? a->stack_change[stack] : 0;
}

/* ---- names ---- */

/* With the name that is most like it, if there is one. */
static int change_no_such(struct trc_error *error, const struct trc_change *change,
			  const struct trc_near *near, const char *why)
{
	size_t n;

	snprintf(error->text, sizeof(error->text), "no %s %.200s%s",
		 change->kind == TRC_CHANGE_FUNCTION ? "function" : "lock", change->name, why);
	n = strlen(error->text);
	if (near->best)
		snprintf(error->text + n, sizeof(error->text) - n, "; is it %.100s?", near->best);
	return -ENOENT;
}

static void change_lock(struct applying *a, uint64_t address, size_t change)
{
	uint32_t row = trc_index_get(&a->p->sections.lock_row, address);

	if (row == TRC_INDEX_NONE)
		return;
	if (a->changes->change[change].kind == TRC_CHANGE_NO_LOCK) {
		a->applied->no_lock[row] = true;
		return;
	}
	a->again = a->again || (a->lock_change[row] && a->lock_change[row] != change + 1);
	a->lock_change[row] = (uint8_t)(change + 1);
}

static bool object_is_lock(const struct trc_object *object)
{
	return object->kind == TRC_REASON_MUTEX || object->kind == TRC_REASON_RWLOCK_READ ||
	       object->kind == TRC_REASON_SPIN || object->kind == TRC_REASON_FUTEX_LOCK ||
	       object->kind == TRC_REASON_SEM_LOCK;
}

/* A lock that was never waited for is no row of objects: "variable", "variable+offset". */
static bool has_name(const struct trc_model *m, uint64_t address, const char *name)
{
	uint64_t offset;
	const char *variable = trc_model_variable(m, address, 0, &offset);
	size_t n = variable ? strlen(variable) : 0;
	char *end;

	if (!variable || strncmp(name, variable, n) != 0)
		return false;
	if (!name[n])
		return !offset;
	return offset && name[n] == '+' && strtoull(name + n + 1, &end, 10) == offset && !*end;
}

static bool find_unwaited(struct applying *a, size_t change)
{
	const char *name = a->changes->change[change].name;
	const uint64_t *lock = a->p->sections.locks.row;
	bool found = false;
	char *end;
	uint64_t address = strncmp(name, "0x", 2) != 0 ? 0 : strtoull(name, &end, 16);

	if (address && !*end) {
		change_lock(a, address, change);
		return trc_index_get(&a->p->sections.lock_row, address) != TRC_INDEX_NONE;
	}
	for (size_t i = 0; i < a->p->sections.locks.n; i++) {
		if (!has_name(a->p->m, lock[i], name))
			continue;
		change_lock(a, lock[i], change);
		found = true;
	}
	return found;
}

static int find_lock(struct applying *a, size_t change, struct trc_error *error)
{
	const struct trc_change *c = &a->changes->change[change];
	bool found = false, other = false;
	size_t n;
	const struct trc_object *object = trc_model_objects(a->p->m, &n);
	struct trc_near near = trc_near_to(c->name);

	for (size_t i = 0; i < n; i++) {
		if (object_is_lock(&object[i]) && i < TRC_NEAR_NAMES)
			trc_near_add(&near, object[i].name);
		if (strcmp(object[i].name, c->name) != 0)
			continue;
		if (object_is_lock(&object[i]))
			change_lock(a, object[i].address, change);
		found = found || object_is_lock(&object[i]);
		other = other || !object_is_lock(&object[i]);
	}
	found = found || find_unwaited(a, change);
	if (a->again) {
		snprintf(error->text, sizeof(error->text),
			 "lock %.200s is changed already, by another name", c->name);
		return -EINVAL;
	}
	if (found)
		return 0;
	return change_no_such(
		error, c, &near,
		other ? ": what has this name is no lock"
		      : " in the trace; the report and the table objects have the names");
}

/* The name, or the name and its arguments. */
static bool is_function(const struct trc_frame *frame, const char *name)
{
	size_t n = strlen(name);

	return frame->function && !strncmp(frame->function, name, n) &&
	       (!frame->function[n] || frame->function[n] == '(');
}

static int find_function(struct applying *a, size_t change, struct trc_error *error)
{
	const struct trc_change *c = &a->changes->change[change];
	const struct trc_stacks *stacks = trc_model_stacks(a->p->m);
	bool *wanted = calloc(stacks->n_frames + 1, sizeof(*wanted)), found = false;
	struct trc_near near = trc_near_to(c->name);

	if (!wanted)
		return -ENOMEM;
	for (size_t i = 0; i < stacks->n_frames; i++)
		wanted[i + 1] = is_function(&stacks->frame[i], c->name);
	for (size_t i = 0; i < stacks->n_stacks; i++) {
		for (uint32_t f = stacks->stack_first[i]; f < stacks->stack_first[i + 1]; f++) {
			if (!wanted[stacks->stack_frame[f]])
				continue;
			a->stack_change[i] = (uint8_t)(change + 1);
			found = true;
		}
	}
	free(wanted);
	for (size_t i = 0; !found && i < stacks->n_frames && i < TRC_NEAR_NAMES; i++)
		trc_near_add(&near, stacks->frame[i].function);
	return found ? 0
		     : change_no_such(error, c, &near,
				      " in any stack of the trace; try trace-record -F 1000");
}

static int changes_find(struct applying *a, struct trc_error *error)
{
	size_t n;
	int err = 0;

	for (size_t i = 0; i < a->changes->n && !err; i++) {
		const struct trc_change *c = &a->changes->change[i];

		switch (c->kind) {
		case TRC_CHANGE_LOCK:
		case TRC_CHANGE_NO_LOCK:
			err = find_lock(a, i, error);
			break;
		case TRC_CHANGE_FUNCTION:
			err = find_function(a, i, error);
			a->applied->no_samples = !a->has_samples;
			break;
		case TRC_CHANGE_PROCS:
			a->applied->procs = c->procs;
			trc_model_on_cpu(a->p->m, &n);
			if (n)
				break;
			snprintf(error->text, sizeof(error->text),
				 "procs: the trace does not say when threads had a processor");
			err = -ENOENT;
			break;
		}
	}
	return err;
}

/* ---- samples ---- */

/* Operations between two waits, up to the second and with it. */
struct segment {
	size_t from, to;
	uint32_t stack, next_stack;
	int64_t from_ns, to_ns;
};

static uint32_t op_stack(const struct applying *a, const struct trc_op *op)
{
	return op->park ? a->p->waits.park[op->park - 1].stack : 0;
}

/* False behind the thread's last.  A zeroed one has `to` = the first operation. */
static bool next_segment(const struct applying *a, size_t end, struct segment *g)
{
	const struct trc_op *op = a->p->ops.row;

	if (g->to == end)
		return false;
	g->from = g->to;
	g->stack = g->next_stack;
	g->from_ns = g->to_ns;
	while (g->to < end && !op[g->to].park)
		g->to++;
	g->to_ns = op[g->to < end ? g->to : end - 1].ts_ns;
	g->next_stack = g->to < end ? op_stack(a, &op[g->to]) : 0;
	if (g->to < end)
		g->to++;
	return true;
}

/* NULL = no memory. */
static struct sampled *segment_class(struct applying *a, const struct segment *g)
{
	uint64_t key = (uint64_t)g->stack << 32 | g->next_stack;
	uint32_t row = trc_index_get(&a->class_row, key);

	if (row == TRC_INDEX_NONE) {
		row = (uint32_t)a->classes.n;
		if (!trc_array_add(&a->classes) || trc_index_put(&a->class_row, key, row))
			return NULL;
	}
	return (struct sampled *)a->classes.row + row;
}

static void sampled_add(struct sampled *sampled, const struct applying *a,
			const struct trc_sample *sample)
{
	uint8_t change = change_of_stack(a, sample->stack);

	if (!trc_model_is_clock_sample(a->p->m, sample))
		return;
	sampled->all += (double)sample->scaled;
	sampled->n++;
	if (!change)
		return;
	sampled->in[change - 1] += (double)sample->scaled;
}

/* Adds the thread's samples in this segment, from number *at on. */
static void add_segment(struct sampled *sampled, const struct applying *a, size_t thread,
			const struct segment *g, uint32_t *at)
{
	size_t n;
	const struct trc_sample *sample = trc_model_samples(a->p->m, &n);

	for (; *at < a->samples.first[thread + 1]; ++*at) {
		const struct trc_sample *s = &sample[a->samples.row[*at]];

		if (s->ts_ns > g->to_ns)
			return;
		sampled_add(sampled, a, s);
	}
}

static int count_samples(struct applying *a, size_t thread)
{
	uint32_t at = a->samples.first[thread], end = a->samples.first[thread + 1];
	struct segment g = {.to = a->p->first[thread], .to_ns = INT64_MIN};

	while (at < end && next_segment(a, a->p->first[thread + 1], &g)) {
		struct sampled *class = segment_class(a, &g);

		if (!class)
			return -ENOMEM;
		add_segment(class, a, thread, &g, &at);
	}
	return 0;
}

static int count_all_samples(struct applying *a)
{
	size_t n;
	const struct trc_sample *sample = trc_model_samples(a->p->m, &n);
	int err;

	a->classes.row_bytes = sizeof(struct sampled);
	for (size_t i = 0; i < n && !a->has_samples; i++)
		a->has_samples = trc_model_is_clock_sample(a->p->m, &sample[i]);
	err = trc_by_thread_make(&a->samples, a->p->m, sample, n, sizeof(*sample),
				 trc_thread_of_sample);
	return err;
}

/* ---- scaling ---- */

static int64_t ns_scaled(int64_t ns, double factor)
{
	double product = (double)ns * factor;

	return product < 9e18 ? (int64_t)product : INT64_MAX;
}

/* C2: which part of active time in this segment is in the function of the change. */
static double active_share(struct applying *a, const struct segment *g, const struct sampled *here,
			   size_t change)
{
	const struct sampled *class = segment_class(a, g);
	double share;

	if (!class || class->all <= 0)
		return change_of_stack(a, g->stack) == change + 1 &&
				       change_of_stack(a, g->next_stack) == change + 1
			       ? 1
			       : 0;
	share = class->in[change] / class->all;
	if (here->all <= 0)
		return share;
	return (here->in[change] / here->all * (double)here->n + share * SAMPLES_TRUSTED) /
	       (double)(here->n + SAMPLES_TRUSTED);
}

/* What active time becomes; *changed: which part of it takes another time than before. */
static double active_factor(struct applying *a, const struct segment *g, const struct sampled *here,
			    double *changed)
{
	double factor = 1;

	*changed = 0;
	for (size_t i = 0; i < a->changes->n; i++) {
		const struct trc_change *change = &a->changes->change[i];
		double share =
			change->kind == TRC_CHANGE_FUNCTION ? active_share(a, g, here, i) : 0;

		factor += share * (change->factor - 1);
		*changed += change->factor < 1 || change->factor > 1 ? share : 0;
	}
	return factor;
}

/* `changed`: which part of the time it is that the factor is due to. */
static void segment_scale(struct applying *a, int64_t *ns, double factor, double changed)
{
	if (factor < 1 || factor > 1)
		a->applied->changed_ns =
			trc_time_after(a->applied->changed_ns, ns_scaled(*ns, changed));
	*ns = ns_scaled(*ns, factor);
}

static double held_factor(const struct applying *a, const uint32_t *depth)
{
	double factor = 1;

	for (size_t i = 0; i < a->changes->n; i++)
		if (depth[i])
			factor *= a->changes->change[i].factor;
	return factor;
}

static void change_depth(const struct applying *a, const struct trc_op *op, uint32_t *depth)
{
	uint8_t change;

	if (op->kind != TRC_OP_ACQUIRE && op->kind != TRC_OP_RELEASE)
		return;
	change = a->lock_change[op->what];
	if (change && op->kind == TRC_OP_ACQUIRE)
		depth[change - 1]++;
	else if (change && depth[change - 1])
		depth[change - 1]--;
}

static void scale_op(struct applying *a, struct trc_op *op, double held, double active,
		     double changed)
{
	uint8_t change = change_of_stack(a, op_stack(a, op));
	bool whole = held < 1 || held > 1;

	segment_scale(a, &op->active_ns, held * active, whole ? 1 : changed);
	op->on_ns = ns_scaled(op->on_ns, held * active);
	op->off_ns = ns_scaled(op->off_ns, held * active);
	if (op->kind == TRC_OP_DELAY)
		segment_scale(a, &op->wait_ns,
			      change ? held * a->changes->change[change - 1].factor : held, 1);
}

static void scale_thread(struct applying *a, size_t thread)
{
	uint32_t at = a->samples.first[thread];
	struct trc_op *op = a->p->ops.row;
	struct segment g = {.to = a->p->first[thread], .to_ns = INT64_MIN};
	uint32_t depth[TRC_CHANGES_MAX] = {0};

	while (next_segment(a, a->p->first[thread + 1], &g)) {
		struct sampled here = {0};
		double active, changed;

		add_segment(&here, a, thread, &g, &at);
		active = active_factor(a, &g, &here, &changed);
		for (size_t i = g.from; i < g.to; i++) {
			scale_op(a, &op[i], held_factor(a, depth), active, changed);
			change_depth(a, &op[i], depth);
		}
	}
}

/* What the change's function has of each thread's samples, and all of them. */
static void applying_add_margins(const struct applying *a, size_t change, struct trc_margin *group,
				 struct trc_margin *all)
{
	size_t n;
	const struct trc_sample *sample = trc_model_samples(a->p->m, &n);

	for (size_t thread = 0; thread < a->p->waits.n_threads; thread++) {
		struct trc_margin_part in = {0}, whole = {0};

		for (uint32_t i = a->samples.first[thread]; i < a->samples.first[thread + 1]; i++) {
			const struct trc_sample *s = &sample[a->samples.row[i]];

			if (!trc_model_is_clock_sample(a->p->m, s))
				continue;
			trc_margin_part_add(&whole, s->scaled);
			if (change_of_stack(a, s->stack) == change + 1)
				trc_margin_part_add(&in, s->scaled);
		}
		trc_margin_add(group, &in, &whole);
		trc_margin_add(all, &whole, &whole);
		a->applied->n_sampled += in.n;
	}
}

static void note_samples(struct applying *a)
{
	struct trc_applied *applied = a->applied;

	for (size_t i = 0; i < a->changes->n; i++) {
		struct trc_margin group = {0}, all = {0};
		double margin;

		if (a->changes->change[i].kind != TRC_CHANGE_FUNCTION)
			continue;
		applying_add_margins(a, i, &group, &all);
		margin = group.value > 0 ? trc_margin_share(&group, &all) / group.value : 0;
		if (margin > applied->sampling_margin)
			applied->sampling_margin = margin;
	}
}

/* ---- all of it ---- */

static int apply_open(struct applying *a)
{
	size_t n_locks = a->p->sections.locks.n;

	a->n_stacks = trc_model_stacks(a->p->m)->n_stacks;
	a->applied->no_lock = calloc(n_locks + 1, sizeof(bool));
	a->lock_change = calloc(n_locks + 1, sizeof(*a->lock_change));
	a->stack_change = calloc(a->n_stacks + 1, sizeof(*a->stack_change));
	if (!a->applied->no_lock || !a->lock_change || !a->stack_change)
		return -ENOMEM;
	return count_all_samples(a);
}

int trc_changes_apply(struct trc_applied *applied, const struct trc_changes *changes,
		      struct trc_program *p, struct trc_error *error)
{
	struct applying a = {.changes = changes, .p = p, .applied = applied};
	int err;

	*applied = (struct trc_applied){0};
	err = apply_open(&a);
	if (!err)
		err = changes_find(&a, error);
	for (size_t i = 0; i < p->waits.n_threads && !err; i++)
		err = count_samples(&a, i);
	for (size_t i = 0; i < p->waits.n_threads && !err; i++)
		scale_thread(&a, i);
	if (!err)
		note_samples(&a);
	free(a.lock_change);
	free(a.stack_change);
	trc_by_thread_free(&a.samples);
	trc_array_free(&a.classes);
	trc_index_free(&a.class_row);
	if (err && !*error->text)
		snprintf(error->text, sizeof(error->text), "what if: out of memory");
	return err;
}

void trc_applied_free(struct trc_applied *applied)
{
	free(applied->no_lock);
}
