/* sample.c - the sampled events, and lost samples that no event could report. */
#include <errno.h>
#include <string.h>
#include "private.h"

/* A copy of one entry, with texts that end. */
struct entry {
	struct trc_sample_event_slot slot;
	uint64_t missing_threads, lost[TRC_SAMPLE_LOSS_COUNT];
};

/*
 * In samples, the CPU time that threads used before they were armed, and after: what the process has used
 * while the event was sampled, without what threads have while it was armed for them.  It is known
 * when the event is not sampled any more, or the process has ended or executed another program.
 */
static uint64_t unarmed(const struct trc_drain *d, const struct trc_sample_event_slot *slot)
{
	enum {
		SLACK_SAMPLES = 2, /* that were under way at the end */
		SHARE_MIN =
			50, /* below this share of what was due it is what reading clocks gets wrong */
	};
	/* acquire: pairs with the release in trc_sample_event_off(): due_ns is complete. */
	uint64_t since_ns = atomic_load_explicit(&slot->since_ns, memory_order_acquire);
	uint64_t due_ns = atomic_load_explicit(&slot->due_ns, memory_order_relaxed);
	uint64_t armed_ns = atomic_load_explicit(&slot->armed_ns, memory_order_relaxed), n;

	bool left = since_ns & TRC_SAMPLE_EVENT_LEFT;

	/* What first samples leave over trace-record tells (recorder/tool/due.c). */
	if (slot->how == TRC_SAMPLE_KERNEL || !slot->counts_all || !slot->period ||
	    (since_ns && (left ? !d->final : !d->used_ns)))
		return 0;
	if (since_ns && !left && d->used_ns > since_ns)
		due_ns += d->used_ns - since_ns;
	if (due_ns <= armed_ns)
		return 0;
	n = (due_ns - armed_ns) / slot->period;
	return n <= SLACK_SAMPLES || due_ns - armed_ns < due_ns / SHARE_MIN ? 0 : n;
}

static bool entry_copy(struct trc_drain *d, uint32_t i, struct entry *e)
{
	struct trc_sample_event_slot *slot = &d->shared->sample_event[i];

	/* acquire: pairs with the release of a complete entry. */
	if (atomic_load_explicit(&slot->state, memory_order_acquire) != TRC_SAMPLE_EVENT_COMPLETE)
		return false;
	memcpy(&e->slot, slot, sizeof(e->slot));
	e->slot.name[sizeof(e->slot.name) - 1] = '\0';
	e->slot.unit[sizeof(e->slot.unit) - 1] = '\0';
	e->slot.note[sizeof(e->slot.note) - 1] = '\0';
	e->missing_threads = atomic_load_explicit(&slot->missing_threads, memory_order_relaxed);
	for (int cause = 0; cause < TRC_SAMPLE_LOSS_COUNT; cause++)
		e->lost[cause] = atomic_load_explicit(&slot->lost[cause], memory_order_relaxed);
	e->lost[TRC_SAMPLE_LOSS_UNARMED] = unarmed(d, slot);
	return true;
}

/* Placed among the overflow stream's events: when they were lost is not known exactly. */
static void tell_sample_loss(struct trc_drain *d, uint32_t event, int cause, uint64_t n)
{
	struct trc_drain_stream *s = &d->cells.stream;
	struct trc_event e = {.kind = TRC_KIND_SAMPLES_LOST};
	struct trc_args_samples_lost *args;

	if (!s->last_time)
		s->last_time = d->earliest;
	e.args.samples_lost = (struct trc_args_samples_lost){
		.event = event, .lost_samples = n, .cause = (uint64_t)cause};
	trc_drain_first_sample(d, &e);
	args = trc_drain_row(d, s, TRC_KIND_SAMPLES_LOST, 0, s->last_time);
	d->unflushed++;
	d->totals.lost_samples += n;
	if (!args)
		return;
	*args = e.args.samples_lost;
	trc_drain_row_done(d, s, TRC_KIND_SAMPLES_LOST, 0, s->last_time, args);
}

static void tell_sample_losses(struct trc_drain *d, uint32_t i, const struct entry *e)
{
	for (int cause = 1; cause < TRC_SAMPLE_LOSS_COUNT; cause++) {
		uint64_t *told = &d->sampled[i].lost[cause];

		if (e->lost[cause] <= *told) /* less: it is not known while sampling goes on */
			continue;
		tell_sample_loss(d, i + 1, cause, e->lost[cause] - *told);
		*told = e->lost[cause];
	}
}

static void events_append(char *text, size_t n_bytes, const char *more)
{
	size_t used = strlen(text), n = strlen(more);

	if (used + n < n_bytes)
		memcpy(text + used, more, n + 1);
}

static void note_loss(struct entry *e, unsigned int cause, uint64_t n)
{
	static const char one[] = " sample lost since it began: ";
	static const char many[] = " samples lost since it began: ";
	char text[24 + sizeof(many) + 16] = "", *at = text + 24;

	memcpy(at, n == 1 ? one : many, n == 1 ? sizeof(one) : sizeof(many));
	events_append(at, sizeof(text) - 24, trc_sample_loss_name(cause));
	for (; n; n /= 10)
		*--at = (char)('0' + n % 10);
	if (*e->slot.note)
		events_append(e->slot.note, sizeof(e->slot.note), "; ");
	events_append(e->slot.note, sizeof(e->slot.note), at);
}

/* A copy cannot tell which of them its window is about. */
static void note_losses(struct entry *e)
{
	for (unsigned int cause = 1; cause < TRC_SAMPLE_LOSS_COUNT; cause++)
		if (e->lost[cause])
			note_loss(e, cause, e->lost[cause]);
}

static struct trc_sample_event_entry as_written(uint32_t i, const struct entry *e)
{
	return (struct trc_sample_event_entry){.event = i + 1,
					       .how = e->slot.how,
					       .period = e->slot.period,
					       .frequency_hz = e->slot.frequency_hz,
					       .missing_threads = e->missing_threads,
					       .name = e->slot.name,
					       .unit = e->slot.unit,
					       .note = e->slot.note};
}

/* True if it differs from what has been written. */
static bool entry_has_changed(struct trc_drain *d, uint32_t i, struct entry *e)
{
	bool changed = !d->sampled[i].told || d->sampled[i].missing_threads != e->missing_threads;

	if (d->windowed)
		note_losses(e);
	else
		tell_sample_losses(d, i, e);
	d->sampled[i].told = true;
	d->sampled[i].missing_threads = e->missing_threads;
	return changed;
}

static void tell_own_sigprof(struct trc_drain *d)
{
	if (d->own_sigprof_told || !(atomic_load_explicit(&d->shared->flags, memory_order_relaxed) &
				     TRC_SHARED_OWN_SIGPROF))
		return;
	d->own_sigprof_told = true;
	trc_writer_info(d->w, "sigprof", "used by the program as well");
}

void trc_drain_sample_events(struct trc_drain *d)
{
	struct trc_sample_event_entry written[TRC_SAMPLE_EVENTS_MAX + TRC_CPU_EVENTS_MAX];
	struct entry entry[TRC_SAMPLE_EVENTS_MAX];
	bool changed = d->n_kernel_events && !d->kernel_events_told;
	uint32_t kernel;
	size_t n = 0;

	for (uint32_t i = 0; i < TRC_SAMPLE_EVENTS_MAX; i++) {
		if (!entry_copy(d, i, &entry[n]))
			continue;
		changed |= entry_has_changed(d, i, &entry[n]);
		if (trc_drain_is_first_event(d, i, &kernel))
			continue; /* it has the kernel's entry */
		written[n] = as_written(i, &entry[n]);
		n++;
	}
	n += trc_drain_kernel_entries(d, written + n);
	d->kernel_events_told = true;
	if (changed)
		trc_writer_sample_events(d->w, written, n);
	tell_own_sigprof(d);
}

void trc_drain_service(struct trc_drain *d, bool last)
{
	char name[TRC_OTEL_SERVICE_BYTES];

	if (trc_otel_service_ask(&d->service, (uint32_t)d->options.pid, trc_drain_raw_ns(), last,
				 name))
		trc_writer_info(d->w, "otel_service", name);
}

void trc_drain_used(struct trc_drain *d, uint64_t used_ns)
{
	d->used_ns = used_ns;
}

void trc_drain_sample_begin(struct trc_drain *d, const struct trc_drain *left)
{
	struct entry e;

	for (uint32_t i = 0; i < TRC_SAMPLE_EVENTS_MAX; i++)
		if (d->goes_on)
			memcpy(d->sampled[i].lost, left->sampled[i].lost, sizeof(e.lost));
		else if (d->options.join && entry_copy(d, i, &e))
			memcpy(d->sampled[i].lost, e.lost, sizeof(e.lost));
}
