/*
 * pprof.c - a profile in the terms of format/pprof.h.
 *
 * A trace's frames of one address (inlined ones first) are one location of several
 * lines; a trace's module is a mapping.  The program's own mapping comes first, and
 * only mappings that samples lie in follow.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "profile.h"
#include "analyzer/causes/causes.h"
#include "format/path.h"
#include "format/pprof.h"
#include "format/symbols.h"

struct exporter {
	const struct trc_profile *profile;
	struct trc_pprof *pprof;
	const struct trc_model *m;
	const struct trc_reader *reader;
	const struct trc_stacks *stacks;
	uint32_t *mapping; /* by module id; 0 = not yet */
};

static uint32_t export_mapping(struct exporter *e, uint32_t module)
{
	const struct trc_module_entry *entry = trc_reader_module(e->reader, module);
	struct trc_pprof_mapping mapping;
	char *path;

	if (!entry || !module || e->mapping[module])
		return entry && module ? e->mapping[module] : 0;
	path = strdup(entry->path ? entry->path : "");
	if (!path)
		return 0;
	path[trc_path_bytes(path, strlen(path))] = '\0';
	mapping = (struct trc_pprof_mapping){
		.start = entry->start,
		.limit = entry->limit,
		.file_offset = entry->file_offset,
		.path = path,
		.build_id = entry->build_id,
		.build_id_bytes = entry->build_id_bytes,
	};
	e->mapping[module] = trc_pprof_mapping(e->pprof, &mapping);
	free(path);
	return e->mapping[module];
}

/* The program's: pprof takes the first mapping for it, and complains if there is none. */
static void export_program(struct exporter *e)
{
	const char *exe = trc_reader_info_get(e->reader, "exe");
	const struct trc_pprof_mapping unknown = {.path = exe ? exe : "[program]"};
	size_t n = trc_reader_modules(e->reader);

	for (uint32_t i = 1; exe && i < n; i++) {
		const struct trc_module_entry *module = trc_reader_module(e->reader, i);

		if (module && module->path && !strcmp(module->path, exe)) {
			export_mapping(e, i);
			return;
		}
	}
	trc_pprof_mapping(e->pprof, &unknown);
}

/* The location of the frames from `at` on that share an address; *next is the frame after. */
static uint32_t export_location(struct exporter *e, uint32_t at, uint32_t end, uint32_t *next)
{
	const struct trc_stacks *s = e->stacks;
	const struct trc_frame *frame = &s->frame[s->stack_frame[at] - 1];
	struct trc_pprof_line line[TRC_SYMBOL_INLINE_MAX];
	uint64_t address = frame->address;
	uint32_t module = frame->module;
	size_t n = 0;
	bool inlined = true;

	for (; inlined && at < end && n < TRC_SYMBOL_INLINE_MAX; at++) {
		const struct trc_frame_origin *origin = NULL;

		frame = &s->frame[s->stack_frame[at] - 1];
		inlined = frame->inlined;
		if (!frame->function)
			continue;
		if (s->origin)
			origin = &s->origin[s->stack_frame[at] - 1];
		line[n].line = frame->line;
		line[n++].function = trc_pprof_function(
			e->pprof, frame->function, origin ? origin->linkage : NULL, frame->file,
			origin ? origin->start_line : 0);
	}
	*next = at;
	return trc_pprof_location(e->pprof, export_mapping(e, module), address, line, n);
}

/* A frame that is no place.  Locations are told apart by their address. */
static uint32_t export_words(struct exporter *e, const char *words, uint64_t address)
{
	const struct trc_pprof_line line = {
		.function = trc_pprof_function(e->pprof, words, NULL, NULL, 0)};

	return trc_pprof_location(e->pprof, 0, address, &line, 1);
}

/* A sample without a location is in no line of a report: give it one that says why. */
static uint32_t export_no_stack(struct exporter *e, uint8_t off)
{
	const char *name = off == TRC_OFF_PREEMPTED ? "(preempted)"
			   : off == TRC_OFF_UNKNOWN ? "(off CPU, in no recorded wait)"
						    : "(no stack)";

	return export_words(e, name, off >= TRC_OFF_PREEMPTED ? off : 0);
}

/* What the stack is not (profile:L8, profile:L9). */
static uint32_t export_stack_kind(struct exporter *e, uint8_t stack_kind)
{
	enum { ADDRESS = 250 }; /* below every TRC_OFF_* that export_no_stack() has */
	static const char *const WORDS[] = {
		[TRC_STACK_EXACT] = "",
		[TRC_STACK_BEFORE] = "(sampled before)",
		[TRC_STACK_LONG_BEFORE] = "(sampled over 100 ms before)",
		[TRC_STACK_UNSEEN] = "(not sampled)",
	};

	return export_words(e, WORDS[stack_kind], ADDRESS + (uint64_t)stack_kind);
}

enum { LOCATIONS_MAX = TRC_STACK_DEPTH_MAX + 2 };

static size_t export_locations(struct exporter *e, struct trc_model *m,
			       const struct trc_profile_sample *sample,
			       uint32_t location[LOCATIONS_MAX])
{
	const struct trc_stacks *s = e->stacks;
	/* profile:L4: what is borrowed is a sample of time. */
	bool of_program = e->profile->of_program || (sample->off && !sample->stack_kind);
	uint32_t at = 0, end = 0;
	size_t n = 0;

	if (sample->stack < s->n_stacks) {
		at = s->stack_first[sample->stack];
		at += of_program ? (uint32_t)trc_profile_skip(s, m, sample->stack) : 0;
		end = s->stack_first[sample->stack + 1];
	}
	if (sample->stack_kind && at < end)
		location[n++] = export_no_stack(e, sample->off);
	if (sample->stack_kind)
		location[n++] = export_stack_kind(e, sample->stack_kind);
	while (at < end && n < LOCATIONS_MAX)
		location[n++] = export_location(e, at, end, &at);
	if (!n)
		location[n++] = export_no_stack(e, sample->off);
	return n;
}

/* Beyond those of a label set. */
enum { OWN_LABELS_MAX = 4, KEY_BYTES = 128, THREAD_BYTES = 80 };

/* A label's key, in `buffer` if something stands before it. */
static const char *export_key(const struct exporter *e, const char *key, char buffer[KEY_BYTES])
{
	if (!e->profile->labels_of)
		return key;
	snprintf(buffer, KEY_BYTES, "%s%s", e->profile->labels_of, key);
	return buffer;
}

/* "worker 3 (4711)"; NULL = there is none. */
static const char *thread_name(const struct exporter *e, uint32_t serial, char text[THREAD_BYTES])
{
	const struct trc_thread *thread = serial ? trc_model_thread(e->m, serial) : NULL;

	if (!thread)
		return NULL;
	snprintf(text, THREAD_BYTES, "%s (%" PRIu64 ")", thread->name, (uint64_t)thread->tid);
	return text;
}

/* Those of its label set, why it was off, what it is blamed for, who ran instead, and how large each object is. */
static size_t export_labels(struct exporter *e, const struct trc_profile_sample *sample,
			    char key[TRC_LABELS_MAX][KEY_BYTES], char thread[THREAD_BYTES],
			    struct trc_pprof_label out[TRC_LABELS_MAX + OWN_LABELS_MAX])
{
	const char *off = trc_profile_off_name(e->m, sample->off);
	const char *instead = thread_name(e, sample->instead, thread);
	size_t n_set, n = 0;
	const struct trc_set_label *label = trc_model_label_set(e->m, sample->labels, &n_set);

	for (; n < n_set && n < TRC_LABELS_MAX; n++)
		out[n] = (struct trc_pprof_label){
			.key = export_key(e, label[n].key, key[n]),
			.text = label[n].is_number ? NULL : label[n].value,
			.number = label[n].number,
			.unit = *label[n].unit ? label[n].unit : NULL,
		};
	if (off)
		out[n++] = (struct trc_pprof_label){.key = "reason", .text = off};
	if (sample->cause)
		out[n++] = (struct trc_pprof_label){.key = "cause",
						    .text = trc_cause_name(sample->cause)};
	if (instead)
		out[n++] = (struct trc_pprof_label){.key = "instead", .text = instead};
	if (e->profile->sized)
		out[n++] = (struct trc_pprof_label){
			.key = "bytes", .number = (int64_t)sample->bytes, .unit = "bytes"};
	return n;
}

static void export_sample(struct exporter *e, struct trc_model *m,
			  const struct trc_profile_sample *sample)
{
	struct trc_pprof_label label[TRC_LABELS_MAX + OWN_LABELS_MAX];
	char key[TRC_LABELS_MAX][KEY_BYTES], thread[THREAD_BYTES];
	uint32_t location[LOCATIONS_MAX];
	size_t n = export_locations(e, m, sample, location);

	trc_pprof_sample(e->pprof, location, n, sample->value, label,
			 export_labels(e, sample, key, thread, label));
}

static void export_comments(struct exporter *e)
{
	const char *command = trc_reader_info_get(e->reader, "command");
	uint64_t lost_events = trc_model_lost_events(e->m);
	char text[512];

	if (command && *command)
		trc_pprof_comment(e->pprof, command);
	for (size_t i = 0; i < e->profile->n_comments; i++)
		trc_pprof_comment(e->pprof, e->profile->comment[i]);
	if (trc_reader_warning(e->reader)) {
		snprintf(text, sizeof(text), "%s: %s",
			 trc_reader_info(e->reader)->complete ? "warning" : "incomplete",
			 trc_reader_warning(e->reader));
		trc_pprof_comment(e->pprof, text);
	}
	if (lost_events) {
		snprintf(text, sizeof(text), "%llu event%s lost while this was recorded",
			 (unsigned long long)lost_events, lost_events == 1 ? " was" : "s were");
		trc_pprof_comment(e->pprof, text);
	}
}

static void export_header(struct exporter *e)
{
	const struct trc_file_info *info = trc_reader_info(e->reader);
	const struct trc_profile *p = e->profile;
	int64_t start_ns = trc_model_start_ns(e->m);

	for (size_t i = 0; i < p->n_types; i++)
		trc_pprof_sample_type(e->pprof, p->type[i].type, p->type[i].unit);
	trc_pprof_default_type(e->pprof, p->type[p->main_type].type);
	trc_pprof_period(e->pprof, p->period_type.type, p->period_type.unit, p->period);
	trc_pprof_time(e->pprof,
		       info->start_realtime_ns ? (int64_t)info->start_realtime_ns + start_ns : 0,
		       trc_model_end_ns(e->m) - start_ns);
	export_comments(e);
}

int trc_profile_write_pprof(const struct trc_profile *p, struct trc_model *m, int fd,
			    struct trc_error *error)
{
	struct exporter e = {.profile = p, .m = m, .reader = trc_model_reader(m)};
	int err = trc_model_need(m, TRC_PART_WAITS | TRC_PART_LABELS | TRC_PART_SYMBOLS, error);

	if (err)
		return err;
	e.stacks = trc_model_stacks(m);
	e.mapping = calloc(trc_reader_modules(e.reader) + 1, sizeof(*e.mapping));
	err = e.mapping ? trc_pprof_open(&e.pprof) : -ENOMEM;
	if (!err) {
		export_header(&e);
		export_program(&e);
		for (size_t i = 0; i < p->n_samples; i++)
			export_sample(&e, m, &p->sample[i]);
		err = trc_pprof_write(e.pprof, fd);
	}
	if (err)
		snprintf(error->text, sizeof(error->text), "profile: %s", strerror(-err));
	trc_pprof_close(e.pprof);
	free(e.mapping);
	return err;
}
