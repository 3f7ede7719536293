/*
 * thread.c - pthread_create, _join, _exit, _setname_np.  Context: traced thread.
 *
 *   thread:B1  a handoff belongs to the creator until the real call has succeeded, then to the new
 *       thread, which gives it back before it runs anything of the program's
 *   thread:B2  trc_thread_ended() runs in the last round of thread-specific destructors, so that
 *       events of the program's own destructors are still recorded.  Later events are not recorded
 */
#include "signal_own.h"
#include <linux/futex.h>
#include "thread.h"
#include "signal.h"
#include "span.h"
#include "recorder/unwind/poison.h"

/* ---- the end -------------------------------------------------------------------------- */

enum {
	LAST_ROUND = 4,		  /* PTHREAD_DESTRUCTOR_ITERATIONS of glibc */
	KEYS_WITHOUT_MALLOC = 32, /* storing under a higher key may allocate */
};

static pthread_key_t end_key;
static bool end_key_made;

/* Fresh in each thread, as the key's value is not: what a dying thread sets comes back to the next
 * thread on its stack, and no destructor is called for it. */
static __thread bool armed __attribute__((tls_model("initial-exec")));

/* The value counts the rounds. */
static void thread_ending(void *value)
{
	uintptr_t round = (uintptr_t)value;

	/* In each round: if a destructor of the program's armed the thread, its last round does not come. */
	trc_labels_kept_end();
	if (round < LAST_ROUND && !pthread_setspecific(end_key, (void *)(round + 1)))
		return;
	trc_self.ended = true; /* signal handlers may still come */
	trc_thread_ended();
	trc_altstack_leave();
	trc_labels_leave();
}

void trc_thread_prepare(void)
{
	end_key_made =
		!pthread_key_create(&end_key, thread_ending) && end_key < KEYS_WITHOUT_MALLOC;
	trc_thread_end_hook = trc_thread_arm;
}

bool trc_thread_arm(void)
{
	if (!end_key_made || trc_self.ended)
		return false;
	if (!armed)
		armed = !pthread_setspecific(end_key, (void *)1);
	return armed;
}

/* ---- the beginning -------------------------------------------------------------------- */

struct trc_handoff {
	_Atomic uint32_t taken;
	bool mapped; /* a mapping of its own: the pool was used up */
	void *(*start)(void *);
	thrd_start_t c11_start;
	void *arg;
	uint32_t creator;
	uint64_t stack;	  /* that it was created at */
	uint64_t created; /* when */
	size_t stack_bytes;
	bool mask_settled;		   /* as trc_mask_thread_begin() wants to know */
	const struct trace_labels *labels; /* a reference */
};

/* Threads on their way from creation to their first instruction: seldom more than a few. */
static struct trc_handoff pool[64];

static struct trc_handoff *handoff_take(void)
{
	struct trc_handoff *mapped;
	unsigned int i;

	for (i = 0; i < sizeof(pool) / sizeof(pool[0]); i++)
		/* acquire: pairs with the release in handoff_give(); its user is done with it. */
		if (!atomic_exchange_explicit(&pool[i].taken, 1, memory_order_acquire))
			return &pool[i];
	mapped = mmap(NULL, sizeof(*mapped), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
		      -1, 0);
	if (mapped == MAP_FAILED)
		return NULL;
	mapped->mapped = true;
	return mapped;
}

static void handoff_give(struct trc_handoff *handoff)
{
	if (handoff->mapped)
		munmap(handoff, sizeof(*handoff));
	else
		/* release: pairs with the acquire in handoff_take(). */
		atomic_store_explicit(&handoff->taken, 0, memory_order_release);
}

bool trc_handoff_wanted(void)
{
	/* What a quiet thread creates is a thread of trc's own, which is not recorded either. */
	return (trc_recording() || trc_labels_now()) && !trc_self.quiet;
}

/* How big the stack of a thread with these attributes will be, or 0. */
static size_t stack_bytes_of(const pthread_attr_t *attr)
{
	pthread_attr_t defaults;
	size_t n_bytes = 0;

	if (attr) {
		pthread_attr_getstacksize(attr, &n_bytes);
		return n_bytes;
	}
	pthread_attr_init(&defaults);
	pthread_attr_getstacksize(&defaults, &n_bytes);
	pthread_attr_destroy(&defaults);
	return n_bytes;
}

struct trc_handoff *trc_handoff_make(const pthread_attr_t *attr, void *(*start)(void *),
				     thrd_start_t c11_start, void *arg)
{
	int saved = errno;
	struct trc_handoff *handoff = handoff_take();

	errno = saved;
	if (!handoff)
		return NULL;
	handoff->start = start;
	handoff->c11_start = c11_start;
	handoff->arg = arg;
	handoff->creator = trc_thread_creating(&handoff->stack, &handoff->created);
	handoff->stack_bytes = stack_bytes_of(attr);
	handoff->mask_settled = trc_mask_thread_making();
	handoff->labels = trc_labels_ref(trc_labels_now());
	return handoff;
}

void trc_handoff_drop(struct trc_handoff *handoff)
{
	trc_labels_unref(handoff->labels);
	handoff_give(handoff);
}

/* Takes over from the creator; *own is a copy. */
static void handoff_begin(struct trc_handoff *handoff, struct trc_handoff *own)
{
	*own = (struct trc_handoff){.start = handoff->start,
				    .c11_start = handoff->c11_start,
				    .arg = handoff->arg,
				    .creator = handoff->creator,
				    .stack = handoff->stack,
				    .created = handoff->created,
				    .stack_bytes = handoff->stack_bytes,
				    .mask_settled = handoff->mask_settled,
				    .labels = handoff->labels};
	handoff_give(handoff);
	if (own->labels)
		trc_labels_inherit(own->labels);
	trc_mask_thread_begin(own->mask_settled);
	trc_thread_started(own->creator, own->stack, own->created, own->stack_bytes);
	if (trc_thread_arm())
		trc_altstack_enter();
}

void *trc_thread_run(void *handoff)
{
	struct trc_handoff own;

	handoff_begin(handoff, &own);
	return own.start(own.arg);
}

int trc_thread_run_c11(void *handoff)
{
	struct trc_handoff own;

	handoff_begin(handoff, &own);
	return own.c11_start(own.arg);
}

TRC_EXPORT int pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*start)(void *),
			      void *arg)
{
	struct trc_handoff *handoff =
		trc_handoff_wanted() ? trc_handoff_make(attr, start, NULL, arg) : NULL;
	int result;

	if (!handoff)
		return REAL(pthread_create)(thread, attr, start, arg);
	result = REAL(pthread_create)(thread, attr, trc_thread_run, handoff);
	if (result)
		trc_handoff_drop(handoff);
	return result;
}

/* ---- exit, join, name ----------------------------------------------------------------- */

TRC_EXPORT void pthread_exit(void *value)
{
	if (trc_recording())
		trc_thread_arm(); /* the main thread, and those older than the recording */
	REAL(pthread_exit)(value);
	__builtin_unreachable();
}

/* What a thread that has ended already is joined by. */
static bool joined_at_once(pthread_t thread, void **value, int *result)
{
	if (pthread_equal(thread, pthread_self()))
		return false;
	*result = REAL(pthread_tryjoin_np)(thread, value);
	return *result == 0;
}

/* By its clock, whose number has it. */
uint32_t trc_tid_of(pthread_t thread)
{
	clockid_t clock;

	if (pthread_getcpuclockid(thread, &clock))
		return 0;
	return ~(uint32_t)(clock >> 3) & FUTEX_TID_MASK;
}

void trc_join_begin(struct trc_span *span, pthread_t thread, uint32_t tid)
{
	uint32_t serial = trc_thread_serial(thread);

	/* One that was created just now may not have recorded yet: its serial is found later. */
	if (serial)
		trc_park_on_thread(&span->wait, TRC_REASON_JOIN, (const void *)thread, serial);
	else
		trc_park(&span->wait, TRC_REASON_JOIN, (const void *)thread, tid);
	trc_span_guard(span, true);
}

#define JOIN(name, parameters, arguments)                                                          \
	TRC_EXPORT int name parameters                                                             \
	{                                                                                          \
		struct trc_span span;                                                              \
		uint32_t tid;                                                                      \
		int result;                                                                        \
                                                                                                   \
		if (!trc_recording())                                                              \
			return REAL(name) arguments;                                               \
		tid = trc_tid_of(thread); /* it may end right after it was tried */                \
		if (joined_at_once(thread, value, &result))                                        \
			return result;                                                             \
		trc_join_begin(&span, thread, tid);                                                \
		result = REAL(name) arguments;                                                     \
		trc_span_end(&span, result);                                                       \
		return result;                                                                     \
	}
JOIN(pthread_join, (pthread_t thread, void **value), (thread, value))
JOIN(pthread_timedjoin_np, (pthread_t thread, void **value, const struct timespec *deadline),
     (thread, value, deadline))
JOIN(pthread_clockjoin_np,
     (pthread_t thread, void **value, clockid_t clock, const struct timespec *deadline),
     (thread, value, clock, deadline))

TRC_EXPORT int pthread_tryjoin_np(pthread_t thread, void **value)
{
	return REAL(pthread_tryjoin_np)(thread, value);
}

TRC_EXPORT int pthread_setname_np(pthread_t thread, const char *name)
{
	int result = REAL(pthread_setname_np)(thread, name);

	if (!result && trc_recording())
		trc_thread_named((uint64_t)thread, trc_tid_of(thread), name);
	return result;
}
