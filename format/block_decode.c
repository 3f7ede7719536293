/* block_decode.c - events of BLOCK sections to columns; see reader.h and format.md, "Blocks". */
#include <errno.h>
#include <inttypes.h>
#include <lz4.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include "block_head.h"
#include "check.h"
#include "column.h"

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
	struct trc_block_head h;
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

static bool decode_kind_wanted(const struct load *l, unsigned int kind)
{
	if (!l->h.count[kind] || !(l->want & TRC_WANT_ARGS))
		return false;
	return !l->kinds || (l->kinds->bits[kind / 64] >> kind % 64 & 1);
}

/* The first column of the directory that is this one; false if there is none. */
static bool find_column(const struct load *l, uint8_t what, uint8_t kind, uint8_t arg,
			struct trc_block_column *column)
{
	struct trc_cursor c = l->directory;
	const uint8_t *bytes = l->b->payload + l->h.head_bytes;

	for (uint32_t i = 0; i < l->h.n_columns; i++) {
		trc_block_take_column(&c, column);
		column->bytes = bytes;
		if (column->what == what && column->kind == kind && column->arg == arg)
			return true;
		bytes += column->stored_bytes;
	}
	return false;
}

/* n words of the result; they have been counted by load_bytes_needed(). */
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
static int column_unpack(struct load *l, const struct trc_block_column *column, const uint8_t **raw)
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

static int column_load(struct load *l, const struct trc_block_column *column, uint64_t *value,
		       uint32_t n)
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
	struct trc_block_column column;

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
	struct trc_block_column column;
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
	struct trc_block_column lengths, bytes;
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
static size_t load_bytes_needed(const struct load *l, size_t *raw_bytes)
{
	struct trc_cursor c = l->directory;
	size_t words = 4 * ((size_t)l->h.n_events + 1); /* kind, rank, time, thread, proc */

	*raw_bytes = 0;
	for (unsigned int k = 0; k <= TRC_KIND_MAX; k++)
		if (decode_kind_wanted(l, k))
			words += (size_t)trc_reader_kind(l->r, k)->n_args *
				 ((size_t)l->h.count[k] + 1);
	for (uint32_t i = 0; i < l->h.n_columns; i++) {
		struct trc_block_column column;

		trc_block_take_column(&c, &column);
		if (column.packed && column.raw_bytes > *raw_bytes)
			*raw_bytes = column.raw_bytes;
		if (column.what == TRC_COLUMN_TEXT && decode_kind_wanted(l, column.kind))
			words += column.raw_bytes / 8 + 1;
	}
	return words;
}

static int load_alloc(struct load *l)
{
	size_t raw_bytes, n = l->h.n_events;
	size_t words = load_bytes_needed(l, &raw_bytes);
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
		if (decode_kind_wanted(l, k))
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
	if (l.b->info.damaged)
		return trc_block_load_damaged(l.b, out, error);
	l.directory = (struct trc_cursor){l.b->payload, l.b->payload + l.b->payload_bytes, false};
	trc_block_take_head(&l.directory, &l.h);
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
