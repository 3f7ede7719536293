/* functions.c - the functions that queries have beside SQLite's. */
#include <stdlib.h>
#include "analyzer/words/stack_text.h"
#include "parts.h"

static const struct function {
	const char *name, *arguments, *doc;
	size_t frames;
} FUNCTIONS[] = {
	{"place", "stack",
	 "where a stack is in the program, as the report says it: \"f file.c:12\"", 1},
	{"chain", "stack", "the same with its callers: \"f file.c:12 < main :40\"", SIZE_MAX},
};
enum { N_FUNCTIONS = sizeof(FUNCTIONS) / sizeof(*FUNCTIONS) };

struct bound {
	struct trc_model *m;
	const struct function *function;
};

/* NULL of NULL, of a number that is no stack's, and of a stack without a frame of the program's. */
static void stack_text(sqlite3_context *context, int n, sqlite3_value **value)
{
	const struct bound *bound = sqlite3_user_data(context);
	sqlite3_int64 stack = sqlite3_value_int64(*value);
	struct trc_error error;
	char *text;

	(void)n;
	if (sqlite3_value_type(*value) == SQLITE_NULL || stack <= 0 || stack > UINT32_MAX)
		return;
	if (trc_model_need(bound->m, TRC_PART_SYMBOLS, &error)) {
		sqlite3_result_error(context, error.text, -1);
		return;
	}
	text = trc_stack_text(bound->m, (uint32_t)stack, bound->function->frames);
	if (!text)
		sqlite3_result_error_nomem(context);
	else if (*text)
		sqlite3_result_text(context, text, -1, free);
	else
		free(text);
}

int trc_sql_add_functions(sqlite3 *db, struct trc_model *m)
{
	int rc = 0;

	for (size_t i = 0; i < N_FUNCTIONS && !rc; i++) {
		struct bound *bound = malloc(sizeof(*bound));

		if (!bound)
			return SQLITE_NOMEM;
		*bound = (struct bound){m, &FUNCTIONS[i]};
		/* Frees it, also on failure. */
		rc = sqlite3_create_function_v2(db, FUNCTIONS[i].name, 1,
						SQLITE_UTF8 | SQLITE_DETERMINISTIC, bound,
						stack_text, NULL, NULL, free);
	}
	return rc;
}

void trc_sql_print_functions(FILE *out)
{
	for (size_t i = 0; i < N_FUNCTIONS; i++)
		fprintf(out, "-- %s(%s): %s\n", FUNCTIONS[i].name, FUNCTIONS[i].arguments,
			FUNCTIONS[i].doc);
}
