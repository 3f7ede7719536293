/* ring_owner.c - see ring_owner.h */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "recorder/shared/boot_id.h"
#include "ring_owner.h"

#define NS_UNKNOWN UINT64_C(0)
#define NS_INITIAL UINT64_C(0xeffffffc) /* PROC_PID_INIT_INO */
enum { STATUS_BYTES = 8192 };

/* ---- files of /proc -------------------------------------------------------------------- */

/* A small file of /proc, zero-terminated; its length, 0 if it cannot be read. */
static size_t owner_file_read(const char *path, char *text, size_t n_bytes)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, n_bytes - 1);

	if (fd >= 0)
		close(fd);
	text[n > 0 ? n : 0] = '\0';
	return n > 0 ? (size_t)n : 0;
}

/* The inode of a namespace ("pid", "time"); 0 = it cannot be told. */
static uint64_t namespace_of(const char *pid, const char *kind)
{
	char path[64];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%s/ns/%s", pid, kind);
	return stat(path, &st) ? NS_UNKNOWN : (uint64_t)st.st_ino;
}

/* State and start time (fields 3 and 22) of /proc/PID/stat; false: there is no such process. */
static bool process_stat(uint32_t pid, char *state, uint64_t *start)
{
	char path[40], text[1024];
	const char *at;

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/stat", pid);
	if (!owner_file_read(path, text, sizeof(text)))
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

/* Whether the process has the file mapped; `unknown` if that cannot be told. */
static bool process_maps(uint32_t pid, ino_t inode, bool unknown)
{
	char path[40], line[PATH_MAX + 128];
	uint64_t found;
	bool any = false, mapped = false;
	FILE *maps;

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/maps", pid);
	maps = fopen(path, "re");
	if (!maps)
		return unknown;
	while (!mapped && fgets(line, sizeof(line), maps)) {
		any = true;
		mapped = sscanf(line, "%*s %*s %*s %*s %" SCNu64, &found) == 1 &&
			 found == (uint64_t)inode;
	}
	fclose(maps);
	return mapped || (!any && unknown);
}

/* /proc is mounted for our own namespace: the pids in it are those that we know. */
static bool proc_is_ours(void)
{
	char text[16];
	ssize_t n = readlink("/proc/self", text, sizeof(text) - 1);

	text[n > 0 ? n : 0] = '\0';
	return strtoul(text, NULL, 10) == (unsigned long)getpid();
}

uint64_t trc_namespace_here(void)
{
	return namespace_of("self", "pid");
}

bool trc_ring_is_elsewhere(const struct trc_shared *h)
{
	uint64_t here = trc_namespace_here();

	return h->pid_namespace != NS_UNKNOWN && here != NS_UNKNOWN && h->pid_namespace != here;
}

/* Its start, as it wrote it down; in another time namespace, that is no time of ours. */
static bool starts_differ(uint32_t pid, const struct trc_shared *h, uint64_t start)
{
	char text[16];

	if (!h->process_start || h->process_start == start)
		return false;
	snprintf(text, sizeof(text), "%" PRIu32, pid);
	return namespace_of(text, "time") == namespace_of("self", "time");
}

/* ---- other namespaces ------------------------------------------------------------------ */

/* The last of its pids, or of a thread's, which is what it is called where it lives; 0 = it is gone,
 * or lives in the namespace of this /proc. */
static uint32_t inner_pid(const char *path)
{
	static const char key[] = "\nNSpid:\t";
	char text[STATUS_BYTES], *end;
	unsigned long outer, inner;

	if (!owner_file_read(path, text, sizeof(text)) || !(end = strstr(text, key)))
		return 0;
	outer = inner = strtoul(end + sizeof(key) - 1, &end, 10);
	if (*end != '\t')
		return 0;
	while (*end == '\t')
		inner = strtoul(end + 1, &end, 10);
	return outer ? (uint32_t)inner : 0;
}

uint32_t trc_tid_inside(uint32_t pid, uint32_t tid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/task/%" PRIu32 "/status", pid, tid);
	return inner_pid(path);
}

struct wanted {
	uint32_t pid; /* there */
	uint64_t pid_namespace;
	const struct trc_shared *header; /* NULL = only the namespace tells */
	ino_t inode;
};

/* Namespaces, where they can be told; else what it has mapped, and when it began. */
static bool owner_is_wanted(const char *pid, const struct wanted *wanted)
{
	uint32_t outer = (uint32_t)strtoul(pid, NULL, 10);
	uint64_t namespace = namespace_of(pid, "pid"), start = 0;
	char path[32], state;

	snprintf(path, sizeof(path), "/proc/%.16s/status", pid);
	if (inner_pid(path) != wanted->pid)
		return false;
	if (namespace != NS_UNKNOWN && wanted->pid_namespace != NS_UNKNOWN)
		return namespace == wanted->pid_namespace;
	if (!wanted->header)
		return false;
	return process_maps(outer, wanted->inode, false) ||
	       (wanted->header->process_start && process_stat(outer, &state, &start) &&
		start == wanted->header->process_start);
}

/* What it is called here; 0 = it is not here. */
static uint32_t find_inside(const struct wanted *wanted)
{
	DIR *proc = proc_is_ours() ? opendir("/proc") : NULL;
	const struct dirent *e;
	uint32_t found = 0;

	while (proc && !found && (e = readdir(proc)))
		if (e->d_name[0] >= '1' && e->d_name[0] <= '9' && strlen(e->d_name) < 11 &&
		    owner_is_wanted(e->d_name, wanted))
			found = (uint32_t)strtoul(e->d_name, NULL, 10);
	if (proc)
		closedir(proc);
	return found;
}

/* Who is not found is nowhere. */
static bool sees_all(void)
{
	return trc_namespace_here() == NS_INITIAL && proc_is_ours();
}

static struct wanted wanted_of(const struct trc_shared *h, ino_t inode)
{
	return (struct wanted){h->pid, h->pid_namespace, h, inode};
}

bool trc_pid_is_free(uint32_t pid, uint64_t pid_namespace)
{
	const struct wanted wanted = {.pid = pid, .pid_namespace = pid_namespace};

	if (!pid_namespace || pid_namespace == trc_namespace_here())
		return kill((pid_t)pid, 0) && errno == ESRCH;
	return sees_all() && !find_inside(&wanted);
}

/* ---- is the owner alive? --------------------------------------------------------------- */

bool trc_process_has_ended(uint32_t pid)
{
	uint64_t start;
	char state;

	if (!process_stat(pid, &state, &start))
		return kill((pid_t)pid, 0) && errno == ESRCH;
	return state == 'Z' || state == 'X';
}

uint32_t trc_ring_owner_inside(const struct trc_shared *h, ino_t inode)
{
	const struct wanted wanted = wanted_of(h, inode);

	return find_inside(&wanted);
}

bool trc_ring_owner_is(uint32_t pid, const struct trc_shared *h, ino_t inode, bool inside)
{
	const struct wanted wanted = wanted_of(h, inode);
	char text[16], state;
	uint64_t start;

	snprintf(text, sizeof(text), "%" PRIu32, pid);
	if (inside)
		return owner_is_wanted(text, &wanted);
	if (!process_stat(pid, &state, &start))
		return access("/proc/self/stat", R_OK) != 0; /* there is no /proc to ask */
	return !starts_differ(pid, h, start);
}

/* After it executed another program, its pid and start time are the same: but it has the file
 * mapped no more. */
static enum trc_ring_owner find_here(const struct trc_shared *h, ino_t inode)
{
	uint64_t start;
	char state;

	if (!process_stat(h->pid, &state, &start) || state == 'Z' || state == 'X' ||
	    starts_differ(h->pid, h, start))
		return TRC_OWNER_DEAD;
	return process_maps(h->pid, inode, true) ? TRC_OWNER_ALIVE : TRC_OWNER_DEAD;
}

static enum trc_ring_owner find_elsewhere(const struct trc_shared *h, ino_t inode, uint32_t *pid)
{
	uint32_t found = trc_ring_owner_inside(h, inode);

	if (!found)
		return sees_all() ? TRC_OWNER_DEAD : TRC_OWNER_UNKNOWN;
	*pid = found;
	return !trc_process_has_ended(found) && process_maps(found, inode, true) ? TRC_OWNER_ALIVE
										 : TRC_OWNER_DEAD;
}

enum trc_ring_owner trc_ring_owner_find(const struct trc_shared *h, ino_t inode, uint32_t *pid)
{
	*pid = h->pid;
	if (!trc_boot_is(h->boot_id))
		return TRC_OWNER_DEAD;
	return trc_ring_is_elsewhere(h) ? find_elsewhere(h, inode, pid) : find_here(h, inode);
}
