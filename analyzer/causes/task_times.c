/* task_times.c - see task_times.h. */
#include "task_times.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "analyzer/model/image.h"
#include "analyzer/model/order.h"
#include "analyzer/model/task_spans.h"
#include "analyzer/model/waits.h"
#include "format/schema.h"
#include "thread_times.h"

/* Of tasks in tasks: a task counts for each of those that it lies in, so that this bounds time and memory. */
enum { GENERATIONS_MAX = 64 };
/* A task has each run of the fiber that began it, and the regions of its children: of 64 generations, before and after they are
 * joined.  Few others have the same. */
enum { SPANS_EACH = 2 * GENERATIONS_MAX + 2, SPANS_LEAST = 1 << 26 };

enum { TASKS_AT_ONCE = 1 << 10 }; /* between pauses: some milliseconds */

static const struct trc_image_pause no_pause = {0};

struct lister {
	struct trc_model *m;
	struct trc_task_spans tasks;
	struct trc_array spans; /* struct trc_selected_span: of one task, of threads only */
	size_t n_spans;

	struct trc_thread_times threads;
	struct trc_state_sums
		sums; /* of the thread that is looked at: they begin again with the next */
};

const char *trc_task_state_name(unsigned int state)
{
	static const char *const name[TRC_TASK_STATES] = {
		[TRC_TASK_RUNNING] = "running", [TRC_TASK_RUNNABLE] = "runnable",
		[TRC_TASK_ACTIVE] = "active",	[TRC_TASK_OFF] = "off_cpu",
		[TRC_TASK_WAITING] = "waiting", [TRC_TASK_WOKEN] = "woken",
		[TRC_TASK_ABSENT] = "absent",	[TRC_TASK_UNWORKED] = "unworked",
	};

	return state < TRC_TASK_STATES ? name[state] : "?";
}

/* ---- the spans of one task ---- */

/* Leaves those of threads, within the trace. */
static void keep_threads(struct lister *l)
{
	struct trc_selected_span *span = l->spans.row;
	size_t n = 0;

	for (size_t i = 0; i < l->spans.n; i++) {
		span[i].from_ns = trc_later_ns(span[i].from_ns, trc_model_start_ns(l->m));
		span[i].to_ns = trc_earlier_ns(span[i].to_ns, trc_model_end_ns(l->m));
		if (!trc_track_is_fiber(span[i].track) && span[i].from_ns < span[i].to_ns)
			span[n++] = span[i];
	}
	l->spans.n = n;
}

static size_t spans_max(const struct lister *l)
{
	size_t n_tasks, n_regions, n_runs;

	trc_model_tasks(l->m, &n_tasks);
	trc_model_regions(l->m, &n_regions);
	trc_model_fiber_runs(l->m, &n_runs);
	return (n_tasks + n_regions + n_runs) * SPANS_EACH + SPANS_LEAST;
}

/* Of the threads that ran fibers too; what was added is of one task or region. */
static int finish_spans(struct lister *l)
{
	int err;

	l->n_spans += l->spans.n;
	err = trc_task_spans_join(&l->tasks, &l->spans);
	l->n_spans += l->spans.n;
	if (!err && l->n_spans > spans_max(l))
		return -EOVERFLOW;
	keep_threads(l);
	return err;
}

static int find_spans(struct lister *l, uint32_t row)
{
	int err;

	l->spans.n = 0;
	err = trc_task_spans_add(&l->tasks, row, NULL, &l->spans);
	return err ? err : finish_spans(l);
}

static int find_spans_of_region(struct lister *l, const struct trc_region *region)
{
	struct trc_selected_span *span;

	l->spans.n = 0;
	l->spans.row_bytes = sizeof(*span);
	span = trc_array_add(&l->spans);
	if (!span)
		return -ENOMEM;
	*span = (struct trc_selected_span){
		.track = region->fiber ? trc_fiber_track(region->fiber) : region->thread,
		.from_ns =
			region->start_ns == TRC_NEVER ? trc_model_start_ns(l->m) : region->start_ns,
		.to_ns = region->end_ns == TRC_NEVER ? trc_model_end_ns(l->m) : region->end_ns,
	};
	return finish_spans(l);
}

/* ---- what a thread did ---- */

static int time_put(struct trc_array *times, const struct trc_task_time *time)
{
	struct trc_task_time *added = trc_array_add(times);

	if (!added)
		return -ENOMEM;
	*added = *time;
	return 0;
}

/* The sums of a thread, which begin again. */
static int lister_add_sums(struct lister *l, uint64_t task, uint32_t thread,
			   struct trc_array *times)
{
	const struct trc_state_sums *sums = &l->sums;
	int err = 0;

	trc_state_sums_sort(&l->sums);
	for (size_t i = 0; i < sums->n && !err; i++)
		err = time_put(times, &(struct trc_task_time){
					      .task = task,
					      .ns = sums->ns[sums->cell[i]],
					      .thread = thread,
					      .state = (uint8_t)(sums->cell[i] / TRC_REASON_COUNT),
					      .reason = (uint8_t)(sums->cell[i] % TRC_REASON_COUNT),
				      });
	trc_state_sums_clear(&l->sums);
	return err;
}

/* ---- when nobody worked for it ---- */

/* A damaged clock makes times that are farther apart than can be told. */
static void task_sum_add(int64_t *sum_ns, int64_t from_ns, int64_t to_ns)
{
	int64_t ns;

	if (from_ns >= to_ns)
		return;
	if (__builtin_sub_overflow(to_ns, from_ns, &ns) ||
	    __builtin_add_overflow(*sum_ns, ns, sum_ns))
		*sum_ns = INT64_MAX;
}

static int compare_begins(const void *a, const void *b)
{
	const struct trc_selected_span *x = a, *y = b;

	return (x->from_ns > y->from_ns) - (x->from_ns < y->from_ns);
}

/* Of what has this id, and lasted from start_ns to end_ns.  Sorts the spans anew. */
static int add_unworked(struct lister *l, uint64_t id, int64_t start_ns, int64_t end_ns,
			struct trc_array *times)
{
	struct trc_selected_span *span = l->spans.row;
	int64_t at_ns = trc_later_ns(start_ns, trc_model_start_ns(l->m)), ns = 0;

	end_ns = trc_earlier_ns(trc_model_end_ns(l->m), end_ns == TRC_NEVER ? INT64_MAX : end_ns);
	if (l->spans.n)
		qsort(span, l->spans.n, sizeof(*span), compare_begins);
	for (size_t i = 0; i < l->spans.n; i++) {
		task_sum_add(&ns, at_ns, span[i].from_ns);
		at_ns = trc_later_ns(at_ns, span[i].to_ns);
	}
	task_sum_add(&ns, at_ns, end_ns);
	return ns ? time_put(times, &(struct trc_task_time){.task = id,
							    .ns = ns,
							    .state = TRC_TASK_UNWORKED})
		  : 0;
}

/* What the threads did in the spans. */
static int lister_add_times(struct lister *l, uint64_t id, struct trc_array *times)
{
	const struct trc_selected_span *span = l->spans.row;
	int err = 0;

	for (size_t i = 0; i < l->spans.n && !err; i++) {
		uint32_t serial = (uint32_t)span[i].track;
		const struct trc_thread *thread = trc_model_thread(l->m, serial);

		if (thread)
			err = trc_thread_times_add(&l->threads,
						   (size_t)(thread - l->threads.steps.thread),
						   span[i].from_ns, span[i].to_ns, &l->sums);
		else
			trc_state_sums_add(&l->sums, TRC_TASK_ABSENT * TRC_REASON_COUNT,
					   span[i].from_ns, span[i].to_ns);
		if (!err && (i + 1 == l->spans.n || span[i + 1].track != span[i].track))
			err = lister_add_sums(l, id, serial, times);
	}
	return err;
}

static int add_task_times(struct lister *l, uint32_t row, struct trc_array *times)
{
	const struct trc_task *task = &l->tasks.task[row];
	int err = find_spans(l, row);

	if (!err)
		err = lister_add_times(l, task->task, times);
	return err ? err : add_unworked(l, task->task, task->start_ns, task->end_ns, times);
}

static int add_region_times(struct lister *l, uint32_t row, struct trc_array *times)
{
	size_t n;
	const struct trc_region *region = &trc_model_regions(l->m, &n)[row];
	int err = find_spans_of_region(l, region);

	if (!err)
		err = lister_add_times(l, row + 1, times);
	return err ? err : add_unworked(l, row + 1, region->start_ns, region->end_ns, times);
}

static int add_spans(const struct lister *l, uint32_t row, struct trc_array *spans)
{
	const struct trc_selected_span *span = l->spans.row;

	for (size_t i = 0; i < l->spans.n; i++) {
		struct trc_task_span *added = trc_array_add(spans);

		if (!added)
			return -ENOMEM;
		*added = (struct trc_task_span){l->tasks.task[row].task, span[i].from_ns,
						span[i].to_ns, (uint32_t)span[i].track};
	}
	return 0;
}

/* ---- of all tasks ---- */

/* What is listed. */
struct listing {
	struct trc_array *rows;
	struct trc_array *
		first; /* uint32_t: where the rows of each owner begin, and behind the last; NULL = nobody asks */
};

/* Notes that the rows of the next owner begin here, or that there is none. */
static int note_first(const struct listing *out)
{
	uint32_t *first =
		out->first && out->rows->n < UINT32_MAX ? trc_array_add(out->first) : NULL;

	if (first)
		*first = (uint32_t)out->rows->n;
	return first || !out->first ? 0 : -ENOMEM;
}

/* Whether it is to be given up after this row. */
static bool is_given_up(const struct trc_image_pause *pause, uint32_t row)
{
	return row % TASKS_AT_ONCE == TASKS_AT_ONCE - 1 && trc_image_pauses(pause);
}

static int times_fail(struct trc_error *error, const char *what, int err)
{
	if (err && !error->text[0])
		snprintf(error->text, sizeof(error->text), "%s: %s", what,
			 err == -EOVERFLOW ? "tasks share too many runs of fibers"
					   : strerror(-err));
	return err;
}

static int make_spans(struct trc_model *m, const struct listing *out,
		      const struct trc_image_pause *pause, struct trc_error *error)
{
	struct lister l = {.m = m};
	int err;

	error->text[0] = '\0';
	out->rows->row_bytes = sizeof(struct trc_task_span);
	err = trc_model_need(m, TRC_PART_WAITS | TRC_PART_USER | TRC_PART_FIBERS, error);
	if (err)
		return err;
	err = trc_task_spans_open(&l.tasks, m);
	l.tasks.generations_max = GENERATIONS_MAX;
	for (uint32_t i = 0; i < l.tasks.n_tasks && !err; i++) {
		err = find_spans(&l, i);
		if (!err)
			err = note_first(out);
		if (!err)
			err = add_spans(&l, i, out->rows);
		if (!err && is_given_up(pause, i))
			err = -ECANCELED;
	}
	if (!err)
		err = note_first(out);
	trc_task_spans_close(&l.tasks);
	trc_array_free(&l.spans);
	return times_fail(error, "task_spans", err);
}

typedef int add_fn(struct lister *l, uint32_t row, struct trc_array *times);

typedef int open_fn(struct trc_task_spans *s, const struct trc_model *m);

/* Whose times are listed. */
struct listed {
	const char *what; /* its name in errors */
	size_t n_rows;
	open_fn *spans_open;
	add_fn *add;
};

static int list_times(struct trc_model *m, const struct listing *out, const struct listed *listed,
		      const struct trc_image_pause *pause, struct trc_error *error)
{
	struct lister *l = calloc(1, sizeof(*l));
	int err;

	if (!l)
		return times_fail(error, listed->what, -ENOMEM);
	l->m = m;
	err = listed->spans_open(&l->tasks, m);
	l->tasks.generations_max = GENERATIONS_MAX;
	if (!err)
		err = trc_thread_times_open(&l->threads, m);
	for (uint32_t i = 0; i < listed->n_rows && !err; i++) {
		err = note_first(out);
		if (!err)
			err = listed->add(l, i, out->rows);
		if (!err && is_given_up(pause, i))
			err = -ECANCELED;
	}
	if (!err)
		err = note_first(out);
	trc_thread_times_close(&l->threads);
	trc_task_spans_close(&l->tasks);
	trc_array_free(&l->spans);
	free(l);
	return times_fail(error, listed->what, err);
}

static int times_begin(struct trc_model *m, struct trc_array *times, struct trc_error *error)
{
	error->text[0] = '\0';
	times->row_bytes = sizeof(struct trc_task_time);
	return trc_model_need(m, TRC_CAUSES_PARTS | TRC_PART_USER | TRC_PART_FIBERS, error);
}

static int make_times(struct trc_model *m, const struct listing *out,
		      const struct trc_image_pause *pause, struct trc_error *error)
{
	struct listed tasks = {
		.what = "task_times", .spans_open = trc_task_spans_open, .add = add_task_times};
	int err = times_begin(m, out->rows, error);

	trc_model_tasks(m, &tasks.n_rows);
	return err ? err : list_times(m, out, &tasks, pause, error);
}

static int make_region_times(struct trc_model *m, const struct listing *out,
			     const struct trc_image_pause *pause, struct trc_error *error)
{
	struct listed regions = {.what = "region_times",
				 .spans_open = trc_task_spans_open_runs,
				 .add = add_region_times};
	int err = times_begin(m, out->rows, error);

	trc_model_regions(m, &regions.n_rows);
	return err ? err : list_times(m, out, &regions, pause, error);
}

/* ---- kept -------------------------------------------------------------------------------- */

struct kept_rows {
	struct trc_array rows, first; /* struct listing */
};

typedef int make_fn(struct trc_model *m, const struct listing *out,
		    const struct trc_image_pause *pause, struct trc_error *error);

/* In the order of their images. */
static const struct {
	enum trc_kept_kind kind;
	make_fn *make;
	size_t row_bytes;
} all_kept[] = {
	{TRC_KEPT_TASK_SPANS, make_spans, sizeof(struct trc_task_span)},
	{TRC_KEPT_TASK_TIMES, make_times, sizeof(struct trc_task_time)},
	{TRC_KEPT_REGION_TIMES, make_region_times, sizeof(struct trc_task_time)},
};
enum { N_KEPT = sizeof(all_kept) / sizeof(*all_kept) };

static void task_times_kept_free(void *kept)
{
	struct kept_rows *k = kept;

	trc_array_free(&k->rows);
	trc_array_free(&k->first);
	free(k);
}

static struct kept_rows *kept_new(size_t row_bytes)
{
	struct kept_rows *k = calloc(1, sizeof(*k));

	if (k) {
		k->rows.row_bytes = row_bytes;
		k->first.row_bytes = sizeof(uint32_t);
	}
	return k;
}

/* Unless they have been made while it paused. */
static int make_kept(struct trc_model *m, struct trc_kept *kept, size_t i,
		     const struct trc_image_pause *pause, struct trc_error *error)
{
	struct kept_rows *k = kept_new(all_kept[i].row_bytes);
	int err = k ? all_kept[i].make(m, &(struct listing){&k->rows, &k->first}, pause, error)
		    : times_fail(error, "tasks", -ENOMEM);

	if (k && (err || kept->thing))
		task_times_kept_free(k);
	else if (!err)
		*kept = (struct trc_kept){k, task_times_kept_free};
	return err;
}

/* What is kept of a kind, which is made first if need be; *k = NULL: the model keeps nothing. */
static int need_kept(struct trc_model *m, size_t i, const struct kept_rows **k,
		     struct trc_error *error)
{
	struct trc_kept *kept = trc_model_kept(m, all_kept[i].kind);
	int err = 0;

	error->text[0] = '\0';
	if (kept && !kept->thing)
		err = make_kept(m, kept, i, &no_pause, error);
	*k = kept && !err ? kept->thing : NULL;
	return err;
}

static int task_times_list(struct trc_model *m, size_t i, struct trc_array *rows,
			   struct trc_error *error)
{
	const struct kept_rows *k;
	int err = need_kept(m, i, &k, error);

	if (err)
		return err;
	if (!k)
		return all_kept[i].make(m, &(struct listing){rows, NULL}, &no_pause, error);
	*rows = k->rows;
	rows->capacity = 0;
	return 0;
}

int trc_task_spans_list(struct trc_model *m, struct trc_array *spans, struct trc_error *error)
{
	return task_times_list(m, 0, spans, error);
}

int trc_task_times_list(struct trc_model *m, struct trc_array *times, struct trc_error *error)
{
	return task_times_list(m, 1, times, error);
}

int trc_region_times_list(struct trc_model *m, struct trc_array *times, struct trc_error *error)
{
	return task_times_list(m, 2, times, error);
}

int trc_task_rows_first(struct trc_model *m, enum trc_kept_kind kind, const uint32_t **first,
			struct trc_error *error)
{
	const struct kept_rows *k = NULL;
	int err = -EINVAL;

	for (size_t i = 0; i < N_KEPT; i++)
		if (all_kept[i].kind == kind)
			err = need_kept(m, i, &k, error);
	*first = k ? k->first.row : NULL;
	return err;
}

int trc_task_times_prepare(struct trc_model *m, const struct trc_image_pause *pause)
{
	struct trc_error error = {""};
	int err = 0;

	for (size_t i = 0; i < N_KEPT && err != -ECANCELED; i++) {
		struct trc_kept *kept = trc_model_kept(m, all_kept[i].kind);

		if (trc_image_pauses(pause))
			return -ECANCELED;
		if (kept && !kept->thing)
			err = make_kept(m, kept, i, pause, &error);
	}
	return err == -ECANCELED || trc_image_pauses(pause) ? -ECANCELED : 0;
}

/* A list of one says that rows follow: they may not have been made. */
static int walk_kept(struct trc_image *image, struct trc_kept *kept, size_t row_bytes)
{
	struct kept_rows none = {.rows.row_bytes = row_bytes, .first.row_bytes = sizeof(uint32_t)},
			 *k = kept->thing ? kept->thing : &none;
	size_t n = kept->thing != NULL;
	uint64_t is_there = 1;

	trc_image_rows(image, &is_there, &n, sizeof(is_there), NULL);
	if (trc_image_is_read(image) && n) {
		k = kept_new(row_bytes);
		if (!k)
			return -ENOMEM;
		*kept = (struct trc_kept){k, task_times_kept_free};
	}
	trc_image_array(image, &k->rows, NULL);
	trc_image_array(image, &k->first, NULL);
	return 0;
}

int trc_task_times_walk(struct trc_image *image, struct trc_model *m)
{
	int err = 0;

	for (size_t i = 0; i < N_KEPT && !err; i++) {
		struct trc_kept *kept = trc_model_kept(m, all_kept[i].kind);

		err = kept ? walk_kept(image, kept, all_kept[i].row_bytes) : -EINVAL;
	}
	return err;
}
