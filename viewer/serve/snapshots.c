/* snapshots.c - see snapshots.h. */
#include "snapshots.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

static void snapshot_drop(struct trc_snapshots *all, size_t i)
{
	close(all->at[i].fd);
	all->n--;
	memmove(&all->at[i], &all->at[i + 1], (all->n - i) * sizeof(all->at[0]));
}

/* V7: `shown` is on the screen up to the moment at which the new page takes its place. */
static void drop_older(struct trc_snapshots *all, uint64_t visitor, uint64_t shown)
{
	for (size_t i = all->n; i-- > 0;)
		if (visitor && all->at[i].visitor == visitor && !all->at[i].is_kept &&
		    all->at[i].id != shown)
			snapshot_drop(all, i);
}

static void snapshots_make_room(struct trc_snapshots *all)
{
	size_t oldest = 0;

	if (all->n < TRC_SNAPSHOTS_MAX)
		return;
	/* There is one: fewer than all can be kept. */
	while (all->at[oldest].is_kept)
		oldest++;
	snapshot_drop(all, oldest);
}

uint64_t trc_snapshots_add(struct trc_snapshots *all, const struct trc_view_snapshot *snapshot,
			   uint64_t shown)
{
	drop_older(all, snapshot->visitor, shown);
	snapshots_make_room(all);
	all->at[all->n] = *snapshot;
	all->at[all->n].id = ++all->last_id;
	all->at[all->n++].is_kept = false;
	return all->last_id;
}

static size_t snapshots_find(const struct trc_snapshots *all, uint64_t id)
{
	size_t i = 0;

	while (i < all->n && all->at[i].id != id)
		i++;
	return i;
}

const struct trc_view_snapshot *trc_snapshots_find(const struct trc_snapshots *all, uint64_t id)
{
	size_t i = snapshots_find(all, id);

	return i < all->n ? &all->at[i] : NULL;
}

int trc_snapshots_keep(struct trc_snapshots *all, uint64_t id)
{
	size_t i = snapshots_find(all, id), n_kept = 0;

	if (i == all->n)
		return -ENOENT;
	for (size_t k = 0; k < all->n; k++)
		n_kept += all->at[k].is_kept;
	if (!all->at[i].is_kept && n_kept >= TRC_SNAPSHOTS_KEPT_MAX)
		return -ENOSPC;
	all->at[i].is_kept = true;
	return 0;
}

void trc_snapshots_free(struct trc_snapshots *all)
{
	while (all->n)
		snapshot_drop(all, all->n - 1);
}
