/* json.c - see json.h. */
#include "json.h"

#include <stdint.h>
#include "format/utf8.h"

void trc_json_text(FILE *out, const char *text)
{
	fputc('"', out);
	while (*text) {
		uint32_t code = 0xfffd;
		size_t length = trc_utf8_get(text, SIZE_MAX, &code);

		if (length && code != '"' && code != '\\' && trc_utf8_is_seen(code))
			fwrite(text, 1, length, out);
		else if (code < 0x10000)
			fprintf(out, "\\u%04x", code);
		else
			fprintf(out, "\\u%04x\\u%04x", 0xd800 + ((code - 0x10000) >> 10),
				0xdc00 + (code & 0x3ff));
		text += length ? length : 1;
	}
	fputc('"', out);
}
