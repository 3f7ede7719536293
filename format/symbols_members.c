/* symbols_members.c - see symbols_members.h. */
#include "symbols_members.h"

#include <dwarf.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include "row_index.h"
#include "symbols_types.h"

enum {
	ENTRIES_MAX = 2000000, /* of a file, each time that it is searched (M2) */
	PARTS_MAX = 4000000,   /* of its classes, for all members that are asked for (M1) */
	DEPTH_MAX = 64,
};

struct variable {
	uint64_t address;
	Dwarf_Die die;
};

struct answer_key {
	uint64_t variable, offset;
};

struct answer {
	struct answer_key key;
	uint64_t rest; /* of the offset, into the member */
	char *text;    /* NULL = there was no memory for it */
};

struct trc_members {
	Dwarf *dwarf;
	struct variable *variable; /* by address once listed */
	size_t n, room;
	struct trc_keyed_rows answers; /* struct answer */
	bool listed, listed_inner;     /* variables; also those within functions */
	unsigned int entries_left;
	uint64_t parts_left;
};

struct trc_members *trc_members_open(Dwarf *dwarf)
{
	struct trc_members *m = calloc(1, sizeof(*m));

	if (!m)
		return NULL;
	m->dwarf = dwarf;
	m->answers.row_bytes = sizeof(struct answer);
	m->answers.key_bytes = sizeof(struct answer_key);
	m->parts_left = PARTS_MAX;
	return m;
}

void trc_members_close(struct trc_members *m)
{
	struct answer *answer;

	if (!m)
		return;
	answer = m->answers.row;
	for (size_t i = 0; i < m->answers.n; i++)
		free(answer[i].text);
	trc_keyed_rows_free(&m->answers);
	free(m->variable);
	free(m);
}

/* ---- variables ---- */

/* Only what is at one fixed address; what moves has other operations. */
static bool variable_address(Dwarf_Die *die, uint64_t *address)
{
	Dwarf_Attribute attribute, indirect;
	Dwarf_Block block;
	Dwarf_Op *op;
	size_t n;

	if (dwarf_formblock(dwarf_attr(die, DW_AT_location, &attribute), &block) || !block.length ||
	    (*block.data != DW_OP_addr && *block.data != DW_OP_addrx &&
	     *block.data != DW_OP_GNU_addr_index) ||
	    dwarf_getlocation(&attribute, &op, &n) || n != 1)
		return false;
	if (op->atom == DW_OP_addr) {
		*address = op->number;
		return true;
	}
	return !dwarf_getlocation_attr(&attribute, op, &indirect) &&
	       !dwarf_formaddr(&indirect, address);
}

static bool variable_add(struct trc_members *m, Dwarf_Die *die)
{
	uint64_t address;

	if (!variable_address(die, &address))
		return true;
	if (m->n == m->room) {
		size_t room = m->room ? 2 * m->room : 64;
		struct variable *grown = reallocarray(m->variable, room, sizeof(*grown));

		if (!grown)
			return false;
		m->variable = grown;
		m->room = room;
	}
	m->variable[m->n++] = (struct variable){address, *die};
	return true;
}

static bool has_variables(int tag, bool inner)
{
	return tag == DW_TAG_namespace || tag == DW_TAG_module ||
	       (inner && (tag == DW_TAG_subprogram || tag == DW_TAG_lexical_block));
}

/* Those below this entry.  False: enough, or no memory. */
static bool list_below(struct trc_members *m, Dwarf_Die *die, bool inner, int depth)
{
	Dwarf_Die child;
	bool go_on = true;

	if (depth == DEPTH_MAX || dwarf_child(die, &child))
		return true;
	do {
		int tag = dwarf_tag(&child);

		if (!m->entries_left--)
			return false;
		if (tag == DW_TAG_variable)
			go_on = variable_add(m, &child);
		else if (has_variables(tag, inner))
			go_on = list_below(m, &child, inner, depth + 1);
	} while (go_on && !dwarf_siblingof(&child, &child));
	return go_on;
}

static int compare_variables(const void *a, const void *b)
{
	const struct variable *x = a, *y = b;

	return x->address < y->address ? -1 : x->address > y->address;
}

static void members_list(struct trc_members *m, bool inner)
{
	Dwarf_CU *unit = NULL;
	Dwarf_Die die, split = {0};
	bool go_on = true;
	uint8_t type;

	m->n = 0;
	m->entries_left = ENTRIES_MAX;
	while (go_on && !dwarf_get_units(m->dwarf, unit, &unit, NULL, &type, &die, &split)) {
		if (type == DW_UT_compile || type == DW_UT_skeleton)
			go_on = list_below(m, split.addr ? &split : &die, inner, 0);
		split = (Dwarf_Die){0};
	}
	if (m->n)
		qsort(m->variable, m->n, sizeof(*m->variable), compare_variables);
}

static struct variable *search(const struct trc_members *m, uint64_t address)
{
	const struct variable key = {.address = address};

	return m->n ? bsearch(&key, m->variable, m->n, sizeof(key), compare_variables) : NULL;
}

static struct variable *members_find_variable(struct trc_members *m, uint64_t address)
{
	struct variable *variable;

	if (!m->listed) {
		m->listed = true;
		members_list(m, false);
	}
	variable = search(m, address);
	if (!variable && !m->listed_inner) {
		m->listed_inner = true;
		members_list(m, true);
		variable = search(m, address);
	}
	return variable;
}

/* ---- answers ---- */

const char *trc_members_find(struct trc_members *m, uint64_t variable, uint64_t *offset)
{
	struct trc_member member = {.offset = *offset, .parts_left = m->parts_left};
	const struct answer_key key = {variable, *offset};
	struct variable *found;
	struct answer *answer;
	bool added;

	answer = trc_keyed_rows_find(&m->answers, &key, &added);
	if (!answer)
		return "";
	if (!answer->text) {
		found = members_find_variable(m, variable);
		if (found)
			trc_types_member(&found->die, &member);
		m->parts_left = member.parts_left;
		answer->text = strdup(member.text);
		if (!answer->text)
			return "";
		answer->rest = member.offset;
	}
	*offset = answer->rest;
	return answer->text;
}
