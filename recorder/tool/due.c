/*
 * due.c - CPU time of a process that is in no sample of the kernel's.
 *
 * The CPU time of the whole process says how many samples of a clock there should have been.  Where
 * threads take their first samples themselves (sample:S9), what is missing is what they used before
 * and after that, mostly the kernel's work at their starts and ends.  Where they do not, each
 * thread's counter begins with a whole period: a thread that uses less CPU time than a period has no
 * sample, and what a thread used after its last sample is in none.
 */
#include <time.h>
#include "recorder/shared/clock.h"
#include "session.h"

enum {
	SLACK_SAMPLES = 2, /* that were under way at the end */
	SHARE_MIN = 50,	   /* below this share of what was due it is what long threads leave over */
	CHANCE = 3,	   /* standard errors of random samples, which are at most sqrt(samples) */
};

void trc_process_used(struct trc_process *p)
{
	clockid_t clock;
	struct timespec t;

	if (!p->options->sampling.n_events || p->flight || p->pid < 0 ||
	    clock_getcpuclockid(p->pid, &clock) || clock_gettime(clock, &t))
		return;
	p->used_ns = (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
	if (!p->used_before_ns)
		p->used_before_ns = p->used_ns;
}

void trc_process_came(struct trc_process *p, const struct trc_perf_record *r)
{
	if (r->what == TRC_PERF_SAMPLE && r->event < TRC_CPU_EVENTS_MAX)
		p->came[r->event]++;
	if (r->what != TRC_PERF_SAMPLES_LOST && !r->mixed)
		return;
	for (uint32_t i = 0; i < TRC_CPU_EVENTS_MAX; i++)
		if (r->event == i || r->event == TRC_PERF_ANY_EVENT)
			p->came[i] += r->lost;
}

static uint64_t due_missing(const struct trc_process *p, uint32_t i)
{
	const struct trc_cpu_event *e = &p->options->sampling.kernel[i];
	int64_t came = (int64_t)p->came[i] +
		       (p->first_ns[i] + trc_drain_first_ns(p->drain, i)) / (int64_t)e->period;
	int64_t due, n;

	if (p->used_ns <= p->used_before_ns) /* of another one of this pid */
		return 0;
	due = (int64_t)((p->used_ns - p->used_before_ns) / e->period);
	n = due - came;
	if (!e->is_clock || e->exclude_user || e->exclude_kernel || n <= SLACK_SAMPLES ||
	    n < due / SHARE_MIN || (e->first_by_signal && n < CHANCE * CHANCE * due / n))
		return 0;
	return (uint64_t)n;
}

void trc_process_tell_due(struct trc_process *p)
{
	struct trc_perf_record r = {
		.what = TRC_PERF_SAMPLES_LOST,
		.raw_ns = trc_clock_vdso(),
		.pid = (uint32_t)p->pid,
	};

	if (!p->drain)
		return;
	if (p->ended)
		trc_drain_used(p->drain, p->used_ns);
	for (uint32_t i = 0; i < p->options->sampling.n_kernel; i++) {
		r.event = i;
		r.cause = p->options->sampling.kernel[i].first_by_signal ? TRC_SAMPLE_LOSS_UNARMED
									 : TRC_SAMPLE_LOSS_SHORT;
		r.lost = due_missing(p, i);
		if (r.lost)
			trc_drain_kernel(p->drain, &r);
	}
}
