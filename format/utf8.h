/* utf8.h - characters of text that may be none: names and labels come from the recorded program. */
#ifndef TRC_FORMAT_UTF8_H
#define TRC_FORMAT_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * How many of the n bytes at `text` its first character takes, 1 to 4, and *code is its number; 0
 * if they begin with no valid one (RFC 3629: the shortest form, no surrogate, at most U+10FFFF).
 * A terminating zero ends no character: of a string n may be SIZE_MAX.
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

/* False of what has no look of its own, or changes that of its neighbours: control characters,
 * those that turn the direction of writing, ignorable ones, separators of lines. */
bool trc_utf8_is_seen(uint32_t code);

/*
 * As one line for people: what is not seen, and bytes that are no UTF-8, become \n, \t, \r or \xHH.
 * Cut, at a character, to out_bytes with the terminating zero, 1 at least; 4 * n + 1 are always
 * enough.  Returns the length.
 */
size_t trc_utf8_escape(char *out, size_t out_bytes, const char *bytes, size_t n);

#endif
