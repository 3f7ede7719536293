/*
 * open_waits.c - threads that are in calls which do not end, each at a place of its own.
 *
 *   open_waits wait          says "waiting" when they are, and waits for the end of its input
 *   open_waits crash         the same, then ends by SIGABRT
 *   open_waits _exit         the same, then ends by _exit()
 *   open_waits thread        the same, then a thread ends the process by exit_group
 *   open_waits other         its first thread reads from a pipe, while another executes `next`, without its environment
 *   open_waits next          has "a file" where the pipe was; says "waiting", and crashes at the end of its input
 *   open_waits again         each has waited at its place a few times before
 *   open_waits self FILE     records itself, and takes a snapshot of itself
 *   open_waits storm FILE    the same, again and again, while threads come and go with their stacks
 *   open_waits closing FILE BEFORE PLUGIN   takes one, BEFORE, while it closes a plugin, and one afterwards
 *
 * Before that it prints a line for each: the reason, and the function; and then "since", the function, when its wait began at
 * the earliest and at the latest (nanoseconds of CLOCK_MONOTONIC).
 */
#include <dlfcn.h>
#include <err.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <trc/trace.h>
#include "tests/recorder/interpose/blocked.h"

enum { TIMES = 6 };

static int ends[2], pair[2], locked, other;
static const char fifo[] = "a fifo";
static volatile int after; /* keeps calls from being jumps */

static void made(int result)
{
	if (result < 0)
		err(1, "a channel");
}

__attribute__((noinline)) static void place_read(void)
{
	char byte;

	after = (int)read(ends[0], &byte, 1);
}

__attribute__((noinline)) static void place_recv(void)
{
	char byte;

	after = (int)recv(pair[0], &byte, 1, 0);
}

__attribute__((noinline)) static void place_open(void)
{
	int fd = open(fifo, O_RDONLY);

	made(fd);
	close(fd);
	after = fd;
}

__attribute__((noinline)) static void place_flock(void)
{
	made(flock(other, LOCK_EX));
	after = flock(other, LOCK_UN);
}

/* What lets each go on. */
static void act_read(void)
{
	made((int)write(ends[1], "x", 1));
}

static void act_recv(void)
{
	made((int)send(pair[1], "x", 1, 0));
}

static void act_open(void)
{
	int fd = open(fifo, O_WRONLY);

	made(fd);
	close(fd);
}

static void act_flock(void)
{
	made(flock(locked, LOCK_UN));
}

/* What makes the next call wait as well. */
static void again_nothing(void)
{
}

static void again_flock(void)
{
	made(flock(locked, LOCK_EX));
}

static const struct place {
	void (*wait)(void);
	void (*act)(void);
	void (*again)(void);
	const char *reason, *name;
} places[] = {
	{place_read, act_read, again_nothing, "read", "place_read"},
	{place_recv, act_recv, again_nothing, "recv", "place_recv"},
	{place_open, act_open, again_nothing, "open", "place_open"},
	{place_flock, act_flock, again_flock, "flock", "place_flock"},
};
enum { PLACES = sizeof(places) / sizeof(*places) };

static _Atomic int rounds[PLACES], allowed[PLACES];
static _Atomic uint64_t asks_ns[PLACES];

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static void *wait_for_ever(void *arg)
{
	const struct place *place = arg;
	ptrdiff_t i = place - places;

	for (;;) {
		asks_ns[i] = now_ns();
		place->wait();
		for (rounds[i]++; allowed[i] < rounds[i];)
			sched_yield();
	}
	return NULL;
}

/* Each has waited, and been let go on: what they are in then is nothing new to them. */
static void let_all_go_on(void)
{
	for (int i = 0; i < PLACES; i++) {
		int before = rounds[i];

		await_others();
		places[i].act();
		while (rounds[i] == before)
			sched_yield();
		places[i].again();
		allowed[i]++;
	}
}

static void begin(void)
{
	pthread_t thread;

	made(pipe(ends));
	made(socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
	made(mkfifo(fifo, 0600));
	locked = open("a file", O_RDWR | O_CREAT, 0600);
	other = open("a file", O_RDWR);
	made(locked);
	made(other);
	made(flock(locked, LOCK_EX));
	for (int i = 0; i < PLACES; i++) {
		printf("%s\t%s\n", places[i].reason, places[i].name);
		if (pthread_create(&thread, NULL, wait_for_ever, (void *)(uintptr_t)&places[i]))
			errx(1, "no thread");
	}
}

static void self(const char *path)
{
	if (trace_flight_snapshot(path, NULL))
		errx(1, "a snapshot: %s", trace_last_error());
}

/* ---- threads that come and go ----------------------------------------------------------------- */

enum { PARENTS = 4, SNAPSHOTS = 30 };
static atomic_bool done;

__attribute__((noinline)) static void place_poll(void)
{
	struct pollfd none = {.fd = -1};

	after = poll(&none, 1, 1);
}

static void *comes_and_goes(void *unused)
{
	place_poll();
	return unused;
}

static void *has_children(void *unused)
{
	pthread_t thread;

	while (!done && !pthread_create(&thread, NULL, comes_and_goes, NULL))
		pthread_join(thread, NULL);
	return unused;
}

static void storm(const char *path)
{
	pthread_t parent[PARENTS];

	for (int i = 0; i < PARENTS; i++)
		if (pthread_create(&parent[i], NULL, has_children, NULL))
			errx(1, "no thread");
	for (int i = 0; i < SNAPSHOTS; i++)
		self(path);
	done = true;
	for (int i = 0; i < PARENTS; i++)
		pthread_join(parent[i], NULL);
}

/* ---- while a plugin is closed ----------------------------------------------------------------- */

static const char *closing_path;

static void closes(void)
{
	self(closing_path);
}

static void close_plugin(const char *plugin)
{
	void *handle = dlopen(plugin, RTLD_NOW);
	void (**on_close)(void) = handle ? dlsym(handle, "on_close") : NULL;

	if (!on_close)
		errx(1, "%s", dlerror());
	*on_close = closes;
	if (dlclose(handle))
		errx(1, "%s", dlerror());
}

/* ---- another program in the process ------------------------------------------------------------ */

enum { PIPE_FD = 55 };

static void *becomes_another(void *program)
{
	char *argv[] = {program, "next", NULL}, *none[] = {NULL};

	await_others();
	execve(program, argv, none);
	err(1, "%s", (char *)program);
}

static void be_replaced(char *program)
{
	pthread_t thread;

	printf("pid\t%d\n", getpid());
	fflush(stdout);
	made(pipe(ends));
	made(dup3(ends[0], PIPE_FD, O_CLOEXEC));
	ends[0] = PIPE_FD;
	if (pthread_create(&thread, NULL, becomes_another, program))
		errx(1, "no thread");
	place_read();
}

static void be_next(void)
{
	made(dup2(open("a file", O_RDWR | O_CREAT, 0600), PIPE_FD));
	printf("waiting\n");
	fflush(stdout);
	getchar();
	abort();
}

/* ---- ends ------------------------------------------------------------------------------------- */

static void *ends_all(void *unused)
{
	getchar();
	syscall(SYS_exit_group, 0);
	return unused;
}

static void end_in_thread(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, ends_all, NULL))
		errx(1, "no thread");
	pthread_join(thread, NULL);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	if (argc >= 3 && trace_flight_start(NULL))
		errx(1, "no flight recorder: %s", trace_last_error());
	if (!strcmp(what, "other"))
		be_replaced(argv[0]);
	if (!strcmp(what, "next"))
		be_next();
	if (!strcmp(what, "storm")) {
		storm(argv[2]);
		return 0;
	}
	printf("pid\t%d\n", getpid());
	begin();
	for (int i = 0; !strcmp(what, "again") && i < TIMES; i++)
		let_all_go_on();
	await_others();
	for (int i = 0; i < PLACES; i++)
		printf("since\t%s\t%ju\t%ju\n", places[i].name, (uintmax_t)asks_ns[i],
		       (uintmax_t)now_ns());
	printf("waiting\n");
	fflush(stdout);
	if (!strcmp(what, "self")) {
		self(argv[2]);
		_exit(0);
	}
	if (!strcmp(what, "closing") && argc == 5) {
		closing_path = argv[3];
		close_plugin(argv[4]);
		self(argv[2]);
		_exit(0);
	}
	if (!strcmp(what, "thread"))
		end_in_thread();
	getchar();
	if (!strcmp(what, "crash"))
		abort();
	if (!strcmp(what, "_exit"))
		_exit(0);
	return 0;
}
