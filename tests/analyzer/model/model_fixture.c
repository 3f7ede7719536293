/* model_fixture.c - see model_fixture.h. */
#include <check.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include "model_fixture.h"
#include "tests/format/assemble.h"
#include "tests/often.h"

/* The models that are open, and the bytes of their traces. */
enum { OPEN_MAX = 4 };
static struct {
	struct trc_model *m;
	uint8_t *bytes;
} opened[OPEN_MAX];

struct trc_model *model_of(const char *text, unsigned int parts)
{
	struct trc_error error = {""};
	struct trc_reader *reader = NULL;
	struct trc_model *m = NULL;
	uint8_t *bytes;
	size_t n_bytes, place = 0;
	char line[256] = "";

	while (place < OPEN_MAX && opened[place].m)
		place++;
	ck_assert_uint_lt(place, OPEN_MAX);
	ck_assert_msg(!trc_assemble(text, &bytes, &n_bytes, line), "%s", line);
	ck_assert_msg(!trc_reader_open_memory(&reader, bytes, n_bytes, &error), "%s", error.text);
	ck_assert_msg(!trc_model_open_reader(&m, reader, &error), "%s", error.text);
	ck_assert_msg(!trc_model_need(m, parts, &error), "%s", error.text);
	opened[place].m = m;
	opened[place].bytes = bytes;
	return m;
}

void model_close(struct trc_model *m)
{
	trc_model_close(m);
	for (size_t i = 0; i < OPEN_MAX; i++) {
		if (!m || opened[i].m != m)
			continue;
		free(opened[i].bytes);
		opened[i].m = NULL;
	}
}

const struct trc_park *park_of(const struct trc_model *m, uint32_t thread, int64_t start_ns)
{
	size_t n;
	const struct trc_park *park = trc_model_parks(m, &n);

	for (size_t i = 0; i < n; i++)
		if (park[i].thread == thread && park[i].start_ns == start_ns)
			return &park[i];
	ck_abort_msg("thread %u has no park at %lld", thread, (long long)start_ns);
	return NULL;
}

void add(struct text *t, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	t->n += (size_t)vsnprintf(t->at + t->n, sizeof(t->at) - t->n, format, args);
	va_end(args);
	expect(t->n < sizeof(t->at));
}

void add_time(struct text *t, int64_t ns)
{
	if (ns == TRC_NEVER)
		add(t, " -");
	else
		add(t, " %" PRId64, ns);
}
