/*
 * fibers.c - the fibers of the program's own scheduler: their time by name, and their
 * longest waits.
 *
 * A server may have a fiber for each connection, with the connection's number in the name: names that differ only in
 * numbers count as one, "conn #".  Under a filter of labels only waits are reported: runs have no
 * labels of their own, and fibers change labels during runs.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "parts.h"

enum { NAME_BYTES = 128, NAME_WIDTH = 26 };

struct group {
	const char *name; /* the first one's */
	bool differ;	  /* not all have that one */
	uint64_t n, runs, waits;
	int64_t run_ns, runnable_ns, waited_ns;
};

struct groups {
	struct trc_array groups; /* struct group */
	struct trc_index by_hash;
};

/* ---- names ---- */

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* The next character of a name in which each number is one '#'. */
static char next_of(const char **at)
{
	char c = **at;

	if (!c)
		return c;
	++*at;
	if (!is_digit(c))
		return c;
	while (is_digit(**at))
		++*at;
	return '#';
}

static uint64_t fiber_name_hash(const char *name)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325); /* FNV-1a */
	char c;

	while ((c = next_of(&name)))
		hash = (hash ^ (unsigned char)c) * UINT64_C(0x100000001b3);
	return hash;
}

static bool is_alike(const char *a, const char *b)
{
	char c;

	do {
		c = next_of(&a);
		if (c != next_of(&b))
			return false;
	} while (c);
	return true;
}

/* The group of this name, added if need be; NULL without memory. */
static struct group *fiber_group_of(struct groups *g, const char *name)
{
	uint64_t hash = fiber_name_hash(name);
	uint32_t at;
	struct group *group;

	while ((at = trc_index_get(&g->by_hash, hash)) != TRC_INDEX_NONE) {
		group = (struct group *)g->groups.row + at;
		if (is_alike(group->name, name)) {
			group->differ = group->differ || strcmp(group->name, name) != 0;
			return group;
		}
		hash++;
	}
	group = trc_array_add(&g->groups);
	if (!group || trc_index_put(&g->by_hash, hash, (uint32_t)(g->groups.n - 1)))
		return NULL;
	group->name = name;
	return group;
}

static void add_group_name(struct trc_line *line, const struct group *group)
{
	char text[NAME_BYTES];
	const char *at = group->name;
	size_t n = 0;

	while (n + 1 < sizeof(text) && (text[n] = next_of(&at)))
		n++;
	text[n] = '\0';
	trc_line_data(line,
		      !*group->name   ? "(no name)"
		      : group->differ ? text
				      : group->name,
		      NAME_WIDTH);
}

static void add_fiber_name(struct trc_line *line, const struct trc_fiber *fiber)
{
	if (*fiber->name)
		trc_line_data(line, fiber->name, NAME_WIDTH);
	else
		trc_line_add(line, "fiber %llu", (unsigned long long)fiber->fiber);
}

/* ---- by name ---- */

static int64_t wait_end_ns(const struct trc_report *r, const struct trc_fiber_wait *wait)
{
	return wait->end_ns == TRC_NEVER ? r->end_ns : wait->end_ns;
}

static bool wait_wanted(const struct trc_report *r, const struct trc_fiber_wait *wait)
{
	return trc_selection_has_fiber_wait(r->selection, r->m, wait);
}

static void fiber_add_wait(const struct trc_report *r, struct trc_fiber *fiber,
			   const struct trc_fiber_wait *wait)
{
	int64_t end_ns = wait_end_ns(r, wait);
	int64_t ready_ns = wait->ready_ns == TRC_NEVER ? end_ns : wait->ready_ns;

	fiber->n_waits++;
	trc_report_add(&fiber->waited_ns,
		       trc_selection_fiber_ns(r->selection, wait, wait->start_ns, ready_ns));
	if (!(wait->flags & TRC_FIBER_WAIT_ENDED))
		trc_report_add(&fiber->runnable_ns,
			       trc_selection_fiber_ns(r->selection, wait, ready_ns, end_ns));
}

/* The fibers with what is wanted of their times.  *out is the caller's.  0 or -ENOMEM. */
static int wanted_fibers(const struct trc_report *r, struct trc_fiber **out)
{
	size_t n, n_waits;
	const struct trc_fiber *fiber = trc_model_fibers(r->m, &n);
	const struct trc_fiber_wait *wait = trc_model_fiber_waits(r->m, &n_waits);
	struct trc_fiber *wanted = calloc(n + 1, sizeof(*wanted));

	if (!wanted)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		if (r->selection)
			wanted[i] = (struct trc_fiber){.name = fiber[i].name};
		else
			wanted[i] = fiber[i];
	}
	for (size_t i = 0; i < n_waits && r->selection; i++)
		if (wait_wanted(r, &wait[i]))
			fiber_add_wait(r, &wanted[wait[i].fiber - 1], &wait[i]);
	*out = wanted;
	return 0;
}

/* *n_fibers becomes the number of those that are in a group.  0 or -ENOMEM. */
static int make_groups(struct groups *g, const struct trc_report *r, uint64_t *n_fibers)
{
	struct trc_fiber *fiber;
	size_t n;
	int err = wanted_fibers(r, &fiber);

	if (err)
		return err;
	*n_fibers = 0;
	trc_model_fibers(r->m, &n);
	for (size_t i = 0; i < n && !err; i++) {
		struct group *group;

		if (r->selection && !fiber[i].n_waits)
			continue;
		group = fiber_group_of(g, fiber[i].name);
		if (!group) {
			err = -ENOMEM;
			break;
		}
		++*n_fibers;
		group->n++;
		group->runs += fiber[i].n_runs;
		group->waits += fiber[i].n_waits;
		trc_report_add(&group->run_ns, fiber[i].run_ns);
		trc_report_add(&group->runnable_ns, fiber[i].runnable_ns);
		trc_report_add(&group->waited_ns, fiber[i].waited_ns);
	}
	free(fiber);
	return err;
}

/* Who runs most, then who waits most, then as they came. */
static int compare_fiber_groups(const void *a, const void *b)
{
	const struct group *x = a, *y = b;

	if (x->run_ns != y->run_ns)
		return x->run_ns > y->run_ns ? -1 : 1;
	if (x->waited_ns != y->waited_ns)
		return x->waited_ns > y->waited_ns ? -1 : 1;
	return strcmp(x->name, y->name);
}

static void fibers_print_columns(struct trc_report *r)
{
	struct trc_line line;

	trc_line_begin(&line, r->width, r->colour);
	trc_line_style(&line, TRC_STYLE_DIM);
	trc_line_add(&line, "  name");
	trc_line_to(&line, 28);
	trc_line_right(&line, 10, "fibers");
	if (!r->selection)
		trc_line_right(&line, 12, "runs");
	trc_line_right(&line, 12, "waits");
	if (!r->selection)
		trc_line_right(&line, 12, "running");
	trc_line_right(&line, 12, "runnable");
	trc_line_right(&line, 12, "waiting");
	trc_line_style(&line, TRC_STYLE_PLAIN);
	trc_report_line(r, &line);
}

static void print_fiber_group(struct trc_report *r, const struct group *group)
{
	char number[TRC_NUMBER_BYTES];
	struct trc_line line;

	trc_line_begin(&line, r->width, r->colour);
	trc_line_add(&line, "  ");
	add_group_name(&line, group);
	trc_line_to(&line, 28);
	trc_line_right(&line, 10, trc_text_count(number, group->n));
	if (!r->selection)
		trc_line_right(&line, 12, trc_text_count(number, group->runs));
	trc_line_right(&line, 12, trc_text_count(number, group->waits));
	if (!r->selection)
		trc_line_right(&line, 12, trc_text_duration(number, group->run_ns));
	trc_line_right(&line, 12, trc_text_duration(number, group->runnable_ns));
	trc_line_right(&line, 12, trc_text_duration(number, group->waited_ns));
	trc_report_line(r, &line);
}

static void print_fiber_groups(struct trc_report *r, struct groups *g, uint64_t n_fibers)
{
	struct group *group = g->groups.row;
	char number[TRC_NUMBER_BYTES], right[TRC_NUMBER_BYTES + 32];

	qsort(group, g->groups.n, sizeof(*group), compare_fiber_groups);
	snprintf(right, sizeof(right), "%s%s", trc_text_count(number, n_fibers),
		 r->selection ? " that waited in what is selected" : "");
	trc_report_heading(r, "Fibers", right);
	fibers_print_columns(r);
	for (size_t i = 0; i < g->groups.n && i < r->top; i++)
		print_fiber_group(r, &group[i]);
	trc_report_more(r, g->groups.n);
}

/* ---- the longest waits ---- */

/* How its wait ended, where it is not simply that it ran again. */
static const char *ending_of(const struct trc_fiber_wait *wait)
{
	if (wait->flags & TRC_FIBER_WAIT_ENDED)
		return ", until it ended";
	if (!(wait->flags & TRC_FIBER_WAIT_OPEN))
		return NULL;
	return wait->ready_ns == TRC_NEVER ? ", still waiting" : ", still to run";
}

/* "made ready by submit in conn 3, ran 1.20 ms later"; of a thread that ran no fiber its own name. */
static void print_waker(struct trc_report *r, const struct trc_fiber_wait *wait)
{
	size_t n;
	const struct trc_fiber *fiber = trc_model_fibers(r->m, &n);
	char number[TRC_NUMBER_BYTES];
	struct trc_line line;

	if (wait->ready_ns == TRC_NEVER)
		return;
	trc_line_begin(&line, r->width, r->colour);
	trc_line_to(&line, 12);
	trc_line_add(&line, "made ready by ");
	if (wait->waker_stack) {
		trc_report_place(r, &line, wait->waker_stack);
		trc_line_add(&line, " in ");
	}
	if (wait->waker_fiber)
		add_fiber_name(&line, &fiber[wait->waker_fiber - 1]);
	else
		trc_report_thread(r, &line, wait->waker_thread, 26);
	if (wait->end_thread)
		trc_line_add(&line, ", ran %s later",
			     trc_text_duration(number, wait->end_ns - wait->ready_ns));
	trc_report_line(r, &line);
}

static void print_fiber_wait(struct trc_report *r, const struct trc_fiber_wait *wait, bool goes_on)
{
	bool cut = wait->flags & TRC_FIBER_WAIT_CUT;
	struct trc_longest_times times = {wait->start_ns, wait_end_ns(r, wait), cut,
					  cut || goes_on || wait->flags & TRC_FIBER_WAIT_LOST};
	size_t n;
	const struct trc_fiber *fiber = trc_model_fibers(r->m, &n);
	struct trc_line line;

	trc_line_begin(&line, r->width, r->colour);
	trc_longest_times(r, &line, &times);
	trc_line_add(&line, "  ");
	add_fiber_name(&line, &fiber[wait->fiber - 1]);
	trc_line_to(&line, 50);
	trc_line_add(&line, "  %s", wait->reason ? trc_reason_name(wait->reason) : "not known");
	trc_report_object(r, &line, wait->reason, wait->object, wait->stack);
	if (ending_of(wait)) {
		trc_line_style(&line, TRC_STYLE_ALARM);
		trc_line_add(&line, "%s", ending_of(wait));
		trc_line_style(&line, TRC_STYLE_PLAIN);
	}
	trc_report_line(r, &line);
	trc_line_begin(&line, r->width, r->colour);
	trc_line_to(&line, 12);
	trc_report_one_stack(r, &line, wait->stack);
	print_waker(r, wait);
	trc_report_labels_line(r, wait->labels);
}

static void print_longest(struct trc_report *r)
{
	size_t n;
	const struct trc_fiber_wait *wait = trc_model_fiber_waits(r->m, &n);
	struct trc_longest longest;

	trc_longest_begin(&longest, r);
	for (size_t i = 0; i < n; i++)
		if (wait_wanted(r, &wait[i]))
			trc_longest_add(&longest,
					(struct trc_longest_row){
						(uint32_t)i,
						(wait[i].flags & TRC_FIBER_WAIT_OPEN) &&
							trc_report_recovered(r),
						wait_end_ns(r, &wait[i]) - wait[i].start_ns});
	if (!longest.n)
		return;
	trc_report_heading(r, "Longest single waits of fibers", NULL);
	trc_longest_columns(r, "fiber");
	for (size_t i = 0; i < longest.n; i++)
		print_fiber_wait(r, &wait[longest.row[i].row], longest.row[i].goes_on);
}

int trc_report_fibers(struct trc_report *r)
{
	struct groups g = {.groups = {.row_bytes = sizeof(struct group)}};
	uint64_t n_fibers;
	int err = make_groups(&g, r, &n_fibers);

	if (!err && n_fibers) {
		print_fiber_groups(r, &g, n_fibers);
		print_longest(r);
	}
	trc_array_free(&g.groups);
	trc_index_free(&g.by_hash);
	return err;
}
