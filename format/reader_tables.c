/* reader_tables.c - the sections with tables, and what reader.h says about them. */
#include <errno.h>
#include <stdlib.h>
#include "reader_private.h"

enum {
	SERIAL_BITS_MAX = 1 << 24,
	INFO_KEYS_MAX = 1024,
};

/* Values of keys, and paths, become C strings: copied, with a zero behind. */
static const char *keep_text(struct trc_reader *r, const uint8_t *bytes, size_t n_bytes)
{
	uint8_t *copy = trc_reader_keep(r, n_bytes + 1);

	if (!copy)
		return NULL;
	memcpy(copy, bytes, n_bytes);
	copy[n_bytes] = 0;
	return (const char *)copy;
}

const char *trc_reader_take_text(struct trc_reader *r, struct trc_cursor *c, int *err)
{
	uint64_t n_bytes = trc_cursor_varint(c);
	const uint8_t *bytes = trc_cursor_take(c, n_bytes);
	const char *text = bytes ? keep_text(r, bytes, (size_t)n_bytes) : NULL;

	if (!bytes)
		*err = -EBADMSG;
	else if (!text)
		*err = -ENOMEM;
	return text;
}

int trc_reader_parse_info(struct trc_reader *r, struct trc_cursor *c)
{
	int err = 0;

	while (!err && trc_cursor_left(c)) {
		const char *key = trc_reader_take_text(r, c, &err);
		const char *value = err ? NULL : trc_reader_take_text(r, c, &err);
		size_t i = 0;

		if (!err)
			err = TRC_RESERVE(r->infos, 1);
		if (err)
			break;
		while (i < r->infos.n && strcmp(r->infos.at[i].key, key))
			i++;
		if (i == INFO_KEYS_MAX)
			return -EBADMSG;
		r->infos.at[i].key = key;
		r->infos.at[i].value = value;
		r->infos.n += i == r->infos.n;
	}
	return err;
}

int trc_reader_parse_sync(struct trc_reader *r, struct trc_cursor *c)
{
	struct trc_sync_point s;

	s.ticks = trc_cursor_varint(c);
	s.monotonic_raw_ns = trc_cursor_varint(c);
	s.monotonic_ns = trc_cursor_varint(c);
	s.realtime_ns = trc_cursor_varint(c);
	s.uncertainty_ns = trc_cursor_varint(c);
	if (c->bad)
		return -EBADMSG;
	/* Repeated at the start of a generation. */
	if (r->syncs.n && !memcmp(&r->syncs.at[r->syncs.n - 1], &s, sizeof(s)))
		return 0;
	if (TRC_RESERVE(r->syncs, 1))
		return -ENOMEM;
	r->syncs.at[r->syncs.n++] = s;
	return 0;
}

/* An id, told by its distance from the one before; ids without a hole: `highest` + 1 at most. */
static uint64_t entry_id_take(struct trc_cursor *c, uint64_t *last, size_t n_ids)
{
	uint64_t highest = n_ids ? n_ids - 1 : 0;

	*last += trc_unzigzag(trc_cursor_varint(c));
	if (!*last || *last > highest + 1 || *last > TRC_TABLE_IDS_MAX)
		c->bad = true;
	return *last;
}

int trc_reader_parse_strings(struct trc_reader *r, struct trc_cursor *c)
{
	uint64_t id = 0;

	while (trc_cursor_left(c)) {
		struct trc_string_view view, *entry;

		entry_id_take(c, &id, r->strings.n);
		view.n_bytes = (uint32_t)trc_cursor_varint_max(c, TRC_SECTION_BYTES_MAX);
		view.bytes = trc_cursor_take(c, view.n_bytes);
		if (c->bad || trc_reader_count_entry(r))
			return -EBADMSG;
		if (TRC_RESERVE(r->strings, 2))
			return -ENOMEM;
		while (r->strings.n <= id)
			r->strings.at[r->strings.n++] = (struct trc_string_view){0};
		entry = &r->strings.at[id];
		if (!entry->bytes)
			*entry = view;
		else if (entry->n_bytes != view.n_bytes ||
			 memcmp(entry->bytes, view.bytes, view.n_bytes))
			trc_reader_warn(r, "string %u has two meanings: the first is taken",
					(unsigned int)id);
	}
	return 0;
}

/* The frames of a stack, behind those that are there; they stay if the entry is taken. */
static int entry_frames_take(struct trc_reader *r, struct trc_cursor *c, uint32_t n_frames)
{
	uint64_t last = 0;

	if (trc_reader_count_parts(r, n_frames))
		return -EBADMSG;
	if (TRC_RESERVE(r->frames, n_frames))
		return -ENOMEM;
	for (uint32_t i = 0; i < n_frames; i++) {
		last += trc_unzigzag(trc_cursor_varint(c));
		r->frames.at[r->frames.n + i] = last;
	}
	return c->bad ? -EBADMSG : 0;
}

static bool same_stack(const struct trc_reader *r, const struct trc_stack_place *l,
		       const struct trc_stack_place *s)
{
	return l->epoch == s->epoch && l->n_frames == s->n_frames &&
	       !memcmp(r->frames.at + l->frame_idx, r->frames.at + s->frame_idx,
		       l->n_frames * sizeof(uint64_t));
}

int trc_reader_parse_stacks(struct trc_reader *r, struct trc_cursor *c)
{
	uint64_t id = 0;

	while (trc_cursor_left(c)) {
		struct trc_stack_place place = {.frame_idx = r->frames.n, .present = true};
		struct trc_stack_place *entry;
		int err;

		entry_id_take(c, &id, r->stacks.n);
		place.epoch = (uint32_t)trc_cursor_varint_max(c, UINT32_MAX);
		place.n_frames = (uint16_t)trc_cursor_varint_max(c, TRC_STACK_DEPTH_MAX);
		err = c->bad ? -EBADMSG : trc_reader_count_entry(r);
		if (!err)
			err = entry_frames_take(r, c, place.n_frames);
		if (!err)
			err = TRC_RESERVE(r->stacks, 2);
		if (err)
			return err;
		while (r->stacks.n <= id)
			r->stacks.at[r->stacks.n++] = (struct trc_stack_place){0};
		entry = &r->stacks.at[id];
		if (!entry->present) {
			*entry = place;
			r->frames.n += place.n_frames;
		} else if (!same_stack(r, entry, &place)) {
			trc_reader_warn(r, "stack %u has two meanings: the first is taken",
					(unsigned int)id);
		}
	}
	return 0;
}

int trc_reader_parse_threads(struct trc_reader *r, struct trc_cursor *c)
{
	while (trc_cursor_left(c)) {
		struct trc_cursor e = trc_cursor_entry(c);
		struct trc_thread_entry thread;

		thread.serial = (uint32_t)trc_cursor_varint_max(&e, UINT32_MAX);
		thread.tid = (uint32_t)trc_cursor_varint_max(&e, UINT32_MAX);
		thread.creator = (uint32_t)trc_cursor_varint_max(&e, UINT32_MAX);
		thread.start = trc_cursor_varint(&e);
		thread.end = trc_cursor_varint(&e);
		thread.name_bytes = (uint32_t)trc_cursor_varint_max(&e, TRC_SECTION_BYTES_MAX);
		thread.name = (const char *)trc_cursor_take(&e, thread.name_bytes);
		if (e.bad || !thread.serial || trc_reader_count_entry(r))
			return -EBADMSG;
		if (TRC_RESERVE(r->threads, 1))
			return -ENOMEM;
		r->threads.at[r->threads.n++] = thread;
	}
	return 0;
}

static int take_module(struct trc_reader *r, struct trc_cursor *c, struct trc_module_entry *m)
{
	const uint8_t *build_id;
	int err = 0;

	m->start = trc_cursor_varint(c);
	m->limit = trc_cursor_varint(c);
	m->file_offset = trc_cursor_varint(c);
	m->load_bias = trc_cursor_varint(c);
	m->first_epoch = (uint32_t)trc_cursor_varint_max(c, UINT32_MAX);
	m->last_epoch = (uint32_t)trc_cursor_varint_max(c, UINT32_MAX);
	m->build_id_bytes = (uint8_t)trc_cursor_varint_max(c, TRC_BUILD_ID_BYTES_MAX);
	build_id = trc_cursor_take(c, m->build_id_bytes);
	if (c->bad)
		return -EBADMSG;
	memset(m->build_id, 0, sizeof(m->build_id));
	memcpy(m->build_id, build_id, m->build_id_bytes);
	m->path = trc_reader_take_text(r, c, &err);
	return err;
}

int trc_reader_parse_modules(struct trc_reader *r, struct trc_cursor *c)
{
	while (trc_cursor_left(c)) {
		struct trc_cursor e = trc_cursor_entry(c);
		struct trc_module_entry module;
		uint64_t id = trc_cursor_varint(&e);
		int err;

		/* The same rule for ids as for strings and stacks. */
		if (!id || id > (r->modules.n ? r->modules.n : 1) || id > TRC_TABLE_IDS_MAX ||
		    trc_reader_count_entry(r))
			return -EBADMSG;
		err = take_module(r, &e, &module);
		if (!err)
			err = TRC_RESERVE(r->modules, 2);
		if (err)
			return err;
		while (r->modules.n <= id)
			memset(&r->modules.at[r->modules.n++], 0, sizeof(module));
		r->modules.at[id] = module;
	}
	return 0;
}

static int take_status(struct trc_reader *r, struct trc_cursor *c, struct trc_status_entry *s)
{
	(void)r;
	s->thread = (uint32_t)trc_cursor_varint_max(c, UINT32_MAX);
	s->reason = (uint8_t)trc_cursor_varint_max(c, UINT8_MAX);
	s->holder = (uint32_t)trc_cursor_varint_max(c, UINT32_MAX);
	s->object = trc_cursor_varint(c);
	s->since = trc_cursor_varint(c);
	s->stack = (uint32_t)trc_cursor_varint_max(c, UINT32_MAX);
	s->descriptor = trc_cursor_left(c) ? (uint32_t)trc_cursor_varint_max(c, UINT32_MAX) : 0;
	return c->bad ? -EBADMSG : 0;
}

int trc_reader_parse_status(struct trc_reader *r, struct trc_cursor *c)
{
	return TRC_TAKE_TABLE(r, c, r->status, take_status);
}

static int take_open_region(struct trc_reader *r, struct trc_cursor *c,
			    struct trc_open_region_entry *o)
{
	(void)r;
	o->thread = (uint32_t)trc_cursor_varint_max(c, UINT32_MAX);
	o->depth = (uint32_t)trc_cursor_varint_max(c, UINT32_MAX);
	o->task = trc_cursor_varint(c);
	o->type = (uint32_t)trc_cursor_varint_max(c, UINT32_MAX);
	o->since = trc_cursor_varint(c);
	return c->bad ? -EBADMSG : 0;
}

int trc_reader_parse_open_regions(struct trc_reader *r, struct trc_cursor *c)
{
	return TRC_TAKE_TABLE(r, c, r->open_regions, take_open_region);
}

static int take_coverage(struct trc_reader *r, struct trc_cursor *c, struct trc_coverage_entry *o)
{
	o->source = (uint8_t)trc_cursor_varint_max(c, TRC_SOURCE_KERNEL);
	o->proc = (uint32_t)trc_cursor_varint_max(c, r->info.n_procs) - 1;
	o->held = trc_cursor_varint(c);
	o->from = trc_cursor_varint(c);
	o->to = trc_cursor_varint(c);
	return c->bad || o->from > o->to ? -EBADMSG : 0;
}

int trc_reader_parse_coverage(struct trc_reader *r, struct trc_cursor *c)
{
	return TRC_TAKE_TABLE(r, c, r->coverage, take_coverage);
}

static int take_thread_fiber(struct trc_reader *r, struct trc_cursor *c,
			     struct trc_thread_fiber_entry *f)
{
	f->thread = (uint32_t)trc_cursor_varint_max(c, UINT32_MAX);
	f->fiber = trc_cursor_varint(c);
	f->name = (uint32_t)trc_cursor_varint_max(c, UINT32_MAX);
	if (c->bad)
		return -EBADMSG;
	if (f->name && !trc_reader_has_string(r, f->name)) {
		f->name = 0;
		r->info.dangling_ids++;
	}
	return 0;
}

int trc_reader_parse_thread_fibers(struct trc_reader *r, struct trc_cursor *c)
{
	return TRC_TAKE_TABLE(r, c, r->thread_fibers, take_thread_fiber);
}

/* By serial; stable, so that entries of one thread stay in the order of the file. */
static void merge_sort(struct trc_thread_entry *e, struct trc_thread_entry *spare, size_t n)
{
	size_t half = n / 2, l = 0, m = half;

	if (n < 2)
		return;
	merge_sort(e, spare, half);
	merge_sort(e + half, spare, n - half);
	memcpy(spare, e, half * sizeof(*e));
	for (size_t i = 0; l < half; i++)
		e[i] = m < n && e[m].serial < spare[l].serial ? e[m++] : spare[l++];
}

static int fill_serials(struct trc_reader *r)
{
	uint32_t highest;

	if (!r->threads.n)
		return 0;
	highest = r->threads.at[r->threads.n - 1].serial;
	r->serial_bits = highest < SERIAL_BITS_MAX ? highest + 1 : SERIAL_BITS_MAX;
	r->serial_present = calloc(r->serial_bits / 8 + 1, 1);
	if (!r->serial_present)
		return -ENOMEM;
	for (size_t i = 0; i < r->threads.n; i++) {
		uint32_t serial = r->threads.at[i].serial;

		if (serial < r->serial_bits)
			r->serial_present[serial / 8] |= (uint8_t)(1u << serial % 8);
	}
	return 0;
}

static int by_tid_and_serial(const void *x, const void *y, void *threads)
{
	const struct trc_thread_entry *e = threads;
	uint32_t a = *(const uint32_t *)x, b = *(const uint32_t *)y; /* they are by serial */

	if (e[a].tid != e[b].tid)
		return e[a].tid < e[b].tid ? -1 : 1;
	return (a > b) - (a < b);
}

static int fill_tids(struct trc_reader *r)
{
	r->by_tid = malloc(r->threads.n * sizeof(*r->by_tid));
	if (!r->by_tid)
		return -ENOMEM;
	for (uint32_t i = 0; i < r->threads.n; i++)
		r->by_tid[i] = i;
	qsort_r(r->by_tid, r->threads.n, sizeof(*r->by_tid), by_tid_and_serial, r->threads.at);
	return 0;
}

/* The first in by_tid with this tid, or where it would stand. */
static size_t first_of_tid(const struct trc_reader *r, uint32_t tid)
{
	size_t low = 0, high = r->threads.n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (r->threads.at[r->by_tid[middle]].tid < tid)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Behind the last of them in by_tid[from, n) that has this tid, and began by then. */
static size_t began_by(const struct trc_reader *r, size_t from, uint32_t tid, uint64_t ticks)
{
	size_t low = from, high = r->threads.n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct trc_thread_entry *e = &r->threads.at[r->by_tid[middle]];

		if (e->tid == tid && e->start <= ticks)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Who has a tid later has a larger serial, and began later. */
uint32_t trc_reader_serial_of(const struct trc_reader *r, uint32_t tid, uint64_t ticks)
{
	size_t first = first_of_tid(r, tid), next = began_by(r, first, tid, ticks);
	const struct trc_thread_entry *before, *after;

	if (!tid)
		return 0;
	before = next > first ? &r->threads.at[r->by_tid[next - 1]] : NULL;
	after = next < r->threads.n ? &r->threads.at[r->by_tid[next]] : NULL;
	if (after && after->tid != tid)
		after = NULL;
	if (before && (!after || !before->end || before->end >= ticks ||
		       ticks - before->end < after->start - ticks))
		return before->serial;
	return after ? after->serial : 0;
}

int trc_reader_finish_threads(struct trc_reader *r)
{
	struct trc_thread_entry *e = r->threads.at, *spare;
	size_t kept = 0;

	if (!r->threads.n)
		return 0;
	spare = malloc((r->threads.n / 2 + 1) * sizeof(*spare));
	if (!spare)
		return -ENOMEM;
	merge_sort(e, spare, r->threads.n);
	free(spare);
	for (size_t i = 1; i < r->threads.n; i++) {
		if (e[i].serial != e[kept].serial)
			e[++kept] = e[i];
		else if (e[i].tid || !e[kept].tid) /* a bare number says nothing new */
			e[kept] = e[i];
	}
	r->threads.n = kept + 1;
	return fill_serials(r) ? -ENOMEM : fill_tids(r);
}

bool trc_reader_has_serial(const struct trc_reader *r, uint64_t serial)
{
	size_t low = 0, high = r->threads.n;

	if (serial < r->serial_bits)
		return r->serial_present[serial / 8] >> serial % 8 & 1;
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (r->threads.at[middle].serial == serial)
			return true;
		if (r->threads.at[middle].serial < serial)
			low = middle + 1;
		else
			high = middle;
	}
	return false;
}

bool trc_reader_has_stack(const struct trc_reader *r, uint64_t id)
{
	return id < r->stacks.n && r->stacks.at[id].present;
}

bool trc_reader_has_string(const struct trc_reader *r, uint64_t id)
{
	return id < r->strings.n && r->strings.at[id].bytes;
}

size_t trc_reader_info_count(const struct trc_reader *r)
{
	return r->infos.n;
}

void trc_reader_info_at(const struct trc_reader *r, size_t i, const char **key, const char **value)
{
	*key = r->infos.at[i].key;
	*value = r->infos.at[i].value;
}

const char *trc_reader_info_get(const struct trc_reader *r, const char *key)
{
	for (size_t i = 0; i < r->infos.n; i++)
		if (!strcmp(r->infos.at[i].key, key))
			return r->infos.at[i].value;
	return NULL;
}

size_t trc_reader_strings(const struct trc_reader *r)
{
	return r->strings.n;
}

const char *trc_reader_string(const struct trc_reader *r, uint32_t id, uint32_t *n_bytes)
{
	if (!trc_reader_has_string(r, id))
		return NULL;
	*n_bytes = r->strings.at[id].n_bytes;
	return (const char *)r->strings.at[id].bytes;
}

size_t trc_reader_stacks(const struct trc_reader *r)
{
	return r->stacks.n;
}

int trc_reader_stack(const struct trc_reader *r, uint32_t id, struct trc_stack_view *view)
{
	const struct trc_stack_place *place;

	if (!trc_reader_has_stack(r, id))
		return -ENOENT;
	place = &r->stacks.at[id];
	view->epoch = place->epoch;
	view->n_frames = place->n_frames;
	view->frame = r->frames.at + place->frame_idx;
	return 0;
}

size_t trc_reader_threads(const struct trc_reader *r)
{
	return r->threads.n;
}

const struct trc_thread_entry *trc_reader_thread(const struct trc_reader *r, size_t i)
{
	return &r->threads.at[i];
}

size_t trc_reader_modules(const struct trc_reader *r)
{
	return r->modules.n;
}

const struct trc_module_entry *trc_reader_module(const struct trc_reader *r, uint32_t id)
{
	return id < r->modules.n && r->modules.at[id].path ? &r->modules.at[id] : NULL;
}

size_t trc_reader_status(const struct trc_reader *r, const struct trc_status_entry **entries)
{
	*entries = r->status.at;
	return r->status.n;
}

size_t trc_reader_open_regions(const struct trc_reader *r,
			       const struct trc_open_region_entry **entries)
{
	*entries = r->open_regions.at;
	return r->open_regions.n;
}

size_t trc_reader_coverage(const struct trc_reader *r, const struct trc_coverage_entry **entries)
{
	*entries = r->coverage.at;
	return r->coverage.n;
}

size_t trc_reader_thread_fibers(const struct trc_reader *r,
				const struct trc_thread_fiber_entry **entries)
{
	*entries = r->thread_fibers.at;
	return r->thread_fibers.n;
}
