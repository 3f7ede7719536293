/*
 * recorder_cpu.c - CPU recorders (<trc/recorder.h>): of time, or of another event.
 *
 * Each event is sampled once for all recorders, at the shortest period that a recorder asks for, or
 * shorter.  When the period changes, samples come under another number (sample_table.h).  A
 * recorder's view takes the samples of all these numbers, and thins each sample by the period at
 * which it was drawn.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "recorder/sampling/cpu_profile.h"
#include "recorder/ring/rec.h"
#include "recorder/profile/kind.h"
#include "recording.h"
#include "recorder/sampling/sample_table.h"

struct cpu {
	struct trace_recorder base;
	struct trace_sampling_event asked;
	char name[48];		    /* as asked; "" = "auto" */
	struct trc_cpu_event event; /* settled when it was started last */
	bool settled;
	struct cpu *next;
};

/* Those that run.  Guarded by `lock`, inside which trc_recording_enter() may be taken. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct cpu *running;

/* ---- views ----------------------------------------------------------------------------- */

static int cpu_add_views(struct trace_recorder *r, struct trc_fold *fold, uint64_t now)
{
	const struct cpu *c = (const struct cpu *)r;
	const struct trc_view_options options = {
		.kind = TRC_VIEW_CPU,
		.rate = c->event.period,
		.sample_event =
			trc_sample_event_find(trc_session_shared(), c->event.how, c->event.name),
	};

	return options.sample_event ? trc_recorder_add_view(r, fold, options, now) : -ESRCH;
}

static void cpu_taken(struct trace_recorder *r, struct trc_taken *taken)
{
	const struct cpu *c = (const struct cpu *)r;

	taken->missing_threads =
		trc_sample_event_missing(trc_session_shared(), c->event.how, c->event.name);
}

/* ---- what is sampled ------------------------------------------------------------------- */

static int cpu_sample(char why[static TRC_RECORDER_WHY_BYTES])
{
	struct trc_cpu_event event[TRC_CPU_EVENTS_MAX];
	unsigned int n = 0;
	int err = 0;

	for (const struct cpu *c = running; c && !err; c = c->next) {
		unsigned int i = 0;

		while (i < n && strcmp(event[i].name, c->event.name) != 0)
			i++;
		if (i == TRC_CPU_EVENTS_MAX)
			err = -ENOSPC;
		else if (i == n)
			event[n++] = c->event;
		else if (c->event.period < event[i].period)
			event[i] = c->event;
	}
	if (err) {
		snprintf(why, TRC_RECORDER_WHY_BYTES, "at most 16 events at once");
		return err;
	}
	trc_recording_enter();
	err = trc_cpu_profile_want(event, n, why, TRC_RECORDER_WHY_BYTES);
	trc_recording_leave();
	return err;
}

static void cpu_leave(struct cpu *c)
{
	struct cpu **at = &running;

	while (*at && *at != c)
		at = &(*at)->next;
	if (*at)
		*at = c->next;
}

static int cpu_prepare(struct trace_recorder *r, char why[static TRC_RECORDER_WHY_BYTES])
{
	struct cpu *c = (struct cpu *)r;
	int err;

	c->asked.name = c->name;
	err = trc_cpu_profile_event(&c->event, *c->name ? &c->asked : NULL, why,
				    TRC_RECORDER_WHY_BYTES);
	if (err)
		return err;
	pthread_mutex_lock(&lock);
	c->next = running;
	running = c;
	err = cpu_sample(why);
	if (err)
		running = c->next;
	pthread_mutex_unlock(&lock);
	c->settled = !err;
	return err;
}

static void cpu_done(struct trace_recorder *r)
{
	char why[TRC_RECORDER_WHY_BYTES];

	pthread_mutex_lock(&lock);
	cpu_leave((struct cpu *)r);
	cpu_sample(why);
	pthread_mutex_unlock(&lock);
}

void trc_recorder_cpu_forget(void)
{
	static const pthread_mutex_t unlocked = PTHREAD_MUTEX_INITIALIZER;

	lock = unlocked;
	running = NULL;
}

/* ---- the profile ----------------------------------------------------------------------- */

static void cpu_describe(const struct trace_recorder *r, struct trc_encode_info *info)
{
	const struct cpu *c = (const struct cpu *)r;

	trc_describe_cpu(info, c->settled ? &c->event : NULL);
	info->period = (int64_t)c->event.period;
}

static void cpu_remark(const struct trace_recorder *r, char text[static TRC_SAMPLED_TEXT_BYTES])
{
	trc_remark_cpu(text, &((const struct cpu *)r)->event);
}

static const struct trc_recorder_kind cpu_kind = {
	.name = "cpu",
	.prepare = cpu_prepare,
	.done = cpu_done,
	.add_views = cpu_add_views,
	.taken = cpu_taken,
	.remark = cpu_remark,
	.describe = cpu_describe,
	.views = true,
};

int trace_recorder_create_cpu(struct trace_recorder **out, const struct trace_cpu_options *options)
{
	struct trace_cpu_options known = TRACE_CPU_OPTIONS_INIT;
	char why[TRC_RECORDER_WHY_BYTES];
	struct cpu *c;
	int err = trc_recorder_options(&known, sizeof(known), options, "TRACE_CPU_OPTIONS_INIT");

	if (err)
		return err;
	if (known.event && strlen(known.event) >= sizeof(c->name))
		return trc_api_fail(-EINVAL, known.event, "no event has so long a name");
	c = trc_recorder_new(sizeof(*c), &cpu_kind, known.format);
	if (!c)
		return -ENOMEM;
	/* A period or frequency for "auto" needs its name. */
	strcpy(c->name, known.event			     ? known.event
			: known.period || known.frequency_hz ? "auto"
							     : "");
	c->asked = (struct trace_sampling_event)TRACE_SAMPLING_EVENT_INIT;
	c->asked.name = c->name;
	c->asked.period = known.period;
	c->asked.frequency_hz = known.frequency_hz;
	err = trc_cpu_profile_event(&c->event, *c->name ? &c->asked : NULL, why, sizeof(why));
	if (err) {
		trace_recorder_destroy(&c->base);
		return trc_api_fail(err, "", why);
	}
	*out = &c->base;
	return 0;
}
