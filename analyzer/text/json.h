/* json.h - texts and numbers as JSON. */
#ifndef TRC_ANALYZER_TEXT_JSON_H
#define TRC_ANALYZER_TEXT_JSON_H

#include <stdio.h>

/* With its quotes.  What people would not see is escaped, and what is no UTF-8 becomes U+FFFD. */
void trc_json_text(FILE *out, const char *text);

#endif
