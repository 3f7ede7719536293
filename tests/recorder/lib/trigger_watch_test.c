/* trigger_watch_test.c - when a snapshot is due (recorder/drain/trigger_watch.h), on a mapping made by
 * hand whose clock ticks once a nanosecond. */
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "recorder/drain/trigger_watch.h"
#include "tests/suite.h"

enum { N_SLOTS = 4 };
#define MS UINT64_C(1000000)

static struct trc_shared *shared;
static struct trc_trigger_watch watch;
static struct trc_trigger_due due;

static const struct trc_trigger_limits unlimited = {0, 0, UINT64_MAX};

static void set_up(void)
{
	const struct trc_layout_options options = {.n_procs = 1, .n_threads = N_SLOTS};
	struct trc_shared plan;

	memset(&plan, 0, sizeof(plan));
	ck_assert_int_eq(trc_layout_plan(&plan, &options), 0);
	shared = aligned_alloc(4096, plan.data_off);
	ck_assert_ptr_nonnull(shared);
	memset(shared, 0, plan.data_off);
	*shared = plan;
	shared->ticks_per_second = 1000000000;
}

static void tear_down(void)
{
	free(shared);
}

static void begin(const char *condition, const struct trc_trigger_limits *limits)
{
	struct trc_trigger_spec spec[1];
	char error[200];

	if (condition)
		ck_assert_msg(trc_trigger_parse(spec, condition, error, sizeof(error)) == 0, "%s",
			      error);
	trc_trigger_watch_init(&watch, spec, condition != NULL, limits);
	trc_trigger_watch_attach(&watch, shared, shared, 0);
}

static bool look(uint64_t now)
{
	return trc_trigger_watch_look(&watch, now, now, &due);
}

/* What trc_trigger_fire() leaves in the list. */
static void request(const char *text, uint32_t serial, uint64_t ticks)
{
	uint64_t p = ++shared->n_triggers;
	struct trc_trigger *place = &shared->trigger[(p - 1) % TRC_TRIGGERS_MAX];
	uint64_t word[TRC_TRIGGER_WORDS] = {0};

	memcpy(word, text, strlen(text));
	for (int i = 0; i < TRC_TRIGGER_WORDS; i++)
		place->text[i] = word[i];
	place->n_bytes = (uint32_t)strlen(text);
	place->serial = serial;
	place->ticks = ticks;
	place->number = p;
}

static void wait_begins(unsigned int i, uint64_t since)
{
	struct trc_slot *slot = (struct trc_slot *)trc_area(shared, shared->threads_off) + i;

	atomic_store(&shared->next_serial, N_SLOTS);
	atomic_store(&shared->ready_slots, N_SLOTS);
	slot->state = TRC_SLOT_LIVE;
	slot->serial = i + 1;
	slot->tid = 100 + i;
	slot->wait_reason = TRC_REASON_MUTEX;
	slot->wait_object = 0x1230;
	slot->wait_since = since;
	slot->seq += 2;
}

static void wait_ends(unsigned int i)
{
	struct trc_slot *slot = (struct trc_slot *)trc_area(shared, shared->threads_off) + i;

	slot->wait_reason = 0;
	slot->seq += 2;
}

START_TEST(a_request_is_due_at_once_and_only_once)
{
	begin(NULL, &unlimited);
	ck_assert(!look(1000));
	request("slow request", 7, 900);
	ck_assert(look(1001));
	ck_assert_str_eq(due.text, "slow request");
	ck_assert_uint_eq(due.serial, 7);
	ck_assert_uint_eq(due.ticks, 900);
	ck_assert(!look(1002));
}
END_TEST

START_TEST(what_was_asked_for_before_is_not_asked_again)
{
	request("old", 0, 1);
	begin(NULL, &unlimited);
	trc_trigger_watch_attach(&watch, shared, shared, shared->n_triggers);
	ck_assert(!look(1000));
	request("new", 0, 2);
	ck_assert(look(1001));
	ck_assert_str_eq(due.text, "new");
}
END_TEST

START_TEST(requests_made_together_are_one_snapshot)
{
	begin(NULL, &unlimited);
	for (int i = 0; i < 5; i++)
		request("odd", 1, 1);
	ck_assert(look(1000));
	ck_assert(!look(1001));
}
END_TEST

START_TEST(a_list_that_was_overrun_is_read_from_where_it_is_whole)
{
	begin(NULL, &unlimited);
	for (int i = 0; i < 3 * TRC_TRIGGERS_MAX; i++)
		request(i == 2 * TRC_TRIGGERS_MAX ? "the oldest left" : "odd", 1, 1);
	ck_assert(look(1000));
	ck_assert_str_eq(due.text, "the oldest left");
	ck_assert(!look(1001));
}
END_TEST

START_TEST(a_request_that_is_being_made_is_seen_when_it_is_complete)
{
	begin(NULL, &unlimited);
	request("odd", 1, 1);
	shared->trigger[0].number = 0;
	ck_assert(!look(1000));
	shared->trigger[0].number = 1;
	ck_assert(look(1001));
}
END_TEST

START_TEST(the_snapshot_may_come_some_time_after)
{
	const struct trc_trigger_limits limits = {500 * MS, 0, UINT64_MAX};

	begin(NULL, &limits);
	request("first", 1, 1);
	ck_assert(!look(1000 * MS));
	ck_assert_uint_eq(trc_trigger_watch_sleep_ns(&watch, 1100 * MS), 400 * MS);
	request("meanwhile", 1, 1);
	ck_assert(!look(1499 * MS));
	ck_assert(look(1500 * MS));
	ck_assert_str_eq(due.text, "first");
	ck_assert(!look(3000 * MS)); /* "meanwhile" is in it */
}
END_TEST

START_TEST(the_end_does_not_wait_for_what_comes_after)
{
	const struct trc_trigger_limits limits = {500 * MS, 0, UINT64_MAX};

	begin(NULL, &limits);
	request("odd", 1, 1);
	ck_assert(!look(1000));
	ck_assert(trc_trigger_watch_last(&watch, 1001, 1001, &due));
	ck_assert(!trc_trigger_watch_last(&watch, 1002, 1002, &due));
}
END_TEST

START_TEST(a_bad_hour_does_not_fill_the_disk)
{
	const struct trc_trigger_limits limits = {0, 10 * MS, 3};
	unsigned int n = 0;

	begin(NULL, &limits);
	for (uint64_t ms = 1; ms < 100; ms++) {
		request("odd", 1, ms);
		if (!look(ms * MS))
			continue;
		ck_assert_uint_eq(ms, 1 + 10 * n);
		n++;
	}
	ck_assert_uint_eq(n, 3);
	ck_assert_uint_eq(watch.n_passed_over, 99 - 3);
}
END_TEST

START_TEST(a_wait_is_reported_once_while_it_lasts)
{
	begin("park>100ms", &unlimited);
	wait_begins(2, 1000 * MS);
	ck_assert(!look(1050 * MS));
	ck_assert(!look(1099 * MS));
	ck_assert(look(1132 * MS));
	ck_assert_str_eq(due.text, "park>100ms: mutex 0x1230 for 132 ms already, thread 102");
	ck_assert_uint_eq(due.serial, 3);
	ck_assert(!look(1200 * MS));
	ck_assert(!look(9000 * MS));
}
END_TEST

START_TEST(its_end_is_no_news_but_the_next_wait_is)
{
	begin("park>100ms", &unlimited);
	wait_begins(2, 1000 * MS);
	ck_assert(look(1132 * MS));
	wait_ends(2);
	request("park>100ms: mutex 0x1230, 140 ms", 3, 1140 * MS);
	ck_assert(!look(1150 * MS));
	request("park>100ms: mutex 0x1230, 120 ms", 3, 1270 * MS);
	ck_assert(look(1280 * MS));
	wait_begins(2, 1300 * MS);
	ck_assert(look(1400 * MS));
}
END_TEST

START_TEST(a_wait_that_began_before_another_was_reported_is_not_missed)
{
	begin("park>100ms", &unlimited);
	wait_begins(0, 1000 * MS);
	wait_begins(1, 1020 * MS);
	ck_assert(look(1110 * MS));
	ck_assert_uint_eq(due.serial, 1);
	ck_assert(look(1121 * MS));
	ck_assert_uint_eq(due.serial, 2);
}
END_TEST

START_TEST(only_the_reasons_that_were_named_count)
{
	begin("park:cond>100ms", &unlimited);
	wait_begins(0, 1000 * MS);
	ck_assert(!look(2000 * MS));
}
END_TEST

static const struct {
	const char *condition;
	uint64_t sleep_ns;
} sleeps[] = {
	{"park>100ms", 25 * MS},     {"park>1us", 5 * MS},
	{"park>10s", 200 * MS},	     {"region:parse>1us", UINT64_MAX}, /* the thread itself tells */
	{"signal=USR2", UINT64_MAX},
};

START_TEST(who_takes_snapshots_looks_only_as_often_as_it_has_to)
{
	begin(sleeps[_i].condition, &unlimited);
	ck_assert(!look(1));
	ck_assert_uint_eq(trc_trigger_watch_sleep_ns(&watch, 1), sleeps[_i].sleep_ns);
}
END_TEST

START_TEST(the_end_counts_only_if_it_was_asked_for)
{
	const struct trc_trigger_limits limits = {0, 0, 1};

	begin("exit", &limits);
	request("the only one", 1, 1);
	ck_assert(look(1));
	ck_assert(!trc_trigger_watch_end(&watch, TRC_TRIGGER_CRASH));
	ck_assert(trc_trigger_watch_end(&watch, TRC_TRIGGER_EXIT));
}
END_TEST

static const struct {
	const char *base;
	const char *child;
	uint64_t number;
	const char *path;
} paths[] = {
	{"dump.trc", NULL, 1, "dump.1.trc"},
	{"/var/tmp.d/dump", NULL, 12, "/var/tmp.d/dump.12"},
	{"a.b.trc", "77", 3, "a.b.77.3.trc"},
	{"dir/.hidden", NULL, 1, "dir/.hidden.1"},
};

START_TEST(the_number_stands_before_the_suffix)
{
	char path[64];

	ck_assert_int_eq(trc_trigger_path(path, sizeof(path), paths[_i].base, paths[_i].child,
					  paths[_i].number),
			 0);
	ck_assert_str_eq(path, paths[_i].path);
	ck_assert_int_eq(trc_trigger_path(path, 30, paths[_i].base, "1", 1), -ENAMETOOLONG);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("trigger_watch");
	TCase *c = tcase_create("trigger_watch");

	tcase_add_checked_fixture(c, set_up, tear_down);
	tcase_add_test(c, a_request_is_due_at_once_and_only_once);
	tcase_add_test(c, what_was_asked_for_before_is_not_asked_again);
	tcase_add_test(c, requests_made_together_are_one_snapshot);
	tcase_add_test(c, a_list_that_was_overrun_is_read_from_where_it_is_whole);
	tcase_add_test(c, a_request_that_is_being_made_is_seen_when_it_is_complete);
	tcase_add_test(c, the_snapshot_may_come_some_time_after);
	tcase_add_test(c, the_end_does_not_wait_for_what_comes_after);
	tcase_add_test(c, a_bad_hour_does_not_fill_the_disk);
	tcase_add_test(c, a_wait_is_reported_once_while_it_lasts);
	tcase_add_test(c, its_end_is_no_news_but_the_next_wait_is);
	tcase_add_test(c, a_wait_that_began_before_another_was_reported_is_not_missed);
	tcase_add_test(c, only_the_reasons_that_were_named_count);
	tcase_add_loop_test(c, who_takes_snapshots_looks_only_as_often_as_it_has_to, 0,
			    (int)(sizeof(sleeps) / sizeof(sleeps[0])));
	tcase_add_test(c, the_end_counts_only_if_it_was_asked_for);
	tcase_add_loop_test(c, the_number_stands_before_the_suffix, 0,
			    (int)(sizeof(paths) / sizeof(paths[0])));
	suite_add_tcase(suite, c);
	return suite_run(suite);
}
