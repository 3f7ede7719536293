/* test_parks.c - which wait an event of a thread begins or ends (parks:K1 to parks:K4, parks:K7). */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "format/schema.h"
#include "format/waits/parks.h"
#include "tests/format/common.h"

enum { EVENTS = 8, LOCK = 0x10, OTHER = 0x20 };

/* The park's, another one's in the same function, a handler's that interrupted the park, and where
 * both came from. */
enum { AT_PARK = 1, BESIDE, IN_HANDLER, CALLER, DEEP_HANDLER };
static const struct {
	uint32_t n;
	uint64_t frame[6];
} stacks[] = {
	[AT_PARK] = {3, {0x11, 1, 2}},
	[BESIDE] = {3, {0x12, 1, 2}},
	[IN_HANDLER] = {5, {0x30, 0x31, 0x11, 1, 2}},
	[CALLER] = {1, {2}},
	[DEEP_HANDLER] = {6, {0x40, 0x41, 0x42, 7, 8, 9}},
};

#define EVENT(at, what, ...) {.time = (at), .kind = TRC_KIND_##what, __VA_ARGS__}
#define FOR(why, what)	     .reason = TRC_REASON_##why, .object = (what)

static const struct {
	const char *what;
	struct trc_park_event e[EVENTS];
	/* Of each wait "begin-end:result,", "-1" = abandoned; "?" = a resume of none.  At the end
	 * after ";" from the innermost outwards: "begin.." = goes on, or "begin-end". */
	const char *then;
} row[] = {
	{"a resume ends the park with its reason and object",
	 {EVENT(10, PARK, FOR(MUTEX, LOCK)), EVENT(20, RESUME, FOR(MUTEX, LOCK), .result = ETIMEDOUT)},
	 "10-20:110,;"},
	{"not one of another object, or of another reason; that is said",
	 {EVENT(10, PARK, FOR(MUTEX, LOCK)), EVENT(20, RESUME, FOR(MUTEX, OTHER)),
	  EVENT(30, RESUME, FOR(SPIN, LOCK))},
	 "??;10-20"},
	{"K1: a park in a park, both with an end",
	 {EVENT(10, PARK, FOR(SEM, 1)), EVENT(20, PARK, FOR(READ, 2)), EVENT(30, RESUME, FOR(READ, 2)),
	  EVENT(40, RESUME, FOR(SEM, 1))},
	 "20-30:0,10-40:0,;"},
	{"K2: of two equal parks the innermost",
	 {EVENT(10, PARK, FOR(SEM, 1)), EVENT(20, PARK, FOR(SEM, 1)), EVENT(30, RESUME, FOR(SEM, 1))},
	 "20-30:0,;10-20"},
	{"K2: what is open inside was left",
	 {EVENT(10, PARK, FOR(SEM, 1)), EVENT(20, PARK, FOR(READ, 2)), EVENT(25, PARK, FOR(READ, 3)),
	  EVENT(30, RESUME, FOR(SEM, 1))},
	 "25-30:-1,20-30:-1,10-30:0,;"},
	{"K3: the thread exits",
	 {EVENT(10, PARK, FOR(SEM, 1)), EVENT(20, PARK, FOR(READ, 2)), EVENT(30, THREAD_EXIT)},
	 "20-30:-1,10-30:-1,;"},
	{"K3: a region ends that was open at the park",
	 {EVENT(5, REGION_BEGIN), EVENT(10, PARK, FOR(SEM, 1)), EVENT(20, REGION_END)},
	 "10-20:-1,;"},
	{"K3: not one that began in it, nor one of another thread",
	 {EVENT(10, PARK, FOR(SEM, 1)), EVENT(20, REGION_BEGIN), EVENT(30, REGION_END)},
	 ";10-20"},
	{"K3: one region more ends than began since",
	 {EVENT(10, PARK, FOR(SEM, 1)), EVENT(20, REGION_BEGIN), EVENT(30, REGION_END),
	  EVENT(40, REGION_END)},
	 "10-40:-1,;"},
	{"K3: another fiber runs; what the program announced, and is around it all, goes on",
	 {EVENT(10, PARK, FOR(USER, 1)), EVENT(20, PARK, FOR(SEM, 2)), EVENT(25, PARK, FOR(USER, 3)),
	  EVENT(30, FIBER_SWITCH)},
	 "25-30:-1,20-30:-1,;10-20"},
	{"K3: then the depth of regions counts anew",
	 {EVENT(5, REGION_BEGIN), EVENT(10, FIBER_SWITCH), EVENT(20, PARK, FOR(SEM, 1)),
	  EVENT(30, REGION_BEGIN), EVENT(40, REGION_END)},
	 ";20-30"},
	{"K3: a stack that is beside the park's",
	 {EVENT(10, PARK, FOR(MUTEX, LOCK), .stack = AT_PARK), EVENT(20, UNPARK, .stack = BESIDE)},
	 "10-20:-1,;"},
	{"K3: the stack where it parked, again",
	 {EVENT(10, PARK, FOR(MUTEX, LOCK), .stack = AT_PARK),
	  EVENT(20, PARK, FOR(MUTEX, LOCK), .stack = AT_PARK)},
	 "10-20:-1,;20.."},
	{"K3: the caller's",
	 {EVENT(10, PARK, FOR(SEM, 1), .stack = AT_PARK), EVENT(20, UNLOCK, .stack = CALLER)},
	 "10-20:-1,;"},
	{"K3: a handler's stack is on top of the park's and disproves nothing",
	 {EVENT(10, PARK, FOR(SEM, 1), .stack = AT_PARK), EVENT(20, UNLOCK, .stack = IN_HANDLER),
	  EVENT(30, RESUME, FOR(SEM, 1))},
	 "10-30:0,;"},
	{"K3: nor does one that has nothing in common with it, nor an event's without one",
	 {EVENT(10, PARK, FOR(SEM, 1), .stack = AT_PARK), EVENT(20, UNLOCK, .stack = DEEP_HANDLER),
	  EVENT(30, UNLOCK)},
	 ";10-20"},
	{"K3: nor one of a park whose stack is not known, or that the program announced",
	 {EVENT(10, PARK, FOR(SEM, 1)), EVENT(12, PARK, FOR(USER, 1), .stack = AT_PARK),
	  EVENT(20, UNPARK, .stack = BESIDE)},
	 ";12-2010-12"},
	{"K3: what the outer one's stack disproves ends the inner one too",
	 {EVENT(10, PARK, FOR(SEM, 1), .stack = AT_PARK), EVENT(15, PARK, FOR(USER, 2)),
	  EVENT(20, UNPARK, .stack = BESIDE)},
	 "15-20:-1,10-20:-1,;"},
	{"K3: a wait for a condition gives up its mutex and has it again, at its stack",
	 {EVENT(10, PARK, FOR(COND, 1), .stack = AT_PARK), EVENT(11, UNLOCK, .stack = AT_PARK),
	  EVENT(20, ACQUIRE, FOR(MUTEX, LOCK), .stack = AT_PARK)},
	 ";10-11"},
	{"K3: but not elsewhere",
	 {EVENT(10, PARK, FOR(COND, 1), .stack = AT_PARK), EVENT(11, UNLOCK, .stack = BESIDE)},
	 "10-11:-1,;"},
	{"K3: one for a lock has taken this lock, and no other",
	 {EVENT(10, PARK, FOR(MUTEX, LOCK), .stack = AT_PARK),
	  EVENT(20, ACQUIRE, FOR(MUTEX, LOCK), .stack = AT_PARK),
	  EVENT(30, ACQUIRE, FOR(MUTEX, OTHER), .stack = AT_PARK)},
	 "10-30:-1,;"},
	{"K4: who did nothing since still waits, and in what is around that, too",
	 {EVENT(10, PARK, FOR(USER, 1)), EVENT(20, PARK, FOR(SEM, 1))},
	 ";20..10.."},
	{"K4: who did something has ended the wait by then",
	 {EVENT(10, PARK, FOR(SEM, 1)), EVENT(20, LOG), EVENT(30, LOG)},
	 ";10-20"},
	{"K4: an outer wait goes on with the inner one, and ends where that shows",
	 {EVENT(10, PARK, FOR(SEM, 1)), EVENT(20, PARK, FOR(READ, 2)), EVENT(30, LOG)},
	 ";20-3010-20"},
	{"K7: a condition was signalled when the wait for its mutex began",
	 {EVENT(10, PARK, FOR(COND, 1)), EVENT(30, WAIT, FOR(COND_MUTEX, LOCK), .since = 20),
	  EVENT(40, RESUME, FOR(COND, 1))},
	 "10-20:0,;"},
	{"K7: no other wait in it says that",
	 {EVENT(10, PARK, FOR(COND, 1)), EVENT(30, WAIT, FOR(FLOCK, 3), .since = 20),
	  EVENT(40, RESUME, FOR(COND, 1))},
	 "10-40:0,;"},
	{"K7: nor one for a mutex in another wait",
	 {EVENT(10, PARK, FOR(SEM, 1)), EVENT(30, WAIT, FOR(COND_MUTEX, LOCK), .since = 20),
	  EVENT(40, RESUME, FOR(SEM, 1))},
	 "10-40:0,;"},
	{"a wait does not end before it began",
	 {EVENT(10, PARK, FOR(COND, 1)), EVENT(30, WAIT, FOR(COND_MUTEX, LOCK), .since = 5),
	  EVENT(40, RESUME, FOR(COND, 1))},
	 "10-10:0,;"},
};

static FILE *said;

static bool stack_of(void *context, uint32_t stack, const uint64_t **frame, uint32_t *n_frames)
{
	*frame = stacks[stack].frame;
	*n_frames = stacks[stack].n;
	return true;
}

static void ended(void *context, struct trc_open_park *park, uint64_t end, int result)
{
	fprintf(said, "%" PRIu64 "-%" PRIu64 ":%d,", park->start, end, result);
}

static const struct trc_parks_owner owner = {stack_of, ended};

static void say_open(const struct trc_parks *parks)
{
	bool goes_on = false;

	fputc(';', said);
	for (const struct trc_open_park *park = parks->top; park; park = park->around) {
		goes_on = trc_park_goes_on(park, goes_on, 0);
		if (goes_on)
			fprintf(said, "%" PRIu64 "..", park->start);
		else
			fprintf(said, "%" PRIu64 "-%" PRIu64, park->start, park->next);
	}
}

START_TEST(what_events_begin_and_end)
{
	struct trc_open_park park[EVENTS];
	struct trc_parks parks = {.top = NULL};
	char text[200] = "";

	said = fmemopen(text, sizeof(text), "w");
	for (unsigned int i = 0; i < EVENTS && row[_i].e[i].time; i++) {
		const struct trc_park_event *e = &row[_i].e[i];

		ck_assert(parks.top || trc_parks_need(e->kind) || e->kind == TRC_KIND_THREAD_EXIT);
		if (!trc_parks_event(&parks, e, &owner, NULL))
			fputc('?', said);
		if (e->kind == TRC_KIND_PARK)
			trc_park_begin(&parks, &park[i], e);
	}
	say_open(&parks);
	fclose(said);
	ck_assert_msg(!strcmp(text, row[_i].then), "%s: %s, not %s", row[_i].what, text,
		      row[_i].then);
}
END_TEST

START_TEST(an_outer_wait_goes_on_with_the_inner_one_if_nothing_was_lost_since)
{
	const struct trc_open_park park = {.start = 100, .next = 120};

	ck_assert(trc_park_goes_on(&park, true, 99));
	ck_assert(!trc_park_goes_on(&park, true, 100));
	ck_assert(!trc_park_goes_on(&park, false, 0));
}
END_TEST

START_TEST(what_is_around_a_whole_wait)
{
	const struct trc_park_event begin = EVENT(10, PARK, FOR(USER, 1));
	const struct trc_park_event inner = EVENT(20, PARK, FOR(COND, 2));
	const struct trc_park_event mutex = EVENT(30, WAIT, FOR(COND_MUTEX, LOCK), .since = 25);
	const struct trc_park_event file = EVENT(30, WAIT, FOR(FLOCK, 3), .since = 25);
	struct trc_open_park park[2];
	struct trc_parks parks = {.top = NULL};

	ck_assert_ptr_null(trc_park_around(&parks, &mutex));
	trc_park_begin(&parks, &park[0], &begin);
	trc_park_begin(&parks, &park[1], &inner);
	ck_assert_ptr_eq(trc_park_around(&parks, &mutex), &park[0]);
	ck_assert_ptr_eq(trc_park_around(&parks, &file), &park[1]);
}
END_TEST

Suite *suite_parks(void)
{
	Suite *suite = suite_create("parks");
	TCase *t = tcase_create("parks");

	tcase_add_loop_test(t, what_events_begin_and_end, 0, sizeof(row) / sizeof(row[0]));
	tcase_add_test(t, an_outer_wait_goes_on_with_the_inner_one_if_nothing_was_lost_since);
	tcase_add_test(t, what_is_around_a_whole_wait);
	suite_add_tcase(suite, t);
	return suite;
}
