/*
 * model_lock_order_test.c - in which order threads take locks, and what could be a deadlock.
 *
 * Each row is a trace and the edges that must come of it: "HELD>TAKEN xTIMES", with "!N" if the edge is
 * in the circle N.
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
	"thread 3 tid=103 creator=1\n"
#define TAKE(at, thread, lock)                                                                     \
	"@" at " thread=" thread " acquire reason=mutex object=" lock "\n"
#define TRY(at, thread, lock)                                                                      \
	"@" at " thread=" thread " acquire reason=mutex object=" lock " tried=1\n"
#define GIVE(at, thread, lock)                                                                     \
	"@" at " thread=" thread " release reason=mutex object=" lock "\n"
#define JOIN(at, thread, other)                                                                    \
	"@" at " thread=" thread " park reason=join object=1000 holder=" other "\n"                 \
	"@" at " thread=" thread " resume reason=join object=1000\n"
#define COME(at, thread, barrier)                                                                  \
	"@" at " thread=" thread " park reason=barrier object=" barrier "\n"
#define LAST(at, thread, barrier)                                                                  \
	"@" at " thread=" thread " unpark reason=barrier object=" barrier " count=~0\n"
#define ALLOC(at, address, n) "@" at " thread=1 alloc sample=1 address=" address " bytes=" n " period=1\n"
#define FREE(at, address, n)  "@" at " thread=1 free sample=1 address=" address " bytes=" n " period=1\n"
/* One inside of the other: times t0 to t3. */
#define NEST(t, thread, outer, inner)                                                              \
	TAKE(t "0", thread, outer) TAKE(t "1", thread, inner) GIVE(t "2", thread, inner)           \
		GIVE(t "3", thread, outer)

static const struct {
	const char *what, *trace, *edges;
} ORDERS[] = {
	{"a lock inside of another", THREADS NEST("1", "1", "16", "32"), "16>32 x1\n"},
	{"one after the other is no order",
	 THREADS TAKE("1", "1", "16") GIVE("2", "1", "16") TAKE("3", "1", "32")
		 GIVE("4", "1", "32"),
	 ""},
	{"both orders, in two threads", THREADS NEST("1", "1", "16", "32") NEST("2", "2", "32", "16"),
	 "16>32 x1 !1\n32>16 x1 !1\n"},
	{"... but not if the memory of one was given back in between",
	 THREADS NEST("1", "1", "16", "32") FREE("15", "30", "4") NEST("2", "2", "32", "16"),
	 "16>32 x1\n32>16 x1\n"},
	{"... or allocated, as not all is sampled",
	 THREADS NEST("1", "1", "16", "32") ALLOC("15", "0", "17") NEST("2", "2", "32", "16"),
	 "16>32 x1\n32>16 x1\n"},
	{"memory beside them is none of theirs",
	 THREADS NEST("1", "1", "16", "32") FREE("15", "17", "15") ALLOC("15", "0", "16")
		 FREE("15", "33", "0xffffffffffffff00") FREE("15", "16", "0") NEST("2", "2", "32", "16"),
	 "16>32 x1 !1\n32>16 x1 !1\n"},
	{"who takes a lock that was made anew takes another one",
	 THREADS NEST("1", "1", "16", "32") FREE("15", "16", "1") NEST("2", "1", "16", "32"),
	 "16>32 x1\n16>32 x1\n"},
	{"who waits for the end of a thread waits for what that takes",
	 THREADS TAKE("10", "2", "16") GIVE("11", "2", "16") TAKE("20", "1", "16") JOIN("21", "1", "2")
		 GIVE("30", "1", "16"),
	 "1000>16 x1 !1\n16>1000 x1 !1\n"},
	{"... through another lock, too",
	 THREADS TAKE("10", "2", "16") GIVE("11", "2", "16") NEST("2", "3", "16", "32")
		 TAKE("30", "1", "32") JOIN("31", "1", "2"),
	 "1000>16 x1 !1\n16>32 x1 !1\n32>1000 x1 !1\n"},
	{"... but not if it holds nothing meanwhile, or that takes something else, or only tries",
	 THREADS TAKE("10", "2", "16") GIVE("11", "2", "16") TAKE("12", "2", "48") GIVE("13", "2", "48")
		 TRY("14", "2", "32") GIVE("15", "2", "32") TAKE("20", "1", "16") GIVE("21", "1", "16")
		 JOIN("22", "1", "2") TAKE("30", "1", "32") JOIN("31", "1", "2"),
	 "32>1000 x1\n"},
	{"... nor for the end of another one that has the same handle",
	 THREADS TAKE("10", "2", "16") GIVE("11", "2", "16") TAKE("20", "1", "16") JOIN("21", "1", "3"),
	 "16>1000 x1\n"},
	{"who waits at a barrier waits for what those take who have to come",
	 THREADS TAKE("10", "2", "16") GIVE("11", "2", "16") COME("12", "2", "64")
		 TAKE("20", "1", "16") LAST("21", "1", "64") GIVE("22", "1", "16"),
	 "64>16 x2 !1\n16>64 x1 !1\n"},
	{"... but not for what they took after they came there last",
	 THREADS COME("10", "2", "64") TAKE("20", "1", "16") LAST("21", "1", "64") GIVE("22", "1", "16")
		 TAKE("30", "2", "16") GIVE("31", "2", "16"),
	 "64>16 x1\n16>64 x1\n"},
	{"... nor for who never comes there",
	 THREADS TAKE("10", "3", "16") GIVE("11", "3", "16") COME("12", "2", "64") TAKE("20", "1", "16")
		 LAST("21", "1", "64"),
	 "64>16 x1\n16>64 x1\n"},
	{"... and each by itself may hold its lock there",
	 THREADS TAKE("10", "2", "16") COME("11", "2", "64") TAKE("12", "1", "32") LAST("13", "1", "64"),
	 "64>16 x1\n16>64 x1\n64>32 x1\n32>64 x1\n"},
	{"in one thread no deadlock",
	 THREADS NEST("1", "1", "16", "32") NEST("2", "1", "32", "16"), "16>32 x1\n32>16 x1\n"},
	{"a lock that is only tried has no edge, and guards those inside of it",
	 THREADS NEST("1", "1", "16", "32") TAKE("20", "2", "32") TRY("21", "2", "16")
		 TAKE("22", "2", "48"),
	 "16>32 x1\n32>48 x1\n16>48 x1\n"},
	{"a gate keeps one of them out",
	 THREADS TAKE("10", "1", "8") NEST("2", "1", "16", "32") GIVE("30", "1", "8")
		 TAKE("40", "2", "8") NEST("5", "2", "32", "16"),
	 "8>16 x2\n8>32 x2\n16>32 x1\n32>16 x1\n"},
	{"a gate that was not always there is none",
	 THREADS TAKE("10", "1", "8") NEST("2", "1", "16", "32") GIVE("30", "1", "8")
		 NEST("4", "2", "32", "16") TAKE("50", "2", "8") NEST("6", "2", "32", "16"),
	 "8>16 x2\n8>32 x2\n16>32 x1 !1\n32>16 x2 !1\n"},
	{"three threads in a circle",
	 THREADS NEST("1", "1", "16", "32") NEST("2", "2", "32", "48") NEST("3", "3", "48", "16"),
	 "16>32 x1 !1\n32>48 x1 !1\n48>16 x1 !1\n"},
	{"before the other thread began",
	 "thread 1 tid=101 name=\"main\"\nthread 2 tid=102 creator=1\n" NEST("1", "1", "16", "32")
		 "@20 thread=2 thread_start tid=102 creator=1\n" NEST("3", "2", "32", "16"),
	 "16>32 x1\n32>16 x1\n"},
	{"earlier by chance is not before: the other thread was there already, or somebody else's",
	 "thread 1 tid=101 name=\"main\"\nthread 2 tid=102 creator=1\nthread 3 tid=103 creator=1\n"
	 "@5 thread=2 thread_start tid=102 creator=1\n" NEST("1", "2", "16", "32")
		 "@20 thread=3 thread_start tid=103 creator=1\n" NEST("3", "3", "32", "16"),
	 "16>32 x1 !1\n32>16 x1 !1\n"},
	{"after the end of a thread that one's own thread created",
	 "thread 1 tid=101 name=\"main\"\nthread 2 tid=102 creator=1\n"
	 "@5 thread=2 thread_start tid=102 creator=1\n" NEST("1", "2", "16", "32")
		 "@20 thread=2 thread_exit\n" NEST("3", "1", "32", "16"),
	 "16>32 x1\n32>16 x1\n"},
	{"a child of a child comes after what was before its parent",
	 "thread 1 tid=101 name=\"main\"\nthread 2 tid=102 creator=1\nthread 3 tid=103 creator=2\n" NEST(
		 "1", "1", "16", "32") "@20 thread=2 thread_start tid=102 creator=1\n"
				       "@25 thread=3 thread_start tid=103 creator=2\n" NEST(
					       "3", "3", "32", "16"),
	 "16>32 x1\n32>16 x1\n"},
	{"read-write locks: who reads does not keep readers out",
	 THREADS "@10 thread=1 acquire reason=rwlock_read object=16\n"
		 "@11 thread=1 acquire reason=rwlock_read object=32\n"
		 "@20 thread=2 acquire reason=rwlock_read object=32\n"
		 "@21 thread=2 acquire reason=rwlock_write object=16\n",
	 "16>32 x1\n32>16 x1\n"},
	{"... who writes does",
	 THREADS "@10 thread=1 acquire reason=rwlock_read object=16\n"
		 "@11 thread=1 acquire reason=rwlock_write object=32\n"
		 "@20 thread=2 acquire reason=rwlock_read object=32\n"
		 "@21 thread=2 acquire reason=rwlock_write object=16\n",
	 "16>32 x1 !1\n32>16 x1 !1\n"},
	{"a recursive lock that is taken again is no order",
	 THREADS TAKE("10", "1", "16") NEST("2", "1", "32", "16") GIVE("30", "1", "16"),
	 "16>32 x1\n"},
	{"after a loss of events nobody knows what is held",
	 THREADS TAKE("10", "1", "16") "@20 thread=0 gap lost_events=5 since=11 cause=ring_full\n" TAKE(
		 "30", "1", "32"),
	 ""},
	{"nor after a thread's end",
	 THREADS TAKE("10", "1", "16") "@20 thread=1 thread_exit\n" TAKE("30", "1", "32"), ""},
	{"a release without an acquisition is nothing",
	 THREADS GIVE("10", "1", "16") TAKE("20", "1", "32"), ""},
};

static void add_edges(struct text *t, const struct trc_model *m)
{
	size_t n;
	const struct trc_lock_edge *edge = trc_model_lock_edges(m, &n);

	for (size_t i = 0; i < n; i++) {
		add(t, "%" PRIu64 ">%" PRIu64 " x%" PRIu64, edge[i].held, edge[i].taken,
		    edge[i].count);
		if (edge[i].deadlock)
			add(t, " !%u", edge[i].deadlock);
		add(t, "\n");
	}
}

START_TEST(edges_and_circles)
{
	struct trc_model *m = model_of(ORDERS[_i].trace, TRC_PART_LOCK_ORDER);
	struct text t = {.n = 0};

	add_edges(&t, m);
	ck_assert_msg(!strcmp(t.at, ORDERS[_i].edges), "%s: got\n%sinstead of\n%s", ORDERS[_i].what,
		      t.at, ORDERS[_i].edges);
	model_close(m);
}
END_TEST

/* A hundred locks, each inside of each other by some thread: many circles, of which each edge is in at
 * most one. */
START_TEST(many_circles)
{
	enum { LOCKS = 100, EDGES = LOCKS * (LOCKS - 1) };
	static char trace[EDGES * 300];
	size_t n = (size_t)sprintf(trace, THREADS), n_edges;
	struct trc_model *m;
	const struct trc_lock_edge *edge;
	uint32_t seen[EDGES + 1] = {0};

	for (int i = 0; i < EDGES; i++) {
		int held = 1 + i / (LOCKS - 1), taken = 1 + i % (LOCKS - 1);

		taken += taken >= held;
		n += (size_t)sprintf(trace + n,
				     "@%d thread=%d acquire reason=mutex object=%d\n"
				     "@%d thread=%d acquire reason=mutex object=%d\n"
				     "@%d thread=%d release reason=mutex object=%d\n"
				     "@%d thread=%d release reason=mutex object=%d\n",
				     10 * i + 1, 1 + i % 3, held, 10 * i + 2, 1 + i % 3, taken,
				     10 * i + 3, 1 + i % 3, taken, 10 * i + 4, 1 + i % 3, held);
	}
	m = model_of(trace, TRC_PART_LOCK_ORDER);
	edge = trc_model_lock_edges(m, &n_edges);
	ck_assert_uint_eq(n_edges, EDGES);
	for (size_t i = 0; i < n_edges; i++) {
		ck_assert_uint_le(edge[i].deadlock, EDGES / 2);
		seen[edge[i].deadlock]++;
	}
	ck_assert_uint_ge(seen[1], 2);
	for (size_t i = 1; i <= EDGES; i++)
		ck_assert_uint_ne(seen[i], 1);
	model_close(m);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("lock order");
	TCase *tcase = tcase_create("lock order");

	tcase_add_loop_test(tcase, edges_and_circles, 0, sizeof(ORDERS) / sizeof(ORDERS[0]));
	tcase_add_test(tcase, many_circles);
	suite_add_tcase(suite, tcase);
	return suite_run(suite);
}
