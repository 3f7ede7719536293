/* recorder_multi.c - several recorders at once (<trc/recorder.h>). */
#include <errno.h>
#include <string.h>
#include "recorder/profile/kind.h"
#include "recording.h"

struct multi {
	struct trace_recorder base;
	struct trace_recorder *member[TRC_RECORDER_MEMBERS_MAX];
	size_t n;
	bool each;
};

static void multi_free(struct trace_recorder *r)
{
	struct multi *m = (struct multi *)r;

	for (size_t i = 0; i < m->n; i++) {
		m->member[i]->is_member = false;
		trace_recorder_destroy(m->member[i]);
	}
}

static const struct trc_recorder_kind multi_kind = {.name = "multi", .free = multi_free};

struct trace_recorder *const *trc_recorder_members(struct trace_recorder *const *r, size_t *n,
						   bool *each)
{
	const struct multi *m = (const struct multi *)*r;

	*n = 1;
	*each = false;
	if ((*r)->kind != &multi_kind)
		return r;
	*n = m->n;
	*each = m->each;
	return m->member;
}

/* 0 or -EINVAL with trace_last_error(). */
static int check_member(struct trace_recorder *const *recorder, size_t i, bool each)
{
	const struct trace_recorder *r = recorder[i];

	if (!r || r->kind == &multi_kind || r->is_member)
		return trc_api_fail(-EINVAL, "multi",
				    "a member that is none, or a multi recorder, or another's");
	if (r->running)
		return trc_api_fail(-EINVAL, r->kind->name, "this recorder runs");
	if (r->kind->write && !each)
		return trc_api_fail(-EINVAL, r->kind->name,
				    "only with options.one_each: it is no profile of samples");
	for (size_t j = 0; j < i; j++)
		if (recorder[j] == r)
			return trc_api_fail(-EINVAL, r->kind->name, "twice the same recorder");
	return 0;
}

int trace_recorder_create_multi(struct trace_recorder **out, struct trace_recorder *const *recorder,
				size_t n, const struct trace_multi_options *options)
{
	struct trace_multi_options known = TRACE_MULTI_OPTIONS_INIT;
	struct multi *m;
	int err;

	trc_api_clear();
	err = options ? trc_recording_copy(&known, sizeof(known), options,
					   "TRACE_MULTI_OPTIONS_INIT")
		      : 0;
	if (err)
		return err;
	if (!n || n > TRC_RECORDER_MEMBERS_MAX || !recorder)
		return trc_api_fail(-EINVAL, "multi", "1 to 16 recorders");
	for (size_t i = 0; i < n && !err; i++)
		err = check_member(recorder, i, known.one_each);
	if (err)
		return err;
	m = trc_recorder_new(sizeof(*m), &multi_kind, TRACE_PROFILE_FORMAT_PPROF);
	if (!m)
		return -ENOMEM;
	m->n = n;
	m->each = known.one_each;
	for (size_t i = 0; i < n; i++) {
		m->member[i] = recorder[i];
		recorder[i]->is_member = true;
	}
	*out = &m->base;
	return 0;
}
