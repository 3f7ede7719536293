/*
 * emit.c - the events that interposers make: waits, wake-ups, locks.
 *
 * A release is recorded after the real call, with the time just before the call as `at`: so
 * recording never lengthens a critical section.
 */
#include <errno.h>
#include "descriptor.h"
#include "recorder/ring/offproc.h"
#include "recorder/ring/otel.h"
#include "recorder/ring/rec.h"
#include "recorder/ring/ring_inline.h"
#include "recorder/ring/slot_inline.h"
#include "recorder/sampling/sample.h"
#include "recorder/shared/trigger.h"
#include "recorder/unwind/kept.h"
#include "recorder/unwind/unwind.h"
#include "recorder/ring/waiters.h"
#include "recorder/unwind/poison.h"

uint64_t trc_own_text[2];

/* ---- how long a lock was held ----------------------------------------------------------- */

enum { WANTED = sizeof(trc_self.wanted) / sizeof(trc_self.wanted[0]) };

void trc_lock_taken_from_others(const volatile void *lock)
{
	uint32_t i = trc_waiter_place((uintptr_t)lock) % WANTED;

	trc_self.wanted[i].since = trc_clock_now();
	trc_self.wanted[i].lock = (uintptr_t)lock;
	trc_self.has_wanted = true;
}

void trc_lock_forget_taken(const volatile void *lock)
{
	uint32_t i = trc_waiter_place((uintptr_t)lock) % WANTED;
	uint64_t others = 0;

	trc_wake_if_owed();
	if (trc_self.wanted[i].lock == (uintptr_t)lock)
		trc_self.wanted[i].lock = 0;
	for (i = 0; i < WANTED; i++)
		others |= trc_self.wanted[i].lock;
	trc_self.has_wanted = others != 0 || trc_self.wake_owed;
}

/* How long the calling thread had held, at `at`, the lock that it has given back; 0 = nobody waited
 * when it was taken, or not known. */
static uint64_t held_ns(uint64_t lock, uint64_t at)
{
	uint32_t i = trc_waiter_place(lock) % WANTED;
	uint64_t since = trc_self.wanted[i].since;

	if (trc_self.wanted[i].lock != lock)
		return 0;
	trc_lock_forget_taken((const void *)(uintptr_t)lock);
	return since < at ? trc_clock_ticks_to_ns(at - since) : 0;
}

/* ---- stacks ---------------------------------------------------------------------------- */

/* A stack of the calling thread from `start` on, the innermost frames of trc itself left out. */
struct taken {
	const struct trc_unwind_start *start;
	uint32_t module_epoch;
	uint32_t skipped, n;
	uint64_t frame[TRC_STACK_DEPTH_MAX + 8];
};

/* libunwind takes mutexes, which are not the program's: to record them takes a stack, and so on without end.
 * Otherwise a sample may come meanwhile. */
static uint32_t stack_unwind(struct taken *taken, const struct trc_unwind_start *start)
{
	bool locks = trc_unwind_takes_locks();
	uint32_t n;

	trc_self.quiet += locks;
	n = trc_unwind_from(start, taken->frame, TRC_STACK_DEPTH_MAX + 8);
	trc_self.quiet -= locks;
	return n;
}

static void stack_take(struct taken *taken, const struct trc_unwind_start *start)
{
	uint32_t n = stack_unwind(taken, start), skip = 0;

	while (skip < n && taken->frame[skip] - trc_own_text[0] < trc_own_text[1] - trc_own_text[0])
		skip++;
	taken->start = start;
	taken->skipped = skip;
	taken->n = n - skip;
	if (__builtin_expect(taken->n > TRC_STACK_DEPTH_MAX, 0)) {
		trc_unwind_elide_from(start, taken->frame + skip, skip);
		taken->n = TRC_STACK_DEPTH_MAX;
	}
}

static uint32_t module_epoch(void)
{
	/* relaxed: an unload that this stack could tell of is ordered by the program itself. */
	return atomic_load_explicit(&trc_rec.shared->module_epoch, memory_order_relaxed);
}

/* What the id of a kept stack is good for: it follows from the module epoch, in this session. */
static uint64_t kept_tag(uint32_t epoch)
{
	return (uint64_t)trc_self.session << 32 | epoch;
}

/* The id of the stack from `start` on, if the stack was met before and is in the table still; or
 * 0. */
static inline uint64_t stack_known(const struct trc_unwind_start *start)
{
	uint64_t id = trc_kept_find(start, kept_tag(module_epoch()));

	if (__builtin_expect(!id || trc_stack_touch(id), 1))
		return id;
	trc_kept_drop(start, id);
	return 0;
}

/* Also remembers that the stack was met. 0: there is no room. */
static uint64_t taken_intern(struct taken *taken)
{
	uint32_t n_found = taken->skipped + taken->n;
	uint64_t id;

	taken->module_epoch = module_epoch();
	id = trc_stack_intern(taken->frame + taken->skipped, taken->n, taken->module_epoch);
	if (id && taken->n < TRC_STACK_DEPTH_MAX)
		trc_kept_add(taken->start, kept_tag(taken->module_epoch), id, taken->frame, n_found,
			     taken->skipped);
	return id;
}

static __attribute__((noinline)) uint64_t stack_unknown(const struct trc_unwind_start *start)
{
	struct taken taken;

	stack_take(&taken, start);
	return taken_intern(&taken);
}

__attribute__((noinline)) uint64_t trc_stack_here(void)
{
	struct trc_unwind_start start = TRC_UNWIND_CALLER();
	uint64_t id = stack_known(&start);

	return id ? id : stack_unknown(&start);
}

/* What had no room in a table. */
struct carried {
	const struct trc_inline_string *string; /* NULL or of no bytes: none */
	const uint64_t *frame;
	uint32_t n_frames; /* 0 = none */
	uint32_t epoch;
};

static __attribute__((noinline)) void record_carrying(enum trc_kind kind, const uint64_t *arg,
						      unsigned int n_args,
						      const struct carried *carried)
{
	uint64_t head = (uint64_t)carried->epoch << 32 | carried->n_frames, last, words = 2;
	struct trc_seg seg[6] = {{arg, n_args}};
	unsigned int n = 1, flags = 0;

	if (carried->string && carried->string->n_bytes) {
		flags |= TRC_REC_INLINE_STRING;
		seg[n++] = (struct trc_seg){&carried->string->n_bytes, 1};
		n += trc_seg_bytes(&seg[n], carried->string->bytes, carried->string->n_bytes,
				   &last);
	}
	if (carried->n_frames) {
		flags |= TRC_REC_INLINE_STACK;
		seg[n++] = (struct trc_seg){&head, 1};
		seg[n++] = (struct trc_seg){carried->frame, carried->n_frames};
	}
	for (unsigned int i = 0; i < n; i++)
		words += seg[i].words;
	trc_record(TRC_REC_WORD1(kind, flags, words, trc_self.serial), seg, n);
}

static void record_known(enum trc_kind kind, uint64_t *arg, unsigned int n_args,
			 const struct carried *carried)
{
	if (carried->n_frames || (carried->string && carried->string->n_bytes))
		record_carrying(kind, arg, n_args, carried);
	else
		trc_record_args(TRC_REC_WORD1(kind, 0, 2 + n_args, trc_self.serial), arg, n_args);
}

static __attribute__((noinline)) uint64_t
record_unknown(enum trc_kind kind, uint64_t *arg, unsigned int n_args, unsigned int stack_index,
	       const struct trc_unwind_start *start, const struct trc_inline_string *string)
{
	struct carried carried = {.string = string};
	struct taken taken;

	stack_take(&taken, start);
	arg[stack_index] = taken_intern(&taken);
	if (!arg[stack_index]) {
		carried.frame = taken.frame + taken.skipped;
		carried.n_frames = taken.n;
		carried.epoch = taken.module_epoch;
	}
	record_known(kind, arg, n_args, &carried);
	return arg[stack_index];
}

__attribute__((noinline)) uint64_t trc_record_stack(enum trc_kind kind, uint64_t *arg,
						    unsigned int n_args, unsigned int stack_index)
{
	struct trc_unwind_start start = TRC_UNWIND_CALLER();
	uint64_t id = stack_known(&start);

	if (__builtin_expect(!id, 0))
		return record_unknown(kind, arg, n_args, stack_index, &start, NULL);
	arg[stack_index] = id;
	trc_record_args(TRC_REC_WORD1(kind, 0, 2 + n_args, trc_self.serial), arg, n_args);
	return id;
}

static uint64_t record_met(enum trc_kind kind, uint64_t *arg, unsigned int n_args,
			   unsigned int stack_index, uint64_t id,
			   const struct trc_inline_string *string)
{
	struct carried carried = {.string = string};

	arg[stack_index] = id;
	record_known(kind, arg, n_args, &carried);
	return id;
}

static uint64_t record_from(enum trc_kind kind, uint64_t *arg, unsigned int n_args,
			    unsigned int stack_index, const struct trc_unwind_start *start,
			    const struct trc_inline_string *string)
{
	uint64_t id = stack_known(start);

	if (__builtin_expect(!id, 0))
		return record_unknown(kind, arg, n_args, stack_index, start, string);
	return record_met(kind, arg, n_args, stack_index, id, string);
}

__attribute__((noinline)) uint64_t trc_record_stack_string(enum trc_kind kind, uint64_t *arg,
							   unsigned int n_args,
							   unsigned int stack_index,
							   const struct trc_inline_string *string)
{
	struct trc_unwind_start start = TRC_UNWIND_CALLER();

	return record_from(kind, arg, n_args, stack_index, &start, string);
}

void trc_record_string(enum trc_kind kind, const uint64_t *arg, unsigned int n_args,
		       const struct trc_inline_string *string)
{
	struct carried carried = {string, NULL, 0, 0};

	if (string->n_bytes)
		record_carrying(kind, arg, n_args, &carried);
	else
		trc_record_args(TRC_REC_WORD1(kind, 0, 2 + n_args, trc_self.serial), arg, n_args);
}

uint64_t trc_record_stack_of(enum trc_kind kind, uint64_t *arg, unsigned int n_args,
			     unsigned int stack_index, const void *context)
{
	uint64_t frame[TRC_STACK_DEPTH_MAX];
	uint32_t n = trc_unwind_context(context, frame, TRC_STACK_DEPTH_MAX);
	struct carried carried = {.frame = frame, .epoch = module_epoch()};

	if (__builtin_expect(n == TRC_STACK_DEPTH_MAX, 0))
		trc_unwind_elide(context, frame, 0);
	/* The rest are return addresses, and readers look before them for the call: so that they
	 * find the instruction that was interrupted. */
	if (n)
		frame[0]++;
	arg[stack_index] = trc_stack_intern(frame, n, carried.epoch);
	carried.n_frames = arg[stack_index] ? 0 : n;
	record_known(kind, arg, n_args, &carried);
	return arg[stack_index];
}

/* ---- waits ----------------------------------------------------------------------------- */

/* The session that the calling thread records in; 0 = none. */
static inline __attribute__((always_inline)) uint32_t session_now(void)
{
	return trc_recording() && trc_self_ready() ? trc_self.session : 0;
}

static void park(struct trc_wait *wait, enum trc_reason reason, const void *object, uint64_t holder)
{
	int saved_errno = errno;
	struct trc_args_park args = {
		.reason = reason, .object = (uintptr_t)object, .holder = holder};
	uint64_t stack;

	wait->since = 0;
	wait->counted = 0;
	wait->cond_place = 0;
	wait->cond_mutex = 0;
	wait->object = (uintptr_t)object;
	wait->reason = reason;
	wait->session = session_now();
	if (!wait->session)
		return;
	wait->since = trc_sample_waits(trc_clock_now());
	trc_otel_note(wait->since);
	trc_waiter_enter(wait);
	stack = TRC_RECORD_STACK(args);
	trc_slot_wait(reason, wait->object, wait->since, holder, stack, NULL);
	errno = saved_errno;
}

void trc_park(struct trc_wait *wait, enum trc_reason reason, const void *object,
	      uint32_t holder_tid)
{
	park(wait, reason, object, holder_tid ? TRC_THREAD_IS_TID | holder_tid : 0);
}

void trc_park_on_thread(struct trc_wait *wait, enum trc_reason reason, const void *object,
			uint32_t holder_serial)
{
	park(wait, reason, object, holder_serial);
}

static void look_for_trigger(const struct trc_wait *wait, uint64_t ticks)
{
	if (__builtin_expect(ticks >= trc_trigger_shortest(&trc_trigger_least.park), 0))
		trc_trigger_waited((enum trc_reason)wait->reason, wait->object, ticks);
}

/* From the signal on it waited for its mutex, if that was held by somebody: who has released it
 * since. */
static void record_reacquire(uint64_t mutex, uint64_t since)
{
	struct trc_args_wait args = {
		.reason = TRC_REASON_COND_MUTEX, .object = mutex, .since = since};

	if (trc_lock_released_since(mutex, since))
		TRC_RECORD_STACK(args);
}

/* From a wait that was announced, whose stack the slot has. */
static void slot_resume(void)
{
	uint64_t stack = atomic_load_explicit(&trc_self.slot->wait_stack, memory_order_relaxed);

	trc_slot_run();
	trc_slot_seen(stack, trc_clock_now(), false);
}

void trc_resume(struct trc_wait *wait, int result)
{
	struct trc_args_resume args = {
		.reason = wait->reason, .object = wait->object, .result = (uint32_t)result};
	uint64_t signalled = 0;
	int saved_errno = errno;

	if (trc_waiter_is_counted(wait)) {
		if (wait->cond_mutex)
			signalled = trc_cond_returned(wait, result == 0);
		trc_waiter_leave(wait, result);
	}
	if (!wait->since || session_now() != wait->session)
		return;
	/* A resume must not seem earlier than what ended the wait. */
	trc_clock_barrier();
	/* One that took over another's mark may have come after that. */
	if (signalled > wait->since && !result)
		record_reacquire(wait->cond_mutex, signalled);
	TRC_RECORD(args);
	slot_resume();
	if (__builtin_expect(trc_trigger_shortest(&trc_trigger_least.park) != UINT64_MAX, 0))
		look_for_trigger(wait, trc_clock_now() - wait->since);
	errno = saved_errno;
}

/*
 * Of a call that may or may not wait the stack is needed if it waits, and then only at its end.  It is
 * taken at the beginning if the call is likely to wait: so whoever reads the slot meanwhile has it,
 * also when the process is dead.  What is taken for nothing follows on two that were needed.
 */
enum { LIKELY = 2, CALL_PLACES = sizeof(trc_self.have_waited) };
_Static_assert(CALL_PLACES == 16, "as many as there are numbers of 4 bits");

/* An interposer is called from places of different depths. */
static uint32_t call_place(const struct trc_registers *from)
{
	return (uint32_t)((from->pc ^ from->sp << 8) * UINT64_C(0x9e3779b97f4a7c15) >> 60);
}

static __attribute__((noinline)) uint64_t stack_at(const struct trc_registers *from)
{
	struct trc_unwind_start start = {from->pc, from->sp, from->fp};
	int saved_errno = errno;
	uint64_t id = stack_known(&start);

	if (!id)
		id = stack_unknown(&start);
	errno = saved_errno;
	return id;
}

static inline void call_begins(struct trc_wait *wait, const struct trc_registers *from)
{
	wait->place = from ? call_place(from) : 0;
	wait->stack = 0;
	if (from && __builtin_expect(trc_self.have_waited[wait->place] == LIKELY, 0))
		wait->stack = stack_at(from);
}

static inline void call_ends(const struct trc_wait *wait, bool has_waited)
{
	uint8_t *n = &trc_self.have_waited[wait->place];

	if (has_waited)
		*n = *n < LIKELY ? (uint8_t)(*n + 1) : LIKELY;
	else if (*n)
		*n = 0;
}

/* Nothing here changes errno: trc_self_attach() keeps it. */
void trc_wait_begin(struct trc_wait *wait, enum trc_reason reason, uint64_t object,
		    const struct trc_registers *from)
{
	wait->since = 0;
	wait->counted = 0;
	wait->cond_place = 0;
	wait->cond_mutex = 0;
	wait->object = object;
	wait->reason = reason;
	wait->session = session_now();
	if (!wait->session)
		return;
	call_begins(wait, from);
	wait->since = trc_sample_waits(trc_clock_now());
	trc_slot_wait(reason, object, wait->since, 0, wait->stack, from);
	trc_mark_set(); /* last: what is above may record */
}

/* The slot has the frame where this wait began, unless a handler has waited in it since. */
static bool began_at(const struct trc_wait *wait, struct trc_unwind_start *start)
{
	const struct trc_slot *slot = trc_self.slot;

	if (!slot || atomic_load_explicit(&slot->wait_since, memory_order_relaxed) != wait->since)
		return false;
	start->pc = atomic_load_explicit(&slot->wait_pc, memory_order_relaxed);
	start->sp = atomic_load_explicit(&slot->wait_sp, memory_order_relaxed);
	start->fp = atomic_load_explicit(&slot->wait_fp, memory_order_relaxed);
	return start->pc != 0;
}

/* `start` is NULL: the stack is the caller's.  True if it was a wait. */
static __attribute__((noinline)) bool record_wait(const struct trc_wait *wait, int result,
						  const struct trc_unwind_start *start)
{
	struct trc_args_wait args = {.reason = wait->reason,
				     .object = wait->object,
				     .since = wait->since,
				     .result = (uint32_t)result};
	uint64_t ticks = trc_clock_ordered() - wait->since, stack;
	struct trc_descriptor_name name;
	struct trc_inline_string string;
	int saved_errno = errno;

	if (ticks >= trc_switch.wait_ticks) {
		trc_otel_note(wait->since + ticks);
		trc_descriptor_name(wait, &name);
		args.descriptor = name.id;
		string = (struct trc_inline_string){name.text, name.n_bytes};
		if (wait->stack && trc_stack_touch(wait->stack))
			stack = record_met(TRC_ARGS_ARE(args), TRC_ARGS_STACK(args), wait->stack,
					   &string);
		else if (start)
			stack = record_from(TRC_ARGS_ARE(args), TRC_ARGS_STACK(args), start,
					    &string);
		else
			stack = TRC_RECORD_STACK_STRING(args, &string);
		trc_slot_seen(stack, wait->since + ticks, false);
		look_for_trigger(wait, ticks);
	}
	errno = saved_errno;
	return ticks >= trc_switch.wait_ticks;
}

void trc_wait_end(struct trc_wait *wait, int result)
{
	bool waited = !trc_mark_take(); /* first: what is below may record */

	if (!wait->since || session_now() != wait->session)
		return;
	trc_slot_run();
	call_ends(wait, waited && record_wait(wait, result, NULL));
}

/* What unwinds the stack stands on it, above the frame where the wait began. */
void trc_wait_abandoned(struct trc_wait *wait, int result)
{
	bool waited = !trc_mark_take(); /* first: what is below may record */
	struct trc_unwind_start start;
	bool known;

	if (!wait->since || session_now() != wait->session)
		return;
	known = began_at(wait, &start);
	trc_slot_run();
	call_ends(wait, waited && record_wait(wait, result, known ? &start : NULL));
}

uint64_t trc_wait_lasted_ns(const struct trc_wait *wait)
{
	return wait->since ? trc_clock_ticks_to_ns(trc_clock_ordered() - wait->since) + 1 : 0;
}

/* ---- releases -------------------------------------------------------------------------- */

uint64_t trc_now(void)
{
	return trc_clock_now();
}

void trc_unlocked(enum trc_reason reason, const void *object, uint32_t waiters, uint64_t at)
{
	struct trc_args_unlock args = {
		.reason = reason, .object = (uintptr_t)object, .waiters = waiters, .at = at};
	int saved_errno = errno;

	trc_wake_if_owed();
	if (trc_lock_forget_gave_up((uintptr_t)object))
		args.waiters--;
	/* Readers hold it together: when one of them came says nothing. */
	if (reason != TRC_REASON_RWLOCK_READ)
		args.held = held_ns((uintptr_t)object, at);
	if (session_now())
		TRC_RECORD_STACK(args);
	errno = saved_errno;
}

void trc_unparked(enum trc_reason reason, const void *object, uint64_t count, uint64_t at)
{
	struct trc_args_unpark args = {
		.reason = reason, .object = (uintptr_t)object, .count = count, .at = at};
	int saved_errno = errno;

	if (session_now())
		TRC_RECORD_STACK(args);
	errno = saved_errno;
}

void trc_acquired(enum trc_reason reason, const void *object, bool tried)
{
	struct trc_args_acquire args = {
		.reason = reason, .object = (uintptr_t)object, .tried = tried};
	int saved_errno = errno;

	if (session_now()) {
		trc_clock_barrier();
		TRC_RECORD_STACK(args);
	}
	errno = saved_errno;
}

void trc_released(enum trc_reason reason, const void *object)
{
	struct trc_args_release args = {.reason = reason, .object = (uintptr_t)object};

	if (session_now())
		TRC_RECORD_TWO(args);
}

void trc_process_event(enum trc_process_what what, uint64_t value)
{
	struct trc_args_process args = {.what = what, .value = value};

	if (session_now())
		TRC_RECORD_TWO(args);
}

void trc_procs_changed(uint32_t n_procs)
{
	struct trc_args_procs_change args = {.procs = n_procs};
	struct trc_shared *shared = trc_rec.shared;
	uint64_t told;

	if (!session_now())
		return;
	TRC_RECORD(args);
	/* relaxed: a lost update makes trace-record tell of a change that is told already. */
	told = atomic_load_explicit(&shared->procs_told, memory_order_relaxed);
	atomic_store_explicit(&shared->procs_told, ((told >> 32) + 1) << 32 | n_procs,
			      memory_order_relaxed);
}
