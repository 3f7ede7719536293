/* perf_buffer_counters.c - counters of events and threads, which write into the kernel's buffers. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include "format/raw.h"
#include "perf_buffer_private.h"

/* perf_buffer:V6; the scheduler's turns take 3 ms and more */
enum { OWN_PERIOD_NS = 2000000 };

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
bool trc_perf_events_may_defer(const struct trc_perf *p)
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
 * perf_buffer:V6.  When it goes over from one thread to another of the same process, the kernel leaves their inherited
 * counters as they are and only swaps whose they are: what was left of the period is the next
 * thread's then.  Since Linux 6.13 it does not where samples tell the counter's value, which
 * earlier ones refuse.  Each switch then stops a counter and starts another, so not where a
 * period is shorter than a thread's turn.
 */
void trc_perf_keep_counts_apart(struct trc_perf *p)
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

int trc_perf_open_switches(struct trc_perf *p, int tid, uint32_t proc, bool at_exec)
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

static void counter_id_enter(struct trc_perf_ids *ids, uint64_t id, uint32_t event)
{
	uint32_t i = (uint32_t)(id * UINT64_C(0x9e3779b97f4a7c15) >> 32) & ids->mask;

	while (ids->pair[i].id)
		i = (i + 1) & ids->mask;
	ids->pair[i].id = id;
	ids->pair[i].event = event;
}

/* One counter more, of a thread's while it runs on this proc, into the proc's buffer.  0 or
 * -errno. */
int trc_perf_add_counter(struct trc_perf *p, int tid, uint32_t proc, uint32_t event, bool at_exec)
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
		counter_id_enter(&p->ids, c.id, event);
	p->counter[p->n_counters++] = c;
	return 0;
}

void trc_perf_close_counters(struct trc_perf *p, uint32_t from)
{
	while (p->n_counters > from)
		trc_raw1(SYS_close, p->counter[--p->n_counters].fd);
}

/* The same for a thread that is there already.  0 or -errno: then it has none of them. */
static int counters_add_thread(struct trc_perf *p, int tid, bool switches, uint32_t which)
{
	uint32_t before = p->n_counters;
	int err = 0;

	for (uint32_t proc = 0; proc < p->n_procs && !err; proc++) {
		if (!p->buffer[proc].page)
			continue;
		if (switches)
			err = trc_perf_add_counter(p, tid, proc, TRC_PERF_ANY_EVENT, false);
		for (uint32_t e = 0; e < p->n_events && !err; e++)
			err = which >> e & 1 ? trc_perf_add_counter(p, tid, proc, e, false) : 0;
	}
	if (err)
		trc_perf_close_counters(p, before);
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
void trc_perf_add_threads(struct trc_perf *p, bool switches, uint32_t which, char *said,
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
					     ? counters_add_thread(p, tid, switches, which)
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
