/* task_spans.c - see task_spans.h. */
#include "task_spans.h"

#include <errno.h>
#include <stdlib.h>

/* A thread ended a task. */
struct task_end {
	int64_t end_ns;
	uint32_t thread, row;
	/* Index + 1 of the thread's end before it that is of no task of the family of this root, by row + 1; 0 = none. */
	uint32_t before, before_of;
};

/* ---- rows by what they belong to ---- */

/* The index of what a row belongs to; TRC_INDEX_NONE = nothing. */
typedef uint32_t owner_fn(const struct trc_task_spans *s, uint32_t i);

static int rows_of_make(struct trc_rows_of *of, const struct trc_task_spans *s, size_t n_owners,
			size_t n, owner_fn *owner)
{
	uint32_t *by = malloc((n + 1) * sizeof(*by));

	of->first = calloc(n_owners + 2, sizeof(*of->first));
	of->row = calloc(n + 1, sizeof(*of->row));
	if (!by || !of->first || !of->row || n >= TRC_INDEX_NONE) {
		free(by);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < n; i++) {
		by[i] = owner(s, i);
		if (by[i] != TRC_INDEX_NONE)
			of->first[by[i] + 2]++;
	}
	for (size_t i = 1; i < n_owners + 2; i++)
		of->first[i] += of->first[i - 1];
	/* first[i + 1] moves from where i's begin up to where they end. */
	for (uint32_t i = 0; i < n; i++)
		if (by[i] != TRC_INDEX_NONE)
			of->row[of->first[by[i] + 1]++] = i;
	free(by);
	return 0;
}

static void rows_of_free(struct trc_rows_of *of)
{
	free(of->first);
	free(of->row);
}

static uint32_t parent_of(const struct trc_task_spans *s, uint32_t i)
{
	uint64_t parent = s->task[i].parent;

	return parent ? trc_index_get(&s->row_of, parent) : TRC_INDEX_NONE;
}

static uint32_t task_of_region(const struct trc_task_spans *s, uint32_t i)
{
	size_t n;
	uint64_t task = trc_model_regions(s->m, &n)[i].task;

	return task ? trc_index_get(&s->row_of, task) : TRC_INDEX_NONE;
}

static uint32_t fiber_of_run(const struct trc_task_spans *s, uint32_t i)
{
	size_t n, n_fibers;
	uint32_t fiber = trc_model_fiber_runs(s->m, &n)[i].fiber;

	trc_model_fibers(s->m, &n_fibers);
	return fiber && fiber <= n_fibers ? fiber - 1 : TRC_INDEX_NONE;
}

/* ---- who ended what ---- */

static int task_compare_ends(const void *a, const void *b)
{
	const struct task_end *x = a, *y = b;

	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	if (x->end_ns != y->end_ns)
		return x->end_ns < y->end_ns ? -1 : 1;
	return (x->row > y->row) - (x->row < y->row);
}

static int spans_find_ends(struct trc_task_spans *s)
{
	struct task_end *end;

	s->ends.row_bytes = sizeof(*end);
	for (uint32_t i = 0; i < s->n_tasks; i++) {
		if (!s->task[i].end_thread)
			continue;
		end = trc_array_add(&s->ends);
		if (!end)
			return -ENOMEM;
		*end = (struct task_end){
			.end_ns = s->task[i].end_ns, .thread = s->task[i].end_thread, .row = i};
	}
	end = s->ends.row;
	if (s->ends.n)
		qsort(end, s->ends.n, sizeof(*end), task_compare_ends);
	for (uint32_t i = 0; i < s->ends.n; i++)
		s->end_of[end[i].row] = i + 1;
	return 0;
}

/* Index + 1 of the end before this one, of a task of another family.  What was passed over is not looked at
 * again for this family. */
static uint32_t end_before(const struct trc_task_spans *s, uint32_t i)
{
	struct task_end *end = s->ends.row;
	uint32_t root = s->root_of[end[i].row], at = i, before = 0;

	while (at > 0 && end[at - 1].thread == end[i].thread) {
		at--;
		before = at + 1;
		if (s->root_of[end[at].row] != root)
			break;
		before = end[at].before;
		if (end[at].before_of == root)
			break;
		before = 0;
	}
	for (uint32_t passed = at + 1; passed <= i; passed++) {
		end[passed].before = before;
		end[passed].before_of = root;
	}
	return before;
}

/* When the thread that ended this task had ended the one before. */
static int64_t ended_before_ns(const struct trc_task_spans *s, uint32_t row)
{
	const struct task_end *end = s->ends.row;
	uint32_t before = s->end_of[row] ? end_before(s, s->end_of[row] - 1) : 0;

	return before ? end[before - 1].end_ns : INT64_MIN;
}

/* ---- a family ---- */

static int member_add(struct trc_task_spans *s, uint32_t row, uint32_t root)
{
	uint32_t *member = trc_array_add(&s->family);

	if (!member)
		return -ENOMEM;
	*member = row;
	s->root_of[row] = root + 1;
	return 0;
}

/* Each task has one parent: only the root can be met again, if it lies below itself. */
static int add_children(struct trc_task_spans *s, uint32_t parent, uint32_t root,
			const uint8_t *apart)
{
	int err = 0;

	for (uint32_t c = s->children.first[parent]; c < s->children.first[parent + 1] && !err;
	     c++) {
		uint32_t child = s->children.row[c];

		if (child != root && (!apart || apart[child] != TRC_TASK_APART))
			err = member_add(s, child, root);
	}
	return err;
}

/* Generation after generation. */
static int find_family(struct trc_task_spans *s, uint32_t root, const uint8_t *apart)
{
	uint32_t generation = 0;
	size_t level_end = 1;
	int err;

	for (size_t i = 0; i < s->family.n; i++)
		s->root_of[((uint32_t *)s->family.row)[i]] = 0;
	s->family.n = 0;
	err = member_add(s, root, root);
	for (size_t i = 0; i < s->family.n && !err; i++) {
		if (i == level_end) {
			generation++;
			level_end = s->family.n;
		}
		if (s->generations_max && generation == s->generations_max)
			break;
		err = add_children(s, ((uint32_t *)s->family.row)[i], root, apart);
	}
	return err;
}

/* ---- spans ---- */

static int selected_span_put(struct trc_array *spans, uint64_t track, int64_t from_ns,
			     int64_t to_ns)
{
	struct trc_selected_span *span = trc_array_add(spans);

	if (!span)
		return -ENOMEM;
	*span = (struct trc_selected_span){track, from_ns, to_ns, 0};
	return 0;
}

static void clip(const struct trc_task *task, int64_t *from_ns, int64_t *to_ns)
{
	if (task->start_ns != TRC_NEVER && *from_ns < task->start_ns)
		*from_ns = task->start_ns;
	if (task->end_ns != TRC_NEVER && *to_ns > task->end_ns)
		*to_ns = task->end_ns;
}

/* As long as the task lasts, and its root. */
static int span_add(struct trc_task_spans *s, uint32_t row, struct trc_array *spans, uint64_t track,
		    int64_t from_ns, int64_t to_ns)
{
	clip(&s->task[row], &from_ns, &to_ns);
	clip(&s->task[s->root_of[row] - 1], &from_ns, &to_ns);
	return from_ns < to_ns && track ? selected_span_put(spans, track, from_ns, to_ns) : 0;
}

static int spans_add_task(struct trc_task_spans *s, uint32_t row, struct trc_array *spans)
{
	const struct trc_task *task = &s->task[row];
	int64_t from_ns = task->start_ns, to_ns = task->end_ns, before_ns;
	uint32_t fiber = 0, thread = task->end_thread ? task->end_thread : task->start_thread;

	if (from_ns == TRC_NEVER)
		from_ns = trc_model_start_ns(s->m);
	else
		fiber = trc_model_fiber_at(s->m, task->start_thread, from_ns, task->start_place);
	if (to_ns == TRC_NEVER)
		to_ns = INT64_MAX;
	if (fiber)
		return span_add(s, row, spans, trc_fiber_track(fiber), from_ns, to_ns);
	if (task->start_thread != task->end_thread && task->end_thread) {
		before_ns = ended_before_ns(s, row);
		from_ns = from_ns > before_ns ? from_ns : before_ns;
	}
	return span_add(s, row, spans, thread, from_ns, to_ns);
}

static int add_region(struct trc_task_spans *s, uint32_t row, const struct trc_region *region,
		      struct trc_array *spans)
{
	int64_t from_ns = region->start_ns, to_ns = region->end_ns;

	if (from_ns == TRC_NEVER)
		from_ns = trc_model_start_ns(s->m);
	return span_add(s, row, spans,
			region->fiber ? trc_fiber_track(region->fiber) : region->thread, from_ns,
			to_ns == TRC_NEVER ? INT64_MAX : to_ns);
}

int trc_task_spans_add(struct trc_task_spans *s, uint32_t row, const uint8_t *apart,
		       struct trc_array *spans)
{
	size_t n;
	const struct trc_region *region = trc_model_regions(s->m, &n);
	int err = find_family(s, row, apart);

	spans->row_bytes = sizeof(struct trc_selected_span);
	for (size_t i = 0; i < s->family.n && !err; i++) {
		uint32_t member = ((uint32_t *)s->family.row)[i];

		err = spans_add_task(s, member, spans);
		for (uint32_t g = s->regions.first[member];
		     g < s->regions.first[member + 1] && !err; g++)
			err = add_region(s, member, &region[s->regions.row[g]], spans);
	}
	return err;
}

/* ---- disjoint spans ---- */

static int selected_compare_spans(const void *a, const void *b)
{
	const struct trc_selected_span *x = a, *y = b;

	if (x->track != y->track)
		return x->track < y->track ? -1 : 1;
	if (x->from_ns != y->from_ns)
		return x->from_ns < y->from_ns ? -1 : 1;
	return (x->to_ns > y->to_ns) - (x->to_ns < y->to_ns);
}

/* Makes them disjoint, and sums them up. */
static void spans_join(struct trc_array *spans)
{
	struct trc_selected_span *span = spans->row;
	size_t n = 0;

	if (!spans->n)
		return;
	qsort(span, spans->n, sizeof(*span), selected_compare_spans);
	for (size_t i = 1; i < spans->n; i++) {
		if (span[i].track != span[n].track || span[i].from_ns > span[n].to_ns)
			span[++n] = span[i];
		else if (span[i].to_ns > span[n].to_ns)
			span[n].to_ns = span[i].to_ns;
	}
	spans->n = n + 1;
	span[0].before_ns = 0;
	for (size_t i = 1; i < spans->n; i++) {
		int64_t ns;

		if (span[i].track != span[i - 1].track) {
			span[i].before_ns = 0;
			continue;
		}
		if (__builtin_sub_overflow(span[i - 1].to_ns, span[i - 1].from_ns, &ns) ||
		    __builtin_add_overflow(span[i - 1].before_ns, ns, &span[i].before_ns))
			span[i].before_ns = INT64_MAX;
	}
}

static int64_t run_end_ns(const struct trc_fiber_run *run)
{
	return run->end_ns == TRC_NEVER ? INT64_MAX : run->end_ns;
}

/* The place in runs.row of the fiber's first run that ends after this time. */
static uint32_t run_after(const struct trc_task_spans *s, uint32_t fiber, int64_t ts_ns)
{
	size_t n;
	const struct trc_fiber_run *run = trc_model_fiber_runs(s->m, &n);
	uint32_t low = s->runs.first[fiber - 1], high = s->runs.first[fiber];

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (run_end_ns(&run[s->runs.row[middle]]) <= ts_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Where threads ran the fiber of this span: that is the threads' time as well. */
static int spans_add_runs(const struct trc_task_spans *s, const struct trc_selected_span *span,
			  struct trc_array *of_threads)
{
	size_t n, n_fibers;
	const struct trc_fiber_run *run = trc_model_fiber_runs(s->m, &n);
	uint32_t fiber = (uint32_t)span->track;
	int err = 0;

	trc_model_fibers(s->m, &n_fibers);
	if (!fiber || fiber > n_fibers)
		return 0;
	for (uint32_t i = run_after(s, fiber, span->from_ns); i < s->runs.first[fiber] && !err;
	     i++) {
		const struct trc_fiber_run *r = &run[s->runs.row[i]];
		int64_t from_ns = r->start_ns, to_ns = run_end_ns(r);

		if (from_ns >= span->to_ns)
			break;
		from_ns = from_ns > span->from_ns ? from_ns : span->from_ns;
		to_ns = to_ns < span->to_ns ? to_ns : span->to_ns;
		if (from_ns < to_ns)
			err = selected_span_put(of_threads, r->thread, from_ns, to_ns);
	}
	return err;
}

int trc_task_spans_join(const struct trc_task_spans *s, struct trc_array *spans)
{
	struct trc_array of_threads = {.row_bytes = sizeof(struct trc_selected_span)};
	const struct trc_selected_span *span;
	int err = 0;

	spans_join(spans);
	span = spans->row;
	for (size_t i = 0; i < spans->n && !err; i++)
		if (trc_track_is_fiber(span[i].track))
			err = spans_add_runs(s, &span[i], &of_threads);
	span = of_threads.row;
	for (size_t i = 0; i < of_threads.n && !err; i++)
		err = selected_span_put(spans, span[i].track, span[i].from_ns, span[i].to_ns);
	if (of_threads.n && !err)
		spans_join(spans);
	trc_array_free(&of_threads);
	return err;
}

/* ---- what all share ---- */

static int spans_index_tasks(struct trc_task_spans *s)
{
	for (uint32_t i = 0; i < s->n_tasks; i++)
		if (trc_index_get(&s->row_of, s->task[i].task) == TRC_INDEX_NONE &&
		    trc_index_put(&s->row_of, s->task[i].task, i))
			return -ENOMEM;
	return 0;
}

static int open_runs(struct trc_task_spans *s)
{
	size_t n_runs, n_fibers;

	trc_model_fiber_runs(s->m, &n_runs);
	trc_model_fibers(s->m, &n_fibers);
	return rows_of_make(&s->runs, s, n_fibers, n_runs, fiber_of_run);
}

int trc_task_spans_open_runs(struct trc_task_spans *s, const struct trc_model *m)
{
	*s = (struct trc_task_spans){.m = m};
	return open_runs(s);
}

int trc_task_spans_open(struct trc_task_spans *s, const struct trc_model *m)
{
	size_t n_regions;
	int err;

	*s = (struct trc_task_spans){.m = m, .family = {.row_bytes = sizeof(uint32_t)}};
	s->task = trc_model_tasks(m, &s->n_tasks);
	trc_model_regions(m, &n_regions);
	s->end_of = calloc(s->n_tasks + 1, sizeof(*s->end_of));
	s->root_of = calloc(s->n_tasks + 1, sizeof(*s->root_of));
	if (!s->end_of || !s->root_of || s->n_tasks >= TRC_INDEX_NONE)
		return -ENOMEM;
	err = spans_index_tasks(s);
	if (!err)
		err = rows_of_make(&s->children, s, s->n_tasks, s->n_tasks, parent_of);
	if (!err)
		err = rows_of_make(&s->regions, s, s->n_tasks, n_regions, task_of_region);
	if (!err)
		err = open_runs(s);
	return err ? err : spans_find_ends(s);
}

void trc_task_spans_close(struct trc_task_spans *s)
{
	trc_index_free(&s->row_of);
	rows_of_free(&s->children);
	rows_of_free(&s->regions);
	rows_of_free(&s->runs);
	trc_array_free(&s->ends);
	trc_array_free(&s->family);
	free(s->end_of);
	free(s->root_of);
}
