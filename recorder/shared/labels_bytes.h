/*
 * labels_bytes.h - a label set as bytes, as it lies in the ring's table.
 *
 * Each label is: a byte with the length of its key, plus IS_NUMBER if its value is a number; a byte
 * with the length of the value, or of a number's unit; the key; the value or unit; for a number,
 * its 8 bytes.
 *
 *   labels_bytes:B1  labels are sorted by key, bytewise, a prefix first; no key comes twice
 *   labels_bytes:B2  equal sets are equal bytes
 */
#ifndef TRC_RECORDER_SHARED_LABELS_BYTES_H
#define TRC_RECORDER_SHARED_LABELS_BYTES_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include "format/writer.h"
#include "layout.h"

enum {
	TRC_LABEL_KEY_BYTES_MAX = 63,
	TRC_LABEL_VALUE_BYTES_MAX = 200,
	TRC_LABEL_UNIT_BYTES_MAX = 15,
	TRC_LABELS_HERE_MAX = 32, /* in a set; the format takes more */
	TRC_LABEL_IS_NUMBER = 0x80,
};
_Static_assert((int)TRC_LABELS_HERE_MAX <= (int)TRC_LABELS_MAX, "what is made can be written");

/* Takes the next label from [*at, end); *label refers to these bytes.  False: the end is reached,
 * or the bytes are no label. */
static inline bool trc_label_take(const char **at, const char *end, struct trc_label *label)
{
	const unsigned char *head = (const unsigned char *)*at;
	uint64_t n_bytes;

	if (end - *at < 2)
		return false;
	label->is_number = (head[0] & TRC_LABEL_IS_NUMBER) != 0;
	label->key_bytes = head[0] & (TRC_LABEL_IS_NUMBER - 1U);
	label->value_bytes = head[1];
	label->number = 0;
	n_bytes = 2 + label->key_bytes + label->value_bytes + (label->is_number ? 8 : 0);
	if ((uint64_t)(end - *at) < n_bytes)
		return false;
	label->key = *at + 2;
	label->value = label->key + label->key_bytes;
	if (label->is_number)
		memcpy(&label->number, label->value + label->value_bytes, 8);
	*at += n_bytes;
	return true;
}

/* How many bytes a label takes. */
static inline uint32_t trc_label_bytes(const struct trc_label *label)
{
	return 2 + label->key_bytes + label->value_bytes + (label->is_number ? 8U : 0U);
}

/* Appends a label whose lengths are within bounds; false if there is no room below `end`. */
static inline bool trc_label_put(char **at, const char *end, const struct trc_label *label)
{
	uint64_t n_bytes = trc_label_bytes(label);
	char *to = *at;

	if ((uint64_t)(end - to) < n_bytes)
		return false;
	to[0] = (char)(label->key_bytes | (label->is_number ? TRC_LABEL_IS_NUMBER : 0U));
	to[1] = (char)label->value_bytes;
	memcpy(to + 2, label->key, label->key_bytes);
	to += 2 + label->key_bytes;
	memcpy(to, label->value, label->value_bytes);
	if (label->is_number)
		memcpy(to + label->value_bytes, &label->number, 8);
	*at += n_bytes;
	return true;
}

/* Splits bytes that may be anything into labels.  Returns their number; 0 if the bytes are no set
 * (B1). */
static inline uint32_t trc_labels_split(const char *bytes, uint32_t n_bytes,
					struct trc_label label[TRC_LABELS_MAX])
{
	const char *at = bytes, *end = bytes + n_bytes;
	uint32_t n = 0;

	for (; at < end; n++)
		if (n == TRC_LABELS_MAX || !trc_label_take(&at, end, &label[n]) ||
		    !label[n].key_bytes || (n && trc_label_order(&label[n - 1], &label[n]) >= 0))
			return 0;
	return n;
}

#endif
