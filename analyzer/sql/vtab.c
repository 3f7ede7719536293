/* vtab.c - what the virtual tables tell SQLite in common: columns, values, bounds, errors. */
#include <math.h>
#include "vtab.h"

int trc_vtab_fail(sqlite3_vtab *vtab, const char *text)
{
	sqlite3_free(vtab->zErrMsg);
	vtab->zErrMsg = sqlite3_mprintf("%s", text);
	return SQLITE_ERROR;
}

static int64_t clamp_to_integer(double value)
{
	if (value >= 9223372036854775807.0)
		return INT64_MAX;
	return value <= -9223372036854775808.0 ? INT64_MIN : (int64_t)value;
}

bool trc_vtab_narrow(int op, sqlite3_value *value, int64_t *from, int64_t *until)
{
	int64_t low, high;

	switch (sqlite3_value_type(value)) {
	case SQLITE_NULL:
		return false;
	case SQLITE_INTEGER:
		low = high = sqlite3_value_int64(value);
		break;
	case SQLITE_FLOAT:
		low = clamp_to_integer(floor(sqlite3_value_double(value)));
		high = clamp_to_integer(ceil(sqlite3_value_double(value)));
		break;
	default:
		return true; /* a text that may stand for a number: SQLite decides */
	}
	if ((op == SQLITE_INDEX_CONSTRAINT_EQ || op == SQLITE_INDEX_CONSTRAINT_GE ||
	     op == SQLITE_INDEX_CONSTRAINT_GT) &&
	    low > *from)
		*from = low;
	if ((op == SQLITE_INDEX_CONSTRAINT_EQ || op == SQLITE_INDEX_CONSTRAINT_LE ||
	     op == SQLITE_INDEX_CONSTRAINT_LT) &&
	    high < *until)
		*until = high;
	return true;
}

/* `more`: a hidden column behind the others; NULL = none. */
static char *table_schema(const struct trc_sql_table *table, const char *more)
{
	sqlite3_str *sql = sqlite3_str_new(NULL);

	sqlite3_str_appendall(sql, "CREATE TABLE x(");
	for (size_t i = 0; i < table->n_columns; i++)
		sqlite3_str_appendf(sql, "%s\"%w\" %s", i ? ", " : "", table->column[i].name,
				    table->column[i].type);
	if (more)
		sqlite3_str_appendf(sql, ", \"%w\" HIDDEN", more);
	sqlite3_str_appendall(sql, ")");
	return sqlite3_str_finish(sql);
}

int trc_vtab_declare_with(sqlite3 *db, const struct trc_sql_table *table, const char *more)
{
	char *schema = table_schema(table, more);
	int rc = schema ? sqlite3_declare_vtab(db, schema) : SQLITE_NOMEM;

	sqlite3_free(schema);
	return rc;
}

int trc_vtab_declare(sqlite3 *db, const struct trc_sql_table *table)
{
	return trc_vtab_declare_with(db, table, NULL);
}

void trc_vtab_result(sqlite3_context *context, const struct trc_vtab_source *source, int column,
		     const void *rows, size_t i)
{
	struct trc_sql_value value;

	trc_sql_get(source->m, source->table, &source->table->column[column], rows, i, &value);
	switch (value.kind) {
	case TRC_SQL_NULL:
		sqlite3_result_null(context);
		break;
	case TRC_SQL_INTEGER:
		sqlite3_result_int64(context, value.integer);
		break;
	case TRC_SQL_REAL:
		sqlite3_result_double(context, value.real);
		break;
	case TRC_SQL_TEXT:
		sqlite3_result_text(context, value.text, -1,
				    value.text == value.buffer ? SQLITE_TRANSIENT : SQLITE_STATIC);
		break;
	}
}
