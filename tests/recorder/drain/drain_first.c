/* drain_first.c - a thread's own first samples of a clock, and the kernel's that follow. */
#include <math.h>
#include <string.h>
#include "drain_fixture.h"
#include "recorder/drain/perf_buffer.h"
#include "recorder/drain/private.h"

enum { PERIOD = 1000000, KERNEL_EVENT = 17 /* the number of the first */ };

static const struct trc_sample_event_entry by_kernel = {.how = TRC_SAMPLE_KERNEL,
							.period = PERIOD,
							.name = "cpu-clock",
							.unit = "nanoseconds",
							.note = ""};

/* The process's entry i of an event whose first samples threads take, if they began at `from` or later. */
static void put_entry(uint32_t i, uint64_t period, uint64_t from)
{
	struct trc_sample_event_slot *slot = &f.shared->sample_event[i];

	slot->how = TRC_SAMPLE_KERNEL;
	slot->period = period;
	memcpy(slot->name, "cpu-clock", sizeof("cpu-clock"));
	memcpy(slot->unit, "nanoseconds", sizeof("nanoseconds"));
	atomic_store(&slot->first_from, from);
	atomic_store(&slot->state, TRC_SAMPLE_EVENT_COMPLETE);
}

static struct trc_slot *put_thread(uint32_t i, uint32_t serial, uint32_t tid, uint64_t start)
{
	struct trc_slot *slot = fake_slot(&f, i, serial, tid, "worker");

	atomic_store(&slot->start, fake_time(&f, start));
	return slot;
}

static void sample_by_kernel(uint32_t tid, uint64_t after_ns)
{
	const uint64_t frame = 0x1234;
	const struct trc_perf_record r = {
		.what = TRC_PERF_SAMPLE,
		.raw_ns = f.shared->start.monotonic_raw_ns + after_ns,
		.pid = 333,
		.tid = tid,
		.value = PERIOD,
		.period = PERIOD,
		.frame = &frame,
		.n_frames = 1,
	};

	trc_drain_kernel(f.drain, &r);
}

/* The sum and the number of samples of this thread and event. */
static uint64_t value_of(uint32_t thread, uint64_t event, unsigned int *n)
{
	uint64_t sum = 0;

	*n = 0;
	for (size_t i = 0; i < file.n_rows; i++) {
		if (file.row[i].kind != TRC_KIND_SAMPLE || file.row[i].thread != thread ||
		    file.row[i].arg[0] != event)
			continue;
		sum += file.row[i].arg[1];
		++*n;
	}
	return sum;
}

START_TEST(the_kernels_samples_go_on_where_a_threads_own_end)
{
	uint64_t own[5] = {1, PERIOD, PERIOD, 0, 0};
	uint64_t lost[3] = {1, 2, TRC_SAMPLE_LOSS_BUSY};
	unsigned int n;

	put_entry(0, PERIOD, fake_time(&f, 100));
	put_entry(1, 2 * PERIOD, fake_time(&f, 1)); /* another one */
	put_thread(0, 5, 333, 100);
	put_thread(1, 6, 334, 99); /* older */
	trc_drain_kernel_events(f.drain, &by_kernel, 1);
	for (uint64_t i = 1; i <= TRC_CPU_FIRST_SAMPLES; i++)
		fake_put(&f, 0, 1000 * i, TRC_KIND_SAMPLE, 0, 5, own, 5);
	fake_put(&f, 0, 10000, TRC_KIND_SAMPLES_LOST, 0, 5, lost, 3);
	own[0] = 2;
	fake_put(&f, 0, 20000, TRC_KIND_SAMPLE, 0, 5, own, 5);
	trc_drain_pass(f.drain);
	for (uint64_t i = 1; i <= TRC_CPU_FIRST_SAMPLES + 2; i++) {
		sample_by_kernel(333, 1000000 * i);
		sample_by_kernel(334, 1000000 * i + 1);
	}
	ck_assert_int_eq(trc_drain_first_ns(f.drain, 0), 2 * PERIOD + PERIOD / 2);
	fake_finish(&f, TRC_DRAIN_DEAD, &file);
	/* Its own, half of one, and two. */
	ck_assert_uint_eq(value_of(5, KERNEL_EVENT, &n),
			  (TRC_CPU_FIRST_SAMPLES + 2) * PERIOD + PERIOD / 2);
	ck_assert_uint_eq(n, TRC_CPU_FIRST_SAMPLES + 3);
	ck_assert_uint_eq(value_of(6, KERNEL_EVENT, &n), (TRC_CPU_FIRST_SAMPLES + 2) * PERIOD);
	ck_assert_uint_eq(value_of(5, 2, &n), PERIOD);
	ck_assert_uint_eq(row(TRC_KIND_SAMPLES_LOST, 0)->arg[0], KERNEL_EVENT);
}
END_TEST

/* As long as there is no such entry, or none of these threads: as the kernel took them. */
START_TEST(without_first_samples_all_of_the_kernels_count)
{
	unsigned int n;

	put_entry(0, PERIOD, 0);
	put_thread(0, 5, 333, 100);
	trc_drain_kernel_events(f.drain, &by_kernel, 1);
	trc_drain_pass(f.drain);
	for (uint64_t i = 1; i <= 3; i++)
		sample_by_kernel(333, 1000000 * i);
	fake_finish(&f, TRC_DRAIN_DEAD, &file);
	ck_assert_uint_eq(value_of(5, KERNEL_EVENT, &n), 3 * PERIOD);
	ck_assert_int_eq(trc_drain_first_ns(f.drain, 0), 0);
}
END_TEST

/* A thread that can take none has the kernel's from its first on; whoever gets its tid does not. */
START_TEST(a_threads_slot_tells_that_it_takes_no_first_samples)
{
	unsigned int n;

	put_entry(0, 2 * PERIOD, fake_time(&f, 1)); /* another one */
	put_entry(1, PERIOD, fake_time(&f, 1));
	trc_drain_kernel_events(f.drain, &by_kernel, 1);
	put_thread(0, 5, 333, 100);
	atomic_store(&put_thread(1, 6, 334, 100)->first_lacks, 1); /* of the other one */
	trc_drain_pass(f.drain);
	/* It tells so after the drainer has seen it. */
	atomic_store(&put_thread(0, 5, 333, 100)->first_lacks, 2);
	trc_drain_pass(f.drain);
	for (uint64_t i = 1; i <= 3; i++) {
		sample_by_kernel(333, 1000000 * i);
		sample_by_kernel(334, 1000000 * i + 1);
	}
	atomic_store(&put_thread(0, 7, 333, 20000000000)->first_lacks, 0);
	trc_drain_pass(f.drain);
	for (uint64_t i = 1; i <= 3; i++)
		sample_by_kernel(333, 60000000000 + 1000000 * i);
	fake_finish(&f, TRC_DRAIN_DEAD, &file);
	ck_assert_uint_eq(value_of(5, KERNEL_EVENT, &n), 3 * PERIOD);
	ck_assert_uint_eq(value_of(6, KERNEL_EVENT, &n), 0);
	ck_assert_uint_eq(value_of(7, KERNEL_EVENT, &n), 0);
}
END_TEST

/* Another thread that gets the tid has its own first samples. */
START_TEST(a_thread_with_the_same_tid_begins_anew)
{
	unsigned int n;

	put_entry(0, PERIOD, fake_time(&f, 1));
	trc_drain_kernel_events(f.drain, &by_kernel, 1);
	put_thread(0, 5, 333, 100);
	trc_drain_pass(f.drain);
	for (uint64_t i = 1; i <= TRC_CPU_FIRST_SAMPLES; i++)
		sample_by_kernel(333, 1000000 * i);
	put_thread(1, 6, 333, 20000000000);
	trc_drain_pass(f.drain);
	for (uint64_t i = 1; i <= TRC_CPU_FIRST_SAMPLES; i++)
		sample_by_kernel(333, 60000000000 + 1000000 * i);
	fake_finish(&f, TRC_DRAIN_DEAD, &file);
	ck_assert_uint_eq(value_of(6, KERNEL_EVENT, &n), PERIOD / 2);
	ck_assert_uint_eq(n, 1);
}
END_TEST

/* ---- on average ------------------------------------------------------------------------- */

static uint64_t random_state;

/* In [0, 1). */
static double uniform(void)
{
	random_state += UINT64_C(0x9e3779b97f4a7c15);
	uint64_t x = random_state;

	x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
	return (double)((x ^ x >> 31) >> 11) / (double)(UINT64_C(1) << 53);
}

/* In periods, what samples say that a thread has used which has used so much. */
static double sampled(double used)
{
	double sum = 0, first = uniform();

	for (uint32_t i = 0; i < TRC_CPU_FIRST_SAMPLES && first + i < used; i++)
		sum++;
	for (uint32_t nth = 1; nth <= used; nth++)
		sum += (double)trc_drain_value_after_first(nth, PERIOD) / PERIOD;
	return sum;
}

/* Threads whose lengths lie evenly between two. */
static const struct length {
	double from, to;
	double off; /* how far samples may be off, in periods, beside chance */
} lengths[] = {
	{0.01, 0.01, 0}, {0.3, 0.3, 0},	  {0.9, 1.1, 0},     {1.5, 1.5, 0},
	{0, 4, 0},	 {3.99, 3.99, 0}, {4, 5, 0},	     {4.01, 4.01, 0.5},
	{0, 20, 0},	 {7, 9, 0},	  {12.9, 12.9, 0.5}, {100, 101, 0},
};

START_TEST(on_average_samples_stand_for_what_threads_have_used)
{
	enum { THREADS = 100000 };
	const struct length *length = &lengths[_i];
	double mean = 0, squares = 0, room;

	random_state = (uint64_t)_i + 1;
	for (int i = 0; i < THREADS; i++) {
		double used = length->from + uniform() * (length->to - length->from);
		double off = sampled(used) - used;

		mean += off / THREADS;
		squares += off * off / THREADS;
	}
	room = length->off + 4 * sqrt(squares / THREADS);
	ck_assert_msg(fabs(mean) <= room, "%g to %g periods: off by %g on average, room %g",
		      length->from, length->to, mean, room);
}
END_TEST

void drain_first(TCase *t)
{
	tcase_add_test(t, the_kernels_samples_go_on_where_a_threads_own_end);
	tcase_add_test(t, without_first_samples_all_of_the_kernels_count);
	tcase_add_test(t, a_threads_slot_tells_that_it_takes_no_first_samples);
	tcase_add_test(t, a_thread_with_the_same_tid_begins_anew);
	tcase_add_loop_test(t, on_average_samples_stand_for_what_threads_have_used, 0,
			    sizeof(lengths) / sizeof(*lengths));
}
