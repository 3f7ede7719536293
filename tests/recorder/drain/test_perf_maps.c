/* test_perf_maps.c - where code lay, by process and time. */
#include <check.h>
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "recorder/drain/perf_maps.h"

static struct trc_perf_maps *maps;

static void set_up(void)
{
	maps = trc_perf_maps_make();
	ck_assert_ptr_nonnull(maps);
}

static void tear_down(void)
{
	trc_perf_maps_free(maps);
}

static void map(uint32_t pid, uint64_t raw_ns, uint64_t start, uint64_t limit, const char *path)
{
	const struct trc_perf_mapping mapping = {
		.raw_ns = raw_ns, .start = start, .limit = limit, .path = path, .pid = pid};

	trc_perf_maps_add(maps, &mapping);
}

/* The path; "-" = nothing is there. */
static const char *at(uint32_t pid, uint64_t address, uint64_t raw_ns)
{
	const struct trc_perf_mapping *found = trc_perf_maps_find(maps, pid, address, raw_ns);

	return found ? found->path : "-";
}

START_TEST(the_latest_before_a_time_counts)
{
	map(1, 100, 0x1000, 0x3000, "/a");
	map(1, 300, 0x2000, 0x4000, "/b"); /* over half of it */
	map(1, 200, 0x2000, 0x3000, "/c"); /* from another proc's buffer, read later */
	ck_assert_str_eq(at(1, 0x2000, 99), "-");
	ck_assert_str_eq(at(1, 0x2000, 100), "/a");
	ck_assert_str_eq(at(1, 0x2000, 250), "/c");
	ck_assert_str_eq(at(1, 0x2000, 400), "/b");
	ck_assert_str_eq(at(1, 0x1fff, 400), "/a");
	ck_assert_str_eq(at(1, 0x3fff, 400), "/b");
	ck_assert_str_eq(at(1, 0x4000, 400), "-");
	ck_assert_str_eq(at(1, 0xfff, 400), "-");
	ck_assert_str_eq(at(2, 0x2000, 400), "-");
}
END_TEST

START_TEST(a_forked_process_has_what_its_parent_had_then)
{
	map(1, 100, 0x1000, 0x2000, "/a");
	trc_perf_maps_fork(maps, 2, 1, 200);
	map(1, 300, 0x5000, 0x6000, "/later");
	map(2, 300, 0x1000, 0x2000, "/own");
	trc_perf_maps_fork(maps, 3, 2, 250);
	ck_assert_str_eq(at(2, 0x1000, 210), "/a");
	ck_assert_str_eq(at(2, 0x1000, 310), "/own");
	ck_assert_str_eq(at(2, 0x5000, 310), "-");
	ck_assert_str_eq(at(3, 0x1000, 310), "/a");
	/* The pid again, of another's child. */
	trc_perf_maps_fork(maps, 2, 9, 400);
	map(9, 50, 0x7000, 0x8000, "/nine");
	ck_assert_str_eq(at(2, 0x7000, 410), "/nine");
	ck_assert_str_eq(at(2, 0x7000, 350), "-");
	/* Nonsense ends. */
	trc_perf_maps_fork(maps, 20, 21, 0);
	trc_perf_maps_fork(maps, 21, 20, 0);
	ck_assert_str_eq(at(20, 0x7000, 410), "-");
}
END_TEST

START_TEST(what_is_no_code_is_known_while_all_is_known)
{
	map(1, 100, 0x400000, 0x401000, "/a");
	map(1, 100, 0x500000, 0x501000, ""); /* made at run time */
	ck_assert(trc_perf_maps_may_be_code(maps, 1, 0x400123, 200));
	ck_assert(trc_perf_maps_may_be_code(maps, 1, 0x400fff, 200)); /* from the cache */
	ck_assert(trc_perf_maps_may_be_code(maps, 1, 0x500000, 200));
	ck_assert(!trc_perf_maps_may_be_code(maps, 1, 0x600000, 200));
	ck_assert(!trc_perf_maps_may_be_code(maps, 2, 0x400123, 200));
	map(1, 150, 0x600000, 0x601000, "/b");
	ck_assert(trc_perf_maps_may_be_code(maps, 1, 0x600000, 200));
	trc_perf_maps_lost(maps, 0, UINT64_MAX);
	ck_assert(trc_perf_maps_may_be_code(maps, 1, 0x700000, 200));
}
END_TEST

START_TEST(a_full_table_says_so_and_keeps_what_it_has)
{
	char path[64];

	for (uint64_t i = 0; i < 20000; i++) {
		snprintf(path, sizeof(path), "/some/where/%llu", (unsigned long long)i);
		map(1, i, 0x10000 * i, 0x10000 * i + 0x1000, path);
	}
	ck_assert_str_eq(at(1, 0x10000, 30000), "/some/where/1");
	ck_assert(trc_perf_maps_may_be_code(maps, 1, 0x10000 * UINT64_C(19999), 30000));
	ck_assert_str_eq(at(1, 0x10000 * UINT64_C(19999), 30000), "-");
}
END_TEST

START_TEST(what_has_long_been_replaced_makes_room)
{
	map(1, 1, 0x7000, 0x8000, "/lib/stays");
	for (uint64_t i = 0; i < 20000; i++)
		map(1, 2 + i, 0x10000, 0x11000, i % 2 ? "/odd" : "/even");
	ck_assert_str_eq(at(1, 0x10000, 20001), "/odd");
	ck_assert_str_eq(at(1, 0x10000, 20000), "/even");
	ck_assert_str_eq(at(1, 0x10000, 19001), "/odd");
	ck_assert_str_eq(at(1, 0x7000, 20001), "/lib/stays");
	ck_assert(!trc_perf_maps_may_be_code(maps, 1, 0x20000, 20001)); /* nothing is missing */
}
END_TEST

static void map_plugins(uint64_t n, int path_bytes)
{
	char path[4096];

	for (uint64_t i = 0; i < n; i++) {
		snprintf(path, sizeof(path), "/plugin/%0*llu", path_bytes, (unsigned long long)i);
		map(1, 2 + 2 * i, 0x10000, 0x11000, path);
		map(1, 3 + 2 * i, 0x20000, 0x21000, i % 3 ? "/again" : "/and/again");
	}
	ck_assert_str_eq(at(1, 0x10000, 2 * n + 1), path);
	snprintf(path, sizeof(path), "/plugin/%0*llu", path_bytes, (unsigned long long)n - 50);
	ck_assert_str_eq(at(1, 0x10000, 2 * (n - 50) + 3), path);
	ck_assert_str_eq(at(1, 0x20000, 2 * n + 1), (n - 1) % 3 ? "/again" : "/and/again");
	ck_assert_str_eq(at(1, 0x7000, 2 * n + 1), "/lib/stays");
	ck_assert(!trc_perf_maps_may_be_code(maps, 1, 0x30000, 2 * n)); /* nothing is missing */
}

START_TEST(paths_of_what_has_been_replaced_make_room)
{
	map(1, 1, 0x7000, 0x8000, "/lib/stays");
	map_plugins(20000, 60);
}
END_TEST

START_TEST(long_paths_make_room_before_the_table_is_full)
{
	map(1, 1, 0x7000, 0x8000, "/lib/stays");
	map_plugins(3000, 4000);
}
END_TEST

static bool is_sure(uint64_t address, uint64_t raw_ns)
{
	return trc_perf_maps_is_sure(maps, trc_perf_maps_find(maps, 1, address, raw_ns), raw_ns);
}

START_TEST(what_may_have_been_replaced_is_not_sure)
{
	map(1, 10, 0x1000, 0x2000, "/lib/stays");
	map(1, 20, 0x5000, 0x6000, "/plugin/one");
	map(1, 30, 0x5000, 0x6000, "/plugin/two");
	ck_assert(is_sure(0x5000, 25));
	trc_perf_maps_lost(maps, 40, 50);
	map(1, 60, 0x5000, 0x6000, "/plugin/one");
	ck_assert(is_sure(0x5000, 25));
	ck_assert(is_sure(0x5000, 35));
	ck_assert(!is_sure(0x5000, 45));
	ck_assert(!is_sure(0x5000, 55));
	ck_assert(is_sure(0x5000, 65));
	ck_assert(is_sure(0x1000, 65)); /* nothing else has ever been there */
}
END_TEST

/* An ELF file whose code wants to be 0x3000 behind where it lies in the file. */
START_TEST(the_file_says_where_its_code_wants_to_be)
{
	const Elf64_Ehdr head = {.e_ident = ELFMAG,
				 .e_phoff = sizeof(head),
				 .e_phentsize = sizeof(Elf64_Phdr),
				 .e_phnum = 2};
	const Elf64_Phdr segment[2] = {
		{.p_type = PT_LOAD, .p_flags = PF_R, .p_filesz = 0x1000},
		{.p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_offset = 0x1010, .p_vaddr = 0x4010,
		 .p_filesz = 0x2000}};
	char path[] = "perf_maps_XXXXXX";
	struct trc_perf_mapping mapping = {
		.start = 0x7f0000004000, .limit = 0x7f0000006000, .file_offset = 0x1000, .path = path};
	int fd = mkstemp(path);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, &head, sizeof(head)), sizeof(head));
	ck_assert_uint_eq(trc_perf_mapping_bias(&mapping), 0x7f0000003000); /* cut short */
	ck_assert_int_eq(write(fd, segment, sizeof(segment)), sizeof(segment));
	ck_assert_uint_eq(trc_perf_mapping_bias(&mapping), 0x7f0000000000);
	close(fd);
	unlink(path);
	ck_assert_uint_eq(trc_perf_mapping_bias(&mapping), 0x7f0000003000);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("perf_maps");
	TCase *t = tcase_create("perf_maps");
	SRunner *runner;
	int failed;

	tcase_add_checked_fixture(t, set_up, tear_down);
	tcase_add_test(t, the_latest_before_a_time_counts);
	tcase_add_test(t, a_forked_process_has_what_its_parent_had_then);
	tcase_add_test(t, what_is_no_code_is_known_while_all_is_known);
	tcase_add_test(t, a_full_table_says_so_and_keeps_what_it_has);
	tcase_add_test(t, what_has_long_been_replaced_makes_room);
	tcase_add_test(t, paths_of_what_has_been_replaced_make_room);
	tcase_add_test(t, long_paths_make_room_before_the_table_is_full);
	tcase_add_test(t, what_may_have_been_replaced_is_not_sure);
	tcase_add_test(t, the_file_says_where_its_code_wants_to_be);
	suite_add_tcase(suite, t);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
