/* snapshot_write.c - writes a snapshot as a trace, and what the trace says of itself. */
#include <errno.h>
#include <string.h>
#include <time.h>
#include "recorder/shared/text.h"
#include "format/now.h"
#include "format/pages.h"
#include "snapshot_private.h"
#include "trace_info.h"

/* A generation lasts longer than any ring: rings are written one after the other. */
#define GENERATION_NS UINT64_C(1000000000000000000)

#define LOAD(field) atomic_load_explicit(&(field), memory_order_relaxed)

void trc_snapshot_writer_options(const struct trc_snapshot *s, struct trc_writer_options *options)
{
	*options = (struct trc_writer_options){
		.clock = (enum trc_clock_kind)s->h.clock,
		.ticks_per_second = s->h.ticks_per_second,
		.n_procs = s->h.n_procs,
		.generation_ns = GENERATION_NS,
		.creation_realtime_ns = trc_now_ns(CLOCK_REALTIME),
	};
	memcpy(options->trace_uuid, s->h.uuid, sizeof(s->h.uuid));
	/* A ring may give many traces: each has an id of its own. */
	for (size_t i = 0; i < 8; i++)
		options->trace_uuid[8 + i] ^= (uint8_t)(s->cut >> 8 * i);
}

static struct trc_coverage_entry coverage_of(const struct trc_snapshot *s, uint8_t source,
					     uint32_t proc, uint64_t held)
{
	uint64_t from = trc_snapshot_later(s->from, held);

	return (struct trc_coverage_entry){.proc = proc,
					   .source = source,
					   .held = held,
					   .from = from < s->cut ? from : s->cut,
					   .to = s->cut};
}

static int snapshot_coverage_write(const struct trc_snapshot *s, struct trc_writer *w,
				   const struct trc_drain *drain)
{
	size_t n_bytes = (2 * (size_t)s->h.n_procs + 1) * sizeof(struct trc_coverage_entry);
	struct trc_coverage_entry *entry = trc_pages_map(n_bytes);
	size_t n = 0;
	int err;

	if (!entry)
		return -ENOMEM;
	for (uint32_t i = 0; i < s->h.n_procs; i++) {
		uint64_t kernel;

		if (LOAD(trc_snapshot_ring(s, i)->state) == TRC_RING_READY)
			entry[n++] = coverage_of(s, TRC_SOURCE_RING, i, s->held[i]);
		if (trc_drain_kernel_seen(drain, i, &kernel))
			entry[n++] = coverage_of(s, TRC_SOURCE_KERNEL, i, kernel);
	}
	if (LOAD(trc_snapshot_overflow(s)->head))
		entry[n++] = coverage_of(s, TRC_SOURCE_OVERFLOW, UINT32_MAX, s->held_cells);
	err = trc_writer_coverage(w, entry, n);
	trc_pages_unmap(entry, n_bytes);
	return err;
}

static uint64_t interpolate(uint64_t from, uint64_t to, uint64_t part, uint64_t whole)
{
	return from + (uint64_t)((__int128)(int64_t)(to - from) * part / whole);
}

/* The last reading of the clocks, where a trace ends at the earliest: of a process that has been
 * dead for a day not that of now, but of the cut, on the line from its start to now. */
static struct trc_sync_point last_sync(const struct trc_snapshot *s)
{
	const struct trc_sync_point *start = &s->h.start;
	struct trc_sync_point at = s->sync;
	uint64_t part = s->cut - start->ticks, whole = s->sync.ticks - start->ticks;

	/* Of a damaged file the cut may be anywhere. */
	if (!s->options.found_dead || s->cut < start->ticks || s->cut >= s->sync.ticks)
		return at;
	at.ticks = s->cut;
	at.monotonic_raw_ns =
		interpolate(start->monotonic_raw_ns, at.monotonic_raw_ns, part, whole);
	at.monotonic_ns = interpolate(start->monotonic_ns, at.monotonic_ns, part, whole);
	at.realtime_ns = interpolate(start->realtime_ns, at.realtime_ns, part, whole);
	return at;
}

uint64_t trc_snapshot_end(const struct trc_snapshot *s)
{
	return s->has_sync ? trc_snapshot_later(s->cut, last_sync(s).ticks) : s->cut;
}

int trc_snapshot_write(struct trc_snapshot *s, struct trc_writer *w,
		       void (*kernel)(void *context, struct trc_drain *drain), void *context)
{
	struct trc_drain_window window = {
		.from = s->options.all ? s->h.start.ticks : s->from,
		.to = s->cut,
		.now = s->now,
		.sync = s->sync,
		.regions_fiber = s->regions_fiber,
	};
	struct trc_drain_options options = {.window = &window,
					    .wait_find = s->wait_find,
					    .wait_find_context = s->wait_find_context};
	struct trc_sync_point last = last_sync(s);
	struct trc_drain *drain;
	int err = trc_drain_open(&drain, s->copy, s->h.total_bytes, w, &options);

	if (err)
		return err;
	trc_writer_sync(w, &s->h.start); /* trace time 0 is when recording began */
	trc_drain_copy(drain);
	if (kernel)
		kernel(context, drain);
	err = trc_drain_copy_finish(drain);
	if (!err)
		err = snapshot_coverage_write(s, w, drain);
	if (!err)
		err = trc_writer_flush(w);
	/* Behind all events from before it (format.md, "SYNC"). */
	if (!err && s->has_sync)
		err = trc_writer_sync(w, &last);
	trc_drain_totals(drain, &s->totals);
	trc_drain_close(drain);
	return err;
}

/* ---- what the trace says of itself ----------------------------------------------------- */

enum { INFO_BYTES = 160 };

/* "11 (SIGSEGV) code 1 at 0x0 in thread 123" */
static int info_signal(const struct trc_snapshot *s, struct trc_writer *w)
{
	const struct trc_crash *c = &s->copy->crash;
	const char *name = sigabbrev_np(LOAD(c->signal));
	int32_t code = LOAD(c->code);
	char text[INFO_BYTES];
	struct trc_text t = TRC_TEXT_IN(text);

	if (LOAD(c->state) != TRC_CRASH_COMPLETE)
		return 0;
	trc_text_put_number(&t, (uint32_t)LOAD(c->signal), 10);
	trc_text_put(&t, name ? " (SIG" : "");
	trc_text_put(&t, name ? name : "");
	trc_text_put(&t, name ? ") code " : " code ");
	trc_text_put(&t, code < 0 ? "-" : "");
	trc_text_put_number(&t, code < 0 ? 0 - (uint64_t)code : (uint64_t)code, 10);
	trc_text_put(&t, " at 0x");
	trc_text_put_number(&t, LOAD(c->address), 16);
	trc_text_put(&t, " in thread ");
	trc_text_put_number(&t, LOAD(c->tid), 10);
	return trc_writer_info(w, "signal", text);
}

/* The time of the trace at which it was recovered: by then the process was gone. */
static int info_recovered(const struct trc_snapshot *s, struct trc_writer *w)
{
	char text[INFO_BYTES];
	struct trc_text t = TRC_TEXT_IN(text);

	if (!s->options.found_dead || !s->has_sync)
		return 0;
	trc_text_put_number(&t, s->sync.monotonic_raw_ns - s->h.start.monotonic_raw_ns, 10);
	return trc_writer_info(w, "recovered_ns", text);
}

/* The window that was asked for: what it came to is in the coverage. */
static int info_window(const struct trc_snapshot *s, struct trc_writer *w)
{
	uint64_t window_ns = s->options.window_ns ? s->options.window_ns : s->h.window_ns;
	char text[INFO_BYTES];
	struct trc_text t = TRC_TEXT_IN(text);

	if (!window_ns || window_ns == UINT64_MAX)
		return 0;
	trc_text_put_number(&t, window_ns, 10);
	return trc_writer_info(w, "window_ns", text);
}

int trc_snapshot_info(const struct trc_snapshot *s, struct trc_writer *w)
{
	int err = s->has_sync ? trc_trace_info(w, s->copy) : trc_trace_info_process(w, s->copy);

	if (!err)
		err = trc_writer_info(w, "mode",
				      s->h.flags & TRC_SHARED_OVERWRITE ? "flight" : "recording");
	if (!err)
		err = info_window(s, w);
	if (!err)
		err = info_recovered(s, w);
	return err ? err : info_signal(s, w);
}
