/* test_main.c - runs the suites of the format. */
#include <stdlib.h>
#include "common.h"

int main(void)
{
	SRunner *runner = srunner_create(suite_schema());
	int n_failed;

	srunner_add_suite(runner, suite_codings());
	srunner_add_suite(runner, suite_clock());
	srunner_add_suite(runner, suite_path());
	srunner_add_suite(runner, suite_row_index());
	srunner_add_suite(runner, suite_symbols_rust());
	srunner_add_suite(runner, suite_charges());
	srunner_add_suite(runner, suite_locks());
	srunner_add_suite(runner, suite_parks());
	srunner_add_suite(runner, suite_roundtrip());
	srunner_add_suite(runner, suite_writer());
	srunner_add_suite(runner, suite_damage());
	srunner_add_suite(runner, suite_density());
	srunner_add_suite(runner, suite_lies());
	srunner_add_suite(runner, suite_versions());
	srunner_add_suite(runner, suite_example());
	srunner_run_all(runner, CK_ENV);
	n_failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return n_failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
