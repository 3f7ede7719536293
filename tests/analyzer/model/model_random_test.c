/*
 * model_random_test.c - traces of events that make no sense together: whatever they say, the
 * model keeps its promises (model.h, analyzer/derive/wakers.c) and every table can be read.
 */
#include <check.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "analyzer/causes/blame.h"
#include "analyzer/causes/task_times.h"
#include "analyzer/check/check.h"
#include "analyzer/model/timeline.h"
#include "analyzer/model/waits.h"
#include "analyzer/report/report.h"
#include "analyzer/why/window.h"
#include "analyzer/sql/sql.h"
#include "analyzer/sql/table.h"
#include "model_fixture.h"
#include "tests/suite.h"

enum { SEEDS = 60, EVENTS = 250, THREADS = 5, TEXT_BYTES = 64 * 1024 };

static uint64_t state;

static unsigned int draw(unsigned int limit)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (unsigned int)((state >> 33) % limit);
}

static const char *const reasons[] = {"mutex",	 "rwlock_read", "cond", "cond_mutex", "sem",
				      "barrier", "join",	"user", "read"};

/* Some of them as large as they get. */
static const char *const fibers[] = {"0", "1", "2", "3", "~0", "0x8000000000000000"};

static size_t put_fiber_event(char *text, size_t room)
{
	static const char *const kinds[] = {"create", "ready", "end"};
	const char *fiber = fibers[draw(6)], *left = fibers[draw(6)];
	unsigned int kind = draw(9), stack = draw(4);

	if (kind > 2)
		return (size_t)snprintf(
			text, room, "fiber_switch fiber=%s left=%s reason=%s object=%u stack=%u",
			fiber, left, draw(2) ? reasons[draw(9)] : "0", draw(3), stack);
	return (size_t)snprintf(text, room,
				kind == 2 ? "fiber_%s fiber=%s" : "fiber_%s fiber=%s stack=%u",
				kinds[kind], fiber, stack);
}

static size_t put_event(char *text, size_t room, unsigned int kind)
{
	const char *reason = reasons[draw(9)];
	unsigned int object = draw(3), small = draw(40), stack = draw(4);

	switch (kind) {
	case 0:
	case 1:
		return (size_t)snprintf(text, room, "park reason=%s object=%u holder=%u stack=%u",
					reason, object, draw(THREADS), stack);
	case 2:
	case 3:
		return (size_t)snprintf(text, room, "resume reason=%s object=%u result=%u", reason,
					object, draw(3) ? 0 : 110);
	case 4:
		return (size_t)snprintf(text, room, "unlock reason=%s object=%u stack=%u at=%u",
					reason, object, stack, small * 50);
	case 5:
		return (size_t)snprintf(text, room, "unpark reason=%s object=%u count=%s stack=%u",
					reason, object, draw(2) ? "1" : "~0", stack);
	case 6:
		return (size_t)snprintf(text, room, "wait reason=%s object=%u since=%u stack=%u",
					reason, object, small * 100, stack);
	case 7:
		return (size_t)snprintf(text, room,
					draw(2) ? "region_begin type=\"r\"" : "region_end");
	case 8:
		return (size_t)snprintf(text, room, "task_%s task=%u", draw(2) ? "begin" : "end",
					small);
	case 9:
		return (size_t)snprintf(text, room, "gap lost_events=%u since=%u cause=ring_full",
					small, small * 100);
	case 10:
		return (size_t)snprintf(text, room, draw(2) ? "thread_exit" : "thread_start tid=9");
	case 11:
		return (size_t)snprintf(text, room, draw(2) ? "proc_start" : "proc_stop");
	case 12:
	case 13:
	case 14:
		return put_fiber_event(text, room);
	case 15:
		return (size_t)snprintf(text, room, "process what=%u value=1", 1 + draw(9) / 8);
	default:
		return (size_t)snprintf(text, room, "log task=%u message=\"m\"", small);
	}
}

static const char *random_text(void)
{
	static char text[TEXT_BYTES];
	size_t n = 0;

	n += (size_t)snprintf(text + n, sizeof(text) - n,
			      "stack a 0x1 0x2 0x3\nstack b 0x9 0x1 0x2 0x3\nstack c 0x4 0x3\n");
	for (unsigned int i = 1; i < THREADS; i++)
		n += (size_t)snprintf(text + n, sizeof(text) - n,
				      "thread %u tid=%u start=%u end=%u\n", i, 100 + i,
				      draw(2) * 300, draw(3) ? 0 : 2000);
	for (unsigned int i = 0, time = 100; i < EVENTS; i++) {
		unsigned int kind = draw(17);

		n += (size_t)snprintf(text + n, sizeof(text) - n,
				      "@%u proc=%u source=%s thread=%u ", time, draw(3),
				      kind == 11 ? "kernel"
				      : draw(9)	 ? "ring"
						 : "overflow",
				      1 + draw(THREADS - 1));
		n += put_event(text + n, sizeof(text) - n, kind);
		n += (size_t)snprintf(text + n, sizeof(text) - n, "\n");
		time += draw(40);
	}
	for (unsigned int i = 1; i < THREADS; i++)
		n += (size_t)snprintf(text + n, sizeof(text) - n,
				      "status thread=%u reason=%s object=%u since=%u\n", i,
				      draw(2) ? reasons[draw(9)] : "0", draw(3), draw(4000));
	for (unsigned int i = 1; i < THREADS; i++)
		if (draw(2))
			n += (size_t)snprintf(text + n, sizeof(text) - n,
					      "thread_fiber thread=%u fiber=%s\n", i,
					      fibers[draw(6)]);
	if (!draw(3))
		n += (size_t)snprintf(text + n, sizeof(text) - n,
				      "coverage proc=0 source=%s held=%u from=1000 to=%u\n",
				      draw(3) ? "ring" : "kernel", draw(2) * 900,
				      1500 + draw(5000));
	ck_assert_uint_lt(n, sizeof(text));
	return text;
}

static void check_parks(const struct trc_model *m, size_t n_unlocks)
{
	int64_t before_ns = INT64_MIN;
	size_t n;
	const struct trc_park *park = trc_model_parks(m, &n);

	for (size_t i = 0; i < n; i++) {
		ck_assert_int_ge(park[i].start_ns, before_ns);
		before_ns = park[i].start_ns;
		ck_assert(park[i].end_ns == TRC_NEVER || park[i].end_ns >= park[i].start_ns);
		ck_assert_int_eq(park[i].end_ns == TRC_NEVER, park[i].flags == TRC_PARK_OPEN);
		ck_assert(park[i].wake_ns == TRC_NEVER || (park[i].wake_ns >= park[i].start_ns &&
							   park[i].wake_ns <= park[i].end_ns));
		ck_assert_uint_le(park[i].unlock, n_unlocks);
		ck_assert_ptr_nonnull(trc_model_thread(m, park[i].thread));
	}
}

/* writer:W1, and model:M3. Returns how many there are. */
static size_t check_unlocks(const struct trc_model *m)
{
	int64_t waited_ns = 0, caused_ns = 0;
	size_t n, n_parks;
	const struct trc_unlock *unlock = trc_model_unlocks(m, &n);
	const struct trc_park *park = trc_model_parks(m, &n_parks);

	for (size_t i = 0; i < n_parks; i++)
		if (trc_reason_is_lock(park[i].reason))
			waited_ns += (park[i].end_ns == TRC_NEVER ? trc_model_end_ns(m)
								  : park[i].end_ns) -
				     park[i].start_ns;
	for (size_t i = 0; i < n; i++) {
		ck_assert_int_ge(unlock[i].caused_ns, 0);
		ck_assert(!i || unlock[i].ts_ns >= unlock[i - 1].ts_ns);
		caused_ns += unlock[i].caused_ns;
	}
	ck_assert_int_le(caused_ns, waited_ns);
	return n;
}

static void check_threads(const struct trc_model *m)
{
	int64_t length_ns = trc_model_end_ns(m) - trc_model_start_ns(m);
	size_t n;
	const struct trc_thread *thread = trc_model_threads(m, &n);

	for (size_t i = 0; i < n; i++) {
		ck_assert_int_ge(thread[i].parked_ns, 0);
		ck_assert_int_le(thread[i].parked_ns, length_ns);
		ck_assert_int_ge(thread[i].last_ns, thread[i].first_ns);
	}
}

static void check_regions(const struct trc_model *m)
{
	size_t n;
	const struct trc_region *region = trc_model_regions(m, &n);

	for (size_t i = 0; i < n; i++)
		ck_assert_uint_lt(region[i].depth, EVENTS);
}

/* A time within the trace, at or after another one. */
static void check_span(const struct trc_model *m, int64_t start_ns, int64_t end_ns, bool open)
{
	ck_assert_int_ge(start_ns, trc_model_start_ns(m));
	ck_assert_int_ge(start_ns, trc_model_window_ns(m));
	ck_assert_int_eq(end_ns == TRC_NEVER, open);
	if (!open)
		ck_assert_int_ge(end_ns, start_ns);
}

static void check_fibers(const struct trc_model *m)
{
	int64_t run_ns = 0, before_ns = INT64_MIN;
	uint32_t n_runs = 0, n_waits = 0;
	size_t n, n_fibers;
	const struct trc_fiber *fiber = trc_model_fibers(m, &n_fibers);
	const struct trc_fiber_run *run = trc_model_fiber_runs(m, &n);
	const struct trc_fiber_wait *wait;
	int64_t ran_until_ns[THREADS] = {0};

	for (size_t i = 0; i < n; i++, run++) {
		check_span(m, run->start_ns, run->end_ns, run->flags & TRC_FIBER_RUN_OPEN);
		ck_assert(run->fiber && run->fiber <= n_fibers);
		/* A thread is in one fiber at a time. */
		ck_assert_int_ge(run->start_ns, ran_until_ns[run->thread]);
		ran_until_ns[run->thread] = run->end_ns == TRC_NEVER ? INT64_MAX : run->end_ns;
		ck_assert_int_ge(run->start_ns, before_ns);
		before_ns = run->start_ns;
		if (run->end_ns != TRC_NEVER)
			ck_assert_uint_eq(
				trc_model_fiber_at(m, run->thread, run->end_ns - 1, TRC_PLACE_LAST),
				run->fiber);
	}
	n_runs = (uint32_t)n;
	wait = trc_model_fiber_waits(m, &n);
	for (size_t i = 0; i < n; i++, wait++) {
		check_span(m, wait->start_ns, wait->end_ns, wait->flags & TRC_FIBER_WAIT_OPEN);
		ck_assert(wait->fiber && wait->fiber <= n_fibers && wait->waker_fiber <= n_fibers);
		ck_assert_int_lt(wait->flags, 16);
		if (wait->ready_ns != TRC_NEVER) {
			ck_assert_int_ge(wait->ready_ns, wait->start_ns);
			ck_assert(wait->end_ns == TRC_NEVER || wait->ready_ns <= wait->end_ns);
		}
	}
	n_waits = (uint32_t)n;
	for (size_t i = 0; i < n_fibers; i++, fiber++) {
		ck_assert(fiber->fiber && fiber->creator <= n_fibers);
		ck_assert(!i || (int64_t)fiber->fiber > (int64_t)fiber[-1].fiber);
		ck_assert(fiber->run_ns >= 0 && fiber->runnable_ns >= 0 && fiber->waited_ns >= 0);
		n_runs -= fiber->n_runs;
		n_waits -= fiber->n_waits;
		run_ns += fiber->run_ns;
	}
	ck_assert(!n_runs && !n_waits);
	ck_assert_int_le(run_ns, THREADS * (trc_model_end_ns(m) - trc_model_start_ns(m)));
}

static bool all_wanted(void *context, const struct trc_park *park, uint32_t *labels)
{
	*labels = 0;
	return true;
}

static int sum_blame(void *context, const struct trc_blame *blame)
{
	ck_assert_int_gt(blame->ns, 0);
	*(int64_t *)context += blame->ns;
	return 0;
}

static int64_t clamp(int64_t ns, int64_t low, int64_t high)
{
	return ns < low ? low : ns > high ? high : ns;
}

/* What a thread waited within its life and the trace. */
static int64_t waited_ns(const struct trc_model *m, const struct trc_thread *t,
			 const struct trc_array *pieces)
{
	int64_t from_ns = trc_model_start_ns(m), to_ns = trc_model_end_ns(m), sum_ns = 0;
	const struct trc_wait_piece *piece = pieces->row;

	from_ns = t->start_ns == TRC_NEVER ? from_ns : clamp(t->start_ns, from_ns, to_ns);
	to_ns = t->end_ns == TRC_NEVER ? to_ns : clamp(t->end_ns, from_ns, to_ns);
	for (size_t i = 0; i < pieces->n; i++)
		if (piece[i].park)
			sum_ns += clamp(i + 1 < pieces->n ? piece[i + 1].start_ns : INT64_MAX,
					from_ns, to_ns) -
				  clamp(piece[i].start_ns, from_ns, to_ns);
	return sum_ns;
}

/* blame:U1, whoever waits for whom. */
static void check_blame(struct trc_model *m)
{
	struct trc_array pieces = {.row_bytes = sizeof(struct trc_wait_piece)};
	struct trc_by_thread parks = {0}, stretches = {0};
	struct trc_error error;
	int64_t blamed_ns = 0, sum_ns = 0;
	const struct trc_blame_target target = {
		.wanted = all_wanted, .charge = sum_blame, .context = &blamed_ns};
	size_t n, n_threads, n_on_cpu;
	const struct trc_park *park = trc_model_parks(m, &n);
	const struct trc_thread *thread = trc_model_threads(m, &n_threads);
	const struct trc_on_cpu *on_cpu;
	uint32_t *outer = trc_waits_nesting(m);

	ck_assert_int_eq(trc_by_thread_make(&parks, m, park, n, sizeof(*park), trc_thread_of_park),
			 0);
	ck_assert_int_eq(trc_model_need(m, TRC_CAUSES_PARTS, &error), 0);
	on_cpu = trc_model_on_cpu(m, &n_on_cpu);
	ck_assert_int_eq(trc_by_thread_make(&stretches, m, on_cpu, n_on_cpu, sizeof(*on_cpu),
					    trc_thread_of_on_cpu),
			 0);
	for (size_t i = 0; i < n_threads; i++) {
		ck_assert_int_eq(trc_wait_pieces_make(&pieces, m, &parks, &stretches, outer, i), 0);
		sum_ns += waited_ns(m, &thread[i], &pieces);
	}
	ck_assert_int_eq(trc_blame_sum(m, &target), 0);
	ck_assert_int_eq(blamed_ns, sum_ns);
	trc_array_free(&pieces);
	trc_by_thread_free(&parks);
	trc_by_thread_free(&stretches);
	free(outer);
}

/* What --why has of a thread's spans for a task: in waits of this reason, or, with 0, in none. */
static int64_t why_ns(struct trc_causes *causes, const struct trc_array *spans, uint64_t task,
		      uint32_t thread, unsigned int reason)
{
	const struct trc_task_span *span = spans->row;
	const struct trc_cause *row;
	int64_t ns = 0;
	size_t n;

	for (size_t i = 0; i < spans->n; i++) {
		if (span[i].task != task || span[i].thread != thread)
			continue;
		ck_assert_int_lt(span[i].from_ns, span[i].to_ns);
		ck_assert_int_eq(trc_causes_of_thread(causes, thread, span[i].from_ns,
						      span[i].to_ns, &row, &n),
				 0);
		for (size_t j = 0; j < n; j++)
			if (!row[j].depth && row[j].reason == reason)
				ns += row[j].to_ns - row[j].from_ns;
	}
	return ns;
}

static int64_t times_ns(const struct trc_array *times, uint64_t task, uint32_t thread,
			unsigned int reason)
{
	const struct trc_task_time *time = times->row;
	int64_t ns = 0;

	for (size_t i = 0; i < times->n; i++)
		if (time[i].task == task && time[i].thread == thread && time[i].reason == reason)
			ns += time[i].ns;
	return ns;
}

/* task_times:U1 and U2, and the same as --why: of each thread that worked for a task. */
static void check_task_times(struct trc_model *m)
{
	struct trc_array spans = {0}, times = {0};
	struct trc_causes *causes;
	struct trc_error error;
	const struct trc_task_span *span;

	ck_assert_int_eq(trc_task_spans_list(m, &spans, &error), 0);
	ck_assert_int_eq(trc_task_times_list(m, &times, &error), 0);
	ck_assert_int_eq(trc_causes_open(&causes, m), 0);
	span = spans.row;
	for (size_t i = 0; i < spans.n; i++)
		for (unsigned int reason = 0; reason < TRC_REASON_COUNT; reason++)
			ck_assert_int_eq(
				times_ns(&times, span[i].task, span[i].thread, reason),
				why_ns(causes, &spans, span[i].task, span[i].thread, reason));
	trc_causes_close(causes);
	trc_array_free(&spans);
	trc_array_free(&times);
}

/* A window's pieces follow each other, and are the window. */
static void check_windows(struct trc_model *m)
{
	const struct trc_report_options options = {0};
	struct trc_causes *causes;
	struct trc_error error;
	struct trc_report r;

	ck_assert_int_eq(trc_report_begin(&r, m, NULL, &options, &error), 0);
	ck_assert_int_eq(trc_report_causes(&r, &causes), 0);
	for (int i = 0; i < 20; i++) {
		int64_t length_ns = r.end_ns - r.start_ns;
		int64_t from_ns = r.start_ns + (int64_t)draw((unsigned int)length_ns);
		int64_t to_ns = from_ns + 1 + (int64_t)draw((unsigned int)(r.end_ns - from_ns));
		struct trc_why_tree tree;
		uint32_t thread;
		int64_t at_ns = from_ns;

		ck_assert_int_eq(trc_why_tree_begin(&tree, &r), 0);
		tree.keeps_path = true;
		ck_assert_int_eq(trc_why_add_window(&tree, causes, from_ns, to_ns, &thread), 0);
		for (size_t k = 0; k < tree.path.n; k++) {
			const struct trc_cause *piece = (struct trc_cause *)tree.path.row + k;

			ck_assert_int_eq(piece->from_ns, at_ns);
			at_ns = piece->to_ns;
		}
		ck_assert(!thread || at_ns == to_ns);
		trc_why_tree_free(&tree);
	}
	trc_report_end(&r);
}

static void read_tables(struct trc_model *m)
{
	struct trc_error error;
	sqlite3 *db;
	const struct trc_sql_table *table;

	ck_assert_int_eq(trc_sql_open(&db, m, &error), 0);
	for (size_t i = 0; (table = trc_sql_table_at(i)); i++) {
		char sql[80];

		snprintf(sql, sizeof(sql), "SELECT * FROM %s", table->name);
		ck_assert_int_eq(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
	}
	ck_assert_int_eq(sqlite3_exec(db, "SELECT * FROM events ORDER BY ts_ns", NULL, NULL, NULL),
			 SQLITE_OK);
	sqlite3_close(db);
}

/* No time of the report is negative: what is not known is not computed with. */
static void read_report(struct trc_model *m)
{
	struct trc_report_options options = {.top = 100};
	struct trc_error error;
	char *text = NULL;
	size_t n_bytes;
	FILE *out = open_memstream(&text, &n_bytes);

	ck_assert_ptr_nonnull(out);
	ck_assert_int_eq(trc_report_print(m, out, &options, &error), 0);
	ck_assert_int_eq(trc_report_summary(m, out, &options, &error), 0);
	ck_assert_int_eq(fclose(out), 0);
	for (const char *at = text; (at = strchr(at, '-')); at++)
		ck_assert_msg(at == text || at[-1] != ' ' || at[1] < '0' || at[1] > '9', "%.80s",
			      at - text > 40 ? at - 40 : text);
	free(text);
}

static void ignore_violation(void *context, const char *text)
{
	ck_assert_uint_gt(strlen(text), 0);
	/* Whatever the events say, what is derived from them agrees. */
	ck_assert_msg(!strstr(text, "causes"), "%s", text);
}

START_TEST(test_random)
{
	struct trc_check_totals totals;
	struct trc_error error;
	struct trc_model *m;

	state = 0x9e3779b97f4a7c15u * (uint64_t)(_i + 1);
	m = model_of(random_text(), TRC_PART_WAITS | TRC_PART_USER | TRC_PART_SCHED);
	check_parks(m, check_unlocks(m));
	check_threads(m);
	check_regions(m);
	check_fibers(m);
	check_blame(m);
	check_task_times(m);
	check_windows(m);
	read_tables(m);
	read_report(m);
	ck_assert_int_eq(trc_check(m, true, ignore_violation, NULL, &totals, &error), 0);
	ck_assert_uint_gt(totals.violations, 0);
	ck_assert_uint_eq(totals.events, EVENTS);
	model_close(m);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("model_random");
	TCase *tcase = tcase_create("random");

	tcase_add_loop_test(tcase, test_random, 0, SEEDS);
	suite_add_tcase(suite, tcase);
	return suite_run(suite);
}
