/*
 * labels_kept_test.c - scopes of one label: whichever sets the thread has kept, a scope has the
 * labels that it names, on the set in which it begins.
 */
#include <check.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "recorder/guest/labels.h"
#include "recorder/ring/rec.h"
#include "recorder/guest/session.h"
#include "tests/suite.h"

static bool end_is_noticed(void)
{
	return true;
}

static bool end_is_not_noticed(void)
{
	return false;
}

static void set_up(void)
{
	trc_thread_end_hook = end_is_noticed;
}

/* "key=value key=12unit ..." */
static const char *text_of(const char *bytes, uint32_t n_bytes)
{
	static __thread char text[4096];
	struct trc_label label[TRC_LABELS_MAX];
	uint32_t n = trc_labels_split(bytes, n_bytes, label);
	size_t used = 0;

	text[0] = '\0';
	for (uint32_t i = 0; i < n; i++) {
		char number[32] = "";

		if (label[i].is_number)
			snprintf(number, sizeof(number), "#%lld", (long long)label[i].number);
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%.*s=%s%.*s",
					 i ? " " : "", (int)label[i].key_bytes, label[i].key,
					 number, (int)label[i].value_bytes, label[i].value);
	}
	return text;
}

static const char *text(const struct trace_labels *labels)
{
	char bytes[TRC_LABELS_BYTES_MAX];
	uint32_t n_bytes = trc_labels_bytes(labels, bytes);

	ck_assert_uint_le(n_bytes, TRC_LABELS_BYTES_MAX);
	return text_of(bytes, n_bytes);
}

static uint32_t references(const struct trace_labels *labels)
{
	return atomic_load(&labels->references);
}

static const struct trace_labels *with(const struct trace_labels *base, const char *key,
				       const char *value)
{
	const struct trace_label label = {key, value, 0, NULL};
	const struct trace_labels *labels;
	size_t bad;

	ck_assert_int_eq(trc_labels_with(&labels, base, &label, 1, &bad), 0);
	return labels;
}

/* A scope of this thread. */
struct scope {
	const struct trace_labels *before;
};

/* As trace_labels_enter(); at times without a look at what is found at once. */
static struct scope enter_label(const struct trace_label *label)
{
	static __thread unsigned int n_scopes;
	const struct trace_labels *labels =
		n_scopes++ % 3 ? trc_labels_scope_met(trc_labels_now(), label) : NULL;
	size_t bad;

	if (!labels)
		ck_assert_int_eq(
			trc_labels_scope_begin(&labels, trc_labels_now(), label, 1, &bad), 0);
	return (struct scope){trc_labels_set(labels)};
}

static struct scope enter(const char *key, const char *value)
{
	return enter_label(&(struct trace_label){key, value, 0, NULL});
}

static void leave(struct scope scope)
{
	trc_labels_scope_end(trc_labels_set(scope.before));
}

START_TEST(a_set_that_comes_again_is_the_same)
{
	const struct trace_labels *first;
	struct scope scope = enter("phase", "parse");

	first = trc_labels_now();
	ck_assert_str_eq(text(first), "phase=parse");
	leave(scope);
	for (int i = 0; i < 10; i++) {
		scope = enter("phase", "parse");
		ck_assert_ptr_eq(trc_labels_now(), first);
		ck_assert_uint_eq(references(first), 1);
		leave(scope);
		ck_assert_ptr_null(trc_labels_now());
		scope = enter("phase", "print");
		ck_assert_ptr_ne(trc_labels_now(), first);
		ck_assert_str_eq(text(trc_labels_now()), "phase=print");
		leave(scope);
	}
	trc_labels_kept_drop();
}
END_TEST

/* Without a look for a place by its text. */
START_TEST(a_set_is_found_by_where_its_text_lies)
{
	char value[16] = "parse";
	const struct trace_label label = {"phase", value, 0, NULL}, number = {"n", NULL, 7, "s"};
	const struct trace_labels *first[2];

	for (int i = 0; i < 3; i++) { /* kept, then hinted at */
		leave(enter_label(&label));
		leave(enter_label(&number));
	}
	first[0] = trc_labels_scope_met(NULL, &label);
	first[1] = trc_labels_scope_met(NULL, &number);
	ck_assert_str_eq(text(first[0]), "phase=parse");
	ck_assert_str_eq(text(first[1]), "n=#7s");
	ck_assert_ptr_null(trc_labels_scope_met(NULL, &label)); /* it is in use */
	trc_labels_scope_end(first[0]);
	trc_labels_scope_end(first[1]);
	/* The text has changed where it lies; it is a piece of what it was, and more. */
	strcpy(value, "print");
	ck_assert_ptr_null(trc_labels_scope_met(NULL, &label));
	strcpy(value, "pars");
	ck_assert_ptr_null(trc_labels_scope_met(NULL, &label));
	strcpy(value, "parser");
	ck_assert_ptr_null(trc_labels_scope_met(NULL, &label));
	strcpy(value, "parse");
	ck_assert_ptr_null(trc_labels_scope_met(first[1], &label));
	ck_assert_ptr_null(trc_labels_scope_met(
		NULL, &(struct trace_label){"phase", value, 0, "s"}));
	ck_assert_ptr_null(trc_labels_scope_met(NULL, &(struct trace_label){"n", NULL, 7, NULL}));
	ck_assert_ptr_null(trc_labels_scope_met(NULL, &(struct trace_label){NULL, value, 0, NULL}));
	ck_assert_ptr_eq(trc_labels_scope_met(NULL, &label), first[0]);
	trc_labels_scope_end(first[0]);
	trc_labels_kept_drop();
	ck_assert_ptr_null(trc_labels_scope_met(NULL, &label));
}
END_TEST

START_TEST(two_scopes_at_once_have_a_set_each)
{
	struct scope outer = enter("phase", "parse"), inner;
	const struct trace_labels *labels = trc_labels_now();

	/* As a fiber would that begins in the same set. */
	trc_labels_set(NULL);
	inner = enter("phase", "parse");
	ck_assert_ptr_ne(trc_labels_now(), labels);
	ck_assert_str_eq(text(trc_labels_now()), "phase=parse");
	leave(inner);
	trc_labels_set(labels);
	leave(outer);
	trc_labels_kept_drop();
}
END_TEST

/* What one differs from the other in. */
static const struct trace_label others[] = {
	{"k", "v", 0, NULL},	      {"k", "w", 0, NULL},
	{"l", "v", 0, NULL},	      {"k", "", 0, NULL},
	{"kv", "", 0, NULL},	      {"k", NULL, 1, NULL},
	{"k", NULL, 2, NULL},	      {"k", NULL, -1, NULL},
	{"k", NULL, 1, "v"},	      {"k", NULL, 1, "bytes"},
	{"k", "1 of the same ending", 0, NULL}, {"k", "2 of the same ending", 0, NULL},
	{"k", "the same ending", 0, NULL},	    {"k", "\x01\0\0\0\0\0\0\0", 0, NULL},
	{"a longer key 1 of many", "v", 0, NULL}, {"a longer key 2 of many", "v", 0, NULL},
};
enum { OTHERS = sizeof(others) / sizeof(others[0]) };

START_TEST(labels_that_differ_have_sets_that_differ)
{
	char key[64], value[256], wanted[OTHERS][256];

	for (int round = 0; round < 5; round++)
		for (int i = 0; i < OTHERS; i++) {
			struct trace_label label = others[i];
			struct scope scope;

			/* All at the same addresses. */
			strcpy(key, label.key);
			label.key = key;
			if (label.value) {
				strcpy(value, label.value);
				label.value = value;
			}
			scope = enter_label(&label);
			if (!round)
				strcpy(wanted[i], text(trc_labels_now()));
			ck_assert_str_eq(text(trc_labels_now()), wanted[i]);
			for (int k = 0; !round && k < i; k++)
				ck_assert_str_ne(wanted[i], wanted[k]);
			leave(scope);
		}
	trc_labels_kept_drop();
}
END_TEST

/* The model: the labels of each scope that is open, by key. */
enum { DEEP = 12, KEYS = 5, VALUES = 40 };

START_TEST(scopes_at_random_have_what_they_name)
{
	int value_of[DEEP + 1][KEYS] = {{0}}, depth = 0;
	struct scope open[DEEP];
	unsigned int seed = 11;
	char key[8], value[32], wanted[512];

	for (int i = 0; i < 300000; i++) {
		if (depth < DEEP && (!depth || rand_r(&seed) % 2)) {
			int k = rand_r(&seed) % KEYS, v = 1 + rand_r(&seed) % VALUES;

			snprintf(key, sizeof(key), "k%d", k);
			snprintf(value, sizeof(value), "value %d of them", v);
			open[depth] = enter(key, value);
			depth++;
			memcpy(value_of[depth], value_of[depth - 1], sizeof(value_of[0]));
			value_of[depth][k] = v;
		} else {
			leave(open[--depth]);
		}
		wanted[0] = '\0';
		for (int k = 0; k < KEYS; k++)
			if (value_of[depth][k])
				snprintf(wanted + strlen(wanted), sizeof(wanted) - strlen(wanted),
					 "%sk%d=value %d of them", wanted[0] ? " " : "", k,
					 value_of[depth][k]);
		ck_assert_str_eq(text(trc_labels_now()), wanted);
	}
	while (depth)
		leave(open[--depth]);
	trc_labels_kept_drop();
}
END_TEST

/* So many that some share all by which a kept set is looked for, but their number or their base. */
START_TEST(a_scope_in_each_of_many_has_its_own_labels)
{
	enum { BASES = 4096 };
	static const struct trace_labels *base[BASES];
	unsigned int seed = 5;
	char wanted[64];

	for (int i = 0; i < BASES; i++) {
		snprintf(wanted, sizeof(wanted), "%d", i);
		base[i] = with(NULL, "tenant", wanted);
	}
	for (int i = 0; i < 200000; i++) {
		struct trace_label request = {"request", NULL, rand_r(&seed), NULL};
		int k = rand_r(&seed) % BASES;
		struct scope scope;

		trc_labels_set(base[k]);
		scope = enter("phase", "parse");
		snprintf(wanted, sizeof(wanted), "phase=parse tenant=%d", k);
		ck_assert_str_eq(text(trc_labels_now()), wanted);
		leave(scope);
		trc_labels_set(NULL);
		scope = enter_label(&request);
		snprintf(wanted, sizeof(wanted), "request=#%lld", (long long)request.number);
		ck_assert_str_eq(text(trc_labels_now()), wanted);
		leave(scope);
	}
	trc_labels_kept_drop();
	for (int i = 0; i < BASES; i++) {
		ck_assert_uint_eq(references(base[i]), 1);
		trc_labels_unref(base[i]);
	}
}
END_TEST

START_TEST(a_base_is_that_base_and_no_other_at_its_address)
{
	for (int i = 0; i < 1000; i++) {
		char value[16], wanted[64];
		struct scope scope;

		snprintf(value, sizeof(value), "%d", i % 7);
		snprintf(wanted, sizeof(wanted), "phase=parse tenant=%d", i % 7);
		trc_labels_unref(trc_labels_set(with(NULL, "tenant", value)));
		scope = enter("phase", "parse");
		ck_assert_str_eq(text(trc_labels_now()), wanted);
		leave(scope);
	}
	trc_labels_unref(trc_labels_set(NULL));
	trc_labels_kept_drop();
}
END_TEST

/* labels:J1, J7 */
START_TEST(what_somebody_else_has_is_not_made_over)
{
	enum { N = 1000 };
	static const struct trace_labels *had[N];
	static const char *const keys[] = {"a", "tenant", "z"};
	const struct trace_labels *base = with(NULL, "tenant", "42");
	char value[32], wanted[64];

	trc_labels_set(trc_labels_ref(base));
	for (int i = 0; i < N; i++) {
		const char *key = keys[i / 100 % 3];
		struct scope scope;

		/* Of several lengths. */
		snprintf(value, sizeof(value), "%0*d", 1 + i / 10 % 20, i);
		snprintf(wanted, sizeof(wanted),
			 *key == 'a'   ? "a=%s tenant=42"
			 : *key == 't' ? "tenant=%s"
				       : "tenant=42 z=%s",
			 value);
		scope = enter(key, value);
		ck_assert_str_eq(text(trc_labels_now()), wanted);
		had[i] = i % 3 ? NULL : trc_labels_ref(trc_labels_now());
		leave(scope);
	}
	for (int i = 0; i < N; i += 3) {
		snprintf(value, sizeof(value), "=%0*d", 1 + i / 10 % 20, i);
		ck_assert_ptr_nonnull(strstr(text(had[i]), value));
		trc_labels_unref(had[i]);
	}
	trc_labels_leave();
	ck_assert_uint_eq(references(base), 1);
	trc_labels_unref(base);
}
END_TEST

START_TEST(what_is_kept_is_given_back)
{
	const struct trace_labels *base = with(NULL, "tenant", "42");
	char value[16];

	trc_labels_set(trc_labels_ref(base));
	for (int i = 0; i < 1000; i++) {
		snprintf(value, sizeof(value), "%d", i);
		leave(enter("request", value));
	}
	/* Some, and not a thousand: those kept, and one that is to be made over. */
	ck_assert_uint_gt(references(base), 2 + 16);
	ck_assert_uint_le(references(base), 2 + 64 + 1);
	trc_labels_leave(); /* as when the thread ends */
	ck_assert_uint_eq(references(base), 1);
	trc_labels_unref(base);
}
END_TEST

START_TEST(nothing_is_kept_if_nobody_would_give_it_back)
{
	const struct trace_labels *base = with(NULL, "tenant", "42");

	trc_thread_end_hook = _i ? end_is_not_noticed : NULL;
	trc_labels_set(trc_labels_ref(base));
	leave(enter("phase", "parse"));
	ck_assert_uint_eq(references(base), 2);
	trc_labels_unref(trc_labels_set(NULL));
	trc_labels_unref(base);
}
END_TEST

START_TEST(a_deep_scope_has_all_labels)
{
	for (int round = 0; round < 3; round++) {
		struct scope open[20];
		char key[8], wanted[20][256];

		for (int i = 0; i < 20; i++) {
			snprintf(key, sizeof(key), "k%02d", i);
			open[i] = enter(key, "v");
			snprintf(wanted[i], sizeof(wanted[i]), "%s%s%s=v", i ? wanted[i - 1] : "",
				 i ? " " : "", key);
			ck_assert_str_eq(text(trc_labels_now()), wanted[i]);
			ck_assert_uint_lt(trc_labels_now()->depth, TRC_LABELS_DEPTH);
		}
		for (int i = 19; i >= 0; i--)
			leave(open[i]);
		ck_assert_ptr_null(trc_labels_now());
	}
	trc_labels_kept_drop();
}
END_TEST

START_TEST(a_child_goes_on_with_what_is_kept)
{
	int status;
	pid_t child;

	leave(enter("phase", "parse"));
	child = fork();
	if (!child) {
		struct scope scope = enter("phase", "parse");
		bool good = !strcmp(text(trc_labels_now()), "phase=parse");

		leave(scope);
		trc_labels_kept_drop();
		_exit(!good);
	}
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_int_eq(status, 0);
	leave(enter("phase", "parse"));
	trc_labels_kept_drop();
}
END_TEST

/* ---- in the ring ----------------------------------------------------------------------- */

static void open_session(void)
{
	struct trc_session_options o;
	char error[256] = "";

	ck_assert_int_eq(trc_session_options_init(&o, error, sizeof(error)), 0);
	ck_assert_msg(trc_session_open(&o, error, sizeof(error)) == 0, "%s", error);
	trc_session_record(true);
	ck_assert(trc_self_ready());
	atomic_store(&trc_session_shared()->drain_state, TRC_DRAIN_NONE);
}

static void next_pass(void)
{
	atomic_fetch_add(&trc_session_shared()->table_epoch, 1);
}

static const char *ring_text(uint64_t id)
{
	char bytes[TRC_LABELS_BYTES_MAX];
	struct trc_shared *shared = trc_session_shared();

	return text_of(bytes, trc_labels_copy_by(shared, shared, id, bytes));
}

/* As a window would that has only the records from now on: the definition is there. */
static void expect_defined(void)
{
	struct scope scope = enter("phase", "parse");

	ck_assert_str_eq(ring_text(trc_self.labels), "phase=parse");
	ck_assert(trc_labels_touch(trc_self.labels));
	leave(scope);
}

static void fill_table(void)
{
	char bytes[16];

	for (int i = 0; i < 100000; i++) {
		char *at = bytes;
		const struct trc_label label = {.key = "n", .key_bytes = 1, .value = "",
						.number = i, .is_number = true};

		ck_assert(trc_label_put(&at, bytes + sizeof(bytes), &label));
		if (i % 500 == 0)
			next_pass();
		trc_labels_intern(bytes, (uint32_t)(at - bytes));
	}
}

START_TEST(a_kept_set_is_in_the_table_whenever_it_is_in_force)
{
	struct scope scope;
	uint64_t id;

	for (int session = 0; session < 3; session++) {
		open_session();
		expect_defined();
		scope = enter("phase", "parse");
		id = trc_self.labels;
		leave(scope);
		fill_table();
		next_pass();
		next_pass();
		ck_assert_str_eq(ring_text(id), ""); /* it is gone */
		expect_defined();
		trc_session_close();
		leave(enter("phase", "parse"));
	}
	trc_labels_kept_drop();
}
END_TEST

static void *leaves_scopes_and_ends(void *arg)
{
	const struct trace_labels *base = arg;

	trc_labels_set(base);
	errno = EAGAIN;
	leave(enter("phase", "parse"));
	ck_assert_int_eq(errno, EAGAIN);
	ck_assert_uint_eq(references(base), 2); /* one is the kept set's */
	trc_labels_kept_end();
	ck_assert_uint_eq(references(base), 1);
	leave(enter("phase", "parse")); /* by a destructor of the program's */
	ck_assert_uint_eq(references(base), 1);
	trc_labels_set(NULL);
	return NULL;
}

START_TEST(a_thread_that_ends_keeps_nothing)
{
	const struct trace_labels *base = with(NULL, "tenant", "acme");
	pthread_t thread;

	ck_assert_int_eq(pthread_create(&thread, NULL, leaves_scopes_and_ends, (void *)base), 0);
	ck_assert_int_eq(pthread_join(thread, NULL), 0);
	trc_labels_unref(base);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("labels kept");
	TCase *c = tcase_create("labels kept");

	tcase_add_checked_fixture(c, set_up, NULL);
	tcase_set_timeout(c, 120);
	tcase_add_test(c, a_set_that_comes_again_is_the_same);
	tcase_add_test(c, a_set_is_found_by_where_its_text_lies);
	tcase_add_test(c, two_scopes_at_once_have_a_set_each);
	tcase_add_test(c, labels_that_differ_have_sets_that_differ);
	tcase_add_test(c, scopes_at_random_have_what_they_name);
	tcase_add_test(c, a_scope_in_each_of_many_has_its_own_labels);
	tcase_add_test(c, a_base_is_that_base_and_no_other_at_its_address);
	tcase_add_test(c, what_somebody_else_has_is_not_made_over);
	tcase_add_test(c, what_is_kept_is_given_back);
	tcase_add_test(c, a_thread_that_ends_keeps_nothing);
	tcase_add_loop_test(c, nothing_is_kept_if_nobody_would_give_it_back, 0, 2);
	tcase_add_test(c, a_deep_scope_has_all_labels);
	tcase_add_test(c, a_child_goes_on_with_what_is_kept);
	tcase_add_test(c, a_kept_set_is_in_the_table_whenever_it_is_in_force);
	suite_add_tcase(suite, c);
	return suite_run(suite);
}
