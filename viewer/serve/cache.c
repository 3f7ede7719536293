/*
 * cache.c - see cache.h.
 *
 * A file is the page, the text of its key, and the checksum of both.
 */
#include "cache.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include "format/check.h"

enum {
	CHECK_BYTES = 8,
	END_BYTES = TRC_CACHE_KEY_BYTES + CHECK_BYTES,
	ENDS_BYTES = 64 << 10, /* of a trace, at its beginning and at its end */
	NAME_BYTES = TRC_CACHE_NAME_BYTES,
	MAKING_SECONDS = 3600, /* nobody writes for so long, without a byte */
};

/* Before the names of files that are being written. */
#define MAKING "making-"

/* What is kept, and how much of it (V9, V10). */
struct kind {
	const char *ending;
	int most;
	uint64_t most_bytes;
};
static const struct kind pages = {".page", TRC_CACHE_PAGES_MAX, UINT64_MAX};
static const struct kind models = {".model", TRC_CACHE_MODELS_MAX, TRC_CACHE_MODELS_BYTES};
static const struct kind checks = {".checked", TRC_CACHE_MODELS_MAX, UINT64_MAX};

/* ---- keys -------------------------------------------------------------------------------- */

static int key_describe(char *text, size_t n_bytes, const char *what, const struct stat *st)
{
	return snprintf(text, n_bytes,
			"%s %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRId64 ".%09ld %" PRId64
			".%09ld\n",
			what, (uint64_t)st->st_dev, (uint64_t)st->st_ino, (uint64_t)st->st_size,
			(int64_t)st->st_mtim.tv_sec, st->st_mtim.tv_nsec,
			(int64_t)st->st_ctim.tv_sec, st->st_ctim.tv_nsec);
}

/* The checksum of the bytes there, and of what came before; false: they cannot be read. */
static bool add_bytes(int fd, off_t off, size_t n_bytes, uint64_t *check)
{
	uint8_t bytes[ENDS_BYTES];
	size_t done = 0;

	while (done < n_bytes) {
		ssize_t n = pread(fd, bytes + done, n_bytes - done, off + (off_t)done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		done += (size_t)n;
	}
	*check = trc_check64(bytes, n_bytes, *check);
	return true;
}

/* Of the trace's head, which has its UUID, and of its last sections, which sum it up. */
static bool check_ends(int fd, const struct stat *st, uint64_t *check)
{
	size_t n_bytes = st->st_size < ENDS_BYTES ? (size_t)st->st_size : ENDS_BYTES;

	*check = 0;
	return add_bytes(fd, 0, n_bytes, check) &&
	       add_bytes(fd, st->st_size - (off_t)n_bytes, n_bytes, check);
}

/* Without the time of change of its inode, which another name or mode of the file sets, too.  0: it cannot be told. */
static int describe_trace(struct trc_cache_key *key, char *text, size_t n_bytes, const char *path)
{
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC), n = 0;
	struct stat st;
	uint64_t check;

	if (fd < 0)
		return 0;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && check_ends(fd, &st, &check)) {
		key->device = st.st_dev;
		key->inode = st.st_ino;
		n = snprintf(text, n_bytes,
			     "trace %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRId64
			     ".%09ld %016" PRIx64 "\n",
			     key->device, key->inode, (uint64_t)st.st_size,
			     (int64_t)st.st_mtim.tv_sec, st.st_mtim.tv_nsec, check);
	}
	close(fd);
	return n;
}

void trc_cache_key_make(struct trc_cache_key *key, const char *path)
{
	char trace[TRC_CACHE_KEY_BYTES / 2];
	struct stat program;
	int n;

	*key = (struct trc_cache_key){0};
	if (!describe_trace(key, trace, sizeof(trace), path) || stat("/proc/self/exe", &program))
		return;
	n = snprintf(key->text, sizeof(key->text), "trace-view's page of a whole trace\n%s", trace);
	key_describe(key->text + n, sizeof(key->text) - (size_t)n, "program", &program);
}

/* The text ends in a checksum of what was added. */
void trc_cache_key_add(struct trc_cache_key *key, const char *what, const char *path)
{
	char text[TRC_CACHE_KEY_BYTES] = "none\n";
	size_t n = strcspn(key->text, "+");
	struct stat st;

	if (!*key->text)
		return;
	if (path && !stat(path, &st))
		key_describe(text, sizeof(text), "file", &st);
	key->others = trc_check64(what, strlen(what), key->others);
	key->others = trc_check64(text, strlen(text), key->others);
	snprintf(key->text + n, sizeof(key->text) - n, "+ %016" PRIx64 "\n", key->others);
}

bool trc_cache_key_is_same(const struct trc_cache_key *a, const struct trc_cache_key *b)
{
	return *a->text && !strcmp(a->text, b->text);
}

/* The line of a key that begins so, after a newline; its length in *n, without the next one. */
static const char *cache_line(const char *key, const char *beginning, size_t *n)
{
	const char *line = strstr(key, beginning);

	*n = line ? strcspn(++line, "\n") : 0;
	return line;
}

static bool has_same_line(const char *a, const char *b, const char *beginning)
{
	size_t n_a, n_b;
	const char *of_a = cache_line(a, beginning, &n_a), *of_b = cache_line(b, beginning, &n_b);

	return of_a && of_b && n_a == n_b && !strncmp(of_a, of_b, n_a);
}

const char *trc_cache_key_differs(const struct trc_cache_key *key, const char *kept)
{
	if (!strcmp(key->text, kept))
		return NULL;
	if (!has_same_line(key->text, kept, "\ntrace "))
		return "the trace has changed";
	if (!has_same_line(key->text, kept, "\nprogram "))
		return "it was made by another trace-view";
	return "files that have the names of functions have changed";
}

bool trc_cache_key_has(const struct trc_cache_key *key, const struct trc_cache_key *before)
{
	return *before->text && !strncmp(key->text, before->text, strlen(before->text));
}

/* ---- the directory ----------------------------------------------------------------------- */

/* V9 */
static bool file_is_ours(const struct stat *st)
{
	return st->st_uid == geteuid() && !(st->st_mode & (S_IWGRP | S_IWOTH));
}

/* V13: as statfs(2) names them; what FUSE has behind it nobody knows. */
static bool is_on_network(int fd)
{
	static const uint32_t networks[] = {
		0x6969,	    /* nfs */
		0x517b,	    /* smb */
		0xff534d42, /* cifs */
		0xfe534d42, /* smb2 */
		0x65735546, /* fuse */
		0x01021997, /* 9p */
		0x00c36400, /* ceph */
		0x5346414f, /* afs */
		0x6b414653, /* afs of the kernel */
		0x73757245, /* coda */
		0x564c,	    /* ncp */
		0x7461636f, /* ocfs2 */
		0x01161970, /* gfs2 */
		0x0bd00bd0, /* lustre */
		0x47504653, /* gpfs */
	};
	struct statfs fs;

	if (fstatfs(fd, &fs))
		return true;
	for (size_t i = 0; i < sizeof(networks) / sizeof(*networks); i++)
		if ((uint32_t)fs.f_type == networks[i])
			return true;
	return false;
}

/* *why: half a sentence, if it is -1. */
static int open_dir_or_say(bool make, const char **why)
{
	const char *home = getenv("XDG_CACHE_HOME"), *below = "";
	char path[PATH_MAX];
	struct stat st;
	int fd;

	if (!home || *home != '/') {
		home = getenv("HOME");
		below = "/.cache";
	}
	if (!home || *home != '/' ||
	    snprintf(path, sizeof(path), "%s%s", home, below) >= (int)sizeof(path) - NAME_BYTES) {
		*why = "neither XDG_CACHE_HOME nor HOME names a directory for it";
		return -1;
	}
	if (make)
		mkdir(path, 0700);
	strcat(path, "/trc");
	if (make)
		mkdir(path, 0700);
	fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		*why = "its directory, trc in XDG_CACHE_HOME or ~/.cache, cannot be opened";
	else if (fstat(fd, &st) || !file_is_ours(&st))
		*why = "others can write into its directory, trc in XDG_CACHE_HOME or ~/.cache";
	else if (is_on_network(fd))
		*why = "its directory, trc in XDG_CACHE_HOME or ~/.cache, lies in a file system of a network";
	else
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

static int open_dir(bool make)
{
	const char *why;

	return open_dir_or_say(make, &why);
}

static void cache_name(char name[NAME_BYTES], const struct trc_cache_key *key,
		       const struct kind *kind)
{
	snprintf(name, NAME_BYTES, "%" PRIx64 "-%" PRIx64 "%s", key->device, key->inode,
		 kind->ending);
}

/* V9; -1 = there is none. */
static int find_file(const struct trc_cache_key *key, const struct kind *kind, struct stat *st)
{
	int dir = *key->text ? open_dir(false) : -1, fd;
	char name[NAME_BYTES];

	if (dir < 0)
		return -1;
	cache_name(name, key, kind);
	fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	close(dir);
	if (fd >= 0 && (fstat(fd, st) || !S_ISREG(st->st_mode) || !file_is_ours(st))) {
		close(fd);
		fd = -1;
	}
	return fd;
}

/* ---- pages ------------------------------------------------------------------------------- */

static void put_check(uint8_t out[CHECK_BYTES], uint64_t check)
{
	for (size_t i = 0; i < CHECK_BYTES; i++)
		out[i] = (uint8_t)(check >> (8 * i));
}

/* V8, of a file of so many bytes. */
static bool file_is_of_key(int fd, size_t n_bytes, const struct trc_cache_key *key)
{
	uint8_t check[CHECK_BYTES];
	uint8_t *bytes = mmap(NULL, n_bytes, PROT_READ, MAP_PRIVATE, fd, 0);
	bool is;

	if (bytes == MAP_FAILED)
		return false;
	is = !memcmp(bytes + n_bytes - END_BYTES, key->text, TRC_CACHE_KEY_BYTES);
	if (is) {
		put_check(check, trc_check64(bytes, n_bytes - CHECK_BYTES, 0));
		is = !memcmp(bytes + n_bytes - CHECK_BYTES, check, CHECK_BYTES);
	}
	munmap(bytes, n_bytes);
	return is;
}

int trc_cache_find(const struct trc_cache_key *key, uint64_t *n_bytes)
{
	struct stat st;
	int fd = find_file(key, &pages, &st);

	if (fd < 0)
		return -1;
	if (st.st_size <= END_BYTES || !file_is_of_key(fd, (size_t)st.st_size, key)) {
		close(fd);
		return -1;
	}
	futimens(fd, NULL); /* the newest are kept */
	*n_bytes = (uint64_t)st.st_size - END_BYTES;
	return fd;
}

static bool write_whole(int fd, const uint8_t *bytes, size_t n_bytes)
{
	while (n_bytes) {
		ssize_t n = write(fd, bytes, n_bytes);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		bytes += n;
		n_bytes -= (size_t)n;
	}
	return true;
}

/* All that a file of the directory has: the page and what follows. */
static uint8_t *contents(const struct trc_cache_key *key, int page, size_t n_bytes)
{
	uint8_t *bytes = malloc(n_bytes + END_BYTES);
	size_t done = 0;

	while (bytes && done < n_bytes) {
		ssize_t n = pread(page, bytes + done, n_bytes - done, (off_t)done);

		if (n <= 0 && !(n < 0 && errno == EINTR)) {
			free(bytes);
			return NULL;
		}
		done += n > 0 ? (size_t)n : 0;
	}
	if (!bytes)
		return NULL;
	memcpy(bytes + n_bytes, key->text, TRC_CACHE_KEY_BYTES);
	put_check(bytes + n_bytes + TRC_CACHE_KEY_BYTES,
		  trc_check64(bytes, n_bytes + TRC_CACHE_KEY_BYTES, 0));
	return bytes;
}

static bool is_of_kind(const struct dirent *entry, const struct kind *kind)
{
	size_t n = strlen(entry->d_name), n_ending = strlen(kind->ending);

	return n > n_ending && !strcmp(entry->d_name + n - n_ending, kind->ending);
}

/* Who is killed while writing leaves it behind. */
static bool is_left_behind(const char *name, const struct stat *st)
{
	return !strncmp(name, MAKING, strlen(MAKING)) &&
	       st->st_mtim.tv_sec < time(NULL) - MAKING_SECONDS;
}

static bool is_older(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec < b->tv_sec || (a->tv_sec == b->tv_sec && a->tv_nsec < b->tv_nsec);
}

/* Removes what was left behind, and the oldest if there are too many.  Whether it did one of these. */
static bool remove_oldest(int dir, const struct kind *kind)
{
	int own = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), n = 0;
	uint64_t n_bytes = 0;
	char oldest[NAME_MAX + 1] = "";
	struct timespec at = {0};
	DIR *all = own < 0 ? NULL : fdopendir(own);
	struct stat st;

	for (struct dirent *entry; all && (entry = readdir(all));) {
		if (!is_of_kind(entry, kind) ||
		    fstatat(dir, entry->d_name, &st, AT_SYMLINK_NOFOLLOW))
			continue;
		if (is_left_behind(entry->d_name, &st) && !unlinkat(dir, entry->d_name, 0))
			continue;
		n++;
		n_bytes += (uint64_t)st.st_size;
		if (*oldest && !is_older(&st.st_mtim, &at))
			continue;
		snprintf(oldest, sizeof(oldest), "%s", entry->d_name);
		at = st.st_mtim;
	}
	if (all)
		closedir(all);
	else if (own >= 0)
		close(own);
	return (n > kind->most || (n > 1 && n_bytes > kind->most_bytes)) &&
	       !unlinkat(dir, oldest, 0);
}

/* V12: by a name that nobody else has, whichever the machine and the namespace of pids. */
static int open_made(int dir, const struct kind *kind, char made[NAME_BYTES])
{
	uint64_t number;

	if (getrandom(&number, sizeof(number), 0) != (ssize_t)sizeof(number))
		return -1;
	snprintf(made, NAME_BYTES, MAKING "%016" PRIx64 "%s", number, kind->ending);
	return openat(dir, made, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
}

/* In the place of an older one, if it is whole.  Whether it is there. */
static bool put_made(int dir, const struct trc_cache_key *key, const struct kind *kind,
		     const char *made, bool is_whole)
{
	char name[NAME_BYTES];

	cache_name(name, key, kind);
	is_whole = is_whole && !renameat(dir, made, dir, name);
	if (!is_whole)
		unlinkat(dir, made, 0);
	while (remove_oldest(dir, kind))
		;
	return is_whole;
}

void trc_cache_keep(const struct trc_cache_key *key, int fd, uint64_t n_bytes)
{
	int dir = *key->text ? open_dir(true) : -1, file = -1;
	uint8_t *bytes = dir < 0 ? NULL : contents(key, fd, (size_t)n_bytes);
	char made[NAME_BYTES];
	bool is_whole;

	if (bytes)
		file = open_made(dir, &pages, made);
	if (file >= 0) {
		is_whole = write_whole(file, bytes, (size_t)n_bytes + END_BYTES);
		is_whole = !close(file) && is_whole;
		put_made(dir, key, &pages, made, is_whole);
	}
	free(bytes);
	if (dir >= 0)
		close(dir);
}

/* ---- what was derived -------------------------------------------------------------------- */

/* Appends the number of the machine's boot.  False: it cannot be told. */
static bool add_boot(char *text, size_t n_bytes)
{
	FILE *in = fopen("/proc/sys/kernel/random/boot_id", "re");
	bool is_told = in && fgets(text, (int)n_bytes, in) && *text;

	if (in)
		fclose(in);
	return is_told;
}

void trc_cache_state_make(struct trc_cache_state *state, int fd)
{
	struct stat st;
	int n;

	*state = (struct trc_cache_state){""};
	if (fstat(fd, &st))
		return;
	n = key_describe(state->text, sizeof(state->text), "file", &st);
	if (!add_boot(state->text + n, sizeof(state->text) - (size_t)n))
		*state = (struct trc_cache_state){""};
}

static bool was_checked(const struct trc_cache_key *key, const struct trc_cache_state *state)
{
	struct trc_cache_state kept = {""};
	struct stat st;
	int fd = *state->text ? find_file(key, &checks, &st) : -1;
	bool is_same = fd >= 0 && pread(fd, &kept, sizeof(kept), 0) == (ssize_t)sizeof(kept) &&
		       !memcmp(&kept, state, sizeof(kept));

	if (fd >= 0)
		close(fd);
	return is_same;
}

int trc_cache_find_model(const struct trc_cache_key *key, struct trc_cache_state *state,
			 bool *is_checked)
{
	struct stat st;
	int fd = find_file(key, &models, &st);

	*is_checked = false;
	if (fd < 0)
		return -1;
	trc_cache_state_make(state, fd);
	*is_checked = was_checked(key, state);
	futimens(fd, NULL);
	trc_cache_state_make(state, fd);
	return fd;
}

void trc_cache_keep_checked(const struct trc_cache_key *key, const struct trc_cache_state *state)
{
	int dir = *key->text && *state->text ? open_dir(true) : -1, fd;
	char made[NAME_BYTES];
	bool is_whole;

	if (dir < 0)
		return;
	fd = open_made(dir, &checks, made);
	if (fd >= 0) {
		is_whole = write_whole(fd, (const uint8_t *)state, sizeof(*state));
		is_whole = !close(fd) && is_whole;
		put_made(dir, key, &checks, made, is_whole);
	}
	close(dir);
}

bool trc_cache_begin_model(struct trc_cache_making *making, const struct trc_cache_key *key)
{
	struct statvfs disk;

	*making = (struct trc_cache_making){
		.dir = -1, .fd = -1, .why = "no file can be made in its directory"};
	if (*key->text)
		making->dir = open_dir_or_say(true, &making->why);
	if (making->dir < 0)
		return false;
	if (!fstatvfs(making->dir, &disk)) {
		making->most_bytes = (uint64_t)disk.f_bavail * disk.f_frsize / 4;
		if (making->most_bytes > models.most_bytes)
			making->most_bytes = models.most_bytes;
		making->fd = open_made(making->dir, &models, making->name);
	}
	if (making->fd < 0)
		close(making->dir);
	return making->fd >= 0;
}

bool trc_cache_end_model(struct trc_cache_making *making, const struct trc_cache_key *key,
			 bool is_whole)
{
	bool is_kept;

	is_whole = !close(making->fd) && is_whole;
	is_kept = put_made(making->dir, key, &models, making->name, is_whole);
	close(making->dir);
	return is_kept;
}
