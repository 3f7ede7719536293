/* names_met_test.c - ids of names that are no literals: of this text, whatever the hints say. */
#include <check.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "recorder/ring/names_met.h"
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
	ck_assert(trc_self_ready());
}

static void next_pass(void)
{
	atomic_fetch_add(&trc_session_shared()->table_epoch, 1);
}

static uint64_t met(const char *text)
{
	return trc_name_met(text, (uint32_t)strlen(text), trc_self.session);
}

/* Its id, which leads to this text. */
static uint64_t intern(const char *text)
{
	uint32_t n_bytes = (uint32_t)strlen(text);
	uint64_t id = trc_name_intern(text, n_bytes);
	char copy[256];

	ck_assert_uint_ne(id, 0);
	ck_assert_uint_eq(trc_string_copy(trc_session_shared(), id, copy), n_bytes);
	ck_assert_mem_eq(copy, text, n_bytes);
	return id;
}

START_TEST(a_name_is_met_again_without_a_search)
{
	char text[TRC_STRING_BYTES_MAX + 1] = "";
	uint64_t id;

	open_session();
	for (size_t n = 1; n <= TRC_STRING_BYTES_MAX; n++) {
		text[n - 1] = (char)('a' + n % 26);
		ck_assert_uint_eq(met(text), 0);
		id = intern(text);
		ck_assert_uint_eq(met(text), id);
		ck_assert_uint_eq(trc_name_intern(text, (uint32_t)n), id);
		ck_assert_uint_eq(trc_string_intern(text, (uint32_t)n), id);
		next_pass();
	}
	trc_session_close();
}
END_TEST

START_TEST(a_buffer_with_another_text_is_another_name)
{
	static const char *const texts[] = {"queue 1", "queue 2", "queue 12", "queue", "",
					    "1 queue with a name that is somewhat longer",
					    "2 queue with a name that is somewhat longer",
					    "1 queue with a name that is somewhat longes"};
	enum { TEXTS = sizeof(texts) / sizeof(texts[0]) };
	uint64_t id[TEXTS] = {0};
	char buffer[64];

	open_session();
	for (int i = 0; i < 20 * TEXTS; i++) {
		int k = i * 5 % TEXTS; /* each follows another */

		memset(buffer, 'x', sizeof(buffer));
		strcpy(buffer, texts[k]);
		ck_assert(!met(buffer) || met(buffer) == id[k]);
		ck_assert(!id[k] || id[k] == intern(buffer));
		id[k] = intern(buffer);
	}
	for (int i = 0; i < TEXTS; i++)
		for (int k = 0; k < i; k++)
			ck_assert_uint_ne(id[i], id[k]);
	/* Each byte counts. */
	strcpy(buffer, texts[5]);
	for (size_t i = 0; i < strlen(texts[5]); i++) {
		intern(buffer);
		buffer[i] ^= 1;
		ck_assert_uint_eq(met(buffer), 0);
		buffer[i] ^= 1;
	}
	trc_session_close();
}
END_TEST

/* More names than hints, at addresses that share hints, of all lengths, at random. */
START_TEST(names_at_random_in_buffers_at_random)
{
	enum { BUFFERS = 97, BYTES = TRC_STRING_BYTES_MAX + 1 };
	static char buffer[BUFFERS][BYTES];
	unsigned int seed = 7;
	int n_met = 0;

	open_session();
	for (int i = 0; i < 200000; i++) {
		char *text = buffer[rand_r(&seed) % BUFFERS];

		if (rand_r(&seed) % 3 == 0) {
			size_t n = (size_t)(rand_r(&seed) % (rand_r(&seed) % 8 ? 20 : BYTES));

			memset(text, 'a' + rand_r(&seed) % 3, n);
			text[n] = '\0';
		}
		n_met += met(text) != 0;
		intern(text);
		if (i % 100 == 0)
			next_pass();
	}
	ck_assert_int_gt(n_met, 0);
	trc_session_close();
}
END_TEST

static uint64_t evict(const char *text, uint64_t id)
{
	char other[64], copy[256];

	next_pass();
	next_pass();
	for (int i = 0; i < 100000; i++)
		trc_string_intern(other, (uint32_t)snprintf(other, sizeof(other), "%d", i));
	ck_assert_uint_eq(trc_string_copy(trc_session_shared(), id, copy), 0);
	ck_assert_uint_eq(met(text), 0);
	next_pass();
	next_pass();
	return intern(text);
}

START_TEST(a_name_whose_entry_has_gone_is_entered_again)
{
	static const char text[] = "a name that is computed";
	uint64_t id;

	open_session();
	id = intern(text);
	for (int i = 0; i < 3; i++)
		id = evict(text, id);
	trc_session_close();
}
END_TEST

START_TEST(to_meet_a_name_is_to_use_it)
{
	static const char text[] = "a name that is computed";
	char other[64], copy[256];
	uint64_t id;

	open_session();
	id = intern(text);
	for (int i = 0; i < 100000; i++) {
		if (i % 10000 == 0) {
			next_pass();
			ck_assert_uint_eq(met(text), id);
		}
		trc_string_intern(other, (uint32_t)snprintf(other, sizeof(other), "%d", i));
	}
	ck_assert_uint_eq(trc_string_copy(trc_session_shared(), id, copy), strlen(text));
	trc_session_close();
}
END_TEST

START_TEST(a_session_knows_nothing_of_the_one_before)
{
	static const char text[] = "a name that is computed";

	for (int i = 0; i < 3; i++) {
		open_session();
		/* At the same place as before, and all the same. */
		trc_string_intern(text, (uint32_t)strlen(text));
		ck_assert_uint_eq(met(text), 0);
		intern(text);
		ck_assert_uint_ne(met(text), 0);
		trc_session_close();
	}
}
END_TEST

/* One thread meets two texts in one buffer, others evict all the time. */
static _Atomic bool enough;

static void *churn(void *seed)
{
	char text[64];
	unsigned int number = (unsigned int)(uintptr_t)seed;

	while (!atomic_load(&enough)) {
		trc_string_intern(text, (uint32_t)snprintf(text, sizeof(text), "%d",
							   rand_r(&number) % 30000));
		next_pass();
	}
	return NULL;
}

START_TEST(an_id_leads_to_its_text_or_nowhere)
{
	pthread_t thread[2];
	char text[16], copy[256];
	unsigned int seed = 3;
	int n_found = 0;

	open_session();
	for (uintptr_t i = 0; i < 2; i++)
		pthread_create(&thread[i], NULL, churn, (void *)(i + 1));
	for (int i = 0; i < 400000; i++) {
		uint32_t n_bytes = (uint32_t)snprintf(text, sizeof(text), "%d", rand_r(&seed) % 64);
		uint64_t id = trc_name_intern(text, n_bytes);

		if (id && trc_string_copy(trc_session_shared(), id, copy)) {
			n_found++;
			ck_assert_mem_eq(copy, text, n_bytes);
		}
	}
	atomic_store(&enough, true);
	for (int i = 0; i < 2; i++)
		pthread_join(thread[i], NULL);
	ck_assert_int_gt(n_found, 0);
	trc_session_close();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("names met");
	TCase *tcase = tcase_create("names met");

	tcase_set_timeout(tcase, 120);
	tcase_add_test(tcase, a_name_is_met_again_without_a_search);
	tcase_add_test(tcase, a_buffer_with_another_text_is_another_name);
	tcase_add_test(tcase, names_at_random_in_buffers_at_random);
	tcase_add_test(tcase, a_name_whose_entry_has_gone_is_entered_again);
	tcase_add_test(tcase, to_meet_a_name_is_to_use_it);
	tcase_add_test(tcase, a_session_knows_nothing_of_the_one_before);
	tcase_add_test(tcase, an_id_leads_to_its_text_or_nowhere);
	suite_add_tcase(suite, tcase);
	return suite_run(suite);
}
