/* open.c - opens a drain: its memory, where reading begins, and after which drain it goes on. */
#include <errno.h>
#include <string.h>
#include "format/pages.h"
#include "private.h"
#include "recorder/shared/clock.h"
#include "recorder/shared/copy_racing.h"
#include "recorder/shared/power_of_two.h"

enum { TIDS_MIN = 512 };

/* Gives every array its place in [base, ...); with base NULL only adds up the bytes. */
static size_t place_arrays(struct trc_drain *d, unsigned char *base)
{
	const struct trc_shared *h = &d->h;
	uint64_t n_stacks = 0, n_strings = 0, n_label_sets = 0;
	size_t used = (sizeof(*d) + 63) & ~(size_t)63;

	for (int c = 0; c < TRC_STACK_CLASSES; c++)
		n_stacks += (uint64_t)h->stack_sets[c] * TRC_SET_WAYS;
	for (int c = 0; c < TRC_STRING_CLASSES; c++)
		n_strings += (uint64_t)h->string_sets[c] * TRC_SET_WAYS;
	for (int c = 0; c < TRC_LABELS_CLASSES; c++)
		n_label_sets += (uint64_t)h->label_sets[c] * TRC_SET_WAYS;
	d->stacks.mask = (uint32_t)trc_power_of_two(2 * n_stacks + 16) - 1;
	d->strings.mask = (uint32_t)trc_power_of_two(2 * n_strings + 16) - 1;
	d->label_sets.mask = (uint32_t)trc_power_of_two(2 * n_label_sets + 16) - 1;
	d->watch_mask = (uint32_t)trc_power_of_two(2 * (uint64_t)h->n_threads + 16) - 1;
	d->tids.mask = (uint32_t)trc_power_of_two(2 * (uint64_t)h->n_threads + TIDS_MIN) - 1;
#define PLACE(field, n)                                                                            \
	do {                                                                                       \
		if (base)                                                                          \
			d->field = (void *)(base + used);                                          \
		used += ((n) * sizeof(*d->field) + 63) & ~(size_t)63;                              \
	} while (0)
	PLACE(ring, h->n_procs);
	PLACE(kernel, h->n_procs);
	PLACE(slot, h->n_threads);
	PLACE(module_id, h->n_modules);
	PLACE(module_ended, h->n_modules);
	PLACE(module_open, h->n_modules);
	PLACE(module_state, h->n_modules);
	PLACE(kernel_module, TRC_DRAIN_KERNEL_MODULES);
	PLACE(stack_looked_at, TRC_DRAIN_STACKS_LOOKED_AT);
	PLACE(status, h->n_threads);
	PLACE(thread_labels, h->n_threads);
	PLACE(thread_fibers, h->n_threads);
	PLACE(stacks.pair, d->stacks.mask + UINT64_C(1));
	PLACE(strings.pair, d->strings.mask + UINT64_C(1));
	PLACE(label_sets.pair, d->label_sets.mask + UINT64_C(1));
	PLACE(tids.entry, d->tids.mask + UINT64_C(1));
	PLACE(tids.before, d->tids.mask + UINT64_C(1));
	PLACE(words, h->page_words);
	PLACE(watch, d->windowed ? d->watch_mask + UINT64_C(1) : 0);
#undef PLACE
	return used;
}

static int header_check(struct trc_drain *d, struct trc_shared *shared, uint64_t mapped_bytes)
{
	const char *why;
	int err;

	if (mapped_bytes < sizeof(*shared))
		return -EBADMSG;
	/* Beside a flight recorder threads go on counting in it; of the copy only what was settled
	 * when it was made is looked at. */
	trc_copy_racing(&d->h, shared, sizeof(d->h));
	err = trc_layout_check(&d->h, mapped_bytes, &why);
	if (err)
		return err;
	if (!d->windowed && d->h.clock != (uint32_t)trc_clock_kind)
		return -ENOTSUP;
	return d->h.ticks_per_second ? 0 : -ENOTSUP;
}

static void drain_streams_init(struct trc_drain *d)
{
	for (uint32_t i = 0; i < d->h.n_procs; i++) {
		struct trc_ring *ring = trc_ring_of(d, i);

		d->ring[i].stream.source = TRC_SOURCE_RING;
		d->ring[i].stream.proc = i;
		d->ring[i].stream.lost_known = true;
		d->kernel[i].source = TRC_SOURCE_KERNEL;
		d->kernel[i].proc = i;
		/* relaxed: only drains store tail. */
		d->ring[i].pos = atomic_load_explicit(&ring->tail, memory_order_relaxed);
	}
	d->cells.stream.source = TRC_SOURCE_OVERFLOW;
	d->cells.stream.lost_known = true;
	d->cells.pos = atomic_load_explicit(
		&((struct trc_overflow *)trc_area(d->shared, d->h.overflow_off))->tail,
		memory_order_relaxed);
}

/* What is committed, and lost, so far is of before; so that a writer which sees that somebody
 * drains sees that nothing is left to be drained. */
static void drain_join(struct trc_drain *d)
{
	struct trc_overflow *o = trc_area(d->shared, d->h.overflow_off);

	d->joined = d->sync.ticks;
	for (uint32_t i = 0; i < d->h.n_procs; i++) {
		struct trc_ring *ring = trc_ring_of(d, i);

		/* acquire: as in trc_drain_ring_look(). */
		d->ring[i].pos = atomic_load_explicit(&ring->head, memory_order_acquire);
		d->ring[i].stream.last_time = d->joined;
		d->ring[i].stream.lost_seen =
			atomic_load_explicit(&ring->lost_total, memory_order_relaxed);
		/* relaxed: drain_state is stored with a release. */
		if (!d->options.follow)
			atomic_store_explicit(&ring->tail, d->ring[i].pos, memory_order_relaxed);
	}
	d->cells.pos = atomic_load_explicit(&o->head, memory_order_acquire);
	d->cells.lost_begin = d->cells.pos != 0;
	d->cells.stream.last_time = d->joined;
	d->cells.stream.lost_seen = atomic_load_explicit(&o->lost_total, memory_order_relaxed);
	if (!d->options.follow)
		atomic_store_explicit(&o->tail, d->cells.pos, memory_order_relaxed);
}

/* Whether what the drain before left is all there.  Where a ring may go round, one that is half full
 * by now does so soon. */
static bool is_all_there(const struct trc_drain *d, const struct trc_drain *left)
{
	struct trc_overflow *o = trc_area(d->shared, d->h.overflow_off);
	uint64_t cells = atomic_load_explicit(&o->head, memory_order_relaxed);
	unsigned int share = trc_is_overwritten(d->shared) ? 2 : 1;

	for (uint32_t i = 0; i < d->h.n_procs; i++) {
		uint64_t head =
			atomic_load_explicit(&trc_ring_of(d, i)->head, memory_order_relaxed);

		if (left->ring[i].broken || head - left->ring[i].pos > d->h.ring_words / share)
			return false;
	}
	return cells - left->cells.pos <= d->h.n_cells / share;
}

static void stream_go_on(struct trc_drain_stream *s, const struct trc_drain_stream *left,
			 uint64_t joined)
{
	s->last_time = left->last_time > joined ? left->last_time : joined;
	s->lost_seen = left->lost_seen;
}

/* In place of drain_join(): tails are where the drain before left them. */
static void drain_go_on(struct trc_drain *d, const struct trc_drain *left)
{
	d->goes_on = true;
	d->sync = left->left;
	d->joined = d->sync.ticks;
	for (uint32_t i = 0; i < d->h.n_procs; i++) {
		d->ring[i].pos = left->ring[i].pos;
		d->ring[i].skip_to = left->ring[i].skip_to;
		stream_go_on(&d->ring[i].stream, &left->ring[i].stream, d->joined);
	}
	d->cells.pos = left->cells.pos;
	d->cells.lost_begin = left->cells.lost_begin;
	stream_go_on(&d->cells.stream, &left->cells.stream, d->joined);
}

bool trc_drain_goes_on(const struct trc_drain *d)
{
	return d->goes_on;
}

/* What there is to drain was settled when the copy was made. */
static void window_init(struct trc_drain *d, const struct trc_drain_window *window)
{
	d->from = window->from;
	d->to = window->to;
	d->span = window->to - window->from;
	d->now = window->now;
	d->sync = window->sync;
	d->regions_fiber = window->regions_fiber;
	d->final = true;
	trc_drain_see_serials(d);
	for (uint32_t i = 0; i < d->h.n_procs; i++)
		d->ring[i].stream.lost_known = !d->ring[i].pos;
	d->cells.lost_begin = d->cells.pos != 0;
}

/* What the image before had is gone. */
static void tell_exec(struct trc_drain *d)
{
	struct trc_drain_stream *s = &d->cells.stream;
	struct trc_args_process *args = trc_drain_row(d, s, TRC_KIND_PROCESS, 0, d->earliest);

	if (!args)
		return;
	*args = (struct trc_args_process){.what = TRC_PROCESS_EXEC, .value = d->h.image};
	trc_drain_row_done(d, s, TRC_KIND_PROCESS, 0, d->earliest, args);
	s->last_time = d->earliest;
	d->totals.events++;
	d->unflushed++;
}

static void somebody_drains(struct trc_drain *d)
{
	/* release: a writer that waits because of this finds a drain that looks. */
	atomic_store_explicit(&d->shared->drain_state,
			      d->options.never_wait ? TRC_DRAIN_FAILED : TRC_DRAIN_ACTIVE,
			      memory_order_release);
}

int trc_drain_open(struct trc_drain **out, struct trc_shared *shared, uint64_t mapped_bytes,
		   struct trc_writer *writer, const struct trc_drain_options *options)
{
	struct trc_drain plan = {.w = writer,
				 .shared = shared,
				 .options = *options,
				 .windowed = options->window != NULL,
				 .span = UINT64_MAX};
	struct trc_drain *d;
	int err = header_check(&plan, shared, mapped_bytes);

	if (err)
		return err;
	plan.memory_bytes = place_arrays(&plan, NULL);
	d = trc_pages_map(plan.memory_bytes);
	if (!d)
		return -ENOMEM;
	*d = plan;
	place_arrays(d, (unsigned char *)d);
	trc_drain_plan_init(d);
	drain_streams_init(d);
	d->earliest = d->h.start.ticks;
	*out = d;
	if (d->windowed) {
		window_init(d, options->window);
		return 0;
	}
	d->flushed_ns = trc_drain_raw_ns();
	trc_clock_sync(&d->sync);
	d->opened = d->sync.ticks;
	if (options->after && is_all_there(d, options->after))
		drain_go_on(d, options->after);
	else if (options->join)
		drain_join(d);
	trc_drain_sample_begin(d, options->after);
	d->options.after = NULL;
	/* Trace time 0 is when recording began. */
	if (options->serial_base)
		tell_exec(d);
	else
		trc_writer_sync(writer, options->join ? &d->sync : &d->h.start);
	if (!options->follow)
		somebody_drains(d);
	return 0;
}

void trc_drain_close(struct trc_drain *d)
{
	if (!d)
		return;
	trc_pages_unmap(d->past.entry, (d->past.mask + UINT64_C(1)) * sizeof(*d->past.entry));
	trc_drain_tids_free(&d->tids);
	trc_pages_unmap(d, d->memory_bytes);
}
