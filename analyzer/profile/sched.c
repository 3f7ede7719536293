/* sched.c - the hold and latency profiles; see profile.h. */
#include <errno.h>
#include <stdio.h>
#include "analyzer/model/waits.h"
#include "parts.h"

static void sched_set_types(struct trc_profile *p, const char *count, const char *time)
{
	p->type[0] = (struct trc_profile_type){count, "count"};
	p->type[1] = (struct trc_profile_type){time, "nanoseconds"};
	p->n_types = 2;
	p->main_type = 1;
	p->period_type = p->type[0];
	p->period = 1;
}

/* ---- hold ---- */

/* profile:L11.  What goes on at the trace's end counts up to there. */
static int add_hold(struct trc_profile_sums *sums, const struct trc_hold *hold)
{
	int64_t end_ns = hold->end_ns == TRC_NEVER ? trc_model_end_ns(sums->m) : hold->end_ns;
	struct trc_profile_sample sample = {.stack = hold->stack, .value = {1, 0}};

	sample.labels = trc_model_labels_at(sums->m, hold->thread, hold->start_ns, TRC_PLACE_LAST);
	if (!trc_selection_touches(sums->selection, hold->thread, hold->start_ns, end_ns) ||
	    !trc_profile_passes(sums, sample.labels))
		return 0;
	if (end_ns <= hold->start_ns)
		sample.value[1] = 0;
	else if (__builtin_sub_overflow(end_ns, hold->start_ns, &sample.value[1]))
		sample.value[1] = INT64_MAX;
	return trc_profile_add(sums, &sample);
}

int trc_profile_hold(struct trc_profile_sums *sums, struct trc_profile *p, struct trc_error *error)
{
	size_t n;
	const struct trc_hold *hold = trc_model_holds(sums->m, &n);
	int err = 0;

	if (!n) {
		snprintf(
			error->text, sizeof(error->text),
			"hold: when locks were taken is not in the trace: trace-record --locks=all");
		return -ENOENT;
	}
	sched_set_types(p, "holds", "held");
	p->of_program = true;
	for (size_t i = 0; i < n && !err; i++)
		err = add_hold(sums, &hold[i]);
	return err;
}

/* ---- latency ---- */

struct adder {
	struct trc_profile_sums *sums;
	const struct trc_thread *threads;
	const struct trc_park *park;
	const struct trc_sample *sample;
	struct trc_by_thread samples;
};

/* Whoever was woken is where it waited; who is new, where it was created; who was preempted, where it was sampled
 * last. */
static int add_latency(struct adder *a, const struct trc_latency *latency)
{
	const struct trc_thread *thread = trc_model_thread(a->sums->m, latency->thread);
	struct trc_profile_sample sample = {
		.off = TRC_OFF_PREEMPTED, .instead = latency->instead, .value = {1, 0}};

	sample.value[1] = trc_selection_ns(a->sums->selection, latency->thread, latency->woken_ns,
					   latency->running_ns);
	sample.labels = trc_latency_labels(a->sums->m, latency);
	if (!thread || !sample.value[1] || !trc_profile_passes(a->sums, sample.labels))
		return 0;
	if (latency->park) {
		sample.off = a->park[latency->park - 1].reason;
		sample.stack = a->park[latency->park - 1].stack;
	} else if (latency->kind == TRC_LATENCY_NEW) {
		sample.off = TRC_OFF_UNKNOWN;
		sample.stack = thread->creator_stack;
	} else {
		trc_profile_borrow_stack(a->sample, &a->samples, (size_t)(thread - a->threads),
					 latency->woken_ns, &sample);
	}
	return trc_profile_add(a->sums, &sample);
}

int trc_profile_latency(struct trc_profile_sums *sums, struct trc_profile *p,
			struct trc_error *error)
{
	struct adder a = {.sums = sums};
	size_t n, n_on_cpu, n_samples, unused;
	const struct trc_latency *latency = trc_model_latencies(sums->m, &n);
	int err;

	trc_model_on_cpu(sums->m, &n_on_cpu);
	if (!n_on_cpu) {
		snprintf(error->text, sizeof(error->text),
			 "latency: the trace has no switch records: trace-record --sched");
		return -ENOENT;
	}
	a.threads = trc_model_threads(sums->m, &unused);
	a.park = trc_model_parks(sums->m, &unused);
	a.sample = trc_model_samples(sums->m, &n_samples);
	err = trc_by_thread_make(&a.samples, sums->m, a.sample, n_samples, sizeof(*a.sample),
				 trc_thread_of_sample);
	sched_set_types(p, "latencies", "delay");
	for (size_t i = 0; i < n && !err; i++)
		err = add_latency(&a, &latency[i]);
	trc_by_thread_free(&a.samples);
	return err;
}
