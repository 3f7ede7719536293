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

static bool is_own_key(const char *key, size_t n_bytes)
{
	return n_bytes >= 5 && !memcmp(key, "trc::", 5);
}

int trc_label_check(struct trc_label *label, const struct trace_label *from)
{
	bool is_number = !from->value;
	const char *value = is_number ? from->unit : from->value;
	size_t value_max = is_number ? TRC_LABEL_UNIT_BYTES_MAX : TRC_LABEL_VALUE_BYTES_MAX;
	size_t key_bytes = from->key ? strnlen(from->key, TRC_LABEL_KEY_BYTES_MAX + 1) : 0;
	size_t value_bytes = value ? strnlen(value, value_max + 1) : 0;

	if (!key_bytes || (!is_number && from->unit) || is_own_key(from->key, key_bytes))
		return -EINVAL;
	if (key_bytes > TRC_LABEL_KEY_BYTES_MAX || value_bytes > value_max)
		return -ENAMETOOLONG;
	*label = (struct trc_label){.key = from->key,
				    .value = value ? value : "",
				    .key_bytes = (uint32_t)key_bytes,
				    .value_bytes = (uint32_t)value_bytes,
				    .number = is_number ? from->number : 0,
				    .is_number = is_number};
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
		*bad = item[i].place = i;
		err = trc_label_check(&item[i].label, &label[i]);
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

static uint32_t labels_in(const char *bytes, uint32_t n_bytes)
{
	struct trc_label label;
	uint32_t n = 0;

	for (const char *end = bytes + n_bytes; trc_label_take(&bytes, end, &label); n++)
		;
	return n;
}

/* All but references, base, depth, and the bytes. */
static inline void set_fill(struct trace_labels *set, const struct trace_labels *base,
			    uint32_t n_bytes, uint32_t n_labels, uint16_t place)
{
	atomic_init(&set->id, 0);
	atomic_init(&set->entry, NULL);
	atomic_init(&set->seen, 0);
	atomic_init(&set->session, 0);
	set->n_labels = (uint8_t)(base ? base->n_labels + n_labels : n_labels);
	set->all_bytes = (uint16_t)(base ? base->all_bytes + n_bytes : n_bytes);
	set->n_bytes = (uint16_t)n_bytes;
	set->place = place;
}

/* All but the bytes. */
static inline struct trace_labels *set_new(const struct trace_labels *base, uint32_t n_bytes,
					   uint32_t n_labels, uint16_t place)
{
	struct trace_labels *set = malloc(sizeof(*set) + n_bytes);

	if (!set)
		return NULL;
	atomic_init(&set->references, 1);
	set->depth = (uint8_t)(base ? base->depth + 1 : 1);
	set->base = trc_labels_ref(base);
	set_fill(set, base, n_bytes, n_labels, place);
	return set;
}

static struct trace_labels *set_make(const struct trace_labels *base, const char *bytes,
				     uint32_t n_bytes, uint32_t n_labels)
{
	struct trace_labels *set = set_new(base, n_bytes, n_labels, 0);

	if (set)
		memcpy(set->bytes, bytes, n_bytes);
	return set;
}

/* labels:J3 */
static inline bool is_too_much(uint32_t depth, uint32_t n_labels, uint32_t n_bytes)
{
	return depth >= TRC_LABELS_DEPTH || n_labels > TRC_LABELS_HERE_MAX ||
	       n_bytes > TRC_LABELS_BYTES_MAX;
}

/* The set with all labels itself, in place of *set, which is given back. */
static int set_flatten(struct trace_labels **set)
{
	struct trace_labels *flat = NULL;
	char bytes[TRC_LABELS_BYTES_MAX];
	uint32_t n_bytes = trc_labels_bytes(*set, bytes);

	if (n_bytes <= TRC_LABELS_BYTES_MAX)
		flat = set_make(NULL, bytes, n_bytes, labels_in(bytes, n_bytes));
	trc_labels_unref(*set);
	*set = flat;
	return n_bytes > TRC_LABELS_BYTES_MAX ? -E2BIG : flat ? 0 : -ENOMEM;
}

static int labels_make_on(struct trace_labels **out, const struct trace_labels *base,
			  const char *bytes, uint32_t n_bytes)
{
	uint32_t n_labels = labels_in(bytes, n_bytes);
	struct trace_labels *set;
	int err = 0;

	if (n_labels > TRC_LABELS_HERE_MAX)
		return -E2BIG;
	set = set_make(base, bytes, n_bytes, n_labels);
	if (!set)
		return -ENOMEM;
	if (is_too_much(set->depth, set->n_labels, set->all_bytes))
		err = set_flatten(&set);
	if (!err)
		*out = set;
	return err;
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
	if (err >= 0)
		err = labels_make_on(&set, base, bytes, (uint32_t)err);
	if (!err)
		*out = set;
	return err;
}

/* What has all labels itself (J3). */
static __attribute__((noinline)) int with_one_flat(const struct trace_labels **out,
						   const struct trace_labels *base,
						   const struct trc_label *label)
{
	char bytes[TRC_LABELS_BYTES_MAX], *at = bytes;
	struct trace_labels *set;
	int err;

	trc_label_put(&at, bytes + sizeof(bytes), label); /* has room: it is within its bounds */
	err = labels_make_on(&set, base, bytes, (uint32_t)(at - bytes));
	if (!err)
		*out = set;
	return err;
}

int trc_labels_with_one(const struct trace_labels **out, const struct trace_labels *base,
			const struct trc_label *label, uint16_t place)
{
	uint32_t n_bytes = trc_label_bytes(label);
	struct trace_labels *set;
	char *at;

	if (base && is_too_much(base->depth + 1U, base->n_labels + 1U, base->all_bytes + n_bytes))
		return with_one_flat(out, base, label);
	set = set_new(base, n_bytes, 1, place);
	if (!set)
		return -ENOMEM;
	at = set->bytes;
	trc_label_put(&at, set->bytes + n_bytes, label);
	*out = set;
	return 0;
}

bool trc_labels_make_over(const struct trace_labels *labels, const struct trace_labels *base,
			  const struct trc_label *label, uint16_t place)
{
	struct trace_labels *set = (struct trace_labels *)(uintptr_t)labels;
	uint32_t n_bytes = trc_label_bytes(label);
	char *at = set->bytes;

	/* acquire: what others did with the set comes before. */
	if (set->base != base || n_bytes > set->n_bytes ||
	    atomic_load_explicit(&set->references, memory_order_acquire) != 1)
		return false;
	set_fill(set, base, n_bytes, 1, place);
	trc_label_put(&at, set->bytes + n_bytes, label);
	return true;
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

		/* acq_rel, acquire: whoever frees it comes after everybody's last look at it.  A set
		 * of one reference is nobody else's. */
		if (atomic_load_explicit(&set->references, memory_order_acquire) != 1 &&
		    atomic_fetch_sub_explicit(&set->references, 1, memory_order_acq_rel) != 1)
			return;
		labels = set->base;
		free(set);
	}
}

/* ---- reading --------------------------------------------------------------------------- */

/* Where reading one of the sets that hang on each other has come to. */
struct cursor {
	const char *from, *at, *end; /* [from, at): the bytes of `label` */
	struct trc_label label;
	bool has;
};

static void cursor_step(struct cursor *c)
{
	c->from = c->at;
	c->has = trc_label_take(&c->at, c->end, &c->label);
}

/* The bytes of the next label of all: of one key that of the first cursor, the youngest set's.
 * False at the end. */
static bool next_label(struct cursor *cursor, uint32_t n, const char **bytes, size_t *n_bytes)
{
	struct trc_label label;
	const struct cursor *least = NULL;

	for (uint32_t i = 0; i < n; i++)
		if (cursor[i].has &&
		    (!least || trc_label_order(&cursor[i].label, &least->label) < 0))
			least = &cursor[i];
	if (!least)
		return false;
	label = least->label;
	*bytes = least->from;
	*n_bytes = (size_t)(least->at - least->from);
	for (uint32_t i = 0; i < n; i++)
		if (&cursor[i] == least ||
		    (cursor[i].has && !trc_label_order(&cursor[i].label, &label)))
			cursor_step(&cursor[i]);
	return true;
}

/* Copies a few bytes, from where nothing behind their end is read; returns the end of the copy. */
static inline char *copy_few(char *to, const char *from, size_t n_bytes)
{
	for (; n_bytes >= 8; n_bytes -= 8, to += 8, from += 8)
		memcpy(to, from, 8);
	for (; n_bytes; n_bytes--)
		*to++ = *from++;
	return to;
}

/* Of a set of one label in a base that has all its labels itself: what most scopes make. */
static uint32_t bytes_of_two(const struct trace_labels *labels, char bytes[TRC_LABELS_BYTES_MAX])
{
	const struct trace_labels *base = labels->base;
	const char *own = labels->bytes, *next = base->bytes, *end = next + base->n_bytes;
	const char *from = next;
	struct trc_label label, mine = {.key = NULL};
	char *at;
	int order = -1;

	trc_label_take(&own, own + labels->n_bytes, &mine);
	while (order < 0 && trc_label_take(&next, end, &label)) {
		order = (uint8_t)*label.key - (uint8_t)*mine.key;
		if (!order)
			order = trc_label_order(&label, &mine);
		if (order < 0)
			from = next;
	}
	/* A label of the same key is left out. */
	if (order > 0)
		next = from;
	at = copy_few(bytes, base->bytes, (size_t)(from - base->bytes));
	at = copy_few(at, labels->bytes, labels->n_bytes);
	at = copy_few(at, next, (size_t)(end - next));
	return (uint32_t)(at - bytes);
}

uint32_t trc_labels_bytes(const struct trace_labels *labels, char bytes[TRC_LABELS_BYTES_MAX])
{
	struct cursor cursor[TRC_LABELS_DEPTH + 1];
	uint32_t n = 0, n_labels = 0;
	const char *from;
	char *at = bytes;
	size_t n_bytes;

	if (labels && !labels->base) {
		memcpy(bytes, labels->bytes, labels->n_bytes);
		return labels->n_bytes;
	}
	if (labels && !labels->base->base && labels->n_labels == labels->base->n_labels + 1 &&
	    !is_too_much(labels->depth, labels->n_labels, labels->all_bytes))
		return bytes_of_two(labels, bytes);
	for (; labels; labels = labels->base, n++) {
		cursor[n].at = labels->bytes;
		cursor[n].end = labels->bytes + labels->n_bytes;
		cursor_step(&cursor[n]);
	}
	while (next_label(cursor, n, &from, &n_bytes)) {
		if (++n_labels > TRC_LABELS_HERE_MAX ||
		    n_bytes > (size_t)(bytes + TRC_LABELS_BYTES_MAX - at))
			return UINT32_MAX;
		memcpy(at, from, n_bytes);
		at += n_bytes;
	}
	return (uint32_t)(at - bytes);
}

void trc_labels_leave(void)
{
	trc_labels_kept_drop();
	trc_labels_unref(trc_labels_set(NULL));
}
