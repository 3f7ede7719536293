/*
 * heap.c - draws allocations, and follows the drawn objects to their ends.
 *
 *   heap:H1  each thread has its own distance to the next byte that is drawn.  The distance is
 *       drawn anew after each sample, and when the period changes: the rest of a distance has the
 *       distribution of a whole distance
 *   heap:H2  an object is known before the program has its address, and is forgotten before the
 *       allocator gets the address back: so an address belongs to one object at a time
 *   heap:H3  an object's end that could not be recorded is not forgotten.  An object may end where
 *       nothing is recorded (in a thread behind its end, in a child by vfork()).  The next thread
 *       that records an event of the heap also tells of such ends, up to 64 at a time.  Ends beyond
 *       64, and ends that found no room, are told when the address is seen again
 *   heap:H4  nothing here waits
 *
 * Context: traced thread, signal handlers.
 */
#include <errno.h>
#include "format/raw.h"
#include "recorder/ring/annotate.h"
#include "recorder/ring/rec.h"
#include "heap.h"
#include "heap_draw.h"
#include "heap_table.h"
#include "recorder/unwind/poison.h"

static _Atomic uint64_t n_samples; /* of this process, in all its sessions */
static _Atomic uint64_t n_unplaced;

/* Addresses of objects that have ended, in the table still; 0 = none.  Also of what is told by now. */
static _Atomic uint64_t untold[64];
static _Atomic uint32_t n_untold; /* never too few, for those who see them */

uint64_t trc_heap_unplaced(void)
{
	return atomic_load_explicit(&n_unplaced, memory_order_relaxed);
}

/* Splitmix64. */
static uint64_t random_next(void)
{
	uint64_t z = trc_self.heap_random;

	if (!z)
		z = trc_clock_now() * UINT64_C(0xd1342543de82ef95) ^ (uintptr_t)&trc_self;
	trc_self.heap_random = z += UINT64_C(0x9e3779b97f4a7c15);
	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

/* Whether one of these bytes is drawn (H1). */
static bool heap_distance_draw(uint64_t bytes)
{
	uint64_t period = atomic_load_explicit(&trc_switch.heap_period, memory_order_relaxed);

	if (!period || period == TRC_HEAP_PROBED) {
		trc_self.heap_period = 0;
		return false;
	}
	if (trc_self.heap_period != period) {
		trc_self.heap_period = period;
		trc_self.heap_left = trc_heap_distance(random_next(), period);
	}
	if (trc_self.heap_left > bytes) {
		trc_self.heap_left -= bytes;
		return false;
	}
	trc_self.heap_left = trc_heap_distance(random_next(), period);
	return true;
}

/* False: it was lost, and counted as such. */
static bool record_free(uint64_t address, const struct trc_heap_object *object)
{
	struct trc_args_free args = {.sample = object->sample,
				     .address = address,
				     .bytes = object->bytes,
				     .period = object->period};

	return TRC_RECORD(args);
}

static void record_alloc(uint64_t address, const struct trc_heap_object *object)
{
	struct trc_args_alloc args = {.sample = object->sample,
				      .address = address,
				      .bytes = object->bytes,
				      .period = object->period,
				      .labels = trc_self.labels};

	trc_labels_touch(args.labels);
	TRC_RECORD_STACK(args);
}

static void sample(uint64_t address, uint64_t bytes)
{
	struct trc_heap_object object = {
		atomic_fetch_add_explicit(&n_samples, 1, memory_order_relaxed) + 1, bytes,
		trc_self.heap_period};
	uint64_t n;

	if (trc_heap_probably_knows((const void *)(uintptr_t)address))
		trc_heap_freed((const void *)(uintptr_t)address); /* H3 */
	if (trc_heap_table_put(address, &object)) {
		record_alloc(address, &object);
		return;
	}
	record_alloc(address, &object);
	record_free(address, &object);
	n = atomic_fetch_add_explicit(&n_unplaced, 1, memory_order_relaxed) + 1;
	if (!(n & (n - 1)))
		trc_annotate_counter(NULL, "heap samples without a place", (int64_t)n);
}

/* A thread that is quiet for now may give back what it allocated while it was not; but it does not
 * begin to record with that.  A child by vfork() has our memory, but is another process. */
static bool may_record(void)
{
	if (!trc_recording())
		return false;
	if (!trc_self.quiet)
		return trc_self_ready();
	return trc_self_is_of_session() && (uint64_t)trc_raw1(SYS_getpid, 0) == trc_rec.shared->pid;
}

static void leave_untold(uint64_t address)
{
	unsigned int i;

	atomic_fetch_add_explicit(&n_untold, 1, memory_order_relaxed);
	for (i = 0; i < sizeof(untold) / sizeof(*untold); i++) {
		uint64_t none = 0;

		/* release: pairs with the acquire in tell_untold(): it finds the object in the table. */
		if (atomic_compare_exchange_strong_explicit(
			    &untold[i], &none, address, memory_order_release, memory_order_relaxed))
			return;
	}
	atomic_fetch_sub_explicit(&n_untold, 1, memory_order_relaxed);
}

/* The object of a place that was taken has ended (H3). */
static void heap_object_end(_Atomic uint64_t *key, uint64_t address,
			    const struct trc_heap_object *object)
{
	bool busy = trc_self.heap_busy;

	trc_self.heap_busy = true;
	trc_self.no_wait++;
	if (!may_record()) {
		trc_heap_table_leave(key, address);
		leave_untold(address);
	} else if (record_free(address, object)) {
		trc_heap_table_drop(key, address);
	} else {
		trc_heap_table_leave(key, address);
	}
	trc_self.no_wait--;
	trc_self.heap_busy = busy;
}

/* By who may record (H3). */
static __attribute__((noinline)) void tell_untold(void)
{
	struct trc_heap_object was;
	_Atomic uint64_t *key;

	for (unsigned int i = 0; i < sizeof(untold) / sizeof(*untold); i++) {
		uint64_t address = atomic_load_explicit(&untold[i], memory_order_relaxed);

		/* acquire: pairs with the release in leave_untold(). */
		if (address)
			address = atomic_exchange_explicit(&untold[i], 0, memory_order_acquire);
		if (!address)
			continue;
		atomic_fetch_sub_explicit(&n_untold, 1, memory_order_relaxed);
		key = trc_heap_table_take_ended(address, &was);
		if (key)
			heap_object_end(key, address, &was);
	}
}

static bool any_untold(void)
{
	return atomic_load_explicit(&n_untold, memory_order_relaxed) != 0;
}

void trc_heap_settle(void)
{
	bool busy = trc_self.heap_busy;
	int saved_errno = errno;

	if (!any_untold())
		return;
	trc_self.heap_busy = true;
	trc_self.no_wait++; /* H4 */
	if (may_record())
		tell_untold();
	trc_self.no_wait--;
	trc_self.heap_busy = busy;
	errno = saved_errno;
}

void trc_heap_due(const void *object, uint64_t n_bytes)
{
	uint64_t bytes = n_bytes + !n_bytes;
	int saved_errno = errno;
	/* Whoever asked: else what is left would be short for the one who asks next. */
	bool drawn = heap_distance_draw(bytes);

	trc_self.heap_due++;
	if (trc_self.quiet || trc_self.heap_busy)
		return;
	trc_self.heap_busy = true;
	trc_self.no_wait++;
	if (drawn && object && trc_recording()) {
		if (trc_self_ready())
			sample((uintptr_t)object, bytes);
		else
			trc_self_lost();
	}
	trc_heap_settle();
	trc_self.no_wait--;
	trc_self.heap_busy = false;
	errno = saved_errno;
}

void trc_heap_freed(const void *object)
{
	struct trc_heap_object was;
	int saved_errno = errno;
	_Atomic uint64_t *key = trc_heap_table_take((uintptr_t)object, &was);

	if (key)
		heap_object_end(key, (uintptr_t)object, &was);
	key = trc_heap_table_take_ended((uintptr_t)object, &was);
	if (key) /* H3: its address is seen again */
		heap_object_end(key, (uintptr_t)object, &was);
	trc_heap_settle();
	errno = saved_errno;
}

void trc_heap_moving(struct trc_heap_move *move, const void *object)
{
	struct trc_heap_object was;

	move->object = object;
	move->key = trc_heap_table_take((uintptr_t)object, &was);
}

void trc_heap_moved(const struct trc_heap_move *move, bool ended)
{
	uint64_t address = (uintptr_t)move->object;
	struct trc_heap_object was;
	int saved_errno = errno;

	if (!ended) {
		trc_heap_table_back(move->key, address);
		return;
	}
	trc_heap_table_get(move->key, &was);
	heap_object_end(move->key, address, &was);
	errno = saved_errno;
}
