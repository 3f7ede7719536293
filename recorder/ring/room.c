/*
 * room.c - what happens when there is no room for a record: the thread waits a little where waiting
 * is allowed; else the record is lost and counted.
 *
 *   room:W1  no thread waits while it holds an interposed lock, in a signal handler, or inside the
 *       interposers of malloc, fork and dl*; trc's own threads never wait
 *   room:W2  an episode of a full ring makes threads wait 100 ms at the most; then the ring drops
 *       records until it is half empty
 *   room:W3  nobody waits unless somebody drains
 *   room:W4  a thread that holds an interposed lock wakes the drainer after the release, unless the
 *       ring is nearly full: a system call would end the kernel's extension of its time slice
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <ucontext.h>
#include <unistd.h>
#include "format/raw.h"
#include "rec.h"
#include "recorder/shared/signals.h"
#include "recorder/unwind/poison.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

enum { EPISODE_NS = 100000000, SLICE_NS = 5000000, NO_ROOM_NS = 100000000 };

/* The kernel's struct sigaction, as rt_sigaction(2) takes it. */
struct kernel_sigaction {
	void *handler;
	unsigned long flags;
#ifdef SA_RESTORER
	void *restorer;
#elif defined(__x86_64__)
	void *restorer;
#endif
	uint64_t mask;
};

#if defined(__x86_64__)
enum { SCAN_BYTES = 64 << 10, SCAN_CHUNK_WORDS = 128, USER_CS = 0x33 };

static long read_self(const struct iovec *here, const struct iovec *there)
{
	return trc_raw6(SYS_process_vm_readv, trc_raw1(SYS_getpid, 0), TRC_RAW_WORD(here), 1,
			TRC_RAW_WORD(there), 1, 0);
}

/* A frame that the kernel pushed: the restorer's address, then a ucontext whose saved stack
 * pointer lies above and whose code segment is that of user space. */
static bool is_signal_frame(uintptr_t at)
{
	ucontext_t context;
	struct iovec here = {&context, offsetof(ucontext_t, uc_sigmask)};
	struct iovec there = {(void *)(at + 8), offsetof(ucontext_t, uc_sigmask)};

	if (read_self(&here, &there) != (long)here.iov_len)
		return false;
	return (context.uc_mcontext.gregs[REG_CSGSFS] & 0xffff) == USER_CS;
}

/* Looks for a signal frame on the live part of the stack.  Reads through the kernel, so that
 * the end of the stack is no trouble. */
static bool on_handler_stack(const void *restorer)
{
	uintptr_t sp = (uintptr_t)__builtin_frame_address(0) & ~(uintptr_t)7;
	uint64_t word[SCAN_CHUNK_WORDS];

	for (uintptr_t at = sp; at < sp + SCAN_BYTES; at += sizeof(word)) {
		struct iovec here = {word, sizeof(word)}, there = {(void *)at, sizeof(word)};
		long n = read_self(&here, &there);

		if (n < 0 && n != -EFAULT)
			return true; /* not allowed to look: assume the worst */
		for (long i = 0; i < n / 8; i++)
			if (word[i] == (uint64_t)(uintptr_t)restorer &&
			    is_signal_frame(at + (uintptr_t)i * 8))
				return true;
		if (n < (long)sizeof(word))
			break;
	}
	return false;
}
#endif

/*
 * While a handler runs its own signal is blocked, unless it asked otherwise (SA_NODEFER).  So a
 * thread with no blocked signal that has a handler is in none; where there is one, the stack
 * tells (x86-64), or the thread is taken to be in a handler.
 */
static bool in_signal_handler(void)
{
	uint64_t blocked = 0;
	stack_t alternate;

	trc_raw4(SYS_rt_sigprocmask, SIG_BLOCK, 0, &blocked, sizeof(blocked));
	if (!trc_raw2(SYS_sigaltstack, 0, &alternate) && (alternate.ss_flags & SS_ONSTACK))
		return true;
	for (int sig = 1; sig <= 64; sig++) {
		struct kernel_sigaction action;

		if (trc_raw4(SYS_rt_sigaction, sig, 0, &action, sizeof(action.mask)))
			continue;
		if (action.handler == (void *)SIG_DFL || action.handler == (void *)SIG_IGN ||
		    action.handler == trc_signal_default)
			continue;
		if (!(blocked & (UINT64_C(1) << (sig - 1))) && !(action.flags & SA_NODEFER))
			continue;
#if defined(__x86_64__)
		return on_handler_stack(action.restorer);
#else
		return true;
#endif
	}
	return false;
}

bool trc_may_wait(void)
{
	return !trc_self.locks_held && !trc_self.no_wait && !trc_self.quiet && !in_signal_handler();
}

/* Made directly: syscall() is interposed, and would record this wait, for which there is no room.
 */
static void room_futex(_Atomic uint32_t *word, int op, uint32_t value,
		       const struct timespec *timeout)
{
	/* Not FUTEX_PRIVATE: the drainer may be another process. */
	trc_raw4(SYS_futex, word, op, value, timeout);
}

static bool draining(const struct trc_shared *shared)
{
	return shared->on_full == TRC_ON_FULL_WAIT &&
	       atomic_load_explicit(&shared->drain_state, memory_order_relaxed) == TRC_DRAIN_ACTIVE;
}

bool trc_wait_for_room(_Atomic uint32_t *dropping, _Atomic uint32_t *waiters,
		       _Atomic uint32_t *space, _Atomic uint64_t *tail, uint64_t seen_tail)
{
	struct trc_shared *shared = trc_rec.shared;
	int saved_errno = errno;
	uint64_t began;
	bool moved = false;

	if (!draining(shared) || atomic_load_explicit(dropping, memory_order_relaxed))
		return false;
	if (!trc_may_wait()) {
		errno = saved_errno;
		return false;
	}
	began = trc_clock_vdso();
	/* seq_cst here and in the drainer (tail, then waiters): one of the two sees the other.
	 * A lost wake-up costs one slice. */
	atomic_fetch_add_explicit(waiters, 1, memory_order_seq_cst);
	for (;;) {
		const struct timespec slice = {0, SLICE_NS};
		uint32_t seen = atomic_load_explicit(space, memory_order_seq_cst);

		moved = atomic_load_explicit(tail, memory_order_seq_cst) != seen_tail;
		if (moved || !draining(shared) || !trc_recording())
			break;
		if (trc_clock_vdso() - began > EPISODE_NS) {
			atomic_store_explicit(dropping, 1, memory_order_relaxed);
			break;
		}
		trc_wake_drainer();
		room_futex(space, FUTEX_WAIT, seen, &slice);
	}
	atomic_fetch_sub_explicit(waiters, 1, memory_order_relaxed);
	errno = saved_errno;
	return moved;
}

void trc_wake_drainer(void)
{
	struct trc_shared *shared = trc_rec.shared;
	int saved_errno = errno;
	uint32_t asleep = 1;

	/* 1 = the drainer sleeps on this word; set by it, taken back by whoever wakes it.  relaxed: the
	 * word carries nothing; what the drainer reads then is ordered by head (R3). */
	if (atomic_load_explicit(&shared->drain_wake, memory_order_relaxed) == asleep &&
	    atomic_compare_exchange_strong_explicit(&shared->drain_wake, &asleep, 0,
						    memory_order_relaxed, memory_order_relaxed))
		room_futex(&shared->drain_wake, FUTEX_WAKE, 1, NULL);
	errno = saved_errno;
}

void trc_room_is_short(uint64_t used, uint64_t room, uint64_t step)
{
	if (trc_self.locks_held && used + step <= room - room / 4) {
		trc_self.wake_owed = true;
		trc_self.has_wanted = true; /* so that the release looks */
		return;
	}
	trc_self.wake_owed = false;
	trc_wake_drainer();
}

void trc_wake_if_owed(void)
{
	if (!trc_self.wake_owed || trc_self.locks_held)
		return;
	trc_self.wake_owed = false;
	if (trc_recording() && trc_self_is_of_session())
		trc_wake_drainer();
}

void trc_count_loss(_Atomic uint64_t *lost_total, _Atomic uint64_t *lost_since)
{
	uint64_t none = 0;

	/* relaxed: the gap record or the drainer reads it after the count. */
	atomic_compare_exchange_strong_explicit(lost_since, &none, trc_clock_now(),
						memory_order_relaxed, memory_order_relaxed);
	/* release: pairs with drain_look_at_all() in drain.c: who sees the count sees the time,
	 * and a head that is no older than the one that left no room. */
	atomic_fetch_add_explicit(lost_total, 1, memory_order_release);
}

/* Before Linux 5.14: through a descriptor, for a moment. */
static int populate_through_file(void *start, uint64_t n_bytes)
{
	long off = (long)((char *)start - (char *)trc_rec.shared);
	int fd = (int)trc_raw4(SYS_openat, AT_FDCWD, trc_rec.ring_path,
			       O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0);
	int err;

	if (fd < 0)
		return fd;
	err = (int)trc_raw4(SYS_fallocate, fd, 0, off, n_bytes);
	trc_raw1(SYS_close, fd);
	return err;
}

int trc_populate(void *start, uint64_t n_bytes)
{
	int saved_errno = errno;
	int err = 0;

	if (madvise(start, n_bytes, MADV_POPULATE_WRITE)) {
		err = -errno;
		if (err != -EFAULT && err != -ENOMEM) /* it is not known, or forbidden */
			err = populate_through_file(start, n_bytes);
	}
	errno = saved_errno;
	return err;
}

/* When to ask again; 0 = at once. */
static _Atomic uint64_t no_room_until_ns;

bool trc_grow(struct trc_shared *shared, void *start, uint64_t n_bytes)
{
	/* relaxed: a hint. */
	uint64_t until_ns = atomic_load_explicit(&no_room_until_ns, memory_order_relaxed);
	int err = until_ns && trc_clock_vdso() < until_ns ? -ENOMEM : trc_populate(start, n_bytes);

	if (err)
		atomic_fetch_add_explicit(&shared->no_room, 1, memory_order_relaxed);
	if (err && (!until_ns || trc_clock_vdso() >= until_ns))
		atomic_store_explicit(&no_room_until_ns, trc_clock_vdso() + NO_ROOM_NS,
				      memory_order_relaxed);
	else if (!err && until_ns)
		atomic_store_explicit(&no_room_until_ns, 0, memory_order_relaxed);
	return !err;
}

bool trc_grow_pages(struct trc_shared *shared, uint64_t first, uint64_t last)
{
	if (!trc_grow(shared, (char *)shared + first * TRC_AREA_BYTES,
		      (last - first + 1) * TRC_AREA_BYTES))
		return false;
	for (uint64_t page = first; page <= last && page < TRC_GROWN_PAGES; page++)
		/* release: pairs with trc_page_is_grown(). */
		atomic_fetch_or_explicit(&shared->grown[page / 64], UINT64_C(1) << page % 64,
					 memory_order_release);
	return true;
}
