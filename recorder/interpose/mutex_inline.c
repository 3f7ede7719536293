/*
 * mutex_inline.c - does glibc's mutex work as mutex_inline.h assumes? M1.
 */
#include "mutex_inline.h"
#include "recorder/unwind/valgrind.h"
#define TRC_DEFINES_MUTEX
#include "recorder/unwind/poison.h"

/* glibc's kinds are small, or -1 once destroyed. */
enum { KIND_OF_NO_MUTEX = 0x55aa55aa };
int trc_mutex_inline_kind = KIND_OF_NO_MUTEX;

/* ---- the object that the functions are in --------------------------------------------- */

static const void *function_object(const void *function)
{
	Dl_info info;

	return function && dladdr(function, &info) ? info.dli_fbase : NULL;
}

#define IN_OBJECT(name, object) (function_object((const void *)(uintptr_t)REAL(name)) == (object))

/* Others may interpose these names as well, and want to see every call. */
static bool functions_are_libcs(void)
{
	const void *libc = function_object(dlsym(RTLD_DEFAULT, "gnu_get_libc_version"));

	return libc && IN_OBJECT(pthread_mutex_lock, libc) &&
	       IN_OBJECT(pthread_mutex_trylock, libc) && IN_OBJECT(pthread_mutex_unlock, libc);
}

/* ---- what they do --------------------------------------------------------------------- */

/* Is it what it was when it was new, but for these? */
static bool mutex_is(const pthread_mutex_t *mutex, const pthread_mutex_t *new, int lock, int owner,
		     unsigned int users)
{
	pthread_mutex_t wanted = *new;

	wanted.__data.__lock = lock;
	wanted.__data.__owner = owner;
	wanted.__data.__nusers = users;
	return memcmp(mutex, &wanted, sizeof(wanted)) == 0;
}
#define IS_FREE(m) mutex_is(m, new, 0, 0, 0)
#define IS_HELD(m) mutex_is(m, new, 1, (int)tid, 1)

static bool real_calls_do_the_same(const pthread_mutex_t *new, uint32_t tid)
{
	pthread_mutex_t m = *new;

	return IS_FREE(&m) && REAL(pthread_mutex_lock)(&m) == 0 && IS_HELD(&m) &&
	       REAL(pthread_mutex_trylock)(&m) == EBUSY && IS_HELD(&m) &&
	       REAL(pthread_mutex_unlock)(&m) == 0 && IS_FREE(&m) &&
	       REAL(pthread_mutex_trylock)(&m) == 0 && IS_HELD(&m) &&
	       REAL(pthread_mutex_unlock)(&m) == 0 && IS_FREE(&m);
}

static bool real_calls_mix_with_ours(const pthread_mutex_t *new, uint32_t tid)
{
	pthread_mutex_t m = *new;

	return trc_mutex_take(&m, tid) && IS_HELD(&m) && !trc_mutex_take(&m, tid) &&
	       REAL(pthread_mutex_trylock)(&m) == EBUSY && IS_HELD(&m) &&
	       REAL(pthread_mutex_unlock)(&m) == 0 && IS_FREE(&m) && !trc_mutex_give(&m) &&
	       REAL(pthread_mutex_lock)(&m) == 0 && trc_mutex_give(&m) && IS_FREE(&m);
}

static bool as_expected(const pthread_mutex_t *new)
{
	uint32_t tid = (uint32_t)gettid();

	return !(new->__data.__kind & ~TRC_MUTEX_NO_ELISION) && real_calls_do_the_same(new, tid) &&
	       real_calls_mix_with_ours(new, tid);
}

static bool mutex_make(pthread_mutex_t *m, int type, int shared)
{
	pthread_mutexattr_t attr;
	bool made;

	if (pthread_mutexattr_init(&attr))
		return false;
	made = !pthread_mutexattr_settype(&attr, type) &&
	       !pthread_mutexattr_setpshared(&attr, shared) && !pthread_mutex_init(m, &attr);
	pthread_mutexattr_destroy(&attr);
	return made;
}

static bool kind_is_another(int type, int shared)
{
	pthread_mutex_t m;

	return mutex_make(&m, type, shared) && m.__data.__kind & ~TRC_MUTEX_NO_ELISION;
}

void trc_mutex_inline_check(void)
{
	const pthread_mutex_t initialised = PTHREAD_MUTEX_INITIALIZER;
	pthread_mutex_t chosen;

	/* Valgrind sees the calls, not what they do. */
	if (!trc_on_valgrind() && functions_are_libcs() &&
	    mutex_make(&chosen, PTHREAD_MUTEX_NORMAL, PTHREAD_PROCESS_PRIVATE) &&
	    as_expected(&initialised) && as_expected(&chosen) &&
	    kind_is_another(PTHREAD_MUTEX_RECURSIVE, PTHREAD_PROCESS_PRIVATE) &&
	    kind_is_another(PTHREAD_MUTEX_ERRORCHECK, PTHREAD_PROCESS_PRIVATE) &&
	    kind_is_another(PTHREAD_MUTEX_ADAPTIVE_NP, PTHREAD_PROCESS_PRIVATE) &&
	    kind_is_another(PTHREAD_MUTEX_NORMAL, PTHREAD_PROCESS_SHARED))
		trc_mutex_inline_kind = 0;
}
