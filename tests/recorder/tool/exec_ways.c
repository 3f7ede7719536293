/*
 * exec_ways.c - executes a program in every way that libc has, with its own environment.
 *
 * exec_ways FILE: a path without PATH's help; the program says what it finds in its environment.
 * exec_ways FILE filter: the same behind a filter that ends who asks for its effective user.
 */
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <spawn.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static char *last_of(char *path)
{
	char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* Returns if the program cannot be executed, or there is no such way. */
static void execute(unsigned int way, char *path)
{
	char *args[] = {path, NULL};

	switch (way) {
	case 0:
		execve(path, args, environ);
		return;
	case 1:
		execv(path, args);
		return;
	case 2:
		execvp(last_of(path), args);
		return;
	case 3:
		execvpe(last_of(path), args, environ);
		return;
	case 4:
		execl(path, path, NULL);
		return;
	case 5:
		execlp(last_of(path), path, NULL);
		return;
	case 6:
		execle(path, path, NULL, environ);
		return;
	case 7:
		execveat(AT_FDCWD, path, args, environ, 0);
		return;
	}
}

enum { N_EXECS = 8 };

static void await(const char *what, pid_t child)
{
	int status = -1;

	waitpid(child, &status, 0);
	printf("%s: status %x\n", what, (unsigned int)status);
	fflush(stdout);
}

/* The next program knows nothing of it. */
static int go_behind_filter(char **args)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_geteuid, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {.len = sizeof(code) / sizeof(*code), .filter = code};

	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
		return 77;
	args[2] = NULL;
	execve(args[0], args, environ);
	return 1;
}

int main(int n_args, char **args)
{
	char *child_args[] = {args[1], NULL};
	pid_t child;

	if (n_args == 3)
		return go_behind_filter(args);
	if (n_args != 2)
		return 2;
	for (unsigned int way = 0; way < N_EXECS; way++) {
		child = fork();
		if (!child) {
			execute(way, args[1]);
			_exit(9);
		}
		await("exec", child);
	}
	child = vfork();
	if (!child) {
		execve(args[1], child_args, environ);
		_exit(9);
	}
	await("vfork", child);
	if (posix_spawn(&child, args[1], NULL, NULL, child_args, environ))
		return 1;
	await("posix_spawn", child);
	if (posix_spawnp(&child, last_of(args[1]), NULL, NULL, child_args, environ))
		return 1;
	await("posix_spawnp", child);
	return 0;
}
