/*
 * threads.c - the threads of the recorded process: serials, slots, names.
 */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "format/raw.h"
#include "fiber.h"
#include "labels.h"
#include "recorder/ring/rec.h"
#include "recorder/sampling/sample.h"
#include "recorder/ring/slot_inline.h"
#include "recorder/unwind/unwind.h"
#include "recorder/unwind/poison.h"

__thread struct trc_self trc_self __attribute__((tls_model("initial-exec")));
union trc_switch_page trc_switch_page __attribute__((aligned(65536)));

void (*trc_attach_hook)(void);
bool (*trc_thread_end_hook)(void);

struct trc_slot trc_no_slot;

/* Gives the slots up to this one memory (layout:L5). */
static bool slots_grow(struct trc_shared *shared, uint32_t i)
{
	/* acquire: pairs with the release below. */
	uint32_t ready = atomic_load_explicit(&shared->ready_slots, memory_order_acquire);

	if (i < ready)
		return true;
	if (!trc_is_grown(shared, trc_slot_at(shared, ready),
			  (i + 1 - ready) * sizeof(struct trc_slot)))
		return false;
	/* release: pairs with the acquire above: the slots below `ready` have memory.  acquire: as
	 * above, of what another thread stored. */
	while (ready <= i &&
	       !atomic_compare_exchange_weak_explicit(&shared->ready_slots, &ready, i + 1,
						      memory_order_release, memory_order_acquire))
		;
	return true;
}

static struct trc_slot *thread_slot_take(struct trc_shared *shared, uint32_t serial)
{
	/* By serial: where slots are not freed, the one that ended longest ago comes first. */
	for (uint32_t i = 0; i < shared->n_threads; i++) {
		struct trc_slot *slot = trc_slot_at(shared, (serial + i) % shared->n_threads);
		uint32_t unused = TRC_SLOT_FREE;

		if (!slots_grow(shared, (serial + i) % shared->n_threads))
			break;
		if (atomic_load_explicit(&slot->state, memory_order_relaxed) == TRC_SLOT_ENDED &&
		    trc_is_overwritten(shared))
			unused = TRC_SLOT_ENDED;
		/* acquire: pairs with the drainer's release when it frees the slot, or with that
		 * of the thread that ended. */
		if (atomic_compare_exchange_strong_explicit(&slot->state, &unused, TRC_SLOT_TAKEN,
							    memory_order_acquire,
							    memory_order_relaxed))
			return slot;
	}
	atomic_fetch_add_explicit(&shared->slots_full, 1, memory_order_relaxed);
	return &trc_no_slot;
}

/* By a hash of the pthread_t: in which slot the thread was that had it last, or another with this
 * hash. */
enum { SLOT_HINTS = 1024 };
static _Atomic uint32_t slot_hint[SLOT_HINTS];

static _Atomic uint32_t *slot_hint_of(uint64_t thread)
{
	return &slot_hint[thread * UINT64_C(0x9e3779b97f4a7c15) >> 54];
}
_Static_assert(SLOT_HINTS == 1 << (64 - 54), "the hash");

static void slot_put_name(struct trc_slot *slot, const char *name, uint32_t n_bytes)
{
	uint64_t word[TRC_THREAD_NAME_BYTES / 8] = {0};

	memcpy(word, name, n_bytes);
	for (size_t i = 0; i < sizeof(word) / 8; i++)
		atomic_store_explicit(&slot->name[i], word[i], memory_order_relaxed);
	atomic_store_explicit(&slot->name_bytes, n_bytes, memory_order_relaxed);
}

static void slot_set_name(struct trc_slot *slot, const char *name, uint32_t n_bytes)
{
	if (slot == trc_self.slot) {
		if (trc_slot_begin(slot)) {
			slot_put_name(slot, name, n_bytes);
			trc_slot_end(slot);
		}
		return;
	}
	/* Named by another thread: a reader may for a moment see parts of both names, but the
	 * event that follows has the new one. */
	slot_put_name(slot, name, n_bytes);
}

static void slot_put_creator(struct trc_slot *slot, uint32_t creator, uint64_t stack)
{
	atomic_store_explicit(&slot->creator, creator, memory_order_relaxed);
	atomic_store_explicit(&slot->creation_stack, stack, memory_order_relaxed);
}

static void slot_fill(struct trc_slot *slot, uint32_t creator, uint64_t stack, uint64_t start)
{
	char name[16] = "";
	bool begun;

	trc_raw2(SYS_prctl, PR_GET_NAME, name);
	begun = trc_slot_begin(slot); /* a reader may be looking at who had the slot before */
	atomic_store_explicit(&slot->serial, trc_self.serial, memory_order_relaxed);
	atomic_store_explicit(&slot->tid, trc_self.tid, memory_order_relaxed);
	slot_put_creator(slot, creator, stack);
	atomic_store_explicit(&slot->start, start, memory_order_relaxed);
	atomic_store_explicit(&slot->end, 0, memory_order_relaxed);
	atomic_store_explicit(&slot->pthread, (uint64_t)pthread_self(), memory_order_relaxed);
	atomic_store_explicit(&slot->wait_reason, 0, memory_order_relaxed);
	atomic_store_explicit(&slot->n_regions, 0, memory_order_relaxed);
	atomic_store_explicit(&slot->wait_stack, 0, memory_order_relaxed);
	atomic_store_explicit(&slot->last_stack, 0, memory_order_relaxed);
	atomic_store_explicit(&slot->first_lacks, 0, memory_order_relaxed);
	atomic_store_explicit(&slot->labels, 0, memory_order_relaxed);
	atomic_store_explicit(&slot->fiber, 0, memory_order_relaxed);
	atomic_store_explicit(&slot->fiber_name, 0, memory_order_relaxed);
	slot_put_name(slot, name, (uint32_t)strnlen(name, sizeof(name)));
	if (begun)
		trc_slot_end(slot);
	/* relaxed: who waits for this thread comes later, or looks at all slots. */
	atomic_store_explicit(slot_hint_of((uint64_t)pthread_self()),
			      (uint32_t)(slot - trc_slot_at(trc_rec.shared, 0)),
			      memory_order_relaxed);
	/* release: pairs with the acquire of whoever reads a live slot. */
	atomic_store_explicit(&slot->state, TRC_SLOT_LIVE, memory_order_release);
}

/* Who names this thread looks for its slot afterwards, and may just have missed it: then the name is
 * one that was not read yet. */
static void slot_see_name(struct trc_slot *slot)
{
	char name[16] = "";

	/* seq_cst: the name is read after the slot can be found; pairs with the system call that
	 * names a thread, before trc_thread_named(). */
	atomic_thread_fence(memory_order_seq_cst);
	if (!trc_raw2(SYS_prctl, PR_GET_NAME, name))
		slot_set_name(slot, name, (uint32_t)strnlen(name, sizeof(name)));
}

/* `named`: a serial, or a tid with TRC_THREAD_IS_TID. */
static void record_name(uint64_t named, const char *name, uint32_t n_bytes)
{
	struct trc_args_thread_name args = {.named = named, .name = n_bytes};
	uint64_t text[TRC_THREAD_NAME_BYTES / 8] = {0};
	uint32_t words = (n_bytes + 7) / 8;
	struct trc_seg seg[2] = {{&args, TRC_ARGS_WORDS(args)}, {text, words}};

	memcpy(text, name, n_bytes);
	trc_record(TRC_ARGS_WORD1(args, 0, words), seg, 2);
}

/* Records this thread's name.  Another thread may give this thread a new name meanwhile, and record the new name
 * before the old name is recorded here.  So the name is read again when it is on record, until it is the same. */
static void record_own_name(void)
{
	char name[16] = "", now[16] = "";

	if (trc_raw2(SYS_prctl, PR_GET_NAME, now))
		return;
	do {
		memcpy(name, now, sizeof(name));
		record_name(trc_self.serial, name, (uint32_t)strnlen(name, sizeof(name)));
		/* seq_cst: as in slot_see_name(). */
		atomic_thread_fence(memory_order_seq_cst);
	} while (!trc_raw2(SYS_prctl, PR_GET_NAME, now) && memcmp(name, now, sizeof(name)));
}

/* False if a signal handler has just done it, all of it. */
static bool self_claim(uint32_t session)
{
	uint32_t tid = (uint32_t)trc_raw1(SYS_gettid, 0);
	uint32_t serial =
		atomic_fetch_add_explicit(&trc_rec.shared->next_serial, 1, memory_order_relaxed) +
		1;

	/* A handler that comes before this attaches, one that comes between the two fences does
	 * not record, and one that comes later finds a usable self: there is only one slot taken. */
	trc_self.attaching = true;
	atomic_signal_fence(memory_order_seq_cst);
	if (trc_self.session == session) {
		trc_self.attaching = false;
		return false;
	}
	trc_self.slot = &trc_no_slot;
	trc_self.tid = tid;
	trc_self.serial = serial;
	trc_self.serial_word = (uint64_t)serial << 32;
	trc_self.ring = trc_self.counter_ring = &trc_no_ring;
	/* Locks that were given back while nothing recorded are still counted. */
	trc_self.locks_held = 0;
	memset(trc_self.wanted, 0, sizeof(trc_self.wanted));
	trc_self.has_wanted = false;
	trc_self.wake_owed = false;
	trc_self.otel = (struct trc_otel_context){{0, 0}, 0};
	trc_self.session = session;
	atomic_signal_fence(memory_order_seq_cst);
	trc_self.attaching = false;
	return true;
}

static bool attach(uint32_t creator, uint64_t stack, uint64_t created, bool starts_now)
{
	/* acquire: pairs with trc_session_record(); what the session set up is visible. */
	uint32_t session = atomic_load_explicit(&trc_switch.on, memory_order_acquire);
	struct trc_shared *shared = trc_rec.shared;
	const uint64_t all = ~UINT64_C(0);
	int saved_errno = errno;
	struct trc_args_thread_start args = {
		.creator = creator, .stack = stack, .created = created};
	uint64_t start, mask;

	if (trc_self.quiet || trc_self.ended || trc_self.attaching || !session)
		return false;
	/* A signal handler that records would be ahead of the thread's own start. */
	trc_raw4(SYS_rt_sigprocmask, SIG_SETMASK, &all, &mask, sizeof(mask));
	start = starts_now ? trc_clock_now() : 0;
	if (!self_claim(session)) {
		trc_raw4(SYS_rt_sigprocmask, SIG_SETMASK, &mask, 0, sizeof(mask));
		return true;
	}
	trc_self.slot = thread_slot_take(shared, trc_self.serial);
	if (trc_self.slot != &trc_no_slot) {
		slot_fill(trc_self.slot, creator, stack, start);
		slot_see_name(trc_self.slot);
	}
	args.tid = trc_self.tid;
	TRC_RECORD(args);
	if (trc_self.slot == &trc_no_slot)
		record_own_name();
	trc_fiber_attach();
	trc_labels_attach();
	if (atomic_load_explicit(&trc_sampling, memory_order_relaxed))
		trc_sample_thread_begin();
	trc_raw4(SYS_rt_sigprocmask, SIG_SETMASK, &mask, 0, sizeof(mask));
	errno = saved_errno;
	return true;
}

bool trc_self_attach(void)
{
	void (*hook)(void) = trc_attach_hook;
	bool attached = attach(0, 0, 0, false);

	if (attached && hook)
		hook();
	return attached;
}

void trc_self_lost(void)
{
	/* acquire: as in attach(). */
	uint32_t session = atomic_load_explicit(&trc_switch.on, memory_order_acquire);

	if (session && !trc_self.quiet && (trc_self.ended || trc_self.attaching))
		trc_overflow_lost();
}

uint32_t trc_thread_creating(uint64_t *stack, uint64_t *at)
{
	*stack = *at = 0;
	if (!trc_recording() || !trc_self_ready())
		return 0;
	if (atomic_load_explicit(&trc_sampling, memory_order_relaxed))
		trc_sample_thread_creates();
	*stack = trc_stack_here();
	*at = trc_clock_now();
	return trc_self.serial;
}

void trc_thread_started(uint32_t creator, uint64_t creation_stack, uint64_t created,
			size_t stack_bytes)
{
	uint32_t session = atomic_load_explicit(&trc_switch.on, memory_order_relaxed);

	trc_unwind_thread(stack_bytes);
	if (!session)
		return;
	if (trc_self.session != session)
		attach(creator, creation_stack, created, true);
	else if (trc_self.slot != &trc_no_slot)
		/* A signal handler that ran before this has attached the thread. */
		slot_put_creator(trc_self.slot, creator, creation_stack);
}

void trc_thread_ended(void)
{
	struct trc_slot *slot = trc_self.slot;
	struct trc_args_thread_exit args;

	trc_fiber_leave();
	if (atomic_load_explicit(&trc_sampling, memory_order_relaxed))
		trc_sample_thread_end();
	if (!trc_recording() || !trc_self.serial || !trc_self_ready())
		return;
	trc_labels_touch(trc_self.labels); /* its slot will not keep it any more */
	TRC_RECORD(args);
	trc_self.session = 0;
	trc_self.serial = 0;
	trc_self.slot = &trc_no_slot;
	if (slot == &trc_no_slot)
		return;
	atomic_store_explicit(&slot->end, trc_clock_now(), memory_order_relaxed);
	/* release: pairs with the drainer's acquire: what the thread was is complete. */
	atomic_store_explicit(&slot->state, TRC_SLOT_ENDED, memory_order_release);
}

/*
 * True if the hint tells: *slot is the thread's, or NULL as the thread has ended.  A thread that has
 * this pthread_t now has stored its hint after whoever had it before.
 */
static bool slot_hinted(struct trc_shared *shared, uint64_t thread, struct trc_slot **slot)
{
	uint32_t i = atomic_load_explicit(slot_hint_of(thread), memory_order_relaxed), state;

	if (i >= trc_slots_used(shared, shared->n_threads))
		return false;
	*slot = trc_slot_at(shared, i);
	/* acquire: as in slot_find(). */
	state = atomic_load_explicit(&(*slot)->state, memory_order_acquire);
	if (state == TRC_SLOT_TAKEN ||
	    atomic_load_explicit(&(*slot)->pthread, memory_order_relaxed) != thread)
		return false;
	if (state != TRC_SLOT_LIVE)
		*slot = NULL;
	return true;
}

static struct trc_slot *slot_find(uint64_t thread)
{
	struct trc_shared *shared = trc_rec.shared;
	struct trc_slot *hinted;

	if (slot_hinted(shared, thread, &hinted))
		return hinted;
	for (uint32_t i = 0; i < trc_slots_used(shared, shared->n_threads); i++) {
		struct trc_slot *slot = trc_slot_at(shared, i);

		/* acquire: pairs with the release in slot_fill(): the slot is filled in. */
		if (atomic_load_explicit(&slot->state, memory_order_acquire) == TRC_SLOT_LIVE &&
		    atomic_load_explicit(&slot->pthread, memory_order_relaxed) == thread)
			return slot;
	}
	return NULL;
}

uint32_t trc_thread_serial(uint64_t thread)
{
	struct trc_slot *slot = trc_recording() ? slot_find(thread) : NULL;

	return slot ? atomic_load_explicit(&slot->serial, memory_order_relaxed) : 0;
}

void trc_thread_named(uint64_t thread, uint32_t tid, const char *name)
{
	uint32_t n_bytes = (uint32_t)strnlen(name, TRC_THREAD_NAME_BYTES - 1);
	struct trc_slot *slot;
	uint64_t named = 0;

	if (!trc_recording() || !trc_self_ready())
		return;
	slot = thread == (uint64_t)pthread_self() ? trc_self.slot : slot_find(thread);
	if (slot && slot != &trc_no_slot) {
		slot_set_name(slot, name, n_bytes);
		named = atomic_load_explicit(&slot->serial, memory_order_relaxed);
	} else if (slot) {
		named = trc_self.serial;
	} else if (tid &&
		   /* relaxed: it counted itself before it could be missed here, or reads its name
		    * after that. */
		   atomic_load_explicit(&trc_rec.shared->slots_full, memory_order_relaxed)) {
		named = TRC_THREAD_IS_TID | tid;
	}
	if (named)
		record_name(named, name, n_bytes);
}

void trc_slot_region(uint64_t task, uint64_t type, uint64_t since)
{
	struct trc_slot *slot = trc_self.slot;
	uint32_t n;

	if (!trc_slot_begin(slot))
		return;
	n = atomic_load_explicit(&slot->n_regions, memory_order_relaxed);
	if (n < TRC_OPEN_REGIONS) {
		atomic_store_explicit(&slot->region[n].task, task, memory_order_relaxed);
		atomic_store_explicit(&slot->region[n].type, type, memory_order_relaxed);
		atomic_store_explicit(&slot->region[n].since, since, memory_order_relaxed);
	}
	atomic_store_explicit(&slot->n_regions, n + 1, memory_order_relaxed);
	trc_slot_end(slot);
}

void trc_slot_region_end(void)
{
	struct trc_slot *slot = trc_self.slot;
	uint32_t n;

	if (!trc_slot_begin(slot))
		return;
	n = atomic_load_explicit(&slot->n_regions, memory_order_relaxed);
	if (n)
		atomic_store_explicit(&slot->n_regions, n - 1, memory_order_relaxed);
	trc_slot_end(slot);
}
