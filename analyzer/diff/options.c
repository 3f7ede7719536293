/* options.c - what is not comparable, because traces were recorded with different options (diff:D10). */
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>
#include "measures.h"

static void differ(struct trc_diff *diff, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
static void differ(struct trc_diff *diff, const char *format, ...)
{
	size_t n = strlen(diff->differences), room = sizeof(diff->differences) - n;
	char what[600];
	va_list args;

	va_start(args, format);
	vsnprintf(what, sizeof(what), format, args);
	va_end(args);
	snprintf(diff->differences + n, room, "%s%s", n ? "; " : "", what);
}

/* The end of a path, where paths differ. */
static const char *tail(const struct trc_diff_sums *sums)
{
	enum { TOLD = 60 };
	size_t n = strlen(sums->path);

	return sums->path + (n > TOLD ? n - TOLD : 0);
}

static bool text_is_same(const char *a, const char *b)
{
	return !a || !b || !strcmp(a, b);
}

/* The first trace before that differs in this; NULL = none, as far as is known. */
static const struct trc_diff_sums *other(const struct trc_diff *diff,
					 char *(*of)(const struct trc_diff_sums *sums))
{
	for (size_t t = 0; t < diff->n_before; t++)
		if (!text_is_same(of(diff->before[t]), of(diff->after)))
			return diff->before[t];
	return NULL;
}

static char *locks_of(const struct trc_diff_sums *sums)
{
	return sums->locks;
}
static char *procs_of(const struct trc_diff_sums *sums)
{
	return sums->procs;
}
static char *machine_of(const struct trc_diff_sums *sums)
{
	return sums->machine;
}
static char *processor_of(const struct trc_diff_sums *sums)
{
	return sums->processor;
}

static bool has_no_locks(const struct trc_diff_sums *sums)
{
	return sums->locks && !strcmp(sums->locks, "none");
}

/* With all acquisitions other sections are known, and recording them takes time within them. */
static void locks_differ(struct trc_diff *diff)
{
	const struct trc_diff_sums *before = other(diff, locks_of), *after = diff->after;

	diff->locks_compared = true;
	diff->held_compared = !before;
	for (size_t t = 0; t <= diff->n_before; t++)
		if (has_no_locks(trc_diff_trace(diff, t)))
			diff->locks_compared = diff->held_compared = false;
	if (before)
		differ(diff, "%s has --locks=%s, %s --locks=%s: %s not compared", tail(after),
		       after->locks, tail(before), before->locks,
		       diff->locks_compared ? "how long locks were held is" : "locks are");
}

/* A trace that has something that another has not; NULL = all have it, or none has. */
static const struct trc_diff_sums *alone(const struct trc_diff *diff,
					 bool (*has)(const struct trc_diff_sums *sums),
					 const struct trc_diff_sums **without)
{
	const struct trc_diff_sums *with = NULL;

	*without = NULL;
	for (size_t t = diff->n_before + 1; t-- > 0;)
		*(has(trc_diff_trace(diff, t)) ? &with : without) = trc_diff_trace(diff, t);
	return *without ? with : NULL;
}

static bool has_heap(const struct trc_diff_sums *sums)
{
	return sums->heap;
}
static bool has_switches(const struct trc_diff_sums *sums)
{
	return sums->switches;
}

static void heaps_differ(struct trc_diff *diff)
{
	const struct trc_diff_sums *without, *with = alone(diff, has_heap, &without);
	const double alike = 0.1;
	double after = trc_diff_seconds(diff->after);

	diff->heap_compared = !without;
	if (with)
		differ(diff, "%s has samples of allocations, %s has none: memory is not compared",
		       tail(with), tail(without));
	diff->in_use_compared = diff->heap_compared;
	for (size_t t = 0; t <= diff->n_before && diff->in_use_compared; t++) {
		if (!trc_diff_trace(diff, t)->window)
			continue;
		differ(diff, "%s has a snapshot's window only: memory in use is not compared",
		       tail(trc_diff_trace(diff, t)));
		diff->in_use_compared = false;
	}
	for (size_t t = 0; t < diff->n_before && diff->in_use_compared && diff->after->heap; t++) {
		double length = trc_diff_seconds(diff->before[t]);

		if (fabs(log(length / after)) < alike)
			continue;
		differ(diff, "%s lasts %.3g s, %s %.3g s: memory in use may have grown with time",
		       tail(diff->after), after, tail(diff->before[t]), length);
		break;
	}
}

static void switches_differ(struct trc_diff *diff)
{
	const struct trc_diff_sums *without, *with = alone(diff, has_switches, &without);

	diff->switches_compared = !without;
	if (with)
		differ(diff,
		       "%s has the kernel's switch records, %s has none: how long threads ran "
		       "is not compared, but how long they did not wait",
		       tail(with), tail(without));
}

/* "every 1 ms", "1000 Hz" */
static void sampled_text(char text[64], const struct trc_diff_sums *sums)
{
	if (sums->frequency_hz)
		snprintf(text, 64, "%" PRIu64 " Hz", sums->frequency_hz);
	else
		snprintf(text, 64, "every %" PRIu64, sums->period);
}

static void samples_differ(struct trc_diff *diff)
{
	char a[64], b[64];

	for (size_t t = 0; t < diff->n_before && diff->cpu_compared; t++) {
		if (diff->before[t]->period == diff->after->period &&
		    diff->before[t]->frequency_hz == diff->after->frequency_hz)
			continue;
		sampled_text(a, diff->after);
		sampled_text(b, diff->before[t]);
		differ(diff, "%s was sampled %s, %s %s", tail(diff->after), a,
		       tail(diff->before[t]), b);
		return;
	}
}

static void machines_differ(struct trc_diff *diff)
{
	const struct trc_diff_sums *after = diff->after, *before = other(diff, machine_of);

	if (before)
		differ(diff, "%s is of the host %.60s, %s of %.60s", tail(after), after->machine,
		       tail(before), before->machine);
	before = other(diff, processor_of);
	if (before)
		differ(diff, "other processors: %.60s, before %.60s", after->processor,
		       before->processor);
	before = other(diff, procs_of);
	if (before)
		differ(diff, "%s had %s procs, %s %s", tail(after), after->procs, tail(before),
		       before->procs);
}

void trc_diff_find_differences(struct trc_diff *diff)
{
	locks_differ(diff);
	heaps_differ(diff);
	switches_differ(diff);
	samples_differ(diff);
	machines_differ(diff);
}

const char *trc_diff_differences(const struct trc_diff *diff)
{
	return diff->differences;
}
