/*
 * groups.c - groups of parks and unlocks; the largest are chosen to be shown.
 *
 * Rows may be millions: the first pass only finds and sums up the groups, the second
 * (group_tallies.c) counts objects, threads and wakers of those few that are shown.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "words.h"
#include "analyzer/model/preempted.h"
#include "analyzer/model/timeline.h"

uint32_t trc_groups_new(struct trc_groups *g, uint8_t reason, uint32_t stack)
{
	struct trc_group *group;

	g->groups.row_bytes = sizeof(*group);
	group = trc_array_add(&g->groups);
	if (!group)
		return 0;
	group->reason = reason;
	group->stack = stack;
	return (uint32_t)g->groups.n;
}

uint32_t trc_groups_find(struct trc_groups *g, uint64_t key, uint8_t reason, uint32_t stack)
{
	uint32_t at = trc_index_get(&g->index, key), id;

	if (at != TRC_INDEX_NONE)
		return at + 1;
	id = trc_groups_new(g, reason, stack);
	return id && !trc_index_put(&g->index, key, id - 1) ? id : 0;
}

static uint32_t find_place(struct trc_groups *g, uint8_t reason, uint32_t stack)
{
	return trc_groups_find(g, (uint64_t)reason << 32 | stack, reason, stack);
}

static struct trc_group *group_at(const struct trc_groups *g, uint32_t id)
{
	return (struct trc_group *)g->groups.row + id - 1;
}

static void group_add(struct trc_group *group, uint64_t waits, int64_t ns)
{
	group->waits += waits;
	group->sections++;
	trc_report_add(&group->total_ns, ns);
	if (ns > group->max_ns)
		group->max_ns = ns;
}

/* By parent and class, then largest first, then as they came. */
static int compare_groups(const void *a, const void *b)
{
	const struct trc_group *x = *(struct trc_group *const *)a;
	const struct trc_group *y = *(struct trc_group *const *)b;
	enum trc_wait_class class_x = trc_wait_class(x->reason),
			    class_y = trc_wait_class(y->reason);

	if (x->parent != y->parent)
		return x->parent < y->parent ? -1 : 1;
	if (class_x != class_y)
		return class_x < class_y ? -1 : 1;
	if (x->total_ns != y->total_ns)
		return x->total_ns > y->total_ns ? -1 : 1;
	if (x->waits != y->waits)
		return x->waits > y->waits ? -1 : 1;
	return x < y ? -1 : x > y;
}

struct trc_group **trc_groups_sorted(const struct trc_groups *g)
{
	struct trc_group **order = calloc(g->groups.n + 1, sizeof(*order));

	for (size_t i = 0; order && i < g->groups.n; i++)
		order[i] = group_at(g, (uint32_t)i + 1);
	if (order && g->groups.n)
		qsort(order, g->groups.n, sizeof(struct trc_group *), compare_groups);
	return order;
}

/* Gives the `top` largest groups of each class their slots. */
static int groups_choose(struct trc_groups *g, size_t top)
{
	struct trc_group **order = trc_groups_sorted(g);

	g->details = calloc(top * TRC_WAIT_CLASSES + 1, sizeof(*g->details));
	if (!order || !g->details) {
		free(order);
		return -ENOMEM;
	}
	for (size_t i = 0; i < g->groups.n; i++) {
		enum trc_wait_class class = trc_wait_class(order[i]->reason);

		g->n_groups_of[class]++;
		g->waits[class] += order[i]->waits;
		trc_report_add(&g->sum_ns[class], order[i]->total_ns);
		if (g->n_of[class] == top)
			continue;
		g->n_of[class]++;
		g->details[g->n_details++].group = order[i];
		order[i]->slot = (uint32_t)g->n_details;
	}
	free(order);
	return 0;
}

const struct trc_group_details *trc_groups_details(const struct trc_groups *g,
						   enum trc_wait_class class)
{
	const struct trc_group_details *details = g->details;

	for (int i = 0; i < (int)class; i++)
		details += g->n_of[i];
	return details;
}

void trc_groups_add_park(struct trc_groups *g, const struct trc_report *r, size_t i, uint32_t id)
{
	const struct trc_park *park = &r->park[i];
	struct trc_group *group = group_at(g, id);

	g->of_row[i] = id;
	group_add(group, !(park->flags & TRC_PARK_PIECE),
		  trc_park_end_ns(r->m, park) - trc_park_start_ns(r->m, park));
	if (trc_wait_may_be_preempted(park))
		trc_report_add(&group->no_proc_ns,
			       trc_preempted_wait_ns(
				       trc_model_preempted(r->m), trc_report_park_id(r, i),
				       trc_park_start_ns(r->m, park), trc_park_end_ns(r->m, park)));
	group->timed_out += park->result == ETIMEDOUT && !(park->flags & TRC_PARK_PIECE);
	group->several_reasons |= park->reason != group->reason;
	group->several_places |= trc_report_canonical(r, park->stack) != group->stack;
}

int trc_groups_finish_parks(struct trc_groups *g, const struct trc_report *r, size_t top)
{
	int err = groups_choose(g, top);

	trc_report_idle_count(g, r);
	for (size_t i = 0; i < r->n_threads; i++) {
		for (int class = 0; class < TRC_WAIT_CLASSES; class ++)
			trc_report_add(&g->total_ns[class], r->class_ns[i][class]);
		trc_report_add(&g->total_ns[TRC_WAIT_FILES], r->no_proc_ns[i]);
	}
	return err ? err : trc_groups_tally_parks(g, r);
}

/* selection:V3, V5 */
static bool unlock_wanted(const struct trc_report *r, const struct trc_unlock *unlock)
{
	return !r->selection ||
	       trc_selection_passes(
		       r->selection, r->m,
		       trc_model_labels_at(r->m, unlock->thread, unlock->ts_ns, unlock->place));
}

/* What each critical section caused to waits, as far as these are wanted. */
static int find_caused(struct trc_groups *g, const struct trc_report *r)
{
	if (!trc_selection_has_all_time(r->selection)) {
		g->caused = trc_selection_caused(r->selection, r->m, NULL);
		return g->caused ? 0 : -ENOMEM;
	}
	g->caused = calloc(r->n_unlocks + 1, sizeof(*g->caused));
	if (!g->caused)
		return -ENOMEM;
	for (size_t i = 0; i < r->n_unlocks; i++)
		g->caused[i] =
			(struct trc_selected_cause){.caused_ns = r->unlock[i].caused_ns,
						    .caused_waits = r->unlock[i].caused_waits};
	return 0;
}

static int find_unlock_groups(struct trc_groups *g, const struct trc_report *r)
{
	for (size_t i = 0; i < r->n_unlocks; i++) {
		const struct trc_unlock *unlock = &r->unlock[i];
		uint32_t id;

		if (!g->caused[i].caused_waits || !unlock_wanted(r, unlock))
			continue;
		id = find_place(g, unlock->reason, trc_report_canonical(r, unlock->stack));
		if (!id)
			return -ENOMEM;
		g->of_row[i] = id;
		group_add(group_at(g, id), g->caused[i].caused_waits, g->caused[i].caused_ns);
	}
	return 0;
}

int trc_groups_of_unlocks(struct trc_groups *g, struct trc_report *r, size_t top)
{
	int err;

	memset(g, 0, sizeof(*g));
	g->of_row = calloc(r->n_unlocks + 1, sizeof(*g->of_row));
	err = g->of_row ? find_caused(g, r) : -ENOMEM;
	if (!err)
		err = find_unlock_groups(g, r);
	if (!err)
		err = groups_choose(g, top);
	if (!err)
		err = trc_groups_count_waits(g, r);
	return err ? err : trc_groups_tally_unlocks(g, r);
}

void trc_groups_free(struct trc_groups *g)
{
	trc_array_free(&g->groups);
	trc_index_free(&g->index);
	trc_array_free(&g->idle);
	trc_index_free(&g->idle_index);
	free(g->of_row);
	free(g->caused);
	free(g->details);
	if (g->places)
		trc_groups_free(g->places);
	free(g->places);
}
