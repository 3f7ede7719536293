/*
 * sample_signal.c - one sample: from the signal to its event.
 *
 * Context: signal handler of the interrupted thread, all signals blocked.  The interrupted code may
 * be in the middle of anything, recording and attaching included.
 */
#include <errno.h>
#include <string.h>
#include "format/raw.h"
#include "recorder/ring/otel.h"
#include "recorder/ring/rec.h"
#include "sample_private.h"
#include "sample_table.h"
#include "recorder/shared/signals.h"
#include "recorder/ring/slot_inline.h"
#include "thread_answer.h"
#include "recorder/unwind/poison.h"

/* What a signal is about: ours, and perhaps of a sampler that is gone. */
struct cause {
	bool ours;
	struct trc_sampler *sampler; /* the calling thread's; NULL = gone */
	unsigned int i;		     /* its source */
	uint64_t overrun;
};

/* What comes while it is taken down is seen by the account of it. */
static bool is_current(const struct trc_sampler *s, uint32_t tid)
{
	return s &&
	       atomic_load_explicit(&s->state, memory_order_relaxed) != TRC_SAMPLER_DISARMING &&
	       s->run == atomic_load_explicit(&trc_sampling, memory_order_relaxed) &&
	       atomic_load_explicit(&s->tid, memory_order_relaxed) == tid;
}

/* A timer says which source it is. */
static struct cause cause_of_timer(const siginfo_t *info, uint32_t tid)
{
	uintptr_t off = (uintptr_t)info->si_value.sival_ptr - (uintptr_t)trc_sample.sampler;
	struct cause cause = {.ours = trc_sample.sampler &&
				      off < trc_sample.n_samplers * sizeof(struct trc_sampler)};
	struct trc_sampler *s;

	if (!cause.ours)
		return cause;
	s = &trc_sample.sampler[off / sizeof(*s)];
	cause.i = (unsigned int)((off % sizeof(*s) - offsetof(struct trc_sampler, source)) /
				 sizeof(struct trc_source));
	cause.overrun = info->si_overrun > 0 ? (uint64_t)info->si_overrun : 0;
	if (is_current(s, tid) && cause.i < trc_sample.n &&
	    s->source[cause.i].kind == TRC_SOURCE_TIMER &&
	    s->source[cause.i].handle == info->si_timerid)
		cause.sampler = s;
	return cause;
}

/* A counter says its descriptor.  Those of the program's own lie elsewhere. */
static struct cause cause_of_counter(const siginfo_t *info, uint32_t tid)
{
	struct trc_sampler *s = trc_sampler_of(tid);
	struct cause cause = {.ours = trc_sample.sampler && info->si_fd >= trc_sample.lowest_fd};

	if (!cause.ours || !is_current(s, tid))
		return cause;
	for (unsigned int i = 0; i < trc_sample.n; i++) {
		if (s->source[i].kind == TRC_SOURCE_COUNTER && s->source[i].handle == info->si_fd) {
			cause.sampler = s;
			cause.i = i;
		}
	}
	return cause;
}

static struct cause cause_of(const siginfo_t *info, uint32_t tid)
{
	if (info->si_code == SI_TIMER)
		return cause_of_timer(info, tid);
	if (info->si_code >= POLL_IN && info->si_code <= POLL_HUP)
		return cause_of_counter(info, tid);
	return (struct cause){.ours = trc_answer_is_question(info)};
}

static void lose(unsigned int i, enum trc_sample_loss why, uint64_t n)
{
	trc_sample_count_loss(trc_rec.shared, trc_sample.number[i], why, n);
}

/* False on an alternate stack of the program's that is too small: a sample would write below it. */
static bool has_room(const void *context)
{
	enum { ROOM = 4096 };
	const ucontext_t *interrupted = context;
	uintptr_t off =
		(uintptr_t)__builtin_frame_address(0) - (uintptr_t)interrupted->uc_stack.ss_sp;

	return off >= interrupted->uc_stack.ss_size || off >= ROOM;
}

/*
 * True in a fiber of a thread that has no alternate stack yet, as it was not seen since recording
 * began: coroutines' stacks are small.  From now on it has one, if that can be had.
 */
static bool stands_on_fiber(const void *context)
{
	ucontext_t *interrupted = (ucontext_t *)(uintptr_t)context;
	void (*hook)(void) = trc_attach_hook;
	stack_t now;

	if (interrupted->uc_stack.ss_size || !trc_self.on_fiber || !hook)
		return false;
	hook();
	if (trc_raw2(SYS_sigaltstack, 0, &now) || !now.ss_size)
		return false;
	interrupted->uc_stack = now; /* put back with the rest when the handler returns */
	return true;
}

/* n samples in one, which stand for `value`. */
static void record(unsigned int i, uint64_t n, uint64_t value, const void *context)
{
	struct trc_args_sample args = {.event = trc_sample.number[i],
				       .value = value,
				       .period = trc_sample.event[i].period};
	uint64_t stack;

	if (!context || !has_room(context) || stands_on_fiber(context) || !trc_self_ready()) {
		lose(i, trc_self.ended ? TRC_SAMPLE_LOSS_NO_THREAD : TRC_SAMPLE_LOSS_BUSY, n);
		return;
	}
	trc_otel_note(trc_clock_now());
	args.labels = trc_self.labels;
	trc_labels_touch(args.labels); /* a thread without a slot has nothing else to keep it */
	stack = TRC_RECORD_STACK_OF(args, context);
	trc_slot_seen(stack, trc_clock_now(), true);
}

/* Where the section begins and ends, by the linker; weak: not every build has sequences. */
extern TRC_HIDDEN const char __start___rseq_abort[] __attribute__((weak));
extern TRC_HIDDEN const char __stop___rseq_abort[] __attribute__((weak));

/* Where the jump at `at` leads to; 0: it is none. */
static uint64_t jump_target(uint64_t at)
{
	const uint8_t *code = (const uint8_t *)(uintptr_t)at; /* of our own */
#if defined(__x86_64__)
	int32_t off;

	if (code[0] != 0xe9)
		return 0;
	memcpy(&off, code + 1, sizeof(off));
	return at + 5 + (uint64_t)(int64_t)off;
#else
	uint32_t word;

	memcpy(&word, code, sizeof(word));
	if (word >> 26 != 5)
		return 0;
	return at + (uint64_t)((int64_t)(int32_t)(word << 6) >> 4);
#endif
}

/*
 * A signal in a restartable sequence finds the thread where the kernel has put it: at the
 * sequence's abort address, a jump that lies in no function, so that no rules tell who called.
 * The jump is made here, in what the signal interrupted: nothing but the next address changes.
 */
static void leave_abort(const void *context)
{
	ucontext_t *interrupted = (ucontext_t *)(uintptr_t)context;
	uint64_t at, to = 0;

	if (!interrupted)
		return;
#if defined(__x86_64__)
	at = (uint64_t)interrupted->uc_mcontext.gregs[REG_RIP];
#else
	at = interrupted->uc_mcontext.pc;
#endif
	if (at >= (uintptr_t)__start___rseq_abort && at < (uintptr_t)__stop___rseq_abort)
		to = jump_target(at);
	if (!to)
		return;
#if defined(__x86_64__)
	interrupted->uc_mcontext.gregs[REG_RIP] = (greg_t)to;
#else
	interrupted->uc_mcontext.pc = to;
#endif
}

/*
 * True if the signal found the thread on its way back from a system call.  x86 leaves the address
 * behind the call's instruction, of two bytes, in RCX; a call that is to be made again has its
 * instruction's address in RIP.  Elsewhere nothing tells: any place may be one.
 */
static bool context_is_in_call(const void *context)
{
#if defined(__x86_64__)
	const ucontext_t *interrupted = context;
	const greg_t *reg = interrupted ? interrupted->uc_mcontext.gregs : NULL;

	return reg && (reg[REG_RCX] == reg[REG_RIP] || reg[REG_RCX] == reg[REG_RIP] + 2);
#else
	return true;
#endif
}

/* S9: as far as its first samples go.  What is beyond the kernel's samples stand for. */
static uint64_t within_first(struct trc_source *source, const struct trc_cpu_event *e,
			     uint64_t value)
{
	uint64_t taken = source->taken;

	if (!e->first_by_signal || taken < TRC_CPU_FIRST_SAMPLES)
		return value;
	source->taken = TRC_CPU_FIRST_SAMPLES - 1;
	return value - (taken - source->taken) * e->period;
}

/* The same of a timer, whose sample may stand for a whole tick that found the thread early in its
 * life: the kernel's samples stand for ticks behind its first periods. */
static uint64_t timer_within_first(const struct trc_source *source, const struct trc_cpu_event *e,
				   uint64_t n)
{
	uint64_t used_ns = trc_cpu_time_of(0) - source->cpu_ns;
	uint64_t left =
		source->taken < TRC_CPU_FIRST_SAMPLES ? TRC_CPU_FIRST_SAMPLES - source->taken : 0;

	if (source->first && e->period < trc_sample.tick_ns && used_ns < trc_sample.tick_ns)
		return used_ns <= TRC_CPU_FIRST_SAMPLES * e->period ? n : 0;
	return n < left ? n : left;
}

/* S9: true if the first samples are all taken.  The timer or counter goes; if somebody has the
 * sampler, a counter stands until that one takes it down. */
static bool first_are_taken(struct trc_sampler *s, unsigned int i)
{
	struct trc_source *source = &s->source[i];

	if (!trc_first_are_over(s, i))
		return false;
	if (trc_sampler_hold(s)) {
		/* First: a child that is forked meanwhile closes what it finds here. */
		if (source->kind == TRC_SOURCE_TIMER)
			trc_source_disarm_timer(source);
		else
			trc_source_disarm_counter(source);
		source->kind = TRC_SOURCE_NONE;
		trc_sampler_release(s);
	}
	return true;
}

static void take_timer(struct trc_sampler *s, const struct cause *cause, const void *context)
{
	struct trc_source *source = &s->source[cause->i];
	const struct trc_cpu_event *e = &trc_sample.event[cause->i];
	uint64_t n = 1 + cause->overrun;

	if (source->first && e->period < trc_sample.tick_ns)
		n = trc_source_first(source, e->period, n);
	if (e->first_by_signal)
		n = timer_within_first(source, e, n);
	source->first = false;
	source->taken += n; /* as in take_counter() */
	if (n)
		record(cause->i, n, n * e->period, context);
	else
		source->taken = TRC_CPU_FIRST_SAMPLES; /* the tick lay behind */
	trc_timer_found(s, cause->i, n * e->period);
	first_are_taken(s, cause->i);
}

/* False: its descriptor is not ours any more. */
static bool take_counter(struct trc_sampler *s, unsigned int i, uint64_t cpu_ns,
			 const void *context)
{
	enum { ACCOUNT_EVERY = 64 };

	uint64_t before = s->source[i].taken;
	uint64_t value = trc_source_value(&s->source[i], &trc_sample.event[i], cpu_ns,
					  context_is_in_call(context));

	value = within_first(&s->source[i], &trc_sample.event[i], value);
	/* First: another thread may take the sampler down meanwhile, and miss it. */
	s->source[i].taken++;
	record(i, s->source[i].taken - before, value, context);
	if (s->source[i].taken / ACCOUNT_EVERY != before / ACCOUNT_EVERY)
		trc_source_account(s, i, false);
	return first_are_taken(s, i) || trc_source_turn(s, i, cpu_ns) ||
	       trc_source_resume(&s->source[i], trc_sample.event[i].period);
}

/* One that has sent the signal.  Where its value is to be read it must be there still: what the
 * program has there now would lose what is read. */
static bool take_told(struct trc_sampler *s, unsigned int i, uint64_t cpu_ns, const void *context)
{
	if (trc_source_counts_all(&trc_sample.event[i]) || trc_source_is_ours(&s->source[i]))
		return take_counter(s, i, cpu_ns, context);
	s->source[i].taken++; /* as above */
	record(i, 1, trc_sample.event[i].period, context);
	return false;
}

/* One that perhaps did not send the signal.  What the program has where it was may be something to
 * be read, or to be waited for. */
static bool take_if_stands(struct trc_sampler *s, unsigned int i, uint64_t cpu_ns,
			   const void *context)
{
	if (!trc_source_is_ours(&s->source[i]))
		return false;
	return !trc_source_stands(&s->source[i]) || take_counter(s, i, cpu_ns, context);
}

static bool samples_now(const struct trc_sampler *s, unsigned int i)
{
	return s->source[i].kind == TRC_SOURCE_COUNTER && !trc_first_are_over(s, i);
}

/* The one that the signal is from, and those that it came instead of.  False: one of them is not
 * ours any more. */
static bool take_counters(struct trc_sampler *s, const struct cause *cause, const void *context)
{
	unsigned int n_counters = 0;
	bool told, whole = true;
	uint64_t cpu_ns;

	for (unsigned int i = 0; i < trc_sample.n; i++)
		n_counters += samples_now(s, i);
	told = n_counters == 1 && cause->sampler && samples_now(s, cause->i);
	cpu_ns = trc_cpu_time_of(0);
	trc_sampler_count(s, cpu_ns);
	for (unsigned int i = 0; i < trc_sample.n && n_counters; i++)
		if (samples_now(s, i))
			whole &= told ? take_told(s, i, cpu_ns, context)
				      : take_if_stands(s, i, cpu_ns, context);
	return whole;
}

bool trc_sample_signal(const siginfo_t *info, const void *context)
{
	uint32_t tid = (uint32_t)trc_raw1(SYS_gettid, 0);
	struct cause cause = cause_of(info, tid);
	struct trc_sampler *s = trc_sampler_of(tid);
	int saved = errno;
	uint64_t now;
	bool came;

	leave_abort(context);
	if (trc_answer_is_question(info))
		trc_answer_signal(info, context);
	if (!cause.ours && trc_recording())
		atomic_fetch_or_explicit(&trc_rec.shared->flags, TRC_SHARED_OWN_SIGPROF,
					 memory_order_relaxed);
	if (!trc_recording() || !is_current(s, tid))
		return cause.ours;
	trc_self.sampler = s;
	trc_self.no_wait++;
	if (cause.sampler && s->source[cause.i].kind == TRC_SOURCE_TIMER)
		take_timer(s, &cause, context);
	came = trc_sampler_come(s);
	if (!take_counters(s, &cause, context) || !came) {
		trc_sampler_renew(s, tid);
		trc_self.sampler = trc_sampler_of(tid);
	}
	now = trc_clock_now();
	if (trc_sample_look_is_due(now))
		trc_sample_look(now);
	trc_self.no_wait--;
	errno = saved;
	return cause.ours;
}

void trc_sample_take_pending(void)
{
	const uint64_t set = UINT64_C(1) << (SIGPROF - 1);
	const struct timespec at_once = {0, 0};
	long pid = trc_raw1(SYS_getpid, 0), tid = trc_raw1(SYS_gettid, 0);
	siginfo_t info, programs;
	bool put_back = false;

	/* Several timers' may be pending at once. */
	while (trc_raw4(SYS_rt_sigtimedwait, &set, &info, &at_once, sizeof(set)) == SIGPROF) {
		if (!cause_of(&info, (uint32_t)tid).ours) {
			programs = info;
			put_back = true;
		}
	}
	if (put_back)
		trc_raw4(SYS_rt_tgsigqueueinfo, pid, tid, SIGPROF, &programs);
}

/* ---- the signal ------------------------------------------------------------------------ */

/* Where nothing interposes (tests), nobody shares it. */
static void on_signal(int number, siginfo_t *info, void *context)
{
	trc_sample_signal(info, context);
}

void trc_sample_own_signal(void)
{
	struct sigaction ours = {.sa_sigaction = on_signal,
				 .sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK};

	trc_self.quiet++;
	sigfillset(&ours.sa_mask);
	if (!trc_signal_own)
		sigaction(SIGPROF, &ours, NULL);
	else
		trc_signal_own(SIGPROF, trc_sample_signal);
	trc_self.quiet--;
}
