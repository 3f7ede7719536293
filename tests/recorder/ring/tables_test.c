/* tables_test.c - stacks, strings, slots and the plan of the shared mapping. */
#include <check.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "recorder/ring/rec.h"
#include "recorder/guest/session.h"
#include "tests/suite.h"

static void open_session(void)
{
	struct trc_session_options o;
	char error[256] = "";

	ck_assert_int_eq(trc_session_options_init(&o, error, sizeof(error)), 0);
	o.ring_bytes = 8192;
	ck_assert_msg(trc_session_open(&o, error, sizeof(error)) == 0, "%s", error);
	trc_session_record(true);
}

static void next_pass(void)
{
	atomic_fetch_add(&trc_session_shared()->table_epoch, 1);
}

/* A stack that nobody else has. */
static void make_stack(uint64_t *frame, uint32_t n, uint64_t number)
{
	for (uint32_t i = 0; i < n; i++)
		frame[i] = number * 1000 + i;
}

START_TEST(equal_stacks_have_one_id_and_others_another)
{
	static const uint32_t depth[] = {1, 15, 16, 17, 32, 33, 64, 65, 128};
	uint64_t frame[TRC_STACK_DEPTH_MAX], copy[TRC_STACK_DEPTH_MAX];
	uint64_t id[9];
	uint32_t epoch;

	open_session();
	for (int i = 0; i < 9; i++) {
		make_stack(frame, depth[i], 7);
		id[i] = trc_stack_intern(frame, depth[i], 3);
		ck_assert_uint_ne(id[i], 0);
		ck_assert_uint_eq(trc_stack_intern(frame, depth[i], 3), id[i]);
		ck_assert_uint_ne(trc_stack_intern(frame, depth[i], 4), id[i]);
		frame[0]++;
		ck_assert_uint_ne(trc_stack_intern(frame, depth[i], 3), id[i]);
	}
	for (int i = 0; i < 9; i++) {
		make_stack(frame, depth[i], 7);
		ck_assert_uint_eq(trc_stack_copy(trc_session_shared(), id[i], &epoch, copy), depth[i]);
		ck_assert_mem_eq(frame, copy, depth[i] * 8);
		ck_assert_uint_eq(epoch, 3);
	}
	trc_session_close();
}
END_TEST

START_TEST(an_evicted_stack_reads_as_evicted)
{
	enum { MANY = 200000 };
	uint64_t frame[4], copy[TRC_STACK_DEPTH_MAX], first;
	uint32_t epoch, n_inline = 0;

	open_session();
	make_stack(frame, 4, 1);
	first = trc_stack_intern(frame, 4, 0);
	/* Within two passes nothing is evicted: what does not fit goes inline. */
	for (uint64_t i = 2; i < MANY; i++) {
		make_stack(frame, 4, i);
		n_inline += trc_stack_intern(frame, 4, 0) == 0;
	}
	ck_assert_uint_gt(n_inline, 0);
	ck_assert_uint_eq(trc_stack_copy(trc_session_shared(), first, &epoch, copy), 4);
	next_pass();
	next_pass();
	for (uint64_t i = MANY; i < 2 * MANY; i++) {
		make_stack(frame, 4, i);
		trc_stack_intern(frame, 4, 0);
	}
	ck_assert_uint_eq(trc_stack_copy(trc_session_shared(), first, &epoch, copy), 0);
	trc_session_close();
}
END_TEST

START_TEST(strings_are_found_by_content_and_pinned_ones_stay)
{
	char text[64], copy[256];
	uint64_t pinned;

	open_session();
	pinned = trc_string_intern("a name in the source", 20);
	trc_string_pin(pinned);
	ck_assert_uint_eq(trc_string_intern("a name in the source", 20), pinned);
	ck_assert_uint_ne(trc_string_intern("a name in the sourcf", 20), pinned);
	ck_assert_uint_ne(trc_string_intern("", 0), 0);
	ck_assert_uint_eq(trc_string_intern(copy, 249), 0);
	for (int i = 0; i < 100000; i++) {
		if (i % 1000 == 0)
			next_pass();
		trc_string_intern(text, (uint32_t)snprintf(text, sizeof(text), "name %d", i));
	}
	ck_assert_uint_eq(trc_string_copy(trc_session_shared(), pinned, copy), 20);
	ck_assert_mem_eq(copy, "a name in the source", 20);
	trc_session_close();
}
END_TEST

/* "fiber 0", "fiber 1", ...; how many of them found a place. */
static int name_fibers(int n, int per_pass)
{
	char text[64];
	int n_found = 0;

	for (int i = 0; i < n; i++) {
		uint32_t n_bytes = (uint32_t)snprintf(text, sizeof(text), "fiber %d", i);
		uint64_t id = trc_string_intern_if_spare(text, n_bytes);

		n_found += id != 0;
		if (id) /* what is there is found, however full its set is */
			ck_assert_uint_eq(trc_string_intern_if_spare(text, n_bytes), id);
		if (per_pass && i % per_pass == 0)
			next_pass();
	}
	return n_found;
}

/* layout:T4 */
START_TEST(names_of_fibers_leave_half_of_each_set_to_others)
{
	enum { MANY = 100000 };
	const int n_places = 512 * TRC_SET_WAYS; /* of short strings */
	char text[64];

	open_session();
	ck_assert_int_eq(trc_session_shared()->string_sets[0] * TRC_SET_WAYS, n_places);
	/* As many as may be at once: they go when they are old, as all do. */
	ck_assert_int_eq(name_fibers(MANY, 0), n_places / 2);
	next_pass();
	next_pass();
	ck_assert_int_eq(name_fibers(MANY, 0), n_places / 2);
	ck_assert_int_gt(name_fibers(MANY, 1000), 2 * n_places);
	for (int i = 0; i < 100; i++)
		ck_assert_uint_ne(trc_string_intern(text, (uint32_t)snprintf(text, sizeof(text),
									     "literal %d", i)),
				  0);
	trc_session_close();
}
END_TEST

/* Others may take all of it, as ever. */
START_TEST(names_of_fibers_take_no_place_in_sets_that_are_half_full)
{
	char text[64];
	int n_found = 0;

	open_session();
	for (int i = 0; i < 100000; i++)
		n_found += trc_string_intern(text, (uint32_t)snprintf(text, sizeof(text),
								      "name %d", i)) != 0;
	ck_assert_int_eq(n_found, 512 * TRC_SET_WAYS);
	ck_assert_int_eq(name_fibers(1000, 0), 0);
	ck_assert_uint_ne(trc_string_intern_if_spare("name 0", 6), 0);
	trc_session_close();
}
END_TEST

/* Threads that intern the same few hundred stacks, in sets that are full, while entries are
 * evicted all the time: an id always leads to the content that it was given for, or nowhere. */
enum { INTERNERS = 4, ROUNDS = 40000 };
static _Atomic int wrong, found;

static void *intern_all(void *arg)
{
	unsigned int seed = (unsigned int)(uintptr_t)arg;
	uint64_t frame[16], copy[TRC_STACK_DEPTH_MAX];
	uint32_t epoch;

	for (int i = 0; i < ROUNDS; i++) {
		uint64_t id;

		make_stack(frame, 16, (uint64_t)(rand_r(&seed) % 20000));
		id = trc_stack_intern(frame, 16, 0);
		if (i % 16 == 0)
			next_pass();
		if (id && trc_stack_copy(trc_session_shared(), id, &epoch, copy) == 16) {
			atomic_fetch_add(&found, 1);
			if (memcmp(copy, frame, sizeof(frame)))
				atomic_fetch_add(&wrong, 1);
		}
	}
	return NULL;
}

START_TEST(an_id_never_leads_to_another_stack)
{
	pthread_t thread[INTERNERS];

	open_session();
	for (uintptr_t i = 0; i < INTERNERS; i++)
		pthread_create(&thread[i], NULL, intern_all, (void *)(i + 1));
	for (int i = 0; i < INTERNERS; i++)
		pthread_join(thread[i], NULL);
	ck_assert_int_eq(wrong, 0);
	ck_assert_int_gt(found, INTERNERS * ROUNDS / 2);
	trc_session_close();
}
END_TEST

/* Two threads that meet at one wait, or crash in one place. */
enum { MEETINGS = 20000 };
static pthread_barrier_t meeting;

static void *intern_together(void *unused)
{
	uint64_t frame[4], n_none = 0;

	for (uint64_t i = 1; i <= MEETINGS; i++) {
		make_stack(frame, 4, i);
		if (pthread_barrier_wait(&meeting) == PTHREAD_BARRIER_SERIAL_THREAD)
			next_pass(); /* or the table would be full once */
		n_none += trc_stack_intern(frame, 4, 0) == 0;
	}
	return (void *)n_none;
}

START_TEST(threads_that_bring_a_stack_at_the_same_time_all_get_an_id)
{
	pthread_t thread[2];
	void *n_none;

	open_session();
	pthread_barrier_init(&meeting, NULL, 2);
	for (int i = 0; i < 2; i++)
		pthread_create(&thread[i], NULL, intern_together, NULL);
	for (int i = 0; i < 2; i++) {
		pthread_join(thread[i], &n_none);
		ck_assert_uint_eq((uintptr_t)n_none, 0);
	}
	pthread_barrier_destroy(&meeting);
	trc_session_close();
}
END_TEST

/* Stacks of one set. */
enum { CROWD = 16 };
static uint64_t crowd[CROWD];

static uint64_t intern_number(uint64_t number)
{
	uint64_t frame[4];

	make_stack(frame, 4, number);
	return trc_stack_intern(frame, 4, 0);
}

static void find_crowd(void)
{
	uint32_t set = 0, n = 0;

	for (uint64_t number = 1; n < CROWD; number++) {
		uint32_t its_set = TRC_ID_INDEX(intern_number(number)) / TRC_SET_WAYS;

		next_pass();
		if (!n || its_set == set) {
			crowd[n++] = number;
			set = its_set;
		}
	}
}

/* All of the set may go, crowd[0] first. */
static void make_old(void)
{
	uint64_t id = intern_number(crowd[0]);
	uint32_t first = TRC_ID_INDEX(id) / TRC_SET_WAYS * TRC_SET_WAYS;

	for (uint32_t way = 0; way < TRC_SET_WAYS; way++)
		atomic_store(&trc_stack_entry(trc_session_shared(),
					      TRC_ID(TRC_ID_CLASS(id), first + way, 1))
				      ->last_use,
			     first + way != TRC_ID_INDEX(id));
}

/* One thread brings back the stack that the other is about to put its own in the place of. */
static void *use_or_evict(void *uses)
{
	uint64_t frame[TRC_STACK_DEPTH_MAX], n_gone = 0;
	uint32_t epoch;

	for (int i = 0; i < 2000; i++) {
		uint64_t id;

		if (pthread_barrier_wait(&meeting) == PTHREAD_BARRIER_SERIAL_THREAD)
			make_old();
		pthread_barrier_wait(&meeting);
		id = intern_number(uses ? crowd[0] : crowd[1 + i % (CROWD - 1)]);
		pthread_barrier_wait(&meeting);
		n_gone += id && !trc_stack_copy(trc_session_shared(), id, &epoch, frame);
	}
	return (void *)n_gone;
}

/* layout:T5 */
START_TEST(what_is_used_again_just_then_is_not_evicted)
{
	pthread_t thread[2];
	void *n_gone;

	open_session();
	find_crowd();
	/* Whoever evicts looks at all slots first. */
	atomic_store(&trc_session_shared()->next_serial, trc_session_shared()->n_threads);
	pthread_barrier_init(&meeting, NULL, 2);
	for (uintptr_t i = 0; i < 2; i++)
		pthread_create(&thread[i], NULL, use_or_evict, (void *)i);
	for (int i = 0; i < 2; i++) {
		pthread_join(thread[i], &n_gone);
		ck_assert_uint_eq((uintptr_t)n_gone, 0);
	}
	pthread_barrier_destroy(&meeting);
	trc_session_close();
}
END_TEST

static _Atomic bool enough;

static void *look_up_name(void *unused)
{
	while (!atomic_load(&enough))
		trc_string_intern("a name", 6);
	return NULL;
}

START_TEST(a_name_that_another_thread_looks_up_just_then_stays_pinned)
{
	_Atomic uint64_t *last_use;
	pthread_t thread;
	int n_lost = 0;

	open_session();
	next_pass();
	last_use = &trc_string_entry(trc_session_shared(), trc_string_intern("a name", 6))->last_use;
	pthread_create(&thread, NULL, look_up_name, NULL);
	for (int i = 0; i < 200000; i++) {
		uint64_t is = UINT64_MAX;

		atomic_store(last_use, 0);
		trc_string_pin(trc_string_intern("a name", 6));
		for (int look = 0; look < 20 && is == UINT64_MAX; look++)
			is = atomic_load(last_use);
		n_lost += is != UINT64_MAX;
	}
	atomic_store(&enough, true);
	pthread_join(thread, NULL);
	ck_assert_int_eq(n_lost, 0);
	trc_session_close();
}
END_TEST

START_TEST(slots_run_out_and_come_back)
{
	struct trc_shared *shared;
	struct trc_slot *slots;

	open_session();
	shared = trc_session_shared();
	slots = trc_area(shared, shared->threads_off);
	for (uint32_t i = 0; i < shared->n_threads + 10; i++) {
		trc_self.session = 0; /* as a new thread would have it */
		ck_assert(trc_self_attach());
		ck_assert_uint_eq(trc_self.serial, i + 1);
	}
	ck_assert_uint_eq(atomic_load(&shared->slots_full), 10);
	ck_assert_uint_eq(atomic_load(&slots[1].serial), 1);
	/* The drainer frees the slots of threads that have ended. */
	atomic_store(&slots[5].state, TRC_SLOT_FREE);
	trc_self.session = 0;
	ck_assert(trc_self_attach());
	ck_assert_ptr_eq(trc_self.slot, &slots[5]);
	ck_assert_uint_eq(atomic_load(&slots[5].serial), shared->n_threads + 11);
	trc_session_close();
}
END_TEST

static const struct plan_row {
	const char *says;
	uint64_t ring_bytes;
	uint32_t n_procs;
	int result;
	uint64_t ring_words;
} plan_rows[] = {
	{"defaults", 0, 2, 0, (4 << 20) / 8},
	{"sizes go up to a power of two", 3 << 20, 2, 0, (4 << 20) / 8},
	{"a ring holds at least a page", 1, 2, 0, 1024},
	{"64 procs", 1 << 20, 64, 0, (1 << 20) / 8},
	{"no procs are refused", 0, 0, -EINVAL, 0},
	{"too many procs are refused", 0, TRC_PROCS_MAX + 1, -EINVAL, 0},
	{"a ring beyond 16 GiB is refused", UINT64_C(1) << 35, 2, -EINVAL, 0},
};

static const struct max_row {
	const char *says;
	uint64_t max_bytes;
	uint32_t n_procs;
	uint64_t ring_bytes; /* 0 = refused */
} max_rows[] = {
	{"64 MiB for 2 procs", 64 << 20, 2, 16 << 20},
	{"64 MiB for 64 procs", 64 << 20, 64, 512 << 10},
	{"1 GiB for 64 procs", 1 << 30, 64, 8 << 20},
	{"4 MiB for 2 procs: smaller tables", 4 << 20, 2, 1 << 20},
	{"1 MiB for 2 procs", 1 << 20, 2, 256 << 10},
	{"4 MiB for 64 procs", 4 << 20, 64, 32 << 10},
	{"too little for 64 procs", 512 << 10, 64, 0},
	{"too little for anything", 64 << 10, 1, 0},
	{"beyond all measure", UINT64_C(1) << 60, 2, 0},
};

START_TEST(a_maximum_is_never_exceeded)
{
	const struct max_row *row = &max_rows[_i];
	struct trc_layout_options o = {.max_bytes = row->max_bytes, .n_procs = row->n_procs};
	struct trc_shared h = {.magic = TRC_LAYOUT_MAGIC,
			       .layout_version = TRC_LAYOUT_VERSION,
			       .schema_hash = trc_schema_hash()};
	const char *why;

	ck_assert_int_eq(trc_layout_plan(&h, &o), row->ring_bytes ? 0 : -EINVAL);
	if (!row->ring_bytes)
		return;
	ck_assert_uint_le(h.total_bytes, row->max_bytes);
	ck_assert_uint_eq(h.ring_words * 8, row->ring_bytes);
	ck_assert_int_eq(trc_layout_check(&h, h.total_bytes, &why), 0);
}
END_TEST

START_TEST(a_plan_is_accepted_by_its_own_check)
{
	const struct plan_row *row = &plan_rows[_i];
	struct trc_layout_options o = {.ring_bytes = row->ring_bytes, .n_procs = row->n_procs};
	struct trc_shared h = {.magic = TRC_LAYOUT_MAGIC,
			       .layout_version = TRC_LAYOUT_VERSION,
			       .schema_hash = trc_schema_hash()};
	const char *why;

	ck_assert_int_eq(trc_layout_plan(&h, &o), row->result);
	if (row->result)
		return;
	ck_assert_uint_eq(h.ring_words, row->ring_words);
	ck_assert_uint_ge(h.page_words, TRC_PAGE_WORDS_MIN);
	ck_assert_int_eq(trc_layout_check(&h, h.total_bytes, &why), 0);
	ck_assert_int_eq(trc_layout_check(&h, h.total_bytes - 1, &why), -EBADMSG);
}
END_TEST

START_TEST(a_header_with_any_damage_is_refused)
{
	struct trc_layout_options o = {.ring_bytes = 1 << 20, .n_procs = 4};
	struct trc_shared h = {.magic = TRC_LAYOUT_MAGIC,
			       .layout_version = TRC_LAYOUT_VERSION,
			       .schema_hash = trc_schema_hash()};
	size_t first = offsetof(struct trc_shared, n_procs);
	size_t end = offsetof(struct trc_shared, on_full);
	const char *why;

	ck_assert_int_eq(trc_layout_plan(&h, &o), 0);
	for (size_t bit = first * 8; bit < end * 8; bit++) {
		struct trc_shared bad = h;

		((unsigned char *)&bad)[bit / 8] ^= (unsigned char)(1 << bit % 8);
		/* A smaller plan may still fit its offsets: then every area lies inside. */
		if (trc_layout_check(&bad, h.total_bytes, &why) == 0)
			ck_assert_uint_le(bad.data_off + (uint64_t)bad.n_procs * bad.ring_words * 8,
					  h.total_bytes);
	}
	h.layout_version++;
	ck_assert_int_eq(trc_layout_check(&h, h.total_bytes, &why), -EBADMSG);
	ck_assert_str_eq(why, "made by another version of trc");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("tables");
	TCase *c = tcase_create("tables");

	tcase_set_timeout(c, 60);
	tcase_add_test(c, equal_stacks_have_one_id_and_others_another);
	tcase_add_test(c, an_evicted_stack_reads_as_evicted);
	tcase_add_test(c, strings_are_found_by_content_and_pinned_ones_stay);
	tcase_add_test(c, names_of_fibers_leave_half_of_each_set_to_others);
	tcase_add_test(c, names_of_fibers_take_no_place_in_sets_that_are_half_full);
	tcase_add_test(c, an_id_never_leads_to_another_stack);
	tcase_add_test(c, threads_that_bring_a_stack_at_the_same_time_all_get_an_id);
	tcase_add_test(c, what_is_used_again_just_then_is_not_evicted);
	tcase_add_test(c, a_name_that_another_thread_looks_up_just_then_stays_pinned);
	tcase_add_test(c, slots_run_out_and_come_back);
	tcase_add_loop_test(c, a_maximum_is_never_exceeded, 0,
			    (int)(sizeof(max_rows) / sizeof(max_rows[0])));
	tcase_add_loop_test(c, a_plan_is_accepted_by_its_own_check, 0,
			    (int)(sizeof(plan_rows) / sizeof(plan_rows[0])));
	tcase_add_test(c, a_header_with_any_damage_is_refused);
	suite_add_tcase(suite, c);
	return suite_run(suite);
}
