/*
 * events.c - what the interposers record: run under the fake core, which counts it.
 */
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <semaphore.h>
#include <spawn.h>
#include <stdbool.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <linux/futex.h>
#include <threads.h>
#include "blocked.h"
#include "fake_core.h"
#include "same.h"

static fake_core_count_fn *count;
static fake_core_last_fn *last;
static fake_core_state_fn *state;
static fake_core_pretend_fn *pretend;
static int failures;

static void expect(const char *what, unsigned long is, unsigned long should_be)
{
	if (is == should_be)
		return;
	printf("FAIL: %s: %lu instead of %lu\n", what, is, should_be);
	failures++;
}

/* ---- one lock of each kind, with one owner and one waiter ----------------------------- */

struct lock {
	const char *name;
	unsigned int reason, unlock_reason;
	int (*lock)(void *);
	int (*unlock)(void *);
	int (*owner_lock)(void *); /* other than lock */
	void *object;
	bool owner_known;
	int errors; /* what the waiter's lock returns */
};

static pthread_mutex_t normal = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t recursive = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static pthread_mutex_t errorcheck = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
static pthread_mutex_t adaptive = PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP;
static pthread_mutex_t robust, inherit;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t spin;
static mtx_t c11;

static int timedlock(void *m)
{
	struct timespec t = in_ms(CLOCK_REALTIME, 10000);

	return pthread_mutex_timedlock(m, &t);
}
static int clocklock(void *m)
{
	struct timespec t = in_ms(CLOCK_MONOTONIC, 10000);

	return pthread_mutex_clocklock(m, CLOCK_MONOTONIC, &t);
}
static int timedlock_too_short(void *m)
{
	struct timespec t = in_ms(CLOCK_REALTIME, 3);

	return pthread_mutex_timedlock(m, &t);
}
static int timedrdlock(void *l)
{
	struct timespec t = in_ms(CLOCK_REALTIME, 10000);

	return pthread_rwlock_timedrdlock(l, &t);
}
static int clockwrlock(void *l)
{
	struct timespec t = in_ms(CLOCK_MONOTONIC, 10000);

	return pthread_rwlock_clockwrlock(l, CLOCK_MONOTONIC, &t);
}
static int c11_timedlock(void *m)
{
	struct timespec t = in_ms(CLOCK_REALTIME, 10000);

	return mtx_timedlock(m, &t);
}

#define F(f)	  ((int (*)(void *))(void (*)(void))(f))
#define LOCK(f)	  F(pthread_mutex_##f)
#define RWLOCK(f) F(pthread_rwlock_##f)
static const struct lock LOCKS[] = {
	{"a normal mutex", TRC_REASON_MUTEX, TRC_REASON_MUTEX, LOCK(lock), LOCK(unlock), NULL,
	 &normal, true, 0},
	{"a recursive mutex", TRC_REASON_MUTEX, TRC_REASON_MUTEX, LOCK(lock), LOCK(unlock), NULL,
	 &recursive, true, 0},
	{"an errorcheck mutex", TRC_REASON_MUTEX, TRC_REASON_MUTEX, LOCK(lock), LOCK(unlock), NULL,
	 &errorcheck, true, 0},
	{"an adaptive mutex", TRC_REASON_MUTEX, TRC_REASON_MUTEX, LOCK(lock), LOCK(unlock), NULL,
	 &adaptive, true, 0},
	{"a robust mutex", TRC_REASON_MUTEX, TRC_REASON_MUTEX, LOCK(lock), LOCK(unlock), NULL,
	 &robust, true, 0},
	{"an inheriting mutex", TRC_REASON_MUTEX, TRC_REASON_MUTEX, LOCK(lock), LOCK(unlock), NULL,
	 &inherit, true, 0},
	{"timedlock", TRC_REASON_MUTEX, TRC_REASON_MUTEX, timedlock, LOCK(unlock), NULL, &normal,
	 true, 0},
	{"clocklock", TRC_REASON_MUTEX, TRC_REASON_MUTEX, clocklock, LOCK(unlock), NULL, &normal,
	 true, 0},
	{"timedlock, too short", TRC_REASON_MUTEX, TRC_REASON_MUTEX, timedlock_too_short,
	 LOCK(unlock), LOCK(lock), &normal, true, ETIMEDOUT},
	{"a writer after a writer", TRC_REASON_RWLOCK_WRITE, TRC_REASON_RWLOCK_WRITE,
	 RWLOCK(wrlock), RWLOCK(unlock), NULL, &rwlock, true, 0},
	{"a reader after a writer", TRC_REASON_RWLOCK_READ, TRC_REASON_RWLOCK_WRITE, RWLOCK(rdlock),
	 RWLOCK(unlock), RWLOCK(wrlock), &rwlock, true, 0},
	{"a writer after a reader", TRC_REASON_RWLOCK_WRITE, TRC_REASON_RWLOCK_READ, RWLOCK(wrlock),
	 RWLOCK(unlock), RWLOCK(rdlock), &rwlock, false, 0},
	{"timedrdlock", TRC_REASON_RWLOCK_READ, TRC_REASON_RWLOCK_WRITE, timedrdlock,
	 RWLOCK(unlock), RWLOCK(wrlock), &rwlock, true, 0},
	{"clockwrlock", TRC_REASON_RWLOCK_WRITE, TRC_REASON_RWLOCK_WRITE, clockwrlock,
	 RWLOCK(unlock), NULL, &rwlock, true, 0},
	{"a spin lock", TRC_REASON_SPIN, TRC_REASON_SPIN, F(pthread_spin_lock),
	 F(pthread_spin_unlock), NULL, (void *)&spin, false, 0},
	{"a C11 mutex", TRC_REASON_MUTEX, TRC_REASON_MUTEX, F(mtx_lock), F(mtx_unlock), NULL, &c11,
	 true, 0},
	{"mtx_timedlock", TRC_REASON_MUTEX, TRC_REASON_MUTEX, c11_timedlock, F(mtx_unlock), NULL,
	 &c11, true, 0},
};

static volatile int waiting;
static bool locks_recorded;

static void *lock_waiter(void *arg)
{
	const struct lock *l = arg;
	int result;

	waiting = 1;
	result = l->lock(l->object);
	/* Without records the owner cannot wait for the timeout. */
	if (result || !l->errors || locks_recorded)
		expect(l->name, (unsigned long)result, (unsigned long)l->errors);
	expect("locks held by the waiter", state(FAKE_LOCKS_HELD), !result);
	if (!result)
		l->unlock(l->object);
	expect("locks held after that", state(FAKE_LOCKS_HELD), 0);
	return NULL;
}

static void lock_test(const struct lock *l, bool recorded)
{
	unsigned int parks = count(FAKE_PARK, l->reason), resumes = count(FAKE_RESUME, l->reason);
	unsigned int unlocks = count(FAKE_UNLOCKED, l->unlock_reason);
	pthread_t thread;

	/* Nobody else wants it: nothing to tell. */
	expect(l->name, (unsigned long)l->lock(l->object), 0);
	l->unlock(l->object);
	expect("parks without a contender", count(FAKE_PARK, l->reason), parks);

	(l->owner_lock ? l->owner_lock : l->lock)(l->object);
	expect("locks held by the owner", state(FAKE_LOCKS_HELD), 1);
	waiting = 0;
	pthread_create(&thread, NULL, lock_waiter, (void *)l);
	while (!waiting || (recorded && count(FAKE_PARK, l->reason) == parks))
		sched_yield();
	while (l->errors && recorded && count(FAKE_RESUME, l->reason) == resumes)
		sched_yield();
	if (l->reason == TRC_REASON_SPIN)
		usleep(2000); /* spinning is as good as waiting */
	else
		await_others();
	l->unlock(l->object);
	pthread_join(thread, NULL);
	expect(l->name, count(FAKE_PARK, l->reason), parks + recorded);
	expect("resumes", count(FAKE_RESUME, l->reason), resumes + recorded);
	if (!recorded)
		return;
	expect("result", last(FAKE_RESUME, l->reason), (unsigned long)l->errors);
	expect("holder", last(FAKE_PARK, l->reason), l->owner_known ? (unsigned long)getpid() : 0);
	expect("unlocks", count(FAKE_UNLOCKED, l->unlock_reason), unlocks + !l->errors);
	if (!l->errors)
		expect("waiters", last(FAKE_UNLOCKED, l->unlock_reason), 1);
}

static void lock_tests(bool recorded)
{
	pthread_mutexattr_t attr;
	size_t i;

	locks_recorded = recorded;
	pthread_mutexattr_init(&attr);
	pthread_mutexattr_setprotocol(&attr, PTHREAD_PRIO_INHERIT);
	pthread_mutex_init(&inherit, &attr);
	pthread_mutexattr_setprotocol(&attr, PTHREAD_PRIO_NONE);
	pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
	pthread_mutex_init(&robust, &attr);
	pthread_spin_init(&spin, 0);
	mtx_init(&c11, mtx_timed);
	for (i = 0; i < sizeof(LOCKS) / sizeof(LOCKS[0]); i++)
		lock_test(&LOCKS[i], recorded);
}

/* An error-checking mutex of one's own is refused, not waited for. */
static void refused_tests(void)
{
	unsigned int parks = count(FAKE_PARK, TRC_REASON_MUTEX);

	pthread_mutex_lock(&errorcheck);
	expect("own errorcheck mutex", (unsigned long)pthread_mutex_lock(&errorcheck), EDEADLK);
	expect("locks held", state(FAKE_LOCKS_HELD), 1);
	pthread_mutex_unlock(&errorcheck);
	expect("unlock of nobody's", (unsigned long)pthread_mutex_unlock(&errorcheck), EPERM);
	expect("locks held", state(FAKE_LOCKS_HELD), 0);
	pthread_mutex_lock(&recursive);
	pthread_mutex_lock(&recursive);
	expect("locks held, recursively", state(FAKE_LOCKS_HELD), 2);
	pthread_mutex_unlock(&recursive);
	pthread_mutex_unlock(&recursive);
	expect("parks", count(FAKE_PARK, TRC_REASON_MUTEX), parks);
}

/* ---- with --locks=all ----------------------------------------------------------------- */

static void all_tests(void)
{
	size_t i;

	for (i = 0; i < sizeof(LOCKS) / sizeof(LOCKS[0]); i++) {
		const struct lock *l = &LOCKS[i];
		unsigned int acquired = count(FAKE_ACQUIRED, l->reason);
		unsigned int released = count(FAKE_RELEASED, l->reason);

		expect(l->name, (unsigned long)l->lock(l->object), 0);
		expect("acquired", count(FAKE_ACQUIRED, l->reason), acquired + 1);
		expect("object", last(FAKE_ACQUIRED, l->reason), (unsigned long)l->object);
		l->unlock(l->object);
		expect("released", count(FAKE_RELEASED, l->reason), released + 1);
	}
	expect("unlock of nobody's", (unsigned long)pthread_mutex_unlock(&errorcheck), EPERM);
	expect("released with an error", count(FAKE_ACQUIRED, TRC_REASON_MUTEX),
	       count(FAKE_RELEASED, TRC_REASON_MUTEX));
}

/* ---- mutexes taken without a call ----------------------------------------------------- */

/* Whoever takes a mutex leaves a tid in it: glibc the kernel's, the recorder the one that it
 * keeps, which is another for as long as the test lasts. */
enum { PRETENDED_TID = 0x7fffff01 };

struct in_line {
	const char *name;
	pthread_mutex_t *mutex;
	int (*lock)(void *);
	int (*unlock)(void *);
	unsigned int session, quiet;
	bool ours;
};

static pthread_mutex_t shared;

static const struct in_line IN_LINE[] = {
	{"a normal mutex", &normal, LOCK(lock), LOCK(unlock), FAKE_SESSION, 0, true},
	{"timedlock of one", &normal, timedlock, LOCK(unlock), FAKE_SESSION, 0, true},
	{"trylock of one is glibc's", &normal, LOCK(trylock), LOCK(unlock), FAKE_SESSION, 0, false},
	{"a C11 mutex", (pthread_mutex_t *)&c11, F(mtx_lock), F(mtx_unlock), FAKE_SESSION, 0, true},
	{"a mutex of a thread that does not record yet", &normal, LOCK(lock), LOCK(unlock), 0, 0,
	 false},
	{"of a thread of an earlier session", &normal, LOCK(lock), LOCK(unlock), FAKE_SESSION + 1,
	 0, false},
	{"of a vfork child", &normal, LOCK(lock), LOCK(unlock), FAKE_SESSION, 1, false},
	{"a recursive mutex", &recursive, LOCK(lock), LOCK(unlock), FAKE_SESSION, 0, false},
	{"an errorcheck mutex", &errorcheck, LOCK(lock), LOCK(unlock), FAKE_SESSION, 0, false},
	{"an adaptive mutex", &adaptive, LOCK(lock), LOCK(unlock), FAKE_SESSION, 0, false},
	{"a robust mutex", &robust, LOCK(lock), LOCK(unlock), FAKE_SESSION, 0, false},
	{"an inheriting mutex", &inherit, LOCK(lock), LOCK(unlock), FAKE_SESSION, 0, false},
	{"a mutex shared by processes", &shared, LOCK(lock), LOCK(unlock), FAKE_SESSION, 0, false},
};

static void in_line_test(const struct in_line *row, bool others)
{
	struct fake_self self = {(unsigned int)gettid(), FAKE_SESSION, 0};
	pthread_mutex_t before, held, after;

	memcpy(&before, row->mutex, sizeof(before));
	pretend((struct fake_self){PRETENDED_TID, row->session, row->quiet});
	row->lock(row->mutex);
	memcpy(&held, row->mutex, sizeof(held));
	pretend(self);
	row->unlock(row->mutex);
	memcpy(&after, row->mutex, sizeof(after));
	expect(row->name, (unsigned int)held.__data.__owner,
	       row->ours && !others ? PRETENDED_TID : self.tid);
	expect("users while it is held", held.__data.__nusers, 1);
	expect("kind while it is held", (unsigned int)held.__data.__kind,
	       (unsigned int)before.__data.__kind);
	expect("the same after as before", (unsigned long)memcmp(&before, &after, sizeof(after)),
	       0);
}

/* Some threads take it inline, some by glibc's functions. */
enum { MIX_THREADS = 4, MIX_TURNS = 20000 };
static pthread_mutex_t mixed = PTHREAD_MUTEX_INITIALIZER;
static unsigned long mixed_turns;

static void *mixing(void *arg)
{
	unsigned int session = arg ? FAKE_SESSION : 0;

	pretend((struct fake_self){(unsigned int)gettid(), session, 0});
	for (int i = 0; i < MIX_TURNS; i++) {
		pthread_mutex_lock(&mixed);
		mixed_turns++;
		if (i % 100 == 0)
			sched_yield(); /* the others run into it */
		pthread_mutex_unlock(&mixed);
	}
	return NULL;
}

static void mix_test(void)
{
	pthread_mutex_t unused = PTHREAD_MUTEX_INITIALIZER;
	pthread_t thread[MIX_THREADS];

	for (long i = 0; i < MIX_THREADS; i++)
		pthread_create(&thread[i], NULL, mixing, (void *)(i % 2));
	for (int i = 0; i < MIX_THREADS; i++)
		pthread_join(thread[i], NULL);
	expect("turns", mixed_turns, MIX_THREADS * MIX_TURNS);
	expect("nothing is left of them", (unsigned long)memcmp(&mixed, &unused, sizeof(mixed)), 0);
}

static void inline_tests(void)
{
	unsigned int (*other_calls)(void) =
		(unsigned int (*)(void))dlsym(RTLD_DEFAULT, "other_mutex_calls");
	unsigned int calls = other_calls ? other_calls() : 0;
	pthread_mutexattr_t attr;
	size_t i;

	pthread_mutexattr_init(&attr);
	pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
	pthread_mutex_init(&shared, &attr);
	for (i = 0; i < sizeof(IN_LINE) / sizeof(IN_LINE[0]); i++)
		in_line_test(&IN_LINE[i], other_calls != NULL);
	mix_test();
	pthread_mutex_lock(&normal);
	pthread_mutex_unlock(&normal);
	if (other_calls)
		expect("another library sees every call", other_calls() > calls, 1);
}

/* ---- wake-ups ------------------------------------------------------------------------- */

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static cnd_t c11_cond;
static sem_t sem;
static pthread_barrier_t barrier;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static int go, futex_word;

static void *cond_waiter(void *unused)
{
	pthread_mutex_lock(&mutex);
	while (!go)
		pthread_cond_wait(&cond, &mutex);
	expect("locks held after a condition wait", state(FAKE_LOCKS_HELD), 1);
	pthread_mutex_unlock(&mutex);
	return NULL;
}
static void *c11_cond_waiter(void *unused)
{
	mtx_lock(&c11);
	while (!go)
		cnd_wait(&c11_cond, &c11);
	mtx_unlock(&c11);
	return NULL;
}
static void *sem_waiter(void *unused)
{
	sem_wait(&sem);
	return NULL;
}
static void *barrier_waiter(void *unused)
{
	pthread_barrier_wait(&barrier);
	return NULL;
}
static void *futex_waiter(void *unused)
{
	syscall(SYS_futex, &futex_word, FUTEX_WAIT, 0, NULL, NULL, 0);
	return NULL;
}
static void *once_waiter(void *unused);

static void cond_wake(void)
{
	pthread_mutex_lock(&mutex);
	go = 1;
	pthread_cond_signal(&cond);
	pthread_mutex_unlock(&mutex);
}
static void cond_wake_all(void)
{
	pthread_mutex_lock(&mutex);
	go = 1;
	pthread_cond_broadcast(&cond);
	pthread_mutex_unlock(&mutex);
}
static void c11_cond_wake(void)
{
	mtx_lock(&c11);
	go = 1;
	cnd_signal(&c11_cond);
	mtx_unlock(&c11);
}
static void sem_wake(void)
{
	sem_post(&sem);
}
static void barrier_wake(void)
{
	pthread_barrier_wait(&barrier);
}
static void futex_wake(void)
{
	__atomic_store_n(&futex_word, 1, __ATOMIC_SEQ_CST);
	syscall(SYS_futex, &futex_word, FUTEX_WAKE, 1, NULL, NULL, 0);
}
static void nothing(void)
{
}

struct wake {
	const char *name;
	unsigned int reason;
	void *(*waiter)(void *);
	void (*wake)(void);
	unsigned long woken;
	unsigned int parks; /* the waker's as well? */
};
static const struct wake WAKES[] = {
	{"pthread_cond_signal", TRC_REASON_COND, cond_waiter, cond_wake, 1, 1},
	{"pthread_cond_broadcast", TRC_REASON_COND, cond_waiter, cond_wake_all, ~0ul, 1},
	{"cnd_signal", TRC_REASON_COND, c11_cond_waiter, c11_cond_wake, 1, 1},
	{"sem_post", TRC_REASON_SEM, sem_waiter, sem_wake, 1, 1},
	{"pthread_barrier_wait", TRC_REASON_BARRIER, barrier_waiter, barrier_wake, ~0ul, 2},
	{"futex", TRC_REASON_FUTEX, futex_waiter, futex_wake, 1, 1},
};

static void wake_test(const struct wake *w)
{
	unsigned int parks = count(FAKE_PARK, w->reason), unparks = count(FAKE_UNPARKED, w->reason);
	pthread_t thread;

	go = 0;
	pthread_create(&thread, NULL, w->waiter, NULL);
	while (count(FAKE_PARK, w->reason) == parks)
		sched_yield();
	await_others();
	w->wake();
	pthread_join(thread, NULL);
	expect(w->name, count(FAKE_UNPARKED, w->reason), unparks + 1);
	expect("woken", last(FAKE_UNPARKED, w->reason), w->woken);
	expect("parks", count(FAKE_PARK, w->reason), parks + w->parks);
	expect("resumes", count(FAKE_RESUME, w->reason), count(FAKE_PARK, w->reason));
}

static void wake_tests(void)
{
	unsigned int unparks;
	size_t i;

	cnd_init(&c11_cond);
	sem_init(&sem, 0, 0);
	pthread_barrier_init(&barrier, NULL, 2);
	for (i = 0; i < sizeof(WAKES) / sizeof(WAKES[0]); i++)
		wake_test(&WAKES[i]);
	unparks = count(FAKE_UNPARKED, TRC_REASON_COND);
	pthread_cond_broadcast(&cond);
	expect("broadcast to nobody", count(FAKE_UNPARKED, TRC_REASON_COND), unparks);
	unparks = count(FAKE_UNPARKED, TRC_REASON_SEM);
	sem_post(&sem);
	expect("post for nobody", count(FAKE_UNPARKED, TRC_REASON_SEM), unparks);
}

static void slow_initialisation(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, once_waiter, NULL);
	pthread_detach(thread);
	while (!count(FAKE_PARK, TRC_REASON_ONCE))
		sched_yield();
}
static void *once_waiter(void *unused)
{
	pthread_once(&once, nothing);
	return NULL;
}

static void once_test(void)
{
	pthread_once(&once, slow_initialisation);
	expect("once: unparks", count(FAKE_UNPARKED, TRC_REASON_ONCE), 1);
	expect("once: woken", last(FAKE_UNPARKED, TRC_REASON_ONCE), ~0ul);
	while (count(FAKE_RESUME, TRC_REASON_ONCE) != 1)
		sched_yield();
}

/* A condition wait releases the mutex, for which somebody waits: recorded before the wait. */
static void *mutex_wanter(void *unused)
{
	pthread_mutex_lock(&mutex);
	go = 1;
	pthread_cond_signal(&cond);
	pthread_mutex_unlock(&mutex);
	return NULL;
}
static void cond_release_test(void)
{
	unsigned int parks = count(FAKE_PARK, TRC_REASON_MUTEX);
	unsigned int unlocks = count(FAKE_UNLOCKED, TRC_REASON_MUTEX);
	pthread_t thread;

	go = 0;
	pthread_mutex_lock(&mutex);
	pthread_create(&thread, NULL, mutex_wanter, NULL);
	while (count(FAKE_PARK, TRC_REASON_MUTEX) == parks)
		sched_yield();
	await_others();
	while (!go)
		pthread_cond_wait(&cond, &mutex);
	expect("unlock by a condition wait", count(FAKE_UNLOCKED, TRC_REASON_MUTEX), unlocks + 1);
	pthread_mutex_unlock(&mutex);
	pthread_join(thread, NULL);
}

/* ---- waits that are recorded if they last --------------------------------------------- */

/* There is no child: each fails, but whom it was for is noted first. */
static void child_objects(void)
{
	enum { PIDFD = 3 };
	siginfo_t info;
	const struct {
		const char *name;
		int type;
		id_t id;
		int64_t object;
	} row[] = {
		{"waitid for any child", P_ALL, 4711, -1},
		{"waitid for one child", P_PID, 4711, 4711},
		{"waitid for a group", P_PGID, 4711, -4711},
		{"waitid for its own group", P_PGID, 0, 0},
		{"waitid for a pidfd", PIDFD, 0, INT64_C(1) << 32},
	};

	for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		waitid((idtype_t)row[i].type, row[i].id, &info, WEXITED);
		expect(row[i].name, last(FAKE_WAIT_BEGIN, TRC_REASON_CHILD),
		       (unsigned long)row[i].object);
	}
	waitpid(-4711, NULL, 0);
	expect("waitpid for a group", last(FAKE_WAIT_BEGIN, TRC_REASON_CHILD),
	       (unsigned long)-4711L);
	wait(NULL);
	expect("wait", last(FAKE_WAIT_BEGIN, TRC_REASON_CHILD), ~0ul);
}

static void wait_tests(void)
{
	struct pollfd none = {.fd = -1};
	int status, pair[2], fd;
	char byte;
	struct {
		const char *name;
		unsigned int reason, begun;
		unsigned long object_or_result;
	} row[] = {
		{"poll", TRC_REASON_POLL, 2, ETIMEDOUT}, {"epoll", TRC_REASON_EPOLL, 0, 0},
		{"sleep", TRC_REASON_SLEEP, 2, 0},	   {"read", TRC_REASON_READ, 2, EBADF},
		{"write", TRC_REASON_WRITE, 1, 0},	   {"recv", TRC_REASON_RECV, 1, 0},
		{"send", TRC_REASON_SEND, 1, 0},	   {"child", TRC_REASON_CHILD, 1, 0},
		{"connect", TRC_REASON_CONNECT, 1, EBADF}, {"accept", TRC_REASON_ACCEPT, 1, EBADF},
		{"open", TRC_REASON_OPEN, 1, ENOENT},	   {"fsync", TRC_REASON_FSYNC, 1, EBADF},
		{"flock", TRC_REASON_FLOCK, 1, EBADF},
	};
	unsigned int before[TRC_REASON_COUNT];
	pid_t child;
	size_t i;

	for (i = 0; i < TRC_REASON_COUNT; i++)
		before[i] = count(FAKE_WAIT_BEGIN, (unsigned int)i);
	fd = open("/dev/null", O_RDWR | O_NONBLOCK); /* does not block: not a wait */
	if (fd < 0 || socketpair(AF_UNIX, SOCK_STREAM, 0, pair))
		abort();
	poll(&none, 1, 0);		       /* nor does this */
	recv(pair[0], &byte, 1, MSG_DONTWAIT); /* nor this */
	flock(-1, LOCK_EX | LOCK_NB);	       /* nor this */
	poll(&none, 1, 1);
	poll(&none, 1, 1);
	usleep(10);
	usleep(0);
	clock_nanosleep(CLOCK_MONOTONIC, 0, &(struct timespec){0}, NULL);
	status = (int)read(fd, &byte, 1) + (int)read(-1, &byte, 1);
	status += (int)write(fd, &byte, 1);
	send(pair[1], "x", 1, 0);
	recv(pair[0], &byte, 1, 0);
	connect(-1, NULL, 0);
	accept(-1, NULL, NULL);
	open("/nonexistent/file", O_RDONLY);
	fsync(-1);
	flock(-1, LOCK_EX);
	child = vfork();
	if (!child)
		_exit(0);
	waitpid(child, &status, WNOHANG | WNOWAIT);
	waitpid(child, &status, 0);
	for (i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		expect(row[i].name, count(FAKE_WAIT_BEGIN, row[i].reason) - before[row[i].reason],
		       row[i].begun);
		if (row[i].begun)
			expect(row[i].name, last(FAKE_WAIT_END, row[i].reason),
			       row[i].object_or_result);
	}
}

/* ---- streams: what the buffer serves is no wait ----------------------------------------- */

static void stream_read_tests(void)
{
	char text[64], *line = NULL;
	FILE *stream = tmpfile(), *memory = fmemopen(text, sizeof(text), "r");
	unsigned int begun = count(FAKE_WAIT_BEGIN, TRC_REASON_READ);
	size_t n = 0;

	if (!stream || !memory || dprintf(fileno(stream), "first\nsecond\nthird\nlast") != 23)
		abort();
	rewind(stream);
	expect("a stream: its first character", (unsigned long)(getc)(stream), 'f');
	expect("a stream: fills its buffer", count(FAKE_WAIT_BEGIN, TRC_REASON_READ), begun + 1);
	expect("a stream: its descriptor", last(FAKE_WAIT_BEGIN, TRC_REASON_READ),
	       (unsigned long)fileno(stream));
	fgetc(stream);
	getc_unlocked(stream);
	if (!fgets(text, sizeof(text), stream) || getline(&line, &n, stream) != 7 ||
	    !fread(text, 6, 1, stream))
		abort();
	expect("a stream: the buffer serves", count(FAKE_WAIT_BEGIN, TRC_REASON_READ), begun + 1);
	if (!fgets(text, sizeof(text), stream))
		abort();
	expect("a stream: a line without an end", count(FAKE_WAIT_BEGIN, TRC_REASON_READ),
	       begun + 2);
	fgetc(stream);
	expect("a stream: nothing is left", count(FAKE_WAIT_BEGIN, TRC_REASON_READ), begun + 3);
	fgetc(memory);
	expect("memory", count(FAKE_WAIT_BEGIN, TRC_REASON_READ), begun + 3);
	fclose(stream);
	fclose(memory);
	free(line);
}

static void stream_write_tests(void)
{
	static char bytes[4096];
	FILE *stream = tmpfile();
	unsigned int begun = count(FAKE_WAIT_BEGIN, TRC_REASON_WRITE);

	if (!stream)
		abort();
	fputc('x', stream); /* makes the buffer */
	expect("a stream: the first byte", count(FAKE_WAIT_BEGIN, TRC_REASON_WRITE), begun + 1);
	fputs("some\n", stream);
	(putc)('x', stream);
	fwrite(bytes, 1, 100, stream);
	expect("a stream: there is room", count(FAKE_WAIT_BEGIN, TRC_REASON_WRITE), begun + 1);
	fwrite(bytes, 1, sizeof(bytes), stream);
	fflush(stream);
	expect("a stream: there is none", count(FAKE_WAIT_BEGIN, TRC_REASON_WRITE), begun + 3);
	fflush(stream);
	expect("a stream: nothing to flush", count(FAKE_WAIT_BEGIN, TRC_REASON_WRITE), begun + 3);
	setvbuf(stream, NULL, _IOLBF, 0);
	begun = count(FAKE_WAIT_BEGIN, TRC_REASON_WRITE);
	fputs("a part, ", stream);
	fputs("a part, ", stream);
	expect("lines: a part", count(FAKE_WAIT_BEGIN, TRC_REASON_WRITE), begun);
	fputs("the end\n", stream);
	expect("lines: the end", count(FAKE_WAIT_BEGIN, TRC_REASON_WRITE), begun + 1);
	fclose(stream);
}

/* ---- threads and processes ------------------------------------------------------------ */

static pthread_key_t key;
static void count_at_destruction(void *value)
{
	*(unsigned int *)value = state(FAKE_THREADS_ENDED);
}
static void *with_destructor(void *arg)
{
	pthread_setspecific(key, arg);
	return NULL;
}
static void *by_exit(void *arg)
{
	pthread_exit(arg);
}
static int c11_thread(void *arg)
{
	return 0;
}

static void thread_tests(void)
{
	unsigned int created = state(FAKE_THREADS_CREATED), ended_inside = 1000;
	unsigned int ended = state(FAKE_THREADS_ENDED);
	pthread_t thread;
	thrd_t c11_id;

	/* An earlier test's detached thread may still be ending. */
	while (ended != created) {
		sched_yield();
		ended = state(FAKE_THREADS_ENDED);
	}
	pthread_key_create(&key, count_at_destruction);
	pthread_create(&thread, NULL, with_destructor, &ended_inside);
	pthread_join(thread, NULL);
	expect("ended when the program's destructor runs", ended_inside, ended);
	pthread_create(&thread, NULL, by_exit, NULL);
	pthread_join(thread, NULL);
	pthread_create(&thread, NULL, lock_waiter, (void *)&LOCKS[0]);
	pthread_join(thread, NULL);
	thrd_create(&c11_id, c11_thread, NULL);
	thrd_join(c11_id, NULL);
	expect("threads created", state(FAKE_THREADS_CREATED), created + 4);
	expect("threads started", state(FAKE_THREADS_STARTED), created + 4);
	expect("threads ended", state(FAKE_THREADS_ENDED), ended + 4);
	expect("holder of a join", last(FAKE_PARK, TRC_REASON_JOIN), 42);
	pthread_setname_np(pthread_self(), "main's");
	expect("named", state(FAKE_THREADS_NAMED), 1);
}

static void process_tests(void)
{
	unsigned int events = state(FAKE_PROCESS_EVENTS), quiet = state(FAKE_QUIET_CALLS);
	char *const args[] = {"true", NULL};
	pid_t child = fork();
	int status;

	if (!child)
		_exit(state(FAKE_FORKS_CHILD) == 1 && !state(FAKE_NO_WAIT) ? 0 : 1);
	waitpid(child, &status, 0);
	expect("forked child", (unsigned long)status, 0);
	expect("prepared", state(FAKE_FORKS_PREPARED), 1);
	expect("parent", state(FAKE_FORKS_PARENT), 1);
	child = vfork();
	if (!child) {
		poll(NULL, 0, 1);
		_exit(state(FAKE_QUIET) == 1 ? 0 : 1);
	}
	expect("quiet no longer", state(FAKE_QUIET), 0);
	expect("the vforked child records nothing", state(FAKE_QUIET_CALLS), quiet + 1);
	waitpid(child, &status, 0);
	expect("quiet in the child", (unsigned long)status, 0);
	expect("vfork's event", state(FAKE_PROCESS_EVENTS), events + 1);
	posix_spawn(&child, "/bin/true", NULL, NULL, args, NULL);
	waitpid(child, &status, 0);
	expect("posix_spawn's event", state(FAKE_PROCESS_EVENTS), events + 2);
	expect("modules changing", state(FAKE_MODULES_CHANGING), 0);
	dlclose(dlopen("libc.so.6", RTLD_NOW));
	expect("modules changing", state(FAKE_MODULES_CHANGING), 1);
	expect("modules changed", state(FAKE_MODULES_CHANGED), 1);
}

int main(void)
{
	const char *locks = getenv("FAKE_LOCKS");

	count = (fake_core_count_fn *)dlsym(RTLD_DEFAULT, "fake_core_count");
	last = (fake_core_last_fn *)dlsym(RTLD_DEFAULT, "fake_core_last");
	state = (fake_core_state_fn *)dlsym(RTLD_DEFAULT, "fake_core_state");
	pretend = (fake_core_pretend_fn *)dlsym(RTLD_DEFAULT, "fake_core_pretend");
	if (!count || !last || !state || !pretend) {
		puts("not under the fake core");
		return 1;
	}
	lock_tests(!locks || strcmp(locks, "none") != 0);
	if (locks && !strcmp(locks, "all"))
		all_tests();
	refused_tests();
	inline_tests();
	wake_tests();
	once_test();
	if (!locks)
		cond_release_test();
	wait_tests();
	child_objects();
	stream_read_tests();
	stream_write_tests();
	thread_tests();
	process_tests();
	return failures || fake_core_unbalanced();
}
