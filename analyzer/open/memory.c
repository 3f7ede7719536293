/* memory.c - see memory.h. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include "memory.h"

static uint64_t bound_bytes;		 /* that was set; 0 = none */
static rlim_t limit_before, limit_bound; /* as RLIMIT_DATA was, and is since */

enum { PATH_BYTES = 4096, LINE_BYTES = 4096 };

uint64_t trc_memory_parse(const char *text)
{
	static const char units[] = "KMG";
	unsigned int shift = 0;
	uint64_t bytes;
	char *end;

	if (*text < '0' || *text > '9')
		return 0;
	errno = 0;
	bytes = strtoull(text, &end, 10);
	if (*end) {
		const char *unit =
			strchr(units, *end >= 'a' && *end <= 'z' ? *end - 'a' + 'A' : *end);

		if (!unit || end[1])
			return 0;
		shift = 10 * (unsigned int)(unit - units + 1);
	}
	return errno || bytes > UINT64_MAX >> shift ? 0 : bytes << shift;
}

/* The number behind `key` in a file of lines, or the file's own without one; UINT64_MAX: none. */
static uint64_t number_in(const char *path, const char *key)
{
	FILE *in = fopen(path, "re");
	uint64_t number = UINT64_MAX;
	char line[LINE_BYTES];

	while (in && fgets(line, sizeof(line), in)) {
		if (strncmp(line, key, strlen(key)) != 0)
			continue;
		/* "max" is no number. */
		if (sscanf(line + strlen(key), " %" SCNu64, &number) != 1)
			number = UINT64_MAX;
		break;
	}
	if (in)
		fclose(in);
	return number;
}

/* The lowest limit of a control group and all around it: group is "/a/b", and is cut. */
static uint64_t group_limit(const char *top, char *group, const char *file)
{
	uint64_t least = UINT64_MAX, one;
	char path[2 * PATH_BYTES];
	char *slash;

	for (;;) {
		snprintf(path, sizeof(path), "%s%s/%s", top, group, file);
		one = number_in(path, "");
		least = one < least ? one : least;
		slash = strrchr(group, '/');
		if (!slash)
			return least;
		*slash = '\0';
	}
}

/* Of version 2 ("0::/a/b"), and of version 1 ("5:memory:/a/b"). */
static uint64_t groups_limit(void)
{
	FILE *in = fopen("/proc/self/cgroup", "re");
	uint64_t least = UINT64_MAX, one;
	char line[PATH_BYTES], *group;

	while (in && fgets(line, sizeof(line), in)) {
		line[strcspn(line, "\n")] = '\0';
		group = strchr(line, '/');
		if (!group)
			continue;
		if (!strncmp(line, "0::", 3))
			one = group_limit("/sys/fs/cgroup", group, "memory.max");
		else if (strstr(line, ":memory:"))
			one = group_limit("/sys/fs/cgroup/memory", group, "memory.limit_in_bytes");
		else
			continue;
		least = one < least ? one : least;
	}
	if (in)
		fclose(in);
	return least;
}

/* UINT64_MAX = nobody says. */
static uint64_t fair_share(void)
{
	uint64_t groups = groups_limit(), free_kb = number_in("/proc/meminfo", "MemAvailable:");
	uint64_t bytes = free_kb < UINT64_MAX / 1024 ? free_kb * 1024 : UINT64_MAX;

	bytes = groups < bytes ? groups : bytes;
	return bytes == UINT64_MAX ? bytes : bytes / 4 * 3;
}

void trc_memory_bound(uint64_t bytes)
{
	uint64_t before_kb = number_in("/proc/self/status", "VmData:"), sum;
	uint64_t bound = bytes ? bytes : fair_share();
	struct rlimit limit;

	/* What is there already is not the answer's; sanitizers reserve terabytes. */
	if (before_kb > UINT64_MAX / 1024 || __builtin_add_overflow(bound, before_kb * 1024, &sum))
		return;
	if (getrlimit(RLIMIT_DATA, &limit) || limit.rlim_cur <= sum || limit.rlim_max <= sum)
		return;
	limit_before = limit.rlim_cur;
	limit_bound = (rlim_t)sum;
	limit.rlim_cur = limit_bound;
	if (!setrlimit(RLIMIT_DATA, &limit))
		bound_bytes = bound;
}

void trc_memory_lift(bool lifted)
{
	struct rlimit limit;

	if (!bound_bytes || getrlimit(RLIMIT_DATA, &limit))
		return;
	limit.rlim_cur = lifted ? limit_before : limit_bound;
	setrlimit(RLIMIT_DATA, &limit);
}

static void memory_bytes_text(uint64_t n, char text[32])
{
	if (n < UINT64_C(10) << 20)
		snprintf(text, 32, "%" PRIu64 " kB", n >> 10);
	else if (n < UINT64_C(10) << 30)
		snprintf(text, 32, "%" PRIu64 " MB", n >> 20);
	else
		snprintf(text, 32, "%" PRIu64 " GB", n >> 30);
}

void trc_memory_hint(char *text, size_t text_bytes)
{
	struct rlimit data = {RLIM_INFINITY, RLIM_INFINITY}, space = data;
	rlim_t least;
	char allowed[32];

	getrlimit(RLIMIT_DATA, &data);
	getrlimit(RLIMIT_AS, &space);
	least = space.rlim_cur < data.rlim_cur ? space.rlim_cur : data.rlim_cur;
	if (bound_bytes && least == data.rlim_cur)
		memory_bytes_text(bound_bytes, allowed);
	else
		memory_bytes_text(least, allowed);
	if (least == RLIM_INFINITY)
		snprintf(text, text_bytes, "%s", "");
	else if (bound_bytes && least == data.rlim_cur)
		snprintf(text, text_bytes, ": %s is the bound; --memory SIZE sets another",
			 allowed);
	else
		snprintf(text, text_bytes, ": %s is the bound that 'ulimit' sets", allowed);
}
