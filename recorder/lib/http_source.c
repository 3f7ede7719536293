/* http_source.c - see http_source.h.  Context: threads of the server, or a thread that calls
 * trace_http_answer(). */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>
#include "recorder/profile/http_names.h"
#include "http_source.h"
#include "recorder/guest/own_thread.h"
#include "recording.h"

enum { TRACE_BYTES_MAX = 256 << 20 };

/* What is said to whoever asks is what the API says. */
static int error_say(int err, char *why, size_t n_bytes)
{
	if (err)
		snprintf(why, n_bytes, "%s", trace_last_error());
	return err;
}

/* ---- traces ------------------------------------------------------------------------------ */

static const char *library_dir(void)
{
	const char *given = secure_getenv("TRC_RING_DIR");

	return given && *given ? given : "/dev/shm";
}

static uint64_t room_bytes(void)
{
	struct statvfs st;

	return statvfs(library_dir(), &st) ? UINT64_MAX : (uint64_t)st.f_bavail * st.f_frsize;
}

/* It is there from its first events on. */
static uint64_t file_bytes(const char *path)
{
	struct stat st;

	return stat(path, &st) ? 0 : (uint64_t)st.st_size;
}

/* A trace that would fill the directory ends before it does: others need it, we too; and it is
 * memory, as a rule. */
static bool wait_while_room(const char *path, uint64_t ns, const struct trc_http_wait *wait)
{
	const uint64_t slice_ns = 100000000, room = room_bytes();
	const uint64_t most = room / 4 < TRACE_BYTES_MAX ? room / 4 : TRACE_BYTES_MAX;
	bool goes_on = true;

	while (goes_on && ns && room_bytes() >= room / 4 && file_bytes(path) <= most) {
		uint64_t part = ns < slice_ns ? ns : slice_ns;

		goes_on = wait->wait(wait->context, part);
		ns -= part;
	}
	return goes_on;
}

static int own_trace(const char *path, uint64_t duration_ns, const struct trc_http_wait *wait,
		     char *why, size_t n_bytes)
{
	bool goes_on;
	int err;

	if (trc_recorded_elsewhere()) {
		snprintf(why, n_bytes, "trace-record records this process, and writes its trace");
		return -EBUSY;
	}
	err = trace_start(path, NULL);
	if (err)
		return error_say(err, why, n_bytes);
	goes_on = wait_while_room(path, duration_ns, wait);
	err = trc_trace_stop(path);
	if (!goes_on) {
		snprintf(why, n_bytes, "given up");
		return -ECANCELED;
	}
	return error_say(err == -EINVAL ? -EIO : err, why, n_bytes);
}

static int own_flight(const char *path, uint64_t window_ns, char *why, size_t n_bytes)
{
	struct trace_snapshot_options options = TRACE_SNAPSHOT_OPTIONS_INIT;

	options.window_ns = window_ns;
	return error_say(trace_flight_snapshot(path, &options), why, n_bytes);
}

/* ---- the process ------------------------------------------------------------------------- */

static long own_cmdline(char *out, size_t n_bytes)
{
	int fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
	size_t used = 0;
	ssize_t n = 0;

	if (fd < 0)
		return -errno;
	while (used < n_bytes && (n = read(fd, out + used, n_bytes - used)) > 0)
		used += (size_t)n;
	close(fd);
	return n < 0 ? -EIO : (long)used;
}

/* ---- names of functions ------------------------------------------------------------------ */

static int own_list_modules(struct trc_module_list *list)
{
	return trc_module_list(list, false);
}

static struct trc_http_names *own_names_open(void)
{
	return trc_http_names_open(own_list_modules);
}

const struct trc_http_source trc_http_own = {
	.each = trc_http_profiles_each,
	.count = trc_http_profiles_count,
	.take = trc_http_profiles_take,
	.trace = own_trace,
	.flight = own_flight,
	.dir = library_dir,
	.cmdline = own_cmdline,
	.names_open = own_names_open,
	.names_close = trc_http_names_close,
	.name = trc_http_name,
};

/* ---- threads ----------------------------------------------------------------------------- */

static int server_thread_begin(const char *name, bool own_descriptors)
{
	if (own_descriptors)
		return trc_own_thread_begin(name);
	trc_own_thread_begin_here(name);
	return 0;
}

const struct trc_http_host trc_http_own_host = {
	.thread_create = trc_own_thread_create,
	.thread_begin = server_thread_begin,
	.thread_end = trc_own_thread_end,
};
