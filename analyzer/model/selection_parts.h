/* selection_parts.h - what the files that make a selection share; no other file includes it. */
#ifndef TRC_ANALYZER_MODEL_SELECTION_PARTS_H
#define TRC_ANALYZER_MODEL_SELECTION_PARTS_H

#include "selection.h"

/* One end of a window, as it is written. */
struct trc_window_end {
	enum {
		TRC_END_OPEN,	     /* nothing: the trace's own */
		TRC_END_SINCE_BEGIN, /* ns since the begin of the trace */
		TRC_END_DATE,	     /* ns since 1970, by the clock */
		TRC_END_TIME_OF_DAY, /* ns since midnight, by the clock */
		TRC_END_AFTER,	     /* ns since the window began */
	} is;
	int64_t ns;
};
struct trc_window {
	const char *text; /* borrowed */
	struct trc_window_end from, to;
	uint64_t task; /* it is as long as this one; 0 = it is not */
};
/* The trace that it is a window of. */
struct trc_window_trace {
	const struct trc_reader *reader;
	int64_t start_ns, lasts_ns;
};

/* ---- selection_window.c ---- */
/* 0, or -EINVAL with a line. */
int trc_window_parse(struct trc_window *w, const char *text, struct trc_error *error);
/* Both ends since the begin of the trace, of a window without a task.  -ENOENT, -EINVAL with a line. */
int trc_window_place(const struct trc_window *w, const struct trc_window_trace *trace,
		     int64_t *from_ns, int64_t *to_ns, struct trc_error *error);

/* ---- selection_find.c, selection_tasks.c, selection.c ---- */
/* The tasks that are asked for, and the time that belongs to them (selection:V7).  0 or -errno with
 * a line in error; -ENOMEM without. */
int trc_selection_find_tasks(struct trc_selection *s, const struct trc_model *m,
			     struct trc_error *error);
/* trc_selection_next() on a track, whatever threads are asked for. */
bool trc_selection_track_next(const struct trc_selection *s, uint64_t track, int64_t *at_ns,
			      int64_t to_ns, int64_t *from_ns, int64_t *until_ns);

#endif
