/* unit_html.h - a page that is written and read back, for tests of what it holds. */
#ifndef TRC_TESTS_VIEWER_UNIT_HTML_H
#define TRC_TESTS_VIEWER_UNIT_HTML_H

#include <check.h>
#include <stddef.h>
#include <stdint.h>
#include "viewer/html.h"

/* A part of the suite, in a file of its own. */
void unit_html_derived(TCase *t);

#define HOSTILE "</script><img src=x onerror=alert(1)>\"'&\xff\xe2\x80\xa8"

/* main, and one with a hostile name. */
extern const struct trc_thread threads[];
extern const uint32_t no_stacks[];
#define NO_STACKS                                                                                  \
	{                                                                                          \
		.n_stacks = 1, .stack_first = no_stacks                                            \
	}

/* Writes the page and reads it back; the caller's. */
char *write_page(struct trc_model *m, const struct trc_html_limits *limits);

/* The i-th value of a column, which has more. */
uint64_t at(const char *page, const char *name, size_t i);
size_t size_of(const char *page, const char *name);

#endif
