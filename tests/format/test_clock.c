/* test_clock.c - ticks to trace time (docs/format.md, "Time"). */
#include <stdlib.h>
#include "format/clockmap.h"
#include "common.h"

enum { POINTS_MAX = 4 };
#define MS UINT64_C(1000000)

/* Sync points {ticks, raw ns}, then what ticks come to. */
static const struct {
	const char *what;
	size_t n;
	uint64_t sync[POINTS_MAX][2];
	uint64_t ticks_per_second;
	uint64_t ticks;
	int64_t ns;
} conversions[] = {
	{"the first sync point is 0", 1, {{500, 9000}}, 1000000000, 500, 0},
	{"one point: the nominal rate after it", 1, {{500, 9000}}, 2000000000, 1500, 500},
	{"and before it", 1, {{5000, 9000}}, 2000000000, 3000, -1000},
	{"which is rounded down there, too", 1, {{5000, 9000}}, 2000000000, 4999, -1},
	{"between two points a straight line",
	 2,
	 {{0, 0}, {40 * MS, 20 * MS}},
	 1000000000,
	 10 * MS,
	 5 * MS},
	{"after the last its slope goes on",
	 2,
	 {{0, 0}, {40 * MS, 20 * MS}},
	 1000000000,
	 60 * MS,
	 30 * MS},
	{"before the first the next one's",
	 2,
	 {{40 * MS, 100}, {80 * MS, 20 * MS + 100}},
	 1000000000,
	 20 * MS,
	 -10 * (int64_t)MS},
	{"but not that of a line shorter than 10 ms",
	 2,
	 {{0, 0}, {2000, 1000}},
	 1000000000,
	 5000,
	 4000},
	{"lines meet at the points", 3, {{0, 0}, {100, 1000}, {200, 1100}}, 1000000000, 100, 1000},
	{"and bend there", 3, {{0, 0}, {100, 1000}, {200, 1100}}, 1000000000, 150, 1050},
	{"points in any order", 2, {{40 * MS, 20 * MS}, {0, 0}}, 1000000000, 10 * MS, 5 * MS},
	{"a point that goes back in time is left out",
	 3,
	 {{0, 500}, {20 * MS, 400}, {40 * MS, 40 * MS + 500}},
	 1000000000,
	 20 * MS,
	 20 * MS},
	{"two readings of the same tick are one",
	 3,
	 {{0, 0}, {0, 50}, {40 * MS, 20 * MS}},
	 1000000000,
	 20 * MS,
	 10 * MS},
	{"without a rate a tick is a nanosecond", 1, {{0, 0}}, 0, 77, 77},
	{"far ahead is as far as it goes", 1, {{0, 0}}, 1, UINT64_MAX, TRC_TIME_NS_MAX},
	{"far back, too", 1, {{UINT64_MAX, 0}}, 1, 0, -TRC_TIME_NS_MAX},
	{"a slope out of this world", 2, {{0, 0}, {1, UINT64_MAX}}, 1000000000, 2, TRC_TIME_NS_MAX},
	{"a clock that hardly moves",
	 2,
	 {{0, 0}, {UINT64_MAX, 20 * MS}},
	 1,
	 UINT64_MAX / 2,
	 10 * MS - 1},
};

static struct trc_clockmap make(size_t i)
{
	struct trc_sync_point sync[POINTS_MAX] = {0};
	struct trc_clockmap map;

	for (size_t p = 0; p < conversions[i].n; p++) {
		sync[p].ticks = conversions[i].sync[p][0];
		sync[p].monotonic_raw_ns = conversions[i].sync[p][1];
	}
	ck_assert_int_eq(
		trc_clockmap_init(&map, sync, conversions[i].n, conversions[i].ticks_per_second, 0),
		0);
	return map;
}

START_TEST(ticks_become_trace_time)
{
	struct trc_clockmap map = make((size_t)_i);
	uint64_t ticks = conversions[_i].ticks;
	int64_t ns = trc_clockmap_ns(&map, ticks);

	ck_assert_msg(ns == conversions[_i].ns, "%s: %lld", conversions[_i].what, (long long)ns);
	trc_clockmap_convert(&map, &ticks, 1);
	ck_assert_int_eq((int64_t)ticks, ns);
	trc_clockmap_free(&map);
}
END_TEST

START_TEST(time_never_goes_back)
{
	for (int round = 0; round < 300; round++) {
		struct trc_sync_point sync[8] = {0};
		size_t n = random_next() % 8;
		struct trc_clockmap map;
		int64_t last = INT64_MIN;
		uint64_t probe[64], many[64];

		for (size_t p = 0; p < n; p++) {
			sync[p].ticks = random_wide();
			sync[p].monotonic_raw_ns = random_wide();
		}
		for (int i = 0; i < 64; i++)
			probe[i] = i ? probe[i - 1] + (random_wide() >> 6) : 0;
		for (size_t p = 0; p < n && n < 8; p++) /* around the points it is most likely */
			probe[p * 3 + 1] = sync[p].ticks;
		for (int i = 1; i < 64; i++)
			if (probe[i] < probe[i - 1])
				probe[i] = probe[i - 1];
		ck_assert_int_eq(trc_clockmap_init(&map, sync, n, random_wide(), 5), 0);
		memcpy(many, probe, sizeof(many));
		trc_clockmap_convert(&map, many, 64);
		for (int i = 0; i < 64; i++) {
			int64_t ns = trc_clockmap_ns(&map, probe[i]);

			ck_assert_int_ge(ns, -TRC_TIME_NS_MAX);
			ck_assert_int_le(ns, TRC_TIME_NS_MAX);
			ck_assert_int_ge(ns, last);
			ck_assert_int_eq(ns, (int64_t)many[i]);
			last = ns;
		}
		trc_clockmap_free(&map);
	}
}
END_TEST

START_TEST(without_sync_points_time_counts_from_the_first_event)
{
	struct trc_clockmap map;

	ck_assert_int_eq(trc_clockmap_init(&map, NULL, 0, 1000000000, 700), 0);
	ck_assert_int_eq(trc_clockmap_ns(&map, 700), 0);
	ck_assert_int_eq(trc_clockmap_ns(&map, 1000), 300);
	trc_clockmap_free(&map);
}
END_TEST

Suite *suite_clock(void)
{
	Suite *s = suite_create("clock");
	TCase *t = tcase_create("clock");

	tcase_add_loop_test(t, ticks_become_trace_time, 0,
			    sizeof(conversions) / sizeof(conversions[0]));
	tcase_add_test(t, time_never_goes_back);
	tcase_add_test(t, without_sync_points_time_counts_from_the_first_event);
	suite_add_tcase(s, t);
	return s;
}
