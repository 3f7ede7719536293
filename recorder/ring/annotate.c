/* annotate.c - tasks, regions, logs and counters. Context: traced thread, signal handlers. */
#include <errno.h>
#include <string.h>
#include "rec.h"
#include "ring_inline.h"
#include "annotate.h"
#include "names_met.h"
#include "recorder/shared/trigger.h"
#include "recorder/unwind/poison.h"

/* A name on its way into a record: its id, or where that cannot be had the bytes themselves. */
struct name {
	uint64_t id;
	uint64_t n_bytes;
	const char *bytes;
};

static uint64_t site_id(struct trace_site *site, uint64_t session)
{
	/* acquire: pairs with the release below: the id is that session's. */
	return site && __atomic_load_n(&site->session, __ATOMIC_ACQUIRE) == session
		       ? __atomic_load_n(&site->id, __ATOMIC_RELAXED)
		       : 0;
}

static uint64_t site_fill(struct trace_site *site, uint64_t session, uint64_t id)
{
	if (site && id) {
		trc_string_pin(id);
		__atomic_store_n(&site->id, id, __ATOMIC_RELAXED);
		/* release: pairs with the acquire in site_id(): the id is stored. */
		__atomic_store_n(&site->session, session, __ATOMIC_RELEASE);
	}
	return id;
}

static __attribute__((noinline)) void site_name_look_up(struct name *name, struct trace_site *site,
							uint64_t session)
{
	/* A name longer than any entry is cut. */
	name->n_bytes = strnlen(name->bytes, TRC_STRING_BYTES_MAX);
	if (!site)
		name->id = trc_name_intern(name->bytes, (uint32_t)name->n_bytes);
	else
		name->id = site_fill(site, session,
				     trc_string_intern(name->bytes, (uint32_t)name->n_bytes));
}

static inline struct name site_name(struct trace_site *site, const char *bytes)
{
	struct name name = {0, 0, bytes ? bytes : ""};

	name.id = site_id(site, trc_self.session);
	if (__builtin_expect(!name.id, 0))
		site_name_look_up(&name, site, trc_self.session);
	return name;
}

/* A record of arguments, perhaps a text, and a name that is in no table. */
static void annotation_record(enum trc_kind kind, const uint64_t *arg, unsigned int n_args,
			      const char *text, uint64_t text_bytes, const struct name *name)
{
	struct trc_seg seg[6] = {{arg, n_args}};
	uint64_t text_last, name_last, words = 2;
	unsigned int n = 1, flags = 0;

	if (text)
		n += trc_seg_bytes(&seg[n], text, text_bytes, &text_last);
	if (!name->id) {
		flags = TRC_REC_INLINE_STRING;
		seg[n].bytes = &name->n_bytes;
		seg[n++].words = 1;
		n += trc_seg_bytes(&seg[n], name->bytes, name->n_bytes, &name_last);
	}
	for (unsigned int i = 0; i < n; i++)
		words += seg[i].words;
	trc_record(TRC_REC_WORD1(kind, flags, words, trc_self.serial), seg, n);
}

/* True if the calling thread records; else what it would have recorded is counted as lost. */
static inline bool ready(void)
{
	if (__builtin_expect(trc_self_ready(), 1))
		return true;
	trc_self_lost();
	return false;
}

trace_task trc_annotate_task_begin(struct trace_site *site, const char *type, trace_task parent)
{
	struct trc_args_task_begin args = {.parent = parent};
	struct name name;

	if (!ready())
		return 0;
	name = site_name(site, type);
	args.task =
		atomic_fetch_add_explicit(&trc_rec.shared->next_task, 1, memory_order_relaxed) + 1;
	args.type = name.id;
	annotation_record(TRC_ARGS_ARE(args), NULL, 0, &name);
	if (__builtin_expect(trc_trigger_shortest(&trc_trigger_least.task) != UINT64_MAX, 0))
		trc_trigger_task_begin(args.task, name.id);
	return args.task;
}

void trc_annotate_task_end(trace_task task)
{
	struct trc_args_task_end args = {.task = task};

	if (!task || !ready())
		return;
	TRC_RECORD(args);
	if (__builtin_expect(trc_trigger_shortest(&trc_trigger_least.task) != UINT64_MAX, 0))
		trc_trigger_task_end(task);
}

void trc_annotate_region_begin(struct trace_site *site, trace_task task, const char *type)
{
	struct trc_args_region_begin args;
	struct name name;

	if (!ready())
		return;
	name = site_name(site, type);
	args = (struct trc_args_region_begin){.task = task, .type = name.id};
	if (__builtin_expect(name.id != 0, 1)) {
		TRC_RECORD_TWO(args);
	} else {
		/* A copy: the address of args would keep args out of registers above. */
		struct trc_args_region_begin slow = args;

		annotation_record(TRC_ARGS_ARE(slow), NULL, 0, &name);
	}
	trc_slot_region(task, name.id, trc_clock_now());
}

void trc_annotate_region_end(void)
{
	struct trc_args_region_end args;

	if (!ready())
		return;
	TRC_RECORD(args);
	if (__builtin_expect(trc_trigger_shortest(&trc_trigger_least.region) != UINT64_MAX, 0))
		trc_trigger_region_end();
	trc_slot_region_end();
}

void trc_annotate_log(struct trace_site *site, trace_task task, const char *category,
		      const char *message, size_t message_bytes)
{
	struct trc_args_log args;
	struct name name;

	if (!ready())
		return;
	if (message_bytes > TRC_TEXT_BYTES_MAX)
		message_bytes = TRC_TEXT_BYTES_MAX;
	name = site_name(site, category);
	args = (struct trc_args_log){.task = task, .category = name.id, .message = message_bytes};
	annotation_record(TRC_ARGS_ARE(args), message, message_bytes, &name);
}

void trc_annotate_counter(struct trace_site *site, const char *counter, int64_t value)
{
	struct trc_args_counter args;
	struct name name;

	if (!ready())
		return;
	name = site_name(site, counter);
	args = (struct trc_args_counter){.name = name.id, .value = (uint64_t)value};
	if (__builtin_expect(name.id != 0, 1)) {
		TRC_RECORD_TWO(args);
	} else {
		struct trc_args_counter slow = args; /* as above */

		annotation_record(TRC_ARGS_ARE(slow), NULL, 0, &name);
	}
}
