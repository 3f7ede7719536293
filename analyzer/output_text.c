/* output_text.c - see output_text.h. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "analyzer/output_text.h"
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

static char *put_escape(char *to, unsigned char byte)
{
	switch (byte) {
	case '\n':
		return stpcpy(to, "\\n");
	case '\t':
		return stpcpy(to, "\\t");
	case '\r':
		return stpcpy(to, "\\r");
	default:
		return to + sprintf(to, "\\x%02x", byte);
	}
}

char *trc_text_printable(const char *bytes, size_t n)
{
	char *text = malloc(4 * n + 1), *to = text;

	for (size_t i = 0; text && i < n;) {
		uint32_t code = 0;
		size_t length = trc_utf8_get(bytes + i, n - i, &code);

		if (length && code >= 0x20 && (code < 0x7f || code >= 0xa0)) {
			memcpy(to, bytes + i, length);
			to += length;
			i += length;
			continue;
		}
		for (size_t end = i + (length ? length : 1); i < end; i++)
			to = put_escape(to, (unsigned char)bytes[i]);
	}
	if (text)
		*to = '\0';
	return text;
}

size_t trc_text_width(const char *text)
{
	size_t n = 0;

	for (; *text; text++)
		n += (*text & 0xc0) != 0x80;
	return n;
}
