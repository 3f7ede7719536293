/*
 * exec_target.h - a program that is about to be executed, and whether it will be recorded: where no
 * loader preloads the recorder it never comes to tell of itself.
 */
#ifndef TRC_RECORDER_GUEST_EXEC_TARGET_H
#define TRC_RECORDER_GUEST_EXEC_TARGET_H

#include <stdbool.h>

enum trc_exec_path {
	TRC_EXEC_AS_GIVEN,
	TRC_EXEC_SEARCHED, /* in PATH, if it has no slash */
	TRC_EXEC_ABSOLUTE, /* or it is not looked at: it is of another directory */
};
struct trc_exec_target {
	const char *path; /* as it was given, which may be anything; so may be envp */
	enum trc_exec_path how;
	char *const *envp;
};

/* Called before a program is executed; NULL = nobody wants to know.  Set once, at start.  Context:
 * as trc_exec_target_why(). */
extern __attribute__((visibility("hidden"))) void (*trc_exec_hook)(const struct trc_exec_target *);

/* Before execve() and posix_spawn(), unless the program forbade itself what that takes. */
void trc_exec_tell(const char *path, enum trc_exec_path how, char *const *envp);

enum { TRC_EXEC_PATH_BYTES = 512 };
/* Why it will not be recorded; NULL = it will be, or that cannot be told.  Its path is put into
 * `path`: that of a script's interpreter in its place.  Context: any thread, signal handlers, a
 * child that runs in its parent's memory. */
const char *trc_exec_target_why(const struct trc_exec_target *target,
				char path[TRC_EXEC_PATH_BYTES]);

#endif
