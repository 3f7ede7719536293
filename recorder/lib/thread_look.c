/* thread_look.c - where waiting threads are, without asking the threads:
 * thread_profile_private.h. */
#include <linux/futex.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/uio.h>
#include "format/raw.h"
#include "recorder/guest/closing.h"
#include "recorder/guest/labels.h"
#include "recorder/guest/own_thread.h"
#include "recorder/ring/rec.h"
#include "recorder/ring/slot_inline.h"
#include "recorder/shared/signals.h"
#include "recorder/shared/slot_look.h"
#include "recorder/unwind/memory.h"
#include "thread_profile_private.h"

enum {
#if defined(__x86_64__)
	SYSCALL_BYTES = 2, /* the instruction, behind which a thread that is in a call has its pc */
#else
	SYSCALL_BYTES = 4,
#endif
	HELPERS_MAX = 3,
	ROWS_EACH =
		1000, /* some 15 ms; to begin and to end takes a helper a tenth of a millisecond */
	PAGE_BYTES = 4096,
	STACK_BYTES = 2048, /* copied at once: most of what a thread that waits has on its stack */
};

/* What is found of a thread, before it is known whether that holds. */
struct found {
	uint32_t serial; /* 0 = it is not of the session */
	uint32_t reason, epoch;
	uint32_t n_frames;
	uint64_t *frame; /* [TRC_UNWIND_WALK_MAX] */
	bool is_whole;
	uint64_t object, since, holder, labels;
};

/* A piece of its stack, copied. */
struct stack {
	struct trc_copied copied;
	uintptr_t word[STACK_BYTES / sizeof(uintptr_t)];
};

/* ---- its memory -------------------------------------------------------------------------- */

/*
 * The kernel knows where each thread's list of robust mutexes is, which glibc keeps beside what
 * pthread_self() points to.  0 = there is none, or a filter forbids to ask.
 */
static uintptr_t robust_list(uint32_t tid)
{
	uintptr_t head = 0;
	size_t n_bytes;

	return trc_raw3(SYS_get_robust_list, tid, &head, &n_bytes) ? 0 : head;
}

void trc_taking_look_setup(struct taking *t)
{
	uintptr_t self = (uintptr_t)pthread_self(), list = robust_list(0);

	t->list_off = list ? (intptr_t)(list - self) : 0;
	t->self_off = (intptr_t)((uintptr_t)&trc_self - self);
	t->labels_off = (intptr_t)((uintptr_t)&trc_labels_in_force - self);
}

/* What it keeps of itself. */
struct own {
	struct robust_list_head list;
	struct trc_self self;
	const struct trace_labels *labels;
};

/* True if all of *own was copied, and is what a thread of the C library's has there; of its stack
 * as much as could be. */
static bool memory_copy(const struct taking *t, uint32_t tid, uintptr_t sp, struct own *own,
			struct stack *stack)
{
	enum { OWN = sizeof(own->list) + sizeof(own->self) + sizeof(own->labels), N = 5 };
	const struct robust_list_head *mine;
	uintptr_t list = t->list_off ? robust_list(tid) : 0, thread = list - (uintptr_t)t->list_off;
	uintptr_t in_page = PAGE_BYTES - sp % PAGE_BYTES;
	size_t first = in_page < STACK_BYTES ? in_page : STACK_BYTES;
	struct iovec to[] = {{&own->list, sizeof(own->list)},
			     {&own->self, sizeof(own->self)},
			     {&own->labels, sizeof(own->labels)},
			     {stack->word, STACK_BYTES}};
	struct iovec from[N] = {{(void *)list, sizeof(own->list)},
				{(void *)(thread + (uintptr_t)t->self_off), sizeof(own->self)},
				{(void *)(thread + (uintptr_t)t->labels_off), sizeof(own->labels)},
				{(void *)sp, first},
				{(void *)(sp + first), STACK_BYTES - first}};
	long got;

	if (!list)
		return false;
	got = trc_raw6(SYS_process_vm_readv, trc_raw1(SYS_getpid, 0), TRC_RAW_WORD(to), N - 1,
		       TRC_RAW_WORD(from), N, 0);
	if (got < OWN)
		return false;
	stack->copied = (struct trc_copied){.lo = sp,
					    .hi = sp + (uintptr_t)(got - OWN),
					    .word = stack->word,
					    .max_bytes = sizeof(stack->word)};
	/* Where a robust mutex has its word: the C library's own. */
	mine = (const struct robust_list_head *)((uintptr_t)pthread_self() +
						 (uintptr_t)t->list_off);
	return own->list.futex_offset == mine->futex_offset;
}

/* ---- what it says of itself -------------------------------------------------------------- */

static bool is_slot(const struct trc_slot *slot)
{
	struct trc_shared *shared = trc_rec.shared;
	uintptr_t off = (uintptr_t)slot - (uintptr_t)trc_slot_at(shared, 0);

	return off % sizeof(*slot) == 0 &&
	       off / sizeof(*slot) < trc_slots_used(shared, shared->n_threads);
}

static void wait_put(struct found *found, const struct trc_slot_wait *wait,
		     const struct trc_slot *slot)
{
	if (!trc_slot_waits(wait))
		return;
	found->reason = wait->reason;
	found->object = wait->object;
	found->since = wait->since;
	found->holder = atomic_load_explicit(&slot->wait_holder, memory_order_relaxed);
}

/* As the thread would answer (thread_answer.c).  False: what it has in force is known to itself
 * alone. */
static bool own_put(struct found *found, uint32_t tid, const struct own *own)
{
	const struct trc_self *self = &own->self;
	struct trc_slot_wait wait;

	/* relaxed: the session stays. */
	if (self->session != atomic_load_explicit(&trc_switch.on, memory_order_relaxed))
		return !own->labels || self->quiet || self->ended || self->attaching;
	if (self->tid != tid)
		return false;
	found->serial = self->serial;
	found->labels = self->labels;
	trc_labels_touch(found->labels); /* for who copies them: they stay that long */
	/* The slot is being changed by who is waiting in a handler: its fields do not fit together. */
	if (self->slot_busy || !is_slot(self->slot))
		return true;
	trc_slot_wait_load(self->slot, &wait);
	if (wait.tid == tid)
		wait_put(found, &wait, self->slot);
	return true;
}

/* ---- its stack --------------------------------------------------------------------------- */

/* As trc_unwind_elide() does.  Returns how many are left. */
static uint32_t answer_elide(uint64_t *frame, uint32_t n)
{
	enum { INNERMOST = TRC_STACK_DEPTH_MAX - TRC_STACK_OUTERMOST - 1 };

	if (n <= TRC_STACK_DEPTH_MAX)
		return n;
	frame[INNERMOST] = TRC_FRAMES_ELIDED;
	memmove(frame + INNERMOST + 1, frame + n - TRC_STACK_OUTERMOST,
		TRC_STACK_OUTERMOST * sizeof(*frame));
	return TRC_STACK_DEPTH_MAX;
}

/* Also notes its modules: while none can be closed (closing.h). */
static void stack_walk(const struct trc_unwind_start *start, struct trc_copied *copied,
		       struct found *found)
{
	uint32_t n, epoch;

	if (!trc_look_begin())
		return;
	epoch = atomic_load_explicit(&trc_rec.shared->module_epoch, memory_order_relaxed);
	n = trc_unwind_whole(start, copied, found->frame, TRC_UNWIND_WALK_MAX, &found->is_whole);
	found->n_frames = answer_elide(found->frame, n);
	found->epoch = epoch;
	trc_modules_note(found->frame, found->n_frames, epoch);
	trc_look_end();
}

static void frames_put(struct taking *t, uint32_t i, const struct found *found)
{
	uint32_t skip = trc_taking_frames_of_waiting(t, found->frame, found->n_frames);

	trc_taking_put_frames(t, i, found->frame + skip, found->n_frames - skip, found->epoch);
}

/* ---- a wait that its slot tells of ------------------------------------------------------- */

/* Of a call that may wait its slot has three registers, in place of a stack.  False: the wait is
 * over, or the stack not complete. */
static bool thread_look_at_slot(struct taking *t, uint32_t i, uint64_t *frame)
{
	const struct trc_slot *slot = t->slot[i];
	uint32_t seq = trc_slot_look(slot);
	struct found found = {.frame = frame};
	struct trc_unwind_start start;
	struct trc_slot_wait wait;
	struct stack stack;

	trc_slot_wait_load(slot, &wait);
	wait_put(&found, &wait, slot);
	found.labels = atomic_load_explicit(&slot->labels, memory_order_relaxed);
	if (!found.reason || wait.tid != t->p->row[i].tid || !wait.from.pc ||
	    !trc_slot_same(slot, seq))
		return false;
	start = (struct trc_unwind_start){wait.from.pc, wait.from.sp, wait.from.fp};
	stack.copied = (struct trc_copied){.word = stack.word, .max_bytes = sizeof(stack.word)};
	stack_walk(&start, &stack.copied, &found);
	if (!trc_slot_same(slot, seq) || !found.is_whole)
		return false;
	t->p->row[i].serial = wait.serial;
	t->labels_id[i] = found.labels;
	trc_taking_set_wait(t, i, found.reason, found.object, found.since, found.holder);
	frames_put(t, i, &found);
	return true;
}

/* ---- a wait that the kernel tells of ----------------------------------------------------- */

static void row_put(struct taking *t, uint32_t i, const struct found *found,
		    const struct trc_task_look *look)
{
	struct trc_thread_row *row = &t->p->row[i];

	if (row->serial !=
	    found->serial) { /* the slot was that of a thread with its tid before it */
		row->name[0] = '\0';
		t->creation[i] = 0;
		t->creator[i] = 0;
	}
	row->serial = found->serial;
	t->labels_id[i] = found->labels;
	if (found->reason)
		trc_taking_set_wait(t, i, found->reason, found->object, found->since,
				    found->holder);
	else
		trc_taking_set_wait(t, i, look->reason, 0, 0, 0);
	frames_put(t, i, found);
}

/* What there is to find, while the kernel counts. */
static bool answer_find(const struct taking *t, uint32_t tid, const struct trc_task_look *look,
			struct found *found)
{
	/* As of a thread whose call is to be made again: addresses are read as return addresses are. */
	const struct trc_unwind_start start = {look->pc - SYSCALL_BYTES + 1, look->sp, 0};
	struct stack stack;
	struct own own;

	if (!memory_copy(t, tid, look->sp, &own, &stack) || !own_put(found, tid, &own))
		return false;
	stack_walk(&start, &stack.copied, found);
	return true;
}

static bool look_at_call(struct taking *t, uint32_t i, uint64_t *frame, bool partly)
{
	uint32_t tid = t->p->row[i].tid;
	struct found found = {.frame = frame};
	struct trc_task_still still;
	struct trc_task_look look;
	bool is_found;

	if (!trc_task_still_begin(t->tasks.dir, tid, &still))
		return false;
	trc_task_look(t->tasks.dir, tid, 0, &look);
	is_found = look.is == TRC_TASK_BLOCKED && answer_find(t, tid, &look, &found);
	if (!trc_task_still_end(&still) || !is_found ||
	    !(found.is_whole || (partly && found.n_frames)))
		return false;
	row_put(t, i, &found, &look);
	return true;
}

bool trc_taking_look(struct taking *t, uint32_t i, uint64_t frame[TRC_UNWIND_WALK_MAX], bool partly)
{
	struct trc_thread_row *row = &t->p->row[i];

	if (!(t->slot[i] && row->is == TRC_THREAD_IS_WAITING && thread_look_at_slot(t, i, frame)) &&
	    !look_at_call(t, i, frame, partly))
		return false;
	if (!row->name[0])
		trc_task_name(t->tasks.dir, row->tid, row->name, sizeof(row->name));
	return true;
}

/* ---- all of them ------------------------------------------------------------------------- */

static void look_at_next(struct taking *t, uint64_t *frame)
{
	uint32_t i;

	/* relaxed: each row is looked at by one thread, which alone stores what belongs to it. */
	while ((i = atomic_fetch_add_explicit(&t->next_look, 1, memory_order_relaxed)) <
	       t->p->n_rows)
		t->known[i] =
			t->p->row[i].tid != t->own_tid &&
			(trc_taking_put_recorded(t, i) || trc_taking_look(t, i, frame, false));
}

struct helper {
	struct taking *t;
	pthread_t thread;
	uint64_t frame[TRC_UNWIND_WALK_MAX];
};

static void *helper_run(void *arg)
{
	struct helper *h = arg;

	trc_own_thread_begin_here("trc-look");
	look_at_next(h->t, h->frame);
	trc_own_thread_end();
	return NULL;
}

/* NULL: there is no memory, or no thread more may be created. */
static struct helper *helper_start(struct taking *t)
{
	struct helper *h = malloc(sizeof(*h));

	if (!h)
		return NULL;
	h->t = t;
	if (!trc_own_thread_create(&h->thread, helper_run, h))
		return h;
	free(h);
	return NULL;
}

/* Those that the calling thread may run on, as its helpers may. */
static uint32_t procs_usable(void)
{
	unsigned long set[TRC_PROCS_MAX / 64];
	long n_bytes = trc_raw3(SYS_sched_getaffinity, 0, sizeof(set), set);
	uint32_t n = 0;

	for (long i = 0; i < n_bytes / (long)sizeof(set[0]); i++)
		n += (uint32_t)__builtin_popcountl(set[i]);
	return n ? n : 1;
}

/* One for each proc besides this thread's, as far as that pays.  None in a program that has set a
 * filter: the filter may forbid to create threads. */
static uint32_t helpers_wanted(uint32_t n_rows)
{
	uint32_t n_procs = procs_usable(), n = n_rows / ROWS_EACH;

	if (trc_sandbox_is_restricted && trc_sandbox_is_restricted())
		return 0;
	if (n > HELPERS_MAX)
		n = HELPERS_MAX;
	return n < n_procs ? n : n_procs - 1;
}

void trc_taking_look_at_all(struct taking *t)
{
	uint32_t n_wanted = helpers_wanted(t->p->n_rows), n = 0;
	struct helper *helper[HELPERS_MAX];
	int cancel;

	/* pthread_join() would be left with the helpers at work. */
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
	while (n < n_wanted && (helper[n] = helper_start(t)))
		n++;
	look_at_next(t, t->frame);
	for (uint32_t i = 0; i < n; i++) {
		pthread_join(helper[i]->thread, NULL);
		free(helper[i]);
	}
	pthread_setcancelstate(cancel, NULL);
}
