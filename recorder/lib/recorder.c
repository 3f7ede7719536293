/* recorder.c - the methods of recorders (<trc/recorder.h>). */
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "recorder/ring/rec.h"
#include "recorder/profile/kind.h"
#include "recording.h"

/* ---- making one ------------------------------------------------------------------------ */

/* All there are.  Guarded by `lock`, inside which nothing is locked; a forked child may find it
 * between any two stores. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct trace_recorder *recorders;

static void enlist(struct trace_recorder *r)
{
	trc_self.quiet++;
	pthread_mutex_lock(&lock);
	r->next = recorders;
	/* In a child that is forked here the list is whole: `next` is stored first. */
	atomic_signal_fence(memory_order_seq_cst);
	recorders = r;
	pthread_mutex_unlock(&lock);
	trc_self.quiet--;
}

static void delist(struct trace_recorder *r)
{
	struct trace_recorder **at = &recorders;

	pthread_mutex_lock(&lock);
	while (*at && *at != r)
		at = &(*at)->next;
	if (*at)
		*at = r->next;
	pthread_mutex_unlock(&lock);
}

/* What was freed is not looked into. */
static bool recorder_is_listed(const struct trace_recorder *r)
{
	const struct trace_recorder *at;

	trc_self.quiet++;
	pthread_mutex_lock(&lock);
	for (at = recorders; at && at != r; at = at->next)
		;
	pthread_mutex_unlock(&lock);
	trc_self.quiet--;
	return at;
}

void trc_recorders_forget(void)
{
	static const pthread_mutex_t unlocked = PTHREAD_MUTEX_INITIALIZER;

	lock = unlocked;
	trc_writers_forget();
	for (struct trace_recorder *r = recorders; r; r = r->next)
		r->lock = unlocked;
}

void *trc_recorder_new(size_t n_bytes, const struct trc_recorder_kind *kind,
		       enum trace_profile_format format)
{
	struct trace_recorder *r;

	trc_self.quiet++; /* none of the program's objects */
	r = calloc(1, n_bytes);
	trc_self.quiet--;
	if (!r) {
		trc_api_fail(-ENOMEM, kind->name, "no memory for a recorder");
		return NULL;
	}
	r->kind = kind;
	r->text = format == TRACE_PROFILE_FORMAT_TEXT;
	pthread_mutex_init(&r->lock, NULL);
	enlist(r);
	return r;
}

int trc_recorder_options(void *known, size_t known_bytes, const void *from, const char *init)
{
	struct trace_custom_options *options = known;
	int err;

	trc_api_clear();
	err = from ? trc_recording_copy(known, known_bytes, from, init) : 0;
	if (!err && (unsigned int)options->format > TRACE_PROFILE_FORMAT_TEXT)
		err = trc_api_fail(-EINVAL, "options", "a format that is not in its list");
	return err;
}

/* ---- methods --------------------------------------------------------------------------- */

static const struct trace_writer *recorder_writer(const struct trace_writer *writer, size_t i,
						  bool each)
{
	return writer ? &writer[each ? i : 0] : NULL;
}

/* All writers of a call, once each.  The first error. */
static int finish_all(const struct trace_writer *writer, size_t n, bool each, int err)
{
	int first = err;

	for (size_t i = 0; writer && i < (each ? n : 1); i++) {
		int finished = trc_writer_finished(&writer[i], err);

		first = first ? first : finished;
	}
	return first;
}

/* kind:K3 */
static bool is_running(const struct trace_recorder *r)
{
	return r->running && r->pid == getpid();
}

static int check_writer(const struct trace_writer *writer, size_t n, bool each)
{
	for (size_t i = 0; i < (each ? n : 1); i++) {
		if (!writer || !writer[i].write)
			return trc_api_fail(-EINVAL, "", "no writer to write to");
		if (trc_writer_is_used_up(&writer[i]))
			return trc_api_fail(
				-EINVAL, "",
				"this writer was used already: each is for one profile");
	}
	return 0;
}

/* Whether r, which runs, will finish this writer itself: it was given it before. */
static bool has_writer(const struct trace_recorder *r, struct trace_recorder *const *member,
		       size_t n, bool each, const struct trace_writer *writer)
{
	for (size_t i = 0; is_running(r) && i < (each ? n : 1); i++) {
		const struct trace_writer *its = each ? &member[i]->writer : &r->writer;

		if (its->finish == writer->finish && its->context == writer->context)
			return true;
	}
	return false;
}

/* After a start that failed. */
static void finish_others(const struct trace_recorder *r, struct trace_recorder *const *member,
			  size_t n, bool each, const struct trace_writer *writer, int err)
{
	for (size_t i = 0; i < (each ? n : 1); i++)
		if (!has_writer(r, member, n, each, &writer[i]))
			trc_writer_finished(&writer[i], err);
}

/* How each call with a writer begins.  Where it fails the writers are finished. */
static int begin_call(struct trace_recorder **r, const struct trace_writer *writer,
		      struct trace_recorder *const **member, size_t *n, bool *each)
{
	int err;

	trc_api_clear();
	if (!*r || !recorder_is_listed(*r))
		return trc_api_fail(-EINVAL, "", "no recorder, or one that was freed");
	*member = trc_recorder_members(r, n, each);
	err = (*r)->is_member ? trc_api_fail(-EINVAL, (*r)->kind->name, "it is a multi recorder's")
			      : check_writer(writer, *n, *each);
	return err ? finish_all(writer, *n, *each, err) : 0;
}

static int recorder_start(struct trace_recorder *r, struct trace_recorder *const *member, size_t n,
			  bool each, const struct trace_writer *writer)
{
	char why[TRC_RECORDER_WHY_BYTES] = "";
	int err;

	if (is_running(r))
		return trc_api_fail(-EBUSY, r->kind->name, "this recorder was started already");
	for (size_t i = 0; i < n; i++)
		if (!member[i]->kind->prepare)
			return trc_api_fail(-ENOTSUP, member[i]->kind->name,
					    "there are snapshots only");
	err = trc_recorders_begin(member, n, why);
	if (err)
		return trc_api_fail(err, r->kind->name, why);
	for (size_t i = 0; i < n; i++)
		member[i]->writer = *recorder_writer(writer, i, each);
	r->writer = *writer;
	r->pid = getpid();
	r->running = true;
	return 0;
}

int trace_recorder_start(struct trace_recorder *r, const struct trace_writer *writer)
{
	struct trace_recorder *const *member;
	int saved_errno = errno, err;
	bool each;
	size_t n;

	err = begin_call(&r, writer, &member, &n, &each);
	if (err)
		return err;
	trc_self.quiet++;
	pthread_mutex_lock(&r->lock);
	err = recorder_start(r, member, n, each, writer);
	pthread_mutex_unlock(&r->lock);
	if (err)
		finish_others(r, member, n, each, writer, err);
	trc_self.quiet--;
	errno = saved_errno;
	return err;
}

/* Writes what was taken, one for each or one for all, and finishes the writers; those too that got
 * nothing.  The first error. */
static int profile_write_all(struct trace_recorder *const *member, size_t n, bool each,
			     const struct trc_taken *taken, const struct trace_writer *writer,
			     char why[static TRC_RECORDER_WHY_BYTES])
{
	int first = 0;

	for (size_t i = 0; i < (each ? n : 1); i++) {
		char here[TRC_RECORDER_WHY_BYTES] = "";
		int err = member[i]->kind->write
				  ? member[i]->kind->write(member[i], writer + i, here)
				  : trc_recorders_write(member + i, each ? 1 : n, taken + i,
							writer + i, here);
		int finished = trc_writer_finished(writer + i, err);

		err = err ? err : finished;
		if (!err || first)
			continue;
		first = err;
		memcpy(why, here, sizeof(here));
	}
	return first;
}

static int member_fail(const struct trace_recorder *r, int err, const char *why)
{
	return trc_api_fail(err, r->kind->name, *why ? why : strerror(-err));
}

int trace_recorder_stop(struct trace_recorder *r)
{
	struct trc_taken taken[TRC_RECORDER_MEMBERS_MAX] = {{.n_folded = 0}};
	struct trace_writer writer[TRC_RECORDER_MEMBERS_MAX];
	struct trace_recorder *const *member;
	char why[TRC_RECORDER_WHY_BYTES] = "";
	int saved_errno = errno, err;
	bool each, was_running;
	size_t n;

	trc_api_clear();
	if (!r || !recorder_is_listed(r))
		return trc_api_fail(-EINVAL, "", "no recorder, or one that was freed");
	member = trc_recorder_members(&r, &n, &each);
	trc_self.quiet++;
	pthread_mutex_lock(&r->lock);
	was_running = is_running(r);
	if (was_running) {
		err = trc_recorders_take(member, n, taken, true, true, why);
		r->running = false;
		for (size_t i = 0; i < n; i++)
			writer[i] = each ? member[i]->writer : r->writer;
	}
	pthread_mutex_unlock(&r->lock);
	if (!was_running) {
		err = trc_api_fail(-EINVAL, r->kind->name, "this recorder was not started");
	} else {
		if (err)
			finish_all(writer, n, each, err);
		else
			err = profile_write_all(member, n, each, taken, writer, why);
		if (err)
			member_fail(r, err, why);
	}
	for (size_t i = 0; i < n; i++)
		trc_taken_free(&taken[i]);
	trc_self.quiet--;
	errno = saved_errno;
	return err;
}

static int recorder_snapshot(struct trace_recorder *r, struct trace_recorder *const *member,
			     size_t n, bool each, const struct trace_writer *writer,
			     char why[static TRC_RECORDER_WHY_BYTES])
{
	struct trc_taken taken[TRC_RECORDER_MEMBERS_MAX] = {{.n_folded = 0}};
	int err;

	pthread_mutex_lock(&r->lock);
	err = trc_recorders_take(member, n, taken, is_running(r), false, why);
	pthread_mutex_unlock(&r->lock);
	if (err)
		finish_all(writer, n, each, err);
	else
		err = profile_write_all(member, n, each, taken, writer, why);
	for (size_t i = 0; i < n; i++)
		trc_taken_free(&taken[i]);
	return err;
}

int trace_recorder_snapshot(struct trace_recorder *r, const struct trace_writer *writer)
{
	struct trace_recorder *const *member;
	char why[TRC_RECORDER_WHY_BYTES] = "";
	int saved_errno = errno, err;
	bool each;
	size_t n;

	err = begin_call(&r, writer, &member, &n, &each);
	if (err)
		return err;
	trc_self.quiet++;
	err = recorder_snapshot(r, member, n, each, writer, why);
	if (err)
		member_fail(r, err, why);
	trc_self.quiet--;
	errno = saved_errno;
	return err;
}

void trace_recorder_destroy(struct trace_recorder *r)
{
	struct trace_recorder *const *member;
	int saved_errno = errno;
	bool each;
	size_t n;

	/* A multi recorder frees its members itself. */
	if (!r || !recorder_is_listed(r) || r->is_member)
		return;
	member = trc_recorder_members(&r, &n, &each);
	trc_self.quiet++;
	if (is_running(r))
		trc_recorders_cancel(member, n);
	for (size_t i = 0; r->running && i < (each ? n : 1); i++)
		trc_writer_finished(each ? &member[i]->writer : &r->writer, -ECANCELED);
	r->running = false;
	delist(r);
	if (r->kind->free)
		r->kind->free(r);
	pthread_mutex_destroy(&r->lock);
	free(r);
	trc_self.quiet--;
	errno = saved_errno;
}
