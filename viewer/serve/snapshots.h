/*
 * snapshots.h - snapshots of a process, as traces in files without a name: for pages that follow the process, and for
 * snapshots that are kept.
 *
 *   serve:V7  a snapshot is removed when its page has taken a newer one, unless it was kept.  If pages do not say which
 *       snapshot they show, the oldest snapshots are removed, so that there are never more than TRC_SNAPSHOTS_MAX
 */
#ifndef TRC_VIEWER_SERVE_SNAPSHOTS_H
#define TRC_VIEWER_SERVE_SNAPSHOTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

enum {
	TRC_SNAPSHOTS_KEPT_MAX = 16,
	TRC_SNAPSHOTS_MAX = TRC_SNAPSHOTS_KEPT_MAX + 16,
};

struct trc_view_snapshot {
	uint64_t id;	  /* 1, 2, ...; never used again */
	uint64_t visitor; /* the page that it was taken for; 0 = not known */
	uint64_t n_bytes;
	time_t taken; /* by the clock on the wall */
	int fd;	      /* a whole trace; owned */
	bool is_kept;
};

struct trc_snapshots {
	struct trc_view_snapshot at[TRC_SNAPSHOTS_MAX]; /* by id */
	size_t n;
	uint64_t last_id;
};

/* Takes the file.  The page still shows `shown` (0 = none); the page's other snapshots are removed (V7).  Returns the new
 * snapshot's id. */
uint64_t trc_snapshots_add(struct trc_snapshots *all, const struct trc_view_snapshot *snapshot,
			   uint64_t shown);
/* NULL = there is none, or it has gone.  Up to the next call that changes something. */
const struct trc_view_snapshot *trc_snapshots_find(const struct trc_snapshots *all, uint64_t id);
/* 0, -ENOENT, or -ENOSPC: so many are kept already. */
int trc_snapshots_keep(struct trc_snapshots *all, uint64_t id);
void trc_snapshots_free(struct trc_snapshots *all);

#endif
