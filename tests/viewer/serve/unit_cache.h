/* unit_cache.h - tests of pages that are kept on disk. */
#ifndef TRC_TESTS_VIEWER_SERVE_UNIT_CACHE_H
#define TRC_TESTS_VIEWER_SERVE_UNIT_CACHE_H

#include <check.h>

TCase *unit_cache(void);

#endif
