/* samplers.c - the table of samplers: which thread has which, and who may take one down. */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include "format/raw.h"
#include "recorder/ring/share.h"
#include "sample_private.h"

enum {
	SAMPLERS_MAX = 16384,
	ENTRIES_OF_SAMPLER = 4, /* of the index: so that WINDOW of them are never all taken */
	WINDOW = 32,
	CLAIMS = 256,
	CLAIM_TRIES = 1000,
};

static _Atomic uint32_t sampler_limit; /* places in sampler[] from here on were never used */

/*
 * A thread's entry is its tid 32 | the index of its sampler 32, and lies in one of WINDOW places from
 * the one that its tid selects.  Entries are made by who holds the claim of the tid, so that a thread
 * never has two; they are taken away by who takes down the sampler.
 */
static _Atomic uint64_t *index_entry; /* [n_samplers * ENTRIES_OF_SAMPLER]; 0 = none */
static _Atomic uint32_t claims[CLAIMS];

static _Atomic uint64_t *entry_at(uint32_t tid, uint32_t i)
{
	uint32_t mask = trc_sample.n_samplers * ENTRIES_OF_SAMPLER - 1;

	return &index_entry[(tid * UINT32_C(0x9e3779b1) + i) & mask];
}

/* The thread's entry and what it holds, or with `free` a place for it.  NULL = there is none. */
static _Atomic uint64_t *entry_find(uint32_t tid, uint64_t *entry, bool free)
{
	for (uint32_t i = 0; index_entry && i < WINDOW; i++) {
		_Atomic uint64_t *at = entry_at(tid, i);

		/* acquire: pairs with the release in trc_sampler_enter(): the sampler is filled in. */
		*entry = atomic_load_explicit(at, memory_order_acquire);
		if (free ? !*entry : *entry >> 32 == tid)
			return at;
	}
	return NULL;
}

struct trc_sampler *trc_sampler_of(uint32_t tid)
{
	uint64_t entry;

	return entry_find(tid, &entry, false) ? &trc_sample.sampler[(uint32_t)entry] : NULL;
}

static void entry_drop(uint32_t tid, const struct trc_sampler *s)
{
	uint64_t entry;
	_Atomic uint64_t *at = entry_find(tid, &entry, false);

	if (at && &trc_sample.sampler[(uint32_t)entry] == s)
		/* release: pairs with the acquire in entry_find(): the entry is free again. */
		atomic_store_explicit(at, 0, memory_order_release);
}

/* False: somebody holds it and does not go on; it may be who this signal handler interrupted. */
static bool claim_take(uint32_t tid)
{
	for (int i = 0; i < CLAIM_TRIES; i++) {
		/* acquire: pairs with the release in claim_give(): entries made are seen. */
		if (!atomic_exchange_explicit(&claims[tid % CLAIMS], 1, memory_order_acquire))
			return true;
		trc_raw1(SYS_sched_yield, 0);
	}
	return false;
}

static void claim_give(uint32_t tid)
{
	/* release: pairs with the acquire in claim_take(): entries that were made are seen. */
	atomic_store_explicit(&claims[tid % CLAIMS], 0, memory_order_release);
}

uint32_t trc_samplers_used(void)
{
	/* seq_cst: with trc_sampling, as in trc_sampler_release(): a place that was taken after the
	 * look here belongs to a thread that sees that sampling is off. */
	uint32_t limit = atomic_load_explicit(&sampler_limit, memory_order_seq_cst);

	return limit < trc_sample.n_samplers ? limit : trc_sample.n_samplers;
}

static bool place_take(uint32_t place, uint32_t tid)
{
	uint32_t none = 0;

	/* acquire: pairs with the release in sampler_give(). */
	return atomic_compare_exchange_strong_explicit(&trc_sample.sampler[place].tid, &none, tid,
						       memory_order_acquire, memory_order_relaxed);
}

/* A free one, now this thread's: one of those used before if it is found soon. */
static struct trc_sampler *sampler_take(uint32_t tid)
{
	enum { TRIES = 8 };
	uint32_t limit = atomic_load_explicit(&sampler_limit, memory_order_relaxed);
	uint32_t max = trc_sample.n_samplers, tries = limit < max ? TRIES : max;

	if (limit > max)
		limit = max;
	for (uint32_t i = 0; i < tries && limit; i++)
		if (place_take((tid + i) % limit, tid))
			return &trc_sample.sampler[(tid + i) % limit];
	if (limit == max)
		return NULL;
	limit = atomic_fetch_add_explicit(&sampler_limit, 1, memory_order_relaxed);
	return limit < max && place_take(limit, tid) ? &trc_sample.sampler[limit] : NULL;
}

static void sampler_give(struct trc_sampler *s)
{
	/* release: pairs with the acquire in place_take(): this thread is done with the sampler. */
	atomic_store_explicit(&s->tid, 0, memory_order_release);
}

/* With the claim held.  False: no place is free where the thread's could be. */
static bool entry_make(uint32_t tid, const struct trc_sampler *s)
{
	uint64_t entry, own = (uint64_t)tid << 32 | (uint64_t)(s - trc_sample.sampler);
	_Atomic uint64_t *at;

	/* release: pairs with the acquire in entry_find(). */
	do
		at = entry_find(tid, &entry, true);
	while (at && !atomic_compare_exchange_strong_explicit(at, &entry, own, memory_order_release,
							      memory_order_relaxed));
	return at != NULL;
}

struct trc_sampler *trc_sampler_enter(uint32_t tid, uint32_t run)
{
	struct trc_sampler *s = NULL;

	if (trc_sampler_of(tid) || !claim_take(tid))
		return NULL;
	if (!trc_sampler_of(tid))
		s = sampler_take(tid);
	if (s) {
		s->run = run;
		memset(s->source, 0, sizeof(s->source));
		s->leaving.kind = s->coming.kind = TRC_SOURCE_NONE;
		/* relaxed: the thread is found by its entry, which is made with a release. */
		atomic_store_explicit(&s->comes, false, memory_order_relaxed);
		atomic_store_explicit(&s->found_ns, 0, memory_order_relaxed);
		atomic_store_explicit(&s->counted_ns, UINT64_MAX, memory_order_relaxed);
		atomic_store_explicit(&s->state, TRC_SAMPLER_ARMING, memory_order_relaxed);
	}
	if (s && !entry_make(tid, s)) {
		sampler_give(s);
		s = NULL;
	}
	claim_give(tid);
	return s;
}

/* The caller alone has it: it stood, or was held. */
static void sampler_take_down(struct trc_sampler *s, uint32_t tid)
{
	trc_sampler_disarm(s);
	entry_drop(tid, s);
	sampler_give(s);
}

bool trc_sampler_end(struct trc_sampler *s)
{
	uint32_t armed = TRC_SAMPLER_ARMED;
	uint32_t tid = atomic_load_explicit(&s->tid, memory_order_relaxed);

	/* seq_cst: see trc_sampler_release(). */
	if (!tid ||
	    !atomic_compare_exchange_strong_explicit(&s->state, &armed, TRC_SAMPLER_DISARMING,
						     memory_order_seq_cst, memory_order_seq_cst))
		return false;
	sampler_take_down(s, tid);
	return true;
}

void trc_sampler_leave(struct trc_sampler *s, uint32_t tid)
{
	uint32_t is = TRC_SAMPLER_ARMED;

	while (is == TRC_SAMPLER_ARMED && !trc_sampler_end(s)) {
		is = TRC_SAMPLER_ARMING;
		/* seq_cst: either whoever releases it sees this, or it is armed here. */
		if (atomic_load_explicit(&s->tid, memory_order_relaxed) != tid ||
		    atomic_compare_exchange_strong_explicit(&s->state, &is, TRC_SAMPLER_LEFT,
							    memory_order_seq_cst,
							    memory_order_seq_cst))
			return;
	}
}

bool trc_sampler_hold(struct trc_sampler *s)
{
	uint32_t armed = TRC_SAMPLER_ARMED;

	/* seq_cst: see trc_sampler_release(). */
	return atomic_compare_exchange_strong_explicit(&s->state, &armed, TRC_SAMPLER_ARMING,
						       memory_order_seq_cst, memory_order_seq_cst);
}

void trc_sampler_release(struct trc_sampler *s)
{
	uint32_t held = TRC_SAMPLER_ARMING;

	/* seq_cst: either whoever turns sampling off sees that this is armed, or the look below
	 * sees that it is off. */
	if (atomic_compare_exchange_strong_explicit(&s->state, &held, TRC_SAMPLER_ARMED,
						    memory_order_seq_cst, memory_order_seq_cst)) {
		if (atomic_load_explicit(&trc_sampling, memory_order_seq_cst) != s->run)
			trc_sampler_end(s);
		return;
	}
	/* Its thread has left it.  It is not armed in between: another might hold it, who knows nothing
	 * of that. */
	atomic_store_explicit(&s->state, TRC_SAMPLER_DISARMING, memory_order_relaxed);
	sampler_take_down(s, atomic_load_explicit(&s->tid, memory_order_relaxed));
}

struct trc_sampler *trc_sampler_next(void)
{
	enum { TRIES = 16 };
	static _Atomic uint32_t next;
	uint32_t n = trc_samplers_used();

	for (uint32_t i = 0; i < TRIES && i < n; i++) {
		/* relaxed: any place is right. */
		uint32_t place = atomic_fetch_add_explicit(&next, 1, memory_order_relaxed) % n;

		if (atomic_load_explicit(&trc_sample.sampler[place].found_ns, memory_order_relaxed))
			return &trc_sample.sampler[place];
	}
	return NULL;
}

/* ---- the table itself ------------------------------------------------------------------ */

static void *pages(size_t n_bytes)
{
	void *map;

	if (!trc_share_take(n_bytes))
		return NULL;
	map = mmap(NULL, n_bytes, PROT_READ | PROT_WRITE,
		   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (map != MAP_FAILED)
		return map;
	trc_share_give(n_bytes);
	return NULL;
}

/* For as many threads as the share allows (share.h); memory is used as threads come. */
int trc_samplers_make(void)
{
	const size_t n_bytes = sizeof(*trc_sample.sampler) + ENTRIES_OF_SAMPLER * sizeof(uint64_t);
	uint32_t n = SAMPLERS_MAX;
	char *map;

	if (trc_sample.sampler)
		return 0;
	while (!(map = pages(n * n_bytes)) && n > TRC_SAMPLERS_MIN)
		n /= 2;
	if (!map)
		return -ENOMEM;
	trc_sample.n_samplers = n;
	trc_sample.sampler = (struct trc_sampler *)map;
	index_entry = (_Atomic uint64_t *)(map + n * sizeof(*trc_sample.sampler));
	return 0;
}

void trc_samplers_forget(void)
{
	/* relaxed, all below: a forked child has one thread. */
	for (uint32_t i = 0; i < trc_samplers_used(); i++) {
		struct trc_sampler *s = &trc_sample.sampler[i];
		uint32_t tid = atomic_load_explicit(&s->tid, memory_order_relaxed);

		if (!tid)
			continue;
		trc_sampler_abandon(s);
		entry_drop(tid, s);
		sampler_give(s);
	}
	for (uint32_t i = 0; i < CLAIMS; i++) /* their threads are not in this process */
		atomic_store_explicit(&claims[i], 0, memory_order_relaxed);
	atomic_store_explicit(&sampler_limit, 0, memory_order_relaxed);
}
