/*
 * first.h - the sketch that a large page draws first, before the rest of the page is read: what each thread did, in a few steps.
 *
 * The sketch is JSON in front of the page's script (assets/first.js).  Later the timeline takes its place.
 */
#ifndef TRC_VIEWER_FIRST_H
#define TRC_VIEWER_FIRST_H

#include <stdint.h>
#include <stdio.h>

#include "analyzer/model/model.h"

enum {
	TRC_FIRST_STATES = 128,
	/* Smaller pages are there as soon as a sketch would be. */
	TRC_FIRST_INTERVALS_MIN = 200000,
};

/* A thread in a step: the state with most time, apart from waits for locks; the state with most time among waits for
 * locks; and which part of the step's time all waits for locks take, of 255. */
struct trc_first_cell {
	uint8_t state, lock, locked;
};

struct trc_first {
	struct trc_first_cell *cell; /* [n_threads * steps]; owned */
	uint32_t n_threads, steps;
	uint64_t begin_ns, end_ns; /* of what the page shows, since the start of the trace */
	/* The cell that intervals are added to, and time by state in it. */
	uint64_t at;
	uint64_t time_ns[TRC_FIRST_STATES];
	uint8_t state[TRC_FIRST_STATES]; /* of which there is time in it: the first n_states */
	uint32_t n_states;
};

/* 0 or -ENOMEM. */
int trc_first_init(struct trc_first *f, uint32_t n_threads, uint64_t begin_ns, uint64_t end_ns);
void trc_first_free(struct trc_first *f);
/* Intervals of each thread in order; what lies before the page's beginning is left out. */
void trc_first_add(struct trc_first *f, uint32_t thread, uint64_t from_ns, uint64_t until_ns,
		   uint8_t state);
/* After all were added. */
void trc_first_end(struct trc_first *f);
/* Writes the element, after all intervals were added; beyond[] of each thread: TRC_BEYOND_* (tracks.h).  0 or
 * -ENOMEM. */
int trc_first_write(struct trc_first *f, struct trc_model *m, const uint8_t *beyond, FILE *out);

#endif
