/* perf_buffer.c - the kernel's buffers: opened, shared, closed (perf_buffer.h). */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>
#include "format/pages.h"
#include "format/raw.h"
#include "perf_buffer_private.h"
#include "recorder/shared/power_of_two.h"

enum {
	PROCS_MAX = 4096,
	DATA_BYTES_MAX = 512 << 10, /* with its header page: what perf_event_mlock_kb allows */
	DATA_BYTES_MIN = 16 << 10,
	FLIGHT_BYTES_MAX = 64 << 20,
	OTHERS_MAX = 4096, /* threads that are there already */
	COUNTERS_MAX = 1 << 17,
	SAMPLE_BYTES = 64 + 8 * 64, /* of a deep one */
	DESCRIPTORS_KEPT = 32,	    /* V7, for each proc */
};

/* ---- buffers --------------------------------------------------------------------------- */

static void buffers_unmap(struct trc_perf *p)
{
	for (uint32_t i = 0; i < p->n_procs; i++) {
		if (p->buffer[i].page)
			munmap(p->buffer[i].page, p->page_bytes + p->data_bytes);
		p->buffer[i].page = NULL;
	}
}

static int buffers_map_at(struct trc_perf *p)
{
	/* The kernel overwrites what is mapped without the right to write (V4). */
	int how = p->flight ? PROT_READ : PROT_READ | PROT_WRITE;

	for (uint32_t i = 0; i < p->n_procs; i++) {
		void *map;

		if (p->buffer[i].fd < 0)
			continue;
		map = mmap(NULL, p->page_bytes + p->data_bytes, how, MAP_SHARED, p->buffer[i].fd,
			   0);
		if (map == MAP_FAILED) {
			int err = -errno;

			buffers_unmap(p);
			return err;
		}
		p->buffer[i].page = map;
	}
	return 0;
}

/* As large as the limits on locked memory allow, all of one size. */
static int buffers_map(struct trc_perf *p, uint64_t data_bytes)
{
	int err = -ENOMEM;

	for (p->data_bytes = data_bytes; p->data_bytes >= DATA_BYTES_MIN; p->data_bytes /= 2) {
		err = buffers_map_at(p);
		if (!err)
			break;
	}
	return err;
}

/* The largest power of two that fits n_procs times into max_bytes. */
static uint64_t flight_bytes(uint64_t max_bytes, uint32_t n_procs)
{
	uint64_t data_bytes = FLIGHT_BYTES_MAX;

	while (data_bytes > DATA_BYTES_MIN && data_bytes > max_bytes / n_procs)
		data_bytes /= 2;
	return data_bytes;
}

/* ---- why not --------------------------------------------------------------------------- */

#define MLOCK "/proc/sys/kernel/perf_event_mlock_kb"

static bool is_mmap(const char *call)
{
	return strcmp(call, "perf_event_open: mmap") == 0;
}

static int open_is_refused(int err, const char *call, char *said, size_t n_bytes)
{
	bool locked = err == -EPERM && is_mmap(call);
	char by[96];

	if (locked)
		snprintf(by, sizeof(by), "no memory may be locked: ulimit -l, %s", MLOCK);
	else
		trc_perf_refused_by(err, by, sizeof(by));
	snprintf(said, n_bytes, "no: %s: %s%s%s%s", call, strerror(-err), *by ? " (" : "", by,
		 *by ? ")" : "");
	return err;
}

/* Of the buffers themselves: where samples are wanted, in words on the first event. */
static int no_buffers(const struct trc_perf *p, int err, const char *call, char *said,
		      size_t n_bytes)
{
	if (!p->n_events)
		return open_is_refused(err, call, said, n_bytes);
	if (err == -EPERM && is_mmap(call))
		snprintf(said, n_bytes,
			 "%s: no memory may be locked for the kernel's samples (ulimit -l, " MLOCK
			 "); what works: --sample-by signal",
			 p->event[0].name);
	else
		trc_cpu_event_explain(&p->event[0], err, said, n_bytes);
	return err;
}

/* ---- opening --------------------------------------------------------------------------- */

static int open_procs(struct trc_perf *p, int pid, bool at_exec, char *said, size_t n_bytes)
{
	uint32_t n_open = 0;

	for (uint32_t proc = 0; proc < p->n_procs; proc++) {
		struct trc_perf_buffer *b = &p->buffer[proc];

		b->fd = trc_perf_open_switches(p, pid, proc, at_exec);
		if (b->fd == -ENODEV || (b->fd == -EINVAL && n_open))
			continue; /* not online */
		if (b->fd < 0)
			return no_buffers(p, b->fd, "perf_event_open", said, n_bytes);
		n_open++;
	}
	return n_open ? 0 : no_buffers(p, -ENODEV, "perf_event_open", said, n_bytes);
}

/* V5: those of which the bit is set. */
static int open_events(struct trc_perf *p, uint32_t which, bool at_exec, char *said, size_t n_bytes)
{
	for (uint32_t proc = 0; proc < p->n_procs; proc++) {
		for (uint32_t e = 0; p->buffer[proc].page && e < p->n_events; e++) {
			int err = which >> e & 1 ? trc_perf_add_counter(p, p->pid, proc, e, at_exec)
						 : 0;

			if (err) {
				trc_cpu_event_explain(&p->event[e], err, said, n_bytes);
				return err;
			}
		}
	}
	return 0;
}

static struct trc_perf *allocate(const struct trc_perf_options *o)
{
	long conf = sysconf(_SC_NPROCESSORS_CONF);
	uint32_t n_procs = conf < 1 ? 1 : conf > PROCS_MAX ? PROCS_MAX : (uint32_t)conf;
	uint32_t n_events = o->more_events ? TRC_CPU_EVENTS_MAX : o->n_events;
	uint64_t others = o->at_exec ? 0 : (uint64_t)OTHERS_MAX * n_procs * (1 + n_events);
	uint64_t max_counters = (uint64_t)n_procs * n_events + others;
	size_t head_bytes = sizeof(struct trc_perf) + n_procs * sizeof(struct trc_perf_buffer);
	size_t counters_bytes, n_pairs;
	struct trc_perf *p;

	if (max_counters > COUNTERS_MAX)
		max_counters = COUNTERS_MAX;
	n_pairs = (uint32_t)trc_power_of_two(2 * max_counters + 1);
	counters_bytes = max_counters * sizeof(*p->counter);
	p = trc_pages_map(head_bytes + counters_bytes + n_pairs * sizeof(*p->ids.pair));
	if (!p)
		return NULL;
	p->memory_bytes = head_bytes + counters_bytes + n_pairs * sizeof(*p->ids.pair);
	p->n_procs = n_procs;
	p->page_bytes = (uint64_t)sysconf(_SC_PAGESIZE);
	p->counter = (void *)((char *)p + head_bytes);
	p->max_counters = (uint32_t)max_counters;
	p->ids.pair = (void *)((char *)p->counter + counters_bytes);
	p->ids.mask = (uint32_t)(n_pairs - 1);
	for (uint32_t i = 0; i < n_procs; i++)
		p->buffer[i].fd = p->buffer[i].maps_fd = -1;
	return p;
}

/* V7.  Descriptors are numbered from the lowest that is free. */
static uint64_t switches_below(const struct trc_perf *p, const struct trc_perf_options *o)
{
	uint64_t kept = (uint64_t)p->n_procs * DESCRIPTORS_KEPT;
	struct rlimit limit;

	if (!o->more_events || o->n_events || getrlimit(RLIMIT_NOFILE, &limit))
		return UINT64_MAX;
	return limit.rlim_cur - (kept < limit.rlim_cur / 2 ? kept : limit.rlim_cur / 2);
}

static void take_options(struct trc_perf *p, const struct trc_perf_options *o)
{
	p->pid = o->pid;
	p->flight = o->flight;
	p->switches = o->switches;
	p->switches_below = switches_below(p, o);
	p->tells_lost = !o->flight; /* there, nothing finds no room */
	p->n_events = o->n_events < TRC_CPU_EVENTS_MAX ? o->n_events : TRC_CPU_EVENTS_MAX;
	if (p->n_events)
		memcpy(p->event, o->event, p->n_events * sizeof(*o->event));
	p->chain_max = trc_perf_chain_max();
	p->tells_apart = p->n_events || o->more_events;
	p->id_bytes = sizeof(struct trc_perf_id) + (p->tells_apart ? sizeof(uint64_t) : 0);
}

int trc_perf_open(struct trc_perf **out, const struct trc_perf_options *o, char *said,
		  size_t n_bytes)
{
	struct trc_perf *p = allocate(o);
	int err;

	if (!p)
		return open_is_refused(-ENOMEM, "perf_event_open", said, n_bytes);
	take_options(p, o);
	p->defers = trc_perf_events_may_defer(p);
	err = open_procs(p, o->pid, o->at_exec, said, n_bytes);
	if (!err) {
		err = buffers_map(p, o->flight ? flight_bytes(o->max_bytes, p->n_procs)
					       : DATA_BYTES_MAX);
		if (err)
			no_buffers(p, err, "perf_event_open: mmap", said, n_bytes);
	}
	/* No counter has been asked for frames yet: without room to find them, none is. */
	if (!err && p->defers && trc_perf_chains_open(&p->chains, p->n_procs, p->data_bytes))
		p->defers = false;
	if (!err) {
		trc_perf_keep_counts_apart(p);
		err = open_events(p, UINT32_MAX, o->at_exec, said, n_bytes);
	}
	if (err) {
		trc_perf_close(p);
		return err;
	}
	snprintf(said, n_bytes, "yes");
	if (o->at_exec && p->n_events)
		trc_perf_open_maps(p, o->pid);
	if (!o->at_exec)
		trc_perf_add_threads(p, p->switches, UINT32_MAX, said, n_bytes);
	*out = p;
	return 0;
}

static bool counted_is_same(const struct trc_cpu_event *a, const struct trc_cpu_event *b)
{
	return !strcmp(a->name, b->name) && a->period == b->period &&
	       a->exclude_kernel == b->exclude_kernel;
}

/* Its number; if there are too many, TRC_CPU_EVENTS_MAX. */
static uint32_t event_enter(struct trc_perf *p, const struct trc_cpu_event *event)
{
	uint32_t e = 0;

	while (e < p->n_events && !counted_is_same(&p->event[e], event))
		e++;
	if (e == p->n_events && e < TRC_CPU_EVENTS_MAX)
		p->event[p->n_events++] = *event;
	return e;
}

int trc_perf_add_events(struct trc_perf *p, const struct trc_cpu_event *event, uint32_t n,
			char *said, size_t n_bytes)
{
	uint32_t n_events = p->n_events, n_counters = p->n_counters, which = 0;
	int err = 0;

	for (uint32_t i = 0; i < n && !err; i++) {
		uint32_t e = event_enter(p, &event[i]);

		which |= UINT32_C(1) << e;
		err = e < TRC_CPU_EVENTS_MAX ? 0 : -ENOSPC;
	}
	if (err) {
		snprintf(said, n_bytes,
			 "more than %d different events or periods since recording began",
			 TRC_CPU_EVENTS_MAX);
	} else {
		trc_perf_keep_counts_apart(p);
		err = open_events(p, which, false, said, n_bytes);
	}
	if (err) {
		trc_perf_close_counters(p, n_counters);
		p->n_events = n_events;
		return err;
	}
	trc_perf_add_threads(p, false, which, said, n_bytes);
	return 0;
}

bool trc_perf_signal(struct trc_perf *p)
{
	long self = trc_raw1(SYS_getpid, 0);

	/* Not for what is sampled: there, each sample would send one. */
	for (uint32_t i = 0; i < p->n_procs; i++) {
		int fd = p->buffer[i].fd;

		if (fd >= 0 && (trc_raw3(SYS_fcntl, fd, F_SETOWN, self) < 0 ||
				trc_raw3(SYS_fcntl, fd, F_SETFL, O_RDWR | O_ASYNC) < 0))
			return false;
	}
	return true;
}

uint64_t trc_perf_patience_ns(const struct trc_perf *p)
{
	uint64_t n_samples = p->data_bytes / 2 / SAMPLE_BYTES, patience_ns = UINT64_MAX;

	if (p->flight)
		return UINT64_MAX;
	for (uint32_t e = 0; e < p->n_events; e++) {
		/* How often the others come nobody knows before. */
		uint64_t period_ns = p->event[e].is_clock ? p->event[e].period : 100000;

		if (period_ns > 1000000000)
			period_ns = 1000000000;
		if (n_samples * period_ns / p->n_events < patience_ns)
			patience_ns = n_samples * period_ns / p->n_events;
	}
	return patience_ns;
}

/* What was said when it was settled, and what has come out since. */
static void put_note(char *note, size_t n_bytes, const struct trc_perf *p, uint32_t event)
{
	const char *settled = p->event[event].note;
	uint32_t percent = trc_perf_counted_percent(p, event);
	size_t n = (size_t)snprintf(note, n_bytes, "%s", settled);

	if (percent < 100)
		n += (size_t)snprintf(note + n, n_bytes - n,
				      "%scounted in %u%% of the time, and values multiplied",
				      n ? "; " : "", percent);
	if (p->missing_threads && n < n_bytes)
		snprintf(note + n, n_bytes - n, "%snot of threads %s", n ? "; " : "",
			 p->missing_tids);
}

void trc_perf_table_fill(struct trc_perf_table *t, const struct trc_perf *p)
{
	t->n = p ? p->n_events : 0;
	for (uint32_t i = 0; i < t->n; i++) {
		const struct trc_cpu_event *e = &p->event[i];

		put_note(t->note[i], sizeof(t->note[i]), p, i);
		t->entry[i] = (struct trc_sample_event_entry){
			.how = TRC_SAMPLE_KERNEL,
			.period = e->period,
			.frequency_hz = e->frequency_hz,
			.missing_threads = p->missing_threads,
			.name = e->name,
			.unit = e->unit,
			.note = t->note[i],
		};
	}
}

uint64_t trc_perf_missing_threads(const struct trc_perf *p)
{
	return p->missing_threads;
}

void trc_perf_close(struct trc_perf *p)
{
	if (!p)
		return;
	trc_perf_close_counters(p, 0);
	trc_perf_close_maps(p);
	trc_perf_chains_close(&p->chains);
	buffers_unmap(p);
	for (uint32_t i = 0; i < p->n_procs; i++)
		if (p->buffer[i].fd >= 0)
			trc_raw1(SYS_close, p->buffer[i].fd);
	trc_pages_unmap(p->copies, p->copies_bytes);
	trc_pages_unmap(p, p->memory_bytes);
}
