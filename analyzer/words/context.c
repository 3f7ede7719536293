/* context.c - what of a trace an answer in words is about; see words.h. */
#include "own_locks.h"
#include "words.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "analyzer/causes/steps.h"
#include "analyzer/causes/causes.h"
#include "analyzer/model/between.h"
#include "analyzer/model/preempted.h"

void trc_report_add(int64_t *sum, int64_t value)
{
	if (__builtin_add_overflow(*sum, value, sum))
		*sum = INT64_MAX;
}

static bool park_wanted(const struct trc_report *r, const struct trc_park *park)
{
	return !r->selection ||
	       (trc_selection_passes(r->selection, r->m, trc_park_labels(r->m, park)) &&
		trc_selection_touches(r->selection, park->thread, trc_park_start_ns(r->m, park),
				      trc_park_end_ns(r->m, park)));
}

size_t trc_report_next_row(const struct trc_report *r, enum trc_between_table table, size_t i)
{
	return trc_between_next(r->m, table, i, r->selection ? r->selection->from_ns : INT64_MIN,
				r->selection ? r->selection->to_ns : INT64_MAX);
}

static int add_piece(struct trc_array *parks, struct trc_array *ids, const struct trc_park *park,
		     uint32_t id)
{
	struct trc_park *piece = trc_array_add(parks);
	uint32_t *of = trc_array_add(ids);

	if (!piece || !of)
		return -ENOMEM;
	*piece = *park;
	*of = id;
	return 0;
}

/* The parts of a wait that are selected, each as a wait of its own. */
static int add_pieces(const struct trc_report *r, struct trc_array *parks, struct trc_array *ids,
		      uint32_t id)
{
	const struct trc_park *park = &r->park[id - 1];
	int64_t at_ns = park->start_ns, end_ns = trc_park_end_ns(r->m, park);
	struct trc_park piece = *park;
	int err = 0;

	if (at_ns >= end_ns)
		return add_piece(parks, ids, park, id);
	while (!err && trc_selection_next(r->selection, park->thread, &at_ns, end_ns,
					  &piece.start_ns, &piece.end_ns)) {
		if (piece.end_ns == end_ns)
			piece.end_ns = park->end_ns;
		if (piece.start_ns != park->start_ns)
			piece.start_place = TRC_PLACE_LAST;
		err = add_piece(parks, ids, &piece, id);
		piece.flags |= TRC_PARK_PIECE;
	}
	return err;
}

/* Leaves only what is wanted of waits. */
static int choose_parks(struct trc_report *r)
{
	struct trc_array parks = {.row_bytes = sizeof(*r->wanted_parks)};
	struct trc_array ids = {.row_bytes = sizeof(*r->wanted_ids)};
	int err = 0;

	if (!r->selection)
		return 0;
	for (size_t i = trc_report_next_row(r, TRC_BETWEEN_PARKS, 0); i < r->n_parks && !err;
	     i = trc_report_next_row(r, TRC_BETWEEN_PARKS, i + 1))
		if (park_wanted(r, &r->park[i]))
			err = add_pieces(r, &parks, &ids, (uint32_t)i + 1);
	if (!err && !parks.n) /* so that there are arrays, even of nothing */
		err = add_piece(&parks, &ids, &(struct trc_park){0}, 0);
	r->wanted_parks = parks.row;
	r->wanted_ids = ids.row;
	if (err)
		return err;
	r->park = r->wanted_parks;
	r->n_parks = ids.n && *r->wanted_ids ? parks.n : 0;
	return 0;
}

/* How much of each thread's life is selected, and what it was on a proc meanwhile. */
static int sum_selected(struct trc_report *r)
{
	size_t n;
	const struct trc_on_cpu *on_cpu = trc_model_on_cpu(r->m, &n);

	r->length_ns = r->end_ns - r->start_ns;
	if (!r->selection)
		return 0;
	r->length_ns = 0;
	r->selected = calloc(r->n_threads + 1, sizeof(*r->selected));
	if (!r->selected)
		return -ENOMEM;
	for (size_t i = 0; i < r->n_threads; i++) {
		r->selected[i].ns = trc_selection_thread_ns(r->selection, r->m, &r->thread[i]);
		if (r->selected[i].ns > r->length_ns)
			r->length_ns = r->selected[i].ns;
	}
	for (size_t i = trc_report_next_row(r, TRC_BETWEEN_ON_CPU, 0); i < n;
	     i = trc_report_next_row(r, TRC_BETWEEN_ON_CPU, i + 1)) {
		const struct trc_thread *t = trc_model_thread(r->m, on_cpu[i].thread);
		int64_t start_ns = on_cpu[i].start_ns, end_ns = on_cpu[i].end_ns;

		if (!t)
			continue;
		start_ns = start_ns > r->start_ns ? start_ns : r->start_ns;
		end_ns = end_ns == TRC_NEVER ? r->end_ns : end_ns;
		trc_report_add(&r->selected[t - r->thread].on_cpu_ns,
			       trc_selection_ns(r->selection, t->serial, start_ns, end_ns));
	}
	return 0;
}

/* outer: of trc_waits_nesting(). */
static void add_classes(struct trc_report *r, const uint32_t *outer)
{
	size_t n;
	const struct trc_park *all = trc_model_parks(r->m, &n);

	for (size_t i = trc_report_next_row(r, TRC_BETWEEN_PARKS, 0); i < n;
	     i = trc_report_next_row(r, TRC_BETWEEN_PARKS, i + 1)) {
		const struct trc_park *park = &all[i], *around;
		const struct trc_thread *thread = trc_model_thread(r->m, park->thread);
		int64_t start_ns = trc_park_start_ns(r->m, park);
		int64_t end_ns = trc_park_end_ns(r->m, park), around_end_ns;
		int64_t *sums;

		if (!thread)
			continue;
		sums = r->class_ns[thread - r->thread];
		if (park_wanted(r, park))
			sums[trc_wait_class(park->reason)] +=
				trc_selection_ns(r->selection, park->thread, start_ns, end_ns);
		if (!outer[i] || !park_wanted(r, &all[outer[i] - 1]))
			continue;
		around = &all[outer[i] - 1];
		around_end_ns = trc_park_end_ns(r->m, around);
		sums[trc_wait_class(around->reason)] -=
			trc_selection_ns(r->selection, park->thread, start_ns,
					 end_ns < around_end_ns ? end_ns : around_end_ns);
	}
}

/* timeline:P1 */
static void take_off_preempted(struct trc_report *r)
{
	size_t n, n_parks;
	const struct trc_park *park = trc_model_parks(r->m, &n_parks);
	const struct trc_preempted_wait *wait = trc_preempted_waits(trc_model_preempted(r->m), &n);

	for (size_t i = 0; i < n; i++) {
		const struct trc_thread *thread = trc_model_thread(r->m, wait[i].thread);
		int64_t ns = trc_selection_ns(r->selection, wait[i].thread, wait[i].from_ns,
					      wait[i].to_ns);

		if (!ns || !park_wanted(r, &park[wait[i].park - 1]))
			continue;
		r->class_ns[thread - r->thread][TRC_WAIT_FILES] -= ns;
		trc_report_add(&r->no_proc_ns[thread - r->thread], ns);
	}
}

/* Each moment of a thread once: what lies within another wait is taken off that one.  A model that keeps such things knows which does: to
 * find that out again would cost a part of a large trace as much as the whole. */
static int sum_classes(struct trc_report *r)
{
	bool is_kept = trc_model_kept(r->m, TRC_KEPT_STEPS) != NULL;
	struct trc_steps steps = {0};
	uint32_t *own = is_kept ? NULL : trc_waits_nesting(r->m);
	int err = is_kept ? trc_steps_open(&steps, r->m) : own ? 0 : -ENOMEM;

	r->class_ns = calloc(r->n_threads + 1, sizeof(*r->class_ns));
	r->no_proc_ns = calloc(r->n_threads + 1, sizeof(*r->no_proc_ns));
	if (!err && (!r->class_ns || !r->no_proc_ns))
		err = -ENOMEM;
	if (!err) {
		add_classes(r, is_kept ? steps.outer : own);
		take_off_preempted(r);
	}
	if (is_kept)
		trc_steps_close(&steps);
	free(own);
	return err;
}

static bool has_allocs(const struct trc_model *m)
{
	size_t n;

	trc_model_allocs(m, &n);
	return n;
}

int trc_report_begin(struct trc_report *r, struct trc_model *m, FILE *out,
		     const struct trc_report_options *options, struct trc_error *error)
{
	int err = trc_model_need(m, TRC_PART_ALL | TRC_PART_PREEMPTED, error);

	*r = (struct trc_report){
		.m = m,
		.out = out,
		.reader = trc_model_reader(m),
		.path = options->path ? options->path : "the trace",
		.width = options->width ? options->width : 100,
		.colour = options->colour,
		.full = options->full,
		.any_line = options->follows,
		.top = options->top ? options->top : 10,
		.selection = trc_model_selection(m),
	};
	if (!err && has_allocs(m)) /* for where objects were allocated */
		err = trc_model_need(m, TRC_PART_OBJECTS, error);
	if (err)
		return err;
	r->stacks = trc_model_stacks(m);
	r->park = trc_model_parks(m, &r->n_parks);
	r->unlock = trc_model_unlocks(m, &r->n_unlocks);
	r->thread = trc_model_threads(m, &r->n_threads);
	r->start_ns = trc_model_start_ns(m);
	r->end_ns = trc_model_end_ns(m);
	r->module_shown = calloc(trc_reader_modules(r->reader) + 1, sizeof(*r->module_shown));
	err = r->module_shown ? trc_report_canonical_init(r) : -ENOMEM;
	if (!err)
		err = trc_report_same_place_init(r);
	if (!err)
		err = trc_report_ends_init(r);
	if (!err)
		err = sum_selected(r);
	if (!err)
		err = sum_classes(r);
	if (!err)
		err = choose_parks(r);
	if (!err)
		err = trc_report_idle_init(r);
	if (!err)
		err = trc_report_labels_init(r);
	if (err)
		snprintf(error->text, sizeof(error->text), "report: out of memory");
	return err;
}

void trc_report_end(struct trc_report *r)
{
	free(r->canonical);
	free(r->callers);
	free(r->frames_alike);
	free(r->same_place);
	free(r->ends);
	free(r->selected);
	free(r->class_ns);
	free(r->no_proc_ns);
	free(r->idle_at);
	free(r->idle_first);
	trc_array_free(&r->idle_sums);
	trc_array_free(&r->at_work);
	free(r->wanted_parks);
	free(r->wanted_ids);
	free(r->label_first);
	free(r->label_quoted);
	free(r->module_shown);
	trc_causes_close(r->causes);
	trc_own_locks_free(r->own_locks);
}

int trc_report_causes(struct trc_report *r, struct trc_causes **causes)
{
	int err = r->causes ? 0 : trc_causes_open(&r->causes, r->m);

	*causes = r->causes;
	return err;
}

int trc_report_causes_of_park(struct trc_report *r, size_t i, const struct trc_cause **row,
			      size_t *n)
{
	struct trc_causes *causes;
	int err = trc_report_causes(r, &causes);

	if (err)
		return err;
	if (trc_selection_has_all_time(r->selection))
		return trc_causes_of_wait(causes, trc_report_park_id(r, i), row, n);
	return trc_causes_of_thread(causes, r->park[i].thread, trc_park_start_ns(r->m, &r->park[i]),
				    trc_park_end_ns(r->m, &r->park[i]), row, n);
}

bool trc_report_has_all_threads(const struct trc_report *r)
{
	const struct trc_selection *s = r->selection;

	return !s || (!s->n_threads && !s->n_tasks && !s->labels);
}

int64_t trc_report_later_ns(const struct trc_report *r, int64_t from_ns)
{
	return r->selection && r->selection->from_ns > from_ns ? r->selection->from_ns : from_ns;
}

int64_t trc_report_earlier_ns(const struct trc_report *r, int64_t to_ns)
{
	return r->selection && r->selection->to_ns < to_ns ? r->selection->to_ns : to_ns;
}

void trc_report_line(struct trc_report *r, struct trc_line *line)
{
	trc_line_print(line, r->out);
	r->any_line = true;
}

void trc_report_more(struct trc_report *r, size_t n)
{
	struct trc_line line;

	if (n <= r->top)
		return;
	trc_line_begin(&line, r->width, r->colour);
	trc_line_add(&line, "    and %zu more", n - r->top);
	trc_report_line(r, &line);
}

void trc_report_heading(struct trc_report *r, const char *heading, const char *right)
{
	struct trc_line line;

	if (r->any_line)
		putc('\n', r->out);
	trc_line_begin(&line, r->width, r->colour);
	trc_line_style(&line, TRC_STYLE_BOLD);
	trc_line_add(&line, "%s", heading);
	trc_line_style(&line, TRC_STYLE_PLAIN);
	if (right)
		trc_line_add(&line, "  %s", right);
	trc_report_line(r, &line);
	r->any_section = true;
}

const char *trc_report_info(const struct trc_report *r, const char *key)
{
	const char *value = trc_reader_info_get(r->reader, key);

	return value && *value ? value : NULL;
}

bool trc_report_recovered(const struct trc_report *r)
{
	const char *what = trc_report_info(r, "snapshot");

	return what && !strcmp(what, "recovered");
}

const char *trc_report_until_end(const struct trc_report *r, char out[TRC_LASTED_BYTES],
				 int64_t since_ns)
{
	char number[TRC_NUMBER_BYTES];

	snprintf(out, TRC_LASTED_BYTES, "%s%s", trc_report_recovered(r) ? "> " : "",
		 trc_text_duration(number, r->end_ns - since_ns));
	return out;
}

uint64_t trc_report_count_threads(const struct trc_report *r, enum trc_thread_counts as)
{
	uint64_t n = 0;

	for (size_t i = 0; i < r->n_threads; i++)
		n += trc_model_thread_counts(r->m, i) == as;
	return n;
}

int64_t trc_report_on_cpu_ns(const struct trc_report *r, size_t row)
{
	if (!r->selection || r->thread[row].on_cpu_ns == TRC_NEVER)
		return r->thread[row].on_cpu_ns;
	return r->selection->labels ? TRC_NEVER : r->selected[row].on_cpu_ns;
}
