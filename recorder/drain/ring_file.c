/* ring_file.c - see ring_file.h */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "open_waits.h"
#include "otel_service.h"
#include "ring_file.h"
#include "ring_owner.h"
#include "snapshot.h"
#include "title.h"
#include "format/path.h"

enum { SESSION_NAME_BYTES = 10, DIRS_MAX = 2 }; /* trc-XXXXXX */

/* ---- names ----------------------------------------------------------------------------- */

/* A number without sign or leading zeros; *text is moved behind it. */
static bool take_number(const char **text, uint64_t most, uint64_t *number)
{
	uint64_t n = 0;
	const char *at = *text;

	if (*at < '0' || *at > '9' || (*at == '0' && at[1] >= '0' && at[1] <= '9'))
		return false;
	for (; *at >= '0' && *at <= '9'; at++) {
		uint64_t digit = (uint64_t)(*at - '0');

		if (n > (most - digit) / 10)
			return false;
		n = n * 10 + digit;
	}
	*text = at;
	*number = n;
	return true;
}

/* "PID", or of another namespace than its reader's "PID-NAMESPACE"; *text is moved behind it. */
static bool take_whose(const char **text, struct trc_file_name *parsed)
{
	parsed->pid_namespace = 0;
	if (!take_number(text, UINT32_MAX, &parsed->pid))
		return false;
	if (**text != '-')
		return true;
	(*text)++;
	return take_number(text, UINT64_MAX, &parsed->pid_namespace);
}

static bool take_text(const char **text, const char *wanted)
{
	size_t n = strlen(wanted);
	bool is_there = !strncmp(*text, wanted, n);

	*text += is_there ? n : 0;
	return is_there;
}

bool trc_ring_name_parse(const char *name, bool prefixed, struct trc_file_name *parsed)
{
	uint64_t uid;

	if (prefixed && !(take_text(&name, "trc-") && take_number(&name, UINT32_MAX, &uid) &&
			  take_text(&name, "-")))
		return false;
	return take_whose(&name, parsed) && take_text(&name, ".") &&
	       take_number(&name, UINT32_MAX, &parsed->image) && !strcmp(name, ".ring");
}

bool trc_error_name_parse(const char *name, struct trc_file_name *parsed)
{
	parsed->image = 0;
	return take_whose(&name, parsed) && !strcmp(name, ".error");
}

bool trc_temporary_name_parse(const char *name, struct trc_file_name *parsed)
{
	uint64_t uid;

	parsed->image = 0;
	return take_text(&name, ".trc-") && take_number(&name, UINT32_MAX, &uid) &&
	       take_text(&name, "-") && take_whose(&name, parsed) && !strcmp(name, ".tmp");
}

static bool path_parse(const char *path, struct trc_file_name *parsed)
{
	const char *name = trc_path_name(path);

	return trc_ring_name_parse(name, false, parsed) || trc_ring_name_parse(name, true, parsed);
}

/* ---- opening --------------------------------------------------------------------------- */

static int trouble(int err, char *error, size_t n_bytes, const char *what)
{
	snprintf(error, n_bytes, "%s", what);
	return err;
}

/* 0 or -errno: nothing but a plain file of our own is read. */
static int ring_file_check(const struct stat *st, char *error, size_t n_bytes)
{
	if (!S_ISREG(st->st_mode))
		return trouble(-EBADMSG, error, n_bytes, "not a trc ring");
	if (st->st_uid != geteuid() && geteuid() != 0)
		return trouble(-EPERM, error, n_bytes, "it is another user's");
	if (st->st_mode & (S_IWGRP | S_IWOTH))
		return trouble(-EPERM, error, n_bytes, "others than its owner may write to it");
	if (st->st_nlink != 1)
		return trouble(-EPERM, error, n_bytes, "it has other names (hard links)");
	return 0;
}

static int open_file(struct trc_ring_file *f, struct stat *st, char *error, size_t n_bytes)
{
	/* O_NONBLOCK: a FIFO is to be refused, not waited for. */
	f->fd = open(f->path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (f->fd < 0 && errno == ELOOP)
		return trouble(-EPERM, error, n_bytes, "it is a symbolic link");
	if (f->fd < 0 || fstat(f->fd, st)) {
		int err = -errno;

		return trouble(err, error, n_bytes, strerror(-err));
	}
	return ring_file_check(st, error, n_bytes);
}

/* All n_bytes from the beginning, or -EBADMSG. */
static int ring_file_read(int fd, void *to, uint64_t n_bytes)
{
	uint64_t used = 0;

	while (used < n_bytes) {
		ssize_t n = pread(fd, (char *)to + used, n_bytes - used, (off_t)used);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return -EBADMSG;
		used += (uint64_t)n;
	}
	return 0;
}

static int ring_header_read(struct trc_ring_file *f, const struct stat *st, char *error,
			    size_t n_bytes)
{
	const char *why;
	uint32_t state;

	if (!st->st_size)
		return trouble(-ENODATA, error, n_bytes,
			       "empty: its process went on to another program");
	if (st->st_size < (off_t)sizeof(f->header) ||
	    ring_file_read(f->fd, &f->header, sizeof(f->header)))
		return trouble(-EBADMSG, error, n_bytes,
			       st->st_size < 8 ? "not a trc ring" : "it is cut short");
	if (trc_layout_check(&f->header, (uint64_t)st->st_size, &why))
		return trouble(-EBADMSG, error, n_bytes, why);
	/* relaxed: of a copy. */
	state = atomic_load_explicit(&f->header.state, memory_order_relaxed);
	if (state != TRC_SHARED_LIVE && state != TRC_SHARED_CLOSED)
		return trouble(-EBADMSG, error, n_bytes, "it is only half made");
	f->control_bytes = f->header.stacks_off;
	f->control = malloc(f->control_bytes);
	if (!f->control)
		return trouble(-ENOMEM, error, n_bytes, strerror(ENOMEM));
	if (trc_ring_file_look(f))
		return trouble(-EBADMSG, error, n_bytes, "it is cut short");
	return 0;
}

int trc_ring_file_look(struct trc_ring_file *f)
{
	struct stat st;

	if (fstat(f->fd, &st) || ring_file_read(f->fd, f->control, f->control_bytes))
		return -EBADMSG;
	/* relaxed: of a copy. */
	f->closed =
		atomic_load_explicit(&f->control->state, memory_order_relaxed) == TRC_SHARED_CLOSED;
	f->owner = trc_ring_owner_find(&f->header, st.st_ino, &f->pid);
	return 0;
}

int trc_ring_file_open(struct trc_ring_file *f, const char *path, char *error, size_t n_bytes)
{
	struct stat st;
	int err;

	memset(f, 0, sizeof(*f));
	f->fd = -1;
	if (strlen(path) >= sizeof(f->path))
		return trouble(-ENAMETOOLONG, error, n_bytes, strerror(ENAMETOOLONG));
	strcpy(f->path, path);
	err = open_file(f, &st, error, n_bytes);
	if (!err)
		err = ring_header_read(f, &st, error, n_bytes);
	if (err)
		trc_ring_file_close(f);
	return err;
}

void trc_ring_file_close(struct trc_ring_file *f)
{
	if (f->fd >= 0)
		close(f->fd);
	free(f->control);
	f->fd = -1;
	f->control = NULL;
}

/* ---- finding --------------------------------------------------------------------------- */

struct visit {
	int (*fn)(void *context, const char *path);
	void *context;
};

/* The entries of a directory; an unreadable or missing one has none. */
static int visit_dir(const struct visit *v, const char *dir, bool session)
{
	int fd = open(dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *entries = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *e;
	int result = 0;

	if (!entries) {
		if (fd >= 0)
			close(fd);
		return 0;
	}
	while (!result && (e = readdir(entries))) {
		char path[PATH_MAX];
		struct trc_file_name name;

		if (snprintf(path, sizeof(path), "%s/%s", dir, e->d_name) >= (int)sizeof(path))
			continue;
		if (trc_ring_name_parse(e->d_name, !session, &name))
			result = v->fn(v->context, path);
		else if (!session && !strncmp(e->d_name, "trc-", 4) &&
			 strlen(e->d_name) == SESSION_NAME_BYTES)
			result = visit_dir(v, path, true);
	}
	closedir(entries);
	return result;
}

int trc_ring_files_each(int (*fn)(void *context, const char *path), void *context)
{
	const char *given = secure_getenv("TRC_RING_DIR");
	bool is_given = given && *given;
	const char *const dirs[DIRS_MAX] = {is_given ? given : "/dev/shm",
					    is_given ? NULL : "/tmp"};
	const struct visit v = {fn, context};
	struct stat seen[DIRS_MAX];
	int n_seen = 0, result = 0;

	for (int i = 0; !result && i < DIRS_MAX && dirs[i]; i++) {
		bool again = false;
		char *dir = realpath(dirs[i], NULL);

		if (dir && !stat(dir, &seen[n_seen])) {
			for (int k = 0; k < n_seen; k++)
				again = again || (seen[k].st_dev == seen[n_seen].st_dev &&
						  seen[k].st_ino == seen[n_seen].st_ino);
			n_seen++;
			if (!again)
				result = visit_dir(&v, dir, false);
		}
		free(dir);
	}
	return result;
}

struct search {
	uint32_t pid;
	struct trc_ring_file *best;
	bool found;
	int err; /* why the last one that was named right could not be opened */
	char *error;
	size_t error_bytes;
};

/* The living before the dead, later recordings before earlier ones. */
static bool is_better_match(const struct trc_ring_file *f, const struct trc_ring_file *than)
{
	if ((f->owner == TRC_OWNER_ALIVE) != (than->owner == TRC_OWNER_ALIVE))
		return f->owner == TRC_OWNER_ALIVE;
	return f->header.start.realtime_ns > than->header.start.realtime_ns;
}

static int consider(void *context, const char *path)
{
	struct search *s = context;
	struct trc_ring_file f;
	struct trc_file_name name;
	char why[200];
	int err;

	if (!path_parse(path, &name))
		return 0;
	err = trc_ring_file_open(&f, path, why, sizeof(why));
	if (err && name.pid != s->pid)
		return 0;
	if (err) {
		s->err = err;
		snprintf(s->error, s->error_bytes, "%s: %s", path, why);
	} else if (f.pid != s->pid) { /* of another namespace, the name's pid may be another's */
		trc_ring_file_close(&f);
	} else if (s->found && !is_better_match(&f, s->best)) {
		trc_ring_file_close(&f);
	} else {
		if (s->found)
			trc_ring_file_close(s->best);
		*s->best = f;
		s->found = true;
	}
	return 0;
}

int trc_ring_file_find(struct trc_ring_file *f, uint32_t pid, char *error, size_t n_bytes)
{
	struct search s = {.pid = pid, .best = f, .error = error, .error_bytes = n_bytes};

	f->fd = -1;
	f->control = NULL;
	trc_ring_files_each(consider, &s);
	if (s.found)
		return 0;
	if (s.err)
		return s.err;
	snprintf(error, n_bytes, "process %" PRIu32 " is not recorded, and left no ring", pid);
	return -ESRCH;
}

void trc_ring_missing(uint32_t pid, char *error, size_t n_bytes)
{
	struct stat st;
	char path[32];

	snprintf(path, sizeof(path), "/proc/%" PRIu32, pid);
	if (stat(path, &st))
		snprintf(error, n_bytes,
			 "process %" PRIu32 ": no such process, and it left no ring", pid);
	else if (geteuid() && st.st_uid != geteuid())
		snprintf(error, n_bytes, "process %" PRIu32 ": it is another user's", pid);
	else
		snprintf(error, n_bytes, "process %" PRIu32 ": it is not being recorded", pid);
}

/* ---- as a trace ------------------------------------------------------------------------ */

int trc_ring_file_snapshot(const struct trc_ring_file *f, struct trc_snapshot **out,
			   const struct trc_snapshot_options *options, char *error, size_t n_bytes)
{
	struct trc_snapshot_options o = {0};
	const char *why;
	int err;

	if (options)
		o = *options;
	o.found_dead = f->owner == TRC_OWNER_DEAD;
	o.dead = o.dead || o.found_dead;
	err = trc_snapshot_take_file(out, f->fd, &o, &why);
	return err ? trouble(err, error, n_bytes, why) : 0;
}

/* How the process came to its end, as far as the ring tells. */
static int info_ended(const struct trc_ring_file *f, const struct trc_snapshot *s,
		      struct trc_writer *w)
{
	const struct trc_crash *crash = &trc_snapshot_header(s)->crash;
	/* relaxed, as all loads here: the snapshot's private copy, which no thread stores to. */
	int number = atomic_load_explicit(&crash->signal, memory_order_relaxed);
	const char *name = sigabbrev_np(number);
	char text[64];

	if (f->owner == TRC_OWNER_ALIVE)
		return trc_writer_info(w, "ended", "still running");
	if (f->owner == TRC_OWNER_UNKNOWN)
		return trc_writer_info(w, "ended", "not known: of another pid namespace");
	if (atomic_load_explicit(&crash->state, memory_order_relaxed) == TRC_CRASH_COMPLETE) {
		snprintf(text, sizeof(text), "killed by signal %d (SIG%s)", number,
			 name ? name : "?");
		return trc_writer_info(w, "ended", text);
	}
	if (f->closed)
		return trc_writer_info(w, "ended", "recording ended in good order");
	if (atomic_load_explicit(&trc_snapshot_header(s)->flags, memory_order_relaxed) &
	    TRC_SHARED_EXITED)
		return trc_writer_info(w, "ended", "by exit(), with which status is not known");
	return trc_writer_info(w, "ended", "without a last word: killed, or _exit()");
}

static int info_title(const struct trc_ring_file *f, struct trc_writer *w)
{
	char text[TRC_TITLE_BYTES] = "";
	const char *title;

	if (f->owner != TRC_OWNER_ALIVE)
		return 0;
	trc_title_read(text, (int)f->pid);
	title = trc_title_if_changed(text, f->header.command, sizeof(f->header.command));
	return title ? trc_writer_info(w, "title", title) : 0;
}

/* False also if its pid has become another process's meanwhile. */
static bool still_alive(const struct trc_ring_file *f)
{
	struct stat st;
	uint32_t pid;

	return !fstat(f->fd, &st) &&
	       trc_ring_owner_find(&f->header, st.st_ino, &pid) == TRC_OWNER_ALIVE && pid == f->pid;
}

static int info_service(const struct trc_ring_file *f, struct trc_writer *w)
{
	char name[TRC_OTEL_SERVICE_BYTES];

	if (f->owner != TRC_OWNER_ALIVE || trc_otel_service(f->pid, name) || !still_alive(f))
		return 0;
	return trc_writer_info(w, "otel_service", name);
}

static int ring_file_write(const struct trc_ring_file *f, struct trc_snapshot *s,
			   struct trc_writer *w)
{
	int err = trc_snapshot_info(s, w);

	if (!err)
		err = trc_writer_info(w, "snapshot",
				      f->owner == TRC_OWNER_DEAD ? "recovered" : "on request");
	if (!err)
		err = info_ended(f, s, w);
	if (!err)
		err = info_title(f, w);
	if (!err)
		err = info_service(f, w);
	if (!err) /* drain.h: they come from the kernel to whoever began the recording */
		err = trc_writer_info(w, "sched", "no: the kernel's records are not in the ring");
	if (!err)
		err = trc_snapshot_write(s, w, NULL, NULL);
	return err ? err : trc_writer_finish(w);
}

/* What threads have not recorded of the waits that they are in: of a process that lives. */
static void ring_waits_look(const struct trc_ring_file *f, struct trc_snapshot *s,
			    struct trc_open_waits **waits)
{
	const struct trc_open_waits_at at = {
		.fd = f->fd, .header = trc_snapshot_header(s), .pid = (int)f->pid};

	if (f->owner != TRC_OWNER_ALIVE)
		return;
	*waits = trc_open_waits_new();
	if (!*waits)
		return;
	trc_open_waits_look(*waits, &at, UINT64_MAX);
	if (still_alive(f))
		trc_snapshot_wait_find(s, trc_open_waits_find, *waits);
}

int trc_ring_file_to_trace(const struct trc_ring_file *f,
			   const struct trc_snapshot_options *options, trc_sink_fn *sink,
			   void *context, char *error, size_t n_bytes)
{
	struct trc_open_waits *waits = NULL;
	struct trc_writer_options writer;
	struct trc_snapshot *s;
	struct trc_writer *w;
	int err = trc_ring_file_snapshot(f, &s, options, error, n_bytes);

	if (err)
		return err;
	ring_waits_look(f, s, &waits);
	trc_snapshot_writer_options(s, &writer);
	err = trc_writer_open(&w, &writer, sink, context);
	if (!err) {
		err = ring_file_write(f, s, w);
		trc_writer_close(w);
	}
	trc_open_waits_free(waits);
	trc_snapshot_free(s);
	return err ? trouble(err, error, n_bytes, strerror(-err)) : 0;
}
