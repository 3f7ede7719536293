/*
 * truth_waits.c - waits of every kind, at places of their own, for known times.
 *
 * Each scenario runs alone.  Threads of a scenario line up by spinning on an atomic, which
 * no recorder can see, so that the only waits are the ones that are measured.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <threads.h>
#include <unistd.h>
#include "truth.h"

enum { ROUNDS = 12, HOLD_MS = 6, WAITERS = 3 };

#define CHECK(x)                                                                                   \
	do {                                                                                       \
		if (!(x)) {                                                                        \
			fprintf(stderr, "truth: line %d: %s: %s\n", __LINE__, #x,                  \
				strerror(errno));                                                  \
			exit(1);                                                                   \
		}                                                                                  \
	} while (0)

/* Passes time without a sleep that somebody could record at one of the places. */
__attribute__((noinline)) static void let_pass_ms(unsigned int ms)
{
	struct timespec ts = {0, (long)ms * 1000000};

	while (nanosleep(&ts, &ts) && errno == EINTR)
		;
}

/* Where threads line up, by spinning. */
static atomic_uint line_round, line_there;

static void line_up(unsigned int threads)
{
	unsigned int round = line_round;

	if (++line_there == threads) {
		line_there = 0;
		line_round++;
		return;
	}
	while (line_round == round)
		sched_yield();
}

static void spawn(pthread_t *thread, void *(*run)(void *))
{
	errno = pthread_create(thread, NULL, run, NULL);
	CHECK(!errno);
}

/* Runs `n` threads to their end; how they are awaited is nobody's place. */
static void run_threads(unsigned int n, void *(*const run[])(void *))
{
	pthread_t thread[8];

	for (unsigned int i = 0; i < n; i++)
		spawn(&thread[i], run[i]);
	for (unsigned int i = 0; i < n; i++)
		pthread_join(thread[i], NULL);
}

/* ---- mutex: who waits where, and which critical section is to blame ---------------------------
 */

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static atomic_uint_fast64_t wait_began[WAITERS], release_at;
static atomic_uint waiter_number;

SITE void site_mutex_wait_near(uint64_t *began)
{
	*began = now_ns();
	pthread_mutex_lock(&mutex);
	site_waited("site_mutex_wait_near", "mutex", *began);
	pthread_mutex_unlock(&mutex);
}

SITE void site_mutex_wait_far(uint64_t *began)
{
	*began = now_ns();
	pthread_mutex_lock(&mutex);
	site_waited("site_mutex_wait_far", "mutex", *began);
	pthread_mutex_unlock(&mutex);
}

static void *mutex_waiter(void *arg)
{
	unsigned int me = waiter_number++;

	for (int round = 0; round < ROUNDS; round++) {
		uint64_t began;

		line_up(WAITERS + 1); /* the lock is held */
		if (me == 0)
			site_mutex_wait_near(&began);
		else
			site_mutex_wait_far(&began);
		wait_began[me] = began;
		line_up(WAITERS + 1);
	}
	return arg;
}

SITE void site_mutex_release_slow(void)
{
	let_pass_ms(HOLD_MS);
	release_at = now_ns();
	pthread_mutex_unlock(&mutex);
	atomic_signal_fence(memory_order_seq_cst);
}

SITE void site_mutex_release_quick(void)
{
	let_pass_ms(HOLD_MS / 3);
	release_at = now_ns();
	pthread_mutex_unlock(&mutex);
	atomic_signal_fence(memory_order_seq_cst);
}

static void *mutex_holder(void *arg)
{
	for (int round = 0; round < ROUNDS; round++) {
		bool slow = round % 3 == 0;

		pthread_mutex_lock(&mutex);
		line_up(WAITERS + 1);
		if (slow)
			site_mutex_release_slow();
		else
			site_mutex_release_quick();
		line_up(WAITERS + 1); /* everyone had it */
		for (int i = 0; i < WAITERS; i++) {
			uint64_t ns = release_at > wait_began[i] ? release_at - wait_began[i] : 0;

			site_caused(slow ? "site_mutex_release_slow" : "site_mutex_release_quick",
				    "mutex", ns, i == 0);
		}
	}
	return arg;
}

static void mutexes(void)
{
	void *(*const run[])(void *) = {mutex_holder, mutex_waiter, mutex_waiter, mutex_waiter};

	run_threads(4, run);
}

static atomic_uint_fast64_t given_up_ns;

SITE void site_mutex_timedlock(void)
{
	struct timespec until;
	uint64_t from = now_ns();

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += 4000000;
	if (until.tv_nsec >= 1000000000) {
		until.tv_nsec -= 1000000000;
		until.tv_sec++;
	}
	CHECK(pthread_mutex_timedlock(&mutex, &until) == ETIMEDOUT);
	given_up_ns += now_ns() - from;
	site_waited("site_mutex_timedlock", "mutex", from);
}

static void *timedlock_main(void *arg)
{
	for (int i = 0; i < ROUNDS; i++)
		site_mutex_timedlock();
	return arg;
}

/* When all have given up: what they waited is due to it nevertheless. */
SITE void site_mutex_release_late(void)
{
	pthread_mutex_unlock(&mutex);
	site_caused("site_mutex_release_late", "mutex", given_up_ns, 1);
}

static void timedlocks(void)
{
	void *(*const run[])(void *) = {timedlock_main};

	pthread_mutex_lock(&mutex);
	run_threads(1, run);
	site_mutex_release_late();
}

/* ---- rwlock ------------------------------------------------------------------------------------
 */

static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;

SITE void site_rwlock_read(void)
{
	uint64_t from = now_ns();

	pthread_rwlock_rdlock(&rwlock);
	site_waited("site_rwlock_read", "rwlock_read", from);
	pthread_rwlock_unlock(&rwlock);
}

SITE void site_rwlock_write(void)
{
	uint64_t from = now_ns();

	pthread_rwlock_wrlock(&rwlock);
	site_waited("site_rwlock_write", "rwlock_write", from);
	pthread_rwlock_unlock(&rwlock);
}

static void *rwlock_reader(void *arg)
{
	for (int round = 0; round < ROUNDS; round++) {
		line_up(3);
		site_rwlock_read();
		line_up(3);
	}
	return arg;
}

static void *rwlock_writer(void *arg)
{
	for (int round = 0; round < ROUNDS; round++) {
		line_up(3);
		site_rwlock_write();
		line_up(3);
	}
	return arg;
}

static void *rwlock_holder(void *arg)
{
	for (int round = 0; round < ROUNDS; round++) {
		pthread_rwlock_wrlock(&rwlock);
		line_up(3);
		let_pass_ms(HOLD_MS);
		pthread_rwlock_unlock(&rwlock);
		line_up(3);
	}
	return arg;
}

static void rwlocks(void)
{
	void *(*const run[])(void *) = {rwlock_holder, rwlock_reader, rwlock_writer};

	run_threads(3, run);
}

/* ---- condition variable, semaphore, barrier ----------------------------------------------------
 */

static pthread_mutex_t cond_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static unsigned int tokens; /* guarded by cond_mutex */
static sem_t sem;
static pthread_barrier_t barrier;

SITE void site_cond_wait(void)
{
	pthread_mutex_lock(&cond_mutex);
	while (!tokens) {
		uint64_t from = now_ns();

		pthread_cond_wait(&cond, &cond_mutex);
		site_waited("site_cond_wait", "cond", from);
	}
	tokens--;
	pthread_mutex_unlock(&cond_mutex);
}

SITE void site_cond_timedwait(void)
{
	struct timespec until;
	uint64_t from;
	int err = 0;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += 3000000;
	if (until.tv_nsec >= 1000000000) {
		until.tv_nsec -= 1000000000;
		until.tv_sec++;
	}
	pthread_mutex_lock(&cond_mutex);
	from = now_ns();
	while (err != ETIMEDOUT)
		err = pthread_cond_timedwait(&cond, &cond_mutex, &until);
	site_waited("site_cond_timedwait", "cond", from);
	pthread_mutex_unlock(&cond_mutex);
}

SITE void site_sem_wait(void)
{
	uint64_t from = now_ns();

	while (sem_wait(&sem) && errno == EINTR)
		;
	site_waited("site_sem_wait", "sem", from);
}

SITE void site_barrier_wait(void)
{
	uint64_t from = now_ns();

	pthread_barrier_wait(&barrier);
	site_waited("site_barrier_wait", "barrier", from);
}

static void *token_consumer(void *arg)
{
	for (int i = 0; i < ROUNDS; i++) {
		site_cond_wait();
		site_sem_wait();
	}
	for (int i = 0; i < ROUNDS; i++)
		site_cond_timedwait();
	return arg;
}

static void *token_producer(void *arg)
{
	for (int i = 0; i < ROUNDS; i++) {
		let_pass_ms(4);
		pthread_mutex_lock(&cond_mutex);
		tokens++;
		pthread_mutex_unlock(&cond_mutex);
		pthread_cond_signal(&cond);
		let_pass_ms(3);
		sem_post(&sem);
	}
	return arg;
}

static void *barrier_early(void *arg)
{
	for (int i = 0; i < ROUNDS; i++)
		site_barrier_wait();
	return arg;
}

static void *barrier_late(void *arg)
{
	for (int i = 0; i < ROUNDS; i++) {
		let_pass_ms(4);
		site_barrier_wait();
	}
	return arg;
}

/* Everybody is woken while the producer keeps the mutex: that is waiting for the mutex, and due to
 * the producer. */
static pthread_cond_t herd_cond = PTHREAD_COND_INITIALIZER;
static unsigned int herd_waits, herd_round; /* guarded by cond_mutex */
static atomic_uint_fast64_t herd_woken_at;

SITE void site_herd_wait(unsigned int round)
{
	pthread_mutex_lock(&cond_mutex);
	herd_waits++;
	while (herd_round == round)
		pthread_cond_wait(&herd_cond, &cond_mutex);
	site_waited("site_herd_wait", "cond_mutex", herd_woken_at);
	pthread_mutex_unlock(&cond_mutex);
}

SITE void site_herd_release(void)
{
	let_pass_ms(HOLD_MS);
	site_caused("site_herd_release", "mutex", WAITERS * (now_ns() - herd_woken_at), 1);
	pthread_mutex_unlock(&cond_mutex);
	atomic_signal_fence(memory_order_seq_cst);
}

static void *herd_waiter(void *arg)
{
	for (unsigned int round = 0; round < ROUNDS; round++) {
		site_herd_wait(round);
		line_up(WAITERS + 1);
	}
	return arg;
}

/* Holds the mutex when all of them wait. */
static void herd_await(unsigned int round)
{
	for (;;) {
		pthread_mutex_lock(&cond_mutex);
		if (herd_waits == WAITERS * (round + 1))
			return;
		pthread_mutex_unlock(&cond_mutex);
		sched_yield();
	}
}

static void *herd_producer(void *arg)
{
	for (unsigned int round = 0; round < ROUNDS; round++) {
		herd_await(round);
		herd_round++;
		herd_woken_at = now_ns();
		pthread_cond_broadcast(&herd_cond);
		site_herd_release();
		line_up(WAITERS + 1);
	}
	return arg;
}

static void wakes(void)
{
	void *(*const herd_run[])(void *) = {herd_producer, herd_waiter, herd_waiter, herd_waiter};
	void *(*const tokens_run[])(void *) = {token_consumer, token_producer};
	void *(*const barrier_run[])(void *) = {barrier_early, barrier_early, barrier_late};

	sem_init(&sem, 0, 0);
	pthread_barrier_init(&barrier, NULL, 3);
	run_threads(2, tokens_run);
	run_threads(WAITERS + 1, herd_run);
	run_threads(3, barrier_run);
}

/* ---- threads, sleeps, children ------------------------------------------------------------------
 */

static void *short_life(void *arg)
{
	let_pass_ms(5);
	return arg;
}

SITE void site_join(pthread_t thread)
{
	uint64_t from = now_ns();

	pthread_join(thread, NULL);
	site_waited("site_join", "join", from);
}

SITE void site_usleep(void)
{
	uint64_t from = now_ns();

	usleep(3000);
	site_waited("site_usleep", "sleep", from);
}

SITE void site_clock_nanosleep(void)
{
	struct timespec until;
	uint64_t from = now_ns();

	until.tv_sec = (time_t)((from + 3000000) / 1000000000u);
	until.tv_nsec = (long)((from + 3000000) % 1000000000u);
	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR)
		;
	site_waited("site_clock_nanosleep", "sleep", from);
}

SITE void site_waitpid(pid_t pid)
{
	uint64_t from = now_ns();
	int status;

	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	site_waited("site_waitpid", "child", from);
}

static pthread_once_t once_control;
static atomic_bool once_entered;

static void once_slow(void)
{
	once_entered = true;
	let_pass_ms(5);
}

SITE void site_once(void)
{
	uint64_t from = now_ns();

	pthread_once(&once_control, once_slow);
	site_waited("site_once", "once", from);
}

static void *once_first(void *arg)
{
	pthread_once(&once_control, once_slow);
	return arg;
}

static void lives(void)
{
	for (int i = 0; i < ROUNDS / 2; i++) {
		pthread_t thread;
		pid_t pid;

		spawn(&thread, short_life);
		site_join(thread);
		once_control = PTHREAD_ONCE_INIT;
		once_entered = false;
		spawn(&thread, once_first);
		while (!once_entered)
			sched_yield();
		site_once();
		pthread_join(thread, NULL);
		pid = fork();
		CHECK(pid >= 0);
		if (pid == 0) {
			let_pass_ms(5);
			_exit(0);
		}
		site_waitpid(pid);
		site_usleep();
		site_clock_nanosleep();
	}
}

/* ---- descriptors --------------------------------------------------------------------------------
 */

static int pipe_fd[2], pair_fd[2], lock_fd[2];

SITE void site_pipe_read(void)
{
	uint64_t from = now_ns();
	char byte;

	CHECK(read(pipe_fd[0], &byte, 1) == 1);
	site_waited("site_pipe_read", "read", from);
}

SITE void site_recv(void)
{
	uint64_t from = now_ns();
	char byte;

	CHECK(recv(pair_fd[0], &byte, 1, 0) == 1);
	site_waited("site_recv", "recv", from);
}

SITE void site_poll(void)
{
	struct pollfd pfd = {.fd = pipe_fd[0], .events = POLLIN};
	uint64_t from = now_ns();
	char byte;

	CHECK(poll(&pfd, 1, 1000) == 1);
	site_waited("site_poll", "poll", from);
	CHECK(read(pipe_fd[0], &byte, 1) == 1);
}

SITE void site_epoll(int epoll_fd)
{
	struct epoll_event event;
	uint64_t from = now_ns();
	char byte;

	CHECK(epoll_wait(epoll_fd, &event, 1, 1000) == 1);
	site_waited("site_epoll", "epoll", from);
	CHECK(read(pipe_fd[0], &byte, 1) == 1);
}

SITE void site_flock(void)
{
	uint64_t from = now_ns();

	CHECK(flock(lock_fd[1], LOCK_EX) == 0);
	site_waited("site_flock", "flock", from);
	flock(lock_fd[1], LOCK_UN);
}

static void *byte_reader(void *arg)
{
	int epoll_fd = epoll_create1(0);
	struct epoll_event event = {.events = EPOLLIN};

	CHECK(epoll_ctl(epoll_fd, EPOLL_CTL_ADD, pipe_fd[0], &event) == 0);
	for (int i = 0; i < ROUNDS; i++) {
		site_pipe_read();
		site_recv();
		site_poll();
		site_epoll(epoll_fd);
	}
	close(epoll_fd);
	return arg;
}

static void *byte_writer(void *arg)
{
	for (int i = 0; i < ROUNDS; i++) {
		let_pass_ms(3);
		CHECK(write(pipe_fd[1], "a", 1) == 1);
		let_pass_ms(3);
		CHECK(send(pair_fd[1], "b", 1, 0) == 1);
		let_pass_ms(3);
		CHECK(write(pipe_fd[1], "c", 1) == 1);
		let_pass_ms(3);
		CHECK(write(pipe_fd[1], "d", 1) == 1);
	}
	return arg;
}

static void *flock_waiter(void *arg)
{
	for (int i = 0; i < ROUNDS; i++) {
		line_up(2);
		site_flock();
		line_up(2);
	}
	return arg;
}

static void *flock_holder(void *arg)
{
	for (int i = 0; i < ROUNDS; i++) {
		CHECK(flock(lock_fd[0], LOCK_EX) == 0);
		line_up(2);
		let_pass_ms(4);
		flock(lock_fd[0], LOCK_UN);
		line_up(2);
	}
	return arg;
}

static void descriptors(void)
{
	void *(*const bytes_run[])(void *) = {byte_reader, byte_writer};
	void *(*const flock_run[])(void *) = {flock_holder, flock_waiter};
	char path[] = "/tmp/trc-truth-XXXXXX";

	CHECK(pipe(pipe_fd) == 0 && socketpair(AF_UNIX, SOCK_STREAM, 0, pair_fd) == 0);
	lock_fd[0] = mkstemp(path);
	lock_fd[1] = open(path, O_RDWR);
	CHECK(lock_fd[0] >= 0 && lock_fd[1] >= 0);
	unlink(path);
	run_threads(2, bytes_run);
	run_threads(2, flock_run);
}

/* ---- spin locks and C11 -------------------------------------------------------------------------
 */

static pthread_spinlock_t spin;
static mtx_t mtx;
static cnd_t cnd;
static bool cnd_set; /* guarded by mtx */

SITE void site_spin(void)
{
	uint64_t from = now_ns();

	pthread_spin_lock(&spin);
	site_waited("site_spin", "spin", from);
	pthread_spin_unlock(&spin);
}

SITE void site_mtx_lock(void)
{
	uint64_t from = now_ns();

	mtx_lock(&mtx);
	site_waited("site_mtx_lock", "mutex", from);
	mtx_unlock(&mtx);
}

SITE void site_cnd_wait(void)
{
	mtx_lock(&mtx);
	while (!cnd_set) {
		uint64_t from = now_ns();

		cnd_wait(&cnd, &mtx);
		site_waited("site_cnd_wait", "cond", from);
	}
	cnd_set = false;
	mtx_unlock(&mtx);
}

static void *c11_waiter(void *arg)
{
	for (int i = 0; i < ROUNDS; i++) {
		line_up(2);
		site_spin();
		line_up(2);
		site_mtx_lock();
		site_cnd_wait();
	}
	return arg;
}

static void *c11_holder(void *arg)
{
	for (int i = 0; i < ROUNDS; i++) {
		pthread_spin_lock(&spin);
		line_up(2);
		let_pass_ms(2);
		mtx_lock(&mtx);
		pthread_spin_unlock(&spin);
		line_up(2);
		let_pass_ms(4);
		mtx_unlock(&mtx);
		let_pass_ms(4);
		mtx_lock(&mtx);
		cnd_set = true;
		mtx_unlock(&mtx);
		cnd_signal(&cnd);
	}
	return arg;
}

static int thrd_short(void *arg)
{
	let_pass_ms(5);
	return arg != NULL;
}

SITE void site_thrd_join(thrd_t thread)
{
	uint64_t from = now_ns();

	thrd_join(thread, NULL);
	site_waited("site_thrd_join", "join", from);
}

SITE void site_thrd_sleep(void)
{
	struct timespec ts = {0, 3000000};
	uint64_t from = now_ns();

	thrd_sleep(&ts, NULL);
	site_waited("site_thrd_sleep", "sleep", from);
}

static void c11(void)
{
	void *(*const run[])(void *) = {c11_holder, c11_waiter};
	thrd_t thread;

	pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE);
	mtx_init(&mtx, mtx_plain);
	cnd_init(&cnd);
	run_threads(2, run);
	CHECK(thrd_create(&thread, thrd_short, NULL) == thrd_success);
	site_thrd_join(thread);
	site_thrd_sleep();
}

int main(void)
{
	truth_begin();
	mutexes();
	timedlocks();
	rwlocks();
	wakes();
	lives();
	descriptors();
	c11();
	return truth_print(stdout);
}
