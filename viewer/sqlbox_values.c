/*
 * sqlbox_values.c - values of any of SQLite's types as columns of a page.
 */
#include <stdlib.h>
#include <string.h>

#include "sqlbox.h"

/* Differences of integers up to this one are exact as doubles. */
static const int64_t EXACT_MAX = (int64_t)1 << 51;

void trc_sqlbox_values_init(struct trc_sqlbox_values *v)
{
	*v = (struct trc_sqlbox_values){
		.kind = trc_column_make("", TRC_COLUMN_BYTES),
		.plain = trc_column_make("", TRC_COLUMN_VARINT),
		.delta = trc_column_make("", TRC_COLUMN_DELTA),
		.real = trc_column_make("", TRC_COLUMN_BYTES),
		.text = trc_column_make("", TRC_COLUMN_VARINT),
	};
}

void trc_sqlbox_values_free(struct trc_sqlbox_values *v)
{
	trc_bytes_free(&v->kind.bytes);
	trc_bytes_free(&v->plain.bytes);
	trc_bytes_free(&v->delta.bytes);
	trc_bytes_free(&v->real.bytes);
	trc_bytes_free(&v->text.bytes);
}

static void add_kind(struct trc_sqlbox_values *v, int kind)
{
	v->n_kind[kind]++;
	trc_column_add(&v->kind, (uint64_t)kind);
}

void trc_sqlbox_values_integer(struct trc_sqlbox_values *v, int64_t integer)
{
	uint64_t value = (uint64_t)integer;

	add_kind(v, SQLITE_INTEGER);
	v->wide |= integer > EXACT_MAX || integer < -EXACT_MAX;
	trc_column_add(&v->plain, value << 1 ^ (0 - (value >> 63)));
	trc_column_add(&v->delta, value);
}

static void add_real(struct trc_sqlbox_values *v, double real)
{
	uint64_t bits;

	add_kind(v, SQLITE_FLOAT);
	memcpy(&bits, &real, sizeof(bits));
	for (int i = 0; i < 8; i++)
		trc_column_add(&v->real, bits >> 8 * i & 0xff);
}

void trc_sqlbox_values_add(struct trc_sqlbox_values *v, struct trc_texts *texts, sqlite3_stmt *stmt,
			   int column, int type)
{
	switch (type) {
	case SQLITE_INTEGER:
		trc_sqlbox_values_integer(v, sqlite3_column_int64(stmt, column));
		break;
	case SQLITE_FLOAT:
		add_real(v, sqlite3_column_double(stmt, column));
		break;
	case SQLITE_TEXT:
		add_kind(v, SQLITE_TEXT);
		trc_column_add(&v->text, trc_texts_id(texts, (const char *)sqlite3_column_text(
								     stmt, column)));
		break;
	default: /* the tables have no blobs */
		add_kind(v, SQLITE_NULL);
		break;
	}
}

/* Its number in the page; -1 if it has no values. */
static int write_column(struct trc_page *page, struct trc_column *c)
{
	int number = (int)page->n_entries;

	if (!c->n) {
		trc_bytes_free(&c->bytes);
		return -1;
	}
	trc_page_column(page, c);
	return number;
}

void trc_sqlbox_values_write(struct trc_sqlbox_values *v, struct trc_page *page, FILE *head)
{
	bool plain_is_shorter = v->plain.bytes.n_bytes < v->delta.bytes.n_bytes;
	int kinds = -1, integers, reals, texts, kind = 0;

	for (int k = SQLITE_INTEGER; k <= SQLITE_NULL; k++)
		if (v->n_kind[k] == v->kind.n)
			kind = k;
	if (kind)
		trc_bytes_free(&v->kind.bytes);
	else
		kinds = write_column(page, &v->kind);
	integers = write_column(page, plain_is_shorter ? &v->plain : &v->delta);
	trc_bytes_free(plain_is_shorter ? &v->delta.bytes : &v->plain.bytes);
	reals = write_column(page, &v->real);
	texts = write_column(page, &v->text);
	fprintf(head, "[%d,%d,%d,%d,%d,%d]", kind, kinds, integers, v->wide, reals, texts);
}
