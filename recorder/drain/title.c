/* title.c - see title.h.  Formats text by code of its own, as trace_info.c does. */
#include "title.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include "format/raw.h"

/* Arguments come separated by zeros, and programs that write a title there fill the rest with zeros or
 * blanks.  With blanks between them they are one line. */
static size_t one_line(char *text, size_t n_bytes)
{
	while (n_bytes && (!text[n_bytes - 1] || text[n_bytes - 1] == ' '))
		n_bytes--;
	for (size_t i = 0; i < n_bytes; i++)
		if (!text[i])
			text[i] = ' ';
	text[n_bytes] = '\0';
	return n_bytes;
}

void trc_title_read(char title[TRC_TITLE_BYTES], int pid)
{
	char path[32], text[TRC_TITLE_BYTES];
	long n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/cmdline", pid);
	fd = (int)trc_raw4(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
	if (fd < 0)
		return;
	n = trc_raw3(SYS_read, fd, text, sizeof(text) - 1);
	trc_raw1(SYS_close, fd);
	if (n > 0 && one_line(text, (size_t)n))
		memcpy(title, text, sizeof(text));
}

const char *trc_title_if_changed(const char *title, const char *command, size_t command_bytes)
{
	char before[TRC_TITLE_BYTES];
	size_t n = command_bytes < sizeof(before) ? command_bytes : sizeof(before);

	memcpy(before, command, n);
	before[n - 1] = '\0';
	one_line(before, n - 1);
	return *title && strcmp(title, before) != 0 ? title : NULL;
}
