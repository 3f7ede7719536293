/* profile.c - see profile.h: which profile goes by which name, and sums by stack and labels. */
#include "parts.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "analyzer/text/line.h"

bool trc_profile_passes(const struct trc_profile_sums *sums, uint32_t labels)
{
	return trc_selection_passes(sums->selection, sums->m, labels);
}

/* The number of this key, from 0; a new one if need be.  TRC_INDEX_NONE without memory. */
static uint32_t profile_number(struct trc_index *numbers, uint64_t key)
{
	uint32_t number = trc_index_get(numbers, key);

	if (number != TRC_INDEX_NONE)
		return number;
	number = (uint32_t)numbers->n;
	return trc_index_put(numbers, key, number) ? TRC_INDEX_NONE : number;
}

/* Each above those before it; a profile with causes has no sizes. */
enum { TAG_STACK_KIND = 1 << 8, TAG_CAUSE = 1 << 10, TAG_SIZED = 1 << 10 };

static uint32_t tag_of(struct trc_profile_sums *sums, const struct trc_profile_sample *sample)
{
	uint64_t why = sample->off + sample->stack_kind * (uint64_t)TAG_STACK_KIND +
		       sample->cause * (uint64_t)TAG_CAUSE;
	uint32_t tag = profile_number(&sums->tag, why << 32 | sample->labels);
	/* A profile has the one or the other, or neither. */
	uint64_t more = sample->bytes ? sample->bytes : sample->instead;
	uint32_t size;

	if (!more || tag == TRC_INDEX_NONE)
		return tag;
	size = profile_number(&sums->size, more);
	if (size == TRC_INDEX_NONE)
		return size;
	return profile_number(&sums->tag, (uint64_t)(TAG_SIZED + size) << 32 | tag);
}

struct trc_profile_sample *trc_profile_row(struct trc_profile_sums *sums,
					   const struct trc_profile_sample *sample)
{
	uint32_t tag = tag_of(sums, sample);
	uint64_t key = (uint64_t)tag << 32 | sample->stack;
	struct trc_profile_sample *row;
	uint32_t at;

	if (tag == TRC_INDEX_NONE)
		return NULL;
	at = trc_index_get(&sums->row, key);
	if (at != TRC_INDEX_NONE)
		return (struct trc_profile_sample *)sums->rows.row + at;
	row = trc_array_add(&sums->rows);
	if (!row || trc_index_put(&sums->row, key, (uint32_t)(sums->rows.n - 1)))
		return NULL;
	row->stack = sample->stack;
	row->labels = sample->labels;
	row->off = sample->off;
	row->stack_kind = sample->stack_kind;
	row->cause = sample->cause;
	row->bytes = sample->bytes;
	row->instead = sample->instead;
	return row;
}

int trc_profile_add(struct trc_profile_sums *sums, const struct trc_profile_sample *sample)
{
	struct trc_profile_sample *row = trc_profile_row(sums, sample);

	if (!row)
		return -ENOMEM;
	for (size_t i = 0; i < TRC_PROFILE_VALUES_MAX; i++)
		if (__builtin_add_overflow(row->value[i], sample->value[i], &row->value[i]))
			row->value[i] = INT64_MAX;
	return 0;
}

void trc_profile_comment(struct trc_profile *p, const char *format, ...)
{
	va_list args;

	if (p->n_comments == TRC_PROFILE_COMMENTS_MAX)
		return;
	va_start(args, format);
	if (vasprintf(&p->comment[p->n_comments], format, args) >= 0)
		p->n_comments++;
	va_end(args);
}

const char *trc_profile_off_name(const struct trc_model *m, uint8_t off)
{
	switch (off) {
	case TRC_OFF_NOT:
		return NULL;
	case TRC_OFF_PREEMPTED:
		return "preempted";
	case TRC_OFF_UNKNOWN:
		return "unknown";
	default:
		return trc_reader_reason_name(trc_model_reader(m), off);
	}
}

static int compare_samples(const void *a, const void *b, void *profile)
{
	const struct trc_profile_sample *x = a, *y = b;
	const struct trc_profile *p = profile;
	int64_t main_x = x->value[p->main_type], main_y = y->value[p->main_type];

	if (main_x != main_y)
		return main_x > main_y ? -1 : 1;
	if (x->value[0] != y->value[0])
		return x->value[0] > y->value[0] ? -1 : 1;
	if (x->stack != y->stack)
		return x->stack < y->stack ? -1 : 1;
	if (x->labels != y->labels)
		return x->labels < y->labels ? -1 : 1;
	if (x->off != y->off)
		return x->off < y->off ? -1 : 1;
	if (x->stack_kind != y->stack_kind)
		return x->stack_kind < y->stack_kind ? -1 : 1;
	if (x->cause != y->cause)
		return x->cause < y->cause ? -1 : 1;
	if (x->instead != y->instead)
		return x->instead < y->instead ? -1 : 1;
	return (x->bytes > y->bytes) - (x->bytes < y->bytes);
}

static bool has_value(const struct trc_profile_sample *sample)
{
	for (size_t i = 0; i < TRC_PROFILE_VALUES_MAX; i++)
		if (sample->value[i])
			return true;
	return false;
}

/* Those that have something, largest first; the rows are the profile's from here on. */
static void keep_samples(struct trc_profile *p, struct trc_profile_sums *sums)
{
	p->sample = sums->rows.row;
	for (size_t i = 0; i < sums->rows.n; i++)
		if (has_value(&p->sample[i]))
			p->sample[p->n_samples++] = p->sample[i];
	sums->rows.row = NULL;
	if (p->n_samples)
		qsort_r(p->sample, p->n_samples, sizeof(*p->sample), compare_samples, p);
}

static int profile_sum_up(struct trc_profile_sums *sums, struct trc_profile *p, const char *name,
			  struct trc_error *error)
{
	if (!strcmp(name, "block"))
		return trc_profile_block(sums, p);
	if (!strcmp(name, "mutex"))
		return trc_profile_mutex(sums, p);
	if (!strcmp(name, "blame"))
		return trc_profile_blame(sums, p);
	if (!strcmp(name, "path"))
		return trc_profile_path(sums, p, error);
	if (!strcmp(name, "offcpu"))
		return trc_profile_offcpu(sums, p);
	if (!strcmp(name, "hold"))
		return trc_profile_hold(sums, p, error);
	if (!strcmp(name, "latency"))
		return trc_profile_latency(sums, p, error);
	if (!strcmp(name, "wall"))
		return trc_profile_wall(sums, p, error);
	if (!strcmp(name, "heap") || !strcmp(name, "allocs"))
		return trc_profile_heap(sums, p, *name == 'a', error);
	return trc_profile_samples(sums, p, strcmp(name, "cpu") ? name : NULL, error);
}

static void comment_selection(struct trc_profile *p, const struct trc_selection *selection)
{
	struct trc_line line;

	if (!selection)
		return;
	trc_line_begin(&line, TRC_WIDTH_MAX, false);
	trc_selection_tell(&line, selection);
	trc_profile_comment(p, "only %s", trc_line_text(&line));
}

int trc_profile_derive(struct trc_profile **out, struct trc_model *m, const char *name,
		       struct trc_error *error)
{
	struct trc_profile_sums sums = {.m = m,
					.selection = trc_model_selection(m),
					.rows = {.row_bytes = sizeof(struct trc_profile_sample)}};
	struct trc_profile *p;
	int err = trc_model_need(m,
				 TRC_PART_WAITS | TRC_PART_SCHED | TRC_PART_LABELS |
					 TRC_PART_SAMPLES | TRC_PART_HEAP | TRC_PART_FIBERS |
					 (strcmp(name, "blame") ? 0 : TRC_PART_NOW) |
					 (strcmp(name, "path") ? 0 : TRC_PART_NOW | TRC_PART_USER) |
					 (strcmp(name, "hold") ? 0 : TRC_PART_HOLDS) |
					 (strcmp(name, "latency") ? 0 : TRC_PART_LATENCIES),
				 error);

	if (err)
		return err;
	p = calloc(1, sizeof(*p));
	error->text[0] = 0;
	err = p ? profile_sum_up(&sums, p, name, error) : -ENOMEM;
	if (!err)
		comment_selection(p, sums.selection);
	if (!err)
		keep_samples(p, &sums);
	trc_array_free(&sums.rows);
	trc_index_free(&sums.row);
	trc_index_free(&sums.tag);
	trc_index_free(&sums.size);
	if (err) {
		trc_profile_free(p);
		if (!error->text[0])
			snprintf(error->text, sizeof(error->text), "profile: %s", strerror(-err));
		return err;
	}
	*out = p;
	return 0;
}

void trc_profile_free(struct trc_profile *p)
{
	if (!p)
		return;
	for (size_t i = 0; i < p->n_comments; i++)
		free(p->comment[i]);
	free(p->sample);
	free(p);
}
