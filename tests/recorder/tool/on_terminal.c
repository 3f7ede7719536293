/*
 * on_terminal.c - runs a command on a terminal of its own, and types when it has begun: on_terminal KEY FILE
 * COMMAND...
 *
 * KEY is c (interrupt) or z (stop; then it is sent SIGCONT as by a shell's fg).  The command has begun when
 * there is FILE.  Exits with the command's status, 128 + n if a signal ended it; 98 if it did not stop.
 */
#include <errno.h>
#include <pty.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void sleep_ms(long ms)
{
	struct timespec t = {ms / 1000, ms % 1000 * 1000000};

	nanosleep(&t, NULL);
}

enum { PATIENCE = 12000 }; /* of 10 ms */

/* Waits up to two minutes for a change of state. */
static int wait_for(pid_t pid, int *status)
{
	for (int i = 0; i < PATIENCE; i++) {
		if (waitpid(pid, status, WNOHANG | WUNTRACED) == pid)
			return 0;
		sleep_ms(10);
	}
	kill(pid, SIGKILL);
	return -1;
}

/* What a shell does: the command in a process group of its own, in the foreground. */
static pid_t start(char **command)
{
	pid_t pid = fork();

	if (!pid) {
		setpgid(0, 0);
		tcsetpgrp(STDIN_FILENO, getpid());
		signal(SIGINT, SIG_DFL); /* shells have background jobs ignore it */
		signal(SIGQUIT, SIG_DFL);
		signal(SIGTTOU, SIG_DFL);
		execvp(command[0], command);
		_exit(99);
	}
	setpgid(pid, pid);
	return pid;
}

/* Context: on the terminal, the leader of its session. */
static int shell(char key, char **command)
{
	int status;
	pid_t pid;

	signal(SIGTTOU, SIG_IGN);
	pid = start(command);
	if (key == 'z') {
		if (wait_for(pid, &status) || !WIFSTOPPED(status))
			return 98;
		kill(-pid, SIGCONT);
	}
	if (wait_for(pid, &status))
		return 97;
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

int main(int argc, char **argv)
{
	int terminal, status;
	pid_t pid;

	if (argc < 4)
		return 99;
	pid = forkpty(&terminal, NULL, NULL, NULL);
	if (pid < 0)
		return 77;
	if (!pid)
		_exit(shell(argv[1][0], argv + 3));
	for (int i = 0; i < PATIENCE && access(argv[2], F_OK); i++)
		sleep_ms(10);
	if (write(terminal, argv[1][0] == 'c' ? "\003" : "\032", 1) != 1)
		return 99;
	if (wait_for(pid, &status) || !WIFEXITED(status))
		return 96;
	return WEXITSTATUS(status);
}
