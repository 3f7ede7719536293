/* selection.c - what a selection has of the trace; see selection.h. */
#include "order.h"
#include "selection_parts.h"

#include <stdlib.h>

bool trc_selection_has_all_time(const struct trc_selection *s)
{
	return !s || (!s->window && !s->n_threads && !s->n_tasks);
}

bool trc_selection_passes(const struct trc_selection *s, const struct trc_model *m, uint32_t labels)
{
	return !s || trc_label_filter_match(s->labels, m, labels);
}

static int64_t span_length_ns(int64_t from_ns, int64_t to_ns)
{
	int64_t ns;

	if (from_ns >= to_ns)
		return 0;
	return __builtin_sub_overflow(to_ns, from_ns, &ns) ? INT64_MAX : ns;
}

/* ---- spans of tasks ---- */

/* How many spans begin at or before this time of the track, in the order of all spans. */
static size_t selection_spans_before(const struct trc_selection *s, uint64_t track, int64_t ts_ns)
{
	const struct trc_selected_span *span = s->spans.row;
	size_t low = 0, high = s->spans.n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (span[middle].track < track ||
		    (span[middle].track == track && span[middle].from_ns <= ts_ns))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Before this time of the track. */
static int64_t spans_ns(const struct trc_selection *s, uint64_t track, int64_t ts_ns)
{
	size_t n = selection_spans_before(s, track, ts_ns);
	const struct trc_selected_span *span =
		n ? (const struct trc_selected_span *)s->spans.row + n - 1 : NULL;
	int64_t ns;

	if (!span || span->track != track)
		return 0;
	ns = span_length_ns(span->from_ns, trc_earlier_ns(span->to_ns, ts_ns));
	return __builtin_add_overflow(ns, span->before_ns, &ns) ? INT64_MAX : ns;
}

static bool spans_at(const struct trc_selection *s, uint64_t track, int64_t ts_ns,
		     int64_t *until_ns)
{
	size_t n = selection_spans_before(s, track, ts_ns);
	const struct trc_selected_span *span = s->spans.row;

	if (n && span[n - 1].track == track && ts_ns < span[n - 1].to_ns) {
		*until_ns = span[n - 1].to_ns;
		return true;
	}
	*until_ns = n < s->spans.n && span[n].track == track ? span[n].from_ns : INT64_MAX;
	return false;
}

/* ---- tracks ---- */

static bool track_at(const struct trc_selection *s, uint64_t track, int64_t ts_ns,
		     int64_t *until_ns)
{
	bool inside = true;

	*until_ns = INT64_MAX;
	if (ts_ns < s->from_ns) {
		*until_ns = s->from_ns;
		return false;
	}
	if (ts_ns >= s->to_ns && s->to_ns != INT64_MAX)
		return false;
	if (s->n_tasks)
		inside = spans_at(s, track, ts_ns, until_ns);
	*until_ns = inside ? trc_earlier_ns(*until_ns, s->to_ns) : *until_ns;
	return inside;
}

static int64_t track_ns(const struct trc_selection *s, uint64_t track, int64_t from_ns,
			int64_t to_ns)
{
	from_ns = trc_later_ns(from_ns, s->from_ns);
	to_ns = trc_earlier_ns(to_ns, s->to_ns);
	if (from_ns >= to_ns)
		return 0;
	if (!s->n_tasks)
		return span_length_ns(from_ns, to_ns);
	return spans_ns(s, track, to_ns) - spans_ns(s, track, from_ns);
}

static bool track_touches(const struct trc_selection *s, uint64_t track, int64_t from_ns,
			  int64_t to_ns)
{
	int64_t until_ns;

	if (from_ns < to_ns)
		return track_ns(s, track, from_ns, to_ns) > 0;
	return track_at(s, track, from_ns, &until_ns);
}

static bool selection_has_thread(const struct trc_selection *s, uint32_t thread)
{
	return !s->n_threads || trc_index_get(&s->in, thread) != TRC_INDEX_NONE;
}

/* ---- threads ---- */

bool trc_selection_at(const struct trc_selection *s, uint32_t thread, int64_t ts_ns,
		      int64_t *until_ns)
{
	*until_ns = INT64_MAX;
	if (!s)
		return true;
	return selection_has_thread(s, thread) && track_at(s, thread, ts_ns, until_ns);
}

bool trc_selection_has_time(const struct trc_selection *s, uint32_t thread, int64_t ts_ns)
{
	int64_t until_ns;

	return trc_selection_at(s, thread, ts_ns, &until_ns);
}

bool trc_selection_has(const struct trc_selection *s, const struct trc_model *m, uint32_t thread,
		       int64_t ts_ns, uint64_t place)
{
	if (!trc_selection_has_time(s, thread, ts_ns))
		return false;
	return !s || !s->labels ||
	       trc_selection_passes(s, m, trc_model_labels_at(m, thread, ts_ns, place));
}

int64_t trc_selection_ns(const struct trc_selection *s, uint32_t thread, int64_t from_ns,
			 int64_t to_ns)
{
	if (!s)
		return span_length_ns(from_ns, to_ns);
	return selection_has_thread(s, thread) ? track_ns(s, thread, from_ns, to_ns) : 0;
}

bool trc_selection_track_next(const struct trc_selection *s, uint64_t track, int64_t *at_ns,
			      int64_t to_ns, int64_t *from_ns, int64_t *until_ns)
{
	while (*at_ns < to_ns) {
		int64_t change_ns;
		bool inside = track_at(s, track, *at_ns, &change_ns);

		*from_ns = *at_ns;
		*until_ns = *at_ns = trc_earlier_ns(change_ns, to_ns);
		if (inside)
			return true;
	}
	return false;
}

bool trc_selection_next(const struct trc_selection *s, uint32_t thread, int64_t *at_ns,
			int64_t to_ns, int64_t *from_ns, int64_t *until_ns)
{
	if (s)
		return selection_has_thread(s, thread) &&
		       trc_selection_track_next(s, thread, at_ns, to_ns, from_ns, until_ns);
	*from_ns = *at_ns;
	*until_ns = *at_ns = trc_later_ns(*at_ns, to_ns);
	return *from_ns < to_ns;
}

bool trc_selection_touches(const struct trc_selection *s, uint32_t thread, int64_t from_ns,
			   int64_t to_ns)
{
	return !s || (selection_has_thread(s, thread) && track_touches(s, thread, from_ns, to_ns));
}

/* ---- fibers ---- */

int64_t trc_selection_fiber_ns(const struct trc_selection *s, const struct trc_fiber_wait *wait,
			       int64_t from_ns, int64_t to_ns)
{
	if (!s)
		return span_length_ns(from_ns, to_ns);
	return selection_has_thread(s, wait->thread)
		       ? track_ns(s, trc_fiber_track(wait->fiber), from_ns, to_ns)
		       : 0;
}

bool trc_selection_has_fiber_wait(const struct trc_selection *s, const struct trc_model *m,
				  const struct trc_fiber_wait *wait)
{
	int64_t end_ns = wait->end_ns == TRC_NEVER ? trc_model_end_ns(m) : wait->end_ns;

	if (!s)
		return true;
	return trc_selection_passes(s, m, wait->labels) && selection_has_thread(s, wait->thread) &&
	       track_touches(s, trc_fiber_track(wait->fiber), wait->start_ns, end_ns);
}

/* ---- tasks and regions ---- */

static bool span_touches(const struct trc_selection *s, const struct trc_model *m, uint64_t track,
			 int64_t start_ns, int64_t end_ns)
{
	if (start_ns == TRC_NEVER)
		start_ns = trc_model_start_ns(m);
	if (end_ns == TRC_NEVER)
		end_ns = trc_later_ns(trc_model_end_ns(m), start_ns);
	return track_touches(s, track, start_ns, end_ns);
}

static bool selection_labels_pass(const struct trc_selection *s, const struct trc_model *m,
				  uint32_t thread, int64_t ts_ns, uint64_t place)
{
	return !s->labels ||
	       trc_selection_passes(s, m, trc_model_labels_at(m, thread, ts_ns, place));
}

bool trc_selection_has_task(const struct trc_selection *s, const struct trc_model *m, size_t row)
{
	size_t n;
	const struct trc_task *task = &trc_model_tasks(m, &n)[row];
	bool began, ended;

	if (!s)
		return true;
	if (!selection_labels_pass(s, m, task->start_thread, task->start_ns, task->start_place))
		return false;
	began = selection_has_thread(s, task->start_thread);
	ended = selection_has_thread(s, task->end_thread);
	if (s->n_tasks) {
		if (!s->task_in || !s->task_in[row])
			return false;
	}
	if (!began && !ended)
		return false;
	return trc_later_ns(s->from_ns, task->start_ns == TRC_NEVER ? INT64_MIN : task->start_ns) <
		       trc_earlier_ns(s->to_ns,
				      task->end_ns == TRC_NEVER ? INT64_MAX : task->end_ns) ||
	       (task->start_ns == task->end_ns && s->from_ns <= task->start_ns &&
		(task->start_ns < s->to_ns || s->to_ns == INT64_MAX));
}

bool trc_selection_has_region(const struct trc_selection *s, const struct trc_model *m, size_t row)
{
	size_t n;
	const struct trc_region *region = &trc_model_regions(m, &n)[row];

	if (!s)
		return true;
	return selection_labels_pass(s, m, region->thread, region->start_ns, region->start_place) &&
	       selection_has_thread(s, region->thread) &&
	       span_touches(s, m, region->fiber ? trc_fiber_track(region->fiber) : region->thread,
			    region->start_ns, region->end_ns);
}

/* ---- the time of threads ---- */

int64_t trc_selection_thread_ns(const struct trc_selection *s, const struct trc_model *m,
				const struct trc_thread *thread)
{
	int64_t from_ns =
		trc_later_ns(thread->start_ns, trc_model_start_ns(m)); /* TRC_NEVER is earlier */
	int64_t to_ns = trc_model_end_ns(m), sum_ns = 0;
	const struct trc_thread_span *span;
	size_t n;

	if (thread->end_ns != TRC_NEVER)
		to_ns = trc_earlier_ns(to_ns, thread->end_ns);
	if (!s || !s->labels)
		return trc_selection_ns(s, thread->serial, from_ns, to_ns);
	span = trc_model_label_spans_of(m, thread->serial, &n);
	for (size_t i = 0; i < n; i++) {
		int64_t end_ns =
			span[i].end_ns == TRC_NEVER ? to_ns : trc_earlier_ns(to_ns, span[i].end_ns);

		if (!trc_selection_passes(s, m, span[i].value))
			continue;
		if (__builtin_add_overflow(sum_ns,
					   trc_selection_ns(s, thread->serial,
							    trc_later_ns(from_ns, span[i].start_ns),
							    end_ns),
					   &sum_ns))
			sum_ns = INT64_MAX;
	}
	return sum_ns;
}

void trc_selection_free(struct trc_selection *s)
{
	trc_label_filter_free(s->labels);
	trc_index_free(&s->in);
	trc_array_free(&s->spans);
	free(s->task_in);
	*s = (struct trc_selection){0};
}
