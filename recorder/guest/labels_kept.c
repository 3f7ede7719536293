/*
 * labels_kept.c - the sets of scopes that a thread has left, for scopes like these (labels:J7).
 *
 * A program enters scopes with the same few labels again and again.  A set that comes again costs
 * no memory and no search in the table of sets, as it still has its id.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "labels.h"
#include "recorder/ring/content_hash.h"

enum { SETS = 16, WAYS = 4 };

/* [SETS * WAYS], each NULL or a reference, of each WAYS the youngest first.  NULL until the thread
 * keeps something. */
static __thread const struct trace_labels **kept __attribute__((tls_model("initial-exec")));
static __thread bool ending __attribute__((tls_model("initial-exec")));

static const struct trace_labels **kept_at(uint32_t place)
{
	return &kept[place % SETS * WAYS];
}

/* Not 0.  Keys are literals as a rule: their address says enough here, where a set is looked for. */
static uint16_t place_of(const struct trace_labels *base, const struct trc_label *label)
{
	uint64_t value = label->is_number ? (uint64_t)label->number
					  : trc_content_tail(label->value, label->value_bytes);
	uint64_t hash = trc_hash_mix((uintptr_t)base ^ (uint64_t)(uintptr_t)label->key << 16 ^
					     UINT64_C(0xa0761d6478bd642f),
				     value ^ UINT64_C(0xe7037ed1a0b428db));

	return (uint16_t)(hash | 0x8000);
}

/* The set has this label alone itself: labels_bytes.h.  The lengths decide where all lies. */
static __attribute__((noinline)) bool is_of(const struct trace_labels *set,
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
		if (set && set->place == place && set->base == base && is_of(set, label)) {
			at[way] = NULL;
			return set;
		}
	}
	return NULL;
}

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
	place = place_of(base, &only);
	set = kept ? kept_take(place, base, &only) : NULL;
	if (!set) {
		err = trc_labels_with_one(&set, base, &only, place);
		if (err)
			return err;
	}
	*out = set;
	return 0;
}

/* False: nothing can be kept, as nobody would give it back when the thread ends.  A scope may end
 * between a call of the program's and its look at errno. */
static bool can_keep(void)
{
	int saved_errno = errno;

	if (!kept && !ending && trc_thread_end_hook && trc_thread_end_hook())
		kept = calloc(SETS * WAYS, sizeof(*kept));
	errno = saved_errno;
	return kept != NULL;
}

void trc_labels_scope_end(const struct trace_labels *labels)
{
	const struct trace_labels **at =
		labels && labels->place && can_keep() ? kept_at(labels->place) : NULL;

	for (int way = 0; at && labels && way < WAYS; way++) {
		const struct trace_labels *older = at[way];

		at[way] = labels;
		labels = older;
	}
	trc_labels_unref(labels);
}

void trc_labels_kept_drop(void)
{
	const struct trace_labels **dropped = kept;

	kept = NULL;
	for (int i = 0; dropped && i < SETS * WAYS; i++)
		trc_labels_unref(dropped[i]);
	free(dropped);
}

void trc_labels_kept_end(void)
{
	ending = true;
	trc_labels_kept_drop();
}
