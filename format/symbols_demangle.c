/* symbols_demangle.c - see symbols_demangle.h. */
#include "symbols_demangle.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include "symbols_rust.h"
#include "symbols_rust_v0.h"

/* As the C++ ABI has it: the result is malloc()ed. */
typedef char *demangle_fn(const char *name, char *buffer, size_t *n_bytes, int *status);

struct trc_demangler {
	void *library;
	demangle_fn *demangle;
};

struct trc_demangler *trc_demangler_open(void)
{
	static const char *const LIBRARIES[] = {"libstdc++.so.6", "libc++abi.so.1"};
	struct trc_demangler *demangler = calloc(1, sizeof(*demangler));

	for (size_t i = 0; demangler && i < sizeof(LIBRARIES) / sizeof(*LIBRARIES); i++) {
		void *library = dlopen(LIBRARIES[i], RTLD_LAZY | RTLD_LOCAL);
		void *symbol = library ? dlsym(library, "__cxa_demangle") : NULL;

		if (symbol) {
			demangler->library = library;
			memcpy(&demangler->demangle, &symbol, sizeof(symbol));
			return demangler;
		}
		if (library)
			dlclose(library);
	}
	free(demangler);
	return NULL;
}

void trc_demangler_close(struct trc_demangler *demangler)
{
	if (!demangler)
		return;
	dlclose(demangler->library);
	free(demangler);
}

/* The bytes of the operator that follows "operator", as in "operator<<"; 0 = it is a word. */
static size_t operator_bytes(const char *at)
{
	static const char *const OPERATORS[] = {
		"()", "[]", "<=>", "<<=", ">>=", "->*", "->", "<<", ">>", "<=", ">=", "==", "!=",
		"&&", "||", "++",  "--",  "+=",	 "-=",	"*=", "/=", "%=", "^=", "&=", "|=", "<",
		">",  "+",  "-",   "*",	  "/",	 "%",	"^",  "&",  "|",  "~",	"!",  "=",  ","};

	for (size_t i = 0; i < sizeof(OPERATORS) / sizeof(*OPERATORS); i++)
		if (!strncmp(at, OPERATORS[i], strlen(OPERATORS[i])))
			return strlen(OPERATORS[i]);
	return 0;
}

/* Behind the bracket that closes the one at `at`, of whatever kind; NULL = none does. */
static const char *behind_brackets(const char *at)
{
	int depth = 0;

	for (; *at; at++) {
		if (!strncmp(at, "operator", 8) && operator_bytes(at + 8)) {
			at += 8 + operator_bytes(at + 8) - 1;
			continue;
		}
		depth += strchr("(<{[", *at) != NULL;
		depth -= strchr(")>}]", *at) != NULL;
		if (!depth)
			return at + 1;
	}
	return NULL;
}

/* Behind what may follow the parameters of a member. */
static const char *behind_qualifiers(const char *at)
{
	static const char *const QUALIFIERS[] = {" const", " volatile", " noexcept", " &&", " &"};

	for (size_t i = 0; i < sizeof(QUALIFIERS) / sizeof(*QUALIFIERS); i++) {
		if (strncmp(at, QUALIFIERS[i], strlen(QUALIFIERS[i])) != 0)
			continue;
		at += strlen(QUALIFIERS[i]);
		i = (size_t)-1; /* from the first again */
	}
	return at;
}

static bool is_word_byte(char c)
{
	return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
	       (c >= 'A' && c <= 'Z');
}

/*
 * Without parameters and return types: "int ns::f<int>(int) const" becomes "ns::f<int>", and
 * "main::{lambda(int)#1}::operator()(int) const" "main::{lambda(int)#1}::operator()".  `out` has room
 * for all of name.  False: it is not understood.
 */
static bool shorten(const char *name, char *out)
{
	const char *at = name, *next;
	size_t n = 0, n_operator;

	while (*at) {
		if (!strncmp(at, "operator", 8) && !is_word_byte(at[8]) &&
		    (at == name || !is_word_byte(at[-1]))) {
			n_operator = operator_bytes(at + 8);
			/* "operator new", "operator unsigned int" */
			if (!n_operator)
				n_operator = strcspn(at + 8, "(");
			memcpy(out + n, at, 8 + n_operator);
			n += 8 + n_operator;
			at += 8 + n_operator;
		} else if (!strncmp(at, " [clone", 7)) {
			break;
		} else if (*at == ' ') { /* what was before is the type that it returns */
			n = 0;
			at++;
		} else if (strchr("(<{[", *at)) {
			next = behind_brackets(at);
			if (!next)
				return false;
			if (*at == '(' && strncmp(at, "(anonymous namespace)", 21) != 0) {
				at = behind_qualifiers(next);
				if (*at && strncmp(at, "::", 2) != 0 &&
				    strncmp(at, " [clone", 7) != 0)
					return false;
				continue;
			}
			memcpy(out + n, at, (size_t)(next - at));
			n += (size_t)(next - at);
			at = next;
		} else {
			out[n++] = *at++;
		}
	}
	out[n] = '\0';
	return n != 0;
}

/* What the demangler says of things that are no functions has words before the name. */
static size_t words_before(const char *name)
{
	static const char *const WORDS[] = {"guard variable for ",
					    "vtable for ",
					    "VTT for ",
					    "typeinfo for ",
					    "typeinfo name for ",
					    "TLS init function for ",
					    "TLS wrapper function for "};

	for (size_t i = 0; i < sizeof(WORDS) / sizeof(*WORDS); i++)
		if (!strncmp(name, WORDS[i], strlen(WORDS[i])))
			return strlen(WORDS[i]);
	return 0;
}

/*
 * NULL = it is not understood.  LLVM puts ".llvm.16089197610755089443" behind names that it has to
 * make unique; libstdc++'s demangler does not read so large a number.
 */
static char *demangle(struct trc_demangler *demangler, const char *linkage)
{
	const char *suffix = strstr(linkage, ".llvm.");
	char *bare = suffix ? strndup(linkage, (size_t)(suffix - linkage)) : NULL;
	int status = -1;
	char *name = NULL;

	if (bare || !suffix)
		name = demangler->demangle(bare ? bare : linkage, NULL, NULL, &status);
	free(bare);
	if (!status)
		return name;
	free(name);
	return NULL;
}

char *trc_demangle(struct trc_demangler *demangler, const char *linkage)
{
	char *name, *shorter;
	size_t n_words;

	if (!strncmp(linkage, "_R", 2))
		return trc_rust_v0_name(linkage);
	if (!demangler || strncmp(linkage, "_Z", 2) != 0)
		return NULL;
	name = demangle(demangler, linkage);
	if (!name)
		return NULL;
	if (trc_rust_name(name))
		return name;
	n_words = words_before(name);
	shorter = malloc(strlen(name) + 1);
	if (!shorter || !shorten(name + n_words, shorter + n_words)) {
		free(shorter);
		return name;
	}
	memcpy(shorter, name, n_words);
	free(name);
	return shorter;
}
