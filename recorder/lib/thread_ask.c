/* thread_ask.c - asks threads what they are doing, and takes their answers: thread_profile_private.h. */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <time.h>
#include "format/now.h"
#include "format/raw.h"
#include "recorder/ring/rec.h"
#include "recorder/sampling/sample.h"
#include "thread_profile_private.h"
#include "recorder/unwind/unwind.h"

enum {
	BLOCKS_TRIES = 3,
	NONE = -1,
};
#define MS		UINT64_C(1000000)
#define SLOW_NS		(2 * MS)  /* then others are asked in the meantime */
#define AGAIN_NS	(10 * MS) /* thread_answer:W3 */
#define LOOK_AT_SLOW_NS (1 * MS)
#define FILLING_NS	(20 * MS) /* a thread that was taken off its proc while it answers */
#define BLOCKS_NS	(200 * MS / 1000) /* of one that runs, between two looks */
#define STOOD_STILL_NS	(5 * MS) /* between two looks: more is not the time of who was asked */
#define ALL_DEADLINES	10	 /* nobody is asked any more after so many deadlines */

/*
 * For how long whoever asks has been waiting.  While it is off its proc so may be all others: of a
 * machine that stands still nobody is silent because of that.
 */
static uint64_t answers_patience(struct taking *t)
{
	uint64_t now = trc_now_ns(CLOCK_MONOTONIC), passed_ns = now - t->looked_ns;

	t->looked_ns = now;
	t->patience_ns += passed_ns < STOOD_STILL_NS ? passed_ns : STOOD_STILL_NS;
	return t->patience_ns;
}

/* ---- answers --------------------------------------------------------------------------- */

static bool is_in(uint64_t address, const uint64_t range[2])
{
	return address - 1 - range[0] < range[1] - range[0];
}

uint32_t trc_taking_frames_of_waiting(const struct taking *t, const uint64_t *frame, uint32_t n)
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
	uint32_t skip = trc_taking_frames_of_waiting(t, a->frame, a->n_frames);

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
		trc_taking_set_wait(t, i, a->reason, a->object, a->since, a->holder);
	else if (!a->blocked)
		trc_taking_set_running(t, i);
	else if (row->has_wait_ns) /* the wait that its slot told of has ended */
		trc_taking_set_wait(t, i, 0, 0, 0, 0);
	else
		row->is = TRC_THREAD_IS_WAITING;
	trc_taking_put_frames(t, i, a->frame + skip, a->n_frames - skip, a->epoch);
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
static bool question_has_ended(struct taking *t, struct question *q, uint64_t now)
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
		    ((over || now - q[i].sent_ns >= AGAIN_NS) &&
		     question_has_ended(t, &q[i], now)) ||
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

/* It is not to be asked, and waits: what can be seen of its stack, or the place of the call alone. */
static void put_part(struct taking *t, uint32_t i, uint64_t pc)
{
	if (trc_taking_look(t, i, t->frame, true))
		return;
	pc++; /* as return addresses are read */
	trc_taking_put_frames(
		t, i, &pc, 1,
		atomic_load_explicit(&trc_rec.shared->module_epoch, memory_order_relaxed));
	trc_modules_note(&pc, 1, t->p->row[i].epoch);
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
	put_part(t, i, look.pc);
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
	trc_taking_put_frames(t, i, frame + skip, n, epoch);
	trc_modules_note(frame + skip, t->p->row[i].n_frames, epoch);
}

/* The next row.  False: it has to wait. */
static bool task_visit(struct taking *t, uint32_t i)
{
	if (t->p->row[i].tid == t->own_tid) {
		put_own(t, i);
		return true;
	}
	if (t->known[i] || !may_ask(t, i) || t->gone[i])
		return true;
	if (is_deaf(t, i)) {
		set_not_asked(t, i);
		trc_taking_look(t, i, t->frame, true);
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

void trc_taking_ask_all(struct taking *t)
{
	bool room = true;

	t->looked_ns = trc_now_ns(CLOCK_MONOTONIC);
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
