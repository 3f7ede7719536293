/*
 * symbols.c - modules and addresses that have been asked for, and their answers.
 *
 *   symbols:Y3  an object is one file as the trace saw it (path and build id), however often
 *       it was mapped; it is opened once
 *   symbols:Y4  answers are kept per object and ELF address: asking again costs one look-up
 */
#include "symbols.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "row_index.h"
#include "symbols_demangle.h"
#include "symbols_dwarf.h"
#include "symbols_file.h"
#include "symbols_members.h"
#include "symbols_starts.h"
#include "symbols_stubs.h"
#include "symbols_table.h"

struct object {
	char *path;
	uint8_t build_id[TRC_BUILD_ID_BYTES_MAX];
	uint8_t build_id_bytes;
	struct trc_symbols_file file;
	struct trc_dwarf *dwarf;
	struct trc_members *members; /* NULL before the first was asked for */
	struct trc_symbols_table table;
	struct trc_symbols_table variables;
	struct trc_starts starts;
	struct trc_stubs stubs;
	bool variables_listed;
};

struct answer_key {
	uint64_t address;
	uint64_t object; /* index + 1 */
};

/* An answer: symbols [first, first + n) of the store. */
struct answer {
	struct answer_key key;
	size_t first;
	uint32_t n;
	bool known; /* false = there was no memory to keep it */
};

struct trc_symbols {
	enum trc_symbols_how how;
	struct trc_symbols_fetch *fetch; /* NULL = nothing is fetched (Y1) */
	struct object **object;
	size_t n_objects;
	struct trc_keyed_rows answers; /* struct answer */
	struct trc_symbol *symbol;
	size_t n_symbols, symbol_room;
	char **name; /* demangled names that answers refer to */
	size_t n_names, name_room;
	struct trc_demangler *demangler;
};

int trc_symbols_open(struct trc_symbols **out, enum trc_symbols_how how)
{
	struct trc_symbols *s = calloc(1, sizeof(*s));

	if (!s)
		return -ENOMEM;
	s->how = how;
	if (how == TRC_SYMBOLS_FETCHED)
		s->fetch = trc_symbols_fetch_open();
	s->answers.row_bytes = sizeof(struct answer);
	s->answers.key_bytes = sizeof(struct answer_key);
	s->demangler = trc_demangler_open();
	*out = s;
	return 0;
}

static void object_free(struct object *object)
{
	trc_members_close(object->members);
	trc_dwarf_close(object->dwarf);
	trc_symbols_table_clear(&object->table);
	trc_symbols_table_clear(&object->variables);
	trc_stubs_clear(&object->stubs);
	trc_symbols_file_close(&object->file);
	free(object->path);
	free(object);
}

void trc_symbols_close(struct trc_symbols *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->n_objects; i++)
		object_free(s->object[i]);
	for (size_t i = 0; i < s->n_names; i++)
		free(s->name[i]);
	trc_demangler_close(s->demangler);
	trc_symbols_fetch_close(s->fetch);
	free(s->object);
	trc_keyed_rows_free(&s->answers);
	free(s->symbol);
	free(s->name);
	free(s);
}

static bool object_is(const struct object *object, const struct trc_module_entry *module)
{
	return object->build_id_bytes == module->build_id_bytes &&
	       !memcmp(object->build_id, module->build_id, object->build_id_bytes) &&
	       !strcmp(object->path, module->path ? module->path : "");
}

/* The debug file's table has everything that the module's has, unless that was kept. */
static void list_symbols(struct object *object, struct trc_symbols_table *table,
			 enum trc_symbols_kind kind)
{
	if (object->file.debug.elf)
		trc_symbols_table_add(table, object->file.debug.elf, kind);
	if (object->file.mini.elf)
		trc_symbols_table_add(table, object->file.mini.elf, kind);
	if (object->file.main.elf)
		trc_symbols_table_add(table, object->file.main.elf, kind);
	trc_symbols_table_sort(table);
}

static struct object *object_new(const struct trc_symbols *s, const struct trc_module_entry *module)
{
	struct object *object = calloc(1, sizeof(*object));

	if (!object)
		return NULL;
	object->path = strdup(module->path ? module->path : "");
	if (!object->path) {
		free(object);
		return NULL;
	}
	memcpy(object->build_id, module->build_id, module->build_id_bytes);
	object->build_id_bytes = module->build_id_bytes;
	trc_symbols_file_open(&object->file, module, s->how != TRC_SYMBOLS_READ, s->fetch);
	if (object->file.dwarf)
		trc_dwarf_open(&object->dwarf, object->file.dwarf);
	list_symbols(object, &object->table, TRC_SYMBOLS_CODE);
	if (object->file.main.elf) {
		trc_starts_find_table(&object->starts, object->file.main.elf);
		trc_stubs_open(&object->stubs, object->file.main.elf, object->file.main.fd);
	}
	return object;
}

/* Index + 1 of the module's object, opened now if need be; 0 = no memory. */
static uint32_t symbols_object_find(struct trc_symbols *s, const struct trc_module_entry *module)
{
	struct object **grown;

	if (module->build_id_bytes > TRC_BUILD_ID_BYTES_MAX)
		return 0;
	for (size_t i = 0; i < s->n_objects; i++)
		if (object_is(s->object[i], module))
			return (uint32_t)i + 1;
	grown = reallocarray(s->object, s->n_objects + 1, sizeof(struct object *));
	if (!grown)
		return 0;
	s->object = grown;
	s->object[s->n_objects] = object_new(s, module);
	if (!s->object[s->n_objects])
		return 0;
	return (uint32_t)++s->n_objects;
}

/* Takes over the string; NULL if there is no room to remember it. */
static const char *symbol_keep_name(struct trc_symbols *s, char *name)
{
	if (name && s->n_names == s->name_room) {
		size_t room = s->name_room ? 2 * s->name_room : 64;
		char **grown = reallocarray(s->name, room, sizeof(*grown));

		if (!grown) {
			free(name);
			return NULL;
		}
		s->name = grown;
		s->name_room = room;
	}
	if (name)
		s->name[s->n_names++] = name;
	return name;
}

/* function and linkage of a symbol whose linker name is known. */
static void set_linkage(struct trc_symbols *s, struct trc_symbol *symbol, const char *linkage)
{
	const char *readable = symbol_keep_name(s, trc_demangle(s->demangler, linkage));

	if (readable)
		symbol->function = readable;
	else if (!symbol->function)
		symbol->function = linkage;
	symbol->linkage = strcmp(symbol->function, linkage) ? linkage : NULL;
}

static void symbol_from_frame(struct trc_symbols *s, struct trc_symbol *symbol,
			      const struct trc_dwarf_frame *frame)
{
	*symbol = (struct trc_symbol){
		.function = frame->function,
		.file = frame->file,
		.directory = frame->directory,
		.line = frame->line,
		.start_line = frame->start_line,
	};
	if (frame->linkage)
		set_linkage(s, symbol, frame->linkage);
}

/* What a stub jumps to, as its linker knows it; NULL = not known. */
static const char *stub_target(const struct object *object, const struct trc_stub_name *stub)
{
	const struct trc_table_symbol *resolver;

	if (stub->symbol)
		return stub->symbol;
	resolver = trc_symbols_table_find(&object->table, stub->resolver);
	return resolver && resolver->start == stub->resolver ? resolver->name : NULL;
}

/* The caller's to free(); NULL = there is no name, or no memory. */
static char *with_plt(const char *name)
{
	char *whole;

	return name && asprintf(&whole, "%s@plt", name) >= 0 ? whole : NULL;
}

/* "NAME@plt", as debuggers, disassemblers and perf call them.  False: it is no stub with a name. */
static bool set_stub(struct trc_symbols *s, struct object *object, uint64_t address,
		     struct trc_symbol *symbol)
{
	struct trc_stub_name stub;
	const char *target;
	char *readable;

	if (!trc_stubs_find(&object->stubs, address, &stub))
		return false;
	if (stub.header) {
		symbol->function = ".plt";
		return true;
	}
	target = stub_target(object, &stub);
	symbol->function = symbol_keep_name(s, with_plt(target));
	if (!symbol->function)
		return false;
	readable = trc_demangle(s->demangler, target);
	if (readable) {
		const char *function = symbol_keep_name(s, with_plt(readable));

		symbol->linkage = function ? symbol->function : NULL;
		symbol->function = function ? function : symbol->function;
		free(readable);
	}
	return true;
}

/* By C++, or by Rust in one of its two ways. */
static bool is_mangled(const char *name)
{
	return name && (!strncmp(name, "_Z", 2) || !strncmp(name, "_R", 2));
}

static size_t look_up_in_object(struct trc_symbols *s, struct object *object, uint64_t address,
				struct trc_symbol *out)
{
	struct trc_dwarf_frame frame[TRC_SYMBOL_INLINE_MAX];
	const struct trc_table_symbol *symbol;
	size_t n = 0;

	if (object->dwarf)
		n = trc_dwarf_find(object->dwarf, address, frame, TRC_SYMBOL_INLINE_MAX);
	for (size_t i = 0; i < n; i++) {
		symbol_from_frame(s, &out[i], &frame[i]);
		out[i].inlined = i + 1 < n;
	}
	symbol = trc_symbols_table_find(&object->table, address);
	/* DWARF has no linker's name of what only its unit sees: lambdas, members of local classes. */
	if (n && out[n - 1].function && !is_mangled(out[n - 1].linkage) && symbol &&
	    is_mangled(symbol->name))
		set_linkage(s, &out[n - 1], symbol->name);
	if (n && out[n - 1].function)
		return n;
	if (!n)
		out[0] = (struct trc_symbol){0};
	if (symbol)
		set_linkage(s, &out[n ? n - 1 : 0], symbol->name);
	else if (trc_symbols_is_vdso(object->path))
		out[0].function = "[vdso]"; /* what it has inside has no names */
	else if (!set_stub(s, object, address, &out[n ? n - 1 : 0]))
		return n;
	return n ? n : 1;
}

/* Appends to the store.  False = no memory. */
static bool keep_symbols(struct trc_symbols *s, const struct trc_symbol *symbol, size_t n)
{
	if (s->n_symbols + n > s->symbol_room) {
		size_t room = s->symbol_room ? 2 * s->symbol_room : 1024;
		struct trc_symbol *grown = reallocarray(s->symbol, room, sizeof(*grown));

		if (!grown)
			return false;
		s->symbol = grown;
		s->symbol_room = room;
	}
	if (n)
		memcpy(s->symbol + s->n_symbols, symbol, n * sizeof(*symbol));
	s->n_symbols += n;
	return true;
}

size_t trc_symbols_find(struct trc_symbols *s, const struct trc_module_entry *module,
			uint64_t address, struct trc_symbol out[TRC_SYMBOL_INLINE_MAX])
{
	uint32_t object = symbols_object_find(s, module);
	const struct answer_key key = {address - module->load_bias, object};
	struct answer *answer;
	bool added;
	size_t n;

	answer = object ? trc_keyed_rows_find(&s->answers, &key, &added) : NULL;
	if (!answer)
		return 0;
	if (answer->known) {
		if (answer->n)
			memcpy(out, s->symbol + answer->first, answer->n * sizeof(*out));
		return answer->n;
	}
	n = look_up_in_object(s, s->object[object - 1], key.address, out);
	answer->first = s->n_symbols;
	answer->n = (uint32_t)n;
	answer->known = keep_symbols(s, out, n);
	return n;
}

size_t trc_symbols_tail_calls(struct trc_symbols *s, const struct trc_module_entry *module,
			      uint64_t return_address, uint64_t out[TRC_SYMBOL_TAIL_MAX])
{
	uint32_t object = symbols_object_find(s, module);
	struct trc_dwarf *dwarf = object ? s->object[object - 1]->dwarf : NULL;
	size_t n = dwarf ? trc_dwarf_tail_calls(dwarf, return_address - module->load_bias, out,
						TRC_SYMBOL_TAIL_MAX)
			 : 0;

	for (size_t i = 0; i < n; i++)
		out[i] += module->load_bias;
	return n;
}

uint64_t trc_symbols_start(struct trc_symbols *s, const struct trc_module_entry *module,
			   uint64_t address)
{
	uint32_t id = symbols_object_find(s, module);
	struct object *object = id ? s->object[id - 1] : NULL;
	uint64_t elf_address = address - module->load_bias, start;
	struct trc_stub_name stub;

	if (!object)
		return 0;
	/* To unwind tables all stubs are one function. */
	if (!trc_symbols_table_find(&object->table, elf_address) &&
	    trc_stubs_find(&object->stubs, elf_address, &stub))
		return stub.start + module->load_bias;
	if (!trc_starts_find(&object->starts, elf_address, &start))
		return 0;
	return start + module->load_bias;
}

/* The symbol of the variable at an ELF address; NULL = not known. */
static const struct trc_table_symbol *symbols_find_variable(struct object *object, uint64_t address)
{
	if (!object->variables_listed) {
		object->variables_listed = true;
		list_symbols(object, &object->variables, TRC_SYMBOLS_DATA);
	}
	return trc_symbols_table_find(&object->variables, address);
}

const char *trc_symbols_variable(struct trc_symbols *s, const struct trc_module_entry *module,
				 uint64_t address, uint64_t *offset)
{
	uint32_t id = symbols_object_find(s, module);
	struct object *object = id ? s->object[id - 1] : NULL;
	const struct trc_table_symbol *symbol =
		object ? symbols_find_variable(object, address - module->load_bias) : NULL;
	char *readable;

	if (!symbol)
		return NULL;
	readable = trc_demangle(s->demangler, symbol->name);
	if (readable)
		trc_symbols_table_rename(&object->variables, symbol, readable);
	*offset = address - module->load_bias - symbol->start;
	return symbol->name;
}

const char *trc_symbols_section(struct trc_symbols *s, const struct trc_module_entry *module,
				uint64_t address, uint64_t *offset)
{
	uint32_t id = symbols_object_find(s, module);

	return id ? trc_symbols_file_section(&s->object[id - 1]->file, address - module->load_bias,
					     offset)
		  : NULL;
}

const char *trc_symbols_member(struct trc_symbols *s, const struct trc_module_entry *module,
			       uint64_t address, uint64_t *offset)
{
	uint32_t id = symbols_object_find(s, module);
	struct object *object = id ? s->object[id - 1] : NULL;
	const struct trc_table_symbol *symbol =
		object ? symbols_find_variable(object, address - module->load_bias) : NULL;

	*offset = 0;
	if (!symbol)
		return "";
	*offset = address - module->load_bias - symbol->start;
	if (!object->members && object->file.dwarf)
		object->members = trc_members_open(object->file.dwarf);
	return object->members ? trc_members_find(object->members, symbol->start, offset) : "";
}

const char *trc_symbols_trouble(struct trc_symbols *s, const struct trc_module_entry *module)
{
	uint32_t object = symbols_object_find(s, module);

	return object ? s->object[object - 1]->file.trouble : "out of memory";
}
