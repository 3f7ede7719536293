/* assemble_main.c - trc-assemble IN.txt OUT.trc: see assemble.h.  IN may be "-". */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "assemble.h"

/* All of a stream as a string; the caller's. */
static char *read_all(FILE *in)
{
	size_t n_bytes = 0, room = 1 << 16;
	char *text = malloc(room);

	while (text) {
		char *grown;

		n_bytes += fread(text + n_bytes, 1, room - n_bytes - 1, in);
		if (feof(in) || ferror(in))
			break;
		room *= 2;
		grown = realloc(text, room);
		if (!grown)
			free(text);
		text = grown;
	}
	if (text)
		text[n_bytes] = 0;
	return text;
}

int main(int argc, char **argv)
{
	char error[256];
	char *text;
	FILE *in;

	if (argc != 3) {
		fprintf(stderr, "usage: trc-assemble IN.txt|- OUT.trc\n");
		return 2;
	}
	in = strcmp(argv[1], "-") ? fopen(argv[1], "r") : stdin;
	text = in ? read_all(in) : NULL;
	if (!text) {
		fprintf(stderr, "trc-assemble: %s: %s\n", argv[1], strerror(errno));
		return 1;
	}
	if (trc_assemble_file(text, argv[2], error) < 0) {
		fprintf(stderr, "trc-assemble: %s: %s\n", argv[1], error);
		return 1;
	}
	free(text);
	return in == stdin ? 0 : fclose(in) != 0;
}
