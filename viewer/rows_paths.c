/*
 * rows_paths.c - critical paths of tasks as columns of a page: what each of the slowest of each type was waiting for, through all
 * threads that it depended on (analyzer/causes/causes.h).
 *
 *   paths:H1  a path is that of trace-analyze --critical-path task:ID: the pieces of a task follow each other without a hole, from its
 *       begin to its end, as far as these lie in the page
 *
 * Pieces that are alike and follow each other are one, with the first one's wait and unlock.
 */
#include <errno.h>
#include <stdlib.h>

#include "analyzer/causes/causes.h"
#include "rows.h"

/* Rows of causes that are derived: for one task, and for all of the page.  What would take more has no path.  One that takes too many is
 * given up early, but leaves nothing in the page: it counts as some of them, so that a few do not take the place of all others. */
enum {
	ROWS_OF_TASK = 1 << 16,
	ROWS_OF_PAGE = 1 << 19,
	ROWS_GIVEN_UP = ROWS_OF_TASK / 16,
	ROWS_OF_BOX = 1 << 17
};

struct chosen {
	const struct trc_task *task;
	uint64_t length;
	uint32_t type;	 /* text */
	uint32_t number; /* the page's */
	uint32_t rank;	 /* among those of its type, 0 = the slowest */
	size_t first, n; /* its pieces */
};

struct piece {
	struct trc_cause cause;
	uint32_t n; /* so many that were alike */
};

struct paths {
	struct trc_rows *r;
	struct trc_array tasks;	 /* struct chosen */
	struct trc_array pieces; /* struct piece */
	size_t n_rows;
};

/* ---- which tasks ---- */

static int path_tasks_by_type(const void *a, const void *b)
{
	const struct chosen *x = a, *y = b;

	if (x->type != y->type)
		return x->type < y->type ? -1 : 1;
	if (x->length != y->length)
		return x->length > y->length ? -1 : 1;
	return (x->number > y->number) - (x->number < y->number);
}

/* The slowest of all types first, then the second of all, so that each type has some if there is not room for all. */
static int tasks_by_rank(const void *a, const void *b)
{
	const struct chosen *x = a, *y = b;

	return x->rank != y->rank ? (x->rank > y->rank) - (x->rank < y->rank)
				  : path_tasks_by_type(a, b);
}

static int by_number(const void *a, const void *b)
{
	const struct chosen *x = a, *y = b;

	return (x->number > y->number) - (x->number < y->number);
}

static void tasks_sort(struct trc_array *tasks, int (*compare)(const void *a, const void *b))
{
	if (tasks->n)
		qsort(tasks->row, tasks->n, tasks->row_bytes, compare);
}

/* Each of the page that took time. */
static int list_tasks(struct paths *p)
{
	struct trc_rows *r = p->r;
	uint32_t number = 0;
	size_t n;
	const struct trc_task *task = trc_model_tasks(r->m, &n);

	TRC_CUT_EACH (i, r->cut, TRC_SELECTED_TASKS, n) {
		uint64_t length = trc_rows_length(r, task[i].start_ns, task[i].end_ns);
		struct chosen *added;

		if (!trc_rows_has(r, TRC_ROWS_TASKS, i))
			continue;
		number++;
		if (!length)
			continue;
		added = trc_array_add(&p->tasks);
		if (!added)
			return -ENOMEM;
		*added = (struct chosen){.task = &task[i],
					 .length = length,
					 .type = trc_texts_id(&r->texts, task[i].type),
					 .number = number};
	}
	return 0;
}

static int paths_choose_tasks(struct paths *p)
{
	struct chosen *row;
	size_t kept = 0;
	int err = list_tasks(p);

	if (err)
		return err;
	tasks_sort(&p->tasks, path_tasks_by_type);
	row = p->tasks.row;
	for (size_t i = 0; i < p->tasks.n; i++) {
		bool goes_on = kept && row[kept - 1].type == row[i].type;

		/* The last that was kept of a type whose others are left out has the last rank. */
		if (goes_on && row[kept - 1].rank + 1 == p->r->limits.paths)
			continue;
		row[i].rank = goes_on ? row[kept - 1].rank + 1 : 0;
		row[kept++] = row[i];
	}
	p->tasks.n = kept;
	tasks_sort(&p->tasks, tasks_by_rank);
	return 0;
}

/* ---- their paths ---- */

static bool leaves_are_alike(const struct trc_cause *a, const struct trc_cause *b)
{
	return a->thread == b->thread && a->kind == b->kind && a->reason == b->reason &&
	       a->object == b->object && a->descriptor == b->descriptor && a->stack == b->stack &&
	       a->stack_of == b->stack_of && a->instead == b->instead && !a->unlock == !b->unlock;
}

static int path_add_leaf(struct paths *p, struct chosen *task, const struct trc_cause *leaf)
{
	struct piece *piece = (struct piece *)p->pieces.row + task->first + task->n;

	if (task->n && leaves_are_alike(&piece[-1].cause, leaf)) {
		piece[-1].cause.to_ns = leaf->to_ns;
		if (trc_rows_instead(leaf) && trc_rows_instead(&piece[-1].cause))
			piece[-1].cause.instead_ns += leaf->instead_ns;
		piece[-1].n++;
		return 0;
	}
	piece = trc_array_add(&p->pieces);
	if (!piece)
		return -ENOMEM;
	*piece = (struct piece){*leaf, 1};
	task->n++;
	return 0;
}

/* H1: a task is followed back from the thread that ended it.  Its end is not known of one that is open: then to the page's end. */
static int find_path(struct paths *p, struct trc_causes *causes, struct chosen *chosen)
{
	const struct trc_task *task = chosen->task;
	int64_t from_ns = task->start_ns, to_ns = task->end_ns;
	const struct trc_cause *row;
	size_t n;
	int err;

	if (from_ns == TRC_NEVER || from_ns < p->r->cut->from_ns)
		from_ns = p->r->cut->from_ns;
	if (to_ns == TRC_NEVER || to_ns > p->r->cut->to_ns)
		to_ns = p->r->cut->to_ns;
	chosen->first = p->pieces.n;
	if (p->n_rows >= ROWS_OF_PAGE)
		return 0;
	err = trc_causes_of_thread(causes, task->end_thread ? task->end_thread : task->start_thread,
				   from_ns, to_ns, &row, &n);
	if (err == -E2BIG) {
		p->n_rows += ROWS_GIVEN_UP;
		return 0;
	}
	p->n_rows += n;
	for (size_t i = 0; i < n && !err; i++)
		if (row[i].leaf)
			err = path_add_leaf(p, chosen, &row[i]);
	return err;
}

static int find_paths(struct paths *p)
{
	struct chosen *task = p->tasks.row;
	struct trc_causes *causes;
	int err = p->tasks.n ? trc_causes_open(&causes, p->r->m) : 0;

	if (err || !p->tasks.n)
		return err;
	trc_causes_limit(causes, ROWS_OF_TASK);
	for (size_t i = 0; i < p->tasks.n && !err; i++)
		err = find_path(p, causes, &task[i]);
	trc_causes_close(causes);
	return err;
}

/* ---- the columns ---- */

static void write_paths(struct paths *p)
{
	enum {
		TASK,
		LENGTH,
		THREAD,
		KIND,
		N_ALIKE,
		STACK,
		STACK_OF,
		PARK,
		REASON,
		OBJECT,
		UNLOCK,
		INSTEAD,
		INSTEAD_NS,
		N
	};
	struct trc_column c[N] = {
		[TASK] = trc_column_make("path.task", TRC_COLUMN_DELTA),
		[LENGTH] = trc_column_make("path.length", TRC_COLUMN_VARINT),
		[THREAD] = trc_column_make("path.thread", TRC_COLUMN_VARINT),
		[KIND] = trc_column_make("path.kind", TRC_COLUMN_BYTES),
		[N_ALIKE] = trc_column_make("path.times", TRC_COLUMN_VARINT),
		[STACK] = trc_column_make("path.stack", TRC_COLUMN_VARINT),
		[STACK_OF] = trc_column_make("path.stack_of", TRC_COLUMN_BYTES),
		[PARK] = trc_column_make("path.park", TRC_COLUMN_VARINT),
		[REASON] = trc_column_make("path.reason", TRC_COLUMN_BYTES),
		[OBJECT] = trc_column_make("path.object", TRC_COLUMN_VARINT),
		[UNLOCK] = trc_column_make("path.unlock", TRC_COLUMN_VARINT),
		[INSTEAD] = trc_column_make("path.instead", TRC_COLUMN_VARINT),
		[INSTEAD_NS] = trc_column_make("path.instead_ns", TRC_COLUMN_VARINT),
	};
	struct trc_rows *r = p->r;
	const struct chosen *task = p->tasks.row;

	for (size_t i = 0; i < p->tasks.n; i++) {
		const struct piece *piece = (const struct piece *)p->pieces.row + task[i].first;

		for (size_t k = 0; k < task[i].n; k++, piece++) {
			const struct trc_cause *cause = &piece->cause;

			trc_column_add(&c[TASK], task[i].number);
			trc_column_add(&c[LENGTH], (uint64_t)(cause->to_ns - cause->from_ns));
			trc_column_add(&c[THREAD], trc_rows_thread(r, cause->thread));
			trc_column_add(&c[KIND], cause->kind);
			trc_column_add(&c[N_ALIKE], piece->n);
			trc_column_add(&c[STACK], cause->stack);
			trc_column_add(&c[STACK_OF], cause->stack_of);
			trc_column_add(&c[PARK], cause->park ? r->park_idx[cause->park - 1] : 0);
			trc_column_add(&c[REASON], cause->reason);
			trc_column_add(&c[OBJECT], cause->object ? trc_rows_object(r, cause->object,
										   cause->stack)
								 : 0);
			/* The page's number of the unlock, or 0, + 1: the thread held a lock. */
			trc_column_add(&c[UNLOCK],
				       cause->unlock ? r->unlock_idx[cause->unlock - 1] + 1 : 0);
			trc_column_add(&c[INSTEAD], trc_rows_thread(r, cause->instead));
			trc_column_add(&c[INSTEAD_NS], trc_rows_instead(cause));
		}
	}
	trc_rows_columns(r, c, N);
}

static int by_row(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static size_t n_leaves(const struct paths *p, const struct chosen *task)
{
	const struct piece *piece = (const struct piece *)p->pieces.row + task->first;
	size_t n = 0;

	for (size_t i = 0; i < task->n; i++)
		n += piece[i].n;
	return n;
}

/* For the SQL box: these tasks, and no others, the slowest as far as there is room for their rows. */
static int keep_tasks(struct paths *p)
{
	const struct chosen *task = p->tasks.row;
	size_t n;
	const struct trc_task *first = trc_model_tasks(p->r->m, &n);

	p->r->pathed = calloc(p->tasks.n + 1, sizeof(*p->r->pathed));
	if (!p->r->pathed)
		return -ENOMEM;
	n = 0;
	for (size_t i = 0; i < p->tasks.n && (n += n_leaves(p, &task[i])) <= ROWS_OF_BOX; i++)
		if (task[i].n)
			p->r->pathed[p->r->n_pathed++] = (uint32_t)(task[i].task - first);
	if (p->r->n_pathed)
		qsort(p->r->pathed, p->r->n_pathed, sizeof(*p->r->pathed), by_row);
	return 0;
}

void trc_rows_paths(struct trc_rows *r)
{
	struct paths p = {.r = r,
			  .tasks = {.row_bytes = sizeof(struct chosen)},
			  .pieces = {.row_bytes = sizeof(struct piece)}};
	int err = paths_choose_tasks(&p);

	if (!err)
		err = find_paths(&p);
	if (!err)
		err = keep_tasks(&p);
	if (err)
		r->failed = true;
	tasks_sort(&p.tasks, by_number);
	if (!err)
		write_paths(&p);
	trc_array_free(&p.tasks);
	trc_array_free(&p.pieces);
}
