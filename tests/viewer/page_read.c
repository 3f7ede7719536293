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
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
		"!#$%'()*+,-./:;=>?@[\\]^_`{|}~";
	const char *at = c ? strchr(digits, c) : NULL;

	ck_assert_msg(at, "no digit: %c", c);
	return (unsigned int)(at - digits);
}

/* The text in base 91 (page:P4) up to the next '<', onto the end of *bytes. */
static void base91_append(const char *text, uint8_t **bytes, size_t *n)
{
	size_t length = strcspn(text, "<");
	uint32_t bits = 0;
	unsigned int n_bits = 0;

	*bytes = realloc(*bytes, *n + length + 3);
	for (size_t i = 0; i < length; i += 2) {
		unsigned int value = digit(text[i]);
		bool pair = i + 1 < length;

		bits |= (pair ? value * 91 + digit(text[i + 1]) : value) << n_bits;
		for (n_bits += pair ? 13 : 6; n_bits >= 8; n_bits -= 8, bits >>= 8)
			(*bytes)[(*n)++] = (uint8_t)bits;
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
		base91_append(at + strlen(id), &deflated, &n);
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

/* What intervals say of waits, and other.* of those of which they do not: parksDerive() of
 * assets/rows.js.  which: 0 start, 1 length, 2 reason, 3 wake. */
static void derive_parks(const char *page, unsigned int which, uint64_t *values, size_t n_parks)
{
	static const char *const others[] = {"other.start", "other.length", "other.reason",
					     "other.wake"};
	size_t n_threads, n, n_shown = 0, n_others;
	uint64_t *count = page_read_column(page, "iv.count", &n_threads);
	uint64_t *duration = page_read_column(page, "iv.duration", &n);
	uint64_t *state = page_read_column(page, "iv.state", &n);
	uint64_t *park = page_read_column(page, "iv.park", &n);
	uint64_t *at_end = page_read_column(page, "park.woken_at_end", &n);
	uint64_t *other = page_read_column(page, "other.park", &n_others);
	uint64_t *value = page_read_column(page, others[which], &n);
	uint64_t *start = malloc((n_parks + 1) * sizeof(*start));

	memset(start, 0xff, (n_parks + 1) * sizeof(*start));
	for (size_t t = 0, i = 0; t < n_threads; t++)
		for (uint64_t at_ns = 0, left = count[t]; left; left--, at_ns += duration[i++]) {
			uint64_t p, told[4];

			if (state[i] & TRC_STATE_MERGED ||
			    (state[i] < TRC_STATE_PARKED && state[i] != TRC_STATE_WOKEN))
				continue;
			p = park[n_shown++] - 1;
			ck_assert_uint_lt(p, n_parks);
			start[p] = start[p] == UINT64_MAX ? at_ns : start[p];
			told[0] = start[p];
			told[1] = at_ns + duration[i] - start[p];
			told[2] = state[i] == TRC_STATE_WOKEN ? values[p]
							      : state[i] - TRC_STATE_PARKED;
			told[3] = state[i] == TRC_STATE_WOKEN ? 2 * (at_ns - start[p]) + 1
				  : at_end[p]		      ? 2 * told[1] + 1
							      : 0;
			values[p] = told[which];
		}
	for (size_t k = 0; k < n_others; k++)
		values[other[k]] = value[k];
	free(count);
	free(duration);
	free(state);
	free(park);
	free(at_end);
	free(other);
	free(value);
	free(start);
}

static int is_derived(const char *page, const struct entry *e, const char *name, uint64_t *values)
{
	static const char *const derived[] = {"park.start", "park.length", "park.reason",
					      "park.wake"};

	for (unsigned int i = 0; i < 4 && !strcmp(e->type, "derived"); i++)
		if (!strcmp(name, derived[i])) {
			derive_parks(page, i, values, e->n);
			return 1;
		}
	return 0;
}

uint64_t *page_read_column(const char *page, const char *name, size_t *n)
{
	struct entry e;
	uint8_t *raw;
	const uint8_t *at;
	uint64_t *values, last = 0, above = 0;
	int is_bytes, is_delta, derived, is_zero;

	*n = 0;
	if (find_entry(page, name, &e))
		return NULL;
	raw = column_bytes(page, &e);
	values = calloc(e.n + 1, sizeof(*values));
	at = raw;
	derived = is_derived(page, &e, name, values);
	is_bytes = !strcmp(e.type, "bytes");
	is_delta = !strcmp(e.type, "delta");
	is_zero = !strcmp(e.type, "zero");
	for (size_t i = 0; i < e.n && !derived && !is_zero; i++) {
		uint64_t value = is_bytes ? *at++ : varint(&at);

		if (is_delta)
			value = last += value >> 1 ^ (0 - (value & 1));
		values[i] = value;
		above += !is_bytes && value > e.max;
	}
	ck_assert_uint_eq(above, 0);
	ck_assert_uint_eq((size_t)(at - raw), e.raw);
	free(raw);
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
