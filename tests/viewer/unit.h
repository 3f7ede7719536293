/* unit.h - the viewer's unit tests, by file. */
#ifndef TRC_TESTS_VIEWER_UNIT_H
#define TRC_TESTS_VIEWER_UNIT_H

#include <check.h>

TCase *unit_page(void);
TCase *unit_tracks(void);
TCase *unit_html(void);
TCase *unit_rows(void);

#endif
