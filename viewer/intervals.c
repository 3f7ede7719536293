/*
 * intervals.c - see intervals.h.
 */
#include "intervals.h"

#include <errno.h>
#include <stdlib.h>

enum { STATE_VALUES = 256 };

/* What is read of the tracks, thread by thread. */
struct intervals_read {
	const uint8_t *count, *duration, *state, *park;
	uint64_t park_last; /* its column has differences */
};

static struct intervals_read read_begin(const struct trc_tracks *t)
{
	return (struct intervals_read){
		.count = t->interval_count.bytes.data,
		.duration = t->duration.bytes.data,
		.state = t->state.bytes.data,
		.park = t->park.bytes.data,
	};
}

/* These bytes are our own: each number is whole. */
static uint64_t varint_next(const uint8_t **at)
{
	uint64_t value = 0;
	unsigned int shift = 0;

	for (; **at & 0x80; shift += 7)
		value |= (uint64_t)(*(*at)++ & 0x7f) << shift;
	return value | (uint64_t) * (*at)++ << shift;
}

static uint64_t zigzag(uint64_t difference)
{
	return difference << 1 ^ (0 - (difference >> 63));
}

static uint64_t park_next(struct intervals_read *r)
{
	uint64_t value = varint_next(&r->park);

	return r->park_last += value >> 1 ^ (0 - (value & 1));
}

struct bits {
	struct trc_bytes *out;
	uint64_t value;
	unsigned int n;
};

static void bits_put(struct bits *b, uint64_t value, unsigned int n)
{
	for (; n; n -= n < 32 ? n : 32, value >>= 32) {
		unsigned int now = n < 32 ? n : 32;

		b->value |= (value & (((uint64_t)1 << now) - 1)) << b->n;
		for (b->n += now; b->n >= 8; b->n -= 8, b->value >>= 8) {
			uint8_t byte = (uint8_t)b->value;

			trc_bytes_put(b->out, &byte, 1);
		}
	}
}

static void bits_end(struct bits *b)
{
	if (b->n)
		bits_put(b, 0, 8 - b->n);
}

/* I2 and I3. */
static uint8_t length_put(uint64_t length, struct bits *low)
{
	unsigned int e = 63 - (unsigned int)__builtin_clzll(length | 1);
	unsigned int top = e < 2 ? e : 2;

	bits_put(low, length, e - top);
	return (uint8_t)(4 * e + (length >> (e - top) & ((1U << top) - 1)));
}

/* How many values each stream has: of states, and of lengths. */
static void count_streams(const struct trc_tracks *t, uint64_t after[STATE_VALUES],
			  uint64_t of[STATE_VALUES])
{
	struct intervals_read r = read_begin(t);

	for (uint64_t i = 0; i < t->interval_count.n; i++) {
		uint8_t before = TRC_STATE_ABSENT;

		for (uint64_t left = varint_next(&r.count); left; left--) {
			after[before]++;
			before = *r.state++;
			of[before]++;
		}
	}
}

/* Where each stream begins. */
static void streams_begin(uint64_t n[STATE_VALUES])
{
	uint64_t sum = 0;

	for (size_t i = 0; i < STATE_VALUES; i++) {
		uint64_t own = n[i];

		n[i] = sum;
		sum += own;
	}
}

static void fill(struct trc_intervals *p, const struct trc_tracks *t, uint64_t after[STATE_VALUES],
		 uint64_t of[STATE_VALUES])
{
	struct intervals_read r = read_begin(t);
	struct bits low = {.out = &p->duration_low.bytes};
	uint64_t park = 0, seen = 0;

	for (uint64_t i = 0; i < t->interval_count.n; i++) {
		uint8_t before = TRC_STATE_ABSENT;

		for (uint64_t left = varint_next(&r.count); left; left--) {
			uint8_t state = *r.state++;
			uint64_t expected = state == TRC_STATE_WOKEN ? park : seen + 1;

			p->state.bytes.data[after[before]++] = state;
			p->duration.bytes.data[of[state]++] =
				length_put(varint_next(&r.duration), &low);
			before = state;
			if (state & TRC_STATE_MERGED ||
			    (state != TRC_STATE_WOKEN && state < TRC_STATE_PARKED))
				continue;
			park = park_next(&r);
			trc_column_add(&p->park, zigzag(park - expected));
			seen = park > seen ? park : seen;
		}
	}
	bits_end(&low);
}

/* Room for n bytes, which are all to be filled in. */
static void column_room(struct trc_column *c, uint64_t n)
{
	c->n = n;
	c->max = UINT8_MAX;
	c->bytes.data = malloc(n + 1);
	c->bytes.failed = !c->bytes.data;
	c->bytes.n_bytes = c->bytes.capacity_bytes = n;
}

int trc_intervals_pack(struct trc_intervals *p, const struct trc_tracks *t)
{
	uint64_t after[STATE_VALUES] = {0}, of[STATE_VALUES] = {0};

	*p = (struct trc_intervals){
		.after = trc_column_make("iv.after", TRC_COLUMN_VARINT),
		.state = trc_column_make("iv.state", TRC_COLUMN_BYTES),
		.duration = trc_column_make("iv.duration", TRC_COLUMN_BYTES),
		.duration_low = trc_column_make("iv.duration_low", TRC_COLUMN_BYTES),
		.park = trc_column_make("iv.park", TRC_COLUMN_VARINT),
	};
	if (t->interval_count.bytes.failed || t->duration.bytes.failed || t->state.bytes.failed ||
	    t->park.bytes.failed)
		return -ENOMEM;
	column_room(&p->state, t->state.n);
	column_room(&p->duration, t->state.n);
	if (p->state.bytes.failed || p->duration.bytes.failed) {
		trc_intervals_free(p);
		return -ENOMEM;
	}
	count_streams(t, after, of);
	for (size_t i = 0; i < STATE_VALUES; i++)
		trc_column_add(&p->after, after[i]);
	streams_begin(after);
	streams_begin(of);
	fill(p, t, after, of);
	p->duration_low.n = p->duration_low.bytes.n_bytes;
	p->duration_low.max = UINT8_MAX;
	return 0;
}

void trc_intervals_free(struct trc_intervals *p)
{
	trc_bytes_free(&p->after.bytes);
	trc_bytes_free(&p->state.bytes);
	trc_bytes_free(&p->duration.bytes);
	trc_bytes_free(&p->duration_low.bytes);
	trc_bytes_free(&p->park.bytes);
}
