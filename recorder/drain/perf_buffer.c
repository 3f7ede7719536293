/* perf_buffer.c - the kernel's buffers and counters: opened, shared, closed (perf_buffer.h). */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>
#include "format/pages.h"
#include "format/raw.h"
#include "perf_buffer_private.h"

enum {
	PROCS_MAX = 4096,
	DATA_BYTES_MAX = 512 << 10, /* with its header page: what perf_event_mlock_kb allows */
	DATA_BYTES_MIN = 16 << 10,
	FLIGHT_BYTES_MAX = 64 << 20,
	OTHERS_MAX = 4096, /* threads that are there already */
	COUNTERS_MAX = 1 << 17,
	SAMPLE_BYTES = 64 + 8 * 64, /* of a deep one */
	OWN_PERIOD_NS = 2000000,    /* V6; the scheduler's turns take 3 ms and more */
	DESCRIPTORS_KEPT = 32,	    /* V7, for each proc */
};

/* ---- counters -------------------------------------------------------------------------- */

/* What all that write into one buffer have in common. */
static void attr_common(const struct trc_perf *p, struct perf_event_attr *attr, bool at_exec)
{
	attr->size = sizeof(*attr);
	attr->sample_type = TRC_PERF_ID_BITS;
	if (p->tells_apart)
		attr->sample_type |= PERF_SAMPLE_IDENTIFIER;
	attr->disabled = at_exec;
	attr->enable_on_exec = at_exec;
	attr->inherit = 1;
	attr->sample_id_all = 1;
	attr->write_backward = p->flight;
	attr->use_clockid = 1;
	attr->clockid = CLOCK_MONOTONIC_RAW;
	attr->watermark = 1;
	/* Half of the buffer; never where old records are overwritten. */
	attr->wakeup_watermark = p->flight ? UINT32_MAX : 0;
	attr->read_format = p->tells_lost ? PERF_FORMAT_LOST : 0;
}

/* The event that a buffer belongs to. */
static void attr_of_switches(const struct trc_perf *p, struct perf_event_attr *attr, bool at_exec)
{
	*attr = (struct perf_event_attr){
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_DUMMY,
		.exclude_kernel = 1,
		.exclude_hv = 1,
		.context_switch = p->switches,
		.task = p->switches,
	};
	attr_common(p, attr, at_exec);
	if (p->defers)
		trc_perf_defer(attr, false);
}

static void attr_of_event(const struct trc_perf *p, uint32_t event, struct perf_event_attr *attr,
			  bool at_exec)
{
	trc_cpu_event_attr(&p->event[event], attr);
	attr_common(p, attr, at_exec);
	/* No PERF_SAMPLE_PERIOD: it is always the one asked for, and a software event that is to
	 * tell it makes a sample of each occurrence (perf_swevent_event() in the kernel). */
	attr->sample_type |= PERF_SAMPLE_IP | PERF_SAMPLE_CALLCHAIN;
	attr->exclude_callchain_kernel = 1;
	if (p->count_bytes[event])
		attr->sample_type |= PERF_SAMPLE_READ;
	if (p->event[event].is_hardware)
		attr->read_format |=
			PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	if (p->defers)
		trc_perf_defer(attr, true);
}

/* Whether user frames may come later than their samples: where the kernel knows that.  Events that may be added
 * later have no part in it. */
static bool may_defer(const struct trc_perf *p)
{
	struct perf_event_attr switches, samples;

	if (!p->n_events)
		return false;
	attr_of_switches(p, &switches, false);
	attr_of_event(p, 0, &samples, false);
	return trc_perf_may_defer(&switches, &samples);
}

static int open_attr(struct perf_event_attr *attr, int tid, uint32_t proc)
{
	return (int)trc_raw5(SYS_perf_event_open, attr, tid, proc, -1, PERF_FLAG_FD_CLOEXEC);
}

/*
 * V6.  When it goes over from one thread to another of the same process, the kernel leaves their inherited
 * counters as they are and only swaps whose they are: what was left of the period is the next
 * thread's then.  Since Linux 6.13 it does not where samples tell the counter's value, which
 * earlier ones refuse.  Each switch then stops a counter and starts another, so not where a
 * period is shorter than a thread's turn.
 */
static void keep_counts_apart(struct trc_perf *p)
{
	struct perf_event_attr attr;

	for (uint32_t e = 0; e < p->n_events; e++) {
		int fd;

		if (!p->event[e].is_clock || p->event[e].period <= OWN_PERIOD_NS)
			continue;
		/* Its value, and with PERF_FORMAT_LOST a count more. */
		p->count_bytes[e] = (p->tells_lost ? 2 : 1) * sizeof(uint64_t);
		attr_of_event(p, e, &attr, false);
		attr.disabled = 1;
		fd = (int)trc_raw5(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
		if (fd >= 0)
			trc_raw1(SYS_close, fd);
		else
			p->count_bytes[e] = 0;
	}
}

static int open_switches(struct trc_perf *p, int tid, uint32_t proc, bool at_exec)
{
	struct perf_event_attr attr;
	int fd;

	attr_of_switches(p, &attr, at_exec);
	fd = open_attr(&attr, tid, proc);
	if (fd != -EINVAL || !p->tells_lost || proc)
		return fd;
	p->tells_lost = false; /* an older kernel */
	attr_of_switches(p, &attr, at_exec);
	return open_attr(&attr, tid, proc);
}

static void id_enter(struct trc_perf_ids *ids, uint64_t id, uint32_t event)
{
	uint32_t i = (uint32_t)(id * UINT64_C(0x9e3779b97f4a7c15) >> 32) & ids->mask;

	while (ids->pair[i].id)
		i = (i + 1) & ids->mask;
	ids->pair[i].id = id;
	ids->pair[i].event = event;
}

/* One counter more, of a thread's while it runs on this proc, into the proc's buffer.  0 or
 * -errno. */
static int add_counter(struct trc_perf *p, int tid, uint32_t proc, uint32_t event, bool at_exec)
{
	struct trc_perf_counter c = {.fd = -EMFILE, .proc = proc, .event = event};
	struct perf_event_attr attr;
	int err;

	if (event == TRC_PERF_ANY_EVENT)
		attr_of_switches(p, &attr, at_exec);
	else
		attr_of_event(p, event, &attr, at_exec);
	if (p->n_counters < p->max_counters)
		c.fd = open_attr(&attr, tid, proc);
	if (c.fd >= 0 && event == TRC_PERF_ANY_EVENT && (uint64_t)c.fd >= p->switches_below) {
		trc_raw1(SYS_close, c.fd);
		return -EMFILE;
	}
	if (c.fd < 0)
		return c.fd;
	err = (int)trc_raw3(SYS_ioctl, c.fd, PERF_EVENT_IOC_SET_OUTPUT, p->buffer[proc].fd);
	if (!err && event != TRC_PERF_ANY_EVENT)
		err = (int)trc_raw3(SYS_ioctl, c.fd, PERF_EVENT_IOC_ID, &c.id);
	if (err) {
		trc_raw1(SYS_close, c.fd);
		return err;
	}
	if (event != TRC_PERF_ANY_EVENT)
		id_enter(&p->ids, c.id, event);
	p->counter[p->n_counters++] = c;
	return 0;
}

static void close_counters(struct trc_perf *p, uint32_t from)
{
	while (p->n_counters > from)
		trc_raw1(SYS_close, p->counter[--p->n_counters].fd);
}

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

static int refused(int err, const char *call, char *said, size_t n_bytes)
{
	int level = err == -EACCES || err == -EPERM ? trc_perf_paranoid_level() : -100;

	if (level > -100)
		snprintf(said, n_bytes, "no: %s: %s (perf_event_paranoid is %d)", call,
			 strerror(-err), level);
	else
		snprintf(said, n_bytes, "no: %s: %s", call, strerror(-err));
	return err;
}

/* Of the buffers themselves: where samples are wanted, in words on the first event. */
static int no_buffers(const struct trc_perf *p, int err, const char *call, char *said,
		      size_t n_bytes)
{
	if (!p->n_events)
		return refused(err, call, said, n_bytes);
	if (err == -EPERM && strcmp(call, "perf_event_open: mmap") == 0)
		snprintf(said, n_bytes,
			 "%s: no memory may be locked for the kernel's samples (ulimit -l, "
			 "/proc/sys/kernel/perf_event_mlock_kb); what works: --sample-by signal",
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

		b->fd = open_switches(p, pid, proc, at_exec);
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
			int err = which >> e & 1 ? add_counter(p, p->pid, proc, e, at_exec) : 0;

			if (err) {
				trc_cpu_event_explain(&p->event[e], err, said, n_bytes);
				return err;
			}
		}
	}
	return 0;
}

/* The same for a thread that is there already.  0 or -errno: then it has none of them. */
static int add_thread(struct trc_perf *p, int tid, bool switches, uint32_t which)
{
	uint32_t before = p->n_counters;
	int err = 0;

	for (uint32_t proc = 0; proc < p->n_procs && !err; proc++) {
		if (!p->buffer[proc].page)
			continue;
		if (switches)
			err = add_counter(p, tid, proc, TRC_PERF_ANY_EVENT, false);
		for (uint32_t e = 0; e < p->n_events && !err; e++)
			err = which >> e & 1 ? add_counter(p, tid, proc, e, false) : 0;
	}
	if (err)
		close_counters(p, before);
	return err == -ESRCH ? 0 : err; /* it has just ended */
}

struct directory_entry { /* struct linux_dirent64 */
	uint64_t inode;
	int64_t off;
	uint16_t n_bytes;
	uint8_t type;
	char name[];
};

/* One more that is missing; names as many as there is room for. */
static void miss_thread(struct trc_perf *p, int tid)
{
	static const char more[] = ", ...";
	size_t n_bytes = strlen(p->missing_tids);
	char text[16];
	int n = snprintf(text, sizeof(text), "%s%d", n_bytes ? ", " : "", tid);

	p->missing_threads++;
	if (n_bytes && p->missing_tids[n_bytes - 1] == '.')
		return;
	if (n_bytes + (size_t)n + sizeof(more) <= sizeof(p->missing_tids))
		memcpy(p->missing_tids + n_bytes, text, (size_t)n + 1);
	else
		memcpy(p->missing_tids + n_bytes, more, sizeof(more));
}

/* The caller's own thread is left out: it records for the others. */
static void add_threads(struct trc_perf *p, bool switches, uint32_t which, char *said,
			size_t n_bytes)
{
	_Alignas(struct directory_entry) char entries[4096];
	int self = (int)trc_raw1(SYS_gettid, 0), err = 0;
	char path[64];
	long n;
	int fd;

	p->missing_threads = 0;
	p->missing_tids[0] = '\0';
	snprintf(path, sizeof(path), "/proc/%d/task", p->pid);
	fd = (int)trc_raw4(SYS_openat, AT_FDCWD, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
	while (fd >= 0 && (n = trc_raw3(SYS_getdents64, fd, entries, sizeof(entries))) > 0) {
		for (long at = 0; at < n;) {
			const struct directory_entry *e = (void *)(entries + at);
			int tid = atoi(e->name);
			int failed = tid && tid != p->pid && tid != self
					     ? add_thread(p, tid, switches, which)
					     : 0;

			if (failed)
				miss_thread(p, tid);
			err = failed ? failed : err;
			at += e->n_bytes;
		}
	}
	if (fd >= 0)
		trc_raw1(SYS_close, fd);
	if (p->missing_threads)
		snprintf(said, n_bytes, "yes, but not of %llu thread%s (%s): perf_event_open: %s",
			 (unsigned long long)p->missing_threads, p->missing_threads == 1 ? "" : "s",
			 p->missing_tids, strerror(-err));
}

static uint32_t power_of_two_at_least(uint64_t n)
{
	uint32_t power = 1;

	while (power < n)
		power <<= 1;
	return power;
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
	n_pairs = power_of_two_at_least(2 * max_counters + 1);
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
		return refused(-ENOMEM, "perf_event_open", said, n_bytes);
	take_options(p, o);
	p->defers = may_defer(p);
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
		keep_counts_apart(p);
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
		add_threads(p, p->switches, UINT32_MAX, said, n_bytes);
	*out = p;
	return 0;
}

static bool is_same(const struct trc_cpu_event *a, const struct trc_cpu_event *b)
{
	return !strcmp(a->name, b->name) && a->period == b->period &&
	       a->exclude_kernel == b->exclude_kernel;
}

/* Its number; if there are too many, TRC_CPU_EVENTS_MAX. */
static uint32_t event_enter(struct trc_perf *p, const struct trc_cpu_event *event)
{
	uint32_t e = 0;

	while (e < p->n_events && !is_same(&p->event[e], event))
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
		keep_counts_apart(p);
		err = open_events(p, which, false, said, n_bytes);
	}
	if (err) {
		close_counters(p, n_counters);
		p->n_events = n_events;
		return err;
	}
	add_threads(p, false, which, said, n_bytes);
	return 0;
}

void trc_perf_stop_events(struct trc_perf *p)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < p->n_counters; i++) {
		if (p->counter[i].event == TRC_PERF_ANY_EVENT)
			p->counter[n++] = p->counter[i];
		else
			trc_raw1(SYS_close, p->counter[i].fd);
	}
	p->n_counters = n;
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
	close_counters(p, 0);
	trc_perf_close_maps(p);
	trc_perf_chains_close(&p->chains);
	buffers_unmap(p);
	for (uint32_t i = 0; i < p->n_procs; i++)
		if (p->buffer[i].fd >= 0)
			trc_raw1(SYS_close, p->buffer[i].fd);
	trc_pages_unmap(p->copies, p->copies_bytes);
	trc_pages_unmap(p, p->memory_bytes);
}
