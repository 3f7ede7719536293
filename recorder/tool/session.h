/* session.h - declarations that the parts for the session's processes share. */
#ifndef TRC_RECORDER_TOOL_SESSION_H
#define TRC_RECORDER_TOOL_SESSION_H

#include "recorder/drain/drain.h"
#include "format/file_sink.h"
#include "recorder/drain/perf_buffer.h"
#include "recorder/drain/ring_file.h"
#include "recorder/drain/title.h"
#include "tool.h"
#include "procs.h"
#include "tids.h"

struct trc_flight;	/* flight.h */
struct trc_follow;	/* follow.h */
struct trc_noted_waits; /* noted_waits.h */

/* One process, its mapping (of one image after the other), and its trace. */
struct trc_process {
	struct trc_process *next;
	const struct trc_tool_options *options;
	/* As they are here: pid -1 = it had ended before it was looked for in another pid namespace;
	 * pidfd -1 = the command's own process: waitpid() tells. */
	int pid, pidfd;
	struct trc_file_name called; /* by itself, in names of its rings; without the image */
	uint64_t start;		     /* process_start of its rings; 0 = not known (yet) */
	struct trc_tids *tids;	     /* of another pid namespace; else NULL */
	char name[64];		     /* in messages and names of traces */
	/* The arguments of its image when that was found, separated by zeros, and what it made of
	 * them, as of the last look. */
	char command_line[sizeof(((struct trc_shared *)NULL)->command)], title[TRC_TITLE_BYTES];
	uint32_t image;
	bool attached; /* to an image, or tried to be */
	bool command;  /* the one that trace-record started */
	bool ended;
	uint64_t ended_ns; /* it had ended then, if not before; 0 = it has not */
	bool failed;	   /* there was something to record, and why it was not has been said */
	bool status_known;
	int status;
	bool closed;

	struct trc_shared *shared; /* NULL = none now; with --flight mapped read-only */
	bool no_room;		   /* a ring of its could not grow (layout:L5) */
	bool no_room_told;
	_Atomic bool ring_cut; /* its file has been cut short: what is missing reads as 0 */
	struct trc_process *next_mapped;
	uint64_t mapped_bytes;
	struct trc_procs procs;

	/* A recording. */
	struct trc_drain *drain;
	struct trc_drain_options bases;
	struct trc_noted_waits *noted_waits; /* of the present image; NULL = nothing is noted */
	struct trc_file_sink sink;	     /* of the command's: open before it starts */
	bool sink_open;
	struct trc_writer *w;
	struct trc_writer_totals totals;
	uint64_t lost_events, samples, lost_samples;
	/* Where the kernel samples: CPU time, when this process was found and as of the last look;
	 * and samples of each event that came, or are known to be lost. */
	uint64_t used_before_ns, used_ns, came[TRC_CPU_EVENTS_MAX];
	int64_t first_ns[TRC_CPU_EVENTS_MAX]; /* trc_drain_first_ns() of earlier images */
	uint64_t found_ns, look_ns;	      /* when it was found, and is to be looked at next */
	char path[TRC_FILE_PATH_BYTES];

	struct trc_flight *flight; /* NULL = a recording */
	struct trc_follow *follow; /* with --flight; NULL = there is no drain */
};

/* ---- process.c ---- */

/* Opens the file that the process's trace goes to.  0 or -errno after saying why. */
int trc_process_open_file(struct trc_process *p, const struct trc_tool_options *options);
/* Maps a ring file and begins to drain it; `sched` is the info of that name.  An image that was
 * there before is finished.  0 or -errno after saying why. */
int trc_process_attach(struct trc_process *p, const char *ring_path, uint32_t image,
		       const char *sched);
/* The clock that the recorded process uses; all processes of a session must use the same.  0 or
 * -ENOTSUP. */
int trc_process_adopt_clock(const struct trc_shared *h);
/* Maps a ring file, `how` as for mmap().  0 or -errno. */
int trc_process_map(struct trc_process *p, const char *ring_path, int how);
void trc_process_unmap(struct trc_process *p);
uint64_t trc_process_pass(struct trc_process *p);
/* Tells the trace of changes of the procs, up to this time. */
void trc_process_procs(struct trc_process *p, uint64_t until_ns);
/* The text of how the process ended, for the info of that name. */
void trc_process_ended(const struct trc_process *p, char *text, size_t n_bytes);
/* The process is gone, or trace-record no longer waits for it.  Completes the file. */
void trc_process_finish(struct trc_process *p);
void trc_process_free(struct trc_process *p);
/* Begins with the title of a new image.  `h` may be hostile. */
void trc_process_begin_title(struct trc_process *p, const struct trc_shared *h);
/* Reads the process's title, while the process is there. */
void trc_process_look_at_title(struct trc_process *p);
/* The process's title; NULL = the title is unchanged since the beginning, or not known. */
const char *trc_process_own_title(const struct trc_process *p);

/* ---- due.c ---- */

/* Reads the process's CPU time.  Possible until the process has been waited for. */
void trc_process_used(struct trc_process *p);
/* Counts the process's samples in a record of the kernel's: samples that came, or that the kernel
 * says were lost. */
void trc_process_came(struct trc_process *p, const struct trc_perf_record *r);
/* After the last sample: tells the trace how many samples were due and did not come. */
void trc_process_tell_due(struct trc_process *p);

/* ---- status.c ---- */

/* How the process ended, as waitpid() would tell its parent; false if this cannot be known.  The
 * caller knows that the process has ended. */
bool trc_process_status(const struct trc_process *p, int *status);

/* ---- unrecorded.c ---- */

struct trc_tool_dir;
/* True if a file of a session's directory tells of a program that is not recorded. */
bool trc_unrecorded_is(const char *name);
/* Names the programs that were not recorded in one line, if there are any. */
void trc_unrecorded_say(const struct trc_tool_dir *dir);

/* ---- dir.c ---- */

/*
 *   session:X1  while its trace-record lives, a session's directory has a shared lock (flock).  A
 *       process that wants to remove a directory as a leftover first takes the exclusive lock
 */
struct trc_tool_dir {
	char path[200];
	int fd;		 /* X1 */
	int watch_fd;	 /* TRC_WAKE_NAME; -1 = none: look now and then */
	bool keep_rings; /* those still there at the end are wanted */
};

/* 0 or -errno after saying why. */
int trc_tool_dir_make(struct trc_tool_dir *d);
/* True if files may have appeared since the last time. */
bool trc_tool_dir_changed(const struct trc_tool_dir *d);
void trc_tool_dir_file(const struct trc_tool_dir *d, const char *name, char path[PATH_MAX]);
void trc_tool_dir_unlink(const struct trc_tool_dir *d, const char *name);
/* Removes the directory with its content. */
void trc_tool_dir_remove(struct trc_tool_dir *d);
/* X1.  False if the directory's trace-record is gone; then the lock is ours until the descriptor is
 * closed. */
bool trc_tool_dir_lives(int dir_fd);

#endif
