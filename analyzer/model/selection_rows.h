/*
 * selection_rows.h - which rows of the model's tables a selection has, and how much of each.
 *
 * SQL's narrowed tables and the page have the same rows, since both ask here.
 */
#ifndef TRC_ANALYZER_MODEL_SELECTION_ROWS_H
#define TRC_ANALYZER_MODEL_SELECTION_ROWS_H

#include "selection.h"

enum trc_selected_table {
	TRC_SELECTED_THREADS,
	TRC_SELECTED_PARKS,
	TRC_SELECTED_UNLOCKS,
	TRC_SELECTED_SAMPLES,
	TRC_SELECTED_TASKS,
	TRC_SELECTED_REGIONS,
	TRC_SELECTED_LOGS,
	TRC_SELECTED_COUNTERS,
	TRC_SELECTED_ON_CPU,
	TRC_SELECTED_HOLDS,
	TRC_SELECTED_LATENCIES,
	TRC_SELECTED_ALLOCS,
	TRC_SELECTED_FIBER_WAITS,
	TRC_SELECTED_TABLES,
};

struct trc_selected_rows {
	const struct trc_model *m;
	const struct trc_selection *s;
	struct trc_selected_cause *caused; /* by row of unlocks; owned */
	struct trc_selected_range caused_in;
};

struct trc_selected_row {
	uint64_t
		id; /* of threads the serial, of tasks the user's id; else the row's number, from 1 */
	int64_t ns; /* how much of it lies inside; TRC_NEVER = it has a moment, or counts whole */
	uint32_t n; /* waits that it caused; else 1 */
};

/* For the selection of a model, which must not be NULL.  Frees nothing that was there before. */
void trc_selected_rows_begin(struct trc_selected_rows *rows, const struct trc_model *m);
/* Before rows of unlocks are asked for; may be called again.  0 or -ENOMEM. */
int trc_selected_rows_need_caused(struct trc_selected_rows *rows);
/* Whether row i of the table is selected; then *row tells of it.  The table's part must be there. */
bool trc_selected_rows_has(const struct trc_selected_rows *rows, enum trc_selected_table table,
			   size_t i, struct trc_selected_row *row);
/* The first row from `i` on, of the n, that may be selected; n = there is none.  Blocks of rows outside of the
 * window are passed over at once. */
size_t trc_selected_rows_next(const struct trc_selected_rows *rows, enum trc_selected_table table,
			      size_t i, size_t n);
void trc_selected_rows_free(struct trc_selected_rows *rows);

#endif
