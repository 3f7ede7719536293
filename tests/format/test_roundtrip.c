/* test_roundtrip.c - what is written is what is read. */
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "format/block.h"
#include "common.h"

enum { N_PROCS = 3, N_STREAMS = 2 * N_PROCS + 1 };

static const char sample_events[] = "@0 proc=0 thread=1 thread_start tid=101 creator=0 stack=none created=-1000\n"
				    "@300 proc=0 thread=1 park reason=1 object=2147287056 holder=2 "
				    "stack=(epoch 1 0x401010 0x402020 0x403030)\n";

START_TEST(the_sample_reads_back)
{
	struct bytes b = assembled(sample_trace);
	struct trc_error error;
	struct trc_reader *r;
	char *events, *tables;

	ck_assert_int_eq(trc_reader_open_memory(&r, b.at, b.n, &error), 0);
	ck_assert_msg(!trc_reader_warning(r), "%s", trc_reader_warning(r));
	events = dump_events(r, &error);
	ck_assert_msg(events != NULL, "%s", error.text);
	ck_assert_msg(!strncmp(events, sample_events, strlen(sample_events)), "%s", events);
	ck_assert_ptr_nonnull(strstr(events, "@600 proc=2 thread=1 wait reason=18 object=7 "
					     "since=550 result=0 stack=(epoch 1 "));
	ck_assert_ptr_nonnull(strstr(events, "log task=9 category=\"net\" "
					     "message=\"got 12 bytes\"\n"));
	ck_assert_ptr_nonnull(strstr(events, "@710 proc=1 thread=1 counter name=\"depth\" "
					     "value=-5\n"));
	ck_assert_ptr_nonnull(strstr(events, "@730 proc=2 thread=1 proc_stop preempted=1\n"));
	ck_assert_ptr_nonnull(strstr(events, "gap lost_events=12 since=1150 cause=1\n"));
	ck_assert_ptr_nonnull(strstr(events, "labels labels={size=-5: tenant=\"acme\"} before=none\n"));
	ck_assert_ptr_nonnull(strstr(events, "sample event=1 value=1000000 period=1000000 "
					     "stack=(epoch 1 0x401010 0x402020 0x403030) "
					     "labels={size=70000:bytes tenant=\"acme\" "
					     "user=\"\"}\n"));
	ck_assert_ptr_nonnull(strstr(events, "alloc sample=4294967297 address=139637976731648 "
					     "bytes=96 period=524288 "
					     "stack=(epoch 1 0x401010 0x402020 0x403030) "
					     "labels={size=70000:bytes tenant=\"acme\" "
					     "user=\"\"}\n"));
	ck_assert_ptr_nonnull(strstr(events, "free sample=4294967297 address=139637976731648 "
					     "bytes=96 period=524288\n"));
	tables = dump_tables(r);
	ck_assert_str_eq(
		tables,
		"info command=server --threads 2\n"
		"info empty=\n"
		"thread 1 tid 101 creator 0 0..0 \"main\"\n"
		"thread 2 tid 102 creator 1 1100..2300 \"worker\"\n"
		"module 1 0x400000..0x500000 at 0 bias 0 epochs 0..4294967295 /usr/bin/server "
		"build c0 ff ee\n"
		"module 2 0x700000..0x800000 at 0 bias 0 epochs 1..2 /usr/lib/x.so build\n"
		"status 1 epoll holder 0 object 0x5 since 2250 "
		"(epoch 1 0x401999 0x402020 0x403030)\n"
		"status 2 ? holder 0 object 0 since 0 none\n"
		"open_region 1 depth 0 task 9 \"parse\" since 2050\n"
		"open_region 1 depth 1 task 0 \"\" since 2060\n"
		"coverage source 0 proc 0 held 900 950..2400\n"
		"coverage source 1 proc -1 held 0 950..2400\n"
		"coverage source 2 proc 2 held 950 950..2400\n"
		"sample_event 1 signal period 1000000 frequency 0 missing 2 \"cpu-clock\" "
		"\"nanoseconds\" \"timer instead\"\n"
		"sample_event 2 kernel period 0 frequency 997 missing 0 \"cycles:u\" \"count\" "
		"\"\"\n"
		"thread_labels 1 {size=70000:bytes tenant=\"acme\" user=\"\"}\n"
		"thread_labels 2 none\n"
		"thread_fiber 1 8589934592 \"session\"\n"
		"thread_fiber 2 0 \"\"\n");
	free(tables);
	free(events);
	trc_reader_close(r);
	bytes_free(&b);
}
END_TEST

START_TEST(the_sample_says_what_it_is)
{
	struct bytes b = assembled(sample_trace);
	const struct trc_file_info *info;
	struct trc_error error;
	struct trc_reader *r;

	ck_assert_int_eq(trc_reader_open_memory(&r, b.at, b.n, &error), 0);
	info = trc_reader_info(r);
	ck_assert_uint_eq(info->major, 1);
	ck_assert_uint_eq(info->minor, TRC_MINOR);
	ck_assert_uint_eq(info->n_procs, 3);
	ck_assert_int_eq(info->clock, TRC_CLOCK_MONOTONIC_RAW);
	ck_assert_uint_eq(info->file_bytes, b.n);
	ck_assert_uint_eq(info->n_generations, 2);
	ck_assert_uint_eq(info->n_events, 26);
	ck_assert(info->complete);
	ck_assert(info->has_end_totals);
	ck_assert_int_eq(info->first_ns, 0);
	ck_assert_int_eq(info->last_ns, 1300);
	ck_assert_uint_eq(info->start_monotonic_raw_ns, 1000);
	ck_assert_uint_eq(info->start_monotonic_ns, 5000);
	ck_assert_uint_eq(info->start_realtime_ns, UINT64_C(1700000000000000000));
	ck_assert_uint_eq(info->creation_realtime_ns, UINT64_C(1700000000000000000));
	ck_assert_uint_eq(info->schema_hash, trc_schema_hash());
	ck_assert_int_eq(trc_reader_ns(r, 1500), 500);
	ck_assert_str_eq(trc_reader_info_get(r, "command"), "server --threads 2");
	ck_assert_ptr_null(trc_reader_info_get(r, "comman"));
	ck_assert_ptr_null(trc_reader_module(r, 0));
	ck_assert_ptr_null(trc_reader_module(r, 3));
	ck_assert_uint_eq(trc_reader_unknown_sections(r), 0);
	trc_reader_close(r);
	bytes_free(&b);
}
END_TEST

/* --- threads that are named by their tids (format.md, "THREADS") --- */

static const struct {
	const char *what;
	uint64_t ticks, holder, serial;
} tids[] = {
	{"a serial is what it says", 1500, 3, 3},
	{"the thread that has the tid", 1500, TRC_THREAD_IS_TID | 101, 1},
	{"a thread that begins only later", 1500, TRC_THREAD_IS_TID | 102, 2},
	{"one of three that had the tid: the first", 2000, TRC_THREAD_IS_TID | 200, 3},
	{"at its very end", 3000, TRC_THREAD_IS_TID | 200, 3},
	{"the second", 5000, TRC_THREAD_IS_TID | 200, 4},
	{"after an end, a begin far ahead", 3400, TRC_THREAD_IS_TID | 200, 3},
	{"before a begin, an end far back", 3600, TRC_THREAD_IS_TID | 200, 4},
	{"the last, which has ended", 99000, TRC_THREAD_IS_TID | 200, 5},
	{"of a tid that no thread had", 1500, TRC_THREAD_IS_TID | 103, 0},
	{"a tid of none", 1500, TRC_THREAD_IS_TID, 0},
};

START_TEST(a_tid_is_the_thread_that_had_it)
{
	char text[1000];
	struct bytes b;
	struct trc_columns *c;
	struct trc_error error;
	struct trc_reader *r;

	sprintf(text,
		"thread 1 tid=101\nthread 3 tid=200 start=1000 end=3000\n"
		"@%" PRIu64 " thread=1 park reason=mutex object=1 holder=%" PRIu64 "\n"
		"thread 2 tid=102 start=1600\nthread 5 tid=200 start=7000 end=8000\n"
		"thread 4 tid=200 start=4000 end=6000\n",
		tids[_i].ticks, tids[_i].holder);
	b = assembled(text);
	ck_assert_int_eq(trc_reader_open_memory(&r, b.at, b.n, &error), 0);
	ck_assert_int_eq(trc_reader_load(r, 0, TRC_WANT_ARGS, NULL, &c, &error), 0);
	ck_assert_msg(c->arg[TRC_KIND_PARK][2][0] == tids[_i].serial, "%s: %" PRIu64,
		      tids[_i].what, c->arg[TRC_KIND_PARK][2][0]);
	ck_assert_uint_eq(trc_reader_info(r)->dangling_ids, 0);
	trc_columns_free(c);
	trc_reader_close(r);
	bytes_free(&b);
}
END_TEST

/* --- random events of all kinds --- */

enum { N_RANDOM = 200000, N_STRINGS = 300, N_RANDOM_STACKS = 200, N_LABEL_SETS = 150 };

struct given {
	struct trc_event event;
	char text[40];
};

struct random_trace {
	struct given *given;
	uint32_t *stream[N_STREAMS]; /* indices into given, in order */
	size_t n[N_STREAMS];
	uint32_t string_id[N_STRINGS], stack_id[N_RANDOM_STACKS], label_set_id[N_LABEL_SETS];
	struct bytes bytes;
};

static size_t stream_of(const struct trc_event *e)
{
	return e->source == TRC_SOURCE_RING	? e->proc
	       : e->source == TRC_SOURCE_KERNEL ? N_PROCS + e->proc
						: 2 * N_PROCS;
}

static uint64_t random_argument(struct random_trace *t, enum trc_arg_type type, uint64_t time)
{
	switch (type) {
	case TRC_ARG_STRING:
		return t->string_id[random_next() % N_STRINGS];
	case TRC_ARG_STACK:
		return t->stack_id[random_next() % N_RANDOM_STACKS];
	case TRC_ARG_LABELS:
		return random_next() % 4 ? t->label_set_id[random_next() % N_LABEL_SETS] : 0;
	case TRC_ARG_THREAD:
		return 1 + random_next() % 50;
	case TRC_ARG_TICKS:
		return random_next() % 8 ? time - random_wide() % (time + 1) : 0;
	case TRC_ARG_REASON:
		return 1 + random_next() % (TRC_REASON_COUNT - 1);
	default:
		return random_wide();
	}
}

static void random_event(struct random_trace *t, struct given *g, uint64_t time)
{
	const struct trc_kind_info *info;
	struct trc_event *e = &g->event;

	e->time = time;
	e->kind = (uint8_t)(1 + random_next() % (TRC_KIND_COUNT - 1));
	e->source = random_next() % 10 ? TRC_SOURCE_RING : (uint8_t)(1 + random_next() % 2);
	e->proc = (uint32_t)(random_next() % N_PROCS);
	e->thread = 1 + (uint32_t)(random_next() % (random_next() % 100 ? 9 : 3000));
	info = trc_kind_info(e->kind);
	for (unsigned int a = 0; a < info->n_args; a++) {
		if (info->arg[a].type != TRC_ARG_TEXT) {
			e->arg[a] = random_argument(t, info->arg[a].type, time);
			continue;
		}
		e->text_bytes = (uint16_t)(random_next() % sizeof(g->text));
		for (unsigned int i = 0; i < e->text_bytes; i++)
			g->text[i] = (char)random_next();
		e->text = g->text;
	}
}

/* The i-th set: i % 9 + 1 labels, strings and numbers by turns, told apart by the number i. */
static uint32_t make_labels(int i, struct trc_label *label, char text[][32])
{
	uint32_t n = (uint32_t)(i % 9 + 1);

	for (uint32_t l = 0; l < n; l++) {
		static const char keys[] = "abcdefghi";

		sprintf(text[l], "value %u of %d", l, i);
		label[l] = (struct trc_label){.key = keys + l};
		label[l].key_bytes = l < n - 1 && l % 3 ? 2 : 1;
		label[l].is_number = l % 2;
		label[l].number = l % 2 ? (l + 1) * (int64_t)i * INT64_C(-123456789012) : 0;
		label[l].value = l % 2 ? "kB" : text[l];
		label[l].value_bytes = (uint32_t)strlen(label[l].value);
	}
	return n;
}

static void expect_labels(const struct trc_reader *r, uint32_t id, int i)
{
	struct trc_label expected[9];
	const struct trc_label *found;
	char text[9][32];
	uint32_t n;

	ck_assert_int_eq(trc_reader_label_set(r, id, &found, &n), 0);
	ck_assert_uint_eq(n, make_labels(i, expected, text));
	for (uint32_t l = 0; l < n; l++) {
		ck_assert_int_eq(trc_label_order(&found[l], &expected[l]), 0);
		ck_assert_int_eq(found[l].is_number, expected[l].is_number);
		ck_assert_int_eq(found[l].number, expected[l].number);
		ck_assert_uint_eq(found[l].value_bytes, expected[l].value_bytes);
		ck_assert_mem_eq(found[l].value, expected[l].value, found[l].value_bytes);
	}
}

static void fill_tables(struct random_trace *t, struct trc_writer *w)
{
	for (int i = 0; i < N_STRINGS; i++) {
		char text[32];

		sprintf(text, "string number %d", i);
		t->string_id[i] = trc_writer_string(w, text, (uint32_t)strlen(text));
		ck_assert_uint_eq(t->string_id[i], (unsigned int)i + 1);
		ck_assert_uint_eq(trc_writer_string(w, text, (uint32_t)strlen(text)),
				  t->string_id[i]);
	}
	for (int i = 0; i < N_RANDOM_STACKS; i++) {
		uint64_t frame[TRC_STACK_DEPTH_MAX];
		uint32_t n = (uint32_t)(i % (TRC_STACK_DEPTH_MAX + 1));

		for (uint32_t f = 0; f < n; f++)
			frame[f] = random_wide();
		t->stack_id[i] = trc_writer_stack(w, (uint32_t)i, frame, n);
		ck_assert_uint_eq(t->stack_id[i], (unsigned int)i + 1);
	}
	for (int i = 0; i < N_LABEL_SETS; i++) {
		struct trc_label label[9];
		char text[9][32];
		uint32_t n = make_labels(i, label, text);

		t->label_set_id[i] = trc_writer_label_set(w, label, n);
		ck_assert_uint_eq(t->label_set_id[i], (unsigned int)i + 1);
		ck_assert_uint_eq(trc_writer_label_set(w, label, n), t->label_set_id[i]);
	}
}

static void random_write(struct random_trace *t, uint64_t generation_ns)
{
	struct trc_writer_options options = {
		.clock = TRC_CLOCK_MONOTONIC_RAW,
		.ticks_per_second = 1000000000,
		.n_procs = N_PROCS,
		.memory_bytes = 8 << 20,
		.generation_ns = generation_ns,
	};
	struct trc_sync_point zero = {0};
	uint64_t time = 1000;
	struct trc_writer_totals totals;
	struct trc_writer *w;

	ck_assert_int_eq(trc_writer_open(&w, &options, bytes_sink, &t->bytes), 0);
	ck_assert_int_eq(trc_writer_sync(w, &zero), 0);
	fill_tables(t, w);
	for (uint32_t i = 0; i < N_RANDOM; i++) {
		struct given *g = &t->given[i];
		size_t s;

		time += random_wide() % 2000;
		random_event(t, g, time);
		s = stream_of(&g->event);
		t->stream[s][t->n[s]++] = i;
		expect_same(trc_writer_event(w, &g->event), 0);
		if (random_next() % 40000 == 0)
			ck_assert_int_eq(trc_writer_flush(w), 0);
		if (random_next() % 60000 == 0)
			ck_assert_int_eq(trc_writer_generation(w), 0);
	}
	ck_assert_int_eq(trc_writer_finish(w), 0);
	trc_writer_totals(w, &totals);
	ck_assert_uint_eq(totals.events, N_RANDOM);
	ck_assert_uint_eq(totals.lost_events, 0);
	ck_assert_uint_eq(totals.clamped_times, 0);
	ck_assert_uint_eq(totals.file_bytes, t->bytes.n);
	ck_assert_uint_eq(totals.table_full, 0);
	trc_writer_close(w);
}

static void compare_event(const struct given *g, const struct trc_columns *c, uint32_t i)
{
	const struct trc_kind_info *info = trc_kind_info(g->event.kind);
	unsigned int k = g->event.kind;
	uint32_t rank = c->rank[i];

	expect_same(c->kind[i], k);
	expect_same(c->time_ns[i], g->event.time);
	expect_same(c->thread[i], g->event.thread);
	expect_same(c->proc[i], g->event.proc);
	for (unsigned int a = 0; a < info->n_args; a++) {
		if (info->arg[a].type != TRC_ARG_TEXT) {
			expect_same(c->arg[k][a][rank], g->event.arg[a]);
			continue;
		}
		expect_same((uintptr_t)c->arg[k][a], 0);
		expect_same(c->text_off[k][rank + 1] - c->text_off[k][rank], g->event.text_bytes);
		if (memcmp(c->text[k] + c->text_off[k][rank], g->text, g->event.text_bytes))
			ck_abort_msg("the text of a %s differs", info->name);
	}
}

static void compare_block(const struct random_trace *t, const struct trc_reader *r, size_t b,
			  size_t next[N_STREAMS])
{
	const struct trc_block_info *info = trc_reader_block(r, b);
	uint32_t count[TRC_KIND_MAX + 1] = {0};
	struct trc_error error;
	struct trc_columns *c;
	size_t s = info->source == TRC_SOURCE_RING     ? info->proc
		   : info->source == TRC_SOURCE_KERNEL ? N_PROCS + info->proc
						       : 2 * N_PROCS;

	ck_assert_uint_eq(info->source == TRC_SOURCE_OVERFLOW, info->proc == TRC_PROC_PER_EVENT);
	ck_assert_msg(!trc_reader_load(r, b, TRC_WANT_ALL, NULL, &c, &error), "%s", error.text);
	ck_assert_uint_eq(c->n_events, info->n_events);
	ck_assert_int_eq(c->time_ns[0], info->first_ns);
	ck_assert_int_eq(c->time_ns[c->n_events - 1], info->last_ns);
	for (uint32_t i = 0; i < c->n_events; i++) {
		expect_same(next[s] < t->n[s], true);
		expect_same(c->rank[i], count[c->kind[i]]++);
		compare_event(&t->given[t->stream[s][next[s]++]], c, i);
	}
	ck_assert_mem_eq(count, info->kind_count, sizeof(count));
	trc_columns_free(c);
}

static struct random_trace random_trace_make(uint64_t generation_ns)
{
	struct random_trace t = {.given = calloc(N_RANDOM, sizeof(*t.given))};

	ck_assert_ptr_nonnull(t.given);
	for (int s = 0; s < N_STREAMS; s++) {
		t.stream[s] = malloc(N_RANDOM * sizeof(*t.stream[s]));
		ck_assert_ptr_nonnull(t.stream[s]);
	}
	random_write(&t, generation_ns);
	return t;
}

static void random_trace_free(struct random_trace *t)
{
	for (int s = 0; s < N_STREAMS; s++)
		free(t->stream[s]);
	free(t->given);
	bytes_free(&t->bytes);
}

START_TEST(random_events_of_all_kinds_read_back)
{
	struct random_trace t = random_trace_make(_i ? 20000000 : 0);
	size_t next[N_STREAMS] = {0};
	struct trc_error error;
	struct trc_reader *r;
	uint32_t n_bytes;

	ck_assert_int_eq(trc_reader_open_memory(&r, t.bytes.at, t.bytes.n, &error), 0);
	ck_assert_msg(!trc_reader_warning(r), "%s", trc_reader_warning(r));
	ck_assert_uint_eq(trc_reader_info(r)->n_events, N_RANDOM);
	if (_i)
		ck_assert_uint_gt(trc_reader_info(r)->n_generations, 5);
	for (size_t b = 0; b < trc_reader_blocks(r); b++)
		compare_block(&t, r, b, next);
	ck_assert_mem_eq(next, t.n, sizeof(next));
	ck_assert_uint_eq(trc_reader_info(r)->dangling_ids, 0);
	ck_assert_mem_eq(trc_reader_string(r, t.string_id[299], &n_bytes), "string number 299", 17);
	ck_assert_uint_eq(n_bytes, 17);
	ck_assert_ptr_null(trc_reader_string(r, 0, &n_bytes));
	for (int i = 0; i < N_LABEL_SETS; i++)
		expect_labels(r, t.label_set_id[i], i);
	trc_reader_close(r);
	random_trace_free(&t);
}
END_TEST

START_TEST(only_what_is_wanted_is_loaded)
{
	struct bytes b = assembled(sample_trace);
	struct trc_kind_mask mask = {{UINT64_C(1) << TRC_KIND_PARK}};
	struct trc_columns *c;
	struct trc_error error;
	struct trc_reader *r;

	ck_assert_int_eq(trc_reader_open_memory(&r, b.at, b.n, &error), 0);
	ck_assert_int_eq(trc_reader_load(r, 0, TRC_WANT_TIME, NULL, &c, &error), 0);
	ck_assert(c->time_ns && c->proc && !c->kind && !c->thread && !c->arg[TRC_KIND_PARK]);
	trc_columns_free(c);
	ck_assert_int_eq(trc_reader_load(r, 0, TRC_WANT_ARGS, &mask, &c, &error), 0);
	ck_assert(c->arg[TRC_KIND_PARK] && c->arg[TRC_KIND_PARK][1] && c->rank);
	ck_assert_msg(!c->arg[TRC_KIND_THREAD_START], "not in the mask");
	ck_assert(!c->time_ns && !c->thread);
	trc_columns_free(c);
	ck_assert_int_eq(trc_reader_load(r, trc_reader_blocks(r), TRC_WANT_ALL, NULL, &c, &error),
			 -EINVAL);
	trc_reader_close(r);
	bytes_free(&b);
}
END_TEST

/* --- reader:D3 --- */

struct loader {
	const struct trc_reader *r;
	uint64_t sum;
};

static void *load_all(void *context)
{
	struct loader *l = context;
	struct trc_error error;
	struct trc_columns *c;

	for (size_t b = 0; b < trc_reader_blocks(l->r); b++) {
		if (trc_reader_load(l->r, b, TRC_WANT_ALL, NULL, &c, &error) < 0)
			return NULL;
		for (uint32_t i = 0; i < c->n_events; i++)
			l->sum += (uint64_t)c->time_ns[i] * c->thread[i] + c->kind[i];
		trc_columns_free(c);
	}
	return NULL;
}

START_TEST(threads_may_load_at_once)
{
	struct random_trace t = random_trace_make(0);
	struct loader loader[4] = {0};
	struct trc_error error;
	struct trc_reader *r;
	pthread_t thread[4];

	ck_assert_int_eq(trc_reader_open_memory(&r, t.bytes.at, t.bytes.n, &error), 0);
	for (int i = 0; i < 4; i++) {
		loader[i].r = r;
		ck_assert_int_eq(pthread_create(&thread[i], NULL, load_all, &loader[i]), 0);
	}
	for (int i = 0; i < 4; i++)
		pthread_join(thread[i], NULL);
	for (int i = 0; i < 4; i++)
		ck_assert_uint_eq(loader[i].sum, loader[0].sum);
	ck_assert_uint_ne(loader[0].sum, 0);
	trc_reader_close(r);
	random_trace_free(&t);
}
END_TEST

Suite *suite_roundtrip(void)
{
	Suite *s = suite_create("round trip");
	TCase *t = tcase_create("round trip");

	tcase_set_timeout(t, 60);
	tcase_add_test(t, the_sample_reads_back);
	tcase_add_test(t, the_sample_says_what_it_is);
	tcase_add_loop_test(t, a_tid_is_the_thread_that_had_it, 0, sizeof(tids) / sizeof(*tids));
	tcase_add_loop_test(t, random_events_of_all_kinds_read_back, 0, 2);
	tcase_add_test(t, only_what_is_wanted_is_loaded);
	tcase_add_test(t, threads_may_load_at_once);
	suite_add_tcase(s, t);
	return s;
}
