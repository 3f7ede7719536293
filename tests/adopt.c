/*
 * adopt.c - runs a test, and waits for whatever the test starts and does not wait for: timed.sh runs it.
 *
 *   adopt COMMAND...
 *
 * A process counts to its parent's CPU time when its parent waits for it.  Nobody waits for most of a
 * browser's processes, or for a program whose parent was killed: these become children of adopt.
 *
 *   A1  the status is the command's; adopt writes nothing while the command runs
 *   A2  a process that outlives the command has two seconds to end, and is then left alone
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Waits for any process until the command ends; returns its status as a shell would. */
static int wait_for_command(pid_t command)
{
	int status;

	for (;;) {
		pid_t ended = wait(&status);

		if (ended == command)
			break;
		if (ended < 0 && errno != EINTR)
			return 99;
	}
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/* A2: those that end with the command, as a browser's do, have a moment for it. */
static void wait_for_rest(void)
{
	const struct timespec pause = {.tv_nsec = 20000000};
	pid_t ended = 0;

	for (int tries = 0; tries < 100 && ended >= 0; tries++) {
		while ((ended = waitpid(-1, NULL, WNOHANG)) > 0)
			;
		if (ended == 0)
			nanosleep(&pause, NULL);
	}
}

int main(int argc, char **argv)
{
	pid_t command;
	int status;

	if (argc < 2 || prctl(PR_SET_CHILD_SUBREAPER, 1) < 0) {
		fprintf(stderr, "adopt: %s\n", argc < 2 ? "no command" : strerror(errno));
		return 99;
	}
	command = fork();
	if (command == 0) {
		execvp(argv[1], argv + 1);
		fprintf(stderr, "adopt: %s: %s\n", argv[1], strerror(errno));
		_exit(127);
	}
	if (command < 0)
		return 99;
	status = wait_for_command(command);
	wait_for_rest();
	return status;
}
