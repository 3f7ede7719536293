/* recorder_custom.c - profiles of the program's own, and their recorders (<trc/recorder.h>). */
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include "recorder/ring/rec.h"
#include "recorder/profile/kind.h"
#include "recording.h"
#include "recorder/unwind/unwind.h"

enum { FRAMES_MAX = TRC_STACK_DEPTH_MAX };

/* Constant once it is in a table. */
struct entry {
	const void *key;
	uint64_t number; /* of this entering; never used again */
	uint32_t n_frames;
	uint64_t frame[];
};

/* By key: an entry lies in the first place from table_slot() on that was free when it came. */
struct table {
	size_t n_slots;	      /* a power of two */
	size_t n_used;	      /* entries, and places of those that are gone */
	struct entry *slot[]; /* NULL = free; &gone */
};
static struct entry gone;

/* A fork may come between any two stores of a thread that the child does not have: each leaves what
 * the child can read, and what it may store before what leads there.  At worst a count is wrong. */
static void custom_publish(void)
{
	atomic_signal_fence(memory_order_seq_cst);
}

struct trace_custom_profile {
	struct trace_custom_profile *next; /* in the order of names */
	char name[64];
	pthread_mutex_t lock; /* guards what follows; nothing else is locked inside */
	struct table *table;  /* NULL = nothing yet */
	size_t n;
	uint64_t last_number;
};

/* All there are: they stay.  Guarded by `lock`; nothing else is locked inside. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct trace_custom_profile *profiles;

/* ---- profiles -------------------------------------------------------------------------- */

static bool name_is_taken(const char *name)
{
	static const char *const KINDS[] = {"allocs",	    "block",   "cmdline",   "cpu",
					    "flight",	    "gc",      "goroutine", "heap",
					    "mutex",	    "offcpu",  "profile",   "symbol",
					    "threadcreate", "threads", "trace",	    "trace-record"};

	for (size_t i = 0; i < sizeof(KINDS) / sizeof(*KINDS); i++)
		if (!strcmp(name, KINDS[i]))
			return true;
	return false;
}

/* It is part of addresses, file names and lines. */
static bool name_is_possible(const char *name)
{
	size_t n_bytes =
		name ? strnlen(name, sizeof(((struct trace_custom_profile *)NULL)->name)) : 0;

	if (!n_bytes || n_bytes == sizeof(((struct trace_custom_profile *)NULL)->name) ||
	    *name == '.')
		return false;
	for (; *name; name++)
		if ((unsigned char)*name <= ' ' || *name == 0x7f || strchr("/\\?#%\"<>&", *name))
			return false;
	return true;
}

/* Where the one of that name is, or would be. */
static struct trace_custom_profile **profile_place(const char *name)
{
	struct trace_custom_profile **at = &profiles;

	while (*at && strcmp((*at)->name, name) < 0)
		at = &(*at)->next;
	return at;
}

static bool profile_is_at(struct trace_custom_profile *const *at, const char *name)
{
	return *at && !strcmp((*at)->name, name);
}

/* Stacks are taken whether anything records or not. */
static void set_up_unwinding(void)
{
	static bool is_set_up;
	const char *note;

	trc_recording_enter();
	if (!is_set_up && !trc_recording_any())
		trc_unwind_setup(TRC_UNWIND_AUTO, &note);
	is_set_up = true;
	trc_recording_leave();
}

static int profile_make(struct trace_custom_profile **out, const char *name)
{
	struct trace_custom_profile **at = profile_place(name), *p;

	if (name_is_taken(name) || profile_is_at(at, name))
		return trc_api_fail(-EEXIST, name, "there is such a profile already");
	p = calloc(1, sizeof(*p));
	if (!p)
		return trc_api_fail(-ENOMEM, name, "no memory for a profile");
	strcpy(p->name, name);
	pthread_mutex_init(&p->lock, NULL);
	p->next = *at;
	custom_publish();
	*at = p;
	*out = p;
	return 0;
}

int trace_custom_profile_register(struct trace_custom_profile **out, const char *name)
{
	int saved_errno = errno, err;

	trc_api_clear();
	if (!name_is_possible(name))
		return trc_api_fail(
			-EINVAL, "",
			"a profile's name has 1 to 63 bytes, without spaces, quotes and "
			"what means something in addresses");
	trc_self.quiet++;
	set_up_unwinding();
	pthread_mutex_lock(&lock);
	err = profile_make(out, name);
	pthread_mutex_unlock(&lock);
	trc_self.quiet--;
	errno = saved_errno;
	return err;
}

struct trace_custom_profile *trace_custom_profile_find(const char *name)
{
	struct trace_custom_profile *found = NULL;

	if (!name)
		return NULL;
	trc_self.quiet++;
	pthread_mutex_lock(&lock);
	if (profile_is_at(profile_place(name), name))
		found = *profile_place(name);
	pthread_mutex_unlock(&lock);
	trc_self.quiet--;
	return found;
}

const char *trace_custom_profile_name(const struct trace_custom_profile *p)
{
	return p->name;
}

int trace_custom_profile_each(int (*fn)(void *context, struct trace_custom_profile *profile),
			      void *context)
{
	struct trace_custom_profile *p = NULL;
	int answer = 0;

	do {
		trc_self.quiet++;
		pthread_mutex_lock(&lock);
		p = p ? p->next : profiles;
		pthread_mutex_unlock(&lock);
		trc_self.quiet--;
		if (p)
			answer = fn(context, p);
	} while (p && !answer);
	return answer;
}

/* ---- what they hold -------------------------------------------------------------------- */

static size_t table_slot(const void *key, size_t n_slots)
{
	return (size_t)((uintptr_t)key * UINT64_C(0x9e3779b97f4a7c15) >> 32) & (n_slots - 1);
}

/* Where it is; else NULL, with *room where it would be, or NULL if the table has none. */
static struct entry **custom_table_find(struct table *table, const void *key, struct entry ***room)
{
	size_t mask = table->n_slots - 1, i = table_slot(key, table->n_slots);

	*room = NULL;
	for (size_t n = 0; n < table->n_slots; n++, i = (i + 1) & mask) {
		struct entry **at = &table->slot[i];

		if (!*at) {
			*room = at;
			return NULL;
		}
		if (*at != &gone && (*at)->key == key)
			return at;
	}
	return NULL;
}

/* At most half of the places are used after this, if there is memory. */
static int table_grow(struct trace_custom_profile *p)
{
	struct table *old = p->table, *table;
	size_t n_slots = 64;

	if (old && 2 * (old->n_used + 1) <= old->n_slots)
		return 0;
	while (n_slots < 4 * (p->n + 1))
		n_slots *= 2;
	table = calloc(1, sizeof(*table) + n_slots * sizeof(struct entry *));
	if (!table) /* a longer search will do */
		return old && old->n_used < old->n_slots ? 0 : -ENOMEM;
	table->n_slots = n_slots;
	for (size_t i = 0; old && i < old->n_slots; i++) {
		struct entry **room = NULL, *e = old->slot[i];

		if (!e || e == &gone)
			continue;
		custom_table_find(table, e->key, &room);
		*room = e;
		table->n_used++;
	}
	custom_publish();
	p->table = table;
	free(old);
	return 0;
}

static int custom_entry_add(struct trace_custom_profile *p, const void *key, const uint64_t *frame,
			    uint32_t n)
{
	struct entry **room, *e;

	if (table_grow(p))
		return trc_api_fail(-ENOMEM, p->name, "no memory for an entry");
	if (custom_table_find(p->table, key, &room))
		return trc_api_fail(-EEXIST, p->name, "this key is there already");
	e = malloc(sizeof(*e) + n * sizeof(*frame));
	if (!e)
		return trc_api_fail(-ENOMEM, p->name, "no memory for an entry");
	*e = (struct entry){.key = key, .number = ++p->last_number, .n_frames = n};
	memcpy(e->frame, frame, n * sizeof(*frame));
	custom_publish();
	*room = e;
	p->table->n_used++;
	p->n++;
	return 0;
}

/* What is to be freed, or NULL. */
static struct entry *entry_remove(struct trace_custom_profile *p, const void *key)
{
	struct entry **room, **at = p->table ? custom_table_find(p->table, key, &room) : NULL, *e;

	if (!at)
		return NULL;
	e = *at;
	*at = &gone;
	custom_publish(); /* before it is freed */
	p->n--;
	return e;
}

int trace_custom_profile_add(struct trace_custom_profile *p, const void *key, unsigned int skip)
{
	uint64_t frame[FRAMES_MAX];
	int saved_errno = errno, err;
	uint32_t n;

	trc_api_clear();
	trc_self.quiet++;
	if (skip > FRAMES_MAX)
		skip = FRAMES_MAX;
	n = trc_unwind(frame, FRAMES_MAX, skip);
	if (n == FRAMES_MAX)
		trc_unwind_elide(NULL, frame, skip);
	pthread_mutex_lock(&p->lock);
	err = custom_entry_add(p, key, frame, n);
	pthread_mutex_unlock(&p->lock);
	trc_self.quiet--;
	errno = saved_errno;
	return err;
}

void trace_custom_profile_remove(struct trace_custom_profile *p, const void *key)
{
	int saved_errno = errno;
	struct entry *e;

	trc_self.quiet++;
	pthread_mutex_lock(&p->lock);
	e = entry_remove(p, key);
	pthread_mutex_unlock(&p->lock);
	free(e);
	trc_self.quiet--;
	errno = saved_errno;
}

size_t trace_custom_profile_count(const struct trace_custom_profile *profile)
{
	struct trace_custom_profile *p = (struct trace_custom_profile *)(uintptr_t)profile;
	size_t n;

	trc_self.quiet++;
	pthread_mutex_lock(&p->lock);
	n = p->n;
	pthread_mutex_unlock(&p->lock);
	trc_self.quiet--;
	return n;
}

/* ---- recorders ------------------------------------------------------------------------- */

/* What a profile held, by number: 1 or -1 of a stack each. */
struct row {
	uint64_t number;
	int64_t value;
	uint32_t first_frame, n_frames; /* in the frames behind the rows */
};
struct rows {
	size_t n, n_frames;
	struct row *row;
	uint64_t *frame;
};

struct custom {
	struct trace_recorder base;
	struct trace_custom_profile *profile;
	struct rows *before; /* when the window began */
};

/* One piece of memory. */
static struct rows *rows_new(size_t n, size_t n_frames)
{
	struct rows *rows =
		malloc(sizeof(*rows) + n * sizeof(*rows->row) + n_frames * sizeof(*rows->frame));

	if (!rows)
		return NULL;
	rows->n = rows->n_frames = 0;
	rows->row = (struct row *)(rows + 1);
	rows->frame = (uint64_t *)(rows->row + n);
	return rows;
}

static void custom_rows_add(struct rows *rows, uint64_t number, const uint64_t *frame,
			    uint32_t n_frames, int64_t value)
{
	rows->row[rows->n++] = (struct row){number, value, (uint32_t)rows->n_frames, n_frames};
	memcpy(rows->frame + rows->n_frames, frame, n_frames * sizeof(*frame));
	rows->n_frames += n_frames;
}

static int rows_by_number(const void *a, const void *b)
{
	const struct row *r = a, *s = b;

	return (r->number > s->number) - (r->number < s->number);
}

/* The entry in place i, or NULL. */
static const struct entry *custom_entry_at(const struct table *table, size_t i)
{
	return table->slot[i] == &gone ? NULL : table->slot[i];
}

/* Locked. */
static struct rows *custom_copy_rows(const struct table *table)
{
	size_t n_slots = table ? table->n_slots : 0, n = 0, n_frames = 0;
	const struct entry *e;
	struct rows *rows;

	for (size_t i = 0; i < n_slots; i++) {
		e = custom_entry_at(table, i);
		n += e != NULL;
		n_frames += e ? e->n_frames : 0;
	}
	rows = rows_new(n, n_frames);
	for (size_t i = 0; rows && i < n_slots; i++) {
		e = custom_entry_at(table, i);
		if (e)
			custom_rows_add(rows, e->number, e->frame, e->n_frames, 1);
	}
	return rows;
}

/* What it holds now, in order; NULL = no memory. */
static struct rows *custom_rows(struct trace_custom_profile *p)
{
	struct rows *rows;

	pthread_mutex_lock(&p->lock);
	rows = custom_copy_rows(p->table);
	pthread_mutex_unlock(&p->lock);
	if (rows)
		qsort(rows->row, rows->n, sizeof(*rows->row), rows_by_number);
	return rows;
}

static void add_change(struct rows *change, const struct rows *from, size_t i, int64_t value)
{
	const struct row *row = &from->row[i];

	custom_rows_add(change, row->number, from->frame + row->first_frame, row->n_frames, value);
}

/* What came, and what went. */
static struct rows *rows_change(const struct rows *before, const struct rows *now)
{
	struct rows *change = rows_new(before->n + now->n, before->n_frames + now->n_frames);
	size_t b = 0, n = 0;

	while (change && (b < before->n || n < now->n)) {
		uint64_t was = b < before->n ? before->row[b].number : UINT64_MAX;
		uint64_t is = n < now->n ? now->row[n].number : UINT64_MAX;

		if (was < is)
			add_change(change, before, b++, -1);
		else if (is < was)
			add_change(change, now, n++, 1);
		else
			b++, n++;
	}
	return change;
}

static int custom_prepare(struct trace_recorder *r, char why[static TRC_RECORDER_WHY_BYTES])
{
	struct custom *c = (struct custom *)r;
	struct rows *old = c->before;

	c->before = NULL; /* so that a forked child does not free it as well */
	custom_publish();
	free(old);
	c->before = custom_rows(c->profile);
	return c->before ? 0 : -ENOMEM;
}

static int custom_take(struct trace_recorder *r, struct trc_taken *taken, bool window,
		       char why[static TRC_RECORDER_WHY_BYTES])
{
	struct custom *c = (struct custom *)r;
	struct rows *now = custom_rows(c->profile);

	taken->rows = now;
	if (now && window) {
		taken->rows = rows_change(c->before, now);
		free(now);
	}
	return taken->rows ? 0 : -ENOMEM;
}

static void custom_emit(const struct trace_recorder *r, const struct trc_taken *taken,
			trc_emit_fn *fn, void *context)
{
	const struct rows *rows = taken->rows;

	for (size_t i = 0; i < rows->n; i++) {
		const struct trc_encode_sample sample = {
			.frame = rows->frame + rows->row[i].first_frame,
			.n_frames = rows->row[i].n_frames,
			.value = &rows->row[i].value,
		};

		fn(context, &sample);
	}
}

static void custom_describe(const struct trace_recorder *r, struct trc_encode_info *info)
{
	const struct custom *c = (const struct custom *)r;

	info->name = c->profile->name;
	info->style = TRC_STYLE_COUNTS;
	info->type[0] = (struct trc_encode_type){c->profile->name, "count"};
	info->n_types = 1;
	info->period_type = info->type[0];
	info->period = 1;
}

static void custom_free(struct trace_recorder *r)
{
	free(((struct custom *)r)->before);
}

static const struct trc_recorder_kind custom_kind = {
	.name = "custom",
	.prepare = custom_prepare,
	.take = custom_take,
	.describe = custom_describe,
	.emit = custom_emit,
	.free = custom_free,
};

int trace_recorder_create_custom(struct trace_recorder **out, struct trace_custom_profile *profile,
				 const struct trace_custom_options *options)
{
	struct trace_custom_options known = TRACE_CUSTOM_OPTIONS_INIT;
	int err = trc_recorder_options(&known, sizeof(known), options, "TRACE_CUSTOM_OPTIONS_INIT");
	struct custom *c;

	if (err)
		return err;
	if (!profile)
		return trc_api_fail(-EINVAL, "", "no profile");
	c = trc_recorder_new(sizeof(*c), &custom_kind, known.format);
	if (!c)
		return -ENOMEM;
	c->profile = profile;
	*out = &c->base;
	return 0;
}

/* What was being entered or removed is there or not. */
static void entries_count_again(struct trace_custom_profile *p)
{
	p->n = 0;
	if (!p->table)
		return;
	p->table->n_used = 0;
	for (size_t i = 0; i < p->table->n_slots; i++) {
		p->table->n_used += p->table->slot[i] != NULL;
		p->n += custom_entry_at(p->table, i) != NULL;
	}
}

void trc_recorder_custom_forget(void)
{
	static const pthread_mutex_t unlocked = PTHREAD_MUTEX_INITIALIZER;

	lock = unlocked;
	for (struct trace_custom_profile *p = profiles; p; p = p->next) {
		p->lock = unlocked;
		entries_count_again(p);
	}
}
