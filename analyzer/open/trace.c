/* trace.c - see trace.h. */
#include "trace.h"

int trc_open_model(struct trc_model **model, struct trc_ring_trace *ring, const char *path,
		   struct trc_error *error)
{
	struct trc_reader *reader;
	int err;

	if (!trc_is_ring(path))
		return trc_model_open(model, path, error);
	err = trc_ring_open(&reader, ring, path, error);
	return err ? err : trc_model_open_reader(model, reader, error);
}
