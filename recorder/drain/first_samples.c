/*
 * first_samples.c - where a thread's own first samples of a clock end, and the kernel's begin
 * (sample:S9).
 *
 * The thread takes K samples, the first after a random part of a period P.  They stand for its first
 * K periods: for all it has used, on average, if it lives for less.  The kernel's counter overflows
 * at P, 2P, 3P, ...: the first K - 1 of these samples lie within the thread's own, and are left out.
 * A sample stands for the period after it, of which the thread's end leaves some part, half of it on
 * average.  So the sample at KP has half of its value: for a thread that uses kP + r, r < P, the sum
 * is (k + 1/2)P where k >= K, and on average what it has used where k < K.
 */
#include <string.h>
#include "private.h"
#include "perf_buffer.h"

enum {
	BITS = 4, /* of an event's count in trc_tid_entry */
	COUNT_MAX = (1 << BITS) - 1,
};
_Static_assert(BITS *TRC_CPU_EVENTS_MAX <= 64, "a count for each event");
_Static_assert((int)TRC_CPU_FIRST_SAMPLES <= (int)COUNT_MAX, "it counts so far");

static bool slot_is_of(const struct trc_sample_event_slot *slot,
		       const struct trc_sample_event_entry *e)
{
	/* acquire: pairs with the release of a complete entry. */
	return atomic_load_explicit(&slot->state, memory_order_acquire) ==
		       TRC_SAMPLE_EVENT_COMPLETE &&
	       slot->how == TRC_SAMPLE_KERNEL && slot->period == e->period &&
	       !strncmp(slot->name, e->name, sizeof(slot->name));
}

bool trc_drain_is_first_event(const struct trc_drain *d, uint32_t i, uint32_t *kernel)
{
	for (uint32_t k = 0; i < TRC_SAMPLE_EVENTS_MAX && k < d->n_kernel_events; k++) {
		if (!slot_is_of(&d->shared->sample_event[i], &d->kernel_event[k]))
			continue;
		*kernel = k;
		return true;
	}
	return false;
}

void trc_drain_first_sample(struct trc_drain *d, struct trc_event *event)
{
	bool lost = event->kind == TRC_KIND_SAMPLES_LOST;
	uint64_t *number = lost ? &event->args.samples_lost.event : &event->args.sample.event;
	uint32_t kernel;

	if (!*number || *number > TRC_SAMPLE_EVENTS_MAX ||
	    !trc_drain_is_first_event(d, (uint32_t)*number - 1, &kernel))
		return;
	*number = TRC_DRAIN_KERNEL_EVENT + kernel;
	d->first_ns[kernel] += (int64_t)(lost ? event->args.samples_lost.lost_samples *
							 d->kernel_event[kernel].period
					      : event->args.sample.value);
}

/* Threads that began since then have taken first samples of this event, entry *i of the mapping's
 * table; UINT64_MAX = none have. */
static uint64_t first_from(const struct trc_drain *d, uint32_t kernel, uint32_t *i)
{
	uint64_t from;

	for (*i = 0; *i < TRC_SAMPLE_EVENTS_MAX; ++*i) {
		const struct trc_sample_event_slot *slot = &d->shared->sample_event[*i];

		if (!slot_is_of(slot, &d->kernel_event[kernel]))
			continue;
		/* relaxed: a thread that began since has stored more since. */
		from = atomic_load_explicit(&slot->first_from, memory_order_relaxed);
		return from ? from : UINT64_MAX;
	}
	return UINT64_MAX;
}

/* From then on all of the kernel's samples have come to this drain. */
static uint64_t all_since(const struct trc_drain *d)
{
	return d->windowed ? d->from : d->goes_on ? d->opened : d->joined;
}

uint64_t trc_drain_kernel_value(struct trc_drain *d, const struct trc_perf_record *r,
				uint32_t thread)
{
	uint64_t *counts, value = r->value, since = all_since(d), from;
	uint32_t count, i;

	if (r->event >= d->n_kernel_events)
		return value;
	from = first_from(d, r->event, &i);
	if (from == UINT64_MAX)
		return value;
	counts = trc_drain_tid_counts(d, r->tid, thread, from > since ? from : since, i);
	count = counts ? *counts >> BITS * r->event & COUNT_MAX : COUNT_MAX;
	if (count >= TRC_CPU_FIRST_SAMPLES)
		return value;
	*counts += UINT64_C(1) << BITS * r->event;
	value = trc_drain_value_after_first(count + 1, value);
	d->first_ns[r->event] -= (int64_t)(r->value - value);
	return value;
}

int64_t trc_drain_first_ns(const struct trc_drain *d, uint32_t kernel)
{
	return d->first_ns[kernel];
}
