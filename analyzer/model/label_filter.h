/*
 * label_filter.h - which label sets are asked for: --label-filter.
 *
 *   text       = condition { "," condition }        all of them must hold
 *   condition  = key "=" value | key                a key alone: with any value
 *
 * A backslash takes the next character literally: a comma or an equals sign in a key, a comma in a
 * value.  A number is written in decimal, with or without its unit: 7ms, 7.
 */
#ifndef TRC_ANALYZER_MODEL_LABEL_FILTER_H
#define TRC_ANALYZER_MODEL_LABEL_FILTER_H

#include "model.h"

struct trc_label_filter;
struct trc_line;

/* Adds conditions to *filter; if it is NULL, makes a filter.  The filter is the caller's, to be
 * freed with trc_label_filter_free().  0; -EINVAL with a line in error, or -ENOMEM: *filter is as
 * before. */
int trc_label_filter_add(struct trc_label_filter **filter, const char *text,
			 struct trc_error *error);
void trc_label_filter_free(struct trc_label_filter *filter); /* accepts NULL */

/* True if a label set meets all conditions.  With filter NULL every set does, also no set (0). */
bool trc_label_filter_match(const struct trc_label_filter *filter, const struct trc_model *m,
			    uint32_t labels);
/* True if any label set of the trace meets all conditions, or if filter is NULL. */
bool trc_label_filter_any(const struct trc_label_filter *filter, const struct trc_model *m);
/* Prints the keys that the trace has, for a user who mistyped a label, or asked for labels in a
 * trace without labels. */
void trc_label_filter_tell_keys(struct trc_line *line, const struct trc_model *m);
/* The filter as the user wrote it; borrowed until the filter is changed or freed. */
const char *trc_label_filter_text(const struct trc_label_filter *filter);

#endif
