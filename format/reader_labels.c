/* reader_labels.c - label sets, whose they are, and what was sampled; see reader.h. */
#include <errno.h>
#include "reader_private.h"

/* The string of an id; an empty one of 0, and of an id without an entry, which is counted. */
static struct trc_string_view string_of(const struct trc_reader *r, uint64_t id,
					uint64_t *dangling_ids)
{
	static const struct trc_string_view none = {(const uint8_t *)"", 0};

	if (trc_reader_has_string(r, id))
		return r->strings.at[id];
	*dangling_ids += id != 0;
	return none;
}

/* One label; false if its value is of a kind that only a newer version knows. */
static bool take_label(const struct trc_reader *r, struct trc_cursor *c, struct trc_label *label,
		       uint64_t *dangling_ids)
{
	struct trc_string_view key = string_of(r, trc_cursor_varint(c), dangling_ids), value;
	uint8_t kind = trc_cursor_u8(c);

	label->is_number = kind == TRC_LABEL_NUMBER;
	label->number = 0;
	if (label->is_number)
		label->number = (int64_t)trc_unzigzag(trc_cursor_varint(c));
	else if (kind != TRC_LABEL_STRING)
		return false;
	value = string_of(r, trc_cursor_varint(c), dangling_ids);
	label->key = (const char *)key.bytes;
	label->key_bytes = key.n_bytes;
	label->value = (const char *)value.bytes;
	label->value_bytes = value.n_bytes;
	return true;
}

/* The labels of a set, behind those that there are; they stay if the entry is taken.  One without
 * a key is left out, and so is all from one on that is not understood. */
static int take_labels(struct trc_reader *r, struct trc_cursor *c, uint32_t *n_labels,
		       uint64_t *dangling_ids)
{
	uint64_t n = trc_cursor_varint_max(c, TRC_LABELS_MAX);
	struct trc_label *label;

	if (c->bad || trc_reader_count_parts(r, n))
		return -EBADMSG;
	if (TRC_RESERVE(r->labels, (size_t)n + 1))
		return -ENOMEM;
	label = r->labels.at + r->labels.n;
	*n_labels = 0;
	for (uint64_t i = 0; i < n; i++) {
		if (!take_label(r, c, label, dangling_ids) || c->bad)
			break;
		if (!label->key_bytes)
			continue;
		if (*n_labels && trc_label_order(label - 1, label) >= 0)
			return -EBADMSG;
		label++;
		++*n_labels;
	}
	return c->bad ? -EBADMSG : 0;
}

static int take_label_set(struct trc_reader *r, struct trc_cursor *c, uint64_t id)
{
	struct trc_label_set_place place = {.label_idx = r->labels.n, .bytes = c->pos};
	struct trc_label_set_place *entry;
	uint64_t dangling_ids = 0;
	int err;

	place.n_bytes = (uint32_t)trc_cursor_left(c);
	err = take_labels(r, c, &place.n, &dangling_ids);
	if (!err)
		err = TRC_RESERVE(r->label_sets, 2);
	if (err)
		return err;
	while (r->label_sets.n <= id)
		r->label_sets.at[r->label_sets.n++] = (struct trc_label_set_place){0};
	entry = &r->label_sets.at[id];
	if (!entry->bytes) {
		*entry = place;
		r->labels.n += place.n;
		r->info.dangling_ids += dangling_ids;
	} else if (entry->n_bytes != place.n_bytes ||
		   memcmp(entry->bytes, place.bytes, place.n_bytes)) {
		trc_reader_warn(r, "label set %u has two meanings: the first is taken",
				(unsigned int)id);
	}
	return 0;
}

int trc_reader_parse_label_sets(struct trc_reader *r, struct trc_cursor *c)
{
	while (trc_cursor_left(c)) {
		struct trc_cursor e = trc_cursor_entry(c);
		uint64_t id = trc_cursor_varint(&e);
		int err;

		/* The same rule for ids as for strings and stacks. */
		if (e.bad || !id || id > (r->label_sets.n ? r->label_sets.n : 1) ||
		    id > TRC_TABLE_IDS_MAX || trc_reader_count_entry(r))
			return -EBADMSG;
		err = take_label_set(r, &e, id);
		if (err)
			return err;
	}
	return 0;
}

static int take_sample_event(struct trc_reader *r, struct trc_cursor *c,
			     struct trc_sample_event_entry *s)
{
	int err = 0;

	s->event = (uint32_t)trc_cursor_varint_max(c, UINT32_MAX);
	s->how = (uint8_t)trc_cursor_varint_max(c, UINT8_MAX);
	s->period = trc_cursor_varint(c);
	s->frequency_hz = trc_cursor_varint(c);
	s->missing_threads = trc_cursor_varint(c);
	if (c->bad || !s->event)
		return -EBADMSG;
	s->name = trc_reader_take_text(r, c, &err);
	if (!err)
		s->unit = trc_reader_take_text(r, c, &err);
	if (!err)
		s->note = trc_reader_take_text(r, c, &err);
	return err;
}

int trc_reader_parse_sample_events(struct trc_reader *r, struct trc_cursor *c)
{
	return TRC_TAKE_TABLE(r, c, r->sample_events, take_sample_event);
}

static int take_thread_labels(struct trc_reader *r, struct trc_cursor *c,
			      struct trc_thread_labels_entry *l)
{
	l->thread = (uint32_t)trc_cursor_varint_max(c, UINT32_MAX);
	l->labels = (uint32_t)trc_cursor_varint_max(c, UINT32_MAX);
	if (c->bad)
		return -EBADMSG;
	if (l->labels && !trc_reader_has_label_set(r, l->labels)) {
		l->labels = 0;
		r->info.dangling_ids++;
	}
	return 0;
}

int trc_reader_parse_thread_labels(struct trc_reader *r, struct trc_cursor *c)
{
	return TRC_TAKE_TABLE(r, c, r->thread_labels, take_thread_labels);
}

bool trc_reader_has_label_set(const struct trc_reader *r, uint64_t id)
{
	return id < r->label_sets.n && r->label_sets.at[id].bytes;
}

size_t trc_reader_label_sets(const struct trc_reader *r)
{
	return r->label_sets.n;
}

int trc_reader_label_set(const struct trc_reader *r, uint32_t id, const struct trc_label **label,
			 uint32_t *n)
{
	if (!trc_reader_has_label_set(r, id))
		return -ENOENT;
	*label = r->labels.at + r->label_sets.at[id].label_idx;
	*n = r->label_sets.at[id].n;
	return 0;
}

static bool same_label(const struct trc_label *l, const struct trc_label *m)
{
	return !trc_label_order(l, m) && l->is_number == m->is_number && l->number == m->number &&
	       l->value_bytes == m->value_bytes && !memcmp(l->value, m->value, l->value_bytes);
}

bool trc_reader_same_labels(const struct trc_reader *r, uint64_t a, uint64_t b)
{
	const struct trc_label *l, *m;
	uint32_t n_l, n_m;

	if (a == b)
		return true;
	if (a > UINT32_MAX || b > UINT32_MAX || trc_reader_label_set(r, (uint32_t)a, &l, &n_l) ||
	    trc_reader_label_set(r, (uint32_t)b, &m, &n_m) || n_l != n_m)
		return false;
	for (uint32_t i = 0; i < n_l; i++)
		if (!same_label(&l[i], &m[i]))
			return false;
	return true;
}

size_t trc_reader_sample_events(const struct trc_reader *r,
				const struct trc_sample_event_entry **entries)
{
	*entries = r->sample_events.at;
	return r->sample_events.n;
}

size_t trc_reader_thread_labels(const struct trc_reader *r,
				const struct trc_thread_labels_entry **entries)
{
	*entries = r->thread_labels.at;
	return r->thread_labels.n;
}
