/* procs.c - see procs.h. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "procs.h"

enum { LOOK_NS = 1000000000, FILE_BYTES = 4096, PROCS_MAX = 65536 };

/* ---- lists of procs -------------------------------------------------------------------- */

/* The next range of a list such as "0-3,8"; false at its end, or at what is none. */
static bool next_range(const char **at, unsigned long *first, unsigned long *last)
{
	char *end;

	while (**at == ',')
		(*at)++;
	if (**at < '0' || **at > '9')
		return false;
	*first = *last = strtoul(*at, &end, 10);
	if (*end == '-')
		*last = strtoul(end + 1, &end, 10);
	*at = end;
	return *first <= *last && *last < PROCS_MAX;
}

uint32_t trc_procs_common(const char *list, const char *other)
{
	unsigned long first, last, from, to;
	uint32_t n = 0;

	while (next_range(&list, &first, &last))
		for (const char *at = other; next_range(&at, &from, &to);)
			if (first <= to && from <= last)
				n += (uint32_t)((to < last ? to : last) -
						(from > first ? from : first)) +
				     1;
	return n;
}

/* ---- files ----------------------------------------------------------------------------- */

/* False if there is nothing to be read. */
static bool proc_file_read(const char *path, char text[FILE_BYTES])
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? 0 : read(fd, text, FILE_BYTES - 1);

	if (fd >= 0)
		close(fd);
	text[n > 0 ? n : 0] = '\0';
	return n > 0;
}

/* ---- quotas ---------------------------------------------------------------------------- */

uint32_t trc_procs_quota(const char *cpu_max)
{
	long long quota, period;

	if (sscanf(cpu_max, "%lld %lld", &quota, &period) != 2 || quota <= 0 || period <= 0 ||
	    quota / period >= PROCS_MAX)
		return 0;
	return (uint32_t)((quota + period - 1) / period);
}

/* What one cgroup allows: version 2 has one file, version 1 has two. */
static uint32_t group_quota(const char *dir, bool v2)
{
	char path[FILE_BYTES + 64], text[FILE_BYTES], period[FILE_BYTES];
	char both[64];

	if (v2) {
		snprintf(path, sizeof(path), "%s/cpu.max", dir);
		return proc_file_read(path, text) ? trc_procs_quota(text) : 0;
	}
	snprintf(path, sizeof(path), "%s/cpu.cfs_quota_us", dir);
	if (!proc_file_read(path, text))
		return 0;
	snprintf(path, sizeof(path), "%s/cpu.cfs_period_us", dir);
	if (!proc_file_read(path, period))
		return 0;
	snprintf(both, sizeof(both), "%.20s %.20s", text, period);
	return trc_procs_quota(both);
}

/* The least of a group and of those that it lies in. */
static uint32_t groups_quota(const char *root, const char *group, bool v2)
{
	char dir[FILE_BYTES];
	size_t root_bytes = strlen(root);
	uint32_t least = 0;

	if (snprintf(dir, sizeof(dir), "%s%s", root, group) >= (int)sizeof(dir))
		return 0;
	for (;;) {
		uint32_t n = group_quota(dir, v2);
		char *slash = strrchr(dir + root_bytes, '/');

		if (n && (!least || n < least))
			least = n;
		if (!slash)
			return least;
		*slash = '\0';
	}
}

/* True if "cpu" is among "cpu,cpuacct". */
static bool has_cpu(const char *controllers, size_t n)
{
	for (size_t i = 0; i < n;) {
		size_t word = strcspn(controllers + i, ",:");

		if (word == 3 && !memcmp(controllers + i, "cpu", 3))
			return true;
		i += word + 1;
	}
	return false;
}

/* One line of /proc/PID/cgroup: "4:cpu,cpuacct:/group", of version 2 "0::/group". */
static uint32_t line_quota(char *line)
{
	char *controllers = strchr(line, ':');
	char *group = controllers ? strchr(controllers + 1, ':') : NULL;

	if (!group)
		return 0;
	controllers++;
	if (controllers == group) {
		uint32_t n = groups_quota("/sys/fs/cgroup", group + 1, true);

		return n ? n : groups_quota("/sys/fs/cgroup/unified", group + 1, true);
	}
	return has_cpu(controllers, (size_t)(group - controllers))
		       ? groups_quota("/sys/fs/cgroup/cpu", group + 1, false)
		       : 0;
}

static uint32_t quota(int pid)
{
	char path[64], text[FILE_BYTES];
	char *rest = text, *line;
	uint32_t least = 0;

	snprintf(path, sizeof(path), "/proc/%d/cgroup", pid);
	if (!proc_file_read(path, text))
		return 0;
	while ((line = strsep(&rest, "\n"))) {
		uint32_t n = line_quota(line);

		if (n && (!least || n < least))
			least = n;
	}
	return least;
}

/* ---- looking --------------------------------------------------------------------------- */

/* 0 = it cannot be told: the process is gone. */
static uint32_t process_usable(int pid)
{
	static const char key[] = "\nCpus_allowed_list:\t";
	char path[64], status[FILE_BYTES], online[FILE_BYTES];
	const char *list;
	uint32_t n, most;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	list = proc_file_read(path, status) ? strstr(status, key) : NULL;
	if (!list)
		return 0;
	list += sizeof(key) - 1;
	if (!proc_file_read("/sys/devices/system/cpu/online", online))
		snprintf(online, sizeof(online), "0-%d", PROCS_MAX - 1);
	n = trc_procs_common(list, online);
	most = quota(pid);
	return most && most < n ? most : n;
}

void trc_procs_look(struct trc_procs *p, int pid, const _Atomic uint64_t *told, uint64_t now_ns,
		    bool force)
{
	uint64_t telling;
	uint32_t n;

	if (!force && p->seen_ns && now_ns - p->seen_ns < LOOK_NS)
		return;
	p->seen_ns = now_ns;
	n = process_usable(pid);
	/* relaxed, and after the look: what comes too late for E2 is told twice. */
	telling = told ? atomic_load_explicit(told, memory_order_relaxed) : 0;
	if (n && p->now && n != p->now && !(telling != p->told && (uint32_t)telling == n)) {
		if (p->n_changes == TRC_PROCS_CHANGES)
			trc_procs_drop(p, 1);
		p->change[p->n_changes++] = (struct trc_procs_change){now_ns, n};
	}
	if (n)
		p->now = n;
	p->told = telling;
}

void trc_procs_drop(struct trc_procs *p, unsigned int n)
{
	p->n_changes -= n;
	memmove(p->change, p->change + n, p->n_changes * sizeof(*p->change));
}
