/*
 * cpu.c - where CPU time went, or what else was sampled: by function, thread and label.
 *
 *   cpu:F1  a function's `self` is what was sampled in it, its `total` what was sampled in it or in
 *       what it called; recursion counts once
 *   cpu:F2  nothing is left out of a stack: time in the C library was spent there
 *   cpu:F3  values include compensated lost samples (analyzer/derive/scaled.c); the rest of
 *       the losses has a line of its own
 *   cpu:F4  a share has its margin behind it, in percentage points: half of its 95 % interval
 *       (margins.c)
 *   cpu:F5  samples in trc's own code, which the program would not run without trc, are one row, as in the page.  A
 *       frame of trc further out in a stack does not count: trc begins the threads
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "analyzer/profile/profile.h"
#include "parts.h"
#include "format/check.h"

enum { EVENTS_MAX = 16, NAME_WIDTH = 28, VALUE_WIDTH = 13, SHARE_WIDTH = 8, MARGIN_WIDTH = 6 };

struct function {
	uint32_t frame; /* one of its frames, an index; of the first: no stack */
	uint32_t stack; /* the last one that was counted in `total` */
	int64_t self, total;
};

/* The functions of all frames. */
enum { NO_STACK, TRC_ITSELF, NAMED }; /* rows; NAMED: the first that a frame has */
struct functions {
	struct trc_array rows; /* struct function */
	uint32_t *of_frame;
};

/* What the samples of one event add up to. */
struct sums {
	const struct trc_sample_event *event;
	bool clock; /* its values are nanoseconds */
	uint64_t samples;
	int64_t total;
	int64_t unseen; /* 0 with a filter: of what was not sampled nobody knows the labels */
	int64_t all;	/* both: what shares are of */
	int64_t *by_stack, *by_thread, *by_label; /* by id, by row, by row of the label's first */
	struct trc_report_margins margins;
};

/* ---- adding up ---- */

/* Of code without names: where the function begins, or else the place itself. */
static uint64_t unnamed_address(const struct trc_report *r, uint32_t frame)
{
	uint64_t start = r->stacks->origin[frame].start;

	return start ? start : r->stacks->frame[frame].address;
}

static uint64_t function_hash(const struct trc_report *r, uint32_t i)
{
	const struct trc_frame *frame = &r->stacks->frame[i];
	uint64_t address = unnamed_address(r, i);
	uint64_t seed = trc_check64(&frame->module, sizeof(frame->module), 0);

	if (frame->function)
		return trc_check64(frame->function, strlen(frame->function), seed);
	return trc_check64(&address, sizeof(address), seed);
}

/* F5: what stands for frames of trc's own code. */
static void find_trc(struct functions *f, const struct trc_report *r)
{
	uint32_t n = r->stacks->n_stacks ? r->stacks->stack_first[r->stacks->n_stacks] : 0;

	for (uint32_t at = 0; at < n; at++)
		if (trc_profile_is_trc(r->stacks, r->m, at))
			f->of_frame[r->stacks->stack_frame[at] - 1] = TRC_ITSELF;
}

static int functions_find(struct functions *f, const struct trc_report *r)
{
	struct trc_index index = {0};
	int err = 0;

	for (int row = 0; row < NAMED && !err; row++)
		err = trc_array_add(&f->rows) ? 0 : -ENOMEM;
	f->of_frame = calloc(r->stacks->n_frames + 1, sizeof(*f->of_frame));
	if (!f->of_frame || err)
		return -ENOMEM;
	find_trc(f, r);
	for (uint32_t i = 0; i < r->stacks->n_frames && !err; i++) {
		uint64_t hash = function_hash(r, i);
		uint32_t at = trc_index_get(&index, hash);

		if (f->of_frame[i] == TRC_ITSELF)
			continue;

		if (at == TRC_INDEX_NONE) {
			struct function *added = trc_array_add(&f->rows);

			at = (uint32_t)f->rows.n - 1;
			err = added ? trc_index_put(&index, hash, at) : -ENOMEM;
			if (added)
				added->frame = i;
		}
		f->of_frame[i] = at;
	}
	trc_index_free(&index);
	return err;
}

/* The values of one stack to its functions (F1). */
static void functions_add(struct functions *f, const struct trc_report *r, uint32_t stack,
			  int64_t value)
{
	const struct trc_stacks *s = r->stacks;
	uint32_t first = stack ? s->stack_first[stack] : 0;
	uint32_t end = stack ? s->stack_first[stack + 1] : 0;
	struct function *row = f->rows.row;

	if (first == end) {
		trc_report_add(&row[NO_STACK].self, value);
		trc_report_add(&row[NO_STACK].total, value);
		return;
	}
	trc_report_add(&row[f->of_frame[s->stack_frame[first] - 1]].self, value);
	for (uint32_t i = first; i < end; i++) {
		struct function *in = &row[f->of_frame[s->stack_frame[i] - 1]];

		if (i > first && in == &row[TRC_ITSELF])
			continue;
		if (in->stack != stack)
			trc_report_add(&in->total, value);
		in->stack = stack;
	}
}

static void functions_fill(struct functions *f, const struct trc_report *r, const struct sums *sums)
{
	struct function *row = f->rows.row;

	for (size_t i = 0; i < f->rows.n; i++)
		row[i] = (struct function){.frame = row[i].frame};
	for (uint32_t i = 0; i < r->stacks->n_stacks; i++)
		if (sums->by_stack[i])
			functions_add(f, r, i, sums->by_stack[i]);
}

bool trc_report_wants_sample(const struct trc_report *r, const struct trc_sample *sample)
{
	return trc_selection_passes(r->selection, r->m, sample->labels) &&
	       trc_selection_has_time(r->selection, sample->thread, sample->ts_ns);
}

static void cpu_sums_add_sample(struct sums *sums, const struct trc_report *r,
				const struct trc_sample *sample)
{
	int64_t value = trc_report_int64(sample->scaled);
	const struct trc_thread *thread = trc_model_thread(r->m, sample->thread);
	size_t n;
	const struct trc_set_label *label = trc_model_label_set(r->m, sample->labels, &n);

	if (!trc_report_wants_sample(r, sample))
		return;
	sums->samples++;
	trc_report_add(&sums->total, value);
	trc_report_add(&sums->by_stack[sample->stack < r->stacks->n_stacks ? sample->stack : 0],
		       value);
	if (thread)
		trc_report_add(&sums->by_thread[thread - r->thread], value);
	for (size_t i = 0; i < n; i++)
		trc_report_add(&sums->by_label[r->label_first[label + i - r->label]], value);
}

static int sums_make(struct sums *sums, const struct trc_report *r,
		     const struct trc_sample_event *event)
{
	size_t n;
	const struct trc_sample *sample = trc_model_samples(r->m, &n);

	*sums = (struct sums){
		.event = event,
		.clock = trc_sample_event_is_clock(event),
		.by_stack = calloc(r->stacks->n_stacks + 1, sizeof(int64_t)),
		.by_thread = calloc(r->n_threads + 1, sizeof(int64_t)),
		.by_label = calloc(r->n_labels + 1, sizeof(int64_t)),
	};
	if (!sums->by_stack || !sums->by_thread || !sums->by_label)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		if (sample[i].event == event->event)
			cpu_sums_add_sample(sums, r, &sample[i]);
	sums->unseen = r->selection ? 0 : trc_report_int64(event->unseen);
	sums->all = sums->total;
	trc_report_add(&sums->all, sums->unseen);
	return 0;
}

static void sums_free(struct sums *sums)
{
	free(sums->by_stack);
	free(sums->by_thread);
	free(sums->by_label);
	trc_report_margins_free(&sums->margins);
}

/* ---- functions ---- */

static const char *value_text(char number[TRC_NUMBER_BYTES], const struct sums *sums, int64_t value)
{
	return sums->clock ? trc_text_duration(number, value)
			   : trc_text_count(number, (uint64_t)value);
}

static int compare_functions(const void *a, const void *b)
{
	const struct function *x = *(struct function *const *)a, *y = *(struct function *const *)b;

	if (x->self != y->self)
		return x->self > y->self ? -1 : 1;
	if (x->total != y->total)
		return x->total > y->total ? -1 : 1;
	return x < y ? -1 : x > y;
}

/* A value, its share and how far that may be off. */
static void add_value(struct trc_line *line, const struct sums *sums, int64_t value, double margin)
{
	char number[TRC_NUMBER_BYTES];

	trc_line_right(line, VALUE_WIDTH, value_text(number, sums, value));
	trc_line_right(line, SHARE_WIDTH, trc_text_share(number, value, sums->all));
	trc_line_right(line, MARGIN_WIDTH, trc_text_margin(number, margin, sums->all));
}

static void print_function(struct trc_report *r, const struct sums *sums, const struct functions *f,
			   const struct function *function)
{
	size_t at = (size_t)(function - (const struct function *)f->rows.row);
	/* Of trc's own row both are one. */
	const double *total_margin = at == TRC_ITSELF ? sums->margins.self : sums->margins.total;
	struct trc_frame frame = {0};
	struct trc_line line;

	if (at >= NAMED) {
		frame = r->stacks->frame[function->frame];
		frame.address = unnamed_address(r, function->frame);
	}
	trc_line_begin(&line, r->width, r->colour);
	add_value(&line, sums, function->self, sums->margins.self[at]);
	add_value(&line, sums, function->total, total_margin[at]);
	trc_line_add(&line, "  ");
	if (at == NO_STACK)
		trc_line_add(&line, "(no stack)");
	else if (at == TRC_ITSELF)
		trc_line_add(&line, "trc, recording");
	else
		trc_report_function(r, &line, &frame);
	trc_report_line(r, &line);
}

static void print_cpu_unseen(struct trc_report *r, const struct sums *sums)
{
	char number[TRC_NUMBER_BYTES];
	struct trc_line line;

	trc_line_begin(&line, r->width, r->colour);
	trc_line_style(&line, TRC_STYLE_ALARM);
	trc_line_right(&line, VALUE_WIDTH, value_text(number, sums, sums->unseen));
	trc_line_right(&line, SHARE_WIDTH, trc_text_share(number, sums->unseen, sums->all));
	trc_line_right(&line, MARGIN_WIDTH + VALUE_WIDTH + SHARE_WIDTH + MARGIN_WIDTH, "");
	trc_line_add(&line, "  (not sampled)");
	trc_line_style(&line, TRC_STYLE_PLAIN);
	trc_report_line(r, &line);
}

static void cpu_print_columns(struct trc_report *r)
{
	struct trc_line line;

	trc_line_begin(&line, r->width, r->colour);
	trc_line_style(&line, TRC_STYLE_DIM);
	trc_line_right(&line, VALUE_WIDTH, "self");
	trc_line_right(&line, SHARE_WIDTH + MARGIN_WIDTH + VALUE_WIDTH, "total");
	trc_line_right(&line, SHARE_WIDTH + MARGIN_WIDTH, "");
	trc_line_add(&line, "  function");
	trc_line_style(&line, TRC_STYLE_PLAIN);
	trc_report_line(r, &line);
}

/* Those with most of their own; a caller of theirs is among them if it has something itself. */
static int print_functions(struct trc_report *r, const struct sums *sums, const struct functions *f)
{
	struct function **order = calloc(f->rows.n + 1, sizeof(*order));
	struct function *row = f->rows.row;
	struct trc_line line;
	size_t n = 0;

	if (!order)
		return -ENOMEM;
	for (size_t i = 0; i < f->rows.n; i++)
		if (row[i].self)
			order[n++] = &row[i];
	if (n)
		qsort(order, n, sizeof(struct function *), compare_functions);
	cpu_print_columns(r);
	if (sums->unseen)
		print_cpu_unseen(r, sums);
	for (size_t i = 0; i < n && i < r->top; i++)
		print_function(r, sums, f, order[i]);
	if (n > r->top) {
		trc_line_begin(&line, r->width, r->colour);
		trc_line_add(&line, "    and %zu more function%s", n - r->top,
			     n - r->top == 1 ? "" : "s");
		trc_report_line(r, &line);
	}
	free(order);
	return 0;
}

/* ---- how it was sampled ---- */

static void alarm_line(struct trc_report *r, const char *text)
{
	struct trc_line line;

	trc_line_begin(&line, r->width, r->colour);
	trc_line_style(&line, TRC_STYLE_ALARM);
	trc_line_add(&line, "  %s", text);
	trc_line_style(&line, TRC_STYLE_PLAIN);
	trc_report_line(r, &line);
}

/* Of the event, and those that may be of any. */
static void print_lost(struct trc_report *r, const struct sums *sums)
{
	const struct trc_sample_event *event = sums->event;
	struct trc_line line;
	size_t n;
	const struct trc_samples_lost *lost = trc_model_samples_lost(r->m, &n);
	uint64_t by_cause[UINT8_MAX + 1] = {0};
	char number[TRC_NUMBER_BYTES], text[128];

	for (size_t i = 0; i < n; i++)
		if (!lost[i].event || lost[i].event == event->event)
			by_cause[lost[i].cause] += lost[i].lost_samples;
	for (unsigned int cause = 0; cause <= UINT8_MAX; cause++) {
		if (!by_cause[cause])
			continue;
		snprintf(text, sizeof(text), "lost%s: %s sample%s, %s",
			 r->selection ? " in the whole trace" : "",
			 trc_text_count(number, by_cause[cause]), by_cause[cause] == 1 ? "" : "s",
			 trc_sample_loss_name(cause));
		alarm_line(r, text);
	}
	if (event->scaled > event->value) {
		trc_line_begin(&line, r->width, r->colour);
		trc_line_add(
			&line, "  made up for%s: %s, in the values of the other samples",
			r->selection ? " in the whole trace" : "",
			value_text(number, sums, trc_report_int64(event->scaled - event->value)));
		trc_report_line(r, &line);
	}
	if (event->missing_threads) {
		snprintf(text, sizeof(text), "%s thread%s not sampled",
			 trc_text_count(number, event->missing_threads),
			 event->missing_threads == 1 ? " was" : "s were");
		alarm_line(r, text);
	}
}

/* The share of the samples with a stack that has no more frames, and of all with one. */
static void short_stacks(const struct trc_report *r, const struct sums *sums, int64_t *with_few,
			 int64_t *with_any)
{
	const uint32_t *first = r->stacks->stack_first;

	*with_few = *with_any = 0;
	for (size_t i = 1; i < r->stacks->n_stacks; i++) {
		if (first[i + 1] == first[i])
			continue;
		trc_report_add(with_any, sums->by_stack[i]);
		if (first[i + 1] - first[i] <= TRC_SHORT_STACK_FRAMES)
			trc_report_add(with_few, sums->by_stack[i]);
	}
}

/* The kernel says nothing of a stack that it could not follow. */
static void print_short(struct trc_report *r, const struct sums *sums)
{
	char share[TRC_NUMBER_BYTES], text[160];
	int64_t with_few, with_any;

	if (sums->event->how != TRC_SAMPLE_KERNEL)
		return;
	short_stacks(r, sums, &with_few, &with_any);
	if (!with_few || with_few < with_any - with_few)
		return;
	snprintf(text, sizeof(text),
		 "%s in stacks of at most %d frames: the kernel needs frame pointers",
		 trc_text_share(share, with_few, with_any), TRC_SHORT_STACK_FRAMES);
	alarm_line(r, text);
	alarm_line(r, "  without them callers are missing; signals find them: --sample-by signal");
}

static void print_event_note(struct trc_report *r, const struct trc_sample_event *event)
{
	struct trc_line line;

	if (!*event->recorder_note)
		return; /* what the samples show has lines of its own */
	trc_line_begin(&line, r->width, r->colour);
	trc_line_add(&line, "  ");
	trc_line_data(&line, event->recorder_note, r->width - 2);
	trc_report_line(r, &line);
}

static void add_rate(struct trc_line *line, const struct sums *sums)
{
	const struct trc_sample_event *event = sums->event;
	char number[TRC_NUMBER_BYTES];

	if (event->frequency_hz)
		trc_line_add(line, ", %s per second", trc_text_count(number, event->frequency_hz));
	else if (event->period && event->period <= INT64_MAX)
		trc_line_add(line, ", every %s", value_text(number, sums, (int64_t)event->period));
	if (event->how)
		trc_line_add(line, ", by %s", trc_sample_how_name(event->how));
}

static void print_cpu_heading(struct trc_report *r, const struct sums *sums)
{
	const char *name = *sums->event->name ? sums->event->name : "an unknown event";
	char value[TRC_NUMBER_BYTES], samples[TRC_NUMBER_BYTES];
	struct trc_line line;

	putc('\n', r->out);
	trc_line_begin(&line, r->width, r->colour);
	trc_line_style(&line, TRC_STYLE_BOLD);
	trc_line_add(&line, sums->clock ? "CPU time" : "Samples of ");
	if (!sums->clock)
		trc_line_data(&line, name, NAME_WIDTH);
	trc_line_style(&line, TRC_STYLE_PLAIN);
	trc_line_add(&line, "  %s", value_text(value, sums, sums->total));
	if (sums->margins.all >= 1)
		trc_line_add(&line, " \xc2\xb1%s",
			     value_text(value, sums, trc_estimate_whole(sums->margins.all)));
	trc_line_add(&line, " in %s sample%s", trc_text_count(samples, sums->samples),
		     sums->samples == 1 ? "" : "s");
	if (sums->clock) {
		trc_line_add(&line, " of ");
		trc_line_data(&line, name, NAME_WIDTH);
	}
	add_rate(&line, sums);
	trc_report_line(r, &line);
}

/* ---- the section ---- */

static int print_event(struct trc_report *r, const struct trc_sample_event *event,
		       struct functions *f)
{
	struct sums sums;
	int err = sums_make(&sums, r, event);

	if (!err && sums.samples) {
		functions_fill(f, r, &sums);
		err = trc_report_margins_make(&sums.margins, r, event->event, f->of_frame,
					      f->rows.n);
	}
	if (!err) {
		print_cpu_heading(r, &sums);
		print_event_note(r, event);
		print_lost(r, &sums);
		print_short(r, &sums);
	}
	if (!err && sums.samples) {
		err = print_functions(r, &sums, f);
		if (!err)
			err = trc_report_thread_shares(r, sums.by_thread, sums.margins.by_thread,
						       sums.all);
		if (!err)
			err = trc_report_label_shares(
				r, &(struct trc_report_label_sums){.value = sums.by_label,
								   .margin = sums.margins.by_label,
								   .none = sums.margins.without_key,
								   .total = sums.total,
								   .all = sums.all});
	}
	sums_free(&sums);
	return err;
}

static void print_more_events(struct trc_report *r, size_t n)
{
	struct trc_line line;

	trc_line_begin(&line, r->width, r->colour);
	trc_line_add(&line, "    and %zu more sampled event%s", n, n == 1 ? "" : "s");
	trc_report_line(r, &line);
}

bool trc_report_has_cpu(const struct trc_report *r)
{
	size_t n;
	const struct trc_sample_event *event = trc_model_sample_events(r->m, &n);

	for (size_t i = 0; i < n; i++)
		if (trc_sample_event_is_clock(&event[i]))
			return true;
	return false;
}

int trc_report_cpu(struct trc_report *r)
{
	struct functions f = {.rows = {.row_bytes = sizeof(struct function)}};
	size_t n;
	const struct trc_sample_event *event = trc_model_sample_events(r->m, &n);
	int err = n ? functions_find(&f, r) : 0;

	for (size_t i = 0; i < n && i < EVENTS_MAX && !err; i++)
		err = print_event(r, &event[i], &f);
	if (n > EVENTS_MAX && !err)
		print_more_events(r, n - EVENTS_MAX);
	trc_array_free(&f.rows);
	free(f.of_frame);
	return err;
}
