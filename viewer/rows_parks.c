/* rows_parks.c - waits as columns of a page. */
#include <stdlib.h>
#include <string.h>
#include "analyzer/model/descriptors.h"
#include "analyzer/model/waits.h"
#include "format/waits.h"
#include "rows.h"

/* When the waker acted, relative to the start: zigzag + 1, 0 = not known. */
static uint64_t wake_value(const struct trc_park *p)
{
	uint64_t delta = (uint64_t)p->wake_ns - (uint64_t)p->start_ns;

	return p->wake_ns == TRC_NEVER ? 0 : (delta << 1 ^ (0 - (delta >> 63))) + 1;
}

/* Beside TRC_PARK_*: the report calls the wait idle. */
enum { PARK_IDLE = 16 };

/* The page has of a wait what lies in the trace. */
static uint8_t park_flags(const struct trc_rows *r, const struct trc_park *p)
{
	size_t n;
	uint8_t flags = p->flags;

	if (r->idle_park[p - trc_model_parks(r->m, &n)])
		flags |= PARK_IDLE;

	if (p->end_ns == TRC_NEVER)
		flags |= TRC_PARK_OPEN;
	if (p->start_ns < trc_model_start_ns(r->m))
		flags |= TRC_PARK_CUT;
	return flags;
}

uint32_t trc_rows_descriptor(struct trc_rows *r, uint32_t descriptor, unsigned int reason)
{
	const struct trc_descriptor_name *name = trc_model_descriptor(r->m, descriptor);

	return name && strcmp(name->kind, trc_reason_name(reason)) != 0
		       ? trc_texts_id(&r->texts, name->name)
		       : 0;
}

/* What the page computes of a wait, by its intervals (rows:V1). */
struct park_times {
	uint64_t start, length, reason, wake;
};

static struct park_times park_times(const struct trc_rows *r, const struct trc_park *p)
{
	uint64_t start = trc_rows_time(r, p->start_ns), end = trc_rows_time(r, p->end_ns);

	return (struct park_times){start, end > start ? end - start : 0, p->reason, wake_value(p)};
}

/* Woken at the moment when it goes on: there is no interval between. */
static bool is_woken_at_end(const struct park_times *t, const struct trc_shown_park *s)
{
	return s->wake_ns == s->end_ns && t->wake == 2 * t->length + 1;
}

static bool is_as_shown(const struct park_times *t, const struct trc_shown_park *s)
{
	uint64_t wake = s->wake_ns < s->end_ns ? 2 * (s->wake_ns - s->start_ns) + 1 : 0;

	return t->start == s->start_ns && t->length == s->end_ns - s->start_ns &&
	       t->reason == s->reason && (t->wake == wake || is_woken_at_end(t, s));
}

static void write_park_times(struct trc_rows *r, const struct trc_tracks *tracks)
{
	enum {
		START,
		LENGTH,
		REASON,
		WAKE,
		AT_END,
		OTHER,
		OTHER_START,
		OTHER_LENGTH,
		OTHER_REASON,
		OTHER_WAKE,
		N
	};
	struct trc_column c[N] = {
		[START] = trc_column_make("park.start", TRC_COLUMN_DERIVED),
		[LENGTH] = trc_column_make("park.length", TRC_COLUMN_DERIVED),
		[REASON] = trc_column_make("park.reason", TRC_COLUMN_DERIVED),
		[WAKE] = trc_column_make("park.wake", TRC_COLUMN_DERIVED),
		[AT_END] = trc_column_make("park.woken_at_end", TRC_COLUMN_BYTES),
		[OTHER] = trc_column_make("other.park", TRC_COLUMN_DELTA),
		[OTHER_START] = trc_column_make("other.start", TRC_COLUMN_DELTA),
		[OTHER_LENGTH] = trc_column_make("other.length", TRC_COLUMN_VARINT),
		[OTHER_REASON] = trc_column_make("other.reason", TRC_COLUMN_VARINT),
		[OTHER_WAKE] = trc_column_make("other.wake", TRC_COLUMN_VARINT),
	};
	size_t n;
	const struct trc_park *all = trc_model_parks(r->m, &n);

	for (uint32_t i = 0; i < tracks->n_shown; i++) {
		const struct trc_shown_park *shown = &tracks->shown[i];
		struct park_times t = park_times(r, &all[shown->row]);

		trc_column_add(&c[START], t.start);
		trc_column_add(&c[LENGTH], t.length);
		trc_column_add(&c[REASON], t.reason);
		trc_column_add(&c[WAKE], t.wake);
		trc_column_add(&c[AT_END], is_woken_at_end(&t, shown));
		if (is_as_shown(&t, shown))
			continue;
		trc_column_add(&c[OTHER], i);
		trc_column_add(&c[OTHER_START], t.start);
		trc_column_add(&c[OTHER_LENGTH], t.length);
		trc_column_add(&c[OTHER_REASON], t.reason);
		trc_column_add(&c[OTHER_WAKE], t.wake);
	}
	trc_rows_columns(r, c, N);
}

/* rows:V2: the model's order, the page's where that is by nothing that the page has. */
static void write_park_ids(struct trc_rows *r, const struct trc_tracks *tracks)
{
	struct trc_column id = trc_column_make("park.id_by_start", TRC_COLUMN_DELTA);
	struct trc_key *key = calloc(2 * (size_t)tracks->n_shown + 1, sizeof(*key));
	size_t n;
	const struct trc_park *all = trc_model_parks(r->m, &n);

	id.as_bytes = true;
	for (uint32_t i = 0; key && i < tracks->n_shown; i++)
		key[i] = (struct trc_key){
			(int64_t)trc_rows_time(r, all[tracks->shown[i].row].start_ns), i};
	if (key)
		trc_keys_sort(key, key + tracks->n_shown, tracks->n_shown);
	for (uint32_t i = 0; key && i < tracks->n_shown; i++)
		trc_column_add(&id, tracks->shown[key[i].row].row + 1);
	r->failed |= !key;
	free(key);
	trc_rows_columns(r, &id, 1);
}

enum park_column {
	PARK_THREAD,
	PARK_FLAGS,
	PARK_STACK,
	PARK_OBJECT,
	PARK_HOLDER,
	PARK_WAKER,
	PARK_WAKER_STACK,
	PARK_UNLOCK,
	PARK_PROC,
	PARK_RESULT,
	PARK_DESCRIPTOR,
	PARK_SET,
	PARK_COLUMNS
};

static const struct park_column_row {
	const char *name;
	enum trc_column_type type;
	enum { IN_ORDER, BY_REASON, BY_STACK } streams; /* rows:V3 */
} park_columns[PARK_COLUMNS] = {
	[PARK_THREAD] = {"park.thread", TRC_COLUMN_VARINT, IN_ORDER},
	[PARK_FLAGS] = {"park.flags", TRC_COLUMN_BYTES, IN_ORDER},
	[PARK_STACK] = {"park.stack", TRC_COLUMN_VARINT, BY_REASON},
	[PARK_OBJECT] = {"park.object", TRC_COLUMN_VARINT, BY_STACK},
	[PARK_HOLDER] = {"park.holder", TRC_COLUMN_VARINT, BY_STACK},
	[PARK_WAKER] = {"park.waker", TRC_COLUMN_VARINT, BY_STACK},
	[PARK_WAKER_STACK] = {"park.waker_stack", TRC_COLUMN_VARINT, BY_STACK},
	[PARK_UNLOCK] = {"park.unlock", TRC_COLUMN_VARINT, IN_ORDER},
	[PARK_PROC] = {"park.proc", TRC_COLUMN_VARINT, IN_ORDER},
	[PARK_RESULT] = {"park.result", TRC_COLUMN_VARINT, BY_STACK},
	[PARK_DESCRIPTOR] = {"park.descriptor", TRC_COLUMN_VARINT, BY_STACK},
	[PARK_SET] = {"park.set", TRC_COLUMN_VARINT, IN_ORDER},
};

static uint64_t park_value(struct trc_rows *r, const struct trc_park *p, enum park_column column)
{
	size_t n_unlocks;

	switch (column) {
	case PARK_THREAD:
		return trc_rows_thread(r, p->thread);
	case PARK_FLAGS:
		return park_flags(r, p);
	case PARK_STACK:
		return p->stack;
	case PARK_OBJECT:
		return trc_rows_object(r, p->object, p->stack);
	case PARK_HOLDER:
		return trc_rows_thread(r, p->holder);
	case PARK_WAKER:
		return trc_rows_thread(r, p->waker);
	case PARK_WAKER_STACK:
		return p->waker_stack;
	case PARK_UNLOCK:
		trc_model_unlocks(r->m, &n_unlocks);
		return p->unlock && p->unlock <= n_unlocks ? r->unlock_idx[p->unlock - 1] : 0;
	case PARK_PROC:
		return p->proc == TRC_NO_PROC ? 0 : p->proc + 1;
	case PARK_RESULT:
		return p->result < 0 ? 0 : (uint64_t)p->result + 1;
	case PARK_DESCRIPTOR:
		return trc_rows_descriptor(r, p->descriptor, p->reason);
	case PARK_SET:
		return trc_park_labels(r->m, p);
	case PARK_COLUMNS:
		break;
	}
	return 0;
}

/* The waits that the page has, and the model's. */
struct page_parks {
	const struct trc_park *all;
	const struct trc_shown_park *shown;
	uint32_t n;
	uint32_t *place, *value; /* [n], scratch; owned */
};

static const struct trc_park *page_park(const struct page_parks *w, uint32_t i)
{
	return &w->all[w->shown[i].row];
}

/* Streams by stack are also by reason while there are not too many. */
enum { STREAM_REASONS = 256, STREAMS_MAX = 1 << 22 };

static size_t park_stream(const struct trc_park *p, size_t n_stacks)
{
	if (!n_stacks)
		return p->reason;
	return n_stacks <= STREAMS_MAX / STREAM_REASONS
		       ? (size_t)p->stack * STREAM_REASONS + p->reason
		       : p->stack;
}

/* rows:V3: place[i] of each wait's value among the streams. */
static bool streams_place(struct page_parks *w, bool by_stack)
{
	size_t n_stacks = 0, most = 0;
	uint32_t sum = 0, *next;

	for (uint32_t i = 0; by_stack && i < w->n; i++)
		if (page_park(w, i)->stack >= n_stacks)
			n_stacks = (size_t)page_park(w, i)->stack + 1;
	for (uint32_t i = 0; i < w->n; i++)
		if (park_stream(page_park(w, i), n_stacks) > most)
			most = park_stream(page_park(w, i), n_stacks);
	next = calloc(most + 1, sizeof(*next));
	if (!next)
		return false;
	for (uint32_t i = 0; i < w->n; i++)
		next[park_stream(page_park(w, i), n_stacks)]++;
	for (size_t k = 0; k <= most; k++) {
		uint32_t own = next[k];

		next[k] = sum;
		sum += own;
	}
	for (uint32_t i = 0; i < w->n; i++)
		w->place[i] = next[park_stream(page_park(w, i), n_stacks)]++;
	free(next);
	return true;
}

static void write_park_column(struct trc_rows *r, struct page_parks *w, enum park_column column)
{
	const struct park_column_row *row = &park_columns[column];
	struct trc_column c = trc_column_make(row->name, row->type);

	for (uint32_t i = 0; i < w->n; i++) {
		uint64_t value = park_value(r, page_park(w, i), column);

		if (row->streams == IN_ORDER)
			trc_column_add(&c, value);
		else
			w->value[w->place[i]] = (uint32_t)value;
	}
	for (uint32_t i = 0; i < w->n && row->streams != IN_ORDER; i++)
		trc_column_add(&c, w->value[i]);
	trc_page_column(r->page, &c);
}

static void write_park_columns(struct trc_rows *r, struct page_parks *w)
{
	w->place = malloc(((size_t)w->n + 1) * sizeof(*w->place));
	w->value = malloc(((size_t)w->n + 1) * sizeof(*w->value));
	for (int streams = IN_ORDER; streams <= BY_STACK && !r->failed; streams++) {
		r->failed = !w->place || !w->value ||
			    (streams != IN_ORDER && !streams_place(w, streams == BY_STACK));
		for (int k = 0; k < PARK_COLUMNS && !r->failed; k++)
			if ((int)park_columns[k].streams == streams)
				write_park_column(r, w, (enum park_column)k);
	}
	free(w->place);
	free(w->value);
}

void trc_rows_parks(struct trc_rows *r, const struct trc_tracks *tracks)
{
	size_t n;
	struct page_parks w = {
		.all = trc_model_parks(r->m, &n), .shown = tracks->shown, .n = tracks->n_shown};

	for (uint32_t i = 0; i < tracks->n_shown; i++)
		r->park_idx[tracks->shown[i].row] = i + 1;
	TRC_CUT_EACH (i, r->cut, TRC_SELECTED_PARKS, n)
		if (!r->park_idx[i])
			trc_rows_leave_out(r, TRC_ROWS_PARKS, i, n);
	write_park_columns(r, &w);
	write_park_times(r, tracks);
	write_park_ids(r, tracks);
}
