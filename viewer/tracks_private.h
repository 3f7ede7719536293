/* tracks_private.h - what walking a thread and writing its intervals share. */
#ifndef TRC_VIEWER_TRACKS_PRIVATE_H
#define TRC_VIEWER_TRACKS_PRIVATE_H

#include "tracks.h"

enum { TRC_TRACK_STATES = 128 };
enum { TRC_TRACK_ROW = 1, TRC_TRACK_BEHIND = 2 };

/* Rows of a table by thread: those of thread row i are row[first[i] .. first[i + 1]).  Only those of which
 * something may lie in the page. */
struct trc_track_rows {
	uint32_t *first, *row;
	uint32_t *
		before; /* by thread row: row + 1 of the last one that ends before the page; 0 = none */
	uint8_t *any; /* by thread row: TRC_TRACK_*, 0 = it has none, in the page or not */
};

struct trc_track_stretch {
	int64_t ns;
	uint32_t park, proc;
	uint64_t n_merged;
	uint8_t state;
};

struct trc_track_walk {
	struct trc_tracks *tracks;
	const struct trc_model *model;
	const struct trc_cut *cut;
	const struct trc_park *park;
	const struct trc_on_cpu *on_cpu;
	size_t n_on_cpu;
	struct trc_track_rows parks, on_cpus;
	int64_t start_ns, end_ns; /* of the trace */
	int64_t from_ns, to_ns;	  /* of the page */
	int64_t switches_ns;	  /* since then every proc has switch records ... */
	bool is_cut;		  /* ... but some may be missing at the trace's end */
	uint32_t *park_idx;	  /* by row: index in shown + 1 */

	bool counting;
	uint64_t by_length[65]; /* counting: intervals by the number of bits in their length */

	/* The thread being walked. */
	const struct trc_thread *thread;
	uint32_t thread_idx;
	uint32_t cpu_first, cpu_next, cpu_limit; /* its on_cpus */
	uint32_t cpu_before; /* row + 1 of its last one before these; 0 = none */
	bool has_cpu;	     /* it has some, here or elsewhere */
	bool has_cpu_behind; /* behind the page */
	uint8_t beyond;	     /* TRC_BEYOND_* */
	uint64_t n_thread_intervals;
	uint64_t written_ns; /* since the start of the trace */
	int64_t time_ns[TRC_TRACK_STATES];

	struct trc_track_stretch last; /* may still grow */

	/* Short intervals held back, to be merged: waits for locks apart (1).  The last of them, and all together. */
	uint64_t n_held[2];
	struct trc_track_stretch held;
	int64_t held_ns, held_by_state_ns[TRC_TRACK_STATES];
	int64_t step_ns; /* tracks:T2: no run of them grows beyond this length */
};

/* tracks.c: the thread was in this state, as far as from..until is in the page. */
void trc_track_interval(struct trc_track_walk *w, int64_t from, int64_t until, uint8_t state,
			uint32_t park, uint32_t proc);
/* tracks_walk.c: makes the intervals of w->thread, which has this row. */
void trc_track_walk_thread(struct trc_track_walk *w, size_t idx);

#endif
