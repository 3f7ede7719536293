/* ring.c - see ring.h. */
#include "ring.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
/* The arrow that goes the other way (ring.h). */
#include "recorder/drain/ring_file.h"
#include "recorder/drain/snapshot.h"

bool trc_is_ring(const char *path)
{
	char magic[sizeof(TRC_LAYOUT_MAGIC)];
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat st;
	bool is_ring;

	if (fd < 0)
		return false;
	is_ring = !fstat(fd, &st) && S_ISREG(st.st_mode) &&
		  pread(fd, magic, sizeof(magic), 0) == sizeof(magic) &&
		  !memcmp(magic, TRC_LAYOUT_MAGIC, sizeof(magic));
	close(fd);
	return is_ring;
}

static int ring_trace_put(void *context, const void *bytes, size_t n_bytes)
{
	const int *fd = context;

	for (const char *p = bytes; n_bytes;) {
		ssize_t n = write(*fd, p, n_bytes);

		if (n < 0 && errno != EINTR)
			return -errno;
		if (n > 0) {
			p += n;
			n_bytes -= (size_t)n;
		}
	}
	return 0;
}

/* The ring as a trace, in an open file; closes the ring. */
static int convert(struct trc_ring_file *ring, uint64_t window_ns, int fd, struct trc_error *error)
{
	const struct trc_snapshot_options options = {.window_ns = window_ns};
	int err = trc_ring_file_to_trace(ring, &options, ring_trace_put, &fd, error->text,
					 sizeof(error->text));

	trc_ring_file_close(ring);
	return err;
}

static int ring_trace_map(struct trc_ring_trace *trace, int fd)
{
	struct stat st;

	if (fstat(fd, &st))
		return -errno;
	trace->n_bytes = (size_t)st.st_size;
	trace->bytes = mmap(NULL, trace->n_bytes, PROT_READ, MAP_PRIVATE, fd, 0);
	if (trace->bytes != MAP_FAILED)
		return 0;
	trace->bytes = NULL;
	return -errno;
}

/* Closes the ring. */
static int open_converted(struct trc_reader **out, struct trc_ring_trace *trace,
			  struct trc_ring_file *ring, struct trc_error *error)
{
	int fd = memfd_create("trc", MFD_CLOEXEC), err = fd < 0 ? -errno : 0;

	if (err)
		trc_ring_file_close(ring);
	else
		err = convert(ring, 0, fd, error);
	if (!err)
		err = ring_trace_map(trace, fd);
	if (fd >= 0)
		close(fd);
	if (err && !error->text[0])
		snprintf(error->text, sizeof(error->text), "%s", strerror(-err));
	if (err)
		return err;
	err = trc_reader_open_memory(out, trace->bytes, trace->n_bytes, error);
	if (err)
		trc_ring_trace_free(trace);
	return err;
}

int trc_ring_open(struct trc_reader **out, struct trc_ring_trace *trace, const char *path,
		  struct trc_error *error)
{
	struct trc_ring_file ring;
	int err;

	error->text[0] = '\0';
	err = trc_ring_file_open(&ring, path, error->text, sizeof(error->text));
	return err ? err : open_converted(out, trace, &ring, error);
}

static int ring_find(struct trc_ring_file *ring, uint32_t pid, struct trc_error *error)
{
	int err;

	error->text[0] = '\0';
	err = trc_ring_file_find(ring, pid, error->text, sizeof(error->text));
	if (err == -ESRCH)
		trc_ring_missing(pid, error->text, sizeof(error->text));
	return err;
}

int trc_ring_write_pid(int fd, uint32_t pid, uint64_t window_ns, struct trc_error *error)
{
	struct trc_ring_file ring;
	int err = ring_find(&ring, pid, error);

	if (err)
		return err;
	err = convert(&ring, window_ns, fd, error);
	if (err && !error->text[0])
		snprintf(error->text, sizeof(error->text), "%s", strerror(-err));
	return err;
}

int trc_ring_look_pid(uint32_t pid, struct trc_error *error)
{
	struct trc_ring_file ring;
	int err = ring_find(&ring, pid, error);

	if (!err)
		trc_ring_file_close(&ring);
	return err;
}

void trc_ring_trace_free(struct trc_ring_trace *trace)
{
	if (trace->bytes)
		munmap(trace->bytes, trace->n_bytes);
	*trace = (struct trc_ring_trace){0};
}
