/* names.c - what the kinds of findings are called, and what helps; see findings.h. */
#include "findings.h"

static const struct {
	const char *name, *remedy;
} KINDS[TRC_FINDING_KINDS] = {
	[TRC_FINDING_CRASH] = {"crash", NULL},
	[TRC_FINDING_KILLED] = {"killed", NULL},
	[TRC_FINDING_DEADLOCK] = {"deadlock", "take locks in the same order everywhere"},
	[TRC_FINDING_ABANDONED_LOCK] = {"abandoned_lock",
					"unlock on every way out of the thread, cancellation and "
					"pthread_exit() included, or make the lock robust"},
	[TRC_FINDING_LOCK] = {"lock", "hold the lock for less time, or split what it guards"},
	[TRC_FINDING_LOCK_BLOCKING] = {"lock_blocking",
				       "do what blocks before or after the lock is held"},
	[TRC_FINDING_LOCK_PREEMPTED] =
		{"lock_preempted",
		 "have no more threads that can run, those of other programs included, than procs; hold "
		 "the lock for less time; or ask for rseq's time "
		 "slice extension where Linux has it"},
	[TRC_FINDING_LOCK_CONVOY] =
		{"lock_convoy",
		 "take the lock less often, for more work each time; if there are procs to spare, let "
		 "threads spin before they sleep (PTHREAD_MUTEX_ADAPTIVE_NP)"},
	[TRC_FINDING_LOCK_PROCS] =
		{"lock_procs",
		 "have no more threads that can run, those of other programs included, "
		 "than procs: the lock is seldom held"},
	[TRC_FINDING_OWN_LOCK] =
		{"own_lock",
		 "keep what they wait for for less time: do what takes long before or after, and let "
		 "fewer of them need the same"},
	[TRC_FINDING_INTERPRETER] =
		{"interpreter_lock",
		 "use processes, or do long work in calls that release the interpreter's lock"},
	[TRC_FINDING_PROCS] =
		{"procs", "run fewer threads, give the program more procs, or run less beside it"},
	[TRC_FINDING_PROCS_TAKEN] = {"procs_taken",
				     "run less beside the program, or give it procs of its own"},
	[TRC_FINDING_SLOW_STAGE] = {"slow_stage",
				    "give this stage more threads, or make it faster: the others "
				    "have time to spare"},
	[TRC_FINDING_BARRIER_IMBALANCE] = {"barrier_imbalance",
					   "share the work between the barriers out evenly, or "
					   "in pieces that threads take when they are free"},
	[TRC_FINDING_LATE_THREAD] = {"late_thread",
				     "cut its work into smaller pieces that all threads of the "
				     "pool take from one queue"},
	[TRC_FINDING_WAITED_FOR] =
		{"waited_for", "make what it does there shorter, let several threads do it, or "
			       "let the others go on meanwhile"},
	[TRC_FINDING_ONE_WORKER] = {"one_worker",
				    "if the threads share their work, cut it into smaller pieces "
				    "that all take from one queue"},
	[TRC_FINDING_POLL_LOOP] = {"poll_loop",
				   "if it looks whether something has happened, wait for that: a "
				   "condition variable, an eventfd, a futex"},
	[TRC_FINDING_HERD] = {"herd",
			      "if one thread can do what there is to do, wake one: "
			      "pthread_cond_signal(), or a condition variable for each kind of "
			      "waiter"},
	[TRC_FINDING_TASK_TAIL] = {"task_tail", NULL},
	[TRC_FINDING_LOCK_ORDER] =
		{"lock_order",
		 "take locks in the same order everywhere, and wait for threads without a lock that these take"},
	[TRC_FINDING_LOST] = {"lost", NULL},
	[TRC_FINDING_NOTHING] = {"nothing", NULL},
	[TRC_FINDING_NARROWED] = {"narrowed", NULL},
	[TRC_FINDING_UNNAMED] = {"unnamed",
				 "install the interpreter's debug package, or name a server of "
				 "them in DEBUGINFOD_URLS"},
};

const char *trc_finding_kind_name(unsigned int kind)
{
	return kind < TRC_FINDING_KINDS && KINDS[kind].name ? KINDS[kind].name : "";
}

const char *trc_finding_remedy(const struct trc_finding *f)
{
	if (*f->remedy)
		return f->remedy;
	return f->kind < TRC_FINDING_KINDS ? KINDS[f->kind].remedy : NULL;
}

const char *trc_severity_name(unsigned int severity)
{
	static const char *const name[] = {"", "alarm", "risk", "cost", "note"};

	return severity < sizeof(name) / sizeof(*name) ? name[severity] : "";
}
