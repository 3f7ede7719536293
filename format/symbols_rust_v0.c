/*
 * symbols_rust_v0.c - see symbols_rust_v0.h.
 *
 *   rust:V1  a reference leads to before itself, and a nesting has at most NESTED_MAX levels, so that each name ends
 *   rust:V2  what is not told is read without following its references: the time is at most NESTED_MAX steps for
 *       each byte of the name and of what is told
 */
#include "symbols_rust_v0.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NESTED_MAX = 100, LIFETIMES_MAX = 1000 };

struct name {
	const char *text; /* behind "_R": references count from there */
	size_t n, at;
	char *out;
	size_t n_out;
	int nested;
	uint64_t n_lifetimes; /* that "for<'a, ...>" has brought into force */
	bool silent;	      /* what is read is not told */
	bool wrong;
};

static void tell_path(struct name *name);
static void tell_type(struct name *name);
static void tell_const(struct name *name);

static void tell_bytes(struct name *name, const char *text, size_t n)
{
	if (name->silent || name->wrong)
		return;
	if (n > TRC_RUST_NAME_BYTES - name->n_out) {
		name->wrong = true;
		return;
	}
	memcpy(name->out + name->n_out, text, n);
	name->n_out += n;
}

static void tell(struct name *name, const char *text)
{
	tell_bytes(name, text, strlen(text));
}

static void tell_number(struct name *name, uint64_t number)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRIu64, number);
	tell(name, text);
}

/* ---- what a name is made of ---- */

static char next(struct name *name)
{
	if (name->wrong || name->at == name->n) {
		name->wrong = true;
		return '\0';
	}
	return name->text[name->at++];
}

static bool take(struct name *name, char c)
{
	if (name->wrong || name->at == name->n || name->text[name->at] != c)
		return false;
	name->at++;
	return true;
}

static uint64_t times_and(struct name *name, uint64_t number, uint64_t by, uint64_t and)
{
	if (__builtin_mul_overflow(number, by, &number) ||
	    __builtin_add_overflow(number, and, &number))
		name->wrong = true;
	return number;
}

static uint64_t decimal(struct name *name)
{
	uint64_t number = 0;
	char c = next(name);

	if (c < '0' || c > '9')
		name->wrong = true;
	if (c == '0' || name->wrong)
		return 0;
	for (name->at--; name->at < name->n && isdigit((unsigned char)name->text[name->at]);
	     name->at++)
		number = times_and(name, number, 10, (uint64_t)(name->text[name->at] - '0'));
	return number;
}

/* "_" is 0, "0_" is 1, and so on, with 62 digits. */
static uint64_t base_62(struct name *name)
{
	uint64_t number = 0;

	if (take(name, '_'))
		return 0;
	while (!name->wrong) {
		char c = next(name);

		if (c == '_')
			return times_and(name, number, 1, 1);
		if (c >= '0' && c <= '9')
			number = times_and(name, number, 62, (uint64_t)(c - '0'));
		else if (c >= 'a' && c <= 'z')
			number = times_and(name, number, 62, (uint64_t)(c - 'a') + 10);
		else if (c >= 'A' && c <= 'Z')
			number = times_and(name, number, 62, (uint64_t)(c - 'A') + 36);
		else
			name->wrong = true;
	}
	return 0;
}

/* 0 = there is none. */
static uint64_t number_behind(struct name *name, char tag)
{
	return take(name, tag) ? times_and(name, base_62(name), 1, 1) : 0;
}

struct identifier {
	uint64_t number; /* tells apart what has the same name */
	const char *text;
	size_t n;
	bool is_punycode;
};

static struct identifier bare_identifier(struct name *name)
{
	struct identifier one = {.is_punycode = take(name, 'u')};
	uint64_t n = decimal(name);

	take(name, '_'); /* before a text that begins with a digit */
	if (name->wrong || n > name->n - name->at) {
		name->wrong = true;
		return (struct identifier){.text = ""};
	}
	one.text = name->text + name->at;
	one.n = (size_t)n;
	name->at += one.n;
	return one;
}

static struct identifier identifier(struct name *name)
{
	uint64_t number = number_behind(name, 's');
	struct identifier one = bare_identifier(name);

	one.number = number;
	return one;
}

static void tell_identifier(struct name *name, const struct identifier *one)
{
	if (one->is_punycode)
		tell(name, "punycode{");
	tell_bytes(name, one->text, one->n);
	if (one->is_punycode)
		tell(name, "}");
}

static void skip(struct name *name, void (*what)(struct name *name))
{
	bool silent = name->silent;

	name->silent = true;
	what(name);
	name->silent = silent;
}

/* V1, V2 */
static void refer(struct name *name, void (*what)(struct name *name))
{
	size_t from = name->at - 1, back;
	uint64_t to = base_62(name);

	if (to >= from)
		name->wrong = true;
	if (name->wrong || name->silent)
		return;
	back = name->at;
	name->at = (size_t)to;
	what(name);
	name->at = back;
}

static bool enter(struct name *name)
{
	if (name->nested++ >= NESTED_MAX)
		name->wrong = true;
	return !name->wrong;
}

/* ---- lifetimes ---- */

/* 0 is one that has no name, 1 the innermost. */
static void tell_lifetime(struct name *name, uint64_t number)
{
	uint64_t from_outside = name->n_lifetimes - number;

	if (number > name->n_lifetimes) {
		name->wrong = true;
		return;
	}
	tell(name, "'");
	if (!number) {
		tell(name, "_");
	} else if (from_outside < 26) {
		tell_bytes(name, &"abcdefghijklmnopqrstuvwxyz"[from_outside], 1);
	} else {
		tell(name, "_");
		tell_number(name, from_outside);
	}
}

/* "for<'a, 'b> ": how many; they are in force until the caller takes them back. */
static uint64_t tell_binder(struct name *name)
{
	uint64_t n = number_behind(name, 'G');

	if (n > LIFETIMES_MAX - name->n_lifetimes)
		name->wrong = true;
	if (!n || name->wrong)
		return 0;
	tell(name, "for<");
	for (uint64_t i = 0; i < n; i++) {
		if (i)
			tell(name, ", ");
		name->n_lifetimes++;
		tell_lifetime(name, 1);
	}
	tell(name, "> ");
	return n;
}

/* ---- types ---- */

static const char *basic_type(char tag)
{
	static const char *const TYPES[26] = {"i8",   "bool",  "char",	"f64", "str", "f32", NULL,
					      "u8",   "isize", "usize", NULL,  "i32", "u32", "i128",
					      "u128", "_",     NULL,	NULL,  "i16", "u16", "()",
					      "...",  NULL,    "i64",	"u64", "!"};

	return tag >= 'a' && tag <= 'z' ? TYPES[tag - 'a'] : NULL;
}

static void tell_reference(struct name *name, const char *before, const char *word)
{
	uint64_t lifetime = take(name, 'L') ? base_62(name) : 0;

	tell(name, before);
	if (lifetime) {
		tell_lifetime(name, lifetime);
		tell(name, " ");
	}
	tell(name, word);
	tell_type(name);
}

/* Up to an "E", with commas. */
static uint64_t tell_list(struct name *name, void (*what)(struct name *name))
{
	uint64_t n = 0;

	while (!name->wrong && !take(name, 'E')) {
		if (n++)
			tell(name, ", ");
		what(name);
	}
	return n;
}

static void tell_abi(struct name *name)
{
	struct identifier abi;

	tell(name, "extern \"");
	if (take(name, 'C')) {
		tell(name, "C");
	} else {
		abi = bare_identifier(name);
		for (size_t i = 0; i < abi.n; i++)
			tell_bytes(name, abi.text[i] == '_' ? "-" : &abi.text[i], 1);
	}
	tell(name, "\" ");
}

static void tell_function_type(struct name *name)
{
	uint64_t n = tell_binder(name);

	if (take(name, 'U'))
		tell(name, "unsafe ");
	if (take(name, 'K'))
		tell_abi(name);
	tell(name, "fn(");
	tell_list(name, tell_type);
	tell(name, ")");
	if (!take(name, 'u')) { /* it returns something */
		tell(name, " -> ");
		tell_type(name);
	}
	name->n_lifetimes -= n;
}

static void tell_argument(struct name *name)
{
	if (take(name, 'L'))
		tell_lifetime(name, base_62(name));
	else if (take(name, 'K'))
		tell_const(name);
	else
		tell_type(name);
}

/* A trait with its arguments, of which those by name stand behind it: true = the bracket is still open. */
static bool tell_open_path(struct name *name)
{
	bool open = false;
	size_t back;

	if (name->at < name->n && name->text[name->at] == 'B' && enter(name)) {
		size_t from = name->at++;
		uint64_t to = base_62(name);

		if (to >= from)
			name->wrong = true;
		back = name->at;
		if (!name->wrong && !name->silent) {
			name->at = (size_t)to;
			open = tell_open_path(name);
			name->at = back;
		}
		name->nested--;
		return open;
	}
	if (!take(name, 'I')) {
		tell_path(name);
		return false;
	}
	tell_path(name);
	tell(name, "<");
	tell_list(name, tell_argument);
	return true;
}

static void tell_trait(struct name *name)
{
	bool open = tell_open_path(name);

	while (take(name, 'p')) {
		struct identifier one;

		tell(name, open ? ", " : "<");
		open = true;
		one = bare_identifier(name);
		tell_identifier(name, &one);
		tell(name, " = ");
		tell_type(name);
	}
	if (open)
		tell(name, ">");
}

static void tell_dyn(struct name *name)
{
	uint64_t n, lifetime;

	tell(name, "dyn ");
	n = tell_binder(name);
	for (bool first = true; !name->wrong && !take(name, 'E'); first = false) {
		if (!first)
			tell(name, " + ");
		tell_trait(name);
	}
	name->n_lifetimes -= n;
	if (!take(name, 'L')) {
		name->wrong = true;
		return;
	}
	lifetime = base_62(name);
	if (lifetime) {
		tell(name, " + ");
		tell_lifetime(name, lifetime);
	}
}

static void tell_tuple(struct name *name)
{
	tell(name, "(");
	if (tell_list(name, tell_type) == 1)
		tell(name, ",");
	tell(name, ")");
}

static void tell_array(struct name *name)
{
	tell(name, "[");
	tell_type(name);
	tell(name, "; ");
	tell_const(name);
	tell(name, "]");
}

static void tell_slice(struct name *name)
{
	tell(name, "[");
	tell_type(name);
	tell(name, "]");
}

static void tell_type_of(struct name *name, char tag)
{
	if (basic_type(tag)) {
		tell(name, basic_type(tag));
		return;
	}
	switch (tag) {
	case 'A':
		tell_array(name);
		break;
	case 'S':
		tell_slice(name);
		break;
	case 'T':
		tell_tuple(name);
		break;
	case 'R':
		tell_reference(name, "&", "");
		break;
	case 'Q':
		tell_reference(name, "&", "mut ");
		break;
	case 'P':
		tell(name, "*const ");
		tell_type(name);
		break;
	case 'O':
		tell(name, "*mut ");
		tell_type(name);
		break;
	case 'F':
		tell_function_type(name);
		break;
	case 'D':
		tell_dyn(name);
		break;
	case 'B':
		refer(name, tell_type);
		break;
	default:
		name->at--;
		tell_path(name);
	}
}

static void tell_type(struct name *name)
{
	char tag = next(name);

	if (!name->wrong && enter(name))
		tell_type_of(name, tag);
	name->nested--;
}

/* ---- constants ---- */

/* Of so many hexadecimal digits, as they are if they are too many for a number. */
static void tell_digits(struct name *name, char type, const char *digits, size_t n)
{
	uint64_t number = 0;

	if (n > 16) {
		tell(name, "0x");
		tell_bytes(name, digits, n);
		return;
	}
	for (size_t i = 0; i < n; i++)
		number = number << 4 |
			 (uint64_t)(digits[i] <= '9' ? digits[i] - '0' : digits[i] - 'a' + 10);
	if (type == 'b') {
		tell(name, number ? "true" : "false");
	} else if (type == 'c' && number >= ' ' && number <= '~') {
		tell(name, "'");
		tell_bytes(name, &(char){(char)number}, 1);
		tell(name, "'");
	} else {
		tell_number(name, number);
	}
}

static void tell_value(struct name *name, char type)
{
	size_t from, n;

	if (!strchr("ahstlmxynoijbc",
		    type)) { /* of other types there is none, or compilers are free */
		name->wrong = true;
		return;
	}
	if (take(name, 'n'))
		tell(name, "-");
	from = name->at;
	n = strspn(name->text + from, "0123456789abcdef");
	name->at += n;
	if (!take(name, '_'))
		name->wrong = true;
	else
		tell_digits(name, type, name->text + from, n);
}

static void tell_const(struct name *name)
{
	char type = next(name);

	if (!name->wrong && enter(name)) {
		if (type == 'B')
			refer(name, tell_const);
		else if (type == 'p')
			tell(name, "_");
		else
			tell_value(name, type);
	}
	name->nested--;
}

/* ---- paths ---- */

static void tell_impl_path(struct name *name)
{
	number_behind(name, 's');
	tell_path(name);
}

/* "<Type as Trait>" */
static void tell_as(struct name *name)
{
	tell(name, "<");
	tell_type(name);
	tell(name, " as ");
	tell_path(name);
	tell(name, ">");
}

/* A reference may lead to any type: it is none here. */
static bool is_path_next(const struct name *name)
{
	return name->at < name->n && strchr("CMXYNI", name->text[name->at]);
}

static void tell_of_type(struct name *name)
{
	bool is_path;

	skip(name, tell_impl_path);
	is_path = is_path_next(name);
	tell(name, is_path ? "" : "<");
	tell_type(name);
	tell(name, is_path ? "" : ">");
}

/* "{closure#0}": what has no name of its own. */
static void tell_special(struct name *name, char space, const struct identifier *one)
{
	tell(name, "{");
	if (space == 'C')
		tell(name, "closure");
	else if (space == 'S')
		tell(name, "shim");
	else
		tell_bytes(name, &space, 1);
	if (one->n) {
		tell(name, ":");
		tell_identifier(name, one);
	}
	tell(name, "#");
	tell_number(name, one->number);
	tell(name, "}");
}

static void tell_nested(struct name *name)
{
	char space = next(name);
	struct identifier one;

	if (!isalpha((unsigned char)space)) {
		name->wrong = true;
		return;
	}
	tell_path(name);
	one = identifier(name);
	if (isupper((unsigned char)space)) {
		tell(name, "::");
		tell_special(name, space, &one);
	} else if (one.n) {
		tell(name, "::");
		tell_identifier(name, &one);
	}
}

static void tell_path_of(struct name *name, char tag)
{
	struct identifier one;

	switch (tag) {
	case 'C':
		one = identifier(name);
		tell_identifier(name, &one);
		break;
	case 'M':
		tell_of_type(name);
		break;
	case 'X':
		skip(name, tell_impl_path);
		tell_as(name);
		break;
	case 'Y':
		tell_as(name);
		break;
	case 'N':
		tell_nested(name);
		break;
	case 'I':
		tell_path(name);
		tell(name, "<");
		tell_list(name, tell_argument);
		tell(name, ">");
		break;
	case 'B':
		refer(name, tell_path);
		break;
	default:
		name->wrong = true;
	}
}

static void tell_path(struct name *name)
{
	char tag = next(name);

	if (!name->wrong && enter(name))
		tell_path_of(name, tag);
	name->nested--;
}

char *trc_rust_v0_name(const char *linkage)
{
	struct name name = {0};
	char *shorter;

	if (strncmp(linkage, "_R", 2) != 0 || !isupper((unsigned char)linkage[2]))
		return NULL;
	name.text = linkage + 2;
	name.n = strcspn(name.text, ".$"); /* what a compiler added to it */
	name.out = malloc(TRC_RUST_NAME_BYTES + 1);
	if (!name.out)
		return NULL;
	tell_path(&name);
	if (name.at < name.n) /* the crate that needed it */
		skip(&name, tell_path);
	if (name.wrong || name.at < name.n || !name.n_out) {
		free(name.out);
		return NULL;
	}
	name.out[name.n_out] = '\0';
	shorter = realloc(name.out, name.n_out + 1);
	return shorter ? shorter : name.out;
}
