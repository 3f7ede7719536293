/* group_names.c - what the waits of a group were for, in words. */
#include "words.h"

/* One of many is told only if it stands out, or has a name. */
static void line_add_objects(struct trc_report *r, struct trc_line *line,
			     const struct trc_group_details *d)
{
	const struct trc_group *group = d->group;

	if (d->n_objects > 1 && d->object_ns <= group->total_ns / 2 &&
	    trc_report_is_nameless(r, group->reason, d->object, group->stack)) {
		trc_line_add(line, ", %u objects", d->n_objects);
		return;
	}
	trc_report_object(r, line, group->reason, d->object, group->stack);
	if (d->n_objects > 1)
		trc_line_add(line, " and %u other%s", d->n_objects - 1,
			     d->n_objects == 2 ? "" : "s");
}

void trc_report_what(struct trc_report *r, struct trc_line *line,
		     const struct trc_group_details *details)
{
	const struct trc_group *group = details->group;

	trc_line_add(line, "%s",
		     group->several_reasons ? trc_wait_kind_name(trc_wait_kind(group->reason))
					    : trc_reason_name(group->reason));
	if (group->reason == TRC_REASON_JOIN && details->holder) {
		trc_line_add(line, " ");
		trc_report_thread(r, line, details->holder, 26);
		if (details->n_objects > 1)
			trc_line_add(line, " and %u other%s", details->n_objects - 1,
				     details->n_objects == 2 ? "" : "s");
	} else if (!trc_report_descriptors(r, line, details)) {
		line_add_objects(r, line, details);
	}
}
