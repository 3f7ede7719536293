/*
 * ring.c - commits a record to the ring of the proc that the thread runs on, or if this is not
 * possible, to the overflow stream.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>
#include <sys/mman.h>
#include "rec.h"
#include "ring_inline.h"
#include "recorder/unwind/poison.h"

/* The sequences address these fields by number. */
_Static_assert(offsetof(struct trc_ring, head) == 0, "rseq_*.h");
_Static_assert(offsetof(struct trc_ring, limit) == 8, "rseq_*.h");
_Static_assert(offsetof(struct trc_ring, newest) == 16, "rseq_*.h");
_Static_assert(offsetof(struct trc_ring, proc) == 36, "rseq_*.h");
_Static_assert(offsetof(struct trc_ring, data_off) == 40, "rseq_*.h");
_Static_assert(sizeof(struct trc_seg) == 16, "rseq_*.h");

struct trc_rec trc_rec;
struct trc_ring trc_no_ring = {.proc = ~0U};
ptrdiff_t trc_rseq_offset;
bool trc_rseq_usable;

/* Single-stepping, or a storm of signals, can keep a sequence from ever completing. */
enum { TRIES_MAX = 100 };

/* In place of struct rseq: its cpu_id (the second word) is no proc's. */
static __thread uint32_t no_rseq[8] __attribute__((tls_model("initial-exec"))) = {~1U, ~1U};

void trc_rseq_setup(enum trc_ring_path path)
{
	/* Looked up by name: the library also loads with a libc that lacks them. */
	const ptrdiff_t *offset = dlsym(RTLD_DEFAULT, "__rseq_offset");
	const unsigned int *size = dlsym(RTLD_DEFAULT, "__rseq_size");

	trc_rseq_usable = path != TRC_PATH_OVERFLOW && offset && size && *size != 0;
	trc_rseq_offset =
		trc_rseq_usable ? *offset : (char *)no_rseq - (char *)__builtin_thread_pointer();
}

/* Readers look at rings that somebody has recorded to (layout:L2). */
static void ring_is_used(struct trc_ring *ring)
{
	uint32_t empty = TRC_RING_EMPTY;

	if (atomic_load_explicit(&ring->state, memory_order_relaxed) == TRC_RING_EMPTY)
		/* release: pairs with the acquire in readers. */
		atomic_compare_exchange_strong_explicit(&ring->state, &empty, TRC_RING_READY,
							memory_order_release, memory_order_relaxed);
}

/*
 * Gives the ring memory up to `next`, in its first round: page by page, so that who records little
 * takes little.  Threads that come here at the same time each do it.
 */
static bool ring_grow(struct trc_shared *shared, struct trc_ring *ring, uint32_t proc,
		      uint64_t next)
{
	/* acquire: pairs with the release below. */
	uint64_t ready = atomic_load_explicit(&ring->ready_words, memory_order_acquire);

	if (next <= ready || ready >= shared->ring_words)
		return true;
	if (!trc_grow(shared, (void *)&trc_rec.procs[proc].data[ready], (next - ready) * 8))
		return false;
	while (ready < next &&
	       !atomic_compare_exchange_weak_explicit(&ring->ready_words, &ready, next,
						      memory_order_release, memory_order_acquire))
		;
	return true;
}

static enum rseq_result record_put(uint64_t word1, uint64_t words, const struct trc_seg *seg,
				   unsigned int n_segs)
{
	enum rseq_result result;

	if (trc_clock_is_counter())
		return rseq_put(word1, words, seg, seg + n_segs);
	do
		result = rseq_put_at(trc_clock_vdso(), word1, words, seg, seg + n_segs);
	while (result == RSEQ_OLDER);
	return result;
}

/* After losses: one gap record with the total so far (R6).  The reader takes differences, so
 * that it does no harm if two threads both report. */
static void ring_report_losses(struct trc_ring *ring)
{
	/* relaxed: counters of their own; the record carries the value. */
	uint64_t total = atomic_load_explicit(&ring->lost_total, memory_order_relaxed);
	uint64_t since = atomic_load_explicit(&ring->lost_since, memory_order_relaxed);
	struct trc_args_gap args = {
		.lost_events = total, .since = since, .cause = TRC_GAP_RING_FULL};
	struct trc_seg seg = {&args, TRC_ARGS_WORDS(args)};
	uint64_t word1 = TRC_ARGS_WORD1(args, 0, 0);

	if (total == atomic_load_explicit(&ring->lost_reported, memory_order_relaxed))
		return;
	if (record_put(word1, TRC_REC_WORDS(word1), &seg, 1) != RSEQ_DONE)
		return; /* the next one to pass here, or the drainer at the end, tells */
	atomic_store_explicit(&ring->lost_reported, total, memory_order_relaxed);
	atomic_store_explicit(&ring->lost_since, 0, memory_order_relaxed);
}

enum room { ROOM_RETRY, ROOM_LOST, ROOM_ELSEWHERE };

/*
 * In flight mode this ring goes on to another page.  The tables' epoch ends when it has been
 * overwritten whole in it (layout:T3).  limit is read after the epoch, so that what this ring held
 * when the epoch began lies below the mark.
 */
static void ring_epoch_step(struct trc_shared *shared, struct trc_ring *ring)
{
	/* acquire: limit below is no older. */
	uint64_t epoch = atomic_load_explicit(&shared->table_epoch, memory_order_acquire);
	uint64_t limit = atomic_load_explicit(&ring->limit, memory_order_relaxed);
	uint64_t here = TRC_EPOCH_MARK(epoch, limit / shared->page_words);
	/* relaxed: one word, whole by itself. */
	uint64_t mark = atomic_load_explicit(&ring->epoch_mark, memory_order_relaxed);

	if (mark >> 40 != here >> 40)
		atomic_compare_exchange_strong_explicit(&ring->epoch_mark, &mark, here,
							memory_order_relaxed, memory_order_relaxed);
	else if (here - mark >= shared->ring_words / shared->page_words)
		/* Whoever is first: one step for all.  release: pairs with the acquire above, of who marks
		 * the next epoch. */
		atomic_compare_exchange_strong_explicit(&shared->table_epoch, &epoch, epoch + 1,
							memory_order_release, memory_order_relaxed);
}

/* head == limit: may the next page be written?  Moves limit if so (R4, R5). */
static enum room ring_next_page(struct trc_shared *shared, struct trc_ring *ring, uint32_t proc,
				uint64_t limit)
{
	uint64_t next = limit + shared->page_words;
	uint64_t floor = next > shared->ring_words ? next - shared->ring_words : 0;

	if (trc_is_overwritten(shared))
		ring_epoch_step(shared, ring);
	if (trc_is_drained(shared)) {
		/* acquire: pairs with the drainer's release of tail: it is done with those words.
		 * By now it may be beyond this limit: then somebody has moved it. */
		uint64_t tail = atomic_load_explicit(&ring->tail, memory_order_acquire);
		uint64_t used = limit > tail ? limit - tail : 0;

		if (used > shared->ring_words / 2)
			trc_room_is_short(used, shared->ring_words, shared->page_words);
		else
			atomic_store_explicit(&ring->dropping, 0, memory_order_relaxed);
		if (used + shared->page_words > shared->ring_words ||
		    atomic_load_explicit(&ring->dropping, memory_order_relaxed)) {
			if (trc_wait_for_room(&ring->dropping, &ring->waiters, &ring->space,
					      &ring->tail, tail))
				return ROOM_RETRY;
			trc_count_loss(&ring->lost_total, &ring->lost_since);
			return ROOM_LOST;
		}
	}
	if (!ring_grow(shared, ring, proc, next))
		return ROOM_ELSEWHERE;
	if (rseq_store_two(proc, &ring->limit, limit, &ring->floor, floor, &ring->limit, next) ==
	    RSEQ_DONE)
		ring_report_losses(ring);
	return ROOM_RETRY;
}

/* Remembers the ring of the proc that the thread runs on now.  One store each: a signal handler
 * in between may do the same for another proc, and either ring is a whole choice. */
static bool ring_choose(void)
{
	int proc = rseq_current_proc();

	if (proc < 0 || (uint32_t)proc >= trc_rec.n_procs)
		return false;
	trc_self.ring = trc_rec.procs[proc].ring;
	if (trc_clock_is_counter())
		trc_self.counter_ring = trc_rec.procs[proc].ring;
	return true;
}

/* A record of `words` did not fit below limit on the proc that the thread was on. */
static enum room ring_make_room(struct trc_shared *shared, uint64_t words)
{
	static const uint64_t zero;
	int proc = rseq_current_proc();
	struct trc_ring *ring;
	uint64_t head, limit;

	if (proc < 0 || (uint32_t)proc >= trc_rec.n_procs)
		return ROOM_ELSEWHERE;
	ring = trc_rec.procs[proc].ring;
	ring_is_used(ring);
	/* relaxed: both are compared again inside the sequence on this proc. */
	head = atomic_load_explicit(&ring->head, memory_order_relaxed);
	limit = atomic_load_explicit(&ring->limit, memory_order_relaxed);
	if (head + words <= limit)
		return ROOM_RETRY; /* somebody was faster, or we were moved */
	if (head < limit) {
		/* Close the page (R7). */
		rseq_store_two((uint32_t)proc, &ring->head, head,
			       &trc_rec.procs[proc].data[head & trc_rec.ring_mask], zero,
			       &ring->head, limit);
		return ROOM_RETRY;
	}
	return ring_next_page(shared, ring, (uint32_t)proc, limit);
}

static bool record_slow(uint64_t word1, const struct trc_seg *seg, unsigned int n_segs)
{
	uint64_t words = TRC_REC_WORDS(word1);

	for (int i = 0; i < TRIES_MAX && trc_self_is_of_session(); i++) {
		struct trc_shared *shared = trc_rec.shared;
		enum rseq_result result = record_put(word1, words, seg, n_segs);

		if (result == RSEQ_DONE)
			return true;
		if (result == RSEQ_NO_PROC && !ring_choose())
			break;
		if (result == RSEQ_NO_ROOM) {
			enum room room = ring_make_room(shared, words);

			if (room == ROOM_LOST)
				return false;
			if (room == ROOM_ELSEWHERE)
				break;
		}
	}
	return trc_overflow_record(word1, seg, n_segs);
}

bool trc_record(uint64_t word1, const struct trc_seg *seg, unsigned int n_segs)
{
	/* n_procs is 0 where sequences cannot be used. */
	if (__builtin_expect(trc_rec.n_procs == 0, 0))
		return trc_overflow_record(word1, seg, n_segs);
	if (__builtin_expect(record_put(word1, TRC_REC_WORDS(word1), seg, n_segs) == RSEQ_DONE, 1))
		return true;
	return record_slow(word1, seg, n_segs);
}

bool trc_record_args(uint64_t word1, const uint64_t *args, unsigned int n_args)
{
	struct trc_seg seg = {args, n_args};

	return trc_record(word1, &seg, 1);
}

bool trc_record_two_slow(uint64_t word1, uint64_t a, uint64_t b)
{
	uint64_t args[2] = {a, b};

	return trc_record_args(word1, args, 2);
}
