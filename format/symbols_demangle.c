/* symbols_demangle.c - see symbols_demangle.h. */
#include "symbols_demangle.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

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

/* The '(' that opens the parameters of name, or NULL: from the last ')' back to its partner. */
static char *find_parameters(char *name)
{
	char *close = strrchr(name, ')');
	int depth = 0;

	for (char *at = close; at && at >= name; at--) {
		if (*at == ')')
			depth++;
		else if (*at == '(' && --depth == 0)
			return at;
	}
	return NULL;
}

/* Where the name begins that a return type stands before (only templates have one). */
static char *skip_return_type(char *name)
{
	int depth = 0;
	char *start = name;

	for (char *at = name; *at; at++) {
		if (*at == '<' || *at == '(')
			depth++;
		else if (*at == '>' || *at == ')')
			depth--;
		else if (*at == ' ' && depth == 0)
			start = at + 1;
	}
	return start;
}

/* "int ns::f<int>(int) const" becomes "ns::f<int>".  Operators keep everything: their names
 * contain what this looks for. */
static void shorten(char *name)
{
	char *parameters = strstr(name, "operator") ? NULL : find_parameters(name);
	char *start;

	/* "(anonymous namespace)::x" and "{lambda(int)#1}::operator()" are no parameters. */
	if (!parameters || parameters == name || strpbrk(parameters, "{}") ||
	    strstr(parameters, "::_FUN"))
		return;
	if (!strncmp(parameters, "(anonymous", 10))
		return;
	*parameters = 0;
	start = skip_return_type(name);
	memmove(name, start, strlen(start) + 1);
}

char *trc_demangle(struct trc_demangler *demangler, const char *linkage)
{
	int status = -1;
	char *name;

	if (!demangler || strncmp(linkage, "_Z", 2) != 0)
		return NULL;
	name = demangler->demangle(linkage, NULL, NULL, &status);
	if (!name || status) {
		free(name);
		return NULL;
	}
	shorten(name);
	return name;
}
