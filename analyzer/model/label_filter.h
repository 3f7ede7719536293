/*
 * label_filter.h - which label sets are asked for: --label-filter.
 *
 *   text       = condition { "," condition }        all of them must hold
 *   condition  = key "=" value | key                a key alone: with any value
 *
 * A backslash takes the character behind it as it is: a comma or an equals sign in a key, a comma
 * in a value.  A number is named in decimal, with its unit behind it or without: 7ms, 7.
 */
#ifndef TRC_ANALYZER_MODEL_LABEL_FILTER_H
#define TRC_ANALYZER_MODEL_LABEL_FILTER_H

#include "model.h"

struct trc_label_filter;
struct trc_line;

/* Adds conditions; *filter NULL is one without any, and is made.  The caller's, to be freed with
 * trc_label_filter_free().  0; -EINVAL with a line in error, or -ENOMEM: *filter is as before. */
int trc_label_filter_add(struct trc_label_filter **filter, const char *text,
			 struct trc_error *error);
void trc_label_filter_free(struct trc_label_filter *filter); /* accepts NULL */

/* Whether a label set meets all conditions; NULL: every set does, and none at all (0) too. */
bool trc_label_filter_match(const struct trc_label_filter *filter, const struct trc_model *m,
			    uint32_t labels);
/* Whether any label set of the trace meets them; NULL: yes. */
bool trc_label_filter_any(const struct trc_label_filter *filter, const struct trc_model *m);
/* For whoever mistyped a label, or asks for one in a trace without them: what there is. */
void trc_label_filter_tell_keys(struct trc_line *line, const struct trc_model *m);
/* As it was written; borrowed until the filter is changed or freed. */
const char *trc_label_filter_text(const struct trc_label_filter *filter);

#endif
