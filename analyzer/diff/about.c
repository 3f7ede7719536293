/* about.c - what is compared with what: the unit of amounts, what is missing, and names of rows. */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include "measures.h"

/* diff:D2 */
static void choose_task(struct trc_diff *diff)
{
	uint64_t most = 0;

	for (size_t i = 0; i < diff->after->items.n; i++) {
		const struct trc_diff_item *item = trc_diff_item(diff->after, i);
		uint64_t least = item->n;

		if (item->kind != TRC_DIFF_TASKS || !item->amount)
			continue;
		for (size_t t = 0; t < diff->n_before; t++) {
			const struct trc_diff_item *before =
				trc_diff_find(diff->before[t], TRC_DIFF_TASKS, item->name);
			uint64_t n = before && before->amount ? before->n : 0;

			least = n < least ? n : least;
		}
		if (least >= TRC_DIFF_EVENTS && least > most) {
			most = least;
			diff->task = item->name;
		}
	}
}

static void complain(struct trc_diff *diff, const char *path, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
static void complain(struct trc_diff *diff, const char *path, const char *format, ...)
{
	enum { MANY = 5 };
	size_t n = strlen(diff->incomplete), room = sizeof(diff->incomplete) - n;
	char what[200];
	va_list args;

	if (diff->n_complaints++ >= MANY) {
		if (diff->n_complaints == MANY + 1)
			snprintf(diff->incomplete + n, room, "; and more");
		return;
	}
	va_start(args, format);
	vsnprintf(what, sizeof(what), format, args);
	va_end(args);
	snprintf(diff->incomplete + n, room, "%s%.100s %s", n ? "; " : "", path, what);
}

static void complain_of_samples(struct trc_diff *diff)
{
	const char *sampled = diff->after->sampled;

	diff->cpu_compared = sampled != NULL;
	for (size_t t = 0; t < diff->n_before; t++) {
		const struct trc_diff_sums *sums = diff->before[t];

		if (!sums->sampled != !sampled)
			complain(diff, sampled ? sums->path : diff->after->path,
				 "has no CPU samples, %.100s has",
				 sampled ? diff->after->path : sums->path);
		else if (sampled && strcmp(sampled, sums->sampled) != 0)
			complain(diff, sums->path, "has samples of %s, %.100s of %s", sums->sampled,
				 diff->after->path, sampled);
		else
			continue;
		diff->cpu_compared = false;
		return;
	}
}

/* Without names on one side only tasks can be found again. */
static void complain_of_names(struct trc_diff *diff)
{
	bool named = false;

	for (size_t t = 0; t <= diff->n_before; t++)
		named |= !trc_diff_trace(diff, t)->nameless;
	for (size_t t = 0; t <= diff->n_before && named; t++) {
		const struct trc_diff_sums *sums = trc_diff_trace(diff, t);

		if (!sums->nameless)
			continue;
		complain(diff, sums->path, "has no names of functions, the program: %s",
			 sums->nameless);
		diff->only_tasks = true;
	}
	if (diff->only_tasks)
		complain(diff, "so", "only tasks and threads are compared");
}

void trc_diff_find_incomplete(struct trc_diff *diff)
{
	for (size_t t = 0; t <= diff->n_before; t++) {
		const struct trc_diff_sums *sums = trc_diff_trace(diff, t);

		if (!sums->ends)
			complain(diff, sums->path, "is cut off");
		if (sums->lost_events)
			complain(diff, sums->path, "lost %" PRIu64 " events", sums->lost_events);
		if (sums->lost_samples)
			complain(diff, sums->path, "lost %" PRIu64 " of %" PRIu64 " samples",
				 sums->lost_samples, sums->lost_samples + sums->n_samples);
		if (sums->table_full)
			complain(diff, sums->path, "had no room for %" PRIu64 " stacks or names",
				 sums->table_full);
	}
	complain_of_names(diff);
	complain_of_samples(diff);
}

int trc_diff_choose_unit(struct trc_diff *diff)
{
	const char *unit;

	choose_task(diff);
	unit = diff->task ? diff->task : "second";
	if (asprintf(&diff->unit, "ns per %s", unit) < 0)
		diff->unit = NULL;
	if (asprintf(&diff->unit_waits, "waits per %s", unit) < 0)
		diff->unit_waits = NULL;
	if (asprintf(&diff->unit_bytes, "bytes per %s", unit) < 0)
		diff->unit_bytes = NULL;
	if (asprintf(&diff->unit_allocations, "allocations per %s", unit) < 0)
		diff->unit_allocations = NULL;
	return diff->unit && diff->unit_waits && diff->unit_bytes && diff->unit_allocations
		       ? 0
		       : -ENOMEM;
}

const char *trc_diff_incomplete(const struct trc_diff *diff)
{
	return diff->incomplete;
}

const char *trc_diff_row_kind(const struct trc_diff_row *row)
{
	static const char *const KINDS[TRC_DIFF_KINDS] = {
		[TRC_DIFF_TASKS] = "task",	 [TRC_DIFF_LOCKS] = "lock",
		[TRC_DIFF_SECTIONS] = "section", [TRC_DIFF_CPU] = "cpu",
		[TRC_DIFF_WAITS] = "wait",	 [TRC_DIFF_RAN] = "thread",
		[TRC_DIFF_ACTIVE] = "thread",	 [TRC_DIFF_BLOCKED] = "thread",
		[TRC_DIFF_ALLOCATED] = "heap",	 [TRC_DIFF_IN_USE] = "heap",
	};

	return KINDS[trc_diff_measure_kind(row->measure)];
}

const char *trc_diff_row_measure(const struct trc_diff_row *row)
{
	static const char *const NAMES[TRC_DIFF_MEASURES] = {
		"mean",	  "p50",   "p95",    "p99",	  "waited",	"waits",
		"caused", "held",  "share",  "total",	  "waited",	"ran",
		"active", "locks", "in_use", "allocated", "allocations"};

	return NAMES[row->measure];
}

const char *trc_diff_row_unit(const struct trc_diff *diff, const struct trc_diff_row *row)
{
	switch ((enum trc_diff_measure)row->measure) {
	case TRC_DIFF_TASK_MEAN:
	case TRC_DIFF_TASK_P50:
	case TRC_DIFF_TASK_P95:
	case TRC_DIFF_TASK_P99:
	case TRC_DIFF_SECTION_HELD:
		return "ns";
	case TRC_DIFF_LOCK_WAITS:
		return diff->unit_waits;
	case TRC_DIFF_HEAP_IN_USE:
		return "bytes";
	case TRC_DIFF_HEAP_ALLOCATED:
		return diff->unit_bytes;
	case TRC_DIFF_HEAP_ALLOCATIONS:
		return diff->unit_allocations;
	case TRC_DIFF_CPU_SHARE:
		return "of the threads' samples";
	default:
		return diff->unit;
	}
}
