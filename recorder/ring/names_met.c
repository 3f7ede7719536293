/* names_met.c - see names_met.h.  Context: traced thread, signal handlers. */
#include "names_met.h"
#include "recorder/unwind/poison.h"

__thread _Atomic uint64_t trc_name_hint[TRC_NAME_HINTS] __attribute__((tls_model("initial-exec")));

uint64_t trc_name_intern(const char *text, uint32_t n_bytes)
{
	/* Of before: a handler that comes here may begin another session. */
	uint64_t session = trc_self.session;
	uint64_t id = trc_name_met(text, n_bytes, (uint32_t)session);
	_Atomic uint64_t *hint = trc_name_hints(text);

	if (id)
		return id;
	id = trc_string_intern(text, n_bytes);
	if (!id)
		return 0;
	atomic_store_explicit(&hint[1], atomic_load_explicit(&hint[0], memory_order_relaxed),
			      memory_order_relaxed);
	atomic_store_explicit(&hint[0], session << 32 | id >> 40, memory_order_relaxed);
	return id;
}
