/*
 * fake_core.c - implements recorder/ring/hot.h by counting (fake_core.h).  Always records.
 * FAKE_LOCKS=all|none in the environment is trc_switch.locks.  With FAKE_STORM_US=N each thread
 * gets a SIGPROF that is "ours" every N microseconds, as if it were sampled.
 */
#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "format/raw.h"
#include "recorder/guest/descriptor.h"
#include "recorder/guest/fork.h"
#include "recorder/ring/hot.h"
#include "recorder/interpose/signal.h"
#include "recorder/ring/share.h"
#include "recorder/ring/waiters.h"
#include "recorder/shared/signals.h"
#include "recorder/shared/trigger.h"
#include "recorder/unwind/memory.h"
#include "fake_core.h"

#define VISIBLE __attribute__((visibility("default")))

union trc_switch_page trc_switch_page __attribute__((aligned(65536)));
__thread struct trc_self trc_self;
bool trc_start_is_forbidden;

static _Atomic unsigned int counts[FAKE_EVENTS][TRC_REASON_COUNT];
static _Atomic unsigned long last[FAKE_EVENTS][TRC_REASON_COUNT];
static _Atomic unsigned int states[FAKE_STATES];
static _Atomic uint32_t waiters[4096];
union trc_waiting_pages trc_waiting_pages __attribute__((aligned(65536)));

VISIBLE fake_core_count_fn fake_core_count;
VISIBLE fake_core_last_fn fake_core_last;
VISIBLE fake_core_state_fn fake_core_state;
VISIBLE fake_core_pretend_fn fake_core_pretend;
VISIBLE fake_core_sample_fn fake_core_sample;

unsigned int fake_core_count(enum fake_event event, unsigned int reason)
{
	return counts[event][reason];
}

unsigned long fake_core_last(enum fake_event event, unsigned int reason)
{
	return last[event][reason];
}

unsigned int fake_core_state(enum fake_state state)
{
	if (state == FAKE_LOCKS_HELD)
		return trc_self.locks_held;
	if (state == FAKE_NO_WAIT)
		return trc_self.no_wait;
	if (state == FAKE_QUIET)
		return trc_self.quiet;
	return states[state];
}

void fake_core_pretend(struct fake_self self)
{
	trc_self.tid = self.tid;
	trc_self.session = self.session;
	trc_self.quiet = self.quiet;
}

static void attach(void)
{
	fake_core_pretend((struct fake_self){(unsigned int)gettid(), FAKE_SESSION, 0});
}

/* ---- a storm of signals ---------------------------------------------------------------- */

enum { SIGVAL_OF_OURS = 0x5a4d };

static void send_one(int pid, int tid)
{
	siginfo_t info = {.si_signo = SIGPROF, .si_code = SI_QUEUE, .si_pid = pid};

	info.si_value.sival_int = SIGVAL_OF_OURS;
	trc_raw4(SYS_rt_tgsigqueueinfo, pid, tid, SIGPROF, &info);
}

void fake_core_sample(int tid)
{
	if (getenv("FAKE_STORM_US"))
		send_one((int)trc_raw1(SYS_getpid, 0), tid);
}

static bool take(const siginfo_t *info, const void *context)
{
	if (info->si_code != SI_QUEUE || info->si_value.sival_int != SIGVAL_OF_OURS)
		return false;
	states[FAKE_SAMPLES]++;
	errno = E2BIG; /* must not be seen */
	return true;
}

static void *storm(void *pause_us)
{
	const struct timespec pause = {0, (long)(intptr_t)pause_us * 1000};
	int pid = (int)trc_raw1(SYS_getpid, 0), self = (int)trc_raw1(SYS_gettid, 0);
	struct dirent *entry;
	DIR *dir;

	trc_self.quiet++;
	for (;;) {
		dir = opendir("/proc/self/task");
		while (dir && (entry = readdir(dir)))
			if (atoi(entry->d_name) > 0 && atoi(entry->d_name) != self)
				send_one(pid, atoi(entry->d_name));
		if (dir)
			closedir(dir);
		trc_raw2(SYS_nanosleep, &pause, NULL);
	}
	return NULL;
}

static void storm_start(const char *pause_us)
{
	sigset_t all, was;
	pthread_t thread;

	if (trc_signal_own(SIGPROF, take))
		abort();
	if (!atoi(pause_us))
		return;
	sigfillset(&all);
	trc_self.quiet++;
	pthread_sigmask(SIG_SETMASK, &all, &was);
	if (pthread_create(&thread, NULL, storm, (void *)(intptr_t)atoi(pause_us)))
		abort();
	pthread_sigmask(SIG_SETMASK, &was, NULL);
	trc_self.quiet--;
}

__attribute__((constructor)) static void start(void)
{
	const char *locks = getenv("FAKE_LOCKS");

	trc_io_setup();
	if (locks && !strcmp(locks, "all"))
		trc_switch.locks = TRC_LOCKS_ALL;
	if (locks && !strcmp(locks, "none"))
		trc_switch.locks = TRC_LOCKS_NONE;
	attach();
	atomic_store(&trc_switch.on, FAKE_SESSION);
	trc_signals_start(true);
	if (getenv("FAKE_STORM_US"))
		storm_start(getenv("FAKE_STORM_US"));
}

/* ---- nobody has labels here ---- */

bool (*trc_thread_end_hook)(void);

const struct trace_labels *trc_labels_now(void)
{
	return NULL;
}

const struct trace_labels *trc_labels_ref(const struct trace_labels *labels)
{
	return labels;
}

void trc_labels_unref(const struct trace_labels *labels)
{
	(void)labels;
}

void trc_labels_inherit(const struct trace_labels *labels)
{
	(void)labels;
}

void trc_labels_leave(void)
{
}

void trc_labels_kept_end(void)
{
}

void trc_lock_forget_taken(const volatile void *lock)
{
	(void)lock;
}

static _Atomic uint32_t *waiters_of(const void *object)
{
	/* From all bits: static locks and threads lie alike in their pages. */
	return &waiters[(uintptr_t)object * UINT64_C(0x9e3779b97f4a7c15) >> 52];
}

static bool note(enum fake_event event, unsigned int reason, unsigned long value)
{
	if (trc_self.quiet) {
		states[FAKE_QUIET_CALLS]++;
		return false;
	}
	counts[event][reason]++;
	last[event][reason] = value;
	return true;
}

static bool is_lock(unsigned int reason)
{
	return reason == TRC_REASON_MUTEX || reason == TRC_REASON_SPIN ||
	       reason == TRC_REASON_RWLOCK_READ || reason == TRC_REASON_RWLOCK_WRITE;
}

void trc_park(struct trc_wait *wait, enum trc_reason reason, const void *object, uint32_t holder)
{
	*wait = (struct trc_wait){.object = (uintptr_t)object, .reason = reason};
	wait->counted = 1;
	if (is_lock(reason))
		atomic_fetch_add(&trc_waiting.lock[trc_waiter_place(wait->object)], 1);
	else
		atomic_fetch_add(waiters_of(object), 1);
	/* Last: tests take the count as a sign that the thread is waiting. */
	if (note(FAKE_PARK, reason, holder))
		wait->since = trc_now();
}

void trc_park_on_thread(struct trc_wait *wait, enum trc_reason reason, const void *object,
			uint32_t holder_serial)
{
	trc_park(wait, reason, object, holder_serial);
}

void trc_resume(struct trc_wait *wait, int result)
{
	if (wait->counted && is_lock(wait->reason))
		atomic_fetch_sub(&trc_waiting.lock[trc_waiter_place(wait->object)], 1);
	else if (wait->counted)
		atomic_fetch_sub(waiters_of((const void *)(uintptr_t)wait->object), 1);
	if (wait->since)
		note(FAKE_RESUME, wait->reason, (unsigned long)result);
}

void trc_wait_begin(struct trc_wait *wait, enum trc_reason reason, uint64_t object,
		    const struct trc_registers *from)
{
	*wait = (struct trc_wait){.object = object, .reason = reason};
	if (note(FAKE_WAIT_BEGIN, reason, object))
		wait->since = trc_now();
}

void trc_wait_end(struct trc_wait *wait, int result)
{
	if (wait->since)
		note(FAKE_WAIT_END, wait->reason, (unsigned long)result);
}

void trc_wait_abandoned(struct trc_wait *wait, int result)
{
	trc_wait_end(wait, result);
}

/* ---- no descriptor has a name ---- */

void trc_descriptor_changed(int fd)
{
	(void)fd;
}

void trc_descriptors_changed(void)
{
}

void trc_descriptors_ask_nothing(void)
{
}

void trc_descriptors_ask_no_sockets(void)
{
}

uint64_t trc_wait_lasted_ns(const struct trc_wait *wait)
{
	return wait->since ? trc_now() - wait->since + 1 : 0;
}

uint32_t trc_waiters(const void *object)
{
	return *waiters_of(object);
}

uint32_t trc_lock_waiters(const void *lock)
{
	return (uint32_t)trc_waiting.lock[trc_waiter_place((uintptr_t)lock)];
}

void trc_cond_waits(struct trc_wait *wait, const void *mutex)
{
}

void trc_cond_signalled(const void *cond, uint64_t count, uint64_t at)
{
}

uint64_t trc_lock_releasing(const void *lock)
{
	return trc_now();
}

void trc_lock_taken_from_others(const volatile void *lock)
{
}

uint64_t trc_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

void trc_unlocked(enum trc_reason reason, const void *object, uint32_t n, uint64_t at)
{
	note(FAKE_UNLOCKED, reason, at ? n : 0);
}

void trc_unparked(enum trc_reason reason, const void *object, uint64_t count, uint64_t at)
{
	note(FAKE_UNPARKED, reason, at ? count : 0);
}

void trc_acquired(enum trc_reason reason, const void *object, bool tried)
{
	note(FAKE_ACQUIRED, reason, (uintptr_t)object);
}

void trc_released(enum trc_reason reason, const void *object)
{
	note(FAKE_RELEASED, reason, (uintptr_t)object);
}

bool trc_share_take(uint64_t n_bytes)
{
	(void)n_bytes;
	return true;
}

void trc_share_give(uint64_t n_bytes)
{
	(void)n_bytes;
}

uint32_t trc_thread_creating(uint64_t *stack, uint64_t *at)
{
	*at = 8;
	*stack = 7;
	return ++states[FAKE_THREADS_CREATED];
}

void trc_thread_started(uint32_t creator, uint64_t creation_stack, uint64_t created,
			size_t stack_bytes)
{
	attach();
	(void)stack_bytes;
	if (creator && creation_stack == 7 && created == 8)
		states[FAKE_THREADS_STARTED]++;
}

void trc_thread_ended(void)
{
	states[FAKE_THREADS_ENDED]++;
}

void trc_thread_named(uint64_t thread, uint32_t tid, const char *name)
{
	states[FAKE_THREADS_NAMED]++;
}

uint32_t trc_thread_serial(uint64_t thread)
{
	return 42;
}

void trc_fork_prepare(void)
{
	trc_self.no_wait++;
	states[FAKE_FORKS_PREPARED]++;
}

void trc_fork_parent(int child_pid)
{
	trc_self.no_wait--;
	states[FAKE_FORKS_PARENT]++;
}

void trc_fork_child(void)
{
	trc_self.no_wait = 0;
	states[FAKE_FORKS_CHILD]++;
	attach();
}

/* ---- the heap is not sampled here ---- */

void trc_heap_due(const void *object, uint64_t n_bytes)
{
}

void trc_heap_freed(const void *object)
{
}

void trc_heap_moving(struct trc_heap_move *move, const void *object)
{
}

void trc_heap_moved(const struct trc_heap_move *move, bool ended)
{
}

void trc_give_up(const char *why)
{
	atomic_store(&trc_switch.on, 0);
}

bool trc_sample_exec_begin(void)
{
	return !trc_self.quiet;
}

void trc_sample_exec_failed(bool signals_lost)
{
}

void trc_sample_descriptors_closed(int fd, bool own_only)
{
}

void trc_sample_descriptor_closed(int fd)
{
}

void trc_modules_changing(void)
{
	states[FAKE_MODULES_CHANGING]++;
}

void trc_modules_changed(void)
{
	states[FAKE_MODULES_CHANGED]++;
}

void trc_process_event(enum trc_process_what what, uint64_t value)
{
	if (what == TRC_PROCESS_FORK && (pid_t)value > 0)
		states[FAKE_PROCESS_EVENTS]++;
}

void (*trc_attach_hook)(void);
void *trc_signal_default;

void trc_procs_changed(uint32_t n_procs)
{
	states[FAKE_PROCS_CHANGED]++;
}

/* No word of a lock is looked at: waits have no holder. */
bool trc_memory_readable(uintptr_t at)
{
	(void)at;
	return false;
}

bool trc_signal_recorded(void)
{
	return !trc_self.quiet;
}

void trc_signal_handled(int number, const siginfo_t *info, const void *context)
{
	states[FAKE_SIGNALS_HANDLED]++;
}

void trc_signal_fatal(int number, const siginfo_t *info, const void *context)
{
	states[FAKE_SIGNALS_FATAL]++;
}

void trc_trigger_signal(int number, uint32_t from_pid)
{
}

uint64_t trc_trigger_signals(void)
{
	return 0;
}
