/* labels.c - making label sets, and giving them back.  Context: any thread, may block. */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include "labels.h"

enum { ON_STACK = 32 };

/* ---- what is asked for ----------------------------------------------------------------- */

struct item {
	struct trc_label label;
	size_t place; /* in the caller's list */
};

static int item_fill(struct item *item, const struct trace_label *from, size_t place)
{
	bool is_number = !from->value;
	const char *value = !is_number ? from->value : from->unit ? from->unit : "";
	size_t value_max = is_number ? TRC_LABEL_UNIT_BYTES_MAX : TRC_LABEL_VALUE_BYTES_MAX;
	size_t key_bytes = from->key ? strnlen(from->key, TRC_LABEL_KEY_BYTES_MAX + 1) : 0;
	size_t value_bytes = strnlen(value, value_max + 1);

	if (!key_bytes || (!is_number && from->unit) || !strncmp(from->key, "trc::", 5))
		return -EINVAL;
	if (key_bytes > TRC_LABEL_KEY_BYTES_MAX || value_bytes > value_max)
		return -ENAMETOOLONG;
	item->label = (struct trc_label){.key = from->key,
					 .value = value,
					 .key_bytes = (uint32_t)key_bytes,
					 .value_bytes = (uint32_t)value_bytes,
					 .number = is_number ? from->number : 0,
					 .is_number = is_number};
	item->place = place;
	return 0;
}

/* By key; of one key the later one comes first. */
static int item_compare(const void *a, const void *b)
{
	const struct item *x = a, *y = b;
	int order = trc_label_order(&x->label, &y->label);

	return order ? order : (x->place < y->place) - (x->place > y->place);
}

/* labels_bytes:B1.  The bytes, or -E2BIG. */
static int items_put(const struct item *item, size_t n, char bytes[TRC_LABELS_BYTES_MAX])
{
	char *at = bytes;

	for (size_t i = 0; i < n; i++) {
		if (i && !trc_label_order(&item[i - 1].label, &item[i].label))
			continue; /* the later one of its key won */
		if (!trc_label_put(&at, bytes + TRC_LABELS_BYTES_MAX, &item[i].label))
			return -E2BIG;
	}
	return (int)(at - bytes);
}

static int own_bytes(const struct trace_label *label, size_t n, size_t *bad,
		     char bytes[TRC_LABELS_BYTES_MAX])
{
	struct item few[ON_STACK];
	struct item *item = n <= ON_STACK ? few : calloc(n, sizeof(*item));
	int err = item ? 0 : -ENOMEM;

	for (size_t i = 0; !err && i < n; i++) {
		*bad = i;
		err = item_fill(&item[i], &label[i], i);
	}
	if (!err) {
		qsort(item, n, sizeof(*item), item_compare);
		err = items_put(item, n, bytes);
	}
	if (item != few)
		free(item);
	return err;
}

/* ---- sets ------------------------------------------------------------------------------ */

static struct trace_labels *set_make(const struct trace_labels *base, const char *bytes,
				     uint32_t n_bytes)
{
	struct trace_labels *set = malloc(sizeof(*set) + n_bytes);

	if (!set)
		return NULL;
	atomic_init(&set->references, 1);
	atomic_init(&set->id, 0);
	atomic_init(&set->entry, NULL);
	atomic_init(&set->session, 0);
	set->depth = base ? base->depth + 1 : 1;
	set->base = trc_labels_ref(base);
	set->n_bytes = n_bytes;
	memcpy(set->bytes, bytes, n_bytes);
	return set;
}

/* The set within its bounds, and no deeper than J3; else it is given back. */
static int set_check(struct trace_labels **set)
{
	struct trace_labels *flat, *deep = *set;
	char bytes[TRC_LABELS_BYTES_MAX];
	uint32_t n_bytes = trc_labels_bytes(deep, bytes);

	if (n_bytes <= TRC_LABELS_BYTES_MAX && deep->depth < TRC_LABELS_DEPTH)
		return 0;
	flat = n_bytes <= TRC_LABELS_BYTES_MAX ? set_make(NULL, bytes, n_bytes) : NULL;
	trc_labels_unref(deep);
	*set = flat;
	return n_bytes > TRC_LABELS_BYTES_MAX ? -E2BIG : flat ? 0 : -ENOMEM;
}

int trc_labels_with(const struct trace_labels **out, const struct trace_labels *base,
		    const struct trace_label *label, size_t n, size_t *bad)
{
	char bytes[TRC_LABELS_BYTES_MAX];
	struct trace_labels *set;
	int err;

	if (!n) {
		*out = trc_labels_ref(base);
		return 0;
	}
	err = own_bytes(label, n, bad, bytes);
	if (err < 0)
		return err;
	set = set_make(base, bytes, (uint32_t)err);
	if (!set)
		return -ENOMEM;
	err = set_check(&set);
	if (!err)
		*out = set;
	return err;
}

const struct trace_labels *trc_labels_ref(const struct trace_labels *labels)
{
	/* relaxed: who holds a reference may hand out another. */
	if (labels)
		atomic_fetch_add_explicit(&((struct trace_labels *)(uintptr_t)labels)->references,
					  1, memory_order_relaxed);
	return labels;
}

void trc_labels_unref(const struct trace_labels *labels)
{
	while (labels) {
		struct trace_labels *set = (struct trace_labels *)(uintptr_t)labels;

		/* acq_rel: whoever frees it comes after everybody's last look at it. */
		if (atomic_fetch_sub_explicit(&set->references, 1, memory_order_acq_rel) != 1)
			return;
		labels = set->base;
		free(set);
	}
}

/* ---- reading --------------------------------------------------------------------------- */

/* Where reading one of the sets that hang on each other has come to. */
struct cursor {
	const char *at, *end;
	struct trc_label label;
	bool has;
};

static void cursor_step(struct cursor *c)
{
	c->has = trc_label_take(&c->at, c->end, &c->label);
}

/* The next label of all: of one key that of the first cursor, the youngest set's.  False at the
 * end. */
static bool next_label(struct cursor *cursor, uint32_t n, struct trc_label *label)
{
	const struct cursor *least = NULL;

	for (uint32_t i = 0; i < n; i++)
		if (cursor[i].has &&
		    (!least || trc_label_order(&cursor[i].label, &least->label) < 0))
			least = &cursor[i];
	if (!least)
		return false;
	*label = least->label;
	for (uint32_t i = 0; i < n; i++)
		if (cursor[i].has && !trc_label_order(&cursor[i].label, label))
			cursor_step(&cursor[i]);
	return true;
}

uint32_t trc_labels_bytes(const struct trace_labels *labels, char bytes[TRC_LABELS_BYTES_MAX])
{
	struct cursor cursor[TRC_LABELS_DEPTH + 1];
	struct trc_label label;
	uint32_t n = 0, n_labels = 0;
	char *at = bytes;

	for (; labels; labels = labels->base, n++) {
		cursor[n].at = labels->bytes;
		cursor[n].end = labels->bytes + labels->n_bytes;
		cursor_step(&cursor[n]);
	}
	while (next_label(cursor, n, &label))
		if (++n_labels > TRC_LABELS_HERE_MAX ||
		    !trc_label_put(&at, bytes + TRC_LABELS_BYTES_MAX, &label))
			return UINT32_MAX;
	return (uint32_t)(at - bytes);
}

void trc_labels_leave(void)
{
	trc_labels_unref(trc_labels_set(NULL));
}
