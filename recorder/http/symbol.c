/* symbol.c - names for addresses, as pprof -symbolize=remote asks for them. */
#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include "format/hex.h"
#include "format/raw.h"
#include "reply.h"

enum {
	NAME_BYTES_MAX = 512, /* of templates there are any number */
	TURN_NS = 10000000,
};

/* "0x401000" or "4198400" in [at, end); 0 = not a number, or none that is an address. */
static uint64_t address_parse(const char *at, const char *end)
{
	unsigned int base = 10;
	uint64_t n = 0;

	if (end - at > 2 && at[0] == '0' && (at[1] | 0x20) == 'x') {
		base = 16;
		at += 2;
	}
	for (; at < end; at++) {
		int d = trc_hex_digit(*at);

		if (d < 0 || (unsigned int)d >= base || n > (UINT64_MAX - (unsigned int)d) / base)
			return 0;
		n = n * base + (unsigned int)d;
	}
	return n;
}

/* 0, or a negative errno of trc_http_add(). */
static int add_symbol(const struct trc_http_source *source, struct trc_http_names *names,
		      uint64_t address, struct trc_http_reply *r)
{
	const char *name = address ? source->name(names, address) : NULL;
	size_t n_bytes = name ? strcspn(name, "\r\n") : 0;

	if (!name)
		return 0;
	trc_http_addf(r, "%#llx ", (unsigned long long)address);
	trc_http_add(r, name, n_bytes < NAME_BYTES_MAX ? n_bytes : NAME_BYTES_MAX);
	return trc_http_addf(r, "\n");
}

/* Who has a process's names open has much of its files in memory: one at a time.  The process whose
 * turn it is; a forked child does not wait for its parent's. */
static _Atomic uint32_t turn;

static bool take_turn(const struct trc_http_wait *wait)
{
	uint32_t self = (uint32_t)trc_raw1(SYS_getpid, 0);

	for (;;) {
		/* relaxed: nothing but this is published by it. */
		uint32_t is = atomic_load_explicit(&turn, memory_order_relaxed);

		if (is != self &&
		    atomic_compare_exchange_strong_explicit(&turn, &is, self, memory_order_relaxed,
							    memory_order_relaxed))
			return true;
		if (!wait->wait(wait->context, TURN_NS))
			return false;
	}
}

/* 0, -ECANCELED, or a negative errno of trc_http_add(). */
static int add_symbols(const struct trc_http_source *source, struct trc_http_names *names,
		       const char *at, const char *end, const struct trc_http_wait *wait,
		       struct trc_http_reply *r)
{
	int err = 0;

	while (!err && at < end) {
		const char *plus = memchr(at, '+', (size_t)(end - at));
		const char *stop = plus ? plus : end;

		if (!wait->wait(wait->context, 0))
			return -ECANCELED;
		err = add_symbol(source, names, address_parse(at, stop), r);
		at = stop + 1;
	}
	return err;
}

void trc_http_symbols(const struct trc_http_source *source, const char *pcs, size_t n_bytes,
		      const struct trc_http_wait *wait, struct trc_http_reply *r)
{
	struct trc_http_names *names = NULL;
	int err = 0;

	/* How many there are nobody asks: 0 says that there is no such service. */
	trc_http_addf(r, "num_symbols: 1\n");
	if (!n_bytes)
		return;
	if (!take_turn(wait)) {
		trc_http_fail(r, 503, "given up");
		return;
	}
	names = source->names_open();
	if (names) {
		err = add_symbols(source, names, pcs, pcs + n_bytes, wait, r);
		source->names_close(names);
	}
	atomic_store_explicit(&turn, 0, memory_order_relaxed);
	if (err)
		trc_http_fail(r, err == -ECANCELED ? 503 : 500, "given up: %s", strerror(-err));
}
