/* output_text.h - text from a trace, made safe to show. */
#ifndef TRC_ANALYZER_EXPORT_OUTPUT_TEXT_H
#define TRC_ANALYZER_EXPORT_OUTPUT_TEXT_H

#include <stddef.h>

/* A copy that is UTF-8 without zeros: what is not becomes U+FFFD.  The caller's, or NULL. */
char *trc_text_utf8(const char *bytes, size_t n_bytes);
/* A copy that people see as one line, as trc_utf8_escape() makes it.  The caller's, or NULL. */
char *trc_text_printable(const char *bytes, size_t n_bytes);
/* Characters in a text, as far as UTF-8 goes. */
size_t trc_text_width(const char *text);

#endif
