/*
 * intervals.h - the intervals of all threads as columns of a page.
 *
 * A page has intervals in streams: the states that follow one state are alike, and so are the lengths of one state.  The
 * values of a stream stand together, in the order of the intervals; the streams stand in the order of their states.
 *
 *   intervals:I1  iv.state has the states, in streams by the state before (for a thread's first interval:
 *       TRC_STATE_ABSENT); iv.after has the length of each stream
 *   intervals:I2  a length of 2^e ns or more, and less than 2^(e + 1), has a byte in iv.duration: 4 * e, plus the two
 *       bits that follow the highest bit (one bit if e is 1).  The streams are by the interval's own state and the byte of
 *       the interval before (for a thread's first interval: 0), since the length of a wait says much of the time that its
 *       thread then takes to run.  iv.duration_after has the length of each stream: 256 for each state
 *   intervals:I3  if a length is 2^10 ns or more, its lowest eight bits are a byte in iv.duration_byte.  The streams are by
 *       the interval's own state and its byte of iv.duration: there the times of clocks that tick in steps are alike.  The
 *       remaining bits of all lengths lie in iv.duration_low, one interval behind the other, low bits first
 *   intervals:I4  iv.park has, for each parked or woken interval, the number of its wait less the expected
 *       number, in zigzag code.  For a woken interval the number of the latest parked or woken
 *       interval is expected; for a parked one the highest number so far plus 1
 */
#ifndef TRC_VIEWER_INTERVALS_H
#define TRC_VIEWER_INTERVALS_H

#include "page.h"
#include "tracks.h"

struct trc_intervals {
	struct trc_column after, state, duration_after, duration, duration_byte, duration_low, park;
};

/* From the columns of the tracks, which are only read.  0, or -ENOMEM and nothing to free. */
int trc_intervals_pack(struct trc_intervals *p, const struct trc_tracks *t);
void trc_intervals_free(struct trc_intervals *p);

#endif
