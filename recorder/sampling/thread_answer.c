/*
 * thread_answer.c - see thread_answer.h.  Context, where nothing else is said: signal handler of
 * the interrupted thread, all signals blocked; whatever it has interrupted may be in the middle of
 * anything.
 */
#include <errno.h>
#include <linux/futex.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>
#include <ucontext.h>
#include "format/raw.h"
#include "recorder/ring/rec.h"
#include "sample_private.h"
#include "thread_answer.h"
#include "recorder/unwind/unwind.h"
#include "recorder/unwind/poison.h"

/*
 * What comes with a question: 16 bits that no pointer has, the cell, and as much as fits of the
 * question's number.
 */
#define MARK	   UINT64_C(0xa5c3)
#define MARK_SHIFT 48
#define CELL_SHIFT 32
#define CELL_MASK  UINT64_C(0xffff)

static struct trc_answer *_Atomic cells; /* [TRC_ANSWERS_MAX]; NULL = nobody has ever asked */
static _Atomic uint32_t cells_used;	 /* those from here on were never asked by */
static uint64_t questions;		 /* so far; the number of the last */
static bool any_dropped;		 /* there may be such cells; for who asks */
static _Atomic uint32_t n_answers;	 /* a futex word */
static _Atomic bool waiting;		 /* who asks sleeps on it */
static _Atomic uint32_t sending;	 /* who asks is about to send, or does */
static _Atomic uint32_t n_held;		 /* threads in an exec (W5) */
static _Atomic uint32_t own_pid;	 /* whose memory this is */

/* Context: any. */
static void forget_dropped(struct trc_answer *a)
{
	uint64_t state = atomic_load_explicit(&a->state, memory_order_relaxed);

	if (TRC_ANSWER_PHASE(state) == TRC_ANSWER_DROPPED)
		atomic_compare_exchange_strong_explicit(&a->state, &state, TRC_ANSWER_FREE,
							memory_order_relaxed, memory_order_relaxed);
}

/* ---- asking.  Context: the one thread that asks --------------------------------------- */

/* A forked child reads zeros: nobody is asked there, and signals of its parent's do not come. */
static struct trc_answer *map_cells(void)
{
	const size_t n_bytes = TRC_ANSWERS_MAX * sizeof(*cells);
	void *map = mmap(NULL, n_bytes, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (map == MAP_FAILED)
		return NULL;
	madvise(map, n_bytes, MADV_WIPEONFORK);
	madvise(map, n_bytes, MADV_DONTDUMP);
	return map;
}

static bool thread_is_gone(uint32_t tid)
{
	return trc_raw3(SYS_tgkill, trc_raw1(SYS_getpid, 0), tid, 0) == -ESRCH;
}

/* What the profile before has left behind. */
static void reclaim(uint32_t i)
{
	/* acquire: pairs with the release of who answered: it is done with the cell. */
	uint64_t state = atomic_load_explicit(&cells[i].state, memory_order_acquire);

	if (TRC_ANSWER_PHASE(state) == TRC_ANSWER_ANSWERED)
		trc_answer_give(i);
	if (TRC_ANSWER_PHASE(state) != TRC_ANSWER_DROPPED)
		return;
	if (thread_is_gone(atomic_load_explicit(&cells[i].tid, memory_order_relaxed)))
		forget_dropped(&cells[i]);
	else
		any_dropped = true;
}

int trc_answers_setup(void)
{
	if (!cells)
		cells = map_cells();
	if (!cells)
		return -ENOMEM;
	any_dropped = false;
	for (uint32_t i = 0; i < cells_used; i++)
		reclaim(i);
	/* seq_cst: see set_own_pid(). */
	atomic_store_explicit(&own_pid, (uint32_t)trc_raw1(SYS_getpid, 0), memory_order_seq_cst);
	trc_sample_own_signal();
	return 0;
}

struct trc_answer *trc_answer_cell(uint32_t i)
{
	return &cells[i];
}

static int send_now(uint32_t i, uint64_t number)
{
	siginfo_t info;

	memset(&info, 0, sizeof(info));
	info.si_signo = SIGPROF;
	info.si_code = SI_QUEUE;
	info.si_pid = (pid_t)trc_raw1(SYS_getpid, 0);
	info.si_value.sival_ptr = (void *)(uintptr_t)(MARK << MARK_SHIFT |
						      (uint64_t)i << CELL_SHIFT | (uint32_t)number);
	return (int)trc_raw4(SYS_rt_tgsigqueueinfo, info.si_pid,
			     atomic_load_explicit(&cells[i].tid, memory_order_relaxed), SIGPROF,
			     &info);
}

/* seq_cst, all three: pairs with trc_answers_hold().  Of this thread, which stores `sending` and
 * loads n_held, and a thread about to exec, which adds to n_held and loads `sending`, at least one
 * sees the other's store.  A thread that then loads 0 from `sending` finds the signal pending, or
 * not sent. */
static int send(uint32_t i, uint64_t number)
{
	int err;

	atomic_store_explicit(&sending, 1, memory_order_seq_cst);
	err = atomic_load_explicit(&n_held, memory_order_seq_cst) ? -EAGAIN : send_now(i, number);
	atomic_store_explicit(&sending, 0, memory_order_seq_cst);
	return err;
}

/* This thread gets a cell by which what it was sent before is known as well.  Mostly there is none
 * to be looked for. */
static void forget_dropped_of(uint32_t tid)
{
	for (uint32_t i = 0; any_dropped && i < cells_used; i++)
		if (atomic_load_explicit(&cells[i].tid, memory_order_relaxed) == tid)
			forget_dropped(&cells[i]);
}

int trc_answer_ask(uint32_t i, uint32_t tid)
{
	struct trc_answer *a = trc_answer_cell(i);
	uint64_t asked = TRC_ANSWER_STATE(++questions, TRC_ANSWER_ASKED);
	int err;

	forget_dropped_of(tid);
	if (i >= atomic_load_explicit(&cells_used, memory_order_relaxed))
		atomic_store_explicit(&cells_used, i + 1, memory_order_relaxed);
	atomic_store_explicit(&a->tid, tid, memory_order_relaxed);
	a->sent_again = false;
	/* release: pairs with the acquire in thread_answer_write(): the cell is the thread's
	 * from here on. */
	atomic_store_explicit(&a->state, asked, memory_order_release);
	err = send(i, questions);
	if (err && err != -EAGAIN)
		atomic_store_explicit(&a->state, TRC_ANSWER_FREE, memory_order_relaxed);
	return err;
}

int trc_answer_ask_again(uint32_t i)
{
	cells[i].sent_again = true;
	return send(i,
		    TRC_ANSWER_NUMBER(atomic_load_explicit(&cells[i].state, memory_order_relaxed)));
}

bool trc_answer_drop(uint32_t i)
{
	uint64_t state = atomic_load_explicit(&cells[i].state, memory_order_relaxed);

	any_dropped = true;
	return TRC_ANSWER_PHASE(state) == TRC_ANSWER_ASKED &&
	       atomic_compare_exchange_strong_explicit(
		       &cells[i].state, &state,
		       TRC_ANSWER_STATE(TRC_ANSWER_NUMBER(state), TRC_ANSWER_DROPPED),
		       memory_order_relaxed, memory_order_relaxed);
}

void trc_answer_give(uint32_t i)
{
	uint64_t state = atomic_load_explicit(&cells[i].state, memory_order_relaxed);

	/* The answer may have been to the first signal, and the second be on its way. */
	any_dropped |= cells[i].sent_again;
	atomic_store_explicit(
		&cells[i].state,
		cells[i].sent_again ? TRC_ANSWER_STATE(TRC_ANSWER_NUMBER(state), TRC_ANSWER_DROPPED)
				    : TRC_ANSWER_FREE,
		memory_order_relaxed);
}

uint32_t trc_answers_count(void)
{
	/* seq_cst: see trc_answers_wait(), which compares with this number. */
	return atomic_load_explicit(&n_answers, memory_order_seq_cst);
}

void trc_answers_wait(uint32_t seen, uint64_t ns)
{
	const struct timespec patience = {(time_t)(ns / 1000000000), (long)(ns % 1000000000)};

	/* seq_cst: pairs with trc_answer_signal().  Either this thread, which stores `waiting` and
	 * loads n_answers, sees the answer, or the answering thread, which adds to n_answers and
	 * loads `waiting`, sees that this thread waits. */
	atomic_store_explicit(&waiting, true, memory_order_seq_cst);
	if (atomic_load_explicit(&n_answers, memory_order_seq_cst) == seen)
		trc_raw4(SYS_futex, &n_answers, FUTEX_WAIT | FUTEX_PRIVATE_FLAG, seen, &patience);
	/* seq_cst like the store above; seen late, it costs a wake-up of nobody. */
	atomic_store_explicit(&waiting, false, memory_order_seq_cst);
}

/* ---- exec.  Context: any thread, signal handlers --------------------------------------- */

__attribute__((constructor)) static void set_own_pid(void)
{
	/* seq_cst: stronger than need be, since only the value counts: all threads of a process
	 * store the same, and a vfork child, which has another pid, loads its parent's. */
	atomic_store_explicit(&own_pid, (uint32_t)trc_raw1(SYS_getpid, 0), memory_order_seq_cst);
}

bool trc_answers_hold(void)
{
	/* As long as no call to send takes; in a handler it may be this very thread that sends. */
	enum { TRIES = 1000, PAUSE_NS = 100000 };
	const struct timespec pause = {0, PAUSE_NS};

	/* seq_cst: see set_own_pid(). */
	if (atomic_load_explicit(&own_pid, memory_order_seq_cst) !=
	    (uint32_t)trc_raw1(SYS_getpid, 0))
		return false;
	/* seq_cst, both: pairs with send(). */
	atomic_fetch_add_explicit(&n_held, 1, memory_order_seq_cst);
	for (int i = 0; i < TRIES && atomic_load_explicit(&sending, memory_order_seq_cst); i++)
		trc_raw2(SYS_nanosleep, &pause, NULL);
	return true;
}

void trc_answers_release(void)
{
	/* seq_cst: pairs with send(), which sends again once it loads 0. */
	atomic_fetch_sub_explicit(&n_held, 1, memory_order_seq_cst);
}

bool trc_answers_asked(void)
{
	return cells != NULL;
}

void trc_answers_forget(void)
{
	/* seq_cst as everywhere; in a forked child this is the only thread. */
	atomic_store_explicit(&n_held, 0, memory_order_seq_cst);
	atomic_store_explicit(&sending, 0, memory_order_seq_cst);
	set_own_pid();
}

/* ---- which question -------------------------------------------------------------------- */

static bool has_mark(const siginfo_t *info)
{
	return info->si_code == SI_QUEUE &&
	       (uintptr_t)info->si_value.sival_ptr >> MARK_SHIFT == MARK;
}

/* The cell by which this thread is asked, or was; NULL = none. */
static struct trc_answer *asked_by(uint32_t tid)
{
	uint32_t n = atomic_load_explicit(&cells_used, memory_order_relaxed);
	struct trc_answer *was = NULL;

	for (uint32_t i = 0; i < n; i++) {
		uint64_t state = atomic_load_explicit(&cells[i].state, memory_order_relaxed);

		if (TRC_ANSWER_PHASE(state) == TRC_ANSWER_FREE ||
		    atomic_load_explicit(&cells[i].tid, memory_order_relaxed) != tid)
			continue;
		if (TRC_ANSWER_PHASE(state) == TRC_ANSWER_ASKED)
			return &cells[i];
		was = &cells[i];
	}
	return was;
}

/* W4: it looks as if it came from nobody. */
static bool has_lost_its_mark(const siginfo_t *info)
{
	return info->si_code == SI_USER && !info->si_pid && !info->si_uid &&
	       asked_by((uint32_t)trc_raw1(SYS_gettid, 0)) != NULL;
}

bool trc_answer_is_question(const siginfo_t *info)
{
	return cells && (has_mark(info) || has_lost_its_mark(info));
}

/* NULL: it is out of date. */
static struct trc_answer *cell_of(const siginfo_t *info, uint32_t tid)
{
	uint64_t value = (uintptr_t)info->si_value.sival_ptr, state;
	struct trc_answer *a;

	if (!has_mark(info))
		return asked_by(tid);
	a = &cells[(value >> CELL_SHIFT & CELL_MASK) % TRC_ANSWERS_MAX];
	state = atomic_load_explicit(&a->state, memory_order_relaxed);
	return (uint32_t)TRC_ANSWER_NUMBER(state) == (uint32_t)value &&
			       atomic_load_explicit(&a->tid, memory_order_relaxed) == tid
		       ? a
		       : NULL;
}

/* The question becomes the thread's; false: it was taken back, or is answered (W1). */
static bool take_question(struct trc_answer *a, uint64_t *number)
{
	uint64_t state = atomic_load_explicit(&a->state, memory_order_relaxed);

	*number = TRC_ANSWER_NUMBER(state);
	/* acquire: pairs with the release in trc_answer_ask(). */
	if (TRC_ANSWER_PHASE(state) == TRC_ANSWER_ASKED &&
	    atomic_compare_exchange_strong_explicit(&a->state, &state,
						    TRC_ANSWER_STATE(*number, TRC_ANSWER_FILLING),
						    memory_order_acquire, memory_order_relaxed))
		return true;
	forget_dropped(a); /* it has come */
	return false;
}

/* ---- the answer ------------------------------------------------------------------------ */

/* Whether the kernel is about to end a call with EINTR, or to make it again. */
#if defined(__x86_64__)
static bool was_blocked(const ucontext_t *context)
{
	enum { SYSCALL_BYTES = 2 };
	const greg_t *reg = context->uc_mcontext.gregs;

	/* A call that is made again: the instruction has left its own end in rcx. */
	return reg[REG_RAX] == -EINTR || reg[REG_RCX] == reg[REG_RIP] + SYSCALL_BYTES;
}
#else
static bool was_blocked(const ucontext_t *context)
{
	enum { PAGE = 4096 };
	const mcontext_t *m = &context->uc_mcontext;

	return m->regs[0] == (uint64_t)-EINTR ||
	       (m->pc % 4 == 0 && m->pc / PAGE &&
		*(const uint32_t *)(uintptr_t)m->pc == 0xd4000001);
}
#endif

/* False on an alternate stack of the program's that is too small: to attach and to walk would
 * write below it. */
static bool stack_has_room(const ucontext_t *context)
{
	enum { ROOM = 4096 };
	uintptr_t off = (uintptr_t)__builtin_frame_address(0) - (uintptr_t)context->uc_stack.ss_sp;

	return off >= context->uc_stack.ss_size || off >= ROOM;
}

static void fill_from_slot(struct trc_answer *a)
{
	const struct trc_slot *slot = trc_self.slot;

#define LOAD(field) atomic_load_explicit(&slot->field, memory_order_relaxed)
	/* The signal came while the slot was being changed: its fields do not fit together. */
	if (trc_self.slot_busy || !LOAD(tid))
		return;
	a->reason = LOAD(wait_reason);
	a->object = LOAD(wait_object);
	a->since = LOAD(wait_since);
	a->holder = LOAD(wait_holder);
#undef LOAD
}

/* What the recorder knows of the thread, which gets known to it. */
static void fill_from_self(struct trc_answer *a)
{
	a->serial = 0;
	a->labels = 0;
	a->reason = 0;
	if (!trc_recording() || !trc_self_ready())
		return;
	a->serial = trc_self.serial;
	a->labels = trc_self.labels;
	trc_labels_touch(a->labels); /* for who copies them: they stay that long */
	fill_from_slot(a);
}

static void fill_stack(struct trc_answer *a, const void *context)
{
	a->epoch = trc_recording() ? atomic_load_explicit(&trc_rec.shared->module_epoch,
							  memory_order_relaxed)
				   : 0;
	if (!context) {
		a->n_frames = trc_unwind(a->frame, TRC_STACK_DEPTH_MAX, 0);
		if (a->n_frames == TRC_STACK_DEPTH_MAX)
			trc_unwind_elide(NULL, a->frame, 0);
		return;
	}
	a->n_frames = trc_unwind_context(context, a->frame, TRC_STACK_DEPTH_MAX);
	if (a->n_frames == TRC_STACK_DEPTH_MAX)
		trc_unwind_elide(context, a->frame, 0);
	/* As in trc_record_stack_of(): readers look before return addresses. */
	if (a->n_frames)
		a->frame[0]++;
}

static void thread_answer_write(struct trc_answer *a, uint64_t number, const void *context)
{
	a->begin = trc_clock_now();
	a->blocked = !context || was_blocked(context);
	a->cramped = context && !stack_has_room(context);
	a->n_frames = 0;
	memset(a->name, 0, sizeof(a->name));
	trc_raw2(SYS_prctl, PR_GET_NAME, a->name);
	if (!a->cramped) {
		trc_self.no_wait++;
		fill_stack(a, context);
		fill_from_self(a);
		trc_self.no_wait--;
	} else {
		a->serial = a->reason = 0;
		a->labels = 0;
	}
	a->end = trc_clock_now();
	/* release: pairs with the acquire of who asked (W2). */
	atomic_store_explicit(&a->state, TRC_ANSWER_STATE(number, TRC_ANSWER_ANSWERED),
			      memory_order_release);
}

void trc_answer_signal(const siginfo_t *info, const void *context)
{
	uint64_t number;
	int saved = errno;
	struct trc_answer *a = cell_of(info, (uint32_t)trc_raw1(SYS_gettid, 0));

	if (!a || !take_question(a, &number))
		return;
	thread_answer_write(a, number, context);
	/* seq_cst, both: pairs with trc_answers_wait(). */
	atomic_fetch_add_explicit(&n_answers, 1, memory_order_seq_cst);
	if (atomic_load_explicit(&waiting, memory_order_seq_cst))
		trc_raw3(SYS_futex, &n_answers, FUTEX_WAKE | FUTEX_PRIVATE_FLAG, 1);
	errno = saved;
}
