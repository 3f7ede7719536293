/* thread_profile.c - see thread_profile.h */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "format/now.h"
#include "format/raw.h"
#include "recorder/shared/labels_bytes.h"
#include "recorder/shared/slot_look.h"
#include "recorder/ring/rec.h"
#include "recorder/sampling/sample.h"
#include "recorder/sampling/thread_answer.h"
#include "recorder/profile/thread_profile.h"
#include "thread_profile_private.h"

enum { NONE = -1 };
#define DEADLINE_NS UINT64_C(100000000)

/* Guards the cells of thread_answer.h; nothing is locked inside. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void trc_thread_profile_forget(void)
{
	static const pthread_mutex_t unlocked = PTHREAD_MUTEX_INITIALIZER;

	lock = unlocked;
}

/* ---- memory ---------------------------------------------------------------------------- */

/* Room for that many words more; their place, or SIZE_MAX. */
static size_t words_take(struct taking *t, size_t n)
{
	size_t at = t->n_words;

	if (t->n_words + n > t->max_words) {
		size_t max = 2 * t->max_words + n + 1024;
		uint64_t *grown = reallocarray(t->words, max, sizeof(*grown));

		if (!grown) {
			t->err = -ENOMEM;
			return SIZE_MAX;
		}
		t->words = grown;
		t->max_words = max;
	}
	t->n_words += n;
	return at;
}

void trc_taking_put_frames(struct taking *t, uint32_t i, const uint64_t *frame, uint32_t n,
			   uint32_t epoch)
{
	size_t at;

	pthread_mutex_lock(&t->words_lock);
	at = words_take(t, n);
	if (n && at != SIZE_MAX)
		memcpy(t->words + at, frame, n * sizeof(*frame));
	pthread_mutex_unlock(&t->words_lock);
	if (at == SIZE_MAX)
		return;
	t->frames_at[i] = at;
	t->p->row[i].n_frames = n;
	t->p->row[i].epoch = epoch;
}

/* Labels with the bytes that they refer to behind them; the references are made in the end. */
static void taking_put_labels(struct taking *t, uint32_t i)
{
	const size_t label_words = (sizeof(struct trc_label) + 7) / 8;
	struct trc_label label[TRC_LABELS_MAX];
	char bytes[TRC_LABELS_BYTES_MAX];
	struct trc_shared *shared = trc_rec.shared;
	uint32_t n_bytes, n;
	size_t at;

	if (!t->labels_id[i])
		return;
	n_bytes = trc_labels_copy_by(shared, shared, t->labels_id[i], bytes);
	n = n_bytes ? trc_labels_split(bytes, n_bytes, label) : 0;
	if (!n)
		return;
	at = words_take(t, n * label_words + (n_bytes + 7) / 8);
	if (at == SIZE_MAX)
		return;
	memcpy(t->words + at + n * label_words, bytes, n_bytes);
	t->labels_at[i] = at;
	t->p->row[i].n_labels = n;
	/* For resolve_labels(): how many bytes. */
	t->words[at] = n_bytes;
}

static void resolve_labels(struct trc_thread_row *row, uint64_t *words)
{
	struct trc_label label[TRC_LABELS_MAX];
	const size_t label_words = (sizeof(struct trc_label) + 7) / 8;
	const char *bytes = (const char *)(words + row->n_labels * label_words);

	row->n_labels = trc_labels_split(bytes, (uint32_t)words[0], label);
	memcpy(words, label, row->n_labels * sizeof(*label));
	row->label = (const struct trc_label *)(const void *)words;
}

/* ---- which threads --------------------------------------------------------------------- */

static bool taking_rows_grow(struct taking *t)
{
	uint32_t max = 2 * t->max_rows + 64;
	struct trc_thread_row *row = reallocarray(t->p->row, max, sizeof(*row));

	if (!row) {
		t->err = -ENOMEM;
		return false;
	}
	t->p->row = row;
	t->max_rows = max;
	return true;
}

static void taking_add_task(void *context, uint32_t tid)
{
	struct taking *t = context;

	if (trc_sample_is_own_thread(tid) || t->err ||
	    (t->p->n_rows == t->max_rows && !taking_rows_grow(t)))
		return;
	t->p->row[t->p->n_rows++] = (struct trc_thread_row){.tid = tid};
}

static int taking_by_tid(const void *a, const void *b)
{
	const struct trc_thread_row *x = a, *y = b;

	return (x->tid > y->tid) - (x->tid < y->tid);
}

static int64_t taking_row(const struct taking *t, uint32_t tid)
{
	const struct trc_thread_row key = {.tid = tid}, *row;

	row = bsearch(&key, t->p->row, t->p->n_rows, sizeof(key), taking_by_tid);
	return row ? row - t->p->row : NONE;
}

static int columns_make(struct taking *t)
{
	uint32_t n = t->p->n_rows + 1;

	t->stack_id = calloc(n, sizeof(*t->stack_id));
	t->labels_id = calloc(n, sizeof(*t->labels_id));
	t->creation = calloc(n, sizeof(*t->creation));
	t->creator = calloc(n, sizeof(*t->creator));
	t->holder = calloc(n, sizeof(*t->holder));
	t->gone = calloc(n, sizeof(*t->gone));
	t->known = calloc(n, sizeof(*t->known));
	t->slot = calloc(n, sizeof(*t->slot));
	t->slow = calloc(n, sizeof(*t->slow));
	t->frame = calloc(TRC_UNWIND_WALK_MAX, sizeof(*t->frame));
	t->frames_at = calloc(n, sizeof(*t->frames_at));
	t->creation_at = calloc(n, sizeof(*t->creation_at));
	t->labels_at = calloc(n, sizeof(*t->labels_at));
	return t->stack_id && t->labels_id && t->creation && t->creator && t->holder && t->gone &&
			       t->known && t->slot && t->slow && t->frame && t->frames_at &&
			       t->creation_at && t->labels_at
		       ? 0
		       : -ENOMEM;
}

static void columns_free(struct taking *t)
{
	free(t->stack_id);
	free(t->labels_id);
	free(t->creation);
	free(t->creator);
	free(t->holder);
	free(t->gone);
	free(t->known);
	free(t->slot);
	free(t->slow);
	free(t->frame);
	free(t->frames_at);
	free(t->creation_at);
	free(t->labels_at);
}

static int list_threads(struct taking *t)
{
	trc_tasks_each(t->tasks.dir, taking_add_task, t);
	if (t->err)
		return t->err;
	if (t->p->n_rows)
		qsort(t->p->row, t->p->n_rows, sizeof(*t->p->row), taking_by_tid);
	return columns_make(t);
}

/* ---- what slots tell ------------------------------------------------------------------- */

struct slot_look {
	uint32_t serial, tid, creator, reason, name_bytes;
	uint64_t object, since, stack, holder, labels, creation;
	uint64_t name[TRC_THREAD_NAME_BYTES / 8];
};

static void taking_slot_load(const struct trc_slot *slot, struct slot_look *l)
{
#define LOAD(field) atomic_load_explicit(&slot->field, memory_order_relaxed)
	l->serial = LOAD(serial);
	l->tid = LOAD(tid);
	l->creator = LOAD(creator);
	l->reason = LOAD(wait_reason);
	l->object = LOAD(wait_object);
	l->since = LOAD(wait_since);
	l->stack = LOAD(wait_stack);
	l->holder = LOAD(wait_holder);
	l->labels = LOAD(labels);
	l->creation = LOAD(creation_stack);
	l->name_bytes = LOAD(name_bytes);
	for (size_t i = 0; i < TRC_THREAD_NAME_BYTES / 8; i++)
		l->name[i] = LOAD(name[i]);
#undef LOAD
}

/* False if the thread was always just changing it. */
static bool taking_slot_look(const struct trc_slot *slot, struct slot_look *l)
{
	for (int i = 0; i < TRC_SLOT_TRIES; i++) {
		uint32_t seq = trc_slot_look(slot);

		taking_slot_load(slot, l);
		if (trc_slot_same(slot, seq))
			return true;
	}
	return false;
}

void trc_taking_set_wait(struct taking *t, uint32_t i, uint32_t reason, uint64_t object,
			 uint64_t since, uint64_t holder)
{
	struct trc_thread_row *row = &t->p->row[i];
	uint64_t now = trc_clock_now();

	row->is = TRC_THREAD_IS_WAITING;
	row->reason = reason < TRC_REASON_COUNT ? reason : 0;
	row->object = object;
	row->has_wait_ns = since != 0;
	row->wait_ns = since && now > since ? trc_clock_ticks_to_ns(now - since) : 0;
	t->holder[i] = holder;
}

void trc_taking_set_running(struct taking *t, uint32_t i)
{
	struct trc_thread_row *row = &t->p->row[i];

	row->is = TRC_THREAD_IS_RUNNING;
	row->reason = 0;
	row->object = 0;
	row->has_wait_ns = false;
	row->wait_ns = 0;
	t->holder[i] = 0;
}

static void add_slot(struct taking *t, const struct trc_slot *slot)
{
	struct slot_look look;
	struct trc_thread_row *row;
	bool whole = taking_slot_look(slot, &look);
	int64_t i = taking_row(t, look.tid);

	/* A later thread of the same tid has the later slot. */
	if (i < 0 || t->p->row[i].serial > look.serial)
		return;
	row = &t->p->row[i];
	row->serial = look.serial;
	t->slot[i] = slot;
	t->creator[i] = look.creator;
	t->creation[i] = look.creation;
	t->labels_id[i] = look.labels;
	if (look.name_bytes < sizeof(row->name)) {
		memset(row->name, 0, sizeof(row->name));
		memcpy(row->name, look.name, look.name_bytes);
	}
	trc_taking_set_running(t, (uint32_t)i);
	t->stack_id[i] = 0;
	if (!whole || !look.reason)
		return;
	trc_taking_set_wait(t, (uint32_t)i, look.reason, look.object, look.since, look.holder);
	t->stack_id[i] = look.stack;
}

static void taking_look_at_slots(struct taking *t)
{
	struct trc_shared *shared = trc_rec.shared;

	for (uint32_t i = 0; i < trc_slots_used(shared, shared->n_threads); i++) {
		const struct trc_slot *slot = trc_slot_at(shared, i);

		/* acquire: pairs with the release of LIVE: the slot is filled in. */
		if (atomic_load_explicit(&slot->state, memory_order_acquire) == TRC_SLOT_LIVE)
			add_slot(t, slot);
	}
}

bool trc_taking_put_recorded(struct taking *t, uint32_t i)
{
	uint64_t frame[TRC_STACK_DEPTH_MAX];
	uint32_t epoch, n;

	if (t->p->row[i].is != TRC_THREAD_IS_WAITING || !t->stack_id[i])
		return false;
	n = trc_stack_copy_by(trc_rec.shared, trc_rec.shared, t->stack_id[i], &epoch, frame);
	if (n)
		trc_taking_put_frames(t, i, frame, n, epoch);
	return n != 0;
}

static void put_creation(struct taking *t, uint32_t i)
{
	struct trc_thread_row *row = &t->p->row[i];
	uint64_t frame[TRC_STACK_DEPTH_MAX];
	uint32_t n;

	if (!t->creation[i])
		return;
	n = trc_stack_copy_by(trc_rec.shared, trc_rec.shared, t->creation[i], &row->creation_epoch,
			      frame);
	if (n && (t->creation_at[i] = words_take(t, n)) != SIZE_MAX) {
		memcpy(t->words + t->creation_at[i], frame, n * sizeof(*frame));
		row->n_creation_frames = n;
	}
}

/* ---- the profile ----------------------------------------------------------------------- */

/* What a row points to, which lies where it stays. */
static void row_settle(struct taking *t, uint32_t i, uint64_t *words, struct trc_thread_row *row)
{
	*row = t->p->row[i];
	row->frame = row->n_frames ? words + t->frames_at[i] : NULL;
	row->creation_frame = row->n_creation_frames ? words + t->creation_at[i] : NULL;
	if (row->n_labels)
		resolve_labels(row, words + t->labels_at[i]);
	if (!row->name[0])
		trc_task_name(t->tasks.dir, row->tid, row->name, sizeof(row->name));
}

/* All in one piece of memory; without the rows of threads that have ended. */
static struct trc_thread_profile *answers_settle(struct taking *t)
{
	struct trc_thread_profile *p = t->p, *whole;
	uint64_t *words;

	whole = malloc(sizeof(*p) + p->n_rows * sizeof(*p->row) + t->n_words * sizeof(*words));
	if (!whole)
		return NULL;
	*whole = *p;
	whole->row = (struct trc_thread_row *)(whole + 1);
	words = (uint64_t *)(whole->row + p->n_rows);
	if (t->n_words)
		memcpy(words, t->words, t->n_words * sizeof(*words));
	whole->n_rows = 0;
	for (uint32_t i = 0; i < p->n_rows; i++)
		if (!t->gone[i])
			row_settle(t, i, words, &whole->row[whole->n_rows++]);
	whole->n_ended = p->n_rows - whole->n_rows;
	whole->duration_ns = trc_now_ns(CLOCK_MONOTONIC) - t->begin_ns;
	return whole;
}

static int answers_take(struct taking *t, struct trc_thread_profile **out)
{
	struct trc_thread_profile *whole;
	int err = list_threads(t);

	if (!err)
		err = trc_answers_setup();
	if (err)
		return err;
	taking_look_at_slots(t);
	trc_taking_look_setup(t);
	trc_taking_look_at_all(t);
	trc_taking_ask_all(t);
	for (uint32_t i = 0; i < t->p->n_rows && !t->err; i++) {
		taking_put_labels(t, i);
		put_creation(t, i);
	}
	err = t->err ? t->err : trc_thread_profile_resolve(t->p, t->creator, t->holder);
	whole = err ? NULL : answers_settle(t);
	if (whole)
		*out = whole;
	return err ? err : whole ? 0 : -ENOMEM;
}

static int take_locked(struct trc_thread_profile **out, uint64_t deadline_ns)
{
	struct trc_thread_profile p = {
		.begin_realtime_ns = (int64_t)trc_now_ns(CLOCK_REALTIME),
	};
	struct taking t = {.p = &p,
			   .words_lock = PTHREAD_MUTEX_INITIALIZER,
			   .deadline_ns = deadline_ns ? deadline_ns : DEADLINE_NS,
			   .begin_ns = trc_now_ns(CLOCK_MONOTONIC),
			   .own_tid = (uint32_t)trc_raw1(SYS_gettid, 0)};
	int err = trc_tasks_open(&t.tasks);

	trc_tasks_libc_text(t.libc);
	if (!err)
		err = answers_take(&t, out);
	trc_tasks_close(&t.tasks);
	columns_free(&t);
	free(t.words);
	free(p.row);
	return err;
}

int trc_thread_profile_take(struct trc_thread_profile **out, uint64_t deadline_ns)
{
	int err = -EBUSY;

	pthread_mutex_lock(&lock);
	if (trc_recording())
		err = take_locked(out, deadline_ns);
	pthread_mutex_unlock(&lock);
	return err;
}

static void count_task(void *context, uint32_t tid)
{
	uint32_t *n = context;

	*n += !trc_sample_is_own_thread(tid);
}

uint32_t trc_thread_count(void)
{
	struct trc_tasks tasks;
	uint32_t n = 0;

	if (trc_tasks_open(&tasks))
		return 0;
	trc_tasks_each(tasks.dir, count_task, &n);
	trc_tasks_close(&tasks);
	return n;
}

void trc_thread_profile_free(struct trc_thread_profile *p)
{
	free(p);
}
