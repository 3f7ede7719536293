/* perf_buffer_maps.c - separate buffers for the kernel's records of mappings. The records are there
 * when samples are read, and are not overwritten in flight mode (perf_maps.h). */
#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>
#include "format/now.h"
#include "format/raw.h"
#include "perf_buffer_private.h"

enum { MAPS_BYTES = 32 << 10, RECORD_BYTES_MAX = 4096 + 256 /* with its path */ };

/* ---- opening --------------------------------------------------------------------------- */

static int open_one(int pid, uint32_t proc, bool build_ids)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_DUMMY,
		.sample_type = TRC_PERF_ID_BITS,
		.disabled = 1,
		.enable_on_exec = 1,
		.inherit = 1,
		.exclude_kernel = 1,
		.exclude_hv = 1,
		.sample_id_all = 1,
		.mmap = 1,
		.mmap2 = 1,
		.build_id = build_ids,
		.task = 1,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC_RAW,
		.watermark = 1,
		.wakeup_watermark = UINT32_MAX, /* nobody is to be woken */
	};

	return (int)trc_raw5(SYS_perf_event_open, &attr, pid, proc, -1, PERF_FLAG_FD_CLOEXEC);
}

static bool open_maps(struct trc_perf *p, int pid)
{
	for (uint32_t i = 0; i < p->n_procs; i++) {
		struct trc_perf_buffer *b = &p->buffer[i];
		void *map;

		if (!b->page)
			continue;
		b->maps_fd = open_one(pid, i, true);
		if (b->maps_fd == -EINVAL) /* before Linux 5.12 */
			b->maps_fd = open_one(pid, i, false);
		if (b->maps_fd < 0)
			return false;
		map = mmap(NULL, p->page_bytes + MAPS_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED,
			   b->maps_fd, 0);
		if (map == MAP_FAILED)
			return false;
		b->maps_page = map;
	}
	return true;
}

void trc_perf_open_maps(struct trc_perf *p, int pid)
{
	p->maps = trc_perf_maps_make();
	if (p->maps && !open_maps(p, pid))
		trc_perf_close_maps(p);
}

void trc_perf_close_maps(struct trc_perf *p)
{
	for (uint32_t i = 0; i < p->n_procs; i++) {
		struct trc_perf_buffer *b = &p->buffer[i];

		if (b->maps_page)
			munmap(b->maps_page, p->page_bytes + MAPS_BYTES);
		if (b->maps_fd >= 0)
			trc_raw1(SYS_close, b->maps_fd);
		b->maps_page = NULL;
		b->maps_fd = -1;
	}
	trc_perf_maps_free(p->maps);
	p->maps = NULL;
}

/* ---- reading --------------------------------------------------------------------------- */

/* PERF_RECORD_MMAP2, up to its path. */
struct mmap2 {
	struct perf_event_header header;
	uint32_t pid, tid;
	uint64_t start, n_bytes, file_offset;
	union {
		uint64_t inode[3];
		struct {
			uint8_t n_bytes, reserved[3];
			uint8_t bytes[TRC_PERF_BUILD_ID_BYTES];
		} build_id;
	} file;
	uint32_t protection, flags;
};

static void read_mmap2(struct trc_perf_maps *maps, const char *bytes, size_t n_bytes,
		       uint64_t raw_ns)
{
	const char *path = bytes + sizeof(struct mmap2);
	struct trc_perf_mapping mapping;
	struct mmap2 r;

	/* The path ends with a zero at least before what sample_id_all adds. */
	if (n_bytes < sizeof(r) + 8 + sizeof(struct trc_perf_id) ||
	    bytes[n_bytes - sizeof(struct trc_perf_id) - 1])
		return;
	memcpy(&r, bytes, sizeof(r));
	mapping = (struct trc_perf_mapping){
		.raw_ns = raw_ns,
		.start = r.start,
		.limit = r.start + r.n_bytes,
		.file_offset = r.file_offset,
		.path = *path == '/' && path[1] != '/' ? path : "",
		.pid = r.pid,
	};
	if ((r.header.misc & PERF_RECORD_MISC_MMAP_BUILD_ID) &&
	    r.file.build_id.n_bytes <= TRC_PERF_BUILD_ID_BYTES) {
		mapping.build_id_bytes = r.file.build_id.n_bytes;
		memcpy(mapping.build_id, r.file.build_id.bytes, mapping.build_id_bytes);
	}
	trc_perf_maps_add(maps, &mapping);
}

struct fork_record {
	struct perf_event_header header;
	uint32_t pid, parent, tid, parent_tid;
	uint64_t raw_ns;
};

static void read_fork(struct trc_perf_maps *maps, const char *bytes, size_t n_bytes)
{
	struct fork_record r;

	if (n_bytes < sizeof(r))
		return;
	memcpy(&r, bytes, sizeof(r));
	if (r.pid != r.parent) /* else a thread */
		trc_perf_maps_fork(maps, r.pid, r.parent, r.raw_ns);
}

static void read_record(struct trc_perf_maps *maps, struct trc_perf_buffer *b, const char *bytes,
			size_t n_bytes)
{
	struct perf_event_header header;
	struct trc_perf_id id;

	memcpy(&header, bytes, sizeof(header));
	if (n_bytes < sizeof(header) + sizeof(id))
		return;
	memcpy(&id, bytes + n_bytes - sizeof(id), sizeof(id));
	if (header.type == PERF_RECORD_MMAP2)
		read_mmap2(maps, bytes, n_bytes, id.raw_ns);
	else if (header.type == PERF_RECORD_FORK)
		read_fork(maps, bytes, n_bytes);
	else if (header.type == PERF_RECORD_LOST)
		trc_perf_maps_lost(maps, b->maps_last_ns, id.raw_ns);
	b->maps_last_ns = id.raw_ns;
}

/* The kernel tells of a loss with the next record that finds room, which may be long after. */
static void full_until_now(struct trc_perf *p, const struct trc_perf_buffer *b)
{
	trc_perf_maps_lost(p->maps, b->maps_last_ns, trc_now_ns(CLOCK_MONOTONIC_RAW));
}

/* Its time alone: the rest is too long. */
static void read_long(struct trc_perf *p, struct trc_perf_buffer *b, const char *data, uint64_t end)
{
	struct trc_perf_id id;

	trc_perf_copy_out(data, MAPS_BYTES, end - sizeof(id), &id, sizeof(id));
	trc_perf_maps_lost(p->maps, b->maps_last_ns, id.raw_ns);
	b->maps_last_ns = id.raw_ns;
}

static void maps_buffer_pass(struct trc_perf *p, struct trc_perf_buffer *b)
{
	const char *data = (const char *)b->maps_page + p->page_bytes;
	/* acquire: pairs with the kernel's store: the records below head are complete. */
	uint64_t head = __atomic_load_n(&b->maps_page->data_head, __ATOMIC_ACQUIRE);
	uint64_t tail = b->maps_page->data_tail;
	bool full = head - tail > MAPS_BYTES - RECORD_BYTES_MAX;

	while (tail < head) {
		struct perf_event_header header;

		trc_perf_copy_out(data, MAPS_BYTES, tail, &header, sizeof(header));
		if (header.size < sizeof(header) || header.size > head - tail)
			break; /* the kernel writes no such thing */
		if (header.size <= sizeof(p->record)) {
			trc_perf_copy_out(data, MAPS_BYTES, tail, p->record, header.size);
			read_record(p->maps, b, p->record, header.size);
		} else {
			read_long(p, b, data, tail + header.size);
		}
		tail += header.size;
	}
	/* release: we are done with the bytes below tail. */
	__atomic_store_n(&b->maps_page->data_tail, tail, __ATOMIC_RELEASE);
	if (full)
		full_until_now(p, b);
}

void trc_perf_look_at_maps(struct trc_perf *p)
{
	for (uint32_t i = 0; p->maps && i < p->n_procs; i++)
		if (p->buffer[i].maps_page)
			maps_buffer_pass(p, &p->buffer[i]);
}
