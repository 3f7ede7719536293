/* sample.c - which threads are sampled, from when to when (sample.h). */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include "format/raw.h"
#include "recorder/ring/rec.h"
#include "sample_private.h"
#include "sample_table.h"
#include "task_list.h"
#include "thread_answer.h"

#define TID_LIMIT (4U << 20) /* of any 64-bit Linux */
#define OWN_WORDS (TID_LIMIT / 64)

enum {
	/* A thread that ticks find by chance is behind by more once in 8,000 ticks. */
	BEHIND_TICKS = 8,
	LOOK_NS = 10000000,
	/* A program may end some at its beginning that has a fixed set of threads from then on.  First samples,
	 * and no handing on of counters, would cost these threads something at each switch. */
	ENDED_MIN = 32,
	WAITS_MAX = 1000, /* for who holds a sampler, which takes a few system calls */
};

struct trc_sample_state trc_sample;
_Atomic uint32_t trc_sampling;
_Atomic uint64_t trc_sample_look_ticks = UINT64_MAX;

static uint32_t runs; /* the number of the last sampling */

/* Threads of trc's own, a bit for each tid; in words from own_words[0] up to [1] alone. */
static _Atomic uint64_t own_tids[OWN_WORDS];
static _Atomic uint32_t own_words[2] = {OWN_WORDS, 0};
static _Atomic uint64_t own_ended_ns; /* what those have used that have ended */

/* ---- the calling thread ---------------------------------------------------------------- */

/* Whether it could be: a thread that has a sampler has been seen to. */
static bool thread_arm(uint32_t tid, bool begins)
{
	uint32_t run = atomic_load_explicit(&trc_sampling, memory_order_relaxed);
	struct trc_sampler *s = run ? trc_sampler_enter(tid, run) : NULL;

	if (!s)
		return !run || trc_sampler_of(tid) != NULL;
	trc_sampler_arm(s, begins);
	trc_sampler_release(s);
	return true;
}

static void count_missing(void)
{
	for (unsigned int i = 0; i < trc_sample.n; i++)
		trc_sample_count_missing(trc_rec.shared, trc_sample.number[i]);
}

static void calling_thread_arm(bool begins)
{
	uint32_t tid = (uint32_t)trc_raw1(SYS_gettid, 0);
	struct trc_sampler *s = trc_sampler_of(tid);

	/* Of a thread that had this tid before, and is gone.  What has just sent a signal is not
	 * (sample_signal.c). */
	if (s && trc_self.sampler != s)
		trc_sampler_leave(s, tid);
	if (!thread_arm(tid, begins))
		count_missing();
	trc_self.sampler = trc_sampler_of(tid);
}

void trc_sample_thread_begin(void)
{
	calling_thread_arm(true);
}

/* sample:S9 */
static void first_begin(void)
{
	uint64_t now = trc_clock_now();

	for (unsigned int i = 0; i < trc_sample.n; i++)
		if (trc_sample.event[i].first_by_signal)
			/* relaxed: a thread that begins later has its start from a later clock. */
			atomic_store_explicit(
				&trc_rec.shared->sample_event[trc_sample.number[i] - 1].first_from,
				now, memory_order_relaxed);
	/* relaxed: who sees it not is sampled by the kernel alone. */
	atomic_store_explicit(&trc_sample.first_on, true, memory_order_relaxed);
}

static void count_ended(void)
{
	/* relaxed: a count. */
	if (trc_recording() && !atomic_load_explicit(&trc_sample.first_on, memory_order_relaxed) &&
	    atomic_fetch_add_explicit(&trc_sample.n_ended, 1, memory_order_relaxed) + 1 ==
		    ENDED_MIN)
		first_begin();
}

void trc_sample_thread_creates(void)
{
	uint32_t tid;
	struct trc_sampler *s;

	if (trc_self.threads_made < UINT16_MAX)
		trc_self.threads_made++;
	if (!atomic_load_explicit(&trc_sample.first_on, memory_order_relaxed))
		return;
	tid = (uint32_t)trc_raw1(SYS_gettid, 0);
	s = trc_sampler_of(tid);
	if (!s || !trc_sampler_hold(s))
		return;
	trc_sampler_keep_counter(s, tid);
	trc_sampler_release(s);
}

void trc_sample_thread_end(void)
{
	uint32_t tid = (uint32_t)trc_raw1(SYS_gettid, 0);
	struct trc_sampler *s = trc_sampler_of(tid);

	trc_self.sampler = NULL;
	if (s)
		trc_sampler_leave(s, tid);
	count_ended();
}

/* Not in a child that runs in our memory. */
static bool is_on_here(void)
{
	return atomic_load_explicit(&trc_sampling, memory_order_relaxed) &&
	       trc_rec.shared->pid == (uint32_t)trc_raw1(SYS_getpid, 0);
}

/* Until the thread's sampler of this run has been taken down, by whoever holds it; each wait takes a
 * millisecond. */
static void wait_for_holder(const struct trc_sampler *s, uint32_t tid, uint32_t run,
			    unsigned int *waits)
{
	const struct timespec a_while = {0, 1000000};

	/* acquire: pairs with the release in sampler_give() (samplers.c): the holder is done with the sampler. */
	while (*waits && atomic_load_explicit(&s->tid, memory_order_acquire) == tid &&
	       s->run == run) {
		trc_raw2(SYS_nanosleep, &a_while, NULL);
		--*waits;
	}
}

/* Whoever holds the calling thread's sampler may be about to let it send a signal, which would end the
 * program that is executed.  Not for ever: it may be held by what this signal handler interrupted. */
static void leave_for_exec(void)
{
	uint32_t tid = (uint32_t)trc_raw1(SYS_gettid, 0);
	struct trc_sampler *s = trc_sampler_of(tid);
	uint32_t run = s ? s->run : 0;
	unsigned int waits = WAITS_MAX;

	trc_sample_thread_end();
	if (s)
		wait_for_holder(s, tid, run, &waits);
}

static uint64_t own_threads_ns(void)
{
	/* relaxed, all: a thread that begins or ends just now has used next to nothing. */
	uint64_t ns = atomic_load_explicit(&own_ended_ns, memory_order_relaxed);
	uint32_t to = atomic_load_explicit(&own_words[1], memory_order_relaxed);

	for (uint32_t i = atomic_load_explicit(&own_words[0], memory_order_relaxed); i < to; i++) {
		uint64_t tids = atomic_load_explicit(&own_tids[i], memory_order_relaxed);

		for (; tids; tids &= tids - 1)
			ns += trc_cpu_time_of(i * 64 + (uint32_t)__builtin_ctzll(tids));
	}
	return ns;
}

/* What the process has used, but for what trc's own threads did. */
static uint64_t process_ns(void)
{
	uint64_t own_ns = own_threads_ns();
	struct timespec t;

	if (trc_raw2(SYS_clock_gettime, CLOCK_PROCESS_CPUTIME_ID, &t))
		return 0;
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec - own_ns;
}

bool trc_sample_exec_begin(void)
{
	/* First, whether or not anything is sampled: a question may have been sent for a profile
	 * of threads. */
	if (!trc_answers_hold())
		return false;
	if (is_on_here()) {
		leave_for_exec();
		trc_sample_events_leave(trc_rec.shared, process_ns());
	}
	if (is_on_here() || trc_answers_asked())
		trc_sample_take_pending();
	return true;
}

/* Signals were lost: what sent them would wait for its handler for ever. */
static void renew_all(void)
{
	for (uint32_t i = 0; i < trc_samplers_used(); i++) {
		struct trc_sampler *s = &trc_sample.sampler[i];
		uint32_t tid = atomic_load_explicit(&s->tid, memory_order_relaxed);

		if (tid &&
		    atomic_load_explicit(&s->state, memory_order_relaxed) == TRC_SAMPLER_ARMED)
			trc_sampler_renew(s, tid);
	}
}

void trc_sample_exec_failed(bool signals_lost)
{
	trc_answers_release();
	if (!is_on_here())
		return;
	trc_sample_events_stay(trc_rec.shared);
	if (signals_lost)
		renew_all();
	/* The kernel has sampled it since its begin. */
	calling_thread_arm(false);
}

static void own_words_hold(uint32_t word)
{
	/* relaxed: read in a forked child alone, which has what the forking thread saw. */
	uint32_t from = atomic_load_explicit(&own_words[0], memory_order_relaxed);
	uint32_t to = atomic_load_explicit(&own_words[1], memory_order_relaxed);

	while (word < from &&
	       !atomic_compare_exchange_weak_explicit(&own_words[0], &from, word,
						      memory_order_relaxed, memory_order_relaxed))
		;
	while (word >= to &&
	       !atomic_compare_exchange_weak_explicit(&own_words[1], &to, word + 1,
						      memory_order_relaxed, memory_order_relaxed))
		;
}

void trc_sample_own_thread(bool begins)
{
	uint32_t tid = (uint32_t)trc_raw1(SYS_gettid, 0);
	uint64_t bit = UINT64_C(1) << tid % 64;

	if (!begins) {
		atomic_fetch_add_explicit(&own_ended_ns, trc_cpu_time_of(0), memory_order_relaxed);
		/* relaxed: until then the thread of the next such tid has only no samples. */
		atomic_fetch_and_explicit(&own_tids[tid / 64], ~bit, memory_order_relaxed);
		return;
	}
	own_words_hold(tid / 64);
	/* seq_cst: pairs with the look in arm_other() after it has armed this thread: either that
	 * look sees the bit, or the next line sees the sampler. */
	atomic_fetch_or_explicit(&own_tids[tid / 64], bit, memory_order_seq_cst);
	trc_sample_thread_end();
}

/* ---- threads that are there ------------------------------------------------------------ */

bool trc_sample_is_own_thread(uint32_t tid)
{
	/* seq_cst: see trc_sample_own_thread(). */
	return tid < TID_LIMIT &&
	       atomic_load_explicit(&own_tids[tid / 64], memory_order_seq_cst) >> tid % 64 & 1;
}

static void arm_other(uint32_t tid)
{
	if (!tid || trc_sample_is_own_thread(tid))
		return;
	if (!thread_arm(tid, false))
		count_missing();
	/* It may have become one in the meantime. */
	if (trc_sample_is_own_thread(tid) && trc_sampler_of(tid))
		trc_sampler_end(trc_sampler_of(tid));
}

/* Where there is no /proc: those that have recorded something. */
static void arm_slots(void)
{
	for (uint32_t i = 0; i < trc_slots_used(trc_rec.shared, trc_rec.shared->n_threads); i++) {
		struct trc_slot *slot = trc_slot_at(trc_rec.shared, i);

		/* acquire: pairs with the release in slot_fill(): the slot is filled in. */
		if (atomic_load_explicit(&slot->state, memory_order_acquire) == TRC_SLOT_LIVE)
			arm_other(atomic_load_explicit(&slot->tid, memory_order_relaxed));
	}
}

static void arm_task(void *unused, uint32_t tid)
{
	arm_other(tid);
}

static void arm_tasks(void)
{
	int fd = (int)trc_raw4(SYS_openat, AT_FDCWD, "/proc/self/task",
			       O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);

	if (fd < 0) {
		arm_slots();
		return;
	}
	trc_tasks_each(fd, arm_task, NULL);
	trc_raw1(SYS_close, fd);
}

/* ---- descriptors that the program has closed ------------------------------------------- */

void trc_sampler_renew(struct trc_sampler *s, uint32_t tid)
{
	/* Another thread may have just done so. */
	if (trc_sampler_of(tid) == s)
		trc_sampler_end(s);
	if (trc_cpu_time_of(tid))
		arm_other(tid);
}

/* Whether it stands, and has a counter with this descriptor; -1 = any. */
static bool is_of(const struct trc_sampler *s, int fd)
{
	if (!atomic_load_explicit(&s->tid, memory_order_relaxed) ||
	    atomic_load_explicit(&s->state, memory_order_relaxed) != TRC_SAMPLER_ARMED)
		return false;
	for (unsigned int i = 0; i < trc_sample.n; i++)
		if (s->source[i].kind == TRC_SOURCE_COUNTER &&
		    (fd == -1 || fd == s->source[i].handle))
			return true;
	/* acquire: as in trc_sampler_is_whole(). */
	return atomic_load_explicit(&s->comes, memory_order_acquire) &&
	       (fd == -1 || fd == s->coming.handle);
}

void trc_sample_descriptors_closed(int fd, bool own_only)
{
	uint32_t own = (uint32_t)trc_raw1(SYS_gettid, 0);

	if (trc_self.quiet || !is_on_here())
		return;
	for (uint32_t i = 0; i < trc_samplers_used(); i++) {
		struct trc_sampler *s = &trc_sample.sampler[i];
		uint32_t tid = atomic_load_explicit(&s->tid, memory_order_relaxed);

		if ((own_only && tid != own) || !is_of(s, fd) || trc_sampler_is_whole(s))
			continue;
		trc_sampler_renew(s, tid);
		if (tid == own)
			trc_self.sampler = trc_sampler_of(own);
	}
}

void trc_sample_descriptor_closed(int fd)
{
	if (atomic_load_explicit(&trc_sampling, memory_order_relaxed) &&
	    fd >= atomic_load_explicit(&trc_sample.first_fd, memory_order_acquire))
		trc_sample_descriptors_closed(fd, false);
}

/* ---- start and stop -------------------------------------------------------------------- */

/* Each timer counts as a pending signal of the user's: a quarter of what there may be. */
static void set_timer_budget(void)
{
	struct rlimit limit = {1024, 1024};

	getrlimit(RLIMIT_SIGPENDING, &limit);
	trc_sample.timers_max =
		limit.rlim_cur / 4 < UINT32_MAX ? (uint32_t)(limit.rlim_cur / 4) : UINT32_MAX;
}

/* A quarter of what the program may have, and at its upper end; not so far up that the kernel's
 * table of descriptors gets large. */
static int budget_find(uint32_t *fds_max)
{
	enum { FAR = 4096 };
	struct rlimit limit = {1024, 1024};
	int quarter;

	getrlimit(RLIMIT_NOFILE, &limit);
	if (limit.rlim_cur > INT32_MAX)
		limit.rlim_cur = INT32_MAX;
	quarter = (int)(limit.rlim_cur / 4);
	*fds_max = (uint32_t)quarter;
	return (int)limit.rlim_cur - quarter < FAR ? (int)limit.rlim_cur - quarter : FAR;
}

int trc_sample_move_away(int fd)
{
	uint32_t fds_max;
	int far = (int)trc_raw3(SYS_fcntl, fd, F_DUPFD_CLOEXEC, budget_find(&fds_max));

	if (far < 0)
		return fd;
	trc_raw1(SYS_close, fd);
	return far;
}

/* True if it was higher. */
static bool lower(_Atomic int *fd, int to)
{
	int is = atomic_load_explicit(fd, memory_order_relaxed);

	/* release: of first_fd; pairs with the acquires of duplicate_far() and
	 * trc_sample_descriptor_closed(): a thread that makes a descriptor by the new first_fd sees the
	 * new lowest_fd in the signals of it. */
	while (is > to)
		if (atomic_compare_exchange_weak_explicit(fd, &is, to, memory_order_release,
							  memory_order_relaxed))
			return true;
	return false;
}

static void set_budget(void)
{
	uint32_t fds_max;
	int none = 0, first_fd = budget_find(&fds_max);

	/* relaxed: nothing is sampled yet; trc_sampling is stored last. */
	atomic_store_explicit(&trc_sample.fds_max, fds_max, memory_order_relaxed);
	atomic_store_explicit(&trc_sample.first_fd, first_fd, memory_order_relaxed);
	if (!atomic_compare_exchange_strong_explicit(&trc_sample.lowest_fd, &none, first_fd,
						     memory_order_relaxed, memory_order_relaxed))
		lower(&trc_sample.lowest_fd, first_fd);
}

bool trc_sample_budget_shrink(void)
{
	uint32_t fds_max;
	int first_fd = budget_find(&fds_max);

	/* First: signals that come of lower ones are ours. */
	lower(&trc_sample.lowest_fd, first_fd);
	/* relaxed: a budget; who reads the old value has one descriptor more. */
	atomic_store_explicit(&trc_sample.fds_max, fds_max, memory_order_relaxed);
	return lower(&trc_sample.first_fd, first_fd);
}

static void events_turn(bool on)
{
	uint64_t now_ns = trc_recording() ? process_ns() : 0;

	for (unsigned int i = 0; now_ns && i < trc_sample.n; i++)
		if (on)
			trc_sample_event_on(trc_rec.shared, trc_sample.number[i], now_ns);
		else
			trc_sample_event_off(trc_rec.shared, trc_sample.number[i], now_ns);
}

/* By signals, all of its samples or each thread's first ones. */
static bool is_ours(const struct trc_cpu_event *e)
{
	return e->how == TRC_SAMPLE_TIMER || e->how == TRC_SAMPLE_SIGNAL || e->first_by_signal;
}

static int enter_events(const struct trc_cpu_event *events, unsigned int n)
{
	trc_sample.n = 0;
	trc_sample.turns = TRC_CPU_EVENTS_MAX;
	trc_sample.tick_ns = trc_cpu_tick_ns();
	atomic_store_explicit(&trc_sample.n_ended, 0, memory_order_relaxed);
	atomic_store_explicit(&trc_sample.first_on, false, memory_order_relaxed);
	for (unsigned int i = 0; i < n; i++) {
		uint32_t number;

		if (!is_ours(&events[i]))
			continue;
		number = trc_sample_event_add(trc_rec.shared, &events[i]);
		if (!number)
			return -ENOSPC;
		if (events[i].how == TRC_SAMPLE_TIMER && !events[i].is_timer) {
			trc_sample.turns = trc_sample.n;
			trc_sample.behind_ns = events[i].period + BEHIND_TICKS * trc_sample.tick_ns;
		}
		if (events[i].first_by_signal &&
		    atomic_load_explicit(&trc_rec.shared->sample_event[number - 1].first_from,
					 memory_order_relaxed))
			/* As in an earlier sampling of this session. */
			atomic_store_explicit(&trc_sample.first_on, true, memory_order_relaxed);
		trc_sample.number[trc_sample.n] = number;
		trc_sample.event[trc_sample.n++] = events[i];
	}
	return 0;
}

int trc_sample_start(const struct trc_cpu_event *events, unsigned int n, char *error,
		     size_t n_bytes)
{
	int err = trc_samplers_make();

	if (err) {
		snprintf(error, n_bytes, "no memory for %d samplers", TRC_SAMPLERS_MIN);
		return err;
	}
	set_budget();
	set_timer_budget();
	trc_sample.grown_ns = TRC_CPU_COUNTER_TICKS * trc_cpu_tick_ns();
	err = enter_events(events, n);
	if (err)
		snprintf(error, n_bytes,
			 "more than %u different events or periods since recording began",
			 TRC_SAMPLE_EVENTS_MAX);
	if (err || !trc_sample.n)
		return err;
	trc_sample_own_signal();
	atomic_store_explicit(&trc_sample_look_ticks,
			      trc_sample.turns < TRC_CPU_EVENTS_MAX ? trc_clock_ns_to_ticks(LOOK_NS)
								    : UINT64_MAX,
			      memory_order_relaxed);
	runs = runs == UINT32_MAX ? 1 : runs + 1;
	events_turn(true);
	/* seq_cst: pairs with the loads of trc_sampling: whoever sees the run sees its events; and a
	 * thread that begins now either sees the run, or is found by arm_tasks(). */
	atomic_store_explicit(&trc_sampling, runs, memory_order_seq_cst);
	arm_tasks();
	return 0;
}

/* What is held is waited for, as far as that ends: a sampling that begins at once finds no thread
 * with a sampler of this one, which is about to be taken down, and has other events. */
void trc_sample_stop(void)
{
	unsigned int waits = WAITS_MAX;
	/* seq_cst: see trc_sampler_release(). */
	uint32_t run = atomic_exchange_explicit(&trc_sampling, 0, memory_order_seq_cst);

	if (!run)
		return;
	atomic_store_explicit(&trc_sample_look_ticks, UINT64_MAX, memory_order_relaxed);
	for (uint32_t i = 0; i < trc_samplers_used(); i++) {
		struct trc_sampler *s = &trc_sample.sampler[i];
		uint32_t tid = atomic_load_explicit(&s->tid, memory_order_relaxed);

		if (tid && !trc_sampler_end(s))
			wait_for_holder(s, tid, run, &waits);
	}
	events_turn(false);
}

void trc_sample_forget(void)
{
	uint32_t to;

	/* relaxed, all below: a forked child has one thread. */
	atomic_store_explicit(&trc_sampling, 0, memory_order_relaxed);
	atomic_store_explicit(&trc_sample_look_ticks, UINT64_MAX, memory_order_relaxed);
	trc_self.sampler = NULL;
	trc_samplers_forget();
	atomic_store_explicit(&trc_sample.n_fds, 0, memory_order_relaxed);
	atomic_store_explicit(&trc_sample.n_timers, 0, memory_order_relaxed);
	to = atomic_load_explicit(&own_words[1], memory_order_relaxed);
	for (uint32_t i = atomic_load_explicit(&own_words[0], memory_order_relaxed); i < to; i++)
		atomic_store_explicit(&own_tids[i], 0, memory_order_relaxed);
	atomic_store_explicit(&own_words[0], OWN_WORDS, memory_order_relaxed);
	atomic_store_explicit(&own_words[1], 0, memory_order_relaxed);
	atomic_store_explicit(&own_ended_ns, 0, memory_order_relaxed);
}
