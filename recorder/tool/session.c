/*
 * session.c - the processes that appear in the session's directory, and the loop that
 * drains them, or with --flight watches them, until the command has ended.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/futex.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include "format/now.h"
#include "recorder/shared/clock.h"
#include "follow.h"
#include "http.h"

enum {
	BUSY_NS = 30000000,	/* what fills up sooner tells (rest()) */
	WATCHFUL_NS = 10000000, /* if the kernel's buffers do not */
	IDLE_NS = 100000000,
	CALM_NS = 1000000000, /* to look at what tells nobody of its change */
	HOLD_NS = 100000000,  /* kernel records older than this have been handed out */
	GRACE_NS = 300000000, /* for a new process to make its ring */
	BLIND_NS = 5000000,   /* without inotify, or without futex_waitv */
	WAITERS_MAX = 128,
	IMAGES_MAX = 10000,
	WITHOUT_ROOM_KEPT = 64,
	SETTLING_PASSES_MAX = 20,
	SETTLING_NS = 500000,
	KERNEL_SHARE = 8, /* the kernel's records take this part of --max-size more */
};

struct trc_tool_session {
	const struct trc_tool_options *options;
	struct trc_tool_dir dir;
	int command_pid;
	bool orphans;		 /* with --follow: children that do not record, or not yet */
	unsigned int n_untraced; /* of other pid namespaces, that had ended before we saw them */
	const struct trc_process *untraced;
	unsigned int
		n_without_room; /* processes for whose ring there was none, as the latest here */
	struct trc_file_name without_room[WITHOUT_ROOM_KEPT];
	uint64_t quiet_since_ns;   /* nothing is being recorded since; 0 = something is */
	struct trc_process *first; /* in order of appearance */
	struct trc_perf *kernel;
	struct trc_perf_table sampled;
	uint64_t patience_ns; /* how long the kernel's buffers last */
	uint64_t busy_ns;     /* from one pass to the next while there is something to drain */
	char sched[160];
	struct trc_flight_session flight; /* with --flight */
};

int trc_tool_session_open(struct trc_tool_session **out, const struct trc_tool_options *options)
{
	struct trc_tool_session *s = calloc(1, sizeof(*s));
	int err;

	if (!s) {
		trc_tool_say("%s", strerror(ENOMEM));
		return -ENOMEM;
	}
	s->options = options;
	trc_flight_session_init(&s->flight, options);
	s->flight.sched = s->sched;
	s->flight.dir = &s->dir;
	err = trc_tool_dir_make(&s->dir);
	if (err) {
		free(s);
		return err;
	}
	*out = s;
	return 0;
}

const char *trc_tool_session_dir(const struct trc_tool_session *s)
{
	return s->dir.path;
}

void trc_tool_session_close(struct trc_tool_session *s)
{
	if (!s)
		return;
	while (s->first) {
		struct trc_process *p = s->first;

		s->first = p->next;
		trc_process_free(p);
	}
	trc_perf_close(s->kernel);
	trc_flight_session_free(&s->flight);
	trc_tool_dir_remove(&s->dir);
	free(s);
}

/* ---- processes ------------------------------------------------------------------------- */

/* As it is in the names of its rings. */
static void called_text(const struct trc_file_name *called, char *text, size_t n_bytes)
{
	if (called->pid_namespace)
		snprintf(text, n_bytes, "%" PRIu64 "-%" PRIu64, called->pid, called->pid_namespace);
	else
		snprintf(text, n_bytes, "%" PRIu64, called->pid);
}

static struct trc_process *process_find(const struct trc_tool_session *s, int pid)
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
	if (p->ended && p->pidfd >= 0) {
		close(p->pidfd);
		p->pidfd = -1;
	}
}

/* A process that --follow found: it is no child of ours, so ask for news of its end. */
static struct trc_process *follow(struct trc_tool_session *s, const struct trc_file_name *called,
				  const struct owner *owner)
{
	bool inside = called->pid_namespace != 0;
	uint32_t pid = inside ? trc_ring_owner_inside(&owner->header, owner->inode)
			      : (uint32_t)called->pid;
	struct trc_process *p = inside && pid ? process_find(s, (int)pid) : NULL;

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

static void kernel_seen(void *context, const struct trc_perf_record *record)
{
	struct trc_tool_session *s = context;
	/* A loss may concern any of them: the command's trace tells. */
	struct trc_process *p = process_find(s, record->pid ? (int)record->pid : s->command_pid);

	struct trc_perf_record there = *record;

	kernel_came(s, record);
	if (!p || !p->drain)
		return;
	there.tid = trc_tids_inside(p->tids, record->tid);
	if (!record->proc)
		trc_process_procs(p, record->raw_ns); /* one stream, in order */
	trc_drain_kernel(p->drain, &there);
}

static void kernel_pass(struct trc_tool_session *s, bool all)
{
	uint64_t until_ns = all ? UINT64_MAX : trc_clock_vdso() - HOLD_NS;

	if (s->options->flight && s->kernel)
		trc_perf_look(s->kernel);
	if (s->options->flight)
		return; /* copied with a snapshot */
	if (s->kernel)
		trc_perf_pass(s->kernel, all, kernel_seen, s);
	for (struct trc_process *p = s->first; p; p = p->next)
		trc_process_procs(p, until_ns);
}

/* What the kernel samples, as far as it is known now. */
static void tell_sampled(struct trc_tool_session *s, struct trc_process *p)
{
	if (!s->kernel || !p->drain)
		return;
	trc_perf_table_fill(&s->sampled, s->kernel);
	trc_drain_kernel_events(p->drain, s->sampled.entry, s->sampled.n);
}

static bool has_ended(const struct trc_process *p)
{
	struct pollfd fd = {.fd = p->pidfd, .events = POLLIN};

	if (p->ended || p->command)
		return p->ended;
	if (p->pidfd < 0) /* before Linux 5.3 */
		return trc_process_has_ended((uint32_t)p->pid);
	return poll(&fd, 1, 0) > 0;
}

static void process_finish(struct trc_tool_session *s, struct trc_process *p);

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
static bool goes_on(const struct trc_process *p, const struct owner *owner)
{
	return !has_ended(p) || !p->start || !owner->header.process_start ||
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
	if (p && !err && !goes_on(p, &owner)) {
		p->ended = true;
		process_finish(s, p);
		p = NULL;
	}
	if (!p && !err)
		p = follow(s, called, &owner);
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
	if (p->drain)
		kernel_pass(s, true); /* while the threads of the image before are known */
	if (trc_process_attach(p, path, image, s->sched))
		return;
	tell_sampled(s, p);
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

/* Looks at what there is, images of a process in their order. */
static void scan(struct trc_tool_session *s)
{
	struct dirent **entry;
	int n = scandir(s->dir.path, &entry, is_entry, versionsort);

	for (int i = 0; i < n; i++) {
		const char *name = entry[i]->d_name;
		struct trc_file_name called;

		if (trc_ring_name_parse(name, false, &called))
			ring_found(s, name, &called);
		else if (trc_error_name_parse(name, &called))
			error_found(s, name, &called);
		free(entry[i]);
	}
	if (n >= 0)
		free(entry);
}

static void process_finish(struct trc_tool_session *s, struct trc_process *p)
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
	if (!p->ended)
		trc_process_used(p);
	trc_process_pass(p); /* all of its threads are known then */
	kernel_pass(s, true);
	tell_sampled(s, p);
	trc_process_tell_due(p);
	trc_process_finish(p);
	called_text(&p->called, name, sizeof(name));
	n = strlen(name);
	for (uint32_t image = 0; image <= p->image && image < IMAGES_MAX; image++) {
		snprintf(name + n, sizeof(name) - n, ".%u.ring", image);
		trc_tool_dir_unlink(&s->dir, name);
	}
}

/* ---- the loop -------------------------------------------------------------------------- */

/* A child that has not been waited for. */
static void child_ends(void *context, pid_t pid)
{
	struct trc_process *p = process_find(context, (int)pid);

	if (p)
		trc_process_used(p);
}

/* A descendant that became our child, and has ended. */
static void child_ended(void *context, pid_t pid, int status)
{
	struct trc_process *p = process_find(context, (int)pid);

	if (!p)
		return;
	p->status = status;
	p->ended = p->status_known = true;
}

static void look_for_end(struct trc_process *p, const struct trc_child *child)
{
	bool ended = has_ended(p) || (p->command && child->ended);

	if (ended && !p->ended && !p->command) /* its parent may not have waited for it yet */
		trc_process_used(p);
	p->ended = ended;
}

/* A look goes through all threads of a process.  Whose parent waits for it at once is not seen at
 * its end: young ones are looked at more often. */
static void look_at_used(struct trc_tool_session *s)
{
	uint64_t now_ns = trc_clock_vdso();

	for (struct trc_process *p = s->first; p; p = p->next) {
		uint64_t age_ns = now_ns - p->found_ns;

		if (p->closed || now_ns < p->look_ns)
			continue;
		trc_process_used(p);
		p->look_ns = now_ns + (age_ns / 8 < CALM_NS ? age_ns / 8 : CALM_NS);
	}
}

static uint64_t drain_pass(struct trc_process *p)
{
	return p->flight ? trc_follow_pass(p) : trc_process_pass(p);
}

/* --http: what is wanted of the command's process, once all of it has been drained up to now, but
 * for what a thread is in the middle of for longer than others take. */
static void serve(struct trc_tool_session *s)
{
	const struct timespec pause = {0, SETTLING_NS};
	struct trc_process *p = s->first;
	uint64_t now;

	trc_tool_http_pass(p);
	if (!trc_tool_http_asked())
		return;
	now = trc_clock_ordered();
	for (int i = 0; p->drain && i < SETTLING_PASSES_MAX; i++) {
		drain_pass(p);
		if (!p->drain || trc_drain_settled(p->drain) >= now)
			break;
		nanosleep(&pause, NULL);
	}
	/* No younger ones than ever: their threads may not have shown themselves yet. */
	if (s->options->sampling.n_kernel)
		kernel_pass(s, false);
	trc_follow_kernel_pass(p);
	trc_tool_http_answer(p, &s->flight, now);
}

/* Ends first, then files, then their content: so that nothing of a process that has ended is
 * missed. */
static uint64_t pass(struct trc_tool_session *s, struct trc_child *child, bool *any)
{
	uint64_t n_events = 0;
	uint64_t asked = atomic_exchange_explicit(&trc_child_asked, 0, memory_order_relaxed);

	look_at_used(s);
	s->orphans = trc_child_reap(child, child_ends, child_ended, s) && child->ended;
	for (struct trc_process *p = s->first; p; p = p->next)
		look_for_end(p, child);
	if (trc_tool_dir_changed(&s->dir))
		scan(s);
	*any = false;
	for (struct trc_process *p = s->first; p; p = p->next) {
		if (p->command && child->ended) {
			p->status = child->status;
			p->status_known = true;
		}
		if (p->flight)
			trc_flight_pass(p, &s->flight, asked);
		n_events += drain_pass(p);
		if (p->ended)
			process_finish(s, p);
		*any |= !p->closed;
	}
	kernel_pass(s, false);
	serve(s);
	return n_events;
}

/* linux/futex.h has it since Linux 5.16. */
struct waiter {
	uint64_t value, address;
	uint32_t flags, reserved;
};
enum { WAITER_32 = 2, WAITER_PRIVATE = 128, SYS_waitv = 449 };

/* The word that a process wakes us by. */
static bool wake_word(struct trc_process *p, struct waiter *w)
{
	const _Atomic uint32_t *word;
	uint32_t seen;

	if (p->flight) {
		word = trc_flight_wake(p, &seen);
	} else {
		word = p->drain ? &p->shared->drain_wake : NULL;
		seen = 1;
		/* relaxed: a writer that misses it is seen after the timeout. */
		if (word)
			atomic_store_explicit(&p->shared->drain_wake, 1, memory_order_relaxed);
	}
	*w = (struct waiter){seen, (uintptr_t)word, WAITER_32, 0};
	return word != NULL;
}

/* Sleeps until a signal comes, a ring is half full, a snapshot is asked for, or timeout_ns have
 * passed. */
static void rest(struct trc_tool_session *s, uint32_t seen, uint64_t timeout_ns)
{
	struct waiter w[WAITERS_MAX] = {
		{seen, (uintptr_t)&trc_child_wake, WAITER_32 | WAITER_PRIVATE, 0}};
	unsigned int n = 1;
	struct timespec t;

	for (struct trc_process *p = s->first; p; p = p->next) {
		if (n == WAITERS_MAX && timeout_ns > IDLE_NS)
			timeout_ns = IDLE_NS; /* those that find no place wake nobody */
		else if (n < WAITERS_MAX)
			n += wake_word(p, &w[n]);
	}
	clock_gettime(CLOCK_MONOTONIC, &t);
	timeout_ns += (uint64_t)t.tv_nsec;
	t.tv_sec += (time_t)(timeout_ns / 1000000000);
	t.tv_nsec = (long)(timeout_ns % 1000000000);
	if (syscall(SYS_waitv, w, n, 0, &t, CLOCK_MONOTONIC) < 0 && errno == ENOSYS) {
		t = (struct timespec){0, BLIND_NS};
		syscall(SYS_futex, &trc_child_wake, FUTEX_WAIT_PRIVATE, seen, &t, NULL, 0);
	}
}

static uint64_t rest_ns(const struct trc_tool_session *s, uint64_t n_events)
{
	uint64_t ns = CALM_NS, now_ns = trc_clock_vdso();

	if (s->dir.watch_fd < 0)
		return BLIND_NS;
	if (!s->options->flight) {
		ns = n_events ? s->busy_ns : IDLE_NS;
		return ns < s->patience_ns ? ns : s->patience_ns;
	}
	for (struct trc_process *p = s->first; p; p = p->next) {
		uint64_t sleep_ns = trc_flight_sleep_ns(p, now_ns);
		uint64_t follow_ns = trc_follow_sleep_ns(p);

		ns = sleep_ns < ns ? sleep_ns : ns;
		ns = follow_ns < ns ? follow_ns : ns;
	}
	return s->options->follow && ns > IDLE_NS ? IDLE_NS : ns;
}

/* A daemon's last fork may not have made its ring yet when its parents are gone. */
static bool more_may_come(struct trc_tool_session *s)
{
	uint64_t now_ns = trc_now_ns(CLOCK_MONOTONIC);

	if (!s->quiet_since_ns)
		s->quiet_since_ns = now_ns;
	return s->orphans && now_ns - s->quiet_since_ns < GRACE_NS;
}

/* They are not in our /proc any more. */
static void say_untraced(const struct trc_tool_session *s)
{
	if (s->n_untraced == 1)
		trc_tool_say(
			"a process of another pid namespace had ended before it was found here: "
			"its trace is named for its pid there, %s",
			s->untraced->name);
	else if (s->n_untraced)
		trc_tool_say(
			"%u processes of other pid namespaces had ended before they were found "
			"here: their traces are named for their pids there, %s for one",
			s->n_untraced, s->untraced->name);
}

static const char *processes(unsigned int n)
{
	return n == 1 ? "process" : "processes";
}

static void say_no_room(const struct trc_tool_session *s)
{
	char dir[sizeof(s->dir.path)];
	unsigned int n = 0;

	for (const struct trc_process *p = s->first; p; p = p->next)
		n += p->no_room && !p->no_room_told;
	snprintf(dir, sizeof(dir), "%s", s->dir.path);
	*strrchr(dir, '/') = '\0';
	if (s->n_without_room)
		trc_tool_say("%s: no room for the ring of %u %s: not recorded (a larger tmpfs)",
			     dir, s->n_without_room, processes(s->n_without_room));
	if (n)
		trc_tool_say("%s: no room for what %u %s had to record: events are missing "
			     "(a larger tmpfs, or a smaller %s)",
			     dir, n, processes(n),
			     s->options->flight ? "--max-size" : "--ring-size");
}

void trc_tool_session_run(struct trc_tool_session *s, struct trc_child *child)
{
	bool any = true;

	while (any && !(child->ended && trc_child_hurry)) {
		uint32_t seen = atomic_load_explicit(&trc_child_wake, memory_order_acquire);
		uint64_t n_events = pass(s, child, &any);

		if (any)
			s->quiet_since_ns = 0;
		else
			any = s->options->follow && more_may_come(s);
		if (any)
			rest(s, seen, rest_ns(s, n_events));
	}
	for (struct trc_process *p = s->first; p; p = p->next)
		process_finish(s, p);
	trc_tool_http_stop();
	say_untraced(s);
	say_no_room(s);
	trc_unrecorded_say(&s->dir);
	if (!s->first->w && !(s->first->flight && s->first->attached) && !s->first->failed)
		trc_tool_say("%s: nothing was recorded: no program with the recorder ran there",
			     s->options->command[0]);
}

void trc_tool_session_result(const struct trc_tool_session *s, struct trc_tool_result *r)
{
	*r = (struct trc_tool_result){.taken = s->flight.first,
				      .passed_over = s->flight.passed_over,
				      .any_failed = s->flight.any_failed,
				      .sampled = s->options->sampling.n_events != 0};
	for (const struct trc_process *p = s->first; p; p = p->next) {
		r->any_recorded |= p->attached && !p->failed;
		if (!p->w || (p->totals.error && !p->totals.blocks))
			continue;
		if (!r->path) {
			r->path = p->path;
			r->events = p->totals.events;
			r->lost_events = p->lost_events + p->totals.lost_events;
			r->file_bytes = p->sink.file_bytes;
		}
		r->n_files++;
		r->samples += p->samples;
		r->lost_samples += p->lost_samples;
	}
}
