/* user_types.h - what the user marked, by type: how often, and how long it took. */
#ifndef TRC_ANALYZER_WORDS_USER_TYPES_H
#define TRC_ANALYZER_WORDS_USER_TYPES_H

#include "words.h"

struct trc_user_type {
	const char *name;
	uint64_t n, open;
	size_t first, n_ended; /* of its part of the durations */
	int64_t total_ns;
};

/* Zeroed memory has none. */
struct trc_user_types {
	struct trc_array types;	     /* struct trc_user_type */
	struct trc_index by_pointer; /* the model hands out one pointer for each name, or a few */
	int64_t *duration_ns;	     /* of what has ended, type by type, each sorted */
};

/* The type with this name, which is added if need be; NULL without memory. */
struct trc_user_type *trc_user_type_find(struct trc_user_types *t, const char *name);
void trc_user_types_free(struct trc_user_types *t);

/* One task or region, wherever it comes from. */
struct trc_user_span {
	const char *type;
	int64_t start_ns, end_ns;
	uint32_t thread; /* that began it */
	bool wanted;
};
typedef struct trc_user_span trc_user_span_fn(const struct trc_report *r, size_t i);
trc_user_span_fn trc_user_task_span, trc_user_region_span;

/* The types of n spans, as far as the report's filter leaves them; the type that took most time first.  0 or
 * -ENOMEM; free it in both cases. */
int trc_user_types_of_spans(struct trc_user_types *t, const struct trc_report *r,
			    trc_user_span_fn *span_at, size_t n);
/* Of a type of which some have ended.  Nearest rank: of n sorted durations, number
 * ceil(n * percent / 100). */
int64_t trc_user_percentile(const struct trc_user_types *t, const struct trc_user_type *type,
			    unsigned int percent);

#endif
