/*
 * cut.c - where a file that was cut off ends, stream by stream: check:V4 in check.h.
 *
 * A block is written when it is full, so each stream ends at a time of its own: at its last event in
 * the file, or at a later time up to which the file says that the stream is complete (format.md, "SYNC").  A
 * thread runs on one proc after another, so its events may be in any stream.  So from the earliest end of
 * a stream on, events of every thread may be missing.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include "parts.h"

struct stream_end {
	int64_t end_ns;
	uint32_t proc;
	uint8_t source;
};

static void cut_tell(struct trc_check *check, const char *stream, int64_t end_ns)
{
	char line[160];

	if (end_ns == INT64_MIN)
		snprintf(line, sizeof(line), "cut off: %s: all events may be missing", stream);
	else
		snprintf(line, sizeof(line),
			 "cut off: %s: events from %" PRId64 " ns on may be missing", stream,
			 end_ns);
	check->report(check->context, line);
}

static void tell_stream(struct trc_check *check, const struct stream_end *s)
{
	char name[40];

	if (s->source == TRC_SOURCE_OVERFLOW)
		snprintf(name, sizeof(name), "overflow stream");
	else
		snprintf(name, sizeof(name), "proc %" PRIu32 "%s", s->proc,
			 s->source == TRC_SOURCE_KERNEL ? ", the kernel's records" : "");
	cut_tell(check, name, s->end_ns);
}

/* Where each stream that has blocks ends, in order of appearance. */
static int streams_find_ends(const struct trc_reader *r, struct trc_index *row,
			     struct trc_array *ends)
{
	int64_t whole_until_ns = trc_reader_info(r)->whole_until_ns;

	for (size_t i = 0; i < trc_reader_blocks(r); i++) {
		const struct trc_block_info *b = trc_reader_block(r, i);
		uint64_t key = (uint64_t)b->source << 32 | b->proc;
		uint32_t at = trc_index_get(row, key);
		struct stream_end *s;

		if (at == TRC_INDEX_NONE) {
			at = (uint32_t)ends->n;
			s = trc_array_add(ends);
			if (!s || trc_index_put(row, key, at))
				return -ENOMEM;
			*s = (struct stream_end){whole_until_ns, b->proc, b->source};
			if (b->source == TRC_SOURCE_KERNEL)
				s->end_ns = INT64_MIN;
		}
		s = (struct stream_end *)ends->row + at;
		if (b->last_ns > s->end_ns)
			s->end_ns = b->last_ns;
	}
	return 0;
}

/* The kernel's records are not what threads are judged by. */
static void cut_at_earliest(struct trc_check *check, const struct trc_array *ends)
{
	const struct trc_file_info *info = trc_reader_info(trc_model_reader(check->m));
	const struct stream_end *s = ends->row;
	size_t n_streams = 0;

	for (size_t i = 0; i < ends->n; i++) {
		tell_stream(check, &s[i]);
		if (s[i].source == TRC_SOURCE_KERNEL)
			continue;
		n_streams++;
		if (s[i].end_ns < check->cut_ns)
			check->cut_ns = s[i].end_ns;
	}
	if (n_streams <= info->n_procs) { /* a ring for each proc, and the overflow stream */
		cut_tell(check, "streams that have no events", info->whole_until_ns);
		check->cut_ns = info->whole_until_ns;
	}
}

int trc_check_cut(struct trc_check *check)
{
	const struct trc_reader *r = trc_model_reader(check->m);
	struct trc_array ends = {.row_bytes = sizeof(struct stream_end)};
	struct trc_index row = {0};
	int err;

	if (trc_reader_info(r)->complete)
		return 0;
	check->totals.cut_off = true;
	err = streams_find_ends(r, &row, &ends);
	if (!err)
		cut_at_earliest(check, &ends);
	trc_index_free(&row);
	trc_array_free(&ends);
	return err;
}
