/* http_symbol.c - names for addresses, as pprof -symbolize=remote asks for them. */
#include <stdlib.h>
#include <string.h>
#include "http_reply.h"

static int digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* "0x401000" or "4198400" in [at, end); 0 = not a number, or none that is an address. */
static uint64_t address_of(const char *at, const char *end)
{
	unsigned int base = 10;
	uint64_t n = 0;

	if (end - at > 2 && at[0] == '0' && (at[1] | 0x20) == 'x') {
		base = 16;
		at += 2;
	}
	for (; at < end; at++) {
		int d = digit(*at);

		if (d < 0 || (unsigned int)d >= base || n > (UINT64_MAX - (unsigned int)d) / base)
			return 0;
		n = n * base + (unsigned int)d;
	}
	return n;
}

static void add_symbol(const struct trc_http_source *source, struct trc_http_names *names,
		       uint64_t address, struct trc_http_reply *r)
{
	const char *name = address ? source->name(names, address) : NULL;

	if (!name)
		return;
	trc_http_addf(r, "%#llx ", (unsigned long long)address);
	trc_http_add(r, name, strcspn(name, "\r\n"));
	trc_http_addf(r, "\n");
}

void trc_http_symbols(const struct trc_http_source *source, const char *pcs, size_t n_bytes,
		      struct trc_http_reply *r)
{
	struct trc_http_names *names = n_bytes ? source->names_open() : NULL;
	const char *end = pcs + n_bytes, *at = pcs;

	/* How many there are nobody asks: 0 says that there is no such service. */
	trc_http_addf(r, "num_symbols: 1\n");
	while (names && at < end) {
		const char *plus = memchr(at, '+', (size_t)(end - at));
		const char *stop = plus ? plus : end;

		add_symbol(source, names, address_of(at, stop), r);
		at = stop + 1;
	}
	if (names)
		source->names_close(names);
}
