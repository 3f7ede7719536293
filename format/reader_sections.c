/* reader_sections.c - the file section by section (docs/format.md, "Sections"). */
#include <errno.h>
#include <inttypes.h>
#include <lz4.h>
#include <stdio.h>
#include "check.h"
#include "reader_private.h"

struct section {
	uint64_t off; /* in the file */
	uint16_t type, flags;
	uint64_t check;
	const uint8_t *payload;
	size_t n_bytes;
};

/* The payload that a packed section holds; kept with the reader. */
static int section_unpack(struct trc_reader *r, struct section *s)
{
	uint32_t raw_bytes;
	uint8_t *raw;

	if (s->n_bytes < 4)
		return -EBADMSG;
	raw_bytes = trc_get32(s->payload);
	if (!raw_bytes || raw_bytes > TRC_SECTION_BYTES_MAX ||
	    raw_bytes / TRC_LZ4_RATIO_MAX > s->n_bytes)
		return -EBADMSG;
	raw = trc_reader_keep(r, raw_bytes);
	if (!raw)
		return -ENOMEM;
	if (LZ4_decompress_safe((const char *)s->payload + 4, (char *)raw, (int)s->n_bytes - 4,
				(int)raw_bytes) != (int)raw_bytes)
		return -EBADMSG;
	s->payload = raw;
	s->n_bytes = raw_bytes;
	return 0;
}

static int parse_generation(struct trc_reader *r, struct trc_cursor *c, uint64_t off)
{
	uint64_t number = trc_cursor_varint(c);

	if (c->bad || number != r->info.n_generations + 1 || number > UINT32_MAX)
		return -EBADMSG;
	if (TRC_RESERVE(r->generation_offs, 1))
		return -ENOMEM;
	r->generation_offs.at[r->generation_offs.n++] = off;
	r->info.n_generations++;
	return 0;
}

static int end_parse(struct trc_reader *r, struct trc_cursor *c)
{
	uint64_t events = trc_cursor_varint(c), blocks = trc_cursor_varint(c);

	trc_cursor_varint(c); /* generations */
	r->info.lost_events = trc_cursor_varint(c);
	trc_cursor_varint(c); /* clamped times */
	r->info.table_full = trc_cursor_varint(c);
	if (c->bad)
		return -EBADMSG;
	r->info.complete = true;
	r->info.has_end_totals = true;
	r->end_events = events;
	r->end_blocks = blocks;
	return 0;
}

/* The index is not needed to read the file; here it is only compared with what was found. */
static int parse_index(struct trc_reader *r, struct trc_cursor *c, uint64_t off)
{
	uint64_t n = trc_cursor_varint(c);
	bool same = n == r->generation_offs.n;

	for (uint64_t i = 0; i < n && !c->bad; i++) {
		uint64_t generation_off = trc_cursor_varint(c);

		same = same && generation_off == r->generation_offs.at[i];
		for (int skipped = 0; skipped < 4; skipped++)
			trc_cursor_varint(c);
	}
	if (c->bad || trc_cursor_left(c) < 8)
		return -EBADMSG;
	if (!same || trc_get64(c->end - 8) != off)
		trc_reader_warn(r, "the index does not match the file");
	return 0;
}

static int parse_section(struct trc_reader *r, struct section *s, struct trc_error *error)
{
	struct trc_cursor c;
	int err = s->flags & TRC_SECTION_LZ4 ? section_unpack(r, s) : 0;

	if (err)
		return err;
	c = (struct trc_cursor){s->payload, s->payload + s->n_bytes, false};
	switch ((enum trc_section_type)s->type) {
	case TRC_SECTION_GENERATION:
		return parse_generation(r, &c, s->off);
	case TRC_SECTION_INFO:
		return trc_reader_parse_info(r, &c);
	case TRC_SECTION_SYNC:
		return trc_reader_parse_sync(r, &c);
	case TRC_SECTION_SCHEMA:
		return trc_reader_parse_schema(r, &c, error);
	case TRC_SECTION_STRINGS:
		return trc_reader_parse_strings(r, &c);
	case TRC_SECTION_STACKS:
		return trc_reader_parse_stacks(r, &c);
	case TRC_SECTION_THREADS:
		return trc_reader_parse_threads(r, &c);
	case TRC_SECTION_MODULES:
		return trc_reader_parse_modules(r, &c);
	case TRC_SECTION_STATUS:
		return trc_reader_parse_status(r, &c);
	case TRC_SECTION_OPEN_REGIONS:
		return trc_reader_parse_open_regions(r, &c);
	case TRC_SECTION_COVERAGE:
		return trc_reader_parse_coverage(r, &c);
	case TRC_SECTION_LABEL_SETS:
		return trc_reader_parse_label_sets(r, &c);
	case TRC_SECTION_SAMPLE_EVENTS:
		return trc_reader_parse_sample_events(r, &c);
	case TRC_SECTION_THREAD_LABELS:
		return trc_reader_parse_thread_labels(r, &c);
	case TRC_SECTION_THREAD_FIBERS:
		return trc_reader_parse_thread_fibers(r, &c);
	case TRC_SECTION_BLOCK:
		return trc_reader_parse_block(r, s->payload, s->n_bytes, s->off,
					      s->n_bytes + TRC_SECTION_HEADER_BYTES);
	case TRC_SECTION_END:
		return end_parse(r, &c);
	case TRC_SECTION_INDEX:
		return parse_index(r, &c, s->off);
	case TRC_SECTION_TYPE_COUNT:
		break;
	}
	return -EBADMSG;
}

/* A type, or a flag, of a newer minor version: the section is skipped. */
static bool section_is_known(const struct section *s)
{
	uint16_t flags = s->type == TRC_SECTION_BLOCK ? 0 : TRC_SECTION_LZ4;

	return s->type && s->type < TRC_SECTION_TYPE_COUNT && !(s->flags & ~flags);
}

/* How much of the payload the checksum covers; of a block only its head. */
static size_t checked_bytes(const struct section *s)
{
	uint32_t head_bytes;

	if (s->type != TRC_SECTION_BLOCK || !section_is_known(s) || s->n_bytes < 4)
		return s->n_bytes;
	head_bytes = trc_get32(s->payload);
	return head_bytes < s->n_bytes ? head_bytes : s->n_bytes;
}

/*
 * Reads the section at `off`: 0 and *next_off, -ENODATA where the file is cut off,
 * or as reader_private:I1.
 */
static int read_section(struct trc_reader *r, uint64_t off, uint64_t *next_off,
			struct trc_error *error)
{
	const uint8_t *h = r->bytes + off;
	uint64_t left = r->n_bytes - off;
	struct section s;
	int err = 0;

	if (left < TRC_SECTION_HEADER_BYTES)
		return -ENODATA;
	s = (struct section){off,
			     trc_get16(h),
			     trc_get16(h + 2),
			     trc_get64(h + 8),
			     h + TRC_SECTION_HEADER_BYTES,
			     trc_get32(h + 4)};
	left -= TRC_SECTION_HEADER_BYTES;
	if (s.n_bytes > left)
		return -ENODATA;
	if (trc_check64(s.payload, checked_bytes(&s), trc_get64(h)) != s.check)
		return -EBADMSG;
	r->read_bytes = off + TRC_SECTION_HEADER_BYTES + s.n_bytes;
	*next_off = off + TRC_SECTION_HEADER_BYTES + ((s.n_bytes + 7) & ~(size_t)7);
	if (!section_is_known(&s))
		r->unknown_sections++;
	else if (s.n_bytes > TRC_SECTION_BYTES_MAX)
		err = -EBADMSG;
	else
		err = parse_section(r, &s, error);
	return err;
}

/* "713 bytes", "64.9 kB", "1.5 MB": as much as tells the size. */
static const char *file_bytes_text(size_t n, char text[32])
{
	if (n < 10000)
		snprintf(text, 32, "%zu byte%s", n, n == 1 ? "" : "s");
	else if (n < 1000000)
		snprintf(text, 32, "%.1f kB", (double)n / 1e3);
	else
		snprintf(text, 32, "%.1f MB", (double)n / 1e6);
	return text;
}

static void warn_damage(struct trc_reader *r, int err, uint64_t off)
{
	const char *blocks = r->blocks.n == 1 ? "block" : "blocks";
	char text[32];

	r->info.cut_off = err == -ENODATA;
	if (err != -ENODATA)
		trc_reader_warn(r, "damaged at byte %" PRIu64 ": %zu %s before it readable", off,
				r->blocks.n, blocks);
	else if (r->info.complete)
		trc_reader_warn(r, "cut off inside the index: no event is missing");
	else
		trc_reader_warn(r, "cut off after %s: %zu %s readable, end missing",
				file_bytes_text(r->n_bytes, text), r->blocks.n, blocks);
}

int trc_reader_walk_sections(struct trc_reader *r, struct trc_error *error)
{
	uint64_t off = trc_get32(r->bytes + 12), next_off = 0;
	int err = 0;

	while (off < r->n_bytes && !err) {
		err = read_section(r, off, &next_off, error);
		if (!err)
			off = next_off;
	}
	if (err == -ENOMEM)
		return trc_reader_fail(error, err, "out of memory");
	if (err == -ENOTSUP)
		return err;
	if (!err && !r->info.complete)
		err = -ENODATA;
	if (err)
		warn_damage(r, err, off);
	else if (r->end_events != r->info.n_events || r->end_blocks != r->blocks.n)
		trc_reader_warn(r,
				"%" PRIu64 " events in %zu blocks found, but %" PRIu64
				" in %" PRIu64 " were written",
				r->info.n_events, r->blocks.n, r->end_events, r->end_blocks);
	return 0;
}
