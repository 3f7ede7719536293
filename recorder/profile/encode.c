/* encode.c - libtrc-profile.so as libtrc sees it (encode.h). */
#include <errno.h>
#include <stdlib.h>
#include "encode_private.h"

struct trc_encoder {
	struct trc_encode_pprof *pprof; /* one of the two */
	struct trc_encode_text *text;
};

static void encoder_close(struct trc_encoder *e)
{
	if (!e)
		return;
	trc_encode_pprof_close(e->pprof);
	trc_encode_text_close(e->text);
	free(e);
}

static int encoder_open(struct trc_encoder **out, const struct trc_encode_info *info)
{
	struct trc_encoder *e = calloc(1, sizeof(*e));
	int err = -ENOMEM;

	if (e)
		err = info->text ? trc_encode_text_open(&e->text, info)
				 : trc_encode_pprof_open(&e->pprof, info);
	if (err) {
		encoder_close(e);
		return err;
	}
	*out = e;
	return 0;
}

static void encoder_sample(struct trc_encoder *e, const struct trc_encode_sample *sample)
{
	if (e->text)
		trc_encode_text_sample(e->text, sample);
	else
		trc_encode_pprof_sample(e->pprof, sample);
}

static int encoder_write(struct trc_encoder *e,
			 int (*sink)(void *context, const void *bytes, size_t n_bytes),
			 void *context)
{
	return e->text ? trc_encode_text_write(e->text, sink, context)
		       : trc_encode_pprof_write(e->pprof, sink, context);
}

extern const struct trc_encode_module trc_encode_module;
__attribute__((visibility("default"))) const struct trc_encode_module trc_encode_module = {
	.version = TRC_ENCODE_VERSION,
	.names_open = trc_names_open,
	.names_close = trc_names_close,
	.names_find = trc_names_find,
	.names_while = trc_names_while,
	.open = encoder_open,
	.sample = encoder_sample,
	.write = encoder_write,
	.close = encoder_close,
};
