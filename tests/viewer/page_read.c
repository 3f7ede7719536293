/*
 * page_read.c - see page_read.h.
 */
#include "page_read.h"

#include <check.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include "tests/often.h"
#include "viewer/tracks.h"

char *page_read_file(const char *path, size_t *n_bytes)
{
	FILE *f = fopen(path, "r");
	char *bytes;
	long size;

	ck_assert_ptr_nonnull(f);
	fseek(f, 0, SEEK_END);
	size = ftell(f);
	rewind(f);
	bytes = calloc(1, (size_t)size + 1);
	ck_assert_uint_eq(fread(bytes, 1, (size_t)size, f), (size_t)size);
	fclose(f);
	*n_bytes = (size_t)size;
	return bytes;
}

static unsigned int digit(char c)
{
	unsigned int code = (unsigned char)c, skipped = 1;

	expect_msg(code && code < 128 && !strchr("\r\032\033<", c), "no digit: %u", code);
	for (const char *less = "\r\032\033<"; *less; less++)
		skipped += code > (unsigned char)*less;
	return code - skipped;
}

/* The text in base 123 (page:P4) up to the next '<', onto the end of *bytes. */
static void base123_append(const char *text, uint8_t **bytes, size_t *n)
{
	size_t length = strcspn(text, "<");

	*bytes = realloc(*bytes, *n + length + 13);
	for (size_t at = 0; at < length; at += 15) {
		size_t own = length - at < 15 ? length - at : 15;
		unsigned __int128 value = 0, most = 1;

		for (size_t i = 0; i < own; i++) {
			value = value * 123 + digit(text[at + i]);
			most *= 123;
		}
		for (; most >= 256; most >>= 8, value >>= 8)
			(*bytes)[(*n)++] = (uint8_t)value;
		expect(!value);
	}
}

struct entry {
	char type[16];
	unsigned long long n, max, raw;
	unsigned int chunks, number;
};

static int find_entry(const char *page, const char *name, struct entry *e)
{
	char quoted[64];
	const char *at = strstr(page, "\"columns\":["), *end;

	snprintf(quoted, sizeof(quoted), "[\"%s\",", name);
	ck_assert_ptr_nonnull(at);
	end = strstr(at, quoted);
	if (!end)
		return -1;
	for (at = strstr(at, "[["), at++, e->number = 0; at < end; at++)
		e->number += *at == '[';
	ck_assert_int_eq(sscanf(end + strlen(quoted), "\"%15[a-z]\",%llu,%llu,%llu,%u", e->type,
				&e->n, &e->max, &e->raw, &e->chunks),
			 5);
	return 0;
}

/* The bytes of a column, inflated. */
static uint8_t *column_bytes(const char *page, const struct entry *e)
{
	uint8_t *deflated = NULL, *raw = calloc(1, e->raw + 1);
	size_t n = 0;
	uLongf n_raw = e->raw;

	for (unsigned int k = 0; k < e->chunks; k++) {
		char id[64];
		const char *at;

		snprintf(id, sizeof(id), " id=\"c%u-%u\">", e->number, k);
		at = strstr(page, id);
		ck_assert_ptr_nonnull(at);
		base123_append(at + strlen(id), &deflated, &n);
	}
	if (e->raw)
		ck_assert_int_eq(uncompress(raw, &n_raw, deflated, n), Z_OK);
	ck_assert_uint_eq(n_raw, e->raw);
	free(deflated);
	return raw;
}

static uint64_t varint(const uint8_t **at)
{
	uint64_t value = 0;
	unsigned int shift = 0;

	for (;; shift += 7) {
		uint8_t byte = *(*at)++;

		value |= (uint64_t)(byte & 127) << shift;
		if (byte < 128)
			return value;
	}
}

/* The next n bits of a column of bytes, low ones first. */
static uint64_t bits_next(const uint64_t *bytes, size_t *at_bit, unsigned int n)
{
	uint64_t value = 0;

	for (unsigned int i = 0; i < n; i++, (*at_bit)++)
		value |= (bytes[*at_bit / 8] >> *at_bit % 8 & 1) << i;
	return value;
}

/* The intervals of all threads, as intervals:I1 to I4 say. */
struct read_intervals {
	size_t n_threads;
	uint64_t *count, *duration, *state, *park; /* the last of parked or woken ones; all owned */
};

static struct read_intervals read_intervals(const char *page)
{
	struct read_intervals r = {0};
	size_t n, n_parks, n_low, n_after, at_bit = 0, at = 0, at_park = 0, n_of, n_bytes,
					   after[256];
	size_t at_byte[65536] = {0};
	uint64_t *streams = page_read_column(page, "iv.state", &n), park = 0, seen = 0;
	uint64_t *top = page_read_column(page, "iv.duration", &n);
	uint64_t *byte = page_read_column(page, "iv.duration_byte", &n_bytes);
	uint64_t *low = page_read_column(page, "iv.duration_low", &n_low);
	uint64_t *of = page_read_column(page, "iv.duration_after", &n_of);
	uint64_t *lengths = page_read_column(page, "iv.after", &n_after);

	r.count = page_read_column(page, "iv.count", &r.n_threads);
	r.park = page_read_column(page, "iv.park", &n_parks);
	r.duration = calloc(n + 1, sizeof(*r.duration));
	r.state = calloc(n + 1, sizeof(*r.state));
	ck_assert_uint_eq(n_after, 256);
	ck_assert_uint_eq(n_of, 65536);
	for (size_t k = 0, sum = 0; k < 256; sum += lengths[k++])
		after[k] = sum;
	for (size_t k = 0, i = 0, own; k < n_of; k++) { /* now where each begins */
		own = of[k];
		of[k] = i;
		for (; i < of[k] + own; i++)
			if (top[i] >> 2 >= 10)
				at_byte[k / 256 * 256 + top[i]]++;
	}
	for (size_t k = 0, sum = 0, own; k < 65536; k++, sum += own) {
		own = at_byte[k];
		at_byte[k] = sum;
	}
	for (size_t t = 0; t < r.n_threads; t++) {
		uint64_t before = TRC_STATE_ABSENT, code = 0;

		for (uint64_t left = r.count[t]; left; left--, at++) {
			uint64_t state = r.state[at] = streams[after[before]++];
			unsigned int e, bits;

			code = top[of[state * 256 + code]++];
			e = (unsigned int)(code >> 2);
			bits = e < 2 ? e : 2;
			r.duration[at] = (1ULL << e) | (code & 3) << (e - bits);
			r.duration[at] |= e < 10 ? bits_next(low, &at_bit, e - bits)
						 : byte[at_byte[state * 256 + code]++] |
							   bits_next(low, &at_bit, e - 10) << 8;
			before = state;
			if (state & TRC_STATE_MERGED ||
			    (state < TRC_STATE_PARKED && state != TRC_STATE_WOKEN))
				continue;
			park = (state == TRC_STATE_WOKEN ? park : seen + 1) +
			       (r.park[at_park] >> 1 ^ (0 - (r.park[at_park] & 1)));
			r.park[at_park++] = park;
			seen = park > seen ? park : seen;
		}
	}
	ck_assert_uint_eq(at, n);
	ck_assert_uint_eq(at_park, n_parks);
	ck_assert_uint_eq((at_bit + 7) / 8, n_low);
	ck_assert_uint_eq(at_byte[65535], n_bytes);
	free(byte);
	free(of);
	free(streams);
	free(top);
	free(low);
	free(lengths);
	return r;
}

static void read_intervals_free(struct read_intervals *r)
{
	free(r->count);
	free(r->duration);
	free(r->state);
	free(r->park);
}

/* What intervals say of waits, and other.* of those of which they do not: parksDerive() of
 * assets/rows.js.  which: 0 start, 1 length, 2 reason, 3 wake. */
static void derive_parks(const char *page, unsigned int which, uint64_t *values, size_t n_parks)
{
	static const char *const others[] = {"other.start", "other.length", "other.reason",
					     "other.wake"};
	size_t n, n_shown = 0, n_others;
	struct read_intervals r = read_intervals(page);
	uint64_t *at_end = page_read_column(page, "park.woken_at_end", &n);
	uint64_t *other = page_read_column(page, "other.park", &n_others);
	uint64_t *value = page_read_column(page, others[which], &n);
	uint64_t *start = malloc((n_parks + 1) * sizeof(*start));

	memset(start, 0xff, (n_parks + 1) * sizeof(*start));
	for (size_t t = 0, i = 0; t < r.n_threads; t++)
		for (uint64_t at_ns = 0, left = r.count[t]; left;
		     left--, at_ns += r.duration[i++]) {
			uint64_t p, told[4];

			if (r.state[i] & TRC_STATE_MERGED ||
			    (r.state[i] < TRC_STATE_PARKED && r.state[i] != TRC_STATE_WOKEN))
				continue;
			p = r.park[n_shown++] - 1;
			expect(p < n_parks);
			start[p] = start[p] == UINT64_MAX ? at_ns : start[p];
			told[0] = start[p];
			told[1] = at_ns + r.duration[i] - start[p];
			told[2] = r.state[i] == TRC_STATE_WOKEN ? values[p]
								: r.state[i] - TRC_STATE_PARKED;
			told[3] = r.state[i] == TRC_STATE_WOKEN ? 2 * (at_ns - start[p]) + 1
				  : at_end[p]			? 2 * told[1] + 1
								: 0;
			values[p] = told[which];
		}
	for (size_t k = 0; k < n_others; k++)
		values[other[k]] = value[k];
	read_intervals_free(&r);
	free(at_end);
	free(other);
	free(value);
	free(start);
}

/* Columns of waits in streams (rows:V3), into the order of the waits: by stack and reason, or by reason. */
static void streams_join(const char *page, const char *name, uint64_t *values, size_t n)
{
	static const char *const by_stack[] = {"park.object", "park.holder",
					       "park.waker",  "park.waker_stack",
					       "park.result", "park.descriptor"};
	bool by_both = false;
	uint64_t *stack, *reason, *in_order = malloc((n + 1) * sizeof(*in_order));
	size_t n_of, at = 0;

	for (size_t i = 0; i < sizeof(by_stack) / sizeof(by_stack[0]); i++)
		by_both |= !strcmp(name, by_stack[i]);
	if (!by_both && strcmp(name, "park.stack"))
		n = 0;
	stack = by_both && n ? page_read_column(page, "park.stack", &n_of) : NULL;
	reason = n ? page_read_column(page, "park.reason", &n_of) : NULL;
	for (uint64_t stream = 0; at < n; stream++)
		for (size_t i = 0; i < n; i++)
			if ((stack ? stack[i] * 256 : 0) + reason[i] == stream)
				in_order[i] = values[at++];
	memcpy(values, in_order, n * sizeof(*values));
	free(stack);
	free(reason);
	free(in_order);
}

/* rows:V5. */
static void derive_in_task(const char *page, const char *name, uint64_t *values)
{
	bool is_log = !strncmp(name, "log.", 4), is_length = !strcmp(name, "region.length");
	size_t n, n_tasks;
	uint64_t *beside = page_read_column(page,
					    is_log	? "log.time_in_task"
					    : is_length ? "region.end_in_task"
							: "region.start_in_task",
					    &n);
	uint64_t *task = page_read_column(page, is_log ? "log.task" : "region.task", &n);
	uint64_t *begin = is_length ? page_read_column(page, "region.start", &n) : NULL;
	uint64_t *start = page_read_column(page, "task.start", &n_tasks);
	uint64_t *length = page_read_column(page, "task.length", &n_tasks);

	for (size_t i = 0; i < n; i++) {
		uint64_t from = is_length ? begin[i] : i ? values[i - 1] : 0;

		expect(task[i] <= n_tasks);
		if (task[i])
			from = start[task[i] - 1] + (is_length ? length[task[i] - 1] : 0);
		values[i] = from + (beside[i] >> 1 ^ (0 - (beside[i] & 1))) -
			    (is_length ? begin[i] : 0);
	}
	free(beside);
	free(task);
	free(begin);
	free(start);
	free(length);
}

static int is_derived(const char *page, const struct entry *e, const char *name, uint64_t *values)
{
	static const char *const derived[] = {"park.start", "park.length", "park.reason",
					      "park.wake"};

	if (strcmp(e->type, "derived") != 0)
		return 0;
	for (unsigned int i = 0; i < 4; i++)
		if (!strcmp(name, derived[i])) {
			derive_parks(page, i, values, e->n);
			return 1;
		}
	derive_in_task(page, name, values);
	return 1;
}

/* The numbers of a column of magnitudes and bits (magnitudes.h). */
static void split(const uint8_t *raw, const struct entry *e, uint64_t *values)
{
	size_t at_bit = 8 * e->n;

	for (size_t i = 0; i < e->n; i++) {
		unsigned int below = raw[i] < 8 ? 0 : raw[i] / 4 - 1;

		values[i] = raw[i] < 8 ? raw[i] : (uint64_t)(4 + raw[i] % 4) << below;
		for (unsigned int k = 0; k < below; k++, at_bit++)
			values[i] |= (uint64_t)(raw[at_bit / 8] >> at_bit % 8 & 1) << k;
	}
	ck_assert_uint_eq((at_bit + 7) / 8, e->raw);
}

uint64_t *page_read_column(const char *page, const char *name, size_t *n)
{
	struct entry e;
	uint8_t *raw;
	const uint8_t *at;
	uint64_t *values, last = 0, above = 0;
	int is_bytes, is_delta, derived, is_zero, is_split;

	*n = 0;
	if (find_entry(page, name, &e))
		return NULL;
	raw = column_bytes(page, &e);
	values = calloc(e.n + 1, sizeof(*values));
	at = raw;
	derived = is_derived(page, &e, name, values);
	is_bytes = !strcmp(e.type, "bytes");
	is_delta = !strcmp(e.type, "delta") || !strcmp(e.type, "splitdelta");
	is_split = !strncmp(e.type, "split", 5);
	if (is_split)
		split(raw, &e, values);
	is_zero = !strcmp(e.type, "zero");
	for (size_t i = 0; i < e.n && !derived && !is_zero; i++) {
		uint64_t value = is_split ? values[i] : is_bytes ? *at++ : varint(&at);

		if (is_delta)
			value = last += value >> 1 ^ (0 - (value & 1));
		values[i] = value;
		above += !is_bytes && value > e.max;
	}
	ck_assert_uint_eq(above, 0);
	ck_assert_uint_eq(is_split ? e.raw : (size_t)(at - raw), e.raw);
	free(raw);
	if (!is_zero)
		streams_join(page, name, values, e.n);
	*n = e.n;
	return values;
}

char *page_read_text(const char *page, uint64_t id)
{
	size_t n, n_data;
	uint64_t *length = page_read_column(page, "text.bytes", &n);
	uint64_t *data = page_read_column(page, "text.data", &n_data);
	size_t start = 0;
	char *text;

	ck_assert_uint_lt(id, n);
	for (size_t i = 0; i < id; i++)
		start += length[i];
	text = calloc(1, length[id] + 1);
	for (size_t i = 0; i < length[id]; i++)
		text[i] = (char)data[start + i];
	free(length);
	free(data);
	return text;
}

double page_read_head(const char *page, const char *key)
{
	const char *head = strstr(page, "id=\"head\">"), *at;
	char quoted[64];

	snprintf(quoted, sizeof(quoted), "\"%s\":", key);
	ck_assert_ptr_nonnull(head);
	at = strstr(head, quoted);
	return at ? strtod(at + strlen(quoted), NULL) : -1;
}
