/* drain_kernel.c - the kernel's records of who runs where, among the events of a mapping. */
#include "drain_private.h"
#include "perf_switch.h"

void trc_drain_switch(struct trc_drain *d, const struct trc_switch_record *r)
{
	struct trc_drain_stream *s;
	uint64_t *arg, ticks;
	uint32_t thread;

	if (r->proc >= d->h.n_procs || r->raw_ns < d->h.start.monotonic_raw_ns)
		return;
	s = &d->kernel[r->proc];
	if (r->raw_ns > s->last_time)
		s->last_time = r->raw_ns;
	s->seen = true;
	ticks = trc_drain_ticks(d, r->raw_ns);
	if (ticks - d->from > d->span)
		return;
	if (r->lost) {
		trc_drain_gap(d, s, r->lost, 0, TRC_GAP_KERNEL);
		return;
	}
	thread = trc_drain_thread(d, r->tid, ticks);
	if (!thread) /* it ran before it was first seen, or never records */
		return;
	if (d->past.used)
		trc_drain_past_named(d, thread);
	arg = trc_writer_row(d->w, TRC_SOURCE_KERNEL, r->proc,
			     r->out ? TRC_KIND_PROC_STOP : TRC_KIND_PROC_START, thread, r->raw_ns);
	if (arg && r->out)
		arg[0] = r->preempted;
	d->totals.events++;
	d->unflushed++;
}

void trc_drain_procs(struct trc_drain *d, uint64_t raw_ns, uint32_t procs)
{
	struct trc_drain_stream *s = &d->kernel[0];
	uint64_t *arg;

	if (raw_ns < d->h.start.monotonic_raw_ns ||
	    trc_drain_ticks(d, raw_ns) - d->from > d->span)
		return;
	if (raw_ns > s->last_time)
		s->last_time = raw_ns;
	arg = trc_writer_row(d->w, TRC_SOURCE_KERNEL, 0, TRC_KIND_PROCS_CHANGE, 0, raw_ns);
	if (arg)
		arg[0] = procs;
	d->totals.events++;
	d->unflushed++;
}

void trc_drain_kernel_held(struct trc_drain *d, uint32_t proc, uint64_t raw_ns)
{
	if (proc < d->h.n_procs && raw_ns >= d->h.start.monotonic_raw_ns)
		d->kernel[proc].held = trc_drain_ticks(d, raw_ns);
}

bool trc_drain_kernel_seen(const struct trc_drain *d, uint32_t proc, uint64_t *held)
{
	*held = d->kernel[proc].held;
	return d->kernel[proc].seen;
}
