/* json.c - see json.h. */
#include "json.h"

#include <stdint.h>
#include "format/utf8.h"

void trc_json_text(FILE *out, const char *text)
{
	char ascii[13];

	fputc('"', out);
	while (*text) {
		uint32_t code = 0xfffd;
		size_t length = trc_utf8_get(text, SIZE_MAX, &code);

		if (length && code != '"' && code != '\\' && trc_utf8_is_seen(code))
			fwrite(text, 1, length, out);
		else
			fputs(trc_utf8_ascii(ascii, code), out);
		text += length ? length : 1;
	}
	fputc('"', out);
}
