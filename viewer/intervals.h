/*
 * intervals.h - the intervals of all threads as columns of a page.
 *
 * A page has them in streams: what follows a state is alike, and so is how long a state lasts.  A stream's
 * values stand together, in the order of the intervals; the streams stand in the order of their states.
 *
 *   intervals:I1  iv.state has the states, in streams by the state before (a thread's first: by TRC_STATE_ABSENT);
 *       iv.after has the length of each stream
 *   intervals:I2  a length of 2^e ns and more, and less than 2^(e + 1), has a byte in iv.duration: 4 * e, plus the two
 *       bits that follow the first (one bit if e is 1); in streams by the interval's own state
 *   intervals:I3  its other bits, e - 2 of them, lie in iv.duration_low, one interval behind the other, low bits
 *       first
 *   intervals:I4  iv.park has of each parked or woken interval how far the wait's number is from what is
 *       expected, zigzag: of a woken one the wait before, of a parked one the first wait that was not seen yet
 */
#ifndef TRC_VIEWER_INTERVALS_H
#define TRC_VIEWER_INTERVALS_H

#include "page.h"
#include "tracks.h"

struct trc_intervals {
	struct trc_column after, state, duration, duration_low, park;
};

/* From the columns of the tracks, which are only read.  0, or -ENOMEM and nothing to free. */
int trc_intervals_pack(struct trc_intervals *p, const struct trc_tracks *t);
void trc_intervals_free(struct trc_intervals *p);

#endif
