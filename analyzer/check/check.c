/* check.c - see check.h: blocks, streams and gaps. */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include "parts.h"

/* The first of those that overlap with this time; NULL = none. */
static const struct trc_gap *gap_between(const struct trc_check *check, int64_t from_ns,
					 int64_t until_ns)
{
	const int64_t *latest_ns = check->gaps_latest_ns.row;
	const struct trc_gap *gap = check->gaps.row;
	size_t low = 0, high = check->gaps_latest_ns.n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (latest_ns[middle] == TRC_NEVER || latest_ns[middle] < from_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low < check->gaps_latest_ns.n && gap[low].since_ns <= until_ns ? &gap[low] : NULL;
}

/* By their beginning, each with the latest end of all up to it, so that one is found by halving. */
static int gaps_sort(struct trc_check *check)
{
	int err = trc_array_sort(&check->gaps, offsetof(struct trc_gap, since_ns),
				 offsetof(struct trc_gap, proc));
	const struct trc_gap *gap = check->gaps.row;
	int64_t latest_ns = TRC_NEVER;

	for (size_t i = 0; i < check->gaps.n && !err; i++) {
		int64_t *place = trc_array_add(&check->gaps_latest_ns);

		if (!place)
			return -ENOMEM;
		if (gap[i].lost_events && gap[i].ts_ns > latest_ns)
			latest_ns = gap[i].ts_ns;
		*place = latest_ns;
	}
	return err;
}

/* Where explained ones of this kind are summed up; NULL without memory. */
static struct trc_check_sum *sum_of(struct trc_check *check, const char *format, uint8_t cause)
{
	struct trc_check_sum *sum = check->sums.row;

	for (size_t i = 0; i < check->sums.n; i++, sum++)
		if (sum->format == format && sum->cause == cause)
			return sum;
	sum = trc_array_add(&check->sums);
	if (sum) {
		sum->format = format;
		sum->cause = cause;
	}
	return sum;
}

/* Each counts, but only the first of its kind is kept. */
static void explained(struct trc_check *check, const char *format, const struct trc_gap *gap,
		      const char *line)
{
	struct trc_check_sum *sum = check->all ? NULL : sum_of(check, format, gap->cause);

	check->totals.explained++;
	if (!sum)
		check->report(check->context, line);
	else if (!sum->n++)
		snprintf(sum->example, sizeof(sum->example), "%s", line);
}

static void report_sums(struct trc_check *check)
{
	const struct trc_check_sum *sum = check->sums.row;

	for (size_t i = 0; i < check->sums.n; i++, sum++) {
		char line[sizeof(sum->example) + 100];

		if (sum->n == 1)
			snprintf(line, sizeof(line), "%s", sum->example);
		else
			snprintf(line, sizeof(line),
				 "%" PRIu64 " of a kind, explained by lost events (%s), as: %s",
				 sum->n, trc_gap_cause_name(sum->cause), sum->example);
		check->report(check->context, line);
	}
}

static void violation(struct trc_check *check, int64_t from_ns, int64_t until_ns,
		      const char *format, va_list args)
{
	const struct trc_gap *gap = gap_between(check, from_ns, until_ns);
	char line[512];
	size_t n = (size_t)vsnprintf(line, sizeof(line), format, args);

	check->totals.violations++;
	if (gap && n < sizeof(line))
		snprintf(line + n, sizeof(line) - n,
			 " (explained by the gap on proc %u: %" PRIu64 " lost from %" PRId64
			 " to %" PRId64 " ns)",
			 gap->proc, gap->lost_events, gap->since_ns, gap->ts_ns);
	if (gap)
		explained(check, format, gap, line);
	else
		check->report(check->context, line);
}

void trc_check_violation(struct trc_check *check, int64_t from_ns, int64_t until_ns,
			 const char *format, ...)
{
	va_list args;

	va_start(args, format);
	violation(check, from_ns, until_ns, format, args);
	va_end(args);
}

void trc_check_missing(struct trc_check *check, int64_t from_ns, int64_t until_ns,
		       const char *format, ...)
{
	va_list args;

	if (until_ns >= check->cut_ns) {
		check->totals.not_judged++;
		return;
	}
	if (from_ns < trc_model_window_ns(check->m)) /* V5 */
		return;
	va_start(args, format);
	violation(check, from_ns, until_ns, format, args);
	va_end(args);
}

/* One that lost events have nothing to do with. */
static void plain_violation(struct trc_check *check, const char *text)
{
	check->totals.violations++;
	check->report(check->context, text);
}

static int gaps_add(struct trc_check *check, const struct trc_columns *c, uint8_t source)
{
	for (uint32_t row = 0; row < c->n_events; row++) {
		struct trc_gap *gap;

		if (c->kind[row] != TRC_KIND_GAP)
			continue;
		gap = trc_array_add(&check->gaps);
		if (!gap)
			return -ENOMEM;
		gap->since_ns = (int64_t)TRC_ROW_ARG(c, row, gap, since);
		gap->ts_ns = c->time_ns[row];
		gap->lost_events = TRC_ROW_ARG(c, row, gap, lost_events);
		gap->cause = (uint8_t)TRC_ROW_ARG(c, row, gap, cause);
		gap->proc = c->proc[row];
		gap->source = source;
	}
	return 0;
}

/* Decodes every column of every block once; keeps the gaps. */
static int check_blocks(struct trc_check *check)
{
	const struct trc_reader *r = trc_model_reader(check->m);
	size_t n = trc_reader_blocks(r);

	for (size_t i = 0; i < n; i++) {
		const struct trc_block_info *b = trc_reader_block(r, i);
		struct trc_error error = {""};
		struct trc_columns *columns;
		int err = trc_reader_load(r, i, TRC_WANT_ALL, NULL, &columns, &error);

		if (err == -ENOMEM)
			return err;
		if (err) {
			plain_violation(check, error.text);
			continue;
		}
		check->totals.events += columns->n_events;
		if (b->kind_count[TRC_KIND_GAP])
			err = gaps_add(check, columns, b->source);
		trc_columns_free(columns);
		if (err)
			return err;
		trc_model_report_progress(check->m, "checking blocks", (double)i / (double)n);
	}
	return 0;
}

/* The blocks of one stream follow each other. */
static int check_streams(struct trc_check *check)
{
	const struct trc_reader *r = trc_model_reader(check->m);
	struct trc_index last = {0}; /* by source and proc: the block before */
	int err = 0;

	for (size_t i = 0; i < trc_reader_blocks(r) && !err; i++) {
		const struct trc_block_info *b = trc_reader_block(r, i);
		uint64_t key = (uint64_t)b->source << 32 | b->proc;
		uint32_t before = trc_index_get(&last, key);
		char line[200];

		if (before != TRC_INDEX_NONE &&
		    b->first_ns < trc_reader_block(r, before)->last_ns) {
			snprintf(line, sizeof(line),
				 "block %zu: begins at %" PRId64 " ns, before block %u of its "
				 "stream ends at %" PRId64 " ns",
				 i, b->first_ns, before, trc_reader_block(r, before)->last_ns);
			plain_violation(check, line);
		}
		err = trc_index_put(&last, key, (uint32_t)i);
	}
	trc_index_free(&last);
	return err;
}

static void check_whole_file(struct trc_check *check)
{
	const struct trc_reader *r = trc_model_reader(check->m);
	uint64_t dangling = trc_reader_info(r)->dangling_ids;
	char line[100];

	if (trc_reader_warning(r) && !trc_reader_info(r)->cut_off)
		plain_violation(check, trc_reader_warning(r));
	if (dangling) {
		snprintf(line, sizeof(line), "%" PRIu64 " id%s in no table", dangling,
			 dangling == 1 ? " is" : "s are");
		plain_violation(check, line);
	}
}

/* What threads were in at the end is told once of each. */
static int check_told_once(struct trc_check *check, struct trc_index *told, uint32_t thread,
			   const char *what)
{
	char line[80];

	if (trc_index_get(told, thread) != TRC_INDEX_NONE) {
		snprintf(line, sizeof(line), "thread %" PRIu32 ": its %s told twice", thread, what);
		plain_violation(check, line);
	}
	return trc_index_put(told, thread, 0);
}

static int check_thread_labels(struct trc_check *check)
{
	const struct trc_thread_labels_entry *e;
	size_t n = trc_reader_thread_labels(trc_model_reader(check->m), &e);
	struct trc_index told = {0};
	int err = 0;

	for (size_t i = 0; i < n && !err; i++)
		err = check_told_once(check, &told, e[i].thread, "labels at the end are");
	trc_index_free(&told);
	return err;
}

const struct trc_thread_entry *trc_check_thread_entry(const struct trc_reader *r, uint32_t serial)
{
	size_t low = 0, high = trc_reader_threads(r);

	while (low < high) { /* they are sorted by serial */
		size_t middle = low + (high - low) / 2;
		const struct trc_thread_entry *entry = trc_reader_thread(r, middle);

		if (entry->serial == serial)
			return entry;
		if (entry->serial < serial)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

/* A name that is in no table has been counted with the ids.  Two threads may have the same fiber:
 * they were looked at one after the other. */
static int check_thread_fibers(struct trc_check *check)
{
	const struct trc_reader *r = trc_model_reader(check->m);
	const struct trc_thread_fiber_entry *e;
	size_t n = trc_reader_thread_fibers(r, &e);
	struct trc_index told = {0};
	char line[80];
	int err = 0;

	for (size_t i = 0; i < n && !err; i++) {
		if (!trc_check_thread_entry(r, e[i].thread)) {
			snprintf(line, sizeof(line),
				 "thread %" PRIu32 ": its fiber at the end is all there is of it",
				 e[i].thread);
			plain_violation(check, line);
		}
		err = check_told_once(check, &told, e[i].thread, "fiber at the end is");
	}
	trc_index_free(&told);
	return err;
}

int trc_check(struct trc_model *m, bool all, trc_check_fn *report, void *context,
	      struct trc_check_totals *totals, struct trc_error *error)
{
	struct trc_check check = {.m = m,
				  .all = all,
				  .sums = {.row_bytes = sizeof(struct trc_check_sum)},
				  .report = report,
				  .context = context,
				  .gaps = {.row_bytes = sizeof(struct trc_gap)},
				  .gaps_latest_ns = {.row_bytes = sizeof(int64_t)},
				  .cut_ns = INT64_MAX};
	int err = check_blocks(&check);

	if (!err)
		err = gaps_sort(&check);
	if (!err) {
		check_whole_file(&check);
		err = check_streams(&check);
	}
	if (!err)
		err = check_thread_labels(&check);
	if (!err)
		err = check_thread_fibers(&check);
	if (!err)
		err = trc_check_cut(&check);
	if (!err)
		err = trc_check_events(&check);
	if (!err)
		err = trc_check_fibers(&check);
	if (!err)
		err = trc_check_on_cpu(&check);
	if (!err)
		err = trc_check_heap(&check);
	if (!err)
		err = trc_check_causes(&check);
	if (!err)
		err = trc_check_wakers(&check);
	if (err)
		snprintf(error->text, sizeof(error->text), "out of memory");
	else
		report_sums(&check);
	trc_array_free(&check.sums);
	trc_array_free(&check.gaps);
	trc_array_free(&check.gaps_latest_ns);
	*totals = check.totals;
	return err;
}
