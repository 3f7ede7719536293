/*
 * truth_wakers.c - threads that wake each other through descriptors, and keep account of it.
 *
 * In each round every kind of channel is opened anew, in an order of its own, so that descriptors
 * are used again for something else.  Two threads write to a channel, in an order of their own and
 * one at a time, and a third one waits for it, in every other round in epoll_wait(), and reads:
 * what it has read tells who woke it.  Then one thread fills the channel while the other empties it
 * slowly: who waits for room is woken by who reads.
 *
 * Output, one line a call, separated by tabs: kind, what it does, the name of the thread, since
 * when and until when (CLOCK_MONOTONIC), the name of who woke it, and how often the thread slept in
 * it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <arpa/inet.h>
#include <err.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>
#include "truth.h"

enum {
	ROUNDS = 4,
	MESSAGES = 12,
	FLOOD_CHUNKS = 100,
	CHUNK = 4096,
	PIECE = 65536,
	ROWS_MAX = 20000
};

enum kind { PIPE, FIFO, EVENTFD, SOCKETPAIR, DATAGRAMS, TCP, KINDS };
static const char *const kind_name[KINDS] = {"pipe",	   "fifo",	"eventfd",
					     "socketpair", "datagrams", "tcp"};

struct channel {
	enum kind kind;
	unsigned int number;
	int in, out;
	int epoll;	      /* that watches `in`; -1 = none: the reader waits in read() */
	pthread_mutex_t turn; /* guards writes: their order is that of what is read */
};

struct row {
	enum kind kind;
	const char *what;
	char who[16], waker[16];
	uint64_t from_ns, to_ns;
	long sleeps;
};
static struct row row[ROWS_MAX];
static atomic_uint n_rows;

/* A thread that is preempted in a call has not waited in it. */
static long sleeps_now(void)
{
	struct rusage usage;

	if (getrusage(RUSAGE_THREAD, &usage))
		err(1, "getrusage");
	return usage.ru_nvcsw;
}

static void account_until(const struct channel *c, const char *what, const char *who,
			  const char *waker, uint64_t from_ns, uint64_t to_ns, long sleeps)
{
	unsigned int i = n_rows++;

	if (i >= ROWS_MAX)
		errx(1, "too many rows");
	row[i] = (struct row){.kind = c->kind,
			      .what = what,
			      .from_ns = from_ns,
			      .to_ns = to_ns,
			      .sleeps = sleeps};
	strcpy(row[i].who, who);
	strcpy(row[i].waker, waker);
}

static void account(const struct channel *c, const char *what, const char *who, const char *waker,
		    uint64_t from_ns, long sleeps)
{
	account_until(c, what, who, waker, from_ns, now_ns(), sleeps_now() - sleeps);
}

/* ---- channels ---------------------------------------------------------------------------- */

static void open_fifo(int fd[2])
{
	const char *path = "wakers.fifo";

	if (mkfifo(path, 0600))
		err(1, "mkfifo");
	fd[0] = open(path, O_RDONLY | O_NONBLOCK);
	fd[1] = open(path, O_WRONLY);
	if (fd[0] < 0 || fd[1] < 0 || fcntl(fd[0], F_SETFL, 0) || unlink(path))
		err(1, "%s", path);
}

static void open_tcp(int fd[2])
{
	struct sockaddr_in address = {.sin_family = AF_INET};
	socklen_t bytes = sizeof(address);
	int listener = socket(AF_INET, SOCK_STREAM, 0), room = 16384;

	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	/* So little room that a writer has to wait for it. */
	if (listener < 0 || setsockopt(listener, SOL_SOCKET, SO_RCVBUF, &room, sizeof(room)) ||
	    bind(listener, (struct sockaddr *)&address, bytes) || listen(listener, 1) ||
	    getsockname(listener, (struct sockaddr *)&address, &bytes))
		err(1, "listen");
	fd[1] = socket(AF_INET, SOCK_STREAM, 0);
	if (setsockopt(fd[1], SOL_SOCKET, SO_SNDBUF, &room, sizeof(room)) ||
	    connect(fd[1], (struct sockaddr *)&address, bytes))
		err(1, "connect");
	fd[0] = accept(listener, NULL, NULL);
	if (fd[0] < 0)
		err(1, "accept");
	close(listener);
}

static void channel_open(struct channel *c)
{
	int fd[2] = {-1, -1}, failed = 0;

	switch (c->kind) {
	case PIPE:
		failed = pipe(fd);
		break;
	case FIFO:
		open_fifo(fd);
		break;
	case EVENTFD:
		fd[0] = fd[1] = eventfd(0, 0);
		break;
	case SOCKETPAIR:
		failed = socketpair(AF_UNIX, SOCK_STREAM, 0, fd);
		break;
	case DATAGRAMS:
		failed = socketpair(AF_UNIX, SOCK_DGRAM, 0, fd);
		break;
	case TCP:
		open_tcp(fd);
		break;
	case KINDS:
		break;
	}
	if (failed || fd[0] < 0)
		err(1, "%s", kind_name[c->kind]);
	c->in = fd[0];
	c->out = fd[1];
	pthread_mutex_init(&c->turn, NULL);
}

static void channel_watch(struct channel *c)
{
	struct epoll_event event = {.events = EPOLLIN};

	c->epoll = epoll_create1(0);
	if (c->epoll < 0 || epoll_ctl(c->epoll, EPOLL_CTL_ADD, c->in, &event))
		err(1, "epoll");
}

static void channel_close(struct channel *c)
{
	if (c->epoll >= 0)
		close(c->epoll);
	close(c->in);
	if (c->out != c->in)
		close(c->out);
}

/* ---- who wakes whom ---------------------------------------------------------------------- */

struct party {
	struct channel *channel;
	uint64_t id; /* of a writer: 1 or 2 */
	unsigned int seed;
	unsigned int count;
};

static void name_of(char name[16], const char *role, const struct channel *c, uint64_t id)
{
	snprintf(name, 16, "%s%ju-%u", role, (uintmax_t)id, c->number);
}

static void doze(unsigned int *seed, unsigned int most_us)
{
	usleep((unsigned int)rand_r(seed) % most_us);
}

static void *writer_main(void *arg)
{
	struct party *p = arg;
	struct channel *c = p->channel;
	char name[16];

	name_of(name, "w", c, p->id);
	pthread_setname_np(pthread_self(), name);
	for (int i = 0; i < MESSAGES; i++) {
		/* Of an eventfd the values add up: who came first cannot be told any more. */
		uint64_t value = c->kind == EVENTFD ? (p->id == 1 ? 1 : UINT64_C(1) << 32) : p->id;
		uint64_t from_ns;

		doze(&p->seed, 4000);
		pthread_mutex_lock(&c->turn);
		from_ns = now_ns();
		if (write(c->out, &value, sizeof(value)) != sizeof(value))
			err(1, "write");
		account(c, "put", name, "?", from_ns, sleeps_now());
		pthread_mutex_unlock(&c->turn);
	}
	return NULL;
}

/* How many messages these are, and of whom. */
static unsigned int taken_apart(const struct channel *c, uint64_t value, char waker[16])
{
	uint32_t first = (uint32_t)value, second = (uint32_t)(value >> 32);

	if (c->kind != EVENTFD) {
		name_of(waker, "w", c, value);
		return 1;
	}
	if (first && second)
		strcpy(waker, "?");
	else
		name_of(waker, "w", c, first ? 1 : 2);
	return first + second;
}

static void *reader_main(void *arg)
{
	struct party *p = arg;
	struct channel *c = p->channel;
	char name[16], waker[16];

	name_of(name, "r", c, 0);
	pthread_setname_np(pthread_self(), name);
	for (unsigned int n = 0; n < p->count;) {
		uint64_t value, watched_ns = now_ns(), from_ns;
		long sleeps = sleeps_now(), watched = 0;
		struct epoll_event event;
		ssize_t got;

		if (c->epoll >= 0 && epoll_wait(c->epoll, &event, 1, -1) != 1)
			err(1, "epoll_wait");
		watched = sleeps_now() - sleeps;
		sleeps += watched;
		from_ns = now_ns();
		got = c->kind < SOCKETPAIR ? read(c->in, &value, sizeof(value))
					   : recv(c->in, &value, sizeof(value), 0);
		if (got != sizeof(value))
			err(1, "read");
		n += taken_apart(c, value, waker);
		if (c->epoll >= 0)
			account_until(c, "epoll", name, waker, watched_ns, from_ns, watched);
		account(c, "read", name, waker, from_ns, sleeps);
	}
	return NULL;
}

static void *flooder_main(void *arg)
{
	struct party *p = arg;
	struct channel *c = p->channel;
	static const char chunk[CHUNK];
	char name[16], waker[16];

	name_of(name, "f", c, 0);
	name_of(waker, "d", c, 0);
	pthread_setname_np(pthread_self(), name);
	for (int i = 0; i < FLOOD_CHUNKS; i++) {
		long sleeps = sleeps_now();
		uint64_t from_ns = now_ns();

		if (write(c->out, chunk, CHUNK) != CHUNK)
			err(1, "write");
		account(c, "write", name, waker, from_ns, sleeps);
	}
	return NULL;
}

static void *drinker_main(void *arg)
{
	struct party *p = arg;
	struct channel *c = p->channel;
	static __thread char piece[PIECE];
	size_t left = (size_t)FLOOD_CHUNKS * CHUNK;
	char name[16], waker[16];

	name_of(name, "d", c, 0);
	name_of(waker, "f", c, 0);
	pthread_setname_np(pthread_self(), name);
	while (left) {
		uint64_t from_ns;
		ssize_t got;
		long sleeps;

		doze(&p->seed, 4000);
		sleeps = sleeps_now();
		from_ns = now_ns();
		got = read(c->in, piece, PIECE);
		if (got <= 0)
			err(1, "read");
		account(c, "read", name, waker, from_ns, sleeps);
		left -= (size_t)got;
	}
	return NULL;
}

static void run(struct channel *c, unsigned int seed)
{
	struct party party[5] = {{c, 1, seed, 0},
				 {c, 2, seed + 1, 0},
				 {c, 0, seed + 2, 2 * MESSAGES},
				 {c, 0, seed + 3, 0},
				 {c, 0, seed + 4, 0}};
	void *(*const main_of[5])(void *) = {writer_main, writer_main, reader_main, flooder_main,
					     drinker_main};
	pthread_t thread[5];

	for (int i = 0; i < 3; i++)
		pthread_create(&thread[i], NULL, main_of[i], &party[i]);
	for (int i = 0; i < 3; i++)
		pthread_join(thread[i], NULL);
	if (c->kind == EVENTFD)
		return;
	for (int i = 3; i < 5; i++)
		pthread_create(&thread[i], NULL, main_of[i], &party[i]);
	for (int i = 3; i < 5; i++)
		pthread_join(thread[i], NULL);
}

static void *channel_main(void *arg)
{
	struct channel *c = arg;

	run(c, c->number * 97);
	return NULL;
}

int main(void)
{
	struct channel channel[ROUNDS * KINDS];
	pthread_t thread[KINDS];
	unsigned int seed = (unsigned int)now_ns();

	for (unsigned int round = 0; round < ROUNDS; round++) {
		struct channel *c = &channel[round * KINDS];
		unsigned int shift = (unsigned int)rand_r(&seed) % KINDS;

		for (unsigned int i = 0; i < KINDS; i++) {
			c[i].kind = (enum kind)((i * 5 + shift) % KINDS);
			c[i].number = round * KINDS + i;
			channel_open(&c[i]);
			c[i].epoll = -1;
			if (round % 2)
				channel_watch(&c[i]);
			pthread_create(&thread[i], NULL, channel_main, &c[i]);
		}
		for (unsigned int i = 0; i < KINDS; i++) {
			pthread_join(thread[i], NULL);
			channel_close(&c[i]);
		}
	}
	for (unsigned int i = 0; i < n_rows; i++)
		printf("%s\t%s\t%s\t%ju\t%ju\t%s\t%ld\n", kind_name[row[i].kind], row[i].what,
		       row[i].who, (uintmax_t)row[i].from_ns, (uintmax_t)row[i].to_ns, row[i].waker,
		       row[i].sleeps);
	return 0;
}
