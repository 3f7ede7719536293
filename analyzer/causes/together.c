/* together.c - see together.h. */
#include "together.h"

#include <errno.h>
#include <stdlib.h>
#include "steps.h"
#include "analyzer/model/waits.h"

/* A wait; up to until_ns the lock tells what it is for. */
struct member {
	const struct trc_steps_lock *lock; /* NULL = it is derived alone (T1) */
	int64_t from_ns, until_ns, to_ns;
	uint32_t park, i; /* id in parks; place in what was asked for */
	bool marked;
	uint8_t reason;
	uint32_t alone_in; /* the last step that is derived for it alone */
};

struct end {
	int64_t until_ns;
	bool marked;
};

/* T1: what is derived for one wait alone, beside the others of its group. */
struct part {
	size_t member;
	int64_t from_ns, to_ns;
};

struct trc_together {
	struct trc_causes *causes;
	const struct trc_steps *steps;
	struct member *member; /* by lock, reason and begin, once they are sorted */
	size_t n;
	struct trc_array ends;	 /* struct end: of the group, by time */
	struct trc_array parts;	 /* struct part: of the step */
	struct trc_array shared; /* struct trc_cause: of the step */
	struct trc_array times;	 /* struct trc_cause_times: of rows that are handed on */
	uint32_t *member_of;	 /* by id in parks: index + 1 */
	size_t *begun;		 /* of the group: members, not all that have ended */
	uint32_t n_steps;
	size_t n_rows, rows_max;
	trc_together_fn *add;
	void *context;
};

/* Those that wait for one lock, in the same way: members first..end. */
struct group {
	size_t first, end;
	size_t next, next_end;		/* of them the first that has not begun; of t->ends */
	size_t n_begun;			/* in t->begun */
	struct trc_cause_times waiting; /* have begun, and not ended */
	struct trc_cause_times alone;	/* of these, in this step alone */
	size_t longest, of_marked;	/* index + 1 of who waits longest; 0 = none has begun */
	int64_t now_ns, to_ns;		/* the step */
	uint32_t next_unlock;
};

/* ---- which waits are derived together ---- */

static void member_of_part(const struct trc_steps *s, const struct trc_together_part *part,
			   struct member *member)
{
	*member = (struct member){.park = part->park,
				  .reason = s->park[part->park - 1].reason,
				  .from_ns = part->from_ns,
				  .to_ns = part->to_ns};
	member->lock =
		trc_step_lock_of_part(s, part->park, part->from_ns, part->to_ns, &member->until_ns);
}

static int member_compare(const void *a, const void *b)
{
	const struct member *x = a, *y = b;

	if (x->lock != y->lock)
		return (x->lock > y->lock) - (x->lock < y->lock);
	if (x->lock && x->reason != y->reason)
		return (x->reason > y->reason) - (x->reason < y->reason);
	if (x->lock && x->from_ns != y->from_ns)
		return (x->from_ns > y->from_ns) - (x->from_ns < y->from_ns);
	return (x->i > y->i) - (x->i < y->i);
}

static int cause_compare_ends(const void *a, const void *b)
{
	const struct end *x = a, *y = b;

	return (x->until_ns > y->until_ns) - (x->until_ns < y->until_ns);
}

int trc_together_open_parts(struct trc_together **out, struct trc_causes *causes,
			    const struct trc_together_part *part, size_t n)
{
	struct trc_together *t = calloc(1, sizeof(*t));

	if (!t)
		return -ENOMEM;
	t->causes = causes;
	t->steps = trc_causes_steps(causes);
	t->n = n;
	t->ends.row_bytes = sizeof(struct end);
	t->parts.row_bytes = sizeof(struct part);
	t->shared.row_bytes = sizeof(struct trc_cause);
	t->times.row_bytes = sizeof(struct trc_cause_times);
	t->member = calloc(n + 1, sizeof(*t->member));
	t->member_of = calloc(t->steps->n_parks + 1, sizeof(*t->member_of));
	t->begun = calloc(n + 1, sizeof(*t->begun));
	if (!t->member || !t->member_of || !t->begun) {
		trc_together_close(t);
		return -ENOMEM;
	}
	for (size_t i = 0; i < n; i++) {
		member_of_part(t->steps, &part[i], &t->member[i]);
		t->member[i].i = (uint32_t)i;
		/* Only one part of a wait is found by its id. */
		if (t->member_of[part[i].park]++)
			t->member[i].lock = NULL;
	}
	*out = t;
	return 0;
}

int trc_together_open(struct trc_together **out, struct trc_causes *causes, const uint32_t *park,
		      size_t n)
{
	const struct trc_steps *s = trc_causes_steps(causes);
	struct trc_together_part *part = calloc(n + 1, sizeof(*part));
	int err;

	if (!part)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		const struct trc_park *p = &s->park[park[i] - 1];

		part[i] = (struct trc_together_part){park[i], trc_park_start_ns(s->m, p),
						     trc_park_end_ns(s->m, p)};
	}
	err = trc_together_open_parts(out, causes, part, n);
	free(part);
	return err;
}

void trc_together_close(struct trc_together *t)
{
	if (!t)
		return;
	trc_array_free(&t->ends);
	trc_array_free(&t->parts);
	trc_array_free(&t->shared);
	trc_array_free(&t->times);
	free(t->member);
	free(t->member_of);
	free(t->begun);
	free(t);
}

int trc_together_head(struct trc_together *t, size_t i, struct trc_cause *head)
{
	const struct member *member = &t->member[i];
	const struct trc_cause *row;
	size_t n;
	int err = member->lock ? trc_causes_of_part(t->causes, member->park, member->from_ns,
						    member->from_ns, false, &row, &n)
			       : trc_causes_of_wait(t->causes, member->park, &row, &n);

	if (err)
		return err;
	*head = row[0];
	head->to_ns = member->to_ns;
	return 0;
}

void trc_together_mark(struct trc_together *t, size_t i)
{
	t->member[i].marked = true;
}

/* ---- rows ---- */

static int together_rows_add(struct trc_together *t, const struct trc_cause *row, size_t n)
{
	t->n_rows += n;
	if (t->n_rows > t->rows_max)
		return -E2BIG;
	return t->add(t->context, row, t->times.row, n);
}

/* The same of n rows. */
static int times_set(struct trc_together *t, size_t n, struct trc_cause_times times)
{
	t->times.n = 0;
	for (size_t i = 0; i < n; i++) {
		struct trc_cause_times *row = trc_array_add(&t->times);

		if (!row)
			return -ENOMEM;
		*row = times;
	}
	return 0;
}

/* T1: those of one wait, a part of it or all. */
static int together_add_alone(struct trc_together *t, const struct member *member,
			      const struct trc_cause *row, size_t n)
{
	int err = times_set(t, n, (struct trc_cause_times){1, member->marked});

	return err ? err : together_rows_add(t, row, n);
}

static int part_alone(struct trc_together *t, const struct member *member, int64_t from_ns,
		      int64_t to_ns)
{
	const struct trc_cause *row;
	size_t n;
	int err;

	if (from_ns >= to_ns)
		return 0;
	err = trc_causes_of_part(t->causes, member->park, from_ns, to_ns, false, &row, &n);
	return err ? err : together_add_alone(t, member, row, n);
}

static int whole_alone(struct trc_together *t, const struct member *member)
{
	const struct trc_park *p = &t->steps->park[member->park - 1];
	const struct trc_cause *row;
	size_t n;
	int err;

	if (member->from_ns != trc_park_start_ns(t->steps->m, p) ||
	    member->to_ns != trc_park_end_ns(t->steps->m, p))
		return part_alone(t, member, member->from_ns, member->to_ns);
	err = trc_causes_of_wait(t->causes, member->park, &row, &n);
	return err ? err : together_add_alone(t, member, row, n);
}

/* ---- a step of the lock: nobody has it, or a thread ---- */

static int together_copy_rows(struct trc_together *t, const struct trc_cause *row, size_t n)
{
	t->shared.n = 0;
	for (size_t i = 0; i < n; i++) {
		struct trc_cause *copy = trc_array_add(&t->shared);

		if (!copy)
			return -ENOMEM;
		*copy = row[i];
	}
	return times_set(t, n, (struct trc_cause_times){0, 0});
}

static void cause_times_count(struct trc_cause_times *times, const struct member *member)
{
	times->n++;
	times->n_marked += member->marked;
}

static int part_add(struct trc_together *t, size_t i, int64_t from_ns, int64_t to_ns)
{
	struct part *part = trc_array_add(&t->parts);

	if (!part)
		return -ENOMEM;
	*part = (struct part){i, from_ns, to_ns};
	return 0;
}

/* If it waits in this step, what the step's rows say is not of it. */
static int set_alone(struct trc_together *t, struct group *g, size_t i)
{
	struct member *member = &t->member[i];
	bool begun = i < g->next;

	if (i < g->first || i >= g->end || member->alone_in == t->n_steps ||
	    member->from_ns >= g->to_ns || member->until_ns <= g->now_ns)
		return 0;
	member->alone_in = t->n_steps;
	if (begun)
		cause_times_count(&g->alone, member);
	return part_add(t, i, member->from_ns > g->now_ns ? member->from_ns : g->now_ns, g->to_ns);
}

/* All that wait in this step. */
static int set_all_alone(struct trc_together *t, struct group *g)
{
	size_t n = g->n_begun;
	int err = 0;

	g->n_begun = 0;
	for (size_t i = 0; i < n && !err; i++) {
		if (t->member[t->begun[i]].until_ns <= g->now_ns)
			continue;
		err = set_alone(t, g, t->begun[i]);
		t->begun[g->n_begun++] = t->begun[i];
	}
	for (size_t i = g->next; i < g->end && t->member[i].from_ns < g->to_ns && !err; i++)
		err = set_alone(t, g, i);
	return err;
}

/* Those that are in the chain themselves.  A creator of a thread that is to come is in it by its own wait. */
static int set_chain_alone(struct trc_together *t, struct group *g)
{
	const struct trc_cause *row = t->shared.row;
	bool lost = false;
	int err = 0;

	for (size_t i = 1; i < t->shared.n && !err; i++) {
		uint32_t of = row[i].park ? t->member_of[row[i].park] : 0;
		bool own = row[i].depth == 1 && !row[i].unlock && row[i].park == row[0].park;

		lost |= own && row[i].kind != TRC_CAUSE_FREE;
		if (of && !own)
			err = set_alone(t, g, of - 1);
	}
	/* Here it is told which threads waited. */
	return lost && !err ? set_all_alone(t, g) : err;
}

static void begin_next(struct trc_together *t, struct group *g)
{
	const size_t i = g->next++;
	const struct member *member = &t->member[i];

	if (!g->longest || member->until_ns > t->member[g->longest - 1].until_ns)
		g->longest = i + 1;
	if (member->marked &&
	    (!g->of_marked || member->until_ns > t->member[g->of_marked - 1].until_ns))
		g->of_marked = i + 1;
	t->begun[g->n_begun++] = i;
	cause_times_count(&g->waiting, member);
	if (member->alone_in == t->n_steps)
		cause_times_count(&g->alone, member);
}

/* Those that begin before this time have the rows from until_ns on; before that they are alone. */
static int begin_late(struct trc_together *t, struct group *g, int64_t before_ns, int64_t until_ns)
{
	int err = 0;

	while (g->next < g->end && t->member[g->next].from_ns < before_ns && !err) {
		struct member *member = &t->member[g->next];

		/* The rows' head is not marked. */
		if (member->marked && !((struct trc_cause_times *)t->times.row)->n_marked)
			err = set_alone(t, g, g->next);
		if (!err && member->alone_in != t->n_steps && member->from_ns < until_ns)
			err = part_add(t, g->next, member->from_ns, until_ns);
		begin_next(t, g);
	}
	return err;
}

/* Rows of depth 1 follow each other in time, each before those below it. */
static int together_count_rows(struct trc_together *t, struct group *g)
{
	const struct trc_cause *row = t->shared.row;
	struct trc_cause_times *times = t->times.row;
	int err = 0;

	for (size_t i = 1; i < t->shared.n && !err; i++) {
		if (row[i].depth != 1) {
			times[i] = times[i - 1];
			continue;
		}
		err = begin_late(t, g, row[i].from_ns + 1, row[i].from_ns);
		times[i].n = g->waiting.n - g->alone.n;
		times[i].n_marked = g->waiting.n_marked - g->alone.n_marked;
		if (!err)
			err = begin_late(t, g, row[i].to_ns, row[i].to_ns);
	}
	return err;
}

static int parts_rows(struct trc_together *t)
{
	const struct part *part = t->parts.row;
	int err = 0;

	for (size_t i = 0; i < t->parts.n && !err; i++)
		err = part_alone(t, &t->member[part[i].member], part[i].from_ns, part[i].to_ns);
	return err;
}

/* Who stands for all that wait: a marked one, if one waits. */
static const struct member *who_stands(const struct trc_together *t, const struct group *g)
{
	return &t->member[(g->waiting.n_marked ? g->of_marked : g->longest) - 1];
}

static int step_rows(struct trc_together *t, struct group *g)
{
	const struct member *member = who_stands(t, g);
	const struct trc_cause *row;
	size_t n;
	int err = trc_causes_of_part(t->causes, member->park, g->now_ns, g->to_ns, true, &row, &n);

	t->n_steps++;
	t->parts.n = 0;
	g->alone = (struct trc_cause_times){0, 0};
	if (!err)
		err = together_copy_rows(t, row, n);
	if (err)
		return err;
	((struct trc_cause_times *)t->times.row)->n_marked = member->marked;
	err = set_chain_alone(t, g);
	if (!err)
		err = together_count_rows(t, g);
	if (!err)
		err = together_rows_add(t, t->shared.row, t->shared.n);
	return err ? err : parts_rows(t);
}

/* ---- a lock ---- */

static int sort_ends(struct trc_together *t, const struct group *g)
{
	t->ends.n = 0;
	for (size_t i = g->first; i < g->end; i++) {
		struct end *end = trc_array_add(&t->ends);

		if (!end)
			return -ENOMEM;
		*end = (struct end){t->member[i].until_ns, t->member[i].marked};
	}
	qsort(t->ends.row, t->ends.n, sizeof(struct end), cause_compare_ends);
	return 0;
}

static void end_up_to(struct trc_together *t, struct group *g, int64_t ts_ns)
{
	const struct end *end = t->ends.row;

	for (; g->next_end < t->ends.n && end[g->next_end].until_ns <= ts_ns; g->next_end++) {
		g->waiting.n--;
		g->waiting.n_marked -= end[g->next_end].marked;
	}
}

/* After the lock's last release in it, each wait is for itself. */
static int rests_rows(struct trc_together *t, const struct group *g)
{
	int err = 0;

	for (size_t i = g->first; i < g->end && !err; i++)
		err = part_alone(t, &t->member[i], t->member[i].until_ns, t->member[i].to_ns);
	return err;
}

static int group_rows(struct trc_together *t, struct group *g)
{
	const struct trc_steps_lock *lock = t->member[g->first].lock;
	struct trc_step step;
	int err = sort_ends(t, g);

	g->next = g->first;
	while (!err && (g->waiting.n || g->next < g->end)) {
		if (!g->waiting.n)
			g->now_ns = t->member[g->next].from_ns;
		while (g->next < g->end && t->member[g->next].from_ns <= g->now_ns)
			begin_next(t, g);
		trc_step_of_lock(t->steps, lock, &g->next_unlock, g->now_ns, &step);
		g->to_ns = step.until_ns;
		err = step_rows(t, g);
		end_up_to(t, g, g->to_ns);
		g->now_ns = g->to_ns;
	}
	return err ? err : rests_rows(t, g);
}

int trc_together_rows(struct trc_together *t, size_t rows_max, trc_together_fn *add, void *context)
{
	int err = 0;

	t->rows_max = rows_max;
	t->add = add;
	t->context = context;
	qsort(t->member, t->n, sizeof(*t->member), member_compare);
	for (size_t i = 0; i < t->n; i++)
		t->member_of[t->member[i].park] = (uint32_t)i + 1;
	for (size_t i = 0, end; i < t->n && !err; i = end) {
		struct group group = {.first = i};

		for (end = i + 1;
		     end < t->n && t->member[i].lock && t->member[end].lock == t->member[i].lock &&
		     t->member[end].reason == t->member[i].reason;
		     end++)
			;
		group.end = end;
		err = t->member[i].lock ? group_rows(t, &group) : whole_alone(t, &t->member[i]);
	}
	return err;
}
