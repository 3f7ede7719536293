/*
 * group_waits.c - for how many waits the sections of a group were.
 *
 * A wait may last for several sections of a group, and for sections of several groups: each group counts it
 * once.  If a wait was given up, it was for the section that had not ended at that time.
 */
#include <errno.h>
#include <stdlib.h>
#include "words.h"

/* An unlock of a group that is shown. */
struct release {
	uint64_t object;
	int64_t ts_ns, taken_ns;
	uint32_t slot;
};

static int compare_releases(const void *a, const void *b)
{
	const struct release *x = a, *y = b;

	if (x->slot != y->slot)
		return x->slot < y->slot ? -1 : 1;
	if (x->object != y->object)
		return x->object < y->object ? -1 : 1;
	return (x->ts_ns > y->ts_ns) - (x->ts_ns < y->ts_ns);
}

/* The releases of the groups that have slots, sorted; first[slot] is where those of a slot begin. */
static int list_releases(const struct trc_groups *g, const struct trc_report *r,
			 struct trc_array *releases, size_t *first)
{
	const struct trc_group *group = g->groups.row;
	const struct release *release;

	for (size_t i = 0; i < r->n_unlocks; i++) {
		uint32_t slot = g->of_row[i] ? group[g->of_row[i] - 1].slot : 0;
		struct release *added = slot ? trc_array_add(releases) : NULL;

		if (slot && !added)
			return -ENOMEM;
		if (slot)
			*added = (struct release){r->unlock[i].object, r->unlock[i].ts_ns,
						  r->unlock[i].taken_ns, slot};
	}
	release = releases->row;
	if (releases->n)
		qsort(releases->row, releases->n, sizeof(*release), compare_releases);
	for (size_t i = 0; i < releases->n; i++)
		first[release[i].slot + 1]++;
	for (size_t i = 1; i < g->n_details + 2; i++)
		first[i] += first[i - 1];
	return 0;
}

/* True if one of low..high was in the wait. */
static bool is_for(const struct release *release, size_t low, size_t high,
		   const struct trc_park *park, int64_t end_ns)
{
	const struct release from = {.object = park->object, .ts_ns = park->start_ns};
	size_t end = high;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		struct release key = from;

		key.slot = release[middle].slot;
		if (compare_releases(&release[middle], &key) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == end || release[low].object != park->object)
		return false;
	return release[low].ts_ns <= end_ns || (park->result && release[low].taken_ns <= end_ns);
}

int trc_groups_count_waits(struct trc_groups *g, const struct trc_report *r)
{
	struct trc_array releases = {.row_bytes = sizeof(struct release)};
	size_t *first = calloc(g->n_details + 3, sizeof(*first));
	struct trc_group *group = g->groups.row;
	uint64_t *waits = calloc(g->n_details + 1, sizeof(*waits));
	int err = first && waits ? list_releases(g, r, &releases, first) : -ENOMEM;

	for (size_t i = 0; i < r->n_parks && !err; i++) {
		const struct trc_park *park = &r->park[i];
		uint32_t of = park->unlock ? g->of_row[park->unlock - 1] : 0;

		if (!trc_reason_is_lock(park->reason) || park->flags & TRC_PARK_PIECE)
			continue;
		for (uint32_t slot = 1; slot <= g->n_details; slot++)
			waits[slot - 1] += (of && group[of - 1].slot == slot) ||
					   is_for(releases.row, first[slot], first[slot + 1], park,
						  trc_park_end_ns(r->m, park));
	}
	for (size_t i = 0; i < g->groups.n && !err; i++)
		if (group[i].slot && waits[group[i].slot - 1])
			group[i].waits = waits[group[i].slot - 1];
	trc_array_free(&releases);
	free(first);
	free(waits);
	return err;
}
