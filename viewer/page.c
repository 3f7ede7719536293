/*
 * page.c - see page.h.
 */
#include "page.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "deflate.h"
#include "format/check.h"
#include "format/utf8.h"
#include "magnitudes.h"

/* P4: so many bytes make so many digits of 1 to 127. */
enum { DIGITS = 123, GROUP_BYTES = 13, GROUP_DIGITS = 15, THIRD_DIGITS = GROUP_DIGITS / 3 };

/* Characters in a script element, and the bytes that make so many (P1). */
enum { CHUNK_CHARACTERS = 512 << 10, CHUNK_BYTES = CHUNK_CHARACTERS / GROUP_DIGITS * GROUP_BYTES };

static bool bytes_reserve(struct trc_bytes *b, size_t n_bytes)
{
	size_t capacity = b->capacity_bytes ? b->capacity_bytes : 256;
	uint8_t *data;

	if (b->failed)
		return false;
	if (b->capacity_bytes - b->n_bytes >= n_bytes)
		return true;
	while (capacity - b->n_bytes < n_bytes) {
		if (capacity > SIZE_MAX / 2)
			goto failed;
		capacity *= 2;
	}
	data = realloc(b->data, capacity);
	if (!data)
		goto failed;
	b->data = data;
	b->capacity_bytes = capacity;
	return true;
failed:
	b->failed = true;
	return false;
}

void trc_bytes_put(struct trc_bytes *b, const void *bytes, size_t n_bytes)
{
	if (!n_bytes || !bytes_reserve(b, n_bytes))
		return;
	memcpy(b->data + b->n_bytes, bytes, n_bytes);
	b->n_bytes += n_bytes;
}

void trc_bytes_varint(struct trc_bytes *b, uint64_t value)
{
	if (!bytes_reserve(b, 10))
		return;
	for (; value >= 0x80; value >>= 7)
		b->data[b->n_bytes++] = (uint8_t)(value | 0x80);
	b->data[b->n_bytes++] = (uint8_t)value;
}

uint64_t trc_bytes_varint_next(const uint8_t **at)
{
	uint64_t value = 0;
	unsigned int shift = 0;

	for (; **at & 0x80; shift += 7)
		value |= (uint64_t)(*(*at)++ & 0x7f) << shift;
	return value | (uint64_t) * (*at)++ << shift;
}

void trc_bytes_free(struct trc_bytes *b)
{
	free(b->data);
	*b = (struct trc_bytes){0};
}

struct trc_column trc_column_make(const char *name, enum trc_column_type type)
{
	return (struct trc_column){.name = name, .type = type};
}

void trc_column_add(struct trc_column *c, uint64_t value)
{
	uint8_t byte = (uint8_t)value;
	uint64_t delta = value - c->last;

	switch (c->type) {
	case TRC_COLUMN_BYTES:
		trc_bytes_put(&c->bytes, &byte, 1);
		break;
	case TRC_COLUMN_VARINT:
		trc_bytes_varint(&c->bytes, value);
		break;
	case TRC_COLUMN_DELTA:
		trc_bytes_varint(&c->bytes, delta << 1 ^ (0 - (delta >> 63)));
		c->last = value;
		break;
	case TRC_COLUMN_DERIVED:
	case TRC_COLUMN_ZERO:
	case TRC_COLUMN_SPLIT:
	case TRC_COLUMN_SPLIT_DELTA:
		break;
	}
	c->n++;
	if (value > c->max)
		c->max = value;
}

void trc_texts_init(struct trc_texts *t)
{
	*t = (struct trc_texts){
		.length = trc_column_make("text.bytes", TRC_COLUMN_VARINT),
		.bytes = trc_column_make("text.data", TRC_COLUMN_BYTES),
	};
	t->bytes.max = UINT8_MAX; /* put as they are, not added one by one */
	trc_texts_id(t, "");	  /* P3 */
}

void trc_texts_free(struct trc_texts *t)
{
	trc_bytes_free(&t->length.bytes);
	trc_bytes_free(&t->bytes.bytes);
	trc_row_index_free(&t->index);
	free(t->start);
	*t = (struct trc_texts){0};
}

struct text_key {
	const char *text;
	size_t n_bytes;
};

static bool same_text(const void *texts, uint32_t row, const void *key)
{
	const struct trc_texts *t = texts;
	const struct text_key *wanted = key;
	const uint64_t *start = &t->start[row - 1];

	return start[1] - start[0] == wanted->n_bytes &&
	       (!wanted->n_bytes ||
		!memcmp(t->bytes.bytes.data + start[0], wanted->text, wanted->n_bytes));
}

/* Room for one text more. */
static bool texts_reserve(struct trc_texts *t)
{
	uint32_t room = t->start_room ? 2 * t->start_room : 1024;
	uint64_t *start;

	if (t->n + 1 >= t->start_room) {
		start = room < UINT32_MAX / 2 ? reallocarray(t->start, room, sizeof(*start)) : NULL;
		if (!start)
			return false;
		start[0] = 0;
		t->start = start;
		t->start_room = room;
	}
	return !trc_row_index_reserve(&t->index);
}

/* The beginning of a text that is too long, with a mark. */
static size_t text_cut(char *out, size_t capacity, const char *text)
{
	size_t keep = TRC_PAGE_TEXT_BYTES_MAX;

	while (keep > TRC_PAGE_TEXT_BYTES_MAX - 4 && ((unsigned char)text[keep] & 0xc0) == 0x80)
		keep--;
	memcpy(out, text, keep);
	return keep +
	       (size_t)snprintf(out + keep, capacity - keep, "… (%zu bytes in all)", strlen(text));
}

/* At the end; the id, or 0 without memory. */
static uint32_t text_add(struct trc_texts *t, const struct text_key *key)
{
	trc_column_add(&t->length, key->n_bytes);
	trc_bytes_put(&t->bytes.bytes, key->text, key->n_bytes);
	t->bytes.n += key->n_bytes;
	if (t->bytes.bytes.failed || t->length.bytes.failed) {
		t->failed = true;
		return 0;
	}
	t->start[t->n + 1] = t->start[t->n] + key->n_bytes;
	return t->n++;
}

uint32_t trc_texts_id(struct trc_texts *t, const char *text)
{
	char cut[TRC_PAGE_TEXT_BYTES_MAX + 64];
	struct text_key key = {text, text ? strnlen(text, TRC_PAGE_TEXT_BYTES_MAX + 1) : 0};
	uint32_t row;
	uint64_t hash;
	size_t slot;

	if (key.n_bytes > TRC_PAGE_TEXT_BYTES_MAX)
		key = (struct text_key){cut, text_cut(cut, sizeof(cut), text)};
	if (t->failed || !texts_reserve(t)) {
		t->failed = true;
		return 0;
	}
	hash = trc_check64(key.n_bytes ? key.text : "", key.n_bytes, 0);
	row = trc_row_index_find(&t->index, hash, same_text, t, &key, &slot);
	if (row)
		return row - 1;
	row = text_add(t, &key);
	if (!t->failed)
		trc_row_index_set(&t->index, slot, hash, row + 1);
	return row;
}

static size_t base64(char *out, const uint8_t *in, size_t n_bytes)
{
	static const char digit[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	size_t n = 0;

	for (size_t i = 0; i < n_bytes; i += 3) {
		size_t have = n_bytes - i < 3 ? n_bytes - i : 3;
		uint32_t v = (uint32_t)in[i] << 16 | (have > 1 ? (uint32_t)in[i + 1] << 8 : 0) |
			     (have > 2 ? in[i + 2] : 0U);

		out[n++] = digit[v >> 18];
		out[n++] = digit[v >> 12 & 63];
		out[n++] = have > 1 ? digit[v >> 6 & 63] : '=';
		out[n++] = have > 2 ? digit[v & 63] : '=';
	}
	return n;
}

void trc_page_base64(FILE *out, const void *bytes, size_t n_bytes)
{
	enum { AT_ONCE = 3 << 10 };
	const uint8_t *at = bytes;
	char text[AT_ONCE / 3 * 4];

	while (n_bytes) {
		size_t n = n_bytes < AT_ONCE ? n_bytes : AT_ONCE;

		fwrite(text, 1, base64(text, at, n), out);
		at += n;
		n_bytes -= n;
	}
}

static void digits_make(char digit[DIGITS])
{
	size_t n = 0;

	for (char c = 1; n < DIGITS; c++)
		if (c != '\r' && c != '<' && c != 26 && c != 27)
			digit[n++] = c;
}

/* The lowest n digits of a number of at most a third of a group's, the highest first. */
static void third_put(char *out, uint64_t third, size_t n, const char digit[DIGITS])
{
	for (; n; n--, third /= DIGITS)
		out[n - 1] = digit[third % DIGITS];
}

/* P4; returns how many characters. */
static size_t base123(char *out, const uint8_t *in, size_t n_bytes)
{
	/* By how many bytes: how many digits. */
	static const uint8_t n_digits[GROUP_BYTES + 1] = {0, 2,	 3,  4,	 5,  6,	 7,
							  9, 10, 11, 12, 13, 14, GROUP_DIGITS};
	const uint64_t third = (uint64_t)DIGITS * DIGITS * DIGITS * DIGITS * DIGITS;
	char digit[DIGITS], group[GROUP_DIGITS];
	size_t n = 0;

	digits_make(digit);
	for (size_t at = 0; at < n_bytes; at += GROUP_BYTES) {
		size_t own = n_bytes - at < GROUP_BYTES ? n_bytes - at : GROUP_BYTES;
		unsigned __int128 value = 0;

		for (size_t i = own; i; i--)
			value = value << 8 | in[at + i - 1];
		third_put(group + 2 * THIRD_DIGITS, (uint64_t)(value % third), THIRD_DIGITS, digit);
		value /= third;
		third_put(group + THIRD_DIGITS, (uint64_t)(value % third), THIRD_DIGITS, digit);
		third_put(group, (uint64_t)(value / third), THIRD_DIGITS, digit);
		memcpy(out + n, group + GROUP_DIGITS - n_digits[own], n_digits[own]);
		n += n_digits[own];
	}
	return n;
}

static void page_fail(struct trc_page *p, int error)
{
	if (!p->error)
		p->error = error;
}

static const char *const type_name[] = {
	[TRC_COLUMN_BYTES] = "bytes",
	[TRC_COLUMN_VARINT] = "varint",
	[TRC_COLUMN_DELTA] = "delta",
	[TRC_COLUMN_DERIVED] = "derived",
	[TRC_COLUMN_ZERO] = "zero",
	[TRC_COLUMN_SPLIT] = "split",
	[TRC_COLUMN_SPLIT_DELTA] = "splitdelta",
};

/* A column as the page has it. */
struct encoded {
	enum trc_column_type type;
	size_t raw_bytes; /* before they were deflated */
	struct trc_bytes deflated;
};

static void page_chunk(struct trc_page *p, const struct trc_column *c, const struct encoded *e,
		       uint32_t chunk, bool last, const uint8_t *data, size_t n_bytes,
		       char *scratch)
{
	size_t n = base123(scratch, data, n_bytes);

	fputs("<script type=\"text/plain\"", p->out);
	if (c->name[0])
		fprintf(p->out, " data-column=\"%s %s %llu %llu %zu %d\"", c->name,
			type_name[e->type], (unsigned long long)c->n, (unsigned long long)c->max,
			e->raw_bytes, last);
	fprintf(p->out, " id=\"c%zu-%u\">", p->n_entries, chunk);
	fwrite(scratch, 1, n, p->out);
	fputs("</script>\n", p->out);
	if (ferror(p->out))
		page_fail(p, errno ? -errno : -EIO);
}

int trc_page_deflated(FILE *out, const void *bytes, size_t n_bytes)
{
	struct trc_bytes all = {0}, deflated = {0};
	int rc;

	trc_bytes_put(&all, bytes, n_bytes);
	rc = all.failed ? -ENOMEM : trc_deflate(&deflated, &all, TRC_DEFLATE_SHORTEST);
	trc_page_base64(out, deflated.data, deflated.n_bytes);
	trc_bytes_free(&all);
	trc_bytes_free(&deflated);
	return rc;
}

/* Shorter columns gain less than it takes to try. */
enum { SPLIT_FROM_BYTES = 1 << 10 };

/* Whether a column may be split (P5), and has numbers that do not fit a byte. */
static bool may_split(const struct trc_column *c)
{
	return (c->type == TRC_COLUMN_VARINT || c->type == TRC_COLUMN_DELTA) && c->name[0] &&
	       !c->as_bytes && c->bytes.n_bytes > c->n && c->bytes.n_bytes >= SPLIT_FROM_BYTES;
}

/* P5: in place of *e, if it is shorter.  0 or -ENOMEM. */
static int column_split(struct encoded *e, const struct trc_column *c)
{
	struct encoded split = {.type = c->type == TRC_COLUMN_VARINT ? TRC_COLUMN_SPLIT
								     : TRC_COLUMN_SPLIT_DELTA};
	struct trc_bytes bytes = {0};
	int rc;

	trc_magnitudes(&bytes, &c->bytes, c->n);
	split.raw_bytes = bytes.n_bytes;
	rc = bytes.failed ? -ENOMEM : trc_deflate(&split.deflated, &bytes, TRC_DEFLATE_CODES);
	trc_bytes_free(&bytes);
	if (!rc && split.deflated.n_bytes < e->deflated.n_bytes) {
		trc_bytes_free(&e->deflated);
		*e = split;
	} else {
		trc_bytes_free(&split.deflated);
	}
	return rc;
}

/* 0 or -ENOMEM; to be freed in any case. */
static int column_encode(struct encoded *e, const struct trc_page *p, const struct trc_column *c)
{
	int rc;

	*e = (struct encoded){.type = c->type, .raw_bytes = c->bytes.n_bytes};
	if (c->bytes.failed)
		return -ENOMEM;
	if (c->name[0] && c->n && !c->max && c->type != TRC_COLUMN_DERIVED) {
		e->type = TRC_COLUMN_ZERO;
		e->raw_bytes = 0;
	}
	if (!e->raw_bytes)
		return 0;
	rc = trc_deflate(&e->deflated, &c->bytes,
			 p->is_quick ? TRC_DEFLATE_QUICK : TRC_DEFLATE_SHORTEST);
	return rc || p->is_quick || !may_split(c) ? rc : column_split(e, c);
}

/* In chunks; returns how many, or -ENOMEM. */
static int64_t write_chunks(struct trc_page *p, const struct trc_column *c, const struct encoded *e)
{
	char *scratch = malloc(CHUNK_CHARACTERS);
	int64_t n_chunks = 0;

	if (!scratch)
		return -ENOMEM;
	for (size_t at = 0; at < e->deflated.n_bytes; at += CHUNK_BYTES) {
		size_t left = e->deflated.n_bytes - at;

		page_chunk(p, c, e, (uint32_t)n_chunks++, left <= CHUNK_BYTES,
			   e->deflated.data + at, left < CHUNK_BYTES ? left : CHUNK_BYTES, scratch);
	}
	free(scratch);
	return n_chunks;
}

static void column_write(struct trc_page *p, const struct trc_column *c, const struct encoded *e)
{
	int64_t chunks = 0;

	if (p->n_entries == TRC_PAGE_COLUMNS_MAX)
		page_fail(p, -E2BIG);
	else if (!p->error)
		chunks = write_chunks(p, c, e);
	if (chunks < 0)
		page_fail(p, (int)chunks);
	if (!p->error)
		p->entry[p->n_entries++] = (struct trc_page_entry){
			.name = c->name,
			.type = e->type,
			.n = c->n,
			.max = c->max,
			.raw_bytes = e->raw_bytes,
			.chunks = (uint32_t)chunks,
		};
}

void trc_page_column(struct trc_page *p, struct trc_column *c)
{
	struct encoded e;
	int rc = column_encode(&e, p, c);

	if (rc)
		page_fail(p, rc);
	column_write(p, c, &e);
	trc_bytes_free(&e.deflated);
	trc_bytes_free(&c->bytes);
}

bool trc_page_shorter(struct trc_page *p, struct trc_column *first, struct trc_column *second)
{
	struct encoded e, other;
	int rc = column_encode(&e, p, first), rc_other = column_encode(&other, p, second);
	bool is_second = other.deflated.n_bytes < e.deflated.n_bytes;

	if (rc || rc_other)
		page_fail(p, rc ? rc : rc_other);
	column_write(p, is_second ? second : first, is_second ? &other : &e);
	trc_bytes_free(&e.deflated);
	trc_bytes_free(&other.deflated);
	trc_bytes_free(&first->bytes);
	trc_bytes_free(&second->bytes);
	return is_second;
}

void trc_page_directory(struct trc_page *p)
{
	fputc('[', p->out);
	for (size_t i = 0; i < p->n_entries; i++) {
		const struct trc_page_entry *e = &p->entry[i];

		/* max only chooses an array's width: as a double it may round */
		fprintf(p->out, "%s[\"%s\",\"%s\",%llu,%llu,%llu,%u]", i ? ",\n" : "", e->name,
			type_name[e->type], (unsigned long long)e->n, (unsigned long long)e->max,
			(unsigned long long)e->raw_bytes, e->chunks);
	}
	fputc(']', p->out);
}

void trc_page_json_string(FILE *out, const char *text)
{
	const char *s = text ? text : "";
	char ascii[13];

	fputc('"', out);
	while (*s) {
		uint32_t code = 0xfffd;
		size_t n = trc_utf8_get(s, SIZE_MAX, &code);

		/* What is not seen would let a name pass for another. */
		if (!n || (code >= 0x20 && !trc_utf8_is_seen(code)))
			code = 0xfffd;
		s += n ? n : 1;
		if (code < 0x20 || code > 0x7e || strchr("\"\\<>&'", (int)code))
			fputs(trc_utf8_ascii(ascii, code), out);
		else
			fputc((int)code, out);
	}
	fputc('"', out);
}
