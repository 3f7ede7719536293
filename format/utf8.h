/* utf8.h - characters of text that may be no valid UTF-8: names and labels come from the recorded
 * program. */
#ifndef TRC_FORMAT_UTF8_H
#define TRC_FORMAT_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The number of bytes of the first character of text[0..n), 1 to 4; *code is the character's
 * number.  0 = the bytes begin with no valid character (RFC 3629: the shortest form, no surrogate,
 * at most U+10FFFF).  For a terminated string n may be SIZE_MAX: the zero is no part of a longer
 * character.
 */
static inline size_t trc_utf8_get(const char *text, size_t n, uint32_t *code)
{
	static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
	const unsigned char *p = (const unsigned char *)text;
	size_t length;

	if (!n)
		return 0;
	length = p[0] < 0x80   ? 1
		 : p[0] < 0xc2 ? 0
		 : p[0] < 0xe0 ? 2
		 : p[0] < 0xf0 ? 3
		 : p[0] < 0xf5 ? 4
			       : 0;
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

/* False for characters that are invisible or change how their neighbours look: control characters,
 * characters that turn the direction of writing, ignorable characters, line separators. */
bool trc_utf8_is_seen(uint32_t code);

/*
 * Writes `text` as one line for people: invisible characters, and bytes that are no UTF-8, become
 * \n, \t, \r or \xHH.  The line is cut at a character to out_bytes > 0, with the terminating zero;
 * 4 * n + 1 bytes are always enough.  Returns the length.
 */
size_t trc_utf8_escape(char *out, size_t out_bytes, const char *bytes, size_t n);

/* The character in ASCII, as JSON and JavaScript write it: \uXXXX, or two of them.  Returns text. */
const char *trc_utf8_ascii(char text[static 13], uint32_t code);

#endif
