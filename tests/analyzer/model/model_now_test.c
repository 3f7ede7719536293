/*
 * model_now_test.c - what is so when a trace ends: what each thread does, which locks are held, and
 * who waits in a circle.
 *
 * Each row is a trace and the rows that must come of it, as text.
 */
#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "model_fixture.h"
#include "tests/suite.h"

#define THREADS                                                                                    \
	"thread 1 tid=101 name=\"main\"\n"                                                         \
	"thread 2 tid=102 creator=1\n"                                                             \
	"thread 3 tid=103 creator=1\n"                                                             \
	"thread 4 tid=104 creator=1\n"
/* A window from 1000 to 9000. */
#define WINDOW "coverage proc=0 held=900 from=1000 to=9000\ncoverage proc=1 from=1000 to=9000\n"

static void add_time_of(struct text *t, const char *word, int64_t ns)
{
	if (ns != TRC_NEVER)
		add(t, " %s %" PRId64, word, ns);
}

static void add_threads(struct text *t, const struct trc_model *m)
{
	static const char *const state[] = {"unknown", "running", "waiting"};
	size_t n;
	const struct trc_thread_now *now = trc_model_threads_now(m, &n);

	for (size_t i = 0; i < n; i++, now++) {
		add(t, "%u %s", now->thread, state[now->state]);
		if (now->reason)
			add(t, " %s %" PRIu64, trc_reason_name(now->reason), now->object);
		add_time_of(t, "since", now->since_ns);
		if (now->holder)
			add(t, " of %u", now->holder);
		if (now->stack)
			add(t, " at %u", now->stack);
		add_time_of(t, "seen", now->stack_ns);
		if (now->n_open_regions)
			add(t, " in %u %s", now->n_open_regions, now->region);
		if (now->task)
			add(t, " task %" PRIu64, now->task);
		add(t, "\n");
	}
}

static void add_open_regions(struct text *t, const struct trc_model *m)
{
	size_t n;
	const struct trc_open_region *g = trc_model_open_regions(m, &n);

	for (size_t i = 0; i < n; i++, g++) {
		add(t, "%u: %u %s", g->thread, g->depth, g->type);
		add_time_of(t, "since", g->since_ns);
		add(t, "\n");
	}
}

static void add_deadlocks(struct text *t, const struct trc_model *m)
{
	size_t n;
	const struct trc_deadlock *d = trc_model_deadlocks(m, &n);

	for (size_t i = 0; i < n; i++, d++)
		add(t, "%s%u: %u -> %u %s %" PRIu64 "%s%s\n", d->in_cycle ? "" : "behind ",
		    d->deadlock, d->thread, d->holder, trc_reason_name(d->reason), d->object,
		    d->certain ? "" : ", perhaps", d->may_end ? ", may end" : "");
}

static void add_locks(struct text *t, const struct trc_model *m)
{
	size_t n;
	const struct trc_lock_held *h = trc_model_locks_held(m, &n);

	for (size_t i = 0; i < n; i++, h++) {
		add(t, "%u holds %s %" PRIu64, h->thread, trc_reason_name(h->reason), h->object);
		add_time_of(t, "since", h->since_ns);
		if (h->stack)
			add(t, " at %u", h->stack);
		if (h->waiters)
			add(t, " for %u", h->waiters);
		add(t, "\n");
	}
}

static const struct row {
	const char *what, *text, *expected;
} threads[] = {
	{"without a status table, an open park says that a thread waits, and nothing that it runs",
	 THREADS "stack s 0x10\nstack t 0x20\n"
		 "@100 thread=1 unlock reason=mutex object=7 stack=t\n"
		 "@200 thread=2 park reason=mutex object=5 holder=1 stack=s\n"
		 "@300 thread=3 park reason=cond object=6 stack=s\n"
		 "@400 thread=3 resume reason=cond object=6\n"
		 "@500 thread=4 thread_exit\n",
	 "1 unknown at 2 seen 100\n"
	 "2 waiting mutex 5 since 200 of 1 at 1 seen 200\n"
	 "3 unknown at 1 seen 300\n"},

	{"with one, who does not wait runs",
	 THREADS "stack s 0x10\n"
		 "@300 thread=3 park reason=cond object=6 stack=s\n"
		 "@400 thread=3 resume reason=cond object=6\n"
		 "status thread=1\nstatus thread=3\n",
	 "1 running\n2 unknown\n3 running at 1 seen 300\n4 unknown\n"},

	{"a wait that only the status table knows: the newest stack is from before it",
	 THREADS "stack s 0x10\n"
		 "@300 thread=3 unlock reason=mutex object=6 stack=s\n"
		 "status thread=3 reason=read object=4 since=350\n",
	 "1 unknown\n2 unknown\n3 waiting read 4 since 350 at 1 seen 300\n4 unknown\n"},

	{"a process that went on while it was looked at: the status table is newer than the events",
	 THREADS "@300 thread=3 park reason=cond object=6\nstatus thread=3\n",
	 "1 unknown\n2 unknown\n3 running\n4 unknown\n"},

	{"killed between the resume and the note of it: the events are newer",
	 THREADS "@300 thread=3 park reason=cond object=6\n"
		 "@400 thread=3 resume reason=cond object=6\n"
		 "status thread=3 reason=cond object=6 since=300\n",
	 "1 unknown\n2 unknown\n3 running\n4 unknown\n"},

	{"a time that cannot be is not believed: seconds after the end, or before the beginning",
	 THREADS "@300 thread=1 log\n"
		 "status thread=2 reason=read object=4 since=0xffffffffffff\n"
		 "status thread=3 reason=read object=4 since=0\n",
	 "1 unknown\n2 running\n3 waiting read 4 since 0\n4 unknown\n"},

	{"waits within a wait: the innermost counts",
	 THREADS "@300 thread=3 park reason=user object=6\n"
		 "@400 thread=3 park reason=mutex object=7\n",
	 "1 unknown\n2 unknown\n3 waiting mutex 7 since 400\n4 unknown\n"},

	{"open regions, from events; the task is that of the innermost that has one",
	 THREADS "@100 thread=2 region_begin task=9 type=\"outer\"\n"
		 "@200 thread=2 region_begin type=\"done\"\n@300 thread=2 region_end\n"
		 "@400 thread=2 region_begin type=\"inner\"\n"
		 "@500 thread=3 region_begin type=\"left\"\n@600 thread=3 thread_exit\n",
	 "1 unknown\n2 unknown in 2 inner task 9\n4 unknown\n"
	 "2: 0 outer since 100\n2: 1 inner since 400\n"},

	{"the file's own table of them goes before what events say",
	 THREADS "@1400 thread=2 region_begin type=\"inner\"\n"
		 "open_region thread=2 task=8 type=\"outer\" since=50\n"
		 "open_region thread=2 depth=1 type=\"inner\" since=1401\n"
		 "open_region thread=3 type=\"other\" since=60\n" WINDOW,
	 "1 unknown\n2 unknown in 2 inner task 8\n3 unknown in 1 other\n4 unknown\n"
	 "2: 0 outer since 50\n2: 1 inner since 1401\n3: 0 other since 60\n"},

	{"which tells of eight: what lies deeper is from events",
	 THREADS "@100 thread=2 region_begin type=\"a\"\n@101 thread=2 region_begin type=\"b\"\n"
		 "@102 thread=2 region_begin type=\"c\"\n@103 thread=2 region_begin type=\"d\"\n"
		 "@104 thread=2 region_begin type=\"e\"\n@105 thread=2 region_begin type=\"f\"\n"
		 "@106 thread=2 region_begin type=\"g\"\n@107 thread=2 region_begin type=\"h\"\n"
		 "@108 thread=2 region_begin type=\"i\"\n"
		 "open_region thread=2 type=\"a\" since=100\n"
		 "open_region thread=2 depth=1 type=\"b\" since=101\n"
		 "open_region thread=2 depth=2 type=\"c\" since=102\n"
		 "open_region thread=2 depth=3 type=\"d\" since=103\n"
		 "open_region thread=2 depth=4 type=\"e\" since=104\n"
		 "open_region thread=2 depth=5 type=\"f\" since=105\n"
		 "open_region thread=2 depth=6 type=\"g\" since=106\n"
		 "open_region thread=2 depth=7 type=\"h\" since=107\n",
	 "1 unknown\n2 unknown in 9 i\n3 unknown\n4 unknown\n"
	 "2: 0 a since 100\n2: 1 b since 101\n2: 2 c since 102\n2: 3 d since 103\n"
	 "2: 4 e since 104\n2: 5 f since 105\n2: 6 g since 106\n2: 7 h since 107\n"
	 "2: 8 i since 108\n"},
};

START_TEST(threads_at_the_end)
{
	const struct row *row = &threads[_i];
	struct trc_model *m = model_of(row->text, TRC_PART_NOW);
	struct text t = {.n = 0};

	add_threads(&t, m);
	add_open_regions(&t, m);
	ck_assert_msg(!strcmp(t.at, row->expected), "%s:\n%s", row->what, t.at);
	model_close(m);
}
END_TEST

#define TWO                                                                                        \
	"@100 thread=2 park reason=mutex object=10 holder=3\n"                                     \
	"@200 thread=3 park reason=mutex object=20 holder=2\n"
#define TWO_ROWS                                                                                   \
	"1: 2 -> 3 mutex 10\n"                                                                     \
	"1: 3 -> 2 mutex 20\n"
#define TWO_LOCKS "2 holds mutex 20 for 1\n3 holds mutex 10 for 1\n"

static const struct row deadlocks[] = {
	{"two threads, each with the lock that the other wants", THREADS TWO, TWO_ROWS TWO_LOCKS},

	{"three; the cycle is told in its order",
	 THREADS "@100 thread=2 park reason=mutex object=10 holder=4\n"
		 "@200 thread=3 park reason=spin object=20 holder=2\n"
		 "@300 thread=4 park reason=rwlock_read object=30 holder=3\n",
	 "1: 2 -> 4 mutex 10\n1: 4 -> 3 rwlock_read 30\n1: 3 -> 2 spin 20\n"
	 "2 holds spin 20 for 1\n3 holds rwlock_write 30 for 1\n4 holds mutex 10 for 1\n"},

	{"who had waited for a lock has it from there, if others have been waiting since before",
	 THREADS "stack s 0x10\nstack t 0x20\n"
		 "@100 thread=1 park reason=mutex object=20 holder=4 stack=t\n"
		 "@110 thread=2 park reason=mutex object=20 holder=4 stack=s\n"
		 "@150 thread=2 resume reason=mutex object=20\n"
		 "@160 thread=2 park reason=mutex object=10 holder=3\n"
		 "@170 thread=3 park reason=mutex object=20 holder=2\n",
	 TWO_ROWS "behind 1: 1 -> 2 mutex 20\n2 holds mutex 20 since 150 at 1 for 2\n"
		  "3 holds mutex 10 for 1\n"},

	{"... else it may have given the lock back, and taken it elsewhere, without an event",
	 THREADS "stack s 0x10\n"
		 "@110 thread=2 park reason=mutex object=20 holder=4 stack=s\n"
		 "@150 thread=2 resume reason=mutex object=20\n"
		 "@160 thread=2 park reason=mutex object=10 holder=3\n"
		 "@170 thread=3 park reason=mutex object=20 holder=2\n",
	 TWO_ROWS TWO_LOCKS},

	{"... or with one, before somebody found it locked again",
	 THREADS "stack s 0x10\nstack t 0x20\n"
		 "@100 thread=1 park reason=mutex object=20 holder=4 stack=t\n"
		 "@110 thread=2 park reason=mutex object=20 holder=4 stack=s\n"
		 "@150 thread=2 resume reason=mutex object=20\n"
		 "@155 thread=2 unlock reason=mutex object=20 stack=t waiters=1\n"
		 "@160 thread=2 park reason=mutex object=10 holder=3\n"
		 "@170 thread=3 park reason=mutex object=20 holder=2\n",
	 TWO_ROWS "behind 1: 1 -> 2 mutex 20\n2 holds mutex 20 for 2\n3 holds mutex 10 for 1\n"},

	{"... or while events were lost",
	 THREADS "stack s 0x10\nstack t 0x20\n"
		 "@100 thread=1 park reason=mutex object=20 holder=4 stack=t\n"
		 "@110 thread=2 park reason=mutex object=20 holder=4 stack=s\n"
		 "@150 thread=2 resume reason=mutex object=20\n@155 proc=3 gap lost_events=3 since=151 cause=ring_full\n"
		 "@160 thread=2 park reason=mutex object=10 holder=3\n"
		 "@170 thread=3 park reason=mutex object=20 holder=2\n",
	 TWO_ROWS "behind 1: 1 -> 2 mutex 20\n2 holds mutex 20 for 2\n3 holds mutex 10 for 1\n"},

	{"a mutex locked twice by one thread",
	 THREADS "@100 thread=2 park reason=mutex object=10 holder=2\n",
	 "1: 2 -> 2 mutex 10\n2 holds mutex 10 for 1\n"},

	{"a join of a thread that waits for a lock of the joiner's",
	 THREADS "@100 thread=3 park reason=mutex object=10 holder=1\n"
		 "@200 thread=1 park reason=join object=99 holder=3\n",
	 "1: 1 -> 3 join 99\n1: 3 -> 1 mutex 10\n1 holds mutex 10 for 1\n"},

	{"who queues behind a cycle is blocked by it, at any distance",
	 THREADS TWO "@300 thread=4 park reason=mutex object=10 holder=3\n"
		     "@400 thread=1 park reason=join object=99 holder=4\n",
	 TWO_ROWS "behind 1: 1 -> 4 join 99\nbehind 1: 4 -> 3 mutex 10\n"
		  "2 holds mutex 20 for 1\n3 holds mutex 10 for 2\n"},

	{"two deadlocks, in the order of their first threads",
	 THREADS TWO "@300 thread=1 park reason=mutex object=50 holder=4\n"
		     "@400 thread=4 park reason=mutex object=40 holder=1\n",
	 "1: 1 -> 4 mutex 50\n1: 4 -> 1 mutex 40\n2: 2 -> 3 mutex 10\n2: 3 -> 2 mutex 20\n"
	 "1 holds mutex 40 for 1\n2 holds mutex 20 for 1\n3 holds mutex 10 for 1\n"
	 "4 holds mutex 50 for 1\n"},

	{"one whose lock goes to another: the first deadlock is none, it waits for the second",
	 THREADS "@50 thread=1 park reason=mutex object=10 holder=4\n"
		 "@60 thread=4 park reason=mutex object=40 holder=1\n" TWO,
	 "1: 2 -> 3 mutex 10\n1: 3 -> 2 mutex 20\nbehind 1: 1 -> 3 mutex 10\n"
	 "behind 1: 4 -> 1 mutex 40\n"
	 "1 holds mutex 40 for 1\n2 holds mutex 20 for 1\n3 holds mutex 10 for 2\n"},

	{"a chain that ends at a thread that runs is none",
	 THREADS "@100 thread=2 park reason=mutex object=10 holder=3\n"
		 "@200 thread=3 park reason=mutex object=20 holder=4\nstatus thread=4\n"
		 "status thread=2 reason=mutex object=10 since=100\n"
		 "status thread=3 reason=mutex object=20 since=200\n",
	 "3 holds mutex 10 for 1\n4 holds mutex 20 for 1\n"},

	{"who held the lock when the wait began, but has let go since, is in no cycle",
	 THREADS "@100 thread=2 park reason=mutex object=10 holder=3\n"
		 "@150 thread=3 unlock reason=mutex object=10 waiters=1\n"
		 "@200 thread=3 park reason=mutex object=20 holder=2\n",
	 "2 holds mutex 20 for 1\n"},

	{"nor if the release, done before another's wait began, was recorded after it",
	 THREADS "@100 thread=2 park reason=mutex object=10 holder=3\n"
		 "@150 thread=3 unlock reason=mutex object=10 at=90\n"
		 "@200 thread=3 park reason=mutex object=20 holder=2\n",
	 "2 holds mutex 20 for 1\n"},

	{"a lock that changed hands: the newest word counts, a waiter's",
	 THREADS "@100 thread=2 park reason=mutex object=10 holder=3\n"
		 "@200 thread=3 park reason=mutex object=20 holder=2\n"
		 "@300 thread=1 park reason=mutex object=10 holder=4\n",
	 "2 holds mutex 20 for 1\n4 holds mutex 10 for 2\n"},

	{"or that of a thread whose wait for it ended",
	 THREADS "@100 thread=2 park reason=mutex object=10 holder=3\n"
		 "@110 thread=4 park reason=mutex object=10 holder=3\n"
		 "@150 thread=4 resume reason=mutex object=10\n"
		 "@200 thread=3 park reason=mutex object=20 holder=2\n",
	 "2 holds mutex 20 for 1\n4 holds mutex 10 for 1\n"},

	{"a wait that ended by a timeout took nothing",
	 THREADS "@100 thread=2 park reason=mutex object=10 holder=3\n"
		 "@110 thread=4 park reason=mutex object=10 holder=3\n"
		 "@150 thread=4 resume reason=mutex object=10 result=ETIMEDOUT\n"
		 "@200 thread=3 park reason=mutex object=20 holder=2\n",
	 TWO_ROWS TWO_LOCKS},

	{"a wait whose like at the same place timed out before may end by itself",
	 THREADS "stack s 0x10\n"
		 "@10 thread=2 park reason=mutex object=10 holder=3 stack=s\n"
		 "@90 thread=2 resume reason=mutex object=10 result=ETIMEDOUT\n"
		 "@100 thread=2 park reason=mutex object=10 holder=3 stack=s\n"
		 "@200 thread=3 park reason=mutex object=20 holder=2\n",
	 "1: 2 -> 3 mutex 10, may end\n1: 3 -> 2 mutex 20\n" TWO_LOCKS},

	{"the holder may only be known when the trace ends",
	 THREADS "@100 thread=2 park reason=mutex object=10\n"
		 "@200 thread=3 park reason=mutex object=20 holder=2\n"
		 "status thread=2 reason=mutex object=10 holder=3 since=99\n"
		 "status thread=3 reason=mutex object=20 holder=2 since=199\n",
	 TWO_ROWS TWO_LOCKS},

	{"with --locks=all, a writer waits for every reader inside; places are known",
	 THREADS "stack s 0x10\n"
		 "@10 thread=3 acquire reason=rwlock_read object=10 stack=s\n"
		 "@20 thread=4 acquire reason=rwlock_read object=10 stack=s\n"
		 "@30 thread=4 release reason=rwlock_read object=10\n"
		 "@40 thread=2 acquire reason=mutex object=20 stack=s\n"
		 "@50 thread=2 acquire reason=mutex object=20 stack=s\n"
		 "@60 thread=2 release reason=mutex object=20\n"
		 "@70 thread=1 acquire reason=mutex object=50 stack=s\n"
		 "@100 thread=2 park reason=rwlock_write object=10\n"
		 "@200 thread=3 park reason=mutex object=20 holder=2\n",
	 "1: 2 -> 3 rwlock_write 10\n1: 3 -> 2 mutex 20\n"
	 "1 holds mutex 50 since 70 at 1\n2 holds mutex 20 since 40 at 1 for 1\n"
	 "3 holds rwlock_read 10 since 10 at 1 for 1\n"},

	{"two writers wait for the same readers, of whom one waits for one of them: the other writer is blocked",
	 THREADS "@10 thread=3 acquire reason=rwlock_read object=10\n"
		 "@20 thread=4 acquire reason=rwlock_read object=10\n"
		 "@40 thread=2 acquire reason=mutex object=20\n"
		 "@100 thread=1 park reason=rwlock_write object=10\n"
		 "@110 thread=2 park reason=rwlock_write object=10\n"
		 "@200 thread=4 park reason=mutex object=20 holder=2\n"
		 "@300 thread=3 log message=\"end\"\n",
	 "1: 2 -> 4 rwlock_write 10\n1: 4 -> 2 mutex 20\nbehind 1: 1 -> 4 rwlock_write 10\n"
	 "2 holds mutex 20 since 40 for 1\n3 holds rwlock_read 10 since 10 for 2\n"
	 "4 holds rwlock_read 10 since 20 for 2\n"},

	{"a reader that wants to write waits for itself",
	 THREADS "@10 thread=3 acquire reason=rwlock_read object=10\n"
		 "@20 thread=3 park reason=rwlock_write object=10\n",
	 "1: 3 -> 3 rwlock_write 10\n3 holds rwlock_read 10 since 10 for 1\n"},

	{"with --locks=all, a release that nobody waited for counts as well",
	 THREADS "@10 thread=3 acquire reason=spin object=10\n"
		 "@20 thread=3 release reason=spin object=10\n"
		 "@100 thread=2 park reason=spin object=10\n"
		 "@200 thread=3 park reason=mutex object=20 holder=2\n",
	 "2 holds mutex 20 for 1\n"},

	{"a deadlock from before the window: nobody can have let go of what was asked for last",
	 THREADS WINDOW "status thread=2 reason=mutex object=10 holder=3 since=100\n"
			"status thread=3 reason=mutex object=20 holder=2 since=200\n",
	 "1: 2 -> 3 mutex 10, perhaps\n1: 3 -> 2 mutex 20\n" TWO_LOCKS},

	{"the same within the window is certain",
	 THREADS WINDOW "status thread=2 reason=mutex object=10 holder=3 since=1100\n"
			"status thread=3 reason=mutex object=20 holder=2 since=1200\n",
	 TWO_ROWS TWO_LOCKS},

	{"but not if events were lost in between",
	 THREADS WINDOW "@1150 thread=0 gap lost_events=3 since=1120 cause=ring_full\n"
			"status thread=2 reason=mutex object=10 holder=3 since=1100\n"
			"status thread=3 reason=mutex object=20 holder=2 since=1200\n",
	 "1: 2 -> 3 mutex 10, perhaps\n1: 3 -> 2 mutex 20\n" TWO_LOCKS},

	{"a wait that began after the window is no part of it: the other may have gone on by then",
	 THREADS WINDOW "status thread=2 reason=mutex object=10 holder=3 since=1100\n"
			"status thread=3 reason=mutex object=20 holder=2 since=9500\n",
	 "2 holds mutex 20\n3 holds mutex 10 for 1\n"},

	{"nor one that the status table says has ended",
	 THREADS WINDOW
	 "@1100 thread=2 park reason=mutex object=10 holder=3\n"
	 "@1200 thread=3 park reason=mutex object=20 holder=2\n"
	 "status thread=2\nstatus thread=3 reason=mutex object=20 holder=2 since=1199\n",
	 "2 holds mutex 20 for 1\n"},

	{"in a file that was cut off nothing is certain", THREADS TWO "unfinished\n",
	 "1: 2 -> 3 mutex 10, perhaps\n1: 3 -> 2 mutex 20, perhaps\n" TWO_LOCKS},

	{"a thread that has ended is in no cycle", THREADS TWO "thread 3 tid=103 end=300\n",
	 "3 holds mutex 10\n"},
};

START_TEST(deadlocks_at_the_end)
{
	const struct row *row = &deadlocks[_i];
	struct trc_model *m = model_of(row->text, TRC_PART_NOW);
	struct text t = {.n = 0};

	add_deadlocks(&t, m);
	add_locks(&t, m);
	ck_assert_msg(!strcmp(t.at, row->expected), "%s:\n%s", row->what, t.at);
	model_close(m);
}
END_TEST

/* A thousand in one circle, and as many behind them. */
START_TEST(a_large_circle)
{
	static char text[1 << 18];
	size_t n = 0, n_rows;
	const struct trc_deadlock *d;
	struct trc_model *m;

	for (unsigned int i = 1; i <= 1000; i++)
		n += (size_t)sprintf(text + n,
				     "@%u thread=%u park reason=mutex object=%u holder=%u\n", i, i,
				     i % 1000 + 1, i % 1000 + 1);
	for (unsigned int i = 1001; i <= 2000; i++)
		n += (size_t)sprintf(text + n,
				     "@%u thread=%u park reason=join object=9 holder=%u\n", i, i,
				     i - 1);
	m = model_of(text, TRC_PART_NOW);
	d = trc_model_deadlocks(m, &n_rows);
	ck_assert_uint_eq(n_rows, 2000);
	for (uint32_t i = 0; i < n_rows; i++) {
		ck_assert_uint_eq(d[i].deadlock, 1);
		ck_assert_uint_eq(d[i].thread, i + 1);
		ck_assert_int_eq(d[i].in_cycle, i < 1000);
		ck_assert_uint_eq(d[i].holder, i == 999 ? 1 : i < 999 ? i + 2 : i);
	}
	model_close(m);
}
END_TEST

/* --- the window --- */

START_TEST(the_trace_begins_with_its_window)
{
	struct trc_model *m = model_of(THREADS "@2000 proc=1 thread=2 thread_exit\n" WINDOW, 0);
	const struct trc_coverage *c;
	size_t n;

	ck_assert_int_eq(trc_model_start_ns(m), 1000);
	ck_assert_int_eq(trc_model_window_ns(m), 1000);
	ck_assert_int_eq(trc_model_end_ns(m), 9000);
	c = trc_model_coverage(m, &n);
	ck_assert_uint_eq(n, 2);
	ck_assert_int_eq(c[0].held_ns, 900);
	ck_assert_int_eq(c[1].held_ns, TRC_NEVER);
	model_close(m);
	/* With what was held before it. */
	m = model_of(THREADS "@950 proc=0 thread=2 thread_exit\n" WINDOW, 0);
	ck_assert_int_eq(trc_model_start_ns(m), 950);
	ck_assert_int_eq(trc_model_window_ns(m), 1000);
	model_close(m);
	m = model_of(THREADS "@950 proc=0 thread=2 thread_exit\n", 0);
	ck_assert_int_eq(trc_model_start_ns(m), 0);
	ck_assert_int_eq(trc_model_window_ns(m), TRC_NEVER);
	model_close(m);
}
END_TEST

START_TEST(a_recording_lasts_until_its_last_sync_point)
{
	struct trc_model *m = model_of("sync ticks=0\n@500 thread=1 park reason=cond object=3\n"
				       "sync ticks=8000\n",
				       TRC_PART_WAITS);

	ck_assert_int_eq(trc_model_end_ns(m), 8000);
	ck_assert_int_eq(trc_model_thread(m, 1)->parked_ns, 7500);
	model_close(m);
}
END_TEST

static const struct cut {
	const char *what, *text;
	int64_t start_ns, end_ns; /* of the one park; 0 = there is none */
	unsigned int flags;
	int64_t parked_ns;
} cuts[] = {
	{"a resume without a park: the wait began before the window, and lasted at least since "
	 "then",
	 THREADS WINDOW "@1500 thread=2 resume reason=mutex object=5\n", 1000, 1500, TRC_PARK_CUT,
	 500},
	{"not if the thread did something in the window before",
	 THREADS WINDOW "@1200 thread=2 unlock reason=mutex object=6\n"
			"@1500 thread=2 resume reason=mutex object=5\n",
	 0, 0, 0, 0},
	{"nor if it began in the window",
	 "thread 2 tid=102 start=1100\n" WINDOW "@1500 thread=2 resume reason=mutex object=5\n", 0,
	 0, 0, 0},
	{"nor in a recording, which has everything",
	 THREADS "@1500 thread=2 resume reason=mutex object=5\n", 0, 0, 0, 0},
	{"a wait whose beginning is told counts in the window only as far as it lies there",
	 THREADS WINDOW "@1500 thread=2 wait reason=read object=5 since=200\n", 200, 1500, 0, 500},
	{"likewise one in progress",
	 THREADS WINDOW "status thread=2 reason=read object=5 since=200\n", 200, TRC_NEVER,
	 TRC_PARK_OPEN, 8000},
	{"with what was held before the window: what happened in between may be missing",
	 THREADS WINDOW "@950 thread=2 unlock reason=mutex object=6\n"
			"@1500 thread=2 resume reason=mutex object=5\n",
	 1000, 1500, TRC_PARK_CUT, 500},
};

START_TEST(waits_at_the_edge)
{
	const struct cut *cut = &cuts[_i];
	struct trc_model *m = model_of(cut->text, TRC_PART_WAITS);
	size_t n;
	const struct trc_park *park = trc_model_parks(m, &n);

	ck_assert_msg(n == (cut->start_ns != 0), "%s: %zu", cut->what, n);
	if (n) {
		ck_assert_msg(park->start_ns == cut->start_ns, "%s: %" PRId64, cut->what,
			      park->start_ns);
		ck_assert_msg(park->end_ns == cut->end_ns, "%s: %" PRId64, cut->what, park->end_ns);
		ck_assert_msg(park->flags == cut->flags, "%s: %u", cut->what, park->flags);
	}
	ck_assert_msg(trc_model_thread(m, 2)->parked_ns == cut->parked_ns, "%s: %" PRId64,
		      cut->what, trc_model_thread(m, 2)->parked_ns);
	model_close(m);
}
END_TEST

START_TEST(an_unlock_is_charged_what_lies_in_the_window)
{
	struct trc_model *m =
		model_of(THREADS WINDOW "@1400 thread=1 unlock reason=mutex object=5 waiters=1\n"
					"@1500 thread=2 resume reason=mutex object=5\n",
			 TRC_PART_WAITS);
	size_t n;
	const struct trc_unlock *unlock = trc_model_unlocks(m, &n);

	ck_assert_uint_eq(n, 1);
	ck_assert_int_eq(unlock->caused_ns, 400);
	ck_assert_uint_eq(park_of(m, 2, 1000)->waker, 1);
	ck_assert_int_eq(park_of(m, 2, 1000)->wake_ns, 1400);
	model_close(m);
}
END_TEST

START_TEST(regions_from_before_the_window)
{
	struct trc_model *m =
		model_of(THREADS WINDOW
			 "@1100 thread=2 region_end\n" /* inside "outer" */
			 "@1200 thread=2 region_begin type=\"whole\"\n@1300 thread=2 region_end\n"
			 "@1400 thread=2 region_begin type=\"inner\"\n"
			 "open_region thread=2 task=8 type=\"outer\" since=50\n"
			 "open_region thread=2 depth=1 type=\"inner\" since=1401\n"
			 "open_region thread=3 type=\"after\" since=9999\n",
			 TRC_PART_USER);
	static const struct trc_region expected[] = {
		{.type = "", .depth = 1, .start_ns = TRC_NEVER, .end_ns = 1100},
		{.type = "outer", .depth = 0, .start_ns = 50, .end_ns = TRC_NEVER, .task = 8},
		{.type = "whole", .depth = 1, .start_ns = 1200, .end_ns = 1300},
		{.type = "inner", .depth = 1, .start_ns = 1400, .end_ns = TRC_NEVER},
	};
	size_t n;
	const struct trc_region *g = trc_model_regions(m, &n);

	ck_assert_uint_eq(n, 4);
	for (size_t i = 0; i < 4; i++) {
		ck_assert_str_eq(g[i].type, expected[i].type);
		ck_assert_uint_eq(g[i].depth, expected[i].depth);
		ck_assert_int_eq(g[i].start_ns, expected[i].start_ns);
		ck_assert_int_eq(g[i].end_ns, expected[i].end_ns);
		ck_assert_uint_eq(g[i].task, expected[i].task);
	}
	model_close(m);
}
END_TEST

/* Everything that was held: proc 0 from 100 on, proc 1 from 1000; what a thread did on proc 1
 * between is missing. */
#define HELD                                                                                       \
	THREADS "coverage proc=0 held=100 from=1000 to=9000\n"                                     \
		"coverage proc=1 held=1000 from=1000 to=9000\n"

static const struct held {
	const char *what, *text;
	int64_t start_ns, end_ns;
	unsigned int flags;
} helds[] = {
	{"a wait whose end is in the window has lasted since the window began, if not longer",
	 HELD "@200 thread=2 park reason=cond object=5\n"
	      "@1500 proc=1 thread=2 resume reason=cond object=5\n",
	 1000, 1500, TRC_PARK_CUT},
	{"before the window, a resume may be that of another wait",
	 HELD
	 "@200 thread=2 park reason=cond object=5\n@700 thread=2 resume reason=cond object=5\n",
	 200, 200, TRC_PARK_ABANDONED},
	{"and what shows that it has ended says nothing of when",
	 HELD "@200 thread=2 park reason=cond object=5\n@1700 thread=2 thread_exit\n", 200, 200,
	 TRC_PARK_ABANDONED},
	{"one that was recorded as a whole is what it is",
	 HELD "@700 thread=2 wait reason=read object=5 since=200\n", 200, 700, 0},
	{"what nothing follows may have ended, unless the status table says that it did not",
	 HELD "@200 thread=2 park reason=cond object=5\nstatus thread=2\n", 200, 200,
	 TRC_PARK_ABANDONED},
	{"which may tell of a later wait for the same",
	 HELD "@200 thread=2 park reason=cond object=5\n"
	      "status thread=2 reason=cond object=5 since=800\n",
	 800, TRC_NEVER, TRC_PARK_OPEN},
	{"or of this one",
	 HELD "@200 thread=2 park reason=cond object=5\n"
	      "status thread=2 reason=cond object=5 since=199\n",
	 200, TRC_NEVER, TRC_PARK_OPEN},
};

START_TEST(waits_before_the_window)
{
	const struct held *held = &helds[_i];
	struct trc_model *m = model_of(held->text, TRC_PART_WAITS);
	size_t n;
	const struct trc_park *park = trc_model_parks(m, &n);

	ck_assert_msg(n == 1, "%s: %zu", held->what, n);
	ck_assert_msg(park->start_ns == held->start_ns && park->end_ns == held->end_ns,
		      "%s: %" PRId64 " to %" PRId64, held->what, park->start_ns, park->end_ns);
	ck_assert_msg(park->flags == held->flags, "%s: %u", held->what, park->flags);
	model_close(m);
}
END_TEST

START_TEST(regions_before_the_window)
{
	struct trc_model *m = model_of(
		HELD
		"@150 thread=2 region_end\n"
		"@200 thread=2 region_begin type=\"perhaps this one\"\n@300 thread=2 region_end\n"
		"@450 thread=3 region_begin type=\"its end may be missing\"\n"
		"@1100 thread=2 region_begin type=\"inner\"\n@1200 thread=2 region_end\n"
		"@1300 thread=2 region_end\n"
		"open_region thread=3 type=\"open\" since=500\n",
		TRC_PART_USER);
	static const struct trc_region expected[] = {
		{.thread = 2, .type = "", .depth = 0, .start_ns = TRC_NEVER, .end_ns = 1300},
		{.thread = 3, .type = "open", .depth = 0, .start_ns = 500, .end_ns = TRC_NEVER},
		{.thread = 2, .type = "inner", .depth = 1, .start_ns = 1100, .end_ns = 1200},
	};
	size_t n;
	const struct trc_region *g = trc_model_regions(m, &n);

	ck_assert_uint_eq(n, 3);
	for (size_t i = 0; i < n; i++) {
		ck_assert_uint_eq(g[i].thread, expected[i].thread);
		ck_assert_str_eq(g[i].type, expected[i].type);
		ck_assert_uint_eq(g[i].depth, expected[i].depth);
		ck_assert_int_eq(g[i].start_ns, expected[i].start_ns);
		ck_assert_int_eq(g[i].end_ns, expected[i].end_ns);
	}
	model_close(m);
}
END_TEST

START_TEST(time_on_a_proc_is_cut_at_what_the_kernel_told)
{
	struct trc_model *m = model_of(THREADS WINDOW
				       "coverage source=kernel proc=1 held=1200 from=1200 to=9000\n"
				       "@1500 proc=1 thread=2 source=kernel proc_stop\n"
				       "@1600 proc=0 thread=3 source=kernel proc_stop\n"
				       "@8000 proc=0 thread=3 source=kernel proc_start\n",
				       TRC_PART_SCHED);

	ck_assert_int_eq(trc_model_window_ns(m), 1000);
	ck_assert_int_eq(trc_model_thread(m, 2)->on_cpu_ns, 300);
	ck_assert_int_eq(trc_model_thread(m, 3)->on_cpu_ns, 600 + 1000);
	model_close(m);
}
END_TEST

START_TEST(signals_and_triggers)
{
	struct trc_model *m = model_of(
		THREADS "stack s 0x10\n"
			"@100 thread=2 signal signal=11 code=1 address=0x40 fatal=1 stack=s\n"
			"@200 thread=3 trigger condition=\"park>100ms: mutex 0x10, 132 ms\"\n",
		TRC_PART_NOW);
	size_t n;
	const struct trc_signal *s = trc_model_signals(m, &n);
	const struct trc_trigger *t;

	ck_assert_uint_eq(n, 1);
	ck_assert_uint_eq(s->thread, 2);
	ck_assert_uint_eq(s->signal, 11);
	ck_assert_int_eq(s->code, 1);
	ck_assert_uint_eq(s->address, 0x40);
	ck_assert(s->fatal);
	ck_assert_uint_eq(s->stack, 1);
	t = trc_model_triggers(m, &n);
	ck_assert_uint_eq(n, 1);
	ck_assert_int_eq(t->ts_ns, 200);
	ck_assert_str_eq(t->condition, "park>100ms: mutex 0x10, 132 ms");
	model_close(m);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("now");
	TCase *t = tcase_create("now");

	tcase_add_loop_test(t, threads_at_the_end, 0, sizeof(threads) / sizeof(threads[0]));
	tcase_add_loop_test(t, deadlocks_at_the_end, 0, sizeof(deadlocks) / sizeof(deadlocks[0]));
	tcase_add_test(t, a_large_circle);
	tcase_add_test(t, the_trace_begins_with_its_window);
	tcase_add_test(t, a_recording_lasts_until_its_last_sync_point);
	tcase_add_loop_test(t, waits_at_the_edge, 0, sizeof(cuts) / sizeof(cuts[0]));
	tcase_add_test(t, an_unlock_is_charged_what_lies_in_the_window);
	tcase_add_test(t, regions_from_before_the_window);
	tcase_add_loop_test(t, waits_before_the_window, 0, sizeof(helds) / sizeof(helds[0]));
	tcase_add_test(t, regions_before_the_window);
	tcase_add_test(t, time_on_a_proc_is_cut_at_what_the_kernel_told);
	tcase_add_test(t, signals_and_triggers);
	suite_add_tcase(s, t);
	return suite_run(s);
}
