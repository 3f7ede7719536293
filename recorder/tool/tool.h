/*
 * tool.h - the parts of trace-record.
 *
 * The command runs as a child under libtrc-preload.  Each process that records makes a ring file
 * PID.IMAGE.ring in the session's directory; trace-record maps the file and drains the ring from
 * outside, so that nothing is lost when the process is killed.
 *
 *   tool:Y1  one thread, except with --http (http:E1); signal handlers only set flags, pass signals
 *       on and end a sleep
 *   tool:Y2  whatever happens to the trace, the command is not disturbed, and its status is ours
 *   tool:Y3  the session's directory is gone when trace-record ends, unless it was killed
 */
#ifndef TRC_RECORDER_TOOL_TOOL_H
#define TRC_RECORDER_TOOL_TOOL_H

#include <limits.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include "recorder/shared/cpu_event.h"
#include "recorder/shared/trigger.h"
#include "recorder/drain/trigger_watch.h"

/* Exit statuses of our own, as those of env(1) and timeout(1). */
enum { TRC_SANITIZER_BYTES = 64 };
enum { TRC_EXIT_TROUBLE = 125, TRC_EXIT_REFUSED = 126, TRC_EXIT_NOT_FOUND = 127 };

enum trc_tool_verb {
	TRC_VERB_RECORD, /* runs a command; the others run none */
	TRC_VERB_SNAPSHOT,
	TRC_VERB_RECOVER,
	TRC_VERB_LIST,
	TRC_VERB_CLEAN,
	TRC_VERB_SELF_TEST,
};

/* -e, -F, --sample-by */
struct trc_sampling {
	char events[1024];		   /* as given, lists joined; "" = none */
	const char *frequency, *sample_by; /* as given */
	uint64_t frequency_hz;
	enum trc_sample_by by;

	struct trc_cpu_event event[TRC_CPU_EVENTS_MAX]; /* settled */
	unsigned int n_events;
	struct trc_cpu_event kernel[TRC_CPU_EVENTS_MAX]; /* those of them that the kernel samples */
	unsigned int n_kernel;
	/* Those that the command's process samples itself. */
	char for_command[TRC_CPU_EVENTS_MAX * 72];
	uint64_t for_command_hz;
	char first_for_command[TRC_CPU_EVENTS_MAX * 72]; /* only of each thread's first samples */
};

struct trc_tool_options {
	enum trc_tool_verb verb;
	const char *target; /* of the verb: a pid, or a ring's path */
	const char *output;
	const char *ring_size, *locks, *on_full, *unwind; /* as given; NULL = default */
	bool follow, quiet;
	const char *heap; /* bytes between two samples, as given; NULL = not asked for */
	uint64_t heap_bytes;
	const char *http;     /* an address to serve at; NULL = none */
	bool sched, no_sched; /* said so; neither: yes, but not in flight mode */
	struct trc_sampling sampling;
	char **command;

	/* --flight */
	bool flight;
	const char *max_size, *window; /* as given */
	const char *snapshot_max, *snapshot_every, *snapshot_after;
	uint64_t max_bytes;
	uint64_t window_ns; /* 0 = not given */
	bool all;
	struct trc_trigger_spec spec[TRC_TRIGGER_SPECS_MAX];
	unsigned int n_specs;
	struct trc_trigger_limits limits;
};

/* One line on stderr, after "trace-record: ". */
__attribute__((format(printf, 1, 2))) void trc_tool_say(const char *format, ...);

/* ---- options.c ---- */

/* Returns if the options can be tried; else exits by itself. */
void trc_tool_options_parse(struct trc_tool_options *o, int argc, char **argv);
/* The options as text that would ask for the same again. */
void trc_tool_options_text(const struct trc_tool_options *o, char *text, size_t n_bytes);

/* ---- sampling.c ---- */

/* Adds the list of another -e.  0, or -1: too long. */
int trc_sampling_add(struct trc_sampling *s, const char *list);
/* Decides who samples what.  0, or -errno with a sentence in error. */
int trc_sampling_settle(struct trc_sampling *s, char *error, size_t n_bytes);
/* Sets the variables that the command's recorder reads.  Context: the child. */
void trc_sampling_environment(const struct trc_sampling *s);

/* ---- target.c ---- */

/* Finds the command as execvp(3) would, and refuses what cannot be recorded.  0, or one of the
 * exit statuses above after saying why.  `sanitizer`: as trc_target_sanitizer() has it; "" = none. */
int trc_target_check(const char *command, char sanitizer[TRC_SANITIZER_BYTES]);
/*
 * The runtime of a sanitizer, as a program names it that is linked with it.  It has to be preloaded
 * before the recorder: AddressSanitizer refuses to start otherwise, and ThreadSanitizer takes locks
 * that the recorder took for the program's errors.
 */
bool trc_target_is_sanitizer(const char *name);
/* Finds the sanitizer's runtime.  False: the program at `path` needs none. */
bool trc_target_sanitizer(const char *path, char name[TRC_SANITIZER_BYTES]);
/* The path of the preload library.  0, or -ENOENT after saying so. */
int trc_target_preload(char path[PATH_MAX]);
/* A tool of ours beside this one, installed or in a build tree.  False if it is not there. */
bool trc_target_sibling(const char *room, const char *name, char path[PATH_MAX]);

/* ---- child.c ---- */

struct trc_child {
	pid_t pid;     /* 0 = none, or ended and waited for */
	int go_fd;     /* closing it without a byte: do not start */
	int result_fd; /* errno of a failed exec arrives here */
	bool ended;
	int status; /* as waitpid(2) tells, once it ended */
};

/* A futex word that changes with every signal. */
extern _Atomic uint32_t trc_child_wake;
/* SIGINT, SIGTERM or SIGHUP came when there was no child any more. */
extern _Atomic bool trc_child_hurry;
/* A signal that ends a program came, as a rule for the command: nothing is waited for any more
 * before the command begins. */
extern _Atomic bool trc_child_ending;

/* While true, a signal that may end the command is kept until trc_child_pass_on(), by the main thread that waits
 * for signals; a second signal sends the first one on its way. */
extern _Atomic bool trc_child_keeps;
/* True if one is kept. */
bool trc_child_has_kept(void);
void trc_child_pass_on(void);

/* Signals that are conditions and came, bit by bit from signal 1: they are not passed on.  The code
 * that deals with a signal clears its bit. */
extern _Atomic uint64_t trc_child_asked;

/* trace-record begins: from here on time is measured (TRC_SESSION_HZ). */
void trc_child_begin(void);
/* Installs the handlers; before trc_child_fork(). */
void trc_child_signals(const struct trc_tool_options *options);
/* Forks; the child waits for trc_child_go().  0 or -errno. */
int trc_child_fork(struct trc_child *c, const struct trc_tool_options *options, const char *dir,
		   const char *preload);
/* Has the child execute the command.  0, or the positive errno of exec, the child gone. */
int trc_child_go(struct trc_child *c);
/* Ends a child that has not been told to go. */
void trc_child_cancel(struct trc_child *c);
/* Takes note of ends and stops of children.  Calls fn for each other process that has ended, and
 * `ends` for each process before it is waited for.  True if there still are children. */
bool trc_child_reap(struct trc_child *c, void (*ends)(void *context, pid_t pid),
		    void (*fn)(void *context, pid_t pid, int status), void *context);
/* Ends this process the way the child ended. */
_Noreturn void trc_child_exit_like(const struct trc_child *c);
/* "exit 0", "killed by signal 9 (SIGKILL)" */
void trc_child_status_text(int status, char *text, size_t n_bytes);

/* ---- session.c ---- */

struct trc_tool_session;

/* Makes the directory.  0 or -errno after saying why. */
int trc_tool_session_open(struct trc_tool_session **out, const struct trc_tool_options *options);
const char *trc_tool_session_dir(const struct trc_tool_session *s);
/* The command's process exists and waits: opens the process's output file, and the kernel's switch
 * records.  0 or -errno after saying why. */
int trc_tool_session_begin(struct trc_tool_session *s, pid_t pid);
/* Drains until the command has ended, and with --follow all its descendants. */
void trc_tool_session_run(struct trc_tool_session *s, struct trc_child *child);
/* Removes the remaining files, also ring files without a trace.  Accepts NULL. */
void trc_tool_session_close(struct trc_tool_session *s);

/* A snapshot that was written. */
struct trc_tool_taken {
	struct trc_tool_taken *next;
	char path[PATH_MAX];
	char why[256];
	uint64_t events, file_bytes, window_ns, samples;
};

/* The result of a recording. */
struct trc_tool_result {
	const char *path; /* of the command's own trace, or with --follow the first; NULL = none */
	const char *process; /* what its name has of the process */
	unsigned int n_files;
	uint64_t events, lost_events, file_bytes;
	bool sampled;			/* something was to be */
	uint64_t samples, lost_samples; /* of all files */

	/* --flight */
	const struct trc_tool_taken *taken;
	uint64_t passed_over; /* triggers that the limits did not allow */
	bool any_recorded;    /* a process */
	bool any_failed;      /* a snapshot; it was said why */
};
void trc_tool_session_result(const struct trc_tool_session *s, struct trc_tool_result *result);

/* ---- record.c ---- */

/* Runs and records the command, and reports the result. 0: the command has run, and `child` says
 * how it ended.  Else the command has not been run: one of the exit statuses above, after saying
 * why. */
int trc_tool_record(const struct trc_tool_options *o, struct trc_child *child);

/* ---- summary.c ---- */

/* At most 15 lines on stderr. */
void trc_tool_summary(const struct trc_tool_result *result);
void trc_tool_flight_summary(const struct trc_tool_result *result);

/* ---- take.c, list.c, clean.c, self_test.c ---- */

/* The verbs without a command.  They return an exit status: 0, or 1 after saying why. */
int trc_tool_take(const struct trc_tool_options *options);
int trc_tool_list(void);
int trc_tool_clean(void);
int trc_tool_self_test(const struct trc_tool_options *options);

#endif
