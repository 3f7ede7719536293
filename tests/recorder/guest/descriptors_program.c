/*
 * descriptors_program.c - waits for descriptors of all kinds, and says what each was.
 *
 *   descriptors_program DIR            a line for each wait: reason, descriptor, what it was
 *   descriptors_program DIR statx      the same of a few waits; the second is of a program that has
 *   descriptors_program DIR getpeername   itself killed for this system call
 *   descriptors_program DIR stuck FILE    threads wait for ever, then it sends itself SIGUSR1 and ends when
 *                                         there is the file
 *
 * The main thread waits, and sleeps in the kernel when another thread lets it go on.  What a
 * descriptor was is told by what the program made it of, or by libc's own functions.
 */
#include <arpa/inet.h>
#include <err.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/un.h>
#include <sys/wait.h>
#include "tests/recorder/interpose/blocked.h"

static void made(int result)
{
	if (result < 0)
		err(1, "a channel");
}

/* ---- the other thread -------------------------------------------------------------------- */

static _Atomic int in_call;

struct deed {
	void (*act)(struct deed *deed);
	int fd[3];
	struct sockaddr_storage to;
	socklen_t to_bytes;
};

static void *other_thread(void *arg)
{
	struct deed *deed = arg;

	while (!in_call)
		sched_yield();
	await_others();
	deed->act(deed);
	return NULL;
}

static pthread_t begin(struct deed *deed)
{
	pthread_t thread;

	in_call = 0;
	if (pthread_create(&thread, NULL, other_thread, deed))
		errx(1, "no thread");
	in_call = 1;
	return thread;
}

static void end(pthread_t thread)
{
	pthread_join(thread, NULL);
}

static void write_one(struct deed *deed)
{
	const uint64_t one = 1;

	made((int)write(deed->fd[0], &one, sizeof(one)));
}

static void say(const char *reason, int fd, const char *what)
{
	printf("%s %d %s\n", reason, fd, what);
	fflush(stdout);
}

/* ---- what the kernel names ------------------------------------------------------------------ */

static const char *link_of(int fd)
{
	static char link[8192];
	char path[64];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	n = readlink(path, link, sizeof(link) - 1);
	made((int)n);
	link[n] = '\0';
	return link;
}

/* The main thread reads `from`; what is written to `to` ends that. */
static void read_from(int from, int to, const char *what)
{
	struct deed deed = {.act = write_one, .fd = {to}};
	pthread_t thread = begin(&deed);
	uint64_t bytes;

	made((int)read(from, &bytes, sizeof(bytes)));
	end(thread);
	say("read", from, what);
}

static void pipes(void)
{
	int fd[2];

	made(pipe(fd));
	read_from(fd[0], fd[1], link_of(fd[0]));
	close(fd[0]);
	close(fd[1]);
}

static void event_and_timer(void)
{
	struct itimerspec soon = {.it_value = {.tv_nsec = 2000000}};
	int event = eventfd(0, 0), timer = timerfd_create(CLOCK_MONOTONIC, 0);
	uint64_t n;

	made(event);
	made(timer);
	read_from(event, event, "anon_inode:[eventfd]");
	made(timerfd_settime(timer, 0, &soon, NULL));
	made((int)read(timer, &n, sizeof(n)));
	say("read", timer, "anon_inode:[timerfd]");
	close(timer);
	close(event);
}

static void epoll(void)
{
	struct epoll_event event;
	int fd = epoll_create1(0);

	made(fd);
	made(epoll_wait(fd, &event, 1, 2));
	say("epoll", fd, "anon_inode:[eventpoll]");
	close(fd);
}

static void unlock(struct deed *deed)
{
	flock(deed->fd[0], LOCK_UN);
}

/* The main thread waits for the lock on `fd` that `other`, the same file, has. */
static void flock_of(int fd, int other, const char *what)
{
	struct deed deed = {.act = unlock, .fd = {other}};
	pthread_t thread;

	made(fd);
	made(other);
	made(flock(other, LOCK_EX));
	thread = begin(&deed);
	made(flock(fd, LOCK_EX));
	end(thread);
	say("flock", fd, what);
	close(fd);
	close(other);
}

static void file(const char *name, const char *what)
{
	int other = open(name, O_RDWR | O_CREAT, 0600);

	flock_of(open(name, O_RDWR), other, what);
}

static void files(const char *dir)
{
	char name[1024], what[1100], again[64];
	int fd, other;

	snprintf(name, sizeof(name), "%s/a file", dir);
	file(name, name);
	fd = open(name, O_RDWR);
	other = open(name, O_RDWR);
	unlink(name);
	snprintf(what, sizeof(what), "%s (deleted)", name);
	flock_of(fd, other, what);
	fd = memfd_create("memory", 0);
	made(fd);
	snprintf(again, sizeof(again), "/proc/self/fd/%d", fd);
	flock_of(open(again, O_RDWR), fd, "/memfd:memory (deleted)");
}

/* Of a long path the end is told. */
static void long_path(const char *dir)
{
	char name[1024], what[256];
	size_t n;

	n = (size_t)snprintf(name, sizeof(name), "%s", dir);
	for (int i = 0; i < 3; i++) {
		n += (size_t)snprintf(name + n, sizeof(name) - n, "/%0120d", i);
		made(mkdir(name, 0700));
	}
	n += (size_t)snprintf(name + n, sizeof(name) - n, "/file");
	snprintf(what, sizeof(what), "\xe2\x80\xa6%s", name + n - 245);
	file(name, what);
}

/* ---- sockets ------------------------------------------------------------------------------- */

static const char *address_text(const struct sockaddr_storage *a, char text[80])
{
	char host[64] = "?";
	const struct sockaddr_in *v4 = (const void *)a;
	const struct sockaddr_in6 *v6 = (const void *)a;

	if (a->ss_family == AF_INET) {
		inet_ntop(AF_INET, &v4->sin_addr, host, sizeof(host));
		snprintf(text, 80, "%s:%u", host, ntohs(v4->sin_port));
	} else if (IN6_IS_ADDR_V4MAPPED(&v6->sin6_addr)) {
		inet_ntop(AF_INET, v6->sin6_addr.s6_addr + 12, host, sizeof(host));
		snprintf(text, 80, "%s:%u", host, ntohs(v6->sin6_port));
	} else {
		inet_ntop(AF_INET6, &v6->sin6_addr, host, sizeof(host));
		snprintf(text, 80, "[%s]:%u", host, ntohs(v6->sin6_port));
	}
	return text;
}

static const char *own_address(int fd, char text[80])
{
	struct sockaddr_storage a;
	socklen_t n_bytes = sizeof(a);

	made(getsockname(fd, (struct sockaddr *)&a, &n_bytes));
	return address_text(&a, text);
}

static void say_connected(const char *reason, const char *family, int fd, int peer)
{
	char what[200], own[80], other[80];

	snprintf(what, sizeof(what), "%s %s %s", family, own_address(fd, own),
		 own_address(peer, other));
	say(reason, fd, what);
}

static void connect_to(struct deed *deed)
{
	made(connect(deed->fd[0], (struct sockaddr *)&deed->to, deed->to_bytes));
}

static void recv_on(int fd, int other)
{
	struct deed deed = {.act = write_one, .fd = {other}};
	pthread_t thread = begin(&deed);
	char bytes[8];

	made((int)recv(fd, bytes, sizeof(bytes), 0));
	end(thread);
}

static int listening(const struct sockaddr_storage *a, socklen_t n_bytes)
{
	int fd = socket(a->ss_family, SOCK_STREAM, 0);

	made(fd);
	made(bind(fd, (const struct sockaddr *)a, n_bytes));
	made(listen(fd, 4));
	return fd;
}

/* The server's end of a new connection; the other thread makes *client. */
static int accepted(int server, int *client)
{
	struct deed deed = {.act = connect_to, .to_bytes = sizeof(deed.to)};
	pthread_t thread;
	int fd;

	made(getsockname(server, (struct sockaddr *)&deed.to, &deed.to_bytes));
	*client = socket(deed.to.ss_family, SOCK_STREAM, 0);
	made(*client);
	deed.fd[0] = *client;
	thread = begin(&deed);
	fd = accept(server, NULL, NULL);
	made(fd);
	end(thread);
	return fd;
}

static void tcp(const struct sockaddr_storage *a, socklen_t n_bytes)
{
	int server = listening(a, n_bytes), client, fd;
	char own[80], what[100];

	fd = accepted(server, &client);
	snprintf(what, sizeof(what), "tcp listening %s", own_address(server, own));
	say("accept", server, what);
	recv_on(fd, client);
	say_connected("recv", "tcp", fd, client);
	recv_on(client, fd);
	say_connected("recv", "tcp", client, fd);
	close(fd);
	close(client);
	close(server);
}

static struct sockaddr_storage loopback(sa_family_t family)
{
	struct sockaddr_storage a = {.ss_family = family};

	if (family == AF_INET)
		((struct sockaddr_in *)&a)->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	else
		((struct sockaddr_in6 *)&a)->sin6_addr = in6addr_loopback;
	return a;
}

static bool has_family(sa_family_t family)
{
	struct sockaddr_storage a = loopback(family);
	int fd = socket(family, SOCK_STREAM, 0);
	bool has = fd >= 0 && !bind(fd, (struct sockaddr *)&a, sizeof(a));

	close(fd);
	return has;
}

static void udp(void)
{
	struct sockaddr_storage a = loopback(AF_INET), peer;
	socklen_t n_bytes = sizeof(peer);
	int fd[2] = {socket(AF_INET, SOCK_DGRAM, 0), socket(AF_INET, SOCK_DGRAM, 0)};
	char own[80], what[100];

	for (int i = 0; i < 2; i++)
		made(bind(fd[i], (struct sockaddr *)&a, sizeof(struct sockaddr_in)));
	made(getsockname(fd[0], (struct sockaddr *)&peer, &n_bytes));
	made(connect(fd[1], (struct sockaddr *)&peer, n_bytes));
	recv_on(fd[0], fd[1]);
	snprintf(what, sizeof(what), "udp %s", own_address(fd[0], own));
	say("recv", fd[0], what);
	/* Connected now: it has a peer, and the same inode. */
	made(getsockname(fd[1], (struct sockaddr *)&peer, &n_bytes));
	made(connect(fd[0], (struct sockaddr *)&peer, n_bytes));
	recv_on(fd[0], fd[1]);
	say_connected("recv", "udp", fd[0], fd[1]);
	close(fd[0]);
	close(fd[1]);
}

static void unix_socket(const char *path)
{
	struct sockaddr_storage a = {.ss_family = AF_UNIX};
	struct sockaddr_un *own = (struct sockaddr_un *)&a;
	size_t n = strlen(path);
	int server, client, fd;
	char what[200];

	memcpy(own->sun_path, path, n);
	if (*path == '@')
		own->sun_path[0] = '\0';
	server = listening(&a, (socklen_t)(offsetof(struct sockaddr_un, sun_path) + n));
	fd = accepted(server, &client);
	snprintf(what, sizeof(what), "unix listening %s", path);
	say("accept", server, what);
	recv_on(fd, client);
	snprintf(what, sizeof(what), "unix at %s", path);
	say("recv", fd, what);
	recv_on(client, fd);
	snprintf(what, sizeof(what), "unix to %s", path);
	say("recv", client, what);
	close(fd);
	close(client);
	close(server);
}

static void socket_pair(void)
{
	int fd[2];

	made(socketpair(AF_UNIX, SOCK_STREAM, 0, fd));
	recv_on(fd[0], fd[1]);
	say("recv", fd[0], link_of(fd[0]));
	close(fd[0]);
	close(fd[1]);
}

/* ---- numbers that are used again -------------------------------------------------------------- */

static void close_it(int fd)
{
	close(fd);
}

static void close_unseen(int fd)
{
	long result;

#ifdef __x86_64__
	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(SYS_close), "D"((long)fd)
			 : "rcx", "r11", "memory");
#else
	result = syscall(SYS_close, fd);
#endif
	made((int)result);
}

static void pipe_at(int number, int fd[2])
{
	made(pipe(fd));
	if (fd[0] == number)
		return;
	made(dup2(fd[0], number));
	close(fd[0]);
	fd[0] = number;
}

/* Pipe after pipe at one number, which nothing but the inode tells apart; then what has none. */
static void used_again(void (*close_by)(int fd))
{
	int fd[2], number;

	made(pipe(fd));
	number = fd[0];
	for (int i = 0; i < 3; i++) {
		read_from(fd[0], fd[1], link_of(fd[0]));
		close_by(fd[0]);
		close(fd[1]);
		pipe_at(number, fd);
	}
	close(fd[0]);
	close(fd[1]);
}

static void anonymous_again(void)
{
	struct itimerspec soon = {.it_value = {.tv_nsec = 2000000}};
	int event = eventfd(0, 0), timer;
	uint64_t n;

	read_from(event, event, "anon_inode:[eventfd]");
	close_unseen(event);
	timer = timerfd_create(CLOCK_MONOTONIC, 0);
	made(timer);
	made(timerfd_settime(timer, 0, &soon, NULL));
	made((int)read(timer, &n, sizeof(n)));
	say("read", timer, "anon_inode:[timerfd]");
	close(timer);
}

static void replaced(void)
{
	int first[2], second[2];

	made(pipe(first));
	made(pipe(second));
	read_from(first[0], first[1], link_of(first[0]));
	made(dup2(second[0], first[0]));
	read_from(first[0], second[1], link_of(first[0]));
	for (int i = 0; i < 2; i++) {
		close(first[i]);
		close(second[i]);
	}
}

/* fd: the number that is read, the write end of its pipe, and another pipe's read end. */
static void replace_and_write(struct deed *deed)
{
	made(dup2(deed->fd[2], deed->fd[0]));
	made((int)write(deed->fd[1], "x", 1));
}

/* The number becomes another's during the wait: what was waited for is not known any more. */
static void replaced_meanwhile(void)
{
	int first[2], second[2];
	struct deed deed = {.act = replace_and_write};
	pthread_t thread;
	char byte;

	made(pipe(first));
	made(pipe(second));
	deed.fd[0] = first[0];
	deed.fd[1] = first[1];
	deed.fd[2] = second[0];
	thread = begin(&deed);
	made((int)read(first[0], &byte, 1));
	end(thread);
	say("read", first[0], "?");
	for (int i = 0; i < 2; i++) {
		close(first[i]);
		close(second[i]);
	}
}

/* ---- processes ------------------------------------------------------------------------------ */

static void forked(void)
{
	int fd[2], status;
	pid_t child;

	made(pipe(fd));
	read_from(fd[0], fd[1], link_of(fd[0]));
	child = fork();
	made(child);
	if (child) {
		printf("child %d\n", child);
		fflush(stdout);
	} else {
		pipes();
		_exit(0);
	}
	if (waitpid(child, &status, 0) != child || status)
		errx(1, "the child ended with %d", status);
	close(fd[0]);
	close(fd[1]);
}

static void forbid(uint32_t number)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {.len = sizeof(code) / sizeof(*code), .filter = code};

	made(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
	made(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program));
}

/* What was waited for before is remembered, and must not be asked for any more. */
static void forbidden(uint32_t number)
{
	int fd[2], pair[2];

	made(pipe(fd));
	made(socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
	recv_on(pair[0], pair[1]);
	say("recv", pair[0], link_of(pair[0]));
	forbid(number);
	read_from(fd[0], fd[1], number == SYS_statx ? "?" : link_of(fd[0]));
	recv_on(pair[0], pair[1]);
	say("recv", pair[0], number == SYS_statx ? "?" : link_of(pair[0]));
}

/* ---- waits in progress ---------------------------------------------------------------------- */

static void *stuck_thread(void *arg)
{
	int fd = *(int *)arg;
	char byte;

	if (recv(fd, &byte, 1, 0) < 0 && accept(fd, NULL, NULL) < 0)
		made((int)read(fd, &byte, 1));
	errx(1, "descriptor %d: the wait has ended", fd);
}

/* A thread waits for it from now on. */
static void stick(const char *reason, int fd, const char *what)
{
	static int kept[16], n;
	pthread_t thread;

	kept[n] = fd;
	if (pthread_create(&thread, NULL, stuck_thread, &kept[n++]))
		errx(1, "no thread");
	say(reason, fd, what);
}

static void stick_tcp(const struct sockaddr_storage *a, socklen_t n_bytes)
{
	char own[80], what[200], peer[80];
	int client, server = listening(a, n_bytes), fd = accepted(server, &client);

	snprintf(what, sizeof(what), "tcp listening %s", own_address(server, own));
	stick("accept", server, what);
	own_address(client, peer);
	own_address(fd, own);
	snprintf(what, sizeof(what), "tcp %s %s", own, peer);
	stick("recv", fd, what);
	snprintf(what, sizeof(what), "tcp %s %s", peer, own);
	stick("recv", client, what);
}

/* The other end of a connection by a path is not known from outside. */
static void stick_unix(const char *path)
{
	struct sockaddr_storage a = {.ss_family = AF_UNIX};
	struct sockaddr_un *own = (struct sockaddr_un *)&a;
	int client, server, fd;
	char what[200];

	memcpy(own->sun_path, path, strlen(path));
	server = listening(&a, sizeof(*own));
	fd = accepted(server, &client);
	snprintf(what, sizeof(what), "unix at %s", path);
	stick("recv", fd, what);
	stick("recv", client, link_of(client));
}

/* All threads but this one wait when it sends the signal for which the snapshot is taken. */
static void all_stuck(const char *dir, const char *snapshot)
{
	struct sockaddr_storage v4 = loopback(AF_INET), v6 = loopback(AF_INET6);
	int fd[2];

	stick_tcp(&v4, sizeof(struct sockaddr_in));
	if (has_family(AF_INET6))
		stick_tcp(&v6, sizeof(struct sockaddr_in6));
	if (chdir(dir))
		err(1, "%s", dir);
	stick_unix("a stuck socket");
	made(pipe(fd));
	stick("read", fd[0], link_of(fd[0]));
	await_others();
	raise(SIGUSR1);
	for (int i = 0; i < 1500 && access(snapshot, F_OK); i++)
		usleep(20000);
}

int main(int argc, char **argv)
{
	struct sockaddr_storage v4 = loopback(AF_INET), v6 = loopback(AF_INET6);
	char path[100];

	if (argc == 4 && !strcmp(argv[2], "stuck")) {
		all_stuck(argv[1], argv[3]);
		return 0;
	}
	if (argc == 3) {
		forbidden(strcmp(argv[2], "statx") ? SYS_getpeername : SYS_statx);
		return 0;
	}
	pipes();
	event_and_timer();
	epoll();
	files(argv[1]);
	long_path(argv[1]);
	tcp(&v4, sizeof(struct sockaddr_in));
	if (has_family(AF_INET6))
		tcp(&v6, sizeof(struct sockaddr_in6));
	udp();
	snprintf(path, sizeof(path), "@trc-test-%d", getpid());
	unix_socket(path);
	if (chdir(argv[1]))
		err(1, "%s", argv[1]);
	unix_socket("a socket");
	socket_pair();
	used_again(close_it);
	used_again(close_unseen);
	anonymous_again();
	replaced();
	replaced_meanwhile();
	forked();
	return 0;
}
