/* utf8.c - see utf8.h. */
#include <stdio.h>
#include <string.h>
#include "utf8.h"

/*
 * Unicode 15.1: Cc, Bidi_Control, Default_Ignorable_Code_Point, the separators of lines and
 * paragraphs, and the format characters that mark other text (annotations, shorthand, musical
 * notation, hieroglyphs).  First and last, rising.
 */
static const uint32_t unseen[][2] = {
	{0x00, 0x1f},	    {0x7f, 0x9f},	{0xad, 0xad},	    {0x34f, 0x34f},
	{0x61c, 0x61c},	    {0x115f, 0x1160},	{0x17b4, 0x17b5},   {0x180b, 0x180f},
	{0x200b, 0x200f},   {0x2028, 0x202e},	{0x2060, 0x206f},   {0x3164, 0x3164},
	{0xfe00, 0xfe0f},   {0xfeff, 0xfeff},	{0xffa0, 0xffa0},   {0xfff0, 0xfffb},
	{0x13430, 0x1343f}, {0x1bca0, 0x1bca3}, {0x1d173, 0x1d17a}, {0xe0000, 0xe0fff},
};

bool trc_utf8_is_seen(uint32_t code)
{
	for (size_t i = 0; i < sizeof(unseen) / sizeof(unseen[0]) && unseen[i][0] <= code; i++)
		if (code <= unseen[i][1])
			return false;
	return true;
}

static size_t escape(char *to, unsigned char byte)
{
	switch (byte) {
	case '\n':
		return (size_t)sprintf(to, "\\n");
	case '\t':
		return (size_t)sprintf(to, "\\t");
	case '\r':
		return (size_t)sprintf(to, "\\r");
	default:
		return (size_t)sprintf(to, "\\x%02x", byte);
	}
}

size_t trc_utf8_escape(char *out, size_t out_bytes, const char *bytes, size_t n)
{
	enum { WIDEST = 4 * 4 }; /* four bytes of a character, each as \xHH */
	size_t used = 0;

	for (size_t i = 0; i < n;) {
		char one[WIDEST + 1];
		uint32_t code = 0;
		size_t length = trc_utf8_get(bytes + i, n - i, &code), n_one = 0;
		size_t end = i + (length ? length : 1);

		if (length && trc_utf8_is_seen(code)) {
			memcpy(one, bytes + i, length);
			n_one = length;
		} else {
			for (size_t at = i; at < end; at++)
				n_one += escape(one + n_one, (unsigned char)bytes[at]);
		}
		if (used + n_one >= out_bytes)
			break;
		memcpy(out + used, one, n_one);
		used += n_one;
		i = end;
	}
	out[used] = '\0';
	return used;
}

const char *trc_utf8_ascii(char text[static 13], uint32_t code)
{
	if (code < 0x10000)
		snprintf(text, 13, "\\u%04x", code & 0xffff);
	else
		snprintf(text, 13, "\\u%04x\\u%04x", (0xd800 + ((code - 0x10000) >> 10)) & 0xffff,
			 0xdc00 + (code & 0x3ff));
	return text;
}
