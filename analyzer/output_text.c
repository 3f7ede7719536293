/* output_text.c - see output_text.h. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "analyzer/output_text.h"

/* How many bytes the character at p takes; 0 = it is not UTF-8.  *code is its number. */
static size_t character(const unsigned char *p, size_t n, uint32_t *code)
{
	static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
	size_t length = p[0] < 0x80 ? 1 : p[0] < 0xc2 ? 0 : p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3
			: p[0] < 0xf5 ? 4 : 0;

	if (!length || length > n)
		return 0;
	*code = length == 1 ? p[0] : p[0] & (0x7fu >> length);
	for (size_t i = 1; i < length; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return 0;
		*code = *code << 6 | (p[i] & 0x3f);
	}
	if (*code < least[length] || *code > 0x10ffff || (*code >= 0xd800 && *code < 0xe000))
		return 0;
	return length;
}

char *trc_text_utf8(const char *bytes, size_t n)
{
	char *text = malloc(3 * n + 1), *to = text;

	for (size_t i = 0; text && i < n;) {
		uint32_t code = 0;
		size_t length = character((const unsigned char *)bytes + i, n - i, &code);

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
		size_t length = character((const unsigned char *)bytes + i, n - i, &code);

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
