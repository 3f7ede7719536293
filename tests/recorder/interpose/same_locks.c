/*
 * same_locks.c - every kind of lock, every way to take it, every error: plain and interposed alike.
 */
#include <limits.h>
#include <sched.h>
#include <semaphore.h>
#include <stdbool.h>
#include <threads.h>
#include "fake_core.h"
#include "same.h"

static const struct timespec BAD_TIME = {.tv_sec = 1, .tv_nsec = 1000000000};
static const struct timespec LONG_AGO = {.tv_sec = 1};

/* ---- mutexes -------------------------------------------------------------------------- */

struct kind {
	const char *name;
	int type, robust, protocol;
	bool static_; /* as the static initialiser leaves it */
};
static const struct kind KINDS[] = {
	{"static", PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_STALLED, PTHREAD_PRIO_NONE, true},
	{"normal", PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_STALLED, PTHREAD_PRIO_NONE, false},
	{"recursive", PTHREAD_MUTEX_RECURSIVE, PTHREAD_MUTEX_STALLED, PTHREAD_PRIO_NONE, false},
	{"errorcheck", PTHREAD_MUTEX_ERRORCHECK, PTHREAD_MUTEX_STALLED, PTHREAD_PRIO_NONE, false},
	{"adaptive", PTHREAD_MUTEX_ADAPTIVE_NP, PTHREAD_MUTEX_STALLED, PTHREAD_PRIO_NONE, false},
	{"robust", PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_ROBUST, PTHREAD_PRIO_NONE, false},
	{"robust errorcheck", PTHREAD_MUTEX_ERRORCHECK, PTHREAD_MUTEX_ROBUST, PTHREAD_PRIO_NONE, false},
	{"robust recursive", PTHREAD_MUTEX_RECURSIVE, PTHREAD_MUTEX_ROBUST, PTHREAD_PRIO_NONE, false},
	{"inherit", PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_STALLED, PTHREAD_PRIO_INHERIT, false},
	{"inherit errorcheck", PTHREAD_MUTEX_ERRORCHECK, PTHREAD_MUTEX_STALLED,
	 PTHREAD_PRIO_INHERIT, false},
	{"inherit recursive", PTHREAD_MUTEX_RECURSIVE, PTHREAD_MUTEX_STALLED, PTHREAD_PRIO_INHERIT, false},
	{"inherit robust", PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_ROBUST, PTHREAD_PRIO_INHERIT, false},
	{"protect", PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_STALLED, PTHREAD_PRIO_PROTECT, false},
};

static void mutex_make(pthread_mutex_t *m, const struct kind *kind)
{
	static const pthread_mutex_t as_static = PTHREAD_MUTEX_INITIALIZER;
	pthread_mutexattr_t attr;

	if (kind->static_) {
		memcpy(m, &as_static, sizeof(*m));
		return;
	}
	pthread_mutexattr_init(&attr);
	pthread_mutexattr_settype(&attr, kind->type);
	pthread_mutexattr_setrobust(&attr, kind->robust);
	pthread_mutexattr_setprotocol(&attr, kind->protocol);
	tell("init", pthread_mutex_init(m, &attr));
	pthread_mutexattr_destroy(&attr);
}

static void *mutex_from_another_thread(void *arg)
{
	struct timespec soon = in_ms(CLOCK_REALTIME, 5);
	struct timespec soon_monotonic = in_ms(CLOCK_MONOTONIC, 10);
	pthread_mutex_t *m = arg;

	tell("held by another: trylock", pthread_mutex_trylock(m));
	tell("held by another: timedlock", pthread_mutex_timedlock(m, &soon));
	tell("held by another: timedlock in the past", pthread_mutex_timedlock(m, &LONG_AGO));
	tell("held by another: timedlock, no time", pthread_mutex_timedlock(m, &BAD_TIME));
	tell("held by another: clocklock",
	     pthread_mutex_clocklock(m, CLOCK_MONOTONIC, &soon_monotonic));
	tell("held by another: clocklock, no time",
	     pthread_mutex_clocklock(m, CLOCK_MONOTONIC, &BAD_TIME));
	tell("held by another: clocklock, no clock",
	     pthread_mutex_clocklock(m, CLOCK_PROCESS_CPUTIME_ID, &soon));
	return NULL;
}

static void *mutex_unlock_from_another_thread(void *arg)
{
	tell("held by another: unlock", pthread_mutex_unlock(arg));
	return NULL;
}

static void *mutex_take(void *arg)
{
	pthread_mutex_t *m = arg;

	tell("lock after the holder has released it", pthread_mutex_lock(m));
	tell("  and unlock", pthread_mutex_unlock(m));
	return NULL;
}

static void *mutex_take_and_die(void *arg)
{
	tell("lock, to die with it", pthread_mutex_lock(arg));
	return NULL;
}

static void mutex_contended(pthread_mutex_t *m)
{
	pthread_t thread;

	pthread_mutex_lock(m);
	pthread_create(&thread, NULL, mutex_take, m);
	usleep(5000);
	if (pthread_mutex_unlock(m))
		puts("cannot unlock");
	pthread_join(thread, NULL);
}

static void mutex_owner_dies(const struct kind *kind)
{
	struct timespec soon = in_ms(CLOCK_REALTIME, 1000);
	pthread_mutex_t m;

	mutex_make(&m, kind);
	run_thread(mutex_take_and_die, &m);
	tell("its owner died: lock", pthread_mutex_lock(&m));
	tell("consistent", pthread_mutex_consistent(&m));
	tell("unlock", pthread_mutex_unlock(&m));
	run_thread(mutex_take_and_die, &m);
	tell("its owner died: timedlock", pthread_mutex_timedlock(&m, &soon));
	tell("unlock without consistent", pthread_mutex_unlock(&m));
	tell("not recoverable: lock", pthread_mutex_lock(&m));
	tell("not recoverable: lock again", pthread_mutex_lock(&m));
	tell("not recoverable: timedlock in the past", pthread_mutex_timedlock(&m, &LONG_AGO));
	pthread_mutex_destroy(&m);
}

static void mutex_tests(const struct kind *kind)
{
	struct timespec soon = in_ms(CLOCK_REALTIME, 1000);
	pthread_mutex_t m;

	printf("--- mutex, %s\n", kind->name);
	mutex_make(&m, kind);
	tell("free: clocklock, no clock",
	     pthread_mutex_clocklock(&m, CLOCK_PROCESS_CPUTIME_ID, &soon));
	tell("free: timedlock, no time", pthread_mutex_timedlock(&m, &BAD_TIME));
	tell("unlock", pthread_mutex_unlock(&m));
	tell("free: lock", pthread_mutex_lock(&m));
	if (kind->type == PTHREAD_MUTEX_RECURSIVE || kind->type == PTHREAD_MUTEX_ERRORCHECK) {
		tell("my own: lock", pthread_mutex_lock(&m));
		tell("my own: timedlock", pthread_mutex_timedlock(&m, &soon));
	}
	tell("my own: trylock", pthread_mutex_trylock(&m));
	run_thread(mutex_from_another_thread, &m);
	if (kind->type != PTHREAD_MUTEX_NORMAL && kind->type != PTHREAD_MUTEX_ADAPTIVE_NP)
		run_thread(mutex_unlock_from_another_thread, &m);
	while (!pthread_mutex_unlock(&m) && kind->type == PTHREAD_MUTEX_RECURSIVE)
		puts("unlocked once");
	if (kind->type == PTHREAD_MUTEX_ERRORCHECK || kind->type == PTHREAD_MUTEX_RECURSIVE)
		tell("nobody's: unlock", pthread_mutex_unlock(&m));
	mutex_contended(&m);
	tell("destroy", pthread_mutex_destroy(&m));
	if (kind->robust == PTHREAD_MUTEX_ROBUST)
		mutex_owner_dies(kind);
}

/* ---- what is in a mutex --------------------------------------------------------------- */

static void tell_content(const char *what, const pthread_mutex_t *m)
{
	int owner = m->__data.__owner;

	printf("%-60s lock %d, users %u, kind %d, owner %s\n", what, m->__data.__lock,
	       m->__data.__nusers, m->__data.__kind,
	       !owner		     ? "none"
	       : owner == gettid() ? "self"
				     : "another");
}

static void *try_to_take(void *m)
{
	tell("held by another: trylock", pthread_mutex_trylock(m));
	tell_content("held by another", m);
	return NULL;
}

/* The recorder's way to take a mutex and glibc's, one after the other. */
static void content_tests(pthread_mutex_t *m)
{
	struct timespec soon = in_ms(CLOCK_REALTIME, 5);
	pthread_cond_t cond = PTHREAD_COND_INITIALIZER;

	tell("lock", pthread_mutex_lock(m));
	tell_content("locked", m);
	tell("destroy", pthread_mutex_destroy(m));
	run_thread(try_to_take, m);
	tell("unlock", pthread_mutex_unlock(m));
	tell_content("unlocked", m);
	tell("trylock", pthread_mutex_trylock(m));
	tell_content("locked", m);
	tell("unlock", pthread_mutex_unlock(m));
	tell_content("unlocked", m);
	tell("lock", pthread_mutex_lock(m));
	tell("timedwait", pthread_cond_timedwait(&cond, m, &soon));
	tell_content("taken again by a condition wait", m);
	tell("unlock", pthread_mutex_unlock(m));
	tell_content("unlocked", m);
	mutex_contended(m);
	tell_content("two had it, one after the other", m);
	tell("destroy", pthread_mutex_destroy(m));
	tell_content("destroyed", m);
}

static void content_of_kinds(void)
{
	pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
	pthread_mutexattr_t attr;

	puts("--- mutex, its content, static");
	content_tests(&m);
	puts("--- mutex, its content, shared by processes");
	pthread_mutexattr_init(&attr);
	pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
	pthread_mutex_init(&m, &attr);
	content_tests(&m);
	puts("--- mutex, its content, C11");
	mtx_init((mtx_t *)&m, mtx_plain);
	tell("mtx_lock", mtx_lock((mtx_t *)&m));
	tell_content("locked", &m);
	tell("mtx_unlock", mtx_unlock((mtx_t *)&m));
	tell_content("unlocked", &m);
}

/* ---- rwlocks -------------------------------------------------------------------------- */

static void *rwlock_from_another_thread(void *arg)
{
	struct timespec soon = in_ms(CLOCK_REALTIME, 5);
	struct timespec soon_monotonic = in_ms(CLOCK_MONOTONIC, 10);
	pthread_rwlock_t *lock = arg;
	int read_result;

	if (!pthread_rwlock_tryrdlock(lock)) {
		puts("read locked together");
		pthread_rwlock_unlock(lock);
	}
	tell("held: trywrlock", pthread_rwlock_trywrlock(lock));
	tell("held: timedwrlock", pthread_rwlock_timedwrlock(lock, &soon));
	tell("held: timedwrlock, no time", pthread_rwlock_timedwrlock(lock, &BAD_TIME));
	tell("held: clockwrlock",
	     pthread_rwlock_clockwrlock(lock, CLOCK_MONOTONIC, &soon_monotonic));
	tell("held: clockwrlock, no clock", pthread_rwlock_clockwrlock(lock, CLOCK_TAI, &soon));
	read_result = pthread_rwlock_timedrdlock(lock, &LONG_AGO);
	tell("held: timedrdlock in the past", read_result);
	if (!read_result)
		pthread_rwlock_unlock(lock);
	tell("held: clockrdlock, no clock", pthread_rwlock_clockrdlock(lock, CLOCK_TAI, &soon));
	return NULL;
}

static void *rwlock_take(void *arg)
{
	pthread_rwlock_t *lock = arg;

	tell("wrlock after its holder", pthread_rwlock_wrlock(lock));
	tell("  and unlock", pthread_rwlock_unlock(lock));
	return NULL;
}

static void rwlock_tests(int kind)
{
	pthread_rwlockattr_t attr;
	pthread_rwlock_t lock;
	pthread_t thread;

	printf("--- rwlock of kind %d\n", kind);
	pthread_rwlockattr_init(&attr);
	pthread_rwlockattr_setkind_np(&attr, kind);
	pthread_rwlock_init(&lock, &attr);
	tell("rdlock", pthread_rwlock_rdlock(&lock));
	tell("rdlock again", pthread_rwlock_rdlock(&lock));
	tell("timedrdlock, no time", pthread_rwlock_timedrdlock(&lock, &BAD_TIME));
	tell("unlock", pthread_rwlock_unlock(&lock));
	run_thread(rwlock_from_another_thread, &lock);
	pthread_create(&thread, NULL, rwlock_take, &lock);
	usleep(5000);
	if (pthread_rwlock_unlock(&lock))
		puts("cannot unlock");
	pthread_join(thread, NULL);

	tell("wrlock", pthread_rwlock_wrlock(&lock));
	tell("my own: wrlock", pthread_rwlock_wrlock(&lock));
	tell("my own: rdlock", pthread_rwlock_rdlock(&lock));
	tell("my own: trywrlock", pthread_rwlock_trywrlock(&lock));
	tell("my own: timedrdlock in the past", pthread_rwlock_timedrdlock(&lock, &LONG_AGO));
	run_thread(rwlock_from_another_thread, &lock);
	pthread_create(&thread, NULL, rwlock_take, &lock);
	usleep(5000);
	if (pthread_rwlock_unlock(&lock))
		puts("cannot unlock");
	pthread_join(thread, NULL);
	tell("destroy", pthread_rwlock_destroy(&lock));
}

/* ---- condition variables -------------------------------------------------------------- */

struct rendezvous {
	pthread_mutex_t m;
	pthread_cond_t c, reply;
	int stage;
};

static void *cond_waiter(void *arg)
{
	struct rendezvous *r = arg;

	pthread_mutex_lock(&r->m);
	r->stage = 1;
	pthread_cond_signal(&r->c);
	while (r->stage != 2)
		pthread_cond_wait(&r->reply, &r->m);
	r->stage = 3;
	pthread_cond_broadcast(&r->c);
	if (pthread_mutex_unlock(&r->m))
		puts("the waiter cannot unlock");
	return NULL;
}

static void cond_tests(const struct kind *kind)
{
	struct timespec soon = in_ms(CLOCK_REALTIME, 5);
	struct timespec soon_monotonic = in_ms(CLOCK_MONOTONIC, 10);
	struct rendezvous r = {.c = PTHREAD_COND_INITIALIZER, .reply = PTHREAD_COND_INITIALIZER};
	pthread_t thread;

	printf("--- cond, mutex %s\n", kind->name);
	mutex_make(&r.m, kind);
	if (kind->type == PTHREAD_MUTEX_ERRORCHECK)
		tell("wait without the mutex", pthread_cond_wait(&r.c, &r.m));
	pthread_mutex_lock(&r.m);
	tell("timedwait", pthread_cond_timedwait(&r.c, &r.m, &soon));
	tell("timedwait in the past", pthread_cond_timedwait(&r.c, &r.m, &LONG_AGO));
	tell("timedwait, no time", pthread_cond_timedwait(&r.c, &r.m, &BAD_TIME));
	tell("clockwait", pthread_cond_clockwait(&r.c, &r.m, CLOCK_MONOTONIC, &soon_monotonic));
	tell("clockwait, no clock", pthread_cond_clockwait(&r.c, &r.m, CLOCK_TAI, &soon));
	pthread_create(&thread, NULL, cond_waiter, &r);
	while (r.stage != 1)
		tell("wait", pthread_cond_wait(&r.c, &r.m));
	r.stage = 2;
	tell("signal", pthread_cond_signal(&r.reply));
	while (r.stage != 3)
		pthread_cond_wait(&r.c, &r.m);
	tell("unlock", pthread_mutex_unlock(&r.m));
	pthread_join(thread, NULL);
	tell("destroy", pthread_cond_destroy(&r.c));
}

/* ---- the rest ------------------------------------------------------------------------- */

/* The waiter tells the result: two threads would tell theirs in any order. */
static void *sem_poster(void *arg)
{
	int result;

	usleep(3000);
	errno = 0;
	result = sem_post(arg);
	return (void *)(intptr_t)(result ? errno : 0);
}

static void sem_tests(void)
{
	struct timespec soon = in_ms(CLOCK_REALTIME, 5);
	struct timespec soon_monotonic = in_ms(CLOCK_MONOTONIC, 10);
	pthread_t thread;
	void *posted;
	sem_t s;

	puts("--- semaphore");
	sem_init(&s, 0, 4);
	TELL_ERRNO("free: wait", sem_wait(&s));
	TELL_ERRNO("free: timedwait, no time", sem_timedwait(&s, &BAD_TIME));
	TELL_ERRNO("free: timedwait in the past", sem_timedwait(&s, &LONG_AGO));
	TELL_ERRNO("free: clockwait, no clock", sem_clockwait(&s, CLOCK_TAI, &soon));
	TELL_ERRNO("free: clockwait", sem_clockwait(&s, CLOCK_MONOTONIC, &soon_monotonic));
	TELL_ERRNO("free: trywait", sem_trywait(&s));
	TELL_ERRNO("none left: trywait", sem_trywait(&s));
	TELL_ERRNO("none left: timedwait", sem_timedwait(&s, &soon));
	TELL_ERRNO("none left: timedwait, no time", sem_timedwait(&s, &BAD_TIME));
	TELL_ERRNO("none left: clockwait", sem_clockwait(&s, CLOCK_MONOTONIC, &soon_monotonic));
	pthread_create(&thread, NULL, sem_poster, &s);
	TELL_ERRNO("none left: wait", sem_wait(&s));
	pthread_join(thread, &posted);
	tell("post", (int)(intptr_t)posted);
	sem_destroy(&s);
	sem_init(&s, 0, SEM_VALUE_MAX);
	TELL_ERRNO("post too many", sem_post(&s));
}

static pthread_barrier_t barrier;
static int serial_threads;

static void *at_barrier(void *unused)
{
	int result = pthread_barrier_wait(&barrier);

	if (result == PTHREAD_BARRIER_SERIAL_THREAD)
		__atomic_fetch_add(&serial_threads, 1, __ATOMIC_RELAXED);
	return (void *)(intptr_t)(result && result != PTHREAD_BARRIER_SERIAL_THREAD);
}

static void barrier_tests(void)
{
	pthread_t thread[3];
	int round, i, wrong = 0;
	void *value;

	puts("--- barrier");
	pthread_barrier_init(&barrier, NULL, 4);
	for (round = 0; round < 50; round++) {
		for (i = 0; i < 3; i++)
			pthread_create(&thread[i], NULL, at_barrier, NULL);
		at_barrier(NULL);
		for (i = 0; i < 3; i++) {
			pthread_join(thread[i], &value);
			wrong += !!value;
		}
	}
	printf("%d rounds, %d serial threads, %d odd results\n", round, serial_threads, wrong);
	pthread_barrier_destroy(&barrier);
	pthread_barrier_init(&barrier, NULL, 1);
	tell("a barrier for one", pthread_barrier_wait(&barrier));
}

static pthread_once_t once = PTHREAD_ONCE_INIT, inner_once = PTHREAD_ONCE_INIT;
static once_flag flag = ONCE_FLAG_INIT;
static int initialised;

static void initialise_inner(void)
{
	initialised += 10;
}

static void initialise(void)
{
	tell("once within once", pthread_once(&inner_once, initialise_inner));
	usleep(5000);
	initialised++;
}

static void *run_once(void *arg)
{
	pthread_once(&once, initialise);
	call_once(&flag, initialise);
	return (void *)(intptr_t)initialised;
}

static void once_tests(void)
{
	pthread_t thread[4];
	void *value;
	int i;

	puts("--- once");
	for (i = 0; i < 4; i++)
		pthread_create(&thread[i], NULL, run_once, NULL);
	for (i = 0; i < 4; i++) {
		pthread_join(thread[i], &value);
		tell("initialised", (int)(intptr_t)value);
	}
}

static pthread_spinlock_t spin;
static long spun;

static void *spinner(void *unused)
{
	int i;

	for (i = 0; i < 20000; i++) {
		pthread_spin_lock(&spin);
		spun++;
		if (i % 5000 == 0)
			sched_yield();
		pthread_spin_unlock(&spin);
	}
	return NULL;
}

static void spin_tests(void)
{
	pthread_t thread[3];
	int i;

	puts("--- spin lock");
	pthread_spin_init(&spin, 0);
	tell("lock", pthread_spin_lock(&spin));
	tell("trylock", pthread_spin_trylock(&spin));
	tell("unlock", pthread_spin_unlock(&spin));
	tell("trylock", pthread_spin_trylock(&spin));
	tell("unlock", pthread_spin_unlock(&spin));
	for (i = 0; i < 3; i++)
		pthread_create(&thread[i], NULL, spinner, NULL);
	for (i = 0; i < 3; i++)
		pthread_join(thread[i], NULL);
	printf("%ld turns\n", spun);
}

/* Numbers, not errors. */
#define tell(what, value) printf("%-60s %d\n", what, (int)(value))

static mtx_t c11_mutex;
static cnd_t c11_cond;
static int c11_stage;
static int c11_told;  /* atomically: that the thread was created */
static int c11_tried; /* atomically: the thread has found the mutex held */

static int c11_thread(void *arg)
{
	struct timespec soon;

	while (!__atomic_load_n(&c11_told, __ATOMIC_ACQUIRE))
		usleep(1000);
	soon = in_ms(CLOCK_REALTIME, 5);
	tell("held: mtx_trylock", mtx_trylock(&c11_mutex));
	tell("held: mtx_timedlock", mtx_timedlock(&c11_mutex, &soon));
	tell("held: mtx_timedlock, no time", mtx_timedlock(&c11_mutex, &BAD_TIME));
	__atomic_store_n(&c11_tried, 1, __ATOMIC_RELEASE);
	tell("held: mtx_lock", mtx_lock(&c11_mutex));
	c11_stage = 1;
	tell("cnd_signal", cnd_signal(&c11_cond));
	tell("mtx_unlock", mtx_unlock(&c11_mutex));
	return 5;
}

static int c11_exit(void *arg)
{
	thrd_exit(6);
}

static void c11_tests(void)
{
	struct timespec soon;
	thrd_t thread;
	int value;

	puts("--- C11");
	mtx_init(&c11_mutex, mtx_timed | mtx_recursive);
	cnd_init(&c11_cond);
	tell("mtx_lock", mtx_lock(&c11_mutex));
	tell("mtx_lock again", mtx_lock(&c11_mutex));
	tell("mtx_unlock", mtx_unlock(&c11_mutex));
	soon = in_ms(CLOCK_REALTIME, 5);
	tell("cnd_timedwait", cnd_timedwait(&c11_cond, &c11_mutex, &soon));
	tell("cnd_timedwait, no time", cnd_timedwait(&c11_cond, &c11_mutex, &BAD_TIME));
	tell("thrd_create", thrd_create(&thread, c11_thread, NULL));
	__atomic_store_n(&c11_told, 1, __ATOMIC_RELEASE);
	while (!__atomic_load_n(&c11_tried, __ATOMIC_ACQUIRE))
		usleep(1000);
	usleep(5000); /* now it waits, most likely */
	while (!c11_stage)
		cnd_wait(&c11_cond, &c11_mutex);
	mtx_unlock(&c11_mutex);
	tell("thrd_join", thrd_join(thread, &value));
	tell("nobody's: mtx_unlock", mtx_unlock(&c11_mutex));
	tell("  value", value);
	thrd_create(&thread, c11_exit, NULL);
	tell("thrd_join of one that exited", thrd_join(thread, &value));
	tell("  value", value);
	tell("cnd_broadcast", cnd_broadcast(&c11_cond));
	tell("thrd_sleep", thrd_sleep(&(struct timespec){.tv_nsec = 1000}, NULL));
	tell("thrd_sleep, no time", thrd_sleep(&BAD_TIME, NULL));
}

#undef tell

int main(void)
{
	size_t i;

	for (i = 0; i < sizeof(KINDS) / sizeof(KINDS[0]); i++)
		mutex_tests(&KINDS[i]);
	content_of_kinds();
	for (i = 0; i < 9; i++)
		cond_tests(&KINDS[i]);
	for (i = 0; i < 3; i++)
		rwlock_tests((int)i);
	sem_tests();
	barrier_tests();
	once_tests();
	spin_tests();
	c11_tests();
	return fake_core_unbalanced();
}
