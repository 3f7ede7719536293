/* launch.c - see launch.h. */
#include "launch.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>
#include "analyzer/open/memory.h"

static bool is_set(const char *name)
{
	const char *value = getenv(name);

	return value && *value;
}

bool trc_launch_is_possible(void)
{
	return is_set("DISPLAY") || is_set("WAYLAND_DISPLAY");
}

/* What it prints is not our answer, and Ctrl+C is not meant for it.  Signals that we ignore it need not. */
static bool launch_describe(posix_spawn_file_actions_t *files, posix_spawnattr_t *attributes)
{
	sigset_t signals;

	sigemptyset(&signals);
	sigaddset(&signals, SIGPIPE);
	sigaddset(&signals, SIGXFSZ);
	return !posix_spawnattr_setsigdefault(attributes, &signals) &&
	       !posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGDEF) &&
	       !posix_spawn_file_actions_addopen(files, 0, "/dev/null", O_RDWR, 0) &&
	       !posix_spawn_file_actions_adddup2(files, 0, 1) &&
	       !posix_spawn_file_actions_adddup2(files, 0, 2);
}

pid_t trc_launch_browser(const char *address)
{
	char program[] = "xdg-open", *to = (char *)(uintptr_t)address; /* not written to */
	char *const words[] = {program, to, NULL};
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attributes;
	pid_t pid = 0;

	if (posix_spawn_file_actions_init(&files))
		return 0;
	if (!posix_spawnattr_init(&attributes)) {
		trc_memory_lift(true);
		if (!launch_describe(&files, &attributes) ||
		    posix_spawnp(&pid, program, &files, &attributes, words, environ))
			pid = 0;
		trc_memory_lift(false);
		posix_spawnattr_destroy(&attributes);
	}
	posix_spawn_file_actions_destroy(&files);
	return pid;
}
