/* sample_table.c - see sample_table.h */
#include <string.h>
#include "sample_table.h"

/* Ends with a zero: entries are zero before they are filled in. */
static void put_text(char *to, size_t n_bytes, const char *from)
{
	memcpy(to, from, strnlen(from, n_bytes - 1));
}

/* Not by what was asked for: a preset, a period and a frequency may come to one. */
static bool is_same(const struct trc_sample_event_slot *slot, const struct trc_cpu_event *e)
{
	return slot->how == e->how && slot->period == e->period &&
	       !strncmp(slot->name, e->name, sizeof(slot->name)) &&
	       !strncmp(slot->note, e->note, sizeof(slot->note));
}

static void fill(struct trc_sample_event_slot *slot, const struct trc_cpu_event *e)
{
	slot->how = (uint8_t)e->how;
	slot->counts_all = e->is_clock && !e->exclude_kernel && !e->exclude_user;
	slot->period = e->period;
	slot->frequency_hz = e->frequency_hz;
	put_text(slot->name, sizeof(slot->name), e->name);
	put_text(slot->unit, sizeof(slot->unit), e->unit);
	put_text(slot->note, sizeof(slot->note), e->note);
	/* release: pairs with the acquire of whoever reads a complete entry. */
	atomic_store_explicit(&slot->state, TRC_SAMPLE_EVENT_COMPLETE, memory_order_release);
}

/* acquire: of a complete entry the rest is seen. */
static bool is_complete(const struct trc_sample_event_slot *slot)
{
	return atomic_load_explicit(&slot->state, memory_order_acquire) ==
	       TRC_SAMPLE_EVENT_COMPLETE;
}

static bool is_named(const struct trc_sample_event_slot *slot, enum trc_sample_how how,
		     const char *name)
{
	return is_complete(slot) && slot->how == how &&
	       !strncmp(slot->name, name, sizeof(slot->name));
}

uint64_t trc_sample_event_missing(const struct trc_shared *shared, enum trc_sample_how how,
				  const char *name)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < TRC_SAMPLE_EVENTS_MAX; i++) {
		const struct trc_sample_event_slot *slot = &shared->sample_event[i];

		if (is_named(slot, how, name)) /* relaxed: a count of its own */
			n += atomic_load_explicit(&slot->missing_threads, memory_order_relaxed);
	}
	return n;
}

uint32_t trc_sample_event_find(const struct trc_shared *shared, enum trc_sample_how how,
			       const char *name)
{
	for (uint32_t i = 0; i < TRC_SAMPLE_EVENTS_MAX; i++) {
		if (is_named(&shared->sample_event[i], how, name))
			return i + 1;
	}
	return 0;
}

uint32_t trc_sample_event_first(const struct trc_shared *shared, uint32_t number)
{
	const struct trc_sample_event_slot *slot;

	if (!number || number > TRC_SAMPLE_EVENTS_MAX)
		return number;
	slot = &shared->sample_event[number - 1];
	if (!is_complete(slot))
		return number;
	return trc_sample_event_find(shared, (enum trc_sample_how)slot->how, slot->name);
}

uint32_t trc_sample_event_add(struct trc_shared *shared, const struct trc_cpu_event *e)
{
	for (uint32_t i = 0; i < TRC_SAMPLE_EVENTS_MAX; i++) {
		struct trc_sample_event_slot *slot = &shared->sample_event[i];
		uint32_t state = TRC_SAMPLE_EVENT_FREE;

		/* acquire: of a complete entry the rest is seen. */
		if (atomic_compare_exchange_strong_explicit(
			    &slot->state, &state, TRC_SAMPLE_EVENT_FILLING, memory_order_acquire,
			    memory_order_acquire)) {
			fill(slot, e);
			return i + 1;
		}
		if (state == TRC_SAMPLE_EVENT_COMPLETE && is_same(slot, e))
			return i + 1;
	}
	return 0;
}

void trc_sample_event_on(struct trc_shared *shared, uint32_t event, uint64_t now_ns)
{
	/* relaxed: until it is off again, readers take nothing from it but at the process's end. */
	atomic_store_explicit(&shared->sample_event[event - 1].since_ns, now_ns ? now_ns : 1,
			      memory_order_relaxed);
}

/* What was used since `since_ns` is due: it is added once, by the thread that moves `since_ns`. */
static void leave(struct trc_sample_event_slot *slot, uint64_t now_ns)
{
	/* relaxed, all: the drain needs due_ns of an event that was turned off, or when the process has
	 * ended or executed another program. */
	uint64_t since_ns = atomic_load_explicit(&slot->since_ns, memory_order_relaxed);

	if (!since_ns || (since_ns & TRC_SAMPLE_EVENT_LEFT) ||
	    !atomic_compare_exchange_strong_explicit(&slot->since_ns, &since_ns,
						     now_ns | TRC_SAMPLE_EVENT_LEFT,
						     memory_order_relaxed, memory_order_relaxed))
		return;
	if (now_ns > since_ns)
		atomic_fetch_add_explicit(&slot->due_ns, now_ns - since_ns, memory_order_relaxed);
}

void trc_sample_event_off(struct trc_shared *shared, uint32_t event, uint64_t now_ns)
{
	struct trc_sample_event_slot *slot = &shared->sample_event[event - 1];

	leave(slot, now_ns);
	/* release: pairs with the acquire of the drain: due_ns is complete. */
	atomic_store_explicit(&slot->since_ns, 0, memory_order_release);
}

void trc_sample_events_leave(struct trc_shared *shared, uint64_t now_ns)
{
	for (uint32_t i = 0; i < TRC_SAMPLE_EVENTS_MAX; i++)
		leave(&shared->sample_event[i], now_ns);
}

void trc_sample_events_stay(struct trc_shared *shared)
{
	for (uint32_t i = 0; i < TRC_SAMPLE_EVENTS_MAX; i++)
		/* relaxed: as above; an event that is not sampled has no such bit. */
		atomic_fetch_and_explicit(&shared->sample_event[i].since_ns, ~TRC_SAMPLE_EVENT_LEFT,
					  memory_order_relaxed);
}
