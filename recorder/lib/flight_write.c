/* flight_write.c - see flight_write.h */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include "flight_write.h"
#include "format/pages.h"
#include "format/raw.h"
#include "recorder/drain/otel_service.h"
#include "recorder/ring/share.h"
#include "recorder/shared/signals.h"

/* ---- signals that a failing write sends to its thread ---------------------------------- */

#define BIT(sig)     (UINT64_C(1) << ((sig)-1))
#define HELD_SIGNALS (BIT(SIGPIPE) | BIT(SIGXFSZ))

static uint64_t hold_signals(void)
{
	const uint64_t held = HELD_SIGNALS;
	uint64_t before = 0;

	trc_raw4(SYS_rt_sigprocmask, SIG_BLOCK, &held, &before, sizeof(held));
	return before;
}

/* A signal that came because of our write is taken before it is seen; one that was pending before
 * merged with it, and is sent by nobody again: it goes too. */
static void signal_swallow(int sig)
{
	const uint64_t set = BIT(sig);
	const struct timespec at_once = {0, 0};

	trc_raw4(SYS_rt_sigtimedwait, &set, 0, &at_once, sizeof(set));
}

static void let_signals(const struct trc_flight_job *job, uint64_t before, uint64_t pending)
{
	if (job->broken_pipe && !(pending & BIT(SIGPIPE)))
		signal_swallow(SIGPIPE);
	if (job->too_large && !(pending & BIT(SIGXFSZ)))
		signal_swallow(SIGXFSZ);
	trc_raw4(SYS_rt_sigprocmask, SIG_SETMASK, &before, 0, sizeof(before));
}

static uint64_t pending_signals(void)
{
	uint64_t pending = 0;

	trc_raw2(SYS_rt_sigpending, &pending, sizeof(pending));
	return pending;
}

/* ---- sinks ----------------------------------------------------------------------------- */

static int note_signal(struct trc_flight_job *job, int err)
{
	job->broken_pipe |= err == -EPIPE;
	job->too_large |= err == -EFBIG;
	return err;
}

static int flight_file_write(void *context, const void *bytes, size_t n_bytes)
{
	struct trc_flight_job *job = context;

	return note_signal(job, trc_file_sink_write(&job->file, bytes, n_bytes));
}

/* The program's own descriptor, which may not block. */
static int descriptor_write(void *context, const void *bytes, size_t n_bytes)
{
	struct trc_flight_job *job = context;
	const char *from = bytes;

	while (n_bytes) {
		long n = trc_raw3(SYS_write, job->fd, from, n_bytes);

		if (n == -EAGAIN) {
			struct pollfd ready = {.fd = job->fd, .events = POLLOUT};

			trc_raw5(SYS_ppoll, &ready, 1, 0, 0, 0);
			continue;
		}
		if (n == -EINTR)
			continue;
		if (n <= 0)
			return note_signal(job, n ? (int)n : -EIO);
		from += n;
		n_bytes -= (size_t)n;
	}
	return 0;
}

/* ---- a job ----------------------------------------------------------------------------- */

struct trc_flight_job *trc_flight_job_new(const char *snapshot, const char *trigger)
{
	struct trc_flight_job *job = trc_pages_map(sizeof(*job));

	if (!job)
		return NULL;
	job->snapshot = snapshot;
	job->trigger = trigger;
	job->fd = job->file.fd = -1;
	return job;
}

void trc_flight_job_free(struct trc_flight_job *job)
{
	if (!job)
		return;
	if (job->fd < 0)
		trc_file_sink_close(&job->file);
	trc_pages_unmap(job, sizeof(*job));
}

int trc_flight_job_open(struct trc_flight_job *job, const char *path, char *why, size_t n_bytes)
{
	int err = trc_file_sink_plan(&job->file, path, why, n_bytes);

	return err ? err : trc_file_sink_open(&job->file, why, n_bytes);
}

/* The system calls for it might be those that a filter of the program's forbids. */
static bool own_service(char name[TRC_OTEL_SERVICE_BYTES])
{
	return !(trc_sandbox_is_restricted && trc_sandbox_is_restricted()) &&
	       trc_otel_service_read((uint32_t)trc_raw1(SYS_getpid, 0), name,
				     TRC_OTEL_SERVICE_BYTES);
}

static int job_write_infos(const struct trc_flight_job *job, const struct trc_snapshot *s,
			   struct trc_writer *w)
{
	char passed_over[24], service[TRC_OTEL_SERVICE_BYTES];
	const struct {
		const char *key, *value;
	} infos[] = {
		{"otel_service", own_service(service) ? service : NULL},
		{"snapshot", job->snapshot},
		{"trigger", job->trigger},
		{"ended", job->ended ? job->ended : "still running"},
		{"sched", "no: a flight recorder in the process does not ask the kernel"},
		{"triggers_suppressed", job->passed_over ? passed_over : NULL},
	};
	int err = trc_snapshot_info(s, w);

	snprintf(passed_over, sizeof(passed_over), "%llu", (unsigned long long)job->passed_over);
	for (size_t i = 0; !err && i < sizeof(infos) / sizeof(infos[0]); i++)
		if (infos[i].value)
			err = trc_writer_info(w, infos[i].key, infos[i].value);
	return err;
}

static int job_write_trace(struct trc_flight_job *job, struct trc_snapshot *s)
{
	struct trc_writer_options options;
	struct trc_writer *w;
	int err;

	trc_snapshot_writer_options(s, &options);
	options.memory_bytes = trc_share_of_trace();
	err = trc_writer_open(&w, &options, job->fd < 0 ? flight_file_write : descriptor_write,
			      job);
	if (err)
		return err;
	err = job_write_infos(job, s, w);
	if (!err)
		err = trc_snapshot_write(s, w, NULL, NULL);
	if (!err)
		err = trc_writer_finish(w);
	trc_writer_close(w);
	return err;
}

int trc_flight_job_write(struct trc_flight_job *job, struct trc_snapshot *s, char *why,
			 size_t n_bytes)
{
	uint64_t before = hold_signals();
	uint64_t pending = pending_signals();
	int err = job_write_trace(job, s);

	if (!err && job->fd < 0)
		err = trc_file_sink_commit(&job->file);
	let_signals(job, before, pending);
	if (err && job->fd < 0)
		snprintf(why, n_bytes, "%s: %s", job->file.target, strerror(-err));
	else if (err)
		snprintf(why, n_bytes, "descriptor %d: %s", job->fd, strerror(-err));
	return err;
}
