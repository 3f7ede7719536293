/* fold_replay.c - see fold_replay.h. */
#include "fold_replay.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "analyzer/profile/profile.h"
#include "recorder/fold/fold.h"

/* Trace time may be negative; ticks are not. */
#define ORIGIN_NS (INT64_C(1) << 50)

struct row {
	char *key; /* epoch, frames, labels */
	int64_t count, delay_ns;
};

struct rows {
	struct row *row;
	size_t n, capacity;
};

struct replay {
	const struct trc_reader *r;
	struct trc_writer *tables;
	struct trc_fold *fold;
	struct trc_event *event; /* by stream, in its order */
	size_t n_events;
	size_t *stream_end; /* [n_streams]; in event[] */
	size_t n_streams;
	uint32_t n_procs;
};

/* ---- the trace ------------------------------------------------------------------------- */

static uint64_t ticks_of(int64_t ns)
{
	return (uint64_t)(ns + ORIGIN_NS);
}

static uint64_t stack_of(struct replay *p, uint64_t id)
{
	struct trc_stack_view view;

	if (!id || trc_reader_stack(p->r, (uint32_t)id, &view))
		return 0;
	return trc_writer_stack(p->tables, view.epoch, view.frame, view.n_frames);
}

static uint64_t labels_of(struct replay *p, uint64_t id)
{
	const struct trc_label *label;
	uint32_t n;

	if (!id || trc_reader_label_set(p->r, (uint32_t)id, &label, &n))
		return 0;
	return trc_writer_label_set(p->tables, label, n);
}

static uint64_t argument(struct replay *p, enum trc_arg_type type, uint64_t value)
{
	switch (type) {
	case TRC_ARG_STACK:
		return stack_of(p, value);
	case TRC_ARG_LABELS:
		return labels_of(p, value);
	case TRC_ARG_TICKS: /* 0: not given */
		return (int64_t)value == trc_reader_ns(p->r, 0) ? 0 : ticks_of((int64_t)value);
	default:
		return value;
	}
}

static void add_event(struct replay *p, const struct trc_block_info *block,
		      const struct trc_columns *c, uint32_t i)
{
	const struct trc_kind_info *info = trc_kind_info(c->kind[i]);
	struct trc_event *e = &p->event[p->n_events++];

	*e = (struct trc_event){.time = ticks_of(c->time_ns[i]),
				.thread = c->thread[i],
				.proc = c->proc[i],
				.kind = c->kind[i],
				.source = block->source};
	for (unsigned int a = 0; a < info->n_args && c->arg[e->kind]; a++)
		if (c->arg[e->kind][a])
			e->arg[a] = argument(p, info->arg[a].type, c->arg[e->kind][a][c->rank[i]]);
	if (e->proc >= p->n_procs)
		p->n_procs = e->proc + 1;
}

static bool is_of_stream(const struct trc_block_info *a, const struct trc_block_info *b)
{
	return a->source == b->source && a->proc == b->proc;
}

static bool is_first_of_stream(const struct trc_reader *r, size_t i)
{
	for (size_t before = 0; before < i; before++)
		if (is_of_stream(trc_reader_block(r, before), trc_reader_block(r, i)))
			return false;
	return true;
}

static int add_stream(struct replay *p, size_t first, struct trc_error *error)
{
	const struct trc_block_info *stream = trc_reader_block(p->r, first);

	for (size_t i = first; i < trc_reader_blocks(p->r); i++) {
		const struct trc_block_info *block = trc_reader_block(p->r, i);
		struct trc_columns *c;
		int err;

		if (!is_of_stream(block, stream))
			continue;
		err = trc_reader_load(p->r, i, TRC_WANT_ALL, NULL, &c, error);
		if (err)
			return err;
		for (uint32_t row = 0; row < c->n_events; row++)
			add_event(p, block, c, row);
		trc_columns_free(c);
	}
	p->stream_end[p->n_streams++] = p->n_events;
	return 0;
}

static int read_trace(struct replay *p, struct trc_error *error)
{
	size_t n_blocks = trc_reader_blocks(p->r), n_events = 0;
	int err = 0;

	for (size_t i = 0; i < n_blocks; i++)
		n_events += trc_reader_block(p->r, i)->n_events;
	p->event = calloc(n_events + 1, sizeof(*p->event));
	p->stream_end = calloc(n_blocks + 1, sizeof(*p->stream_end));
	if (!p->event || !p->stream_end)
		return -1;
	for (size_t i = 0; i < n_blocks && !err; i++)
		if (is_first_of_stream(p->r, i))
			err = add_stream(p, i, error);
	return err;
}

/* ---- the fold -------------------------------------------------------------------------- */

/* What threads had before their first event that tells. */
static void tell_labels(struct replay *p)
{
	const struct trc_thread_labels_entry *entry;
	size_t n = trc_reader_thread_labels(p->r, &entry);
	uint64_t first[1024], labels;

	memset(first, 0xff, sizeof(first));
	for (size_t i = 0; i < n; i++)
		trc_fold_thread_labels(p->fold, p->tables, entry[i].thread,
				       (uint32_t)labels_of(p, entry[i].labels));
	for (size_t i = 0; i < p->n_events; i++) {
		const struct trc_event *e = &p->event[i];

		if (e->kind != TRC_KIND_LABELS || e->thread >= 1024 || e->time >= first[e->thread])
			continue;
		first[e->thread] = e->time;
		labels = e->arg[1];
		trc_fold_thread_labels(p->fold, p->tables, e->thread, (uint32_t)labels);
	}
}

/* As a drain does: one stream after the other, each up to where the pass ends. */
static void feed(struct replay *p, uint64_t begin, uint64_t until, uint64_t pass)
{
	size_t *at = calloc(p->n_streams + 1, sizeof(*at));

	for (size_t s = 1; at && s < p->n_streams; s++)
		at[s] = p->stream_end[s - 1];
	for (uint64_t upto = begin; at && upto < until + pass; upto += pass) {
		for (size_t s = p->n_streams; s-- > 0;)
			for (; at[s] < p->stream_end[s] && p->event[at[s]].time <= upto; at[s]++)
				trc_fold_event(p->fold, p->tables, &p->event[at[s]]);
		trc_fold_pass(p->fold, upto < until ? upto : until);
	}
	free(at);
}

/* ---- rows ------------------------------------------------------------------------------ */

static void add_row(struct rows *rows, const char *key, int64_t count, int64_t delay_ns)
{
	if (rows->n == rows->capacity) {
		rows->capacity = rows->capacity ? 2 * rows->capacity : 64;
		rows->row = realloc(rows->row, rows->capacity * sizeof(*rows->row));
		if (!rows->row)
			abort();
	}
	rows->row[rows->n++] = (struct row){strdup(key), count, delay_ns};
}

static int by_key(const void *a, const void *b)
{
	return strcmp(((const struct row *)a)->key, ((const struct row *)b)->key);
}

/* Sorted, each key once: one content may have more than one id. */
static void settle(struct rows *rows)
{
	size_t n = 0;

	if (rows->n)
		qsort(rows->row, rows->n, sizeof(*rows->row), by_key);
	for (size_t i = 0; i < rows->n; i++) {
		struct row *row = &rows->row[i], *last = n ? &rows->row[n - 1] : NULL;

		if (last && !strcmp(last->key, row->key)) {
			last->count += row->count;
			last->delay_ns += row->delay_ns;
			free(row->key);
		} else {
			rows->row[n++] = *row;
		}
	}
	rows->n = n;
}

static void free_rows(struct rows *rows)
{
	for (size_t i = 0; i < rows->n; i++)
		free(rows->row[i].key);
	free(rows->row);
}

static char *text_of(uint32_t epoch, const uint64_t *frame, uint32_t n_frames,
		     const struct trc_label *label, uint32_t n_labels)
{
	size_t n_bytes;
	char *text;
	FILE *out = open_memstream(&text, &n_bytes);

	fprintf(out, "%" PRIu32, n_frames ? epoch : 0);
	for (uint32_t i = 0; i < n_frames; i++)
		fprintf(out, " %" PRIx64, frame[i]);
	for (uint32_t i = 0; i < n_labels; i++)
		fprintf(out, " %.*s=%" PRId64 "%.*s", (int)label[i].key_bytes, label[i].key,
			label[i].is_number ? label[i].number : 0, (int)label[i].value_bytes,
			label[i].value);
	fclose(out);
	return text;
}

static void rows_of_fold(struct rows *rows, const struct trc_folded *folded)
{
	for (uint32_t i = 0; i < trc_folded_rows(folded); i++) {
		struct trc_label label[TRC_LABELS_MAX];
		struct trc_folded_row row;
		uint32_t n;
		char *text;

		trc_folded_row(folded, i, &row);
		n = trc_folded_labels(folded, &row, label);
		text = text_of(row.epoch, row.frame, row.n_frames, label, n);
		add_row(rows, text, row.value[0], row.value[1]);
		free(text);
	}
	settle(rows);
}

static void rows_of_analyzer(struct rows *rows, const struct trc_reader *r,
			     const struct trc_profile *profile)
{
	for (size_t i = 0; i < profile->n_samples; i++) {
		const struct trc_profile_sample *s = &profile->sample[i];
		const struct trc_label *label = NULL;
		struct trc_stack_view view = {0};
		uint32_t n = 0;
		char *text;

		if (s->stack)
			trc_reader_stack(r, s->stack, &view);
		if (s->labels)
			trc_reader_label_set(r, s->labels, &label, &n);
		text = text_of(view.epoch, view.frame, view.n_frames, label, n);
		add_row(rows, text, s->value[0], s->value[1]);
		free(text);
	}
	settle(rows);
}

/* ---- both ------------------------------------------------------------------------------ */

static bool is_same(const struct rows *a, const struct rows *b, const char *name, FILE *out)
{
	size_t i = 0;

	while (i < a->n && i < b->n && !strcmp(a->row[i].key, b->row[i].key) &&
	       a->row[i].count == b->row[i].count && a->row[i].delay_ns == b->row[i].delay_ns)
		i++;
	if (i == a->n && i == b->n)
		return true;
	fprintf(out, "%s: row %zu of %zu, %zu:\n", name, i, a->n, b->n);
	if (i < a->n)
		fprintf(out, "  analyzer: %" PRId64 " %" PRId64 " ns at %s\n", a->row[i].count,
			a->row[i].delay_ns, a->row[i].key);
	if (i < b->n)
		fprintf(out, "  fold:     %" PRId64 " %" PRId64 " ns at %s\n", b->row[i].count,
			b->row[i].delay_ns, b->row[i].key);
	return false;
}

/* A fold does not keep the waits that tell the analyzer which function released a lock by a jump (tail_unlocks.c). */
static int stacks_as_recorded(struct trc_model *m, struct trc_error *error)
{
	int err = trc_model_need(m, TRC_PART_WAITS, error);
	size_t n = 0;
	struct trc_unlock *unlock = err ? NULL : (struct trc_unlock *)trc_model_unlocks(m, &n);

	for (size_t i = 0; i < n; i++)
		unlock[i].stack = unlock[i].recorded_stack;
	return err;
}

static long compare(struct replay *p, struct trc_model *m, struct trc_view *view, const char *name,
		    FILE *out)
{
	struct rows analyzer = {0}, fold = {0};
	struct trc_folded *folded = NULL;
	struct trc_profile *profile = NULL;
	struct trc_folded_head head;
	struct trc_error error = {""};
	long n = -1;

	if (stacks_as_recorded(m, &error) || trc_profile_derive(&profile, m, name, &error) ||
	    trc_view_copy(p->fold, view, ticks_of(trc_model_end_ns(m)), &folded)) {
		fprintf(out, "%s: %s\n", name, error.text);
	} else {
		rows_of_analyzer(&analyzer, p->r, profile);
		rows_of_fold(&fold, folded);
		trc_folded_head(folded, &head);
		if (is_same(&analyzer, &fold, name, out))
			n = (long)fold.n;
		else
			fprintf(out, "  left out %" PRIu64 ", lost %" PRIu64 "\n", head.left_out,
				head.lost_events);
	}
	free_rows(&analyzer);
	free_rows(&fold);
	trc_profile_free(profile);
	trc_folded_free(folded);
	return n;
}

static int set_up(struct replay *p, uint64_t unlock_lag_ns, struct trc_error *error)
{
	const struct trc_writer_options writer = {.clock = TRC_CLOCK_MONOTONIC_RAW,
						  .ticks_per_second = 1000000000,
						  .n_procs = 1,
						  .discard = true};
	struct trc_fold_options options = {.ticks_per_second = 1000000000,
					   .unlock_lag_ns = unlock_lag_ns};
	int err = trc_writer_open(&p->tables, &writer, NULL, NULL);

	p->n_procs = 1;
	if (!err)
		err = read_trace(p, error);
	options.n_procs = p->n_procs;
	return err ? err : trc_fold_open(&p->fold, &options);
}

long fold_replay_compare(struct trc_model *m, uint64_t pass_ns, uint64_t unlock_lag_ns, FILE *out)
{
	const struct trc_view_options block = {.kind = TRC_VIEW_BLOCK};
	const struct trc_view_options mutex = {.kind = TRC_VIEW_MUTEX};
	struct replay p = {.r = trc_model_reader(m)};
	struct trc_view *block_view, *mutex_view;
	struct trc_error error = {"no memory"};
	long n_block = -1, n_mutex = -1;

	if (set_up(&p, unlock_lag_ns, &error) || trc_view_add(p.fold, &block_view, &block, 0) ||
	    trc_view_add(p.fold, &mutex_view, &mutex, 0)) {
		fprintf(out, "%s\n", error.text);
	} else {
		tell_labels(&p);
		feed(&p, ticks_of(trc_model_start_ns(m)), ticks_of(trc_model_end_ns(m)), pass_ns);
		n_block = compare(&p, m, block_view, "block", out);
		n_mutex = compare(&p, m, mutex_view, "mutex", out);
	}
	trc_fold_close(p.fold);
	trc_writer_close(p.tables);
	free(p.event);
	free(p.stream_end);
	return n_block < 0 || n_mutex < 0 ? -1 : n_block + n_mutex;
}
