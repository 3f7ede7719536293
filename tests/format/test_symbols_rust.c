/* test_symbols_rust.c - names of Rust's two manglings (format/symbols_rust.h, format/symbols_rust_v0.h). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "common.h"
#include "format/symbols_rust.h"
#include "format/symbols_rust_v0.h"

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

static const struct {
	const char *linkage, *readable; /* NULL: it stays as it is */
} V0_NAMES[] = {
	{"_RNvC1m4main", "m::main"},
	{"_RNvCs15kBYyAo9fc_7mycrate4main", "mycrate::main"},
	{"_RNvC1m4main.llvm.123", "m::main"},
	{"_RNCNvC1m4main0", "m::main::{closure#0}"},
	{"_RNCNvC1m4mains_0", "m::main::{closure#1}"},
	{"_RNSNvC1m4mains0_6vtable", "m::main::{shim:vtable#2}"},
	{"_RNvMC1mNtB2_5Table4find", "m::Table::find"},
	{"_RNvMC1mINtB2_5TablemE4find", "m::Table<u32>::find"},
	{"_RNvMC1mSh4find", "<[u8]>::find"},
	{"_RNvXC1mNtB2_5TableNtC4core5Clone5clone", "<m::Table as core::Clone>::clone"},
	{"_RNvYNtC1m5TableNtC4core5Clone5clone", "<m::Table as core::Clone>::clone"},
	{"_RINvC1m1fjEC1n", "m::f<usize>"},
	{"_RINvC1m1fTlEThRShQeEE", "m::f<(i32,), (u8, &[u8], &mut str)>"},
	{"_RINvC1m1fAhj10_E", "m::f<[u8; 16]>"},
	{"_RINvC1m1fKj7b_Kb1_Kc41_Kln5_KpE", "m::f<123, true, 'A', -5, _>"},
	{"_RINvC1m1fKoffffffffffffffffff_E", "m::f<0xffffffffffffffffff>"},
	{"_RINvC1m1fFUKCPhEuFG_RL0_hEOmE", "m::f<unsafe extern \"C\" fn(*const u8), "
					   "for<'a> fn(&'a u8) -> *mut u32>"},
	{"_RINvC1m1fDNtB2_5ShapeNtB2_4SendEL_E", "m::f<dyn m::Shape + m::Send>"},
	{"_RINvC1m1fDINtB2_2FnTEEp6OutputuEL_E", "m::f<dyn m::Fn<(), Output = ()>>"},
	{"_RINvC1m1fL_E", "m::f<'_>"},
	{"_RNvC1mu8gdel_5qa", "m::punycode{gdel_5qa}"},
	{"_RNvC1m5_2fold", "m::2fold"},
	/* damaged ones */
	{"_R", NULL},
	{"_Runner", NULL},
	{"_RNvC1m4mai", NULL},
	{"_RNvC1m99999999999999999999999main", NULL},
	{"_RNvB_4main", NULL},	     /* refers to itself */
	{"_RNvBzzzzzz_4main", NULL}, /* ... or to what is behind it */
	{"_RINvC1m1fRL0_hE", NULL},  /* a lifetime of nobody */
	{"_RINvC1m1fFGzzzzzzzz_EuE", NULL},
	{"_RINvC1m1fKq1_E", NULL},
	{"_ZN1m4mainE", NULL},
	{"", NULL},
};

START_TEST(v0_names)
{
	char *name = trc_rust_v0_name(V0_NAMES[_i].linkage);

	ck_assert_pstr_eq(name, V0_NAMES[_i].readable);
	free(name);
}
END_TEST

/* Each type is a pair of the one before: twenty of them would be a million words.  V1, V2 */
START_TEST(v0_name_without_end)
{
	char linkage[8192] = "_RINvC1m1fTmmE";

	/* The first stands 8 bytes behind "_R"; each other is "TB6_B6_E", with the place of the one before. */
	for (unsigned int at = 8, i = 0; i < 20; i++) {
		static const char DIGITS[] =
			"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
		char place[4] = {0}, one[16];

		if (at - 1 < 62)
			snprintf(place, sizeof(place), "%c", DIGITS[at - 1]);
		else
			snprintf(place, sizeof(place), "%c%c", DIGITS[(at - 1) / 62],
				 DIGITS[(at - 1) % 62]);
		at = (unsigned int)strlen(linkage) - 2;
		snprintf(one, sizeof(one), "TB%s_B%s_E", place, place);
		strcat(linkage, one);
	}
	strcat(linkage, "E");
	ck_assert_ptr_null(trc_rust_v0_name(linkage));
	memset(linkage, 'S', sizeof(linkage) - 1); /* a slice of a slice of ... */
	memcpy(linkage, "_RINvC1m1f", 10);
	ck_assert_ptr_null(trc_rust_v0_name(linkage));
}
END_TEST

/* Whatever bytes are changed, there is a name or none. */
START_TEST(v0_name_damaged)
{
	const char *linkage = V0_NAMES[_i].linkage;
	size_t n = strlen(linkage);
	char name[128];

	for (size_t at = 0; at < n; at++) {
		for (int byte = 1; byte < 128; byte++) {
			strcpy(name, linkage);
			name[at] = (char)byte;
			free(trc_rust_v0_name(name));
		}
	}
}
END_TEST

Suite *suite_symbols_rust(void)
{
	Suite *s = suite_create("symbols of Rust");
	TCase *t = tcase_create("symbols of Rust");

	tcase_add_loop_test(t, names, 0, sizeof(NAMES) / sizeof(*NAMES));
	tcase_add_loop_test(t, v0_names, 0, sizeof(V0_NAMES) / sizeof(*V0_NAMES));
	tcase_add_loop_test(t, v0_name_damaged, 0, sizeof(V0_NAMES) / sizeof(*V0_NAMES));
	tcase_add_test(t, v0_name_without_end);
	suite_add_tcase(s, t);
	return s;
}
