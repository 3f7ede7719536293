/*
 * wait_calls.c - calls that wait, each at a place of its own, of which the program knows the least
 * time that it takes.  Prints, separated by tabs: the place, the reason, how many times, and that
 * time in nanoseconds.
 *
 * Another thread ends each wait: when the kernel says that the first thread is blocked, and some
 * time later.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <aio.h>
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include <wchar.h>
#include "check_or_exit.h"

enum { WAIT_MS = 4, BYTES = 4096 };
#define PLACE __attribute__((noinline)) static void

static FILE *in, *out;	       /* of two pipes */
static int in_fd[2], out_fd[2]; /* [0] to read, [1] to write */
static pid_t first;
static const char *path = "wait_calls.fifo";

/* ---- what ends a wait ---------------------------------------------------------------------- */

static void until_blocked(void)
{
	char name[64], text[512];
	const char *name_end;
	FILE *file;

	snprintf(name, sizeof(name), "/proc/self/task/%d/stat", first);
	do {
		usleep(200);
		file = fopen(name, "r");
		CHECK(file != NULL);
		CHECK(fgets(text, sizeof(text), file) != NULL);
		fclose(file);
		name_end = strrchr(text, ')');
	} while (!name_end || name_end[2] != 'S');
	usleep(WAIT_MS * 1000);
}

/* "42 a line": whatever is read finds it. */
static void *line_comes(void *unused)
{
	until_blocked();
	CHECK(write(in_fd[1], "42 a line\n", 10) == 10);
	return unused;
}

/* What blocks a writer is read: the pipe is left empty, but for what comes later. */
static void *room_comes(void *unused)
{
	static char bytes[1 << 16];

	until_blocked();
	CHECK(read(out_fd[0], bytes, sizeof(bytes)) > 0);
	return unused;
}

static void *opener_comes(void *unused)
{
	until_blocked();
	close(open(path, O_WRONLY));
	return unused;
}

/* ---- places -------------------------------------------------------------------------------- */

PLACE place_fgetc(void)
{
	CHECK(fgetc(in) == '4');
}
PLACE place_getc(void)
{
	CHECK((getc)(in) == '4');
}
PLACE place_getc_unlocked(void)
{
	CHECK(getc_unlocked(in) == '4');
}
PLACE place_fgets(void)
{
	char text[64];

	CHECK(fgets(text, sizeof(text), in) != NULL);
}
PLACE place_fgets_of_a_part(void)
{
	char text[64];

	ungetc('x', in);
	CHECK(fgets(text, sizeof(text), in) != NULL);
}
PLACE place_getline(void)
{
	char *text = NULL;
	size_t n = 0;

	CHECK(getline(&text, &n, in) == 10);
	free(text);
}
PLACE place_fread(void)
{
	char text[10];

	CHECK(fread(text, 5, 2, in) == 2);
}
PLACE place_fscanf(void)
{
	int number;

	CHECK(fscanf(in, "%d", &number) == 1 && number == 42);
}
PLACE place_fgetwc(void)
{
	CHECK(fgetwc(in) == L'4');
}

static char many[BYTES];

PLACE place_fputc(void)
{
	CHECK(fputc('x', out) == 'x');
}
PLACE place_fputs(void)
{
	CHECK(fputs("some", out) >= 0);
}
PLACE place_fwrite(void)
{
	CHECK(fwrite(many, 1, sizeof(many), out) == sizeof(many));
}
PLACE place_fprintf(void)
{
	CHECK(fprintf(out, "%s", "some") == 4);
}
PLACE place_dprintf(void)
{
	CHECK(dprintf(out_fd[1], "%s", "some") == 4);
}
PLACE place_fflush(void)
{
	CHECK(fflush(out) == 0);
}
PLACE place_fclose(void)
{
	CHECK(fclose(out) == 0);
}

PLACE place_pclose(void)
{
	FILE *child = popen("sleep 0.05", "r");

	CHECK(child && pclose(child) == 0);
}
PLACE place_fopen(void)
{
	in = fopen(path, "r");
	CHECK(in != NULL);
}

/* ---- the same by other ways --------------------------------------------------------------- */

PLACE place_system(void)
{
	CHECK(system("sleep 0.006") == 0);
}
PLACE place_aio_suspend(void)
{
	char text[10];
	struct aiocb block = {.aio_fildes = in_fd[0], .aio_buf = text, .aio_nbytes = 10};
	const struct aiocb *list[] = {&block};

	CHECK(aio_read(&block) == 0 && aio_suspend(list, 1, NULL) == 0);
}
PLACE place_lio_listio(void)
{
	char text[10];
	struct aiocb block = {.aio_fildes = in_fd[0], .aio_buf = text, .aio_nbytes = 10};
	struct aiocb *list[] = {&block};

	block.aio_lio_opcode = LIO_READ;
	CHECK(lio_listio(LIO_WAIT, list, 1, NULL) == 0);
}

static struct timespec wait_time = {0, WAIT_MS * 1000000};

PLACE place_direct_nanosleep(void)
{
	CHECK(syscall(SYS_nanosleep, &wait_time, NULL) == 0);
}
PLACE place_direct_clock_nanosleep(void)
{
	CHECK(syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &wait_time, NULL) == 0);
}
PLACE place_direct_read(void)
{
	char text[10];

	CHECK(syscall(SYS_read, in_fd[0], text, sizeof(text)) == 10);
}
PLACE place_direct_pselect6(void)
{
	struct timespec limit = wait_time;

	CHECK(syscall(SYS_pselect6, 0, NULL, NULL, NULL, &limit, NULL) == 0);
}
PLACE place_direct_epoll_pwait(void)
{
	struct epoll_event event = {.events = EPOLLIN};
	int fd = epoll_create1(0);

	CHECK(epoll_ctl(fd, EPOLL_CTL_ADD, in_fd[0], &event) == 0);
	CHECK(syscall(SYS_epoll_pwait, fd, &event, 1, 10000, NULL, 8) == 1);
	close(fd);
}
PLACE place_direct_ppoll(void)
{
	struct pollfd fd = {.fd = in_fd[0], .events = POLLIN};

	CHECK(syscall(SYS_ppoll, &fd, 1, NULL, NULL, 8) == 1);
}
PLACE place_direct_io_getevents(void)
{
	aio_context_t context = 0;
	struct io_event event;

	CHECK(syscall(SYS_io_setup, 1, &context) == 0);
	CHECK(syscall(SYS_io_getevents, context, 1, 1, &event, &wait_time) == 0);
	CHECK(syscall(SYS_io_destroy, context) == 0);
}
PLACE place_direct_open(void)
{
	long fd = syscall(SYS_openat, AT_FDCWD, path, O_RDONLY, 0);

	CHECK(fd >= 0);
	in = fdopen((int)fd, "r");
	CHECK(in != NULL);
}

/* ---- all of them --------------------------------------------------------------------------- */

static void make_in(void)
{
	CHECK(pipe(in_fd) == 0);
	in = fdopen(in_fd[0], "r");
	CHECK(in != NULL);
}

static void end_in(void)
{
	fclose(in);
	close(in_fd[1]);
}

/* The pipe has no room, the stream has, for `room` bytes. */
static void make_out(size_t room)
{
	CHECK(pipe(out_fd) == 0 && fcntl(out_fd[1], F_SETFL, O_NONBLOCK) == 0);
	while (write(out_fd[1], many, sizeof(many)) > 0)
		;
	CHECK(fcntl(out_fd[1], F_SETFL, 0) == 0);
	out = fdopen(out_fd[1], "w");
	CHECK(out && setvbuf(out, NULL, _IOFBF, BYTES) == 0);
	for (size_t i = 0; i < BYTES - room; i++) /* a block would be written at once */
		CHECK(fputc('m', out) == 'm');
}

/* The pipe may still be full: nothing of the stream is to be written any more. */
static void end_out(void)
{
	close(out_fd[0]);
	fclose(out);
}

#define ROW(name, reason, by) {"place_" #name, reason, place_##name, by}
static const struct {
	const char *place, *reason;
	void (*call)(void);
	void *(*ended_by)(void *);
} row[] = {
	ROW(fgetc, "read", line_comes),
	ROW(getc, "read", line_comes),
	ROW(getc_unlocked, "read", line_comes),
	ROW(fgets, "read", line_comes),
	ROW(fgets_of_a_part, "read", line_comes),
	ROW(getline, "read", line_comes),
	ROW(fread, "read", line_comes),
	ROW(fscanf, "read", line_comes),
	ROW(fgetwc, "read", line_comes),
	ROW(fputc, "write", room_comes),
	ROW(fputs, "write", room_comes),
	ROW(fwrite, "write", room_comes),
	ROW(fprintf, "write", room_comes),
	ROW(dprintf, "write", room_comes),
	ROW(fflush, "write", room_comes),
	ROW(fclose, "write", room_comes),
	ROW(pclose, "child", NULL),
	ROW(fopen, "open", opener_comes),
	ROW(system, "child", NULL),
	ROW(aio_suspend, "aio", line_comes),
	ROW(lio_listio, "aio", line_comes),
	ROW(direct_nanosleep, "sleep", NULL),
	ROW(direct_clock_nanosleep, "sleep", NULL),
	ROW(direct_read, "read", line_comes),
	ROW(direct_pselect6, "poll", NULL),
	ROW(direct_epoll_pwait, "epoll", line_comes),
	ROW(direct_ppoll, "poll", line_comes),
	ROW(direct_io_getevents, "aio", NULL),
	ROW(direct_open, "open", opener_comes),
};

static void run(size_t i)
{
	bool reads = row[i].ended_by == line_comes, writes = row[i].ended_by == room_comes;
	pthread_t thread;

	if (reads)
		make_in();
	if (writes)
		make_out(row[i].call == place_fflush || row[i].call == place_fclose ? BYTES / 2 : 0);
	if (row[i].ended_by)
		CHECK(!pthread_create(&thread, NULL, row[i].ended_by, NULL));
	row[i].call();
	if (row[i].ended_by)
		pthread_join(thread, NULL);
	if (reads)
		end_in();
	if (row[i].ended_by == opener_comes)
		fclose(in);
	if (writes && row[i].call != place_fclose)
		end_out();
	else if (writes)
		close(out_fd[0]);
}

int main(void)
{
	first = getpid();
	memset(many, 'm', sizeof(many));
	signal(SIGPIPE, SIG_IGN);
	unlink(path);
	CHECK(mkfifo(path, 0600) == 0);
	for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		run(i);
		printf("%s\t%s\t1\t%d\n", row[i].place, row[i].reason, WAIT_MS * 1000000);
	}
	return 0;
}
