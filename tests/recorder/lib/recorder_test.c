/* recorder_test.c - <trc/recorder.h>: what its functions promise. */
#include <dlfcn.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "recorder_fixture.h"

/* ---- writers --------------------------------------------------------------------------- */

START_TEST(a_file_appears_when_it_is_complete)
{
	struct trace_writer w;
	struct stat st;

	ck_good(trace_writer_to_path(&w, in_dir("file")));
	ck_assert_int_eq(w.write(w.context, "abc", 3), 0);
	ck_assert_int_eq(stat(in_dir("file"), &st), -1);
	ck_assert_int_eq(w.finish(w.context, 0), 0);
	ck_assert_int_eq(stat(in_dir("file"), &st), 0);
	ck_assert_int_eq(st.st_size, 3);
	ck_assert_uint_eq(st.st_mode & 07777, 0600);
	/* What failed leaves the one before. */
	ck_good(trace_writer_to_path(&w, in_dir("file")));
	ck_assert_int_eq(w.write(w.context, "longer", 6), 0);
	ck_assert_int_eq(w.finish(w.context, -ENOSPC), -ENOSPC);
	ck_assert_int_eq(stat(in_dir("file"), &st), 0);
	ck_assert_int_eq(st.st_size, 3);
}
END_TEST

START_TEST(a_path_that_leads_nowhere_is_told_at_once)
{
	struct trace_writer w = {.context = &w};

	ck_fails(trace_writer_to_path(&w, "/nonexistent/x"), -ENOENT, "/nonexistent/x");
	ck_fails(trace_writer_to_path(&w, test_dir), -EISDIR, test_dir);
	ck_fails(trace_writer_to_path(&w, ""), -EINVAL, "path");
	ck_assert_ptr_eq(w.context, &w);
}
END_TEST

START_TEST(memory_grows)
{
	struct trace_writer_memory memory = {.bytes = NULL};
	struct trace_writer w = trace_writer_to_memory(&memory);

	for (int i = 0; i < 1000; i++)
		ck_assert_int_eq(w.write(w.context, "0123456789", 10), 0);
	ck_assert_uint_eq(memory.n_bytes, 10000);
	ck_assert_mem_eq((char *)memory.bytes + 9990, "0123456789", 10);
	free(memory.bytes);
}
END_TEST

START_TEST(a_closed_pipe_is_an_error_and_no_signal)
{
	struct trace_writer w;
	int fd[2];

	ck_assert_int_eq(pipe(fd), 0);
	w = trace_writer_to_fd(fd[1]);
	ck_assert_int_eq(w.write(w.context, "abc", 3), 0);
	close(fd[0]);
	ck_assert_int_eq(w.write(w.context, "abc", 3), -EPIPE);
	close(fd[1]);
	ck_assert_int_eq(w.write(w.context, "abc", 3), -EBADF);
}
END_TEST

/* ---- what cannot be -------------------------------------------------------------------- */

START_TEST(configs_that_make_no_sense)
{
	struct trace_block_options block = TRACE_BLOCK_OPTIONS_INIT;
	struct trace_cpu_options cpu = TRACE_CPU_OPTIONS_INIT;
	struct trace_recorder *r = NULL;

	block.struct_bytes = 1;
	ck_fails(trace_recorder_create_block(&r, &block), -EINVAL, "TRACE_BLOCK_OPTIONS_INIT");
	block.struct_bytes = sizeof(block);
	block.format = (enum trace_profile_format)7;
	ck_fails(trace_recorder_create_block(&r, &block), -EINVAL, "format");
	cpu.event = "no-such-event";
	ck_fails(trace_recorder_create_cpu(&r, &cpu), -EINVAL, "no-such-event");
	cpu.event = "timer";
	cpu.period = 1000000;
	cpu.frequency_hz = 100;
	ck_fails(trace_recorder_create_cpu(&r, &cpu), -EINVAL, "either");
	ck_fails(trace_recorder_create_custom(&r, NULL, NULL), -EINVAL, "profile");
	ck_fails(trace_recorder_create_multi(&r, &r, 0, NULL), -EINVAL, "1 to 16");
	ck_assert_ptr_null(r);
	trace_recorder_destroy(NULL);
}
END_TEST

/* A writer is finished once, whatever happens. */
START_TEST(methods_in_the_wrong_order)
{
	struct counting c = {.n_writes = 0};
	struct trace_writer w = counting_writer(&c), none = {.write = NULL};
	struct trace_recorder *r;

	ck_good(trace_recorder_create_block(&r, NULL));
	ck_fails(trace_recorder_stop(r), -EINVAL, "not started");
	ck_fails(trace_recorder_snapshot(r, &w), -EINVAL, "not started");
	ck_assert_int_eq(c.n_finishes, 1);
	ck_assert_int_eq(c.finish_err, -EINVAL);
	ck_fails(trace_recorder_start(r, NULL), -EINVAL, "writer");
	ck_fails(trace_recorder_start(r, &none), -EINVAL, "writer");
	ck_good(trace_recorder_start(r, &w));
	ck_assert_int_eq(c.n_finishes, 1);
	ck_fails(trace_recorder_start(r, &w), -EBUSY, "started already");
	ck_assert_int_eq(c.n_finishes, 1); /* it is the first start's */
	ck_assert_int_eq(c.n_writes, 0);
	ck_good(trace_recorder_stop(r));
	ck_assert_int_eq(c.n_finishes, 2);
	ck_assert_int_eq(c.finish_err, 0);
	ck_assert_int_gt(c.n_writes, 0);
	ck_fails(trace_recorder_stop(r), -EINVAL, "not started");
	trace_recorder_destroy(r);
}
END_TEST

/* Its memory is gone with its first use. */
START_TEST(a_writer_used_again_is_an_error)
{
	char dir[] = "/tmp/trc-recorder-test-XXXXXX", path[60];
	struct trace_writer w;
	struct trace_recorder *r, *other;

	ck_assert_ptr_nonnull(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/block", dir);
	ck_good(trace_recorder_create_block(&r, NULL));
	ck_good(trace_recorder_create_block(&other, NULL));
	ck_good(trace_writer_to_path(&w, path));
	ck_good(trace_recorder_start(r, &w));
	ck_fails(trace_recorder_start(r, &w), -EBUSY, "started already");
	ck_good(trace_recorder_stop(r));
	ck_assert_int_eq(unlink(path), 0);
	ck_fails(trace_recorder_start(r, &w), -EINVAL, "used already");
	ck_fails(trace_recorder_snapshot(r, &w), -EINVAL, "used already");
	ck_fails(trace_recorder_stop(r), -EINVAL, "not started");
	ck_assert_int_eq(access(path, F_OK), -1);

	/* Of two that have the same, one writes it. */
	ck_good(trace_writer_to_path(&w, path));
	ck_good(trace_recorder_start(r, &w));
	ck_good(trace_recorder_start(other, &w));
	ck_good(trace_recorder_stop(r));
	ck_assert_int_eq(trace_recorder_stop(other), -EINVAL);
	ck_assert_int_eq(unlink(path), 0);
	ck_assert_int_eq(rmdir(dir), 0);
	trace_recorder_destroy(other);
	trace_recorder_destroy(r);
}
END_TEST

START_TEST(one_that_was_freed_is_none)
{
	struct counting c = {.n_writes = 0};
	struct trace_writer w = counting_writer(&c);
	struct trace_recorder *member[2], *r;

	for (int i = 0; i < 2; i++)
		ck_good(trace_recorder_create_block(&member[i], NULL));
	ck_good(trace_recorder_create_multi(&r, member, 2, NULL));
	trace_recorder_destroy(member[0]); /* which is not the caller's any more */
	ck_good(trace_recorder_start(r, &w));
	ck_good(trace_recorder_stop(r));
	trace_recorder_destroy(r);
	trace_recorder_destroy(r);
	trace_recorder_destroy(member[1]);
	ck_fails(trace_recorder_start(r, &w), -EINVAL, "freed");
	ck_fails(trace_recorder_stop(r), -EINVAL, "freed");
}
END_TEST

START_TEST(a_writer_that_fails_disturbs_nothing_else)
{
	struct counting failing = {.fail_write = -ENOSPC}, late = {.fail_finish = -EIO}, good = {0};
	struct trace_writer w[] = {counting_writer(&failing), counting_writer(&late),
				   counting_writer(&good)};
	struct trace_recorder *r[3];

	for (int i = 0; i < 3; i++) {
		ck_good(trace_recorder_create_mutex(&r[i], NULL));
		ck_good(trace_recorder_start(r[i], &w[i]));
	}
	ck_fails(trace_recorder_stop(r[0]), -ENOSPC, "mutex: ");
	ck_assert_int_eq(failing.finish_err, -ENOSPC);
	ck_assert_int_eq(failing.n_writes, 1);
	ck_fails(trace_recorder_stop(r[1]), -EIO, "mutex: ");
	ck_good(trace_recorder_stop(r[2]));
	ck_assert_int_eq(good.n_finishes, 1);
	/* And it can be started again. */
	failing = (struct counting){0};
	ck_good(trace_recorder_start(r[0], &w[0]));
	ck_good(trace_recorder_stop(r[0]));
	for (int i = 0; i < 3; i++)
		trace_recorder_destroy(r[i]);
	ck_assert(!trace_enabled());
}
END_TEST

START_TEST(one_that_is_freed_while_it_runs_writes_nothing)
{
	struct counting c = {0};
	struct trace_writer w = counting_writer(&c);
	struct trace_recorder *r;

	ck_good(trace_recorder_create_block(&r, NULL));
	ck_good(trace_recorder_start(r, &w));
	ck_assert(trace_enabled());
	trace_recorder_destroy(r);
	ck_assert_int_eq(c.n_writes, 0);
	ck_assert_int_eq(c.n_finishes, 1);
	ck_assert_int_eq(c.finish_err, -ECANCELED);
	ck_assert(!trace_enabled());
}
END_TEST

START_TEST(errno_stays)
{
	struct counting c = {0};
	struct trace_writer w = counting_writer(&c);
	struct trace_recorder *r;

	ck_good(trace_recorder_create_block(&r, NULL));
	errno = 77;
	ck_good(trace_recorder_start(r, &w));
	ck_assert_int_eq(errno, 77);
	ck_good(trace_recorder_snapshot(r, &w));
	ck_assert_int_eq(errno, 77);
	ck_good(trace_recorder_stop(r));
	ck_assert_int_eq(errno, 77);
	trace_recorder_destroy(r);
	ck_assert_int_eq(errno, 77);
}
END_TEST

/* ---- custom profiles ------------------------------------------------------------------- */

__attribute__((noinline)) static void open_handle(struct trace_custom_profile *p, const void *key,
						  unsigned int skip)
{
	ck_good(trace_custom_profile_add(p, key, skip));
	__asm__ volatile("");
}
__attribute__((noinline)) static void open_by_another_way(struct trace_custom_profile *p, const void *key,
							  unsigned int skip)
{
	open_handle(p, key, skip);
	__asm__ volatile("");
}

START_TEST(profiles_have_names)
{
	struct trace_custom_profile *p, *q;
	char longest[64] = "";

	ck_good(trace_custom_profile_register(&p, "handles"));
	ck_fails(trace_custom_profile_register(&q, "handles"), -EEXIST, "handles");
	ck_fails(trace_custom_profile_register(&q, "heap"), -EEXIST, "heap");
	ck_fails(trace_custom_profile_register(&q, ""), -EINVAL, "name");
	ck_fails(trace_custom_profile_register(&q, "a/b"), -EINVAL, "name");
	ck_fails(trace_custom_profile_register(&q, "<script>"), -EINVAL, "name");
	ck_fails(trace_custom_profile_register(&q, NULL), -EINVAL, "name");
	memset(longest, 'x', 63);
	ck_good(trace_custom_profile_register(&q, longest));
	ck_assert_ptr_eq(trace_custom_profile_find("handles"), p);
	ck_assert_ptr_null(trace_custom_profile_find("handle"));
	ck_assert_str_eq(trace_custom_profile_name(p), "handles");
}
END_TEST

static int collect(void *context, struct trace_custom_profile *p)
{
	strcat(context, trace_custom_profile_name(p));
	return !strcmp(trace_custom_profile_name(p), "gamma");
}

START_TEST(profiles_are_listed_by_name)
{
	char names[100] = "";
	struct trace_custom_profile *p;

	ck_good(trace_custom_profile_register(&p, "gamma"));
	ck_good(trace_custom_profile_register(&p, "alpha"));
	ck_good(trace_custom_profile_register(&p, "zeta"));
	ck_good(trace_custom_profile_register(&p, "beta"));
	ck_assert_int_eq(trace_custom_profile_each(collect, names), 1);
	ck_assert_str_eq(names, "alphabetagamma");
}
END_TEST

START_TEST(a_profile_holds_keys_with_stacks)
{
	struct trace_custom_options options = TRACE_CUSTOM_OPTIONS_INIT;
	struct trace_recorder *r;
	struct trace_custom_profile *p;
	char *text;
	char key[1000];

	options.format = TRACE_PROFILE_FORMAT_TEXT;
	ck_good(trace_custom_profile_register(&p, "sockets"));
	ck_good(trace_recorder_create_custom(&r, p, &options));
	text = text_of(r);
	ck_assert_str_eq(text, "sockets profile: total 0\n");
	free(text);
	for (int i = 0; i < 1000; i++)
		open_handle(p, &key[i], 0);
	ck_assert_uint_eq(trace_custom_profile_count(p), 1000);
	ck_fails(trace_custom_profile_add(p, &key[5], 0), -EEXIST, "there already");
	for (int i = 0; i < 990; i++)
		trace_custom_profile_remove(p, &key[i]);
	trace_custom_profile_remove(p, &key[0]);
	trace_custom_profile_remove(p, text_of);
	ck_assert_uint_eq(trace_custom_profile_count(p), 10);
	open_by_another_way(p, &key[0], 1);
	text = text_of(r);
	ck_assert_msg(!strncmp(text, "sockets profile: total 11\n10 @ 0x", 33), "%.2000s", text);
	ck_assert_msg(strstr(text, "open_handle"), "%.2000s", text);
	ck_assert_msg(strstr(text, "open_by_another_way"), "%.2000s", text);
	/* skip 1 leaves open_handle out of the second stack. */
	ck_assert_msg(!strstr(strstr(text, "\n1 @"), "open_handle"), "%.2000s", text);
	free(text);
	trace_recorder_destroy(r);
}
END_TEST

START_TEST(a_window_of_a_profile_is_the_change)
{
	struct trace_custom_options options = TRACE_CUSTOM_OPTIONS_INIT;
	struct trace_writer_memory memory = {.bytes = NULL};
	struct trace_writer w = trace_writer_to_memory(&memory);
	struct trace_recorder *r;
	struct trace_custom_profile *p;
	char key[10];

	options.format = TRACE_PROFILE_FORMAT_TEXT;
	ck_good(trace_custom_profile_register(&p, "changes"));
	ck_good(trace_recorder_create_custom(&r, p, &options));
	open_handle(p, &key[0], 0);
	open_handle(p, &key[1], 0);
	ck_good(trace_recorder_start(r, &w));
	trace_custom_profile_remove(p, &key[0]);
	for (volatile int i = 2; i < 4; i++) /* one place of the code, not two */
		open_by_another_way(p, &key[i], 1);
	ck_good(trace_recorder_stop(r));
	ck_assert_int_eq(w.write(w.context, "", 1), 0);
	ck_assert_msg(!strncmp(memory.bytes, "changes profile: total 1\n2 @ 0x", 31), "%s",
		      (char *)memory.bytes);
	ck_assert_msg(strstr(memory.bytes, "\n-1 @ 0x"), "%s", (char *)memory.bytes);
	free(memory.bytes);
	trace_recorder_destroy(r);
	ck_assert(!trace_enabled());
}
END_TEST

/* ---- several --------------------------------------------------------------------------- */

START_TEST(several_in_one_profile)
{
	struct trace_block_options options = TRACE_BLOCK_OPTIONS_INIT;
	struct trace_writer_memory memory = {0};
	struct trace_writer w = trace_writer_to_memory(&memory);
	struct trace_recorder *member[3], *r;
	char *text;

	options.format = TRACE_PROFILE_FORMAT_TEXT;
	ck_good(trace_recorder_create_block(&member[0], &options));
	ck_good(trace_recorder_create_mutex(&member[1], NULL));
	ck_good(trace_recorder_create_threadcreate(&member[2], NULL));
	ck_good(trace_recorder_create_multi(&r, member, 3, NULL));
	ck_fails(trace_recorder_start(member[0], &w), -EINVAL, "multi");
	ck_good(trace_recorder_start(r, &w));
	contend();
	ck_good(trace_recorder_stop(r));
	text = memory_text(&memory);
	ck_assert_msg(!strncmp(text,
			       "block: contentions/count delay/nanoseconds "
			       "mutex_contentions/count mutex_delay/nanoseconds "
			       "threadcreate/count\n",
			       110),
		      "%.2000s", text);
	ck_assert_msg(strstr(text, "\n1 "), "of the waiter: %.2000s", text);
	ck_assert_msg(strstr(text, "\n0 0 1 "), "of the unlocker: %.2000s", text);
	ck_assert_msg(strstr(text, "\n0 0 0 0 1 @"), "of the creator: %.2000s", text);
	free(text);
	trace_recorder_destroy(r);
}
END_TEST

START_TEST(several_in_a_profile_each)
{
	struct counting c[2] = {{0}, {0}};
	struct trace_writer w[2] = {counting_writer(&c[0]), counting_writer(&c[1])};
	struct trace_multi_options options = TRACE_MULTI_OPTIONS_INIT;
	struct trace_recorder *member[2], *r;

	options.one_each = true;
	ck_good(trace_recorder_create_block(&member[0], NULL));
	ck_good(trace_recorder_create_mutex(&member[1], NULL));
	ck_good(trace_recorder_create_multi(&r, member, 2, &options));
	ck_good(trace_recorder_start(r, w));
	ck_good(trace_recorder_snapshot(r, w));
	ck_good(trace_recorder_stop(r));
	for (int i = 0; i < 2; i++) {
		ck_assert_int_eq(c[i].n_finishes, 2);
		ck_assert_int_eq(c[i].finish_err, 0);
		ck_assert_int_gt(c[i].n_writes, 0);
	}
	/* One that fails leaves the other. */
	c[0] = (struct counting){.fail_write = -EIO};
	ck_good(trace_recorder_start(r, w));
	ck_fails(trace_recorder_stop(r), -EIO, "multi");
	ck_assert_int_eq(c[1].finish_err, 0);
	trace_recorder_destroy(r);
	ck_assert(!trace_enabled());
}
END_TEST

/* ---- parts of libtrc -------------------------------------------------------------------- */

/* As it is named where it was asked for by a relative name; "" = libtrc is in the program. */
static bool libtrc_dir(char *to, size_t n_bytes)
{
	Dl_info info;
	char *slash;

	if (!dladdr((void *)(uintptr_t)trace_recorder_start, &info) ||
	    snprintf(to, n_bytes, "%s", info.dli_fname) >= (int)n_bytes)
		return false;
	slash = strrchr(to, '/');
	if (!slash || !strstr(slash, "libtrc"))
		return false;
	*slash = '\0';
	return true;
}

/* The program again, with a libtrc that was found in "." and is not there any more: 0 = it finds
 * its parts all the same; 77 = it was found elsewhere. */
static int elsewhere(const char *place)
{
	struct counting c = {0};
	struct trace_writer w = counting_writer(&c);
	struct trace_custom_profile *profile;
	struct trace_recorder *r;
	char path[4096];

	alarm(120);
	if (!libtrc_dir(path, sizeof(path)) || *path == '/')
		return 77;
	if (chdir(place) || trace_custom_profile_register(&profile, "some") ||
	    trace_recorder_create_custom(&r, profile, NULL))
		return 1;
	if (trace_recorder_snapshot(r, &w)) {
		fprintf(stderr, "%s\n", trace_last_error());
		return 2;
	}
	trace_recorder_destroy(r);
	return 0;
}

START_TEST(parts_are_not_loaded_from_wherever_one_is)
{
	char path[4096];
	FILE *wrong = fopen(in_dir("libtrc-profile.so"), "w");
	int status;
	pid_t child;

	ck_assert_ptr_nonnull(wrong);
	ck_assert_int_eq(fclose(wrong), 0);
	if (!libtrc_dir(path, sizeof(path)))
		return; /* it is in the program */
	child = fork();
	if (!child) {
		if (chdir(path) || setenv("LD_LIBRARY_PATH", ".", 1))
			_exit(3);
		execl("/proc/self/exe", "recorder_test", "elsewhere", test_dir, (char *)NULL);
		_exit(4);
	}
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_msg(WIFEXITED(status) && (WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == 77),
		      "status %x", (unsigned int)status);
	if (WEXITSTATUS(status) == 77)
		printf("not tested: libtrc is not looked for in LD_LIBRARY_PATH\n");
}
END_TEST

static TCase *recorder_api(void)
{
	TCase *tc = recorder_case("api");

	tcase_add_test(tc, a_file_appears_when_it_is_complete);
	tcase_add_test(tc, a_path_that_leads_nowhere_is_told_at_once);
	tcase_add_test(tc, memory_grows);
	tcase_add_test(tc, a_closed_pipe_is_an_error_and_no_signal);
	tcase_add_test(tc, configs_that_make_no_sense);
	tcase_add_test(tc, methods_in_the_wrong_order);
	tcase_add_test(tc, a_writer_used_again_is_an_error);
	tcase_add_test(tc, one_that_was_freed_is_none);
	tcase_add_test(tc, a_writer_that_fails_disturbs_nothing_else);
	tcase_add_test(tc, one_that_is_freed_while_it_runs_writes_nothing);
	tcase_add_test(tc, errno_stays);
	tcase_add_test(tc, profiles_have_names);
	tcase_add_test(tc, profiles_are_listed_by_name);
	tcase_add_test(tc, a_profile_holds_keys_with_stacks);
	tcase_add_test(tc, a_window_of_a_profile_is_the_change);
	tcase_add_test(tc, several_in_one_profile);
	tcase_add_test(tc, several_in_a_profile_each);
	tcase_add_test(tc, parts_are_not_loaded_from_wherever_one_is);
	return tc;
}

int main(int argc, char **argv)
{
	Suite *suite;
	SRunner *runner;
	int failed;

	if (argc == 3 && !strcmp(argv[1], "elsewhere"))
		return elsewhere(argv[2]);
	suite = suite_create("recorder");
	suite_add_tcase(suite, recorder_api());
	suite_add_tcase(suite, recorder_windows());
	suite_add_tcase(suite, recorder_memory());
	suite_add_tcase(suite, recorder_beside());
	suite_add_tcase(suite, recorder_fibers());
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
