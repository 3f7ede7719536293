/*
 * dl.c - dlclose.  Context: any thread, may block.
 *
 * dlopen is not interposed: dlopen searches by its caller's RUNPATH, and the caller would be this
 * object.
 */
#include "operators.h"
#include "span.h"
#include "recorder/unwind/poison.h"

TRC_EXPORT int dlclose(void *handle)
{
	int result;

	trc_operators_keep();
	trc_modules_changing();
	trc_self.no_wait++; /* the loader's lock is held while destructors run */
	result = REAL(dlclose)(handle);
	trc_self.no_wait--;
	trc_modules_changed();
	return result;
}
