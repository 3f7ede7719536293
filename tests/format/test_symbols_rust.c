/* test_symbols_rust.c - names of Rust's older mangling (format/symbols_rust.h). */
#include <string.h>
#include "common.h"
#include "format/symbols_rust.h"

#define HASH "::h0123456789abcdef"

static const struct {
	const char *name, *readable; /* NULL: it is none of Rust's */
} NAMES[] = {
	{"m::main" HASH, "m::main"},
	{"m::main::_$u7b$$u7b$closure$u7d$$u7d$" HASH, "m::main::{{closure}}"},
	{"_$LT$F$u20$as$u20$core..ops..FnOnce$LT$$LP$$RP$$GT$$GT$::call_once" HASH,
	 "<F as core::ops::FnOnce<()>>::call_once"},
	{"a::_b$RF$mut$C$c" HASH, "a::_b&mut,c"},
	{"what::is$u7$not$known$" HASH, "what::is$u7$not$known$"},
	{"$u" HASH, "$u"},
	{"$" HASH, "$"},
	{"ns::function", NULL},
	{"ns::h0123456789abcdeg", NULL},
	{"::h0123456789abcdef", NULL},
	{"", NULL},
};

START_TEST(names)
{
	char name[128];

	strcpy(name, NAMES[_i].name);
	ck_assert_int_eq(trc_rust_name(name), NAMES[_i].readable != NULL);
	ck_assert_str_eq(name, NAMES[_i].readable ? NAMES[_i].readable : NAMES[_i].name);
}
END_TEST

Suite *suite_symbols_rust(void)
{
	Suite *s = suite_create("symbols of Rust");
	TCase *t = tcase_create("symbols of Rust");

	tcase_add_loop_test(t, names, 0, sizeof(NAMES) / sizeof(*NAMES));
	suite_add_tcase(s, t);
	return s;
}
