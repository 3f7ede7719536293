/* list.c - --list: the running recordings, and the rings that dead processes have left. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "format/utf8.h"
#include "recorder/drain/ring_file.h"
#include "recorder/drain/snapshot.h"
#include "session.h"

enum { COMMAND_BYTES = 33 };

struct list {
	unsigned int n_shown;
	bool failed;
};

/* ---- one ring -------------------------------------------------------------------------- */

static const char *mode_of(const struct trc_ring_file *f)
{
	uint32_t drain = atomic_load_explicit(&f->control->drain_state, memory_order_relaxed);

	if (!(f->header.flags & TRC_SHARED_OVERWRITE))
		return "recording";
	return drain == TRC_DRAIN_NONE ? "flight" : "both";
}

/* "memcached -t 4", cut to what a table has room for. */
static void command_of(const struct trc_ring_file *f, char text[COMMAND_BYTES])
{
	char command[sizeof(f->header.command) + 1];
	size_t n = sizeof(f->header.command);
	const char *name;

	memcpy(command, f->header.command, n);
	command[n] = '\0';
	while (n && !command[n - 1])
		n--;
	name = strrchr(command, '/'); /* in the first argument only: zeros separate them */
	name = name ? name + 1 : command;
	for (char *c = command; c < command + n; c++)
		if ((unsigned char)*c < ' ' || *c == 127)
			*c = ' ';
	trc_utf8_escape(text, COMMAND_BYTES, name, strlen(name));
}

/* How much is held of it. */
struct held {
	double seconds;
	uint64_t events_per_second, lost_events;
};

static int ring_look(const struct trc_ring_file *f, struct held *held, char *error, size_t n_bytes)
{
	const struct trc_snapshot_options all = {.window_ns = UINT64_MAX};
	struct trc_snapshot *s;
	uint64_t from, cut;
	int err = trc_ring_file_snapshot(f, &s, &all, error, n_bytes);

	if (err)
		return err;
	trc_snapshot_window(s, &from, &cut);
	trc_snapshot_rate(s, &held->events_per_second, &held->lost_events);
	held->seconds = (double)(cut - from) / (double)f->header.ticks_per_second;
	trc_snapshot_free(s);
	return 0;
}

/* It is seen to by its trace-record, which lives. */
static bool is_cared_for(const char *path)
{
	char copy[PATH_MAX];
	bool session, lives = false;
	int fd;

	snprintf(copy, sizeof(copy), "%s", path);
	dirname(copy);
	session = strlen(basename(copy)) == strlen("trc-XXXXXX") &&
		  !strncmp(basename(copy), "trc-", 4);
	fd = session ? open(copy, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) : -1;
	if (fd >= 0) {
		lives = trc_tool_dir_lives(fd);
		close(fd);
	}
	return lives;
}

static const char *note_of(const struct trc_ring_file *f)
{
	switch (f->owner) {
	case TRC_OWNER_ALIVE:
		return f->closed ? "  recording has ended" : "";
	case TRC_OWNER_DEAD:
		return "  dead: --recover or --clean";
	case TRC_OWNER_UNKNOWN:
		return "  of another pid namespace";
	}
	return "";
}

static void ring_show(struct list *list, const struct trc_ring_file *f)
{
	char command[COMMAND_BYTES], error[256];
	struct held held;

	if (ring_look(f, &held, error, sizeof(error))) {
		trc_tool_say("%s: %s", f->path, error);
		list->failed = true;
		return;
	}
	if (!list->n_shown++)
		printf("%10s  %-*s  %-9s  %10s  %10s  %8s\n", "PID", COMMAND_BYTES - 1, "COMMAND",
		       "MODE", "WINDOW (s)", "EVENTS/S", "LOST");
	command_of(f, command);
	printf("%10" PRIu32 "  %-*s  %-9s  %10.2f  %10" PRIu64 "  %8" PRIu64 "%s\n", f->pid,
	       COMMAND_BYTES - 1, command, mode_of(f), held.seconds, held.events_per_second,
	       held.lost_events, note_of(f));
}

/* ---- all of them ----------------------------------------------------------------------- */

static int list_ring_found(void *context, const char *path)
{
	struct list *list = context;
	struct trc_ring_file f;
	char error[256];
	int err = trc_ring_file_open(&f, path, error, sizeof(error));

	if (err == -EPERM || err == -EACCES || err == -ENOENT || err == -ENODATA)
		return 0; /* another user's, or gone by now, or left by exec */
	if (err) {
		trc_tool_say("%s: %s", path, error);
		list->failed = true;
		return 0;
	}
	if (f.owner != TRC_OWNER_DEAD || !is_cared_for(path))
		ring_show(list, &f);
	trc_ring_file_close(&f);
	return 0;
}

int trc_tool_list(void)
{
	struct list list = {0};

	trc_ring_files_each(list_ring_found, &list);
	if (!list.n_shown)
		puts("nothing is being recorded");
	if (fflush(stdout)) {
		trc_tool_say("standard output: %s", strerror(errno));
		list.failed = true;
	}
	return list.failed ? 1 : 0;
}
