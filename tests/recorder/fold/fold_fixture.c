/* fold_fixture.c - see fold_fixture.h. */
#include "fold_fixture.h"

#include <stdio.h>
#include <string.h>

struct trc_fold *fold;
struct trc_writer *tables;
static struct trc_folded *folded;
static struct trc_folded_head head;

void fold_set_up_small(uint64_t memory_bytes)
{
	const struct trc_fold_options options = {.ticks_per_second = 1000000000,
						 .n_procs = FOLD_PROCS,
						 .memory_bytes = memory_bytes};
	const struct trc_writer_options writer = {.clock = TRC_CLOCK_MONOTONIC_RAW,
						  .ticks_per_second = 1000000000,
						  .n_procs = FOLD_PROCS,
						  .memory_bytes = 8 << 20,
						  .discard = true};

	ck_assert_int_eq(trc_writer_open(&tables, &writer, NULL, NULL), 0);
	ck_assert_int_eq(trc_fold_open(&fold, &options), 0);
}

void fold_set_up(void)
{
	fold_set_up_small(0);
}

void fold_tear_down(void)
{
	trc_folded_free(folded);
	folded = NULL;
	trc_fold_close(fold);
	trc_writer_close(tables);
}

struct trc_view *view_with(const struct trc_view_options *options, uint64_t begin)
{
	struct trc_view *view;

	ck_assert_int_eq(trc_view_add(fold, &view, options, begin), 0);
	return view;
}

struct trc_view *view_of(enum trc_view_kind kind, uint64_t rate, uint64_t begin)
{
	const struct trc_view_options options = {.kind = kind, .rate = rate, .seed = rate};

	return view_with(&options, begin);
}

void put_at(uint32_t proc, uint64_t time, uint32_t thread, unsigned int kind, const uint64_t *arg)
{
	const struct trc_kind_info *info = trc_kind_info(kind);
	struct trc_event e = {.time = time, .thread = thread, .proc = proc, .kind = (uint8_t)kind};

	for (unsigned int i = 0; i < info->n_args; i++)
		e.arg[i] = arg[i];
	trc_fold_event(fold, tables, &e);
	trc_writer_make_room(tables);
}

uint64_t stack_id(uint64_t n)
{
	return n ? trc_writer_stack(tables, 5, &n, 1) : 0;
}

uint64_t labels_id(const char *key, const char *value)
{
	struct trc_label label = {.key = key, .value = value};

	if (!key)
		return 0;
	label.key_bytes = (uint32_t)strlen(key);
	label.value_bytes = (uint32_t)strlen(value);
	return trc_writer_label_set(tables, &label, 1);
}

void park(uint64_t time, uint32_t thread, unsigned int reason, uint64_t object, uint32_t holder,
	  uint64_t stack)
{
	put_at(0, time, thread, TRC_KIND_PARK,
	       (uint64_t[TRC_ARGS_MAX]){reason, object, holder, stack_id(stack)});
}

void resume(uint64_t time, uint32_t thread, unsigned int reason, uint64_t object, int result)
{
	put_at(0, time, thread, TRC_KIND_RESUME, (uint64_t[TRC_ARGS_MAX]){reason, object, (uint64_t)result});
}

void unlock(uint64_t time, uint32_t thread, uint64_t object, uint64_t stack, uint64_t at)
{
	put_at(0, time, thread, TRC_KIND_UNLOCK,
	       (uint64_t[TRC_ARGS_MAX]){TRC_REASON_MUTEX, object, 1, stack_id(stack), at, 0});
}

void unlock_held(uint64_t time, uint32_t thread, uint64_t object, uint64_t stack, uint64_t held)
{
	put_at(0, time, thread, TRC_KIND_UNLOCK,
	       (uint64_t[TRC_ARGS_MAX]){TRC_REASON_MUTEX, object, 1, stack_id(stack), time, held});
}

void gap(uint64_t time, uint64_t lost_events)
{
	put_at(0, time, 0, TRC_KIND_GAP, (uint64_t[TRC_ARGS_MAX]){lost_events, time, TRC_GAP_RING_FULL});
}

void sample(uint64_t time, uint32_t thread, uint32_t event, uint64_t value, uint64_t period,
	    uint64_t stack)
{
	put_at(0, time, thread, TRC_KIND_SAMPLE,
	       (uint64_t[TRC_ARGS_MAX]){event, value, period, stack_id(stack), 0});
}

void allocated(uint64_t time, uint64_t number, uint64_t bytes, uint64_t period, uint64_t stack)
{
	put_at(0, time, 1, TRC_KIND_ALLOC,
	       (uint64_t[TRC_ARGS_MAX]){number, number << 4, bytes, period, stack_id(stack), 0});
}

void freed(uint64_t time, uint64_t number)
{
	put_at(0, time, 1, TRC_KIND_FREE, (uint64_t[TRC_ARGS_MAX]){number, number << 4, 0, 0});
}

const struct trc_folded_head *copied(struct trc_view *view, uint64_t until)
{
	trc_folded_free(folded);
	folded = NULL;
	ck_assert_int_eq(trc_view_copy(fold, view, until, &folded), 0);
	trc_folded_head(folded, &head);
	return &head;
}

static bool has_labels(const struct trc_folded_row *row, const char *wanted)
{
	struct trc_label label[TRC_LABELS_MAX];
	uint32_t n = trc_folded_labels(folded, row, label);
	char text[1024] = "";
	size_t used = 0;

	ck_assert_uint_eq(n, row->n_labels);
	for (uint32_t i = 0; i < n; i++)
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%.*s=%.*s",
					 i ? "," : "", (int)label[i].key_bytes, label[i].key,
					 (int)label[i].value_bytes, label[i].value);
	return !wanted || !strcmp(text, wanted);
}

int64_t labelled_value(uint64_t stack, const char *labels, int i)
{
	int64_t sum = 0;
	bool found = false;

	for (uint32_t n = 0; n < trc_folded_rows(folded); n++) {
		struct trc_folded_row row;

		trc_folded_row(folded, n, &row);
		if ((row.n_frames ? row.frame[0] : 0) != stack || !has_labels(&row, labels))
			continue;
		ck_assert_uint_eq(row.epoch, stack ? 5 : 0);
		found = true;
		sum += row.value[i];
	}
	return found ? sum : -1;
}

int64_t value_of(uint64_t stack, int i)
{
	return labelled_value(stack, NULL, i);
}

uint32_t rows_copied(void)
{
	return trc_folded_rows(folded);
}
