/*
 * vtab_events.h - what the plan of a query of events and its reading share.
 *
 * Plan bits chosen by trc_events_best_index() and obeyed by events_filter(); the arguments
 * arrive in this order, at most one of each:
 *   PLAN_KIND     kind = ?      only blocks that have it, and only its arguments decoded
 *   PLAN_PROC     proc = ?      skips the rings of other procs
 *   PLAN_THREAD   thread = ?    skips its rows
 *   PLAN_FROM     ts_ns >= ?    skips every block that ends before; also >
 *   PLAN_UNTIL    ts_ns <= ?    skips every block that begins after; also <
 * and how rows come:
 *   PLAN_BY_TIME  in order of ts_ns, streams merged
 *   PLAN_BY_KIND  grouped by kind, kinds in the order of their names
 *   neither       block by block as they lie in the file
 * idxStr says which columns are looked at: "columns=" and SQLite's mask, hexadecimal.
 */
#ifndef TRC_ANALYZER_SQL_VTAB_EVENTS_H
#define TRC_ANALYZER_SQL_VTAB_EVENTS_H

#include "vtab.h"

enum {
	PLAN_KIND = 1 << 0,
	PLAN_PROC = 1 << 1,
	PLAN_THREAD = 1 << 2,
	PLAN_FROM = 1 << 3,
	PLAN_UNTIL = 1 << 4,
	PLAN_BY_TIME = 1 << 5,
	PLAN_BY_KIND = 1 << 6,
};

/* As trc_event_columns_make() places them. */
enum { COL_TIME, COL_PROC, COL_THREAD, COL_SOURCE, COL_KIND };

struct events_vtab {
	sqlite3_vtab base; /* first: the two share an address */
	const struct trc_vtab_source *source;
	struct trc_event_columns columns;
	uint8_t by_name[TRC_KIND_MAX]; /* kinds in the order of their names */
	size_t n_kinds;
};

int trc_events_best_index(sqlite3_vtab *vtab, sqlite3_index_info *info);

#endif
