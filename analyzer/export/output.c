/* output.c - see output.h. */
#include <cjson/cJSON.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "output.h"
#include "output_text.h"
#include "format/utf8.h"

/* Rows that are held back to see how wide columns are. */
enum { ALIGN_ROWS = 256 };

struct writer {
	FILE *out;
	sqlite3_stmt *stmt;
	int n_columns;
	uint64_t n_rows;
	bool terminal; /* control characters in csv and tsv would be obeyed */
	/* table: texts of the rows held back, row by row; then widths are fixed */
	char **held;
	size_t n_held;
	int *width;
	bool *right; /* numbers only, so far */
};

static const char *const names[] = {[TRC_OUTPUT_TABLE] = "table",
				    [TRC_OUTPUT_CSV] = "csv",
				    [TRC_OUTPUT_TSV] = "tsv",
				    [TRC_OUTPUT_JSON] = "json"};

const char *trc_output_name(enum trc_output output)
{
	return names[output];
}

int trc_output_parse(const char *name, enum trc_output *output)
{
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (!strcmp(name, names[i])) {
			*output = (enum trc_output)i;
			return 0;
		}
	}
	return -EINVAL;
}

/* The bytes of a value as text; a blob as hexadecimal digits.  *owned: free() it. */
static const char *value_bytes(struct writer *w, int column, size_t *n_bytes, char **owned)
{
	const unsigned char *blob;

	*owned = NULL;
	if (sqlite3_column_type(w->stmt, column) != SQLITE_BLOB) {
		const char *text = (const char *)sqlite3_column_text(w->stmt, column);

		*n_bytes = (size_t)sqlite3_column_bytes(w->stmt, column);
		return text ? text : "";
	}
	blob = sqlite3_column_blob(w->stmt, column);
	*n_bytes = 2 * (size_t)sqlite3_column_bytes(w->stmt, column);
	*owned = malloc(*n_bytes + 1);
	for (size_t i = 0; *owned && i < *n_bytes / 2; i++)
		snprintf(*owned + 2 * i, 3, "%02X", blob[i]);
	return *owned ? *owned : "";
}

/* --- csv and tsv --- */

static void put_csv(FILE *out, const char *bytes, size_t n)
{
	bool quote = !n;

	for (size_t i = 0; i < n && !quote; i++)
		quote = strchr(",\"\r\n", bytes[i]) != NULL;
	if (!quote) {
		fwrite(bytes, 1, n, out);
		return;
	}
	putc('"', out);
	for (size_t i = 0; i < n; i++) {
		if (bytes[i] == '"')
			putc('"', out);
		putc(bytes[i], out);
	}
	putc('"', out);
}

static void put_tsv(FILE *out, const char *bytes, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		switch (bytes[i]) {
		case '\t':
			fputs("\\t", out);
			break;
		case '\n':
			fputs("\\n", out);
			break;
		case '\r':
			fputs("\\r", out);
			break;
		case '\\':
			fputs("\\\\", out);
			break;
		default:
			putc(bytes[i], out);
		}
	}
}

typedef void put_fn(FILE *out, const char *bytes, size_t n);

/* Data goes to files and pipes as it is; on a terminal control characters are shown instead. */
static void separated_put(struct writer *w, put_fn *put, const char *bytes, size_t n)
{
	char *field = NULL, *shown;
	size_t n_field = 0;
	FILE *memory = w->terminal ? open_memstream(&field, &n_field) : NULL;

	if (!memory) {
		if (!w->terminal)
			put(w->out, bytes, n);
		return;
	}
	put(memory, bytes, n);
	fclose(memory);
	shown = field ? trc_text_printable(field, n_field) : NULL;
	fputs(shown ? shown : "?", w->out);
	free(shown);
	free(field);
}

static void separated_head(struct writer *w, put_fn *put, char separator)
{
	for (int i = 0; i < w->n_columns; i++) {
		const char *name = sqlite3_column_name(w->stmt, i);

		if (i)
			putc(separator, w->out);
		separated_put(w, put, name ? name : "", name ? strlen(name) : 0);
	}
	putc('\n', w->out);
}

static void separated_row(struct writer *w, put_fn *put, char separator, const char *null)
{
	for (int i = 0; i < w->n_columns; i++) {
		size_t n_bytes;
		const char *bytes;
		char *owned;

		if (i)
			putc(separator, w->out);
		if (sqlite3_column_type(w->stmt, i) == SQLITE_NULL) {
			fputs(null, w->out);
			continue;
		}
		bytes = value_bytes(w, i, &n_bytes, &owned);
		separated_put(w, put, bytes, n_bytes);
		free(owned);
	}
	putc('\n', w->out);
}

/* --- json --- */

static cJSON *output_json_text(struct writer *w, int column)
{
	size_t n_bytes;
	char *owned, *clean;
	const char *bytes = value_bytes(w, column, &n_bytes, &owned);
	cJSON *item;

	clean = trc_text_utf8(bytes, n_bytes);
	item = clean ? cJSON_CreateString(clean) : NULL;
	free(clean);
	free(owned);
	return item;
}

static cJSON *json_value(struct writer *w, int column)
{
	switch (sqlite3_column_type(w->stmt, column)) {
	case SQLITE_NULL:
		return cJSON_CreateNull();
	case SQLITE_INTEGER: /* all 64 bits of it */
		return cJSON_CreateRaw((const char *)sqlite3_column_text(w->stmt, column));
	case SQLITE_FLOAT: /* what is no number in JSON becomes null */
		return cJSON_CreateNumber(sqlite3_column_double(w->stmt, column));
	default:
		return output_json_text(w, column);
	}
}

/* cJSON escapes what JSON requires; what else people would not see, or terminals obey, can only be
 * inside strings. */
static void put_json(FILE *out, const char *text)
{
	char ascii[13];

	while (*text) {
		uint32_t code = 0;
		size_t length = trc_utf8_get(text, SIZE_MAX, &code);

		if (!length || trc_utf8_is_seen(code) || code == '\n')
			fwrite(text, 1, length ? length : 1, out);
		else
			fputs(trc_utf8_ascii(ascii, code), out);
		text += length ? length : 1;
	}
}

static int output_json_row(struct writer *w)
{
	cJSON *object = cJSON_CreateObject();
	char *text = NULL;

	for (int i = 0; object && i < w->n_columns; i++) {
		cJSON *item = json_value(w, i);

		if (!item ||
		    !cJSON_AddItemToObject(object, sqlite3_column_name(w->stmt, i), item)) {
			cJSON_Delete(item);
			cJSON_Delete(object);
			return -ENOMEM;
		}
	}
	text = object ? cJSON_PrintUnformatted(object) : NULL;
	cJSON_Delete(object);
	if (!text)
		return -ENOMEM;
	fputs(w->n_rows ? ",\n " : "", w->out);
	put_json(w->out, text);
	cJSON_free(text);
	return 0;
}

/* --- table --- */

static void put_padded(FILE *out, const char *text, int width, bool right, bool last)
{
	int pad = width - (int)trc_text_width(text);

	for (; right && pad > 0; pad--)
		putc(' ', out);
	fputs(text, out);
	for (; !last && pad > 0; pad--)
		putc(' ', out);
	fputs(last ? "\n" : "  ", out);
}

/* The value as a line may show it; the caller's. */
static char *table_text(struct writer *w, int column)
{
	size_t n_bytes;
	char *owned, *text;
	const char *bytes;

	if (sqlite3_column_type(w->stmt, column) == SQLITE_NULL)
		return strdup("NULL");
	bytes = value_bytes(w, column, &n_bytes, &owned);
	text = trc_text_printable(bytes, n_bytes);
	free(owned);
	return text;
}

static void table_line(struct writer *w, char **text)
{
	for (int i = 0; i < w->n_columns; i++)
		put_padded(w->out, text[i], w->width[i], w->right[i], i + 1 == w->n_columns);
}

static void table_head(struct writer *w)
{
	for (int i = 0; i < w->n_columns; i++) {
		char *name = trc_text_printable(sqlite3_column_name(w->stmt, i),
						strlen(sqlite3_column_name(w->stmt, i)));

		put_padded(w->out, name ? name : "?", w->width[i], w->right[i],
			   i + 1 == w->n_columns);
		free(name);
	}
	for (int i = 0; i < w->n_columns; i++) {
		for (int k = 0; k < w->width[i]; k++)
			putc('-', w->out);
		fputs(i + 1 == w->n_columns ? "\n" : "  ", w->out);
	}
}

static void table_release(struct writer *w)
{
	size_t n = (size_t)w->n_columns;

	if (!w->held)
		return;
	table_head(w);
	for (size_t row = 0; row < w->n_held; row++) {
		table_line(w, w->held + row * n);
		for (size_t i = 0; i < n; i++)
			free(w->held[row * n + i]);
	}
	free(w->held);
	w->held = NULL;
	w->n_held = 0;
}

static int output_table_begin(struct writer *w)
{
	size_t n = (size_t)w->n_columns;

	w->held = calloc(ALIGN_ROWS * n, sizeof(*w->held));
	w->width = calloc(n, sizeof(*w->width));
	w->right = calloc(n, sizeof(*w->right));
	if (!w->held || !w->width || !w->right)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		const char *name = sqlite3_column_name(w->stmt, (int)i);

		w->width[i] = name ? (int)trc_text_width(name) : 0;
		w->right[i] = true;
	}
	return 0;
}

static int table_row(struct writer *w)
{
	char **row, *spare[w->n_columns];

	row = w->held ? w->held + w->n_held * (size_t)w->n_columns : spare;
	for (int i = 0; i < w->n_columns; i++) {
		int type = sqlite3_column_type(w->stmt, i);

		row[i] = table_text(w, i);
		if (!row[i]) {
			while (i-- > 0) {
				free(row[i]);
				row[i] = NULL;
			}
			return -ENOMEM;
		}
		if (w->held && type != SQLITE_INTEGER && type != SQLITE_FLOAT &&
		    type != SQLITE_NULL)
			w->right[i] = false;
		if (w->held && (int)trc_text_width(row[i]) > w->width[i])
			w->width[i] = (int)trc_text_width(row[i]);
	}
	if (w->held) {
		if (++w->n_held == ALIGN_ROWS)
			table_release(w);
		return 0;
	}
	table_line(w, row);
	for (int i = 0; i < w->n_columns; i++)
		free(row[i]);
	return 0;
}

/* --- statements --- */

static int rows_begin(struct writer *w, enum trc_output output)
{
	switch (output) {
	case TRC_OUTPUT_TABLE:
		return output_table_begin(w);
	case TRC_OUTPUT_CSV:
		separated_head(w, put_csv, ',');
		break;
	case TRC_OUTPUT_TSV:
		separated_head(w, put_tsv, '\t');
		break;
	case TRC_OUTPUT_JSON:
		putc('[', w->out);
		break;
	}
	return 0;
}

static int output_rows_add(struct writer *w, enum trc_output output)
{
	switch (output) {
	case TRC_OUTPUT_TABLE:
		return table_row(w);
	case TRC_OUTPUT_CSV:
		separated_row(w, put_csv, ',', "");
		break;
	case TRC_OUTPUT_TSV:
		separated_row(w, put_tsv, '\t', "\\N");
		break;
	case TRC_OUTPUT_JSON:
		return output_json_row(w);
	}
	return 0;
}

static void rows_end(struct writer *w, enum trc_output output)
{
	if (output == TRC_OUTPUT_TABLE)
		table_release(w);
	if (output == TRC_OUTPUT_JSON)
		fputs("]\n", w->out);
	free(w->width);
	free(w->right);
}

static int statement_failed(sqlite3 *db, int rc, struct trc_error *error)
{
	if (rc == SQLITE_AUTH)
		snprintf(error->text, sizeof(error->text),
			 "query refused: it may only read the trace's tables");
	else
		snprintf(error->text, sizeof(error->text), "%s", sqlite3_errmsg(db));
	return rc == SQLITE_NOMEM ? -ENOMEM : -EINVAL;
}

static int statement_run(sqlite3 *db, sqlite3_stmt *stmt, enum trc_output output, FILE *out,
			 struct trc_error *error)
{
	struct writer w = {.out = out,
			   .stmt = stmt,
			   .n_columns = sqlite3_column_count(stmt),
			   .terminal = isatty(fileno(out))};
	int rc = SQLITE_ROW, err = 0;

	if (w.n_columns)
		err = rows_begin(&w, output);
	while (!err && (rc = sqlite3_step(stmt)) == SQLITE_ROW && !ferror(out)) {
		err = output_rows_add(&w, output);
		w.n_rows++;
	}
	if (w.n_columns)
		rows_end(&w, output);
	if (err) {
		snprintf(error->text, sizeof(error->text), "out of memory");
		return err;
	}
	return rc == SQLITE_DONE || rc == SQLITE_ROW ? 0 : statement_failed(db, rc, error);
}

int trc_output_query(sqlite3 *db, const char *sql, enum trc_output output, FILE *out,
		     struct trc_error *error)
{
	int err = 0;

	while (!err && *sql) {
		sqlite3_stmt *stmt = NULL;
		int rc = sqlite3_prepare_v2(db, sql, -1, &stmt, &sql);

		if (rc)
			err = statement_failed(db, rc, error);
		else if (stmt) /* else a comment, or blanks */
			err = statement_run(db, stmt, output, out, error);
		sqlite3_finalize(stmt);
	}
	return err;
}
