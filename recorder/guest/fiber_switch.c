/* fiber_switch.c - which fiber a thread runs.  Context: traced thread; ready: signal handlers too. */
#include <errno.h>
#include "fiber.h"
#include "labels.h"
#include "recorder/ring/rec.h"
#include "recorder/ring/ring_inline.h"
#include "recorder/ring/slot_inline.h"
#include "recorder/unwind/poison.h"

/* Of the calling thread. */
static __thread struct {
	struct trace_fiber *current;	   /* NULL = its root fiber */
	const struct trace_labels *labels; /* of the root fiber, while it does not run (fiber:F3) */
	struct trc_open_regions regions;   /* likewise (fiber:F4) */
	bool armed;			   /* what is above is put in order when it ends */
	/* What the session was told last that it runs; of the session that the thread is known to. */
	const struct trace_fiber *told;
} here __attribute__((tls_model("initial-exec")));

/* Known to the session, as what it ran until now; else what it would record counts as lost. */
static inline bool is_ready(void)
{
	if (!trc_recording())
		return false;
	if (__builtin_expect(trc_self_ready(), 1))
		return true;
	trc_self_lost();
	return false;
}

/* ---- names ----------------------------------------------------------------------------- */

static __attribute__((noinline)) uint64_t fiber_name_look_up(struct trace_fiber *fiber)
{
	uint64_t id = trc_string_intern_if_spare(fiber->name, fiber->name_bytes);

	if (id) {
		atomic_store_explicit(&fiber->name_id, id, memory_order_relaxed);
		/* release: pairs with the acquire in name_known(): the id is that session's. */
		atomic_store_explicit(&fiber->name_session, trc_self.session, memory_order_release);
	}
	return id;
}

/* 0 if it is not known, or another string has its place now. */
static inline uint64_t name_known(const struct trace_fiber *fiber)
{
	struct trc_entry_head *entry;
	uint64_t id;

	/* acquire: see fiber_name_look_up(). */
	if (atomic_load_explicit(&fiber->name_session, memory_order_acquire) != trc_self.session)
		return 0;
	id = atomic_load_explicit(&fiber->name_id, memory_order_relaxed);
	entry = trc_string_entry(trc_rec.shared, id);
	return entry && trc_entry_touch(entry, id) ? id : 0;
}

/* The id of its name; where it has one but the table no room, 0 and the bytes for the record. */
static uint64_t fiber_name_of(struct trace_fiber *fiber, struct trc_inline_string *text)
{
	uint64_t id;

	*text = (struct trc_inline_string){NULL, 0};
	if (!fiber || !fiber->name_bytes)
		return 0;
	id = name_known(fiber);
	if (!id)
		id = fiber_name_look_up(fiber);
	if (!id)
		*text = (struct trc_inline_string){fiber->name, fiber->name_bytes};
	return id;
}

/* ---- numbers --------------------------------------------------------------------------- */

/* 2^44 of them last for half a year at a million a second. */
enum { NUMBER_BITS = 44 };
#define NUMBER_MASK  ((UINT64_C(1) << NUMBER_BITS) - 1)
#define SESSION_MASK ((UINT64_C(1) << (64 - NUMBER_BITS)) - 1)

static void record_create(struct trace_fiber *fiber, uint64_t number, bool is_made_now)
{
	struct trc_inline_string text;
	struct trc_args_fiber_create args = {.fiber = number, .name = fiber_name_of(fiber, &text)};

	if (is_made_now)
		TRC_RECORD_STACK_STRING(args, &text);
	else
		TRC_RECORD_STRING(args, &text);
}

/* `seen` is all of trace_fiber.number. */
static inline bool fiber_is_of_session(uint64_t seen)
{
	return seen && seen >> NUMBER_BITS == (trc_self.session & SESSION_MASK);
}

/* fiber:F1.  The number that is drawn for nothing is nobody's. */
static __attribute__((noinline)) uint64_t number_draw(struct trace_fiber *fiber, uint64_t seen,
						      bool is_made_now)
{
	uint64_t number =
		(atomic_fetch_add_explicit(&trc_rec.shared->next_fiber, 1, memory_order_relaxed) +
		 1) &
		NUMBER_MASK;

	/* relaxed: the number is all that there is to see. */
	if (!atomic_compare_exchange_strong_explicit(
		    &fiber->number, &seen, (uint64_t)trc_self.session << NUMBER_BITS | number,
		    memory_order_relaxed, memory_order_relaxed) &&
	    fiber_is_of_session(seen))
		return seen & NUMBER_MASK;
	record_create(fiber, number, is_made_now);
	return number;
}

static inline uint64_t fiber_number(struct trace_fiber *fiber)
{
	uint64_t seen;

	if (!fiber)
		return 0;
	seen = atomic_load_explicit(&fiber->number, memory_order_relaxed);
	return __builtin_expect(fiber_is_of_session(seen), 1) ? seen & NUMBER_MASK
							      : number_draw(fiber, seen, false);
}

/* ---- what the slot tells --------------------------------------------------------------- */

static struct trc_open_regions *fiber_regions(struct trace_fiber *fiber)
{
	return fiber ? &fiber->regions : &here.regions;
}

static void regions_save(struct trc_slot *slot, struct trc_open_regions *regions)
{
	uint32_t n = atomic_load_explicit(&slot->n_regions, memory_order_relaxed);

	regions->session = n ? trc_self.session : 0;
	regions->n = n;
	for (uint32_t i = 0; i < n && i < TRC_OPEN_REGIONS; i++)
		regions->region[i] = (struct trc_open_region){
			atomic_load_explicit(&slot->region[i].task, memory_order_relaxed),
			atomic_load_explicit(&slot->region[i].type, memory_order_relaxed),
			atomic_load_explicit(&slot->region[i].since, memory_order_relaxed)};
}

static void regions_load(struct trc_slot *slot, const struct trc_open_regions *regions)
{
	uint32_t n = regions->session == trc_self.session ? regions->n : 0;

	for (uint32_t i = 0; i < n && i < TRC_OPEN_REGIONS; i++) {
		const struct trc_open_region *from = &regions->region[i];

		atomic_store_explicit(&slot->region[i].task, from->task, memory_order_relaxed);
		atomic_store_explicit(&slot->region[i].type, from->type, memory_order_relaxed);
		atomic_store_explicit(&slot->region[i].since, from->since, memory_order_relaxed);
	}
	atomic_store_explicit(&slot->n_regions, n, memory_order_relaxed);
}

static inline void slot_put(struct trc_slot *slot, uint64_t number, uint64_t name)
{
	atomic_store_explicit(&slot->fiber, number, memory_order_relaxed);
	atomic_store_explicit(&slot->fiber_name, name, memory_order_relaxed);
}

static void slot_tell_fiber(struct trace_fiber *left, struct trace_fiber *to, uint64_t number,
			    uint64_t name)
{
	struct trc_slot *slot = trc_self.slot;

	if (!trc_slot_begin(
		    slot)) { /* this thread has none: what it begins and ends is not known */
		fiber_regions(left)->session = fiber_regions(to)->session = 0;
		return;
	}
	regions_save(slot, fiber_regions(left));
	regions_load(slot, fiber_regions(to));
	slot_put(slot, number, name);
	trc_slot_end(slot);
}

/* ---- switching ------------------------------------------------------------------------- */

static enum trc_reason leave_reason(enum trace_fiber_leave how)
{
	switch (how) {
	case TRACE_FIBER_YIELD:
		break;
	case TRACE_FIBER_WAIT:
		return TRC_REASON_USER;
	case TRACE_FIBER_SLEEP:
		return TRC_REASON_SLEEP;
	case TRACE_FIBER_IO:
		return TRC_REASON_POLL;
	}
	return TRC_REASON_NONE;
}

/* Before the labels change: the event is made with those of what is left. */
static void record_switch(struct trace_fiber *left, struct trace_fiber *to, enum trc_reason reason,
			  const void *object)
{
	struct trc_inline_string text;
	struct trc_args_fiber_switch args = {.fiber = fiber_number(to),
					     .left = fiber_number(left),
					     .name = fiber_name_of(to, &text),
					     .reason = reason};

	if (reason) {
		args.object = (uintptr_t)object;
		TRC_RECORD_STACK_STRING(args, &text);
	} else {
		TRC_RECORD_STRING(args, &text);
	}
	slot_tell_fiber(left, to, args.fiber, text.n_bytes ? 0 : args.name);
	here.told = to;
}

static __attribute__((noinline)) void fiber_arm(void)
{
	here.armed = true;
	if (trc_thread_end_hook)
		trc_thread_end_hook();
}

/* Where what a fiber has is kept while it does not run. */
static const struct trace_labels **fiber_labels_of(struct trace_fiber *fiber)
{
	return fiber ? &fiber->labels : &here.labels;
}

/* fiber:F3 */
static void swap_labels(struct trace_fiber *left, struct trace_fiber *to)
{
	const struct trace_labels *labels = *fiber_labels_of(to);

	*fiber_labels_of(to) = NULL;
	*fiber_labels_of(left) = trc_labels_set(labels);
}

/* What the thread runs from now on, on the stack that it has told of, if any. */
static void fiber_run(struct trace_fiber *fiber)
{
	here.current = fiber;
	trc_self.on_fiber = fiber != NULL;
	trc_range_coroutine(fiber && fiber->stack.hi ? &fiber->stack : NULL);
}

static void fiber_enter(struct trace_fiber *left, struct trace_fiber *to, enum trc_reason reason,
			const void *object, bool ready)
{
	if (ready)
		record_switch(left, to, reason, object);
	fiber_run(to);
	/* A signal handler may come in between and make the thread known: as what it ran then. */
	atomic_signal_fence(memory_order_seq_cst);
	if (here.told != to && trc_self_is_of_session())
		record_switch(left, to, reason, object);
	swap_labels(left, to);
}

struct trace_fiber *trc_fiber_switch(struct trace_fiber *to, enum trace_fiber_leave how,
				     const void *object)
{
	struct trace_fiber *left = here.current;
	int saved_errno;

	if (to == left)
		return left;
	saved_errno = errno;
	if (__builtin_expect(!here.armed, 0))
		fiber_arm();
	fiber_enter(left, to, leave_reason(how), object, is_ready());
	errno = saved_errno;
	return left;
}

void trc_fiber_ready(struct trace_fiber *fiber)
{
	struct trc_args_fiber_ready args = {0};
	int saved_errno = errno;

	if (!fiber || !is_ready())
		return;
	args.fiber = fiber_number(fiber);
	TRC_RECORD_STACK(args);
	errno = saved_errno;
}

/* ---- beginnings and ends --------------------------------------------------------------- */

void trc_fiber_made(struct trace_fiber *fiber)
{
	if (is_ready())
		number_draw(fiber, 0, true);
}

void trc_fiber_ended(struct trace_fiber *fiber)
{
	uint64_t number = atomic_load_explicit(&fiber->number, memory_order_relaxed);
	struct trc_args_fiber_end args;

	if (!is_ready() || !fiber_is_of_session(number))
		return;
	args.fiber = number & NUMBER_MASK;
	TRC_RECORD(args);
}

void trc_fiber_forget(const struct trace_fiber *fiber)
{
	if (here.current == fiber)
		trc_fiber_switch(NULL, TRACE_FIBER_YIELD, NULL);
}

void trc_fiber_attach(void)
{
	here.told = NULL;
	if (here.current)
		record_switch(NULL, here.current, TRC_REASON_NONE, NULL);
}

/* It cannot become known any more, and loses nothing by that. */
void trc_fiber_leave(void)
{
	if (here.current)
		fiber_enter(here.current, NULL, TRC_REASON_NONE, NULL,
			    !trc_self.quiet && trc_self_is_of_session());
}

bool trc_fiber_give_up(struct trc_fiber_state *state)
{
	if (!here.current)
		return false;
	state->current = here.current;
	state->labels = here.labels;
	fiber_run(NULL);
	here.labels = NULL;
	here.regions.session = 0;
	state->in_force = trc_labels_set(NULL);
	return true;
}

void trc_fiber_take_over(const struct trc_fiber_state *state)
{
	if (!here.armed)
		fiber_arm();
	if (is_ready())
		record_switch(NULL, state->current, TRC_REASON_NONE, NULL);
	fiber_run(state->current);
	trc_labels_unref(here.labels);
	here.labels = state->labels;
	trc_labels_unref(trc_labels_set(state->in_force));
}
