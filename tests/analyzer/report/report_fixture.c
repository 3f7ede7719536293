/* report_fixture.c - see report_fixture.h. */
#include "report_fixture.h"

#include <stdlib.h>
#include <string.h>

char *report_printed(report_print_fn *print, const char *trace,
		     const struct trc_report_options *options)
{
	struct trc_model *m = model_of(trace, 0);
	struct trc_error error;
	char *text = NULL;
	size_t n_bytes;
	FILE *out = open_memstream(&text, &n_bytes);

	ck_assert_int_eq(print(m, out, options, &error), 0);
	fclose(out);
	model_close(m);
	return text;
}

void report_check_line(const struct report_line *row)
{
	report_check_line_of(row, 0);
}

void report_check_line_of(const struct report_line *row, int width)
{
	const struct trc_report_options options = {.path = "dump.trc", .width = width};
	char *text = report_printed(trc_report_print, row->trace, &options), *found;
	size_t n = strlen(row->line);

	found = strstr(text, row->line);
	while (found && !row->absent &&
	       !((found == text || found[-1] == '\n') && found[n] == '\n'))
		found = strstr(found + 1, row->line);
	ck_assert_msg(!found == row->absent, "%s:\n%s\nin:\n%s", row->what, row->line, text);
	free(text);
}

int report_run(const char *name, const TTest *lines, size_t n)
{
	Suite *suite = suite_create(name);
	TCase *tests = tcase_create(name);
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_set_timeout(tests, 60);
	tcase_add_loop_test(tests, lines, 0, (int)n);
	suite_add_tcase(suite, tests);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
