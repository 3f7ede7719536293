/* drain_kernel.c - the kernel's records of who runs where, among the events of a mapping. */
#include "drain_private.h"
#include "perf_switch.h"

void trc_drain_switch(struct trc_drain *d, const struct trc_switch_record *r)
{
	struct trc_drain_stream *s;
	uint64_t *arg;
	uint32_t thread;

	if (r->proc >= d->h.n_procs || r->raw_ns < d->h.start.monotonic_raw_ns)
		return;
	s = &d->kernel[r->proc];
	if (r->raw_ns > s->last_time)
		s->last_time = r->raw_ns;
	if (r->lost) {
		trc_drain_gap(d, s, r->lost, 0, TRC_GAP_KERNEL);
		return;
	}
	thread = trc_drain_thread(d, r->tid, trc_drain_ticks(d, r->raw_ns));
	if (!thread) /* it ran before it was first seen, or never records */
		return;
	arg = trc_writer_row(d->w, TRC_SOURCE_KERNEL, r->proc,
			     r->out ? TRC_KIND_PROC_STOP : TRC_KIND_PROC_START, thread, r->raw_ns);
	if (arg && r->out)
		arg[0] = r->preempted;
	d->totals.events++;
	d->unflushed++;
}
