/*
 * bench_drain.c - what it costs the drain to take an event of two arguments from a ring to a file.
 *
 *   bench_drain FILE
 *
 * A ring of 4 MiB is filled by hand, outside of the time that is taken, and drained: checked,
 * encoded, compressed and written.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "bench.h"
#include "recorder/shared/clock.h"
#include "recorder/drain/drain.h"

enum { ROUNDS = 80, RECORD_WORDS = 4 };

static int write_all(void *context, const void *bytes, size_t n_bytes)
{
	return write(*(int *)context, bytes, n_bytes) == (ssize_t)n_bytes ? 0 : -1;
}

static struct trc_shared *map_ring(uint64_t *mapped_bytes)
{
	struct trc_layout_options options = {.n_procs = 1};
	struct trc_shared h = {.layout_version = TRC_LAYOUT_VERSION};
	struct trc_shared *s;

	trc_clock_setup(0);
	if (trc_layout_plan(&h, &options))
		exit(1);
	memcpy(h.magic, TRC_LAYOUT_MAGIC, sizeof(h.magic));
	h.schema_hash = trc_schema_hash();
	h.clock = (uint32_t)trc_clock_kind;
	h.ticks_per_second = trc_clock_ticks_per_second();
	trc_clock_sync(&h.start);
	s = mmap(NULL, h.total_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (s == MAP_FAILED)
		exit(1);
	memcpy(s, &h, sizeof(h));
	s->next_serial = 100;
	trc_ring_at(s, 0)->state = TRC_RING_READY;
	*mapped_bytes = h.total_bytes;
	return s;
}

/* Enters a string into the mapping's table, as trc_string_intern() does. */
static uint64_t string_id(struct trc_shared *s, const char *text)
{
	uint64_t hash = 0x123456789a, id = TRC_ID(0, 7, hash);
	struct trc_entry_head *e = trc_string_entry(s, id);

	memcpy(e + 1, text, strlen(text));
	e->n = (uint32_t)strlen(text);
	e->key = hash << 2 | TRC_KEY_VALID;
	return id;
}

/* A full ring of counters, some tens of ticks apart, by four threads, with values that jump. */
static void fill(struct trc_shared *s, uint64_t name, uint64_t *n)
{
	static uint64_t x = 88172645463325252u, time;
	uint64_t *data = (uint64_t *)trc_ring_data(s, 0);
	uint64_t head = trc_ring_at(s, 0)->head, mask = s->ring_words - 1;

	if (!time)
		time = s->start.ticks + 1;
	for (uint64_t i = 0; i < s->ring_words; i += RECORD_WORDS, (*n)++) {
		uint64_t *word = data + ((head + i) & mask);

		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		time += 20 + x % 32;
		word[0] = time;
		word[1] = TRC_REC_WORD1(TRC_KIND_COUNTER, 0, RECORD_WORDS, 1 + *n / 100 % 4);
		word[2] = name;
		word[3] = (x >> 32) % 1000;
	}
	trc_ring_at(s, 0)->head = head + s->ring_words;
}

int main(int argc, char **argv)
{
	static const struct trc_drain_options none;
	struct trc_writer_options wo = {.n_procs = 1};
	struct trc_writer_totals totals;
	struct bench_series ns_per_event = {0};
	struct trc_shared *shared;
	struct trc_writer *w;
	struct trc_drain *d;
	uint64_t mapped_bytes, name, n = 0;
	int fd = argc == 2 ? open(argv[1], O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600) : -1;

	if (fd < 0)
		return 1;
	shared = map_ring(&mapped_bytes);
	name = string_id(shared, "queue depth");
	wo.clock = trc_clock_kind;
	wo.ticks_per_second = trc_clock_ticks_per_second();
	if (trc_writer_open(&w, &wo, write_all, &fd) ||
	    trc_drain_open(&d, shared, mapped_bytes, w, &none))
		return 1;
	bench_sleep_ms(200); /* so that no record lies in the future */
	for (int i = 0; i < ROUNDS; i++) {
		uint64_t before = n, began;

		fill(shared, name, &n);
		began = bench_now_ns();
		if (trc_drain_pass(d) != n - before)
			return 1;
		bench_add(&ns_per_event, (double)(bench_now_ns() - began) / (double)(n - before));
	}
	trc_drain_finish(d, TRC_DRAIN_DEAD);
	if (trc_writer_finish(w))
		return 1;
	trc_writer_totals(w, &totals);
	printf("drain_ns_per_event\t%.2f\n", bench_median(&ns_per_event));
	printf("drain_bytes_per_event\t%.2f\n", (double)totals.file_bytes / (double)n);
	return 0;
}
