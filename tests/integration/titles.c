/*
 * titles.c - a program that renames itself, as setproctitle() does: over its arguments.
 *
 *   titles once          waits for a moment, and renames nothing
 *   titles rename FILE   calls itself "titles: parent", and a child "titles: child 1"; both wait until FILE is there
 *
 * Output: of `rename` the pids of both, once they have their titles.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static char *area;
static size_t area_bytes;

/* Arguments lie behind each other, and the environment behind them. */
static void find_area(char **argv)
{
	char **last = argv;

	area = argv[0];
	while (last[1])
		last++;
	area_bytes = (size_t)(*last + strlen(*last) + 1 - area);
}

static void rename_to(const char *title)
{
	memset(area, 0, area_bytes);
	memcpy(area, title, strlen(title) < area_bytes ? strlen(title) : area_bytes - 1);
}

__attribute__((noinline)) static void nap(void)
{
	const struct timespec ts = {0, 20000000};

	nanosleep(&ts, NULL);
	__asm__ volatile("");
}

static void wait_for(const char *file)
{
	while (access(file, F_OK))
		nap();
}

int main(int argc, char **argv)
{
	char file[4096];
	int ready[2];
	char byte;
	pid_t child;

	if (argc == 2 && !strcmp(argv[1], "once")) {
		nap();
		return 0;
	}
	if (argc != 3 || pipe(ready))
		return 2;
	snprintf(file, sizeof(file), "%s", argv[2]);
	find_area(argv);
	child = fork();
	if (!child) {
		rename_to("titles: child 1");
		wait_for(write(ready[1], "x", 1) == 1 ? file : "/");
		return 0;
	}
	rename_to("titles: parent");
	if (child < 0 || read(ready[0], &byte, 1) != 1)
		return 1;
	printf("%d %d\n", (int)getpid(), (int)child);
	fflush(stdout);
	wait_for(file);
	return waitpid(child, NULL, 0) == child ? 0 : 1;
}
