/*
 * ring_reader.h - a plain reader of rings and the overflow stream, for tests.
 *
 * It drains as docs and layout.h say and keeps every record, so that a test can count them.
 */
#ifndef TRC_TESTS_RING_READER_H
#define TRC_TESTS_RING_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "recorder/shared/layout.h"

struct seen {
	uint64_t time, a, b, c, d, e, f; /* what follows its first two words, or 0 */
	uint32_t stream; /* proc, or STREAM_OVERFLOW */
	uint32_t serial;
	uint8_t kind, flags;
};
enum { STREAM_OVERFLOW = UINT32_MAX };
enum { PATIENCE_NS = 100000000 }; /* room:W2 */

struct ring_reader {
	struct seen *seen;
	size_t n_seen, capacity;
	uint64_t lost;       /* by gap records and counters */
	uint64_t *lost_seen; /* per proc: the total in the last gap record */
	size_t damaged;      /* records that break a rule of layout.h */
	/* By visits to a ring; of the overflow stream, which comes last, to a cell that is committed. */
	struct {
		uint64_t began_ns, lost;
	} *visit;
	uint64_t away_ns;   /* from the beginning of a visit to the end of the next, at most */
	uint64_t absences;  /* how often that was longer than a thread waits for room */
	uint64_t lost_soon; /* in less time than that */
};

void ring_reader_init(struct ring_reader *r, struct trc_shared *shared, size_t capacity);
/* Takes all that is committed, gives the room back. Returns the number of records. */
size_t ring_reader_pass(struct ring_reader *r, struct trc_shared *shared);
/* After the last pass: adds what was lost since the last gap records. */
void ring_reader_finish(struct ring_reader *r, struct trc_shared *shared);
void ring_reader_free(struct ring_reader *r);

#endif
