/* output_text.c - see output_text.h. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "output_text.h"
#include "format/utf8.h"

char *trc_text_utf8(const char *bytes, size_t n)
{
	char *text = malloc(3 * n + 1), *to = text;

	for (size_t i = 0; text && i < n;) {
		uint32_t code = 0;
		size_t length = trc_utf8_get(bytes + i, n - i, &code);

		if (length && code) {
			memcpy(to, bytes + i, length);
			to += length;
		} else {
			memcpy(to, "\xef\xbf\xbd", 3);
			to += 3;
		}
		i += length ? length : 1;
	}
	if (text)
		*to = '\0';
	return text;
}

char *trc_text_printable(const char *bytes, size_t n)
{
	char *text = malloc(4 * n + 1);

	if (text)
		trc_utf8_escape(text, 4 * n + 1, bytes, n);
	return text;
}

size_t trc_text_width(const char *text)
{
	size_t n = 0;

	for (; *text; text++)
		n += (*text & 0xc0) != 0x80;
	return n;
}
