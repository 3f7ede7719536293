/*
 * pprof.c - see pprof.h; pprof_write.c turns what is collected here into bytes.
 */
#include "pprof_private.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "check.h"
#include "utf8.h"

int trc_pprof_open(struct trc_pprof **out)
{
	struct trc_pprof *p = calloc(1, sizeof(*p));

	if (!p)
		return -ENOMEM;
	trc_pprof_string(p, ""); /* string 0 */
	if (p->error) {
		trc_pprof_close(p);
		return -ENOMEM;
	}
	*out = p;
	return 0;
}

void trc_pprof_close(struct trc_pprof *p)
{
	if (!p)
		return;
	for (size_t i = 0; i < p->string.n; i++)
		free(((char **)p->string.item)[i]);
	free(p->sample_type.item);
	free(p->comment.item);
	free(p->string.item);
	free(p->mapping.item);
	free(p->function.item);
	free(p->location.item);
	free(p->line.item);
	free(p->sample.item);
	free(p->sample_location.item);
	free(p->sample_value.item);
	free(p->label.item);
	trc_row_index_free(&p->string_index);
	trc_row_index_free(&p->function_index);
	trc_row_index_free(&p->location_index);
	trc_row_index_free(&p->sample_index);
	free(p);
}

/* Room for n more items of this size; NULL and p->error if there is none. */
static void *array_add(struct trc_pprof *p, struct trc_pprof_array *array, size_t n,
		       size_t item_bytes)
{
	void *added;

	if (p->error)
		return NULL;
	if (!array->item || array->n + n > array->room) {
		size_t room = 2 * array->room + n + 16;
		void *grown = reallocarray(array->item, room, item_bytes);

		if (!grown) {
			p->error = -ENOMEM;
			return NULL;
		}
		array->item = grown;
		array->room = room;
	}
	added = (char *)array->item + array->n * item_bytes;
	array->n += n;
	return added;
}

static bool index_ready(struct trc_pprof *p, struct trc_row_index *index)
{
	if (!p->error)
		p->error = trc_row_index_reserve(index);
	return !p->error;
}

static bool same_string(const void *profile, uint32_t item, const void *key)
{
	const struct trc_pprof *p = profile;
	return !strcmp(((char **)p->string.item)[item - 1], key);
}

/* Strict readers of protobuf refuse a whole file for one string that is not UTF-8. */
static bool is_utf8(const char *text)
{
	uint32_t code;
	size_t n;

	for (; *text; text += n) {
		n = trc_utf8_get(text, SIZE_MAX, &code);
		if (!n)
			return false;
	}
	return true;
}

/* P5.  A copy in which \xNN stands for each byte that belongs to no character. */
static char *pprof_escape(const char *text)
{
	char *copy = malloc(4 * strlen(text) + 1), *to = copy;

	while (copy && *text) {
		uint32_t code;
		size_t n = trc_utf8_get(text, SIZE_MAX, &code);

		if (n)
			to = mempcpy(to, text, n);
		else
			to += sprintf(to, "\\x%02x", (unsigned char)*text);
		text += n ? n : 1;
	}
	if (copy)
		*to = '\0';
	return copy;
}

static uint32_t add_string(struct trc_pprof *p, const char *text)
{
	uint64_t hash = trc_check64(text, strlen(text), 0);
	uint32_t item;
	size_t slot = 0;
	char **added, *copy;

	if (!index_ready(p, &p->string_index))
		return 0;
	item = trc_row_index_find(&p->string_index, hash, same_string, p, text, &slot);
	if (item)
		return item - 1;
	copy = strdup(text);
	if (!copy)
		p->error = -ENOMEM;
	added = array_add(p, &p->string, 1, sizeof(*added));
	if (!added) {
		free(copy);
		return 0;
	}
	*added = copy;
	trc_row_index_set(&p->string_index, slot, hash, (uint32_t)p->string.n);
	return (uint32_t)p->string.n - 1;
}

uint32_t trc_pprof_string(struct trc_pprof *p, const char *text)
{
	uint32_t string;
	char *copy;

	if (is_utf8(text))
		return add_string(p, text);
	copy = pprof_escape(text);
	if (!copy) {
		p->error = -ENOMEM;
		return 0;
	}
	string = add_string(p, copy);
	free(copy);
	return string;
}

void trc_pprof_sample_type(struct trc_pprof *p, const char *type, const char *unit)
{
	struct trc_pprof_type *added = array_add(p, &p->sample_type, 1, sizeof(*added));

	if (added)
		*added = (struct trc_pprof_type){trc_pprof_string(p, type),
						 trc_pprof_string(p, unit)};
}

void trc_pprof_default_type(struct trc_pprof *p, const char *type)
{
	p->default_type = trc_pprof_string(p, type);
}

void trc_pprof_period(struct trc_pprof *p, const char *type, const char *unit, int64_t period)
{
	p->period_type =
		(struct trc_pprof_type){trc_pprof_string(p, type), trc_pprof_string(p, unit)};
	p->period = period;
}

void trc_pprof_time(struct trc_pprof *p, int64_t realtime_ns, int64_t duration_ns)
{
	p->realtime_ns = realtime_ns;
	p->duration_ns = duration_ns;
}

void trc_pprof_comment(struct trc_pprof *p, const char *text)
{
	int64_t *added = array_add(p, &p->comment, 1, sizeof(*added));

	if (added)
		*added = trc_pprof_string(p, text);
}

uint32_t trc_pprof_mapping(struct trc_pprof *p, const struct trc_pprof_mapping *mapping)
{
	struct trc_pprof_map *added = array_add(p, &p->mapping, 1, sizeof(*added));
	char *hex = malloc(2 * mapping->build_id_bytes + 1);

	if (!hex)
		p->error = -ENOMEM;
	if (!hex || !added) {
		free(hex);
		return 0;
	}
	for (size_t i = 0; i < mapping->build_id_bytes; i++)
		sprintf(hex + 2 * i, "%02x", mapping->build_id[i]);
	hex[2 * mapping->build_id_bytes] = 0;
	*added = (struct trc_pprof_map){
		.start = mapping->start,
		.limit = mapping->limit,
		.file_offset = mapping->file_offset,
		.path = trc_pprof_string(p, mapping->path),
		.build_id = trc_pprof_string(p, hex),
	};
	free(hex);
	return (uint32_t)p->mapping.n;
}

static bool same_function(const void *profile, uint32_t item, const void *key)
{
	const struct trc_pprof *p = profile;
	return !memcmp((struct trc_pprof_code *)p->function.item + item - 1, key,
		       sizeof(struct trc_pprof_code));
}

uint32_t trc_pprof_function(struct trc_pprof *p, const char *name, const char *linkage,
			    const char *file, uint32_t start_line)
{
	const struct trc_pprof_code code = {
		.name = trc_pprof_string(p, name),
		.linkage = trc_pprof_string(p, linkage ? linkage : name),
		.file = trc_pprof_string(p, file ? file : ""),
		.start_line = start_line,
	};
	uint64_t hash = trc_check64(&code, sizeof(code), 0);
	struct trc_pprof_code *added;
	uint32_t item;
	size_t slot = 0;

	if (!index_ready(p, &p->function_index))
		return 0;
	item = trc_row_index_find(&p->function_index, hash, same_function, p, &code, &slot);
	if (item)
		return item;
	added = array_add(p, &p->function, 1, sizeof(*added));
	if (!added)
		return 0;
	*added = code;
	trc_row_index_set(&p->function_index, slot, hash, (uint32_t)p->function.n);
	return (uint32_t)p->function.n;
}

struct place_key {
	uint64_t address;
	uint64_t mapping;
};

static bool same_place(const void *profile, uint32_t item, const void *key)
{
	const struct trc_pprof *p = profile;
	const struct trc_pprof_place *place = (struct trc_pprof_place *)p->location.item + item - 1;
	const struct place_key *wanted = key;

	return place->address == wanted->address && place->mapping == wanted->mapping;
}

/* P2: what is missing here is missing in the mapping. */
static void note_missing(struct trc_pprof *p, uint32_t mapping, const struct trc_pprof_line *line,
			 size_t n_lines)
{
	struct trc_pprof_map *map;
	const struct trc_pprof_code *code = p->function.item;

	if (!mapping || mapping > p->mapping.n)
		return;
	map = (struct trc_pprof_map *)p->mapping.item + mapping - 1;
	map->used = true;
	map->no_function |= !n_lines;
	map->no_file |= !n_lines;
	map->no_line |= !n_lines;
	for (size_t i = 0; i < n_lines; i++) {
		bool named = line[i].function && line[i].function <= p->function.n;

		map->no_function |= !named;
		map->no_file |= !named || !code[line[i].function - 1].file;
		map->no_line |= !line[i].line;
	}
}

uint32_t trc_pprof_location(struct trc_pprof *p, uint32_t mapping, uint64_t address,
			    const struct trc_pprof_line *line, size_t n_lines)
{
	const struct place_key key = {address, mapping};
	uint64_t hash = trc_check64(&key, sizeof(key), 0);
	struct trc_pprof_place *added;
	struct trc_pprof_line *lines;
	uint32_t item;
	size_t slot = 0;

	if (!index_ready(p, &p->location_index))
		return 0;
	item = trc_row_index_find(&p->location_index, hash, same_place, p, &key, &slot);
	if (item)
		return item;
	lines = array_add(p, &p->line, n_lines, sizeof(*lines));
	added = array_add(p, &p->location, 1, sizeof(*added));
	if (!lines || !added)
		return 0;
	if (n_lines)
		memcpy(lines, line, n_lines * sizeof(*line));
	*added = (struct trc_pprof_place){
		.address = address,
		.mapping = mapping,
		.n_lines = (uint32_t)n_lines,
		.first_line = p->line.n - n_lines,
	};
	note_missing(p, mapping, line, n_lines);
	trc_row_index_set(&p->location_index, slot, hash, (uint32_t)p->location.n);
	return (uint32_t)p->location.n;
}

/* Where none is told pprof takes the key for it, or bytes. */
static const char *unit_of(const struct trc_pprof_label *number)
{
	return number->unit ? number->unit : "count";
}

/* Appends the labels as tags; they are taken back if the sample turns out to be known. */
static struct trc_pprof_tag *add_tags(struct trc_pprof *p, const struct trc_pprof_label *label,
				      size_t n_labels)
{
	struct trc_pprof_tag *tag = array_add(p, &p->label, n_labels, sizeof(*tag));

	for (size_t i = 0; tag && i < n_labels; i++)
		tag[i] = (struct trc_pprof_tag){
			.key = trc_pprof_string(p, label[i].key),
			.text = label[i].text ? trc_pprof_string(p, label[i].text) : 0,
			.number = label[i].text ? 0 : label[i].number,
			.unit = label[i].text ? 0 : trc_pprof_string(p, unit_of(&label[i])),
		};
	return tag;
}

struct sample_key {
	const uint64_t *location;
	const struct trc_pprof_tag *tag;
	size_t n_locations, n_labels;
};

static bool same_sample(const void *profile, uint32_t item, const void *key)
{
	const struct trc_pprof *p = profile;
	const struct trc_pprof_point *point = (struct trc_pprof_point *)p->sample.item + item - 1;
	const uint64_t *location = (uint64_t *)p->sample_location.item + point->first_location;
	const struct trc_pprof_tag *tag =
		(struct trc_pprof_tag *)p->label.item + point->first_label;
	const struct sample_key *wanted = key;

	return point->n_locations == wanted->n_locations && point->n_labels == wanted->n_labels &&
	       !memcmp(location, wanted->location, wanted->n_locations * sizeof(*location)) &&
	       !memcmp(tag, wanted->tag, wanted->n_labels * sizeof(*tag));
}

/* The sample that ends with the last locations and labels of the arrays: a new one, or if
 * there is one like it that one, and the arrays are as they were before. */
static struct trc_pprof_point *find_sample(struct trc_pprof *p, const struct sample_key *key)
{
	uint64_t hash = trc_check64(key->location, key->n_locations * sizeof(*key->location), 0);
	struct trc_pprof_point *added;
	uint32_t item;
	size_t slot = 0;

	hash = trc_check64(key->tag, key->n_labels * sizeof(*key->tag), hash);
	if (!index_ready(p, &p->sample_index))
		return NULL;
	item = trc_row_index_find(&p->sample_index, hash, same_sample, p, key, &slot);
	if (item) {
		p->sample_location.n -= key->n_locations;
		p->label.n -= key->n_labels;
		return (struct trc_pprof_point *)p->sample.item + item - 1;
	}
	added = array_add(p, &p->sample, 1, sizeof(*added));
	if (!added || !array_add(p, &p->sample_value, p->sample_type.n, sizeof(int64_t)))
		return NULL;
	*added = (struct trc_pprof_point){
		.first_location = p->sample_location.n - key->n_locations,
		.n_locations = key->n_locations,
		.first_value = p->sample_value.n - p->sample_type.n,
		.first_label = p->label.n - key->n_labels,
		.n_labels = key->n_labels,
	};
	memset((int64_t *)p->sample_value.item + added->first_value, 0,
	       p->sample_type.n * sizeof(int64_t));
	trc_row_index_set(&p->sample_index, slot, hash, (uint32_t)p->sample.n);
	return added;
}

void trc_pprof_sample(struct trc_pprof *p, const uint32_t *location, size_t n_locations,
		      const int64_t *value, const struct trc_pprof_label *label, size_t n_labels)
{
	struct sample_key key = {.n_locations = n_locations, .n_labels = n_labels};
	uint64_t *locations = array_add(p, &p->sample_location, n_locations, sizeof(*locations));
	struct trc_pprof_point *point;

	if (!locations)
		return;
	for (size_t i = 0; i < n_locations; i++)
		locations[i] = location[i];
	key.location = locations;
	key.tag = add_tags(p, label, n_labels);
	if (p->error)
		return;
	point = find_sample(p, &key);
	for (size_t i = 0; point && i < p->sample_type.n; i++)
		((int64_t *)p->sample_value.item)[point->first_value + i] += value[i];
}
