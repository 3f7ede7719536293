/* symbols_dwarf.c - see symbols_dwarf.h. */
#include "symbols_dwarf.h"

#include <dwarf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include "symbols_scopes.h"

/* Code that the linker dropped keeps its DWARF, moved to 0 or 1 (lld): not an address. */
enum { TOMBSTONE_MAX = 1 };
/* Against nesting without end in a damaged file. */
enum { DEPTH_MAX = 64 };

struct dwarf_range {
	uint64_t start, limit;
	uint32_t item; /* of units, or of functions */
};

struct range_list {
	struct dwarf_range *range; /* by start */
	size_t n, room;
};

struct dwarf_unit {
	Dwarf_Die die;	    /* with the functions; of the .dwo file for split DWARF */
	Dwarf_Die line_die; /* with the lines */
	bool listed;
	Dwarf_Die *function;
	size_t n_functions, room;
	Dwarf_Off *declaration;	  /* of each function; NULL = not looked up yet */
	struct range_list ranges; /* of functions */
};

struct trc_dwarf {
	Dwarf *dwarf;
	struct dwarf_unit *unit;
	size_t n_units, room;
	struct range_list ranges;  /* of units */
	struct trc_scopes *scopes; /* NULL = no memory */
};

static int list_append(struct range_list *list, uint64_t start, uint64_t limit, size_t item)
{
	if (start <= TOMBSTONE_MAX || start >= limit)
		return 0;
	if (list->n == list->room) {
		size_t room = list->room ? 2 * list->room : 16;
		struct dwarf_range *range = reallocarray(list->range, room, sizeof(*range));

		if (!range)
			return -ENOMEM;
		list->range = range;
		list->room = room;
	}
	list->range[list->n++] = (struct dwarf_range){start, limit, (uint32_t)item};
	return 0;
}

static int list_append_die(struct range_list *list, Dwarf_Die *die, size_t item)
{
	Dwarf_Addr base, start, limit;
	ptrdiff_t at = 0;
	int err = 0;

	while (!err && (at = dwarf_ranges(die, at, &base, &start, &limit)) > 0)
		err = list_append(list, start, limit, item);
	return err;
}

static int compare_ranges(const void *a, const void *b)
{
	const struct dwarf_range *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->item < y->item ? -1 : x->item > y->item;
}

static void list_sort(struct range_list *list)
{
	if (list->n)
		qsort(list->range, list->n, sizeof(*list->range), compare_ranges);
}

/* The item whose range contains address, or -1.  Ranges that overlap are rare: look a few back. */
static ptrdiff_t ranges_find(const struct range_list *list, uint64_t address)
{
	size_t low = 0, high = list->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (list->range[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	for (size_t i = low; i > 0 && low - i < 8; i--)
		if (address < list->range[i - 1].limit)
			return list->range[i - 1].item;
	return -1;
}

static int unit_append(struct trc_dwarf *d, Dwarf_Die *die, Dwarf_Die *subdie)
{
	bool split = subdie->addr != NULL;

	if (d->n_units == d->room) {
		size_t room = d->room ? 2 * d->room : 16;
		struct dwarf_unit *unit = reallocarray(d->unit, room, sizeof(*unit));

		if (!unit)
			return -ENOMEM;
		d->unit = unit;
		d->room = room;
	}
	d->unit[d->n_units] = (struct dwarf_unit){.die = split ? *subdie : *die, .line_die = *die};
	d->n_units++;
	return list_append_die(&d->ranges, die, d->n_units - 1);
}

int trc_dwarf_open(struct trc_dwarf **out, Dwarf *dwarf)
{
	struct trc_dwarf *d = calloc(1, sizeof(*d));
	Dwarf_CU *unit = NULL;
	Dwarf_Die die, subdie = {0};
	uint8_t type;
	int err = d ? 0 : -ENOMEM;

	while (!err && dwarf_get_units(dwarf, unit, &unit, NULL, &type, &die, &subdie) == 0) {
		if (type == DW_UT_compile || type == DW_UT_skeleton)
			err = unit_append(d, &die, &subdie);
		subdie = (Dwarf_Die){0};
	}
	if (err) {
		trc_dwarf_close(d);
		return err;
	}
	d->dwarf = dwarf;
	d->scopes = trc_scopes_open();
	list_sort(&d->ranges);
	*out = d;
	return 0;
}

void trc_dwarf_close(struct trc_dwarf *d)
{
	if (!d)
		return;
	for (size_t i = 0; i < d->n_units; i++) {
		free(d->unit[i].function);
		free(d->unit[i].declaration);
		free(d->unit[i].ranges.range);
	}
	free(d->unit);
	free(d->ranges.range);
	trc_scopes_close(d->scopes);
	free(d);
}

static int function_append(struct dwarf_unit *unit, Dwarf_Die *die)
{
	if (unit->n_functions == unit->room) {
		size_t room = unit->room ? 2 * unit->room : 16;
		Dwarf_Die *function = reallocarray(unit->function, room, sizeof(*function));

		if (!function)
			return -ENOMEM;
		unit->function = function;
		unit->room = room;
	}
	unit->function[unit->n_functions++] = *die;
	return list_append_die(&unit->ranges, die, unit->n_functions - 1);
}

/* Lists the functions with code among the children of die, and in its namespaces and classes. */
static int list_functions(struct dwarf_unit *unit, Dwarf_Die *die, int depth)
{
	Dwarf_Die child;
	int err = 0;

	if (depth > DEPTH_MAX || dwarf_child(die, &child) != 0)
		return 0;
	do {
		switch (dwarf_tag(&child)) {
		case DW_TAG_subprogram:
			if (dwarf_hasattr(&child, DW_AT_low_pc) ||
			    dwarf_hasattr(&child, DW_AT_ranges))
				err = function_append(unit, &child);
			break;
		case DW_TAG_namespace:
		case DW_TAG_module:
		case DW_TAG_class_type:
		case DW_TAG_structure_type:
		case DW_TAG_union_type:
			err = list_functions(unit, &child, depth + 1);
			break;
		default:
			break;
		}
	} while (!err && dwarf_siblingof(&child, &child) == 0);
	return err;
}

static Dwarf_Die *unit_function(struct dwarf_unit *unit, uint64_t address)
{
	ptrdiff_t i;

	if (!unit->listed) {
		unit->listed = true;
		list_functions(unit, &unit->die, 0);
		list_sort(&unit->ranges);
	}
	i = ranges_find(&unit->ranges, address);
	return i < 0 ? NULL : &unit->function[i];
}

/* Finds the inlined call in die, or in its blocks, that the address belongs to. */
static bool find_inlined(Dwarf_Die *die, uint64_t address, Dwarf_Die *out, int depth)
{
	Dwarf_Die child;

	if (depth > DEPTH_MAX || dwarf_child(die, &child) != 0)
		return false;
	do {
		int tag = dwarf_tag(&child);

		if (tag != DW_TAG_inlined_subroutine && tag != DW_TAG_lexical_block)
			continue;
		if (dwarf_haspc(&child, address) <= 0)
			continue;
		if (tag == DW_TAG_inlined_subroutine) {
			*out = child;
			return true;
		}
		if (find_inlined(&child, address, out, depth + 1))
			return true;
	} while (dwarf_siblingof(&child, &child) == 0);
	return false;
}

static const char *die_string(Dwarf_Die *die, unsigned int name)
{
	Dwarf_Attribute attribute;
	const char *text = dwarf_formstring(dwarf_attr_integrate(die, name, &attribute));

	return text && *text ? text : NULL;
}

static void set_names(struct trc_dwarf *d, struct trc_dwarf_frame *frame, Dwarf_Die *die)
{
	const char *scoped;
	int line;

	frame->function = die_string(die, DW_AT_name);
	frame->linkage = die_string(die, DW_AT_linkage_name);
	if (!frame->linkage)
		frame->linkage = die_string(die, DW_AT_MIPS_linkage_name);
	scoped = frame->linkage ? NULL : trc_scopes_name(d->scopes, die);
	if (scoped) {
		frame->linkage = frame->function;
		frame->function = scoped;
	}
	if (!frame->function)
		frame->function = frame->linkage;
	if (frame->linkage && !strcmp(frame->linkage, frame->function))
		frame->linkage = NULL;
	if (dwarf_decl_line(die, &line) == 0 && line > 0)
		frame->start_line = (uint32_t)line;
}

static const char *directory_of(struct dwarf_unit *unit)
{
	Dwarf_Attribute attribute;

	return dwarf_formstring(dwarf_attr(&unit->line_die, DW_AT_comp_dir, &attribute));
}

static void set_line(struct trc_dwarf_frame *frame, struct dwarf_unit *unit, uint64_t address)
{
	Dwarf_Line *line = dwarf_getsrc_die(&unit->line_die, address);
	int number;

	if (!line)
		return;
	frame->file = dwarf_linesrc(line, NULL, NULL);
	if (dwarf_lineno(line, &number) == 0 && number > 0)
		frame->line = (uint32_t)number;
}

/* Where the inlined function was called: a place in the frame outside it. */
static void set_call_line(struct trc_dwarf_frame *frame, struct dwarf_unit *unit, Dwarf_Die *call)
{
	Dwarf_Attribute attribute;
	Dwarf_Word value;
	Dwarf_Files *files;
	size_t n_files;

	if (dwarf_formudata(dwarf_attr(call, DW_AT_call_line, &attribute), &value) == 0 &&
	    value <= INT32_MAX)
		frame->line = (uint32_t)value;
	if (dwarf_formudata(dwarf_attr(call, DW_AT_call_file, &attribute), &value) == 0 &&
	    dwarf_getsrcfiles(&unit->die, &files, &n_files) == 0 && value < n_files)
		frame->file = dwarf_filesrc(files, value, NULL, NULL);
}

size_t trc_dwarf_find(struct trc_dwarf *d, uint64_t address, struct trc_dwarf_frame *out,
		      size_t room)
{
	ptrdiff_t unit_index = ranges_find(&d->ranges, address);
	struct dwarf_unit *unit = unit_index < 0 ? NULL : &d->unit[unit_index];
	Dwarf_Die *function, die[DEPTH_MAX];
	size_t n = 0;

	if (!unit || !room)
		return 0;
	memset(out, 0, room * sizeof(*out));
	set_line(&out[0], unit, address);
	out[0].directory = directory_of(unit);
	function = unit_function(unit, address);
	if (!function)
		return out[0].file && out[0].line ? 1 : 0;
	die[n++] = *function;
	while (n < room && n < DEPTH_MAX && find_inlined(&die[n - 1], address, &die[n], 0))
		n++;
	for (size_t i = 0; i < n; i++) { /* die[] is outermost first, out[] innermost first */
		set_names(d, &out[i], &die[n - 1 - i]);
		if (i)
			set_call_line(&out[i], unit, &die[n - i]);
		out[i].directory = directory_of(unit);
	}
	return n;
}

/* ---- tail calls ------------------------------------------------------------------------ */

/* True: no further. */
typedef bool site_fn(void *context, Dwarf_Die *site);

/* Calls fn for the call sites of `die` and its blocks. */
static bool each_call_site(Dwarf_Die *die, site_fn *fn, void *context, int depth)
{
	Dwarf_Die child;

	if (depth > DEPTH_MAX || dwarf_child(die, &child) != 0)
		return false;
	do {
		switch (dwarf_tag(&child)) {
		case DW_TAG_call_site:
		case DW_TAG_GNU_call_site:
			if (fn(context, &child))
				return true;
			break;
		case DW_TAG_lexical_block:
		case DW_TAG_inlined_subroutine:
			if (each_call_site(&child, fn, context, depth + 1))
				return true;
			break;
		default:
			break;
		}
	} while (dwarf_siblingof(&child, &child) == 0);
	return false;
}

/* Where the call returns to, or would: behind the instruction.  0 = not known. */
static uint64_t site_return(Dwarf_Die *site)
{
	Dwarf_Attribute attribute;
	Dwarf_Addr address;

	if (dwarf_formaddr(dwarf_attr(site, DW_AT_call_return_pc, &attribute), &address) != 0 &&
	    dwarf_lowpc(site, &address) != 0)
		return 0;
	return address;
}

/* Where it jumps: gcc has the place behind the instruction, clang the instruction.  0 = not known. */
static uint64_t site_jump(Dwarf_Die *site)
{
	Dwarf_Attribute attribute;
	Dwarf_Addr address;

	if (dwarf_formaddr(dwarf_attr(site, DW_AT_call_pc, &attribute), &address) == 0)
		return address;
	address = site_return(site);
	return address ? address - 1 : 0;
}

static bool is_tail_call(Dwarf_Die *site)
{
	return dwarf_hasattr(site, DW_AT_call_tail_call) ||
	       dwarf_hasattr(site, DW_AT_GNU_tail_call);
}

static Dwarf_Off declaration_of(Dwarf_Die die)
{
	trc_scopes_declaration(&die);
	return dwarf_dieoffset(&die);
}

static bool list_declarations(struct dwarf_unit *unit)
{
	unit->declaration = calloc(unit->n_functions + 1, sizeof(*unit->declaration));
	for (size_t i = 0; unit->declaration && i < unit->n_functions; i++)
		unit->declaration[i] = declaration_of(unit->function[i]);
	return unit->declaration != NULL;
}

/* The function with code in this unit that the call goes to; NULL = it is not known, or elsewhere. */
static Dwarf_Die *called_function(struct dwarf_unit *unit, Dwarf_Die *site)
{
	Dwarf_Attribute attribute;
	Dwarf_Die origin;
	Dwarf_Off declaration;

	if (!dwarf_formref_die(dwarf_attr(site, DW_AT_call_origin, &attribute), &origin) &&
	    !dwarf_formref_die(dwarf_attr(site, DW_AT_abstract_origin, &attribute), &origin))
		return NULL;
	if (!unit->declaration && !list_declarations(unit))
		return NULL;
	declaration = declaration_of(origin);
	for (size_t i = 0; i < unit->n_functions; i++)
		if (unit->declaration[i] == declaration)
			return &unit->function[i];
	return NULL;
}

struct returning {
	uint64_t address;
	Dwarf_Die site;
};

static bool returns_there(void *context, Dwarf_Die *site)
{
	struct returning *r = context;

	r->site = *site;
	return site_return(site) == r->address && !is_tail_call(site);
}

/* The jumps out of a function. */
struct jumps {
	struct dwarf_unit *unit;
	size_t n_away, n_here; /* to code elsewhere; to functions of the unit */
	uint64_t away;
	Dwarf_Die here; /* the function that it jumps to */
	uint64_t here_at;
};

static bool add_jump(void *context, Dwarf_Die *site)
{
	struct jumps *j = context;
	Dwarf_Die *function;

	if (!is_tail_call(site) || !site_jump(site))
		return false;
	function = called_function(j->unit, site);
	if (function) {
		j->n_here++;
		j->here = *function;
		j->here_at = site_jump(site);
	} else {
		j->n_away++;
		j->away = site_jump(site);
	}
	return false;
}

/* An address of the function's code.  A function with a cold part has ranges and no low_pc. */
static bool function_entry(Dwarf_Die *function, Dwarf_Addr *entry)
{
	Dwarf_Addr base, limit;

	return dwarf_entrypc(function, entry) == 0 ||
	       dwarf_ranges(function, 0, &base, entry, &limit) > 0;
}

size_t trc_dwarf_tail_calls(struct trc_dwarf *d, uint64_t return_address, uint64_t *out,
			    size_t room)
{
	ptrdiff_t unit_index = ranges_find(&d->ranges, return_address - 1);
	struct dwarf_unit *unit = unit_index < 0 ? NULL : &d->unit[unit_index];
	Dwarf_Die *caller = unit ? unit_function(unit, return_address - 1) : NULL, *callee;
	struct returning r = {.address = return_address};
	Dwarf_Die next;
	uint64_t outer[4]; /* outermost first */
	size_t n = 0;

	if (!caller || !each_call_site(caller, returns_there, &r, 0))
		return 0;
	callee = called_function(unit, &r.site);
	while (callee && n < room && n < sizeof(outer) / sizeof(*outer)) {
		struct jumps j = {.unit = unit};
		Dwarf_Addr entry;

		each_call_site(callee, add_jump, &j, 0);
		if (j.n_away + j.n_here == 0 || !function_entry(callee, &entry))
			return 0; /* it returns: somebody else is in its place */
		if (j.n_away) {	  /* the last one; which, if there are several? */
			outer[n++] = j.n_away == 1 ? j.away : entry;
			for (size_t i = 0; i < n; i++)
				out[i] = outer[n - 1 - i];
			return n;
		}
		outer[n++] = j.n_here == 1 ? j.here_at : entry;
		next = j.here;
		callee = &next;
	}
	return 0;
}
