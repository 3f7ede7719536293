/* block_decode.c - BLOCK sections to columns; see reader.h and format.md, "Blocks". */
#include <errno.h>
#include <inttypes.h>
#include <lz4.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include "check.h"
#include "column.h"
#include "reader_private.h"

/* An entry of the directory. */
struct column {
	uint8_t what, kind, arg, coding;
	bool packed;
	uint32_t raw_bytes, stored_bytes, check;
	const uint8_t *bytes;
};

/* What comes before the directory. */
struct head {
	uint32_t head_bytes, proc, n_events, n_columns;
	uint8_t source;
	uint64_t first, last;
	uint32_t count[TRC_KIND_MAX + 1];
};

/* --- the head --- */

/* Kinds rise, none has 0 events, all together have n_events. */
static void take_counts(struct trc_cursor *c, struct head *h)
{
	uint64_t n_kinds = trc_cursor_varint_max(c, TRC_KIND_MAX);
	uint64_t total = 0;
	unsigned int last = 0;

	memset(h->count, 0, sizeof(h->count));
	for (uint64_t i = 0; i < n_kinds && !c->bad; i++) {
		unsigned int kind = trc_cursor_u8(c);
		uint64_t n = trc_cursor_varint_max(c, TRC_BLOCK_EVENTS_MAX);

		if (kind <= last || !n)
			c->bad = true;
		h->count[kind] = (uint32_t)n;
		total += n;
		last = kind;
	}
	if (total != h->n_events)
		c->bad = true;
}

static void take_head(struct trc_cursor *c, struct head *h)
{
	uint64_t proc, span;

	h->head_bytes = trc_cursor_u32(c);
	h->source = trc_cursor_u8(c);
	proc = trc_cursor_varint_max(c, TRC_PROCS_MAX);
	h->proc = proc ? (uint32_t)proc - 1 : TRC_PROC_PER_EVENT;
	h->n_events = (uint32_t)trc_cursor_varint_max(c, TRC_BLOCK_EVENTS_MAX);
	h->first = trc_cursor_varint(c);
	span = trc_cursor_varint(c);
	h->last = h->first + span;
	if (h->last < h->first || !h->n_events || h->source > TRC_SOURCE_KERNEL)
		c->bad = true;
	take_counts(c, h);
	h->n_columns = (uint32_t)trc_cursor_varint_max(c, TRC_BLOCK_COLUMNS_MAX);
}

static void take_column(struct trc_cursor *c, struct column *column)
{
	memset(column, 0, sizeof(*column));
	column->what = trc_cursor_u8(c);
	if (column->what >= TRC_COLUMN_ARG) {
		column->kind = trc_cursor_u8(c);
		column->arg = trc_cursor_u8(c);
	}
	column->coding = trc_cursor_u8(c);
	column->packed = column->coding & TRC_CODING_LZ4;
	column->coding &= (uint8_t)~TRC_CODING_LZ4;
	column->raw_bytes = (uint32_t)trc_cursor_varint_max(c, TRC_SECTION_BYTES_MAX);
	column->stored_bytes = column->raw_bytes;
	if (column->packed)
		column->stored_bytes = (uint32_t)trc_cursor_varint_max(c, TRC_SECTION_BYTES_MAX);
	column->check = trc_cursor_u32(c);
}

/* How many numbers the column holds; 0 for bytes, and for what we do not know. */
static uint32_t column_values(const struct head *h, const struct column *column)
{
	switch ((enum trc_column_what)column->what) {
	case TRC_COLUMN_KIND:
	case TRC_COLUMN_TIME:
	case TRC_COLUMN_THREAD:
	case TRC_COLUMN_PROC:
		return h->n_events;
	case TRC_COLUMN_ARG:
		return h->count[column->kind];
	case TRC_COLUMN_TEXT:
		break;
	}
	return 0;
}

/* Whether its sizes are possible at all: before anything is allocated for it. */
static bool column_is_sane(const struct head *h, const struct column *column, uint64_t *text_bytes)
{
	uint32_t n = column_values(h, column);

	if (column->packed &&
	    (!column->stored_bytes || column->raw_bytes / TRC_LZ4_RATIO_MAX > column->stored_bytes))
		return false;
	if (n && column->raw_bytes > trc_column_bytes_max(n))
		return false;
	if (column->what == TRC_COLUMN_TEXT)
		*text_bytes += column->raw_bytes;
	return *text_bytes <= TRC_BLOCK_TEXT_BYTES_MAX;
}

/* Walks the directory; the columns must fill the payload behind the head exactly. */
static bool check_directory(struct trc_cursor *c, const struct head *h, size_t payload_bytes)
{
	uint64_t off = h->head_bytes, text_bytes = 0;
	unsigned int seen = 0;

	for (uint32_t i = 0; i < h->n_columns; i++) {
		struct column column;

		take_column(c, &column);
		if (c->bad || !column_is_sane(h, &column, &text_bytes))
			return false;
		off += column.stored_bytes;
		if (column.what < TRC_COLUMN_ARG)
			seen |= 1u << column.what;
	}
	if (!(seen & 1u << TRC_COLUMN_KIND) || !(seen & 1u << TRC_COLUMN_TIME) ||
	    !(seen & 1u << TRC_COLUMN_THREAD))
		return false;
	if (h->proc == TRC_PROC_PER_EVENT && !(seen & 1u << TRC_COLUMN_PROC))
		return false;
	return off == payload_bytes && !c->bad && !trc_cursor_left(c);
}

int trc_reader_parse_block(struct trc_reader *r, const uint8_t *payload, size_t n_bytes,
			   uint64_t file_off, uint64_t file_bytes)
{
	struct trc_cursor c = {payload, payload + n_bytes, false};
	struct trc_block *b;
	struct head h;

	take_head(&c, &h);
	if (c.bad || h.head_bytes > n_bytes || h.head_bytes > TRC_BLOCK_HEAD_BYTES_MAX ||
	    h.head_bytes < (size_t)(c.pos - payload))
		return -EBADMSG;
	if (h.proc != TRC_PROC_PER_EVENT && h.proc >= r->info.n_procs)
		return -EBADMSG;
	c.end = payload + h.head_bytes;
	if (!check_directory(&c, &h, n_bytes) ||
	    trc_reader_check_events(r, r->info.n_events + h.n_events))
		return -EBADMSG;
	if (TRC_RESERVE(r->blocks, 1) || TRC_RESERVE(r->kind_counts, TRC_KIND_MAX + 1))
		return -ENOMEM;
	memcpy(r->kind_counts.at + r->kind_counts.n, h.count, sizeof(h.count));
	r->kind_counts.n += TRC_KIND_MAX + 1;
	b = &r->blocks.at[r->blocks.n++];
	memset(b, 0, sizeof(*b));
	b->info.proc = h.proc;
	b->info.source = h.source;
	b->info.generation = (uint32_t)r->info.n_generations;
	b->info.n_events = h.n_events;
	b->info.file_off = file_off;
	b->info.file_bytes = file_bytes;
	b->payload = payload;
	b->payload_bytes = n_bytes;
	b->first = h.first;
	b->last = h.last;
	r->info.n_events += h.n_events;
	return 0;
}

/* --- loading --- */

/* The columns and everything that they point to: one allocation. */
struct loaded {
	struct trc_columns columns;
	const uint64_t *arg[TRC_KIND_MAX + 1][TRC_ARGS_MAX];
	uint64_t words[];
};

/* The state of one trc_reader_load(). */
struct load {
	const struct trc_reader *r;
	const struct trc_block *b;
	struct head h;
	unsigned int want;
	const struct trc_kind_mask *kinds;
	struct trc_cursor directory; /* at its first entry */
	struct loaded *out;
	uint64_t *next, *limit; /* free words of out->words */
	uint64_t *ticks;	/* [n_events], of the events as in the file; NULL = not decoded */
	uint64_t *value;	/* [n_events], scratch */
	uint8_t *raw;		/* scratch for unpacking */
	uint64_t dangling_ids;
	struct trc_error *error;
};

static int bad_block(const struct load *l, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static int bad_block(const struct load *l, const char *format, ...)
{
	char what[160];
	va_list args;

	va_start(args, format);
	vsnprintf(what, sizeof(what), format, args);
	va_end(args);
	snprintf(l->error->text, sizeof(l->error->text), "block %zu: %s",
		 (size_t)(l->b - l->r->blocks.at), what);
	return -EBADMSG;
}

static bool kind_wanted(const struct load *l, unsigned int kind)
{
	if (!l->h.count[kind] || !(l->want & TRC_WANT_ARGS))
		return false;
	return !l->kinds || (l->kinds->bits[kind / 64] >> kind % 64 & 1);
}

/* The first column of the directory that is this one; false if there is none. */
static bool find_column(const struct load *l, uint8_t what, uint8_t kind, uint8_t arg,
			struct column *column)
{
	struct trc_cursor c = l->directory;
	const uint8_t *bytes = l->b->payload + l->h.head_bytes;

	for (uint32_t i = 0; i < l->h.n_columns; i++) {
		take_column(&c, column);
		column->bytes = bytes;
		if (column->what == what && column->kind == kind && column->arg == arg)
			return true;
		bytes += column->stored_bytes;
	}
	return false;
}

/* n words of the result; they have been counted by load_words(). */
static uint64_t *take_words(struct load *l, size_t n)
{
	uint64_t *words = l->next;

	if (n > (size_t)(l->limit - l->next))
		return NULL;
	l->next += n;
	return words;
}

static void *take_array(struct load *l, size_t n, size_t element_bytes)
{
	return take_words(l, (n * element_bytes + 7) / 8);
}

/* Checks the column and undoes LZ4; *raw lives until the next call. */
static int column_unpack(struct load *l, const struct column *column, const uint8_t **raw)
{
	if ((uint32_t)trc_check64(column->bytes, column->stored_bytes, 0) != column->check)
		return bad_block(l, "checksum mismatch");
	*raw = column->bytes;
	if (!column->packed)
		return 0;
	if (LZ4_decompress_safe((const char *)column->bytes, (char *)l->raw,
				(int)column->stored_bytes,
				(int)column->raw_bytes) != (int)column->raw_bytes)
		return bad_block(l, "a column does not unpack");
	*raw = l->raw;
	return 0;
}

static int column_load(struct load *l, const struct column *column, uint64_t *value, uint32_t n)
{
	const uint8_t *raw;
	int err = column_unpack(l, column, &raw);

	if (!err && trc_column_decode((enum trc_coding)column->coding, raw, column->raw_bytes,
				      value, n) < 0)
		err = bad_block(l, "a column does not decode");
	return err;
}

static int fixed_load(struct load *l, uint8_t what, uint64_t *value)
{
	struct column column;

	if (!find_column(l, what, 0, 0, &column))
		return bad_block(l, "a column is missing");
	return column_load(l, &column, value, l->h.n_events);
}

/* Kinds, and the rank of each event among those of its kind. */
static int load_kinds(struct load *l)
{
	uint32_t n = l->h.n_events, seen[TRC_KIND_MAX + 1] = {0};
	uint8_t *kind = take_array(l, n, sizeof(*kind));
	uint32_t *rank = take_array(l, n, sizeof(*rank));
	int err = fixed_load(l, TRC_COLUMN_KIND, l->value);

	if (err)
		return err;
	for (uint32_t i = 0; i < n; i++) {
		if (l->value[i] > TRC_KIND_MAX)
			return bad_block(l, "an event of no kind");
		kind[i] = (uint8_t)l->value[i];
		rank[i] = seen[kind[i]]++;
	}
	if (memcmp(seen, l->h.count, sizeof(seen)))
		return bad_block(l, "its kinds are not those that it announces");
	l->out->columns.kind = kind;
	l->out->columns.rank = rank;
	return 0;
}

static int load_ticks(struct load *l)
{
	uint32_t n = l->h.n_events;
	int err = fixed_load(l, TRC_COLUMN_TIME, l->ticks);
	bool falls = false;

	if (err)
		return err;
	for (uint32_t i = 1; i < n; i++)
		falls |= l->ticks[i] < l->ticks[i - 1];
	if (falls || l->ticks[0] != l->h.first || l->ticks[n - 1] != l->h.last)
		return bad_block(l, "its times are not those that it announces");
	return 0;
}

static int load_threads(struct load *l)
{
	uint32_t n = l->h.n_events;
	uint32_t *thread = take_array(l, n, sizeof(*thread));
	uint64_t last = 0;
	int err = fixed_load(l, TRC_COLUMN_THREAD, l->value);

	if (err)
		return err;
	for (uint32_t i = 0; i < n; i++) {
		uint64_t serial = l->value[i];

		if (serial != last && serial && !trc_reader_has_serial(l->r, serial)) {
			l->dangling_ids++;
			serial = 0;
		}
		last = serial;
		thread[i] = (uint32_t)serial;
	}
	l->out->columns.thread = thread;
	return 0;
}

static int load_procs(struct load *l)
{
	uint32_t n = l->h.n_events;
	uint32_t *proc = take_array(l, n, sizeof(*proc));
	int err;

	l->out->columns.proc = proc;
	if (l->h.proc != TRC_PROC_PER_EVENT) {
		for (uint32_t i = 0; i < n; i++)
			proc[i] = l->h.proc;
		return 0;
	}
	err = fixed_load(l, TRC_COLUMN_PROC, l->value);
	for (uint32_t i = 0; i < n && !err; i++) {
		if (l->value[i] >= l->r->info.n_procs)
			err = bad_block(l, "an event of proc %" PRIu64, l->value[i]);
		proc[i] = (uint32_t)l->value[i];
	}
	return err;
}

/* reader:D4: ids without an entry become 0. */
static void check_ids(struct load *l, enum trc_arg_type type, uint64_t *id, uint32_t n)
{
	bool (*has)(const struct trc_reader *r, uint64_t id) =
		type == TRC_ARG_STACK	 ? trc_reader_has_stack
		: type == TRC_ARG_STRING ? trc_reader_has_string
		: type == TRC_ARG_THREAD ? trc_reader_has_serial
		: type == TRC_ARG_LABELS ? trc_reader_has_label_set
					 : NULL;
	uint64_t last = 0;

	if (!has)
		return;
	for (uint32_t i = 0; i < n; i++) {
		if (id[i] == last)
			continue;
		if (id[i] && !has(l->r, id[i])) {
			id[i] = 0;
			l->dangling_ids++;
		}
		last = id[i];
	}
}

void trc_reader_times_ns(const struct trc_reader *r, uint8_t source, uint64_t *time, size_t n)
{
	if (source != TRC_SOURCE_KERNEL) {
		trc_clockmap_convert(&r->clock, time, n);
		return;
	}
	for (size_t i = 0; i < n; i++)
		time[i] = (uint64_t)trc_reader_time_ns(r, source, time[i]);
}

int64_t trc_reader_time_ns(const struct trc_reader *r, uint8_t source, uint64_t time)
{
	if (source != TRC_SOURCE_KERNEL)
		return trc_clockmap_ns(&r->clock, time);
	return trc_clock_clamp_ns((__int128)time - r->info.start_monotonic_raw_ns);
}

/* Distances from the event's own time to trace time. */
static void finish_ticks(struct load *l, unsigned int kind, uint64_t *value, uint32_t n)
{
	uint32_t rank = 0;

	for (uint32_t i = 0; i < l->h.n_events && rank < n; i++)
		if (l->out->columns.kind[i] == kind) {
			value[rank] = l->ticks[i] - value[rank];
			rank++;
		}
	trc_reader_times_ns(l->r, l->h.source, value, n);
}

/* Tids to serials, 0 where there is no such thread. */
static void finish_tids(struct load *l, unsigned int kind, uint64_t *value, uint32_t n)
{
	uint32_t rank = 0;
	uint64_t n_tids = 0;

	for (uint32_t i = 0; i < n; i++)
		n_tids += value[i] >> 63;
	if (!n_tids || l->h.source == TRC_SOURCE_KERNEL)
		return;
	for (uint32_t i = 0; i < l->h.n_events && rank < n; i++) {
		if (l->out->columns.kind[i] != kind)
			continue;
		if (value[rank] >> 32 == TRC_THREAD_IS_TID >> 32)
			value[rank] =
				trc_reader_serial_of(l->r, (uint32_t)value[rank], l->ticks[i]);
		rank++;
	}
}

static int load_arg(struct load *l, unsigned int kind, unsigned int a, enum trc_arg_type type)
{
	uint32_t n = l->h.count[kind];
	struct column column;
	uint64_t *value;
	int err;

	if (!find_column(l, TRC_COLUMN_ARG, (uint8_t)kind, (uint8_t)a, &column))
		return 0;
	value = take_words(l, n);
	err = column_load(l, &column, value, n);
	if (err)
		return err;
	if (type == TRC_ARG_TICKS)
		finish_ticks(l, kind, value, n);
	if (type == TRC_ARG_THREAD)
		finish_tids(l, kind, value, n);
	check_ids(l, type, value, n);
	l->out->arg[kind][a] = value;
	return 0;
}

static int load_text(struct load *l, unsigned int kind, unsigned int a)
{
	uint32_t n = l->h.count[kind];
	struct column lengths, bytes;
	const uint8_t *raw;
	uint32_t *off;
	uint64_t total = 0;
	char *text;
	int err;

	if (!find_column(l, TRC_COLUMN_ARG, (uint8_t)kind, (uint8_t)a, &lengths) ||
	    !find_column(l, TRC_COLUMN_TEXT, (uint8_t)kind, (uint8_t)a, &bytes))
		return 0;
	err = column_load(l, &lengths, l->value, n);
	if (err)
		return err;
	off = take_array(l, (size_t)n + 1, sizeof(*off));
	for (uint32_t i = 0; i < n; i++) {
		off[i] = (uint32_t)total;
		if (l->value[i] > bytes.raw_bytes - total)
			return bad_block(l, "text is shorter than announced");
		total += l->value[i];
	}
	off[n] = (uint32_t)total;
	if (total != bytes.raw_bytes || bytes.coding != TRC_CODING_BYTES)
		return bad_block(l, "text is longer than announced");
	err = column_unpack(l, &bytes, &raw);
	if (err)
		return err;
	text = take_array(l, (size_t)total, 1);
	memcpy(text, raw, (size_t)total);
	l->out->columns.text[kind] = text;
	l->out->columns.text_off[kind] = off;
	return 0;
}

static int load_kind_args(struct load *l, unsigned int kind)
{
	const struct trc_kind_info *info = trc_reader_kind(l->r, kind);
	int err = 0;

	l->out->columns.arg[kind] = l->out->arg[kind];
	for (unsigned int a = 0; a < info->n_args && !err; a++)
		err = info->arg[a].type == TRC_ARG_TEXT ? load_text(l, kind, a)
							: load_arg(l, kind, a, info->arg[a].type);
	return err;
}

/* What the result takes, and the most that unpacking takes. */
static size_t load_words(const struct load *l, size_t *raw_bytes)
{
	struct trc_cursor c = l->directory;
	size_t words = 4 * ((size_t)l->h.n_events + 1); /* kind, rank, time, thread, proc */

	*raw_bytes = 0;
	for (unsigned int k = 0; k <= TRC_KIND_MAX; k++)
		if (kind_wanted(l, k))
			words += (size_t)trc_reader_kind(l->r, k)->n_args *
				 ((size_t)l->h.count[k] + 1);
	for (uint32_t i = 0; i < l->h.n_columns; i++) {
		struct column column;

		take_column(&c, &column);
		if (column.packed && column.raw_bytes > *raw_bytes)
			*raw_bytes = column.raw_bytes;
		if (column.what == TRC_COLUMN_TEXT && kind_wanted(l, column.kind))
			words += column.raw_bytes / 8 + 1;
	}
	return words;
}

static int load_alloc(struct load *l)
{
	size_t raw_bytes, n = l->h.n_events;
	size_t words = load_words(l, &raw_bytes);
	uint64_t *scratch = malloc(2 * n * sizeof(*scratch) + raw_bytes);

	l->out = malloc(sizeof(*l->out) + words * sizeof(uint64_t));
	if (!l->out || !scratch) {
		free(l->out);
		free(scratch);
		snprintf(l->error->text, sizeof(l->error->text), "out of memory");
		return -ENOMEM;
	}
	memset(l->out, 0, sizeof(*l->out));
	l->out->columns.n_events = l->h.n_events;
	l->next = l->out->words;
	l->limit = l->next + words;
	l->value = scratch;
	l->ticks = scratch + n;
	l->raw = (uint8_t *)(scratch + 2 * n);
	return 0;
}

static int load_all(struct load *l)
{
	int err = load_procs(l);

	if (!err && (l->want & (TRC_WANT_KIND | TRC_WANT_ARGS)))
		err = load_kinds(l);
	if (!err && (l->want & (TRC_WANT_TIME | TRC_WANT_ARGS)))
		err = load_ticks(l);
	if (!err && (l->want & TRC_WANT_THREAD))
		err = load_threads(l);
	for (unsigned int k = 0; k <= TRC_KIND_MAX && !err; k++)
		if (kind_wanted(l, k))
			err = load_kind_args(l, k);
	if (!err && (l->want & TRC_WANT_TIME)) {
		uint64_t *time = take_words(l, l->h.n_events);

		memcpy(time, l->ticks, l->h.n_events * sizeof(*time));
		trc_reader_times_ns(l->r, l->h.source, time, l->h.n_events);
		l->out->columns.time_ns = (const int64_t *)time;
	}
	return err;
}

/* Adds to the total what no load of this block has found before. */
static void count_dangling(const struct trc_reader *reader, size_t i, uint64_t found)
{
	/* The one thing that changes after open; relaxed: a count that orders nothing. */
	struct trc_reader *r = (struct trc_reader *)(uintptr_t)reader;
	uint64_t *most = &r->blocks.at[i].dangling_ids;
	uint64_t before = __atomic_load_n(most, __ATOMIC_RELAXED);

	while (found > before)
		if (__atomic_compare_exchange_n(most, &before, found, true, __ATOMIC_RELAXED,
						__ATOMIC_RELAXED)) {
			__atomic_fetch_add(&r->info.dangling_ids, found - before, __ATOMIC_RELAXED);
			break;
		}
}

int trc_reader_load(const struct trc_reader *r, size_t i, unsigned int want,
		    const struct trc_kind_mask *kinds, struct trc_columns **out,
		    struct trc_error *error)
{
	struct load l = {.r = r, .want = want, .kinds = kinds, .error = error};
	int err;

	if (i >= r->blocks.n) {
		snprintf(error->text, sizeof(error->text), "block %zu: there is none", i);
		return -EINVAL;
	}
	l.b = &r->blocks.at[i];
	l.directory = (struct trc_cursor){l.b->payload, l.b->payload + l.b->payload_bytes, false};
	take_head(&l.directory, &l.h);
	err = load_alloc(&l);
	if (err)
		return err;
	err = load_all(&l);
	free(l.value);
	if (err) {
		free(l.out);
		return err;
	}
	count_dangling(r, i, l.dangling_ids);
	*out = &l.out->columns;
	return 0;
}

void trc_columns_free(struct trc_columns *columns)
{
	free(columns); /* the first member of struct loaded */
}

size_t trc_reader_blocks(const struct trc_reader *r)
{
	return r->blocks.n;
}

const struct trc_block_info *trc_reader_block(const struct trc_reader *r, size_t i)
{
	return &r->blocks.at[i].info;
}
