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
#include "ring_file.h"
#include "snapshot.h"

enum { SESSION_NAME_BYTES = 10, DIRS_MAX = 2 }; /* trc-XXXXXX */

#define NS_UNKNOWN UINT64_C(0)

/* ---- names ----------------------------------------------------------------------------- */

/* A number without sign or leading zeros; *text is moved behind it. */
static bool take_number(const char **text, uint32_t *number)
{
	uint64_t n = 0;
	const char *at = *text;

	if (*at < '0' || *at > '9' || (*at == '0' && at[1] >= '0' && at[1] <= '9'))
		return false;
	for (; *at >= '0' && *at <= '9'; at++) {
		n = n * 10 + (uint64_t)(*at - '0');
		if (n > UINT32_MAX)
			return false;
	}
	*text = at;
	*number = (uint32_t)n;
	return true;
}

struct ring_name {
	uint32_t pid, image;
};

/* "PID.IMAGE.ring", or with `prefixed` "trc-UID-PID.IMAGE.ring". */
static bool name_parse(const char *name, bool prefixed, struct ring_name *parsed)
{
	uint32_t uid;

	if (prefixed) {
		if (strncmp(name, "trc-", 4))
			return false;
		name += 4;
		if (!take_number(&name, &uid) || *name++ != '-')
			return false;
	}
	return take_number(&name, &parsed->pid) && *name++ == '.' &&
	       take_number(&name, &parsed->image) && !strcmp(name, ".ring");
}

static bool path_parse(const char *path, struct ring_name *parsed)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;

	return name_parse(name, false, parsed) || name_parse(name, true, parsed);
}

/* ---- is the owner alive? --------------------------------------------------------------- */

/* A small file of /proc, zero-terminated; its length, 0 if it cannot be read. */
static size_t read_small(const char *path, char *text, size_t n_bytes)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, n_bytes - 1);

	if (fd >= 0)
		close(fd);
	text[n > 0 ? n : 0] = '\0';
	return n > 0 ? (size_t)n : 0;
}

static bool is_this_boot(const struct trc_shared *h)
{
	char text[64], digits[2 * sizeof(h->boot_id) + 1];
	size_t n = 0;

	read_small("/proc/sys/kernel/random/boot_id", text, sizeof(text));
	for (const char *at = text; *at && n < sizeof(digits) - 1; at++)
		if (*at != '-' && *at != '\n')
			digits[n++] = *at;
	if (n != sizeof(digits) - 1)
		return false;
	for (size_t i = 0; i < sizeof(h->boot_id); i++) {
		char byte[3];

		snprintf(byte, sizeof(byte), "%02x", h->boot_id[i]);
		if (memcmp(byte, digits + 2 * i, 2))
			return false;
	}
	return true;
}

static uint64_t own_pid_namespace(void)
{
	struct stat st;

	return stat("/proc/self/ns/pid", &st) ? NS_UNKNOWN : (uint64_t)st.st_ino;
}

bool trc_ring_is_elsewhere(const struct trc_shared *h)
{
	uint64_t here = own_pid_namespace();

	return h->pid_namespace != NS_UNKNOWN && here != NS_UNKNOWN && h->pid_namespace != here;
}

/* State and start time (fields 3 and 22) of /proc/PID/stat; false: there is no such process. */
static bool process_stat(uint32_t pid, char *state, uint64_t *start)
{
	char path[40], text[1024];
	const char *at;

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/stat", pid);
	if (!read_small(path, text, sizeof(text)))
		return false;
	at = strrchr(text, ')'); /* its name may hold anything */
	if (!at || at[1] != ' ')
		return false;
	*state = at[2];
	at += 2;
	for (int field = 3; field < 22 && at; field++) {
		at = strchr(at, ' ');
		at = at ? at + 1 : NULL;
	}
	*start = at ? strtoull(at, NULL, 10) : 0;
	return true;
}

/* True unless it can be told that the process does not have the file mapped: after it executed
 * another program, its pid and start time are the same. */
static bool process_maps(uint32_t pid, ino_t inode)
{
	char path[40], line[PATH_MAX + 128];
	uint64_t found;
	bool any = false, mapped = false;
	FILE *maps;

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/maps", pid);
	maps = fopen(path, "re");
	if (!maps)
		return true;
	while (!mapped && fgets(line, sizeof(line), maps)) {
		any = true;
		mapped = sscanf(line, "%*s %*s %*s %*s %" SCNu64, &found) == 1 &&
			 found == (uint64_t)inode;
	}
	fclose(maps);
	return mapped || !any;
}

static enum trc_ring_owner find_owner(const struct trc_shared *h, ino_t inode)
{
	uint64_t start;
	char state;

	if (!is_this_boot(h))
		return TRC_OWNER_DEAD;
	if (trc_ring_is_elsewhere(h))
		return TRC_OWNER_UNKNOWN;
	if (!process_stat(h->pid, &state, &start) || state == 'Z' || state == 'X')
		return TRC_OWNER_DEAD;
	if (h->process_start && h->process_start != start)
		return TRC_OWNER_DEAD;
	return process_maps(h->pid, inode) ? TRC_OWNER_ALIVE : TRC_OWNER_DEAD;
}

/* ---- opening --------------------------------------------------------------------------- */

static int trouble(int err, char *error, size_t n_bytes, const char *what)
{
	snprintf(error, n_bytes, "%s", what);
	return err;
}

/* 0 or -errno: nothing but a plain file of our own is read. */
static int check_file(const struct stat *st, char *error, size_t n_bytes)
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
	return check_file(st, error, n_bytes);
}

/* All n_bytes from the beginning, or -EBADMSG. */
static int read_all(int fd, void *to, uint64_t n_bytes)
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

static int read_header(struct trc_ring_file *f, const struct stat *st, char *error, size_t n_bytes)
{
	const char *why;

	if (!st->st_size)
		return trouble(-ENODATA, error, n_bytes,
			       "empty: its process went on to another program");
	if (st->st_size < (off_t)sizeof(f->header) ||
	    read_all(f->fd, &f->header, sizeof(f->header)))
		return trouble(-EBADMSG, error, n_bytes,
			       st->st_size < 8 ? "not a trc ring" : "it is cut short");
	if (trc_layout_check(&f->header, (uint64_t)st->st_size, &why))
		return trouble(-EBADMSG, error, n_bytes, why);
	if (atomic_load(&f->header.state) != TRC_SHARED_LIVE &&
	    atomic_load(&f->header.state) != TRC_SHARED_CLOSED)
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

	if (fstat(f->fd, &st) || read_all(f->fd, f->control, f->control_bytes))
		return -EBADMSG;
	f->closed = atomic_load(&f->control->state) == TRC_SHARED_CLOSED;
	f->owner = find_owner(&f->header, st.st_ino);
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
		err = read_header(f, &st, error, n_bytes);
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
		struct ring_name name;

		if (snprintf(path, sizeof(path), "%s/%s", dir, e->d_name) >= (int)sizeof(path))
			continue;
		if (name_parse(e->d_name, !session, &name))
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
static bool is_better(const struct trc_ring_file *f, const struct trc_ring_file *than)
{
	if ((f->owner == TRC_OWNER_ALIVE) != (than->owner == TRC_OWNER_ALIVE))
		return f->owner == TRC_OWNER_ALIVE;
	return f->header.start.realtime_ns > than->header.start.realtime_ns;
}

static int consider(void *context, const char *path)
{
	struct search *s = context;
	struct trc_ring_file f;
	struct ring_name name;
	char why[200];
	int err;

	if (!path_parse(path, &name) || name.pid != s->pid)
		return 0;
	err = trc_ring_file_open(&f, path, why, sizeof(why));
	if (err) {
		s->err = err;
		snprintf(s->error, s->error_bytes, "%s: %s", path, why);
	} else if (s->found && !is_better(&f, s->best)) {
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
	const char *name = sigabbrev_np(atomic_load(&crash->signal));
	char text[64];

	if (f->owner == TRC_OWNER_ALIVE)
		return trc_writer_info(w, "ended", "still running");
	if (f->owner == TRC_OWNER_UNKNOWN)
		return trc_writer_info(w, "ended", "not known: of another pid namespace");
	if (atomic_load(&crash->state) == TRC_CRASH_COMPLETE) {
		snprintf(text, sizeof(text), "killed by signal %d (SIG%s)",
			 atomic_load(&crash->signal), name ? name : "?");
		return trc_writer_info(w, "ended", text);
	}
	return trc_writer_info(w, "ended",
			       f->closed ? "recording ended in good order"
					 : "without a last word: killed, or _exit()");
}

static int write_trace(const struct trc_ring_file *f, struct trc_snapshot *s, struct trc_writer *w)
{
	int err = trc_snapshot_info(s, w);

	if (!err)
		err = trc_writer_info(w, "snapshot",
				      f->owner == TRC_OWNER_DEAD ? "recovered" : "on request");
	if (!err)
		err = info_ended(f, s, w);
	if (!err) /* drain.h: they come from the kernel to whoever began the recording */
		err = trc_writer_info(w, "sched", "no: the kernel's records are not in the ring");
	if (!err)
		err = trc_snapshot_write(s, w, NULL, NULL);
	return err ? err : trc_writer_finish(w);
}

int trc_ring_file_to_trace(const struct trc_ring_file *f,
			   const struct trc_snapshot_options *options, trc_sink_fn *sink,
			   void *context, char *error, size_t n_bytes)
{
	struct trc_writer_options writer;
	struct trc_snapshot *s;
	struct trc_writer *w;
	int err = trc_ring_file_snapshot(f, &s, options, error, n_bytes);

	if (err)
		return err;
	trc_snapshot_writer_options(s, &writer);
	err = trc_writer_open(&w, &writer, sink, context);
	if (!err) {
		err = write_trace(f, s, w);
		trc_writer_close(w);
	}
	trc_snapshot_free(s);
	return err ? trouble(err, error, n_bytes, strerror(-err)) : 0;
}
