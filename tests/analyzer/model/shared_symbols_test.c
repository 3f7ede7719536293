/* shared_symbols_test.c - models of several traces that read the program's files once. */
#include <check.h>
#include <stdlib.h>
#include "format/symbols.h"
#include "model_fixture.h"
#include "tests/suite.h"

#define TRACE                                                                                      \
	"module server path=\"/none/server\" start=0x3000 limit=0x4000 bias=0x3000\n"              \
	"stack get 0x3011 0x3021\n"                                                                \
	"@1000 thread=1 park reason=mutex object=0x10 stack=get\n"                                 \
	"@2000 thread=1 resume reason=mutex object=0x10\n"

static struct trc_model *sharing(struct trc_symbols **symbols)
{
	struct trc_model *m = model_of(TRACE, TRC_PART_WAITS);
	struct trc_error error = {""};

	if (symbols)
		trc_model_share_symbols(m, symbols);
	ck_assert_msg(!trc_model_need(m, TRC_PART_SYMBOLS, &error), "%s", error.text);
	ck_assert_ptr_nonnull(trc_model_symbols(m));
	return m;
}

START_TEST(test_shared)
{
	struct trc_symbols *symbols = NULL;
	struct trc_model *first = sharing(&symbols), *second, *own = sharing(NULL);

	ck_assert_ptr_nonnull(symbols);
	ck_assert_ptr_eq(trc_model_symbols(first), symbols);
	ck_assert_ptr_ne(trc_model_symbols(own), symbols);
	model_close(first);
	second = sharing(&symbols);
	ck_assert_ptr_eq(trc_model_symbols(second), symbols);
	ck_assert_str_eq(
		trc_symbols_trouble(symbols, trc_reader_module(trc_model_reader(second), 1)),
		"not found");
	model_close(own);
	model_close(second);
	trc_symbols_close(symbols);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("shared_symbols");
	TCase *tcase = tcase_create("models");

	tcase_add_test(tcase, test_shared);
	suite_add_tcase(suite, tcase);
	return suite_run(suite);
}
