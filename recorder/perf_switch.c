/* perf_switch.c - see perf_switch.h. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#include "cpu_event.h"
#include "format/pages.h"
#include "format/raw.h"
#include "perf_switch.h"

enum {
	PROCS_MAX = 4096,
	DATA_BYTES_MAX = 512 << 10, /* with its header page: what perf_event_mlock_kb allows */
	DATA_BYTES_MIN = 16 << 10,
	FLIGHT_BYTES_MAX = 64 << 20,
	HOLD_NS = 20000000, /* V2 */
	RECORD_BYTES_MAX = 256,
	OTHERS_MAX = 4096, /* threads that are there already */
};

/* What sample_id_all adds to each record, by PERF_SAMPLE_TID | TIME | CPU. */
struct sample_id {
	uint32_t pid, tid;
	uint64_t raw_ns;
	uint32_t proc, reserved;
};

struct buffer {
	struct perf_event_mmap_page *page; /* NULL = no such proc, or none needed */
	uint64_t last_ns;
	int fd; /* -1 = not online */

	/* V4, of the copy: its records from the newest to the oldest, and where they begin. */
	const char *copy;
	const uint32_t *record_off; /* [n_records] */
	uint32_t n_records;
	uint64_t oldest_ns;
};

struct trc_perf_switch {
	uint32_t n_procs;
	bool flight;
	uint64_t page_bytes, memory_bytes;
	uint64_t data_bytes; /* of each buffer; a power of two */
	void *copies;	     /* NULL = none yet; of copies_bytes */
	uint64_t copies_bytes;
	int *other_fd; /* [n_other]: events of threads that were there already */
	uint32_t n_other, max_other;
	struct buffer buffer[];
};

/* ---- opening --------------------------------------------------------------------------- */

static int event_open(int tid, uint32_t proc, bool at_exec, bool flight)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_DUMMY,
		.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU,
		.disabled = at_exec,
		.enable_on_exec = at_exec,
		.inherit = 1,
		.exclude_kernel = 1,
		.exclude_hv = 1,
		.sample_id_all = 1,
		.context_switch = 1,
		.write_backward = flight,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC_RAW,
		.watermark = 1,
		/* Half of the buffer; never where old records are overwritten. */
		.wakeup_watermark = flight ? UINT32_MAX : 0,
	};

	return (int)trc_raw5(SYS_perf_event_open, &attr, tid, proc, -1, PERF_FLAG_FD_CLOEXEC);
}

static void buffers_unmap(struct trc_perf_switch *p)
{
	for (uint32_t i = 0; i < p->n_procs; i++) {
		if (p->buffer[i].page)
			munmap(p->buffer[i].page, p->page_bytes + p->data_bytes);
		p->buffer[i].page = NULL;
	}
}

static int buffers_map_at(struct trc_perf_switch *p)
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
static int buffers_map(struct trc_perf_switch *p, uint64_t data_bytes)
{
	int err = -ENOMEM;

	for (p->data_bytes = data_bytes; p->data_bytes >= DATA_BYTES_MIN; p->data_bytes /= 2) {
		err = buffers_map_at(p);
		if (!err)
			break;
	}
	return err;
}

static int refused(int err, const char *call, char *sched, size_t n_bytes)
{
	int level = err == -EACCES || err == -EPERM ? trc_perf_paranoid_level() : -100;

	if (level > -100)
		snprintf(sched, n_bytes, "no: %s: %s (perf_event_paranoid is %d)", call,
			 strerror(-err), level);
	else
		snprintf(sched, n_bytes, "no: %s: %s", call, strerror(-err));
	return err;
}

static int open_procs(struct trc_perf_switch *p, int pid, bool at_exec, char *sched, size_t n_bytes)
{
	uint32_t n_open = 0;

	for (uint32_t proc = 0; proc < p->n_procs; proc++) {
		struct buffer *b = &p->buffer[proc];

		b->fd = event_open(pid, proc, at_exec, p->flight);
		if (b->fd == -ENODEV || (b->fd == -EINVAL && n_open))
			continue; /* not online */
		if (b->fd < 0)
			return refused(b->fd, "perf_event_open", sched, n_bytes);
		n_open++;
	}
	return n_open ? 0 : refused(-ENODEV, "perf_event_open", sched, n_bytes);
}

/* One event more on each proc for a thread that is there already: into the same buffers.
 * 0 or -errno. */
static int add_thread(struct trc_perf_switch *p, int tid)
{
	for (uint32_t proc = 0; proc < p->n_procs; proc++) {
		int fd, err;

		if (!p->buffer[proc].page)
			continue;
		fd = p->n_other < p->max_other ? event_open(tid, proc, false, p->flight) : -EMFILE;
		if (fd < 0)
			return fd == -ESRCH ? 0 : fd; /* it has just ended */
		err = (int)trc_raw3(SYS_ioctl, fd, PERF_EVENT_IOC_SET_OUTPUT, p->buffer[proc].fd);
		if (err) {
			trc_raw1(SYS_close, fd);
			return err;
		}
		p->other_fd[p->n_other++] = fd;
	}
	return 0;
}

struct directory_entry { /* struct linux_dirent64 */
	uint64_t inode;
	int64_t off;
	uint16_t n_bytes;
	uint8_t type;
	char name[];
};

/* The caller's own thread is left out: it records for the others. */
static void add_threads(struct trc_perf_switch *p, int pid, char *sched, size_t n_bytes)
{
	_Alignas(struct directory_entry) char entries[4096];
	int self = (int)trc_raw1(SYS_gettid, 0), err = 0;
	unsigned int n_missing = 0;
	char path[64];
	long n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	fd = (int)trc_raw4(SYS_openat, AT_FDCWD, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
	while (fd >= 0 && (n = trc_raw3(SYS_getdents64, fd, entries, sizeof(entries))) > 0) {
		for (long at = 0; at < n;) {
			const struct directory_entry *e = (void *)(entries + at);
			int tid = atoi(e->name);
			int failed = tid && tid != pid && tid != self ? add_thread(p, tid) : 0;

			n_missing += failed != 0;
			err = failed ? failed : err;
			at += e->n_bytes;
		}
	}
	if (fd >= 0)
		trc_raw1(SYS_close, fd);
	if (n_missing)
		snprintf(sched, n_bytes, "yes, but not of %u threads: perf_event_open: %s",
			 n_missing, strerror(-err));
}

static struct trc_perf_switch *allocate(bool at_exec)
{
	long conf = sysconf(_SC_NPROCESSORS_CONF);
	uint32_t n_procs = conf < 1 ? 1 : conf > PROCS_MAX ? PROCS_MAX : (uint32_t)conf;
	uint32_t max_other = at_exec ? 0 : OTHERS_MAX * n_procs;
	size_t head_bytes = sizeof(struct trc_perf_switch) + n_procs * sizeof(struct buffer);
	struct trc_perf_switch *p = trc_pages_map(head_bytes + max_other * sizeof(int));

	if (!p)
		return NULL;
	p->n_procs = n_procs;
	p->page_bytes = (uint64_t)sysconf(_SC_PAGESIZE);
	p->memory_bytes = head_bytes + max_other * sizeof(int);
	p->other_fd = (int *)((char *)p + head_bytes);
	p->max_other = max_other;
	for (uint32_t i = 0; i < n_procs; i++)
		p->buffer[i].fd = -1;
	return p;
}

/* The largest power of two that fits n_procs times into max_bytes. */
static uint64_t flight_bytes(uint64_t max_bytes, uint32_t n_procs)
{
	uint64_t data_bytes = FLIGHT_BYTES_MAX;

	while (data_bytes > DATA_BYTES_MIN && data_bytes > max_bytes / n_procs)
		data_bytes /= 2;
	return data_bytes;
}

static int open_all(struct trc_perf_switch **out, int pid, bool at_exec, const uint64_t *max_bytes,
		    char *sched, size_t n_bytes)
{
	struct trc_perf_switch *p = allocate(at_exec);
	int err;

	if (!p)
		return refused(-ENOMEM, "perf_event_open", sched, n_bytes);
	p->flight = max_bytes != NULL;
	err = open_procs(p, pid, at_exec, sched, n_bytes);
	if (!err) {
		err = buffers_map(p, max_bytes ? flight_bytes(*max_bytes, p->n_procs)
					       : DATA_BYTES_MAX);
		if (err)
			refused(err, "perf_event_open: mmap", sched, n_bytes);
	}
	if (err) {
		trc_perf_switch_close(p);
		return err;
	}
	snprintf(sched, n_bytes, "yes");
	if (!at_exec)
		add_threads(p, pid, sched, n_bytes);
	*out = p;
	return 0;
}

int trc_perf_switch_open(struct trc_perf_switch **out, int pid, bool at_exec, char *sched,
			 size_t n_bytes)
{
	return open_all(out, pid, at_exec, NULL, sched, n_bytes);
}

int trc_perf_switch_open_flight(struct trc_perf_switch **out, int pid, bool at_exec,
				uint64_t max_bytes, char *sched, size_t n_bytes)
{
	return open_all(out, pid, at_exec, &max_bytes, sched, n_bytes);
}

bool trc_perf_switch_signal(struct trc_perf_switch *p)
{
	long self = trc_raw1(SYS_getpid, 0);

	for (uint32_t i = 0; i < p->n_procs; i++) {
		int fd = p->buffer[i].fd;

		if (fd >= 0 && (trc_raw3(SYS_fcntl, fd, F_SETOWN, self) < 0 ||
				trc_raw3(SYS_fcntl, fd, F_SETFL, O_RDWR | O_ASYNC) < 0))
			return false;
	}
	return true;
}

void trc_perf_switch_close(struct trc_perf_switch *p)
{
	if (!p)
		return;
	for (uint32_t i = 0; i < p->n_other; i++)
		trc_raw1(SYS_close, p->other_fd[i]);
	buffers_unmap(p);
	for (uint32_t i = 0; i < p->n_procs; i++)
		if (p->buffer[i].fd >= 0)
			trc_raw1(SYS_close, p->buffer[i].fd);
	trc_pages_unmap(p->copies, p->copies_bytes);
	trc_pages_unmap(p, p->memory_bytes);
}

/* ---- reading --------------------------------------------------------------------------- */

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC_RAW, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* Copies bytes of the buffer, which may go round its end. */
static void copy_out(const struct trc_perf_switch *p, const struct buffer *b, uint64_t at,
		     void *bytes, size_t n_bytes)
{
	const char *data = (const char *)b->page + p->page_bytes;
	uint64_t from = at & (p->data_bytes - 1);
	size_t first = n_bytes < p->data_bytes - from ? n_bytes : (size_t)(p->data_bytes - from);

	memcpy(bytes, data + from, first);
	memcpy((char *)bytes + first, data, n_bytes - first);
}

/* What a record says; false if it is of no interest. */
static bool record_read(const char *bytes, size_t n_bytes, struct trc_switch_record *r)
{
	struct perf_event_header header;
	struct sample_id id;
	uint64_t lost;

	memcpy(&header, bytes, sizeof(header));
	if (n_bytes < sizeof(header) + sizeof(id))
		return false;
	memcpy(&id, bytes + n_bytes - sizeof(id), sizeof(id));
	*r = (struct trc_switch_record){
		.raw_ns = id.raw_ns, .pid = id.pid, .tid = id.tid, .proc = id.proc};
	if (header.type == PERF_RECORD_SWITCH) {
		r->out = header.misc & PERF_RECORD_MISC_SWITCH_OUT;
		r->preempted = r->out && (header.misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT);
		return true;
	}
	if (header.type != PERF_RECORD_LOST || n_bytes < sizeof(header) + 16 + sizeof(id))
		return false;
	memcpy(&lost, bytes + sizeof(header) + 8, sizeof(lost));
	r->lost = lost;
	return lost != 0;
}

static uint64_t buffer_pass(const struct trc_perf_switch *p, struct buffer *b, uint32_t proc,
			    uint64_t until_ns, trc_switch_fn *fn, void *context)
{
	/* acquire: pairs with the kernel's store: the records below head are complete. */
	uint64_t head = __atomic_load_n(&b->page->data_head, __ATOMIC_ACQUIRE);
	uint64_t tail = b->page->data_tail, n = 0;

	while (tail < head) {
		char bytes[RECORD_BYTES_MAX];
		struct perf_event_header header;
		struct trc_switch_record r;
		bool full = head - tail > p->data_bytes / 2; /* V2 */

		copy_out(p, b, tail, &header, sizeof(header));
		if (header.size < sizeof(header) || header.size > head - tail)
			break; /* the kernel writes no such thing */
		if (header.size <= sizeof(bytes)) {
			copy_out(p, b, tail, bytes, header.size);
			if (record_read(bytes, header.size, &r)) {
				if (r.raw_ns > until_ns && !full)
					break;
				r.proc = proc;
				if (r.raw_ns < b->last_ns) /* V1 */
					r.raw_ns = b->last_ns;
				b->last_ns = r.raw_ns;
				fn(context, &r);
				n++;
			}
		}
		tail += header.size;
	}
	/* release: we are done with the bytes below tail. */
	__atomic_store_n(&b->page->data_tail, tail, __ATOMIC_RELEASE);
	return n;
}

/* ---- flight mode (V4) ------------------------------------------------------------------ */

enum { FLIGHT_RECORD_MIN = sizeof(struct perf_event_header) + sizeof(struct sample_id) };

/* Finds the records of a copy, which ends where the kernel had begun to overwrite one. */
static void copy_index(struct buffer *b, const char *copy, uint64_t copy_bytes, bool overwritten,
		       uint32_t *record_off)
{
	struct trc_switch_record r;
	uint64_t at = 0;

	b->copy = copy;
	b->record_off = record_off;
	b->n_records = 0;
	b->oldest_ns = 0;
	while (copy_bytes - at >= FLIGHT_RECORD_MIN) {
		struct perf_event_header header;

		memcpy(&header, copy + at, sizeof(header));
		if (header.size < FLIGHT_RECORD_MIN || header.size > copy_bytes - at)
			break;
		record_off[b->n_records++] = (uint32_t)at;
		if (overwritten) {
			record_read(copy + at, header.size, &r);
			b->oldest_ns = r.raw_ns;
		}
		at += header.size;
	}
}

static void buffer_copy(const struct trc_perf_switch *p, struct buffer *b, char *copy)
{
	uint64_t head, n_bytes;

	trc_raw3(SYS_ioctl, b->fd, PERF_EVENT_IOC_PAUSE_OUTPUT, 1);
	/* acquire: pairs with the kernel's store: the records from head on are complete.  It counts
	 * down from 0. */
	head = __atomic_load_n(&b->page->data_head, __ATOMIC_ACQUIRE);
	n_bytes = -head < p->data_bytes ? -head : p->data_bytes;
	copy_out(p, b, head, copy, (size_t)n_bytes);
	trc_raw3(SYS_ioctl, b->fd, PERF_EVENT_IOC_PAUSE_OUTPUT, 0);
	copy_index(b, copy, n_bytes, -head > p->data_bytes, (uint32_t *)(copy + p->data_bytes));
}

int trc_perf_switch_copy(struct trc_perf_switch *p)
{
	/* The copy of a buffer, then an offset for each record of the least size. */
	uint64_t one_bytes = p->data_bytes + p->data_bytes / FLIGHT_RECORD_MIN * sizeof(uint32_t);

	if (!p->copies) {
		p->copies_bytes = one_bytes * p->n_procs;
		p->copies = trc_pages_map(p->copies_bytes);
	}
	if (!p->copies)
		return -ENOMEM;
	for (uint32_t i = 0; i < p->n_procs; i++)
		if (p->buffer[i].page)
			buffer_copy(p, &p->buffer[i], (char *)p->copies + i * one_bytes);
	return 0;
}

uint64_t trc_perf_switch_oldest_ns(const struct trc_perf_switch *p, uint32_t proc)
{
	return proc < p->n_procs ? p->buffer[proc].oldest_ns : 0;
}

static uint64_t copy_pass(const struct buffer *b, uint32_t proc, trc_switch_fn *fn, void *context)
{
	uint64_t last_ns = 0, n = 0;

	for (uint32_t i = b->n_records; i-- > 0;) {
		const char *bytes = b->copy + b->record_off[i];
		struct perf_event_header header;
		struct trc_switch_record r;

		memcpy(&header, bytes, sizeof(header));
		if (!record_read(bytes, header.size, &r))
			continue;
		r.proc = proc;
		if (r.raw_ns < last_ns) /* V1 */
			r.raw_ns = last_ns;
		last_ns = r.raw_ns;
		fn(context, &r);
		n++;
	}
	return n;
}

/* ---- both ------------------------------------------------------------------------------ */

uint64_t trc_perf_switch_pass(struct trc_perf_switch *p, bool all, trc_switch_fn *fn, void *context)
{
	uint64_t until_ns = all ? UINT64_MAX : now_ns() - HOLD_NS;
	uint64_t n = 0;

	for (uint32_t i = 0; i < p->n_procs; i++) {
		if (p->flight)
			n += copy_pass(&p->buffer[i], i, fn, context);
		else if (p->buffer[i].page)
			n += buffer_pass(p, &p->buffer[i], i, until_ns, fn, context);
	}
	return n;
}
