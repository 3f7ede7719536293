/*
 * labels_test.c - label sets: how they are made, what they hold, and what of them is in the ring.
 */
#include <check.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>
#include "recorder/guest/labels.h"
#include "recorder/ring/rec.h"
#include "recorder/guest/session.h"
#include "tests/recorder/ring/ring_reader.h"
#include "tests/suite.h"

static char k63[64], k64[65], v200[201], v201[202], u15[16], u16[17];

static void set_up(void)
{
	memset(k63, 'k', 63);
	memset(k64, 'k', 64);
	memset(v200, 'v', 200);
	memset(v201, 'v', 201);
	memset(u15, 'u', 15);
	memset(u16, 'u', 16);
}

/* ---- sets ------------------------------------------------------------------------------ */

/* "key=value key=12unit ..." */
static const char *text_of(const char *bytes, uint32_t n_bytes)
{
	static char text[4096];
	struct trc_label label[TRC_LABELS_MAX];
	uint32_t n = trc_labels_split(bytes, n_bytes, label);
	size_t used = 0;

	text[0] = '\0';
	for (uint32_t i = 0; i < n; i++) {
		char number[32] = "";

		if (label[i].is_number)
			snprintf(number, sizeof(number), "%lld", (long long)label[i].number);
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

static const struct trace_labels *with(const struct trace_labels *base, const char *key,
				       const char *value)
{
	const struct trace_label label = {.key = key, .value = value};
	const struct trace_labels *labels;
	size_t bad;

	ck_assert_int_eq(trc_labels_with(&labels, base, &label, 1, &bad), 0);
	return labels;
}

static const struct row {
	const char *says;
	struct trace_label label[5];
	int result; /* 0 or an error of the label `bad` */
	size_t bad;
	const char *text;
} rows[] = {
	{"one", {{"tenant", "42", 0, NULL}}, 0, 0, "tenant=42"},
	{"sorted", {{"b", "1", 0, NULL}, {"a", "2", 0, NULL}}, 0, 0, "a=2 b=1"},
	{"a prefix comes first", {{"ab", "1", 0, NULL}, {"a", "2", 0, NULL}}, 0, 0, "a=2 ab=1"},
	{"bytes are not signed", {{"\xc3\xa9", "1", 0, NULL}, {"z", "2", 0, NULL}}, 0, 0,
	 "z=2 \xc3\xa9=1"},
	{"the later one of a key wins",
	 {{"a", "1", 0, NULL}, {"b", "x", 0, NULL}, {"a", "2", 0, NULL}}, 0, 0, "a=2 b=x"},
	{"an empty value is one", {{"a", "", 0, NULL}}, 0, 0, "a="},
	{"a number", {{"size", NULL, -12, NULL}}, 0, 0, "size=-12"},
	{"a number with a unit", {{"size", NULL, 4096, "bytes"}}, 0, 0, "size=4096bytes"},
	{"the longest", {{k63, v200, 0, NULL}}, 0, 0, NULL},
	{"the longest unit", {{"a", NULL, 1, u15}}, 0, 0, NULL},
	{"no key", {{"a", "b", 0, NULL}, {NULL, "b", 0, NULL}, {"c", "d", 0, NULL}}, -EINVAL, 1,
	 NULL},
	{"an empty key", {{"", "b", 0, NULL}}, -EINVAL, 0, NULL},
	{"a key of trc's own", {{"a", "b", 0, NULL}, {"trc::state", "b", 0, NULL}}, -EINVAL, 1, NULL},
	{"no key of trc's own", {{"trc:state", "b", 0, NULL}}, 0, 0, "trc:state=b"},
	{"a unit beside a string", {{"a", "b", 0, "bytes"}}, -EINVAL, 0, NULL},
	{"a long key", {{k64, "b", 0, NULL}}, -ENAMETOOLONG, 0, NULL},
	{"a long value", {{"a", "b", 0, NULL}, {"b", v201, 0, NULL}}, -ENAMETOOLONG, 1, NULL},
	{"a long unit", {{"a", NULL, 0, u16}}, -ENAMETOOLONG, 0, NULL},
};

START_TEST(a_set_has_what_it_is_given_or_is_refused)
{
	const struct row *row = &rows[_i];
	const struct trace_labels *labels = (void *)0x5;
	size_t n = 0, bad = 0;

	while (n < 5 && (row->label[n].key || row->label[n].value))
		n++;
	ck_assert_int_eq(trc_labels_with(&labels, NULL, row->label, n, &bad), row->result);
	if (row->result) {
		ck_assert_uint_eq(bad, row->bad);
		ck_assert_ptr_eq(labels, (void *)0x5);
		return;
	}
	if (row->text)
		ck_assert_str_eq(text(labels), row->text);
	trc_labels_unref(labels);
}
END_TEST

START_TEST(a_set_keeps_what_its_base_has)
{
	const struct trace_labels *a = with(NULL, "tenant", "42");
	const struct trace_labels *b = with(a, "phase", "parse");
	const struct trace_labels *c = with(b, "tenant", "43");

	ck_assert_str_eq(text(a), "tenant=42");
	trc_labels_unref(a); /* what hangs on it keeps it */
	ck_assert_str_eq(text(b), "phase=parse tenant=42");
	trc_labels_unref(b);
	ck_assert_str_eq(text(c), "phase=parse tenant=43");
	trc_labels_unref(c);
	ck_assert_str_eq(text(NULL), "");
}
END_TEST

START_TEST(no_labels_at_all_are_another_reference)
{
	const struct trace_labels *a = with(NULL, "a", "1"), *same = NULL;
	size_t bad;

	ck_assert_int_eq(trc_labels_with(&same, a, NULL, 0, &bad), 0);
	ck_assert_ptr_eq(same, a);
	trc_labels_unref(a);
	ck_assert_str_eq(text(same), "a=1");
	trc_labels_unref(same);
	ck_assert_int_eq(trc_labels_with(&same, NULL, NULL, 0, &bad), 0);
	ck_assert_ptr_null(same);
}
END_TEST

/* As a program does that sets its phase again and again: labels:J3. */
START_TEST(sets_do_not_hang_on_each_other_for_ever)
{
	const struct trace_labels *labels = with(NULL, "tenant", "42");
	char value[16];

	for (int i = 0; i < 1000; i++) {
		const struct trace_labels *next;

		snprintf(value, sizeof(value), "%d", i);
		next = with(labels, i % 2 ? "odd" : "even", value);
		trc_labels_unref(labels);
		labels = next;
		ck_assert_uint_lt(labels->depth, TRC_LABELS_DEPTH);
	}
	ck_assert_str_eq(text(labels), "even=998 odd=999 tenant=42");
	trc_labels_unref(labels);
}
END_TEST

START_TEST(a_set_has_32_labels_and_1000_bytes)
{
	const struct trace_labels *labels = NULL, *next = (void *)0x5;
	struct trace_label label[33];
	char key[33][4];
	size_t bad;

	for (int i = 0; i < 33; i++) {
		snprintf(key[i], sizeof(key[i]), "%d", i);
		label[i] = (struct trace_label){.key = key[i], .value = "v"};
	}
	ck_assert_int_eq(trc_labels_with(&next, NULL, label, 33, &bad), -E2BIG);
	ck_assert_int_eq(trc_labels_with(&labels, NULL, label, 32, &bad), 0);
	ck_assert_int_eq(trc_labels_with(&next, labels, &label[32], 1, &bad), -E2BIG);
	ck_assert_ptr_eq(next, (void *)0x5);
	ck_assert_int_eq(trc_labels_with(&next, labels, &label[7], 1, &bad), 0);
	trc_labels_unref(next);
	trc_labels_unref(labels);
	/* 200 + 2 + 1 bytes each: the fifth is too much. */
	for (int i = 0; i < 5; i++)
		label[i].value = v200;
	next = (void *)0x5;
	ck_assert_int_eq(trc_labels_with(&next, NULL, label, 5, &bad), -E2BIG);
	ck_assert_int_eq(trc_labels_with(&labels, NULL, label, 4, &bad), 0);
	ck_assert_int_eq(trc_labels_with(&next, labels, &label[4], 1, &bad), -E2BIG);
	ck_assert_ptr_eq(next, (void *)0x5);
	trc_labels_unref(labels);
}
END_TEST

/* So many that they are sorted, and the last of each key is left. */
START_TEST(of_a_long_list_the_last_of_each_key_wins)
{
	enum { MANY = 100000, KEYS = 20 };
	struct trace_label *label = calloc(MANY, sizeof(*label));
	const struct trace_labels *labels;
	char key[KEYS][8];
	size_t bad;

	for (int i = 0; i < KEYS; i++)
		snprintf(key[i], sizeof(key[i]), "key%02d", i);
	for (int i = 0; i < MANY; i++)
		label[i] = (struct trace_label){.key = key[i % KEYS], .number = i};
	ck_assert_int_eq(trc_labels_with(&labels, NULL, label, MANY, &bad), 0);
	ck_assert(strstr(text(labels), "key00=99980 key01=99981") != NULL);
	ck_assert(strstr(text(labels), "key19=99999") != NULL);
	trc_labels_unref(labels);
	free(label);
}
END_TEST

START_TEST(bytes_that_are_no_set_are_seen)
{
	struct trc_label label[TRC_LABELS_MAX];
	const struct trace_label both[2] = {{"a", "1", 0, NULL}, {"b", NULL, 7, "s"}};
	const struct trace_labels *labels;
	char bytes[TRC_LABELS_BYTES_MAX];
	uint32_t n;
	size_t bad;

	ck_assert_int_eq(trc_labels_with(&labels, NULL, both, 2, &bad), 0);
	n = trc_labels_bytes(labels, bytes);
	trc_labels_unref(labels);
	ck_assert_uint_eq(trc_labels_split(bytes, n, label), 2);
	for (uint32_t cut = 1; cut < n; cut++) /* the first label alone is a set */
		ck_assert_uint_eq(trc_labels_split(bytes, cut, label), cut == 4);
	bytes[2] = 'b'; /* the same key twice */
	ck_assert_uint_eq(trc_labels_split(bytes, n, label), 0);
	bytes[2] = 'c'; /* not sorted */
	ck_assert_uint_eq(trc_labels_split(bytes, n, label), 0);
	memset(bytes, 0, sizeof(bytes)); /* no keys */
	ck_assert_uint_eq(trc_labels_split(bytes, 200, label), 0);
}
END_TEST

/* ---- in the ring ----------------------------------------------------------------------- */

static struct ring_reader reader;

static void open_session(void)
{
	struct trc_session_options o;
	char error[256] = "";

	ck_assert_int_eq(trc_session_options_init(&o, error, sizeof(error)), 0);
	o.ring_bytes = 1 << 20;
	ck_assert_msg(trc_session_open(&o, error, sizeof(error)) == 0, "%s", error);
	ring_reader_init(&reader, trc_session_shared(), 100000);
	trc_session_record(true);
}

static void close_session(void)
{
	trc_session_record(false);
	ring_reader_pass(&reader, trc_session_shared());
	ring_reader_finish(&reader, trc_session_shared());
	ck_assert_uint_eq(reader.damaged, 0);
	ring_reader_free(&reader);
	trc_session_close();
}

/* The n-th LABELS event of the thread; NULL = there are not so many.  a: labels, b: before. */
static const struct seen *change(uint32_t serial, unsigned int n)
{
	ring_reader_pass(&reader, trc_session_shared());
	for (size_t i = 0; i < reader.n_seen; i++)
		if (reader.seen[i].kind == TRC_KIND_LABELS && reader.seen[i].serial == serial &&
		    !n--)
			return &reader.seen[i];
	return NULL;
}

static const char *ring_text(uint64_t id)
{
	char bytes[TRC_LABELS_BYTES_MAX];
	struct trc_shared *shared = trc_session_shared();

	return text_of(bytes, trc_labels_copy_by(shared, shared, id, bytes));
}

static void next_pass(void)
{
	atomic_fetch_add(&trc_session_shared()->table_epoch, 1);
}

START_TEST(each_change_is_an_event_with_what_was_before)
{
	const struct trace_labels *a = with(NULL, "tenant", "42"), *b = with(a, "phase", "parse");
	const struct seen *seen;

	open_session();
	ck_assert_ptr_null(trc_labels_set(a));
	ck_assert_uint_eq(trc_self.labels, atomic_load(&trc_self.slot->labels));
	ck_assert_ptr_eq(trc_labels_set(b), a);
	ck_assert_ptr_eq(trc_labels_set(a), b);
	ck_assert_ptr_eq(trc_labels_set(NULL), a);
	ck_assert_uint_eq(trc_self.labels, 0);
	ck_assert_uint_eq(atomic_load(&trc_self.slot->labels), 0);
	seen = change(trc_self.serial, 0);
	ck_assert_str_eq(ring_text(seen->a), "tenant=42");
	ck_assert_uint_eq(seen->b, 0);
	ck_assert_str_eq(ring_text(change(trc_self.serial, 1)->a), "phase=parse tenant=42");
	ck_assert_uint_eq(change(trc_self.serial, 1)->b, seen->a);
	ck_assert_uint_eq(change(trc_self.serial, 2)->a, seen->a);
	ck_assert_uint_eq(change(trc_self.serial, 3)->a, 0);
	ck_assert_uint_eq(change(trc_self.serial, 3)->b, seen->a);
	ck_assert_ptr_null(change(trc_self.serial, 4));
	close_session();
	trc_labels_unref(b);
	trc_labels_unref(a);
}
END_TEST

START_TEST(a_recording_sees_what_was_in_force_before_it)
{
	const struct trace_labels *labels = with(NULL, "tenant", "42");

	ck_assert_ptr_null(trc_labels_set(labels));
	for (int session = 0; session < 2; session++) {
		open_session();
		ck_assert(trc_self_ready());
		ck_assert_str_eq(ring_text(change(trc_self.serial, 0)->a), "tenant=42");
		ck_assert_str_eq(ring_text(atomic_load(&trc_self.slot->labels)), "tenant=42");
		ck_assert_ptr_null(change(trc_self.serial, 1));
		close_session();
	}
	/* The first thing that it does is to change them. */
	open_session();
	ck_assert_ptr_eq(trc_labels_set(NULL), labels);
	ck_assert_str_eq(ring_text(change(trc_self.serial, 0)->a), "tenant=42");
	ck_assert_uint_eq(change(trc_self.serial, 1)->a, 0);
	close_session();
	trc_labels_unref(labels);
}
END_TEST

static const struct trace_labels *many(int i)
{
	char value[16];

	snprintf(value, sizeof(value), "%d", i);
	return with(NULL, "request", value);
}

START_TEST(what_is_in_force_stays_in_the_table)
{
	const struct trace_labels *held = with(NULL, "tenant", "42");
	uint64_t id, found = 0;

	open_session();
	trc_labels_set(held);
	id = trc_self.labels;
	/* As another thread would: this one's slot cites the first. */
	for (int i = 0; i < 50000; i++) {
		const struct trace_labels *labels = many(i);
		char bytes[TRC_LABELS_BYTES_MAX];
		uint32_t n_bytes = trc_labels_bytes(labels, bytes);

		if (i % 100 == 0)
			next_pass();
		found += trc_labels_intern(bytes, n_bytes) != 0;
		trc_labels_unref(labels);
	}
	ck_assert_uint_gt(found, 45000);
	ck_assert_str_eq(ring_text(id), "tenant=42");
	ck_assert(trc_labels_touch(id));
	close_session();
	trc_labels_unref(trc_labels_set(NULL));
}
END_TEST

/* labels:J9 */
START_TEST(an_entry_counts_as_used_in_each_epoch_in_which_its_set_is_cited)
{
	const struct trace_labels *labels = with(NULL, "tenant", "42");
	struct trc_entry_head *entry;
	_Atomic uint64_t *epoch;
	uint64_t now;

	open_session();
	epoch = &trc_session_shared()->table_epoch;
	trc_labels_set(labels);
	entry = trc_labels_entry(trc_session_shared(), trc_self.labels);
	for (int i = 0; i < 5; i++) {
		atomic_fetch_add(epoch, i);
		trc_labels_set(NULL);
		ck_assert_uint_eq(atomic_load(&entry->last_use), atomic_load(epoch));
		trc_labels_set(labels);
		atomic_fetch_add(epoch, 1);
		trc_labels_set(NULL);
		trc_labels_set(labels);
		ck_assert_uint_eq(atomic_load(&entry->last_use), atomic_load(epoch));
	}
	now = atomic_load(epoch);
	close_session();
	/* Another session's epochs are others. */
	trc_labels_set(NULL);
	open_session();
	ck_assert(trc_self_ready());
	atomic_store(&trc_session_shared()->table_epoch, now);
	trc_labels_set(labels);
	ck_assert_str_eq(ring_text(trc_self.labels), "tenant=42");
	ck_assert(trc_labels_touch(trc_self.labels));
	close_session();
	trc_labels_unref(trc_labels_set(NULL));
}
END_TEST

START_TEST(an_id_whose_entry_is_gone_is_looked_up_again)
{
	const struct trace_labels *labels = with(NULL, "tenant", "42");
	uint64_t id;

	open_session();
	trc_labels_set(labels);
	id = trc_self.labels;
	trc_labels_set(NULL);
	atomic_store(&trc_labels_entry(trc_session_shared(), id)->key, 0);
	atomic_fetch_add(&trc_session_shared()->table_epoch, 2); /* layout:T3: not before */
	ck_assert(!trc_labels_touch(id));
	trc_labels_set(labels);
	ck_assert_str_eq(ring_text(trc_self.labels), "tenant=42");
	ck_assert(trc_labels_touch(trc_self.labels));
	close_session();
	trc_labels_unref(trc_labels_set(NULL));
}
END_TEST

/* Not with what sanitizers put between them. */
#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)
#define HAS_STEPS
#endif
#ifdef HAS_STEPS
/* ---- between any two instructions -------------------------------------------------------- */

enum { TRAP_FLAG = 0x100 };
static const struct trace_labels *common;
static volatile int steps_left;

/* The processor's trap flag raises SIGTRAP behind each instruction while it is set. */
static inline __attribute__((always_inline)) void trap(bool on)
{
	__asm__ volatile("leaq -128(%%rsp), %%rsp\n\tpushfq\n\tandq $~0x100, (%%rsp)\n\t"
			 "orq %0, (%%rsp)\n\tpopfq\n\tleaq 128(%%rsp), %%rsp"
			 :
			 : "r"(on ? UINT64_C(0x100) : 0)
			 : "cc", "memory");
}

/* The set's entry goes, and its next one is in another place. */
static void evict_common(void)
{
	uint64_t id = atomic_load(&common->id);
	uint32_t first = TRC_ID_INDEX(id) / TRC_SET_WAYS * TRC_SET_WAYS;

	atomic_fetch_add(&trc_session_shared()->table_epoch, 2); /* layout:T3: not before */
	for (uint32_t i = first; i < first + TRC_SET_WAYS; i++)
		atomic_store(&trc_labels_entry(trc_session_shared(),
					       TRC_ID(TRC_ID_CLASS(id), i, 1))
				      ->key,
			     i == TRC_ID_INDEX(id) ? TRC_KEY_BUSY : 0);
}

/* As another thread would, which needs the set too and has all of its time. */
static void look_up_then(int number, siginfo_t *info, void *context)
{
	const struct trace_labels *before;

	(void)number;
	(void)info;
	if (--steps_left > 0)
		return;
	((ucontext_t *)context)->uc_mcontext.gregs[REG_EFL] &= ~TRAP_FLAG;
	before = trc_labels_set(NULL);
	trc_labels_set(common);
	trc_labels_set(before);
}

static void open_session_of_cells(void)
{
	struct trc_session_options o;
	char error[256] = "";

	ck_assert_int_eq(trc_session_options_init(&o, error, sizeof(error)), 0);
	o.path = TRC_PATH_OVERFLOW; /* sequences would begin again at each step */
	ck_assert_msg(trc_session_open(&o, error, sizeof(error)) == 0, "%s", error);
	trc_session_record(true);
	/* Nobody waits for room. */
	atomic_store(&trc_session_shared()->drain_state, TRC_DRAIN_NONE);
}

/* labels:J6 */
START_TEST(a_set_has_an_id_whenever_another_thread_looks_it_up)
{
	struct sigaction action = {.sa_sigaction = look_up_then, .sa_flags = SA_SIGINFO};
	struct trc_shared *shared;
	char bytes[TRC_LABELS_BYTES_MAX];
	int steps = 1;

	common = with(NULL, "tenant", "42");
	open_session_of_cells();
	shared = trc_session_shared();
	sigaction(SIGTRAP, &action, NULL);
	trc_labels_set(common);
	trc_labels_set(NULL);
	/* Each of those that find the id, then some of those that look it up. */
	for (steps_left = 0; steps_left <= 0; steps += steps < 300 ? 1 : 5) {
		evict_common();
		steps_left = steps;
		trap(true);
		trc_labels_set(common);
		trap(false);
		ck_assert_msg(trc_labels_copy_by(shared, shared, trc_self.labels, bytes),
			      "not behind %d instructions", steps);
		ck_assert_ptr_eq(atomic_load(&common->entry),
				 trc_labels_entry(shared, atomic_load(&common->id)));
		trc_labels_set(NULL);
	}
	ck_assert_int_gt(steps, 100);
	trc_session_close();
	trc_labels_unref(common);
}
END_TEST
#endif

/* The reader of this test does not understand it, but counts the record's words. */
START_TEST(where_the_table_has_no_room_the_record_carries_the_set)
{
	const struct trace_labels *labels = with(NULL, "tenant", "42"), *other;
	const struct seen *seen;

	open_session();
	ck_assert(trc_self_ready());
	for (uint64_t class = 0; class < TRC_LABELS_CLASSES; class++)
		for (uint64_t i = 0; i < 8 * trc_session_shared()->label_sets[class]; i++)
			atomic_store(&trc_labels_entry(trc_session_shared(), TRC_ID(class, i, 1))->key,
				     TRC_KEY_BUSY);
	trc_labels_set(labels);
	ck_assert_uint_eq(trc_self.labels, 0);
	seen = change(trc_self.serial, 0);
	ck_assert_uint_eq(seen->a, 0);
	ck_assert_uint_eq(seen->b, 0);
	ck_assert_uint_eq(seen->c, 4 + strlen("tenant42") - 2);
	/* Room again: what was before is told all the same. */
	for (uint64_t i = 0; i < 8 * trc_session_shared()->label_sets[0]; i++)
		atomic_store(&trc_labels_entry(trc_session_shared(), TRC_ID(0, i, 1))->key, 0);
	other = with(NULL, "tenant", "43");
	trc_labels_set(other);
	ck_assert_str_eq(ring_text(change(trc_self.serial, 1)->a), "tenant=43");
	ck_assert_str_eq(ring_text(change(trc_self.serial, 1)->b), "tenant=42");
	close_session();
	trc_labels_unref(trc_labels_set(NULL));
	trc_labels_unref(labels);
}
END_TEST

static void *set_and_end(void *labels)
{
	ck_assert(trc_self_ready());
	trc_labels_set(labels);
	trc_thread_ended();
	trc_self.ended = true;
	trc_labels_leave();
	return NULL;
}

START_TEST(a_thread_gives_back_its_reference_when_it_ends)
{
	const struct trace_labels *labels = with(NULL, "tenant", "42");
	struct trc_slot *slot;
	pthread_t thread;

	open_session();
	trc_labels_ref(labels);
	ck_assert_int_eq(pthread_create(&thread, NULL, set_and_end, (void *)(uintptr_t)labels), 0);
	pthread_join(thread, NULL);
	ck_assert_uint_eq(atomic_load(&labels->references), 1);
	slot = trc_slot_at(trc_session_shared(), 1);
	ck_assert_uint_eq(atomic_load(&slot->state), TRC_SLOT_ENDED);
	ck_assert_str_eq(ring_text(atomic_load(&slot->labels)), "tenant=42");
	ck_assert_ptr_null(change(1, 1)); /* the end is no change */
	close_session();
	trc_labels_unref(labels);
}
END_TEST

START_TEST(a_forked_child_keeps_its_labels)
{
	int status;
	pid_t child;
	bool kept;

	trc_labels_set(with(NULL, "tenant", "42"));
	open_session();
	ck_assert(trc_self_ready());
	child = fork();
	if (!child) {
		trc_session_forget();
		open_session();
		kept = trc_self_ready() && change(trc_self.serial, 0) &&
		       !strcmp(ring_text(trc_self.labels), "tenant=42");
		close_session(); /* _exit() would leave its ring */
		_exit(!kept);
	}
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_int_eq(status, 0);
	close_session();
	trc_labels_unref(trc_labels_set(NULL));
}
END_TEST

/* ---- many at once ---------------------------------------------------------------------- */

enum { WORKERS = 4, CHANGES = 20000, SETS = 64 };
static const struct trace_labels *shared_set[SETS];

/* Of the threads only one, as text() has one buffer. */
static void *change_and_compare(void *seed_address)
{
	unsigned int seed = (unsigned int)(uintptr_t)seed_address;

	for (int i = 0; i < CHANGES; i++) {
		const struct trace_labels *labels =
			trc_labels_ref(shared_set[rand_r(&seed) % SETS]);

		trc_labels_unref(trc_labels_set(labels));
		if (i % 64 == 0)
			next_pass();
		if (trc_self.labels && strcmp(ring_text(trc_self.labels), text(labels)) != 0)
			return NULL;
	}
	trc_labels_leave();
	return (void *)1;
}

static void *change_only(void *seed_address)
{
	unsigned int seed = (unsigned int)(uintptr_t)seed_address;

	for (int i = 0; i < CHANGES; i++)
		trc_labels_unref(
			trc_labels_set(trc_labels_ref(shared_set[rand_r(&seed) % SETS])));
	trc_labels_leave();
	return (void *)1;
}

START_TEST(sets_are_shared_by_threads)
{
	pthread_t thread[WORKERS];
	void *good;

	for (int i = 0; i < SETS; i++)
		shared_set[i] = many(i);
	open_session();
	atomic_store(&trc_session_shared()->drain_state, TRC_DRAIN_FAILED); /* nobody waits */
	for (uintptr_t i = 0; i < WORKERS; i++)
		pthread_create(&thread[i], NULL, i ? change_only : change_and_compare,
			       (void *)(i + 1));
	for (int i = 0; i < WORKERS; i++) {
		pthread_join(thread[i], &good);
		ck_assert_ptr_nonnull(good);
	}
	for (int i = 0; i < SETS; i++) {
		ck_assert_uint_eq(atomic_load(&shared_set[i]->references), 1);
		trc_labels_unref(shared_set[i]);
	}
	trc_session_record(false);
	ring_reader_free(&reader);
	trc_session_close();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("labels");
	TCase *c = tcase_create("labels");

	set_up();
	tcase_set_timeout(c, 60);
	tcase_add_loop_test(c, a_set_has_what_it_is_given_or_is_refused, 0,
			    (int)(sizeof(rows) / sizeof(rows[0])));
	tcase_add_test(c, a_set_keeps_what_its_base_has);
	tcase_add_test(c, no_labels_at_all_are_another_reference);
	tcase_add_test(c, sets_do_not_hang_on_each_other_for_ever);
	tcase_add_test(c, a_set_has_32_labels_and_1000_bytes);
	tcase_add_test(c, of_a_long_list_the_last_of_each_key_wins);
	tcase_add_test(c, bytes_that_are_no_set_are_seen);
	tcase_add_test(c, each_change_is_an_event_with_what_was_before);
	tcase_add_test(c, a_recording_sees_what_was_in_force_before_it);
	tcase_add_test(c, what_is_in_force_stays_in_the_table);
	tcase_add_test(c, an_entry_counts_as_used_in_each_epoch_in_which_its_set_is_cited);
	tcase_add_test(c, an_id_whose_entry_is_gone_is_looked_up_again);
#ifdef HAS_STEPS
	tcase_add_test(c, a_set_has_an_id_whenever_another_thread_looks_it_up);
#endif
	tcase_add_test(c, where_the_table_has_no_room_the_record_carries_the_set);
	tcase_add_test(c, a_thread_gives_back_its_reference_when_it_ends);
	tcase_add_test(c, a_forked_child_keeps_its_labels);
	tcase_add_test(c, sets_are_shared_by_threads);
	suite_add_tcase(suite, c);
	return suite_run(suite);
}
