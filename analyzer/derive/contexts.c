/* contexts.c - see contexts.h. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include "contexts.h"

void trc_contexts_init(struct trc_contexts *c, struct trc_model *m)
{
	*c = (struct trc_contexts){.m = m};
	trc_changes_init(&c->changes, m);
}

void trc_contexts_free(struct trc_contexts *c)
{
	trc_changes_free(&c->changes);
	trc_index_free(&c->number);
	trc_index_free(&c->last);
}

/* ---- contexts by number ---------------------------------------------------------------- */

static const struct trc_context *context_of(const struct trc_model *m, uint32_t number)
{
	return (const struct trc_context *)m->contexts.row + number - 1;
}

static const char *hex_text(struct trc_pool *pool, const uint64_t *word, size_t n_words)
{
	char *text = trc_pool_take(pool, n_words * 16 + 1);

	for (size_t i = 0; text && i < n_words; i++)
		snprintf(text + 16 * i, 17, "%016" PRIx64, word[i]);
	return text;
}

static uint32_t context_add(struct trc_contexts *c, uint64_t high, uint64_t low, uint64_t span)
{
	struct trc_context *context = trc_array_add(&c->m->contexts);
	const uint64_t trace[2] = {high, low};

	if (!context)
		return 0;
	*context = (struct trc_context){.trace = {high, low},
					.span = span,
					.trace_text = hex_text(&c->m->text, trace, 2),
					.span_text = hex_text(&c->m->text, &span, 1)};
	return context->trace_text && context->span_text ? (uint32_t)c->m->contexts.n : 0;
}

/* 0 for no context; or -ENOMEM. */
static int context_number(struct trc_contexts *c, const struct trc_args_otel_context *args,
			  uint32_t *number)
{
	uint64_t high = args->trace_high, low = args->trace_low, key;

	*number = 0;
	if (!args->span)
		return 0;
	for (key = trc_index_key(trc_index_key(high, low), args->span);; key++) {
		const struct trc_context *is;

		*number = trc_index_get(&c->number, key);
		if (*number == TRC_INDEX_NONE)
			break;
		is = context_of(c->m, *number);
		if (is->trace[0] == high && is->trace[1] == low && is->span == args->span)
			return 0;
	}
	*number = context_add(c, high, low, args->span);
	return *number ? trc_index_put(&c->number, key, *number) : -ENOMEM;
}

/* ---- events ---------------------------------------------------------------------------- */

/* What the thread had until this event: the context of its event before, or another one whose event
 * is missing, 0. */
static uint32_t before_of(const struct trc_contexts *c, const struct trc_args_otel_context *args,
			  uint32_t thread, uint32_t number)
{
	uint32_t last = trc_index_get(&c->last, thread);
	uint64_t last_span = last == TRC_INDEX_NONE || !last ? 0 : context_of(c->m, last)->span;

	if (args->before == args->span && last_span != args->span)
		return number; /* told again; the event that told it first is missing */
	return last != TRC_INDEX_NONE && last_span == args->before ? last : 0;
}

int trc_contexts_event(struct trc_contexts *c, const struct trc_span *span, uint32_t row)
{
	const struct trc_columns *columns = span->columns;
	const struct trc_args_otel_context args = {
		.trace_high = TRC_ROW_ARG(columns, row, otel_context, trace_high),
		.trace_low = TRC_ROW_ARG(columns, row, otel_context, trace_low),
		.span = TRC_ROW_ARG(columns, row, otel_context, span),
		.before = TRC_ROW_ARG(columns, row, otel_context, before)};
	struct trc_change change = {.thread = columns->thread[row],
				    .ts_ns = columns->time_ns[row],
				    .place = span->place + row};
	int err;

	if (!change.thread)
		return 0;
	err = context_number(c, &args, &change.value);
	if (err)
		return err;
	change.before = before_of(c, &args, columns->thread[row], change.value);
	err = trc_index_put(&c->last, columns->thread[row], change.value);
	return err ? err : trc_changes_add(&c->changes, &change);
}

/* ---- sets of both ---------------------------------------------------------------------- */

static uint64_t pair_key(uint32_t context, uint32_t labels)
{
	return (uint64_t)context << 32 | labels;
}

uint64_t trc_context_set_key(const struct trc_context_set *set)
{
	return pair_key(set->context, set->labels);
}

/* How many labels a context makes of these, at most. */
static size_t set_labels(const struct trc_model *m, uint32_t labels)
{
	const struct trc_label *label;
	uint32_t n = 0;

	if (labels && trc_reader_label_set(m->reader, labels, &label, &n))
		n = 0;
	return n + TRC_CONTEXT_LABELS;
}

static int pair_add(struct trc_model *m, uint32_t context, uint32_t labels)
{
	uint64_t key = pair_key(context, labels);
	struct trc_context_set *set;
	size_t n;

	if (!context || trc_index_get(&m->context_set, key) != TRC_INDEX_NONE)
		return 0;
	n = set_labels(m, labels);
	m->contexts_cut = m->contexts_cut || m->n_context_labels + n > TRC_CONTEXT_LABELS_MAX;
	if (m->contexts_cut) /* V1 */
		return 0;
	set = trc_array_add(&m->context_sets);
	if (!set)
		return -ENOMEM;
	m->n_context_labels += n;
	*set = (struct trc_context_set){context, labels};
	return trc_index_put(&m->context_set, key, (uint32_t)(m->context_sets.n - 1));
}

/* The first row of the thread's, and how many it has. */
static const struct trc_thread_span *rows_of(const struct trc_thread_spans *spans, uint32_t thread,
					     size_t *n)
{
	uint32_t first = trc_index_get(&spans->first, thread);
	const struct trc_thread_span *row = spans->span.row;

	*n = 0;
	if (first == TRC_INDEX_NONE)
		return NULL;
	while (first + *n < spans->span.n && row[first + *n].thread == thread)
		++*n;
	return row + first;
}

static bool span_ends_before(const struct trc_thread_span *a, const struct trc_thread_span *b)
{
	return a->end_ns != TRC_NEVER && a->end_ns < b->start_ns;
}

/* The pairs of one thread, both kinds of whose spans are in the order of time. */
static int thread_pairs(struct trc_model *m, const struct trc_thread_span *context, size_t n)
{
	size_t n_labels, from = 0;
	const struct trc_thread_span *labels = rows_of(&m->label_spans, context->thread, &n_labels);
	int err = 0;

	for (size_t i = 0; i < n && !err; i++) {
		while (from < n_labels && span_ends_before(&labels[from], &context[i]))
			from++;
		err = pair_add(m, context[i].value, 0);
		for (size_t j = from;
		     j < n_labels && !span_ends_before(&context[i], &labels[j]) && !err; j++)
			err = pair_add(m, context[i].value, labels[j].value);
	}
	return err;
}

/* Where a thread had one of them for no time (spans:B4). */
static int moments_pairs(struct trc_model *m)
{
	const struct trc_thread_moment *moment = m->context_spans.moment.row;
	int err = 0;

	for (size_t i = 0; i < m->context_spans.moment.n && !err; i++)
		err = pair_add(m, moment[i].value,
			       trc_thread_spans_at(&m->label_spans, moment[i].thread,
						   moment[i].ts_ns, moment[i].start_place));
	moment = m->label_spans.moment.row;
	for (size_t i = 0; i < m->label_spans.moment.n && !err; i++)
		err = pair_add(m,
			       trc_thread_spans_at(&m->context_spans, moment[i].thread,
						   moment[i].ts_ns, moment[i].start_place),
			       moment[i].value);
	return err;
}

int trc_contexts_end(struct trc_contexts *c)
{
	struct trc_model *m = c->m;
	int err = trc_changes_make_spans(&c->changes, &m->context_spans);
	const struct trc_thread_span *span = m->context_spans.span.row;

	for (size_t i = 0, n; i < m->context_spans.span.n && !err; i += n) {
		for (n = 1; i + n < m->context_spans.span.n && span[i + n].thread == span[i].thread;
		     n++)
			;
		err = thread_pairs(m, &span[i], n);
	}
	return err ? err : moments_pairs(m);
}

uint32_t trc_model_labels_in_context(const struct trc_model *m, uint32_t labels, uint32_t thread,
				     int64_t ts_ns, uint64_t place)
{
	uint32_t context = 0, set;

	if (m->contexts.n)
		context = trc_thread_spans_at(&m->context_spans, thread, ts_ns, place);
	set = context ? trc_index_get(&m->context_set, pair_key(context, labels)) : TRC_INDEX_NONE;
	return set == TRC_INDEX_NONE ? labels : (uint32_t)(m->n_file_sets + set);
}

bool trc_model_contexts_are_cut(const struct trc_model *m)
{
	return m->contexts_cut;
}

bool trc_model_has_contexts(const struct trc_model *m)
{
	return m->contexts.n != 0;
}
