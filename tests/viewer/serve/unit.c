/* unit.c - trace-view: who may ask for what, when the last page is closed, and which snapshots are there. */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "format/schema.h"
#include "unit_cache.h"
#include "viewer/serve/overview.h"
#include "viewer/serve/route.h"
#include "viewer/serve/snapshots.h"
#include "viewer/serve/visitors.h"

#define TOKEN "0123456789abcdef0123456789abcdef"
#define KEY   "fedcba9876543210fedcba9876543210"

static struct trc_access access_of(bool key_is_used)
{
	return (struct trc_access){.token = TOKEN, .key = KEY, .key_is_used = key_is_used};
}

static const struct {
	const char *what, *method, *path, *host, *id;
	enum trc_wanted wanted;
	unsigned int status;
} routes[] = {
	{"the frame", "GET", "/" TOKEN "/", "127.0.0.1:80", NULL, TRC_WANTED_FRAME, 0},
	{"the page", "GET", "/" TOKEN "/page", "localhost:80", NULL, TRC_WANTED_PAGE, 0},
	{"behind a tunnel", "GET", "/" TOKEN "/page", "LOCALHOST", NULL, TRC_WANTED_PAGE, 0},
	{"by the number of IPv6", "GET", "/" TOKEN "/", "[::1]:9", NULL, TRC_WANTED_FRAME, 0},
	{"without the last slash", "GET", "/" TOKEN, "localhost", NULL, TRC_WANTED_START, 0},
	{"the key", "GET", "/" KEY, "localhost", NULL, TRC_WANTED_START, 0},
	{"a frame is there", "GET", "/" TOKEN "/alive", "localhost", "7", TRC_WANTED_ALIVE, 0},
	{"a frame is left", "GET", "/" TOKEN "/gone", "localhost", "7", TRC_WANTED_GONE, 0},
	{"nobody in particular", "GET", "/" TOKEN "/alive", "localhost", NULL, TRC_WANTED_NOTHING,
	 400},
	{"less than nobody", "GET", "/" TOKEN "/alive", "localhost", "-1", TRC_WANTED_NOTHING, 400},
	{"too many", "GET", "/" TOKEN "/alive", "localhost", "18446744073709551616",
	 TRC_WANTED_NOTHING, 400},
	{"no number", "GET", "/" TOKEN "/alive", "localhost", "7x", TRC_WANTED_NOTHING, 400},
	{"no token", "GET", "/", "localhost", NULL, TRC_WANTED_NOTHING, 403},
	{"nothing at all", "GET", "", "localhost", NULL, TRC_WANTED_NOTHING, 403},
	{"no token, but a page", "GET", "/page", "localhost", NULL, TRC_WANTED_NOTHING, 403},
	{"half a token", "GET", "/0123456789abcdef/", "localhost", NULL, TRC_WANTED_NOTHING, 403},
	{"the token twice", "GET", "/" TOKEN TOKEN "/", "localhost", NULL, TRC_WANTED_NOTHING, 403},
	{"the token in capitals", "GET", "/0123456789ABCDEF0123456789ABCDEF/", "localhost", NULL,
	 TRC_WANTED_NOTHING, 403},
	{"the token is not the first", "GET", "/x/" TOKEN "/", "localhost", NULL,
	 TRC_WANTED_NOTHING, 403},
	{"two slashes", "GET", "//" TOKEN "/", "localhost", NULL, TRC_WANTED_NOTHING, 403},
	{"the key opens no page", "GET", "/" KEY "/page", "localhost", NULL, TRC_WANTED_NOTHING,
	 403},
	{"the key has no slash", "GET", "/" KEY "/", "localhost", NULL, TRC_WANTED_NOTHING, 403},
	{"a snapshot without the token", "GET", "/take", "localhost", "7", TRC_WANTED_NOTHING, 403},
	{"a snapshot for another host", "GET", "/" TOKEN "/take", "evil.example", "7",
	 TRC_WANTED_NOTHING, 403},
	{"a snapshot by POST", "POST", "/" TOKEN "/take", "localhost", "7", TRC_WANTED_NOTHING,
	 405},
	{"no such page", "GET", "/" TOKEN "/pages", "localhost", NULL, TRC_WANTED_NOTHING, 404},
	{"deeper", "GET", "/" TOKEN "/page/", "localhost", NULL, TRC_WANTED_NOTHING, 404},
	{"HEAD", "HEAD", "/" TOKEN "/page", "localhost", NULL, TRC_WANTED_NOTHING, 405},
	{"POST", "POST", "/" TOKEN "/page", "localhost", NULL, TRC_WANTED_NOTHING, 405},
	{"a name of the world's", "GET", "/" TOKEN "/", "evil.example", NULL, TRC_WANTED_NOTHING,
	 403},
	{"one that begins as ours", "GET", "/" TOKEN "/", "localhost.evil.example", NULL,
	 TRC_WANTED_NOTHING, 403},
	{"a number that does", "GET", "/" TOKEN "/", "127.0.0.1.evil.example", NULL,
	 TRC_WANTED_NOTHING, 403},
	{"a port that is a name", "GET", "/" TOKEN "/", "localhost:80.evil.example", NULL,
	 TRC_WANTED_NOTHING, 403},
	{"no host", "GET", "/" TOKEN "/", NULL, NULL, TRC_WANTED_NOTHING, 403},
	{"an empty one", "GET", "/" TOKEN "/", "", NULL, TRC_WANTED_NOTHING, 403},
};

START_TEST(routes_are)
{
	const struct trc_asking asking = {.method = routes[_i].method,
					  .path = routes[_i].path,
					  .host = routes[_i].host,
					  .id = routes[_i].id};
	struct trc_access access = access_of(false);
	struct trc_route r = trc_route_find(&access, &asking);

	ck_assert_msg(r.wanted == routes[_i].wanted, "%s: wanted %d", routes[_i].what, r.wanted);
	if (!r.wanted)
		ck_assert_msg(r.status == routes[_i].status && r.why, "%s: status %u",
			      routes[_i].what, r.status);
	if (routes[_i].id && r.wanted)
		ck_assert_uint_eq(r.id, 7);
}
END_TEST

static const struct {
	const char *from, *to;
	bool is_good;
	struct trc_window window;
} windows[] = {
	{NULL, NULL, true, {0, 0}},
	{"0", "1", true, {0, 1}},
	{"5", "9223372036854775807", true, {5, INT64_MAX}},
	{"5", NULL, false, {0, 0}},
	{NULL, "5", false, {0, 0}},
	{"5", "5", false, {0, 0}},
	{"6", "5", false, {0, 0}},
	{"-1", "5", false, {0, 0}},
	{"", "5", false, {0, 0}},
	{"1", "5s", false, {0, 0}},
	{"1", "9223372036854775808", false, {0, 0}},
};

START_TEST(windows_are)
{
	const struct trc_asking asking = {
		.method = "GET",
		.path = "/" TOKEN "/page",
		.host = "localhost",
		.from = windows[_i].from,
		.to = windows[_i].to,
	};
	struct trc_access access = access_of(false);
	struct trc_route r = trc_route_find(&access, &asking);

	ck_assert_int_eq(r.wanted, windows[_i].is_good ? TRC_WANTED_PAGE : TRC_WANTED_NOTHING);
	ck_assert_uint_eq(r.status, windows[_i].is_good ? 0 : 400);
	ck_assert_int_eq(r.window.from_ns, windows[_i].window.from_ns);
	ck_assert_int_eq(r.window.to_ns, windows[_i].window.to_ns);
}
END_TEST

static const struct {
	const char *what, *path, *last, *id, *shown, *snapshot, *from;
	enum trc_wanted wanted;
	uint64_t last_ns, visitor, number;
} snapshots[] = {
	{"the last second", "/take", "1000000000", "7", "3", NULL, NULL, TRC_WANTED_TAKE,
	 1000000000, 7, 3},
	{"all", "/take", "0", NULL, NULL, NULL, NULL, TRC_WANTED_TAKE, 0, 0, 0},
	{"longer than there is time", "/take", "9223372036854775808", "7", NULL, NULL, NULL,
	 TRC_WANTED_NOTHING, 0, 0, 0},
	{"before now", "/take", "-1", "7", NULL, NULL, NULL, TRC_WANTED_NOTHING, 0, 0, 0},
	{"in seconds", "/take", "1s", "7", NULL, NULL, NULL, TRC_WANTED_NOTHING, 0, 0, 0},
	{"of no length", "/take", "", "7", NULL, NULL, NULL, TRC_WANTED_NOTHING, 0, 0, 0},
	{"without a length", "/take", NULL, "7", NULL, NULL, NULL, TRC_WANTED_NOTHING, 0, 0, 0},
	{"for no page", "/take", "0", "x", NULL, NULL, NULL, TRC_WANTED_NOTHING, 0, 0, 0},
	{"in place of nothing that is", "/take", "0", "7", "x", NULL, NULL, TRC_WANTED_NOTHING, 0,
	 0, 0},
	{"its page", "/page", NULL, NULL, NULL, "3", NULL, TRC_WANTED_SNAPSHOT_PAGE, 0, 0, 3},
	{"a part of it", "/page", NULL, NULL, NULL, "3", "5", TRC_WANTED_NOTHING, 0, 0, 0},
	{"its page by another name", "/page", NULL, NULL, NULL, "../3", NULL, TRC_WANTED_NOTHING, 0,
	 0, 0},
	{"to be kept", "/keep", NULL, NULL, NULL, "3", NULL, TRC_WANTED_KEEP, 0, 0, 3},
	{"nothing to be kept", "/keep", NULL, NULL, NULL, NULL, NULL, TRC_WANTED_NOTHING, 0, 0, 0},
	{"its trace", "/trace", NULL, NULL, NULL, "18446744073709551615", NULL, TRC_WANTED_TRACE, 0,
	 0, UINT64_MAX},
	{"one too many", "/trace", NULL, NULL, NULL, "18446744073709551616", NULL,
	 TRC_WANTED_NOTHING, 0, 0, 0},
	{"one below none", "/trace", NULL, NULL, NULL, "-1", NULL, TRC_WANTED_NOTHING, 0, 0, 0},
};

START_TEST(sql_box_can_be_left_out)
{
	struct trc_asking asking = {.method = "GET",
				    .path = "/" TOKEN "/page",
				    .host = "localhost",
				    .snapshot = "3",
				    .without = "sql"};
	struct trc_access access = access_of(false);

	ck_assert(trc_route_find(&access, &asking).without_sql);
	asking.path = "/" TOKEN "/sql";
	ck_assert_uint_eq(trc_route_find(&access, &asking).status, 400);
	asking.query = "SELECT 1";
	ck_assert_int_eq(trc_route_find(&access, &asking).wanted, TRC_WANTED_SQL);
	ck_assert_str_eq(trc_route_find(&access, &asking).query, "SELECT 1");
	asking.path = "/sql";
	ck_assert_uint_eq(trc_route_find(&access, &asking).status, 403);
	asking.path = "/" TOKEN "/page";
	asking.without = "everything";
	ck_assert(!trc_route_find(&access, &asking).without_sql);
	asking.without = NULL;
	ck_assert(!trc_route_find(&access, &asking).without_sql);
	asking = (struct trc_asking){.method = "GET",
				     .path = "/" TOKEN "/take",
				     .host = "localhost",
				     .last = "0",
				     .without = "sql"};
	ck_assert(trc_route_find(&access, &asking).without_sql);
}
END_TEST

START_TEST(a_window_can_be_saved)
{
	struct trc_asking asking = {.method = "GET",
				    .path = "/" TOKEN "/page",
				    .host = "localhost",
				    .from = "5",
				    .to = "9",
				    .save = "1"};
	struct trc_access access = access_of(false);

	ck_assert(trc_route_find(&access, &asking).saves);
	asking.save = "0";
	ck_assert(!trc_route_find(&access, &asking).saves);
	asking.save = NULL;
	ck_assert(!trc_route_find(&access, &asking).saves);
}
END_TEST

START_TEST(snapshots_are_asked_for)
{
	char path[TRC_TOKEN_BYTES + 16];
	const struct trc_asking asking = {.method = "GET",
					  .path = path,
					  .host = "localhost",
					  .last = snapshots[_i].last,
					  .id = snapshots[_i].id,
					  .shown = snapshots[_i].shown,
					  .snapshot = snapshots[_i].snapshot,
					  .from = snapshots[_i].from};
	struct trc_access access = access_of(false);
	struct trc_route r;

	snprintf(path, sizeof(path), "/" TOKEN "%s", snapshots[_i].path);
	r = trc_route_find(&access, &asking);
	ck_assert_msg(r.wanted == snapshots[_i].wanted, "%s: wanted %d", snapshots[_i].what,
		      r.wanted);
	if (!r.wanted) {
		ck_assert_msg(r.status == 400 && r.why, "%s: status %u", snapshots[_i].what,
			      r.status);
		return;
	}
	ck_assert_uint_eq(r.last_ns, snapshots[_i].last_ns);
	ck_assert_uint_eq(r.id, snapshots[_i].visitor);
	ck_assert_uint_eq(r.snapshot, snapshots[_i].number);
}
END_TEST

/* A file that a snapshot may be in. */
static uint64_t take(struct trc_snapshots *all, uint64_t visitor, uint64_t shown)
{
	const struct trc_view_snapshot snapshot = {.visitor = visitor,
						   .fd = open("/dev/null", O_RDONLY | O_CLOEXEC)};

	ck_assert_int_ge(snapshot.fd, 0);
	return trc_snapshots_add(all, &snapshot, shown);
}

START_TEST(page_has_its_snapshot_and_the_next)
{
	struct trc_snapshots all = {0};
	uint64_t first = take(&all, 7, 0), other = take(&all, 8, 0), second = take(&all, 7, first),
		 third;
	int fd;

	ck_assert_ptr_nonnull(trc_snapshots_find(&all, first)); /* it is on the screen */
	fd = trc_snapshots_find(&all, first)->fd;
	third = take(&all, 7, second);
	ck_assert_ptr_null(trc_snapshots_find(&all, first));
	ck_assert_int_eq(fcntl(fd, F_GETFD), -1);
	ck_assert_ptr_nonnull(trc_snapshots_find(&all, second));
	ck_assert_ptr_nonnull(trc_snapshots_find(&all, third));
	ck_assert_ptr_nonnull(trc_snapshots_find(&all, other)); /* another page's */
	ck_assert_ptr_null(trc_snapshots_find(&all, 0));
	ck_assert_ptr_null(trc_snapshots_find(&all, third + 1));
	trc_snapshots_free(&all);
}
END_TEST

START_TEST(kept_snapshots_stay)
{
	struct trc_snapshots all = {0};
	uint64_t kept = take(&all, 7, 0);

	ck_assert_int_eq(trc_snapshots_keep(&all, kept), 0);
	ck_assert_int_eq(trc_snapshots_keep(&all, kept), 0);
	for (int i = 0; i < 3 * TRC_SNAPSHOTS_MAX; i++)
		take(&all, 7, 0);
	ck_assert_ptr_nonnull(trc_snapshots_find(&all, kept));
	ck_assert_int_eq(trc_snapshots_keep(&all, kept + 1), -ENOENT);
	trc_snapshots_free(&all);
}
END_TEST

START_TEST(only_so_many_snapshots_are_kept)
{
	struct trc_snapshots all = {0};
	uint64_t last;

	for (int i = 0; i < TRC_SNAPSHOTS_KEPT_MAX; i++)
		ck_assert_int_eq(trc_snapshots_keep(&all, take(&all, 7, 0)), 0);
	last = take(&all, 7, 0);
	ck_assert_int_eq(trc_snapshots_keep(&all, last), -ENOSPC);
	ck_assert_ptr_nonnull(trc_snapshots_find(&all, last)); /* it can still be looked at */
	trc_snapshots_free(&all);
}
END_TEST

START_TEST(snapshots_of_nobody_are_few)
{
	struct trc_snapshots all = {0};
	uint64_t first = take(&all, 0, 0), last = first;

	for (int i = 0; i < 3 * TRC_SNAPSHOTS_MAX; i++)
		last = take(&all, 0, 0);
	ck_assert_uint_eq(all.n, TRC_SNAPSHOTS_MAX);
	ck_assert_ptr_null(trc_snapshots_find(&all, first));
	ck_assert_ptr_nonnull(trc_snapshots_find(&all, last));
	trc_snapshots_free(&all);
	ck_assert_uint_eq(all.n, 0);
}
END_TEST

START_TEST(key_opens_once)
{
	const struct trc_asking asking = {.method = "GET", .path = "/" KEY, .host = "localhost"};
	const struct trc_asking elsewhere = {
		.method = "GET", .path = "/" KEY, .host = "evil.example"};
	struct trc_access access = access_of(false);

	/* Who may not use it uses it not up. */
	ck_assert_uint_eq(trc_route_find(&access, &elsewhere).status, 403);
	ck_assert_int_eq(trc_route_find(&access, &asking).wanted, TRC_WANTED_START);
	ck_assert_uint_eq(trc_route_find(&access, &asking).status, 403);
}
END_TEST

START_TEST(tokens_are_random)
{
	struct trc_access one, other;

	ck_assert_int_eq(trc_access_init(&one), 0);
	ck_assert_int_eq(trc_access_init(&other), 0);
	ck_assert_uint_eq(strspn(one.token, "0123456789abcdef"), 32);
	ck_assert_uint_eq(strlen(one.key), 32);
	ck_assert_str_ne(one.token, one.key);
	ck_assert_str_ne(one.token, other.token);
	ck_assert_str_ne(one.key, other.key);
}
END_TEST

START_TEST(nobody_has_come)
{
	struct trc_visitors v = {0};

	ck_assert(!trc_visitors_are_over(&v, 1));
	ck_assert(!trc_visitors_are_over(&v, UINT64_C(1) << 40));
	trc_visitor_gone(&v, 7, 10); /* who was never here */
	ck_assert(!trc_visitors_are_over(&v, UINT64_C(1) << 40));
}
END_TEST

START_TEST(last_page_is_closed)
{
	struct trc_visitors v = {0};

	trc_visitor_heard(&v, 1, 1000);
	trc_visitor_heard(&v, 2, 1500);
	trc_visitor_heard(&v, 1, 2000);
	trc_visitor_gone(&v, 1, 3000);
	ck_assert(!trc_visitors_are_over(&v, 3000 + TRC_VISITORS_GRACE_MS));
	trc_visitor_gone(&v, 2, 20000);
	ck_assert(!trc_visitors_are_over(&v, 20000));
	ck_assert(!trc_visitors_are_over(&v, 20000 + TRC_VISITORS_GRACE_MS - 1));
	ck_assert(trc_visitors_are_over(&v, 20000 + TRC_VISITORS_GRACE_MS));
	trc_visitor_heard(&v, 3, 20100); /* the page was loaded again */
	ck_assert(!trc_visitors_are_over(&v, 20100 + TRC_VISITORS_GRACE_MS));
}
END_TEST

START_TEST(silence_is_absence)
{
	struct trc_visitors v = {0};

	trc_visitor_heard(&v, 1, 1000);
	trc_visitor_heard(&v, 2, 1000);
	/* A page in the background speaks once a minute. */
	trc_visitor_heard(&v, 2, 61000);
	ck_assert(!trc_visitors_are_over(&v, 1000 + TRC_VISITOR_SILENT_MS));
	ck_assert_uint_eq(v.n, 1);
	ck_assert(!trc_visitors_are_over(&v, 61000 + TRC_VISITOR_SILENT_MS - 1));
	ck_assert(trc_visitors_are_over(&v, 61000 + TRC_VISITOR_SILENT_MS));
}
END_TEST

START_TEST(many_are_few)
{
	struct trc_visitors v = {0};

	for (uint64_t i = 0; i < 3 * TRC_VISITORS_MAX; i++)
		trc_visitor_heard(&v, i, 1000 + i);
	ck_assert_uint_eq(v.n, TRC_VISITORS_MAX);
	/* Those that were heard of last are known. */
	for (uint64_t i = 2 * TRC_VISITORS_MAX; i < 3 * TRC_VISITORS_MAX; i++)
		trc_visitor_gone(&v, i, 5000);
	ck_assert(trc_visitors_are_over(&v, 5000 + TRC_VISITORS_GRACE_MS));
}
END_TEST

/* ---- a trace of blocks of a second, in place of a reader ---- */

static uint32_t of_kind[TRC_KIND_MAX + 1];
static struct trc_block_info second;
static size_t n_seconds;

size_t trc_reader_blocks(const struct trc_reader *r)
{
	(void)r;
	return n_seconds;
}

const struct trc_block_info *trc_reader_block(const struct trc_reader *r, size_t i)
{
	(void)r;
	second.first_ns = (int64_t)i * 1000000000;
	second.last_ns = second.first_ns + 999999999;
	return &second;
}

static const struct {
	const char *what;
	uint64_t each, wanted; /* events in a second of a hundred; for --events */
	int64_t to_s;	       /* up to where the first part goes; 0 = all is shown */
} firsts[] = {
	{"four million are shown as a whole", 40000, 0, 0},
	{"of more a hundred thousand", 50000, 0, 2},
	{"of many more as well", 100000, 0, 1},
	{"twice as many as were asked for are shown", 100, 5000, 0},
	{"of more those that were asked for", 101, 5000, 49},
	{"all, if somebody wants", 100000, UINT64_MAX, 0},
	{"none", 0, 0, 0},
};

START_TEST(first_part_is)
{
	struct trc_overview o;

	n_seconds = 100;
	second = (struct trc_block_info){.n_events = (uint32_t)firsts[_i].each,
					 .kind_count = of_kind};
	trc_overview_make(&o, NULL, 0, 100000000000, firsts[_i].wanted);
	ck_assert_uint_eq(o.n_events, 100 * firsts[_i].each);
	ck_assert_msg(o.first.to_ns / 1000000000 == firsts[_i].to_s, "%s: to %lld ns",
		      firsts[_i].what, (long long)o.first.to_ns);
}
END_TEST

START_TEST(locks_that_nobody_waited_for_are_not_drawn)
{
	struct trc_overview o;

	n_seconds = 1;
	second = (struct trc_block_info){.n_events = 1000, .kind_count = of_kind};
	of_kind[TRC_KIND_ACQUIRE] = 400;
	of_kind[TRC_KIND_RELEASE] = 300;
	trc_overview_make(&o, NULL, 0, 1000000000, 0);
	ck_assert_uint_eq(o.n_events, 300);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("trace-view");
	TCase *tests = tcase_create("serve");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_add_loop_test(tests, routes_are, 0, (int)(sizeof(routes) / sizeof(*routes)));
	tcase_add_loop_test(tests, windows_are, 0, (int)(sizeof(windows) / sizeof(*windows)));
	tcase_add_loop_test(tests, snapshots_are_asked_for, 0,
			    (int)(sizeof(snapshots) / sizeof(*snapshots)));
	tcase_add_loop_test(tests, first_part_is, 0, (int)(sizeof(firsts) / sizeof(*firsts)));
	tcase_add_test(tests, locks_that_nobody_waited_for_are_not_drawn);
	tcase_add_test(tests, sql_box_can_be_left_out);
	tcase_add_test(tests, a_window_can_be_saved);
	tcase_add_test(tests, page_has_its_snapshot_and_the_next);
	tcase_add_test(tests, kept_snapshots_stay);
	tcase_add_test(tests, only_so_many_snapshots_are_kept);
	tcase_add_test(tests, snapshots_of_nobody_are_few);
	tcase_add_test(tests, key_opens_once);
	tcase_add_test(tests, tokens_are_random);
	tcase_add_test(tests, nobody_has_come);
	tcase_add_test(tests, last_page_is_closed);
	tcase_add_test(tests, silence_is_absence);
	tcase_add_test(tests, many_are_few);
	suite_add_tcase(suite, tests);
	suite_add_tcase(suite, unit_cache());
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
