/*
 * names_met.h - the names that the calling thread has recorded lately: texts that are no literals,
 * which have no trace_site.
 *
 * For such a name the thread need not search the table of strings, only look at its entry there.
 *
 *   names_met:N1  a thread keeps only a hint: where the entry of the name at this address may be.
 *       The id is returned if the entry is in use before and after its whole text is compared
 *       (layout:T3): then no other text can have been there meanwhile
 *   names_met:N2  a hint is one word, so a signal handler that interrupts its thread finds it
 *       whole.  A hint counts in its session alone: in another session the entry may have no memory
 *       (layout:L5)
 */
#ifndef TRC_RECORDER_RING_NAMES_MET_H
#define TRC_RECORDER_RING_NAMES_MET_H

#include "content_hash.h"
#include "rec.h"

/* Few: all plugins that dlopen() loads share 1.6 KB of room for thread-local memory. */
enum { TRC_NAME_HINTS = 16 };

/* session << 32 | class and index of the id.  Two for each hash of an address, the one
 * stored last first. */
extern TRC_HIDDEN __thread _Atomic uint64_t trc_name_hint[TRC_NAME_HINTS]
	__attribute__((tls_model("initial-exec")));

/* As trc_string_intern().  Context: traced thread, signal handlers. */
uint64_t trc_name_intern(const char *text, uint32_t n_bytes);

static inline bool trc_name_is(const struct trc_entry_head *e, const char *text, uint32_t n_bytes)
{
	const _Atomic uint64_t *word = (const _Atomic uint64_t *)(e + 1);
	uint32_t i;

	/* relaxed, all: the entry's key is looked at again after this. */
	if (atomic_load_explicit(&e->n, memory_order_relaxed) != n_bytes)
		return false;
	for (i = 0; i < n_bytes / 8; i++)
		if (atomic_load_explicit(&word[i], memory_order_relaxed) !=
		    trc_content_word(text + i * 8))
			return false;
	return n_bytes % 8 == 0 || atomic_load_explicit(&word[i], memory_order_relaxed) ==
					   trc_content_rest(text, n_bytes);
}

/* names_met:N1.  0 if the hint is of another name, or its entry has gone. */
static inline uint64_t trc_name_try(uint64_t hint, const char *text, uint32_t n_bytes)
{
	struct trc_shared *shared = trc_rec.shared;
	struct trc_entry_head *e = trc_string_entry(shared, hint << 40 | 1);
	uint64_t epoch, id;

	if (!e)
		return 0;
	/* acquire, both: what follows is no older. */
	epoch = atomic_load_explicit(&shared->table_epoch, memory_order_acquire);
	id = hint << 40 | TRC_ID_HASH(atomic_load_explicit(&e->key, memory_order_acquire) >> 2);
	if (!trc_entry_touch(e, id) || !trc_name_is(e, text, n_bytes))
		return 0;
	/* acquire fence: the epoch is no older than the text. */
	atomic_thread_fence(memory_order_acquire);
	return atomic_load_explicit(&shared->table_epoch, memory_order_relaxed) - epoch < 2 ? id
											    : 0;
}

static inline _Atomic uint64_t *trc_name_hints(const char *text)
{
	uint64_t mixed = (uint64_t)(uintptr_t)text * UINT64_C(0x9e3779b97f4a7c15);

	return &trc_name_hint[(mixed >> 32) % (TRC_NAME_HINTS / 2) * 2];
}

/* The id of a name that the thread has met lately, which counts as used now; else 0.  `session` is
 * that of trc_self. */
static inline uint64_t trc_name_met(const char *text, uint32_t n_bytes, uint32_t session)
{
	const _Atomic uint64_t *hint = trc_name_hints(text);
	uint64_t id = 0;

	for (int i = 0; !id && i < 2; i++) {
		/* relaxed: only the thread itself stores it. */
		uint64_t word = atomic_load_explicit(&hint[i], memory_order_relaxed);

		if (word >> 32 == session)
			id = trc_name_try(word, text, n_bytes);
	}
	return id;
}

#endif
