/* test_path.c - the parts of a file's path (format/path.h). */
#include <string.h>
#include "common.h"
#include "format/path.h"

static const struct {
	const char *name, *path;
} NAMES[] = {
	{"/usr/lib/libc.so.6", "/usr/lib/libc.so.6"},
	{"/usr/lib/libc.so.6 (deleted)", "/usr/lib/libc.so.6"},
	{"/a (deleted) (deleted)", "/a (deleted)"},
	{"/a (deleted)b", "/a (deleted)b"},
	{"/a(deleted)", "/a(deleted)"},
	{" (deleted)", " (deleted)"},
	{"(deleted)", "(deleted)"},
	{"", ""},
};

START_TEST(a_path_has_no_mark_of_the_kernel)
{
	const char *name = NAMES[_i].name;

	ck_assert_uint_eq(trc_path_bytes(name, strlen(name)), strlen(NAMES[_i].path));
}
END_TEST

/* A name may be cut: what is behind it does not count. */
START_TEST(only_the_bytes_of_the_name_count)
{
	ck_assert_uint_eq(trc_path_bytes("/a (deleted)", 11), 11);
	ck_assert_uint_eq(trc_path_bytes("/a (deleted)b", 12), 2);
}
END_TEST

START_TEST(a_name_is_what_is_behind_the_last_slash)
{
	ck_assert_str_eq(trc_path_name("/usr/bin/server"), "server");
	ck_assert_str_eq(trc_path_name("server"), "server");
	ck_assert_str_eq(trc_path_name("/usr/"), "");
	ck_assert_str_eq(trc_path_name(""), "");
}
END_TEST

Suite *suite_path(void)
{
	Suite *s = suite_create("paths");
	TCase *t = tcase_create("paths");

	tcase_add_loop_test(t, a_path_has_no_mark_of_the_kernel, 0, sizeof(NAMES) / sizeof(*NAMES));
	tcase_add_test(t, only_the_bytes_of_the_name_count);
	tcase_add_test(t, a_name_is_what_is_behind_the_last_slash);
	suite_add_tcase(s, t);
	return s;
}
