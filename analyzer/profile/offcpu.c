/*
 * offcpu.c - the time that threads did not run: profile:L5.
 *
 * A thread's time is cut into pieces, each within one innermost wait or in none.  The times off a proc, by the switch
 * records, are put on these pieces.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "parts.h"
#include "analyzer/model/order.h"
#include "analyzer/model/timeline.h"
#include "analyzer/model/waits.h"

struct offcpu {
	struct trc_profile_sums *sums;
	const struct trc_model *m;
	const struct trc_thread *thread;
	const struct trc_park *park;
	const struct trc_on_cpu *on_cpu;
	const struct trc_sample *sample;
	size_t n_threads, n_parks, n_on_cpu, n_samples;
	uint32_t *outer;
	struct trc_by_thread parks, stretches, samples;
	int64_t switches_ns;	 /* since when there are switch records of every proc */
	struct trc_array pieces; /* struct trc_wait_piece, of one thread */
};

/* ---- time ---- */

struct off_time {
	size_t row; /* of the thread */
	uint32_t thread;
	int64_t from_ns, until_ns;
	uint8_t otherwise; /* why it is off outside of waits; TRC_OFF_NOT: it is not */
};

void trc_profile_borrow_stack(const struct trc_sample *samples, const struct trc_by_thread *by,
			      size_t thread, int64_t ts_ns, struct trc_profile_sample *to)
{
	uint32_t first = by->first[thread], low = first, high = by->first[thread + 1];
	const struct trc_sample *sample;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (samples[by->row[middle]].ts_ns <= ts_ns)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == first)
		return;
	sample = &samples[by->row[low - 1]];
	to->stack = sample->stack;
	to->stack_kind = ts_ns - sample->ts_ns <= TRC_STACK_NEAR_NS ? TRC_STACK_BEFORE
								    : TRC_STACK_LONG_BEFORE;
}

static int piece_count(struct offcpu *o, const struct off_time *off,
		       const struct trc_wait_piece *piece, int64_t from_ns, int64_t until_ns,
		       bool counts)
{
	int64_t ns = trc_selection_ns(o->sums->selection, off->thread, from_ns, until_ns);
	struct trc_profile_sample sample = {.off = off->otherwise, .value = {counts, ns}};

	if (!ns)
		return 0;
	if (piece->park) {
		const struct trc_park *park = &o->park[piece->park - 1];

		sample.off = piece->preempted ? TRC_OFF_PREEMPTED : park->reason;
		sample.stack = park->stack;
	} else {
		trc_profile_borrow_stack(o->sample, &o->samples, off->row, from_ns, &sample);
	}
	sample.labels = piece->park
				? trc_park_labels(o->m, &o->park[piece->park - 1])
				: trc_model_labels_at(o->m, off->thread, from_ns, TRC_PLACE_LAST);
	return trc_profile_passes(o->sums, sample.labels) ? trc_profile_add(o->sums, &sample) : 0;
}

/* Without switch records, only waits that do not burn the proc. */
static bool piece_is_off(const struct offcpu *o, const struct off_time *off,
			 const struct trc_wait_piece *piece)
{
	if (off->otherwise != TRC_OFF_NOT)
		return true;
	return piece->park && o->park[piece->park - 1].reason != TRC_REASON_SPIN;
}

static int add_time(struct offcpu *o, const struct off_time *off)
{
	const struct trc_wait_piece *piece = o->pieces.row;
	bool counted = false;
	int err = 0;

	if (off->from_ns >= off->until_ns)
		return 0;
	for (size_t i = trc_wait_piece_at(&o->pieces, off->from_ns); i < o->pieces.n && !err; i++) {
		int64_t from_ns = piece[i].start_ns, until_ns = off->until_ns;
		bool counts = off->otherwise == TRC_OFF_NOT ? piece[i].begins : !counted;

		if (from_ns >= off->until_ns)
			break;
		if (from_ns < off->from_ns)
			from_ns = off->from_ns;
		if (i + 1 < o->pieces.n && piece[i + 1].start_ns < until_ns)
			until_ns = piece[i + 1].start_ns;
		if (from_ns >= until_ns || !piece_is_off(o, off, &piece[i]))
			continue;
		err = piece_count(o, off, &piece[i], from_ns, until_ns, counts);
		counted = true;
	}
	return err;
}

/* ---- threads ---- */

/* Between its stretches on a proc. */
static int add_switched(struct offcpu *o, size_t thread, int64_t from_ns, int64_t until_ns)
{
	struct off_time off = {thread, o->thread[thread].serial, from_ns, until_ns,
			       TRC_OFF_UNKNOWN};
	int err = 0;

	for (uint32_t i = o->stretches.first[thread]; i < o->stretches.first[thread + 1] && !err;
	     i++) {
		const struct trc_on_cpu *on = &o->on_cpu[o->stretches.row[i]];

		/* One from before the trace has no start. */
		off.until_ns = trc_earlier_ns(on->start_ns, until_ns);
		err = add_time(o, &off);
		off.from_ns =
			trc_later_ns(off.from_ns, on->end_ns == TRC_NEVER ? until_ns : on->end_ns);
		off.otherwise = on->preempted ? TRC_OFF_PREEMPTED : TRC_OFF_UNKNOWN;
	}
	off.until_ns = until_ns;
	return err ? err : add_time(o, &off);
}

static int offcpu_add_thread(struct offcpu *o, size_t thread)
{
	const struct trc_thread *t = &o->thread[thread];
	int64_t from_ns = trc_later_ns(t->start_ns, trc_model_start_ns(o->m));
	int64_t end_ns = trc_model_end_ns(o->m), switches_ns = end_ns;
	struct off_time off;
	int err =
		trc_wait_pieces_make(&o->pieces, o->m, &o->parks, &o->stretches, o->outer, thread);

	if (t->end_ns != TRC_NEVER)
		end_ns = trc_earlier_ns(t->end_ns, end_ns);
	/* One that was never switched is not known to have been off. */
	if (o->stretches.first[thread] < o->stretches.first[thread + 1])
		switches_ns = trc_later_ns(from_ns, o->switches_ns);
	off = (struct off_time){thread, t->serial, from_ns, trc_earlier_ns(switches_ns, end_ns),
				TRC_OFF_NOT};
	if (!err)
		err = add_time(o, &off);
	if (!err && switches_ns < end_ns)
		err = add_switched(o, thread, switches_ns, end_ns);
	return err;
}

static int offcpu_add_threads(struct trc_profile_sums *sums)
{
	struct offcpu o = {.sums = sums,
			   .m = sums->m,
			   .switches_ns = trc_model_switches_from_ns(sums->m),
			   .pieces = {.row_bytes = sizeof(struct trc_wait_piece)}};
	int err;

	o.thread = trc_model_threads(o.m, &o.n_threads);
	o.park = trc_model_parks(o.m, &o.n_parks);
	o.on_cpu = trc_model_on_cpu(o.m, &o.n_on_cpu);
	o.sample = trc_model_samples(o.m, &o.n_samples);
	o.outer = trc_waits_nesting(o.m);
	err = o.outer ? trc_by_thread_make(&o.parks, o.m, o.park, o.n_parks, sizeof(*o.park),
					   trc_thread_of_park)
		      : -ENOMEM;
	if (!err)
		err = trc_by_thread_make(&o.stretches, o.m, o.on_cpu, o.n_on_cpu, sizeof(*o.on_cpu),
					 trc_thread_of_on_cpu);
	if (!err)
		err = trc_by_thread_make(&o.samples, o.m, o.sample, o.n_samples, sizeof(*o.sample),
					 trc_thread_of_sample);
	for (size_t i = 0; i < o.n_threads && !err; i++)
		err = offcpu_add_thread(&o, i);
	free(o.outer);
	trc_by_thread_free(&o.parks);
	trc_by_thread_free(&o.stretches);
	trc_by_thread_free(&o.samples);
	trc_array_free(&o.pieces);
	return err;
}

static void comment_switches(const struct trc_model *m, struct trc_profile *p)
{
	size_t n;

	trc_model_on_cpu(m, &n);
	trc_profile_comment(p, n ? "off-CPU time by the kernel's switch records"
				 : "no switch records: off-CPU time is that of the recorded waits");
}

int trc_profile_offcpu(struct trc_profile_sums *sums, struct trc_profile *p)
{
	p->type[0] = (struct trc_profile_type){"events", "count"};
	p->type[1] = (struct trc_profile_type){"delay", "nanoseconds"};
	p->n_types = 2;
	p->main_type = 1;
	p->period_type = p->type[0];
	p->period = 1;
	comment_switches(sums->m, p);
	return offcpu_add_threads(sums);
}

/* Off time has been summed up as (events, delay), CPU time as (samples, cpu). */
int trc_profile_wall(struct trc_profile_sums *sums, struct trc_profile *p, struct trc_error *error)
{
	struct trc_profile_sample *row;
	int err = trc_profile_samples(sums, p, NULL, error);

	if (err)
		return err;
	comment_switches(sums->m, p);
	err = offcpu_add_threads(sums);
	row = sums->rows.row;
	for (size_t i = 0; i < sums->rows.n; i++) {
		int64_t ns = row[i].value[1];

		row[i].value[1] = row[i].off ? 0 : ns;
		row[i].value[2] = row[i].off ? ns : 0;
		row[i].value[3] = ns;
	}
	p->type[0] = (struct trc_profile_type){"events", "count"};
	p->type[1] = (struct trc_profile_type){"cpu", "nanoseconds"};
	p->type[2] = (struct trc_profile_type){"offcpu", "nanoseconds"};
	p->type[3] = (struct trc_profile_type){"wall", "nanoseconds"};
	p->n_types = 4;
	p->main_type = 3;
	return err;
}
