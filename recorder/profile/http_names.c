/* http_names.c - see http_names.h */
#include <stdlib.h>
#include "http_names.h"

struct trc_http_names {
	const struct trc_encode_module *module;
	struct trc_module_list list;
	struct trc_names *names;
};

void trc_http_names_close(struct trc_http_names *n)
{
	n->module->names_close(n->names);
	free(n->list.module);
	free(n);
}

struct trc_http_names *trc_http_names_open(trc_http_list_fn *list_modules)
{
	struct trc_http_names *n = calloc(1, sizeof(*n));
	char why[200];

	if (!n)
		return NULL;
	n->module = trc_encode_load(why, sizeof(why));
	if (!n->module) {
		free(n);
		return NULL;
	}
	if (list_modules(&n->list) ||
	    n->module->names_open(&n->names, n->list.module, n->list.n_modules)) {
		trc_http_names_close(n);
		return NULL;
	}
	return n;
}

/* Behind the call is where it returns to. */
const char *trc_http_name(struct trc_http_names *n, uint64_t address)
{
	struct trc_symbol found[TRC_SYMBOL_INLINE_MAX];
	size_t n_found = n->module->names_find(n->names, 0, address + 1, found, NULL);

	return n_found ? found[n_found - 1].function : NULL;
}
