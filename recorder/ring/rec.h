/*
 * rec.h - the recorder's own state in the recorded process.
 *
 * A process has one such state, in static memory. trc_session_start() fills in the state before the
 * switch is turned on.  While the switch is on, the state is constant.
 */
#ifndef TRC_RECORDER_RING_REC_H
#define TRC_RECORDER_RING_REC_H

#include <stdatomic.h>
#include <stdbool.h>
#include <pthread.h>
#include <string.h>
#include "recorder/shared/clock.h"
#include "recorder/shared/layout.h"

struct trc_proc_ref {
	struct trc_ring *ring;
	_Atomic uint64_t *data;
};

struct trc_rec {
	struct trc_proc_ref *procs; /* [n_procs] */
	uint64_t ring_mask;	    /* ring_words - 1 */
	uint32_t n_procs;	    /* 0 = record to the overflow stream only */

	struct trc_shared *shared;
	struct trc_overflow *overflow;
	struct trc_cell *cells;
	struct trc_slot *slots;
	char ring_path[512]; /* to allocate memory, where the kernel cannot do so by address */
};
extern TRC_HIDDEN struct trc_rec trc_rec;
/* The ring of no proc: it never has room, and is never written to. */
extern TRC_HIDDEN struct trc_ring trc_no_ring;

/* Offset of struct rseq from the thread pointer.  Where struct rseq cannot be used, the offset of a
 * stand-in that names no proc, so that the sequences need not ask. */
extern TRC_HIDDEN ptrdiff_t trc_rseq_offset;
extern TRC_HIDDEN bool trc_rseq_usable;

/* ---- ring.c ---- */

/* A piece of a record after its first two words. */
struct trc_seg {
	const void *bytes; /* need not be aligned */
	uint64_t words;
};

/* Bytes as two pieces of a record: whole words where they lie, the rest in *last. */
static inline unsigned int trc_seg_bytes(struct trc_seg *seg, const char *bytes, uint64_t n_bytes,
					 uint64_t *last)
{
	*last = 0;
	memcpy(last, bytes + n_bytes / 8 * 8, n_bytes % 8);
	seg[0].bytes = bytes;
	seg[0].words = n_bytes / 8;
	seg[1].bytes = last;
	seg[1].words = n_bytes % 8 != 0;
	return 2;
}

/*
 * Commits one record: word 0 is the time at commit, word 1 is given, then come the pieces.  Returns
 * false if the record was lost, and counts it.  Context: traced thread, signal handlers.
 */
bool trc_record(uint64_t word1, const struct trc_seg *seg, unsigned int n_segs);
/* trc_record() for a record whose words after the first two lie in args. */
bool trc_record_args(uint64_t word1, const uint64_t *args, unsigned int n_args);
bool trc_record_two_slow(uint64_t word1, uint64_t a, uint64_t b); /* see ring_inline.h */

/*
 * Records by name.  `args` is a variable of a struct trc_args_NAME (format/schema.h): from its type
 * come the kind, the number of words, and the place of the stack.
 */
#define TRC_ARGS_ARE(args) TRC_ARGS_KIND(args), TRC_ARGS_AT(args), TRC_ARGS_WORDS(args)
/* NULL: a struct without members needs no place on the stack. */
#define TRC_ARGS_AT(args)    (TRC_ARGS_WORDS(args) ? (uint64_t *)&(args) : NULL)
#define TRC_ARGS_STACK(args) ((unsigned int)(offsetof(__typeof__(args), stack) / sizeof(uint64_t)))
/* Word 1 of a record of args with `more` words behind them, which the flags tell of. */
#define TRC_ARGS_WORD1(args, flags, more)                                                          \
	TRC_REC_WORD1(TRC_ARGS_KIND(args), flags, 2 + TRC_ARGS_WORDS(args) + (more),               \
		      trc_self.serial)
#define TRC_RECORD(args)                                                                           \
	trc_record_args(TRC_ARGS_WORD1(args, 0, 0), TRC_ARGS_AT(args), TRC_ARGS_WORDS(args))
/* Finds rseq, once. Context: any thread, at set-up. */
void trc_rseq_setup(enum trc_ring_path path);

/* ---- room.c: what happens when there is no room ---- */

/* Context: traced thread, signal handlers.  True if the thread may be made to wait here. */
bool trc_may_wait(void);
/* Waits until *tail is no longer `seen_tail`, or gives up.  Returns true if trying again is
 * worth it.  One episode lasts at most 100 ms. */
bool trc_wait_for_room(_Atomic uint32_t *dropping, _Atomic uint32_t *waiters,
		       _Atomic uint32_t *space, _Atomic uint64_t *tail, uint64_t seen_tail);
void trc_wake_drainer(void);
/*
 * More than half of the room is used: wakes the drainer, now or after the release of the locks that
 * the thread holds (room:W4).  `step`: what may be used before the thread comes here again.
 */
void trc_room_is_short(uint64_t used, uint64_t room, uint64_t step);
/* After a release.  Context: traced thread, signal handlers. */
void trc_wake_if_owed(void);
/* Populates pages with memory; never raises SIGBUS.  0 or -errno. */
int trc_populate(void *start, uint64_t n_bytes);
/*
 * trc_populate() for a part of the mapping that is about to be used (layout:L5).  False: there is
 * no memory.  The failure is counted, and for the next 100 ms no thread tries again.
 */
bool trc_grow(struct trc_shared *shared, void *start, uint64_t n_bytes);
bool trc_grow_pages(struct trc_shared *shared, uint64_t first, uint64_t last);

/* Makes sure that these bytes of the tables have memory. */
static inline bool trc_is_grown(struct trc_shared *shared, const void *at, uint64_t n_bytes)
{
	uint64_t off = (uint64_t)((const char *)at - (const char *)shared);
	uint64_t first = off / TRC_AREA_BYTES, last = (off + n_bytes - 1) / TRC_AREA_BYTES;

	for (uint64_t page = first; page <= last; page++)
		if (__builtin_expect(!trc_page_is_grown(shared, page), 0))
			return trc_grow_pages(shared, first, last);
	return true;
}
/* Counts one lost event. */
void trc_count_loss(_Atomic uint64_t *lost_total, _Atomic uint64_t *lost_since);

/* ---- overflow.c ---- */
bool trc_overflow_record(uint64_t word1, const struct trc_seg *seg, unsigned int n_segs);
/* Counts a lost event for which no ring was tried. */
void trc_overflow_lost(void);

/* ---- threads.c ---- */

/* Makes trc_self valid for this session.  If trc_self was not valid, also makes a THREAD_START
 * event. Returns false if this thread does not record. */
bool trc_self_attach(void);
/* Counts a lost event in a thread that does not record yet, or no more: in a signal handler, or in
 * a destructor behind the thread's end.  Context: traced thread, signal handlers. */
void trc_self_lost(void);

/* ---- tables ---- */

/* Returns the id of this stack; 0 if there is no room now.  Context: traced thread, signal
 * handlers. */
uint64_t trc_stack_intern(const uint64_t *frame, uint32_t n, uint32_t epoch);
/* A record is about to cite this stack, which was interned before: its entry stays as long as if it
 * had been looked up now.  False if the entry is gone. */
bool trc_stack_touch(uint64_t id);
/* The id of this string, 0 if there is no room now or it is longer than 248 bytes. */
uint64_t trc_string_intern(const char *bytes, uint32_t n_bytes);
/* The same for strings of which there may be any number (layout:T4). */
uint64_t trc_string_intern_if_spare(const char *bytes, uint32_t n_bytes);
/* The id of this label set (labels_bytes.h); 0 if there is no room now. */
uint64_t trc_labels_intern(const char *bytes, uint32_t n_bytes);
/* A record is about to cite this label set: the set's entry stays as long as if it had been looked
 * up now.  False if the entry is gone, and for 0. */
bool trc_labels_touch(uint64_t id);
/* The same with the place of the entry. */
static inline bool trc_entry_touch(struct trc_entry_head *e, uint64_t id)
{
	uint64_t now = atomic_load_explicit(&trc_rec.shared->table_epoch, memory_order_relaxed);
	/* seq_cst, all but the first look at key: pairs with entry_take() (layout:T5). */
	uint64_t used = atomic_load_explicit(&e->last_use, memory_order_seq_cst);

	/* Exchanged, not stored: another thread may just have pinned the entry. */
	while (used < now &&
	       trc_key_stays(atomic_load_explicit(&e->key, memory_order_relaxed), id) &&
	       !atomic_compare_exchange_weak_explicit(&e->last_use, &used, now,
						      memory_order_seq_cst, memory_order_seq_cst))
		;
	return trc_key_stays(atomic_load_explicit(&e->key, memory_order_seq_cst), id);
}
/* Keeps a string for the whole session, for names that are literals in the source. */
void trc_string_pin(uint64_t id);
/* Makes the modules of these frames known in the module table. */
void trc_modules_note(const uint64_t *frame, uint32_t n, uint32_t epoch);
/* Finds all modules of the process.  Context: any thread, may block. */
void trc_modules_scan(void);
/* Enters what is known of the modules into a new session's table.  Takes no lock. */
void trc_modules_publish(void);

/* Calls fn for each loaded module, the program first; or for each module that the session's stacks
 * refer to.  The path is borrowed during the call.  Context: any thread, may block; during the
 * second function the session must not end. */
typedef void trc_module_fn(void *context, const struct trc_module_entry *module);
void trc_modules_loaded(trc_module_fn *fn, void *context);
void trc_modules_recorded(trc_module_fn *fn, void *context);

/* ---- emit.c ---- */

/* True if the calling thread records; attaches the thread to the session first if need be. */
static inline bool trc_self_ready(void);

#include "hot.h"

static inline bool trc_self_ready(void)
{
	/* relaxed: a thread that is attached has passed the acquire in trc_self_attach(). */
	uint32_t session = atomic_load_explicit(&trc_switch.on, memory_order_relaxed);

	if (__builtin_expect(trc_self.session_if_loud == session, 1))
		return session != 0;
	return trc_self_attach();
}

/* False if the session has ended, or been replaced, since the calling thread attached to it. */
static inline bool trc_self_is_of_session(void)
{
	/* relaxed: see trc_recording(). */
	return trc_self.session != 0 &&
	       trc_self.session == atomic_load_explicit(&trc_switch.on, memory_order_relaxed);
}

/* Makes a record with arguments and the caller's stack.  The stack's id goes into arg[stack_index];
 * if the table has no room, the stack itself goes behind the record.  Returns the id. */
#define TRC_RECORD_STACK(args) trc_record_stack(TRC_ARGS_ARE(args), TRC_ARGS_STACK(args))
uint64_t trc_record_stack(enum trc_kind kind, uint64_t *arg, unsigned int n_args,
			  unsigned int stack_index);
/* The same with the stack that a signal interrupted: `context` is the handler's third argument. */
#define TRC_RECORD_STACK_OF(args, context)                                                         \
	trc_record_stack_of(TRC_ARGS_ARE(args), TRC_ARGS_STACK(args), context)
uint64_t trc_record_stack_of(enum trc_kind kind, uint64_t *arg, unsigned int n_args,
			     unsigned int stack_index, const void *context);
/* A string that a record carries itself, since the table has no room; n_bytes 0: no string. */
struct trc_inline_string {
	const char *bytes;
	uint64_t n_bytes;
};
/* As trc_record_stack(), with an inline string as the first string argument; and the same without a
 * stack. */
#define TRC_RECORD_STACK_STRING(args, string)                                                      \
	trc_record_stack_string(TRC_ARGS_ARE(args), TRC_ARGS_STACK(args), string)
#define TRC_RECORD_STRING(args, string) trc_record_string(TRC_ARGS_ARE(args), string)
uint64_t trc_record_stack_string(enum trc_kind kind, uint64_t *arg, unsigned int n_args,
				 unsigned int stack_index, const struct trc_inline_string *string);
void trc_record_string(enum trc_kind kind, const uint64_t *arg, unsigned int n_args,
		       const struct trc_inline_string *string);
/* The calling thread's stack as an id; 0 = none, or no room. */
uint64_t trc_stack_here(void);
/* The addresses of this object's own code, left out of stacks: [0] <= address < [1] */
extern TRC_HIDDEN uint64_t trc_own_text[2];

/* ---- the calling thread's slot (threads.c, slot_inline.h).
 * Context: the thread itself, signal handlers. ---- */
void trc_slot_region(uint64_t task, uint64_t type, uint64_t since);
void trc_slot_region_end(void);

#endif
