/*
 * field.h - names and labels of the program, which may hold anything, in lines of text.
 */
#ifndef TRC_RECORDER_PROFILE_FIELD_H
#define TRC_RECORDER_PROFILE_FIELD_H

#include <stdint.h>
#include <stdio.h>

/* As one field of one line. */
static inline void trc_field_put(FILE *f, const char *name)
{
	for (; *name; name++)
		putc((unsigned char)*name < 0x20 || *name == 0x7f ? '?' : *name, f);
}

/* In quotation marks, as JSON has it. */
static inline void trc_field_quote(FILE *f, const char *text, uint32_t n_bytes)
{
	putc('"', f);
	for (uint32_t i = 0; i < n_bytes; i++) {
		unsigned char c = (unsigned char)text[i];

		if (c == '"' || c == '\\')
			fprintf(f, "\\%c", c);
		else if (c < 0x20 || c == 0x7f)
			fprintf(f, "\\u%04x", c);
		else
			putc(c, f);
	}
	putc('"', f);
}

#endif
