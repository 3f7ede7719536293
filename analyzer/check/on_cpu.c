/*
 * on_cpu.c - how long threads are on procs, by the kernel's records, against how long they
 * live.
 *
 * After a thread has recorded its exit, the kernel still takes the thread apart: memory is given back,
 * locks are waited for, and others have the processor meanwhile.  Of 34,000 threads that ended
 * beside two busy loops, with and without samples, 1,600 were put on procs again, up to four times
 * and 150 ms after the exit, but for 60 us in all.  Then the kernel takes their counters away,
 * which is the last record of them.  So these stretches are distinguished from two errors: an
 * exit that came too early, and records of another thread:
 *
 *   on_cpu:O1  at most one of these stretches may be long.  A hypervisor that runs something else on
 *       the machine's processor, for 20 to 110 ms at a time, would have to hit those 60 us twice to make two
 *   on_cpu:O2  no other thread records anything on that proc during the stretch
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include "parts.h"

enum { LIFE_SLACK_NS = 10000000, BEYOND_LIFE_NS_MAX = 1000000000, STALL_NS_MAX = 250000000 };

static bool has_kernel_blocks(const struct trc_reader *r)
{
	for (size_t i = 0; i < trc_reader_blocks(r); i++)
		if (trc_reader_block(r, i)->source == TRC_SOURCE_KERNEL)
			return true;
	return false;
}

static int64_t min_ns(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* Never so long that a few of them cannot be added up: the kernel's times may be anything. */
static int64_t span_ns(int64_t from_ns, int64_t until_ns)
{
	int64_t ns;

	if (until_ns <= from_ns)
		return 0;
	return __builtin_sub_overflow(until_ns, from_ns, &ns) ? INT64_MAX / 4
							      : min_ns(ns, INT64_MAX / 4);
}

/* What of a thread's stretches on procs lies outside of its life. */
struct beyond {
	int64_t edge_ns;		  /* of those that reach into it or come before it, up to
					     BEYOND_LIFE_NS_MAX */
	const struct trc_on_cpu *last;	  /* of those after it; NULL = none */
	const struct trc_on_cpu *longest; /* of them; NULL = none */
};

static int64_t from_ns(const struct trc_check *check, const struct trc_on_cpu *stretch)
{
	return stretch->start_ns == TRC_NEVER ? check->m->start_ns : stretch->start_ns;
}

static int64_t span_until_ns(const struct trc_check *check, const struct trc_on_cpu *stretch)
{
	return stretch->end_ns == TRC_NEVER ? check->m->end_ns : stretch->end_ns;
}

static int64_t length_ns(const struct trc_check *check, const struct trc_on_cpu *stretch)
{
	return stretch ? span_ns(from_ns(check, stretch), span_until_ns(check, stretch)) : 0;
}

static void beyond_add_edge(struct beyond *beyond, int64_t from_ns, int64_t until_ns)
{
	int64_t ns = min_ns(span_ns(from_ns, until_ns), BEYOND_LIFE_NS_MAX);

	beyond->edge_ns = min_ns(beyond->edge_ns + ns, BEYOND_LIFE_NS_MAX);
}

/*
 * Those that reach into its life may be long: before a start is seen, for the thread may be the
 * first on its proc and get memory for the ring there; after the exit, for something else may have
 * the machine's processor meanwhile.
 */
static void add_beyond(const struct trc_check *check, const struct trc_thread *t,
		       const struct trc_on_cpu *stretch, struct beyond *beyond)
{
	int64_t from = from_ns(check, stretch), until = span_until_ns(check, stretch);

	if (t->start_ns != TRC_NEVER && from < t->start_ns)
		beyond_add_edge(beyond, from, min_ns(until, t->start_ns));
	if (t->end_ns == TRC_NEVER || until <= t->end_ns)
		return;
	if (from < t->end_ns) {
		beyond_add_edge(beyond, t->end_ns, until);
		return;
	}
	beyond->last = stretch;
	if (length_ns(check, stretch) >= length_ns(check, beyond->longest))
		beyond->longest = stretch;
}

static bool of_another(const struct trc_columns *c, uint32_t row, const struct trc_on_cpu *stretch)
{
	return c->thread[row] && c->thread[row] != stretch->thread &&
	       span_ns(stretch->start_ns, c->time_ns[row]) > TRC_KERNEL_SKEW_NS &&
	       span_ns(c->time_ns[row], stretch->end_ns) > TRC_KERNEL_SKEW_NS &&
	       c->kind[row] != TRC_KIND_GAP;
}

/* O2.  1, 0 or -ENOMEM; damaged blocks have been reported. */
static int is_alone(const struct trc_check *check, const struct trc_on_cpu *stretch)
{
	const struct trc_reader *r = trc_model_reader(check->m);
	int alone = 1;

	for (size_t i = 0; i < trc_reader_blocks(r) && alone == 1; i++) {
		const struct trc_block_info *b = trc_reader_block(r, i);
		struct trc_columns *c;
		struct trc_error error;
		int err;

		if (b->proc != stretch->proc || b->last_ns < stretch->start_ns ||
		    b->first_ns > stretch->end_ns)
			continue;
		err = trc_reader_load(r, i, TRC_WANT_KIND | TRC_WANT_TIME | TRC_WANT_THREAD, NULL,
				      &c, &error);
		if (err == -ENOMEM)
			return err;
		for (uint32_t row = 0; !err && row < c->n_events && alone; row++)
			alone = !of_another(c, row, stretch);
		if (!err)
			trc_columns_free(c);
	}
	return alone;
}

/* The machine may have stood still in the longest of the stretches after the exit, and so made it
 * too long by this: 1, 0 or -ENOMEM. */
static int is_stall(const struct trc_check *check, const struct beyond *beyond, int64_t over_ns)
{
	if (!beyond->longest || over_ns > min_ns(length_ns(check, beyond->longest), STALL_NS_MAX))
		return 0;
	return is_alone(check, beyond->longest);
}

/* What is left over is no more than clocks differ by, the kernel's is another one, and than it
 * takes to take a thread apart.  0 or -ENOMEM. */
static int check_life(struct trc_check *check, const struct trc_thread *t,
		      const struct beyond *beyond)
{
	int64_t start_ns = t->start_ns == TRC_NEVER ? check->m->start_ns : t->start_ns;
	int64_t end_ns = t->end_ns == TRC_NEVER ? check->m->end_ns : t->end_ns;
	int64_t life_ns = span_ns(start_ns, end_ns);
	int64_t due_ns = life_ns + beyond->edge_ns + LIFE_SLACK_NS;
	int stall;

	if (t->on_cpu_ns == TRC_NEVER || t->on_cpu_ns <= due_ns)
		return 0;
	stall = is_stall(check, beyond, t->on_cpu_ns - due_ns);
	if (stall)
		return stall < 0 ? stall : 0;
	if (beyond->last)
		end_ns = span_until_ns(check, beyond->last);
	trc_check_violation(check, start_ns, end_ns,
			    "thread %u: on procs for %" PRId64 " ns, but it lives for %" PRId64
			    " ns",
			    t->serial, t->on_cpu_ns, life_ns);
	return 0;
}

int trc_check_on_cpu(struct trc_check *check)
{
	struct trc_error error;
	const struct trc_on_cpu *stretch;
	const struct trc_thread *thread;
	size_t n, n_stretches;
	struct beyond *beyond; /* by thread */
	int err;

	if (!has_kernel_blocks(trc_model_reader(check->m)))
		return 0;
	err = trc_model_need(check->m, TRC_PART_SCHED, &error);
	if (err)
		return err == -ENOMEM ? err : 0; /* damaged blocks have been reported */
	thread = trc_model_threads(check->m, &n);
	stretch = trc_model_on_cpu(check->m, &n_stretches);
	beyond = calloc(n + 1, sizeof(*beyond));
	if (!beyond)
		return -ENOMEM;
	for (size_t i = 0; i < n_stretches; i++) {
		const struct trc_thread *t = trc_model_thread(check->m, stretch[i].thread);

		if (t)
			add_beyond(check, t, &stretch[i], &beyond[t - thread]);
	}
	for (size_t i = 0; i < n && !err; i++)
		err = check_life(check, &thread[i], &beyond[i]);
	free(beyond);
	return err;
}
