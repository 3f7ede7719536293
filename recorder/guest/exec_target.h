/*
 * exec_target.h - will a program that is about to be executed be recorded?
 *
 * A program into which no loader preloads the recorder cannot report itself.  So its caller does.
 * If a loader cannot preload a library, it ends the program (musl's), or prints a message on the
 * program's standard error (glibc's).  Before such a program the caller takes the recorder out of
 * LD_PRELOAD.
 */
#ifndef TRC_RECORDER_GUEST_EXEC_TARGET_H
#define TRC_RECORDER_GUEST_EXEC_TARGET_H

#include <stdbool.h>
#include <stddef.h>

enum trc_exec_path {
	TRC_EXEC_AS_GIVEN,
	TRC_EXEC_SEARCHED, /* in PATH, if it has no slash */
	TRC_EXEC_ABSOLUTE, /* a relative path starts at another directory: it is not looked at */
};
struct trc_exec_target {
	const char *path; /* as the program gave it: may be anything, like envp */
	enum trc_exec_path how;
	char *const *envp;
};

enum { TRC_EXEC_PATH_BYTES = 512 };
struct trc_exec_look {
	const char *why; /* it will not be recorded; NULL = it will, or this is not known */
	/* Its loader would fail for the recorder, or complain where the program's output goes. */
	bool without;
	char path[TRC_EXEC_PATH_BYTES]; /* of the program, or for a script of its interpreter */
};
/* The recorder as LD_PRELOAD names it; NULL = not known.  Set once, at start. */
extern __attribute__((visibility("hidden"))) const char *trc_exec_preload;
/* Context: any thread, signal handlers, a child that runs in its parent's memory. */
void trc_exec_target_look(const struct trc_exec_target *target, struct trc_exec_look *look);

/* ---- an environment without the recorder ------------------------------------------------- */

struct trc_exec_env {
	size_t n_words; /* the variables and the NULL behind them; 0 = as the program gives it */
	size_t at;	/* LD_PRELOAD is this variable */
	size_t cut_off, cut_bytes; /* of which this is left out */
	size_t text_bytes;	   /* and this remains, with its last zero byte */
	bool is_empty;		   /* no other object is preloaded */
};
/* Looks for the recorder in the environment that the program passes: any number of words, valid or
 * not.  `env` is all zero before.  Needs trc_exec_preload.  Context: as above. */
void trc_exec_env_plan(char *const *envp, struct trc_exec_env *env);

/* Called before a program is executed; NULL = no function is called.  Says in `env`, which is all
 * zero before, what environment the program has to have.  Set once, at start.  Context: as above. */
extern __attribute__((visibility("hidden"))) void (*trc_exec_hook)(const struct trc_exec_target *,
								   struct trc_exec_env *env);

/* Calls the hook before execve() and posix_spawn(), unless the program forbade itself the system
 * calls that the hook needs. */
struct trc_exec_env trc_exec_tell(const char *path, enum trc_exec_path how, char *const *envp);
/* Returns the environment: `envp`, or what it puts into words[n_words] and text[text_bytes]. */
char *const *trc_exec_env_make(const struct trc_exec_env *env, char *const *envp, char **words,
			       char *text);

/* Declares `name`, the environment for a program.  The caller's stack has it: a child may run in
 * its parent's memory, where nobody could free it. */
#define TRC_EXEC_ENV(name, path, how, envp)                                                        \
	struct trc_exec_env name##_plan = trc_exec_tell(path, how, envp);                          \
	char *name##_words[name##_plan.n_words + 1], name##_text[name##_plan.text_bytes + 1];      \
	char *const *name = trc_exec_env_make(&name##_plan, envp, name##_words, name##_text)

#endif
