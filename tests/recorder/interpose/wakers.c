/*
 * wakers.c - who is named as the waker of a thread that waits for a descriptor, and who must not
 * be: run under the fake core, which counts those that are.
 *
 * In each row a thread waits, and sleeps in the kernel when the main thread does something.
 */
#include <arpa/inet.h>
#include <err.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include "blocked.h"
#include "fake_core.h"
#include "same.h"

static fake_core_count_fn *count;
static int failures;
static const uint64_t one = 1;

static unsigned int named(void)
{
	return count(FAKE_UNPARKED, TRC_REASON_READ) + count(FAKE_UNPARKED, TRC_REASON_RECV) +
	       count(FAKE_UNPARKED, TRC_REASON_WRITE) + count(FAKE_UNPARKED, TRC_REASON_SEND) +
	       count(FAKE_UNPARKED, TRC_REASON_EPOLL);
}

static unsigned int begun(void)
{
	return count(FAKE_WAIT_BEGIN, TRC_REASON_READ) + count(FAKE_WAIT_BEGIN, TRC_REASON_RECV) +
	       count(FAKE_WAIT_BEGIN, TRC_REASON_WRITE) + count(FAKE_WAIT_BEGIN, TRC_REASON_SEND) +
	       count(FAKE_WAIT_BEGIN, TRC_REASON_EPOLL);
}

static void expect(const char *row, const char *what, unsigned int is, unsigned int should_be)
{
	if (is == should_be)
		return;
	printf("FAIL: %s: %s: %u instead of %u\n", row, what, is, should_be);
	failures++;
}

/* ---- channels: one reads fd[0], the other writes fd[1] --------------------------------------- */

static void made(int result)
{
	if (result < 0)
		err(1, "a channel");
}

static void open_pipe(int fd[2])
{
	made(pipe(fd));
}

static void open_eventfd(int fd[2])
{
	fd[0] = fd[1] = eventfd(0, 0);
	made(fd[0]);
}

static void open_pair(int fd[2])
{
	made(socketpair(AF_UNIX, SOCK_STREAM, 0, fd));
}

static void open_datagrams(int fd[2])
{
	made(socketpair(AF_UNIX, SOCK_DGRAM, 0, fd));
}

static void open_tcp_of(int fd[2], const struct sockaddr *any, socklen_t bytes)
{
	struct sockaddr_in6 bound;
	struct sockaddr_in to = {.sin_family = AF_INET};
	int listener = socket(any->sa_family, SOCK_STREAM, 0);

	made(bind(listener, any, bytes));
	made(listen(listener, 1));
	bytes = sizeof(bound);
	made(getsockname(listener, (struct sockaddr *)&bound, &bytes));
	to.sin_port = bound.sin6_port; /* where sin_port is */
	to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	fd[1] = socket(AF_INET, SOCK_STREAM, 0);
	made(connect(fd[1], (struct sockaddr *)&to, sizeof(to)));
	fd[0] = accept(listener, NULL, NULL);
	made(fd[0]);
	close(listener);
}

static void open_tcp(int fd[2])
{
	struct sockaddr_in any = {.sin_family = AF_INET};

	open_tcp_of(fd, (struct sockaddr *)&any, sizeof(any));
}

/* A server's socket of IPv6 that takes both: it sees the client's address in IPv6's form. */
static void open_tcp_both(int fd[2])
{
	struct sockaddr_in6 any = {.sin6_family = AF_INET6};

	open_tcp_of(fd, (struct sockaddr *)&any, sizeof(any));
}

static struct sockaddr_in udp_bound(int *fd)
{
	struct sockaddr_in address = {.sin_family = AF_INET};
	socklen_t bytes = sizeof(address);

	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	*fd = socket(AF_INET, SOCK_DGRAM, 0);
	made(bind(*fd, (struct sockaddr *)&address, bytes));
	made(getsockname(*fd, (struct sockaddr *)&address, &bytes));
	return address;
}

static void open_udp(int fd[2])
{
	struct sockaddr_in address[2] = {udp_bound(&fd[0]), udp_bound(&fd[1])};

	made(connect(fd[0], (struct sockaddr *)&address[1], sizeof(address[1])));
	made(connect(fd[1], (struct sockaddr *)&address[0], sizeof(address[0])));
}

/* ---- who waits ------------------------------------------------------------------------------ */

static void *reads(void *fd)
{
	uint64_t value;

	(void)!read(*(int *)fd, &value, sizeof(value));
	return NULL;
}

static void *receives(void *fd)
{
	uint64_t value;

	(void)!recv(*(int *)fd, &value, sizeof(value), 0);
	return NULL;
}

static void *receives_all(void *fd)
{
	uint64_t value[2];

	(void)!recv(*(int *)fd, value, sizeof(value), MSG_WAITALL);
	return NULL;
}

static void *receives_two(void *fd)
{
	uint64_t value[2];
	struct iovec part[2] = {{&value[0], sizeof(one)}, {&value[1], sizeof(one)}};
	struct mmsghdr message[2] = {{.msg_hdr = {.msg_iov = &part[0], .msg_iovlen = 1}},
				     {.msg_hdr = {.msg_iov = &part[1], .msg_iovlen = 1}}};

	(void)!recvmmsg(*(int *)fd, message, 2, 0, NULL);
	return NULL;
}

static void *receives_first(void *fd)
{
	uint64_t value[2];
	struct iovec part[2] = {{&value[0], sizeof(one)}, {&value[1], sizeof(one)}};
	struct mmsghdr message[2] = {{.msg_hdr = {.msg_iov = &part[0], .msg_iovlen = 1}},
				     {.msg_hdr = {.msg_iov = &part[1], .msg_iovlen = 1}}};

	(void)!recvmmsg(*(int *)fd, message, 2, MSG_WAITFORONE, NULL);
	return NULL;
}

/* Until there is no room, and then for it. */
static void *floods(void *fd)
{
	static char zeros[65536];

	while (write(((int *)fd)[1], zeros, sizeof(zeros)) > 0)
		;
	return NULL;
}

/* In epoll_wait(), which watches fd[0] in this way, and another pipe's end. */
static int epoll;
static void *watches_for(const int fd[2], uint32_t events)
{
	struct epoll_event event = {.events = events}, other = {.events = EPOLLIN};
	int unused[2];

	open_pipe(unused);
	epoll = epoll_create1(0);
	made(epoll);
	made(epoll_ctl(epoll, EPOLL_CTL_ADD, unused[0], &other));
	made(epoll_ctl(epoll, EPOLL_CTL_ADD, fd[0], &event));
	epoll_wait(epoll, &event, 1, -1);
	return NULL;
}

static void *watches(void *fd)
{
	return watches_for(fd, EPOLLIN);
}

static void *watches_edges(void *fd)
{
	return watches_for(fd, EPOLLIN | EPOLLET);
}

static void *watches_once(void *fd)
{
	return watches_for(fd, EPOLLIN | EPOLLONESHOT);
}

static void *watches_urgent(void *fd)
{
	return watches_for(fd, EPOLLPRI);
}

static __thread sigjmp_buf out;
static void jump_out(int number)
{
	siglongjmp(out, number);
}

static void *is_jumped_out(void *fd)
{
	if (!sigsetjmp(out, 1))
		reads(fd);
	pause();
	return NULL;
}

/* ---- what is done ---------------------------------------------------------------------------- */

static pthread_t thread;

static void writes(int fd[2])
{
	(void)!write(fd[1], &one, sizeof(one));
}

static void sends(int fd[2])
{
	(void)!send(fd[1], &one, sizeof(one), 0);
}

static void sends_at_once(int fd[2])
{
	(void)!send(fd[1], &one, sizeof(one), MSG_DONTWAIT);
}

static void sends_messages(int fd[2])
{
	struct iovec part = {(void *)(uintptr_t)&one, sizeof(one)};
	struct mmsghdr message = {.msg_hdr = {.msg_iov = &part, .msg_iovlen = 1}};

	(void)!sendmmsg(fd[1], &message, 1, 0);
}

/* Connected, and yet to somebody else. */
static void sends_elsewhere(int fd[2])
{
	struct iovec part = {(void *)(uintptr_t)&one, sizeof(one)};
	int other;
	struct sockaddr_in to = udp_bound(&other);
	struct mmsghdr message = {.msg_hdr = {.msg_name = &to,
					      .msg_namelen = sizeof(to),
					      .msg_iov = &part,
					      .msg_iovlen = 1}};

	(void)!sendto(fd[1], &one, sizeof(one), 0, (struct sockaddr *)&to, sizeof(to));
	(void)!sendmsg(fd[1], &message.msg_hdr, 0);
	(void)!sendmmsg(fd[1], &message, 1, 0);
	close(other);
}

/* By then nobody watches it. */
static void unwatches_and_writes(int fd[2])
{
	made(epoll_ctl(epoll, EPOLL_CTL_DEL, fd[0], NULL));
	writes(fd);
}

static void watches_again_and_writes(int fd[2])
{
	struct epoll_event event = {.events = EPOLLIN};

	made(epoll_ctl(epoll, EPOLL_CTL_DEL, fd[0], NULL));
	made(epoll_ctl(epoll, EPOLL_CTL_ADD, fd[0], &event));
	writes(fd);
}

static void replaces_and_writes(int fd[2])
{
	int other[2], end;

	/* What had the number goes, and is watched no longer; the pipe stays. */
	open_pipe(other);
	end = dup(fd[0]);
	dup2(other[0], fd[0]);
	made(epoll_ctl(epoll, EPOLL_CTL_ADD, fd[0], &(struct epoll_event){.events = EPOLLIN}));
	writes(fd);
	close(end);
	close(other[0]);
	close(other[1]);
}

/* The watch went with the end that was closed; the number is now another end of the same pipe. */
static void opens_again_and_writes(int fd[2])
{
	char path[32];
	int end;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd[0]);
	end = open(path, O_RDONLY);
	made(end);
	dup2(end, fd[0]);
	close(end);
	writes(fd);
}

static void fails(int fd[2])
{
	const struct iovec nowhere = {NULL, 1};

	(void)!writev(fd[1], &nowhere, 1);
}

static void writes_elsewhere(int fd[2])
{
	int other[2];

	(void)fd;
	open_pipe(other);
	writes(other);
	close(other[0]);
	close(other[1]);
}

static void writes_copy(int fd[2])
{
	int copy[2] = {-1, dup(fd[1])};

	writes(copy);
	close(copy[1]);
}

static void copies_onto_itself(int fd[2])
{
	dup2(fd[0], fd[0]);
	dup2(fd[1], fd[1]);
	writes(fd);
}

/* The thread waits for what had the number before. */
static void makes_it_anew(int fd[2])
{
	int again;

	close(fd[0]);
	again = eventfd(0, 0);
	if (again != fd[0])
		errx(1, "descriptor %d instead of %d", again, fd[0]);
	writes(fd);
}

/* Unseen: by a call that is not interposed. */
static void becomes_another(int fd, int other)
{
	if (syscall(SYS_dup3, other, fd, 0) != fd)
		err(1, "dup3");
}

static void writes_another(int fd[2])
{
	int other[2];

	open_pipe(other);
	becomes_another(fd[1], other[1]);
	writes(fd);
	close(other[0]);
	close(other[1]);
}

static void reads_some(int fd[2])
{
	static char piece[65536];

	(void)!read(fd[0], piece, sizeof(piece));
}

static void peeks(int fd[2])
{
	static char piece[65536];

	(void)!recv(fd[0], piece, sizeof(piece), MSG_PEEK);
}

static void tees(int fd[2])
{
	int other[2];

	open_pipe(other);
	if (tee(fd[0], other[1], 65536, 0) <= 0)
		err(1, "tee");
	close(other[0]);
	close(other[1]);
}

static void cancels_and_writes(int fd[2])
{
	pthread_cancel(thread);
	pthread_join(thread, NULL);
	writes(fd);
	pthread_create(&thread, NULL, reads, fd); /* for the one who joins */
}

static void jumps_and_writes(int fd[2])
{
	unsigned int ended = count(FAKE_WAIT_END, TRC_REASON_READ);

	signal(SIGUSR1, jump_out);
	pthread_kill(thread, SIGUSR1);
	while (count(FAKE_WAIT_END, TRC_REASON_READ) == ended)
		sched_yield();
	writes(fd);
}

/* The thread that waits is its parent's. */
static void write_in_child(pid_t child, int fd[2])
{
	unsigned int before = named();
	int status;

	if (!child) {
		writes(fd);
		_exit((int)(named() - before));
	}
	if (waitpid(child, &status, 0) != child)
		err(1, "waitpid");
	expect("a child writes", "named there", (unsigned int)status, 0);
}

static void forks(int fd[2])
{
	write_in_child(fork(), fd);
}

static void forks_unseen(int fd[2])
{
	write_in_child((pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0), fd);
}

/* In the child's own table of descriptors. */
static void vforked_child_closes(int fd[2])
{
	pid_t child = vfork();
	int status;

	if (!child) {
		close(fd[0]);
		dup2(2, fd[1]);
		_exit(0);
	}
	waitpid(child, &status, 0);
	writes(fd);
}

static const struct row {
	const char *name;
	void (*open)(int fd[2]);
	void *(*waits)(void *fd);
	void (*act)(int fd[2]);
	unsigned int named;
} ROWS[] = {
	{"a pipe is written", open_pipe, reads, writes, 1},
	{"a copy of its end is written", open_pipe, reads, writes_copy, 1},
	{"a write fails", open_pipe, reads, fails, 0},
	{"another pipe is written", open_pipe, reads, writes_elsewhere, 0},
	{"an end is another pipe's by now", open_pipe, reads, writes_another, 0},
	{"an eventfd is written", open_eventfd, reads, writes, 1},
	{"an eventfd is closed and made anew", open_eventfd, reads, makes_it_anew, 0},
	{"a pair of sockets is written", open_pair, reads, writes, 1},
	{"an end is copied onto itself", open_pair, reads, copies_onto_itself, 1},
	{"a vforked child closes both ends", open_pair, reads, vforked_child_closes, 1},
	{"a pair of sockets sends", open_pair, receives, sends, 1},
	{"it sends without waiting", open_pair, receives, sends_at_once, 1},
	{"it sends the first half", open_pair, receives_all, sends, 0},
	{"it sends a datagram", open_datagrams, receives, sends_messages, 1},
	{"it sends the first of two", open_datagrams, receives_two, sends, 0},
	{"it sends the first, which is enough", open_datagrams, receives_first, sends, 1},
	{"a TCP connection is written", open_tcp, receives, writes, 1},
	{"a TCP connection between IPv4 and IPv6", open_tcp_both, receives, sends, 1},
	{"a UDP socket sends", open_udp, receives, sends, 1},
	{"a UDP socket sends elsewhere", open_udp, receives, sends_elsewhere, 0},
	{"a full pipe is read", open_pipe, floods, reads_some, 1},
	{"a full pipe is copied", open_pipe, floods, tees, 0},
	{"a full socket is read", open_pair, floods, reads_some, 1},
	{"a full socket is looked at", open_pair, floods, peeks, 0},
	{"a watched pipe is written", open_pipe, watches, writes, 1},
	{"a watched eventfd is written", open_eventfd, watches, writes, 1},
	{"a watched pair of sockets sends", open_pair, watches, sends, 1},
	{"a watched TCP connection sends at once", open_tcp, watches, sends_at_once, 1},
	{"a pipe is written whose edge is watched", open_pipe, watches_edges, writes, 1},
	{"a pipe is watched once only", open_pipe, watches_once, writes, 0},
	{"a pipe is not watched for this", open_pipe, watches_urgent, writes, 0},
	{"nobody writes the watched pipe", open_pipe, watches, writes_elsewhere, 0},
	{"a pipe is no longer watched", open_pipe, watches, unwatches_and_writes, 0},
	{"a pipe is watched again", open_pipe, watches, watches_again_and_writes, 1},
	{"a watched end is closed and opened again", open_pipe, watches, opens_again_and_writes, 0},
	{"a number is watched again", open_pipe, watches, replaces_and_writes, 0},
	{"a forked child writes what is watched", open_pipe, watches, forks_unseen, 0},
	{"the waiter was cancelled", open_pipe, reads, cancels_and_writes, 0},
	{"the waiter jumped out of its wait", open_pipe, is_jumped_out, jumps_and_writes, 0},
	{"a forked child writes", open_pipe, reads, forks, 0},
	{"a child that was forked unseen writes", open_pipe, reads, forks_unseen, 0},
};

static void start(void *(*waits)(void *), int fd[2])
{
	unsigned int before = begun();

	pthread_create(&thread, NULL, waits, fd);
	while (begun() == before)
		sched_yield();
	await_others();
}

static void stop(void)
{
	pthread_cancel(thread);
	pthread_join(thread, NULL);
}

static void row_test(const struct row *row)
{
	unsigned int before;
	int fd[2];

	row->open(fd);
	start(row->waits, fd);
	before = named();
	row->act(fd);
	expect(row->name, "named", named() - before, row->named);
	stop();
	before = named();
	if (row->waits == floods)
		reads_some(fd);
	else
		writes(fd);
	expect(row->name, "named when nobody waits", named() - before, 0);
	close(fd[0]);
	close(fd[1]);
}

/* Pipe A is known by a number that pipe B has got unseen: a thread waits for B, A is written. */
static void reader_becomes_another_test(void)
{
	int a[2], b[2], keep;
	unsigned int before;

	open_pipe(a);
	open_pipe(b);
	keep = dup(a[0]);
	writes(a);
	reads(a);
	becomes_another(a[0], b[0]);
	start(reads, a);
	before = named();
	writes(a);
	expect("the reader's end is another pipe's", "named", named() - before, 0);
	stop();
	close(keep);
	for (int i = 0; i < 2; i++) {
		close(a[i]);
		close(b[i]);
	}
}

/* More threads than a bucket has places. */
static void many_readers_test(void)
{
	enum { THREADS = 12 };
	pthread_t all[THREADS];
	unsigned int before;
	int fd[2];

	open_pipe(fd);
	before = begun();
	for (int i = 0; i < THREADS; i++)
		pthread_create(&all[i], NULL, reads, fd);
	while (begun() != before + THREADS)
		sched_yield();
	await_others();
	before = named();
	writes(fd);
	expect("many readers", "named", named() - before, 1);
	for (int i = 1; i < THREADS; i++)
		writes(fd);
	for (int i = 0; i < THREADS; i++)
		pthread_join(all[i], NULL);
	before = named();
	writes(fd);
	expect("many readers", "named when they are gone", named() - before, 0);
	close(fd[0]);
	close(fd[1]);
}

/* Handlers read and write wherever they interrupt, and jump out of it, too. */
static int in_handler[2];
static volatile sig_atomic_t handled, may_jump;
static sigjmp_buf out_of_call;

static void handler(int number)
{
	int saved = errno;

	errno = 4711;
	writes(in_handler);
	reads(&in_handler[0]);
	if (errno != 4711)
		failures++;
	errno = saved;
	handled++;
	if (may_jump && handled % 3 == 0) {
		may_jump = 0;
		siglongjmp(out_of_call, number);
	}
}

static void handler_test(void)
{
	const struct itimerval often = {{0, 200}, {0, 200}}, never = {{0, 0}, {0, 0}};
	struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};
	struct timespec until = in_ms(CLOCK_MONOTONIC, 300), now;
	unsigned int before;
	int fd[2];

	open_pipe(in_handler);
	open_pipe(fd);
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	do {
		if (!sigsetjmp(out_of_call, 1)) {
			may_jump = 1;
			writes(fd);
			reads(fd);
			may_jump = 0;
		} else {
			fcntl(fd[0], F_SETFL, O_NONBLOCK);
			reads(fd); /* it may have been written */
			fcntl(fd[0], F_SETFL, 0);
		}
		clock_gettime(CLOCK_MONOTONIC, &now);
	} while (now.tv_sec < until.tv_sec ||
		 (now.tv_sec == until.tv_sec && now.tv_nsec < until.tv_nsec));
	setitimer(ITIMER_REAL, &never, NULL);
	if (!handled)
		errx(1, "no signal came");
	before = named();
	writes(fd);
	writes(in_handler);
	expect("handlers", "named when nobody waits", named() - before, 0);
	reads(fd);
	start(reads, fd);
	before = named();
	writes(fd);
	expect("handlers", "named afterwards", named() - before, 1);
	stop();
}

int main(void)
{
	count = (fake_core_count_fn *)dlsym(RTLD_DEFAULT, "fake_core_count");
	if (!count)
		errx(1, "not under the fake core");
	signal(SIGPIPE, SIG_IGN);
	for (size_t i = 0; i < sizeof(ROWS) / sizeof(ROWS[0]); i++)
		row_test(&ROWS[i]);
	reader_becomes_another_test();
	many_readers_test();
	failures += fake_core_unbalanced();
	handler_test(); /* a wait that is just beginning or ending may not be ended by a jump */
	return failures != 0;
}
