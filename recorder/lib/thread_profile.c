/* thread_profile.c - see thread_profile.h */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "format/now.h"
#include "format/raw.h"
#include "recorder/shared/labels_bytes.h"
#include "recorder/ring/rec.h"
#include "recorder/sampling/sample.h"
#include "recorder/sampling/thread_answer.h"
#include "recorder/profile/thread_profile.h"
#include "thread_tasks.h"
#include "recorder/unwind/unwind.h"

enum {
	/* Asked at once: each is a thread that the program's own wait behind on some proc. */
	AT_ONCE = 4,
	SEQ_TRIES = 64,
	BLOCKS_TRIES = 3,
	NONE = -1,
};
#define MS		UINT64_C(1000000)
#define DEADLINE_NS	(100 * MS)
#define SLOW_NS		(2 * MS)  /* then others are asked in the meantime */
#define AGAIN_NS	(10 * MS) /* thread_answer:W3 */
#define LOOK_AT_SLOW_NS (1 * MS)
#define FILLING_NS	(20 * MS) /* a thread that was taken off its proc while it answers */
#define BLOCKS_NS	(200 * MS / 1000) /* of one that runs, between two looks */
#define STOOD_STILL_NS	(5 * MS) /* between two looks: more is not the time of who was asked */
#define ALL_DEADLINES	10	 /* nobody is asked any more after so many deadlines */

/* A question on its way. */
struct question {
	uint32_t row;
	int32_t cell;
	uint64_t since_ns, sent_ns;
};

/* A profile as it is being taken. */
struct taking {
	struct trc_thread_profile *p;
	uint32_t max_rows;
	uint64_t *stack_id;  /* [max_rows] of what is recorded; 0 = none */
	uint64_t *labels_id; /* [max_rows] */
	uint64_t *creation;  /* [max_rows] stacks; 0 = none */
	uint32_t *creator;   /* [max_rows] serials */
	uint64_t *holder;    /* [max_rows] as in a slot */
	bool *gone;	     /* [max_rows] */
	struct question *slow;
	uint32_t n_slow;
	struct question fresh[AT_ONCE];
	uint32_t n_fresh;
	uint32_t next_row, next_cell;
	uint64_t deadline_ns, begin_ns, slow_seen_ns;
	uint64_t patience_ns, looked_ns; /* answers_patience() */
	uint32_t own_tid;
	struct trc_tasks tasks;
	uint64_t libc[2];
	int err;

	/* What rows point to; as offsets until it is complete, since it moves as it grows. */
	uint64_t *words;
	size_t n_words, max_words;
	size_t *frames_at, *creation_at, *labels_at; /* [max_rows] */
};

/* Guards the cells of thread_answer.h; nothing is locked inside. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void trc_thread_profile_forget(void)
{
	static const pthread_mutex_t unlocked = PTHREAD_MUTEX_INITIALIZER;

	lock = unlocked;
}

static uint64_t now_ns(void)
{
	return trc_now_ns(CLOCK_MONOTONIC);
}

/*
 * For how long whoever asks has been waiting.  While it is off its proc so may be all others: of a
 * machine that stands still nobody is silent because of that.
 */
static uint64_t answers_patience(struct taking *t)
{
	uint64_t now = now_ns(), passed_ns = now - t->looked_ns;

	t->looked_ns = now;
	t->patience_ns += passed_ns < STOOD_STILL_NS ? passed_ns : STOOD_STILL_NS;
	return t->patience_ns;
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

static void put_frames(struct taking *t, uint32_t i, const uint64_t *frame, uint32_t n,
		       uint32_t epoch)
{
	size_t at = words_take(t, n);

	if (at == SIZE_MAX)
		return;
	if (n)
		memcpy(t->words + at, frame, n * sizeof(*frame));
	t->frames_at[i] = at;
	t->p->row[i].n_frames = n;
	t->p->row[i].epoch = epoch;
}

/* Labels with the bytes that they refer to behind them; the references are made in the end. */
static void put_labels(struct taking *t, uint32_t i)
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

static bool rows_grow(struct taking *t)
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

static void add_task(void *context, uint32_t tid)
{
	struct taking *t = context;

	if (trc_sample_is_own_thread(tid) || t->err ||
	    (t->p->n_rows == t->max_rows && !rows_grow(t)))
		return;
	t->p->row[t->p->n_rows++] = (struct trc_thread_row){.tid = tid};
}

static int by_tid(const void *a, const void *b)
{
	const struct trc_thread_row *x = a, *y = b;

	return (x->tid > y->tid) - (x->tid < y->tid);
}

static int64_t row_of(const struct taking *t, uint32_t tid)
{
	const struct trc_thread_row key = {.tid = tid}, *row;

	row = bsearch(&key, t->p->row, t->p->n_rows, sizeof(key), by_tid);
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
	t->slow = calloc(n, sizeof(*t->slow));
	t->frames_at = calloc(n, sizeof(*t->frames_at));
	t->creation_at = calloc(n, sizeof(*t->creation_at));
	t->labels_at = calloc(n, sizeof(*t->labels_at));
	return t->stack_id && t->labels_id && t->creation && t->creator && t->holder && t->gone &&
			       t->slow && t->frames_at && t->creation_at && t->labels_at
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
	free(t->slow);
	free(t->frames_at);
	free(t->creation_at);
	free(t->labels_at);
}

static int list_threads(struct taking *t)
{
	trc_tasks_each(t->tasks.dir, add_task, t);
	if (t->err)
		return t->err;
	if (t->p->n_rows)
		qsort(t->p->row, t->p->n_rows, sizeof(*t->p->row), by_tid);
	return columns_make(t);
}

/* ---- what slots tell ------------------------------------------------------------------- */

struct slot_look {
	uint32_t serial, tid, creator, reason, name_bytes;
	uint64_t object, since, stack, holder, labels, creation;
	uint64_t name[TRC_THREAD_NAME_BYTES / 8];
};

static void slot_load(const struct trc_slot *slot, struct slot_look *l)
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
static bool slot_look(const struct trc_slot *slot, struct slot_look *l)
{
	for (int i = 0; i < SEQ_TRIES; i++) {
		/* acquire: pairs with the release that ends a change: its fields are seen. */
		uint32_t seq = atomic_load_explicit(&slot->seq, memory_order_acquire);

		slot_load(slot, l);
		/* acquire fence: the loads above come before the second look at the counter;
		 * pairs with the release fence that begins a change. */
		atomic_thread_fence(memory_order_acquire);
		if (!(seq & 1) && seq == atomic_load_explicit(&slot->seq, memory_order_relaxed))
			return true;
	}
	return false;
}

static void set_wait(struct taking *t, uint32_t i, uint32_t reason, uint64_t object, uint64_t since,
		     uint64_t holder)
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

static void set_running(struct taking *t, uint32_t i)
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
	bool whole = slot_look(slot, &look);
	int64_t i = row_of(t, look.tid);

	/* A later thread of the same tid has the later slot. */
	if (i < 0 || t->p->row[i].serial > look.serial)
		return;
	row = &t->p->row[i];
	row->serial = look.serial;
	t->creator[i] = look.creator;
	t->creation[i] = look.creation;
	t->labels_id[i] = look.labels;
	if (look.name_bytes < sizeof(row->name)) {
		memset(row->name, 0, sizeof(row->name));
		memcpy(row->name, look.name, look.name_bytes);
	}
	set_running(t, (uint32_t)i);
	t->stack_id[i] = 0;
	if (!whole || !look.reason)
		return;
	set_wait(t, (uint32_t)i, look.reason, look.object, look.since, look.holder);
	t->stack_id[i] = look.stack;
}

static void look_at_slots(struct taking *t)
{
	struct trc_shared *shared = trc_rec.shared;

	for (uint32_t i = 0; i < trc_slots_used(shared, shared->n_threads); i++) {
		const struct trc_slot *slot = trc_slot_at(shared, i);

		/* acquire: pairs with the release of LIVE: the slot is filled in. */
		if (atomic_load_explicit(&slot->state, memory_order_acquire) == TRC_SLOT_LIVE)
			add_slot(t, slot);
	}
}

/* A stack that was recorded when its thread began to wait: nobody need be asked. */
static bool put_recorded(struct taking *t, uint32_t i)
{
	uint64_t frame[TRC_STACK_DEPTH_MAX];
	uint32_t epoch, n;

	if (t->p->row[i].is != TRC_THREAD_IS_WAITING || !t->stack_id[i])
		return false;
	n = trc_stack_copy_by(trc_rec.shared, trc_rec.shared, t->stack_id[i], &epoch, frame);
	if (n)
		put_frames(t, i, frame, n, epoch);
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

/* ---- answers --------------------------------------------------------------------------- */

static bool is_in(uint64_t address, const uint64_t range[2])
{
	return address - 1 - range[0] < range[1] - range[0];
}

/*
 * Of a thread that waits, how many innermost frames are how that is done: libc's and then an
 * interposer of ours.  What is left is the stack that would have been recorded.
 */
static uint32_t frames_of_waiting(const struct taking *t, const uint64_t *frame, uint32_t n)
{
	uint32_t i = 0;

	while (i < n && is_in(frame[i], t->libc))
		i++;
	if (i == n || !is_in(frame[i], trc_own_text))
		return 0;
	while (i < n && is_in(frame[i], trc_own_text))
		i++;
	/* A thread's first function is ours as well: below it there is only libc. */
	return i < n && !is_in(frame[i], t->libc) ? i : 0;
}

static void put_answer(struct taking *t, uint32_t i, const struct trc_answer *a)
{
	struct trc_thread_row *row = &t->p->row[i];
	uint32_t skip = frames_of_waiting(t, a->frame, a->n_frames);

	row->interrupted_ns = trc_clock_ticks_to_ns(a->end - a->begin);
	if (row->interrupted_ns > t->p->longest_ns)
		t->p->longest_ns = row->interrupted_ns;
	if (a->serial) {
		row->serial = a->serial;
		t->labels_id[i] = a->labels;
	}
	if (!row->name[0])
		memcpy(row->name, a->name, sizeof(a->name));
	if (a->serial && a->reason)
		set_wait(t, i, a->reason, a->object, a->since, a->holder);
	else if (!a->blocked)
		set_running(t, i);
	else if (row->has_wait_ns) /* the wait that its slot told of has ended */
		set_wait(t, i, 0, 0, 0, 0);
	else
		row->is = TRC_THREAD_IS_WAITING;
	put_frames(t, i, a->frame + skip, a->n_frames - skip, a->epoch);
	trc_modules_note(a->frame, a->n_frames, a->epoch);
}

static void set_silent(struct taking *t, uint32_t i)
{
	t->p->row[i].is = TRC_THREAD_IS_SILENT;
	t->p->n_silent++;
}

/* ---- questions ------------------------------------------------------------------------- */

/* The next cell in this phase; NONE = there is none. */
static int32_t cell_find(struct taking *t, enum trc_answer_phase phase)
{
	for (uint32_t i = 0; i < TRC_ANSWERS_MAX; i++) {
		uint32_t cell = (t->next_cell + i) % TRC_ANSWERS_MAX;
		uint64_t state =
			atomic_load_explicit(&trc_answer_cell(cell)->state, memory_order_relaxed);

		if (TRC_ANSWER_PHASE(state) != phase)
			continue;
		t->next_cell = cell + 1;
		return (int32_t)cell;
	}
	return NONE;
}

/* A cell that nobody writes to; NONE = each waits for its thread. */
static int32_t cell_take(struct taking *t)
{
	int32_t cell = cell_find(t, TRC_ANSWER_FREE);

	return cell != NONE ? cell : cell_find(t, TRC_ANSWER_DROPPED);
}

/* Those that are in use now lie close together: memory that was touched is used again. */
static void cell_give(struct taking *t, int32_t cell)
{
	trc_answer_give((uint32_t)cell);
	if ((uint32_t)cell < t->next_cell)
		t->next_cell = (uint32_t)cell;
}

/* True if it has been answered: it is done with. */
static bool take_answer(struct taking *t, const struct question *q)
{
	struct trc_answer *a = trc_answer_cell((uint32_t)q->cell);
	/* acquire: pairs with the release of who answers: all of it is there (thread_answer:W2). */
	uint64_t state = atomic_load_explicit(&a->state, memory_order_acquire);

	if (TRC_ANSWER_PHASE(state) != TRC_ANSWER_ANSWERED)
		return false;
	put_answer(t, q->row, a);
	cell_give(t, q->cell);
	return true;
}

/* Its time is over.  True if it is done with: not while the thread writes its answer, which
 * takes microseconds unless it was taken off its proc. */
static bool answers_give_up(struct taking *t, const struct question *q, uint64_t waited_ns)
{
	struct trc_task_look look;

	if (trc_answer_drop((uint32_t)q->cell)) {
		trc_task_look(t->tasks.dir, t->p->row[q->row].tid, 0, &look);
		if (look.is == TRC_TASK_GONE) /* but for its entry: the first thread */
			t->gone[q->row] = true;
		else
			set_silent(t, q->row);
		return true;
	}
	if (take_answer(t, q))
		return true;
	if (waited_ns < t->deadline_ns + FILLING_NS)
		return false;
	set_silent(t, q->row); /* its cell is nobody's until the next profile */
	return true;
}

/* Asks again.  True if that cannot be: the thread has ended with the question. */
static bool has_ended(struct taking *t, struct question *q, uint64_t now)
{
	q->sent_ns = now;
	if (trc_answer_ask_again((uint32_t)q->cell) != -ESRCH ||
	    !trc_answer_drop((uint32_t)q->cell))
		return false;
	t->gone[q->row] = true;
	return true;
}

/* Keeps the questions that are still open; moves those that take long out of the way. */
static uint32_t answers_harvest(struct taking *t, struct question *q, uint32_t n, bool fresh)
{
	uint64_t now = answers_patience(t);
	uint32_t kept = 0;

	for (uint32_t i = 0; i < n; i++) {
		uint64_t waited_ns = now - q[i].since_ns;
		bool over = waited_ns >= t->deadline_ns;

		if (take_answer(t, &q[i]) ||
		    ((over || now - q[i].sent_ns >= AGAIN_NS) && has_ended(t, &q[i], now)) ||
		    (over && answers_give_up(t, &q[i], waited_ns)))
			continue;
		if (fresh && waited_ns >= SLOW_NS)
			t->slow[t->n_slow++] = q[i];
		else
			q[kept++] = q[i];
	}
	return kept;
}

static void set_not_asked(struct taking *t, uint32_t i)
{
	t->p->row[i].not_asked = true;
	t->p->n_not_asked++;
}

/* Of a wait that is recorded, whether its interposer makes the call again, all of it: not if a part
 * may be done, and not if somebody else's call is what waits. */
static bool is_made_again(const struct trc_thread_row *row)
{
	switch (row->reason) {
	case TRC_REASON_NONE:
	case TRC_REASON_USER:
	case TRC_REASON_READ:
	case TRC_REASON_WRITE:
	case TRC_REASON_RECV:
	case TRC_REASON_SEND:
	case TRC_REASON_AIO:
		return false;
	}
	return true;
}

/* What the kernel tells of a thread before it is asked.  False: it is not to be asked. */
static bool may_ask(struct taking *t, uint32_t i)
{
	struct trc_thread_row *row = &t->p->row[i];
	bool recorded = row->is == TRC_THREAD_IS_WAITING;
	struct trc_task_look look;

	if (recorded && is_made_again(row))
		return true;
	trc_task_look(t->tasks.dir, row->tid, recorded ? row->reason : 0, &look);
	t->gone[i] = look.is == TRC_TASK_GONE;
	if (look.is == TRC_TASK_UNKNOWN)
		set_not_asked(t, i);
	if (look.is != TRC_TASK_BLOCKED)
		return look.is == TRC_TASK_RUNNING;
	row->is = TRC_THREAD_IS_WAITING;
	if (!recorded)
		row->reason = look.reason;
	if (!look.fragile)
		return true;
	set_not_asked(t, i);
	look.pc++; /* as return addresses are read */
	put_frames(t, i, &look.pc, 1,
		   atomic_load_explicit(&trc_rec.shared->module_epoch, memory_order_relaxed));
	trc_modules_note(&look.pc, 1, t->p->row[i].epoch);
	return false;
}

/* The signal would stay pending, perhaps for ever.  A thread that runs may block it for a moment
 * only, as each does that begins or that handles a signal of ours. */
static bool is_deaf(struct taking *t, uint32_t i)
{
	const struct trc_thread_row *row = &t->p->row[i];
	const struct timespec pause = {0, BLOCKS_NS};

	for (int tries = 1; trc_task_blocks(t->tasks.dir, row->tid, SIGPROF); tries++) {
		if (row->is != TRC_THREAD_IS_RUNNING || tries == BLOCKS_TRIES)
			return true;
		trc_raw2(SYS_nanosleep, &pause, NULL);
	}
	return false;
}

/* False: there is no cell. */
static bool thread_ask(struct taking *t, uint32_t i)
{
	int32_t cell = cell_take(t);
	uint64_t now = answers_patience(t);
	int err;

	if (cell == NONE)
		return false;
	err = trc_answer_ask((uint32_t)cell, t->p->row[i].tid);
	if (err == -ESRCH)
		t->gone[i] = true;
	else if (err && err != -EAGAIN)
		set_not_asked(t, i);
	/* While some thread is in an exec it is only later sent, as if it had been lost. */
	if (err && err != -EAGAIN)
		return true;
	t->p->row[i].asked = true;
	t->p->n_asked++;
	t->fresh[t->n_fresh++] = (struct question){i, cell, now, now};
	return true;
}

/* The thread that takes the profile. */
static void put_own(struct taking *t, uint32_t i)
{
	uint64_t frame[TRC_UNWIND_FRAMES_MAX];
	uint32_t n = trc_unwind(frame, TRC_UNWIND_FRAMES_MAX, 0), skip = 0;
	uint32_t epoch = atomic_load_explicit(&trc_rec.shared->module_epoch, memory_order_relaxed);

	while (skip < n && is_in(frame[skip], trc_own_text))
		skip++;
	n -= skip;
	if (n > TRC_STACK_DEPTH_MAX) {
		trc_unwind_elide(NULL, frame + skip, skip);
		n = TRC_STACK_DEPTH_MAX;
	}
	t->p->row[i].is = TRC_THREAD_IS_RUNNING;
	put_frames(t, i, frame + skip, n, epoch);
	trc_modules_note(frame + skip, t->p->row[i].n_frames, epoch);
}

/* The next row.  False: it has to wait. */
static bool task_visit(struct taking *t, uint32_t i)
{
	if (t->p->row[i].tid == t->own_tid) {
		put_own(t, i);
		return true;
	}
	if (put_recorded(t, i) || !may_ask(t, i) || t->gone[i])
		return true;
	if (is_deaf(t, i)) {
		set_not_asked(t, i);
		return true;
	}
	if (answers_patience(t) < ALL_DEADLINES * t->deadline_ns)
		return thread_ask(t, i);
	set_silent(t, i);
	return true;
}

static void look_at_slow(struct taking *t)
{
	uint64_t now = answers_patience(t);

	if (now - t->slow_seen_ns < LOOK_AT_SLOW_NS)
		return;
	t->slow_seen_ns = now;
	t->n_slow = answers_harvest(t, t->slow, t->n_slow, false);
}

static void ask_all(struct taking *t)
{
	bool room = true;

	while (!t->err && (t->next_row < t->p->n_rows || t->n_fresh || t->n_slow)) {
		uint32_t seen = trc_answers_count();

		t->n_fresh = answers_harvest(t, t->fresh, t->n_fresh, true);
		look_at_slow(t);
		room = true;
		while (room && t->next_row < t->p->n_rows && t->n_fresh < AT_ONCE) {
			room = task_visit(t, t->next_row);
			t->next_row += room;
		}
		if (t->n_fresh == AT_ONCE || !room || t->next_row == t->p->n_rows)
			trc_answers_wait(seen, LOOK_AT_SLOW_NS);
	}
	/* After an error, or else none is left. */
	for (uint32_t i = 0; i < t->n_fresh; i++)
		trc_answer_drop((uint32_t)t->fresh[i].cell);
	for (uint32_t i = 0; i < t->n_slow; i++)
		trc_answer_drop((uint32_t)t->slow[i].cell);
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
	whole->duration_ns = now_ns() - t->begin_ns;
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
	look_at_slots(t);
	t->looked_ns = now_ns();
	ask_all(t);
	for (uint32_t i = 0; i < t->p->n_rows && !t->err; i++) {
		put_labels(t, i);
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
			   .deadline_ns = deadline_ns ? deadline_ns : DEADLINE_NS,
			   .begin_ns = now_ns(),
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
