/* unit_cache.c - serve:V8 and V9: which pages are kept, and which are not taken. */
#include <check.h>
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "unit_cache.h"
#include "format/symbols.h"
#include "viewer/serve/cache.h"

#define PAGE "<!DOCTYPE html>a page"

static char dir[] = "/tmp/trc-cache-XXXXXX", trace[64], kept[64];

/* What the directory lies in: that of a disk. */
enum { A_DISK = 0xef53 };
static uint32_t fs_type = A_DISK;

/* In place of the C library's. */
int fstatfs(int fd, struct statfs *fs)
{
	(void)fd;
	*fs = (struct statfs){0};
	fs->f_type = (__typeof__(fs->f_type))fs_type;
	return 0;
}

static void write_file(const char *path, const char *text)
{
	FILE *out = fopen(path, "w");

	ck_assert_ptr_nonnull(out);
	fputs(text, out);
	ck_assert_int_eq(fclose(out), 0);
}

static void set_up(void)
{
	strcpy(dir + strlen(dir) - 6, "XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	ck_assert_int_eq(setenv("XDG_CACHE_HOME", dir, 1), 0);
	snprintf(trace, sizeof(trace), "%s/a.trc", dir);
	snprintf(kept, sizeof(kept), "%s/trc", dir);
	write_file(trace, "a trace");
}

static void clean_up(void)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -rf '%s'", dir);
	ck_assert_int_eq(system(command), 0);
}

static struct trc_cache_key key_of(const char *path)
{
	struct trc_cache_key key;

	trc_cache_key_make(&key, path);
	return key;
}

static void keep(const struct trc_cache_key *key)
{
	char path[80];
	int fd;

	snprintf(path, sizeof(path), "%s/made", dir);
	write_file(path, PAGE);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	ck_assert_int_ge(fd, 0);
	trc_cache_keep(key, fd, strlen(PAGE));
	close(fd);
}

/* Whether there is a page, which then is the one that was kept. */
static bool is_found(const struct trc_cache_key *key)
{
	char text[sizeof(PAGE)] = "";
	uint64_t n_bytes = 0;
	int fd = trc_cache_find(key, &n_bytes);

	if (fd < 0)
		return false;
	ck_assert_uint_eq(n_bytes, strlen(PAGE));
	ck_assert_int_eq((int)read(fd, text, strlen(PAGE)), (int)strlen(PAGE));
	ck_assert_str_eq(text, PAGE);
	close(fd);
	return true;
}

/* The path of the only page that is kept. */
static void path_of_kept(char path[PATH_MAX])
{
	DIR *all = opendir(kept);
	int n = 0;

	ck_assert_ptr_nonnull(all);
	for (struct dirent *entry; (entry = readdir(all));)
		if (entry->d_name[0] != '.' && ++n)
			snprintf(path, PATH_MAX, "%s/%s", kept, entry->d_name);
	closedir(all);
	ck_assert_int_eq(n, 1);
}

START_TEST(what_was_kept_is_found)
{
	struct trc_cache_key key = key_of(trace);
	char path[PATH_MAX];
	struct stat st;

	ck_assert(!is_found(&key));
	keep(&key);
	ck_assert(is_found(&key));
	ck_assert(is_found(&key));
	path_of_kept(path);
	ck_assert_int_eq(stat(path, &st), 0);
	ck_assert_uint_eq(st.st_mode & 0777, 0600);
	ck_assert_int_eq(stat(kept, &st), 0);
	ck_assert_uint_eq(st.st_mode & 0777, 0700);
}
END_TEST

START_TEST(a_trace_that_was_written_again_is_another)
{
	struct trc_cache_key before = key_of(trace), after;

	keep(&before);
	write_file(trace, "a longer trace");
	after = key_of(trace);
	ck_assert(!trc_cache_key_is_same(&before, &after));
	ck_assert(!is_found(&after));
	keep(&after);
	ck_assert(is_found(&after));
	ck_assert(!is_found(&before));
}
END_TEST

/* These change the inode only. */
START_TEST(a_trace_with_another_name_or_mode_is_the_same)
{
	struct trc_cache_key before = key_of(trace), linked, renamed;
	char other[80], third[80];
	struct stat st, now;

	keep(&before);
	ck_assert_int_eq(stat(trace, &st), 0);
	snprintf(other, sizeof(other), "%s/b.trc", dir);
	snprintf(third, sizeof(third), "%s/c.trc", dir);
	do { /* clocks of files are coarse */
		ck_assert_int_eq(link(trace, other), 0);
		ck_assert_int_eq(chmod(other, 0400), 0);
		ck_assert_int_eq(rename(other, third), 0);
		ck_assert_int_eq(stat(trace, &now), 0);
		linked = key_of(trace);
		renamed = key_of(third);
		ck_assert_int_eq(unlink(third), 0);
	} while (st.st_ctim.tv_sec == now.st_ctim.tv_sec &&
		 st.st_ctim.tv_nsec == now.st_ctim.tv_nsec);
	ck_assert_str_eq(linked.text, before.text);
	ck_assert(trc_cache_key_is_same(&before, &renamed));
	ck_assert(is_found(&linked) && is_found(&renamed));
}
END_TEST

/* The program is the one that runs: here the test. */
START_TEST(another_program_has_pages_of_its_own)
{
	struct trc_cache_key key = key_of(trace);
	struct stat program;
	char line[120];

	ck_assert_int_eq(stat("/proc/self/exe", &program), 0);
	snprintf(line, sizeof(line), "\nprogram %ju %ju %ju ", (uintmax_t)program.st_dev,
		 (uintmax_t)program.st_ino, (uintmax_t)program.st_size);
	ck_assert_ptr_nonnull(strstr(key.text, line));
	keep(&key);
	*strstr(key.text, "\nprogram ") = ' ';
	ck_assert(!is_found(&key));
}
END_TEST

/* The same size, and the same time of its last change as a file's times tell it: its bytes tell. */
START_TEST(a_trace_of_the_same_size_and_time_is_another)
{
	struct trc_cache_key before = key_of(trace), after;
	struct timespec times[2];
	struct stat st;

	keep(&before);
	ck_assert_int_eq(stat(trace, &st), 0);
	write_file(trace, "A TRACE");
	times[0] = st.st_atim;
	times[1] = st.st_mtim;
	ck_assert_int_eq(utimensat(AT_FDCWD, trace, times, 0), 0);
	after = key_of(trace);
	ck_assert(!trc_cache_key_is_same(&before, &after));
	ck_assert(!is_found(&after));
}
END_TEST

/* As the files are that names of functions are read from. */
START_TEST(what_else_a_page_depends_on_makes_another)
{
	struct trc_cache_key plain = key_of(trace), without = plain, with = plain, again = plain;
	char other[80];

	snprintf(other, sizeof(other), "%s/program", dir);
	trc_cache_key_add(&without, "program", other);
	keep(&without);
	ck_assert(is_found(&without));
	write_file(other, "symbols");
	trc_cache_key_add(&with, "program", other);
	trc_cache_key_add(&again, "program", other);
	ck_assert(trc_cache_key_is_same(&with, &again));
	ck_assert(!trc_cache_key_is_same(&with, &without));
	ck_assert(trc_cache_key_has(&with, &plain) && !trc_cache_key_has(&plain, &with));
	ck_assert(!is_found(&with) && !is_found(&plain) && is_found(&without));
}
END_TEST

static void add_line(void *all, const char *path)
{
	strcat(strcat(all, path), "\n");
}

/* Of a program that is gone; V8's are these. */
START_TEST(names_come_from_these_files)
{
	const struct trc_module_entry module = {
		.path = "/nowhere/at/all", .build_id = {0xab, 0xcd, 0xef}, .build_id_bytes = 3};
	char places[1000] = "";
	const struct trc_symbols_visit visit = {add_line, places};

	ck_assert_int_eq(setenv("TRC_DEBUG_PATH", "/d", 1), 0);
	trc_symbols_places(&module, &visit);
	ck_assert_str_eq(places, "/nowhere/at/all\n"
				 "/d/.build-id/ab/cdef\n/usr/lib/debug/.build-id/ab/cdef\n"
				 "/d/.build-id/ab/cdef.debug\n"
				 "/usr/lib/debug/.build-id/ab/cdef.debug\n"
				 "/d/nowhere/at/all\n/d/all\n/d/all.debug\n"
				 "/usr/lib/debug/nowhere/at/all\n/usr/lib/debug/all\n"
				 "/usr/lib/debug/all.debug\n");
}
END_TEST

START_TEST(damaged_pages_are_not_served)
{
	struct trc_cache_key key = key_of(trace);
	char path[PATH_MAX];
	struct stat st;

	keep(&key);
	path_of_kept(path);
	ck_assert_int_eq(stat(path, &st), 0);
	for (off_t at = 0; at < st.st_size; at += 37) {
		int fd = open(path, O_RDWR | O_CLOEXEC);
		char byte;

		ck_assert_int_eq((int)pread(fd, &byte, 1, at), 1);
		byte ^= 1;
		ck_assert_int_eq((int)pwrite(fd, &byte, 1, at), 1);
		ck_assert_msg(!is_found(&key), "byte %ld", (long)at);
		byte ^= 1;
		ck_assert_int_eq((int)pwrite(fd, &byte, 1, at), 1);
		ck_assert(is_found(&key));
		close(fd);
	}
	ck_assert_int_eq(truncate(path, st.st_size - 1), 0);
	ck_assert(!is_found(&key));
	ck_assert_int_eq(truncate(path, 0), 0);
	ck_assert(!is_found(&key));
}
END_TEST

START_TEST(what_others_can_write_is_not_taken)
{
	struct trc_cache_key key = key_of(trace);
	char path[PATH_MAX], other[80];

	keep(&key);
	path_of_kept(path);
	ck_assert_int_eq(chmod(path, 0622), 0);
	ck_assert(!is_found(&key));
	ck_assert_int_eq(chmod(path, 0600), 0);
	ck_assert_int_eq(chmod(kept, 0777), 0);
	ck_assert(!is_found(&key));
	ck_assert_int_eq(chmod(kept, 0700), 0);
	ck_assert(is_found(&key));
	snprintf(other, sizeof(other), "%s/other", dir);
	ck_assert_int_eq(rename(path, other), 0);
	ck_assert_int_eq(symlink(other, path), 0);
	ck_assert(!is_found(&key));
}
END_TEST

START_TEST(nothing_is_kept_of_what_is_no_file)
{
	struct trc_cache_key of_dir = key_of(dir), of_none = key_of("/nowhere/at/all");

	keep(&of_dir);
	keep(&of_none);
	ck_assert(!is_found(&of_dir) && !is_found(&of_none));
	ck_assert_int_ne(access(kept, F_OK), 0);
	ck_assert(!trc_cache_key_is_same(&of_none, &of_none));
}
END_TEST

START_TEST(without_a_home_nothing_is_kept)
{
	struct trc_cache_key key = key_of(trace);

	ck_assert_int_eq(setenv("XDG_CACHE_HOME", "relative", 1), 0);
	ck_assert_int_eq(setenv("HOME", "", 1), 0);
	keep(&key);
	ck_assert(!is_found(&key));
}
END_TEST

START_TEST(only_so_many_pages_are_kept)
{
	struct trc_cache_key key[TRC_CACHE_PAGES_MAX + 3];
	int n = 0;

	for (int i = 0; i < TRC_CACHE_PAGES_MAX + 3; i++) {
		char path[80];

		snprintf(path, sizeof(path), "%s/%d.trc", dir, i);
		write_file(path, "a trace");
		key[i] = key_of(path);
		keep(&key[i]);
	}
	for (int i = 0; i < TRC_CACHE_PAGES_MAX + 3; i++)
		n += is_found(&key[i]);
	ck_assert_int_eq(n, TRC_CACHE_PAGES_MAX);
}
END_TEST

/* A limit to what it may write ends it in the middle. */
static void be_killed_while_keeping(const struct trc_cache_key *key)
{
	const struct rlimit few = {8, 8};
	char path[80];
	pid_t child;
	int fd, status;

	snprintf(path, sizeof(path), "%s/made", dir);
	write_file(path, PAGE);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	ck_assert_int_ge(fd, 0);
	child = fork();
	ck_assert_int_ge(child, 0);
	if (!child) {
		signal(SIGXFSZ, SIG_DFL);
		setrlimit(RLIMIT_FSIZE, &few);
		trc_cache_keep(key, fd, strlen(PAGE));
		_exit(0);
	}
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert(WIFSIGNALED(status));
	close(fd);
}

START_TEST(what_killed_ones_left_behind_goes_as_pages_do)
{
	struct trc_cache_key key = key_of(trace);
	int n = 0;
	DIR *all;

	for (int i = 0; i < TRC_CACHE_PAGES_MAX + 3; i++)
		be_killed_while_keeping(&key);
	ck_assert(!is_found(&key));
	keep(&key);
	ck_assert(is_found(&key));
	all = opendir(kept);
	ck_assert_ptr_nonnull(all);
	for (struct dirent *entry; (entry = readdir(all));)
		n += entry->d_name[0] != '.';
	closedir(all);
	ck_assert_int_eq(n, TRC_CACHE_PAGES_MAX);
}
END_TEST

/* V10 */
static bool keep_model(const struct trc_cache_key *key, const char *text, bool is_whole)
{
	struct trc_cache_making making;

	ck_assert(trc_cache_begin_model(&making, key));
	ck_assert_uint_gt(making.most_bytes, 0);
	ck_assert_uint_le(making.most_bytes, TRC_CACHE_MODELS_BYTES);
	ck_assert_int_eq((int)write(making.fd, text, strlen(text)), (int)strlen(text));
	return trc_cache_end_model(&making, key, is_whole);
}

static int find_model(const struct trc_cache_key *key)
{
	struct trc_cache_state state;
	bool is_checked;

	return trc_cache_find_model(key, &state, &is_checked);
}

static bool has_model(const struct trc_cache_key *key, const char *text)
{
	int fd = find_model(key);
	char bytes[80] = "";
	struct stat st;

	if (fd < 0)
		return false;
	ck_assert_int_gt((int)read(fd, bytes, sizeof(bytes) - 1), 0);
	ck_assert_int_eq(fstat(fd, &st), 0);
	ck_assert_int_eq(st.st_mode & 0777, 0600);
	close(fd);
	return !strcmp(bytes, text);
}

START_TEST(what_was_derived_is_kept_beside_pages)
{
	struct trc_cache_key key = key_of(trace), of_dir = key_of(dir);
	struct trc_cache_making making;

	keep(&key);
	ck_assert(!has_model(&key, "a"));
	ck_assert(!keep_model(&key, "half", false));
	ck_assert(!has_model(&key, "half"));
	ck_assert(keep_model(&key, "one", true));
	ck_assert(has_model(&key, "one") && is_found(&key));
	ck_assert(keep_model(&key, "two", true));
	ck_assert(has_model(&key, "two") && is_found(&key));
	ck_assert(!trc_cache_begin_model(&making, &of_dir));
	ck_assert_int_eq(chmod(kept, 0777), 0);
	ck_assert_int_eq(find_model(&key), -1);
	ck_assert(!trc_cache_begin_model(&making, &key));
}
END_TEST

/* Whether the file's checksum is known to be right; if it is looked at, it is from now on. */
static bool is_checked(const struct trc_cache_key *key, bool looks)
{
	struct trc_cache_state state;
	bool is;
	int fd = trc_cache_find_model(key, &state, &is);

	ck_assert_int_ge(fd, 0);
	close(fd);
	if (looks)
		trc_cache_keep_checked(key, &state);
	return is;
}

/* V14 */
START_TEST(a_checksum_is_right_until_the_file_changes)
{
	struct trc_cache_key key = key_of(trace);
	static const char *const change[] = {
		"printf x >>\"$m\"",
		"printf x | dd of=\"$m\" conv=notrunc status=none",
		"cp -p \"$m\" x && printf y >\"$m\" && touch -r x \"$m\"",
		"chmod 0666 \"$c\"",
		"printf x | dd of=\"$c\" conv=notrunc status=none",
		"rm \"$c\"",
	};
	char command[256];

	ck_assert(keep_model(&key, "one", true));
	ck_assert(!is_checked(&key, false));
	ck_assert(!is_checked(&key, true));
	ck_assert(is_checked(&key, true));
	ck_assert(is_checked(&key, true));
	usleep(50000); /* times of change have steps of some milliseconds */
	snprintf(command, sizeof(command), "cd '%s' && m=$(ls *.model) c=$(ls *.checked) && %s",
		 kept, change[_i]);
	ck_assert_int_eq(system(command), 0);
	ck_assert(!is_checked(&key, true));
	ck_assert(is_checked(&key, true));
	usleep(50000);
	ck_assert(keep_model(&key, "two", true));
	ck_assert(!is_checked(&key, false));
}
END_TEST

START_TEST(only_so_much_that_was_derived_is_kept)
{
	struct trc_cache_key key[TRC_CACHE_MODELS_MAX + 3];
	int n = 0;

	for (int i = 0; i < TRC_CACHE_MODELS_MAX + 3; i++) {
		char path[80];

		snprintf(path, sizeof(path), "%s/%d.trc", dir, i);
		write_file(path, "a trace");
		key[i] = key_of(path);
		keep(&key[i]);
		ck_assert(keep_model(&key[i], "derived", true));
	}
	for (int i = 0; i < TRC_CACHE_MODELS_MAX + 3; i++) {
		n += has_model(&key[i], "derived");
		ck_assert(is_found(&key[i])); /* pages are counted by themselves */
	}
	ck_assert_int_eq(n, TRC_CACHE_MODELS_MAX);
}
END_TEST

/* V12: as two processes do that have the same id, each in its namespace. */
START_TEST(two_write_one_at_once)
{
	struct trc_cache_key key = key_of(trace);
	struct trc_cache_making first, second;

	ck_assert(trc_cache_begin_model(&first, &key));
	ck_assert_int_eq((int)write(first.fd, "first", 5), 5);
	ck_assert(trc_cache_begin_model(&second, &key));
	ck_assert_int_eq((int)write(second.fd, "2nd", 3), 3);
	ck_assert(trc_cache_end_model(&first, &key, true));
	ck_assert(has_model(&key, "first"));
	ck_assert_int_eq((int)write(second.fd, ".", 1), 1);
	ck_assert(has_model(&key, "first"));
	ck_assert(trc_cache_end_model(&second, &key, true));
	ck_assert(has_model(&key, "2nd."));
}
END_TEST

/* V12 */
START_TEST(what_killed_ones_left_behind_goes_by_age)
{
	struct trc_cache_key key = key_of(trace);
	const struct timespec old[2] = {{time(NULL) - 2 * 3600, 0}, {time(NULL) - 2 * 3600, 0}};
	char left[PATH_MAX], written[PATH_MAX];

	keep(&key);
	snprintf(left, sizeof(left), "%s/making-1.page", kept);
	snprintf(written, sizeof(written), "%s/making-2.page", kept);
	write_file(left, "half");
	write_file(written, "half");
	keep(&key);
	ck_assert_int_eq(access(left, F_OK) | access(written, F_OK), 0);
	ck_assert_int_eq(utimensat(AT_FDCWD, left, old, 0), 0);
	keep(&key);
	ck_assert_int_ne(access(left, F_OK), 0);
	ck_assert_int_eq(access(written, F_OK), 0);
	ck_assert(is_found(&key));
}
END_TEST

/* V13: nfs, smb2, fuse. */
START_TEST(nothing_is_kept_on_a_network)
{
	static const uint32_t types[] = {0x6969, 0xfe534d42, 0x65735546};
	struct trc_cache_key key = key_of(trace);
	struct trc_cache_making making;

	keep(&key);
	ck_assert(keep_model(&key, "derived", true));
	fs_type = types[_i];
	ck_assert(!is_found(&key));
	ck_assert_int_eq(find_model(&key), -1);
	ck_assert(!trc_cache_begin_model(&making, &key));
	fs_type = A_DISK;
	ck_assert(is_found(&key) && has_model(&key, "derived"));
}
END_TEST

TCase *unit_cache(void)
{
	TCase *tests = tcase_create("cache");

	tcase_add_checked_fixture(tests, set_up, clean_up);
	tcase_add_test(tests, what_was_kept_is_found);
	tcase_add_test(tests, a_trace_that_was_written_again_is_another);
	tcase_add_test(tests, a_trace_of_the_same_size_and_time_is_another);
	tcase_add_test(tests, a_trace_with_another_name_or_mode_is_the_same);
	tcase_add_test(tests, another_program_has_pages_of_its_own);
	tcase_add_test(tests, what_else_a_page_depends_on_makes_another);
	tcase_add_test(tests, names_come_from_these_files);
	tcase_add_test(tests, damaged_pages_are_not_served);
	tcase_add_test(tests, what_others_can_write_is_not_taken);
	tcase_add_test(tests, nothing_is_kept_of_what_is_no_file);
	tcase_add_test(tests, without_a_home_nothing_is_kept);
	tcase_add_test(tests, only_so_many_pages_are_kept);
	tcase_add_test(tests, what_was_derived_is_kept_beside_pages);
	tcase_add_loop_test(tests, a_checksum_is_right_until_the_file_changes, 0, 6);
	tcase_add_test(tests, only_so_much_that_was_derived_is_kept);
	tcase_add_test(tests, what_killed_ones_left_behind_goes_as_pages_do);
	tcase_add_loop_test(tests, nothing_is_kept_on_a_network, 0, 3);
	tcase_add_test(tests, two_write_one_at_once);
	tcase_add_test(tests, what_killed_ones_left_behind_goes_by_age);
	return tests;
}
