/*
 * same_waits.c - waits that end by a signal, a timeout, cancellation or a jump: plain and
 * interposed alike.
 */
#include <fcntl.h>
#include <mqueue.h>
#include <poll.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <linux/futex.h>
#include "fake_core.h"
#include "same.h"

/* What the waits below wait for; nothing of it ever comes, but by a test's doing. */
static sem_t sem;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static int silent_pipe[2], full_pipe[2], silent_socket[2], full_socket[2];
static int listener, epoll, event, locked_fd;
static int futex_word;
static pthread_t forever;
static pid_t sleeping_child;
static mqd_t queue = -1;
static char buffer[70000];

static const struct timespec LONG_TIME = {.tv_sec = 10};

/* Alarms are for the main thread: the kernel may choose another one while a signal is pending
 * there. */
static void *wait_forever(void *unused)
{
	sigset_t alarm;

	sigemptyset(&alarm);
	sigaddset(&alarm, SIGALRM);
	pthread_sigmask(SIG_BLOCK, &alarm, NULL);
	for (;;)
		pause();
	return NULL;
}

static void wait_in_cond(void *unused)
{
	pthread_mutex_unlock(&mutex);
}

/* ---- every wait there is -------------------------------------------------------------- */

static long do_sem_wait(void)
{
	return sem_wait(&sem);
}
static long do_sem_timedwait(void)
{
	struct timespec t = in_ms(CLOCK_REALTIME, 10000);

	return sem_timedwait(&sem, &t);
}
static long do_sem_clockwait(void)
{
	struct timespec t = in_ms(CLOCK_MONOTONIC, 10000);

	return sem_clockwait(&sem, CLOCK_MONOTONIC, &t);
}
static long do_cond_wait(void)
{
	long result = 0;

	pthread_mutex_lock(&mutex);
	pthread_cleanup_push(wait_in_cond, NULL);
	result = pthread_cond_wait(&cond, &mutex);
	pthread_cleanup_pop(1);
	return result;
}
static long do_cond_timedwait(void)
{
	struct timespec t = in_ms(CLOCK_REALTIME, 10000);
	long result = 0;

	pthread_mutex_lock(&mutex);
	pthread_cleanup_push(wait_in_cond, NULL);
	result = pthread_cond_timedwait(&cond, &mutex, &t);
	pthread_cleanup_pop(1);
	return result;
}
static long do_join(void)
{
	return pthread_join(forever, NULL);
}
static long do_nanosleep(void)
{
	return nanosleep(&LONG_TIME, NULL);
}
static long do_usleep(void)
{
	return usleep(10000000);
}
static long do_sleep(void)
{
	return sleep(10) > 0 ? -1 : 0;
}
static long do_clock_nanosleep(void)
{
	errno = clock_nanosleep(CLOCK_MONOTONIC, 0, &LONG_TIME, NULL);
	return errno ? -1 : 0;
}
static long do_poll(void)
{
	return poll(&(struct pollfd){silent_pipe[0], POLLIN, 0}, 1, 10000);
}
static long do_ppoll(void)
{
	return ppoll(&(struct pollfd){silent_pipe[0], POLLIN, 0}, 1, &LONG_TIME, NULL);
}
static long do_select(void)
{
	struct timeval t = {.tv_sec = 10};
	fd_set set;

	FD_ZERO(&set);
	FD_SET(silent_pipe[0], &set);
	return select(silent_pipe[0] + 1, &set, NULL, NULL, &t);
}
static long do_pselect(void)
{
	fd_set set;

	FD_ZERO(&set);
	FD_SET(silent_pipe[0], &set);
	return pselect(silent_pipe[0] + 1, &set, NULL, NULL, &LONG_TIME, NULL);
}
static long do_epoll_wait(void)
{
	struct epoll_event e;

	return epoll_wait(epoll, &e, 1, 10000);
}
static long do_epoll_pwait(void)
{
	struct epoll_event e;

	return epoll_pwait(epoll, &e, 1, 10000, NULL);
}
static long do_epoll_pwait2(void)
{
	struct epoll_event e;

	return epoll_pwait2(epoll, &e, 1, &LONG_TIME, NULL);
}
static long do_waitpid(void)
{
	return waitpid(sleeping_child, NULL, 0);
}
static long do_wait4(void)
{
	return wait4(sleeping_child, NULL, 0, NULL);
}
static long do_waitid(void)
{
	siginfo_t info;

	return waitid(P_PID, (id_t)sleeping_child, &info, WEXITED);
}
static long do_sigwaitinfo(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	return sigwaitinfo(&set, NULL);
}
static long do_sigtimedwait(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	return sigtimedwait(&set, NULL, &LONG_TIME);
}
static long do_sigsuspend(void)
{
	sigset_t set;

	sigemptyset(&set);
	return sigsuspend(&set);
}
static long do_pause(void)
{
	return pause();
}
static long do_flock(void)
{
	int fd = open("same_waits.lock", O_RDWR);
	long result = flock(fd, LOCK_EX);

	close(fd);
	return result;
}
static long do_fcntl(void)
{
	struct flock lock = {.l_type = F_WRLCK};
	int fd = open("same_waits.lock", O_RDWR);
	long result = fcntl(fd, F_OFD_SETLKW, &lock);

	close(fd);
	return result;
}
static long do_read(void)
{
	return read(silent_pipe[0], buffer, 1);
}
static long do_readv(void)
{
	return readv(silent_pipe[0], &(struct iovec){buffer, 1}, 1);
}
static long do_eventfd_read(void)
{
	eventfd_t value;

	return eventfd_read(event, &value);
}
static long do_write(void)
{
	return write(full_pipe[1], buffer, sizeof(buffer));
}
static long do_writev(void)
{
	return writev(full_pipe[1], &(struct iovec){buffer, 1}, 1);
}
static long do_splice(void)
{
	return splice(silent_pipe[0], NULL, full_pipe[1], NULL, 10, 0);
}
static long do_recv(void)
{
	return recv(silent_socket[0], buffer, 1, 0);
}
static long do_recvfrom(void)
{
	return recvfrom(silent_socket[0], buffer, 1, 0, NULL, NULL);
}
static long do_recvmsg(void)
{
	return recvmsg(silent_socket[0], &(struct msghdr){0}, 0);
}
static long do_recvmmsg(void)
{
	return recvmmsg(silent_socket[0], &(struct mmsghdr){0}, 1, 0, NULL);
}
static long do_send(void)
{
	return send(full_socket[0], buffer, sizeof(buffer), 0);
}
static long do_sendto(void)
{
	return sendto(full_socket[0], buffer, sizeof(buffer), 0, NULL, 0);
}
static long do_sendmsg(void)
{
	struct iovec v = {buffer, sizeof(buffer)};

	return sendmsg(full_socket[0], &(struct msghdr){.msg_iov = &v, .msg_iovlen = 1}, 0);
}
static long do_accept(void)
{
	return accept(listener, NULL, NULL);
}
static long do_accept4(void)
{
	return accept4(listener, NULL, NULL, SOCK_CLOEXEC);
}
static long do_open(void)
{
	return open("same_waits.fifo", O_RDONLY);
}
static long do_mq_receive(void)
{
	return mq_receive(queue, buffer, sizeof(buffer), NULL);
}
static long do_futex(void)
{
	return syscall(SYS_futex, &futex_word, FUTEX_WAIT, 0, NULL, NULL, 0);
}

struct waiting {
	const char *name;
	long (*wait)(void);
	int not_cancelled;   /* no cancellation point */
	int not_interrupted; /* goes on after a signal handler */
};
#define W(name)                                                                                    \
	{                                                                                          \
#name, do_##name, 0, 0                                                             \
	}
static const struct waiting WAITS[] = {
	W(sem_wait),
	W(sem_timedwait),
	W(sem_clockwait),
	{"cond_wait", do_cond_wait, 0, 1},
	{"cond_timedwait", do_cond_timedwait, 0, 1},
	{"join", do_join, 0, 1},
	W(nanosleep),
	W(usleep),
	W(sleep),
	W(clock_nanosleep),
	W(poll),
	W(ppoll),
	W(select),
	W(pselect),
	W(epoll_wait),
	W(epoll_pwait),
	W(epoll_pwait2),
	W(waitpid),
	W(wait4),
	W(waitid),
	W(sigwaitinfo),
	W(sigtimedwait),
	W(sigsuspend),
	W(pause),
	{"flock", do_flock, 1, 0},
	W(fcntl),
	W(read),
	W(readv),
	{"eventfd_read", do_eventfd_read, 1, 0},
	W(write),
	W(writev),
	W(splice),
	W(recv),
	W(recvfrom),
	W(recvmsg),
	W(recvmmsg),
	W(send),
	W(sendto),
	W(sendmsg),
	W(accept),
	W(accept4),
	W(open),
	W(mq_receive),
	{"syscall(SYS_futex)", do_futex, 1, 0},
};
enum { N_WAITS = sizeof(WAITS) / sizeof(WAITS[0]) };

/* ---- set up --------------------------------------------------------------------------- */

static void fill(int fd)
{
	fcntl(fd, F_SETFL, O_NONBLOCK);
	while (write(fd, buffer, sizeof(buffer)) > 0 || write(fd, buffer, 1) > 0)
		;
	fcntl(fd, F_SETFL, 0);
}

static void listen_and_fill(void)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};

	listener = socket(AF_UNIX, SOCK_STREAM, 0);
	bind(listener, (struct sockaddr *)&address, sizeof(sa_family_t));
	listen(listener, 1);
}

static void set_up(void)
{
	struct mq_attr attr = {.mq_maxmsg = 1, .mq_msgsize = 100};
	struct flock lock = {.l_type = F_WRLCK};
	char name[64];

	sem_init(&sem, 0, 0);
	if (pipe(silent_pipe) || pipe(full_pipe) ||
	    socketpair(AF_UNIX, SOCK_STREAM, 0, silent_socket) ||
	    socketpair(AF_UNIX, SOCK_STREAM, 0, full_socket))
		abort();
	fill(full_pipe[1]);
	fill(full_socket[0]);
	listen_and_fill();
	epoll = epoll_create1(0);
	event = eventfd(0, 0);
	unlink("same_waits.fifo");
	if (mkfifo("same_waits.fifo", 0600))
		abort();
	locked_fd = open("same_waits.lock", O_RDWR | O_CREAT, 0600);
	flock(locked_fd, LOCK_EX);
	fcntl(locked_fd, F_OFD_SETLK, &lock);
	snprintf(name, sizeof(name), "/same_waits_%d", getpid());
	queue = mq_open(name, O_RDWR | O_CREAT, 0600, &attr);
	mq_unlink(name);
	pthread_create(&forever, NULL, wait_forever, NULL);
	sleeping_child = fork();
	if (!sleeping_child)
		wait_forever(NULL);
}

static void tear_down(void)
{
	pthread_cancel(forever);
	pthread_join(forever, NULL);
	kill(sleeping_child, SIGKILL);
	waitpid(sleeping_child, NULL, 0);
	unlink("same_waits.fifo");
	unlink("same_waits.lock");
}

/* ---- cancelled ------------------------------------------------------------------------ */

static volatile int about_to_wait;

static void *waiter(void *arg)
{
	const struct waiting *w = arg;

	about_to_wait = 1;
	w->wait();
	return NULL;
}

static void *waiter_cancelled_before(void *arg)
{
	const struct waiting *w = arg;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
	pthread_cancel(pthread_self());
	pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, NULL);
	w->wait();
	return NULL;
}

static void cancel_one(const struct waiting *w)
{
	pthread_t thread;
	void *value;

	about_to_wait = 0;
	pthread_create(&thread, NULL, waiter, (void *)w);
	while (!about_to_wait)
		usleep(100);
	usleep(1500);
	pthread_cancel(thread);
	pthread_join(thread, &value);
	printf("%-30s %s\n", w->name, value == PTHREAD_CANCELED ? "cancelled" : "returned");
	pthread_create(&thread, NULL, waiter_cancelled_before, (void *)w);
	pthread_join(thread, &value);
	printf("%-30s %s\n", "  cancelled before",
	       value == PTHREAD_CANCELED ? "cancelled" : "returned");
}

static void cancel_tests(void)
{
	pthread_t thread;
	void *value;
	int i;

	puts("--- cancellation");
	for (i = 0; i < N_WAITS; i++)
		if (!WAITS[i].not_cancelled)
			cancel_one(&WAITS[i]);
	/* A cancelled wait has not eaten what it waited for. */
	sem_post(&sem);
	sem_post(&sem);
	pthread_create(&thread, NULL, waiter_cancelled_before, (void *)&WAITS[0]);
	pthread_join(thread, &value);
	printf("sem_wait with a post, cancelled before: %s\n",
	       value == PTHREAD_CANCELED ? "cancelled" : "returned");
	TELL_ERRNO("the post is still there", sem_trywait(&sem));
	TELL_ERRNO("and the other one", sem_trywait(&sem));
	TELL_ERRNO("and no third", sem_trywait(&sem));
	tell("the mutex of the condition is free", pthread_mutex_trylock(&mutex));
	pthread_mutex_unlock(&mutex);
}

/* ---- interrupted ---------------------------------------------------------------------- */

static volatile int handled;
static volatile int jump; /* 0: return from the handler */
static sigjmp_buf back;

static void on_signal(int number)
{
	handled++;
	if (jump)
		siglongjmp(back, 1);
}

static void on_alarm(int flags)
{
	struct sigaction action = {.sa_handler = on_signal, .sa_flags = flags};

	sigaction(SIGALRM, &action, NULL);
}

/* Signals until it works: the first may come before the wait has begun. */
static void alarms(int on)
{
	struct timespec interval = {.tv_nsec = on ? 2000000 : 0};
	static timer_t timer;
	static int made;

	if (!made)
		timer_create(CLOCK_MONOTONIC, NULL, &timer);
	made = 1;
	timer_settime(timer, 0, &(struct itimerspec){interval, interval}, NULL);
}

static void interrupt_tests(void)
{
	int i;

	puts("--- interrupted by a signal handler");
	on_alarm(0);
	for (i = 0; i < N_WAITS; i++) {
		if (WAITS[i].not_interrupted)
			continue;
		alarms(1);
		handled = 0;
		TELL_ERRNO(WAITS[i].name, WAITS[i].wait());
		alarms(0);
		if (!handled)
			puts("no signal");
	}
}

/* With SA_RESTART a read goes on, a sleep does not. */
static void restart_tests(void)
{
	static const int INTERRUPTED[] = {0, 6, 10, 12, 14, 22, 23};
	size_t i;

	puts("--- interrupted by a handler with SA_RESTART");
	on_alarm(SA_RESTART);
	for (i = 1; i < sizeof(INTERRUPTED) / sizeof(INTERRUPTED[0]); i++) {
		alarms(1);
		TELL_ERRNO(WAITS[INTERRUPTED[i]].name, WAITS[INTERRUPTED[i]].wait());
		alarms(0);
	}
}

static void *write_later(void *unused)
{
	int i = handled;

	while (handled < i + 3)
		usleep(500);
	return (void *)write(silent_pipe[1], "x", 1);
}

static void restarted_read_test(void)
{
	pthread_t thread;
	long result;

	on_alarm(SA_RESTART);
	handled = 0;
	pthread_create(&thread, NULL, write_later, NULL);
	alarms(1);
	errno = 0;
	result = do_read();
	alarms(0);
	pthread_join(thread, NULL);
	printf("read, restarted: %ld, errno %d, after at least 3 signals: %d\n", result, errno,
	       handled >= 3);
}

/* ---- left by a jump ------------------------------------------------------------------- */

static void jump_tests(void)
{
	volatile int i;

	puts("--- left by siglongjmp");
	on_alarm(0);
	jump = 1;
	for (i = 0; i < N_WAITS; i++) {
		/* Leaving those by a jump is undefined, or leaves the mutex locked. */
		if (WAITS[i].not_interrupted || WAITS[i].wait == do_flock ||
		    WAITS[i].wait == do_fcntl)
			continue;
		if (!sigsetjmp(back, 1)) {
			alarms(1);
			WAITS[i].wait();
			puts("came back");
		}
		alarms(0);
		printf("%s\n", WAITS[i].name);
	}
	jump = 0;
	TELL_ERRNO("sem_post", sem_post(&sem));
	TELL_ERRNO("sem_wait", sem_wait(&sem));
}

int main(void)
{
	set_up();
	cancel_tests();
	interrupt_tests();
	restart_tests();
	restarted_read_test();
	jump_tests();
	tear_down();
	return fake_core_unbalanced();
}
