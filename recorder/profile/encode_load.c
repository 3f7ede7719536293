/* encode_load.c - loads libtrc-profile.so (encode.h), for libtrc and trace-record. */
#include <stdatomic.h>
#include <stdio.h>
#include "encode.h"
#include "part.h"
#include "recorder/ring/rec.h"

/* NULL = not yet.  Whoever loads it finds the same; no lock is held meanwhile (part.h). */
static const struct trc_encode_module *_Atomic loaded;

static const struct trc_encode_module *part_load(char *why, size_t n_bytes)
{
	static const char file[] = "libtrc-profile.so";
	const struct trc_encode_module *module =
		trc_part_open(file, TRC_ENCODE_SYMBOL, why, n_bytes);

	if (!module || module->version == TRC_ENCODE_VERSION)
		return module;
	snprintf(why, n_bytes, "%s is of another version", file);
	return NULL;
}

const struct trc_encode_module *trc_encode_load(char *why, size_t n_bytes)
{
	/* acquire: pairs with the release below, of whoever has seen it loaded. */
	const struct trc_encode_module *module =
		atomic_load_explicit(&loaded, memory_order_acquire);

	if (module)
		return module;
	trc_self.quiet++;
	module = part_load(why, n_bytes);
	trc_self.quiet--;
	/* release: pairs with the acquire above. */
	if (module)
		atomic_store_explicit(&loaded, module, memory_order_release);
	return module;
}
