/* fold.c - see fold.h. */
#include <errno.h>
#include <stddef.h>
#include "fold.h"

/* Nothing is folded yet: there is no fold, view or copy to be had. */

int trc_fold_open(struct trc_fold **out, const struct trc_fold_options *options)
{
	(void)out;
	return options->n_procs && options->ticks_per_second ? -ENOSYS : -EINVAL;
}

void trc_fold_close(struct trc_fold *fold)
{
	(void)fold;
}

void trc_fold_event(struct trc_fold *fold, const struct trc_writer *tables,
		    const struct trc_event *event)
{
	(void)fold, (void)tables, (void)event;
}

void trc_fold_thread_labels(struct trc_fold *fold, const struct trc_writer *tables, uint32_t thread,
			    uint32_t labels)
{
	(void)fold, (void)tables, (void)thread, (void)labels;
}

void trc_fold_new_tables(struct trc_fold *fold)
{
	(void)fold;
}

void trc_fold_pass(struct trc_fold *fold, uint64_t upto)
{
	(void)fold, (void)upto;
}

void trc_fold_lost(struct trc_fold *fold, uint64_t since, uint64_t until, uint64_t events)
{
	(void)fold, (void)since, (void)until, (void)events;
}

int trc_view_add(struct trc_fold *fold, struct trc_view **out,
		 const struct trc_view_options *options, uint64_t now)
{
	(void)fold, (void)out, (void)options, (void)now;
	return -ENOSYS;
}

void trc_view_remove(struct trc_fold *fold, struct trc_view *view)
{
	(void)fold, (void)view;
}

int trc_view_copy(struct trc_fold *fold, struct trc_view *view, uint64_t until,
		  struct trc_folded **out)
{
	(void)fold, (void)view, (void)until, (void)out;
	return -ENOSYS;
}

void trc_folded_head(const struct trc_folded *folded, struct trc_folded_head *head)
{
	(void)folded;
	*head = (struct trc_folded_head){0};
}

uint32_t trc_folded_rows(const struct trc_folded *folded)
{
	(void)folded;
	return 0;
}

void trc_folded_row(const struct trc_folded *folded, uint32_t i, struct trc_folded_row *row)
{
	(void)folded, (void)i;
	*row = (struct trc_folded_row){0};
}

uint32_t trc_folded_labels(const struct trc_folded *folded, const struct trc_folded_row *row,
			   struct trc_label label[TRC_LABELS_MAX])
{
	(void)folded, (void)row, (void)label;
	return 0;
}

void trc_folded_free(struct trc_folded *folded)
{
	(void)folded;
}
