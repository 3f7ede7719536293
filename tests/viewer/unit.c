/* unit.c - runs the viewer's unit tests. */
#include "unit.h"

#include <stdlib.h>

int main(void)
{
	Suite *suite = suite_create("viewer");
	SRunner *runner = srunner_create(suite);
	int failed;

	suite_add_tcase(suite, unit_page());
	suite_add_tcase(suite, unit_tracks());
	suite_add_tcase(suite, unit_html());
	suite_add_tcase(suite, unit_rows());
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
