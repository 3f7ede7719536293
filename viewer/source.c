/*
 * source.c - see source.h.
 */
#include "source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "rows.h"

enum {
	LINE_COLUMNS_MAX = 1000,
	TAB_COLUMNS = 8,
	/* Of all files: a trace may name one by many paths. */
	READ_BYTES_MAX = 1 << 29,
	READ_BYTES_LEAST = 1 << 12, /* what a small file, or one that is not there, counts as */
};

/* A frame with a line; `path` is where its file lies here, owned. */
struct place {
	char *path;
	uint32_t frame, line; /* index of the frame */
};

struct text_file {
	char *data; /* owned */
	size_t n_bytes;
	int64_t changed_ns; /* since 1970 */
};

enum { PATH, LINES, NEWER, NUMBER, TEXT, N_COLUMNS };

struct sources {
	struct trc_rows *r;
	struct trc_html_source *told;
	struct trc_array places; /* struct place */
	uint32_t *of_frame;	 /* by index: number of the frame's file, 0 = none; owned */
	struct trc_column column[N_COLUMNS];
	uint64_t n_read_bytes;
};

/* Where the file lies here: by the first map that fits, else as it was compiled.  NULL without memory. */
static char *path_of(const struct trc_html_source *told, const char *directory, const char *file)
{
	char *whole, *mapped;
	int n;

	n = *file == '/' || !directory ? asprintf(&whole, "%s", file)
				       : asprintf(&whole, "%s/%s", directory, file);
	if (n < 0)
		return NULL;
	for (size_t i = 0; i < told->n_maps; i++) {
		const struct trc_source_map *map = &told->map[i];

		if (strncmp(whole, map->from, map->from_bytes) != 0)
			continue;
		n = asprintf(&mapped, "%s%s", map->to, whole + map->from_bytes);
		free(whole);
		return n < 0 ? NULL : mapped;
	}
	return whole;
}

static int source_compare_places(const void *a, const void *b)
{
	const struct place *x = a, *y = b;
	int order = strcmp(x->path, y->path);

	return order ? order : (x->line > y->line) - (x->line < y->line);
}

static int sources_add_place(struct sources *s, const struct trc_stacks *stacks, size_t i)
{
	const struct trc_frame *frame = &stacks->frame[i];
	const char *directory = stacks->origin ? stacks->origin[i].directory : NULL;
	struct place *place;

	if (!frame->file || !*frame->file || !frame->line)
		return 0;
	place = trc_array_add(&s->places);
	if (!place)
		return -ENOMEM;
	*place = (struct place){path_of(s->told, directory, frame->file), (uint32_t)i, frame->line};
	return place->path ? 0 : -ENOMEM;
}

/* S2.  Opening a FIFO would wait, and a device may do anything: what it is, is asked before and after. */
static int open_text(const char *path, struct text_file *file)
{
	struct stat st;
	int fd;

	if (stat(path, &st))
		return -errno;
	if (!S_ISREG(st.st_mode) || st.st_size > TRC_SOURCE_FILE_BYTES_MAX)
		return -EINVAL;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_size > TRC_SOURCE_FILE_BYTES_MAX) {
		close(fd);
		return -EINVAL;
	}
	if (__builtin_mul_overflow((int64_t)st.st_mtim.tv_sec, 1000000000, &file->changed_ns))
		file->changed_ns = INT64_MAX; /* after 2262 */
	return fd;
}

static int read_text(int fd, struct text_file *file)
{
	ssize_t n = 0;

	file->n_bytes = 0;
	file->data = malloc(TRC_SOURCE_FILE_BYTES_MAX + 1);
	if (!file->data)
		return -ENOMEM;
	do {
		n = read(fd, file->data + file->n_bytes, TRC_SOURCE_FILE_BYTES_MAX - file->n_bytes);
		if (n > 0)
			file->n_bytes += (size_t)n;
	} while (n > 0 || (n < 0 && errno == EINTR));
	return n < 0 || memchr(file->data, '\0', file->n_bytes) ? -EINVAL : 0;
}

/* Without tabs, which the page would show as escapes, nor what ends the line. */
static void source_add_line(struct sources *s, const char *text, size_t n_bytes)
{
	char line[LINE_COLUMNS_MAX + TAB_COLUMNS + 1];
	size_t n = 0;

	for (size_t i = 0; i < n_bytes && n < LINE_COLUMNS_MAX; i++) {
		if (text[i] != '\t') {
			line[n++] = text[i];
			continue;
		}
		do
			line[n++] = ' ';
		while (n % TAB_COLUMNS);
	}
	while (n && (line[n - 1] == '\r' || line[n - 1] == ' '))
		n--;
	line[n] = '\0';
	trc_column_add(&s->column[TEXT], trc_texts_id(&s->r->texts, line));
}

/* The lines around those of the places, each once (S3).  Returns how many. */
static uint64_t add_lines(struct sources *s, const struct text_file *file,
			  const struct place *place, size_t n_places)
{
	const char *at = file->data, *end = file->data + file->n_bytes, *next;
	uint64_t n = 0;
	size_t i = 0;

	for (uint32_t number = 1; at < end; at = next, number++) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));

		next = newline ? newline + 1 : end;
		while (i < n_places && (uint64_t)place[i].line + TRC_SOURCE_AROUND_LINES < number)
			i++;
		if (i == n_places)
			break;
		if ((uint64_t)number + TRC_SOURCE_AROUND_LINES < place[i].line)
			continue;
		if (s->told->n_lines == TRC_SOURCE_LINES_MAX) {
			s->told->n_lines_out++;
			continue;
		}
		trc_column_add(&s->column[NUMBER], number);
		source_add_line(s, at, (size_t)((newline ? newline : end) - at));
		s->told->n_lines++;
		n++;
	}
	return n;
}

static void count_failure(struct trc_html_source *told, const char *path, int err)
{
	if (err != -ENOENT && err != -ENOTDIR) {
		told->n_refused++;
		return;
	}
	if (!told->n_missing++)
		snprintf(told->missing, sizeof(told->missing), "%s", path);
}

/* The lines may be others than those that were compiled. */
static bool is_newer(const struct sources *s, const struct text_file *file)
{
	const struct trc_file_info *info = trc_reader_info(trc_model_reader(s->r->m));

	return info && info->start_realtime_ns &&
	       file->changed_ns > (int64_t)info->start_realtime_ns;
}

/* All places of one file. */
static int add_file(struct sources *s, const struct place *place, size_t n_places)
{
	struct text_file file = {0};
	uint64_t n;
	int fd, err;

	if (s->n_read_bytes >= READ_BYTES_MAX) {
		s->told->n_refused++;
		return 0;
	}
	fd = open_text(place->path, &file);
	err = fd < 0 ? fd : read_text(fd, &file);
	s->n_read_bytes += READ_BYTES_LEAST + file.n_bytes;
	if (fd >= 0)
		close(fd);
	if (err) {
		free(file.data);
		if (err != -ENOMEM)
			count_failure(s->told, place->path, err);
		return err == -ENOMEM ? err : 0;
	}
	n = add_lines(s, &file, place, n_places);
	free(file.data);
	s->told->n_files++;
	trc_column_add(&s->column[PATH], trc_texts_id(&s->r->texts, place->path));
	trc_column_add(&s->column[LINES], n);
	trc_column_add(&s->column[NEWER], is_newer(s, &file));
	s->told->n_newer += is_newer(s, &file);
	for (size_t i = 0; i < n_places; i++)
		s->of_frame[place[i].frame] = (uint32_t)s->told->n_files;
	return 0;
}

static int add_files(struct sources *s)
{
	const struct place *place = s->places.row;
	int err = 0;

	if (s->places.n)
		qsort(s->places.row, s->places.n, sizeof(*place), source_compare_places);
	for (size_t i = 0, next; i < s->places.n && !err; i = next) {
		for (next = i + 1; next < s->places.n; next++)
			if (strcmp(place[next].path, place[i].path) != 0)
				break;
		err = add_file(s, &place[i], next - i);
	}
	return err;
}

static void write_columns(struct sources *s, size_t n_frames)
{
	struct trc_column of_frame = trc_column_make("frame.source", TRC_COLUMN_VARINT);

	for (size_t i = 0; i < n_frames; i++)
		trc_column_add(&of_frame, s->of_frame[i]);
	trc_rows_columns(s->r, s->column, N_COLUMNS);
	trc_rows_columns(s->r, &of_frame, 1);
}

static void free_sources(struct sources *s)
{
	struct place *place = s->places.row;

	for (size_t i = 0; i < s->places.n; i++)
		free(place[i].path);
	trc_array_free(&s->places);
	free(s->of_frame);
	for (size_t i = 0; i < N_COLUMNS; i++)
		trc_bytes_free(&s->column[i].bytes);
}

void trc_rows_source(struct trc_rows *r)
{
	const struct trc_stacks *stacks = trc_model_stacks(r->m);
	struct sources s = {.r = r,
			    .told = r->source,
			    .places = {.row_bytes = sizeof(struct place)},
			    .column = {
				    [PATH] = trc_column_make("source.path", TRC_COLUMN_VARINT),
				    [LINES] = trc_column_make("source.lines", TRC_COLUMN_VARINT),
				    [NEWER] = trc_column_make("source.newer", TRC_COLUMN_BYTES),
				    [NUMBER] = trc_column_make("source.number", TRC_COLUMN_DELTA),
				    [TEXT] = trc_column_make("source.text", TRC_COLUMN_VARINT),
			    }};
	size_t n_frames = stacks ? stacks->n_frames : 0;
	int err = 0;

	if (!r->source)
		return;
	s.of_frame = calloc(n_frames + 1, sizeof(*s.of_frame));
	if (!s.of_frame)
		err = -ENOMEM;
	for (size_t i = 0; i < n_frames && !err; i++)
		err = sources_add_place(&s, stacks, i);
	if (!err)
		err = add_files(&s);
	if (err)
		r->failed = true;
	else
		write_columns(&s, n_frames);
	free_sources(&s);
}
