/* encode_load.c - finds and loads libtrc-profile.so (encode.h). */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "encode.h"
#include "rec.h"

enum { PATH_BYTES = 4096 };

/* Guards what follows; nothing is locked inside but by the dynamic linker. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static const struct trc_encode_module *loaded;

/* Beside this object (a build tree), in the directory of its own beside it (where both were
 * installed, or moved to), where it was meant to be installed. */
static bool find(char path[PATH_BYTES])
{
	static const char *const FORMAT[] = {"%.*slibtrc-profile.so", "%.*strc/libtrc-profile.so"};
	const char *slash;
	Dl_info info;

	if (dladdr((const void *)&loaded, &info) && info.dli_fname &&
	    (slash = strrchr(info.dli_fname, '/'))) {
		for (size_t i = 0; i < sizeof(FORMAT) / sizeof(*FORMAT); i++) {
			int n = snprintf(path, PATH_BYTES, FORMAT[i],
					 (int)(slash - info.dli_fname) + 1, info.dli_fname);

			if (n > 0 && n < PATH_BYTES && !access(path, R_OK))
				return true;
		}
	}
	snprintf(path, PATH_BYTES, "%s", TRC_PKGLIBDIR "/libtrc-profile.so");
	return !access(path, R_OK);
}

static const struct trc_encode_module *load(char *why, size_t n_bytes)
{
	const struct trc_encode_module *module;
	char path[PATH_BYTES];
	void *object;

	if (!find(path)) {
		snprintf(why, n_bytes, "%s: not found", path);
		return NULL;
	}
	object = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
	module = object ? dlsym(object, TRC_ENCODE_SYMBOL) : NULL;
	if (!module) {
		const char *error = dlerror();

		snprintf(why, n_bytes, "%s", error ? error : path);
		return NULL;
	}
	if (module->version != TRC_ENCODE_VERSION) {
		snprintf(why, n_bytes, "%s: not of this version of libtrc", path);
		return NULL;
	}
	return module;
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
