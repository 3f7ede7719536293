/*
 * intervals.c - see intervals.h.
 */
#include "intervals.h"

#include <errno.h>
#include <stdlib.h>
#include "format/wire.h"
#include "magnitudes.h"

enum { STATE_VALUES = 256, LENGTH_VALUES = 256 };
enum { BYTE_FROM_EXPONENT = 10 }; /* I3 */

/* By number of a stream how many values it has, then where its next one stands. */
struct streams {
	uint64_t after[STATE_VALUES];
	uint64_t length[STATE_VALUES * LENGTH_VALUES];
	uint64_t byte[STATE_VALUES * LENGTH_VALUES];
};

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

static uint64_t park_next(struct intervals_read *r)
{
	uint64_t value = trc_bytes_varint_next(&r->park);

	return r->park_last += value >> 1 ^ (0 - (value & 1));
}

static unsigned int exponent(uint64_t length)
{
	return 63 - (unsigned int)__builtin_clzll(length | 1);
}

/* I2. */
static uint8_t length_byte(uint64_t length)
{
	unsigned int e = exponent(length), top = e < 2 ? e : 2;

	return (uint8_t)(4 * e + (length >> (e - top) & ((1U << top) - 1)));
}

/* I3. */
static void length_put(uint64_t length, uint8_t state, struct streams *next, uint8_t *bytes,
		       struct trc_bits *low)
{
	unsigned int e = exponent(length);

	if (e >= BYTE_FROM_EXPONENT) {
		bytes[next->byte[state * LENGTH_VALUES + length_byte(length)]++] = (uint8_t)length;
		trc_bits_put(low, length >> 8, e - BYTE_FROM_EXPONENT);
	} else if (e > 2) {
		trc_bits_put(low, length, e - 2);
	}
}

/* How many values each stream has; returns how many bytes of I3 there are. */
static uint64_t intervals_count_streams(const struct trc_tracks *t, struct streams *n)
{
	struct intervals_read r = read_begin(t);
	uint64_t n_bytes = 0;

	for (uint64_t i = 0; i < t->interval_count.n; i++) {
		uint8_t before = TRC_STATE_ABSENT, length_before = 0;

		for (uint64_t left = trc_bytes_varint_next(&r.count); left; left--) {
			uint64_t length = trc_bytes_varint_next(&r.duration);

			n->after[before]++;
			before = *r.state++;
			n->length[before * LENGTH_VALUES + length_before]++;
			length_before = length_byte(length);
			if (exponent(length) < BYTE_FROM_EXPONENT)
				continue;
			n->byte[before * LENGTH_VALUES + length_before]++;
			n_bytes++;
		}
	}
	return n_bytes;
}

/* Where each of k streams begins. */
static void streams_begin(uint64_t *n, size_t k)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < k; i++) {
		uint64_t own = n[i];

		n[i] = sum;
		sum += own;
	}
}

static void intervals_fill(struct trc_intervals *p, const struct trc_tracks *t,
			   struct streams *next)
{
	struct intervals_read r = read_begin(t);
	struct trc_bits low = {.out = &p->duration_low.bytes};
	uint64_t park = 0, seen = 0;

	for (uint64_t i = 0; i < t->interval_count.n; i++) {
		uint8_t before = TRC_STATE_ABSENT, length_before = 0;

		for (uint64_t left = trc_bytes_varint_next(&r.count); left; left--) {
			uint8_t state = *r.state++;
			uint64_t expected = state == TRC_STATE_WOKEN ? park : seen + 1;
			uint64_t length = trc_bytes_varint_next(&r.duration);
			size_t stream = (size_t)state * LENGTH_VALUES + length_before;

			p->state.bytes.data[next->after[before]++] = state;
			length_before = length_byte(length);
			p->duration.bytes.data[next->length[stream]++] = length_before;
			length_put(length, state, next, p->duration_byte.bytes.data, &low);
			before = state;
			if (state & TRC_STATE_MERGED ||
			    (state != TRC_STATE_WOKEN && state < TRC_STATE_PARKED))
				continue;
			park = park_next(&r);
			trc_column_add(&p->park, trc_zigzag(park - expected));
			seen = park > seen ? park : seen;
		}
	}
	trc_bits_end(&low);
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

/* The lengths of streams, as they are; then where the streams begin. */
static void streams_write(struct trc_column *c, uint64_t *n, size_t k)
{
	for (size_t i = 0; i < k; i++)
		trc_column_add(c, n[i]);
	streams_begin(n, k);
}

/* What is made of the streams, all of it or nothing. */
static int pack(struct trc_intervals *p, const struct trc_tracks *t, struct streams *streams)
{
	column_room(&p->state, t->state.n);
	column_room(&p->duration, t->state.n);
	column_room(&p->duration_byte, intervals_count_streams(t, streams));
	if (p->state.bytes.failed || p->duration.bytes.failed || p->duration_byte.bytes.failed)
		return -ENOMEM;
	streams_write(&p->after, streams->after, STATE_VALUES);
	streams_write(&p->duration_after, streams->length, STATE_VALUES * LENGTH_VALUES);
	streams_begin(streams->byte, STATE_VALUES * LENGTH_VALUES);
	intervals_fill(p, t, streams);
	p->duration_low.n = p->duration_low.bytes.n_bytes;
	p->duration_low.max = UINT8_MAX;
	return 0;
}

int trc_intervals_pack(struct trc_intervals *p, const struct trc_tracks *t)
{
	struct streams *streams;
	int rc;

	*p = (struct trc_intervals){
		.after = trc_column_make("iv.after", TRC_COLUMN_VARINT),
		.state = trc_column_make("iv.state", TRC_COLUMN_BYTES),
		.duration_after = trc_column_make("iv.duration_after", TRC_COLUMN_VARINT),
		.duration = trc_column_make("iv.duration", TRC_COLUMN_BYTES),
		.duration_byte = trc_column_make("iv.duration_byte", TRC_COLUMN_BYTES),
		.duration_low = trc_column_make("iv.duration_low", TRC_COLUMN_BYTES),
		.park = trc_column_make("iv.park", TRC_COLUMN_VARINT),
	};
	p->park.as_bytes = true;
	if (t->interval_count.bytes.failed || t->duration.bytes.failed || t->state.bytes.failed ||
	    t->park.bytes.failed)
		return -ENOMEM;
	streams = calloc(1, sizeof(*streams));
	rc = streams ? pack(p, t, streams) : -ENOMEM;
	free(streams);
	if (rc)
		trc_intervals_free(p);
	return rc;
}

void trc_intervals_free(struct trc_intervals *p)
{
	trc_bytes_free(&p->after.bytes);
	trc_bytes_free(&p->state.bytes);
	trc_bytes_free(&p->duration_after.bytes);
	trc_bytes_free(&p->duration.bytes);
	trc_bytes_free(&p->duration_byte.bytes);
	trc_bytes_free(&p->duration_low.bytes);
	trc_bytes_free(&p->park.bytes);
}
