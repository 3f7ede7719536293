/* symbols_jit.c - see symbols_jit.h. */
#include "symbols_jit.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

enum {
	BYTES_MAX = 256 << 20,
	LOOK_BACK_MAX = 64, /* entries that begin before an address, and may reach over it */
};

struct entry {
	uint64_t start, limit;
	uint32_t line; /* its number in the file (J2) */
	uint32_t name; /* where it begins in the text */
};

struct trc_jit {
	char *text; /* the file, its names ended by zeros */
	struct entry *entry;
	size_t n, room;
};

static uint64_t jit_info_number(const struct trc_reader *r, const char *key)
{
	const char *text = trc_reader_info_get(r, key);

	return text ? strtoull(text, NULL, 10) : 0;
}

static bool is_of_this_machine(const struct trc_reader *r)
{
	const char *host = trc_reader_info_get(r, "hostname");
	struct utsname here;

	return host && !uname(&here) && !strcmp(host, here.nodename);
}

static bool is_believed(int fd, uint64_t start_ns, struct stat *status)
{
	return !fstat(fd, status) && S_ISREG(status->st_mode) &&
	       (status->st_uid == geteuid() || status->st_uid == 0) &&
	       status->st_size <= BYTES_MAX &&
	       (uint64_t)status->st_mtim.tv_sec >= start_ns / 1000000000;
}

/* All of it, and a zero; NULL = it is not there, or there is no memory. */
static char *jit_file_read(int fd, size_t n_bytes)
{
	char *text = malloc(n_bytes + 1);
	size_t at = 0;
	ssize_t got;

	while (text && at < n_bytes && (got = read(fd, text + at, n_bytes - at)) > 0)
		at += (size_t)got;
	if (text)
		text[at] = '\0';
	return text;
}

static bool add_entry(struct trc_jit *jit, struct entry entry)
{
	if (jit->n == jit->room) {
		size_t room = jit->room ? 2 * jit->room : 1024;
		struct entry *grown = reallocarray(jit->entry, room, sizeof(*grown));

		if (!grown)
			return false;
		jit->entry = grown;
		jit->room = room;
	}
	jit->entry[jit->n++] = entry;
	return true;
}

/* One line, ended by a zero.  Lines that are not understood are passed over. */
static bool take_line(struct trc_jit *jit, char *line, uint32_t number)
{
	char *end;
	uint64_t start = strtoull(line, &end, 16), n_bytes;

	if (end == line || *end != ' ')
		return true;
	line = end;
	n_bytes = strtoull(line, &end, 16);
	if (end == line || *end != ' ' || !end[1] || !n_bytes || start + n_bytes < start)
		return true;
	return add_entry(jit, (struct entry){.start = start,
					     .limit = start + n_bytes,
					     .line = number,
					     .name = (uint32_t)(end + 1 - jit->text)});
}

static bool take_lines(struct trc_jit *jit)
{
	uint32_t number = 0;

	for (char *line = jit->text, *next; *line; line = next) {
		char *end = strchr(line, '\n');

		if (!end) /* it is being written */
			break;
		next = end + 1;
		*end = '\0';
		if (!take_line(jit, line, number++))
			return false;
	}
	return true;
}

static int jit_by_start(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->line < y->line ? -1 : x->line > y->line;
}

struct trc_jit *trc_jit_open(const struct trc_reader *r)
{
	struct trc_jit *jit = calloc(1, sizeof(*jit));
	struct stat status;
	char path[48];
	int fd;

	snprintf(path, sizeof(path), TRC_JIT_MAP, (unsigned long long)jit_info_number(r, "pid"));
	fd = jit && is_of_this_machine(r)
		     ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW)
		     : -1;
	if (fd >= 0 && is_believed(fd, jit_info_number(r, "start_time"), &status))
		jit->text = jit_file_read(fd, (size_t)status.st_size);
	if (fd >= 0)
		close(fd);
	if (!jit || !jit->text || !take_lines(jit)) {
		trc_jit_close(jit);
		return NULL;
	}
	if (jit->n)
		qsort(jit->entry, jit->n, sizeof(*jit->entry), jit_by_start);
	return jit;
}

void trc_jit_close(struct trc_jit *jit)
{
	if (!jit)
		return;
	free(jit->text);
	free(jit->entry);
	free(jit);
}

const char *trc_jit_find(const struct trc_jit *jit, uint64_t address)
{
	const struct entry *best = NULL;
	size_t low = 0, high = jit ? jit->n : 0;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (jit->entry[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	for (size_t i = low; i > 0 && low - i < LOOK_BACK_MAX; i--) {
		const struct entry *e = &jit->entry[i - 1];

		if (address < e->limit && (!best || e->line > best->line))
			best = e;
	}
	return best ? jit->text + best->name : NULL;
}
