/* recorder_writer.c - ready-made writers (<trc/recorder.h>). */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "format/file_sink.h"
#include "format/raw.h"
#include "recorder/ring/rec.h"
#include "recorder/profile/kind.h"
#include "recording.h"

int trc_writer_finished(const struct trace_writer *writer, int err)
{
	int finished = writer->finish ? writer->finish(writer->context, err) : 0;

	return err ? err : finished;
}

/* ---- a file ---------------------------------------------------------------------------- */

/* Those that nobody has finished yet.  A writer's context is its number, not its address: copies of
 * the writer may outlive it, and what is used a second time is told from what is not.  Guarded by
 * `lock`, inside which nothing is locked; what is busy is its user's. */
struct file_writer {
	struct file_writer *next;
	uintptr_t number; /* never used again */
	bool busy;
	struct trc_file_sink sink;
};
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct file_writer *file_writers;
static uintptr_t last_number;

void trc_writers_forget(void)
{
	static const pthread_mutex_t unlocked = PTHREAD_MUTEX_INITIALIZER;

	lock = unlocked;
}

/* Locked.  The link to it; to NULL if it was finished. */
static struct file_writer **use_find(const void *context)
{
	struct file_writer **link = &file_writers;

	while (*link && (*link)->number != (uintptr_t)context)
		link = &(*link)->next;
	return link;
}

/* Makes it busy; 0, -EINVAL: it was finished, or -EBUSY. */
static int begin_use(struct file_writer **out, const void *context)
{
	int err = 0;

	pthread_mutex_lock(&lock);
	*out = *use_find(context);
	if (!*out)
		err = -EINVAL;
	else if ((*out)->busy)
		err = -EBUSY;
	else
		(*out)->busy = true;
	pthread_mutex_unlock(&lock);
	return err;
}

static void end_use(struct file_writer *w)
{
	pthread_mutex_lock(&lock);
	w->busy = false;
	pthread_mutex_unlock(&lock);
}

static int path_finish(void *context, int err)
{
	struct file_writer *w;
	int used = begin_use(&w, context);

	if (used)
		return err ? err : used;
	if (!err)
		err = trc_file_sink_commit(&w->sink);
	trc_file_sink_close(&w->sink);
	pthread_mutex_lock(&lock);
	*use_find(context) = w->next;
	pthread_mutex_unlock(&lock);
	free(w);
	return err;
}

/* Opened with the first bytes: before that there may be nothing to write for a long time. */
static int path_write(void *context, const void *bytes, size_t n_bytes)
{
	char why[TRC_FILE_PATH_BYTES + 100];
	struct file_writer *w;
	int err = begin_use(&w, context);

	if (err)
		return err;
	if (w->sink.fd < 0)
		err = trc_file_sink_open(&w->sink, why, sizeof(why));
	if (!err)
		err = trc_file_sink_write(&w->sink, bytes, n_bytes);
	end_use(w);
	return err;
}

bool trc_writer_is_used_up(const struct trace_writer *writer)
{
	bool is;

	if (writer->write != path_write)
		return false;
	trc_self.quiet++;
	pthread_mutex_lock(&lock);
	is = !*use_find(writer->context);
	pthread_mutex_unlock(&lock);
	trc_self.quiet--;
	return is;
}

static int plan_file(struct trace_writer *out, const char *path)
{
	char why[TRC_FILE_PATH_BYTES + 100];
	struct file_writer *w = calloc(1, sizeof(*w));
	int err;

	if (!w)
		return trc_api_fail(-ENOMEM, path, "no memory for a writer");
	err = trc_file_sink_plan(&w->sink, path, why, sizeof(why));
	if (err) {
		free(w);
		return trc_api_fail(err, "", why);
	}
	pthread_mutex_lock(&lock);
	w->number = ++last_number;
	w->next = file_writers;
	file_writers = w;
	pthread_mutex_unlock(&lock);
	*out = (struct trace_writer){path_write, (void *)w->number, path_finish};
	return 0;
}

int trace_writer_to_path(struct trace_writer *out, const char *path)
{
	int err;

	trc_api_clear();
	if (!path || !*path)
		return trc_api_fail(-EINVAL, "", "no path to write to");
	trc_self.quiet++; /* none of the program's objects */
	err = plan_file(out, path);
	trc_self.quiet--;
	return err;
}

/* ---- a descriptor ---------------------------------------------------------------------- */

/* A closed pipe's signal comes to the thread that writes: it is taken back before anybody sees it.
 */
static void take_sigpipe(const sigset_t *sigpipe)
{
	const struct timespec now = {0, 0};

	while (trc_raw4(SYS_rt_sigtimedwait, sigpipe, NULL, &now, _NSIG / 8) == -EINTR)
		;
}

static long write_some(int fd, const char *bytes, size_t n_bytes)
{
	struct pollfd poll = {.fd = fd, .events = POLLOUT};
	long n = trc_raw3(SYS_write, fd, bytes, n_bytes);

	if (n != -EAGAIN)
		return n;
	trc_raw4(SYS_ppoll, &poll, 1, NULL, NULL);
	return -EINTR;
}

static int descriptor_write_all(int fd, const char *bytes, size_t n_bytes)
{
	while (n_bytes) {
		long n = write_some(fd, bytes, n_bytes);

		if (n == -EINTR)
			continue;
		if (n <= 0)
			return n ? (int)n : -EIO;
		bytes += n;
		n_bytes -= (size_t)n;
	}
	return 0;
}

static int fd_write(void *context, const void *bytes, size_t n_bytes)
{
	int fd = (int)(intptr_t)context, err;
	sigset_t sigpipe, before, pending;

	sigemptyset(&sigpipe);
	sigaddset(&sigpipe, SIGPIPE);
	pthread_sigmask(SIG_BLOCK, &sigpipe, &before);
	sigpending(&pending);
	err = descriptor_write_all(fd, bytes, n_bytes);
	if (err == -EPIPE && !sigismember(&pending, SIGPIPE))
		take_sigpipe(&sigpipe);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return err;
}

struct trace_writer trace_writer_to_fd(int fd)
{
	return (struct trace_writer){fd_write, (void *)(intptr_t)fd, NULL};
}

/* ---- memory ---------------------------------------------------------------------------- */

static int memory_write(void *context, const void *bytes, size_t n_bytes)
{
	struct trace_writer_memory *m = context;

	if (n_bytes > SIZE_MAX / 2 - m->n_bytes)
		return -ENOMEM;
	if (m->n_bytes + n_bytes > m->room_bytes) {
		size_t room_bytes = 2 * (m->n_bytes + n_bytes);
		void *grown = realloc(m->bytes, room_bytes);

		if (!grown)
			return -ENOMEM;
		m->bytes = grown;
		m->room_bytes = room_bytes;
	}
	if (n_bytes)
		memcpy((char *)m->bytes + m->n_bytes, bytes, n_bytes);
	m->n_bytes += n_bytes;
	return 0;
}

struct trace_writer trace_writer_to_memory(struct trace_writer_memory *memory)
{
	return (struct trace_writer){memory_write, memory, NULL};
}
