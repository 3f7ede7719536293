/* self_test_read.c - reads the trace of the program that --self-test records; see self_test.h. */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include "format/reader.h"
#include "self_test.h"

struct reading {
	const struct trc_reader *r;
	const struct trc_self_test_account *account;
	struct trc_self_test_seen *seen;
	const struct trc_columns *columns;
	uint32_t resumes;
	int64_t park_ns, resume_ns; /* sums of times: only one thread waits for the lock */
};

/* 0 where the block has no such argument. */
static uint64_t arg_value(const struct reading *g, uint32_t row, unsigned int arg)
{
	const uint64_t *const *columns = g->columns->arg[g->columns->kind[row]];

	return columns && columns[arg] ? columns[arg][g->columns->rank[row]] : 0;
}

#define VALUE_OF(g, row, kind_name, arg_name) arg_value(g, row, TRC_ARG_INDEX(kind_name, arg_name))

/* The innermost frames differ: they are two calls in one function.  All others are the same. */
static bool is_stack_of_account(const struct reading *g, uint64_t stack)
{
	const struct trc_self_test_account *account = g->account;
	struct trc_stack_view view;
	uint32_t i;

	if (!stack || stack > UINT32_MAX || trc_reader_stack(g->r, (uint32_t)stack, &view))
		return false;
	for (i = 1; i < view.n_frames && i < account->n_frames && i < TRC_SELF_TEST_FRAMES; i++)
		if (view.frame[i] != account->frame[i])
			return false;
	return i > 1; /* the function that the thread began with, at least */
}

/* A sample may be anywhere in the thread's function; what has called that is the same, outermost last. */
static bool is_in_thread_of_account(const struct reading *g, uint64_t stack)
{
	enum { INSIDE = 2 }; /* the function that waits, and the thread's */
	const struct trc_self_test_account *account = g->account;
	struct trc_stack_view view;
	uint32_t n;

	if (!stack || stack > UINT32_MAX || trc_reader_stack(g->r, (uint32_t)stack, &view) ||
	    account->n_frames > TRC_SELF_TEST_FRAMES)
		return false;
	n = account->n_frames > INSIDE ? account->n_frames - INSIDE : 0;
	if (!n || view.n_frames <= n)
		return false;
	for (uint32_t i = 0; i < n; i++)
		if (view.frame[view.n_frames - n + i] != account->frame[INSIDE + i])
			return false;
	return true;
}

static void see_sample(struct reading *g, uint32_t row)
{
	g->seen->samples++;
	g->seen->sampled_ns += VALUE_OF(g, row, sample, value);
	g->seen->samples_with_stack += is_in_thread_of_account(g, VALUE_OF(g, row, sample, stack));
}

static void see_park(struct reading *g, uint32_t row)
{
	if (VALUE_OF(g, row, park, object) != g->account->lock ||
	    VALUE_OF(g, row, park, reason) != TRC_REASON_MUTEX)
		return;
	g->seen->waits++;
	g->seen->waits_with_stack += is_stack_of_account(g, VALUE_OF(g, row, park, stack));
	g->park_ns += g->columns->time_ns[row];
}

static void see_resume(struct reading *g, uint32_t row)
{
	if (VALUE_OF(g, row, resume, object) != g->account->lock ||
	    VALUE_OF(g, row, resume, reason) != TRC_REASON_MUTEX)
		return;
	g->resumes++;
	g->resume_ns += g->columns->time_ns[row];
}

static void see_event(struct reading *g, uint32_t row)
{
	switch (g->columns->kind[row]) {
	case TRC_KIND_PARK:
		see_park(g, row);
		break;
	case TRC_KIND_RESUME:
		see_resume(g, row);
		break;
	case TRC_KIND_SAMPLE:
		see_sample(g, row);
		break;
	case TRC_KIND_SAMPLES_LOST:
		g->seen->lost_samples += VALUE_OF(g, row, samples_lost, lost_samples);
		break;
	case TRC_KIND_GAP:
		g->seen->lost_events += VALUE_OF(g, row, gap, lost_events);
		break;
	case TRC_KIND_PROC_START:
		g->seen->switches++;
		break;
	default:
		break;
	}
}

static int see_block(struct reading *g, size_t i, struct trc_error *error)
{
	const struct trc_block_info *block = trc_reader_block(g->r, i);
	struct trc_columns *columns;
	int err = trc_reader_load(g->r, i, TRC_WANT_ALL, NULL, &columns, error);

	if (err)
		return err;
	g->columns = columns;
	if (block->source == TRC_SOURCE_RING)
		g->seen->ring_events += columns->n_events;
	else if (block->source == TRC_SOURCE_OVERFLOW)
		g->seen->overflow_events += columns->n_events;
	for (uint32_t row = 0; row < columns->n_events; row++)
		see_event(g, row);
	trc_columns_free(columns);
	return 0;
}

static const char *clock_name(enum trc_clock_kind kind)
{
	switch (kind) {
	case TRC_CLOCK_TSC:
		return "time stamp counter";
	case TRC_CLOCK_CNTVCT:
		return "virtual counter";
	case TRC_CLOCK_MONOTONIC_RAW:
		return "CLOCK_MONOTONIC_RAW";
	}
	return "not known";
}

static void see_file(struct reading *g)
{
	const char *said = trc_reader_info_get(g->r, "sched");

	snprintf(g->seen->clock, sizeof(g->seen->clock), "%s",
		 clock_name(trc_reader_info(g->r)->clock));
	g->seen->ticks_per_second = trc_reader_info(g->r)->ticks_per_second;
	snprintf(g->seen->switches_said, sizeof(g->seen->switches_said), "%s",
		 said ? said : "not known");
}

int trc_self_test_read(const char *trace_path, const struct trc_self_test_account *account,
		       struct trc_self_test_seen *seen, char *error, size_t n_bytes)
{
	struct reading g = {.account = account, .seen = seen};
	struct trc_error said = {""};
	struct trc_reader *r;
	int err = trc_reader_open(&r, trace_path, &said);

	memset(seen, 0, sizeof(*seen));
	if (!err) {
		g.r = r;
		see_file(&g);
		for (size_t i = 0; i < trc_reader_blocks(r) && !err; i++)
			err = see_block(&g, i, &said);
		trc_reader_close(r);
	}
	if (!err && g.resumes == seen->waits && g.resume_ns > g.park_ns)
		seen->waited_ns = (uint64_t)(g.resume_ns - g.park_ns);
	snprintf(error, n_bytes, "%s", said.text);
	return err;
}
