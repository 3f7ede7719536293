/* column_encode.c - see column.h. */
#include "column.h"
#include "varint.h"

enum {
	SAMPLES = 256,
	/* A dictionary of more than n / this is not worth its entries. */
	DISTINCT_SHARE = 4,
};

/* What one pass over a column tells. */
struct scan {
	uint64_t min, max;
	uint32_t changes; /* how often a number differs from the one before */
};

static bool all_equal(const uint64_t *value, uint32_t n)
{
	uint64_t differs = 0;

	for (uint32_t i = 0; i < n; i++)
		differs |= value[i] ^ value[0];
	return !differs;
}

static struct scan column_scan(const uint64_t *value, uint32_t n)
{
	struct scan scan = {value[0], value[0], 0};

	if (all_equal(value, n)) /* often so, and seen much faster than the rest */
		return scan;
	for (uint32_t i = 1; i < n; i++) {
		uint64_t v = value[i];

		scan.min = v < scan.min ? v : scan.min;
		scan.max = v > scan.max ? v : scan.max;
		scan.changes += v != value[i - 1];
	}
	return scan;
}

/* How a column is coded: what the estimate found out. */
struct plan {
	enum trc_coding coding;
	struct scan scan;
	uint8_t rice_order; /* 0: the numbers less the smallest; 1: how far each is from the last */
	uint8_t rice_bits;
};

/* Samples of a column: the numbers themselves, less the smallest, and their steps. */
struct samples {
	uint32_t n;
	uint64_t level[SAMPLES + 1], step[SAMPLES + 1];
};

static void column_sample(const uint64_t *value, uint32_t n, uint64_t min, struct samples *s)
{
	uint32_t step = n / SAMPLES + 1;

	s->n = 0;
	for (uint32_t i = step - 1; i < n; i += step) {
		s->level[s->n] = value[i] - min;
		s->step[s->n++] = value[i] - value[i ? i - 1 : 0];
	}
}

static inline unsigned int rice_cost(uint64_t x, unsigned int bits)
{
	uint64_t ones = x >> bits;

	if (ones < TRC_RICE_ONES_MAX)
		return (unsigned int)ones + 1 + bits;
	return TRC_RICE_ONES_MAX + 6 + trc_bits(x);
}

/* Bits that the samples take with the best split, which lies near the median's length. */
static uint64_t rice_estimate(const uint64_t *x, uint32_t n, uint8_t *best_bits)
{
	uint32_t by_length[65] = {0}, below = 0;
	uint64_t best = UINT64_MAX;
	unsigned int median = 0, from;

	for (uint32_t i = 0; i < n; i++)
		by_length[trc_bits(x[i])]++;
	while (median < 64 && (below += by_length[median]) <= n / 2)
		median++;
	from = median > 3 ? median - 3 : 0;
	for (unsigned int bits = from; bits <= median + 1 && bits <= TRC_RICE_BITS_MAX; bits++) {
		uint64_t cost = 0;

		for (uint32_t i = 0; i < n; i++)
			cost += rice_cost(x[i], bits);
		if (cost < best) {
			best = cost;
			*best_bits = (uint8_t)bits;
		}
	}
	return best;
}

static uint64_t rice_choose(const struct samples *s, uint32_t n, struct plan *plan)
{
	uint8_t step_bits = 0;
	uint64_t level = rice_estimate(s->level, s->n, &plan->rice_bits);
	uint64_t step = rice_estimate(s->step, s->n, &step_bits);

	plan->rice_order = step < level;
	if (step < level) {
		plan->rice_bits = step_bits;
		level = step;
	}
	/* It takes longer to read: it must be worth a sixteenth. */
	if (level == UINT64_MAX)
		return UINT64_MAX;
	level = level * n / s->n / 8 + 10;
	return level + level / 16;
}

/* Bytes that each coding would take, by samples for those of varying length. */
static void column_estimate(const struct samples *s, uint32_t n, struct plan *plan,
			    uint64_t cost[TRC_CODING_COUNT])
{
	uint64_t level = 0, rising = 0, zigzag = 0;
	unsigned int bits = trc_bits(plan->scan.max - plan->scan.min);

	for (uint32_t i = 0; i < s->n; i++) {
		level += trc_varint_bytes(s->level[i]);
		rising += trc_varint_bytes(s->step[i]);
		zigzag += trc_varint_bytes(trc_zigzag(s->step[i]));
	}
	cost[TRC_CODING_PACKED] =
		bits <= TRC_PACKED_BITS_MAX ? ((uint64_t)n * bits + 7) / 8 + 8 : UINT64_MAX;
	cost[TRC_CODING_VARINT] = level * n / s->n + 5;
	cost[TRC_CODING_RISING] = rising * n / s->n;
	cost[TRC_CODING_ZIGZAG] = zigzag * n / s->n;
	cost[TRC_CODING_RUNS] = (plan->scan.changes + 1) * (1 + (level + s->n - 1) / s->n) + 5;
	cost[TRC_CODING_RICE] = rice_choose(s, n, plan);
}

static uint32_t hash_slot(uint64_t value)
{
	value *= UINT64_C(0x9e3779b97f4a7c15);
	return (uint32_t)(value >> 51); /* 13 bits: 2 * TRC_DICTIONARY_MAX slots */
}

/* The index of `value` in the dictionary, where it is put if it is new and there are fewer
 * than `limit`; else `limit`. */
static uint32_t dictionary_index(struct trc_column_scratch *s, uint64_t value, uint32_t limit)
{
	uint32_t i = hash_slot(value);

	while (s->slot[i].stamp == s->stamp) {
		if (s->slot[i].value == value)
			return s->slot[i].index;
		i = (i + 1) % (2 * TRC_DICTIONARY_MAX);
	}
	if (s->n_distinct == limit)
		return limit;
	s->slot[i].stamp = s->stamp;
	s->slot[i].value = value;
	s->slot[i].index = s->n_distinct;
	s->distinct[s->n_distinct] = value;
	return s->n_distinct++;
}

/* Empties the dictionary. */
static void dictionary_begin(struct trc_column_scratch *s)
{
	if (++s->stamp == 0) {
		memset(s->slot, 0, sizeof(s->slot));
		s->stamp = 1;
	}
	s->n_distinct = 0;
}

/* Fills distinct[] and index[]; false if there are more than `limit` distinct numbers. */
static bool dictionary_build(struct trc_column_scratch *s, const uint64_t *value, uint32_t n,
			     uint32_t limit)
{
	if (limit > TRC_DICTIONARY_MAX)
		limit = TRC_DICTIONARY_MAX;
	dictionary_begin(s);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t slot = hash_slot(value[i]), index = s->slot[slot].index;

		/* Nearly always the number is there, and where it belongs. */
		if (s->slot[slot].stamp != s->stamp || s->slot[slot].value != value[i]) {
			index = dictionary_index(s, value[i], limit);
			if (index == limit)
				return false;
		}
		s->index[i] = (uint16_t)index;
	}
	return true;
}

/*
 * Whether a dictionary could beat `cost` bytes: it takes at least as many bits for each number
 * as tell the distinct ones among the samples apart.
 */
static bool dictionary_may_help(struct trc_column_scratch *s, const struct samples *samples,
				uint32_t n, uint64_t cost)
{
	if (cost <= n / 8 + 16)
		return false;
	dictionary_begin(s);
	for (uint32_t i = 0; i < samples->n; i++)
		dictionary_index(s, samples->level[i], SAMPLES + 1);
	return (uint64_t)n * trc_bits(s->n_distinct - 1) / 8 + s->n_distinct < cost;
}

static uint64_t dictionary_cost(const struct trc_column_scratch *s, uint32_t n, uint64_t min)
{
	uint64_t bytes = 10 + ((uint64_t)n * trc_bits(s->n_distinct - 1) + 7) / 8;

	for (uint32_t i = 0; i < s->n_distinct; i++)
		bytes += trc_varint_bytes(s->distinct[i] - min);
	return bytes;
}

/*
 * Puts numbers of `bits` bits each one after the other, low bits first.  `bits` is at most
 * TRC_PACKED_BITS_MAX: what is left over from the last byte fits above it.
 */
struct packer {
	uint8_t *out;
	uint64_t word;
	unsigned int used;
};

static inline void packer_put(struct packer *p, uint64_t value, unsigned int bits)
{
	p->word |= value << p->used;
	p->used += bits;
	trc_put64(p->out, p->word);
	p->out += p->used >> 3;
	p->word >>= p->used & ~7u;
	p->used &= 7;
}

/* Note: writes up to 8 bytes past the end, within trc_column_bytes_max(). */
static uint8_t *packer_end(struct packer *p)
{
	return p->out + (p->used ? 1 : 0);
}

static uint8_t *put_packed(uint8_t *out, const uint64_t *value, uint32_t n, const struct scan *scan)
{
	unsigned int bits = trc_bits(scan->max - scan->min);
	struct packer packer = {trc_varint_put(out, scan->min), 0, 0};
	uint64_t min = scan->min;

	*packer.out++ = (uint8_t)bits;
	for (uint32_t i = 0; i < n; i++)
		packer_put(&packer, value[i] - min, bits);
	return packer_end(&packer);
}

static uint8_t *put_dictionary(uint8_t *out, const struct trc_column_scratch *s, uint32_t n,
			       uint64_t min)
{
	unsigned int bits = trc_bits(s->n_distinct - 1);
	struct packer packer = {trc_varint_put(out, min), 0, 0};

	packer.out = trc_varint_put(packer.out, s->n_distinct);
	for (uint32_t i = 0; i < s->n_distinct; i++)
		packer.out = trc_varint_put(packer.out, s->distinct[i] - min);
	for (uint32_t i = 0; i < n; i++)
		packer_put(&packer, s->index[i], bits);
	return packer_end(&packer);
}

static uint8_t *put_varint(uint8_t *out, const uint64_t *value, uint32_t n, uint64_t min)
{
	out = trc_varint_put(out, min);
	for (uint32_t i = 0; i < n; i++)
		out = trc_varint_put(out, value[i] - min);
	return out;
}

static uint8_t *put_rising(uint8_t *out, const uint64_t *value, uint32_t n)
{
	uint64_t last = 0;

	for (uint32_t i = 0; i < n; i++) {
		out = trc_varint_put(out, value[i] - last);
		last = value[i];
	}
	return out;
}

static uint8_t *put_zigzag(uint8_t *out, const uint64_t *value, uint32_t n)
{
	uint64_t last = 0;

	for (uint32_t i = 0; i < n; i++) {
		out = trc_varint_put(out, trc_zigzag(value[i] - last));
		last = value[i];
	}
	return out;
}

static uint8_t *put_runs(uint8_t *out, const uint64_t *value, uint32_t n, uint64_t min)
{
	out = trc_varint_put(out, min);
	for (uint32_t i = 0, end; i < n; i = end) {
		for (end = i + 1; end < n && value[end] == value[i]; end++)
			;
		out = trc_varint_put(out, value[i] - min);
		out = trc_varint_put(out, end - i - 1);
	}
	return out;
}

static inline void rice_put(struct packer *p, uint64_t x, unsigned int bits)
{
	uint64_t ones = x >> bits;

	if (ones < TRC_RICE_ONES_MAX) {
		packer_put(p,
			   ((UINT64_C(1) << ones) - 1) | (x & ((UINT64_C(1) << bits) - 1))
								 << (ones + 1),
			   (unsigned int)ones + 1 + bits);
		return;
	}
	packer_put(p, (UINT64_C(1) << TRC_RICE_ONES_MAX) - 1, TRC_RICE_ONES_MAX);
	packer_put(p, trc_bits(x) - 1, 6);
	packer_put(p, (uint32_t)x, trc_bits(x) < 32 ? trc_bits(x) : 32);
	packer_put(p, x >> 32, trc_bits(x >> 32));
}

static uint8_t *put_rice(uint8_t *out, const uint64_t *value, uint32_t n, const struct plan *plan)
{
	uint64_t base = plan->rice_order ? 0 : plan->scan.min;
	struct packer packer = {out, 0, 0};

	*packer.out++ = plan->rice_order;
	*packer.out++ = plan->rice_bits;
	packer.out = trc_varint_put(packer.out, base);
	for (uint32_t i = 0; i < n; i++) {
		rice_put(&packer, value[i] - base, plan->rice_bits);
		if (plan->rice_order)
			base = value[i];
	}
	return packer_end(&packer);
}

static uint8_t *put_as(struct trc_column_scratch *scratch, const uint64_t *value, uint32_t n,
		       uint8_t *out, const struct plan *plan)
{
	switch (plan->coding) {
	case TRC_CODING_CONSTANT:
		return trc_varint_put(out, plan->scan.min);
	case TRC_CODING_PACKED:
		return put_packed(out, value, n, &plan->scan);
	case TRC_CODING_DICTIONARY:
		return put_dictionary(out, scratch, n, plan->scan.min);
	case TRC_CODING_VARINT:
		return put_varint(out, value, n, plan->scan.min);
	case TRC_CODING_RISING:
		return put_rising(out, value, n);
	case TRC_CODING_ZIGZAG:
		return put_zigzag(out, value, n);
	case TRC_CODING_RUNS:
		return put_runs(out, value, n, plan->scan.min);
	case TRC_CODING_RICE:
		return put_rice(out, value, n, plan);
	case TRC_CODING_BYTES:
	case TRC_CODING_COUNT:
	case TRC_CODING_LZ4:
		break;
	}
	return out;
}

static void encoding_choose(struct trc_column_scratch *scratch, const uint64_t *value, uint32_t n,
			    struct plan *plan)
{
	uint64_t cost[TRC_CODING_COUNT];
	enum trc_coding best = TRC_CODING_VARINT;
	struct samples samples;

	plan->coding = TRC_CODING_CONSTANT;
	if (!plan->scan.changes)
		return;
	column_sample(value, n, plan->scan.min, &samples);
	column_estimate(&samples, n, plan, cost);
	for (enum trc_coding c = TRC_CODING_PACKED; c < TRC_CODING_COUNT; c++)
		if (c != TRC_CODING_DICTIONARY && cost[c] < cost[best])
			best = c;
	plan->coding = best;
	if (dictionary_may_help(scratch, &samples, n, cost[best]) &&
	    dictionary_build(scratch, value, n, n / DISTINCT_SHARE + 2) &&
	    dictionary_cost(scratch, n, plan->scan.min) < cost[best])
		plan->coding = TRC_CODING_DICTIONARY;
}

size_t trc_column_encode(struct trc_column_scratch *scratch, const uint64_t *value, uint32_t n,
			 bool rising, uint8_t *out, uint8_t *coding)
{
	struct plan plan;

	if (rising)
		plan.scan = (struct scan){value[0], value[n - 1], value[0] != value[n - 1] ? n : 0};
	else
		plan.scan = column_scan(value, n);
	encoding_choose(scratch, value, n, &plan);
	*coding = (uint8_t)plan.coding;
	return (size_t)(put_as(scratch, value, n, out, &plan) - out);
}

size_t trc_column_encode_as(struct trc_column_scratch *scratch, const uint64_t *value, uint32_t n,
			    uint8_t *out, enum trc_coding coding)
{
	struct plan plan = {.coding = coding, .scan = column_scan(value, n)};
	struct samples samples;

	if (coding == TRC_CODING_CONSTANT && plan.scan.changes)
		return 0;
	if (coding == TRC_CODING_PACKED &&
	    trc_bits(plan.scan.max - plan.scan.min) > TRC_PACKED_BITS_MAX)
		return 0;
	if (coding == TRC_CODING_DICTIONARY &&
	    !dictionary_build(scratch, value, n, TRC_DICTIONARY_MAX))
		return 0;
	column_sample(value, n, plan.scan.min, &samples);
	rice_choose(&samples, n, &plan);
	return (size_t)(put_as(scratch, value, n, out, &plan) - out);
}
