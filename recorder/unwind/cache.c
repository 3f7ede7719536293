/*
 * cache.c - see cache.h.
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include "cache.h"
#include "poison.h"

enum {
	WIDE_MAX = 2048,
	WIDE_PROBES = 16,
	CACHE_BYTES = TRC_CACHE_WORDS * sizeof(uint64_t),
};

enum wide_state {
	WIDE_FREE,
	WIDE_TAKEN, /* being written, by a thread that may have been interrupted meanwhile */
	WIDE_READY, /* constant from now on (H4) */
};

struct trc_cache trc_cache;

static struct {
	_Atomic uint32_t state; /* enum wide_state */
	struct trc_rule rule;
} wide[WIDE_MAX];

/* ---- short rules ------------------------------------------------------------------------ */

static uint32_t short_pack(enum trc_short kind, int64_t cfa_bytes, int64_t fp_words)
{
	uint32_t cfa_bits = TRC_SHORT_FIELD_BITS - TRC_SHORT_FP_BITS;
	int64_t cfa = cfa_bytes / TRC_SHORT_CFA_UNIT;

	if (cfa_bytes <= 0 || cfa_bytes % TRC_SHORT_CFA_UNIT || cfa >> cfa_bits || fp_words < 0 ||
	    fp_words >> TRC_SHORT_FP_BITS)
		return 0;
	return (uint32_t)kind << TRC_SHORT_FIELD_BITS | (uint32_t)cfa << TRC_SHORT_FP_BITS |
	       (uint32_t)fp_words;
}

static bool plain_memory(const struct trc_place *place)
{
	return place->how == TRC_HOW_CFA_MEM && !place->add && place->off < 0 && !(place->off % 8);
}

uint32_t trc_short_make(const struct trc_rule *rule)
{
	enum trc_short kind = rule->cfa.reg == TRC_REG_FP ? TRC_SHORT_FP : TRC_SHORT_SP;
	int64_t fp_words = -(int64_t)rule->fp.off / 8;

	if (rule->kind != TRC_RULE_STEP || rule->exact || rule->cfa.how != TRC_HOW_REG ||
	    (rule->cfa.reg != TRC_REG_FP && rule->cfa.reg != TRC_REG_SP) ||
	    rule->sp.how != TRC_HOW_SAME || !plain_memory(&rule->ra))
		return 0;
#if defined(__x86_64__)
	if (rule->ra.off != -8)
		return 0;
	if (rule->fp.how == TRC_HOW_SAME)
		return short_pack(kind, rule->cfa.off, 0);
	if (!plain_memory(&rule->fp) || fp_words < 2)
		return 0;
#else
	if (!plain_memory(&rule->fp) || rule->ra.off != rule->fp.off + 8)
		return 0;
#endif
	return short_pack(kind, rule->cfa.off, fp_words);
}

/* ---- wide rules ------------------------------------------------------------------------- */

static uint32_t rule_hash(const struct trc_rule *rule)
{
	uint32_t word[sizeof(*rule) / 4], hash = 2166136261u;

	_Static_assert(sizeof(*rule) % 4 == 0, "hashed as words");
	memcpy(word, rule, sizeof(word));
	for (uint32_t i = 0; i < sizeof(word) / sizeof(word[0]); i++)
		hash = (hash ^ word[i]) * 16777619u;
	return hash ^ hash >> 15;
}

/* The number of the wide rule equal to this one, or -1 where there is no room. */
static int wide_number(const struct trc_rule *rule)
{
	uint32_t at = rule_hash(rule);

	for (uint32_t i = 0; i < WIDE_PROBES; i++) {
		uint32_t number = (at + i) % WIDE_MAX, state = WIDE_FREE;

		/* acquire, also on failure: pairs with the release below; a ready rule may be
		 * compared (H4). */
		if (atomic_compare_exchange_strong_explicit(&wide[number].state, &state, WIDE_TAKEN,
							    memory_order_acquire,
							    memory_order_acquire)) {
			wide[number].rule = *rule;
			/* release: pairs with the acquire above. */
			atomic_store_explicit(&wide[number].state, WIDE_READY,
					      memory_order_release);
			return (int)number;
		}
		if (state == WIDE_READY && memcmp(&wide[number].rule, rule, sizeof(*rule)) == 0)
			return (int)number;
	}
	return -1;
}

const struct trc_rule *trc_cache_wide(uint32_t rule)
{
	/* acquire fence: pairs with the release in trc_cache_put(); the word was read relaxed. */
	atomic_thread_fence(memory_order_acquire);
	return &wide[rule & (WIDE_MAX - 1)].rule;
}

/* ---- the table -------------------------------------------------------------------------- */

void trc_cache_put(uintptr_t address, uint32_t epoch, const struct trc_rule *rule)
{
	/* acquire: pairs with the release in trc_cache_setup(): the words are zero. */
	_Atomic uint64_t *words = atomic_load_explicit(&trc_cache.word, memory_order_acquire);
	uint64_t tag = trc_cache_tag(address, epoch), word;
	uint32_t brief = trc_short_make(rule), way;
	_Atomic uint64_t *set = words + trc_cache_set(address);
	int number;

	if (trc_cache_epoch() != epoch)
		return;
	if (!brief) {
		number = wide_number(rule);
		if (number < 0)
			return;
		brief = (uint32_t)TRC_SHORT_WIDE << TRC_SHORT_FIELD_BITS | (uint32_t)number;
	}
	for (way = 0; way < TRC_CACHE_WAYS; way++) {
		if (!atomic_load_explicit(&set[way], memory_order_relaxed))
			break;
	}
	if (way == TRC_CACHE_WAYS) /* full: any will do, but not always the same */
		way = (uint32_t)(address ^ address >> 7) % TRC_CACHE_WAYS;
	word = tag << TRC_SHORT_BITS | brief;
	/* release: pairs with the fence in trc_cache_wide() (H4). */
	atomic_store_explicit(&set[way], word, memory_order_release);
	/* Full fence: pairs with that in trc_cache_forget().  Either the new epoch is seen here,
	 * or the word is there before the table is emptied (H3). */
	atomic_thread_fence(memory_order_seq_cst);
	if (trc_cache_epoch() != epoch)
		atomic_compare_exchange_strong_explicit(&set[way], &word, 0, memory_order_relaxed,
							memory_order_relaxed);
}

int trc_cache_setup(void)
{
	void *words;

	if (atomic_load_explicit(&trc_cache.word, memory_order_relaxed))
		return 0;
	words = mmap(NULL, CACHE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (words == MAP_FAILED)
		return -errno;
	/* release: pairs with the acquire of every walk. */
	atomic_store_explicit(&trc_cache.word, words, memory_order_release);
	return 0;
}

void trc_cache_forget(void)
{
	void *words = (void *)atomic_load_explicit(&trc_cache.word, memory_order_relaxed);

	/* release: the modules are as they are now before the epoch says so (H3). */
	atomic_fetch_add_explicit(&trc_cache.epoch, 1, memory_order_release);
	/* Full fence: pairs with that in trc_cache_put(). */
	atomic_thread_fence(memory_order_seq_cst);
	if (words)
		madvise(words, CACHE_BYTES, MADV_DONTNEED); /* reads as zero: all empty */
}
