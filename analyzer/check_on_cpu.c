/* check_on_cpu.c - how long threads are on procs, by the kernel's records, against how long they
 * live. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include "analyzer/check_parts.h"

enum { LIFE_SLACK_NS = 10000000, BEYOND_LIFE_NS_MAX = 1000000000, LATER_NS_MAX = 250000000 };

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

/* What of a thread's stretches on procs lies outside of its life. */
struct beyond {
	int64_t edge_ns;  /* of those that reach into it, or come before it */
	int64_t later_ns; /* of those that come after it */
};

/*
 * It may be long: before a start is seen, for the thread may be the first on its proc and get memory
 * for the ring there; after the exit, for the kernel has yet to take the thread apart, and
 * something else may have the machine's processor meanwhile.
 */
static void add_beyond(const struct trc_check *check, const struct trc_thread *t,
		       const struct trc_on_cpu *stretch, struct beyond *beyond)
{
	int64_t from_ns = stretch->start_ns == TRC_NEVER ? check->m->start_ns : stretch->start_ns;
	int64_t until_ns = stretch->end_ns == TRC_NEVER ? check->m->end_ns : stretch->end_ns;

	if (t->start_ns != TRC_NEVER && from_ns < t->start_ns)
		beyond->edge_ns += min_ns(until_ns, t->start_ns) - from_ns;
	if (t->end_ns == TRC_NEVER || until_ns <= t->end_ns)
		return;
	if (from_ns < t->end_ns)
		beyond->edge_ns += until_ns - t->end_ns;
	else
		beyond->later_ns += until_ns - from_ns;
}

/* What is left over is no more than clocks differ by: the kernel's is another one. */
static void check_life(struct trc_check *check, const struct trc_thread *t,
		       const struct beyond *beyond)
{
	int64_t beyond_ns = min_ns(beyond->edge_ns, BEYOND_LIFE_NS_MAX) +
			    min_ns(beyond->later_ns, LATER_NS_MAX);
	int64_t start_ns = t->start_ns == TRC_NEVER ? check->m->start_ns : t->start_ns;
	int64_t end_ns = t->end_ns == TRC_NEVER ? check->m->end_ns : t->end_ns;
	int64_t life_ns = end_ns > start_ns ? end_ns - start_ns : 0;

	if (t->on_cpu_ns == TRC_NEVER || t->on_cpu_ns - beyond_ns - life_ns <= LIFE_SLACK_NS)
		return;
	trc_check_violation(check, start_ns, end_ns,
			    "thread %u: on procs for %" PRId64 " ns, but it lives for %" PRId64 " ns",
			    t->serial, t->on_cpu_ns, life_ns);
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
	for (size_t i = 0; i < n; i++)
		check_life(check, &thread[i], &beyond[i]);
	free(beyond);
	return 0;
}
