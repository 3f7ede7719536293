/*
 * process.c - new processes.  Context: traced thread, signal handlers (_Fork, vfork).
 */
#include "recorder/guest/exec_target.h"
#include "affinity.h"
#include "signal.h"
#include "signal_own.h"
#include "span.h"
#include "versions.h"
#include "recorder/unwind/poison.h"

/* In both processes; `child` as fork() returned it: -1 if it failed. */
static void fork_end(pid_t child)
{
	int saved = errno;

	if (child == 0 && trc_sandbox_entered()) {
		trc_self.no_wait = 0;
	} else if (child == 0) {
		trc_altstack_forked();
		trc_affinity_forked();
		trc_signals_forked();
		trc_fork_child();
	} else {
		trc_fork_parent(child);
	}
	errno = saved;
}

TRC_EXPORT pid_t fork(void)
{
	pid_t child;

	trc_fork_prepare();
	child = REAL(fork)();
	fork_end(child);
	return child;
}
TRC_ALIAS(__fork, fork);

TRC_EXPORT pid_t _Fork(void)
{
	pid_t child;

	trc_fork_prepare();
	child = REAL(_Fork)();
	fork_end(child);
	return child;
}

TRC_EXPORT int forkpty(int *terminal, char *name, const struct termios *attributes,
		       const struct winsize *size)
{
	int child;

	trc_fork_prepare();
	child = REAL(forkpty)(terminal, name, attributes, size);
	fork_end(child);
	return child;
}

/* libc forks inside, and the parent comes back only if that failed. */
TRC_EXPORT int daemon(int no_chdir, int no_close)
{
	pid_t parent = getpid();
	int result;

	trc_fork_prepare();
	result = REAL(daemon)(no_chdir, no_close);
	fork_end(getpid() == parent ? -1 : 0);
	return result;
}

/* ---- children that share our memory --------------------------------------------------- */

/*
 * The assembly thunk of vfork() calls these.  Until it execs or exits, the child runs in the
 * parent's memory, as the parent's thread, but is another process: it must not record.
 */
void trc_vfork_begin(void);
void trc_vfork_begin(void)
{
	trc_self.quiet++;
}

/* In the parent, when the child is gone from its memory: what vfork() returns. */
int trc_vfork_parent(long result);
int trc_vfork_parent(long result)
{
	trc_self.quiet--;
	if (result < 0) {
		errno = (int)-result;
		return -1;
	}
	if (trc_recording())
		trc_process_event(TRC_PROCESS_FORK, (uint64_t)result);
	return (int)result;
}

/* libc's own child runs with its signals blocked and calls nothing that is interposed. */
static int spawned(int result, pid_t child)
{
	trc_self.no_wait--;
	if (!result && trc_recording())
		trc_process_event(TRC_PROCESS_FORK, (uint64_t)child);
	return result;
}

#define SPAWN(name, how)                                                                           \
	int TRC_VERSIONED(name)(                                                                   \
		pid_t * pid, const char *path, const posix_spawn_file_actions_t *actions,          \
		const posix_spawnattr_t *attributes, char *const argv[], char *const envp[]);      \
	TRC_EXPORT int TRC_VERSIONED(name)(                                                        \
		pid_t * pid, const char *path, const posix_spawn_file_actions_t *actions,          \
		const posix_spawnattr_t *attributes, char *const argv[], char *const envp[])       \
	{                                                                                          \
		TRC_EXEC_ENV(env, path, how, envp);                                                \
		bool shown = trc_mask_show();                                                      \
		pid_t child = 0;                                                                   \
		int result;                                                                        \
                                                                                                   \
		trc_self.no_wait++;                                                                \
		result = REAL(name)(&child, path, actions, attributes, argv, env);                 \
		if (shown)                                                                         \
			trc_mask_hide();                                                           \
		if (!result && pid)                                                                \
			*pid = child;                                                              \
		return spawned(result, child);                                                     \
	}
SPAWN(posix_spawn, TRC_EXEC_AS_GIVEN)
SPAWN(posix_spawnp, TRC_EXEC_SEARCHED)
TRC_CURRENT_VERSION(posix_spawn, "GLIBC_2.15");
TRC_CURRENT_VERSION(posix_spawnp, "GLIBC_2.15");
#ifdef __x86_64__
SPAWN(old_posix_spawn, TRC_EXEC_AS_GIVEN)
SPAWN(old_posix_spawnp, TRC_EXEC_SEARCHED)
TRC_OLD_VERSION(old_posix_spawn, posix_spawn, "GLIBC_2.2.5");
TRC_OLD_VERSION(old_posix_spawnp, posix_spawnp, "GLIBC_2.2.5");
#endif
