/* prepared.c - see prepared.h. */
#include "prepared.h"

#include <errno.h>
#include <stdint.h>

#include "analyzer/causes/steps.h"
#include "analyzer/causes/task_times.h"
#include "analyzer/model/descriptors.h"
#include "analyzer/model/lock_sums.h"

static int prepared_walk(struct trc_image *image, struct trc_model *m)
{
	int err = trc_model_walk(image, m);

	if (!err)
		err = trc_steps_walk(image, m);
	if (!err)
		err = trc_lock_sums_walk(image, m);
	if (!err)
		err = trc_descriptors_walk(image, m);
	return err ? err : trc_task_times_walk(image, m);
}

int trc_prepared_write(struct trc_model *m, int fd, const struct trc_image_writing *writing)
{
	/* What only the SQL box asks for: the page of the whole has none, and did not wait for it. */
	int err = trc_task_times_prepare(m, &writing->pause);

	return err ? err : trc_image_write(m, prepared_walk, fd, writing);
}

int trc_prepared_map(struct trc_model *m, int fd, const char *key,
		     const struct trc_image_pause *pause)
{
	struct trc_error error;
	int err = trc_image_map(m, prepared_walk, fd, key, pause);

	return err ? err : trc_model_need(m, TRC_PART_SYMBOLS, &error);
}
