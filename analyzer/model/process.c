/* process.c - see process.h. */
#include "process.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *program_base_name(const char *path, size_t n)
{
	while (n && path[n - 1] != '/')
		n--;
	return path + n;
}

/* Its end in `text`: the first argument, if it is known where that ends. */
static size_t first_argument(const struct trc_reader *reader, const char **text)
{
	const char *argv0 = trc_reader_info_get(reader, "argv0");
	const char *command = trc_reader_info_get(reader, "command");

	*text = argv0 ? argv0 : command ? command : "";
	return argv0 ? strlen(argv0) : strcspn(*text, " ");
}

/* A process may have been forked from one that had written its title over the arguments: "daemon: idle/3".  Nothing
 * behind a colon or a blank is part of a path then. */
static const char *own_name(const char *text, size_t n)
{
	size_t word = strcspn(text, " :");

	return program_base_name(text, *text == '/' || *text == '.' || word > n ? n : word);
}

const char *trc_program_name(char out[TRC_PROGRAM_NAME_BYTES], const struct trc_reader *reader)
{
	const char *text, *name;
	size_t n = first_argument(reader, &text);

	name = own_name(text, n);
	snprintf(out, TRC_PROGRAM_NAME_BYTES, "%.*s", (int)(n - (size_t)(name - text)), name);
	return out;
}

const char *trc_process_title(const struct trc_reader *reader)
{
	const char *title = trc_reader_info_get(reader, "title");

	return title && *title ? title : NULL;
}

char *trc_process_name(const struct trc_reader *reader)
{
	const char *title = trc_process_title(reader), *text;
	const char *command = trc_reader_info_get(reader, "command");
	size_t n = first_argument(reader, &text);

	if (title)
		return strdup(title);
	if (!command)
		command = text;
	if (strncmp(command, text, n) != 0)
		return strdup(command);
	return strdup(command + (own_name(text, n) - text));
}

const char *trc_module_name(char out[TRC_PROGRAM_NAME_BYTES], const struct trc_reader *reader,
			    const struct trc_module_entry *module)
{
	const char *exe = trc_reader_info_get(reader, "exe"), *name;

	if (exe && !strcmp(exe, module->path)) {
		trc_program_name(out, reader);
		/* A shell that somebody logs in to begins with a dash. */
		name = out + (*out == '-');
		if (*name && !strpbrk(name, " :"))
			return name;
	}
	snprintf(out, TRC_PROGRAM_NAME_BYTES, "%s",
		 program_base_name(module->path, strlen(module->path)));
	return out;
}
