/*
 * symbols_scopes.c - see symbols_scopes.h.
 *
 * Lambdas have no name in DWARF. Lambdas are numbered within the function that contains them,
 * from 1, in the order of the source, as gcc numbers lambdas in linkage names: from gcc 13 on
 * (version 18 of its ABI) lambdas with the same parameters, before all lambdas together. clang
 * gives inlined functions linkage names, too. A generic lambda has an operator for each list of
 * types that it is called with; its parameters are called as demanglers do,
 * "{lambda(auto:1&&)#3}".
 *
 * In the name of a template gcc calls all lambdas "<lambda()>": its arguments are put anew, with
 * numbers.
 */
#include "symbols_scopes.h"

#include <dwarf.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH_MAX = 64, NAME_BYTES_MAX = 4096 };

/* A function's place in DWARF, and its name or NULL. */
struct known {
	Dwarf_Off at;
	char *name;
};

struct trc_scopes {
	struct known *known; /* by place */
	size_t n, room;
};

/* A name that grows; what does not fit is cut. */
struct text {
	char bytes[NAME_BYTES_MAX];
	size_t n;
};

struct trc_scopes *trc_scopes_open(void)
{
	return calloc(1, sizeof(struct trc_scopes));
}

void trc_scopes_close(struct trc_scopes *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->n; i++)
		free(s->known[i].name);
	free(s->known);
	free(s);
}

static void scope_text_put(struct text *t, const char *text)
{
	size_t n_bytes = strnlen(text, sizeof(t->bytes) - 1 - t->n);

	memcpy(t->bytes + t->n, text, n_bytes);
	t->n += n_bytes;
	t->bytes[t->n] = '\0';
}

static const char *die_name_or_origins(Dwarf_Die *die)
{
	Dwarf_Attribute attribute;
	const char *name = dwarf_formstring(dwarf_attr_integrate(die, DW_AT_name, &attribute));

	return name && *name ? name : NULL;
}

void trc_scopes_declaration(Dwarf_Die *die)
{
	Dwarf_Attribute attribute;
	Dwarf_Die origin;

	for (int i = 0; i < DEPTH_MAX; i++) {
		if (!dwarf_formref_die(dwarf_attr(die, DW_AT_abstract_origin, &attribute),
				       &origin) &&
		    !dwarf_formref_die(dwarf_attr(die, DW_AT_specification, &attribute), &origin))
			return;
		*die = origin;
	}
}

static bool scope_is_class(int tag)
{
	return tag == DW_TAG_class_type || tag == DW_TAG_structure_type || tag == DW_TAG_union_type;
}

/* "operator()"; of a generic lambda one for each list of types, "operator()<int>". */
static bool is_call_operator(const char *name)
{
	static const char CALL[] = "operator()";
	size_t n = sizeof(CALL) - 1;

	return name && !strncmp(name, CALL, n) && (!name[n] || name[n] == '<');
}

/* A generic lambda that is never called has no operator, only what gcc calls its constructor. */
static bool is_of_lambda(const char *name)
{
	return is_call_operator(name) ||
	       (name && (!strcmp(name, "<lambda>") || !strcmp(name, "~<lambda>")));
}

/* The first such function of a class without a name; false: there is none. */
static bool member_of(Dwarf_Die *die, bool (*is_it)(const char *), Dwarf_Die *member)
{
	if (!scope_is_class(dwarf_tag(die)) || die_name_or_origins(die) ||
	    dwarf_child(die, member) != 0)
		return false;
	do {
		if (dwarf_tag(member) == DW_TAG_subprogram && is_it(die_name_or_origins(member)))
			return true;
	} while (dwarf_siblingof(member, member) == 0);
	return false;
}

/* Line and column. */
static uint64_t place_in_source(Dwarf_Die *die)
{
	int line = 0, column = 0;

	dwarf_decl_line(die, &line);
	dwarf_decl_column(die, &column);
	return (uint64_t)(unsigned int)line << 32 | (unsigned int)column;
}

static bool put_scopes(struct text *t, Dwarf_Die die, int depth);

/* As demanglers call the types of the language. */
static const char *base_type(const char *name)
{
	static const char *const NAMES[][2] = {
		{"long int", "long"},		{"long unsigned int", "unsigned long"},
		{"short int", "short"},		{"short unsigned int", "unsigned short"},
		{"long long int", "long long"}, {"long long unsigned int", "unsigned long long"},
	};

	for (size_t i = 0; name && i < sizeof(NAMES) / sizeof(*NAMES); i++)
		if (!strcmp(name, NAMES[i][0]))
			return NAMES[i][1];
	return name ? name : "?";
}

static bool die_type(Dwarf_Die *die, Dwarf_Die *type)
{
	Dwarf_Attribute attribute;

	return dwarf_formref_die(dwarf_attr_integrate(die, DW_AT_type, &attribute), type) != NULL;
}

/* What "auto" stands for in the parameters of a generic lambda. */
struct generic {
	Dwarf_Off type;
	unsigned int number; /* from 1 */
};

/* The type of `die`, which has one; `generic` may be NULL. */
static void put_type(struct text *t, Dwarf_Die *die, const struct generic *generic, int depth)
{
	const char *after = NULL;
	Dwarf_Die type;
	char name[24];

	if (depth > DEPTH_MAX)
		return;
	if (!die_type(die, &type)) {
		scope_text_put(t, "void");
		return;
	}
	if (generic && dwarf_dieoffset(&type) == generic->type) {
		snprintf(name, sizeof(name), "auto:%u%s", generic->number,
			 dwarf_tag(&type) == DW_TAG_reference_type ? "&&" : "");
		scope_text_put(t, name);
		return;
	}
	switch (dwarf_tag(&type)) {
	case DW_TAG_base_type:
		scope_text_put(t, base_type(die_name_or_origins(&type)));
		return;
	case DW_TAG_typedef:
		break;
	case DW_TAG_const_type:
		after = " const";
		break;
	case DW_TAG_volatile_type:
		after = " volatile";
		break;
	case DW_TAG_pointer_type:
		after = "*";
		break;
	case DW_TAG_reference_type:
		after = "&";
		break;
	case DW_TAG_rvalue_reference_type:
		after = "&&";
		break;
	default:
		put_scopes(t, type, depth + 1);
		return;
	}
	put_type(t, &type, generic, depth + 1);
	scope_text_put(t, after ? after : "");
}

/* gcc lists the template parameters of a generic lambda's operator twice. */
static bool name_is_again(const char **first, const char *name)
{
	if (!*first) {
		*first = name;
		return false;
	}
	return name && !strcmp(*first, name);
}

/* The next "auto" of a generic lambda, behind `at` children of the operator; false: there is
 * none. */
static bool next_generic(Dwarf_Die *call, unsigned int *at, struct generic *generic)
{
	const char *first = NULL;
	unsigned int n = 0;
	Dwarf_Die child, type;

	if (dwarf_child(call, &child) != 0)
		return false;
	do {
		const char *name = die_name_or_origins(&child);

		n++;
		if (dwarf_tag(&child) != DW_TAG_template_type_parameter || !name)
			continue;
		if (name_is_again(&first, name))
			return false;
		if (n <= *at || strncmp(name, "auto:", 5) != 0 || !die_type(&child, &type))
			continue;
		*at = n;
		generic->type = dwarf_dieoffset(&type);
		generic->number++;
		return true;
	} while (dwarf_siblingof(&child, &child) == 0);
	return false;
}

/* Whether the parameter's type is made of what "auto" stands for. */
static bool is_generic(Dwarf_Die *parameter, const struct generic *generic)
{
	Dwarf_Die die = *parameter, type;

	for (int i = 0; i < DEPTH_MAX && die_type(&die, &type); i++) {
		if (dwarf_dieoffset(&type) == generic->type)
			return true;
		switch (dwarf_tag(&type)) {
		case DW_TAG_const_type:
		case DW_TAG_volatile_type:
		case DW_TAG_pointer_type:
		case DW_TAG_reference_type:
		case DW_TAG_rvalue_reference_type:
			die = type;
			break;
		default:
			return false;
		}
	}
	return false;
}

/* The parameters of a lambda's operator. */
static void put_parameters(struct text *t, Dwarf_Die *call, int depth)
{
	struct generic generic = {0, 0};
	unsigned int at = 0;
	bool more = next_generic(call, &at, &generic);
	const char *separator = "";
	Dwarf_Die child;

	if (dwarf_child(call, &child) != 0)
		return;
	do {
		bool is_auto;

		if (dwarf_tag(&child) != DW_TAG_formal_parameter ||
		    dwarf_hasattr(&child, DW_AT_artificial))
			continue;
		is_auto = more && is_generic(&child, &generic);
		scope_text_put(t, separator);
		put_type(t, &child, is_auto ? &generic : NULL, depth);
		if (is_auto)
			more = next_generic(call, &at, &generic);
		separator = ", ";
	} while (dwarf_siblingof(&child, &child) == 0);
}

/* True: it numbers lambdas by parameters. */
static bool numbers_by_parameters(Dwarf_Die *die)
{
	static const char ABI[] = "-fabi-version=";
	Dwarf_Attribute attribute;
	const char *producer, *abi;
	Dwarf_Die unit;

	producer = dwarf_formstring(
		dwarf_attr(dwarf_diecu(die, &unit, NULL, NULL), DW_AT_producer, &attribute));
	if (!producer || strncmp(producer, "GNU ", 4) != 0) /* "GNU C++17 13.2.0 ..." */
		return false;
	abi = strstr(producer, ABI);
	if (abi && strtoul(abi + strlen(ABI), NULL, 10)) /* 0 = the latest */
		return strtoul(abi + strlen(ABI), NULL, 10) >= 18;
	producer = strchr(producer + 4, ' ');
	return producer && strtoul(producer, NULL, 10) >= 13;
}

/* A lambda that gets its number. */
struct numbered {
	uint64_t place;
	const struct text *parameters; /* NULL = others count whatever theirs are */
};

static bool has_parameters(Dwarf_Die *lambda, const struct text *parameters)
{
	struct text t = {.n = 0};
	Dwarf_Die call;

	if (!member_of(lambda, is_call_operator, &call))
		return false;
	put_parameters(&t, &call, 0);
	return !strcmp(t.bytes, parameters->bytes);
}

/* How many lambdas of `scope` and its blocks stand in the source before that one. */
static unsigned int lambdas_before(Dwarf_Die *scope, const struct numbered *one, int depth)
{
	Dwarf_Die child, member;
	unsigned int n = 0;

	if (depth > DEPTH_MAX || dwarf_child(scope, &child) != 0)
		return 0;
	do {
		if (dwarf_tag(&child) == DW_TAG_lexical_block)
			n += lambdas_before(&child, one, depth + 1);
		else if (member_of(&child, is_of_lambda, &member) &&
			 place_in_source(&child) < one->place)
			n += !one->parameters || has_parameters(&child, one->parameters);
	} while (dwarf_siblingof(&child, &child) == 0);
	return n;
}

/* "{lambda(int)#2}" */
static void put_lambda(struct text *t, Dwarf_Die *lambda, Dwarf_Die *call, Dwarf_Die *scope,
		       int depth)
{
	struct text parameters = {.n = 0};
	const struct numbered one = {place_in_source(lambda),
				     numbers_by_parameters(lambda) ? &parameters : NULL};
	char number[24];

	put_parameters(&parameters, call, depth);
	scope_text_put(t, "{lambda(");
	scope_text_put(t, parameters.bytes);
	snprintf(number, sizeof(number), ")#%u}", 1 + lambdas_before(scope, &one, 0));
	scope_text_put(t, number);
}

/* Of a template, or of a pack of its parameters; false: one of them is no type. */
static bool put_arguments(struct text *t, Dwarf_Die *die, const char **separator, int depth)
{
	const char *first = NULL;
	Dwarf_Die child;

	if (depth > DEPTH_MAX)
		return false;
	if (dwarf_child(die, &child) != 0)
		return true;
	do {
		switch (dwarf_tag(&child)) {
		case DW_TAG_template_type_parameter:
			if (name_is_again(&first, die_name_or_origins(&child)))
				return true;
			scope_text_put(t, *separator);
			*separator = ", ";
			put_type(t, &child, NULL, depth + 1);
			break;
		case DW_TAG_GNU_template_parameter_pack:
			if (!put_arguments(t, &child, separator, depth + 1))
				return false;
			break;
		case DW_TAG_template_value_parameter:
		case DW_TAG_GNU_template_template_param:
			return false;
		default:
			break;
		}
	} while (dwarf_siblingof(&child, &child) == 0);
	return true;
}

static void cut(struct text *t, size_t n)
{
	t->n = n;
	t->bytes[n] = '\0';
}

/* The name of `die`, without what it lies in.  True: it is not the one in DWARF. */
static bool put_own_name(struct text *t, Dwarf_Die *die, int depth)
{
	const char *name = die_name_or_origins(die), *arguments, *separator = "";
	size_t before = t->n, bare;

	scope_text_put(t, name);
	/* "operator()<...>", but neither operator< nor the lambda's own constructor. */
	arguments = strncmp(name, "operator<", 9) != 0 ? strchr(name, '<') : NULL;
	if (!arguments || arguments == name || !strstr(arguments, "<lambda("))
		return false;
	bare = before + (size_t)(arguments - name) + 1;
	if (t->n != before + strlen(name))
		return false;
	cut(t, bare);
	if (put_arguments(t, die, &separator, depth) && *separator) {
		scope_text_put(t, t->bytes[t->n - 1] == '>' ? " >" : ">");
		return true;
	}
	cut(t, before);
	scope_text_put(t, name);
	return false;
}

static bool is_scope(int tag)
{
	return tag == DW_TAG_namespace || tag == DW_TAG_subprogram || scope_is_class(tag);
}

/* Puts the names of what `die` lies in, and its own; the parts are separated by "::".  False:
 * that is DWARF's name. */
static bool put_scopes(struct text *t, Dwarf_Die die, int depth)
{
	Dwarf_Die *scope = NULL, outer, call;
	int n, at = 1;
	bool is_in, is_own = false;

	if (depth > DEPTH_MAX)
		return false;
	trc_scopes_declaration(&die);
	n = dwarf_getscopes_die(&die, &scope);
	while (at < n && !is_scope(dwarf_tag(&scope[at])))
		at++;
	is_in = at < n;
	outer = is_in ? scope[at] : n > 0 ? scope[n - 1] : die;
	free(scope);
	if (is_in) {
		put_scopes(t, outer, depth + 1);
		scope_text_put(t, "::");
	}
	if (member_of(&die, is_call_operator, &call))
		put_lambda(t, &die, &call, &outer, depth + 1);
	else if (die_name_or_origins(&die))
		is_own = put_own_name(t, &die, depth + 1);
	else
		scope_text_put(t, dwarf_tag(&die) == DW_TAG_namespace ? "(anonymous namespace)"
								      : "{unnamed}");
	return is_in || is_own;
}

static bool is_cxx(Dwarf_Die *die)
{
	Dwarf_Die unit;

	switch (dwarf_srclang(dwarf_diecu(die, &unit, NULL, NULL))) {
	case DW_LANG_C_plus_plus:
	case DW_LANG_C_plus_plus_03:
	case DW_LANG_C_plus_plus_11:
	case DW_LANG_C_plus_plus_14:
	case 0x002b: /* DW_LANG_C_plus_plus_17 */
	case 0x002c: /* DW_LANG_C_plus_plus_20 */
		return true;
	default:
		return false;
	}
}

/* Where this place is, or belongs. */
static size_t scope_place(const struct trc_scopes *s, Dwarf_Off at)
{
	size_t low = 0, high = s->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (s->known[middle].at < at)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

const char *trc_scopes_name(struct trc_scopes *s, Dwarf_Die *function)
{
	Dwarf_Die die = *function;
	struct text t = {.n = 0};
	size_t i;

	if (!s || !is_cxx(function))
		return NULL;
	trc_scopes_declaration(&die);
	i = scope_place(s, dwarf_dieoffset(&die));
	if (i < s->n && s->known[i].at == dwarf_dieoffset(&die))
		return s->known[i].name;
	if (s->n == s->room) {
		size_t room = s->room ? 2 * s->room : 64;
		struct known *grown = reallocarray(s->known, room, sizeof(*grown));

		if (!grown)
			return NULL;
		s->known = grown;
		s->room = room;
	}
	memmove(&s->known[i + 1], &s->known[i], (s->n - i) * sizeof(*s->known));
	s->n++;
	s->known[i] = (struct known){dwarf_dieoffset(&die),
				     put_scopes(&t, die, 0) ? strdup(t.bytes) : NULL};
	return s->known[i].name;
}
