/* query.c - see query.h. */
#include "query.h"

#include <errno.h>
#include <inttypes.h>
#include <sqlite3.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "analyzer/sql/sql.h"
#include "format/utf8.h"

/* A step may make a value of TRC_QUERY_VALUE_BYTES_MAX, which takes milliseconds. */
enum { STEPS_BETWEEN_LOOKS = 1000, PATTERN_BYTES_MAX = 1000, CAUSE_ROWS_MAX = 1 << 20 };
static const int64_t EXACT_MAX = INT64_C(1) << 53;

struct answering {
	const struct trc_query *query;
	time_t until;
	bool is_late, is_left;
	unsigned int n_answers;
};

static time_t now_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec;
}

/* V11: SQLite calls it now and then; not 0 ends the query. */
static int query_look(void *context)
{
	struct answering *a = context;

	a->is_late = a->is_late || now_s() > a->until;
	a->is_left = a->is_left || (a->query->is_left && a->query->is_left(a->query->context));
	return a->is_late || a->is_left;
}

/* ---- values ------------------------------------------------------------------------------ */

/* What is no UTF-8 is U+FFFD.  Markup is escaped, whoever takes it for a page. */
static void json_put_text(FILE *out, const char *text, size_t n_bytes)
{
	putc('"', out);
	for (size_t i = 0; i < n_bytes;) {
		uint32_t code = 0xfffd;
		size_t n = text[i] ? trc_utf8_get(text + i, n_bytes - i, &code) : 0;

		if (!n)
			fputs("\\ufffd", out);
		else if (code < 0x20 || code == '"' || code == '\\' || code == '<' || code == 0x7f)
			fprintf(out, "\\u%04x", (unsigned int)code);
		else
			fwrite(text + i, 1, n, out);
		i += n ? n : 1;
	}
	putc('"', out);
}

static void put_blob(FILE *out, const unsigned char *bytes, size_t n_bytes)
{
	static const char digits[] = "0123456789ABCDEF";

	putc('"', out);
	for (size_t i = 0; i < n_bytes; i++) {
		putc(digits[bytes[i] >> 4], out);
		putc(digits[bytes[i] & 15], out);
	}
	putc('"', out);
}

static int value_kind(sqlite3_stmt *stmt, int c)
{
	int kind = sqlite3_column_type(stmt, c);
	int64_t integer = kind == SQLITE_INTEGER ? sqlite3_column_int64(stmt, c) : 0;

	return integer <= -EXACT_MAX || integer >= EXACT_MAX ? 6 : kind;
}

static void put_value(FILE *out, sqlite3_stmt *stmt, int c)
{
	switch (value_kind(stmt, c)) {
	case SQLITE_INTEGER:
		fprintf(out, "%lld", sqlite3_column_int64(stmt, c));
		break;
	case SQLITE_FLOAT: /* JSON has no infinity, but numbers that are as large */
		if (__builtin_isinf(sqlite3_column_double(stmt, c)))
			fputs(sqlite3_column_double(stmt, c) > 0 ? "1e999" : "-1e999", out);
		else
			fprintf(out, "%.17g", sqlite3_column_double(stmt, c));
		break;
	case SQLITE_NULL:
		fputs("null", out);
		break;
	case SQLITE_BLOB: {
		const void *bytes = sqlite3_column_blob(stmt, c);

		put_blob(out, bytes, (size_t)sqlite3_column_bytes(stmt, c));
		break;
	}
	default: {
		const char *text = (const char *)sqlite3_column_text(stmt, c);

		json_put_text(out, text ? text : "", (size_t)sqlite3_column_bytes(stmt, c));
	}
	}
}

/* False if the answer is longer than it may be by then: part of the row is there. */
static bool query_put_row(FILE *out, sqlite3_stmt *stmt, int n_columns)
{
	fputs("[\"", out);
	for (int c = 0; c < n_columns; c++)
		putc('0' + value_kind(stmt, c), out);
	putc('"', out);
	for (int c = 0; c < n_columns; c++) {
		putc(',', out);
		put_value(out, stmt, c);
		if (ftell(out) > TRC_QUERY_BYTES_MAX)
			return false;
	}
	putc(']', out);
	return true;
}

/* ---- statements -------------------------------------------------------------------------- */

static int query_failed(const struct answering *a, sqlite3 *db, int rc, struct trc_error *error)
{
	if (a->is_left)
		snprintf(error->text, sizeof(error->text), "nobody waits for this answer");
	else if (a->is_late)
		snprintf(error->text, sizeof(error->text),
			 "stopped: the query took more than %d s; trace-analyze --sql has no limit",
			 TRC_QUERY_SECONDS_MAX);
	else if (rc == SQLITE_AUTH)
		snprintf(error->text, sizeof(error->text),
			 "query refused: it may only read the trace's tables");
	else if (rc == SQLITE_NOMEM)
		snprintf(error->text, sizeof(error->text),
			 "stopped: no memory is left for the query, which may take %d MB; "
			 "trace-analyze --sql has no limit",
			 TRC_QUERY_MEMORY_BYTES_MAX >> 20);
	else if (rc == SQLITE_TOOBIG)
		snprintf(
			error->text, sizeof(error->text),
			"stopped: a value or a row has more than %d bytes; trace-analyze --sql has "
			"no limit",
			TRC_QUERY_VALUE_BYTES_MAX);
	else
		snprintf(error->text, sizeof(error->text), "%s", sqlite3_errmsg(db));
	return -EINVAL;
}

/* What has been written from there on is written no more. */
static int go_back(FILE *out, long off)
{
	return off < 0 || fflush(out) || fseek(out, off, SEEK_SET) || ftruncate(fileno(out), off)
		       ? -EIO
		       : 0;
}

/* In place of what another statement has answered. */
static int begin_again(FILE *out)
{
	return go_back(out, 0);
}

static void put_names(FILE *out, sqlite3_stmt *stmt, int n_columns)
{
	fputs("{\"columns\":[", out);
	for (int c = 0; c < n_columns; c++) {
		const char *name = sqlite3_column_name(stmt, c);

		fputs(c ? "," : "", out);
		json_put_text(out, name ? name : "", name ? strlen(name) : 0);
	}
	fputs("],\"rows\":[", out);
}

static int answer_rows(struct answering *a, sqlite3 *db, sqlite3_stmt *stmt, FILE *out,
		       struct trc_error *error)
{
	int n_columns = sqlite3_column_count(stmt), rc;
	uint64_t n_rows = 0;
	bool is_full = false;

	if (n_columns && begin_again(out))
		return -EIO;
	if (n_columns)
		put_names(out, stmt, n_columns);
	while (!is_full && (rc = sqlite3_step(stmt)) == SQLITE_ROW) {
		long row_off = ftell(out);

		is_full = n_rows == TRC_QUERY_ROWS_MAX;
		if (is_full || ferror(out))
			break;
		fputs(n_rows++ ? ",\n" : "\n", out);
		is_full = !query_put_row(out, stmt, n_columns);
		if (is_full && go_back(out, row_off))
			return -EIO;
	}
	if (rc != SQLITE_ROW && rc != SQLITE_DONE)
		return query_failed(a, db, rc, error);
	if (!n_columns)
		return 0;
	fprintf(out, "],\"more\":%s", is_full ? "true" : "false");
	if (++a->n_answers > 1)
		fprintf(out, ",\"answers\":%u", a->n_answers);
	fputs("}\n", out);
	return 0;
}

static int answer_all(struct answering *a, sqlite3 *db, FILE *out, struct trc_error *error)
{
	const char *sql = a->query->sql;
	int err = 0;

	fputs("{\"columns\":[],\"rows\":[],\"more\":false}\n", out);
	while (!err && *sql) {
		sqlite3_stmt *stmt = NULL;
		int rc = sqlite3_prepare_v2(db, sql, -1, &stmt, &sql);

		if (rc)
			err = query_failed(a, db, rc, error);
		else if (stmt)
			err = answer_rows(a, db, stmt, out, error);
		sqlite3_finalize(stmt);
	}
	return err;
}

int trc_query_answer(struct trc_model *m, const struct trc_query *query, FILE *out,
		     struct trc_error *error)
{
	static const struct trc_sql_bounds bounds = {TRC_QUERY_VALUE_BYTES_MAX, PATTERN_BYTES_MAX,
						     CAUSE_ROWS_MAX};
	struct answering a = {.query = query, .until = now_s() + TRC_QUERY_SECONDS_MAX};
	sqlite3_int64 others_bytes;
	sqlite3 *db;
	int err = trc_sql_open_bounded(&db, m, &bounds, error);

	if (err)
		return err;
	others_bytes = sqlite3_hard_heap_limit64(TRC_QUERY_MEMORY_BYTES_MAX);
	sqlite3_progress_handler(db, STEPS_BETWEEN_LOOKS, query_look, &a);
	err = answer_all(&a, db, out, error);
	if (err == -EINVAL)
		trc_sql_tell_columns(db, query->sql, error);
	sqlite3_close(db);
	sqlite3_hard_heap_limit64(others_bytes);
	if (err == -EINVAL && !a.is_left && !begin_again(out)) { /* an answer like others */
		fputs("{\"error\":", out);
		json_put_text(out, error->text, strlen(error->text));
		fputs("}\n", out);
		error->text[0] = '\0';
		err = 0;
	}
	if (!err && (fflush(out) || ferror(out)))
		err = -EIO;
	return err;
}
