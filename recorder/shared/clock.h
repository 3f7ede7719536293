/*
 * clock.h - the recorder's clock: the cycle counter where the kernel itself trusts it.
 *
 *   clock:K1  ticks never decrease from one reading to a later reading on the same proc; with a
 *       trusted counter they do not decrease across procs either
 *   clock:K2  a reading by trc_clock_ordered() is not taken before earlier instructions are done
 */
#ifndef TRC_RECORDER_SHARED_CLOCK_H
#define TRC_RECORDER_SHARED_CLOCK_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>
#include "format/writer.h"

/* Chosen once by trc_clock_setup(), constant afterwards. */
extern __attribute__((visibility("hidden"))) enum trc_clock_kind trc_clock_kind;

/* Chooses the clock.  forced = 0, or an enum trc_clock_kind to use; a counter that the machine does
 * not have is refused.  Context: any thread, may block (reads sysfs). */
int trc_clock_setup(enum trc_clock_kind forced);
/* The same with the counter's rate, which may have been measured before; 0 = measure it: 2 ms. */
int trc_clock_setup_at(enum trc_clock_kind forced, uint64_t counter_ticks_per_second);
/* The counter's rate on this machine, measured from a time of trc_clock_counter_now(): waits until
 * this time is 2 ms ago.  0 = the machine has no counter that can be measured. */
uint64_t trc_clock_counter_rate(const struct trc_sync_point *since);
void trc_clock_counter_now(struct trc_sync_point *now);
uint64_t trc_clock_ticks_per_second(void);
/* Reads all clocks as close together as possible. Context: any thread. */
void trc_clock_sync(struct trc_sync_point *sync);
/* The same, and an ordered reading, for the clock of a mapping, which need not be the clock of this
 * process.  0, or -ENOTSUP: this machine has no such clock. */
int trc_clock_sync_of(enum trc_clock_kind kind, struct trc_sync_point *sync);
int trc_clock_now_of(enum trc_clock_kind kind, uint64_t *ticks);
/* Convert by the nominal rate. */
uint64_t trc_clock_ns_to_ticks(uint64_t ns);
uint64_t trc_clock_ticks_to_ns(uint64_t ticks);

static inline uint64_t trc_clock_counter(void)
{
#if defined(__x86_64__)
	return __builtin_ia32_rdtsc();
#else
	uint64_t ticks;

	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
	return ticks;
#endif
}

static inline void trc_clock_barrier(void)
{
#if defined(__x86_64__)
	__builtin_ia32_lfence();
#else
	__asm__ volatile("isb" ::: "memory");
#endif
}

uint64_t trc_clock_vdso(void);

static inline bool trc_clock_is_counter(void)
{
	return __builtin_expect(
		__atomic_load_n(&trc_clock_kind, __ATOMIC_RELAXED) != TRC_CLOCK_MONOTONIC_RAW, 1);
}

/* Context: traced thread, signal handlers. */
static inline uint64_t trc_clock_now(void)
{
	return trc_clock_is_counter() ? trc_clock_counter() : trc_clock_vdso();
}

static inline uint64_t trc_clock_ordered(void)
{
	trc_clock_barrier();
	return trc_clock_now();
}

#endif
