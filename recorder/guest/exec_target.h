/*
 * exec_target.h - will a program that is about to be executed be recorded?
 *
 * A program into which no loader preloads the recorder cannot report itself.  So its caller does.
 */
#ifndef TRC_RECORDER_GUEST_EXEC_TARGET_H
#define TRC_RECORDER_GUEST_EXEC_TARGET_H

#include <stdbool.h>

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

/* Called before a program is executed; NULL = no function is called.  Set once, at start.  Context:
 * as trc_exec_target_why(). */
extern __attribute__((visibility("hidden"))) void (*trc_exec_hook)(const struct trc_exec_target *);

/* Calls the hook before execve() and posix_spawn(), unless the program forbade itself the system
 * calls that the hook needs. */
void trc_exec_tell(const char *path, enum trc_exec_path how, char *const *envp);

enum { TRC_EXEC_PATH_BYTES = 512 };
/* Returns why the program will not be recorded; NULL = it will be recorded, or this is not known.
 * `path` gets the program's path, or for a script its interpreter's.  Context: any thread, signal
 * handlers, a child that runs in its parent's memory. */
const char *trc_exec_target_why(const struct trc_exec_target *target,
				char path[TRC_EXEC_PATH_BYTES]);

#endif
