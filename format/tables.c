/* tables.c - see tables.h. */
#include <errno.h>
#include "check.h"
#include "tables.h"
#include "varint.h"

enum { MODULES_BYTES_MIN = 32 << 20 };			     /* of the whole memory */
enum { LABEL_BYTES_MAX = 5 + 1 + TRC_VARINT_BYTES_MAX + 5 }; /* in the file */

static int section_init(struct trc_section *s, struct trc_arena *memory)
{
	s->base = trc_arena_take(memory, TRC_SECTION_BUFFER_BYTES);
	s->room_bytes = TRC_SECTION_ROOM_BYTES;
	return s->base ? 0 : -ENOMEM;
}

/* Shares of the memory, in 1/1024: what is left by the blocks is for the tables. */
static uint32_t share(const struct trc_arena *memory, uint32_t per_1024, size_t entry_bytes)
{
	return (uint32_t)(memory->size_bytes / 1024 * per_1024 / entry_bytes);
}

/* The power of two from n up, less one: a mask for a table that is at most half full. */
static uint32_t slot_mask(uint32_t n)
{
	return (1u << trc_bits(2 * (uint64_t)n - 1)) - 1;
}

static int intern_init(struct trc_intern *in, struct trc_arena *memory, uint32_t entry_share,
		       uint32_t arena_share)
{
	in->max = share(memory, entry_share, sizeof(*in->entry));
	in->slot_mask = slot_mask(in->max);
	in->entry = trc_arena_take(memory, (in->max + 1) * sizeof(*in->entry));
	in->slot = trc_arena_take(memory, (in->slot_mask + (size_t)1) * sizeof(*in->slot));
	in->arena.size_bytes = (size_t)share(memory, arena_share, 8) * 8;
	in->arena.base = trc_arena_take(memory, in->arena.size_bytes);
	if (!in->entry || !in->slot || !in->arena.base)
		return -ENOMEM;
	return section_init(&in->section, memory);
}

int trc_tables_init(struct trc_tables *t, struct trc_section_out *out, struct trc_arena *memory)
{
	uint32_t modules;
	int err;

	t->out = out;
	t->generation = 1;
	err = intern_init(&t->strings, memory, 24, 64);
	if (!err)
		err = intern_init(&t->stacks, memory, 24, 128);
	if (!err)
		err = intern_init(&t->label_sets, memory, 16, 32);
	if (err)
		return err;
	t->threads.max = share(memory, 48, sizeof(*t->threads.entry));
	t->threads.slot_mask = slot_mask(t->threads.max);
	t->threads.entry = trc_arena_take(memory, t->threads.max * sizeof(*t->threads.entry));
	t->threads.slot = trc_arena_take(memory, (t->threads.slot_mask + (size_t)1) *
							 sizeof(*t->threads.slot));
	/* A program may go on loading them. */
	modules = memory->size_bytes >= MODULES_BYTES_MIN ? 16 : 4;
	t->modules.max = share(memory, modules, sizeof(*t->modules.entry));
	t->modules.entry = trc_arena_take(memory, (t->modules.max + 1) * sizeof(*t->modules.entry));
	t->modules.arena.size_bytes = (size_t)share(memory, 2 * modules, 8) * 8;
	t->modules.arena.base = trc_arena_take(memory, t->modules.arena.size_bytes);
	if (!t->threads.entry || !t->threads.slot || !t->modules.entry || !t->modules.arena.base)
		return -ENOMEM;
	err = section_init(&t->threads.section, memory);
	return err ? err : section_init(&t->modules.section, memory);
}

/* Where an entry of up to TRC_SECTION_ENTRY_BYTES_MAX goes. */
static uint8_t *entry_begin(struct trc_tables *t, struct trc_section *s, enum trc_section_type type)
{
	if (s->used_bytes + TRC_SECTION_ENTRY_BYTES_MAX > s->room_bytes)
		trc_section_write(t->out, s, type);
	return trc_section_payload(s) + s->used_bytes;
}

static void entry_end(struct trc_section *s, const uint8_t *end)
{
	s->used_bytes = (uint32_t)(end - trc_section_payload(s));
}

static uint8_t *put_id(uint8_t *p, struct trc_section *s, uint32_t id)
{
	p = trc_varint_put(p, trc_zigzag(id - s->last_id));
	s->last_id = id;
	return p;
}

static uint8_t *bytes_put(uint8_t *p, const void *bytes, uint32_t n_bytes)
{
	p = trc_varint_put(p, n_bytes);
	memcpy(p, bytes, n_bytes);
	return p + n_bytes;
}

/* Puts the length of what lies behind `start` in front of it, in two bytes' room. */
static uint8_t *entry_close(uint8_t *start, uint8_t *end)
{
	size_t n_bytes = (size_t)(end - start) - 2;
	uint8_t *p = trc_varint_put(start, n_bytes);

	memmove(p, start + 2, n_bytes);
	return p + n_bytes;
}

/*
 * The id of these bytes, which are put together from a word and an array; 0 if there is
 * no room (B2).
 */
static uint32_t bytes_intern(struct trc_tables *t, struct trc_intern *in, const void *bytes,
			     uint32_t n_bytes)
{
	uint64_t hash = trc_check64(bytes, n_bytes, 0);
	uint32_t i = (uint32_t)hash & in->slot_mask;
	struct trc_intern_entry *e;
	uint8_t *copy;

	for (; in->slot[i]; i = (i + 1) & in->slot_mask) {
		e = &in->entry[in->slot[i]];
		if (e->hash == hash && e->n_bytes == n_bytes && !memcmp(e->bytes, bytes, n_bytes))
			return in->base + in->slot[i];
	}
	copy = in->n < in->max ? trc_arena_take(&in->arena, n_bytes) : NULL;
	if (!copy) {
		t->full++;
		return 0;
	}
	memcpy(copy, bytes, n_bytes);
	e = &in->entry[++in->n];
	*e = (struct trc_intern_entry){hash, copy, n_bytes, 0};
	in->slot[i] = in->n;
	return in->base + in->n;
}

static struct trc_intern_entry *intern_entry_of(const struct trc_intern *in, uint32_t id)
{
	return &in->entry[id - in->base];
}

uint32_t trc_tables_string(struct trc_tables *t, const char *bytes, uint32_t n_bytes)
{
	if (n_bytes > TRC_WRITER_STRING_BYTES_MAX)
		n_bytes = TRC_WRITER_STRING_BYTES_MAX;
	return bytes_intern(t, &t->strings, bytes, n_bytes);
}

uint32_t trc_tables_stack(struct trc_tables *t, uint32_t epoch, const uint64_t *frame,
			  uint32_t n_frames)
{
	uint64_t word[1 + TRC_STACK_DEPTH_MAX];

	if (n_frames > TRC_STACK_DEPTH_MAX)
		n_frames = TRC_STACK_DEPTH_MAX;
	word[0] = epoch;
	memcpy(word + 1, frame, n_frames * sizeof(*frame));
	return bytes_intern(t, &t->stacks, word, (n_frames + 1) * (uint32_t)sizeof(*word));
}

static bool labels_are_sorted(const struct trc_label *label, uint32_t n)
{
	for (uint32_t i = 1; i < n; i++)
		if (trc_label_order(&label[i - 1], &label[i]) >= 0)
			return false;
	return true;
}

/* The label as in the file; NULL if there is no room for its strings. */
static uint8_t *put_label(struct trc_tables *t, uint8_t *p, const struct trc_label *label)
{
	uint32_t key = trc_tables_string(t, label->key, label->key_bytes);
	uint32_t text = 0; /* of an empty one, too */

	if (label->value_bytes)
		text = trc_tables_string(t, label->value, label->value_bytes);
	if (!key || (!text && label->value_bytes))
		return NULL;
	p = trc_varint_put(p, key);
	*p++ = label->is_number ? TRC_LABEL_NUMBER : TRC_LABEL_STRING;
	if (label->is_number)
		p = trc_varint_put(p, trc_zigzag((uint64_t)label->number));
	return trc_varint_put(p, text);
}

uint32_t trc_tables_label_set(struct trc_tables *t, const struct trc_label *label, uint32_t n)
{
	uint8_t bytes[TRC_VARINT_BYTES_MAX + TRC_LABELS_MAX * LABEL_BYTES_MAX];
	uint8_t *p;

	if (!n || n > TRC_LABELS_MAX || !label[0].key_bytes || !labels_are_sorted(label, n))
		return 0;
	p = trc_varint_put(bytes, n);
	for (uint32_t i = 0; i < n && p; i++)
		p = put_label(t, p, &label[i]);
	return p ? bytes_intern(t, &t->label_sets, bytes, (uint32_t)(p - bytes)) : 0;
}

/* The entry, or NULL: there is none, or it was forgotten. */
static const struct trc_intern_entry *intern_entry_find(const struct trc_intern *in, uint64_t id)
{
	return id > in->base && id - in->base <= in->n ? intern_entry_of(in, (uint32_t)id) : NULL;
}

uint32_t trc_tables_string_of(const struct trc_tables *t, uint64_t id, const char **bytes)
{
	const struct trc_intern_entry *e = intern_entry_find(&t->strings, id);

	if (e)
		*bytes = (const char *)e->bytes;
	return e ? e->n_bytes : 0;
}

uint32_t trc_tables_stack_of(const struct trc_tables *t, uint64_t id, uint32_t *epoch,
			     const uint64_t **frame)
{
	const struct trc_intern_entry *e = intern_entry_find(&t->stacks, id);
	const uint64_t *word = e ? (const uint64_t *)(const void *)e->bytes : NULL;

	if (!word)
		return 0;
	*epoch = (uint32_t)word[0];
	*frame = word + 1;
	return e->n_bytes / 8 - 1;
}

uint32_t trc_tables_label_set_of(const struct trc_tables *t, uint64_t id,
				 struct trc_label label[TRC_LABELS_MAX])
{
	const struct trc_intern_entry *e = intern_entry_find(&t->label_sets, id);
	struct trc_cursor c = {e ? e->bytes : NULL, e ? e->bytes + e->n_bytes : NULL, false};
	uint32_t n = e ? (uint32_t)trc_cursor_varint(&c) : 0;

	for (uint32_t i = 0; i < n; i++) {
		struct trc_label *l = &label[i];

		*l = (struct trc_label){.value = ""};
		l->key_bytes = trc_tables_string_of(t, trc_cursor_varint(&c), &l->key);
		l->is_number = trc_cursor_u8(&c) == TRC_LABEL_NUMBER;
		if (l->is_number)
			l->number = (int64_t)trc_unzigzag(trc_cursor_varint(&c));
		l->value_bytes = trc_tables_string_of(t, trc_cursor_varint(&c), &l->value);
	}
	return n;
}

static void string_write(struct trc_tables *t, uint32_t id)
{
	struct trc_intern_entry *e = intern_entry_of(&t->strings, id);
	uint8_t *p = entry_begin(t, &t->strings.section, TRC_SECTION_STRINGS);

	p = put_id(p, &t->strings.section, id);
	entry_end(&t->strings.section, bytes_put(p, e->bytes, e->n_bytes));
	e->generation = t->generation;
}

static void stack_write(struct trc_tables *t, uint32_t id)
{
	struct trc_intern_entry *e = intern_entry_of(&t->stacks, id);
	uint8_t *p = entry_begin(t, &t->stacks.section, TRC_SECTION_STACKS);
	const uint64_t *word = (const uint64_t *)(const void *)e->bytes;
	uint32_t n_frames = e->n_bytes / 8 - 1;
	uint64_t last = 0;

	p = put_id(p, &t->stacks.section, id);
	p = trc_varint_put(p, word[0]);
	p = trc_varint_put(p, n_frames);
	for (uint32_t i = 1; i <= n_frames; i++) {
		p = trc_varint_put(p, trc_zigzag(word[i] - last));
		last = word[i];
	}
	entry_end(&t->stacks.section, p);
	e->generation = t->generation;
}

static void cite_interned(struct trc_tables *t, struct trc_intern *in, uint64_t id,
			  void (*write)(struct trc_tables *t, uint32_t id))
{
	if (id <= in->base || id - in->base > in->n)
		return;
	while (in->base + in->written < id) {
		in->written++;
		write(t, in->base + in->written);
	}
	if (intern_entry_of(in, (uint32_t)id)->generation != t->generation)
		write(t, (uint32_t)id);
}

/* The strings of a set, as trc_tables_label_set() put them. */
static void cite_label_strings(struct trc_tables *t, const struct trc_intern_entry *e)
{
	struct trc_cursor c = {e->bytes, e->bytes + e->n_bytes, false};

	for (uint64_t n = trc_cursor_varint(&c); n; n--) {
		cite_interned(t, &t->strings, trc_cursor_varint(&c), string_write);
		if (trc_cursor_u8(&c) == TRC_LABEL_NUMBER)
			trc_cursor_varint(&c);
		cite_interned(t, &t->strings, trc_cursor_varint(&c), string_write);
	}
}

/* After its strings, which thus stand before it in the file. */
static void label_set_write(struct trc_tables *t, uint32_t id)
{
	struct trc_section *section = &t->label_sets.section;
	struct trc_intern_entry *e = intern_entry_of(&t->label_sets, id);
	uint8_t *start, *p;

	cite_label_strings(t, e);
	if (section->used_bytes + TRC_SECTION_ENTRY_BYTES_MAX > section->room_bytes)
		trc_section_write(t->out, &t->strings.section, TRC_SECTION_STRINGS);
	start = entry_begin(t, section, TRC_SECTION_LABEL_SETS);
	p = trc_varint_put(start + 2, id);
	memcpy(p, e->bytes, e->n_bytes);
	entry_end(section, entry_close(start, p + e->n_bytes));
	e->generation = t->generation;
}

/* The thread's slot; an empty one of this serial if it has none yet; NULL if there is no room. */
static struct trc_thread_slot *thread_find(struct trc_tables *t, uint32_t serial)
{
	uint32_t i = (serial * 0x9e3779b9u >> 7) & t->threads.slot_mask;
	struct trc_thread_slot *slot;

	for (; t->threads.slot[i]; i = (i + 1) & t->threads.slot_mask) {
		slot = &t->threads.entry[t->threads.slot[i] - 1];
		if (slot->entry.serial == serial)
			return slot;
	}
	if (t->threads.n == t->threads.max) {
		t->full++;
		return NULL;
	}
	slot = &t->threads.entry[t->threads.n++];
	memset(slot, 0, sizeof(*slot));
	slot->entry.serial = serial;
	slot->entry.name = slot->name;
	t->threads.slot[i] = t->threads.n;
	return slot;
}

/* Makes room: threads that have ended and are not cited in this generation have been written
 * and are not needed any more, unless an old event turns up that cites one: then its number is
 * all that is written, and the reader keeps what it knows. */
static void threads_evict(struct trc_tables *t)
{
	uint32_t n = t->threads.n;

	memset(t->threads.slot, 0, (t->threads.slot_mask + (size_t)1) * sizeof(*t->threads.slot));
	t->threads.n = 0;
	for (uint32_t i = 0; i < n; i++) {
		struct trc_thread_slot kept = t->threads.entry[i];
		struct trc_thread_slot *slot;

		if (kept.entry.end && kept.generation != t->generation)
			continue;
		slot = thread_find(t, kept.entry.serial);
		*slot = kept;
		slot->entry.name = slot->name;
	}
}

static void thread_write(struct trc_tables *t, struct trc_thread_slot *slot)
{
	const struct trc_thread_entry *e = &slot->entry;
	uint8_t *start = entry_begin(t, &t->threads.section, TRC_SECTION_THREADS);
	uint8_t *p = start + 2;

	p = trc_varint_put(p, e->serial);
	p = trc_varint_put(p, e->tid);
	p = trc_varint_put(p, e->creator);
	p = trc_varint_put(p, e->start);
	p = trc_varint_put(p, e->end);
	p = bytes_put(p, e->name, e->name_bytes);
	entry_end(&t->threads.section, entry_close(start, p));
	slot->generation = t->generation;
}

static void cite_thread(struct trc_tables *t, uint64_t serial)
{
	uint64_t *cited = &t->threads.cited[serial % 1024];
	uint64_t mark = (uint64_t)t->generation << 32 | serial;
	struct trc_thread_slot *slot;

	if (!serial || serial > UINT32_MAX || *cited == mark)
		return;
	slot = thread_find(t, (uint32_t)serial);
	if (!slot)
		return;
	if (slot->generation != t->generation)
		thread_write(t, slot);
	*cited = mark;
}

int trc_tables_thread(struct trc_tables *t, const struct trc_thread_entry *thread)
{
	struct trc_thread_slot *slot;

	if (!thread->serial)
		return -EINVAL;
	if (t->threads.n == t->threads.max)
		threads_evict(t);
	slot = thread_find(t, thread->serial);
	if (!slot)
		return -ENOMEM;
	slot->entry = *thread;
	slot->entry.name = slot->name;
	if (slot->entry.name_bytes > TRC_WRITER_NAME_BYTES_MAX)
		slot->entry.name_bytes = TRC_WRITER_NAME_BYTES_MAX;
	if (slot->entry.name_bytes)
		memcpy(slot->name, thread->name, slot->entry.name_bytes);
	thread_write(t, slot);
	return t->out->error;
}

static uint32_t path_bytes(const char *path)
{
	return path ? (uint32_t)strnlen(path, TRC_WRITER_PATH_BYTES_MAX) : 0;
}

static void module_write(struct trc_tables *t, uint32_t id)
{
	const struct trc_module_entry *e = &t->modules.entry[id];
	uint8_t *start = entry_begin(t, &t->modules.section, TRC_SECTION_MODULES);
	uint8_t *p = start + 2;

	p = trc_varint_put(p, id);
	p = trc_varint_put(p, e->start);
	p = trc_varint_put(p, e->limit);
	p = trc_varint_put(p, e->file_offset);
	p = trc_varint_put(p, e->load_bias);
	p = trc_varint_put(p, e->first_epoch);
	p = trc_varint_put(p, e->last_epoch);
	p = bytes_put(p, e->build_id, e->build_id_bytes);
	p = bytes_put(p, e->path, path_bytes(e->path));
	entry_end(&t->modules.section, entry_close(start, p));
}

static bool module_same(const struct trc_module_entry *l, const struct trc_module_entry *r)
{
	return l->start == r->start && l->limit == r->limit && l->file_offset == r->file_offset &&
	       l->load_bias == r->load_bias && l->first_epoch == r->first_epoch &&
	       l->build_id_bytes == r->build_id_bytes &&
	       !memcmp(l->build_id, r->build_id, l->build_id_bytes) &&
	       path_bytes(l->path) == path_bytes(r->path) &&
	       !memcmp(l->path, r->path ? r->path : "", path_bytes(r->path));
}

uint32_t trc_tables_module(struct trc_tables *t, const struct trc_module_entry *module)
{
	uint32_t n_bytes = path_bytes(module->path);
	struct trc_module_entry *e;
	char *path;

	if (module->build_id_bytes > TRC_BUILD_ID_BYTES_MAX)
		return 0;
	for (uint32_t id = 1; id <= t->modules.n; id++)
		if (module_same(&t->modules.entry[id], module))
			return id;
	path = t->modules.n < t->modules.max ? trc_arena_take(&t->modules.arena, n_bytes + 1)
					     : NULL;
	if (!path) {
		t->full++;
		return 0;
	}
	if (n_bytes)
		memcpy(path, module->path, n_bytes);
	path[n_bytes] = 0;
	e = &t->modules.entry[++t->modules.n];
	*e = *module;
	e->path = path;
	module_write(t, t->modules.n);
	return t->modules.n;
}

int trc_tables_module_end(struct trc_tables *t, uint32_t module_id, uint32_t last_epoch)
{
	if (!module_id || module_id > t->modules.n)
		return -EINVAL;
	t->modules.entry[module_id].last_epoch = last_epoch;
	module_write(t, module_id);
	return t->out->error;
}

bool trc_tables_has(enum trc_arg_type type)
{
	return type == TRC_ARG_STRING || type == TRC_ARG_STACK || type == TRC_ARG_THREAD ||
	       type == TRC_ARG_LABELS;
}

void trc_tables_cite(struct trc_tables *t, enum trc_arg_type type, const uint64_t *id, uint32_t n)
{
	uint64_t last = 0;

	if (!trc_tables_has(type))
		return;
	for (uint32_t i = 0; i < n; i++) {
		if (id[i] == last)
			continue;
		last = id[i];
		if (type == TRC_ARG_STRING)
			cite_interned(t, &t->strings, last, string_write);
		else if (type == TRC_ARG_STACK)
			cite_interned(t, &t->stacks, last, stack_write);
		else if (type == TRC_ARG_LABELS)
			cite_interned(t, &t->label_sets, last, label_set_write);
		else
			cite_thread(t, last);
	}
}

int trc_tables_flush(struct trc_tables *t)
{
	trc_section_write(t->out, &t->modules.section, TRC_SECTION_MODULES);
	trc_section_write(t->out, &t->threads.section, TRC_SECTION_THREADS);
	trc_section_write(t->out, &t->strings.section, TRC_SECTION_STRINGS);
	trc_section_write(t->out, &t->stacks.section, TRC_SECTION_STACKS);
	return trc_section_write(t->out, &t->label_sets.section, TRC_SECTION_LABEL_SETS);
}

/* An eighth is more than one event may need: a label set's strings.  Where ids run out the table
 * stays as it is, and becomes full (B2). */
static bool intern_is_crowded(const struct trc_intern *in)
{
	return (in->n > in->max - in->max / 8 ||
		in->arena.used_bytes > in->arena.size_bytes - in->arena.size_bytes / 8) &&
	       in->base <= TRC_TABLE_IDS_MAX - 1 - 2 * in->max;
}

unsigned int trc_tables_crowded(const struct trc_tables *t)
{
	unsigned int crowded = 0;

	if (intern_is_crowded(&t->stacks))
		crowded |= TRC_WRITER_STACKS;
	if (intern_is_crowded(&t->label_sets))
		crowded |= TRC_WRITER_LABEL_SETS;
	if (intern_is_crowded(&t->strings))
		crowded |= TRC_WRITER_STRINGS | TRC_WRITER_LABEL_SETS;
	return crowded;
}

void trc_tables_complete(struct trc_tables *t, unsigned int tables)
{
	if (tables & TRC_WRITER_STACKS)
		cite_interned(t, &t->stacks, t->stacks.base + t->stacks.n, stack_write);
	if (tables & TRC_WRITER_STRINGS)
		cite_interned(t, &t->strings, t->strings.base + t->strings.n, string_write);
	if (tables & TRC_WRITER_LABEL_SETS)
		cite_interned(t, &t->label_sets, t->label_sets.base + t->label_sets.n,
			      label_set_write);
}

static void intern_forget(struct trc_intern *in)
{
	in->base += in->n;
	in->n = in->written = 0;
	in->arena.used_bytes = 0;
	memset(in->slot, 0, (in->slot_mask + (size_t)1) * sizeof(*in->slot));
}

void trc_tables_forget(struct trc_tables *t, unsigned int tables)
{
	if (tables & TRC_WRITER_STACKS)
		intern_forget(&t->stacks);
	if (tables & TRC_WRITER_LABEL_SETS)
		intern_forget(&t->label_sets);
	if (tables & TRC_WRITER_STRINGS)
		intern_forget(&t->strings);
}

void trc_tables_generation(struct trc_tables *t, uint32_t generation)
{
	t->generation = generation;
	for (uint32_t id = 1; id <= t->modules.n; id++)
		module_write(t, id);
}
