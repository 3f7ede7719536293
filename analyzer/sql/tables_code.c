/* tables_code.c - what the file says of itself, and the program's code; see table.h. */
#include <stdio.h>
#include "columns.h"

/* --- trace_info: what the recorder wrote, then what the file itself tells --- */

#define FACT(name, expression)                                                                     \
	static int64_t fact_##name(const struct trc_model *m, const struct trc_file_info *info)    \
	{                                                                                          \
		return (int64_t)(expression);                                                      \
	}
FACT(start_ns, trc_model_start_ns(m))
FACT(end_ns, trc_model_end_ns(m))
FACT(start_realtime_ns, info->start_realtime_ns)
FACT(start_monotonic_ns, info->start_monotonic_ns)
FACT(events, info->n_events)
FACT(writer_lost_events, info->lost_events)
FACT(blocks, info->n_blocks)
FACT(generations, info->n_generations)
FACT(proc_limit, info->n_procs)
FACT(file_bytes, info->file_bytes)
FACT(format_major, info->major)
FACT(format_minor, info->minor)
FACT(ticks_per_second, info->ticks_per_second)
FACT(complete, info->complete)

static const struct fact {
	const char *name;
	int64_t (*get)(const struct trc_model *m, const struct trc_file_info *info);
} facts[] = {
	{"trace_start_ns", fact_start_ns},
	{"trace_end_ns", fact_end_ns},
	{"start_realtime_ns", fact_start_realtime_ns},
	{"start_monotonic_ns", fact_start_monotonic_ns},
	{"events", fact_events},
	{"writer_lost_events", fact_writer_lost_events},
	{"blocks", fact_blocks},
	{"generations", fact_generations},
	{"proc_limit", fact_proc_limit},
	{"file_bytes", fact_file_bytes},
	{"format_major", fact_format_major},
	{"format_minor", fact_format_minor},
	{"ticks_per_second", fact_ticks_per_second},
	{"complete", fact_complete},
};

CALL(info_key)
{
	const struct trc_reader *r = trc_model_reader(m);
	const char *key = NULL, *text;

	if (i < trc_reader_info_count(r))
		trc_reader_info_at(r, i, &key, &text);
	else if (i - trc_reader_info_count(r) < N(facts))
		key = facts[i - trc_reader_info_count(r)].name;
	else
		key = "warning";
	trc_sql_set_text(value, key);
}

CALL(info_value)
{
	const struct trc_reader *r = trc_model_reader(m);
	const char *key, *text;

	if (i < trc_reader_info_count(r)) {
		trc_reader_info_at(r, i, &key, &text);
		trc_sql_set_text(value, text);
	} else if (i - trc_reader_info_count(r) < N(facts)) {
		trc_sql_set_integer(value,
				    facts[i - trc_reader_info_count(r)].get(m, trc_reader_info(r)));
	} else {
		trc_sql_set_text(value, trc_reader_warning(r));
	}
}

static const void *trace_info_rows(const struct trc_model *m, size_t *n)
{
	const struct trc_reader *r = trc_model_reader(m);

	*n = trc_reader_info_count(r) + N(facts) + (trc_reader_warning(r) ? 1 : 0);
	return NULL;
}

static const struct trc_sql_column trace_info_columns[] = {
	{"key", "TEXT", TRC_FIELD_CALL, 0, info_key, .indexed = true, .doc = "its name"},
	{"value", "", TRC_FIELD_CALL, 0, info_value, .doc = "what is known: a text or a number"},
};

/* --- stacks: row i is stack i + 1 --- */

static const void *stacks_rows(const struct trc_model *m, size_t *n)
{
	size_t limit = trc_reader_stacks(trc_model_reader(m));

	*n = limit ? limit - 1 : 0;
	return NULL;
}

CALL(stack_n_frames)
{
	struct trc_stack_view view;

	if (!trc_reader_stack(trc_model_reader(m), (uint32_t)i + 1, &view))
		trc_sql_set_integer(value, view.n_frames);
}

CALL(stack_epoch)
{
	struct trc_stack_view view;

	if (!trc_reader_stack(trc_model_reader(m), (uint32_t)i + 1, &view))
		trc_sql_set_integer(value, view.epoch);
}

static const struct trc_sql_column stacks_columns[] = {
	{"id", "INTEGER", TRC_FIELD_ROW_ID, 0, IS_ID,
	 .doc = "its id: the `stack` of parks, unlocks, events"},
	{"addresses", "INTEGER", TRC_FIELD_CALL, 0, stack_n_frames,
	 .doc = "return addresses in it; stack_frames has more rows where calls were inlined"},
	{"epoch", "INTEGER", TRC_FIELD_CALL, 0, stack_epoch,
	 .doc = "which state of the module list its addresses refer to"},
};

/* --- stack_frames: row i is frame i of all stacks one after the other --- */

static const void *stack_frames_rows(const struct trc_model *m, size_t *n)
{
	const struct trc_stacks *s = trc_model_stacks(m);

	*n = s->stack_first ? s->stack_first[s->n_stacks] : 0;
	return NULL;
}

/* The stack that frame i belongs to: the last one that begins at or before it. */
static size_t stacks_id_at(const struct trc_stacks *s, size_t i)
{
	size_t low = 0, high = s->n_stacks;

	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (s->stack_first[middle] <= i)
			low = middle;
		else
			high = middle;
	}
	return low;
}

CALL(stack_frame_stack)
{
	trc_sql_set_integer(value, (int64_t)stacks_id_at(trc_model_stacks(m), i));
}

CALL(stack_frame_depth)
{
	const struct trc_stacks *s = trc_model_stacks(m);

	trc_sql_set_integer(value, (int64_t)(i - s->stack_first[stacks_id_at(s, i)]));
}

CALL(stack_frame_frame)
{
	trc_sql_set_integer(value, trc_model_stacks(m)->stack_frame[i]);
}

static const struct trc_sql_column stack_frames_columns[] = {
	{"stack", "INTEGER", TRC_FIELD_CALL, 0, stack_frame_stack, IN_ORDER, .doc = "the stack",
	 .of = "stacks"},
	{"depth", "INTEGER", TRC_FIELD_CALL, 0, stack_frame_depth,
	 .doc = "0 = innermost; an inlined call has a depth of its own"},
	{"frame", "INTEGER", TRC_FIELD_CALL, 0, stack_frame_frame, .indexed = true, .of = "frames",
	 .doc = "the frame"},
};

static const void *frames_rows(const struct trc_model *m, size_t *n)
{
	const struct trc_stacks *s = trc_model_stacks(m);

	*n = s->frame ? s->n_frames : 0;
	return s->frame;
}

static const struct trc_sql_column frames_columns[] = {
	{"id", "INTEGER", TRC_FIELD_ROW_ID, 0, IS_ID, .doc = "1, 2, ..."},
	{"address", "INTEGER", TRC_FIELD_U64, F(frame, address),
	 .doc = "where in memory: inside the call"},
	{"function", "TEXT", TRC_FIELD_TEXT, F(frame, function),
	 .doc = "its name, exit@plt of a stub of the linkage table; NULL = not known"},
	{"file", "TEXT", TRC_FIELD_TEXT, F(frame, file),
	 .doc = "the source file; NULL = not known"},
	{"line", "INTEGER", TRC_FIELD_ID32, F(frame, line),
	 .doc = "the line there; NULL = not known"},
	{"module", "INTEGER", TRC_FIELD_ID32, F(frame, module), .of = "modules",
	 .doc = "the module that the address is in"},
	{"inlined", "INTEGER", TRC_FIELD_BOOL, F(frame, inlined),
	 .doc = "1 = this function was inlined into the one at the next depth"},
};

/* --- modules: row i is module i + 1 --- */

static const void *modules_rows(const struct trc_model *m, size_t *n)
{
	size_t limit = trc_reader_modules(trc_model_reader(m));

	*n = limit ? limit - 1 : 0;
	return NULL;
}

#define MODULE(name, statement)                                                                    \
	CALL(module_##name)                                                                        \
	{                                                                                          \
		const struct trc_module_entry *module =                                            \
			trc_reader_module(trc_model_reader(m), (uint32_t)i + 1);                   \
                                                                                                   \
		if (module)                                                                        \
			statement;                                                                 \
	}
MODULE(path, trc_sql_set_text(value, module->path))
MODULE(start, trc_sql_set_integer(value, (int64_t)module->start))
MODULE(limit, trc_sql_set_integer(value, (int64_t)module->limit))
MODULE(offset, trc_sql_set_integer(value, (int64_t)module->file_offset))
MODULE(bias, trc_sql_set_integer(value, (int64_t)module->load_bias))
MODULE(first_epoch, trc_sql_set_integer(value, module->first_epoch))
MODULE(last_epoch,
       if (module->last_epoch != UINT32_MAX) trc_sql_set_integer(value, module->last_epoch))

CALL(module_build_id)
{
	const struct trc_module_entry *module =
		trc_reader_module(trc_model_reader(m), (uint32_t)i + 1);

	value->buffer[0] = '\0';
	for (size_t b = 0; module && b < module->build_id_bytes && b < TRC_BUILD_ID_BYTES_MAX; b++)
		snprintf(value->buffer + 2 * b, 3, "%02x", module->build_id[b]);
	trc_sql_set_text(value, value->buffer);
}

static const struct trc_sql_column modules_columns[] = {
	{"id", "INTEGER", TRC_FIELD_ROW_ID, 0, IS_ID, .doc = "1, 2, ..."},
	{"path", "TEXT", TRC_FIELD_CALL, 0, module_path, .doc = "the file"},
	{"build_id", "TEXT", TRC_FIELD_CALL, 0, module_build_id,
	 .doc = "its build id, hexadecimal"},
	{"start_address", "INTEGER", TRC_FIELD_CALL, 0, module_start,
	 .doc = "where its executable part began in memory"},
	{"limit_address", "INTEGER", TRC_FIELD_CALL, 0, module_limit,
	 .doc = "the first address behind it"},
	{"file_off", "INTEGER", TRC_FIELD_CALL, 0, module_offset,
	 .doc = "bytes into the file of start_address"},
	{"load_bias", "INTEGER", TRC_FIELD_CALL, 0, module_bias,
	 .doc = "address - load_bias = the address as in the ELF file"},
	{"first_epoch", "INTEGER", TRC_FIELD_CALL, 0, module_first_epoch,
	 .doc = "the first state of the module list that had it"},
	{"last_epoch", "INTEGER", TRC_FIELD_CALL, 0, module_last_epoch,
	 .doc = "the last one; NULL = never unloaded"},
};

/* --- kinds: row i is kind i + 1 --- */

static const void *kinds_rows(const struct trc_model *m, size_t *n)
{
	*n = TRC_KIND_COUNT - 1;
	for (unsigned int kind = TRC_KIND_COUNT; kind <= TRC_KIND_MAX; kind++)
		if (trc_reader_kind(trc_model_reader(m), kind)->name)
			*n = kind;
	return NULL;
}

CALL(kind_name)
{
	trc_sql_set_text(value, trc_reader_kind(trc_model_reader(m), (unsigned int)i + 1)->name);
}

CALL(kind_events)
{
	const struct trc_reader *r = trc_model_reader(m);
	int64_t n = 0;

	for (size_t b = 0; b < trc_reader_blocks(r); b++)
		n += trc_reader_block(r, b)->kind_count[i + 1];
	trc_sql_set_integer(value, n);
}

CALL(kind_doc)
{
	trc_sql_set_text(value, trc_reader_kind(trc_model_reader(m), (unsigned int)i + 1)->doc);
}

static const struct trc_sql_column kinds_columns[] = {
	{"id", "INTEGER", TRC_FIELD_ROW_ID, 0, IS_ID, .doc = "the number of the kind"},
	{"name", "TEXT", TRC_FIELD_CALL, 0, kind_name, .doc = "the `kind` of events"},
	{"events", "INTEGER", TRC_FIELD_CALL, 0, kind_events,
	 .doc = "how many events of this kind there are"},
	{"doc", "TEXT", TRC_FIELD_CALL, 0, kind_doc, .doc = "what such an event means"},
};

#define CALLS(table, parts, row_bytes, doc)                                                        \
	{                                                                                          \
#table, doc, parts, table##_columns, N(table##_columns), row_bytes, table##_rows,  \
			NULL                                                                       \
	}

const struct trc_sql_table trc_sql_code_tables[] = {
	CALLS(stacks, 0, 0, "the stacks that events refer to"),
	CALLS(stack_frames, TRC_PART_SYMBOLS, 0, "the frames of each stack"),
	CALLS(frames, TRC_PART_SYMBOLS, sizeof(struct trc_frame), "places in the program"),
	CALLS(modules, 0, 0, "the executable and shared objects that were loaded"),
	CALLS(kinds, 0, 0, "the kinds of events, and how many of each there are"),
	CALLS(trace_info, 0, 0, "what is known of the recording as a whole"),
};
const size_t trc_sql_n_code_tables = N(trc_sql_code_tables);
