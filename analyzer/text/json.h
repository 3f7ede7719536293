/* json.h - texts and numbers as JSON. */
#ifndef TRC_ANALYZER_TEXT_JSON_H
#define TRC_ANALYZER_TEXT_JSON_H

#include <stdio.h>

/* Writes a text with its quotes.  Invisible characters are escaped, and bytes that are no UTF-8 become U+FFFD. */
void trc_json_text(FILE *out, const char *text);

#endif
