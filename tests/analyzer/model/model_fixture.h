/* model_fixture.h - a model of a trace that is written as text (tests/format/assemble.h). */
#ifndef TRC_TESTS_MODEL_FIXTURE_H
#define TRC_TESTS_MODEL_FIXTURE_H

#include <stddef.h>
#include <stdint.h>
#include "analyzer/model/model.h"

/* Opens the assembled text with all of `parts` derived; fails the test if it cannot.
 * model_close() it. */
struct trc_model *model_of(const char *text, unsigned int parts);
void model_close(struct trc_model *m);

/* The park of this thread that starts at this time; fails the test if there is none. */
const struct trc_park *park_of(const struct trc_model *m, uint32_t thread, int64_t start_ns);

/* What a model has, as text to compare. */
struct text {
	char at[4096];
	size_t n;
};

/* Appends; fails the test if there is no room. */
void add(struct text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* " -" for TRC_NEVER. */
void add_time(struct text *t, int64_t ns);

#endif
