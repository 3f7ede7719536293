/*
 * pprof_write.c - a profile's bytes.
 *
 * Protobuf messages may be written in pieces, one after the other: each mapping, sample, string ...
 * goes out as a Profile of its own.  So memory never holds more than the content of pprof.c and one
 * piece.
 */
#include "pprof_private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>
#include "format/profile.pb-c.h"

enum { CHUNK_BYTES = 1 << 16 };

/* Bytes packed by protobuf-c, through deflate, to whoever takes them. */
struct output {
	ProtobufCBuffer base;
	z_stream deflate;
	int (*sink)(void *context, const void *bytes, size_t n_bytes);
	void *context;
	int error;
	size_t n_in;
	uint8_t in[CHUNK_BYTES], out[CHUNK_BYTES];
};

static void output_deflate(struct output *output, int flush)
{
	size_t n_bytes;

	output->deflate.next_in = output->in;
	output->deflate.avail_in = (uInt)output->n_in;
	output->n_in = 0;
	do {
		output->deflate.next_out = output->out;
		output->deflate.avail_out = sizeof(output->out);
		deflate(&output->deflate, flush);
		n_bytes = sizeof(output->out) - output->deflate.avail_out;
		if (!output->error && n_bytes)
			output->error = output->sink(output->context, output->out, n_bytes);
	} while (!output->deflate.avail_out);
}

static void output_append(ProtobufCBuffer *base, size_t n_bytes, const uint8_t *bytes)
{
	struct output *output = (struct output *)base;

	while (n_bytes) {
		size_t n = sizeof(output->in) - output->n_in;

		if (n > n_bytes)
			n = n_bytes;
		memcpy(output->in + output->n_in, bytes, n);
		output->n_in += n;
		bytes += n;
		n_bytes -= n;
		if (output->n_in == sizeof(output->in))
			output_deflate(output, Z_NO_FLUSH);
	}
}

static void output_put(struct output *output, const TrcProto__Profile *piece)
{
	if (!output->error)
		protobuf_c_message_pack_to_buffer(&piece->base, &output->base);
}

static void profile_put_header(struct output *output, const struct trc_pprof *p)
{
	TrcProto__Profile piece = TRC_PROTO__PROFILE__INIT;
	TrcProto__ValueType period_type = TRC_PROTO__VALUE_TYPE__INIT;

	period_type.type = p->period_type.type;
	period_type.unit = p->period_type.unit;
	if (period_type.type)
		piece.period_type = &period_type;
	piece.period = p->period;
	piece.time_nanos = p->realtime_ns;
	piece.duration_nanos = p->duration_ns;
	piece.default_sample_type = p->default_type;
	piece.n_comment = p->comment.n;
	piece.comment = p->comment.item;
	output_put(output, &piece);
}

static void put_sample_types(struct output *output, const struct trc_pprof *p)
{
	const struct trc_pprof_type *type = p->sample_type.item;

	for (size_t i = 0; i < p->sample_type.n; i++) {
		TrcProto__Profile piece = TRC_PROTO__PROFILE__INIT;
		TrcProto__ValueType value_type = TRC_PROTO__VALUE_TYPE__INIT;
		TrcProto__ValueType *list = &value_type;

		value_type.type = type[i].type;
		value_type.unit = type[i].unit;
		piece.n_sample_type = 1;
		piece.sample_type = &list;
		output_put(output, &piece);
	}
}

static void put_mappings(struct output *output, const struct trc_pprof *p)
{
	const struct trc_pprof_map *map = p->mapping.item;

	for (size_t i = 0; i < p->mapping.n; i++, map++) {
		TrcProto__Profile piece = TRC_PROTO__PROFILE__INIT;
		TrcProto__Mapping mapping = TRC_PROTO__MAPPING__INIT;
		TrcProto__Mapping *list = &mapping;

		mapping.id = i + 1;
		mapping.memory_start = map->start;
		mapping.memory_limit = map->limit;
		mapping.file_offset = map->file_offset;
		mapping.filename = map->path;
		mapping.build_id = map->build_id;
		/* pprof:P2; one that no location lies in needs no symbolizer either. */
		mapping.has_functions = !map->no_function;
		mapping.has_filenames = !map->no_function && !map->no_file;
		mapping.has_line_numbers = !map->no_function && !map->no_line;
		mapping.has_inline_frames = mapping.has_line_numbers && map->used;
		piece.n_mapping = 1;
		piece.mapping = &list;
		output_put(output, &piece);
	}
}

static void put_functions(struct output *output, const struct trc_pprof *p)
{
	const struct trc_pprof_code *code = p->function.item;

	for (size_t i = 0; i < p->function.n; i++, code++) {
		TrcProto__Profile piece = TRC_PROTO__PROFILE__INIT;
		TrcProto__Function function = TRC_PROTO__FUNCTION__INIT;
		TrcProto__Function *list = &function;

		function.id = i + 1;
		function.name = code->name;
		function.system_name = code->linkage;
		function.filename = code->file;
		function.start_line = code->start_line;
		piece.n_function = 1;
		piece.function = &list;
		output_put(output, &piece);
	}
}

static void profile_put_location(struct output *output, const struct trc_pprof *p, size_t i)
{
	const struct trc_pprof_place *place = (struct trc_pprof_place *)p->location.item + i;
	const struct trc_pprof_line *line = (struct trc_pprof_line *)p->line.item;
	TrcProto__Profile piece = TRC_PROTO__PROFILE__INIT;
	TrcProto__Location location = TRC_PROTO__LOCATION__INIT;
	TrcProto__Location *list = &location;
	TrcProto__Line *storage = calloc(place->n_lines + 1, sizeof(*storage));
	TrcProto__Line **lines = calloc(place->n_lines + 1, sizeof(*lines));

	if (!storage || !lines)
		output->error = -ENOMEM;
	for (size_t n = 0; n < place->n_lines && !output->error; n++) {
		trc_proto__line__init(&storage[n]);
		storage[n].function_id = line[place->first_line + n].function;
		storage[n].line = line[place->first_line + n].line;
		lines[n] = &storage[n];
	}
	location.id = i + 1;
	location.mapping_id = place->mapping;
	location.address = place->address;
	location.n_line = place->n_lines;
	location.line = lines;
	piece.n_location = 1;
	piece.location = &list;
	output_put(output, &piece);
	free(lines);
	free(storage);
}

/* Whether all its values are 0, as those of what came and went. */
static bool point_is_zero(const struct trc_pprof *p, const struct trc_pprof_point *point)
{
	const int64_t *value = (int64_t *)p->sample_value.item + point->first_value;

	for (size_t i = 0; i < p->sample_type.n; i++)
		if (value[i])
			return false;
	return true;
}

static void profile_put_sample(struct output *output, const struct trc_pprof *p,
			       const struct trc_pprof_point *point)
{
	const struct trc_pprof_tag *tag =
		(struct trc_pprof_tag *)p->label.item + point->first_label;
	TrcProto__Profile piece = TRC_PROTO__PROFILE__INIT;
	TrcProto__Sample sample = TRC_PROTO__SAMPLE__INIT;
	TrcProto__Sample *list = &sample;
	TrcProto__Label *storage = calloc(point->n_labels + 1, sizeof(*storage));
	TrcProto__Label **labels = calloc(point->n_labels + 1, sizeof(*labels));

	if (!storage || !labels)
		output->error = -ENOMEM;
	for (size_t n = 0; n < point->n_labels && !output->error; n++) {
		trc_proto__label__init(&storage[n]);
		storage[n].key = tag[n].key;
		storage[n].str = tag[n].text;
		storage[n].num = tag[n].number;
		storage[n].num_unit = tag[n].unit;
		labels[n] = &storage[n];
	}
	sample.n_location_id = point->n_locations;
	sample.location_id = (uint64_t *)p->sample_location.item + point->first_location;
	sample.n_value = p->sample_type.n;
	sample.value = (int64_t *)p->sample_value.item + point->first_value;
	sample.n_label = point->n_labels;
	sample.label = labels;
	piece.n_sample = 1;
	piece.sample = &list;
	output_put(output, &piece);
	free(labels);
	free(storage);
}

static void put_strings(struct output *output, const struct trc_pprof *p)
{
	char **string = p->string.item;

	for (size_t i = 0; i < p->string.n; i++) {
		TrcProto__Profile piece = TRC_PROTO__PROFILE__INIT;

		piece.n_string_table = 1;
		piece.string_table = &string[i];
		output_put(output, &piece);
	}
}

int trc_pprof_write_to(const struct trc_pprof *p,
		       int (*sink)(void *context, const void *bytes, size_t n_bytes), void *context)
{
	struct output *output;
	int err;

	if (p->error)
		return p->error;
	output = calloc(1, sizeof(*output));
	if (!output)
		return -ENOMEM;
	output->base.append = output_append;
	output->sink = sink;
	output->context = context;
	/* 16: with a gzip header, which has no time and no name: the same profile, the same bytes.
	 */
	if (deflateInit2(&output->deflate, Z_DEFAULT_COMPRESSION, Z_DEFLATED, MAX_WBITS + 16, 8,
			 Z_DEFAULT_STRATEGY) != Z_OK) {
		free(output);
		return -ENOMEM;
	}
	profile_put_header(output, p);
	put_sample_types(output, p);
	for (size_t i = 0; i < p->sample.n; i++) {
		const struct trc_pprof_point *point = (struct trc_pprof_point *)p->sample.item + i;

		if (!point_is_zero(p, point))
			profile_put_sample(output, p, point);
	}
	put_mappings(output, p);
	for (size_t i = 0; i < p->location.n; i++)
		profile_put_location(output, p, i);
	put_functions(output, p);
	put_strings(output, p);
	output_deflate(output, Z_FINISH);
	err = output->error;
	deflateEnd(&output->deflate);
	free(output);
	return err;
}

/* To a file; the context is its descriptor. */
static int write_to_descriptor(void *context, const void *bytes, size_t n_bytes)
{
	int fd = *(const int *)context;
	const char *from = bytes;

	while (n_bytes) {
		ssize_t n = write(fd, from, n_bytes);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		from += n;
		n_bytes -= (size_t)n;
	}
	return 0;
}

int trc_pprof_write(const struct trc_pprof *p, int fd)
{
	return trc_pprof_write_to(p, write_to_descriptor, &fd);
}
