/* prepared.c - see prepared.h. */
#include "prepared.h"

#include <errno.h>
#include <stdint.h>

#include "analyzer/causes/steps.h"
#include "analyzer/causes/task_times.h"
#include "analyzer/model/lock_sums.h"

enum { TASKS_MAX = 300000, SPANS_MAX = 2 * TASKS_MAX };

static int walk(struct trc_image *image, struct trc_model *m)
{
	int err = trc_model_walk(image, m);

	if (!err)
		err = trc_steps_walk(image, m);
	if (!err)
		err = trc_lock_sums_walk(image, m);
	return err ? err : trc_task_times_walk(image, m);
}

/* What only the SQL box asks for: the page of the whole has none, and did not wait for it.  That they cannot be made is told there.
 * Nobody is asked while one is made: of more tasks none is, so that a page is not held up for more than about a second. */
static int make_task_tables(struct trc_model *m, const struct trc_image_pause *pause)
{
	struct trc_array rows = {0};
	struct trc_error error;
	size_t n_tasks, n_runs, n_regions, n_spans = SIZE_MAX;

	if (trc_image_pauses(pause))
		return -ECANCELED;
	trc_model_tasks(m, &n_tasks);
	trc_model_fiber_runs(m, &n_runs);
	if (n_tasks > TASKS_MAX || n_runs > SPANS_MAX)
		return 0;
	if (!trc_task_spans_list(m, &rows, &error)) {
		n_spans = rows.n;
		trc_array_free(&rows);
	}
	if (trc_image_pauses(pause))
		return -ECANCELED;
	rows = (struct trc_array){0};
	if (n_spans <= SPANS_MAX && !trc_task_times_list(m, &rows, &error))
		trc_array_free(&rows);
	if (trc_image_pauses(pause))
		return -ECANCELED;
	rows = (struct trc_array){0};
	trc_model_regions(m, &n_regions);
	if (n_regions <= TASKS_MAX && !trc_region_times_list(m, &rows, &error))
		trc_array_free(&rows);
	return trc_image_pauses(pause) ? -ECANCELED : 0;
}

int trc_prepared_write(struct trc_model *m, int fd, const struct trc_image_writing *writing)
{
	int err = make_task_tables(m, &writing->pause);

	return err ? err : trc_image_write(m, walk, fd, writing);
}

int trc_prepared_map(struct trc_model *m, int fd, const char *key,
		     const struct trc_image_pause *pause)
{
	struct trc_error error;
	int err = trc_image_map(m, walk, fd, key, pause);

	return err ? err : trc_model_need(m, TRC_PART_SYMBOLS, &error);
}
