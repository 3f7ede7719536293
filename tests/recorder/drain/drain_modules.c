/* drain_modules.c - modules that the drain meets in the kernel's samples alone. */
#include <stdio.h>
#include <string.h>
#include "drain_fixture.h"
#include "recorder/drain/private.h"
#include "recorder/drain/perf_buffer.h"
#include "recorder/drain/perf_maps.h"

enum { LIBRARIES = 20, EPOCHS = 400 };

static uint64_t library_at(uint32_t i)
{
	return UINT64_C(0x100000) * (i + 1);
}

static void map_library(struct trc_perf_maps *maps, uint32_t i, uint64_t after_ns, const char *path)
{
	const struct trc_perf_mapping mapping = {
		.raw_ns = f.shared->start.monotonic_raw_ns + after_ns,
		.start = library_at(i),
		.limit = library_at(i) + 0x10000,
		.path = path,
		.pid = 333,
	};

	trc_perf_maps_add(maps, &mapping);
}

/* From `after` on; records of all times before it are of the epochs before. */
static void begin_epoch(uint32_t epoch, uint64_t after)
{
	struct trc_epoch_slot *slot = trc_area(f.shared, f.shared->epochs_off);

	slot += epoch % f.shared->n_epochs;
	atomic_store(&slot->ticks, fake_time(&f, after));
	atomic_store(&slot->epoch, epoch);
	atomic_store(&f.shared->module_epoch, epoch);
}

static void sample(const struct trc_perf_maps *maps, const uint64_t *frame, uint32_t n,
		   uint64_t after_ns)
{
	const struct trc_perf_record r = {
		.what = TRC_PERF_SAMPLE,
		.raw_ns = f.shared->start.monotonic_raw_ns + after_ns,
		.pid = 333,
		.tid = 333,
		.value = 1,
		.period = 1,
		.frame = frame,
		.n_frames = n,
		.maps = maps,
	};

	trc_drain_kernel(f.drain, &r);
}

static void sample_library(const struct trc_perf_maps *maps, uint32_t i, uint64_t after_ns)
{
	const uint64_t frame = library_at(i) + 0x124;

	sample(maps, &frame, 1, after_ns);
}

/* The module that explains the first frame of the i-th sample, as a reader finds it. */
static const char *module_of_sample(size_t i)
{
	struct trc_stack_view view;

	ck_assert_int_eq(trc_reader_stack(file.r, (uint32_t)row(TRC_KIND_SAMPLE, i)->arg[3], &view),
			 0);
	for (uint32_t id = 1; id < trc_reader_modules(file.r); id++) {
		const struct trc_module_entry *m = trc_reader_module(file.r, id);

		if (m->first_epoch <= view.epoch && m->last_epoch >= view.epoch &&
		    m->start <= view.frame[0] - 1 && m->limit > view.frame[0] - 1)
			return m->path;
	}
	return "none";
}

START_TEST(a_module_of_the_kernels_samples_has_one_entry_for_all_epochs)
{
	struct trc_perf_maps *maps = trc_perf_maps_make();

	fake_slot(&f, 0, 5, 333, "main");
	for (uint32_t i = 0; i < LIBRARIES; i++)
		map_library(maps, i, 1, "/usr/lib/plugin.so");
	for (uint32_t epoch = 1; epoch <= EPOCHS; epoch++) {
		begin_epoch(epoch, 0);
		if (epoch % 3) /* one that has begun since the drain looked, now and then */
			trc_drain_pass(f.drain);
		for (uint32_t i = 0; i < LIBRARIES; i++)
			sample_library(maps, i, 1000000);
		if (epoch % 50 == 0)
			trc_writer_flush(f.w);
	}
	trc_perf_maps_free(maps);
	fake_finish(&f, TRC_DRAIN_DEAD, &file);
	ck_assert_uint_eq(fake_count(&file, TRC_KIND_SAMPLE), EPOCHS * LIBRARIES);
	for (size_t i = 0; i < EPOCHS * LIBRARIES; i++)
		ck_assert_str_eq(module_of_sample(i), "/usr/lib/plugin.so");
	ck_assert_uint_eq(trc_reader_modules(file.r), 1 + LIBRARIES);
	ck_assert_uint_eq(trc_reader_module(file.r, 1)->first_epoch, 1);
	ck_assert_uint_ge(trc_reader_module(file.r, 1)->last_epoch, EPOCHS);
	ck_assert_uint_eq(trc_reader_info(file.r)->table_full, 0);
}
END_TEST

/* Its samples of the last epochs are looked at when the next one is known already. */
START_TEST(a_module_in_the_place_of_another_has_its_own_name)
{
	static const char *const path[6] = {"/usr/lib/one.so", "/usr/lib/one.so",
					    "/usr/lib/two.so", "/usr/lib/one.so",
					    "/usr/lib/two.so", "/usr/lib/two.so"};
	struct trc_perf_maps *maps = trc_perf_maps_make();

	fake_slot(&f, 0, 5, 333, "main");
	map_library(maps, 0, 1, "/usr/lib/one.so");
	map_library(maps, 0, 5000000, "/usr/lib/two.so");
	begin_epoch(2, 0);
	trc_drain_pass(f.drain);
	sample_library(maps, 0, 1000000);
	begin_epoch(5, 0);
	trc_drain_pass(f.drain);
	sample_library(maps, 0, 1000000);
	begin_epoch(8, 0);
	trc_drain_pass(f.drain);
	sample_library(maps, 0, 6000000);
	/* Of epoch 5, from another proc. */
	begin_epoch(8, UINT64_C(1) << 60);
	sample_library(maps, 0, 2000000);
	begin_epoch(8, 0);
	sample_library(maps, 0, 7000000);
	begin_epoch(9, 0);
	trc_drain_pass(f.drain);
	sample_library(maps, 0, 8000000);
	trc_perf_maps_free(maps);
	fake_finish(&f, TRC_DRAIN_DEAD, &file);
	for (size_t i = 0; i < 6; i++)
		ck_assert_str_eq(module_of_sample(i), path[i]);
	ck_assert_uint_eq(trc_reader_modules(file.r), 1 + 2);
	ck_assert_uint_eq(trc_reader_module(file.r, 1)->last_epoch, 5);
	ck_assert_uint_eq(trc_reader_module(file.r, 2)->first_epoch, 8);
	ck_assert_uint_eq(trc_reader_module(file.r, 2)->last_epoch, UINT32_MAX);
}
END_TEST

/* A stack may end in a word that is no return address, and lies where the old one was. */
START_TEST(a_module_that_has_lost_some_of_its_place_is_not_stretched)
{
	struct trc_perf_maps *maps = trc_perf_maps_make();
	struct trc_perf_mapping part = {
		.raw_ns = f.shared->start.monotonic_raw_ns + 5000000,
		.start = library_at(0),
		.limit = library_at(0) + 0x8000,
		.path = "/usr/lib/two.so",
		.pid = 333,
	};
	const uint64_t frame[2] = {library_at(0) + 0x124, library_at(0) + 0x9000};

	fake_slot(&f, 0, 5, 333, "main");
	map_library(maps, 0, 1, "/usr/lib/one.so");
	trc_perf_maps_add(maps, &part);
	begin_epoch(1, 0);
	for (uint32_t epoch = 2; epoch <= 40; epoch++) {
		begin_epoch(epoch, 0);
		trc_drain_pass(f.drain);
		sample(maps, frame, 2, epoch < 5 ? 1000000 : 6000000);
	}
	trc_perf_maps_free(maps);
	fake_finish(&f, TRC_DRAIN_DEAD, &file);
	for (size_t i = 0; i < 39; i++)
		ck_assert_str_eq(module_of_sample(i),
				 i < 3 ? "/usr/lib/one.so" : "/usr/lib/two.so");
	ck_assert_uint_eq(trc_reader_modules(file.r), 1 + 3);
}
END_TEST

/* A stack of the process's own leads to it later in the same epoch, which the drain learns when that
 * is over, or before. */
static void met_by_both(uint32_t seen_in)
{
	struct trc_module_slot *slot = trc_area(f.shared, f.shared->modules_off);
	struct trc_perf_maps *maps = trc_perf_maps_make();
	struct trc_perf_mapping mapping = {
		.raw_ns = f.shared->start.monotonic_raw_ns + 1,
		.start = library_at(0),
		.limit = library_at(0) + 0x10000,
		.path = "/usr/lib/plugin.so",
		.pid = 333,
		.build_id = {0xab},
		.build_id_bytes = TRC_PERF_BUILD_ID_BYTES,
	};

	fake_slot(&f, 0, 5, 333, "main");
	trc_perf_maps_add(maps, &mapping);
	begin_epoch(2, 0);
	trc_drain_pass(f.drain);
	sample_library(maps, 0, 1000000);
	begin_epoch(seen_in, 0);
	fake_module(&f, 0, mapping.start, mapping.limit, mapping.path);
	atomic_store(&slot->first_epoch, 2);
	slot->load_bias = trc_perf_mapping_bias(&mapping);
	for (uint32_t epoch = seen_in; epoch <= 9; epoch++) {
		begin_epoch(epoch, 0);
		trc_drain_pass(f.drain);
	}
	trc_perf_maps_free(maps);
	fake_finish(&f, TRC_DRAIN_DEAD, &file);
	ck_assert_uint_eq(trc_reader_modules(file.r), 2);
	ck_assert_uint_eq(trc_reader_module(file.r, 1)->first_epoch, 2);
	ck_assert_uint_eq(trc_reader_module(file.r, 1)->last_epoch, UINT32_MAX);
}

START_TEST(a_module_that_the_process_meets_as_well_is_loaded_on)
{
	met_by_both(2);
}
END_TEST

START_TEST(a_module_that_the_process_has_met_in_an_epoch_before_is_loaded_on)
{
	met_by_both(4);
}
END_TEST

void drain_modules(TCase *t)
{
	tcase_add_test(t, a_module_of_the_kernels_samples_has_one_entry_for_all_epochs);
	tcase_add_test(t, a_module_in_the_place_of_another_has_its_own_name);
	tcase_add_test(t, a_module_that_has_lost_some_of_its_place_is_not_stretched);
	tcase_add_test(t, a_module_that_the_process_meets_as_well_is_loaded_on);
	tcase_add_test(t, a_module_that_the_process_has_met_in_an_epoch_before_is_loaded_on);
}
