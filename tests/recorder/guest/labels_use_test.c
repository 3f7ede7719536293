/*
 * labels_use_test.c - <trc/labels.h> as a program uses it: what is in force when, whatever is left
 * in the middle, and what of it is in the file.
 *
 * What is in force cannot be asked for; here it is taken out and put back.
 */
#include <check.h>
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <threads.h>
#include <unistd.h>
#include <trc/labels.h>
#include "format/reader.h"
#include "recorder/guest/labels.h"
#include "tests/suite.h"

static char dir[64], path[128];
static const struct trace_labels *tenant, *phase;

static const struct trace_labels *with(const struct trace_labels *base, const char *key,
				       const char *value)
{
	const struct trace_label label = {key, value, 0, NULL};
	const struct trace_labels *labels = NULL;

	ck_assert_int_eq(trace_labels_create(&labels, base, &label, 1), 0);
	return labels;
}

static void set_up(void)
{
	strcpy(dir, "/tmp/trc-labels-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/t.trc", dir);
	tenant = with(NULL, "tenant", "42");
	phase = with(tenant, "phase", "parse");
}

static void tear_down(void)
{
	trace_labels_destroy(phase);
	ck_assert_uint_eq(atomic_load(&tenant->references), 1);
	trace_labels_destroy(tenant);
	unlink(path);
	ck_assert_int_eq(rmdir(dir), 0);
}

static void put_in_force(const struct trace_labels *labels)
{
	trace_labels_destroy(trace_labels_set(trace_labels_copy(labels)));
}

static const struct trace_labels *in_force(void)
{
	const struct trace_labels *labels = trace_labels_set(NULL);

	trace_labels_set(labels);
	return labels;
}

START_TEST(errors_say_which_label_and_why)
{
	struct trace_label label[33] = {{"a", "1", 0, NULL}, {"b", "1", 0, "s"}};
	const struct trace_labels *out = (void *)0x5;
	char key[33][4], longest[300];

	ck_assert_int_eq(trace_labels_create(&out, NULL, label, 2), -EINVAL);
	ck_assert_str_eq(trace_last_error(), "label 2 (b): a unit beside a string");
	label[1].key = "b\nc\033";
	ck_assert_int_eq(trace_labels_create(&out, NULL, label, 2), -EINVAL);
	ck_assert_str_eq(trace_last_error(), "label 2 (b?c?): a unit beside a string");
	label[1].key = NULL;
	ck_assert_int_eq(trace_labels_create(&out, NULL, label, 2), -EINVAL);
	ck_assert_str_eq(trace_last_error(), "label 2 (): it has no key");
	memset(longest, 'x', 299);
	longest[299] = '\0';
	label[0].value = longest;
	ck_assert_int_eq(trace_labels_create(&out, NULL, label, 1), -ENAMETOOLONG);
	ck_assert_str_eq(trace_last_error(),
			 "label 1 (a): a key has at most 63 bytes, a value 200, a unit 15");
	for (int i = 0; i < 33; i++) {
		snprintf(key[i], sizeof(key[i]), "%d", i);
		label[i] = (struct trace_label){key[i], NULL, i, NULL};
	}
	ck_assert_int_eq(trace_labels_create(&out, NULL, label, 33), -E2BIG);
	ck_assert_str_eq(trace_last_error(), "a set has at most 32 labels, and 1000 bytes");
	ck_assert_ptr_eq(out, (void *)0x5);
	ck_assert_int_eq(trace_labels_create(&out, NULL, label, 32), 0);
	ck_assert_str_eq(trace_last_error(), "");
	trace_labels_destroy(out);
}
END_TEST

/* ---- what is left in the middle -------------------------------------------------------- */

static jmp_buf out;

static void *check_inside(const struct trace_labels *expected)
{
	ck_assert_ptr_eq(in_force(), expected);
	return NULL;
}

static void return_from(void *expected)
{
	check_inside(expected);
}

static void change_inside(void *expected)
{
	check_inside(expected);
	put_in_force(NULL);
}

static void jump(void *expected)
{
	check_inside(expected);
	longjmp(out, 1);
}

static void nest_and_jump(void *expected)
{
	check_inside(expected);
	trace_labels_do(tenant, jump, (void *)(uintptr_t)tenant);
}

START_TEST(do_restores_what_was_in_force)
{
	void (*const fn[])(void *) = {return_from, change_inside, jump, nest_and_jump};

	put_in_force(tenant);
	for (size_t i = 0; i < sizeof(fn) / sizeof(*fn); i++) {
		if (!setjmp(out))
			trace_labels_do(phase, fn[i], (void *)(uintptr_t)phase);
		ck_assert_ptr_eq(in_force(), tenant);
		ck_assert_uint_eq(atomic_load(&phase->references), 1);
	}
	put_in_force(NULL);
}
END_TEST

static const struct trace_labels *at_end;

static void note_at_end(void *arg)
{
	(void)arg;
	at_end = in_force();
}

static void leave(void *how)
{
	if (!how)
		pthread_exit(NULL);
	pthread_cancel(pthread_self());
	pthread_testcancel();
	ck_abort_msg("not cancelled");
}

static void *leave_with_labels(void *how)
{
	put_in_force(tenant);
	pthread_cleanup_push(note_at_end, NULL);
	trace_labels_do(phase, leave, how);
	pthread_cleanup_pop(0);
	return NULL;
}

START_TEST(do_restores_when_the_thread_ends)
{
	pthread_t thread;

	at_end = NULL;
	pthread_create(&thread, NULL, leave_with_labels, (void *)(uintptr_t)_i);
	pthread_join(thread, NULL);
	ck_assert_ptr_eq(at_end, tenant);
	ck_assert_uint_eq(atomic_load(&phase->references), 1);
}
END_TEST

/* ---- scopes ---------------------------------------------------------------------------- */

static const char *text(const struct trace_labels *labels)
{
	static char all[1000];
	struct trc_label label[TRC_LABELS_MAX];
	const char *at;
	uint32_t n = 0;
	size_t used = 0;

	all[0] = '\0';
	if (!labels)
		return all;
	/* Made on nothing, or on what is in force: the youngest label is enough here. */
	for (at = labels->bytes; trc_label_take(&at, labels->bytes + labels->n_bytes, &label[n]);
	     n++)
		used += (size_t)snprintf(all + used, sizeof(all) - used, "%.*s=%.*s/%lld",
					 (int)label[n].key_bytes, label[n].key,
					 (int)label[n].value_bytes, label[n].value,
					 (long long)label[n].number);
	return all;
}

static void scopes(void)
{
	const char *const constant = "b";
	char array[] = "c";
	uint64_t large = UINT64_C(1) << 62;
	unsigned char small = 7;

	TRACE_LABELS("string", "a");
	ck_assert_str_eq(text(in_force()), "string=a/0");
	for (int i = 0; i < 2; i++) {
		TRACE_LABELS("int", i - 1);
		ck_assert_str_eq(text(in_force()), i ? "int=/0" : "int=/-1");
		ck_assert_str_eq(text(in_force()->base), "string=a/0");
	}
	ck_assert_str_eq(text(in_force()), "string=a/0");
	TRACE_LABELS("constant", constant);
	ck_assert_str_eq(text(in_force()), "constant=b/0");
	TRACE_LABELS("array", array);
	ck_assert_str_eq(text(in_force()), "array=c/0");
	TRACE_LABELS("large", large);
	ck_assert_str_eq(text(in_force()), "large=/4611686018427387904");
	TRACE_LABELS("small", small);
	ck_assert_str_eq(text(in_force()), "small=/7");
}

static void scopes_of_other_types(void)
{
	signed char array[] = {'c', '\0'};

	TRACE_LABELS("largest", (uint64_t)INT64_MAX);
	ck_assert_str_eq(text(in_force()), "largest=/9223372036854775807");
	TRACE_LABELS("bytes", (const unsigned char *)"d");
	ck_assert_str_eq(text(in_force()), "bytes=d/0");
	TRACE_LABELS("signed", array);
	ck_assert_str_eq(text(in_force()), "signed=c/0");
}

/* A thread keeps the sets of scopes, and with these their base, until it ends. */
static void in_a_thread(void *(*fn)(void *arg))
{
	pthread_t thread;

	ck_assert_int_eq(pthread_create(&thread, NULL, fn, NULL), 0);
	ck_assert_int_eq(pthread_join(thread, NULL), 0);
}

static void *scopes_in_a_thread(void *arg)
{
	put_in_force(tenant);
	scopes();
	ck_assert_ptr_eq(in_force(), tenant);
	scopes_of_other_types();
	ck_assert_ptr_eq(in_force(), tenant);
	put_in_force(NULL);
	return arg;
}

START_TEST(a_scope_ends_with_its_block)
{
	in_a_thread(scopes_in_a_thread);
	ck_assert_uint_eq(atomic_load(&tenant->references), 2); /* of this test, and of phase */
}
END_TEST

static void *scopes_that_cannot_be_had(void *arg)
{
	char longest[300];

	memset(longest, 'x', 299);
	longest[299] = '\0';
	put_in_force(tenant);
	{
		TRACE_LABELS("key", longest);
		ck_assert_ptr_eq(in_force(), tenant);
		TRACE_LABELS("key", "value");
		ck_assert_str_eq(trace_last_error(), "");
		TRACE_LABELS("key", (uint64_t)INT64_MAX + 1);
		ck_assert_str_eq(text(in_force()), "key=value/0");
		ck_assert_str_eq(trace_last_error(),
				 "label 1 (key): a number is at most 9223372036854775807");
	}
	ck_assert_ptr_eq(in_force(), tenant);
	put_in_force(NULL);
	return arg;
}

START_TEST(a_scope_that_cannot_be_had_changes_nothing)
{
	in_a_thread(scopes_that_cannot_be_had);
}
END_TEST

/* ---- threads --------------------------------------------------------------------------- */

static void *tell_in_force(void *arg)
{
	(void)arg;
	return (void *)(uintptr_t)in_force();
}

static int tell_in_force_c11(void *arg)
{
	*(const struct trace_labels **)arg = in_force();
	return 0;
}

static const struct trace_labels *of_new_thread(void)
{
	pthread_t thread;
	void *seen;

	ck_assert_int_eq(pthread_create(&thread, NULL, tell_in_force, NULL), 0);
	pthread_join(thread, &seen);
	return seen;
}

START_TEST(threads_begin_with_what_their_creator_has)
{
	const struct trace_labels *seen = NULL;
	thrd_t thread;

	ck_assert_ptr_null(of_new_thread());
	put_in_force(tenant);
	ck_assert_ptr_eq(of_new_thread(), tenant);
	thrd_create(&thread, tell_in_force_c11, &seen);
	thrd_join(thread, NULL);
	ck_assert_ptr_eq(seen, tenant);
	ck_assert_int_eq(trace_start(path, NULL), 0);
	ck_assert_ptr_eq(of_new_thread(), tenant);
	ck_assert_int_eq(trace_stop(), 0);
	put_in_force(NULL);
}
END_TEST

static void handler(int number)
{
	const struct trace_labels *before = trace_labels_set(trace_labels_copy(phase));

	(void)number;
	trace_labels_set(before); /* the handler's reference is the test's */
	atomic_fetch_sub(&((struct trace_labels *)(uintptr_t)phase)->references, 1);
}

START_TEST(a_handler_that_restores_is_not_noticed)
{
	signal(SIGUSR1, handler);
	put_in_force(tenant);
	ck_assert_int_eq(trace_start(path, NULL), 0);
	raise(SIGUSR1);
	ck_assert_int_eq(trace_stop(), 0);
	ck_assert_ptr_eq(in_force(), tenant);
	ck_assert_uint_eq(atomic_load(&phase->references), 1);
	put_in_force(NULL);
	signal(SIGUSR1, SIG_DFL);
}
END_TEST

/* ---- the file -------------------------------------------------------------------------- */

static struct trc_reader *open_trace(void)
{
	struct trc_reader *reader;
	struct trc_error error;

	ck_assert_msg(trc_reader_open(&reader, path, &error) == 0, "%s", error.text);
	ck_assert_ptr_null(trc_reader_warning(reader));
	ck_assert_uint_eq(trc_reader_info(reader)->dangling_ids, 0);
	return reader;
}

static uint64_t changes(const struct trc_reader *reader)
{
	uint64_t n = 0;

	for (size_t i = 0; i < trc_reader_blocks(reader); i++)
		n += trc_reader_block(reader, i)->kind_count[TRC_KIND_LABELS];
	return n;
}

static void expect_set(const struct trc_reader *reader, uint32_t id, const char *value)
{
	const struct trc_label *label;
	uint32_t n;

	ck_assert_int_eq(trc_reader_label_set(reader, id, &label, &n), 0);
	ck_assert_uint_eq(label[n - 1].value_bytes, strlen(value));
	ck_assert_mem_eq(label[n - 1].value, value, strlen(value));
}

START_TEST(a_snapshot_says_what_has_been_in_force_all_the_time)
{
	struct trace_snapshot_options options = TRACE_SNAPSHOT_OPTIONS_INIT;
	const struct trc_thread_labels_entry *entry;
	struct trc_reader *reader;

	options.window_ns = 10000000;
	put_in_force(tenant);
	ck_assert_int_eq(trace_flight_start(NULL), 0);
	trace_counter_set("something", 1);
	usleep(20000);
	trace_counter_set("something", 2);
	ck_assert_int_eq(trace_flight_snapshot(path, &options), 0);
	ck_assert_int_eq(trace_flight_stop(), 0);
	put_in_force(NULL);
	reader = open_trace();
	ck_assert_uint_eq(changes(reader), 0); /* that is longer ago than the window */
	ck_assert_uint_eq(trc_reader_thread_labels(reader, &entry), 1);
	expect_set(reader, entry->labels, "42");
	trc_reader_close(reader);
}
END_TEST

START_TEST(a_trace_beside_a_flight_recorder_knows_what_was_set_before_it)
{
	const struct trc_thread_labels_entry *entry;
	struct trc_reader *reader;

	put_in_force(tenant);
	ck_assert_int_eq(trace_flight_start(NULL), 0);
	trace_counter_set("something", 1);
	ck_assert_int_eq(trace_start(path, NULL), 0);
	trace_counter_set("something", 2);
	ck_assert_int_eq(trace_stop(), 0);
	ck_assert_int_eq(trace_flight_stop(), 0);
	put_in_force(NULL);
	reader = open_trace();
	ck_assert_uint_eq(changes(reader), 0);
	ck_assert_uint_eq(trc_reader_thread_labels(reader, &entry), 1);
	expect_set(reader, entry->labels, "42");
	trc_reader_close(reader);
}
END_TEST

/* More sets than the table holds, each for a moment: none is lost, none is another. */
START_TEST(a_set_for_each_request)
{
	enum { REQUESTS = 20000 };
	struct trc_reader *reader;
	bool seen[REQUESTS] = {false};
	uint32_t n_seen = 0;

	ck_assert_int_eq(trace_start(path, NULL), 0);
	for (int i = 0; i < REQUESTS; i++) {
		TRACE_LABELS("request", i);
	}
	ck_assert_int_eq(trace_stop(), 0);
	reader = open_trace();
	for (uint32_t id = 1; id < trc_reader_label_sets(reader); id++) {
		const struct trc_label *label;
		uint32_t n;

		ck_assert_int_eq(trc_reader_label_set(reader, id, &label, &n), 0);
		ck_assert(label->is_number && label->number >= 0 && label->number < REQUESTS);
		ck_assert(!seen[label->number]);
		seen[label->number] = true;
		n_seen++;
	}
	ck_assert_uint_eq(n_seen, REQUESTS);
	ck_assert_uint_eq(changes(reader), 2 * REQUESTS);
	trc_reader_close(reader);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("labels in use");
	TCase *c = tcase_create("labels in use");

	tcase_add_checked_fixture(c, set_up, tear_down);
	tcase_set_timeout(c, 60);
	tcase_add_test(c, errors_say_which_label_and_why);
	tcase_add_test(c, do_restores_what_was_in_force);
	tcase_add_loop_test(c, do_restores_when_the_thread_ends, 0, 2);
	tcase_add_test(c, a_scope_ends_with_its_block);
	tcase_add_test(c, a_scope_that_cannot_be_had_changes_nothing);
	tcase_add_test(c, threads_begin_with_what_their_creator_has);
	tcase_add_test(c, a_handler_that_restores_is_not_noticed);
	tcase_add_test(c, a_snapshot_says_what_has_been_in_force_all_the_time);
	tcase_add_test(c, a_trace_beside_a_flight_recorder_knows_what_was_set_before_it);
	tcase_add_test(c, a_set_for_each_request);
	suite_add_tcase(suite, c);
	return suite_run(suite);
}
