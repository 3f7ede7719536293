/* names.c - what kinds of causes and of their stacks are called; see causes.h. */
#include "causes.h"

const char *trc_cause_name(enum trc_cause_kind kind)
{
	static const char *const name[TRC_CAUSE_KINDS] = {
		[TRC_CAUSE_WAITING] = "waiting",
		[TRC_CAUSE_RUNNING] = "running",
		[TRC_CAUSE_ACTIVE] = "active",
		[TRC_CAUSE_PREEMPTED] = "preempted",
		[TRC_CAUSE_OFF] = "off_cpu",
		[TRC_CAUSE_FREE] = "lock_free",
		[TRC_CAUSE_WAKING] = "waking",
		[TRC_CAUSE_SLEEPING] = "sleeping",
		[TRC_CAUSE_IO] = "io",
		[TRC_CAUSE_OUTSIDE] = "outside",
		[TRC_CAUSE_UNWOKEN] = "unwoken",
		[TRC_CAUSE_STARTING] = "starting",
		[TRC_CAUSE_GONE] = "thread_ended",
		[TRC_CAUSE_DEADLOCK] = "deadlock",
		[TRC_CAUSE_CYCLE] = "cycle",
		[TRC_CAUSE_LOST] = "events_lost",
		[TRC_CAUSE_UNKNOWN] = "unknown",
		[TRC_CAUSE_DEEP] = "too_deep",
	};

	return kind < TRC_CAUSE_KINDS ? name[kind] : "?";
}

const char *trc_cause_words(enum trc_cause_kind kind)
{
	static const char *const words[TRC_CAUSE_KINDS] = {
		[TRC_CAUSE_WAITING] = "waited",
		[TRC_CAUSE_RUNNING] = "ran",
		[TRC_CAUSE_ACTIVE] = "did not wait",
		[TRC_CAUSE_PREEMPTED] = "could have run, but had no processor",
		[TRC_CAUSE_OFF] = "was off the processor, in no recorded wait",
		[TRC_CAUSE_FREE] = "",
		[TRC_CAUSE_WAKING] = "",
		[TRC_CAUSE_SLEEPING] = "slept",
		[TRC_CAUSE_IO] = "waited",
		[TRC_CAUSE_OUTSIDE] = "waited",
		[TRC_CAUSE_UNWOKEN] = "waited, up to the trace's end,",
		[TRC_CAUSE_STARTING] = "had been created, and did not run yet",
		[TRC_CAUSE_GONE] = "had ended",
		[TRC_CAUSE_DEADLOCK] = "waits in turn for what is above, a deadlock:",
		[TRC_CAUSE_CYCLE] = "waited in turn for what is above:",
		[TRC_CAUSE_LOST] = "is not known: events were lost",
		[TRC_CAUSE_UNKNOWN] = "is not known",
		[TRC_CAUSE_DEEP] = "depends on more threads than are followed",
	};

	return kind < TRC_CAUSE_KINDS ? words[kind] : "?";
}

const char *trc_cause_stack_name(enum trc_cause_stack stack_of)
{
	static const char *const name[] = {NULL, "wait", "sample", "end"};

	return stack_of < sizeof(name) / sizeof(name[0]) ? name[stack_of] : NULL;
}
