/* assemble.c - see assemble.h. */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "format/writer.h"
#include "assemble.h"
#include "assemble_words.h"

enum {
	NAMES_MAX = 256,
	ROWS_MAX = 256, /* of a table at the end */
};

/* A stack, module or label set. */
struct name {
	char text[64];
	uint32_t id;
};

struct assembler {
	struct trc_writer_options options;
	struct trc_writer *writer; /* made by the first line that needs it */
	uint8_t *bytes;
	size_t n_bytes, room_bytes;
	bool has_sync, unfinished;
	struct name stack[NAMES_MAX], module[NAMES_MAX], label_set[NAMES_MAX];
	size_t n_stacks, n_modules, n_label_sets;
	/* Rows of the table that the lines so far make; one at a time is not empty. */
	struct trc_status_entry status[ROWS_MAX];
	struct trc_open_region_entry open_region[ROWS_MAX];
	struct trc_coverage_entry coverage[ROWS_MAX];
	struct trc_sample_event_entry sample_event[ROWS_MAX]; /* texts: in text[] */
	struct trc_thread_labels_entry thread_labels[ROWS_MAX];
	struct trc_thread_fiber_entry thread_fibers[ROWS_MAX];
	size_t n_status, n_open_regions, n_coverage, n_sample_events, n_thread_labels;
	size_t n_thread_fibers;
	char text[ROWS_MAX][3][256];
	struct words line;
};

static int sink(void *context, const void *bytes, size_t n_bytes)
{
	struct assembler *as = context;

	if (as->n_bytes + n_bytes > as->room_bytes) {
		size_t room = 2 * as->room_bytes + n_bytes + 4096;
		uint8_t *grown = realloc(as->bytes, room);

		if (!grown)
			return -ENOMEM;
		as->bytes = grown;
		as->room_bytes = room;
	}
	memcpy(as->bytes + as->n_bytes, bytes, n_bytes);
	as->n_bytes += n_bytes;
	return 0;
}

static bool find_name(const struct name *name, size_t n, const char *text, uint64_t *id)
{
	for (size_t i = 0; i < n; i++)
		if (words_same(name[i].text, text)) {
			*id = name[i].id;
			return true;
		}
	return false;
}

static int add_name(struct assembler *as, struct name *names, size_t *n, const char *text,
		    uint32_t id)
{
	uint64_t other;

	if (!id)
		return words_fail(&as->line, "no room in the writer's table");
	if (*n == NAMES_MAX || strlen(text) >= sizeof(names->text) ||
	    find_name(names, *n, text, &other))
		return words_fail(&as->line, "too many names, too long, or one twice: %s", text);
	strcpy(names[*n].text, text);
	names[(*n)++].id = id;
	return 0;
}

/* --- lines --- */

static int need_writer(struct assembler *as)
{
	int err;

	if (as->writer)
		return 0;
	err = trc_writer_open(&as->writer, &as->options, sink, as);
	return err ? words_fail(&as->line, "cannot open a writer: %s", strerror(-err)) : 0;
}

static int result(struct assembler *as, int err)
{
	return err < 0 ? words_fail(&as->line, "refused by the writer: %s", strerror(-err)) : 0;
}

static int line_header(struct assembler *as)
{
	uint64_t procs = as->options.n_procs;
	const struct words_key known[] = {
		{"procs", &procs},
		{"ticks_per_second", &as->options.ticks_per_second},
		{"memory_bytes", &as->options.memory_bytes},
		{"generation_ns", &as->options.generation_ns},
		{"creation_realtime_ns", &as->options.creation_realtime_ns},
		{NULL, NULL},
	};
	const char *clock = words_text(&as->line, "clock")->value;
	int err = words_options(&as->line, 1, known, "clock uuid");

	if (as->writer)
		return words_fail(&as->line, "header comes first");
	as->options.n_procs = (uint32_t)procs;
	words_bytes(words_text(&as->line, "uuid")->value, as->options.trace_uuid, 16);
	if (!strcmp(clock, "tsc"))
		as->options.clock = TRC_CLOCK_TSC;
	else if (!strcmp(clock, "cntvct"))
		as->options.clock = TRC_CLOCK_CNTVCT;
	else if (*clock && strcmp(clock, "monotonic_raw"))
		return words_fail(&as->line, "no such clock: %s", clock);
	return err;
}

static int line_sync(struct assembler *as)
{
	struct trc_sync_point s = {0};
	const struct words_key known[] = {
		{"ticks", &s.ticks},
		{"raw", &s.monotonic_raw_ns},
		{"monotonic", &s.monotonic_ns},
		{"realtime", &s.realtime_ns},
		{"uncertainty", &s.uncertainty_ns},
		{NULL, NULL},
	};
	int err = words_option(&as->line, 1, "ticks", &s.ticks);

	s.monotonic_raw_ns = s.ticks;
	if (!err)
		err = words_option(&as->line, 1, "raw", &s.monotonic_raw_ns);
	s.monotonic_ns = s.realtime_ns = s.monotonic_raw_ns;
	if (!err)
		err = words_options(&as->line, 1, known, "");
	as->has_sync = true;
	return err ? err : result(as, trc_writer_sync(as->writer, &s));
}

static int line_info(struct assembler *as)
{
	if (as->line.n != 3 || as->line.word[1].key || as->line.word[2].key)
		return words_fail(&as->line, "info KEY \"VALUE\"");
	return result(as,
		      trc_writer_info(as->writer, as->line.word[1].value, as->line.word[2].value));
}

static int line_module(struct assembler *as)
{
	struct trc_module_entry m = {0};
	uint64_t first = 0, last = UINT32_MAX;
	const struct words_key known[] = {
		{"start", &m.start},	{"limit", &m.limit},	 {"offset", &m.file_offset},
		{"bias", &m.load_bias}, {"first_epoch", &first}, {"last_epoch", &last},
		{NULL, NULL},
	};
	const struct word *path = words_text(&as->line, "path");
	char path_text[256];
	int err;

	if (as->line.n < 2 || as->line.word[1].key || path->n_bytes >= sizeof(path_text))
		return words_fail(&as->line, "module NAME path=\"...\" start= limit= ...");
	err = words_options(&as->line, 2, known, "path build_id");
	if (err)
		return err;
	memcpy(path_text, path->value, path->n_bytes);
	path_text[path->n_bytes] = 0;
	m.path = path_text;
	m.build_id_bytes = (uint8_t)words_bytes(words_text(&as->line, "build_id")->value,
						m.build_id, sizeof(m.build_id));
	m.first_epoch = (uint32_t)first;
	m.last_epoch = (uint32_t)last;
	return add_name(as, as->module, &as->n_modules, as->line.word[1].value,
			trc_writer_module(as->writer, &m));
}

static int line_module_end(struct assembler *as)
{
	uint64_t id, last = 0;
	int err = words_option(&as->line, 2, "last_epoch", &last);

	if (err)
		return err;
	if (as->line.n != 3 || !find_name(as->module, as->n_modules, as->line.word[1].value, &id))
		return words_fail(&as->line, "module_end NAME last_epoch=...");
	return result(as, trc_writer_module_end(as->writer, (uint32_t)id, (uint32_t)last));
}

static int line_stack(struct assembler *as)
{
	uint64_t frame[TRC_STACK_DEPTH_MAX], epoch = 0;
	uint32_t n_frames = 0;
	int err = words_option(&as->line, 2, "epoch", &epoch);

	if (as->line.n < 2)
		return words_fail(&as->line, "stack NAME ADDRESS ...");
	for (size_t i = 2; i < as->line.n && !err; i++) {
		if (as->line.word[i].key)
			continue;
		if (n_frames == TRC_STACK_DEPTH_MAX)
			return words_fail(&as->line, "too many frames");
		err = words_number(&as->line, &as->line.word[i], &frame[n_frames++]);
	}
	if (err)
		return err;
	return add_name(as, as->stack, &as->n_stacks, as->line.word[1].value,
			trc_writer_stack(as->writer, (uint32_t)epoch, frame, n_frames));
}

/* "acme", 512 or 512:bytes as the value of a label. */
static int label_value(struct assembler *as, struct word *w, struct trc_label *label)
{
	char *unit = w->quoted ? NULL : strchr(w->value, ':');
	uint64_t value;
	int err;

	label->key = w->key;
	label->key_bytes = (uint32_t)strlen(w->key);
	label->value = w->value;
	label->value_bytes = w->n_bytes;
	if (w->quoted)
		return 0;
	label->value = unit ? unit + 1 : "";
	label->value_bytes = (uint32_t)strlen(label->value);
	if (unit)
		*unit = 0;
	err = words_number(&as->line, w, &value);
	label->number = (int64_t)value;
	label->is_number = true;
	return err;
}

static int line_labels(struct assembler *as)
{
	struct trc_label label[TRC_LABELS_MAX] = {0};
	uint32_t n = 0, id;
	int err = 0;

	if (as->line.n < 3 || as->line.n - 2 > TRC_LABELS_MAX || as->line.word[1].key)
		return words_fail(&as->line, "labels NAME KEY=\"VALUE\" KEY=NUMBER:UNIT ...");
	for (size_t i = 2; i < as->line.n && !err; i++)
		err = as->line.word[i].key
			      ? label_value(as, &as->line.word[i], &label[n++])
			      : words_fail(&as->line, "not understood: %s", as->line.word[i].value);
	if (err)
		return err;
	id = trc_writer_label_set(as->writer, label, n);
	if (!id)
		return words_fail(&as->line, "labels come in the order of their keys, each once");
	return add_name(as, as->label_set, &as->n_label_sets, as->line.word[1].value, id);
}

static int line_thread(struct assembler *as)
{
	struct trc_thread_entry t = {0};
	uint64_t serial, tid = 0, creator = 0;
	const struct words_key known[] = {
		{"tid", &tid},	 {"creator", &creator}, {"start", &t.start},
		{"end", &t.end}, {NULL, NULL},
	};
	const struct word *name = words_text(&as->line, "name");
	int err;

	if (as->line.n < 2)
		return words_fail(&as->line, "thread SERIAL tid= name=\"...\" ...");
	err = words_number(&as->line, &as->line.word[1], &serial);
	if (!err)
		err = words_options(&as->line, 2, known, "name");
	if (err)
		return err;
	t.serial = (uint32_t)serial;
	t.tid = (uint32_t)tid;
	t.creator = (uint32_t)creator;
	t.name = name->value;
	t.name_bytes = name->n_bytes;
	return result(as, trc_writer_thread(as->writer, &t));
}

static bool find_reason(const char *text, uint64_t *value)
{
	for (unsigned int r = 1; r < TRC_REASON_COUNT; r++)
		if (words_same(trc_reason_name(r), text)) {
			*value = r;
			return true;
		}
	return false;
}

/* A number of an enum by its name. */
static bool find_enum(enum trc_arg_type type, const char *text, uint64_t *value)
{
	enum { NUMBERS = 256 };

	for (uint64_t v = 1; v < NUMBERS && trc_arg_type_is_enum(type); v++)
		if (!strcmp(trc_arg_value_name(type, v), text) && strcmp(text, "?") != 0) {
			*value = v;
			return true;
		}
	return false;
}

static bool find_errno(const char *text, uint64_t *value)
{
	for (int e = 1; e < 134; e++)
		if (strerrorname_np(e) && !strcmp(strerrorname_np(e), text)) {
			*value = (uint64_t)e;
			return true;
		}
	return false;
}

/* The value of an argument, by its type and name. */
static int argument(struct assembler *as, const struct trc_arg_info *arg, const struct word *w,
		    uint64_t *value)
{
	if (arg->type == TRC_ARG_STRING && w->quoted) {
		*value = trc_writer_string(as->writer, w->value, w->n_bytes);
		return 0;
	}
	if (arg->type == TRC_ARG_STACK && find_name(as->stack, as->n_stacks, w->value, value))
		return 0;
	if (arg->type == TRC_ARG_LABELS &&
	    find_name(as->label_set, as->n_label_sets, w->value, value))
		return 0;
	if (arg->type == TRC_ARG_REASON && find_reason(w->value, value))
		return 0;
	if (arg->type == TRC_ARG_ERRNO && find_errno(w->value, value))
		return 0;
	if (!strcmp(arg->name, "module") && find_name(as->module, as->n_modules, w->value, value))
		return 0;
	if (find_enum(arg->type, w->value, value))
		return 0;
	return words_number(&as->line, w, value);
}

static int event_kind(struct assembler *as, const char *text, struct trc_event *event)
{
	for (unsigned int k = 1; k <= TRC_KIND_MAX; k++) {
		const char *name = trc_kind_info(k)->name;

		if (name && words_same(name, text)) {
			event->kind = (uint8_t)k;
			return 0;
		}
	}
	return words_fail(&as->line, "no such kind: %s", text);
}

static int event_source(struct assembler *as, const char *text, struct trc_event *event)
{
	static const char *const names[] = {"ring", "overflow", "kernel"};

	for (uint8_t i = 0; i < 3; i++)
		if (!strcmp(names[i], text)) {
			event->source = i;
			return 0;
		}
	return words_fail(&as->line, "no such source: %s", text);
}

static int event_argument(struct assembler *as, const struct word *w, struct trc_event *event)
{
	const struct trc_kind_info *info = trc_kind_info(event->kind);

	for (unsigned int a = 0; a < info->n_args; a++) {
		if (!words_same(info->arg[a].name, w->key))
			continue;
		if (info->arg[a].type != TRC_ARG_TEXT)
			return argument(as, &info->arg[a], w, &event->arg[a]);
		event->text = w->value;
		event->text_bytes = (uint16_t)w->n_bytes;
		return 0;
	}
	return words_fail(&as->line, "%s has no argument %s", info->name, w->key);
}

/* Before the kind: where and who; after it: its arguments. */
static int event_word(struct assembler *as, const struct word *w, struct trc_event *event)
{
	uint64_t value;
	int err;

	if (!w->key)
		return event->kind ? words_fail(&as->line, "not understood: %s", w->value)
				   : event_kind(as, w->value, event);
	if (event->kind)
		return event_argument(as, w, event);
	if (!strcmp(w->key, "source"))
		return event_source(as, w->value, event);
	err = words_number(&as->line, w, &value);
	if (err)
		return err;
	if (!strcmp(w->key, "proc"))
		event->proc = (uint32_t)value;
	else if (!strcmp(w->key, "thread"))
		event->thread = (uint32_t)value;
	else
		return words_fail(&as->line, "not understood before the kind: %s", w->key);
	return 0;
}

static int line_event(struct assembler *as)
{
	static const struct trc_sync_point zero;
	struct trc_event event = {.thread = 1};
	int err = 0;

	if (!words_is_number(as->line.word[0].value + 1, &event.time))
		return words_fail(&as->line, "not a time: %s", as->line.word[0].value);
	if (!as->has_sync)
		err = result(as, trc_writer_sync(as->writer, &zero));
	as->has_sync = true;
	for (size_t i = 1; i < as->line.n && !err; i++)
		err = event_word(as, &as->line.word[i], &event);
	if (err)
		return err;
	if (!event.kind)
		return words_fail(&as->line, "which kind of event?");
	return result(as, trc_writer_event(as->writer, &event));
}

static int line_status(struct assembler *as)
{
	struct trc_status_entry *s = &as->status[as->n_status];
	uint64_t thread = 0, holder = 0, reason = 0, stack = 0;
	struct trc_arg_info as_reason = {TRC_ARG_REASON, "", ""};
	struct trc_arg_info as_stack = {TRC_ARG_STACK, "", ""};
	struct trc_arg_info as_string = {TRC_ARG_STRING, "", ""};
	uint64_t descriptor = 0;
	const struct words_key known[] = {
		{"thread", &thread},  {"holder", &holder}, {"object", &s->object},
		{"since", &s->since}, {NULL, NULL},
	};
	int err;

	if (as->n_status == ROWS_MAX)
		return words_fail(&as->line, "too long a status table");
	memset(s, 0, sizeof(*s));
	err = words_options(&as->line, 1, known, "reason stack descriptor");
	if (!err && words_text(&as->line, "reason")->key)
		err = argument(as, &as_reason, words_text(&as->line, "reason"), &reason);
	if (!err && words_text(&as->line, "stack")->key)
		err = argument(as, &as_stack, words_text(&as->line, "stack"), &stack);
	s->thread = (uint32_t)thread;
	s->holder = (uint32_t)holder;
	s->reason = (uint8_t)reason;
	if (!err && words_text(&as->line, "descriptor")->key)
		err = argument(as, &as_string, words_text(&as->line, "descriptor"), &descriptor);
	s->stack = (uint32_t)stack;
	s->descriptor = (uint32_t)descriptor;
	as->n_status += !err;
	return err;
}

static int line_open_region(struct assembler *as)
{
	struct trc_open_region_entry *o = &as->open_region[as->n_open_regions];
	uint64_t thread = 0, depth = 0, type = 0;
	struct trc_arg_info as_type = {TRC_ARG_STRING, "", ""};
	const struct words_key known[] = {
		{"thread", &thread},  {"depth", &depth}, {"task", &o->task},
		{"since", &o->since}, {NULL, NULL},
	};
	int err;

	if (as->n_open_regions == ROWS_MAX)
		return words_fail(&as->line, "too long a table of open regions");
	memset(o, 0, sizeof(*o));
	err = words_options(&as->line, 1, known, "type");
	if (!err && words_text(&as->line, "type")->key)
		err = argument(as, &as_type, words_text(&as->line, "type"), &type);
	o->thread = (uint32_t)thread;
	o->depth = (uint32_t)depth;
	o->type = (uint32_t)type;
	as->n_open_regions += !err;
	return err;
}

static int line_coverage(struct assembler *as)
{
	struct trc_coverage_entry *e = &as->coverage[as->n_coverage];
	uint64_t proc = UINT32_MAX;
	const struct words_key known[] = {
		{"proc", &proc}, {"held", &e->held}, {"from", &e->from},
		{"to", &e->to},	 {NULL, NULL},
	};
	struct trc_event event = {0};
	int err;

	if (as->n_coverage == ROWS_MAX)
		return words_fail(&as->line, "too long a table of coverage");
	memset(e, 0, sizeof(*e));
	err = words_options(&as->line, 1, known, "source");
	if (!err && words_text(&as->line, "source")->key)
		err = event_source(as, words_text(&as->line, "source")->value, &event);
	e->source = event.source;
	e->proc = (uint32_t)proc;
	as->n_coverage += !err;
	return err;
}

/* A text that outlives its line; `otherwise` if the line has none of this key. */
static const char *kept_text(const struct assembler *as, const char *key, const char *otherwise,
			     char text[256])
{
	const struct word *w = words_text(&as->line, key);

	snprintf(text, 256, "%s", w->key ? w->value : otherwise);
	return text;
}

static int line_sample_event(struct assembler *as)
{
	size_t i = as->n_sample_events;
	struct trc_sample_event_entry *e = &as->sample_event[i];
	uint64_t event = 0;
	const struct words_key known[] = {
		{"period", &e->period},
		{"frequency", &e->frequency_hz},
		{"missing", &e->missing_threads},
		{NULL, NULL},
	};
	const char *how = words_text(&as->line, "how")->value;
	int err;

	if (i == ROWS_MAX)
		return words_fail(&as->line, "too long a table of sampled events");
	memset(e, 0, sizeof(*e));
	if (as->line.n < 2)
		return words_fail(&as->line, "sample_event NUMBER name=\"...\" how=timer ...");
	err = words_number(&as->line, &as->line.word[1], &event);
	if (!err)
		err = words_options(&as->line, 2, known, "how name unit note");
	e->event = (uint32_t)event;
	e->name = kept_text(as, "name", "cpu-clock", as->text[i][0]);
	e->unit = kept_text(as, "unit", "nanoseconds", as->text[i][1]);
	e->note = kept_text(as, "note", "", as->text[i][2]);
	e->how = TRC_SAMPLE_TIMER;
	while (*how && e->how < TRC_SAMPLE_HOW_COUNT && strcmp(how, trc_sample_how_name(e->how)))
		e->how++;
	if (!err && e->how == TRC_SAMPLE_HOW_COUNT)
		err = words_fail(&as->line, "not timer, signal or kernel: %s", how);
	as->n_sample_events += !err;
	return err;
}

static int line_thread_labels(struct assembler *as)
{
	struct trc_thread_labels_entry *e = &as->thread_labels[as->n_thread_labels];
	struct trc_arg_info as_labels = {TRC_ARG_LABELS, "", ""};
	uint64_t thread = 0, labels = 0;
	const struct words_key known[] = {{"thread", &thread}, {NULL, NULL}};
	int err;

	if (as->n_thread_labels == ROWS_MAX)
		return words_fail(&as->line, "too long a table of threads' labels");
	err = words_options(&as->line, 1, known, "labels");
	if (!err && words_text(&as->line, "labels")->key)
		err = argument(as, &as_labels, words_text(&as->line, "labels"), &labels);
	*e = (struct trc_thread_labels_entry){(uint32_t)thread, (uint32_t)labels};
	as->n_thread_labels += !err;
	return err;
}

static int line_thread_fiber(struct assembler *as)
{
	struct trc_thread_fiber_entry *e = &as->thread_fibers[as->n_thread_fibers];
	struct trc_arg_info as_name = {TRC_ARG_STRING, "", ""};
	uint64_t thread = 0, name = 0;
	const struct words_key known[] = {{"thread", &thread}, {"fiber", &e->fiber}, {NULL, NULL}};
	int err;

	if (as->n_thread_fibers == ROWS_MAX)
		return words_fail(&as->line, "too long a table of threads' fibers");
	memset(e, 0, sizeof(*e));
	err = words_options(&as->line, 1, known, "name");
	if (!err && words_text(&as->line, "name")->key)
		err = argument(as, &as_name, words_text(&as->line, "name"), &name);
	e->thread = (uint32_t)thread;
	e->name = (uint32_t)name;
	as->n_thread_fibers += !err;
	return err;
}

/* Writes the table that ends here, if one does. */
static int tables_end(struct assembler *as)
{
	int err = 0;

	if (as->n_status)
		err = result(as, trc_writer_status(as->writer, as->status, as->n_status));
	if (!err && as->n_open_regions)
		err = result(as, trc_writer_open_regions(as->writer, as->open_region,
							 as->n_open_regions));
	if (!err && as->n_coverage)
		err = result(as, trc_writer_coverage(as->writer, as->coverage, as->n_coverage));
	if (!err && as->n_sample_events)
		err = result(as, trc_writer_sample_events(as->writer, as->sample_event,
							  as->n_sample_events));
	if (!err && as->n_thread_labels)
		err = result(as, trc_writer_thread_labels(as->writer, as->thread_labels,
							  as->n_thread_labels));
	if (!err && as->n_thread_fibers)
		err = result(as, trc_writer_thread_fibers(as->writer, as->thread_fibers,
							  as->n_thread_fibers));
	as->n_status = as->n_open_regions = as->n_coverage = 0;
	as->n_sample_events = as->n_thread_labels = as->n_thread_fibers = 0;
	return err;
}

static int line_generation(struct assembler *as)
{
	return result(as, trc_writer_generation(as->writer));
}

static int line_flush(struct assembler *as)
{
	return result(as, trc_writer_flush(as->writer));
}

static int line_unfinished(struct assembler *as)
{
	as->unfinished = true;
	return line_flush(as);
}

static const struct {
	const char *name;
	int (*line)(struct assembler *as);
} directives[] = {
	{"sync", line_sync},
	{"info", line_info},
	{"module", line_module},
	{"module_end", line_module_end},
	{"stack", line_stack},
	{"thread", line_thread},
	{"status", line_status},
	{"generation", line_generation},
	{"flush", line_flush},
	{"unfinished", line_unfinished},
	{"coverage", line_coverage},
	{"open_region", line_open_region},
	{"labels", line_labels},
	{"sample_event", line_sample_event},
	{"thread_labels", line_thread_labels},
	{"thread_fiber", line_thread_fiber},
};

/* True if a line `name` adds to the table that the lines before it make. */
static bool goes_on(const struct assembler *as, const char *name)
{
	return (as->n_status && !strcmp(name, "status")) ||
	       (as->n_open_regions && !strcmp(name, "open_region")) ||
	       (as->n_coverage && !strcmp(name, "coverage")) ||
	       (as->n_sample_events && !strcmp(name, "sample_event")) ||
	       (as->n_thread_labels && !strcmp(name, "thread_labels")) ||
	       (as->n_thread_fibers && !strcmp(name, "thread_fiber"));
}

static int assemble_line(struct assembler *as, char *text)
{
	const char *name;
	int err = words_cut(&as->line, text);

	if (err || !as->line.n)
		return err;
	name = as->line.word[0].value;
	if (!strcmp(name, "header"))
		return line_header(as);
	err = need_writer(as);
	if (!err && !goes_on(as, name))
		err = tables_end(as);
	if (err)
		return err;
	if (name[0] == '@')
		return line_event(as);
	for (size_t i = 0; i < sizeof(directives) / sizeof(directives[0]); i++)
		if (!strcmp(name, directives[i].name))
			return directives[i].line(as);
	return words_fail(&as->line, "not understood: %s", name);
}

static int assemble(struct assembler *as, char *text)
{
	int err = 0;

	for (char *line = text; line && !err;) {
		char *next = strchr(line, '\n');

		if (next)
			*next++ = 0;
		as->line.number++;
		err = assemble_line(as, line);
		line = next;
	}
	if (!err)
		err = need_writer(as);
	if (!err)
		err = tables_end(as);
	if (!err && !as->unfinished)
		err = result(as, trc_writer_finish(as->writer));
	return err;
}

int trc_assemble(const char *text, uint8_t **bytes, size_t *n_bytes, char error[256])
{
	struct assembler *as = calloc(1, sizeof(*as));
	char *copy = strdup(text);
	int err = -ENOMEM;

	if (as && copy) {
		as->line.error = error;
		as->options.clock = TRC_CLOCK_MONOTONIC_RAW;
		as->options.ticks_per_second = 1000000000;
		as->options.n_procs = 4;
		as->options.memory_bytes = 8 << 20;
		err = assemble(as, copy);
		trc_writer_close(as->writer);
		if (!err) {
			*bytes = as->bytes;
			*n_bytes = as->n_bytes;
		} else {
			free(as->bytes);
		}
	} else {
		snprintf(error, 256, "out of memory");
	}
	free(copy);
	free(as);
	return err;
}

int trc_assemble_file(const char *text, const char *path, char error[256])
{
	uint8_t *bytes;
	size_t n_bytes;
	int err = trc_assemble(text, &bytes, &n_bytes, error);
	FILE *file;

	if (err)
		return err;
	file = fopen(path, "wb");
	if (!file || fwrite(bytes, 1, n_bytes, file) != n_bytes)
		err = -EIO;
	if (file && fclose(file))
		err = -EIO;
	if (err)
		snprintf(error, 256, "cannot write %s", path);
	free(bytes);
	return err;
}
