/*
 * heap.c - memory: what is in use when the trace ends, what was allocated, and where.
 *
 *   report_heap:H1  a place is a stack's frames of the program's own, as of waits
 *   report_heap:H2  growth is what a place has in use at the end, less what it had in the middle of
 *       the trace.  The growth of a leak is about half of its memory, the growth of a cache that was filled is
 *       nothing
 *   report_heap:H3  all of this is estimated from samples; allocations before the trace are not in it
 *   report_heap:H4  an estimate has its margin behind it: half of its 95 % interval, in bytes
 *       (analyzer/model/margin.h), those of objects and of what was allocated where lines are long; if
 *       every allocation was sampled there are no such columns
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "analyzer/model/margin.h"
#include "parts.h"

enum {
	BYTES_WIDTH = 10,
	MARGIN_WIDTH = 9,
	SHARE_WIDTH = 7,
	OBJECTS_WIDTH = 11,
	LONG_LINE = 130, /* has room for all margins */
};

struct place {
	double in_use, at_half, allocated;		     /* bytes */
	double objects;					     /* in use */
	struct trc_heap_margin in_use_margin, growth_margin; /* H4 */
	struct trc_heap_margin objects_margin, allocated_margin;
};

struct memory {
	struct place *place; /* by canonical stack */
	struct place all;
	int64_t *by_label; /* bytes in use, by row of the label's first */
	int64_t labelled;  /* the same of all, with or without labels: rounded alike */
	struct trc_heap_margin *label_margin; /* as by_label */
	int64_t half_ns;
	uint64_t samples, finest, coarsest;
};

/* ---- adding up ---- */

static void margin_add(struct trc_heap_margin *margin, const struct trc_alloc *alloc)
{
	trc_heap_margin_add(margin, alloc->objects, (double)alloc->bytes);
}

static void place_add(struct place *place, const struct trc_alloc *alloc, int64_t half_ns)
{
	double bytes = alloc->objects * (double)alloc->bytes;
	bool at_half =
		alloc->ts_ns <= half_ns &&
		(alloc->lives || (alloc->freed_ns != TRC_NEVER && alloc->freed_ns > half_ns));

	place->allocated += bytes;
	margin_add(&place->allocated_margin, alloc);
	if (alloc->lives) {
		place->in_use += bytes;
		place->objects += alloc->objects;
		margin_add(&place->in_use_margin, alloc);
		trc_heap_margin_add(&place->objects_margin, alloc->objects, 1);
	}
	if (at_half)
		place->at_half += bytes;
	if (at_half != alloc->lives) /* the others are in both: they do not change */
		margin_add(&place->growth_margin, alloc);
}

static void memory_add_alloc(struct memory *memory, const struct trc_report *r,
			     const struct trc_alloc *alloc)
{
	uint32_t stack = alloc->stack < r->stacks->n_stacks ? alloc->stack : 0;
	size_t n;
	const struct trc_set_label *label = trc_model_label_set(r->m, alloc->labels, &n);
	int64_t bytes;

	if (!trc_selection_passes(r->selection, r->m, alloc->labels) ||
	    !trc_selection_has_time(r->selection, alloc->thread, alloc->ts_ns))
		return;
	if (!memory->samples++ || alloc->period < memory->finest)
		memory->finest = alloc->period;
	if (alloc->period > memory->coarsest)
		memory->coarsest = alloc->period;
	place_add(&memory->place[trc_report_canonical(r, stack)], alloc, memory->half_ns);
	place_add(&memory->all, alloc, memory->half_ns);
	if (!alloc->lives)
		return;
	bytes = trc_estimate_whole(alloc->objects * (double)alloc->bytes);
	trc_report_add(&memory->labelled, bytes);
	for (size_t i = 0; i < n; i++) {
		uint32_t first = r->label_first[label + i - r->label];

		trc_report_add(&memory->by_label[first], bytes);
		margin_add(&memory->label_margin[first], alloc);
	}
}

/* ---- lines ---- */

static const char *bytes_text(char number[TRC_NUMBER_BYTES], double bytes)
{
	return trc_text_bytes(number, (uint64_t)trc_estimate_whole(bytes));
}

/* "±1.25 MB"; "" if there is nothing between the samples. */
static const char *margin_text(char text[TRC_NUMBER_BYTES + 2],
			       const struct trc_heap_margin *margin)
{
	double bytes = trc_heap_margin(margin);

	memcpy(text, "\xc2\xb1", 2);
	bytes_text(text + 2, bytes);
	return bytes < 1 ? "" : text;
}

/* "±1,250" objects. */
static const char *objects_margin_text(char text[TRC_NUMBER_BYTES + 2],
				       const struct trc_heap_margin *margin)
{
	double objects = trc_heap_margin(margin);

	memcpy(text, "\xc2\xb1", 2);
	trc_text_count(text + 2, (uint64_t)trc_estimate_whole(objects));
	return objects < 1 ? "" : text;
}

static const char *growth_text(char text[TRC_NUMBER_BYTES + 1], const struct place *place)
{
	double growth = place->in_use - place->at_half;

	text[0] = growth < 0 ? '-' : '+';
	bytes_text(text + 1, growth < 0 ? -growth : growth);
	return growth > -1 && growth < 1 ? "" : text;
}

/* The margins' column; nothing if every allocation was sampled. */
static void add_margin_column(struct trc_line *line, const struct memory *memory,
			      const struct trc_heap_margin *margin)
{
	char text[TRC_NUMBER_BYTES + 2] = "";

	if (memory->coarsest > 1)
		trc_line_right(line, MARGIN_WIDTH, margin ? margin_text(text, margin) : "");
}

/* Likewise, where there is room for all of them. */
static bool has_all_margins(const struct trc_report *r, const struct memory *memory)
{
	return memory->coarsest > 1 && r->width >= LONG_LINE;
}

static void heap_print_columns(struct trc_report *r, const struct memory *memory)
{
	struct trc_line line;

	trc_line_begin(&line, r->width, r->colour);
	trc_line_style(&line, TRC_STYLE_DIM);
	trc_line_right(&line, BYTES_WIDTH, "in use");
	add_margin_column(&line, memory, NULL);
	trc_line_right(&line, SHARE_WIDTH, "");
	trc_line_right(&line, OBJECTS_WIDTH, "objects");
	if (has_all_margins(r, memory))
		trc_line_right(&line, MARGIN_WIDTH, "");
	trc_line_right(&line, BYTES_WIDTH, "growth");
	add_margin_column(&line, memory, NULL);
	trc_line_right(&line, BYTES_WIDTH + 1, "allocated");
	if (has_all_margins(r, memory))
		trc_line_right(&line, MARGIN_WIDTH, "");
	trc_line_add(&line, "  where");
	trc_line_style(&line, TRC_STYLE_PLAIN);
	trc_report_line(r, &line);
}

static void print_heap_place(struct trc_report *r, const struct memory *memory,
			     const struct place *place)
{
	char number[TRC_NUMBER_BYTES], growth[TRC_NUMBER_BYTES + 1], margin[TRC_NUMBER_BYTES + 2];
	bool any = place->in_use >= 1;
	struct trc_line line;

	trc_line_begin(&line, r->width, r->colour);
	trc_line_right(&line, BYTES_WIDTH, bytes_text(number, place->in_use));
	add_margin_column(&line, memory, &place->in_use_margin);
	trc_line_right(&line, SHARE_WIDTH,
		       any ? trc_text_share(number, trc_estimate_whole(place->in_use),
					    trc_estimate_whole(memory->all.in_use))
			   : "");
	trc_line_right(&line, OBJECTS_WIDTH,
		       any ? trc_text_count(number, (uint64_t)trc_estimate_whole(place->objects))
			   : "");
	if (has_all_margins(r, memory))
		trc_line_right(&line, MARGIN_WIDTH,
			       any ? objects_margin_text(margin, &place->objects_margin) : "");
	trc_line_right(&line, BYTES_WIDTH, growth_text(growth, place));
	add_margin_column(&line, memory, &place->growth_margin);
	trc_line_right(&line, BYTES_WIDTH + 1, bytes_text(number, place->allocated));
	if (has_all_margins(r, memory))
		add_margin_column(&line, memory, &place->allocated_margin);
	trc_line_add(&line, "  ");
	trc_report_stack(r, &line, (uint32_t)(place - memory->place));
}

static void print_more_places(struct trc_report *r, size_t n)
{
	struct trc_line line;

	trc_line_begin(&line, r->width, r->colour);
	trc_line_add(&line, "    and %zu more place%s", n, n == 1 ? "" : "s");
	trc_report_line(r, &line);
}

static int compare(double x, double y)
{
	return (x < y) - (x > y);
}

static int compare_in_use(const void *a, const void *b)
{
	const struct place *x = *(struct place *const *)a, *y = *(struct place *const *)b;
	int order = compare(x->in_use, y->in_use);

	if (!order)
		order = compare(x->allocated, y->allocated);
	return order ? order : (x > y) - (x < y);
}

static int compare_allocated(const void *a, const void *b)
{
	const struct place *x = *(struct place *const *)a, *y = *(struct place *const *)b;
	int order = compare(x->allocated, y->allocated);

	return order ? order : (x > y) - (x < y);
}

/* The places with most in use; then those that allocated most, if they are others. */
static int print_heap_places(struct trc_report *r, const struct memory *memory)
{
	struct place **order = calloc(r->stacks->n_stacks + 1, sizeof(*order));
	size_t n = 0, n_in_use = 0, n_shown;

	if (!order)
		return -ENOMEM;
	for (uint32_t i = 0; i < r->stacks->n_stacks || !i; i++) {
		if (memory->place[i].allocated > 0)
			order[n++] = &memory->place[i];
		n_in_use += memory->place[i].in_use > 0;
	}
	qsort(order, n, sizeof(struct place *), compare_in_use);
	n_shown = n_in_use < r->top ? n_in_use : r->top;
	heap_print_columns(r, memory);
	for (size_t i = 0; i < n_shown; i++)
		print_heap_place(r, memory, order[i]);
	if (n_in_use > n_shown)
		print_more_places(r, n_in_use - n_shown);
	qsort(order + n_shown, n - n_shown, sizeof(struct place *), compare_allocated);
	for (size_t i = n_shown; i < n && i < n_shown + r->top / 2 + 1; i++)
		print_heap_place(r, memory, order[i]);
	free(order);
	return 0;
}

static void print_heap_heading(struct trc_report *r, const struct memory *memory)
{
	char number[TRC_NUMBER_BYTES], margin[TRC_NUMBER_BYTES + 2];
	struct trc_line line;

	putc('\n', r->out);
	trc_line_begin(&line, r->width, r->colour);
	trc_line_style(&line, TRC_STYLE_BOLD);
	trc_line_add(&line, "Memory");
	trc_line_style(&line, TRC_STYLE_PLAIN);
	trc_line_add(&line, "  %s", bytes_text(number, memory->all.in_use));
	if (*margin_text(margin, &memory->all.in_use_margin))
		trc_line_add(&line, " %s", margin);
	trc_line_add(&line, " in use at the end, %s", bytes_text(number, memory->all.allocated));
	if (*margin_text(margin, &memory->all.allocated_margin))
		trc_line_add(&line, " %s", margin);
	trc_line_add(&line, " allocated,");
	if (memory->coarsest > 1 && !has_all_margins(r, memory)) {
		trc_report_line(r, &line);
		trc_line_begin(&line, r->width, r->colour);
		trc_line_add(&line, " ");
	}
	trc_line_add(&line, " from %s sample%s", trc_text_count(number, memory->samples),
		     memory->samples == 1 ? "" : "s");
	if (memory->finest <= 1 && memory->coarsest <= 1)
		trc_line_add(&line, ": every allocation");
	else
		trc_line_add(&line, ", one byte in %s", trc_text_count(number, memory->finest));
	if (memory->finest != memory->coarsest && memory->coarsest > 1)
		trc_line_add(&line, " to %s", trc_text_count(number, memory->coarsest));
	trc_report_line(r, &line);
}

static void print_heap_doubt(struct trc_report *r)
{
	struct trc_line line;

	if (!trc_model_lost_events(r->m))
		return;
	trc_line_begin(&line, r->width, r->colour);
	trc_line_style(&line, TRC_STYLE_ALARM);
	trc_line_add(&line, "  events were lost: some of what is in use may have been freed");
	trc_line_style(&line, TRC_STYLE_PLAIN);
	trc_report_line(r, &line);
}

/* ---- the section ---- */

/* What has a label of a key: its share is as far off as that of what has none. */
struct keyed {
	struct trc_heap_margin margin;
	int64_t bytes;
};

static void label_margins(double *margin, double *none, struct keyed *keyed,
			  const uint32_t *key_row, const struct trc_report *r,
			  const struct memory *memory)
{
	double all = (double)memory->labelled;

	for (size_t i = 0; i < r->n_labels; i++) {
		struct keyed *of = &keyed[key_row[i]];

		if (!memory->by_label[i])
			continue;
		margin[i] =
			trc_heap_margin_share(&memory->label_margin[i], &memory->all.in_use_margin,
					      (double)memory->by_label[i] / all);
		trc_heap_margin_join(&of->margin, &memory->label_margin[i]);
		trc_report_add(&of->bytes, memory->by_label[i]);
	}
	for (size_t i = 0; i < r->n_labels; i++)
		none[i] =
			trc_heap_margin_share(&keyed[key_row[i]].margin, &memory->all.in_use_margin,
					      (double)keyed[key_row[i]].bytes / all);
}

static int print_heap_labels(struct trc_report *r, const struct memory *memory)
{
	double *margin = calloc(2 * r->n_labels + 1, sizeof(*margin));
	struct keyed *keyed = calloc(r->n_labels + 1, sizeof(*keyed));
	uint32_t *key_row = trc_report_key_rows(r);
	int err = margin && keyed && key_row ? 0 : -ENOMEM;

	if (!err && memory->labelled) {
		label_margins(margin, margin + r->n_labels, keyed, key_row, r, memory);
		err = trc_report_label_shares(
			r, &(struct trc_report_label_sums){.value = memory->by_label,
							   .margin = margin,
							   .none = margin + r->n_labels,
							   .total = memory->labelled,
							   .all = memory->labelled});
	}
	free(margin);
	free(keyed);
	free(key_row);
	return err;
}

int trc_report_heap(struct trc_report *r)
{
	struct memory memory = {.half_ns = r->start_ns + (r->end_ns - r->start_ns) / 2};
	size_t n;
	const struct trc_alloc *alloc = trc_model_allocs(r->m, &n);
	int err = 0;

	if (!n)
		return 0;
	memory.place = calloc(r->stacks->n_stacks + 1, sizeof(*memory.place));
	memory.by_label = calloc(r->n_labels + 1, sizeof(*memory.by_label));
	memory.label_margin = calloc(r->n_labels + 1, sizeof(*memory.label_margin));
	if (!memory.place || !memory.by_label || !memory.label_margin)
		err = -ENOMEM;
	for (size_t i = 0; i < n && !err; i++)
		memory_add_alloc(&memory, r, &alloc[i]);
	if (!err && memory.samples) {
		print_heap_heading(r, &memory);
		print_heap_doubt(r);
		err = print_heap_places(r, &memory);
		if (!err)
			err = print_heap_labels(r, &memory);
	}
	free(memory.place);
	free(memory.by_label);
	free(memory.label_margin);
	return err;
}
