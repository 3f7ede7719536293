/*
 * setup.c - chooses how stacks are captured, and does the work that may block.
 *
 *   setup:S1  `setup` guards every change of the mode and of the module list; it is taken with no
 *       other lock of trc held
 */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <string.h>
#include "unwind.h"
#include "cache.h"
#include "kept.h"
#include "memory.h"
#include "mode.h"
#include "module.h"

struct trc_unwind_how trc_unwind_how = {.mode = TRC_UNWIND_NONE};
static pthread_mutex_t setup = PTHREAD_MUTEX_INITIALIZER;

static const char *const mode_names[] = {
	[TRC_UNWIND_AUTO] = "auto",	      [TRC_UNWIND_FP] = "fp",
	[TRC_UNWIND_LIBUNWIND] = "libunwind", [TRC_UNWIND_CFI] = "cfi",
	[TRC_UNWIND_NONE] = "none",
};

bool trc_unwind_mode_parse(const char *name, enum trc_unwind_mode *mode)
{
	for (uint32_t i = 0; i < sizeof(mode_names) / sizeof(mode_names[0]); i++) {
		if (strcmp(name, mode_names[i]) == 0) {
			*mode = (enum trc_unwind_mode)i;
			return true;
		}
	}
	return false;
}

const char *trc_unwind_mode_name(enum trc_unwind_mode mode)
{
	return mode_names[mode];
}

/* Context: any thread, may block, with `setup` held. */
static bool libunwind_open(void)
{
	/* RTLD_LOCAL: as a global it would take over the unwinding of C++ exceptions. */
	void *library = dlopen("libunwind.so.8", RTLD_LOCAL | RTLD_NOW);
	void *symbol = library ? dlsym(library, "unw_backtrace") : NULL;
	trc_backtrace_fn *backtrace;
	void *address[4];

	memcpy(&backtrace, &symbol, sizeof(backtrace));
	if (!backtrace)
		return false;
	backtrace(address, 4); /* what it sets up at first use, it sets up now */
	/* relaxed: published by the mode. */
	atomic_store_explicit(&trc_unwind_how.backtrace, backtrace, memory_order_relaxed);
	return true;
}

/* Context: any thread, may block, with `setup` held. */
static int mode_prepare(enum trc_unwind_mode *mode, const char **note)
{
	int err;

	if (*mode == TRC_UNWIND_NONE)
		return 0;
	err = trc_cache_setup();
	if (!err)
		err = trc_module_setup(false);
	if (err)
		return err;
	trc_range_setup();
	trc_kept_setup(); /* without it stacks are walked each time */
	if (*mode == TRC_UNWIND_LIBUNWIND && !libunwind_open()) {
		*note = "libunwind.so.8 cannot be loaded: unwinding by rules instead";
		*mode = TRC_UNWIND_AUTO;
	}
	return 0;
}

int trc_unwind_setup(enum trc_unwind_mode mode, const char **note)
{
	int err;

	*note = NULL;
	pthread_mutex_lock(&setup);
	err = mode_prepare(&mode, note);
	/* release: pairs with the acquire in each capture: all that the mode needs is there. */
	atomic_store_explicit(&trc_unwind_how.mode, err ? TRC_UNWIND_NONE : mode,
			      memory_order_release);
	pthread_mutex_unlock(&setup);
	return err;
}

void trc_unwind_thread(size_t stack_bytes)
{
	trc_range_thread(stack_bytes);
}

void trc_unwind_modules_changed(void)
{
	pthread_mutex_lock(&setup);
	trc_module_refresh();
	trc_cache_forget();
	pthread_mutex_unlock(&setup);
}
