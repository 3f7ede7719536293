/*
 * bench_format.c - how fast the .trc writer and reader are, and how small the file.
 *
 * Two streams of events that a generator makes up beforehand:
 *
 *   pairs   a two-argument event (release: reason, object) again and again, four threads
 *   server  what a server's locks and polls give: waits in epoll and read, parks on contended
 *           mutexes with their resumes and unlocks, with stacks; time in TSC ticks
 *
 * Each is written into memory by one thread and read back; beside it a plain memcpy of the same
 * events as the ring would hold them, as the measure of the machine.  Lines are NAME<tab>VALUE;
 * rates are millions of events a second.
 *
 *   bench_format [EVENTS [FILE]]     FILE: where to leave the server trace
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <math.h>
#include <string.h>
#include "format/reader.h"
#include "format/writer.h"
#include "bench.h"

enum {
	N_PROCS = 2,
	N_THREADS = 6,
	N_STACKS = 40,
	N_LOCKS = 24,
	N_FDS = 64,
	ROUNDS = 3,
};
#define TICKS_PER_SECOND UINT64_C(2400000000)

struct memory {
	uint8_t *bytes;
	size_t n_bytes, room_bytes;
};

static int memory_sink(void *context, const void *bytes, size_t n_bytes)
{
	struct memory *m = context;

	if (n_bytes > m->room_bytes - m->n_bytes)
		return -ENOSPC;
	memcpy(m->bytes + m->n_bytes, bytes, n_bytes);
	m->n_bytes += n_bytes;
	return 0;
}

static double now_s(void)
{
	return (double)bench_now_ns() * 1e-9;
}

static uint64_t random_next(void)
{
	static uint64_t state = UINT64_C(88172645463325252);

	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

static uint32_t random_below(uint32_t n)
{
	return (uint32_t)((random_next() >> 32) * n >> 32);
}

/* Small numbers more often than large ones, as locks and stacks are used. */
static uint32_t random_skewed(uint32_t n)
{
	double u = (double)random_below(1 << 24) / (1 << 24);

	return (uint32_t)(u * u * u * n);
}

/* Exponentially distributed with this mean. */
static uint64_t random_gap(double mean)
{
	return (uint64_t)(-mean * log(1.0 - (double)random_below(1 << 24) / (1 << 24)));
}

struct workload {
	const char *name;
	struct trc_event *event;
	size_t n_events;
	uint64_t ring_bytes; /* as records */
};

static uint64_t lock_address(uint32_t i)
{
	return UINT64_C(0x55d0c8a01000) + i * 0x98;
}

/* The events of what happened at `time` on `proc`, to e[]; returns how many. */
static size_t server_step(struct trc_event *e, uint64_t time, uint32_t proc)
{
	uint32_t thread = 1 + random_below(N_THREADS);
	uint32_t lock = random_skewed(N_LOCKS);
	struct trc_event base = {.time = time, .proc = proc, .thread = thread};

	e[0] = base;
	switch (random_below(8)) {
	case 0:
	case 1:
	case 2:
		e[0].kind = TRC_KIND_WAIT;
		e[0].arg[0] = TRC_REASON_EPOLL;
		e[0].arg[1] = 5 + thread;
		e[0].arg[2] = time - 20000 - random_gap(100000);
		e[0].arg[4] = 1;
		return 1;
	case 3:
		e[0].kind = TRC_KIND_WAIT;
		e[0].arg[0] = TRC_REASON_READ;
		e[0].arg[1] = 20 + random_below(N_FDS);
		e[0].arg[2] = time - 24000 - random_gap(30000);
		e[0].arg[4] = 2 + random_skewed(3);
		return 1;
	case 4:
	case 5:
		e[0].kind = TRC_KIND_PARK;
		e[0].arg[0] = TRC_REASON_MUTEX;
		e[0].arg[1] = lock_address(lock);
		e[0].arg[2] = 1 + random_below(N_THREADS);
		e[0].arg[3] = 6 + lock % 16 + random_skewed(2);
		e[1] = base;
		e[1].time += 2000 + random_gap(20000);
		e[1].kind = TRC_KIND_RESUME;
		e[1].arg[0] = TRC_REASON_MUTEX;
		e[1].arg[1] = lock_address(lock);
		return 2;
	default:
		e[0].kind = TRC_KIND_UNLOCK;
		e[0].arg[0] = TRC_REASON_MUTEX;
		e[0].arg[1] = lock_address(lock);
		e[0].arg[2] = 1 + random_skewed(3);
		e[0].arg[3] = 24 + lock % 16;
		e[0].arg[4] = time - 60 - random_gap(100);
		return 1;
	}
}

static size_t pairs_step(struct trc_event *e, uint64_t time, uint32_t proc)
{
	*e = (struct trc_event){
		.time = time,
		.proc = proc,
		.thread = 1 + random_below(4),
		.kind = TRC_KIND_RELEASE,
		.arg = {TRC_REASON_MUTEX, lock_address(random_below(N_LOCKS))},
	};
	return 1;
}

static struct workload workload_make(const char *name, size_t n_events, double mean_ticks,
				     size_t (*step)(struct trc_event *, uint64_t, uint32_t))
{
	struct workload w = {name, calloc(n_events + 2, sizeof(*w.event)), 0, 0};
	uint64_t time[N_PROCS] = {1000000, 1000000};

	while (w.event && w.n_events < n_events) {
		uint32_t proc = w.n_events & 1;
		size_t n = step(w.event + w.n_events, time[proc], proc);

		time[proc] = w.event[w.n_events + n - 1].time + 20 + random_gap(mean_ticks);
		w.n_events += n;
	}
	for (size_t i = 0; i < w.n_events; i++)
		w.ring_bytes += 16 + 8 * (uint64_t)trc_kind_info(w.event[i].kind)->n_args;
	return w;
}

static void write_tables(struct trc_writer *w)
{
	static const struct trc_sync_point sync[2] = {
		{1000000, 5000, 5000, 5000, 30},
		{1000000 + 10 * TICKS_PER_SECOND, 10000005000, 10000005000, 10000005000, 30},
	};
	uint64_t frame[16];

	trc_writer_sync(w, &sync[0]);
	trc_writer_sync(w, &sync[1]);
	for (uint64_t s = 0; s < N_STACKS; s++) {
		for (uint64_t f = 0; f < 16; f++)
			frame[f] = 0x55d0c8000000 + (f > 6 ? f : f * s) * 0x131;
		trc_writer_stack(w, 1, frame, 16);
	}
}

static double workload_write(const struct workload *load, struct memory *m, bool rows)
{
	static const struct trc_writer_options options = {
		.clock = TRC_CLOCK_TSC,
		.ticks_per_second = TICKS_PER_SECOND,
		.n_procs = N_PROCS,
	};
	double start = now_s();
	struct trc_writer *w;

	m->n_bytes = 0;
	if (trc_writer_open(&w, &options, memory_sink, m) < 0)
		exit(1);
	write_tables(w);
	for (size_t i = 0; i < load->n_events; i++) {
		const struct trc_event *e = &load->event[i];

		if (!rows) {
			trc_writer_event(w, e);
			continue;
		}
		uint64_t *arg = trc_writer_row(w, e->source, e->proc, e->kind, e->thread, e->time);

		for (unsigned int a = 0; a < trc_kind_info(e->kind)->n_args; a++)
			arg[a] = e->arg[a];
	}
	if (trc_writer_finish(w) < 0)
		exit(1);
	trc_writer_close(w);
	return now_s() - start;
}

static double workload_copy(const struct workload *load, struct memory *m)
{
	double start = now_s();

	for (size_t i = 0; i < load->n_events; i++) {
		size_t n = 16 + 8 * (size_t)trc_kind_info(load->event[i].kind)->n_args;

		memcpy(m->bytes + i * 48, &load->event[i], n);
	}
	return now_s() - start;
}

static double workload_read(const struct memory *m, unsigned int want, size_t n_events)
{
	double start = now_s();
	struct trc_error error;
	struct trc_columns *c;
	struct trc_reader *r;
	size_t n = 0;

	if (trc_reader_open_memory(&r, m->bytes, m->n_bytes, &error) < 0)
		exit(1);
	for (size_t i = 0; i < trc_reader_blocks(r); i++) {
		if (trc_reader_load(r, i, want, NULL, &c, &error) < 0)
			exit(1);
		n += c->n_events;
		trc_columns_free(c);
	}
	trc_reader_close(r);
	if (n != n_events)
		exit(1);
	return now_s() - start;
}

static double least(double a, double b)
{
	return a < b ? a : b;
}

static void figure(const struct workload *load, const char *name, double value)
{
	char full[64];

	snprintf(full, sizeof(full), "%s_%s", load->name, name);
	bench_print(full, value);
}

static void workload_bench(const struct workload *load, struct memory *m)
{
	double copy = 1e9, event = 1e9, row = 1e9, some = 1e9, all = 1e9;
	double n = (double)load->n_events;

	for (int round = 0; round < ROUNDS; round++) {
		copy = least(copy, workload_copy(load, m));
		row = least(row, workload_write(load, m, true));
		event = least(event, workload_write(load, m, false));
		some = least(some, workload_read(m, TRC_WANT_KIND | TRC_WANT_TIME | TRC_WANT_THREAD,
						 load->n_events));
		all = least(all, workload_read(m, TRC_WANT_ALL, load->n_events));
	}
	figure(load, "ring_bytes_per_event", (double)load->ring_bytes / n);
	figure(load, "file_bytes_per_event", (double)m->n_bytes / n);
	figure(load, "memcpy", n / copy / 1e6);
	figure(load, "write", n / row / 1e6);
	figure(load, "write_by_event", n / event / 1e6);
	figure(load, "write_over_memcpy", row / copy);
	figure(load, "read_kind_time_thread", n / some / 1e6);
	figure(load, "read_all", n / all / 1e6);
	figure(load, "read_all_over_memcpy", all / copy);
}

static int leave(const struct memory *m, const char *path)
{
	FILE *out = fopen(path, "wb");
	size_t n = out ? fwrite(m->bytes, 1, m->n_bytes, out) : 0;

	return out && !fclose(out) && n == m->n_bytes ? 0 : -1;
}

int main(int argc, char **argv)
{
	size_t n_events = argc > 1 ? strtoul(argv[1], NULL, 0) : 4000000;
	struct workload pairs = workload_make("pairs", n_events, 300, pairs_step);
	struct workload server = workload_make("server", n_events, 12000, server_step);
	struct memory m = {.room_bytes = 48 * (n_events + 2)};

	m.bytes = malloc(m.room_bytes);
	if (!pairs.event || !server.event || !m.bytes)
		return 1;
	memset(m.bytes, 1, m.room_bytes);
	workload_bench(&pairs, &m);
	workload_bench(&server, &m);
	if (argc > 2 && leave(&m, argv[2]) < 0)
		return 1;
	free(pairs.event);
	free(server.event);
	free(m.bytes);
	return 0;
}
