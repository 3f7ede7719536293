/* perf_buffer_private.h - what opening and reading the kernel's buffers share. */
#ifndef TRC_RECORDER_DRAIN_PERF_BUFFER_PRIVATE_H
#define TRC_RECORDER_DRAIN_PERF_BUFFER_PRIVATE_H

#include <linux/perf_event.h>
#include <string.h>
#include "perf_buffer.h"

enum {
	TRC_PERF_RECORD_BYTES = 4096, /* longer stacks are cut */
	TRC_PERF_STOPPED_MAX = 16,
};

/* What sample_id_all adds to each record but samples, by TRC_PERF_ID_BITS. */
struct trc_perf_id {
	uint32_t pid, tid;
	uint64_t raw_ns;
	uint32_t proc, reserved;
	/* With samples: a u64 that tells the event. */
};
#define TRC_PERF_ID_BITS (PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU)

/* A thread's counter that the kernel stopped for the rest of a tick, last. */
struct trc_perf_stopped {
	uint32_t tid, event;
	uint64_t since_ns; /* 0 = free */
};

struct trc_perf_buffer {
	struct perf_event_mmap_page *page; /* NULL = no such proc, or none needed */
	uint64_t last_ns;
	int fd;					/* -1 = not online */
	struct perf_event_mmap_page *maps_page; /* NULL = none */
	uint64_t maps_last_ns;			/* of its last record */
	int maps_fd;				/* -1 = none */
	uint64_t lost_seen;
	struct trc_perf_stopped stopped[TRC_PERF_STOPPED_MAX];

	/* perf_buffer:V4, of the copy: its records from the newest to the oldest, and where they
	 * begin. */
	const char *copy;
	const uint32_t *record_off; /* [n_records] */
	uint32_t n_records;
	uint64_t oldest_ns;
};

/* A descriptor beside that of the buffer: of what is sampled, or of a thread that was there. */
struct trc_perf_counter {
	int fd;
	uint32_t proc, event; /* TRC_PERF_ANY_EVENT = switches */
	uint64_t id, lost_seen;
};

/* Which event a counter's id means. */
struct trc_perf_ids {
	struct trc_perf_id_pair {
		uint64_t id; /* 0 = free */
		uint32_t event;
	} * pair;
	uint32_t mask;
};

/* What of an event was counted. */
struct trc_perf_share {
	uint64_t enabled_ns, running_ns;	 /* so far */
	uint64_t new_enabled_ns, new_running_ns; /* of that, since the look before */
};

struct trc_perf {
	uint32_t n_procs, n_events;
	int pid;
	bool flight, switches;
	bool tells_apart; /* records tell their event: with samples, or where they may come */
	bool tells_lost;  /* PERF_FORMAT_LOST: since Linux 6.0 */
	uint64_t page_bytes, memory_bytes;
	uint64_t data_bytes; /* of each buffer; a power of two */
	uint32_t id_bytes;   /* of what sample_id_all adds */
	void *copies;	     /* NULL = none yet; of copies_bytes */
	uint64_t copies_bytes;
	bool is_more; /* they go on where those before them ended */
	uint64_t missing_threads;
	char missing_tids[64]; /* "101, 102, ..." */
	struct trc_cpu_event event[TRC_CPU_EVENTS_MAX];
	struct trc_perf_share share[TRC_CPU_EVENTS_MAX];
	/* What the counter says of itself in each sample (perf_buffer:V6); 0 = nothing. */
	uint32_t count_bytes[TRC_CPU_EVENTS_MAX];
	struct trc_perf_counter *counter; /* [n_counters] */
	uint32_t n_counters, max_counters;
	uint64_t switches_below; /* descriptors of threads' counters of switches: perf_buffer:V7 */
	struct trc_perf_ids ids;
	struct trc_perf_maps *maps; /* NULL = nothing is known of them */
	char record[TRC_PERF_RECORD_BYTES] __attribute__((aligned(8)));
	uint32_t chain_max; /* frames that the kernel takes at most: kernel.perf_event_max_stack */
	uint64_t frame[TRC_STACK_DEPTH_MAX];
	struct trc_perf_buffer buffer[];
};

static inline uint32_t *trc_perf_id_find(const struct trc_perf_ids *ids, uint64_t id)
{
	uint32_t i = (uint32_t)(id * UINT64_C(0x9e3779b97f4a7c15) >> 32) & ids->mask;

	while (ids->pair[i].id && ids->pair[i].id != id)
		i = (i + 1) & ids->mask;
	return ids->pair[i].id ? &ids->pair[i].event : NULL;
}

/* Copies bytes of a buffer, which may go round its end. */
static inline void trc_perf_copy_out(const char *data, uint64_t data_bytes, uint64_t at,
				     void *bytes, size_t n_bytes)
{
	uint64_t from = at & (data_bytes - 1);
	size_t first = n_bytes < data_bytes - from ? n_bytes : (size_t)(data_bytes - from);

	memcpy(bytes, data + from, first);
	memcpy((char *)bytes + first, data, n_bytes - first);
}

/* ---- perf_buffer_maps.c ---- */

/* What pid maps from its next exec on, and its descendants; if that cannot be had, nothing. */
void trc_perf_open_maps(struct trc_perf *p, int pid);
void trc_perf_close_maps(struct trc_perf *p);
/* Takes note of what has been mapped. */
void trc_perf_look_at_maps(struct trc_perf *p);

/* ---- perf_buffer_read.c, perf_buffer_record.c ---- */

/* Looks how many records of this proc found no room since the last look, and hands it out. */
void trc_perf_look_at_losses(struct trc_perf *p, uint32_t proc, uint64_t raw_ns, trc_perf_fn *fn,
			     void *context);
/* Looks how much was counted of those events that may have to share a counter. */
void trc_perf_look_at_shares(struct trc_perf *p);

/*
 * What a record says, with p->frame filled in for a sample: false if it is of no interest.  `bytes`
 * may be cut for samples only, whose last frames are missing then.
 */
bool trc_perf_record_read(struct trc_perf *p, uint32_t proc, const char *bytes, size_t n_bytes,
			  struct trc_perf_record *r);

#endif
