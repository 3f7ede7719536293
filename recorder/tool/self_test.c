/*
 * self_test.c - --self-test: can this machine record?  See self_test.h.
 *
 *   self_test:J1  a line says `ok` if the trace agrees with the program's own account.  It says
 *       `limited` if the trace has less, or got it in a slower way.  It says `FAILED` if the trace
 *       has nothing of the account, or contradicts it: more waits than there were, or times of less
 *       than half or more than twice as much
 *   self_test:J2  the exit status is 0 if no line says FAILED
 */
#include "self_test.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/magic.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>
#include "recorder/shared/layout.h"
#include "session.h"

enum { FLIGHT_BYTES = 64 << 20, HZ = 1000, TENTHS_DUE = 9, LOST_PER_CENT = 1 };

enum verdict { OK, LIMITED, FAILED };

struct self_test {
	const struct trc_tool_options *asked;
	char dir[PATH_MAX - 16], trace[PATH_MAX], account_path[PATH_MAX];
	struct trc_self_test_account account;
	struct trc_self_test_seen seen;
	bool sampled; /* something could be sampled */
	bool failed;
};

__attribute__((format(printf, 4, 5))) static void
verdict_tell(struct self_test *t, enum verdict verdict, const char *what, const char *format, ...)
{
	static const char *const words[] = {"ok", "limited", "FAILED"};
	va_list args;

	t->failed |= verdict == FAILED;
	printf("%-8s %-9s ", words[verdict], what);
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	putchar('\n');
}

/* `all` when nothing is missing. */
static enum verdict verdict_of(uint64_t n, uint64_t all)
{
	return !n && all ? FAILED : n < all ? LIMITED : OK;
}

static double megabytes(uint64_t bytes)
{
	return (double)bytes / (1 << 20);
}

/* ---- room -------------------------------------------------------------------------------- */

static uint64_t bytes_of_recording(void)
{
	struct trc_layout_options layout = {0};
	struct trc_shared plan = {0};
	long n = sysconf(_SC_NPROCESSORS_CONF);

	layout.n_procs = n < 1 ? 1 : n > TRC_PROCS_MAX ? TRC_PROCS_MAX : (uint32_t)n;
	return trc_layout_plan(&plan, &layout) ? 0 : plan.total_bytes;
}

static void tell_room(struct self_test *t, const char *dir, const struct statfs *fs)
{
	uint64_t needed = bytes_of_recording(), free_bytes;
	bool memory = fs->f_type == TMPFS_MAGIC;

	if (!fs->f_blocks) { /* a tmpfs without a limit */
		verdict_tell(t, OK, "room", "%s has no limit", dir);
		return;
	}
	free_bytes = (uint64_t)fs->f_bavail * (uint64_t)fs->f_bsize;
	verdict_tell(t, !memory || free_bytes < needed || free_bytes < FLIGHT_BYTES ? LIMITED : OK,
		     "room",
		     "%s%s has %.0f MB; a recording takes up to %.0f MB, a flight recorder %.0f MB",
		     dir, memory ? "" : ", which is not on tmpfs,", megabytes(free_bytes),
		     megabytes(needed), megabytes(FLIGHT_BYTES));
}

static void test_room(struct self_test *t)
{
	char parent[PATH_MAX];
	struct trc_tool_dir dir;
	struct statfs fs;

	if (trc_tool_dir_make(&dir)) {
		verdict_tell(t, FAILED, "room", "there is no directory for rings");
		return;
	}
	snprintf(parent, sizeof(parent), "%s", dir.path);
	*strrchr(parent, '/') = '\0';
	if (statfs(dir.path, &fs))
		verdict_tell(t, FAILED, "room", "%s: %s", parent, strerror(errno));
	else
		tell_room(t, parent, &fs);
	trc_tool_dir_remove(&dir);
}

/* ---- recording --------------------------------------------------------------------------- */

static bool own_path(char path[PATH_MAX])
{
	ssize_t n = readlink("/proc/self/exe", path, PATH_MAX - 1);

	path[n > 0 ? n : 0] = '\0';
	return n > 0;
}

static bool files_make(struct self_test *t)
{
	const char *tmp = getenv("TMPDIR");

	snprintf(t->dir, sizeof(t->dir), "%s/trc-self-test-XXXXXX", tmp && *tmp ? tmp : "/tmp");
	if (!mkdtemp(t->dir)) {
		verdict_tell(t, FAILED, "waits", "no directory for a trace: %s: %s", t->dir,
			     strerror(errno));
		t->dir[0] = '\0';
		return false;
	}
	snprintf(t->trace, sizeof(t->trace), "%s/trace", t->dir);
	snprintf(t->account_path, sizeof(t->account_path), "%s/account", t->dir);
	return true;
}

static void files_remove(const struct self_test *t)
{
	if (!t->dir[0])
		return;
	unlink(t->trace);
	unlink(t->account_path);
	rmdir(t->dir);
}

static bool account_read(struct self_test *t)
{
	int fd = open(t->account_path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, &t->account, sizeof(t->account));

	if (fd >= 0)
		close(fd);
	return n == (ssize_t)sizeof(t->account);
}

static void sampling_choose(struct self_test *t, struct trc_sampling *sampling)
{
	char error[640];

	sampling->frequency_hz = HZ;
	t->sampled = !trc_sampling_add(sampling, "auto") &&
		     !trc_sampling_settle(sampling, error, sizeof(error));
	if (!t->sampled) {
		*sampling = (struct trc_sampling){.events = ""};
		verdict_tell(t, LIMITED, "samples", "no CPU time can be sampled: %s", error);
	}
}

/* The program, as any other program is recorded. */
static bool program_record(struct self_test *t)
{
	static char program[] = TRC_SELF_TEST_PROGRAM;
	char own[PATH_MAX], *command[] = {own, program, t->account_path, NULL};
	struct trc_tool_options o = *t->asked;
	struct trc_child child = {.go_fd = -1, .result_fd = -1};

	o.verb = TRC_VERB_RECORD;
	o.output = t->trace;
	o.command = command;
	o.quiet = true;
	if (!own_path(own)) {
		verdict_tell(t, FAILED, "waits", "/proc is not there: no program can be found");
		return false;
	}
	sampling_choose(t, &o.sampling);
	if (trc_tool_record(&o, &child)) {
		verdict_tell(t, FAILED, "waits", "no program can be recorded");
		return false;
	}
	if (!child.ended || !WIFEXITED(child.status) || WEXITSTATUS(child.status) > 1) {
		verdict_tell(t, FAILED, "waits", "the recorded program did not come to its end");
		return false;
	}
	if (WEXITSTATUS(child.status) || !account_read(t)) {
		verdict_tell(t, FAILED, "waits",
			     "the recorded program could not write its account into %s", t->dir);
		return false;
	}
	return true;
}

static bool read_trace(struct self_test *t)
{
	char error[256];
	int err = trc_self_test_read(t->trace, &t->account, &t->seen, error, sizeof(error));

	if (err == -ENOENT)
		verdict_tell(t, FAILED, "waits",
			     "the program was not recorded: the line on standard error says why");
	else if (err)
		verdict_tell(t, FAILED, "waits", "the trace cannot be read: %s",
			     *error ? error : strerror(-err));
	return !err;
}

/* ---- what the trace has ------------------------------------------------------------------ */

static void tell_clock(struct self_test *t)
{
	bool slow = !strcmp(t->seen.clock, "CLOCK_MONOTONIC_RAW");

	if (slow)
		verdict_tell(t, LIMITED, "clock", "%s: %s", t->seen.clock,
			     getenv("TRC_CLOCK") ? "TRC_CLOCK asks for it"
						 : "the kernel does not trust the cycle counter");
	else
		verdict_tell(t, OK, "clock", "%s, %.2f GHz", t->seen.clock,
			     (double)t->seen.ticks_per_second / 1e9);
}

static void tell_events(struct self_test *t)
{
	const struct trc_self_test_seen *seen = &t->seen;

	if (!seen->ring_events && !seen->overflow_events)
		verdict_tell(t, FAILED, "events", "none came");
	else if (seen->lost_events)
		verdict_tell(t, FAILED, "events", "%" PRIu64 " were lost", seen->lost_events);
	else if (!seen->ring_events)
		verdict_tell(t, LIMITED, "events",
			     "%" PRIu64 ", by the slow path: libc has no restartable sequences",
			     seen->overflow_events);
	else
		verdict_tell(t, OK, "events", "%" PRIu64 ", by restartable sequences, none lost",
			     seen->ring_events + seen->overflow_events);
}

static enum verdict worse(enum verdict a, enum verdict b)
{
	return a > b ? a : b;
}

/* Of a time that the program has measured as well. */
static enum verdict verdict_of_time(uint64_t ours, uint64_t own)
{
	uint64_t off = ours > own ? ours - own : own - ours;

	if (ours > 2 * own || ours < own / 2)
		return FAILED;
	return off > own / 10 ? LIMITED : OK;
}

static void tell_stacks(struct self_test *t)
{
	if (t->seen.waits)
		verdict_tell(t, verdict_of(t->seen.waits_with_stack, t->seen.waits), "stacks",
			     "%" PRIu32 " of %" PRIu32
			     " waits have the callers that backtrace(3) has",
			     t->seen.waits_with_stack, t->seen.waits);
	else
		verdict_tell(t, FAILED, "stacks", "not known: there is no wait");
}

static void tell_waits(struct self_test *t)
{
	uint64_t ours = t->seen.waited_ns, own = t->account.waited_ns;
	enum verdict verdict = verdict_of(t->seen.waits, t->account.waits);

	if (t->seen.waits > t->account.waits)
		verdict = FAILED;
	/* The program reads its clock outside of the wait.  Where waits are missing, so is their time. */
	else if (t->seen.waits == t->account.waits)
		verdict = worse(verdict, verdict_of_time(ours, own));
	verdict_tell(t, verdict, "waits",
		     "%" PRIu32 " waits for a lock took %.1f ms; the program counted %" PRIu32
		     " and %.1f ms",
		     t->seen.waits, (double)ours / 1e6, t->account.waits, (double)own / 1e6);
	tell_stacks(t);
}

static void tell_switches(struct self_test *t)
{
	if (t->seen.switches)
		verdict_tell(t, OK, "switches", "the kernel says when each thread runs");
	else
		verdict_tell(t, LIMITED, "switches", "the kernel does not say when threads run: %s",
			     t->seen.switches_said +
				     (strncmp(t->seen.switches_said, "no: ", 4) ? 0 : 4));
}

static enum verdict verdict_of_samples(const struct self_test *t)
{
	const struct trc_self_test_seen *seen = &t->seen;

	if (!seen->samples)
		return FAILED;
	if (seen->samples_with_stack < seen->samples / 10 * TENTHS_DUE ||
	    seen->lost_samples > seen->samples * LOST_PER_CENT / 100)
		return worse(LIMITED, verdict_of_time(seen->sampled_ns, t->account.cpu_ns));
	return verdict_of_time(seen->sampled_ns, t->account.cpu_ns);
}

static void tell_samples(struct self_test *t)
{
	const struct trc_self_test_seen *seen = &t->seen;
	char lost[48] = "";

	if (!t->sampled)
		return;
	if (seen->lost_samples)
		snprintf(lost, sizeof(lost), ", %" PRIu64 " were lost", seen->lost_samples);
	verdict_tell(t, verdict_of_samples(t), "samples",
		     "%" PRIu64 " stand for %.0f ms of %.0f ms of CPU time, %" PRIu64
		     " have the callers that backtrace(3) has%s",
		     seen->samples, (double)seen->sampled_ns / 1e6, (double)t->account.cpu_ns / 1e6,
		     seen->samples_with_stack, lost);
}

static void tell_hardware(struct self_test *t)
{
	struct trc_sampling sampling = {.events = "cycles"};
	char error[640];

	if (trc_sampling_settle(&sampling, error, sizeof(error)))
		verdict_tell(t, LIMITED, "counters", "%s", error);
	else
		verdict_tell(t, OK, "counters", "the processor's cycles can be sampled");
}

int trc_tool_self_test(const struct trc_tool_options *options)
{
	struct self_test t = {.asked = options};

	test_room(&t);
	if (files_make(&t) && program_record(&t) && read_trace(&t)) {
		tell_clock(&t);
		tell_events(&t);
		tell_waits(&t);
		tell_switches(&t);
		tell_samples(&t);
		tell_hardware(&t);
	}
	files_remove(&t);
	puts(t.failed ? "this machine cannot record as it should" : "this machine can record");
	if (fflush(stdout)) {
		trc_tool_say("standard output: %s", strerror(errno));
		t.failed = true;
	}
	return t.failed ? 1 : 0;
}
