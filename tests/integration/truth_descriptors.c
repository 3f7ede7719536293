/*
 * truth_descriptors.c - one number is many things, one after the other, and a thread waits a few times for each.
 *
 * Another thread ends each wait some time after it has seen that the kernel has the first one blocked.  So the program
 * knows of each wait the least and the most that it lasts, whatever the machine's load.
 *
 * Output, a line for each descriptor, separated by tabs: kind, name, own address, peer's address ("-": it has none), waits,
 * the least and the most that they lasted together, and at the earliest and at the latest when the first one began and when the
 * last one ended.  All in nanoseconds, times of CLOCK_MONOTONIC.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include "check_or_exit.h"
#include "tests/recorder/interpose/blocked.h"
#include "truth.h"

enum { FD = 40, WAITS = 4, LASTS_US = 3000, NAME_BYTES = 256 };

static char name[NAME_BYTES], own[64], peer[64];
static int other = -1; /* by which the main thread ends the waits */
static atomic_uint about, ended;

struct wait {
	uint64_t asks_ns, blocked_ns, acts_ns, has_ns;
};
static struct wait wait_of[WAITS];

static void is_number(int fd)
{
	CHECK(fd >= 0 && dup2(fd, FD) == FD && close(fd) == 0);
}

/* ---- what the number is ---- */

static void be_fifo(const char *file)
{
	CHECK(mkfifo(file, 0600) == 0 || errno == EEXIST);
	is_number(open(file, O_RDWR));
	other = open(file, O_RDWR);
	CHECK(realpath(file, name));
}

static void be_orders(void)
{
	be_fifo("orders");
}

static void be_prices(void)
{
	be_fifo("the prices");
}

static void be_pipe(void)
{
	struct stat st;
	int end[2];

	CHECK(pipe(end) == 0 && fstat(end[0], &st) == 0);
	is_number(end[0]);
	other = end[1];
	snprintf(name, sizeof(name), "pipe:[%ju]", (uintmax_t)st.st_ino);
}

static void be_locked_file(void)
{
	other = open("a table", O_RDWR | O_CREAT, 0600);
	is_number(open("a table", O_RDWR));
	CHECK(flock(other, LOCK_EX) == 0 && realpath("a table", name));
}

static void be_counter(void)
{
	is_number(eventfd(0, EFD_CLOEXEC));
	other = dup(FD);
	strcpy(name, "eventfd");
}

static struct sockaddr_in address_of(int fd, int (*get)(int, struct sockaddr *, socklen_t *),
				     char *text)
{
	struct sockaddr_in a;
	socklen_t n = sizeof(a);
	char number[INET_ADDRSTRLEN];

	CHECK(get(fd, (struct sockaddr *)&a, &n) == 0);
	CHECK(inet_ntop(AF_INET, &a.sin_addr, number, sizeof(number)));
	snprintf(text, sizeof(own), "%s:%d", number, ntohs(a.sin_port));
	return a;
}

static int own_address(int fd, struct sockaddr *a, socklen_t *n)
{
	return getsockname(fd, a, n);
}

static int peers_address(int fd, struct sockaddr *a, socklen_t *n)
{
	return getpeername(fd, a, n);
}

static int listener(void)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	CHECK(bind(fd, (struct sockaddr *)&a, sizeof(a)) == 0 && listen(fd, WAITS) == 0);
	return fd;
}

static int connected_to(const struct sockaddr_in *a)
{
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	CHECK(connect(fd, (const struct sockaddr *)a, sizeof(*a)) == 0);
	return fd;
}

static void be_connection(void)
{
	int fd = listener();
	struct sockaddr_in a = address_of(fd, own_address, own);

	other = connected_to(&a);
	is_number(accept(fd, NULL, NULL));
	close(fd);
	address_of(FD, peers_address, peer);
	strcpy(name, peer);
}

static struct sockaddr_in listens_at;

static void be_listener(void)
{
	is_number(listener());
	listens_at = address_of(FD, own_address, own);
	strcpy(name, own);
}

/* ---- waits, and their ends ---- */

static void wait_to_read(void)
{
	char byte;

	CHECK(read(FD, &byte, 1) == 1);
}

static void write_it(void)
{
	CHECK(write(other, "x", 1) == 1);
}

static void wait_for_count(void)
{
	uint64_t n;

	CHECK(read(FD, &n, sizeof(n)) == sizeof(n));
}

static void count_it(void)
{
	uint64_t n = 1;

	CHECK(write(other, &n, sizeof(n)) == sizeof(n));
}

static void wait_to_receive(void)
{
	char byte;

	CHECK(recv(FD, &byte, 1, 0) == 1);
}

static void wait_for_lock(void)
{
	CHECK(flock(FD, LOCK_EX) == 0);
}

static void unlock_it(void)
{
	CHECK(flock(other, LOCK_UN) == 0);
}

static void lock_again(void)
{
	CHECK(flock(FD, LOCK_UN) == 0 && flock(other, LOCK_EX) == 0);
}

static void wait_to_accept(void)
{
	CHECK(close(accept(FD, NULL, NULL)) == 0);
}

static void connect_it(void)
{
	close(connected_to(&listens_at));
}

static void nothing(void)
{
}

static const struct thing {
	const char *kind;
	void (*be)(void), (*wait)(void), (*act)(void), (*again)(void);
} THINGS[] = {
	{"file", be_orders, wait_to_read, write_it, nothing},
	{"tcp", be_connection, wait_to_receive, write_it, nothing},
	{"file", be_prices, wait_to_read, write_it, nothing},
	{"file", be_locked_file, wait_for_lock, unlock_it, lock_again},
	{"eventfd", be_counter, wait_for_count, count_it, nothing},
	{"tcp", be_listener, wait_to_accept, connect_it, nothing},
	{"pipe", be_pipe, wait_to_read, write_it, nothing},
	{"file", be_orders, wait_to_read, write_it, nothing},
};

static void *waits(void *arg)
{
	const struct thing *thing = arg;

	for (unsigned int i = 0; i < WAITS; i++) {
		wait_of[i].asks_ns = now_ns();
		about = i + 1;
		thing->wait();
		wait_of[i].has_ns = now_ns();
		thing->again();
		ended = i + 1;
	}
	return NULL;
}

static const char *or_none(const char *text)
{
	return *text ? text : "-";
}

static void tell(const struct thing *thing)
{
	const struct wait *first = &wait_of[0], *last = &wait_of[WAITS - 1];
	uint64_t least_ns = 0, most_ns = 0;

	for (const struct wait *w = first; w <= last; w++) {
		least_ns += w->acts_ns - w->blocked_ns;
		most_ns += w->has_ns - w->asks_ns;
	}
	printf("%s\t%s\t%s\t%s\t%d\t%ju\t%ju\t%ju\t%ju\t%ju\t%ju\n", thing->kind, or_none(name),
	       or_none(own), or_none(peer), WAITS, (uintmax_t)least_ns, (uintmax_t)most_ns,
	       (uintmax_t)first->asks_ns, (uintmax_t)first->blocked_ns, (uintmax_t)last->acts_ns,
	       (uintmax_t)last->has_ns);
}

static void wait_for(const struct thing *thing)
{
	pthread_t thread;

	*name = *own = *peer = 0;
	about = ended = 0;
	thing->be();
	CHECK(pthread_create(&thread, NULL, waits, (void *)(uintptr_t)thing) == 0);
	for (unsigned int i = 0; i < WAITS; i++) {
		while (about <= i)
			sched_yield();
		await_others();
		wait_of[i].blocked_ns = now_ns();
		usleep(LASTS_US);
		wait_of[i].acts_ns = now_ns();
		thing->act();
		while (ended <= i)
			sched_yield();
	}
	CHECK(pthread_join(thread, NULL) == 0);
	tell(thing);
	close(FD);
	if (other >= 0)
		close(other);
	other = -1;
}

int main(void)
{
	for (size_t i = 0; i < sizeof(THINGS) / sizeof(*THINGS); i++)
		wait_for(&THINGS[i]);
	return fflush(stdout) ? 1 : 0;
}
