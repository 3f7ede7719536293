/*
 * test_snapshot_live.c - snapshots of this process, taken all the time while its threads record:
 * from inside, and through the ring's file as another process would.
 *
 * Every record is numbered by who made it, and one in four cites a string of its own: in a
 * window no number may be missing, and no string may be gone or another.
 */
#include <check.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "recorder/ring/rec.h"
#include "recorder/drain/ring_file.h"
#include "recorder/guest/session.h"
#include "fake_ring.h"
#include "tests/suite.h"

enum { THREADS = 3, SOURCES = 2 * THREADS, SNAPSHOTS = 40, TEXT_BYTES_MAX = 200 };

static const struct row {
	const char *says;
	enum trc_ring_path path;
	enum trc_clock_kind clock;
	uint64_t ring_bytes;
	bool signals, migration;
} rows[] = {
	{"plain", TRC_PATH_AUTO, 0, 64 << 10, false, false},
	{"with signals and migration", TRC_PATH_AUTO, 0, 64 << 10, true, true},
	{"rings of one page", TRC_PATH_AUTO, 0, 8192, true, true},
	{"by a clock that is no counter", TRC_PATH_AUTO, TRC_CLOCK_MONOTONIC_RAW, 64 << 10, true,
	 true},
	{"the overflow stream", TRC_PATH_OVERFLOW, 0, 64 << 10, true, true},
};

static struct {
	_Alignas(64) uint64_t emitted;
} source[SOURCES];
static __thread int thread_number = -1;
static pthread_t worker[THREADS];
static _Atomic bool stop;

/* ---- who records ----------------------------------------------------------------------- */

static void record_numbered(uint32_t from)
{
	uint64_t n = source[from].emitted++;
	char text[TEXT_BYTES_MAX + 8] = "", name[32];
	uint64_t arg[3] = {from + 1, 0, 16 + n % (TEXT_BYTES_MAX - 16)};
	uint32_t text_words = (uint32_t)(arg[2] + 7) / 8;
	struct trc_seg seg[2] = {{arg, 3}, {text, text_words}};

	if (!trc_self_ready())
		return;
	if (n % 4 == 0)
		arg[1] = trc_string_intern(name, (uint32_t)snprintf(name, sizeof(name), "%u/%llu",
								    from, (unsigned long long)n));
	memset(text, 'a' + (int)(n % 26), arg[2]);
	memcpy(text, name, (size_t)snprintf(name, sizeof(name), "%llu", (unsigned long long)n));
	trc_record(TRC_REC_WORD1(TRC_KIND_LOG, 0, 5 + text_words, trc_self.serial), seg, 2);
}

static void on_signal(int sig)
{
	if (thread_number >= 0)
		record_numbered((uint32_t)(THREADS + thread_number));
}

static void move_somewhere(unsigned int *seed)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET((unsigned int)rand_r(seed) % (unsigned int)sysconf(_SC_NPROCESSORS_ONLN), &set);
	sched_setaffinity(0, sizeof(set), &set);
}

static void *work(void *arg)
{
	const struct row *row = &rows[(uintptr_t)arg / THREADS];
	unsigned int seed = (unsigned int)(uintptr_t)arg;

	thread_number = (int)((uintptr_t)arg % THREADS);
	for (int i = 0; !atomic_load_explicit(&stop, memory_order_relaxed); i++) {
		record_numbered((uint32_t)thread_number);
		if (row->migration && i % 64 == 0)
			move_somewhere(&seed);
	}
	thread_number = -1;
	return NULL;
}

static void *pester(void *arg)
{
	while (!atomic_load_explicit(&stop, memory_order_relaxed)) {
		const struct timespec pause = {0, 50000};

		for (int i = 0; i < THREADS; i++)
			pthread_kill(worker[i], SIGUSR1);
		nanosleep(&pause, NULL);
	}
	return NULL;
}

/* ---- who looks ------------------------------------------------------------------------- */

static struct fake f; /* for its sink only */
static struct fake_file file;

static void take(bool from_outside)
{
	static const struct trc_snapshot_options options = {.window_ns = UINT64_MAX};
	struct trc_writer_options wo;
	struct trc_ring_file ring;
	struct trc_snapshot *s;
	struct trc_writer *w;
	char error[256];
	const char *why;

	f.file_bytes = 0;
	if (from_outside) {
		ck_assert_msg(!trc_ring_file_open(&ring, trc_session_path(), error, sizeof(error)),
			      "%s", error);
		ck_assert_int_eq(ring.owner, TRC_OWNER_ALIVE);
		ck_assert_msg(!trc_ring_file_to_trace(&ring, &options, fake_sink, &f, error,
						      sizeof(error)),
			      "%s", error);
		trc_ring_file_close(&ring);
	} else {
		struct trc_shared *shared = trc_session_shared();

		ck_assert_msg(!trc_snapshot_take(&s, shared, shared->total_bytes, &options, &why),
			      "%s", why);
		trc_snapshot_writer_options(s, &wo);
		ck_assert_int_eq(trc_writer_open(&w, &wo, fake_sink, &f), 0);
		ck_assert_int_eq(trc_snapshot_write(s, w, NULL, NULL), 0);
		ck_assert_int_eq(trc_writer_finish(w), 0);
		trc_writer_close(w);
		trc_snapshot_free(s);
	}
	fake_read_back(&f, &file);
	ck_assert_ptr_null(trc_reader_warning(file.r));
	ck_assert(trc_reader_info(file.r)->complete);
	ck_assert_uint_eq(trc_reader_info(file.r)->dangling_ids, 0);
}

static int by_time(const void *a, const void *b)
{
	const struct fake_row *x = a, *y = b;

	return (x->ns > y->ns) - (x->ns < y->ns);
}

static void check_string(const struct fake_row *r, unsigned long long from, unsigned long long n)
{
	char expected[32];
	uint32_t n_bytes;
	const char *text = trc_reader_string(file.r, (uint32_t)r->arg[1], &n_bytes);

	snprintf(expected, sizeof(expected), "%llu/%llu", from, n);
	ck_assert_msg(n_bytes == strlen(expected) && !memcmp(text, expected, n_bytes),
		      "%.*s where it was %s", (int)n_bytes, text, expected);
}

/* No holes, unless gaps tell of them; returns the number of records.  With a clock that is no
 * counter two records may have the same time: their order then does not tell. */
static size_t check(const struct row *row)
{
	bool exact = !fake_lost(&file, 0), ordered = !row->clock;
	uint64_t least[SOURCES], most[SOURCES] = {0}, count[SOURCES] = {0};
	size_t n_rows = 0;

	memset(least, 0xff, sizeof(least));
	ck_assert_msg(exact || row->path == TRC_PATH_OVERFLOW, "%lu lost",
		      (unsigned long)fake_lost(&file, 0));
	qsort(file.row, file.n_rows, sizeof(*file.row), by_time);
	for (size_t i = 0; i < file.n_rows; i++) {
		const struct fake_row *r = &file.row[i];
		uint64_t from = r->arg[0] - 1, n = strtoull(r->text, NULL, 10);
		size_t text_bytes;

		if (r->kind != TRC_KIND_LOG)
			continue;
		n_rows++;
		ck_assert_uint_lt(from, SOURCES);
		text_bytes = 16 + n % (TEXT_BYTES_MAX - 16);
		if (text_bytes >= sizeof(r->text))
			text_bytes = sizeof(r->text) - 1;
		ck_assert_uint_eq(strlen(r->text), text_bytes);
		ck_assert_int_eq(r->text[text_bytes - 1], 'a' + (int)(n % 26));
		if (ordered && count[from])
			ck_assert_msg(exact ? n == most[from] + 1 : n > most[from],
				      "source %lu: %lu after %lu", from, n, most[from]);
		if (r->arg[1])
			check_string(r, from, n);
		least[from] = n < least[from] ? n : least[from];
		most[from] = n > most[from] ? n : most[from];
		count[from]++;
	}
	for (int i = 0; i < SOURCES; i++)
		ck_assert(!exact || !count[i] || most[i] - least[i] + 1 == count[i]);
	return n_rows;
}

static void open_session(const struct row *row)
{
	struct trc_session_options o;
	char error[256] = "";

	ck_assert_int_eq(trc_session_options_init(&o, error, sizeof(error)), 0);
	o.ring_bytes = row->ring_bytes;
	o.clock = row->clock;
	o.path = row->path;
	o.shared_dir = true;
	trc_session_flight(&o);
	ck_assert_msg(!trc_session_open(&o, error, sizeof(error)), "%s", error);
	ck_assert_int_eq(trc_session_publish(), 0);
	trc_session_record(true);
}

START_TEST(every_snapshot_is_whole_and_has_no_holes)
{
	const struct row *row = &rows[_i];
	struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
	size_t n_rows = 0;
	pthread_t pest;

	open_session(row);
	sigaction(SIGUSR1, &action, NULL);
	for (uintptr_t i = 0; i < THREADS; i++)
		pthread_create(&worker[i], NULL, work, (void *)((uintptr_t)_i * THREADS + i));
	if (row->signals)
		pthread_create(&pest, NULL, pester, NULL);
	for (int i = 0; i < SNAPSHOTS; i++) {
		take(i & 1);
		n_rows += check(row);
		fake_file_free(&file);
	}
	atomic_store(&stop, true);
	if (row->signals)
		pthread_join(pest, NULL);
	for (int i = 0; i < THREADS; i++)
		pthread_join(worker[i], NULL);
	take(false);
	n_rows += check(row);
	fake_file_free(&file);
	ck_assert_msg(n_rows > 0, "%s", row->says);
	printf("%-32s %zu records in %d snapshots\n", row->says, n_rows, SNAPSHOTS + 1);
	trc_session_close();
	free(f.file);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("snapshots of the living");
	TCase *t = tcase_create("snapshots of the living");

	tcase_set_timeout(t, 120);
	tcase_add_loop_test(t, every_snapshot_is_whole_and_has_no_holes, 0,
			    (int)(sizeof(rows) / sizeof(*rows)));
	suite_add_tcase(suite, t);
	return suite_run(suite);
}
