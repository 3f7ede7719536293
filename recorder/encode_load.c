/* encode_load.c - loads libtrc-profile.so (encode.h). */
#include <pthread.h>
#include <stdio.h>
#include "encode.h"
#include "part.h"
#include "rec.h"

/* Guards what follows; nothing is locked inside but by the dynamic linker. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static const struct trc_encode_module *loaded;

static const struct trc_encode_module *load(char *why, size_t n_bytes)
{
	static const char file[] = "libtrc-profile.so";
	const struct trc_encode_module *module =
		trc_part_open(file, TRC_ENCODE_SYMBOL, why, n_bytes);

	if (!module || module->version == TRC_ENCODE_VERSION)
		return module;
	snprintf(why, n_bytes, "%s: not of this version of libtrc", file);
	return NULL;
}

const struct trc_encode_module *trc_encode_load(char *why, size_t n_bytes)
{
	const struct trc_encode_module *module;

	trc_self.quiet++;
	pthread_mutex_lock(&lock);
	if (!loaded)
		loaded = load(why, n_bytes);
	module = loaded;
	pthread_mutex_unlock(&lock);
	trc_self.quiet--;
	return module;
}
