/* reader.c - opening a file: the header, the clock, and what the whole file tells; see reader.h. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include "block_head.h"
#include "check.h"
#include "reader_private.h"

int trc_reader_fail(struct trc_error *error, int err, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(error->text, sizeof(error->text), format, args);
	va_end(args);
	return err;
}

void trc_reader_warn(struct trc_reader *r, const char *format, ...)
{
	va_list args;

	if (r->warning[0])
		return;
	va_start(args, format);
	vsnprintf(r->warning, sizeof(r->warning), format, args);
	va_end(args);
}

void *trc_vector_room(void *at, size_t n, size_t *room, size_t element_bytes, size_t more)
{
	size_t new_room = *room + *room / 2;

	if (at && *room - n >= more)
		return at;
	if (new_room < n + more)
		new_room = n + more;
	if (new_room < 16)
		new_room = 16;
	if (new_room > SIZE_MAX / 2 / element_bytes)
		return NULL;
	at = realloc(at, new_room * element_bytes);
	if (at)
		*room = new_room;
	return at;
}

uint8_t *trc_reader_keep(struct trc_reader *r, size_t n_bytes)
{
	struct trc_owned *owned = malloc(sizeof(*owned) + n_bytes);

	if (!owned)
		return NULL;
	owned->next = r->owned;
	r->owned = owned;
	return owned->bytes;
}

/* --- how much a file may tell (format.md, "Density") --- */

static int check_density(struct trc_reader *r, uint64_t n, unsigned int per_byte, const char *what)
{
	if (n <= TRC_DENSE_FREE + (uint64_t)r->read_bytes * per_byte)
		return 0;
	trc_reader_warn(r, "damaged: the first %zu bytes claim more %s than so few can hold",
			r->read_bytes, what);
	return -EBADMSG;
}

int trc_reader_check_events(struct trc_reader *r, uint64_t n_events)
{
	return check_density(r, n_events, TRC_EVENTS_PER_BYTE, "events");
}

int trc_reader_count_entry(struct trc_reader *r)
{
	return check_density(r, ++r->n_entries, TRC_ENTRIES_PER_BYTE, "entries of tables");
}

int trc_reader_count_parts(struct trc_reader *r, uint64_t n)
{
	r->n_parts += n;
	return check_density(r, r->n_parts, TRC_PARTS_PER_BYTE, "frames and labels");
}

/* --- the header (format.md, "Header") --- */

static int check_version(const struct trc_reader *r, struct trc_error *error)
{
	uint16_t major = trc_get16(r->bytes + 4), minor = trc_get16(r->bytes + 6);

	if (major == TRC_MAJOR)
		return 0;
	return trc_reader_fail(error, -ENOTSUP,
			       "version %u.%u is %s than this trc, which reads %d.x", major, minor,
			       major > TRC_MAJOR ? "newer" : "older", TRC_MAJOR);
}

static int check_header(const struct trc_reader *r, struct trc_error *error)
{
	size_t magic_bytes = r->n_bytes < 4 ? r->n_bytes : 4;
	uint32_t header_bytes;
	int err;

	if (!r->n_bytes)
		return trc_reader_fail(error, -EBADMSG, "empty file");
	if (memcmp(r->bytes, TRC_MAGIC, magic_bytes))
		return trc_reader_fail(error, -EBADMSG, "not a trc trace");
	if (r->n_bytes < 16)
		return trc_reader_fail(error, -EBADMSG, "cut off inside the header");
	err = check_version(r, error);
	if (err)
		return err;
	header_bytes = trc_get32(r->bytes + 12);
	if (trc_get32(r->bytes + 8) != TRC_ENDIAN_MARK || header_bytes < TRC_HEADER_BYTES ||
	    header_bytes > TRC_HEADER_BYTES_MAX || header_bytes % 8)
		return trc_reader_fail(error, -EBADMSG, "the header is damaged");
	if (header_bytes > r->n_bytes)
		return trc_reader_fail(error, -EBADMSG, "cut off inside the header");
	if (trc_check64(r->bytes, header_bytes - 8, 0) != trc_get64(r->bytes + header_bytes - 8))
		return trc_reader_fail(error, -EBADMSG, "the header is damaged");
	return 0;
}

static int parse_header(struct trc_reader *r, struct trc_error *error)
{
	const uint8_t *h = r->bytes;
	int err = check_header(r, error);

	if (err)
		return err;
	r->info.major = trc_get16(h + 4);
	r->info.minor = trc_get16(h + 6);
	r->info.schema_hash = trc_get64(h + 16);
	memcpy(r->info.trace_uuid, h + 24, 16);
	r->info.clock = (enum trc_clock_kind)trc_get32(h + 40);
	r->info.n_procs = trc_get32(h + 44);
	r->info.ticks_per_second = trc_get64(h + 48);
	r->info.creation_realtime_ns = trc_get64(h + 56);
	r->info.file_bytes = r->n_bytes;
	if (!r->info.n_procs || r->info.n_procs > TRC_PROCS_MAX)
		return trc_reader_fail(error, -EBADMSG, "the header tells of %" PRIu32 " procs",
				       r->info.n_procs);
	return 0;
}

/* --- after the last section --- */

static int init_clock(struct trc_reader *r)
{
	uint64_t origin = UINT64_MAX;
	int err;

	for (size_t i = 0; i < r->blocks.n; i++)
		if (r->blocks.at[i].info.source != TRC_SOURCE_KERNEL &&
		    r->blocks.at[i].first < origin)
			origin = r->blocks.at[i].first;
	if (!r->syncs.n && r->blocks.n)
		trc_reader_warn(r, "no sync point: times count from the first event");
	err = trc_clockmap_init(&r->clock, r->syncs.at, r->syncs.n, r->info.ticks_per_second,
				origin == UINT64_MAX ? 0 : origin);
	if (err || !r->syncs.n)
		return err;
	r->info.start_monotonic_ns = r->syncs.at[0].monotonic_ns;
	r->info.start_monotonic_raw_ns = r->syncs.at[0].monotonic_raw_ns;
	r->info.start_realtime_ns = r->syncs.at[0].realtime_ns;
	r->info.last_sync_ns = trc_reader_ns(r, r->syncs.at[r->syncs.n - 1].ticks);
	return 0;
}

int64_t trc_reader_at_realtime(const struct trc_reader *r, uint64_t realtime_ns)
{
	const struct trc_sync_point *sync = r->syncs.at;
	int64_t at_ns;

	if (!r->syncs.n)
		return 0;
	for (size_t i = 1; i < r->syncs.n; i++)
		if (r->syncs.at[i].realtime_ns <= realtime_ns)
			sync = &r->syncs.at[i];
	at_ns = trc_reader_ns(r, sync->ticks);
	if (__builtin_add_overflow(at_ns, (int64_t)(realtime_ns - sync->realtime_ns), &at_ns))
		at_ns = realtime_ns > sync->realtime_ns ? INT64_MAX : INT64_MIN;
	return at_ns;
}

size_t trc_reader_syncs(const struct trc_reader *r)
{
	return r->syncs.n;
}

int64_t trc_reader_sync_ns(const struct trc_reader *r, size_t i, uint64_t *realtime_ns)
{
	*realtime_ns = r->syncs.at[i].realtime_ns;
	return trc_reader_ns(r, r->syncs.at[i].ticks);
}

/* What a cut has left whole (format.md, "SYNC"); last_sync: as they stand in the file. */
static void finish_whole(struct trc_reader *r, uint64_t last_sync_ticks)
{
	int64_t sync_ns = trc_reader_ns(r, last_sync_ticks);

	if (r->info.complete)
		r->info.whole_until_ns = INT64_MAX;
	else if (!r->syncs.n || sync_ns < INT64_MIN + TRC_SYNC_SLACK_NS)
		r->info.whole_until_ns = INT64_MIN;
	else
		r->info.whole_until_ns = sync_ns - TRC_SYNC_SLACK_NS;
}

/* The blocks' times as trace time, and where their counts ended up. */
static void finish_blocks(struct trc_reader *r)
{
	for (size_t i = 0; i < r->blocks.n; i++) {
		struct trc_block *b = &r->blocks.at[i];

		b->info.kind_count = r->kind_counts.at + i * (TRC_KIND_MAX + 1);
		b->info.first_ns = trc_reader_time_ns(r, b->info.source, b->first);
		b->info.last_ns = trc_reader_time_ns(r, b->info.source, b->last);
		if (!i || b->info.first_ns < r->info.first_ns)
			r->info.first_ns = b->info.first_ns;
		if (!i || b->info.last_ns > r->info.last_ns)
			r->info.last_ns = b->info.last_ns;
	}
	r->info.n_blocks = r->blocks.n;
	trc_reader_find_damage(r);
}

static int reader_fill(struct trc_reader *r, struct trc_error *error)
{
	uint64_t last_sync_ticks;
	int err = parse_header(r, error);

	if (err)
		return err;
	trc_reader_init_schema(r);
	err = trc_reader_walk_sections(r, error);
	if (err)
		return err;
	last_sync_ticks = r->syncs.n ? r->syncs.at[r->syncs.n - 1].ticks : 0;
	if (init_clock(r) || trc_reader_finish_threads(r))
		return trc_reader_fail(error, -ENOMEM, "out of memory");
	finish_blocks(r);
	finish_whole(r, last_sync_ticks);
	return 0;
}

int trc_reader_open_memory(struct trc_reader **out, const void *bytes, size_t n_bytes,
			   struct trc_error *error)
{
	struct trc_reader *r = calloc(1, sizeof(*r));
	int err;

	if (!r)
		return trc_reader_fail(error, -ENOMEM, "out of memory");
	r->bytes = bytes;
	r->n_bytes = n_bytes;
	err = reader_fill(r, error);
	if (err) {
		trc_reader_close(r);
		return err;
	}
	*out = r;
	return 0;
}

/* Maps a whole regular file; nothing is mapped of an empty one. */
static int trace_map(int fd, const void **bytes, size_t *n_bytes, struct trc_error *error)
{
	struct stat st;
	void *map;

	if (fstat(fd, &st) < 0)
		return trc_reader_fail(error, -errno, "%s", strerror(errno));
	if (!S_ISREG(st.st_mode))
		return trc_reader_fail(error, S_ISDIR(st.st_mode) ? -EISDIR : -EINVAL,
				       "not a regular file");
	*n_bytes = (size_t)st.st_size;
	if (!*n_bytes)
		return 0;
	map = mmap(NULL, *n_bytes, PROT_READ, MAP_PRIVATE, fd, 0);
	if (map == MAP_FAILED)
		return trc_reader_fail(error, -errno, "%s", strerror(errno));
	*bytes = map;
	return 0;
}

int trc_reader_open(struct trc_reader **out, const char *path, struct trc_error *error)
{
	struct trc_reader *r;
	const void *bytes = NULL;
	size_t n_bytes = 0;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	int err;

	if (fd < 0)
		return trc_reader_fail(error, -errno, "%s", strerror(errno));
	err = trace_map(fd, &bytes, &n_bytes, error);
	close(fd);
	if (err)
		return err;
	err = trc_reader_open_memory(&r, bytes, n_bytes, error);
	if (err) {
		if (n_bytes)
			munmap((void *)(uintptr_t)bytes, n_bytes);
		return err;
	}
	r->mapped = n_bytes > 0;
	*out = r;
	return 0;
}

void trc_reader_close(struct trc_reader *r)
{
	if (!r)
		return;
	while (r->owned) {
		struct trc_owned *next = r->owned->next;

		free(r->owned);
		r->owned = next;
	}
	trc_clockmap_free(&r->clock);
	free(r->infos.at);
	free(r->syncs.at);
	free(r->strings.at);
	free(r->stacks.at);
	free(r->frames.at);
	free(r->threads.at);
	free(r->modules.at);
	free(r->status.at);
	free(r->open_regions.at);
	free(r->coverage.at);
	free(r->label_sets.at);
	free(r->labels.at);
	free(r->sample_events.at);
	free(r->thread_labels.at);
	free(r->thread_fibers.at);
	free(r->blocks.at);
	free(r->kind_counts.at);
	free(r->generation_offs.at);
	free(r->serial_present);
	free(r->by_tid);
	if (r->mapped)
		munmap((void *)(uintptr_t)r->bytes, r->n_bytes);
	free(r);
}

const char *trc_reader_warning(const struct trc_reader *r)
{
	return r->warning[0] ? r->warning : NULL;
}

const struct trc_file_info *trc_reader_info(const struct trc_reader *r)
{
	return &r->info;
}

int64_t trc_reader_ns(const struct trc_reader *r, uint64_t ticks)
{
	return trc_clockmap_ns(&r->clock, ticks);
}

uint64_t trc_reader_unknown_sections(const struct trc_reader *r)
{
	return r->unknown_sections;
}
