/*
 * mutex_inline.h - a normal, private mutex that nobody wants: taken and given back without a call.
 *
 * Calling glibc's functions costs more than their work on such a mutex.  The content of the mutex
 * is part of glibc's ABI only for static initialisers and debuggers, so it is not taken for
 * granted:
 *
 *   mutex_inline:M1  nothing is done here unless the real functions are libc's own, and leave the
 *       same content in a mutex as the code here.  They are tried out on private mutexes when this
 *       object is loaded
 *   mutex_inline:M2  at any moment the mutex is in a state that the real functions could have left:
 *       any thread may use the real functions or this code at any time
 *   mutex_inline:M3  waiting is left to glibc: the real call waits for a mutex that is held, and
 *       the real call releases a mutex for which a thread waits
 *   mutex_inline:M4  the owner's tid is the tid of a thread that records: such a tid is the calling
 *       thread's own, and not its parent's (vfork) or that of the thread that forked
 */
#ifndef TRC_RECORDER_INTERPOSE_MUTEX_INLINE_H
#define TRC_RECORDER_INTERPOSE_MUTEX_INLINE_H

#include "span.h"

/* The __kind of the mutexes that are taken here: 0.  If M1 fails, a kind that no mutex has. */
extern TRC_HIDDEN int trc_mutex_inline_kind;
/* A bit of __kind: the normal type was chosen explicitly (pthread_mutexattr_settype(), all of C11).
 * The bit only forbids the elision of locks, which glibc does not do by default. */
enum { TRC_MUTEX_NO_ELISION = 512 };

/* Context: any thread, while this object is loaded.  After trc_real_resolve(). */
void trc_mutex_inline_check(void);

static inline bool trc_mutex_inline(const pthread_mutex_t *mutex)
{
	return TRC_LIKELY((mutex->__data.__kind & ~TRC_MUTEX_NO_ELISION) == trc_mutex_inline_kind);
}

/* M4. */
static inline bool trc_tid_is_own(void)
{
	/* relaxed: as in trc_self_ready(). */
	uint64_t session = atomic_load_explicit(&trc_switch.on, memory_order_relaxed);

	return TRC_LIKELY(session && trc_self.session_if_loud == session);
}

/* Takes a mutex of that kind for the thread `tid`.  False: the mutex is held. */
static inline bool trc_mutex_take(pthread_mutex_t *mutex, uint32_t tid)
{
	int unlocked = 0;

	/* acquire: pairs with the release in trc_mutex_give(), or in glibc's. */
	if (!__atomic_compare_exchange_n(&mutex->__data.__lock, &unlocked, 1, false,
					 __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
		return false;
	/* Relaxed: those who look at it without holding it make do with either value. */
	__atomic_store_n(&mutex->__data.__owner, (int)tid, __ATOMIC_RELAXED);
	mutex->__data.__nusers++;
	return true;
}

/* Gives a mutex of that kind back.  False: nothing was done, as a thread waits for the mutex, or no
 * thread holds it. */
static inline bool trc_mutex_give(pthread_mutex_t *mutex)
{
	int owner = __atomic_load_n(&mutex->__data.__owner, __ATOMIC_RELAXED);
	int locked = 1;

	if (TRC_UNLIKELY(__atomic_load_n(&mutex->__data.__lock, __ATOMIC_RELAXED) != locked))
		return false;
	__atomic_store_n(&mutex->__data.__owner, 0, __ATOMIC_RELAXED);
	mutex->__data.__nusers--;
	/* release: pairs with the acquire of the next one to take it.  The mutex may be gone. */
	if (TRC_LIKELY(__atomic_compare_exchange_n(&mutex->__data.__lock, &locked, 0, false,
						   __ATOMIC_RELEASE, __ATOMIC_RELAXED)))
		return true;
	/* A waiter came: M3. */
	__atomic_store_n(&mutex->__data.__owner, owner, __ATOMIC_RELAXED);
	mutex->__data.__nusers++;
	return false;
}

#endif
