/* sections.c - holders of locks that had no proc: TRC_PART_PREEMPTED. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include "analyzer/model/parts.h"
#include "analyzer/model/selection.h"

/* Without switch records there are no rows: nothing is known of any section. */
static int make_sections(struct trc_model *m)
{
	struct trc_selected_cause *caused;
	int err = 0;

	if (!trc_preempted_known(&m->preempted))
		return 0;
	caused = trc_selection_caused(NULL, m, &m->preempted);
	if (!caused)
		return -ENOMEM;
	for (size_t i = 0; i < m->unlocks.n && !err; i++) {
		struct trc_preempted_section *section = trc_array_add(&m->preempted_sections);

		if (section)
			*section = (struct trc_preempted_section){caused[i].preempted_ns,
								  caused[i].preempted_waits_ns};
		else
			err = -ENOMEM;
	}
	free(caused);
	return err;
}

int trc_derive_sections(struct trc_model *m, struct trc_error *error)
{
	int err = trc_preempted_make(&m->preempted, m);

	if (!err)
		err = make_sections(m);
	if (err) {
		snprintf(error->text, sizeof(error->text), "sections: out of memory");
		trc_array_free(&m->preempted_sections);
		trc_preempted_free(&m->preempted);
	}
	return err;
}
