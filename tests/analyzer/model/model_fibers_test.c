/*
 * model_fibers_test.c - when fibers ran and waited, who made them ready, and which regions are theirs.
 *
 * Each row is a trace and what must come of it, as text.
 */
#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "model_fixture.h"
#include "tests/suite.h"

#define THREADS                                                                                    \
	"thread 1 tid=101 name=\"main\"\nthread 2 tid=102 creator=1\nthread 3 tid=103 creator=1\n" \
	"stack s1 0x401000\nstack s2 0x402000\nstack s3 0x403000\n"                                \
	"labels a tenant=\"acme\"\nlabels b tenant=\"other\"\n"
/* A window from 1000 on, of the procs that the tests record on. */
#define WINDOW                                                                                     \
	"coverage proc=0 from=1000 to=9000\ncoverage proc=1 from=1000 to=9000\n"                   \
	"coverage proc=2 from=1000 to=9000\n"
#define GAP(since, at) "@" #at " proc=3 gap lost_events=3 since=" #since " cause=ring_full\n"

static void add_flags(struct text *t, unsigned int flags, const char *names)
{
	for (unsigned int i = 0; names[i]; i++)
		if (flags >> i & 1)
			add(t, " %c", names[i]);
}

/* The fibers by number, runs and waits name them so, too. */
static uint64_t number(const struct trc_model *m, uint32_t id)
{
	size_t n;
	const struct trc_fiber *fiber = trc_model_fibers(m, &n);

	ck_assert_uint_le(id, n);
	return id ? fiber[id - 1].fiber : 0;
}

static void add_runs(struct text *t, const struct trc_model *m)
{
	size_t n;
	const struct trc_fiber_run *run = trc_model_fiber_runs(m, &n);

	for (size_t i = 0; i < n; i++, run++) {
		add(t, "%" PRIu64 " on %u", number(m, run->fiber), run->thread);
		add_time(t, run->start_ns);
		add_time(t, run->end_ns);
		if (run->reason)
			add(t, " %s", trc_reason_name(run->reason));
		add_flags(t, run->flags, "EOCL"); /* ended, open, cut, lost */
		add(t, "\n");
	}
}

static void add_waits(struct text *t, const struct trc_model *m)
{
	size_t n;
	const struct trc_fiber_wait *wait = trc_model_fiber_waits(m, &n);

	for (size_t i = 0; i < n; i++, wait++) {
		add(t, "%" PRIu64 " waits", number(m, wait->fiber));
		add_time(t, wait->start_ns);
		add_time(t, wait->ready_ns);
		add_time(t, wait->end_ns);
		add(t, " %s %" PRIu64 " on %u>%u s%u l%u by %u/%" PRIu64 " s%u",
		    wait->reason ? trc_reason_name(wait->reason) : "?", wait->object, wait->thread,
		    wait->end_thread, wait->stack, wait->labels, wait->waker_thread,
		    number(m, wait->waker_fiber), wait->waker_stack);
		add_flags(t, wait->flags, "EOCL");
		add(t, "\n");
	}
}

static void add_fibers(struct text *t, const struct trc_model *m)
{
	static const char *const states[] = {"unknown",	 "new",	    "running",
					     "runnable", "waiting", "ended"};
	size_t n;
	const struct trc_fiber *fiber = trc_model_fibers(m, &n);

	for (size_t i = 0; i < n; i++, fiber++) {
		add(t, "%" PRId64 " '%s'", (int64_t)fiber->fiber, fiber->name);
		add_time(t, fiber->created_ns);
		add_time(t, fiber->ended_ns);
		add(t, " by %u/%" PRIu64 " s%u", fiber->creator_thread,
		    number(m, fiber->creator), fiber->create_stack);
		add(t, " %s run %u %" PRId64 " runnable %" PRId64 " waited %u %" PRId64 "\n",
		    states[fiber->state], fiber->n_runs, fiber->run_ns, fiber->runnable_ns,
		    fiber->n_waits, fiber->waited_ns);
	}
}

/* Regions, then those that are open in the end. */
static void add_regions(struct text *t, const struct trc_model *m)
{
	size_t n;
	const struct trc_region *g = trc_model_regions(m, &n);
	const struct trc_open_region *open;

	for (size_t i = 0; i < n; i++, g++) {
		add(t, "%u/%" PRIu64 " %u '%s'", g->thread, number(m, g->fiber), g->depth, g->type);
		add_time(t, g->start_ns);
		add_time(t, g->end_ns);
		add(t, "\n");
	}
	open = trc_model_open_regions(m, &n);
	for (size_t i = 0; i < n; i++, open++)
		add(t, "open %u/%" PRIu64 " %u '%s'\n", open->thread, number(m, open->fiber),
		    open->depth, open->type);
}

/* And the innermost one of each thread. */
static void add_threads_now(struct text *t, const struct trc_model *m)
{
	size_t n;
	const struct trc_thread_now *now = trc_model_threads_now(m, &n);

	for (size_t i = 0; i < n; i++, now++)
		if (now->n_open_regions)
			add(t, "%u is in %u '%s'\n", now->thread, now->n_open_regions, now->region);
}

static void add_all_regions(struct text *t, const struct trc_model *m)
{
	add_regions(t, m);
	add_threads_now(t, m);
}

/* What the thread was in, and its labels. */
static void add_in(struct text *t, const struct trc_model *m, uint32_t thread, int64_t ts_ns,
		   uint64_t place)
{
	add(t, " in %" PRIu64 " l%u\n",
	    number(m, trc_model_fiber_at(m, thread, ts_ns, place)),
	    trc_model_labels_at(m, thread, ts_ns, place));
}

/* What each row of a thread was in. */
static void add_places(struct text *t, const struct trc_model *m)
{
	size_t n;
	const struct trc_log *log = trc_model_logs(m, &n);
	const struct trc_park *park;
	const struct trc_unlock *unlock;
	const struct trc_task *task;
	const struct trc_sample *sample;
	const struct trc_alloc *alloc;

	for (size_t i = 0; i < n; i++, log++) {
		add(t, "log %s", log->message);
		add_in(t, m, log->thread, log->ts_ns, log->place);
	}
	park = trc_model_parks(m, &n);
	for (size_t i = 0; i < n; i++, park++) {
		add(t, "park %" PRIu64, park->object);
		add_in(t, m, park->thread, park->start_ns, park->start_place);
	}
	unlock = trc_model_unlocks(m, &n);
	for (size_t i = 0; i < n; i++, unlock++) {
		add(t, "unlock %" PRIu64, unlock->object);
		add_in(t, m, unlock->thread, unlock->ts_ns, unlock->place);
	}
	task = trc_model_tasks(m, &n);
	for (size_t i = 0; i < n; i++, task++) {
		add(t, "task %" PRIu64, task->task);
		add_in(t, m, task->start_thread, task->start_ns, task->start_place);
	}
	sample = trc_model_samples(m, &n);
	for (size_t i = 0; i < n; i++, sample++) {
		add(t, "sample %" PRIu64, sample->value);
		add_in(t, m, sample->thread, sample->ts_ns, sample->place);
	}
	alloc = trc_model_allocs(m, &n);
	for (size_t i = 0; i < n; i++, alloc++)
		add(t, "alloc %" PRIu64 " l%u\n", alloc->sample, alloc->labels);
}

static const struct row {
	const char *what, *text, *expected;
} run_rows[] = {
	{"on any thread, from one switch to the next",
	 THREADS "@100 thread=1 fiber_switch fiber=5 name=\"a\"\n"
		 "@200 thread=1 fiber_switch left=5\n"
		 "@300 proc=1 thread=2 fiber_switch fiber=5 name=\"a\"\n"
		 "@400 proc=1 thread=2 fiber_switch fiber=6 left=5 name=\"b\" reason=sleep\n"
		 "@9000 proc=1 thread=2 log\n",
	 "5 on 1 100 200\n5 on 2 300 400 sleep\n6 on 2 400 - O\n"},

	{"one that resumes another, which then gives back",
	 THREADS "@100 thread=1 fiber_switch fiber=5\n@200 thread=1 fiber_switch fiber=6 left=5\n"
		 "@300 thread=1 fiber_switch fiber=7 left=6\n"
		 "@400 thread=1 fiber_switch fiber=6 left=7\n"
		 "@500 thread=1 fiber_switch fiber=5 left=6\n@600 thread=1 fiber_switch left=5\n",
	 "5 on 1 100 200\n6 on 1 200 300\n7 on 1 300 400\n6 on 1 400 500\n5 on 1 500 600\n"},

	{"the last one of a fiber that has ended",
	 THREADS "@100 thread=1 fiber_switch fiber=5\n@200 thread=1 fiber_switch left=5\n"
		 "@300 thread=1 fiber_switch fiber=5\n@400 thread=1 fiber_switch left=5\n"
		 "@400 thread=1 fiber_end fiber=5\n",
	 "5 on 1 100 200\n5 on 1 300 400 E\n"},

	{"it ends with its thread",
	 THREADS "@100 thread=2 fiber_switch fiber=5\n@700 thread=2 thread_exit\n@900 thread=1 log\n",
	 "5 on 2 100 700\n"},

	{"and with the program, when another is executed",
	 THREADS "@100 thread=1 fiber_switch fiber=5\n@700 thread=1 process what=2 value=1\n"
		 "@900 thread=2 log\n",
	 "5 on 1 100 700 E\n"},

	{"the first one that is executed while it lasts, whatever is executed before or later",
	 THREADS "@50 thread=1 process what=2 value=1\n@100 thread=1 fiber_switch fiber=5\n"
		 "@300 thread=1 process what=2 value=1\n@400 thread=2 fiber_switch fiber=6\n"
		 "@500 thread=2 process what=2 value=1\n@600 thread=3 fiber_switch fiber=7\n"
		 "@900 thread=3 log\n",
	 "5 on 1 100 300 E\n6 on 2 400 500 E\n7 on 3 600 - O\n"},

	{"another program is executed before the gap in which it may have been left",
	 THREADS "@100 thread=1 fiber_switch fiber=5\n@200 thread=1 process what=2 value=1\n" GAP(
		 300, 400) "@900 thread=3 log\nthread_fiber thread=3 fiber=7\n",
	 "5 on 1 100 200 E\n7 on 3 400 - O C\n"},

	{"of a thread from before recording: when it was first seen to be in what was there, too",
	 THREADS "@100 thread=1 thread_start tid=101\n@110 thread=1 fiber_create fiber=5\n"
		 "@110 thread=1 fiber_switch fiber=5\n@200 thread=1 fiber_switch left=5\n"
		 "@300 thread=1 fiber_switch fiber=5\n@400 thread=1 fiber_switch left=5\n",
	 "5 on 1 110 200 C\n5 on 1 300 400\n"},

	{"but a fiber made since, or a thread created since, was not there",
	 THREADS "@100 thread=1 thread_start tid=101\n@110 thread=1 fiber_create fiber=5 stack=s1\n"
		 "@120 thread=1 fiber_switch fiber=5\n@150 thread=2 thread_start tid=102 creator=1\n"
		 "@160 thread=2 fiber_create fiber=6\n@160 thread=2 fiber_switch fiber=6\n"
		 "@200 thread=1 fiber_switch left=5\n@300 thread=2 fiber_switch left=6\n",
	 "5 on 1 120 200\n6 on 2 160 300\n"},

	{"a switch to it is missing: it ran from the end of the gap on",
	 THREADS "@100 thread=1 fiber_switch fiber=5\n@200 thread=1 fiber_switch left=5\n" GAP(
		 300, 400) "@600 thread=1 fiber_switch left=5\n",
	 "5 on 1 100 200\n5 on 1 400 600 C\n"},

	{"a switch away from it is missing: it ran to the beginning of the gap",
	 THREADS "@100 thread=1 fiber_switch fiber=5\n" GAP(
		 300, 400) "@600 thread=1 fiber_switch fiber=6\n",
	 "5 on 1 100 300 L\n6 on 1 600 - O\n"},

	{"nothing of the thread but what the file's table says",
	 THREADS "@100 thread=2 log\n@900 thread=2 log\n"
		 "thread_fiber thread=1 fiber=7 name=\"worker\"\n",
	 "7 on 1 0 - O C\n"},

	{"lost at the end: the table has what came last",
	 THREADS "@100 thread=1 fiber_switch fiber=5\n" GAP(
		 300, 400) "@900 thread=2 log\nthread_fiber thread=1 fiber=7 name=\"worker\"\n",
	 "5 on 1 100 300 L\n7 on 1 400 - O C\n"},

	{"lost at the end, and in no fiber then",
	 THREADS "@100 thread=1 fiber_switch fiber=5\n@120 thread=2 fiber_switch fiber=6\n"
		 "@150 thread=2 thread_exit\n" GAP(300, 400) "@900 thread=3 log\n"
		 "thread_fiber thread=3 fiber=7\n",
	 "5 on 1 100 300 L\n6 on 2 120 150\n7 on 3 400 - O C\n"},

	{"in a window: what it left first ran since it began, and what is outside is not told",
	 THREADS "@500 proc=2 thread=3 fiber_switch fiber=8\n"
		 "@600 proc=2 thread=3 fiber_switch left=8\n"
		 "@700 proc=1 thread=2 fiber_switch fiber=6\n"
		 "@2000 thread=1 fiber_switch left=5\n"
		 "@3000 proc=1 thread=2 fiber_switch left=6\n" WINDOW,
	 "5 on 1 1000 2000 C\n6 on 2 1000 3000 C\n"},

	{"a snapshot in which a thread never switched",
	 THREADS "@2000 thread=1 log\nthread_fiber thread=1 fiber=7 name=\"worker\"\n" WINDOW,
	 "7 on 1 1000 - O C\n"},

	{"left at the time at which it was gone over to",
	 THREADS "@100 thread=1 fiber_switch fiber=5\n@100 thread=1 fiber_switch fiber=6 left=5\n"
		 "@300 thread=1 fiber_switch left=6\n",
	 "6 on 1 100 300\n"},

	{"of a switch to what runs already nothing comes",
	 THREADS "@100 thread=1 fiber_switch fiber=5\n@200 thread=1 fiber_switch fiber=5 left=5\n"
		 "@300 thread=1 fiber_switch left=5\n",
	 "5 on 1 100 300\n"},
};

static const struct row wait_rows[] = {
	{"from where it was left to where it runs again, and who made it ready",
	 THREADS "@50 thread=1 labels labels=a\n@100 thread=1 fiber_switch fiber=5\n"
		 "@150 proc=1 thread=2 fiber_switch fiber=6\n"
		 "@200 thread=1 fiber_switch left=5 reason=user object=0x10 stack=s1\n"
		 "@201 thread=1 labels before=a labels=b\n"
		 "@300 proc=1 thread=2 fiber_ready fiber=5 stack=s2\n"
		 "@400 proc=2 thread=3 fiber_switch fiber=5\n",
	 "5 waits 200 300 400 user 16 on 1>3 s1 l1 by 2/6 s2\n"},

	{"clocks may give all one time: labels and wakers go by the order of the events",
	 THREADS "@200 thread=1 labels labels=a\n"
		 "@200 thread=1 fiber_switch fiber=6 left=5 reason=user object=0x10 stack=s1\n"
		 "@200 thread=1 labels before=a labels=b\n@200 thread=1 fiber_ready fiber=5\n"
		 "@200 thread=1 fiber_switch fiber=5 left=6\n",
	 "5 waits 200 200 200 user 16 on 1>1 s1 l1 by 1/6 s0\n"},

	{"it may be made ready by nobody",
	 THREADS "@200 thread=1 fiber_switch left=5 reason=sleep\n"
		 "@300 thread=1 fiber_switch fiber=5\n",
	 "5 waits 200 - 300 sleep 0 on 1>1 s0 l0 by 0/0 s0\n"},

	{"made ready while it could run: no wake-up",
	 THREADS "@100 thread=1 fiber_switch fiber=5\n@200 thread=1 fiber_switch left=5\n"
		 "@250 proc=1 thread=2 fiber_ready fiber=5\n@300 thread=1 fiber_switch fiber=5\n"
		 "@400 thread=1 fiber_switch left=5 reason=user\n"
		 "@500 thread=1 fiber_switch fiber=5\n",
	 "5 waits 400 - 500 user 0 on 1>1 s0 l0 by 0/0 s0\n"},

	{"made ready before it is left: its wait was over when it began; the first one counts",
	 THREADS "@100 thread=1 fiber_switch fiber=5\n@120 proc=1 thread=2 fiber_switch fiber=6\n"
		 "@150 proc=1 thread=2 fiber_ready fiber=5 stack=s2\n"
		 "@160 proc=1 thread=2 fiber_switch left=6\n"
		 "@170 proc=2 thread=3 fiber_ready fiber=5 stack=s3\n"
		 "@200 thread=1 fiber_switch left=5 reason=user object=0x10 stack=s1\n"
		 "@250 proc=2 thread=3 fiber_ready fiber=5 stack=s3\n"
		 "@400 proc=2 thread=3 fiber_switch fiber=5\n",
	 "5 waits 200 200 400 user 16 on 1>3 s1 l0 by 2/6 s2\n"},

	{"and only that one",
	 THREADS "@100 thread=1 fiber_switch fiber=5\n@150 proc=1 thread=2 fiber_ready fiber=5\n"
		 "@200 thread=1 fiber_switch left=5 reason=user\n"
		 "@300 thread=1 fiber_switch fiber=5\n"
		 "@400 thread=1 fiber_switch left=5 reason=user\n"
		 "@500 thread=1 fiber_switch fiber=5\n",
	 "5 waits 200 200 300 user 0 on 1>1 s0 l0 by 2/0 s0\n"
	 "5 waits 400 - 500 user 0 on 1>1 s0 l0 by 0/0 s0\n"},

	{"made ready before it is left without a reason: that is forgotten",
	 THREADS "@100 thread=1 fiber_switch fiber=5\n@150 proc=1 thread=2 fiber_ready fiber=5\n"
		 "@200 thread=1 fiber_switch left=5\n@300 thread=1 fiber_switch fiber=5\n"
		 "@400 thread=1 fiber_switch left=5 reason=user\n"
		 "@500 thread=1 fiber_switch fiber=5\n",
	 "5 waits 400 - 500 user 0 on 1>1 s0 l0 by 0/0 s0\n"},

	{"made ready before it is left, and does not run, or ends: it could run since it was left",
	 THREADS "@100 thread=1 fiber_switch fiber=5\n@110 proc=1 thread=2 fiber_switch fiber=6\n"
		 "@150 thread=1 fiber_ready fiber=6\n@160 proc=1 thread=2 fiber_ready fiber=5\n"
		 "@200 thread=1 fiber_switch left=5 reason=user\n"
		 "@300 proc=1 thread=2 fiber_switch left=6 reason=user\n"
		 "@400 thread=1 fiber_end fiber=6\n",
	 "5 waits 200 200 - user 0 on 1>0 s0 l0 by 2/6 s0 O\n"
	 "6 waits 300 300 400 user 0 on 2>0 s0 l0 by 1/5 s0 E\n"},

	{"made ready while it ran, but it may have waited and run again since, unseen",
	 THREADS "@100 thread=1 fiber_switch fiber=5\n@150 proc=1 thread=2 fiber_ready fiber=5\n" GAP(
		 200, 300) "@400 thread=1 fiber_switch left=5 reason=user\n"
			   "@500 thread=1 fiber_switch fiber=5\n",
	 "5 waits 400 - 500 user 0 on 1>1 s0 l0 by 0/0 s0\n"},

	{"made ready while it ran, and seen to run again, but not to be left",
	 THREADS "@100 thread=1 fiber_switch fiber=5\n@150 proc=1 thread=2 fiber_ready fiber=5\n"
		 "@300 proc=1 thread=2 fiber_switch fiber=5\n"
		 "@400 proc=1 thread=2 fiber_switch left=5 reason=user\n"
		 "@500 thread=1 fiber_switch fiber=5\n",
	 "5 waits 400 - 500 user 0 on 2>1 s0 l0 by 0/0 s0\n"},

	{"the first one that makes it ready counts",
	 THREADS "@200 thread=1 fiber_switch left=5 reason=poll object=7\n"
		 "@300 proc=1 thread=2 fiber_ready fiber=5\n@350 proc=2 thread=3 fiber_ready fiber=5\n"
		 "@400 thread=1 fiber_switch fiber=5\n",
	 "5 waits 200 300 400 poll 7 on 1>1 s0 l0 by 2/0 s0\n"},

	{"still in progress: one that nobody made ready, one that did not run yet",
	 THREADS "@200 thread=1 fiber_switch left=5 reason=user\n"
		 "@300 thread=1 fiber_switch fiber=6\n"
		 "@400 thread=1 fiber_switch left=6 reason=user\n"
		 "@500 thread=1 fiber_ready fiber=6\n",
	 "5 waits 200 - - user 0 on 1>0 s0 l0 by 0/0 s0 O\n"
	 "6 waits 400 500 - user 0 on 1>0 s0 l0 by 1/0 s0 O\n"},

	{"one that ended while it waited",
	 THREADS "@200 thread=1 fiber_switch left=5 reason=user\n@300 thread=1 fiber_end fiber=5\n",
	 "5 waits 200 - 300 user 0 on 1>0 s0 l0 by 0/0 s0 E\n"},

	{"it ran again unseen: it waited to the gap at least",
	 THREADS "@200 thread=1 fiber_switch left=5 reason=user\n" GAP(
		 400, 500) "@450 proc=1 thread=2 fiber_ready fiber=5\n"
			   "@700 proc=1 thread=2 fiber_switch left=5 reason=sleep\n"
			   "@800 proc=1 thread=2 fiber_switch fiber=5\n",
	 "5 waits 200 - 400 user 0 on 1>0 s0 l0 by 0/0 s0 L\n"
	 "5 waits 700 - 800 sleep 0 on 2>2 s0 l0 by 0/0 s0\n"},

	{"made ready before the gap, it was made ready",
	 THREADS "@200 thread=1 fiber_switch left=5 reason=user\n"
		 "@300 proc=2 thread=3 fiber_ready fiber=5\n" GAP(
			 400, 500) "@700 proc=1 thread=2 fiber_switch left=5\n",
	 "5 waits 200 300 400 user 0 on 1>0 s0 l0 by 3/0 s0 L\n"},

	{"that it runs in the end only the table says",
	 THREADS "@200 thread=1 fiber_switch left=5 reason=user\n" GAP(
		 400, 500) "@900 thread=1 log\nthread_fiber thread=2 fiber=5\n",
	 "5 waits 200 - 400 user 0 on 1>0 s0 l0 by 0/0 s0 L\n"},

	{"without a gap a wait that cannot be is none of any length",
	 THREADS "@200 thread=1 fiber_switch left=5 reason=user\n"
		 "@700 thread=1 fiber_switch left=5\n",
	 "5 waits 200 - 200 user 0 on 1>0 s0 l0 by 0/0 s0 L\n"},

	{"from before the window: it is made ready in it, and runs",
	 THREADS "@500 thread=1 fiber_switch left=5 reason=user\n"
		 "@2000 thread=1 fiber_ready fiber=5 stack=s3\n"
		 "@2500 thread=1 fiber_switch fiber=5\n" WINDOW,
	 "5 waits 1000 2000 2500 ? 0 on 0>1 s0 l0 by 1/0 s3 C\n"},

	{"and does not run",
	 THREADS "@2000 thread=1 fiber_ready fiber=5\n" WINDOW,
	 "5 waits 1000 2000 - ? 0 on 0>0 s0 l0 by 1/0 s0 O C\n"},

	{"in a window: what runs first in it may not have waited",
	 THREADS "@500 thread=1 fiber_switch left=5 reason=user\n"
		 "@2500 thread=1 fiber_switch fiber=5\n" WINDOW,
	 ""},

	{"in a window: it was made ready, but ran",
	 THREADS "@2000 thread=1 fiber_ready fiber=5\n@2500 proc=1 thread=2 fiber_switch left=5\n"
		 "@3000 thread=1 fiber_ready fiber=6\nthread_fiber thread=3 fiber=6\n" WINDOW,
	 ""},

	{"in a window: it ran since before, and was made ready before it is left",
	 THREADS "@2000 thread=1 fiber_ready fiber=5 stack=s2\n"
		 "@2500 proc=1 thread=2 fiber_switch left=5 reason=user\n"
		 "@2700 thread=1 fiber_switch fiber=5\n" WINDOW,
	 "5 waits 2500 2500 2700 user 0 on 2>1 s0 l0 by 1/0 s2\n"},

	{"but not if it may have run again in between",
	 THREADS "@2000 thread=1 fiber_ready fiber=5\n" GAP(
		 2100, 2200) "@2500 proc=1 thread=2 fiber_switch left=5 reason=user\n"
			     "@2700 thread=1 fiber_switch fiber=5\n" WINDOW,
	 "5 waits 2500 - 2700 user 0 on 2>1 s0 l0 by 0/0 s0\n"},

	{"made ready before the window, from when on waits are followed",
	 THREADS "@500 proc=1 thread=2 fiber_switch fiber=5\n@900 thread=1 fiber_ready fiber=5\n"
		 "@2500 proc=1 thread=2 fiber_switch left=5 reason=user\n"
		 "@2700 thread=1 fiber_switch fiber=5\n" WINDOW,
	 "5 waits 2500 - 2700 user 0 on 2>1 s0 l0 by 0/0 s0\n"},

	{"from before recording, whose first event of all this is",
	 THREADS "@2000 thread=1 fiber_create fiber=5 name=\"a\"\n@2000 thread=1 fiber_ready fiber=5\n"
		 "@2500 thread=1 fiber_switch fiber=5\n" WINDOW,
	 "5 waits 1000 2000 2500 ? 0 on 0>1 s0 l0 by 1/0 s0 C\n"},

	{"in a window: it was made in it", THREADS
	 "@1500 thread=1 fiber_create fiber=5 stack=s1\n@2000 thread=1 fiber_ready fiber=5\n"
	 "@2500 thread=1 fiber_switch fiber=5\n" WINDOW,
	 ""},

	{"in a window: what it did before it was made ready may be lost",
	 THREADS GAP(1200, 1300) "@2000 thread=1 fiber_ready fiber=5\n"
				 "@2500 thread=1 fiber_switch fiber=5\n" WINDOW,
	 ""},
};

static const struct row fiber_rows[] = {
	{"made, made ready, run; its name, and who made it",
	 THREADS "@100 thread=1 fiber_create fiber=5 name=\"a\" stack=s1\n"
		 "@200 thread=1 fiber_switch fiber=5 name=\"a\"\n"
		 "@300 thread=1 fiber_create fiber=6 name=\"b\" stack=s2\n"
		 "@400 thread=1 fiber_ready fiber=6 stack=s2\n"
		 "@500 thread=1 fiber_switch fiber=6 left=5 name=\"b\"\n"
		 "@650 thread=1 fiber_switch fiber=5 left=6 name=\"a\" reason=user\n"
		 "@700 thread=1 fiber_ready fiber=6 stack=s2\n"
		 "@1000 thread=1 fiber_switch left=5\n@1000 thread=1 fiber_end fiber=5\n"
		 "@2000 thread=1 log\n",
	 "5 'a' 100 1000 by 1/0 s1 ended run 2 650 runnable 150 waited 0 0\n"
	 "6 'b' 300 - by 1/5 s2 runnable run 1 150 runnable 1400 waited 1 50\n"},

	{"in the order of their numbers, whatever that of their coming; one that is only made",
	 THREADS "@100 thread=1 fiber_create fiber=9 name=\"i\" stack=s1\n"
		 "@200 thread=1 fiber_switch fiber=3 name=\"c\"\n"
		 "@300 thread=1 fiber_switch fiber=7 left=3 name=\"g\"\n@400 thread=1 log\n",
	 "3 'c' - - by 0/0 s0 runnable run 1 100 runnable 100 waited 0 0\n"
	 "7 'g' - - by 0/0 s0 running run 1 100 runnable 0 waited 0 0\n"
	 "9 'i' 100 - by 1/0 s1 new run 0 0 runnable 0 waited 0 0\n"},

	{"made ready before it is left: all of the wait it could run",
	 THREADS "@100 thread=1 fiber_switch fiber=5\n@150 proc=1 thread=2 fiber_ready fiber=5\n"
		 "@200 thread=1 fiber_switch left=5 reason=user\n"
		 "@500 thread=1 fiber_switch fiber=5\n@550 thread=2 fiber_ready fiber=5\n"
		 "@600 thread=1 fiber_switch left=5 reason=user\n@1000 thread=1 log\n",
	 "5 '' - - by 0/0 s0 runnable run 2 200 runnable 700 waited 2 0\n"},

	{"and waits in the end if it may have waited and run again since it was made ready",
	 THREADS "@100 thread=1 fiber_switch fiber=5\n@150 proc=1 thread=2 fiber_ready fiber=5\n" GAP(
		 200, 300) "@400 thread=1 fiber_switch left=5 reason=user\n@1000 thread=1 log\n",
	 "5 '' - - by 0/0 s0 waiting run 1 300 runnable 0 waited 1 600\n"},

	{"made before recording began: when and by whom is not known",
	 THREADS "@100 thread=1 fiber_create fiber=5 name=\"a\"\n"
		 "@100 thread=1 fiber_switch fiber=5 name=\"a\"\n"
		 "@200 thread=1 fiber_switch left=5 reason=user\n@500 thread=1 log\n",
	 "5 'a' - - by 0/0 s0 waiting run 1 100 runnable 0 waited 1 300\n"},

	{"and whether it ever ran",
	 THREADS "@100 thread=1 fiber_create fiber=5 name=\"a\"\n@500 thread=1 log\n",
	 "5 'a' - - by 0/0 s0 unknown run 0 0 runnable 0 waited 0 0\n"},

	{"it yielded, and ran unseen: how long it could run is not told",
	 THREADS "@100 thread=1 fiber_switch fiber=5 name=\"a\"\n"
		 "@200 thread=1 fiber_switch left=5\n" GAP(
			 300, 400) "@600 thread=1 fiber_switch left=5\n@700 thread=1 fiber_switch "
				   "fiber=5\n@800 thread=1 fiber_end fiber=5\n",
	 "5 'a' - 800 by 0/0 s0 ended run 3 400 runnable 100 waited 0 0\n"},

	{"only the table knows of it",
	 THREADS "@1000 thread=2 log\nthread_fiber thread=1 fiber=7 name=\"worker\"\n",
	 "7 'worker' - - by 0/0 s0 running run 1 1000 runnable 0 waited 0 0\n"},

	{"its thread has ended: what became of it is not known",
	 THREADS "@100 thread=2 fiber_switch fiber=5\n@700 thread=2 thread_exit\n@900 thread=1 log\n",
	 "5 '' - - by 0/0 s0 unknown run 1 600 runnable 0 waited 0 0\n"},

	{"root fibers are no rows; large numbers are numbers",
	 THREADS "@100 thread=1 fiber_switch\n@150 thread=1 fiber_end\n@150 thread=1 fiber_ready\n"
		 "@200 thread=1 fiber_ready fiber=0xffffffffffffffff\n"
		 "@300 thread=1 fiber_ready fiber=0x100000001\n@400 thread=1 log\n",
	 "-1 '' - - by 0/0 s0 runnable run 0 0 runnable 200 waited 0 0\n"
	 "4294967297 '' - - by 0/0 s0 runnable run 0 0 runnable 100 waited 0 0\n"},

	{"after its end nothing happens to it",
	 THREADS "@100 thread=1 fiber_end fiber=5\n@200 thread=1 fiber_switch left=5 reason=user\n"
		 "@300 thread=1 fiber_ready fiber=5\n@400 thread=1 fiber_end fiber=5\n",
	 "5 '' - 100 by 0/0 s0 ended run 1 200 runnable 0 waited 0 0\n"},
};

/* Events of one time, of one thread but for what other threads and the kernel say. */
static const struct row place_rows[] = {
	{"messages",
	 THREADS "@100 thread=1 log message=\"root\"\n@100 thread=1 fiber_switch fiber=5\n"
		 "@100 thread=1 labels labels=a\n@100 thread=1 log message=\"5\"\n"
		 "@100 thread=1 fiber_switch fiber=6 left=5\n"
		 "@100 thread=1 log message=\"6 with those of 5\"\n"
		 "@100 thread=1 labels labels=b before=a\n@100 thread=1 log message=\"6\"\n"
		 "@100 thread=1 fiber_switch left=6\n@100 thread=1 log message=\"root again\"\n",
	 "log root in 0 l0\nlog 5 in 5 l1\nlog 6 with those of 5 in 6 l1\nlog 6 in 6 l2\n"
	 "log root again in 0 l2\n"},

	{"in what it left at that time, and went back to",
	 THREADS "@50 thread=1 fiber_switch fiber=5\n@100 thread=1 log message=\"a\"\n"
		 "@100 thread=1 fiber_switch left=5\n@100 thread=1 log message=\"b\"\n"
		 "@100 thread=1 fiber_switch fiber=5\n@100 thread=1 log message=\"c\"\n"
		 "@150 thread=1 log message=\"d\"\n",
	 "log a in 5 l0\nlog b in 0 l0\nlog c in 5 l0\nlog d in 5 l0\n"},

	{"another thread's are its own",
	 THREADS "@100 thread=1 fiber_switch fiber=5\n@100 thread=2 log message=\"other\"\n"
		 "@100 thread=2 fiber_switch fiber=6\n@100 thread=1 log message=\"5\"\n"
		 "@100 thread=1 fiber_switch left=5\n@100 thread=2 log message=\"6\"\n",
	 "log 5 in 5 l0\nlog other in 0 l0\nlog 6 in 6 l0\n"},

	{"of streams the one that comes first in the file, whatever its kinds of events",
	 THREADS "@10 proc=1 thread=2 counter value=1\nflush\n"
		 "@100 proc=0 thread=1 fiber_switch fiber=5\n"
		 "@100 proc=1 thread=1 log message=\"before\"\n",
	 "log before in 0 l0\n"},

	{"parks; of one that is told when it is over, the time at which it began is all there is",
	 THREADS "@100 thread=1 park reason=mutex object=1\n"
		 "@100 thread=1 resume reason=mutex object=1\n@100 thread=1 fiber_switch fiber=5\n"
		 "@100 thread=1 park reason=mutex object=2\n"
		 "@100 thread=1 resume reason=mutex object=2\n"
		 "@100 thread=1 wait reason=read object=3 since=100\n"
		 "@100 thread=1 fiber_switch left=5\n"
		 "@200 thread=1 wait reason=read object=4 since=100\n",
	 "park 1 in 0 l0\npark 2 in 5 l0\npark 3 in 5 l0\npark 4 in 0 l0\n"},

	{"unlocks, and those that were done before they were recorded",
	 THREADS "@50 thread=1 fiber_switch fiber=5\n"
		 "@100 thread=1 unlock reason=mutex object=1 waiters=1 at=100\n"
		 "@100 thread=1 fiber_switch left=5\n"
		 "@150 thread=1 unlock reason=mutex object=2 waiters=1 at=100\n",
	 "unlock 1 in 5 l0\nunlock 2 in 0 l0\n"},

	{"tasks",
	 THREADS "@100 thread=1 task_begin task=1\n@100 thread=1 fiber_switch fiber=5\n"
		 "@100 thread=1 task_begin task=2\n@100 thread=1 fiber_switch left=5\n",
	 "task 1 in 0 l0\ntask 2 in 5 l0\n"},

	{"samples of the thread's own; the kernel's have but a time, and come last in it",
	 THREADS "@100 thread=1 sample value=1\n@100 thread=1 fiber_switch fiber=5\n"
		 "@100 thread=1 labels labels=a\n@100 thread=1 sample value=2\n"
		 "@100 thread=1 fiber_switch fiber=6 left=5\n@100 thread=1 labels before=a labels=b\n"
		 "@100 source=kernel thread=1 sample value=3\n@200 thread=1 log message=\"\"\n",
	 "log  in 6 l2\nsample 1 in 0 l0\nsample 2 in 5 l1\nsample 3 in 6 l2\n"},

	{"labels of allocations that do not say",
	 THREADS "@100 thread=1 alloc sample=1 bytes=8\n@100 thread=1 labels labels=a\n"
		 "@100 thread=1 alloc sample=2 bytes=8\n@100 thread=1 labels labels=b before=a\n",
	 "alloc 1 l0\nalloc 2 l1\n"},

	{"from the time on at which a switch was lost it is not known, until the next one",
	 THREADS "@100 thread=1 log message=\"a\"\n@100 thread=1 fiber_switch fiber=5\n"
		 "@100 thread=1 log message=\"b\"\n@300 thread=1 log message=\"c\"\n"
		 "@300 thread=1 fiber_switch fiber=7 left=6\n@300 thread=1 log message=\"d\"\n"
		 "@300 thread=1 fiber_switch fiber=8 left=7\n" GAP(100, 400)
		 "@500 thread=1 fiber_switch left=8\n",
	 "log a in 0 l0\nlog b in 0 l0\nlog c in 0 l0\nlog d in 7 l0\n"},
};

static const struct row region_rows[] = {
	{"of one time, in the order of their events",
	 THREADS "@100 thread=1 region_begin type=\"root\"\n@100 thread=1 fiber_switch fiber=5\n"
		 "@100 thread=1 region_begin type=\"a\"\n"
		 "@100 thread=1 fiber_switch fiber=6 left=5\n"
		 "@100 thread=1 region_begin type=\"b\"\n@100 thread=1 fiber_switch left=6\n"
		 "@100 thread=1 region_end\n@200 proc=1 thread=2 region_begin type=\"other\"\n"
		 "@200 proc=1 thread=2 fiber_switch fiber=5\n@200 proc=1 thread=2 region_end\n"
		 "@200 proc=1 thread=2 fiber_switch left=5\n@300 proc=1 thread=2 region_end\n",
	 "1/0 0 'root' 100 100\n1/5 0 'a' 100 200\n1/6 0 'b' 100 -\n2/0 0 'other' 200 300\n"
	 "open 1/6 0 'b'\n"},

	{"begun on one thread, ended on another; those of others in between are theirs",
	 THREADS "@100 thread=1 region_begin type=\"root\"\n@150 thread=1 fiber_switch fiber=5\n"
		 "@200 thread=1 region_begin type=\"a\"\n@210 thread=1 region_begin type=\"in a\"\n"
		 "@300 thread=1 fiber_switch fiber=6 left=5\n"
		 "@350 thread=1 region_begin type=\"b\"\n"
		 "@400 proc=1 thread=2 fiber_switch fiber=5\n"
		 "@450 proc=1 thread=2 region_end\n@500 proc=1 thread=2 region_end\n"
		 "@600 thread=1 region_end\n@650 thread=1 fiber_switch left=6\n"
		 "@700 thread=1 region_end\n",
	 "1/0 0 'root' 100 700\n1/5 0 'a' 200 500\n1/5 1 'in a' 210 450\n1/6 0 'b' 350 600\n"},

	{"before a thread's first switch it is in what that one leaves",
	 THREADS "@100 thread=1 region_begin type=\"a\"\n@200 thread=1 fiber_switch left=5\n"
		 "@250 thread=1 region_begin type=\"root\"\n"
		 "@300 proc=1 thread=2 fiber_switch fiber=5\n@400 proc=1 thread=2 region_end\n"
		 "@450 thread=1 region_end\n",
	 "1/5 0 'a' 100 400\n1/0 0 'root' 250 450\n"},

	{"one from before the trace, and how deep the others lay in it",
	 THREADS "@100 thread=1 fiber_switch fiber=5\n@200 thread=1 region_begin type=\"in\"\n"
		 "@300 thread=1 region_end\n@350 thread=1 fiber_switch left=5\n"
		 "@400 proc=1 thread=2 fiber_switch fiber=5\n@500 proc=1 thread=2 region_end\n",
	 "2/5 0 '' - 500\n1/5 1 'in' 200 300\n"},

	{"open in the end: in the thread that runs the fiber, or where it began if none does",
	 THREADS "@100 thread=1 fiber_switch fiber=5\n@110 thread=1 region_begin type=\"a\"\n"
		 "@200 thread=1 fiber_switch fiber=6 left=5\n"
		 "@210 thread=1 region_begin type=\"b\"\n"
		 "@300 thread=1 fiber_switch left=6 reason=user\n"
		 "@400 proc=1 thread=2 fiber_switch fiber=5\n"
		 "@450 proc=1 thread=2 region_begin type=\"in a\"\n@500 thread=1 log\n",
	 "1/5 0 'a' 110 -\n1/6 0 'b' 210 -\n2/5 1 'in a' 450 -\n"
	 "open 1/6 0 'b'\nopen 2/5 0 'a'\nopen 2/5 1 'in a'\n2 is in 2 'in a'\n"},

	{"of a fiber that has ended none are open",
	 THREADS "@100 thread=1 fiber_switch fiber=5\n@110 thread=1 region_begin type=\"a\"\n"
		 "@200 thread=1 fiber_switch left=5\n@210 thread=1 fiber_end fiber=5\n"
		 "@220 thread=1 log\n",
	 "1/5 0 'a' 110 -\n"},

	{"the table has none of a fiber that was left before it was made: then events tell them",
	 THREADS "@100 thread=1 fiber_switch fiber=5\n@110 thread=1 region_begin type=\"a\"\n"
		 "@120 thread=2 region_begin type=\"b\"\n@500 thread=3 log\n"
		 "thread_fiber thread=1 fiber=5\nopen_region thread=3 depth=0 since=50 type=\"c\"\n",
	 "3/0 0 'c' 50 -\n1/5 0 'a' 110 -\n2/0 0 'b' 120 -\n"
	 "open 1/5 0 'a'\nopen 3/0 0 'c'\n1 is in 1 'a'\n3 is in 1 'c'\n"},

	{"what the file's table tells of a thread are the regions of the fiber that it is in",
	 THREADS "@2000 thread=1 region_begin type=\"old\"\n@2100 thread=1 fiber_switch fiber=5\n"
		 "@2200 thread=1 region_begin type=\"in\"\n@2300 thread=1 log\n"
		 "thread_fiber thread=1 fiber=5\n"
		 "open_region thread=1 depth=0 since=1500 type=\"outer\"\n"
		 "open_region thread=1 depth=1 since=2200 type=\"in\"\n",
	 "1/5 0 'outer' 1500 -\n1/0 0 'old' 2000 -\n1/5 1 'in' 2200 -\n"
	 "open 1/0 0 'old'\nopen 1/5 0 'outer'\nopen 1/5 1 'in'\n1 is in 2 'in'\n"},
};

static void check_row(const struct row *row, unsigned int parts,
		      void (*print)(struct text *, const struct trc_model *))
{
	struct trc_model *m = model_of(row->text, parts);
	struct text t = {.n = 0};

	print(&t, m);
	ck_assert_msg(!strcmp(t.at, row->expected), "%s:\n%s", row->what, t.at);
	model_close(m);
}

START_TEST(runs)
{
	check_row(&run_rows[_i], TRC_PART_FIBERS, add_runs);
}
END_TEST

START_TEST(waits)
{
	check_row(&wait_rows[_i], TRC_PART_FIBERS, add_waits);
}
END_TEST

START_TEST(fibers)
{
	check_row(&fiber_rows[_i], TRC_PART_FIBERS, add_fibers);
}
END_TEST

START_TEST(regions)
{
	check_row(&region_rows[_i], TRC_PART_NOW, add_all_regions);
}
END_TEST

START_TEST(places)
{
	check_row(&place_rows[_i],
		  TRC_PART_USER | TRC_PART_WAITS | TRC_PART_SAMPLES | TRC_PART_HEAP, add_places);
}
END_TEST

/* What derives other parts leaves out other blocks: places are the same. */
START_TEST(places_from_several_passes)
{
	struct trc_model *m = model_of(place_rows[_i].text, TRC_PART_FIBERS);
	static const unsigned int parts[] = {TRC_PART_USER, TRC_PART_SAMPLES, TRC_PART_HEAP,
					     TRC_PART_WAITS};
	struct text t = {.n = 0};
	struct trc_error error;

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		ck_assert_int_eq(trc_model_need(m, parts[i], &error), 0);
	add_places(&t, m);
	ck_assert_msg(!strcmp(t.at, place_rows[_i].expected), "%s:\n%s", place_rows[_i].what, t.at);
	model_close(m);
}
END_TEST

START_TEST(at_any_time)
{
	struct trc_model *m = model_of(THREADS "@100 thread=1 fiber_switch fiber=5\n"
					       "@200 thread=1 fiber_switch fiber=6 left=5\n"
					       "@300 proc=1 thread=2 fiber_switch left=5\n",
				       TRC_PART_FIBERS);

	ck_assert_uint_eq(trc_model_fiber_at(m, 1, 99, TRC_PLACE_LAST), 0);
	ck_assert_uint_eq(trc_model_fiber_at(m, 1, 100, TRC_PLACE_LAST), 1);
	ck_assert_uint_eq(trc_model_fiber_at(m, 1, 199, TRC_PLACE_LAST), 1);
	ck_assert_uint_eq(trc_model_fiber_at(m, 1, INT64_MAX, TRC_PLACE_LAST), 2);
	ck_assert_uint_eq(trc_model_fiber_at(m, 2, -5, TRC_PLACE_LAST), 1);
	ck_assert_uint_eq(trc_model_fiber_at(m, 2, 300, TRC_PLACE_LAST), 0);
	ck_assert_uint_eq(trc_model_fiber_at(m, 3, 150, TRC_PLACE_LAST), 0);
	model_close(m);
	m = model_of(THREADS "@100 thread=1 fiber_switch fiber=5\n", 0);
	ck_assert_uint_eq(trc_model_fiber_at(m, 1, 100, TRC_PLACE_LAST), 0);
	model_close(m);
}
END_TEST

#define N(rows) ((int)(sizeof(rows) / sizeof(rows[0])))

int main(void)
{
	Suite *suite = suite_create("fibers");
	TCase *tc = tcase_create("fibers");

	suite_add_tcase(suite, tc);
	tcase_add_loop_test(tc, runs, 0, N(run_rows));
	tcase_add_loop_test(tc, waits, 0, N(wait_rows));
	tcase_add_loop_test(tc, fibers, 0, N(fiber_rows));
	tcase_add_loop_test(tc, regions, 0, N(region_rows));
	tcase_add_loop_test(tc, places, 0, N(place_rows));
	tcase_add_loop_test(tc, places_from_several_passes, 0, N(place_rows));
	tcase_add_test(tc, at_any_time);
	return suite_run(suite);
}
