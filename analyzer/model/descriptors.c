/* descriptors.c - see descriptors.h */
#include <errno.h>
#include <stdlib.h>
#include "descriptors.h"
#include "image.h"
#include "parts.h"
#include "waits.h"

/* ---- names ---- */

/* What follows this beginning; NULL if the text begins otherwise. */
static const char *behind(const char *text, const char *beginning)
{
	size_t n = strlen(beginning);

	return strncmp(text, beginning, n) ? NULL : text + n;
}

/* A part of a text, kept with the model. */
static const char *name_keep(struct trc_model *m, const char *at, size_t n)
{
	return trc_pool_text(&m->text, at, n);
}

/* "[eventfd]" or "inotify", as the kernel writes it: the word alone. */
static bool read_anonymous(struct trc_model *m, struct trc_descriptor_name *d, const char *what)
{
	size_t n = strlen(what);
	bool bracketed = n > 2 && *what == '[' && what[n - 1] == ']';

	d->name = bracketed ? name_keep(m, what + 1, n - 2) : what;
	d->kind = d->name && !strcmp(d->name, "eventpoll") ? "epoll" : d->name;
	return d->kind;
}

static bool read_unix(struct trc_descriptor_name *d, const char *words)
{
	const char *path = behind(words, "listening ");

	d->kind = "unix";
	d->listens = path;
	if (!path)
		path = behind(words, "at ");
	if (path) {
		d->own = path;
	} else {
		path = behind(words, "to ");
		d->peer = path;
	}
	if (path)
		d->name = path;
	return true;
}

/* "listening OWN", "OWN PEER" or "OWN". */
static bool read_inet(struct trc_model *m, struct trc_descriptor_name *d, const char *words)
{
	const char *own = behind(words, "listening "), *blank;

	d->listens = own;
	own = own ? own : words;
	blank = strchr(own, ' ');
	d->own = name_keep(m, own, blank ? (size_t)(blank - own) : strlen(own));
	d->peer = blank ? blank + 1 : NULL;
	d->name = d->peer ? d->peer : d->own;
	return d->own;
}

static const char *file_kind(const char *path)
{
	return behind(path, "/memfd:") ? "memfd" : "file";
}

/* False without memory. */
static bool descriptor_name_read(struct trc_model *m, struct trc_descriptor_name *d)
{
	static const char *const PROTOCOLS[] = {"tcp ", "udp ", "sctp ", "mptcp ", "ip "};
	static const char *const KINDS[] = {"tcp", "udp", "sctp", "mptcp", "ip"};
	const char *rest;

	d->name = d->text;
	d->kind = "other";
	if (*d->text == '/' || behind(d->text, "\xe2\x80\xa6"))
		d->kind = file_kind(d->text);
	else if (behind(d->text, "pipe:"))
		d->kind = "pipe";
	else if (behind(d->text, "socket:"))
		d->kind = "socket";
	else if ((rest = behind(d->text, "anon_inode:")))
		return read_anonymous(m, d, rest);
	else if ((rest = behind(d->text, "unix ")))
		return read_unix(d, rest);
	for (size_t i = 0; i < sizeof(KINDS) / sizeof(*KINDS); i++) {
		rest = behind(d->text, PROTOCOLS[i]);
		d->kind = rest ? KINDS[i] : d->kind;
		if (rest)
			return read_inet(m, d, rest);
	}
	return true;
}

int trc_descriptor_number(struct trc_model *m, uint64_t string, uint32_t *number)
{
	uint32_t row = trc_index_get(&m->descriptor_row, string);
	struct trc_descriptor_name name = {.text = trc_model_string(m, string)};
	struct trc_descriptor_name *added;

	*number = 0;
	if (!name.text)
		return -ENOMEM;
	if (!*name.text)
		return 0;
	if (row == TRC_INDEX_NONE) {
		m->descriptors.row_bytes = sizeof(*added);
		added = descriptor_name_read(m, &name) ? trc_array_add(&m->descriptors) : NULL;
		row = (uint32_t)m->descriptors.n - 1;
		if (!added || trc_index_put(&m->descriptor_row, string, row))
			return -ENOMEM;
		*added = name;
	}
	*number = row + 1;
	return 0;
}

const struct trc_descriptor_name *trc_model_descriptor(const struct trc_model *m, uint32_t number)
{
	return number && number <= m->descriptors.n
		       ? (const struct trc_descriptor_name *)m->descriptors.row + number - 1
		       : NULL;
}

/* ---- the table ---- */

static int descriptor_wait_add(const struct trc_model *m, struct trc_array *rows,
			       struct trc_index *last, const struct trc_park *park)
{
	uint32_t at = trc_index_get(last, park->object);
	struct trc_descriptor *row = rows->row;
	int64_t end_ns = trc_park_end_ns(m, park);

	if (at == TRC_INDEX_NONE || row[at].number != park->descriptor) {
		row = trc_array_add(rows);
		at = (uint32_t)rows->n - 1;
		if (!row || trc_index_put(last, park->object, at))
			return -ENOMEM;
		*row = (struct trc_descriptor){.fd = park->object,
					       .from_ns = park->start_ns,
					       .to_ns = end_ns,
					       .number = park->descriptor};
	} else {
		row += at;
	}
	row->waits++;
	if (__builtin_add_overflow(row->waited_ns, end_ns - park->start_ns, &row->waited_ns))
		row->waited_ns = INT64_MAX;
	if (end_ns > row->to_ns)
		row->to_ns = end_ns;
	return 0;
}

static int descriptors_list(const struct trc_model *m, struct trc_array *rows)
{
	struct trc_index last = {0}; /* by descriptor: its newest row */
	size_t n;
	const struct trc_park *park = trc_model_parks(m, &n);
	int err = 0;

	rows->row_bytes = sizeof(struct trc_descriptor);
	for (size_t i = 0; i < n && !err; i++)
		if (park[i].descriptor)
			err = descriptor_wait_add(m, rows, &last, &park[i]);
	trc_index_free(&last);
	return err;
}

static void descriptors_kept_free(void *kept)
{
	trc_array_free(kept);
	free(kept);
}

static int descriptors_keep_rows(const struct trc_model *m, struct trc_kept *kept)
{
	struct trc_array *rows = calloc(1, sizeof(*rows));
	int err = rows ? descriptors_list(m, rows) : -ENOMEM;

	if (!err)
		*kept = (struct trc_kept){rows, descriptors_kept_free};
	else if (rows)
		descriptors_kept_free(rows);
	return err;
}

int trc_model_descriptors(const struct trc_model *m, struct trc_array *rows)
{
	struct trc_kept *kept = trc_model_kept(m, TRC_KEPT_DESCRIPTORS);
	int err = 0;

	if (!kept)
		return descriptors_list(m, rows);
	if (!kept->thing)
		err = descriptors_keep_rows(m, kept);
	if (!err) {
		*rows = *(const struct trc_array *)kept->thing;
		rows->capacity = 0;
	}
	return err;
}

int trc_descriptors_walk(struct trc_image *image, struct trc_model *m)
{
	struct trc_kept *kept = trc_model_kept(m, TRC_KEPT_DESCRIPTORS);
	struct trc_array *rows;
	int err = 0;

	if (!kept)
		return -EINVAL;
	if (trc_image_is_read(image))
		*kept = (struct trc_kept){calloc(1, sizeof(*rows)), descriptors_kept_free};
	else if (!kept->thing)
		err = descriptors_keep_rows(m, kept);
	rows = kept->thing;
	if (!rows)
		return err ? err : -ENOMEM;
	rows->row_bytes = sizeof(struct trc_descriptor);
	trc_image_array(image, rows, NULL);
	return 0;
}
