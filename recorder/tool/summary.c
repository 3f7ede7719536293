/* summary.c - the summary at the end. trace-analyze, which can read a trace, writes it; if
 * trace-analyze does not answer in time, the summary is one line of our own. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "tool.h"

enum { LINES_MAX = 15, PATIENCE_MS = 20000, STEP_MS = 2, TEXT_BYTES = 8192 };

/* Context: the child. */
_Noreturn static void run_analyzer(const char *tool, const char *path, int out_fd)
{
	int null_fd = open("/dev/null", O_RDWR);

	dup2(null_fd, STDIN_FILENO);
	dup2(out_fd, STDOUT_FILENO);
	dup2(null_fd, STDERR_FILENO);
	unsetenv("LD_PRELOAD");
	for (int sig = 1; sig < NSIG; sig++)
		signal(sig, SIG_DFL);
	execl(tool, tool, "--summary", path, (char *)NULL);
	_exit(TRC_EXIT_TROUBLE);
}

static void sleep_ms(long ms)
{
	struct timespec t = {0, ms * 1000000};

	nanosleep(&t, NULL);
}

/* Reads what the analyzer prints, up to its end or the end of our patience. */
static size_t read_answer(int fd, char *text, pid_t pid, int *status)
{
	size_t used = 0;
	bool ended = false;

	for (int ms = 0; ms < PATIENCE_MS;) {
		ssize_t n = read(fd, text + used, TEXT_BYTES - 1 - used);

		if (n > 0) {
			used += (size_t)n;
			continue;
		}
		if (ended || trc_child_hurry)
			break;
		ended = waitpid(pid, status, WNOHANG) == pid; /* then read what is left */
		if (!ended) {
			sleep_ms(STEP_MS);
			ms += STEP_MS;
		}
	}
	if (!ended) {
		kill(pid, SIGKILL);
		waitpid(pid, status, 0);
		*status = 1;
	}
	text[used] = '\0';
	return used;
}

/* True if the analyzer had something to say. */
static bool ask_analyzer(const char *path, char *text)
{
	char tool[PATH_MAX];
	int fd[2], status = 1;
	size_t used;
	pid_t pid;

	if (!trc_target_sibling("analyzer", "trace-analyze", tool) || pipe2(fd, O_CLOEXEC))
		return false;
	fcntl(fd[0], F_SETFL, O_NONBLOCK);
	pid = fork();
	if (!pid)
		run_analyzer(tool, path, fd[1]);
	close(fd[1]);
	used = pid > 0 ? read_answer(fd[0], text, pid, &status) : 0;
	close(fd[0]);
	return used && status == 0;
}

static void print_lines(const char *text, int n_lines)
{
	for (int i = 0; i < n_lines && *text; i++) {
		size_t n = strcspn(text, "\n");

		fprintf(stderr, "%.*s\n", (int)n, text);
		text += n + (text[n] == '\n');
	}
}

static const char *s_if(uint64_t n)
{
	return n == 1 ? "" : "s";
}

static void print_samples(const struct trc_tool_result *r)
{
	if (r->lost_samples)
		trc_tool_say("%" PRIu64 " sample%s, and %" PRIu64 " lost", r->samples,
			     s_if(r->samples), r->lost_samples);
	else
		trc_tool_say("%" PRIu64 " sample%s, none lost", r->samples, s_if(r->samples));
}

/* The files of all processes have names that differ in one part. */
static void summary_print_more(const struct trc_tool_result *r)
{
	const char *at = r->path, *part = NULL;

	for (at = r->path; *r->process && (at = strstr(at, r->process)); at++)
		part = at;
	if (!part) {
		trc_tool_say("%u traces in all, one for each process", r->n_files);
		return;
	}
	trc_tool_say("%u traces, one for each process; of all: trace-analyze %.*s*%s", r->n_files,
		     (int)(part - r->path), r->path, part + strlen(r->process));
}

void trc_tool_summary(const struct trc_tool_result *r)
{
	char text[TEXT_BYTES];
	bool more = r->n_files > 1;

	if (ask_analyzer(r->path, text)) {
		print_lines(text, LINES_MAX - more - r->sampled);
	} else {
		trc_tool_say("%" PRIu64 " event%s, %" PRIu64 " lost%s, %" PRIu64 " bytes in %s; "
			     "see it with: trace-analyze %s",
			     r->events, s_if(r->events), r->lost_events,
			     r->lost_events ? " (a larger --ring-size may hold them)" : "",
			     r->file_bytes, r->path, r->path);
	}
	if (r->sampled)
		print_samples(r);
	if (more)
		summary_print_more(r);
}

/* ---- snapshots ------------------------------------------------------------------------- */

enum { TAKEN_LINES_MAX = 12 };

static void print_taken(const struct trc_tool_taken *t, bool sampled)
{
	char samples[48] = "";

	if (sampled)
		snprintf(samples, sizeof(samples), "%" PRIu64 " sample%s, ", t->samples,
			 s_if(t->samples));
	trc_tool_say("%s: %s (%" PRIu64 " event%s of %.3g s, %s%" PRIu64 " bytes)", t->path, t->why,
		     t->events, s_if(t->events), (double)t->window_ns / 1e9, samples,
		     t->file_bytes);
}

/* The latest are told, if they are too many. */
void trc_tool_flight_summary(const struct trc_tool_result *r)
{
	unsigned int n = 0, skip;
	const char *last = NULL;

	for (const struct trc_tool_taken *t = r->taken; t; t = t->next)
		n++;
	skip = n > TAKEN_LINES_MAX ? n - TAKEN_LINES_MAX : 0;
	if (skip)
		trc_tool_say("%u snapshot%s before these:", skip, s_if(skip));
	for (const struct trc_tool_taken *t = r->taken; t; t = t->next) {
		if (skip && skip--)
			continue;
		print_taken(t, r->sampled);
		last = t->path;
	}
	if (r->passed_over)
		trc_tool_say("%" PRIu64 " trigger%s without a snapshot (--snapshot-max, "
			     "--snapshot-every)",
			     r->passed_over, s_if(r->passed_over));
	if (last)
		trc_tool_say("see the last one with: trace-analyze %s", last);
	else if (r->any_recorded && !r->any_failed && !r->passed_over)
		trc_tool_say("no snapshot was taken: no condition was met");
}
