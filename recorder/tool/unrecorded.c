/* unrecorded.c - executed programs that are not recorded, as nothing can be preloaded into them.
 * Their callers leave files that tell of them (preload.c). */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "session.h"

enum { NAMED_MAX = 5, WORD_BYTES = 640 };

bool trc_unrecorded_is(const char *name)
{
	static const char suffix[] = ".unrecorded";
	size_t n = strlen(name);

	return n > sizeof(suffix) && !strcmp(name + n - sizeof(suffix) + 1, suffix);
}

static int is_unrecorded_entry(const struct dirent *e)
{
	return trc_unrecorded_is(e->d_name);
}

/* "/bin/su (set-user-ID)", made printable.  The caller might not be allowed to write it. */
static void unrecorded_word_read(const struct trc_tool_dir *dir, const char *name,
				 char text[WORD_BYTES])
{
	char path[PATH_MAX];
	ssize_t n;
	int fd;

	trc_tool_dir_file(dir, name, path);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	n = fd < 0 ? 0 : read(fd, text, WORD_BYTES - 1);
	if (fd >= 0)
		close(fd);
	text[n > 0 ? n : 0] = '\0';
	if (!*text)
		snprintf(text, WORD_BYTES, "a program whose caller could not write its name");
	for (char *c = text; *c; c++)
		if ((unsigned char)*c < ' ' || *c == 127)
			*c = ' ';
}

void trc_unrecorded_say(const struct trc_tool_dir *dir)
{
	char list[NAMED_MAX * (WORD_BYTES + 2)] = "", more[32] = "", word[WORD_BYTES];
	struct dirent **entry;
	int n = scandir(dir->path, &entry, is_unrecorded_entry, alphasort);
	size_t used = 0;

	for (int i = 0; i < n; i++) {
		if (i < NAMED_MAX) {
			unrecorded_word_read(dir, entry[i]->d_name, word);
			used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%s",
						 i ? ", " : "", word);
		}
		free(entry[i]);
	}
	if (n >= 0)
		free(entry);
	if (n > NAMED_MAX)
		snprintf(more, sizeof(more), ", and %d more", n - NAMED_MAX);
	if (n > 0)
		fprintf(stderr,
			"trace-record: not recorded, as the recorder is not loaded there: %s%s\n",
			list, more);
}
