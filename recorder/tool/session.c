/*
 * session.c - the loop that drains the processes of a session, or with --flight watches them, until
 * the command has ended.
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
#include "noted_waits.h"
#include "session_private.h"

enum {
	IDLE_NS = 100000000,
	CALM_NS = 1000000000, /* to look at what tells nobody of its change */
	GRACE_NS = 300000000, /* for a new process to make its ring */
	BLIND_NS = 5000000,   /* if nobody tells of new files, or without futex_waitv */
	WAITERS_MAX = 128,
	SETTLING_PASSES_MAX = 20,
	SETTLING_NS = 500000,
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

/* ---- the loop -------------------------------------------------------------------------- */

/* A child that has not been waited for. */
static void child_ends(void *context, pid_t pid)
{
	struct trc_process *p = trc_found_process(context, (int)pid);

	if (p)
		trc_process_used(p);
}

static void process_has_ended(struct trc_process *p)
{
	if (!p->ended)
		p->ended_ns = trc_clock_vdso();
	p->ended = true;
}

/* A descendant that became our child, and has ended. */
static void child_ended(void *context, pid_t pid, int status)
{
	struct trc_process *p = trc_found_process(context, (int)pid);

	if (!p)
		return;
	p->status = status;
	p->status_known = true;
	process_has_ended(p);
}

static void look_for_end(struct trc_process *p, const struct trc_child *child)
{
	bool ended = trc_found_has_ended(p) || (p->command && child->ended);

	if (ended && !p->ended && !p->command) /* its parent may not have waited for it yet */
		trc_process_used(p);
	if (ended)
		process_has_ended(p);
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
		trc_process_look_at_title(p);
		p->look_ns = now_ns + (age_ns / 8 < CALM_NS ? age_ns / 8 : CALM_NS);
	}
}

static uint64_t drain_pass(struct trc_process *p)
{
	return p->flight ? trc_follow_pass(p) : trc_process_pass(p);
}

/* --http: what is wanted of the command's process, once all of it has been drained up to now, but
 * for what a thread is in the middle of for longer than others take. */
static void http_serve(struct trc_tool_session *s)
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
		trc_found_kernel_pass(s);
	trc_follow_kernel_pass(p);
	trc_tool_http_answer(p, &s->flight, now);
}

/* Ends first, then files, then their content: so that nothing of a process that has ended is
 * missed. */
static uint64_t session_pass(struct trc_tool_session *s, struct trc_child *child, bool *any)
{
	uint64_t n_events = 0;
	uint64_t asked = atomic_exchange_explicit(&trc_child_asked, 0, memory_order_relaxed);

	look_at_used(s);
	s->orphans = trc_child_reap(child, child_ends, child_ended, s) && child->ended;
	for (struct trc_process *p = s->first; p; p = p->next)
		look_for_end(p, child);
	s->looked_ns = trc_clock_vdso();
	if (trc_tool_dir_changed(&s->dir) || s->looked_ns - s->scanned_ns > CALM_NS) {
		s->scanned_ns = s->looked_ns;
		trc_found_scan(s);
	}
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
			trc_found_finish(s, p);
		*any |= !p->closed;
	}
	trc_found_kernel_pass(s);
	http_serve(s);
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
static void session_rest(struct trc_tool_session *s, uint32_t seen, uint64_t timeout_ns)
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
	t = trc_from_now(CLOCK_MONOTONIC, timeout_ns);
	/* A signal that came before has changed the word, and so does a signal that is kept: neither is slept through.
	 * Relaxed: the handler runs on this thread. */
	atomic_store_explicit(&trc_child_keeps, !s->options->flight, memory_order_relaxed);
	if (syscall(SYS_waitv, w, n, 0, &t, CLOCK_MONOTONIC) < 0 && errno == ENOSYS) {
		t = (struct timespec){0, BLIND_NS};
		syscall(SYS_futex, &trc_child_wake, FUTEX_WAIT_PRIVATE, seen, &t, NULL, 0);
	}
	atomic_store_explicit(&trc_child_keeps, false, memory_order_relaxed);
	if (trc_child_has_kept()) {
		trc_noted_waits_ending(s->first);
		trc_child_pass_on();
	}
}

static uint64_t rest_ns(const struct trc_tool_session *s, uint64_t n_events)
{
	uint64_t ns = CALM_NS, now_ns = trc_clock_vdso();

	if (s->dir.watch_fd < 0)
		return BLIND_NS;
	if (!s->options->flight) {
		ns = n_events ? s->busy_ns : IDLE_NS;
		for (const struct trc_process *p = s->first; p; p = p->next) {
			uint64_t sleep_ns = trc_noted_waits_sleep_ns(p, now_ns);

			ns = sleep_ns < ns ? sleep_ns : ns;
		}
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
		trc_tool_say("%s: no room for the ring of %u %s: not recorded "
			     "(a larger tmpfs, or a higher ulimit -f)",
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
		/* acquire: pairs with the release in wake_main() of http.c. */
		uint32_t seen = atomic_load_explicit(&trc_child_wake, memory_order_acquire);
		uint64_t n_events = session_pass(s, child, &any);

		if (any)
			s->quiet_since_ns = 0;
		else
			any = s->options->follow && more_may_come(s);
		if (any)
			session_rest(s, seen, rest_ns(s, n_events));
	}
	for (struct trc_process *p = s->first; p; p = p->next)
		trc_found_finish(s, p);
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
			r->process = p->name;
			r->events = p->totals.events;
			r->lost_events = p->lost_events + p->totals.lost_events;
			r->file_bytes = p->sink.file_bytes;
		}
		r->n_files++;
		r->samples += p->samples;
		r->lost_samples += p->lost_samples;
	}
}
