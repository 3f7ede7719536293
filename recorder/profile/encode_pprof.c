/* encode_pprof.c - samples in the terms of format/pprof.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "encode_private.h"
#include "format/path.h"
#include "format/pprof.h"

struct trc_encode_pprof {
	const struct trc_encode_info *info;
	struct trc_pprof *pprof;
	uint32_t *mapping;  /* by the module's place in the list; 0 = not yet */
	uint32_t *location; /* of one sample */
	uint32_t max_locations;
	int error;
};

static uint32_t put_mapping(struct trc_encode_pprof *e, const struct trc_module_entry *module)
{
	struct trc_pprof_mapping mapping = {
		.start = module->start,
		.limit = module->limit,
		.file_offset = module->file_offset,
		.build_id = module->build_id,
		.build_id_bytes = module->build_id_bytes,
	};
	uint32_t *id = &e->mapping[trc_names_index(e->info->names, module)];
	char path[4096];
	size_t n_bytes = strnlen(module->path ? module->path : "", sizeof(path) - 1);

	if (*id)
		return *id;
	memcpy(path, module->path ? module->path : "", n_bytes);
	path[trc_path_bytes(path, n_bytes)] = '\0';
	mapping.path = path;
	return *id = trc_pprof_mapping(e->pprof, &mapping);
}

static void pprof_put_header(struct trc_encode_pprof *e)
{
	const struct trc_encode_info *info = e->info;
	const struct trc_module_entry *program = trc_names_program(info->names);

	for (uint32_t i = 0; i < info->n_types; i++)
		trc_pprof_sample_type(e->pprof, info->type[i].type, info->type[i].unit);
	if (info->default_type)
		trc_pprof_default_type(e->pprof, info->default_type);
	trc_pprof_period(e->pprof, info->period_type.type, info->period_type.unit, info->period);
	trc_pprof_time(e->pprof, info->begin_realtime_ns, info->duration_ns);
	for (size_t i = 0; i < info->n_comments; i++)
		trc_pprof_comment(e->pprof, info->comment[i]);
	if (program)
		put_mapping(e, program); /* pprof:P3 */
}

static uint32_t pprof_put_location(struct trc_encode_pprof *e,
				   const struct trc_encode_sample *sample, uint32_t at)
{
	struct trc_symbol symbol[TRC_SYMBOL_INLINE_MAX];
	struct trc_pprof_line line[TRC_SYMBOL_INLINE_MAX];
	const struct trc_module_entry *module;
	uint64_t address = sample->frame[at] ? sample->frame[at] - 1 : 0;
	size_t n =
		trc_names_find(e->info->names, sample->epoch, sample->frame[at], symbol, &module);
	size_t n_lines = 0;

	for (size_t i = 0; i < n; i++) {
		if (!symbol[i].function)
			continue;
		line[n_lines].line = symbol[i].line;
		line[n_lines++].function =
			trc_pprof_function(e->pprof, symbol[i].function, symbol[i].linkage,
					   symbol[i].file, symbol[i].start_line);
	}
	return trc_pprof_location(e->pprof, module ? put_mapping(e, module) : 0, address, line,
				  n_lines);
}

/* A sample without a location is in no line of a report. */
static uint32_t put_no_stack(struct trc_encode_pprof *e, const char *words)
{
	const struct trc_pprof_line line = {
		.function =
			trc_pprof_function(e->pprof, words ? words : "(no stack)", NULL, NULL, 0)};

	/* Locations are told apart by their address. */
	return trc_pprof_location(e->pprof, 0, words != NULL, &line, 1);
}

static bool locations_make_room(struct trc_encode_pprof *e, uint32_t n)
{
	uint32_t *grown;

	if (n <= e->max_locations)
		return true;
	grown = reallocarray(e->location, n, sizeof(*grown));
	if (!grown) {
		e->error = -ENOMEM;
		return false;
	}
	e->location = grown;
	e->max_locations = n;
	return true;
}

void trc_encode_pprof_sample(struct trc_encode_pprof *e, const struct trc_encode_sample *sample)
{
	uint32_t at = trc_encode_skip(e->info, sample), n = 0;

	if (!locations_make_room(e, sample->n_frames + 1))
		return;
	for (; at < sample->n_frames; at++)
		e->location[n++] = pprof_put_location(e, sample, at);
	if (!n)
		e->location[n++] = put_no_stack(e, sample->words);
	trc_pprof_sample(e->pprof, e->location, n, sample->value, sample->label, sample->n_labels);
}

int trc_encode_pprof_write(struct trc_encode_pprof *e,
			   int (*sink)(void *context, const void *bytes, size_t n_bytes),
			   void *context)
{
	int err = e->error ? e->error : trc_names_error(e->info->names);

	return err ? err : trc_pprof_write_to(e->pprof, sink, context);
}

int trc_encode_pprof_open(struct trc_encode_pprof **out, const struct trc_encode_info *info)
{
	struct trc_encode_pprof *e = calloc(1, sizeof(*e));
	int err = e ? trc_pprof_open(&e->pprof) : -ENOMEM;

	if (!err) {
		e->mapping = calloc(trc_names_modules(info->names) + 1, sizeof(*e->mapping));
		err = e->mapping ? 0 : -ENOMEM;
	}
	if (err) {
		trc_encode_pprof_close(e);
		return err;
	}
	e->info = info;
	pprof_put_header(e);
	*out = e;
	return 0;
}

void trc_encode_pprof_close(struct trc_encode_pprof *e)
{
	if (!e)
		return;
	trc_pprof_close(e->pprof);
	free(e->mapping);
	free(e->location);
	free(e);
}
