/* lost.c - what lost events, or those behind the end of a file that was cut, may have told: then a cause is not known. */
#include "analyzer/model/waits.h"
#include "steps.h"

/* After the end of a wait; see trc_step_kind_unknown(). */
enum { LATE_NS = 100000000 };

bool trc_steps_lost(const struct trc_steps *s, int64_t from_ns, int64_t to_ns)
{
	size_t n, low = 0, high;
	const struct trc_gap *gap = trc_model_gaps(s->m, &n);

	high = n;
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (gap[middle].ts_ns < from_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low < n && s->lost_since_ns[low] <= to_ns;
}

bool trc_steps_missing(const struct trc_steps *s, int64_t from_ns, int64_t to_ns)
{
	return (s->cut && to_ns >= s->whole_until_ns) || trc_steps_lost(s, from_ns, to_ns);
}

uint8_t trc_step_kind_unknown(const struct trc_steps *s, const struct trc_park *p)
{
	int64_t end_ns = trc_park_end_ns(s->m, p);

	end_ns = end_ns < INT64_MAX - LATE_NS ? end_ns + LATE_NS : INT64_MAX;
	return trc_steps_missing(s, p->start_ns, end_ns) ? TRC_CAUSE_LOST : TRC_CAUSE_UNKNOWN;
}

uint8_t trc_step_kind_of_cycle(const struct trc_steps *s, const struct trc_park *p)
{
	if (p->flags & TRC_PARK_OPEN)
		return TRC_CAUSE_DEADLOCK;
	return trc_steps_missing(s, p->start_ns, trc_park_end_ns(s->m, p)) ? TRC_CAUSE_LOST
									   : TRC_CAUSE_CYCLE;
}
