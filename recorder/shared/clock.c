/* clock.c - choosing and calibrating the clock. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif
#include "format/now.h"
#include "format/raw.h"
#include "clock.h"

enum trc_clock_kind trc_clock_kind = TRC_CLOCK_MONOTONIC_RAW;
static _Atomic uint64_t ticks_per_second = 1000000000;

enum { SYNC_TRIES = 8, CALIBRATION_NS = 2000000 };
#define RATE_MIN UINT64_C(1000000)
#define RATE_MAX UINT64_C(100000000000)

uint64_t trc_clock_vdso(void)
{
	return trc_now_ns(CLOCK_MONOTONIC_RAW);
}

#if defined(__x86_64__)
/* The kernel checks the counters of all procs against each other and against other clocks, and
 * demotes them at the first disagreement: its own choice of clock is the judgement to follow. */
static bool kernel_trusts_counter(void)
{
	char name[16] = "";
	int fd = (int)trc_raw4(SYS_openat, AT_FDCWD,
			       "/sys/devices/system/clocksource/clocksource0/current_clocksource",
			       O_RDONLY | O_CLOEXEC, 0);
	long n = fd < 0 ? -1 : trc_raw3(SYS_read, fd, name, sizeof(name) - 1);

	if (fd >= 0)
		trc_raw1(SYS_close, fd);
	return n >= 3 && !memcmp(name, "tsc", 3);
}

static bool counter_is_invariant(void)
{
	unsigned int a, b, c, d;

	return __get_cpuid(0x80000007, &a, &b, &c, &d) && (d & (1U << 8));
}

static enum trc_clock_kind counter_kind(void)
{
	return counter_is_invariant() && kernel_trusts_counter() ? TRC_CLOCK_TSC
								 : TRC_CLOCK_MONOTONIC_RAW;
}
#else
static enum trc_clock_kind counter_kind(void)
{
	return TRC_CLOCK_CNTVCT;
}
#endif

static bool kind_is_here(enum trc_clock_kind kind)
{
#if defined(__x86_64__)
	return kind == TRC_CLOCK_MONOTONIC_RAW || kind == TRC_CLOCK_TSC;
#else
	return kind == TRC_CLOCK_MONOTONIC_RAW || kind == TRC_CLOCK_CNTVCT;
#endif
}

static uint64_t ordered_of(enum trc_clock_kind kind)
{
	trc_clock_barrier();
	return kind == TRC_CLOCK_MONOTONIC_RAW ? trc_clock_vdso() : trc_clock_counter();
}

int trc_clock_sync_of(enum trc_clock_kind kind, struct trc_sync_point *sync)
{
	uint64_t best = UINT64_MAX;

	if (!kind_is_here(kind))
		return -ENOTSUP;
	for (int i = 0; i < SYNC_TRIES; i++) {
		struct trc_sync_point s;
		uint64_t after_ns;
		uint64_t before = ordered_of(kind);

		s.monotonic_raw_ns = trc_now_ns(CLOCK_MONOTONIC_RAW);
		s.ticks = before + (ordered_of(kind) - before) / 2;
		s.monotonic_ns = trc_now_ns(CLOCK_MONOTONIC);
		s.realtime_ns = trc_now_ns(CLOCK_REALTIME);
		after_ns = trc_now_ns(CLOCK_MONOTONIC_RAW);
		s.uncertainty_ns = after_ns - s.monotonic_raw_ns;
		if (s.uncertainty_ns < best) {
			best = s.uncertainty_ns;
			*sync = s;
		}
	}
	if (kind == TRC_CLOCK_MONOTONIC_RAW)
		sync->ticks = sync->monotonic_raw_ns;
	return 0;
}

void trc_clock_sync(struct trc_sync_point *sync)
{
	trc_clock_sync_of(trc_clock_kind, sync);
}

int trc_clock_now_of(enum trc_clock_kind kind, uint64_t *ticks)
{
	if (!kind_is_here(kind))
		return -ENOTSUP;
	*ticks = ordered_of(kind);
	return 0;
}

#if defined(__aarch64__)
void trc_clock_counter_now(struct trc_sync_point *now)
{
	trc_clock_sync_of(TRC_CLOCK_CNTVCT, now);
}

uint64_t trc_clock_counter_rate(const struct trc_sync_point *since)
{
	uint64_t hz;

	__asm__("mrs %0, cntfrq_el0" : "=r"(hz));
	return hz;
}
#else
void trc_clock_counter_now(struct trc_sync_point *now)
{
	trc_clock_sync_of(TRC_CLOCK_TSC, now);
}

/* A first estimate of the rate; sync points along the trace make it exact. */
uint64_t trc_clock_counter_rate(const struct trc_sync_point *since)
{
	struct trc_sync_point b;

	do
		trc_clock_counter_now(&b);
	while (b.monotonic_raw_ns - since->monotonic_raw_ns < CALIBRATION_NS);
	return (uint64_t)((unsigned __int128)(b.ticks - since->ticks) * 1000000000 /
			  (b.monotonic_raw_ns - since->monotonic_raw_ns));
}
#endif

static uint64_t measure_rate(void)
{
	struct trc_sync_point now;

	trc_clock_counter_now(&now);
	return trc_clock_counter_rate(&now);
}

int trc_clock_setup_at(enum trc_clock_kind forced, uint64_t rate)
{
	enum trc_clock_kind counter = counter_kind();

	if (forced && forced != counter && forced != TRC_CLOCK_MONOTONIC_RAW)
		return -ENOTSUP;
	/* A thread that still records into the recording before may read it. */
	__atomic_store_n(&trc_clock_kind, forced ? forced : counter, __ATOMIC_RELAXED);
	if (!trc_clock_is_counter())
		ticks_per_second = 1000000000;
	else
		ticks_per_second = rate >= RATE_MIN && rate <= RATE_MAX ? rate : measure_rate();
	return 0;
}

int trc_clock_setup(enum trc_clock_kind forced)
{
	return trc_clock_setup_at(forced, 0);
}

uint64_t trc_clock_ticks_per_second(void)
{
	return ticks_per_second;
}

uint64_t trc_clock_ns_to_ticks(uint64_t ns)
{
	return (uint64_t)((unsigned __int128)ns * ticks_per_second / 1000000000);
}

uint64_t trc_clock_ticks_to_ns(uint64_t ticks)
{
	return (uint64_t)((unsigned __int128)ticks * 1000000000 / ticks_per_second);
}
