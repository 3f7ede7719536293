/*
 * latencies.c - how long threads that could run waited for a proc, and who had it: what the table
 * sched_latency has, by threads whose names differ in digits only.
 *
 *   report_latencies:A1  the section is there if some group of threads spent a hundredth of its time waiting so.  With
 *       --full it also has rows by who made the threads ready, and by proc
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "parts.h"
#include "format/check.h"

struct group {
	struct trc_report_quantiles latency; /* the first member: trc_report_quantiles() */
	uint32_t first;			     /* row of its first thread */
	uint32_t n_threads;		     /* that had any */
	int64_t alive_ns, total_ns, preempted_ns, own_ns;
	uint32_t instead; /* row of threads: who ran most of it instead; and how long */
	int64_t instead_ns;
};

struct latencies {
	struct trc_report *r;
	struct trc_array groups; /* struct group */
	struct trc_index number; /* of a group by its name */
	uint32_t *group_of;	 /* by row of threads: number, 0 = none yet */
	struct trc_array values; /* struct trc_key: what is selected of a latency, and its group */
	struct trc_index pair;	 /* of group and who ran instead: the number of a sum */
	struct trc_array instead_ns; /* int64_t, by that */
};

static uint64_t name_key(const struct trc_thread *thread)
{
	struct {
		char name[32];
		uint32_t creator;
	} key;
	size_t n = 0;

	memset(&key, 0, sizeof(key));
	for (const char *from = thread->name; *from && n + 1 < sizeof(key.name); from++) {
		bool digit = isdigit((unsigned char)*from);

		if (!digit || !n || key.name[n - 1] != '#')
			key.name[n++] = digit ? '#' : *from;
	}
	key.creator = thread->creator;
	return trc_check64(&key, sizeof(key), 0);
}

static struct group *latency_group_at(const struct latencies *l, uint32_t number)
{
	return (struct group *)l->groups.row + number - 1;
}

/* The number of the thread's group; 0 without memory. */
static uint32_t group_number(struct latencies *l, uint32_t row)
{
	const struct trc_thread *thread = &l->r->thread[row];
	struct group *group;
	size_t n = l->number.n;
	uint32_t number;

	if (l->group_of[row])
		return l->group_of[row];
	number = trc_index_number(&l->number, name_key(thread));
	if (!number)
		return 0;
	group = number > n ? trc_array_add(&l->groups) : latency_group_at(l, number);
	if (!group)
		return 0;
	if (!group->n_threads++)
		group->first = row;
	trc_report_add(&group->alive_ns, trc_report_lifetime_ns(l->r, thread));
	return l->group_of[row] = number;
}

static int add_instead(struct latencies *l, uint32_t number, const struct trc_latency *latency)
{
	const struct trc_thread *who =
		latency->instead ? trc_model_thread(l->r->m, latency->instead) : NULL;
	struct group *group = latency_group_at(l, number);
	uint32_t row, at;
	int64_t *sum;

	if (!who)
		return 0;
	row = (uint32_t)(who - l->r->thread);
	at = trc_index_number(&l->pair, (uint64_t)number << 32 | row);
	if (!at)
		return -ENOMEM;
	sum = at > l->instead_ns.n ? trc_array_add(&l->instead_ns)
				   : (int64_t *)l->instead_ns.row + at - 1;
	if (!sum)
		return -ENOMEM;
	trc_report_add(sum, latency->instead_ns);
	if (*sum > group->instead_ns) {
		group->instead_ns = *sum;
		group->instead = row;
	}
	return 0;
}

bool trc_report_latency(const struct trc_report *r, const struct trc_latency *latency, int64_t *ns)
{
	if (!trc_model_thread(r->m, latency->thread))
		return false;
	*ns = trc_selection_ns(r->selection, latency->thread, latency->woken_ns,
			       latency->running_ns);
	if (!r->selection)
		return true;
	return trc_selection_touches(r->selection, latency->thread, latency->woken_ns,
				     latency->running_ns) &&
	       trc_selection_passes(r->selection, r->m, trc_latency_labels(r->m, latency));
}

/* A thread could run from when it was created on, before it had recorded anything. */
static int64_t before_start_ns(const struct trc_report *r, const struct trc_thread *thread,
			       const struct trc_latency *latency)
{
	int64_t to_ns =
		latency->running_ns < thread->start_ns ? latency->running_ns : thread->start_ns;

	if (thread->start_ns == TRC_NEVER || latency->woken_ns >= to_ns)
		return 0;
	return trc_selection_ns(r->selection, latency->thread, latency->woken_ns, to_ns);
}

static int latencies_add(struct latencies *l, const struct trc_latency *latency)
{
	const struct trc_report *r = l->r;
	const struct trc_thread *thread = trc_model_thread(r->m, latency->thread);
	struct trc_key *value;
	struct group *group;
	uint32_t number;
	int64_t ns;

	if (!trc_report_latency(r, latency, &ns))
		return 0;
	number = group_number(l, (uint32_t)(thread - r->thread));
	value = number ? trc_array_add(&l->values) : NULL;
	if (!value)
		return -ENOMEM;
	*value = (struct trc_key){ns, number - 1};
	group = latency_group_at(l, number);
	group->latency.n++;
	trc_report_add(&group->alive_ns, before_start_ns(r, thread, latency));
	trc_report_add(&group->total_ns, ns);
	trc_report_add(&group->own_ns, latency->own_ns < ns ? latency->own_ns : ns);
	if (latency->kind == TRC_LATENCY_PREEMPTED)
		trc_report_add(&group->preempted_ns, ns);
	return add_instead(l, number, latency);
}

/* lock_sums:K2 */
int trc_report_quantiles(struct trc_array *values, void *first, size_t row_bytes, size_t n_groups)
{
	struct trc_key *key = values->row;
	struct trc_key *scratch = malloc((values->n + 1) * sizeof(*scratch));
	uint64_t *seen = calloc(n_groups + 1, sizeof(*seen));

	if (seen && scratch && values->n)
		trc_keys_sort(key, scratch, values->n);
	for (size_t i = 0; seen && scratch && i < values->n; i++) {
		struct trc_report_quantiles *q =
			(void *)((char *)first + (size_t)key[i].row * row_bytes);
		uint64_t rank = ++seen[key[i].row];

		if (rank == q->n - q->n / 2)
			q->p50_ns = key[i].key;
		if (rank == q->n - q->n / 100)
			q->p99_ns = key[i].key;
		q->max_ns = key[i].key;
	}
	free(scratch);
	free(seen);
	return seen && scratch ? 0 : -ENOMEM;
}

/* ---- lines ---- */

static int compare_latency_groups(const void *a, const void *b)
{
	const struct group *x = a, *y = b;

	if (x->total_ns != y->total_ns)
		return x->total_ns > y->total_ns ? -1 : 1;
	return x->first < y->first ? -1 : 1;
}

static void latencies_print_columns(struct trc_report *r)
{
	struct trc_line line;

	trc_line_begin(&line, r->width, r->colour);
	trc_line_style(&line, TRC_STYLE_DIM);
	trc_line_right(&line, 10, "total");
	trc_line_right(&line, 9, "of time");
	trc_line_right(&line, 11, "times");
	trc_line_right(&line, 10, "p50");
	trc_line_right(&line, 10, "p99");
	trc_line_right(&line, 10, "longest");
	trc_line_add(&line, "  threads");
	trc_line_style(&line, TRC_STYLE_PLAIN);
	trc_report_line(r, &line);
}

static void print_meanwhile(struct trc_report *r, const struct group *group)
{
	char share[TRC_NUMBER_BYTES], own[TRC_NUMBER_BYTES];
	struct trc_line line;

	trc_line_begin(&line, r->width, r->colour);
	trc_line_to(&line, 12);
	if (group->preempted_ns)
		trc_line_add(&line, "%s of it preempted; ",
			     trc_text_share(share, group->preempted_ns, group->total_ns));
	if (group->own_ns) {
		trc_line_add(&line, "for %s the program's threads ran instead",
			     trc_text_share(own, group->own_ns, group->total_ns));
		if (group->instead_ns > 0) {
			trc_line_add(&line, ", most of it ");
			trc_report_thread(r, &line, r->thread[group->instead].serial, 26);
		}
	} else {
		trc_line_add(&line, "none of the program's threads ran instead");
	}
	trc_report_line(r, &line);
}

static void print_latency_group(struct trc_report *r, const struct group *group)
{
	char number[TRC_NUMBER_BYTES];
	struct trc_line line;

	trc_line_begin(&line, r->width, r->colour);
	trc_line_right(&line, 10, trc_text_duration(number, group->total_ns));
	trc_line_right(&line, 9, trc_text_share(number, group->total_ns, group->alive_ns));
	trc_line_right(&line, 11, trc_text_count(number, group->latency.n));
	trc_line_right(&line, 10, trc_text_duration(number, group->latency.p50_ns));
	trc_line_right(&line, 10, trc_text_duration(number, group->latency.p99_ns));
	trc_line_right(&line, 10, trc_text_duration(number, group->latency.max_ns));
	trc_line_add(&line, "  ");
	trc_report_thread(r, &line, r->thread[group->first].serial, 26);
	if (group->n_threads > 1)
		trc_line_add(&line, " and %u other%s", group->n_threads - 1,
			     group->n_threads == 2 ? "" : "s");
	trc_report_line(r, &line);
	print_meanwhile(r, group);
}

static bool matters(const struct group *group)
{
	return group->total_ns > 0 && group->total_ns >= group->alive_ns / 100;
}

/* False if none is told. */
static bool print_latency_groups(struct latencies *l)
{
	struct group *group = l->groups.row;
	char total[TRC_NUMBER_BYTES], right[TRC_NUMBER_BYTES + 64];
	int64_t total_ns = 0;
	size_t n = 0;

	for (size_t i = 0; i < l->groups.n; i++) {
		trc_report_add(&total_ns, group[i].total_ns);
		n += matters(&group[i]);
	}
	if (!n) /* A1 */
		return false;
	snprintf(right, sizeof(right), "%s from when threads could run until they did",
		 trc_text_duration(total, total_ns));
	trc_report_heading(l->r, "Scheduling latency", right);
	latencies_print_columns(l->r);
	for (size_t i = 0, told = 0; i < l->groups.n && told < (l->r->top + 1) / 2; i++)
		if (matters(&group[i])) {
			print_latency_group(l->r, &group[i]);
			told++;
		}
	return true;
}

/* ---- the section ---- */

static int latencies_sum(struct latencies *l, struct trc_report *r)
{
	struct trc_error error;
	const struct trc_latency *latency;
	size_t n;
	int err = trc_model_need(r->m, TRC_PART_LATENCIES, &error);

	*l = (struct latencies){
		.r = r,
		.groups = {.row_bytes = sizeof(struct group)},
		.values = {.row_bytes = sizeof(struct trc_key)},
		.instead_ns = {.row_bytes = sizeof(int64_t)},
	};
	if (err)
		return err;
	latency = trc_model_latencies(r->m, &n);
	l->group_of = calloc(r->n_threads + 1, sizeof(*l->group_of));
	if (!l->group_of)
		return -ENOMEM;
	for (size_t i = 0; i < n && !err; i++)
		err = latencies_add(l, &latency[i]);
	if (!err)
		err = trc_report_quantiles(&l->values, l->groups.row, sizeof(struct group),
					   l->groups.n);
	if (!err && l->groups.n)
		qsort(l->groups.row, l->groups.n, sizeof(struct group), compare_latency_groups);
	return err;
}

static void latencies_free(struct latencies *l)
{
	free(l->group_of);
	trc_array_free(&l->groups);
	trc_index_free(&l->number);
	trc_array_free(&l->values);
	trc_index_free(&l->pair);
	trc_array_free(&l->instead_ns);
}

int trc_report_latencies(struct trc_report *r)
{
	struct latencies l;
	int err = latencies_sum(&l, r);
	size_t n;
	const struct trc_latency *latency = trc_model_latencies(r->m, &n);

	if (!err && n && print_latency_groups(&l) && r->full)
		err = trc_report_latencies_by(r, latency, n);
	latencies_free(&l);
	return err;
}

int trc_report_latency_groups(struct trc_report *r, struct trc_array *rows)
{
	struct latencies l;
	int err = latencies_sum(&l, r);
	const struct group *group = l.groups.row;

	for (size_t i = 0; i < l.groups.n && !err; i++, group++) {
		struct trc_latency_group *row = trc_array_add(rows);

		if (!row)
			err = -ENOMEM;
		else
			*row = (struct trc_latency_group){
				.thread = r->thread[group->first].serial,
				.n_threads = group->n_threads,
				.n = group->latency.n,
				.alive_ns = group->alive_ns,
				.total_ns = group->total_ns,
				.preempted_ns = group->preempted_ns,
				.own_ns = group->own_ns,
				.p50_ns = group->latency.p50_ns,
				.p99_ns = group->latency.p99_ns,
				.max_ns = group->latency.max_ns,
			};
	}
	latencies_free(&l);
	return err;
}
