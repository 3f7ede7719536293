/* perf_buffer_private.h - declarations that the opening and the reading of the kernel's buffers
 * share. */
#ifndef TRC_RECORDER_DRAIN_PERF_BUFFER_PRIVATE_H
#define TRC_RECORDER_DRAIN_PERF_BUFFER_PRIVATE_H

#include <linux/perf_event.h>
#include <string.h>
#include "perf_buffer.h"

enum {
	TRC_PERF_RECORD_BYTES =
		8192, /* longer stacks are cut; a record of TRC_PERF_CHAIN_MAX frames fits */
	TRC_PERF_STOPPED_MAX = 16,
	/* Of Linux 6.19, which older headers do not name: PERF_RECORD_CALLCHAIN_DEFERRED. */
	TRC_PERF_RECORD_CHAIN = 22,
	/* User frames in such a record at most, whatever kernel.perf_event_max_stack says: the kernel keeps
	 * them in one page of 4 KiB, behind a header of 16 bytes. */
	TRC_PERF_CHAIN_MAX = (4096 - 16) / 8,
};
/* PERF_CONTEXT_USER_DEFERRED: in a call chain a cookie follows (perf_buffer_deferred.c). */
#define TRC_PERF_CONTEXT_DEFERRED ((uint64_t)-640)

/* The fields that sample_id_all adds to each record except samples, by TRC_PERF_ID_BITS.  The proc
 * is not among the fields: each proc has a buffer of its own, and writing the proc would cost the
 * kernel time at every switch. */
struct trc_perf_id {
	uint32_t pid, tid;
	uint64_t raw_ns;
	/* With samples: a u64 that tells the event. */
};
#define TRC_PERF_ID_BITS (PERF_SAMPLE_TID | PERF_SAMPLE_TIME)

/* The last counter of a thread that the kernel stopped for the rest of a tick. */
struct trc_perf_stopped {
	uint32_t tid, event;
	uint64_t since_ns; /* 0 = free */
};

struct trc_perf_buffer {
	struct perf_event_mmap_page *page; /* NULL = no such proc, or none needed */
	uint64_t last_ns;
	uint64_t tail;				/* of the pass that is under way */
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

/* A descriptor beside the buffer's own: for a sampled event, or for a thread that existed
 * before. */
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

/* The share of an event's time in which the event was counted. */
struct trc_perf_share {
	uint64_t enabled_ns, running_ns;	 /* so far */
	uint64_t new_enabled_ns, new_running_ns; /* of that, since the look before */
};

/* The places of user frames that came later than their samples (perf_buffer_deferred.c). */
struct trc_perf_chains {
	struct trc_perf_chain {
		uint64_t cookie;
		uint64_t at; /* in the buffer, or of the copy */
		uint32_t tid, proc;
		uint32_t pass; /* of which it is; another one's: the place is free */
		uint32_t n_bytes;
	} * chain; /* NULL = frames are not deferred */
	uint32_t mask, pass;
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
	bool defers;		    /* the kernel tells user frames later */
	struct trc_perf_chains chains;
	char record[TRC_PERF_RECORD_BYTES] __attribute__((aligned(8)));
	char chain_record[TRC_PERF_RECORD_BYTES] __attribute__((aligned(8)));
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

/* Opens buffers for the mappings of pid, from its next exec on, and of its descendants.  If this is
 * not possible, does nothing. */
void trc_perf_open_maps(struct trc_perf *p, int pid);
void trc_perf_close_maps(struct trc_perf *p);
/* Takes note of what has been mapped. */
void trc_perf_look_at_maps(struct trc_perf *p);

/* ---- perf_buffer_deferred.c ---- */

/* Asks for deferred frames: in the attributes of an event that samples, or of the event that a
 * buffer belongs to. */
void trc_perf_defer(struct perf_event_attr *attr, bool samples);
/* True if the kernel takes both attributes with deferred frames, and TRC_DEFERRED=off does not
 * forbid them. */
bool trc_perf_may_defer(const struct perf_event_attr *switches,
			const struct perf_event_attr *samples);
int trc_perf_chains_open(struct trc_perf_chains *chains, uint32_t n_procs, uint64_t data_bytes);
void trc_perf_chains_close(struct trc_perf_chains *chains);
/* Forgets what was noted. */
void trc_perf_chains_begin(struct trc_perf_chains *chains);
/* Takes note of a record if it has deferred frames; bytes[0..n_bytes) may be cut: then it is no
 * record. */
void trc_perf_chains_note(struct trc_perf *p, uint32_t proc, uint64_t at, const char *bytes,
			  size_t n_bytes);
/* The time at which a record with deferred frames was written; 0 = the record has none. */
uint64_t trc_perf_chain_ns(const struct trc_perf *p, const char *bytes, size_t n_bytes);
/* The call chain of a noted record: *n addresses, at most *room of them present; NULL = no such
 * record was noted.  Valid until the next call. */
const char *trc_perf_chain_find(struct trc_perf *p, uint32_t tid, uint64_t cookie, uint64_t *n,
				uint64_t *room);

/* ---- perf_buffer_counters.c ---- */

/* Whether user frames may come later than their samples, where the kernel knows that. */
bool trc_perf_events_may_defer(const struct trc_perf *p);
/* Has samples tell their counter's value, where that keeps threads' counts apart: perf_buffer:V6. */
void trc_perf_keep_counts_apart(struct trc_perf *p);
/* Opens the event that a proc's buffer belongs to.  A descriptor or -errno. */
int trc_perf_open_switches(struct trc_perf *p, int tid, uint32_t proc, bool at_exec);
/* One counter more, of a thread's while it runs on this proc, into the proc's buffer.  0 or
 * -errno. */
int trc_perf_add_counter(struct trc_perf *p, int tid, uint32_t proc, uint32_t event, bool at_exec);
/* Closes all but the first `from`. */
void trc_perf_close_counters(struct trc_perf *p, uint32_t from);
/* Adds counters for the process's other threads: of switches, and of the events whose bit is set.
 * If some are missing, says so. */
void trc_perf_add_threads(struct trc_perf *p, bool switches, uint32_t which, char *said,
			  size_t n_bytes);

/* ---- perf_buffer_read.c, perf_buffer_record.c ---- */

/* Hands out how many records of this proc found no room since the last look. */
void trc_perf_look_at_losses(struct trc_perf *p, uint32_t proc, uint64_t raw_ns, trc_perf_fn *fn,
			     void *context);
/* Reads the counted share of the events that may have to share a counter. */
void trc_perf_look_at_shares(struct trc_perf *p);

/*
 * Reads a record, and fills in p->frame for a sample.  False: the record is of no interest.  Only
 * the `bytes` of samples may be cut; the last frames are missing then.
 */
bool trc_perf_record_read(struct trc_perf *p, uint32_t proc, const char *bytes, size_t n_bytes,
			  struct trc_perf_record *r);

#endif
