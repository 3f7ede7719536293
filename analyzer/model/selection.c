/* selection.c - see selection.h. */
#include "selection.h"

void trc_selection_free(struct trc_selection *s)
{
	trc_label_filter_free(s->labels);
	s->labels = NULL;
}

bool trc_selection_passes(const struct trc_selection *s, const struct trc_model *m, uint32_t labels)
{
	return !s || trc_label_filter_match(s->labels, m, labels);
}

bool trc_selection_has(const struct trc_selection *s, const struct trc_model *m, uint32_t thread,
		       int64_t ts_ns, uint64_t place)
{
	return !s || !s->labels ||
	       trc_selection_passes(s, m, trc_model_labels_at(m, thread, ts_ns, place));
}
