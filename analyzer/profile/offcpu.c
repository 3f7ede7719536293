/*
 * offcpu.c - the time that threads did not run: profile:L5.
 *
 * A thread's time is cut into pieces, each within one innermost wait or in none; what the switch
 * records say it was off is put on them.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "parts.h"
#include "analyzer/model/waits.h"

/* From here up to the next piece the thread is in this wait. */
struct piece {
	int64_t start_ns;
	uint32_t park; /* id in parks; 0 = in none */
	bool begins;   /* the wait begins here */
};

/* Rows of a table by thread: those of thread i are row[first[i]] up to row[first[i + 1]]. */
struct by_thread {
	uint32_t *first, *row;
};

struct offcpu {
	struct trc_profile_sums *sums;
	const struct trc_model *m;
	const struct trc_thread *thread;
	const struct trc_park *park;
	const struct trc_on_cpu *on_cpu;
	const struct trc_sample *sample;
	size_t n_threads, n_parks, n_on_cpu, n_samples;
	uint32_t *outer;
	struct by_thread parks, stretches, samples;
	int64_t switches_ns;	 /* since when there are switch records of every proc */
	struct trc_array pieces; /* struct piece, of one thread */
};

static int64_t later(int64_t a_ns, int64_t b_ns)
{
	return a_ns > b_ns ? a_ns : b_ns;
}

static int64_t earlier(int64_t a_ns, int64_t b_ns)
{
	return a_ns < b_ns ? a_ns : b_ns;
}

/* ---- rows by thread ---- */

typedef uint32_t thread_of_fn(const struct offcpu *o, size_t row);

static uint32_t thread_of_park(const struct offcpu *o, size_t row)
{
	return o->park[row].thread;
}

static uint32_t thread_of_stretch(const struct offcpu *o, size_t row)
{
	return o->on_cpu[row].thread;
}

static uint32_t thread_of_sample(const struct offcpu *o, size_t row)
{
	return o->sample[row].stack ? o->sample[row].thread : 0;
}

static int by_thread_make(struct by_thread *by, const struct offcpu *o, size_t n,
			  thread_of_fn *thread_of)
{
	by->first = calloc(o->n_threads + 2, sizeof(*by->first));
	by->row = calloc(n + 1, sizeof(*by->row));
	if (!by->first || !by->row)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		const struct trc_thread *t = trc_model_thread(o->m, thread_of(o, i));

		if (t)
			by->first[t - o->thread + 1]++;
	}
	for (size_t i = 0; i < o->n_threads; i++)
		by->first[i + 1] += by->first[i];
	/* first[i] moves up to where the next begins, ... */
	for (size_t i = 0; i < n; i++) {
		const struct trc_thread *t = trc_model_thread(o->m, thread_of(o, i));

		if (t)
			by->row[by->first[t - o->thread]++] = (uint32_t)i;
	}
	/* ... and so back by one place. */
	memmove(by->first + 1, by->first, o->n_threads * sizeof(*by->first));
	by->first[0] = 0;
	return 0;
}

static void by_thread_free(struct by_thread *by)
{
	free(by->first);
	free(by->row);
}

/* ---- pieces ---- */

/* Pieces follow each other: a wait within one that ended before it (clocks) has none left. */
static int piece_add(struct offcpu *o, int64_t start_ns, uint32_t park, bool begins)
{
	struct piece *piece = trc_array_add(&o->pieces);

	if (piece && o->pieces.n > 1)
		start_ns = later(start_ns, piece[-1].start_ns);
	if (piece)
		*piece = (struct piece){start_ns, park, begins};
	return piece ? 0 : -ENOMEM;
}

/* Leaves the waits from `park` outwards that end by then; *park is the one that goes on. */
static int parks_leave(struct offcpu *o, uint32_t *park, int64_t until_ns)
{
	int err = 0;

	while (*park && !err) {
		int64_t end_ns = trc_park_end_ns(o->m, &o->park[*park - 1]);

		if (end_ns > until_ns)
			break;
		*park = o->outer[*park - 1];
		err = piece_add(o, end_ns, *park, false);
	}
	return err;
}

static int pieces_make(struct offcpu *o, size_t thread)
{
	uint32_t inside = 0;
	int err;

	o->pieces.n = 0;
	err = piece_add(o, INT64_MIN, 0, false);
	for (uint32_t i = o->parks.first[thread]; i < o->parks.first[thread + 1] && !err; i++) {
		uint32_t park = o->parks.row[i];

		err = parks_leave(o, &inside, o->park[park].start_ns);
		if (!err)
			err = piece_add(o, o->park[park].start_ns, park + 1, true);
		inside = park + 1;
	}
	return err ? err : parks_leave(o, &inside, INT64_MAX);
}

/* ---- time ---- */

struct off_time {
	size_t row; /* of the thread */
	uint32_t thread;
	int64_t from_ns, until_ns;
	uint8_t otherwise; /* why it is off outside of waits; TRC_OFF_NOT: it is not */
};

/* Where the thread was when it was last sampled (profile:L8). */
static void borrow_stack(const struct offcpu *o, const struct off_time *off,
			 struct trc_profile_sample *to)
{
	const uint32_t *row = o->samples.row;
	uint32_t first = o->samples.first[off->row], low = first;
	uint32_t high = o->samples.first[off->row + 1];
	const struct trc_sample *sample;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (o->sample[row[middle]].ts_ns <= off->from_ns)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == first)
		return;
	sample = &o->sample[row[low - 1]];
	to->stack = sample->stack;
	to->stack_kind = off->from_ns - sample->ts_ns <= TRC_STACK_NEAR_NS ? TRC_STACK_BEFORE
									   : TRC_STACK_LONG_BEFORE;
}

static int piece_count(struct offcpu *o, const struct off_time *off, const struct piece *piece,
		       int64_t from_ns, int64_t until_ns, bool counts)
{
	struct trc_profile_sample sample = {.off = off->otherwise,
					    .value = {counts, until_ns - from_ns}};
	uint64_t place = TRC_PLACE_LAST;

	if (piece->park) {
		const struct trc_park *park = &o->park[piece->park - 1];

		sample.off = park->reason;
		sample.stack = park->stack;
		if (from_ns == park->start_ns)
			place = park->start_place;
	} else {
		borrow_stack(o, off, &sample);
	}
	sample.labels = trc_model_labels_at(o->m, off->thread, from_ns, place);
	return trc_profile_passes(o->sums, sample.labels) ? trc_profile_add(o->sums, &sample) : 0;
}

/* The first piece that ends after ts_ns. */
static size_t piece_at(const struct offcpu *o, int64_t ts_ns)
{
	const struct piece *piece = o->pieces.row;
	size_t low = 0, high = o->pieces.n;

	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (piece[middle].start_ns <= ts_ns)
			low = middle;
		else
			high = middle;
	}
	return low;
}

/* Without switch records, only waits that do not burn the proc. */
static bool piece_is_off(const struct offcpu *o, const struct off_time *off,
			 const struct piece *piece)
{
	if (off->otherwise != TRC_OFF_NOT)
		return true;
	return piece->park && o->park[piece->park - 1].reason != TRC_REASON_SPIN;
}

static int add_time(struct offcpu *o, const struct off_time *off)
{
	const struct piece *piece = o->pieces.row;
	bool counted = false;
	int err = 0;

	if (off->from_ns >= off->until_ns)
		return 0;
	for (size_t i = piece_at(o, off->from_ns); i < o->pieces.n && !err; i++) {
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
		off.until_ns = earlier(on->start_ns, until_ns);
		err = add_time(o, &off);
		off.from_ns = later(off.from_ns, on->end_ns == TRC_NEVER ? until_ns : on->end_ns);
		off.otherwise = on->preempted ? TRC_OFF_PREEMPTED : TRC_OFF_UNKNOWN;
	}
	off.until_ns = until_ns;
	return err ? err : add_time(o, &off);
}

static int add_thread(struct offcpu *o, size_t thread)
{
	const struct trc_thread *t = &o->thread[thread];
	int64_t from_ns = later(t->start_ns, trc_model_start_ns(o->m));
	int64_t end_ns = trc_model_end_ns(o->m), switches_ns = end_ns;
	struct off_time off;
	int err = pieces_make(o, thread);

	if (t->end_ns != TRC_NEVER)
		end_ns = earlier(t->end_ns, end_ns);
	/* One that was never switched is not known to have been off. */
	if (o->stretches.first[thread] < o->stretches.first[thread + 1])
		switches_ns = later(from_ns, o->switches_ns);
	off = (struct off_time){thread, t->serial, from_ns, earlier(switches_ns, end_ns),
				TRC_OFF_NOT};
	if (!err)
		err = add_time(o, &off);
	if (!err && switches_ns < end_ns)
		err = add_switched(o, thread, switches_ns, end_ns);
	return err;
}

static int64_t switches_from_ns(const struct trc_model *m)
{
	size_t n;
	const struct trc_coverage *c = trc_model_coverage(m, &n);
	int64_t from_ns = trc_model_start_ns(m);

	for (size_t i = 0; i < n; i++)
		if (c[i].source == TRC_SOURCE_KERNEL)
			from_ns = later(from_ns, c[i].from_ns);
	return from_ns;
}

static int add_threads(struct trc_profile_sums *sums)
{
	struct offcpu o = {.sums = sums,
			   .m = sums->m,
			   .switches_ns = switches_from_ns(sums->m),
			   .pieces = {.row_bytes = sizeof(struct piece)}};
	int err;

	o.thread = trc_model_threads(o.m, &o.n_threads);
	o.park = trc_model_parks(o.m, &o.n_parks);
	o.on_cpu = trc_model_on_cpu(o.m, &o.n_on_cpu);
	o.sample = trc_model_samples(o.m, &o.n_samples);
	o.outer = trc_waits_nesting(o.m);
	err = o.outer ? by_thread_make(&o.parks, &o, o.n_parks, thread_of_park) : -ENOMEM;
	if (!err)
		err = by_thread_make(&o.stretches, &o, o.n_on_cpu, thread_of_stretch);
	if (!err)
		err = by_thread_make(&o.samples, &o, o.n_samples, thread_of_sample);
	for (size_t i = 0; i < o.n_threads && !err; i++)
		err = add_thread(&o, i);
	free(o.outer);
	by_thread_free(&o.parks);
	by_thread_free(&o.stretches);
	by_thread_free(&o.samples);
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
	return add_threads(sums);
}

/* Off time has been summed up as (events, delay), CPU time as (samples, cpu). */
int trc_profile_wall(struct trc_profile_sums *sums, struct trc_profile *p, struct trc_error *error)
{
	struct trc_profile_sample *row;
	int err = trc_profile_samples(sums, p, NULL, error);

	if (err)
		return err;
	comment_switches(sums->m, p);
	err = add_threads(sums);
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
