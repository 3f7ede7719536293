/* found.c - the processes that appear in the session's directory, and the kernel's records of these
 * processes. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "recorder/shared/clock.h"
#include "session_private.h"

enum {
	BUSY_NS = 100000000, /* what fills up sooner tells (rest()) */
	SAMPLED_NS =
		30000000, /* with samples of the kernel, which are named by what lies there then */
	WATCHFUL_NS = 10000000, /* if the kernel's buffers do not */
	HOLD_NS = 100000000,	/* kernel records older than this have been handed out */
	IMAGES_MAX = 10000,
	KERNEL_SHARE = 8, /* the kernel's records take this part of --max-size more */
};

/* As it is in the names of its rings. */
static void called_text(const struct trc_file_name *called, char *text, size_t n_bytes)
{
	if (called->pid_namespace)
		snprintf(text, n_bytes, "%" PRIu64 "-%" PRIu64, called->pid, called->pid_namespace);
	else
		snprintf(text, n_bytes, "%" PRIu64, called->pid);
}

struct trc_process *trc_found_process(const struct trc_tool_session *s, int pid)
{
	struct trc_process *p = s->first;

	while (p && (p->pid != pid || p->closed))
		p = p->next;
	return p;
}

/* The kernel may give a pid, and a namespace its number, to one process after the other: their files
 * are not to replace each other. */
static void process_name(const struct trc_tool_session *s, struct trc_process *p)
{
	unsigned int n = 1;

	for (const struct trc_process *q = s->first; q; q = q->next)
		n += p->pid < 0 ? q->pid < 0 && q->called.pid == p->called.pid &&
					  q->called.pid_namespace == p->called.pid_namespace
				: q->pid == p->pid;
	if (p->pid < 0)
		called_text(&p->called, p->name, sizeof(p->name));
	else
		snprintf(p->name, sizeof(p->name), "%d", p->pid);
	if (n > 1)
		snprintf(p->name + strlen(p->name), sizeof(p->name) - strlen(p->name), "-%u", n);
}

static struct trc_process *process_add(struct trc_tool_session *s, int pid,
				       const struct trc_file_name *called)
{
	struct trc_process *p = calloc(1, sizeof(*p));
	struct trc_process **link = &s->first;

	if (!p)
		return NULL;
	p->options = s->options;
	p->pid = pid;
	p->called = *called;
	process_name(s, p);
	p->command = pid == s->command_pid;
	p->pidfd = -1;
	p->sink.fd = -1;
	p->found_ns = trc_clock_vdso();
	if (s->options->flight && trc_flight_open(p)) {
		free(p);
		return NULL;
	}
	trc_process_used(p);
	while (*link)
		link = &(*link)->next;
	*link = p;
	return p;
}

/* Whether switch records are wanted; if not, `sched` says so. */
static bool wants_switches(struct trc_tool_session *s)
{
	const struct trc_tool_options *o = s->options;

	if (o->no_sched)
		snprintf(s->sched, sizeof(s->sched), "no: not asked for (--no-sched)");
	else if (o->flight && !o->sched)
		snprintf(s->sched, sizeof(s->sched), "no: not asked for (--sched)");
	else
		return true;
	return false;
}

/* The kernel's records, or why there are none.  0, or -errno after saying what event cannot be
 * sampled. */
static int open_kernel(struct trc_tool_session *s)
{
	const struct trc_tool_options *o = s->options;
	const struct trc_perf_options options = {
		.pid = s->command_pid,
		.at_exec = true,
		.switches = wants_switches(s),
		.event = o->sampling.kernel,
		.n_events = o->sampling.n_kernel,
		.flight = o->flight,
		.max_bytes = o->max_bytes / KERNEL_SHARE,
	};
	char said[512];
	int err;

	if (!options.switches && !options.n_events)
		return 0;
	err = trc_perf_open(&s->kernel, &options, said, sizeof(said));
	if (err && options.n_events) {
		trc_tool_say("%s", said);
		return err;
	}
	if (options.switches)
		snprintf(s->sched, sizeof(s->sched), "%.*s", (int)sizeof(s->sched) - 1, said);
	s->flight.kernel = s->kernel;
	if (s->kernel && !o->flight && !trc_perf_signal(s->kernel))
		s->busy_ns = WATCHFUL_NS;
	else if (options.n_events)
		s->busy_ns = SAMPLED_NS;
	if (s->kernel)
		s->patience_ns = trc_perf_patience_ns(s->kernel);
	return 0;
}

int trc_tool_session_begin(struct trc_tool_session *s, pid_t pid)
{
	const struct trc_file_name called = {.pid = (uint64_t)pid};
	struct trc_process *p;
	int err = -ENOMEM;

	s->command_pid = (int)pid;
	s->busy_ns = BUSY_NS;
	s->patience_ns = UINT64_MAX;
	p = process_add(s, (int)pid, &called);
	if (p)
		err = s->options->flight ? trc_flight_check_output(s->options, p->name)
					 : trc_process_open_file(p, s->options);
	if (!err)
		err = open_kernel(s);
	if (err)
		return err;
	if (s->options->follow) /* a daemon's way to the background does not lead out of sight */
		prctl(PR_SET_CHILD_SUBREAPER, 1);
	return 0;
}

/* What a ring says of whose it is. */
struct owner {
	struct trc_shared header;
	ino_t inode;
};

static int owner_read(struct owner *owner, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	ssize_t n = fd < 0 ? -1 : pread(fd, &owner->header, sizeof(owner->header), 0);
	struct stat st;
	int err = n != sizeof(owner->header) || fstat(fd, &st) ? -EBADMSG : 0;

	if (!err)
		owner->inode = st.st_ino;
	if (fd >= 0)
		close(fd);
	return err;
}

/* To be told of its end.  A pid that was found may be another's by now: one that lives on. */
static void watch_end(struct trc_process *p, const struct owner *owner)
{
	bool inside = p->called.pid_namespace != 0;

	p->pidfd = p->pid < 0 ? -1 : (int)syscall(SYS_pidfd_open, p->pid, 0);
	if (p->pid < 0 || (p->pidfd < 0 && errno == ESRCH))
		p->ended = true; /* already */
	else
		p->ended =
			!trc_ring_owner_is((uint32_t)p->pid, &owner->header, owner->inode, inside);
	if (p->ended)
		p->ended_ns = trc_clock_vdso();
	if (p->ended && p->pidfd >= 0) {
		close(p->pidfd);
		p->pidfd = -1;
	}
}

/* A process that --follow found: it is no child of ours, so ask for news of its end. */
static struct trc_process *process_follow(struct trc_tool_session *s,
					  const struct trc_file_name *called,
					  const struct owner *owner)
{
	bool inside = called->pid_namespace != 0;
	uint32_t pid = inside ? trc_ring_owner_inside(&owner->header, owner->inode)
			      : (uint32_t)called->pid;
	struct trc_process *p = inside && pid ? trc_found_process(s, (int)pid) : NULL;

	if (p) { /* its namespace has no number, so each image has another name */
		p->called = *called;
		return p;
	}
	p = process_add(s, pid ? (int)pid : -1, called);
	if (!p)
		return NULL;
	p->start = owner->header.process_start;
	watch_end(p, owner);
	if (inside && pid)
		p->tids = trc_tids_new(pid, owner->header.pid);
	if (!pid && !s->n_untraced++)
		s->untraced = p;
	if (!s->options->flight && trc_process_open_file(p, s->options))
		p->closed = true;
	return p;
}

/* What tells no process may be any one's: none of them misses it without a reason. */
static void kernel_came(struct trc_tool_session *s, const struct trc_perf_record *record)
{
	for (struct trc_process *p = s->first; p; p = p->next)
		if (!p->closed && (!record->pid || (int)record->pid == p->pid))
			trc_process_came(p, record);
}

static void found_kernel_seen(void *context, const struct trc_perf_record *record)
{
	struct trc_tool_session *s = context;
	/* A loss may concern any of them: the command's trace tells. */
	struct trc_process *p =
		trc_found_process(s, record->pid ? (int)record->pid : s->command_pid);

	struct trc_perf_record there = *record;

	kernel_came(s, record);
	if (!p || !p->drain)
		return;
	there.tid = trc_tids_inside(p->tids, record->tid);
	if (!record->proc)
		trc_process_procs(p, record->raw_ns); /* one stream, in order */
	trc_drain_kernel(p->drain, &there);
}

static void procs_pass(struct trc_tool_session *s, uint64_t until_ns)
{
	for (struct trc_process *p = s->first; p; p = p->next)
		trc_process_procs(p, until_ns);
}

void trc_found_kernel_pass(struct trc_tool_session *s)
{
	if (s->options->flight && s->kernel)
		trc_perf_look(s->kernel);
	if (s->options->flight)
		return; /* copied with a snapshot */
	if (s->kernel)
		trc_perf_pass_until(s->kernel, s->looked_ns - TRC_PERF_HOLD_NS, true,
				    found_kernel_seen, s);
	procs_pass(s, s->looked_ns - HOLD_NS);
}

/* All of it up to then, whose threads are made known first: those of one process alone would have the
 * other processes' newest records handed out to nobody. */
static void kernel_pass_until(struct trc_tool_session *s, uint64_t until_ns)
{
	for (struct trc_process *p = s->first; s->kernel && p; p = p->next)
		if (!p->closed)
			trc_process_pass(p);
	if (s->kernel)
		trc_perf_pass_until(s->kernel, until_ns, false, found_kernel_seen, s);
	procs_pass(s, until_ns);
}

/* What the kernel samples, as far as it is known now. */
static void found_tell_sampled(struct trc_tool_session *s, struct trc_process *p)
{
	if (!s->kernel || !p->drain)
		return;
	trc_perf_table_fill(&s->sampled, s->kernel);
	trc_drain_kernel_events(p->drain, s->sampled.entry, s->sampled.n);
}

bool trc_found_has_ended(const struct trc_process *p)
{
	struct pollfd fd = {.fd = p->pidfd, .events = POLLIN};

	if (p->ended || p->command)
		return p->ended;
	if (p->pidfd < 0) /* before Linux 5.3 */
		return trc_process_has_ended((uint32_t)p->pid);
	return poll(&fd, 1, 0) > 0;
}

static struct trc_process *find_called(const struct trc_tool_session *s,
				       const struct trc_file_name *called)
{
	struct trc_process *p = s->first;

	while (p && (p->closed || p->called.pid != called->pid ||
		     p->called.pid_namespace != called->pid_namespace))
		p = p->next;
	return p;
}

/* Whether this is the next image of the process, and not the first one of another that is called the
 * same, because the process is gone. */
static bool owner_goes_on(const struct trc_process *p, const struct owner *owner)
{
	return !trc_found_has_ended(p) || !p->start || !owner->header.process_start ||
	       p->start == owner->header.process_start;
}

static void ring_found(struct trc_tool_session *s, const char *name,
		       const struct trc_file_name *called)
{
	struct trc_process *p = find_called(s, called);
	uint32_t image = (uint32_t)called->image;
	struct owner owner = {0};
	char path[PATH_MAX];
	int err;

	if (p && p->attached && image <= p->image)
		return; /* known */
	if (!p && !s->options->follow)
		return;
	trc_tool_dir_file(&s->dir, name, path);
	err = owner_read(&owner, path);
	if (p && !err && !owner_goes_on(p, &owner)) {
		p->ended = true;
		p->ended_ns = trc_clock_vdso();
		trc_found_finish(s, p);
		p = NULL;
	}
	if (!p && !err)
		p = process_follow(s, called, &owner);
	if (!p || p->closed) {
		trc_tool_dir_unlink(&s->dir, name);
		return;
	}
	p->attached = true;
	if (!p->start)
		p->start = owner.header.process_start;
	if (p->flight) {
		trc_flight_attach(p, &s->flight, path, image);
		if (p->command)
			trc_tool_http_attach(p);
		return;
	}
	/* What is from before this image is of the one before it, while its threads are known. */
	if (p->drain)
		kernel_pass_until(s, owner.header.start.monotonic_raw_ns);
	if (trc_process_attach(p, path, image, s->sched))
		return;
	found_tell_sampled(s, p);
	if (p->command)
		trc_tool_http_attach(p);
}

/* Told once of a process, though the program that a child executes is without room as well. */
static void found_without_room(struct trc_tool_session *s, const struct trc_file_name *called)
{
	for (unsigned int i = 0; i < s->n_without_room && i < WITHOUT_ROOM_KEPT; i++)
		if (s->without_room[i].pid == called->pid &&
		    s->without_room[i].pid_namespace == called->pid_namespace)
			return;
	s->without_room[s->n_without_room++ % WITHOUT_ROOM_KEPT] = *called;
}

/* What a process had to say about not being recorded. */
static void error_found(struct trc_tool_session *s, const char *name,
			const struct trc_file_name *called)
{
	struct trc_process *p = find_called(s, called);
	char path[PATH_MAX], text[256], of[64];
	ssize_t n;
	int fd;

	trc_tool_dir_file(&s->dir, name, path);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0)
		return;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	unlink(path);
	if (p && n >= 0)
		p->failed = true;
	if (!n)
		found_without_room(s, called);
	if (n <= 0)
		return;
	text[n] = '\0';
	for (char *c = text; *c; c++)
		if ((unsigned char)*c < ' ' || *c == 127)
			*c = ' ';
	called_text(called, of, sizeof(of));
	trc_tool_say("process %s is not recorded: %s", p ? p->name : of, text);
}

static int is_entry(const struct dirent *e)
{
	return e->d_name[0] != '.';
}

/* An image that comes after another one. */
struct next_image {
	const char *name;
	struct trc_file_name called;
	uint64_t start_ns;
};

static int owner_by_start(const void *x, const void *y)
{
	const struct next_image *a = x, *b = y;

	if (a->start_ns != b->start_ns)
		return a->start_ns < b->start_ns ? -1 : 1;
	return (a->called.image > b->called.image) - (a->called.image < b->called.image);
}

/* The first image of each process that is new here; the others go to `next`.  How many these are. */
static size_t find_first_images(struct trc_tool_session *s, struct dirent **entry, int n,
				struct next_image *next)
{
	size_t n_next = 0;

	for (int i = 0; i < n; i++) {
		struct next_image *e = &next[n_next];
		struct trc_process *p;
		struct owner owner;
		char path[PATH_MAX];

		*e = (struct next_image){.name = entry[i]->d_name};
		if (!trc_ring_name_parse(e->name, false, &e->called))
			continue;
		p = find_called(s, &e->called);
		if (!p || !p->attached) {
			ring_found(s, e->name, &e->called);
			continue;
		}
		if (e->called.image <= p->image)
			continue; /* known */
		trc_tool_dir_file(&s->dir, e->name, path);
		if (!owner_read(&owner, path))
			e->start_ns = owner.header.start.monotonic_raw_ns;
		n_next++;
	}
	return n_next;
}

/*
 * Looks at what there is.  What the kernel has recorded is handed out at each second image of a
 * process: so all processes are found before, and images in the order of time.
 */
void trc_found_scan(struct trc_tool_session *s)
{
	struct dirent **entry;
	int n = scandir(s->dir.path, &entry, is_entry, versionsort);
	struct next_image *next = calloc(n > 0 ? (size_t)n : 1, sizeof(*next));
	size_t n_next = next ? find_first_images(s, entry, n, next) : 0;
	struct trc_file_name called;

	if (n_next)
		qsort(next, n_next, sizeof(*next), owner_by_start);
	for (size_t i = 0; i < n_next; i++)
		ring_found(s, next[i].name, &next[i].called);
	free(next);
	for (int i = 0; i < n; i++) {
		if (trc_error_name_parse(entry[i]->d_name, &called))
			error_found(s, entry[i]->d_name, &called);
		free(entry[i]);
	}
	if (n >= 0)
		free(entry);
}

void trc_found_finish(struct trc_tool_session *s, struct trc_process *p)
{
	char name[64];
	size_t n;

	if (p->closed)
		return;
	if (p->ended && !p->status_known)
		p->status_known = trc_process_status(p, &p->status);
	if (p->command)
		trc_tool_http_leave();
	if (p->flight) {
		trc_flight_finish(p, &s->flight);
		return;
	}
	if (!p->ended) {
		trc_process_used(p);
		trc_process_look_at_title(p);
	}
	kernel_pass_until(s, p->ended_ns ? p->ended_ns : UINT64_MAX);
	found_tell_sampled(s, p);
	trc_process_tell_due(p);
	trc_process_finish(p);
	called_text(&p->called, name, sizeof(name));
	n = strlen(name);
	for (uint32_t image = 0; image <= p->image && image < IMAGES_MAX; image++) {
		snprintf(name + n, sizeof(name) - n, ".%u.ring", image);
		trc_tool_dir_unlink(&s->dir, name);
	}
}
