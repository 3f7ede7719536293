/*
 * exec.c - the exec family.  Nothing is recorded here.  But a signal on its way to a handler of
 * ours would end the next program, which has no such handler.  Some programs would be ended by the
 * recorder in LD_PRELOAD, too (exec_target.h).  Context: traced thread, signal handlers.
 *
 *   exec:J1  before the real call the thread's samplers are gone, the thread is asked nothing any
 *       more, and no signal of samplers or questions is pending.  If the real call returns, all
 *       this is undone.  The same is done while nothing records: a profile of threads may just have
 *       ended
 *   exec:J2  a child that runs in our memory (vfork) does nothing of J1
 *   exec:J3  a SIGPROF that the program ignores is ignored by the next one: a child that runs in
 *       our memory has its own actions, and sees to this as well
 */
#include <fcntl.h>
#include <stdarg.h>
#include "format/raw.h"
#include "recorder/guest/exec_target.h"
#include "signal.h"
#include "signal_own.h"
#include "span.h"
#include "syscall.h"
#include "recorder/shared/signals.h"
#include "recorder/unwind/poison.h"

extern char **environ;

struct begun {
	bool sampled, ignores, shown;
};

static struct begun exec_begin(void)
{
	int saved = errno;
	struct begun begun = {.sampled = trc_sample_exec_begin()};

	begun.ignores = trc_signal_own_exec_begin();
	begun.shown = trc_mask_show();
	errno = saved;
	return begun;
}

/* The exec has failed. */
static int exec_end(struct begun begun, int result)
{
	int saved = errno;

	if (begun.shown)
		trc_mask_hide();
	if (begun.ignores)
		trc_signal_own_exec_failed();
	if (begun.sampled)
		trc_sample_exec_failed(begun.ignores);
	errno = saved;
	return result;
}

void (*trc_exec_hook)(const struct trc_exec_target *, struct trc_exec_env *);

struct trc_exec_env trc_exec_tell(const char *path, enum trc_exec_path how, char *const *envp)
{
	const struct trc_exec_target target = {path, how, envp};
	struct trc_exec_env env = {.n_words = 0};
	int saved = errno;

	if (trc_exec_hook && path && !trc_sandbox_is_restricted())
		trc_exec_hook(&target, &env);
	errno = saved;
	return env;
}

char *const *trc_exec_env_make(const struct trc_exec_env *env, char *const *envp, char **words,
			       char *text)
{
	const char *list;
	size_t n = 0;

	if (!env->n_words)
		return envp;
	list = envp[env->at];
	memcpy(text, list, env->cut_off);
	memcpy(text + env->cut_off, list + env->cut_off + env->cut_bytes,
	       env->text_bytes - env->cut_off);
	for (size_t i = 0; i < env->n_words - 1; i++)
		if (i != env->at)
			words[n++] = envp[i];
		else if (!env->is_empty)
			words[n++] = text;
	words[n] = NULL;
	return words;
}

#define EXEC(name, parameters, path, how, envp, call)                                              \
	TRC_EXPORT int name parameters                                                             \
	{                                                                                          \
		TRC_EXEC_ENV(env, path, how, envp);                                                \
		struct begun begun = exec_begin();                                                 \
                                                                                                   \
		return exec_end(begun, call);                                                      \
	}
EXEC(execve, (const char *path, char *const argv[], char *const envp[]), path, TRC_EXEC_AS_GIVEN,
     envp, REAL(execve)(path, argv, env))
EXEC(execv, (const char *path, char *const argv[]), path, TRC_EXEC_AS_GIVEN, environ,
     env == environ ? REAL(execv)(path, argv) : REAL(execve)(path, argv, env))
EXEC(execvp, (const char *file, char *const argv[]), file, TRC_EXEC_SEARCHED, environ,
     env == environ ? REAL(execvp)(file, argv) : REAL(execvpe)(file, argv, env))
EXEC(execvpe, (const char *file, char *const argv[], char *const envp[]), file, TRC_EXEC_SEARCHED,
     envp, REAL(execvpe)(file, argv, env))
EXEC(execveat, (int dir, const char *path, char *const argv[], char *const envp[], int flags), path,
     dir == AT_FDCWD ? TRC_EXEC_AS_GIVEN : TRC_EXEC_ABSOLUTE, envp,
     REAL(execveat)(dir, path, argv, env, flags))

TRC_EXPORT int fexecve(int fd, char *const argv[], char *const envp[])
{
	struct begun begun = exec_begin();

	return exec_end(begun, REAL(fexecve)(fd, argv, envp));
}

long trc_syscall_exec(long number, long a, long b, long c, long d, long e)
{
	struct begun begun = exec_begin();
	long result = trc_raw6(number, a, b, c, d, e, 0);

	return exec_end(begun, result < 0 ? (int)trc_syscall_error(result) : (int)result);
}

/* Arguments one by one: how many, with the NULL that ends them. */
static size_t count_arguments(const char *first, va_list args)
{
	size_t n = 1;

	for (const char *arg = first; arg; arg = va_arg(args, const char *))
		n++;
	return n;
}

#define LIST_ARGUMENTS(argv, first)                                                                \
	va_list args;                                                                              \
	size_t n_args, last_arg = 0;                                                               \
                                                                                                   \
	va_start(args, first);                                                                     \
	n_args = count_arguments(first, args);                                                     \
	va_end(args);                                                                              \
	char *argv[n_args];                                                                        \
	va_start(args, first);                                                                     \
	argv[0] = (char *)(uintptr_t)first;                                                        \
	while (argv[last_arg])                                                                     \
		argv[++last_arg] = va_arg(args, char *);

TRC_EXPORT int execl(const char *path, const char *arg, ...)
{
	LIST_ARGUMENTS(argv, arg)
	va_end(args);
	return execve(path, argv, environ);
}

TRC_EXPORT int execle(const char *path, const char *arg, ...)
{
	char *const *envp;

	LIST_ARGUMENTS(argv, arg)
	envp = va_arg(args, char *const *);
	va_end(args);
	return execve(path, argv, envp);
}

TRC_EXPORT int execlp(const char *file, const char *arg, ...)
{
	LIST_ARGUMENTS(argv, arg)
	va_end(args);
	return execvpe(file, argv, environ);
}
