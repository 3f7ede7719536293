/*
 * layout.h - the shared mapping, which outlives the process: everything that a reader needs.
 *
 *   header | procs (control of each proc's ring) | overflow control | thread slots |
 *   stack table | string table | label set table | module table | module epochs | path heap |
 *   overflow cells | ring data of each proc
 *
 * The mapping is a file on tmpfs.  The recorded process and its readers map the file at different
 * addresses, so it holds offsets, never pointers.  A reader treats the mapping as hostile: it
 * copies a field once, then checks the copy (trc_layout_check() for the header).
 *
 *   layout:L1  every area starts on a multiple of 4096 bytes and lies inside total_bytes
 *   layout:L2  a proc's ring data is touched only while its state is TRC_RING_READY
 *   layout:L3  ids are never reused: serials count up; stack, string and label set ids carry a
 *       hash of their content, so that an evicted entry is told from its successor
 *   layout:L4  a table entry is published before the record that cites it is committed
 *   layout:L5  between threads_off and cells_off only pages whose bit is set in `grown` have
 *       memory, and of the streams only the first ready_cells and ready_words.  Reading memory that
 *       was never written to may raise SIGBUS.  Committed cells and words have memory, and so have
 *       published entries, and slots below trc_slots_used()
 */
#ifndef TRC_RECORDER_SHARED_LAYOUT_H
#define TRC_RECORDER_SHARED_LAYOUT_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include "format/schema.h"
#include "format/writer.h"

enum {
	TRC_LAYOUT_VERSION = 10,
	TRC_AREA_BYTES = 4096,
	TRC_LINE_BYTES = 64,
	TRC_PROCS_MAX = 4096,
	TRC_THREAD_NAME_BYTES = 64,
	TRC_OPEN_REGIONS = 8, /* how many open regions a thread's slot tells */
	TRC_TRIGGERS_MAX = 16,
	TRC_TRIGGER_WORDS = 12,
	TRC_SAMPLE_EVENTS_MAX = 16,
	TRC_LABELS_BYTES_MAX = 1000, /* of a label set (labels_bytes.h) */
	TRC_STRING_SHORT_BYTES = 56, /* of a string of class 0 */
	TRC_STRING_BYTES_MAX = 248,
	TRC_GROWN_PAGES = 4096,
};
#define TRC_LAYOUT_MAGIC "TRCRING"
/* For declarations of data: without TRC_HIDDEN the compiler accesses them through the GOT. */
#define TRC_HIDDEN __attribute__((visibility("hidden")))

/* The name of a FIFO in the directory of a trace-record's session.  A process that makes a file in
 * the directory writes a byte to the FIFO. */
#define TRC_WAKE_NAME "wake"

enum trc_shared_state {
	TRC_SHARED_CREATING, /* not to be read yet */
	TRC_SHARED_LIVE,     /* the process may record */
	TRC_SHARED_CLOSED,   /* the process ended recording in good order: all is committed */
};

enum trc_on_full { TRC_ON_FULL_WAIT, TRC_ON_FULL_DROP };
enum trc_ring_path { TRC_PATH_AUTO, TRC_PATH_RSEQ, TRC_PATH_OVERFLOW };

/*
 * A request for a snapshot, by trace_flight_trigger() or by a condition that was met.  The p-th
 * request is in place (p - 1) % TRC_TRIGGERS_MAX.  `number` is p once the request is complete, 0
 * while the request is being filled in.  Older requests are overwritten if the taker of snapshots
 * is too slow; n_triggers says how many requests there were.
 */
struct trc_trigger {
	_Atomic uint64_t number;
	_Atomic uint64_t ticks;	 /* the odd moment */
	_Atomic uint32_t serial; /* of the thread concerned; 0 = none */
	_Atomic uint32_t n_bytes;
	_Atomic uint64_t text[TRC_TRIGGER_WORDS]; /* "park>100ms: mutex 0x55..., 132 ms" */
};

enum trc_crash_state { TRC_CRASH_NONE, TRC_CRASH_FILLING, TRC_CRASH_COMPLETE };

/* The first signal that ends the process, as its handler saw it. */
struct trc_crash {
	_Atomic uint32_t state; /* enum trc_crash_state */
	_Atomic int32_t signal, code;
	_Atomic uint32_t tid, serial;
	_Atomic uint64_t address; /* si_addr, 0 where the signal has none */
	_Atomic uint64_t ticks;
	_Atomic uint64_t stack; /* of the thread that got the signal; also in its SIGNAL event */
};

enum trc_sample_event_state {
	TRC_SAMPLE_EVENT_FREE,
	TRC_SAMPLE_EVENT_COMPLETE,
	TRC_SAMPLE_EVENT_FILLING,
};

#define TRC_SAMPLE_EVENT_LEFT (UINT64_C(1) << 63) /* in since_ns */

/*
 * An event that is, or was, sampled in this session: the i-th event has number i + 1.  In a
 * complete entry only the atomic fields change; it stays to the session's end (sample_table.h).
 */
struct trc_sample_event_slot {
	_Atomic uint32_t state; /* enum trc_sample_event_state; stored last */
	uint8_t how;		/* enum trc_sample_how */
	uint8_t counts_all;	/* CPU time is all that it counts, and it counts all of it */
	uint8_t reserved[2];
	uint64_t period, frequency_hz; /* as in struct trc_sample_event_entry */
	_Atomic uint64_t missing_threads;
	/* Of one that counts all CPU time, in ns: what threads have used while it was armed for them,
	 * and what the process has, trc's own threads left out, while the event was sampled, without
	 * the time since `since_ns`, by the process's clock; 0 = the event is not sampled now.  With
	 * TRC_SAMPLE_EVENT_LEFT the process is about to execute another program: if it does, there is no
	 * such time. */
	_Atomic uint64_t armed_ns, due_ns, since_ns;
	/* Of an event that the kernel samples, in ticks: threads that began since then take their first
	 * samples themselves (sample:S9); 0 = none do. */
	_Atomic uint64_t first_from;
	/* Lost samples that no event could report, by enum trc_sample_loss. */
	_Atomic uint64_t lost[8];
	char name[48], unit[16], note[160];
};

/* The first area.  After TRC_SHARED_LIVE only the atomic fields change. */
struct trc_shared {
	char magic[8]; /* TRC_LAYOUT_MAGIC */
	uint32_t layout_version;
	_Atomic uint32_t state; /* enum trc_shared_state; stored by the recorded process */
	uint64_t schema_hash;
	uint64_t total_bytes;

	uint32_t pid;
	uint32_t image; /* counts the programs that this pid executed, from 0 */
	uint8_t boot_id[16];
	uint8_t uuid[16];
	uint32_t clock;		/* enum trc_clock_kind */
	_Atomic uint32_t flags; /* TRC_SHARED_* */
	uint64_t ticks_per_second;
	struct trc_sync_point start;

	uint32_t n_procs;
	uint32_t page_words; /* a record never straddles a page of the ring */
	uint64_t ring_words; /* of each proc; a power of two */
	uint64_t procs_off, overflow_off, threads_off, stacks_off, strings_off, labels_off;
	uint64_t modules_off, epochs_off, heap_off, heap_bytes, cells_off, data_off;
	uint32_t n_threads;	 /* slots */
	uint32_t n_modules;	 /* entries */
	uint32_t n_epochs;	 /* module epochs whose beginnings are kept */
	uint32_t n_cells;	 /* of the overflow stream; a power of two */
	uint32_t stack_sets[4];	 /* sets of 8 entries for 16, 32, 64, 128 frames */
	uint32_t string_sets[2]; /* sets of 8 entries for 56 and 248 bytes */
	uint32_t label_sets[2];	 /* sets of 8 entries for label sets of 120 and 1000 bytes */
	uint32_t on_full;	 /* enum trc_on_full */
	uint32_t locks;		 /* enum trc_locks */
	uint32_t path;		 /* enum trc_ring_path */

	/* The owner: a pid alone may have had two owners, and means another process in another
	 * pid namespace. */
	uint64_t process_start; /* field 22 of /proc/PID/stat, in clock ticks since boot */
	uint64_t pid_namespace; /* inode of /proc/self/ns/pid; 0 = not known */
	_Atomic uint64_t
		window_ns; /* flight mode: what a snapshot is trimmed to; 0 = all there is */

	/* Stored by any thread of the recorded process. */
	_Alignas(TRC_LINE_BYTES) _Atomic uint32_t next_serial;
	_Atomic uint64_t next_task, next_fiber;
	_Atomic uint32_t module_epoch;	 /* up by one before and after every dlclose() */
	_Atomic uint32_t n_modules_used; /* entries below are, or are being, filled in */
	_Atomic uint64_t heap_used;
	_Atomic uint32_t slots_full;   /* threads that found no slot */
	_Atomic uint32_t stacks_full;  /* stacks that went inline for want of room */
	_Atomic uint32_t modules_full; /* modules, or paths of some, that found no room */
	/* What the last procs_change event of the process itself says (low half), and how many such
	 * events there were (high half): so trace-record does not record the same change again. */
	_Atomic uint64_t procs_told;
	_Atomic uint64_t grown[TRC_GROWN_PAGES / 64]; /* by page of the file; L5 */
	_Atomic uint32_t ready_slots;		      /* slots that have memory (L5) */
	_Atomic uint32_t no_room; /* how many times there was no memory to grow by */

	/* A futex word: the drainer stores 1 and sleeps on the word; a writer whose ring is half
	 * full stores 0 and wakes the drainer. */
	_Alignas(TRC_LINE_BYTES) _Atomic uint32_t drain_wake;
	_Atomic uint32_t drain_state; /* enum trc_drain_state */
	/* Counts completed passes over all rings; in flight mode it goes up whenever a ring has
	 * been overwritten whole since the last time (T3). */
	_Atomic uint64_t table_epoch;

	/* A futex word, up by one with every request for a snapshot. */
	_Alignas(TRC_LINE_BYTES) _Atomic uint32_t trigger_wake;
	_Atomic uint64_t n_triggers; /* so far */
	struct trc_trigger trigger[TRC_TRIGGERS_MAX];
	_Alignas(TRC_LINE_BYTES) struct trc_crash crash;
	_Alignas(TRC_LINE_BYTES) struct trc_sample_event_slot sample_event[TRC_SAMPLE_EVENTS_MAX];

	_Alignas(TRC_LINE_BYTES) char exe[1024];
	char command[1024]; /* arguments, separated by zeros */
};

enum {
	TRC_SHARED_HAS_RSEQ = 1, /* writers use the procs' rings */
	/* Flight mode: while nobody drains, the oldest records are overwritten, and nobody
	 * waits. */
	TRC_SHARED_OVERWRITE = 2,
	TRC_SHARED_OWN_SIGPROF = 4,    /* the program has got a SIGPROF of its own while sampled */
	TRC_SHARED_KEEP_MODULES = 8,   /* a reader keeps stacks for longer than tables do (X2) */
	TRC_SHARED_FOR_RECORDERS = 16, /* only recorders use it: nothing to recover (leftovers.h) */
	TRC_SHARED_EXITED = 32,	       /* exit() was called, or main() returned */
};

enum trc_locks { TRC_LOCKS_CONTENDED, TRC_LOCKS_ALL, TRC_LOCKS_NONE };

enum trc_drain_state {
	TRC_DRAIN_NONE,	  /* nobody drains (flight mode, or the drainer is gone): never wait */
	TRC_DRAIN_ACTIVE, /* pages come back: `wait` may wait */
	TRC_DRAIN_FAILED, /* the sink failed: pages come back, but nothing waits any more */
};

/* ---- the ring of one proc ------------------------------------------------------------- */

enum trc_ring_state {
	TRC_RING_EMPTY, /* no thread has recorded on this proc */
	TRC_RING_READY, /* the ring's data has memory as far as it has been written to (L5) */
};

/*
 * head, limit, floor and tail count words since birth, and are masked only to index.
 *
 *   R1  head <= limit, and limit is a multiple of page_words
 *   R2  the words in [max(floor, tail), head) are whole records and page ends, in execution order
 *   R3  storing head is the commit: until then the record does not exist
 *   R4  limit grows by one page at a time, only when head == limit, and while somebody drains
 *       only so far that limit - tail <= ring_words
 *   R5  before limit makes a page writable whose words hold older records, floor is moved past
 *       these records; a reader copies, then reads floor again and discards everything below floor.
 *       Below floor nothing is whole, and floor is a multiple of page_words
 *   R6  a record that finds no room adds one to lost_total; the next record that finds room is
 *       preceded by a gap record with lost_total as its count (the reader takes the difference)
 *   R7  a word of zero where a record would begin means: nothing more in this page
 */
struct trc_ring {
	/* Stored inside the sequence by the thread that runs on the proc. */
	_Alignas(TRC_LINE_BYTES) _Atomic uint64_t head;
	_Atomic uint64_t limit;
	_Atomic uint64_t newest; /* time of the last record; kept only where the clock is no TSC */
	_Atomic uint64_t floor;
	_Atomic uint32_t state; /* enum trc_ring_state */
	uint32_t proc;
	int64_t data_off; /* from this structure to the ring's data */

	/* Stored by threads that lose events, atomically. */
	_Alignas(TRC_LINE_BYTES) _Atomic uint64_t lost_total;
	_Atomic uint64_t lost_reported; /* lost_total as of the last gap record */
	_Atomic uint64_t lost_since;	/* ticks of the first loss after that; 0 = none */
	_Atomic uint32_t dropping;	/* a wait timed out: drop until half empty */
	_Atomic uint32_t waiters;	/* threads in a futex wait on `space` */
	_Atomic uint64_t epoch_mark;	/* TRC_EPOCH_MARK of its first new page in an epoch (T3) */
	_Atomic uint64_t ready_words;	/* words that have memory (L5) */

	/* Stored by the drainer. */
	_Alignas(TRC_LINE_BYTES) _Atomic uint64_t tail;
	_Atomic uint32_t space; /* futex word, counted up when pages came back and a thread waits */
};

/* The low 24 bits of table_epoch, and limit in pages. */
#define TRC_EPOCH_MARK(epoch, page)                                                                \
	((uint64_t)(epoch) << 40 | ((uint64_t)(page) & ((UINT64_C(1) << 40) - 1)))

/*
 * A record in the ring:
 *
 *   word 0   the time in ticks, never 0
 *   word 1   TRC_REC_WORD1: kind, flags, number of words, the thread's serial
 *   then     one word for each argument of the kind, in schema order (TEXT: a word with its length,
 *            then its bytes)
 *   then     what did not find room in the tables, by the flags:
 *
 * TRC_REC_INLINE_STRING: the first STRING argument holds 0, and the string's length and bytes
 * follow. TRC_REC_INLINE_LABELS: the same for the first LABELS argument.
 * TRC_REC_INLINE_BEFORE: the same for the second LABELS argument, after the first.
 * TRC_REC_INLINE_STACK: the STACK argument holds 0, and the record ends with a word (epoch << 32 |
 * number of frames) and the frames.
 */
#define TRC_REC_KIND(w)	  ((uint8_t)(w))
#define TRC_REC_FLAGS(w)  ((uint8_t)((w) >> 8))
#define TRC_REC_WORDS(w)  ((uint16_t)((w) >> 16))
#define TRC_REC_SERIAL(w) ((uint32_t)((w) >> 32))
#define TRC_REC_WORD1(kind, flags, words, serial)                                                  \
	((uint64_t)(kind) | (uint64_t)(flags) << 8 | (uint64_t)(words) << 16 |                     \
	 (uint64_t)(serial) << 32)
enum {
	TRC_REC_INLINE_STACK = 1,
	TRC_REC_INLINE_STRING = 2,
	TRC_REC_INLINE_LABELS = 4,
	TRC_REC_INLINE_BEFORE = 8,
	TRC_REC_WORDS_MAX = 2 + TRC_ARGS_MAX + 1 + TRC_TEXT_BYTES_MAX / 8 + 1 + 256 / 8 + 1 +
			    TRC_LABELS_BYTES_MAX / 8 + 1 + TRC_STACK_DEPTH_MAX,
	TRC_PAGE_WORDS_MIN = 1024, /* any record fits into a page */
};

/* ---- the overflow stream -------------------------------------------------------------- */

/*
 * The stream is made of cells of fixed size, with 7 words each.  A record takes as many cells as it
 * needs, reserved together by a compare-and-swap of head.  The clock is read between loading and
 * storing head.
 *
 *   layout:O1  the cell of position p is committed when its `commit` is trc_cell_commit(p, first,
 *       words): a check of position and content, so that a cell written late over another is seen.
 *       The words of the last cell beyond the record are zero
 *   layout:O2  `claim` of a first cell is stored right after the reservation: position, cells, tid
 *   layout:O3  a reader that meets an uncommitted cell for 10 ms, or whose owner is gone, skips the
 *       cells of that claim and counts one lost event
 *   layout:O4  positions in order of reservation are in order of time
 *   layout:O5  in flight mode the stream holds the cells [max(0, head - n_cells), head)
 */
struct trc_overflow {
	_Alignas(TRC_LINE_BYTES) _Atomic uint64_t head; /* cells since birth */
	_Alignas(TRC_LINE_BYTES) _Atomic uint64_t lost_total;
	_Atomic uint64_t lost_since;
	_Atomic uint32_t dropping;
	_Atomic uint32_t waiters;
	_Atomic uint64_t epoch_mark;  /* as that of a ring, in halves of the cells */
	_Atomic uint64_t ready_cells; /* cells that have memory (L5) */
	_Alignas(TRC_LINE_BYTES) _Atomic uint64_t tail; /* stored by the drainer */
	_Atomic uint32_t space;
};

struct trc_cell {
	_Alignas(TRC_LINE_BYTES) _Atomic uint64_t commit;
	_Atomic uint64_t word[7]; /* in a first cell: the claim, then 6 words of record */
};
/* claim: tid 32 | proc 16 | lap 8 | cells 8; lap = position / n_cells, so that a claim of an
 * earlier lap is told from this one's. */
#define TRC_CLAIM(tid, proc, lap, cells)                                                           \
	((uint64_t)(tid) << 32 | (uint64_t)((proc)&0xffff) << 16 | ((uint64_t)(lap)&0xff) << 8 |   \
	 ((uint64_t)(cells)&0xff))
#define TRC_CLAIM_TID(c)   ((uint32_t)((c) >> 32))
#define TRC_CLAIM_PROC(c)  ((uint32_t)(((c) >> 16) & 0xffff))
#define TRC_CLAIM_LAP(c)   ((uint32_t)(((c) >> 8) & 0xff))
#define TRC_CLAIM_CELLS(c) ((uint32_t)((c)&0xff))

/* ---- threads -------------------------------------------------------------------------- */

enum trc_slot_state {
	TRC_SLOT_FREE,
	TRC_SLOT_TAKEN, /* being filled in */
	TRC_SLOT_LIVE,
	/* The thread is gone.  A drainer takes note, then frees the slot; in flight mode the next
	 * thread that needs a slot takes it. */
	TRC_SLOT_ENDED,
};

/* Registers of a thread, with which a walk of its stack begins; pc is a return address. */
struct trc_registers {
	uint64_t pc, sp, fp;
};

/* What a thread is, and what it is doing right now.  Stored by the thread itself (name: by any
 * thread); read under the sequence counter: odd = being changed. */
struct trc_slot {
	_Alignas(TRC_LINE_BYTES) _Atomic uint32_t state; /* enum trc_slot_state */
	_Atomic uint32_t seq;
	_Atomic uint32_t serial, tid, creator;
	_Atomic uint32_t name_bytes;
	_Atomic uint64_t start, end; /* ticks; start 0 = before recording began */
	_Atomic uint64_t pthread;    /* pthread_t, for pthread_setname_np() and join */

	_Atomic uint32_t wait_reason; /* enum trc_reason; 0 = not waiting */
	_Atomic uint32_t n_regions;   /* open regions; the first TRC_OPEN_REGIONS are below */
	_Atomic uint64_t wait_object, wait_since, wait_stack, wait_holder;
	_Atomic uint64_t labels;     /* label set id; 0 = none; stays when the thread has ended */
	_Atomic uint64_t fiber;	     /* the fiber that the thread runs; 0 = its root fiber */
	_Atomic uint64_t fiber_name; /* string id */
	struct {
		_Atomic uint64_t task, type, since;
	} region[TRC_OPEN_REGIONS];
	_Atomic uint64_t name[TRC_THREAD_NAME_BYTES / 8];
	_Atomic uint64_t creation_stack; /* where its creator called; 0 = not known */

	/* For a wait without a recorded stack: registers at a return address of the call that
	 * waits, while the wait lasts; pc 0 = not known. */
	_Atomic uint64_t wait_pc, wait_sp, wait_fp;
	_Atomic uint64_t last_stack;	 /* where the thread was last seen; 0 = nowhere */
	_Atomic uint64_t last_ticks;	 /* when it was last seen there */
	_Atomic uint32_t last_is_sample; /* seen by a sample; 0 = at the end of a wait */
	/* A bit for each entry of the mapping's table of events whose first samples the thread
	 * cannot take (sample:S9): the kernel's stand for them. */
	_Atomic uint32_t first_lacks;
};

/* ---- stacks, strings and label sets --------------------------------------------------- */

enum { TRC_SET_WAYS = 8, TRC_STACK_CLASSES = 4, TRC_STRING_CLASSES = 2, TRC_LABELS_CLASSES = 2 };
/*
 * An entry of 16, 32, 64 or 128 frames (strings: 56 or 248 bytes; label sets: 120 or 1000), in a
 * set of 8 that its hash selects.  An id is  class 2 bits | entry index 22 bits | hash 40 bits,
 * never 0.
 *
 *   layout:T1  `key` is one of: 0, free; hash | TRC_KEY_VALID, complete; hash | TRC_KEY_VALID |
 *       TRC_KEY_BUSY, complete, and a thread checks whether the entry may be evicted; TRC_KEY_BUSY,
 *       being filled in
 *   layout:T2  content changes only while key is TRC_KEY_BUSY; a reader copies, then reads key
 *       again
 *   layout:T3  an entry may be evicted when last_use + 2 <= table_epoch; UINT64_MAX pins the entry.
 *       Every record that cites the entry has then been drained, or lies before all windows.  When
 *       the epoch counts up, some ring holds nothing from before the previous step of the epoch.  A
 *       window begins with the latest start of any full ring: so two steps later no window reaches
 *       back to the entry's last use
 *   layout:T4  a fiber's or descriptor's name takes a place only if half of its set then stays free
 *       or may be evicted: programs may have a name for each request, and other strings need room
 *       as well
 *   layout:T5  a thread that is about to cite an entry stores last_use, then reads key.  A thread
 *       that evicts an entry takes the key, then reads last_use.  If two such threads meet, at
 *       least one sees the other, and uses another entry
 */
struct trc_entry_head {
	_Atomic uint64_t key;
	_Atomic uint64_t last_use; /* table_epoch; all but its filler only raise it */
	_Atomic uint32_t epoch;	   /* module epoch (stacks) */
	_Atomic uint32_t n;	   /* frames, or bytes */
				   /* then the frames, or the bytes in whole words */
};
#define TRC_KEY_VALID	 UINT64_C(1)
#define TRC_KEY_BUSY	 UINT64_C(2)
#define TRC_ID_HASH(id)	 ((uint64_t)(id) & ((UINT64_C(1) << 40) - 1))
#define TRC_ID_INDEX(id) ((uint32_t)((id) >> 40) & 0x3fffff)
#define TRC_ID_CLASS(id) ((uint32_t)((id) >> 62))
#define TRC_ID(class, index, hash)                                                                 \
	((uint64_t)(class) << 62 | (uint64_t)(index) << 40 | TRC_ID_HASH(hash))

/* True if two ids are of the same content, which may lie in two places of its set (tables.c). */
static inline int trc_id_same(uint64_t a, uint64_t b)
{
	return !((a ^ b) & ~((uint64_t)(TRC_SET_WAYS - 1) << 40));
}

/* ---- modules -------------------------------------------------------------------------- */

enum { TRC_MODULE_FREE, TRC_MODULE_FILLING, TRC_MODULE_READY, TRC_MODULE_STATES };
#define TRC_MODULE_STATE(state) ((state) % TRC_MODULE_STATES)
/*
 * A module, valid for stacks of the epochs first_epoch to last_epoch.
 *
 *   layout:X1  state is one of the states above plus TRC_MODULE_STATES for each time that the entry
 *       was taken: a reader copies, then reads state again (trc_module_copy())
 *   layout:X2  when all entries are taken, a new module takes the entry of a module that is gone,
 *       with closed_in + 2 <= table_epoch: no stack of its epochs can be cited any more, as in T3
 */
struct trc_module_slot {
	_Atomic uint32_t state; /* and first_epoch: read as one word */
	_Atomic uint32_t first_epoch;
	_Atomic uint32_t last_epoch;	/* UINT32_MAX = not known to be gone */
	_Atomic uint32_t checked_epoch; /* the last epoch in which the module was seen */
	uint8_t build_id[TRC_BUILD_ID_BYTES_MAX];
	uint32_t build_id_bytes;
	_Atomic uint64_t start, limit;
	uint64_t file_offset, load_bias;
	uint64_t path_off;	    /* into the heap; zero-terminated; 0 = none */
	uint64_t path_room;	    /* bytes at path_off */
	_Atomic uint64_t closed_in; /* table_epoch when last_epoch was stored */
};

/* When a module epoch began: epoch e in place e % n_epochs, until a later epoch takes the place. */
struct trc_epoch_slot {
	_Atomic uint64_t ticks;
	_Atomic uint32_t epoch; /* stored last; 0 = none yet */
};

/* True in flight mode, where the ring serves snapshots, drained or not. */
static inline int trc_is_overwritten(const struct trc_shared *shared)
{
	/* relaxed: see trc_is_drained(). */
	return (atomic_load_explicit(&shared->flags, memory_order_relaxed) &
		TRC_SHARED_OVERWRITE) != 0;
}

/* True if room comes back only by draining: then a writer must not overwrite what is not drained
 * yet.  Otherwise the oldest records are overwritten. */
static inline int trc_is_drained(const struct trc_shared *shared)
{
	/* acquire: pairs with the release of the drainer that begins at what is committed then: so
	 * tails that are loaded later are right.  A writer that learns of the drainer a little
	 * later has overwritten only older records. */
	return !trc_is_overwritten(shared) ||
	       atomic_load_explicit(&shared->drain_state, memory_order_acquire) != TRC_DRAIN_NONE;
}

/* ---- access --------------------------------------------------------------------------- */

/* True if a page of the file between threads_off and cells_off has memory (L5). */
static inline int trc_page_is_grown(struct trc_shared *shared, uint64_t page)
{
	/* acquire: pairs with the release of the thread that populated the page; what is written
	 * there comes later. */
	return page >= TRC_GROWN_PAGES ||
	       (atomic_load_explicit(&shared->grown[page / 64], memory_order_acquire) >> page % 64 &
		1);
}
static inline void *trc_area(struct trc_shared *shared, uint64_t off)
{
	return (char *)shared + off;
}
static inline struct trc_ring *trc_ring_at(struct trc_shared *shared, uint32_t proc)
{
	return (struct trc_ring *)trc_area(shared, shared->procs_off) + proc;
}
/*
 * Slots from this index on have never been used.  The thread of serial s takes slot s % n_threads,
 * or a later slot if this slot is not free.  So while there are fewer serials than slots, no used
 * slot lies beyond the highest serial.
 */
static inline uint32_t trc_slots_used(const struct trc_shared *shared, uint32_t n_threads)
{
	/* relaxed: serials are counted up before slots are taken; a slot that is being taken just
	 * now is found by the next call. */
	uint32_t serials = atomic_load_explicit(&shared->next_serial, memory_order_relaxed);
	/* acquire: pairs with the release of the thread that populated the slots (L5). */
	uint32_t ready = atomic_load_explicit(&shared->ready_slots, memory_order_acquire);
	uint32_t n = serials < n_threads ? serials + 1 : n_threads;

	return n < ready ? n : ready;
}

static inline struct trc_slot *trc_slot_at(struct trc_shared *shared, uint32_t i)
{
	return (struct trc_slot *)trc_area(shared, shared->threads_off) + i;
}
static inline _Atomic uint64_t *trc_ring_data(struct trc_shared *shared, uint32_t proc)
{
	return (_Atomic uint64_t *)trc_area(shared, shared->data_off) + proc * shared->ring_words;
}

struct trc_layout_options {
	uint64_t ring_bytes;	 /* of each proc; 0 = default.  Rounded up to a power of two */
	uint64_t overflow_bytes; /* 0 = default */
	uint32_t n_procs;
	uint32_t n_threads; /* 0 = default */
	/* The limit of total_bytes; 0 = none.  With a limit tables get at most a quarter, and the
	 * rest is divided evenly among the procs, each the largest power of two that fits;
	 * ring_bytes, overflow_bytes and n_threads are then ignored. */
	uint64_t max_bytes;
};
/* Fills in the sizes and offsets of *header and its total_bytes. 0 or -EINVAL: out of range, or
 * max_bytes is too small for this many procs. */
int trc_layout_plan(struct trc_shared *header, const struct trc_layout_options *options);
/* Checks a copy of a header against the size of the file that the header came from.  0, or -EBADMSG
 * with a reason in *why (a constant string).  Nothing in the header is trusted before this call. */
int trc_layout_check(const struct trc_shared *header, uint64_t file_bytes, const char **why);
/* Bytes of one entry of a class. */
size_t trc_stack_entry_bytes(unsigned int class);
size_t trc_string_entry_bytes(unsigned int class);
size_t trc_labels_entry_bytes(unsigned int class);
/* The place of the entry that `id` names, or NULL if there is none: the caller checks key (L3). */
struct trc_entry_head *trc_stack_entry(struct trc_shared *shared, uint64_t id);
struct trc_entry_head *trc_labels_entry(struct trc_shared *shared, uint64_t id);
struct trc_entry_head *trc_string_entry_long(struct trc_shared *shared, uint64_t id);
static inline struct trc_entry_head *trc_string_entry(struct trc_shared *shared, uint64_t id)
{
	uint32_t index = TRC_ID_INDEX(id);

	if (TRC_ID_CLASS(id))
		return trc_string_entry_long(shared, id);
	return id && index < shared->string_sets[0] * TRC_SET_WAYS
		       ? (struct trc_entry_head *)((char *)trc_area(shared, shared->strings_off) +
						   index * (sizeof(struct trc_entry_head) +
							    TRC_STRING_SHORT_BYTES))
		       : NULL;
}
/* True if `key` belongs to a complete entry with the hash that `id` carries. */
static inline int trc_key_is(uint64_t key, uint64_t id)
{
	return (key & TRC_KEY_VALID) && TRC_ID_HASH(key >> 2) == TRC_ID_HASH(id);
}
/* The same, and no thread is about to evict the entry: for threads that are about to cite it
 * (T5). */
static inline int trc_key_stays(uint64_t key, uint64_t id)
{
	return !(key & TRC_KEY_BUSY) && trc_key_is(key, id);
}
/* True if the content did not change between two looks at the key (T2). */
static inline int trc_key_same(uint64_t one, uint64_t two)
{
	return (one & ~TRC_KEY_BUSY) == (two & ~TRC_KEY_BUSY);
}
/* Copy by id, for readers: number of frames or bytes, 0 = evicted (or never there). */
uint32_t trc_stack_copy(struct trc_shared *shared, uint64_t id, uint32_t *epoch,
			uint64_t frame[TRC_STACK_DEPTH_MAX]);
uint32_t trc_string_copy(struct trc_shared *shared, uint64_t id, char bytes[256]);
/* The same with sizes and offsets from *header, a checked copy of the mapping's header. */
uint32_t trc_stack_copy_by(const struct trc_shared *header, struct trc_shared *shared, uint64_t id,
			   uint32_t *epoch, uint64_t frame[TRC_STACK_DEPTH_MAX]);
uint32_t trc_string_copy_by(const struct trc_shared *header, struct trc_shared *shared, uint64_t id,
			    char bytes[256]);
uint32_t trc_labels_copy_by(const struct trc_shared *header, struct trc_shared *shared, uint64_t id,
			    char bytes[TRC_LABELS_BYTES_MAX]);
/* Copies an entry that another module may take meanwhile; 0 = the entry is not complete (X1).  The
 * path is right if the entry's state is still the copy's after the path was copied. */
int trc_module_copy(const struct trc_module_slot *slot, struct trc_module_slot *copy);
/* O1 */
uint64_t trc_cell_commit(uint64_t position, int first, const uint64_t word[7]);

#endif
