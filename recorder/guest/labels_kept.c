/*
 * labels_kept.c - the sets of scopes that a thread has left, for scopes like these (labels:J7).
 *
 * A program enters scopes with the same few labels again and again.  A set that comes again costs
 * no memory and no search in the table of sets, as it still has its id.
 *
 * Where a set is kept follows from its text.  A text that is handed over again mostly lies where it
 * lay: so a hint, by addresses, says where to look first.  What lies there is compared with the label, byte by
 * byte: a hint may be wrong, and a text may have changed.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "labels.h"
#include "recorder/ring/content_hash.h"

enum { SETS = 16, WAYS = 4, HINT_BITS = 5 };

struct kept {
	/* Each NULL or a reference, of each WAYS the youngest first. */
	const struct trace_labels *set[SETS * WAYS];
	/* A place, and above it what the hint was made of, hashed. */
	uint64_t hint[1 << HINT_BITS];
	/* The last set that found no place, to be made over; NULL or a reference. */
	const struct trace_labels *spare;
};
/* NULL until the thread keeps something. */
static __thread struct kept *kept __attribute__((tls_model("initial-exec")));
static __thread bool ending __attribute__((tls_model("initial-exec")));

static const struct trace_labels **kept_at(uint32_t place)
{
	return &kept->set[place % SETS * WAYS];
}

/* Not 0.  Keys are literals as a rule: their address says enough here, where a set is looked for. */
static uint16_t kept_key(const struct trace_labels *base, const struct trc_label *label)
{
	uint64_t value = label->is_number ? (uint64_t)label->number
					  : trc_content_tail(label->value, label->value_bytes);
	uint64_t hash = trc_hash_mix((uintptr_t)base ^ (uint64_t)(uintptr_t)label->key << 16 ^
					     UINT64_C(0xa0761d6478bd642f),
				     value ^ UINT64_C(0xe7037ed1a0b428db));

	return (uint16_t)(hash | 0x8000);
}

/* The set has this label alone itself: labels_bytes.h.  The lengths decide where all lies. */
static __attribute__((noinline)) bool is_set_of_label(const struct trace_labels *set,
						      const struct trc_label *label)
{
	const char *key = set->bytes + 2, *value = key + label->key_bytes;
	const char *number = value + label->value_bytes;
	uint32_t flag = label->is_number ? TRC_LABEL_IS_NUMBER : 0;

	if ((uint8_t)set->bytes[0] != (label->key_bytes | flag) ||
	    (uint8_t)set->bytes[1] != label->value_bytes ||
	    !trc_content_equals(key, label->key, label->key_bytes))
		return false;
	if (flag && trc_content_word(number) != (uint64_t)label->number)
		return false;
	return !label->value_bytes || trc_content_equals(value, label->value, label->value_bytes);
}

static const struct trace_labels *kept_take(uint16_t place, const struct trace_labels *base,
					    const struct trc_label *label)
{
	const struct trace_labels **at = kept_at(place), *set;

	for (int way = 0; way < WAYS; way++) {
		set = at[way];
		if (set && set->place == place && set->base == base &&
		    is_set_of_label(set, label)) {
			at[way] = NULL;
			return set;
		}
	}
	return NULL;
}

/* A set that is kept no longer, as the set of this label; NULL: there is none that would do. */
static const struct trace_labels *spare_take(uint16_t place, const struct trace_labels *base,
					     const struct trc_label *label)
{
	const struct trace_labels *set = kept ? kept->spare : NULL;

	if (!set || !trc_labels_make_over(set, base, label, place))
		return NULL;
	kept->spare = NULL;
	return set;
}

/* ---- by a hint --------------------------------------------------------------------------- */

#define PLACE_MASK UINT64_C(0xffff)

static inline uint64_t hint_hash(const struct trace_labels *base, const struct trace_label *label)
{
	uint64_t value = label->value ? (uintptr_t)label->value : (uint64_t)label->number;

	return ((uintptr_t)base ^ (uint64_t)(uintptr_t)label->key << 3 ^ value << 7) *
	       UINT64_C(0x9e3779b97f4a7c15);
}

static inline uint64_t *hint_at(uint64_t hash)
{
	return &kept->hint[hash >> (64 - HINT_BITS)];
}

static void hint_put(const struct trace_labels *base, const struct trace_label *label,
		     uint16_t place)
{
	uint64_t hash = hint_hash(base, label);

	*hint_at(hash) = (hash & ~PLACE_MASK) | place;
}

/* Whether a text is these bytes; nothing behind its end is read. */
static inline bool text_is(const char *text, const char *bytes, uint32_t n_bytes)
{
	for (; n_bytes >= 4; n_bytes -= 4, text += 4, bytes += 4)
		if (text[0] != bytes[0] || text[1] != bytes[1] || text[2] != bytes[2] ||
		    text[3] != bytes[3])
			return false;
	if (n_bytes > 0 && text[0] != bytes[0])
		return false;
	if (n_bytes > 1 && text[1] != bytes[1])
		return false;
	if (n_bytes > 2 && text[2] != bytes[2])
		return false;
	return !text[n_bytes];
}

/* As is_set_of_label(), of a label that may be none: what is no label is that of no set. */
static inline bool is_met(const struct trace_labels *set, const struct trace_label *label)
{
	uint32_t key_bytes = (uint8_t)set->bytes[0], value_bytes = (uint8_t)set->bytes[1];
	const char *key = set->bytes + 2, *text = label->value;

	bool is_number = (key_bytes & TRC_LABEL_IS_NUMBER) != 0;

	if (is_number != !text || !label->key)
		return false;
	key_bytes &= TRC_LABEL_IS_NUMBER - 1U;
	if (is_number) {
		if (trc_content_word(key + key_bytes + value_bytes) != (uint64_t)label->number)
			return false;
		text = label->unit ? label->unit : "";
	} else if (label->unit) {
		return false;
	}
	return text_is(label->key, key, key_bytes) && text_is(text, key + key_bytes, value_bytes);
}

const struct trace_labels *trc_labels_scope_met(const struct trace_labels *base,
						const struct trace_label *label)
{
	uint64_t hash = hint_hash(base, label), hint = kept ? *hint_at(hash) : ~hash;
	uint16_t place = (uint16_t)(hint & PLACE_MASK);
	const struct trace_labels **at, *set;

	if ((hint ^ hash) & ~PLACE_MASK)
		return NULL;
	at = kept_at(place);
	for (int way = 0; way < WAYS; way++) {
		set = at[way];
		if (set && set->place == place && set->base == base && is_met(set, label)) {
			at[way] = NULL;
			return set;
		}
	}
	return NULL;
}

/* ---- scopes ------------------------------------------------------------------------------ */

int trc_labels_scope_begin(const struct trace_labels **out, const struct trace_labels *base,
			   const struct trace_label *label, size_t n, size_t *bad)
{
	const struct trace_labels *set;
	struct trc_label only;
	uint16_t place;
	int err;

	if (n != 1)
		return trc_labels_with(out, base, label, n, bad);
	*bad = 0;
	err = trc_label_check(&only, label);
	if (err)
		return err;
	place = kept_key(base, &only);
	set = NULL;
	if (kept) {
		hint_put(base, label, place);
		set = kept_take(place, base, &only);
	}
	if (!set)
		set = spare_take(place, base, &only);
	if (!set)
		return trc_labels_with_one(out, base, &only, place);
	*out = set;
	return 0;
}

/* False: nothing can be kept, as nobody would give it back when the thread ends.  A scope may end
 * between a call of the program's and its look at errno. */
static __attribute__((noinline)) bool begin_to_keep(void)
{
	int saved_errno = errno;

	if (!ending && trc_thread_end_hook && trc_thread_end_hook())
		kept = calloc(1, sizeof(*kept));
	errno = saved_errno;
	return kept != NULL;
}

/* Puts a set at `at`, and returns what was there. */
static inline const struct trace_labels *scope_exchange(const struct trace_labels **at,
							const struct trace_labels *labels)
{
	const struct trace_labels *older = *at;

	*at = labels;
	return older;
}

void trc_labels_scope_end(const struct trace_labels *labels)
{
	const struct trace_labels **at = labels && labels->place && (kept || begin_to_keep())
						 ? kept_at(labels->place)
						 : NULL;

	for (int way = 0; at && way < WAYS; way++) {
		labels = scope_exchange(&at[way], labels);
		if (!labels)
			return;
	}
	trc_labels_unref(at ? scope_exchange(&kept->spare, labels) : labels);
}

void trc_labels_kept_drop(void)
{
	struct kept *dropped = kept;

	kept = NULL;
	for (int i = 0; dropped && i < SETS * WAYS; i++)
		trc_labels_unref(dropped->set[i]);
	if (dropped)
		trc_labels_unref(dropped->spare);
	free(dropped);
}

void trc_labels_kept_end(void)
{
	ending = true;
	trc_labels_kept_drop();
}
