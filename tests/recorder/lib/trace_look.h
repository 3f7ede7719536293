/* trace_look.h - what the tests of the public interface look for in traces; for libcheck. */
#ifndef TRC_TESTS_TRACE_LOOK_H
#define TRC_TESTS_TRACE_LOOK_H

#include <stdbool.h>
#include <stdint.h>
#include "format/reader.h"

/* A complete trace that has nothing to be warned about. */
struct trc_reader *look_open(const char *path);
uint64_t look_count(const struct trc_reader *reader, enum trc_kind kind);
/* True if a log with this message is there. */
bool look_message(const struct trc_reader *reader, const char *message);
/* The value of trace_info, "" if there is none. */
const char *look_info(const struct trc_reader *reader, const char *key);
/* The sum of all gaps. */
uint64_t look_lost(const struct trc_reader *reader);

/* The values of some counters, ascending; look_counters_free() them. */
enum { LOOK_COUNTERS_MAX = 8 };
struct look_counters {
	size_t n[LOOK_COUNTERS_MAX];
	int64_t *value[LOOK_COUNTERS_MAX];
};
void look_counters(const struct trc_reader *reader, const char *const *names, unsigned int n_names,
		   struct look_counters *found);
void look_counters_free(struct look_counters *found);

/* `trace-analyze --check` finds nothing wrong with it. */
void look_check(const char *path);

#endif
