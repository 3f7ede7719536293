/*
 * deflate.c - see deflate.h.
 */
#include "deflate.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <zlib.h>

/* Of fewer bytes other ways than zlib's own are not tried. */
enum { TRIED_FROM_BYTES = 4 << 10 };

/* What is left to be deflated. */
struct rest {
	const uint8_t *data;
	size_t n_bytes;
};

/* How zlib goes about it. */
struct way {
	int level, strategy, memory;
};
static const struct way matches = {6, Z_DEFAULT_STRATEGY, MAX_MEM_LEVEL},
			runs = {6, Z_RLE, MAX_MEM_LEVEL},
			codes = {6, Z_HUFFMAN_ONLY, MAX_MEM_LEVEL},
			quick = {1, Z_DEFAULT_STRATEGY, 6};

/* So many of the next bytes as a block or a few, without a zlib stream's header, onto the end of *out.  0 or -ENOMEM. */
static int deflate_next(struct trc_bytes *out, struct rest rest, const struct way *way,
			bool is_last)
{
	uint8_t piece[16 << 10];
	z_stream z = {0};

	if (deflateInit2(&z, way->level, Z_DEFLATED, -MAX_WBITS, way->memory, way->strategy) !=
	    Z_OK)
		return -ENOMEM;
	do {
		if (!z.avail_in) {
			z.next_in = (Bytef *)rest.data;
			z.avail_in = rest.n_bytes < (1U << 30) ? (uInt)rest.n_bytes : 1U << 30;
			rest.data += z.avail_in;
			rest.n_bytes -= z.avail_in;
		}
		z.next_out = piece;
		z.avail_out = sizeof(piece);
		deflate(&z, rest.n_bytes ? Z_NO_FLUSH : is_last ? Z_FINISH : Z_SYNC_FLUSH);
		trc_bytes_put(out, piece, sizeof(piece) - z.avail_out);
	} while (!z.avail_out || z.avail_in || rest.n_bytes);
	deflateEnd(&z);
	return out->failed ? -ENOMEM : 0;
}

/* Puts the shorter one into *best, and frees the other. */
static void keep_shorter(struct trc_bytes *best, struct trc_bytes *other)
{
	struct trc_bytes longer = *other;

	if (!best->n_bytes || other->n_bytes < best->n_bytes) {
		longer = *best;
		*best = *other;
	}
	trc_bytes_free(&longer);
	*other = (struct trc_bytes){0};
}

/* Of each byte how often it is in a piece. */
struct piece {
	uint32_t n[256];
	uint32_t n_bytes;
	double cost_bits; /* at least, of codes that are its own */
};

static void deflate_piece_add(struct piece *p, const uint8_t *data, size_t n_bytes)
{
	for (size_t i = 0; i < n_bytes; i++)
		p->n[data[i]]++;
	p->n_bytes += (uint32_t)n_bytes;
}

static void piece_join(struct piece *p, const struct piece *other)
{
	for (int i = 0; i < 256; i++)
		p->n[i] += other->n[i];
	p->n_bytes += other->n_bytes;
}

static void piece_cost(struct piece *p)
{
	p->cost_bits = p->n_bytes * log2(p->n_bytes);
	for (int i = 0; i < 256; i++)
		if (p->n[i])
			p->cost_bits -= p->n[i] * log2(p->n[i]);
}

/* D1: how many of the next bytes are alike. */
static size_t piece_bytes(struct rest rest)
{
	enum { STEP_BYTES = 2 << 10, BYTES_MAX = 1 << 30, CODES_BITS = 1000 };
	struct piece all = {0};
	size_t at = 0;

	while (at < rest.n_bytes && at < BYTES_MAX) {
		size_t step = rest.n_bytes - at < STEP_BYTES ? rest.n_bytes - at : STEP_BYTES;
		struct piece own = {0}, joined = all;

		deflate_piece_add(&own, rest.data + at, step);
		piece_join(&joined, &own);
		piece_cost(&own);
		piece_cost(&joined);
		if (at && joined.cost_bits > all.cost_bits + own.cost_bits + CODES_BITS)
			break;
		all = joined;
		at += step;
	}
	return at;
}

/* D1. */
static int deflate_pieces(struct trc_bytes *out, struct rest rest)
{
	int rc = 0;

	while (!rc && rest.n_bytes) {
		struct rest piece = {rest.data, piece_bytes(rest)};
		struct trc_bytes best = {0}, other = {0};

		rest.data += piece.n_bytes;
		rest.n_bytes -= piece.n_bytes;
		rc = deflate_next(&best, piece, &runs, !rest.n_bytes);
		if (!rc)
			rc = deflate_next(&other, piece, &codes, !rest.n_bytes);
		if (!rc)
			keep_shorter(&best, &other);
		trc_bytes_put(out, best.data, best.n_bytes);
		trc_bytes_free(&best);
		trc_bytes_free(&other);
	}
	return rc ? rc : out->failed ? -ENOMEM : 0;
}

/* All blocks. */
static int deflate_shortest(struct trc_bytes *best, struct rest all, bool hardly_repeats)
{
	bool is_short = all.n_bytes < TRIED_FROM_BYTES;
	struct trc_bytes pieces = {0};
	int rc = 0;

	if (is_short || !hardly_repeats)
		rc = deflate_next(best, all, &matches, true);
	if (!rc && !is_short)
		rc = deflate_pieces(&pieces, all);
	if (!rc && pieces.n_bytes)
		keep_shorter(best, &pieces);
	trc_bytes_free(&pieces);
	return rc;
}

int trc_deflate(struct trc_bytes *out, const struct trc_bytes *in, enum trc_deflate_way way)
{
	static const uint8_t header[] = {0x78, 0x9c};
	const struct rest all = {in->data, in->n_bytes};
	uint32_t sum = (uint32_t)adler32_z(1, in->data, in->n_bytes);
	struct trc_bytes blocks = {0};
	int rc = way == TRC_DEFLATE_QUICK
			 ? deflate_next(&blocks, all, &quick, true)
			 : deflate_shortest(&blocks, all, way == TRC_DEFLATE_CODES);

	trc_bytes_put(out, header, sizeof(header));
	trc_bytes_put(out, blocks.data, blocks.n_bytes);
	for (int shift = 24; shift >= 0; shift -= 8) {
		uint8_t byte = (uint8_t)(sum >> shift);

		trc_bytes_put(out, &byte, 1);
	}
	trc_bytes_free(&blocks);
	return rc ? rc : out->failed ? -ENOMEM : 0;
}
