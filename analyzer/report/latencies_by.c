/* latencies_by.c - how long threads waited for a proc, with --full: by who made them ready, by the proc where they ran then, and by who
 * ran instead. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include "parts.h"

enum by { BY_WAKER, BY_PROC, BY_INSTEAD };

struct group {
	struct trc_report_quantiles latency; /* the first member: trc_report_quantiles() */
	uint64_t key;			     /* a thread's serial, or a proc */
	int64_t total_ns;
};

struct groups {
	struct trc_array groups; /* struct group */
	struct trc_index number;
	struct trc_array values; /* struct trc_key: what is selected of a latency, and its group */
};

static int latency_group_add(struct groups *g, uint64_t key, int64_t ns)
{
	uint32_t number = trc_index_number(&g->number, key);
	struct group *group = number > g->groups.n ? trc_array_add(&g->groups)
						   : (struct group *)g->groups.row + number - 1;
	struct trc_key *value = trc_array_add(&g->values);

	if (!number || !group || !value)
		return -ENOMEM;
	*value = (struct trc_key){ns, number - 1};
	group->key = key;
	group->latency.n++;
	trc_report_add(&group->total_ns, ns);
	return 0;
}

static int longest_group_first(const void *a, const void *b)
{
	const struct group *x = a, *y = b;

	if (x->total_ns != y->total_ns)
		return x->total_ns > y->total_ns ? -1 : 1;
	return (x->key > y->key) - (x->key < y->key);
}

static void latencies_by_print_columns(struct trc_report *r, const char *what)
{
	struct trc_line line;

	trc_line_begin(&line, r->width, r->colour);
	trc_line_style(&line, TRC_STYLE_DIM);
	trc_line_right(&line, 10, "total");
	trc_line_right(&line, 20, "times");
	trc_line_right(&line, 10, "p50");
	trc_line_right(&line, 10, "p99");
	trc_line_right(&line, 10, "longest");
	trc_line_add(&line, "  %s", what);
	trc_line_style(&line, TRC_STYLE_PLAIN);
	trc_report_line(r, &line);
}

static void print_latencies_by(struct trc_report *r, const struct group *group, enum by by)
{
	char number[TRC_NUMBER_BYTES];
	struct trc_line line;

	trc_line_begin(&line, r->width, r->colour);
	trc_line_right(&line, 10, trc_text_duration(number, group->total_ns));
	trc_line_right(&line, 20, trc_text_count(number, group->latency.n));
	trc_line_right(&line, 10, trc_text_duration(number, group->latency.p50_ns));
	trc_line_right(&line, 10, trc_text_duration(number, group->latency.p99_ns));
	trc_line_right(&line, 10, trc_text_duration(number, group->latency.max_ns));
	trc_line_add(&line, "  ");
	if (by == BY_PROC)
		trc_line_add(&line, "proc %" PRIu64, group->key);
	else if (group->key)
		trc_report_thread(r, &line, (uint32_t)group->key, 40);
	else
		trc_line_add(&line, by == BY_WAKER ? "nobody: they were preempted"
						   : "no thread of the program");
	trc_report_line(r, &line);
}

/* Of who ran instead it counts how long, not how long others waited. */
static int groups_add_latency(struct trc_report *r, struct groups *g,
			      const struct trc_latency *latency, enum by by)
{
	int64_t ns;

	if (!trc_report_latency(r, latency, &ns))
		return 0;
	switch (by) {
	case BY_WAKER:
		return latency_group_add(g, latency->waker, ns);
	case BY_PROC:
		return latency_group_add(g, latency->proc, ns);
	case BY_INSTEAD:
		break;
	}
	return latency->instead
		       ? latency_group_add(g, latency->instead,
					   latency->instead_ns < ns ? latency->instead_ns : ns)
		       : 0;
}

static int print_by(struct trc_report *r, const struct trc_latency *latency, size_t n, enum by by)
{
	static const char *const WHAT[] = {
		[BY_WAKER] = "woken or created by",
		[BY_PROC] = "where they ran then",
		[BY_INSTEAD] = "ran instead of them",
	};
	struct groups g = {.groups = {.row_bytes = sizeof(struct group)},
			   .values = {.row_bytes = sizeof(struct trc_key)}};
	struct group *group;
	int err = 0;

	for (size_t i = 0; i < n && !err; i++)
		err = groups_add_latency(r, &g, &latency[i], by);
	if (!err)
		err = trc_report_quantiles(&g.values, g.groups.row, sizeof(struct group),
					   g.groups.n);
	group = g.groups.row;
	if (!err && g.groups.n) {
		qsort(group, g.groups.n, sizeof(*group), longest_group_first);
		latencies_by_print_columns(r, WHAT[by]);
	}
	for (size_t i = 0; i < g.groups.n && !err; i++)
		print_latencies_by(r, &group[i], by);
	trc_array_free(&g.groups);
	trc_array_free(&g.values);
	trc_index_free(&g.number);
	return err;
}

int trc_report_latencies_by(struct trc_report *r, const struct trc_latency *latency, size_t n)
{
	int err = print_by(r, latency, n, BY_WAKER);

	if (!err)
		err = print_by(r, latency, n, BY_PROC);
	return err ? err : print_by(r, latency, n, BY_INSTEAD);
}
