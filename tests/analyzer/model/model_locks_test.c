/*
 * model_locks_test.c - when locks were held, what of that their holders had no proc, convoys, and how long
 * threads that could run waited for a proc.
 *
 * Each row is a trace and what must come of it, in words.
 */
#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "analyzer/model/array.h"
#include "analyzer/model/lock_sums.h"
#include "model_fixture.h"
#include "tests/suite.h"

#define THREADS                                                                                    \
	"thread 1 tid=101 name=\"main\"\n"                                                         \
	"thread 2 tid=102 creator=1\n"                                                             \
	"thread 3 tid=103 creator=1\n"                                                             \
	"thread 4 tid=104 creator=1\n"
#define TAKE(at, thread, lock)                                                                     \
	"@" at " thread=" thread " acquire reason=mutex object=" lock "\n"
#define GIVE(at, thread, lock)                                                                     \
	"@" at " thread=" thread " release reason=mutex object=" lock "\n"
#define PARK(at, thread, lock)                                                                     \
	"@" at " thread=" thread " park reason=mutex object=" lock "\n"
#define RESUME(at, thread, lock)                                                                   \
	"@" at " thread=" thread " resume reason=mutex object=" lock "\n"
#define UNLOCK(at, thread, lock, held)                                                             \
	"@" at " thread=" thread " unlock reason=mutex object=" lock " waiters=1 held=" held "\n"
#define FUTEX(at, thread, what) "@" at " thread=" thread " " what " reason=futex object=16"
#define SEM(at, thread, what) "@" at " thread=" thread " " what " reason=sem object=16"
#define WAIT(at, thread) FUTEX(at, thread, "park") "\n"
#define WOKEN(at, thread) FUTEX(at, thread, "resume") "\n"
#define WAKE(at, thread, count) FUTEX(at, thread, "unpark") " count=" count "\n"
/* From hand to hand: each time one waits, and another one has just begun to. */
#define HAND(of, at, from, woken, to, again, count)                                                \
	of(at, from, "unpark") " count=" count "\n" of(woken, to, "resume") "\n" of(again, from, "park") "\n"
#define HANDED_OF(of, count)                                                                       \
	THREADS of("100", "2", "park") "\n" of("110", "3", "park") "\n"                            \
		HAND(of, "200", "1", "205", "2", "210", count)                                     \
		HAND(of, "300", "2", "305", "3", "310", count)                                     \
		HAND(of, "400", "3", "405", "1", "410", count)                                     \
		HAND(of, "500", "1", "505", "2", "510", count)                                     \
		of("600", "2", "unpark") " count=" count "\n" of("605", "3", "resume") "\n"
#define HANDED(count) HANDED_OF(FUTEX, count)
/* Each of two threads wakes the other and waits, before the other runs. */
#define TURN(at, from, again, woken, to)                                                           \
	WAKE(at, from, "1") WAIT(again, from) WOKEN(woken, to)
#define TURNS                                                                                      \
	THREADS WAIT("100", "2")                                                                   \
	TURN("200", "1", "205", "210", "2") TURN("300", "2", "305", "310", "1")                    \
		TURN("400", "1", "405", "410", "2") TURN("500", "2", "505", "510", "1")            \
			TURN("600", "1", "605", "610", "2") TURN("700", "2", "705", "710", "1")    \
				TURN("800", "1", "805", "810", "2")
/* All wait for thread 1 to open the gate; who passes opens it for the next. */
#define GATE(ms)                                                                                   \
	SEM(ms "000100", "2", "park") "\n" SEM(ms "000110", "3", "park") "\n"                      \
	SEM(ms "000120", "4", "park") "\n" SEM(ms "900000", "1", "unpark") " count=1\n"            \
	SEM(ms "900010", "2", "resume") "\n" SEM(ms "900020", "2", "unpark") " count=1\n"          \
	SEM(ms "900030", "3", "resume") "\n" SEM(ms "900040", "3", "unpark") " count=1\n"          \
	SEM(ms "900050", "4", "resume") "\n"
#define ON(at, proc, thread) "@" at " proc=" proc " source=kernel thread=" thread " proc_start\n"
#define OFF(at, proc, thread, preempted)                                                           \
	"@" at " proc=" proc " source=kernel thread=" thread " proc_stop preempted=" preempted "\n"

struct row {
	const char *what, *trace, *wanted;
};

static void compare(const struct row *row, const struct text *t)
{
	ck_assert_msg(!strcmp(t->at, row->wanted), "%s: got\n%sinstead of\n%s", row->what, t->at,
		      row->wanted);
}

/* ---- holds ---- */

static const struct row HOLDS[] = {
	{"from the acquisition to the release", THREADS TAKE("100", "1", "16") GIVE("250", "1", "16"),
	 "t1 16 100-250\n"},
	{"one lock in another, and two threads",
	 THREADS TAKE("100", "1", "16") TAKE("110", "1", "32") TAKE("120", "2", "48")
		 GIVE("130", "1", "32") GIVE("140", "2", "48") GIVE("150", "1", "16"),
	 "t1 16 100-150\nt1 32 110-130\nt2 48 120-140\n"},
	{"taken again by its holder: until it is released as often",
	 THREADS TAKE("100", "1", "16") TAKE("110", "1", "16") GIVE("120", "1", "16")
		 GIVE("130", "1", "16"),
	 "t1 16 100-130\n"},
	{"not given back: no end", THREADS TAKE("100", "1", "16") TAKE("200", "2", "32"),
	 "t1 16 100--\nt2 32 200--\n"},
	{"a release alone is nothing", THREADS GIVE("100", "1", "16") TAKE("110", "1", "16"),
	 "t1 16 110--\n"},
	{"where events were lost nobody knows",
	 THREADS TAKE("100", "1", "16") TAKE("110", "1", "32") GIVE("120", "1", "32")
		 "@200 thread=0 gap lost_events=5 since=150 cause=ring_full\n" GIVE("210", "1", "16")
			 TAKE("220", "1", "16") GIVE("230", "1", "16"),
	 "t1 32 110-120\nt1 16 220-230\n"},
	{"what ended before the loss was told ended in it",
	 THREADS TAKE("100", "1", "16") GIVE("160", "1", "16")
		 "@200 thread=0 gap lost_events=5 since=150 cause=ring_full\n",
	 ""},
	{"a read-write lock by several at once",
	 THREADS "@100 thread=1 acquire reason=rwlock_read object=16\n"
		 "@110 thread=2 acquire reason=rwlock_read object=16\n"
		 "@120 thread=1 release reason=rwlock_read object=16\n"
		 "@130 thread=2 release reason=rwlock_read object=16\n",
	 "t1 16 100-120\nt2 16 110-130\n"},
};

START_TEST(holds)
{
	struct trc_model *m = model_of(HOLDS[_i].trace, TRC_PART_HOLDS);
	struct text t = {.n = 0};
	size_t n;
	const struct trc_hold *hold = trc_model_holds(m, &n);

	for (size_t i = 0; i < n; i++) {
		add(&t, "t%u %" PRIu64 " %" PRId64 "-", hold[i].thread, hold[i].object,
		    hold[i].start_ns);
		if (hold[i].end_ns == TRC_NEVER)
			add(&t, "-\n");
		else
			add(&t, "%" PRId64 "\n", hold[i].end_ns);
	}
	compare(&HOLDS[_i], &t);
	model_close(m);
}
END_TEST

/* ---- sums ---- */

static const struct row SUMS[] = {
	{"waits", THREADS PARK("100", "2", "16") UNLOCK("200", "1", "16", "0") RESUME("220", "2", "16"),
	 "mutex 16: 1 wait 120 p50 120 p99 120 max 120; 1 section 1 100\n"},
	{"percentiles are of the smallest value that so many do not exceed",
	 THREADS PARK("100", "2", "16") RESUME("110", "2", "16") PARK("200", "2", "16")
		 RESUME("220", "2", "16") PARK("300", "3", "16") RESUME("330", "3", "16"),
	 "mutex 16: 3 waits of 2 60 p50 20 p99 30 max 30; 0 sections 0 0\n"},
	{"contended sections that tell when they began",
	 THREADS PARK("100", "2", "16") UNLOCK("200", "1", "16", "0") PARK("205", "3", "16")
		 RESUME("220", "2", "16") UNLOCK("300", "2", "16", "90") RESUME("310", "3", "16"),
	 "mutex 16: 2 waits of 2 225 p50 105 p99 120 max 120; 2 sections 2 190; contended 1 hold 90 p50 90 "
	 "p99 90 max 90; convoys 1, 2 in 200-310\n"},
	{"... not if nobody else waited then: the lock may have been given back since, and taken again",
	 THREADS PARK("100", "2", "16") UNLOCK("200", "1", "16", "0") RESUME("220", "2", "16")
		 PARK("230", "3", "16") UNLOCK("300", "2", "16", "90") RESUME("310", "3", "16"),
	 "mutex 16: 2 waits of 2 200 p50 80 p99 120 max 120; 2 sections 2 170; convoys 1, 2 in 200-310\n"},
	{"a section cannot have begun before another one ended",
	 THREADS PARK("100", "2", "16") UNLOCK("200", "1", "16", "0") RESUME("220", "2", "16")
		 PARK("230", "3", "16") UNLOCK("300", "2", "16", "150") RESUME("310", "3", "16"),
	 "mutex 16: 2 waits of 2 200 p50 80 p99 120 max 120; 2 sections 2 170\n"},
	{"with all holds the others are not told",
	 THREADS TAKE("90", "1", "16") PARK("100", "2", "16") GIVE("199", "1", "16")
		 UNLOCK("200", "1", "16", "0") TAKE("215", "2", "16") RESUME("220", "2", "16")
			 PARK("230", "3", "16") GIVE("299", "2", "16") UNLOCK("300", "2", "16", "85")
				 TAKE("305", "3", "16") RESUME("310", "3", "16") TAKE("320", "1", "32")
					 GIVE("330", "1", "32"),
	 "mutex 16: 2 waits of 2 200 p50 80 p99 120 max 120; 2 sections 2 170; all 2 holds 193 p50 84 p99 109 "
	 "max 109; convoys 1, 2 in 200-310\n"
	 "mutex 32: 0 waits 0; 0 sections 0 0; all 1 hold 10 p50 10 p99 10 max 10\n"},
	{"one hand-over is no convoy; who came without a wait ends one",
	 THREADS PARK("100", "2", "16") UNLOCK("200", "1", "16", "0") RESUME("220", "2", "16")
		 PARK("230", "3", "16") PARK("235", "4", "16") UNLOCK("300", "1", "16", "10")
			 RESUME("310", "3", "16") UNLOCK("400", "3", "16", "95") RESUME("410", "4", "16"),
	 "mutex 16: 3 waits of 3 375 p50 120 p99 175 max 175; 3 sections 4 215; contended 2 holds 105 p50 10 p99 "
	 "95 max 95; convoys 1, 2 in 300-410\n"},
	{"a futex: who was woken wakes the next, while others wait all the time", HANDED("1"),
	 "futex_lock 16: 6 waits of 3 980 p50 195 p99 195 max 195; 5 sections 10 930; contended 4 holds 380 p50 "
	 "95 p99 95 max 95; convoys 1, 5 in 200-605\n"},
	{"a semaphore: whose wait was ended by a post posts next", HANDED_OF(SEM, "1"),
	 "sem_lock 16: 6 waits of 3 980 p50 195 p99 195 max 195; 5 sections 10 930; contended 4 holds 380 p50 95 "
	 "p99 95 max 95; convoys 1, 5 in 200-605\n"},
	{"readers that are let in together leave one by one",
	 THREADS "@100 thread=2 park reason=rwlock_read object=16\n"
		 "@110 thread=3 park reason=rwlock_read object=16\n"
		 "@200 thread=1 unlock reason=rwlock_write object=16 waiters=2\n"
		 "@210 thread=2 resume reason=rwlock_read object=16\n"
		 "@215 thread=3 resume reason=rwlock_read object=16\n"
		 "@220 thread=4 park reason=rwlock_write object=16\n"
		 "@300 thread=2 unlock reason=rwlock_read object=16 waiters=1 held=95\n"
		 "@350 thread=3 unlock reason=rwlock_read object=16 waiters=1 held=140\n"
		 "@360 thread=4 resume reason=rwlock_write object=16\n",
	 "rwlock 16: 3 waits of 3 355 p50 110 p99 140 max 140; 3 sections 4 320; contended 2 holds 235 p50 95 p99 "
	 "140 max 140; write 1 140; convoys 1, 2 in 200-360\n"},
	{"who gave up",
	 THREADS PARK("100", "2", "16") "@150 thread=2 resume reason=mutex object=16 result=ETIMEDOUT\n",
	 "mutex 16: 1 wait 50 p50 50 p99 50 max 50 timed out 1; 0 sections 0 0\n"},
	{"the holder has no proc while one waits, then two",
	 THREADS ON("0", "0", "1") PARK("1000000", "2", "16") OFF("2000000", "0", "1", "1")
		 PARK("3000000", "3", "16") ON("5000000", "0", "1") UNLOCK("6000000", "1", "16", "0")
			 RESUME("6000100", "2", "16") UNLOCK("7000000", "2", "16", "999950")
				 RESUME("7000100", "3", "16"),
	 "mutex 16: 2 waits of 2 9000200 p50 4000100 p99 5000100 max 5000100; 2 sections 3 8999950; contended 1 "
	 "hold 999950 p50 999950 p99 999950 max 999950 preempted 0; preempted 3000000, waits 5000000; convoys 1, 2 "
	 "in 6000000-7000100\n"},
	{"off its proc in a call that writes it is",
	 THREADS ON("0", "0", "1") PARK("1000000", "2", "16")
		 "@2000000 proc=0 thread=1 park reason=write object=3\n" OFF("2000100", "0", "1", "1")
			 ON("5000000", "0", "1") "@5000100 proc=0 thread=1 resume reason=write object=3\n" UNLOCK(
				 "6000000", "1", "16", "0") RESUME("6000100", "2", "16"),
	 "mutex 16: 1 wait 5000100 p50 5000100 p99 5000100 max 5000100; 1 section 1 5000000; preempted 2999900, waits 2999900\n"},
	{"off its proc in a wait of its own it is not preempted",
	 THREADS ON("0", "0", "1") PARK("1000000", "2", "16")
		 "@2000000 proc=0 thread=1 park reason=sleep\n" OFF("2000100", "0", "1", "1")
			 ON("5000000", "0", "1") "@5000100 proc=0 thread=1 resume reason=sleep\n" UNLOCK(
				 "6000000", "1", "16", "0") RESUME("6000100", "2", "16"),
	 "mutex 16: 1 wait 5000100 p50 5000100 p99 5000100 max 5000100; 1 section 1 5000000; preempted 0, waits 0\n"},
};

static const char *plural(uint64_t n)
{
	return n == 1 ? "" : "s";
}

static void add_spread(struct text *t, const struct trc_spread *spread)
{
	if (spread->n)
		add(t, " p50 %" PRId64 " p99 %" PRId64 " max %" PRId64, spread->p50_ns,
		    spread->p99_ns, spread->max_ns);
}

static void add_sum(struct text *t, const struct trc_lock_sum *sum)
{
	add(t, "%s %" PRIu64 ": %" PRIu64 " wait%s", trc_lock_sum_kind(sum), sum->object,
	    sum->waits.n, plural(sum->waits.n));
	if (sum->waits.n > 1)
		add(t, " of %u", sum->threads);
	add(t, " %" PRId64, sum->waits.total_ns);
	add_spread(t, &sum->waits);
	if (sum->timed_out)
		add(t, " timed out %" PRIu64, sum->timed_out);
	add(t, "; %" PRIu64 " section%s %" PRIu64 " %" PRId64, sum->sections,
	    plural(sum->sections), sum->caused_waits, sum->caused_ns);
	if (sum->holds.n) {
		add(t, "; %s %" PRIu64 " hold%s %" PRId64,
		    sum->holds_from == TRC_HOLDS_ALL ? "all" : "contended", sum->holds.n,
		    plural(sum->holds.n), sum->holds.total_ns);
		add_spread(t, &sum->holds);
		if (sum->holds_preempted_ns != TRC_NEVER)
			add(t, " preempted %" PRId64, sum->holds_preempted_ns);
	}
	if (sum->write_waits)
		add(t, "; write %" PRIu64 " %" PRId64, sum->write_waits, sum->write_waited_ns);
	if (sum->preempted_ns != TRC_NEVER)
		add(t, "; preempted %" PRId64 ", waits %" PRId64, sum->preempted_ns,
		    sum->preempted_waits_ns);
	if (sum->convoys)
		add(t, "; convoys %" PRIu64 ", %" PRIu64 " in %" PRId64 "-%" PRId64, sum->convoys,
		    sum->convoy_handovers, sum->convoy_start_ns,
		    sum->convoy_start_ns + sum->convoy_ns);
	add(t, "\n");
}

START_TEST(sums)
{
	struct trc_model *m = model_of(SUMS[_i].trace, TRC_PART_WAITS);
	struct trc_lock_sums locks;
	struct trc_error error = {""};
	struct text t = {.n = 0};

	ck_assert_msg(!trc_lock_sums_make(&locks, m, true, &error), "%s", error.text);
	for (size_t i = 0; i < locks.rows.n; i++)
		add_sum(&t, (const struct trc_lock_sum *)locks.rows.row + i);
	compare(&SUMS[_i], &t);
	ck_assert_ptr_eq(trc_lock_sum_find(&locks, ((struct trc_lock_sum *)locks.rows.row)->kind, 16),
			 locks.rows.row);
	ck_assert_ptr_null(trc_lock_sum_find(&locks, TRC_REASON_SPIN, 16));
	trc_lock_sums_free(&locks);
	model_close(m);
}
END_TEST

/* Of two waits one goes on for 0.9 ms after the unlock that let its thread come in. */
START_TEST(woken)
{
	struct trc_model *m = model_of(THREADS PARK("1000000", "2", "16")
				       UNLOCK("6000000", "1", "16", "0") RESUME("6900000", "2", "16")
				       PARK("7000000", "1", "16")
				       "@8000000 proc=0 thread=1 resume reason=mutex object=16 result=ETIMEDOUT\n",
				       TRC_PART_WAITS);
	struct trc_lock_sums locks;
	struct trc_error error = {""};
	const struct trc_lock_sum *sum;

	ck_assert_msg(!trc_lock_sums_make(&locks, m, true, &error), "%s", error.text);
	sum = trc_lock_sum_find(&locks, TRC_REASON_MUTEX, 16);
	ck_assert_ptr_nonnull(sum);
	ck_assert_int_eq(sum->waits.total_ns, 6900000);
	ck_assert_int_eq(sum->woken_ns, 900000);
	trc_lock_sums_free(&locks);
	model_close(m);
}
END_TEST

/* Futexes and semaphores that are no locks. */
static const struct row NO_LOCKS[] = {
	{"several are woken at a time, as at a barrier", HANDED("2"), ""},
	{"it was seen too seldom",
	 THREADS WAIT("100", "2") WAIT("110", "3") WAKE("200", "1", "1") WOKEN("205", "2")
		 WAIT("210", "1") WAKE("300", "2", "1") WOKEN("305", "3"),
	 ""},
	{"others wake while it would be held, as with a semaphore or a queue",
	 HANDED("1") WAIT("610", "2") WAKE("700", "4", "1") WOKEN("705", "1"), ""},
	{"who was woken waits again without waking, as one that had something from a queue",
	 HANDED("1") WAIT("100605", "3"), ""},
	{"between two nothing shows it",
	 THREADS WAIT("100", "2") WAKE("200", "1", "1") WOKEN("205", "2") WAIT("210", "1")
		 WAKE("300", "2", "1") WOKEN("305", "1") WAIT("310", "2") WAKE("400", "1", "1")
			 WOKEN("405", "2") WAIT("410", "1") WAKE("500", "2", "1") WOKEN("505", "1"),
	 ""},
	{"two that take turns: each wakes the other, and waits before the other runs", TURNS, ""},
	{"a semaphore that others post while it would be held: a queue, or one with room for several",
	 HANDED_OF(SEM, "1") SEM("610", "2", "park") "\n" SEM("700", "4", "unpark") " count=1\n"
		 SEM("705", "1", "resume") "\n", ""},
	{"a gate: nearly all the time nobody has it who waited for it", THREADS GATE("1") GATE("2") GATE("3"), ""},
};

START_TEST(no_locks)
{
	struct trc_model *m = model_of(NO_LOCKS[_i].trace, TRC_PART_WAITS);
	struct text t = {.n = 0};
	size_t n;
	const struct trc_park *park = trc_model_parks(m, &n);

	for (size_t i = 0; i < n; i++)
		if (trc_reason_is_lock(park[i].reason))
			add(&t, "wait %zu is for %s\n", i, trc_reason_name(park[i].reason));
	trc_model_unlocks(m, &n);
	ck_assert_uint_eq(n, 0);
	compare(&NO_LOCKS[_i], &t);
	model_close(m);
}
END_TEST

/* ---- numbers that were chosen to be looked for at one place ---- */

/* The number that times `factor`, which is odd, is 1. */
static uint64_t inverse(uint64_t factor)
{
	uint64_t x = factor;

	for (int i = 0; i < 6; i++)
		x *= 2 - factor * x;
	return x;
}

/* Each was once entered behind all before: minutes for so many (array:A3). */
START_TEST(chosen_keys_take_no_longer)
{
	enum { KEYS = 400000 };
	const uint64_t back = inverse(UINT64_C(0x9e3779b97f4a7c15));
	struct trc_index map = {0};

	for (uint64_t i = 0; i < KEYS; i++)
		ck_assert_int_eq(trc_index_put(&map, (i << 40) * back, (uint32_t)i), 0);
	for (uint64_t i = 0; i < KEYS; i++)
		ck_assert_uint_eq(trc_index_get(&map, (i << 40) * back), i);
	trc_index_free(&map);
}
END_TEST

START_TEST(chosen_locks_take_no_longer)
{
	enum { LOCKS = 150000 }; /* of each of two threads */
	const uint64_t back = inverse(UINT64_C(0x9e3779b97f4a7c15));
	const uint64_t other = UINT64_C(0xc2b2ae3d27d4eb4f);
	struct trc_model *m;
	char *text = NULL;
	size_t n_bytes, n;
	FILE *out = open_memstream(&text, &n_bytes);

	fputs(THREADS, out);
	for (uint64_t thread = 1; thread <= 2; thread++)
		for (uint64_t i = 0; i < LOCKS; i++)
			fprintf(out, "@%" PRIu64 " thread=%" PRIu64 " acquire reason=mutex object=%" PRIu64 "\n",
				thread * LOCKS + i, thread, (i - thread * other) * back);
	fclose(out);
	m = model_of(text, TRC_PART_HOLDS);
	trc_model_holds(m, &n);
	ck_assert_uint_eq(n, 2 * LOCKS);
	model_close(m);
	free(text);
}
END_TEST

/* ---- latencies ---- */

static const struct row LATENCIES[] = {
	{"preempted, while another thread has the proc, then nobody knows who",
	 THREADS ON("0", "0", "1") OFF("1000000", "0", "1", "1") ON("1000000", "0", "2")
		 OFF("3000000", "0", "2", "0") ON("4000000", "0", "1"),
	 "t1 preempted 1000000-4000000 on 0; own 2000000, most of it t2 2000000\n"},
	{"it goes on elsewhere: who ran where it had been",
	 THREADS ON("0", "0", "1") OFF("1000000", "0", "1", "1") ON("1000000", "0", "2")
		 ON("3000000", "1", "1") OFF("3500000", "0", "2", "0"),
	 "t1 preempted 1000000-3000000 on 1; own 2000000, most of it t2 2000000\n"},
	{"woken by a post, and another thread has the proc where it will run",
	 THREADS ON("0", "0", "2") ON("0", "1", "3") "@1000000 proc=0 thread=2 park reason=sem object=16\n" OFF(
		 "1000100", "0", "2", "0") "@5000000 proc=1 thread=3 unpark reason=sem object=16 count=1\n" ON(
		 "5000000", "0", "4") OFF("6000000", "0", "4", "1") ON("6000000", "0", "2")
		 "@6000100 proc=0 thread=2 resume reason=sem object=16\n",
	 "t2 woken 5000000-6000000 on 0 by t3; own 1000000, most of it t4 1000000\n"},
	{"woken while it was leaving its proc: since it had left",
	 THREADS ON("0", "0", "2") "@1000000 proc=0 thread=2 park reason=sem object=16\n"
		 "@1000050 proc=1 thread=3 unpark reason=sem object=16 count=1\n" OFF(
			 "1000100", "0", "2", "0") ON("2000000", "0", "2")
		 "@2000100 proc=0 thread=2 resume reason=sem object=16\n",
	 "t2 woken 1000100-2000000 on 0 by t3; own 0\n"},
	{"it never left its proc",
	 THREADS ON("0", "0", "2") "@1000000 proc=0 thread=2 park reason=sem object=16\n"
		 "@2000000 proc=1 thread=3 unpark reason=sem object=16 count=1\n"
		 "@2000100 proc=0 thread=2 resume reason=sem object=16\n" OFF("9000000", "0", "2", "0"),
	 ""},
	{"who slept was woken by nobody",
	 THREADS ON("0", "0", "2") "@1000000 proc=0 thread=2 park reason=sleep\n" OFF("1000100", "0", "2",
										      "0")
		 ON("2000000", "0", "2") "@2000100 proc=0 thread=2 resume reason=sleep\n",
	 ""},
	{"an old wake is none of a later time off the proc",
	 THREADS ON("0", "0", "2") "@1000000 proc=0 thread=2 park reason=sem object=16\n"
		 "@1500000 proc=1 thread=3 unpark reason=sem object=16 count=1\n"
		 "@2000000 proc=0 thread=2 resume reason=sem object=16\n" OFF("3000000", "0", "2", "0")
			 ON("4000000", "0", "2"),
	 ""},
	{"a new thread: since its creator asked for it",
	 THREADS ON("0", "0", "1") "@1000000 proc=0 thread=1 task_begin task=1\n" ON("2000000", "1", "4")
		 "@2000100 proc=1 thread=4 thread_start tid=104 creator=1 created=1000000\n" OFF("9000000", "0", "1", "0"),
	 "t4 new 1000000-2000000 on 1 by t1; own 0\n"},
	{"when it was created is not known",
	 THREADS ON("2000000", "1", "4") "@2000100 proc=1 thread=4 thread_start tid=104 creator=1\n", ""},
	{"not over at the end", THREADS ON("0", "0", "1") OFF("1000000", "0", "1", "1") TAKE("2000000", "2", "16"),
	 ""},
};

START_TEST(latencies)
{
	struct trc_model *m = model_of(LATENCIES[_i].trace, TRC_PART_LATENCIES);
	struct text t = {.n = 0};
	size_t n;
	const struct trc_latency *row = trc_model_latencies(m, &n);

	for (size_t i = 0; i < n; i++) {
		add(&t, "t%u %s %" PRId64 "-%" PRId64 " on %u", row[i].thread,
		    row[i].kind == TRC_LATENCY_WOKEN ? "woken" : row[i].kind == TRC_LATENCY_NEW ? "new" : "preempted", row[i].woken_ns,
		    row[i].running_ns, row[i].proc);
		if (row[i].waker)
			add(&t, " by t%u", row[i].waker);
		add(&t, "; own %" PRId64, row[i].own_ns);
		if (row[i].instead)
			add(&t, ", most of it t%u %" PRId64, row[i].instead, row[i].instead_ns);
		add(&t, "\n");
	}
	compare(&LATENCIES[_i], &t);
	model_close(m);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("locks");
	TCase *tcase = tcase_create("locks");

	tcase_add_loop_test(tcase, holds, 0, sizeof(HOLDS) / sizeof(HOLDS[0]));
	tcase_add_loop_test(tcase, sums, 0, sizeof(SUMS) / sizeof(SUMS[0]));
	tcase_add_test(tcase, woken);
	tcase_add_loop_test(tcase, no_locks, 0, sizeof(NO_LOCKS) / sizeof(NO_LOCKS[0]));
	tcase_set_timeout(tcase, 30);
	tcase_add_test(tcase, chosen_keys_take_no_longer);
	tcase_add_test(tcase, chosen_locks_take_no_longer);
	tcase_add_loop_test(tcase, latencies, 0, sizeof(LATENCIES) / sizeof(LATENCIES[0]));
	suite_add_tcase(suite, tcase);
	return suite_run(suite);
}
