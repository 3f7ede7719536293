/*
 * named_locks.c - see named_locks.h.
 *
 * The linker's names are compared, which hold whether the standard library has debug information
 * or not. A wait returns to the function itself, or to one that it calls: few frames are looked
 * at.
 */
#include <errno.h>
#include <string.h>
#include "format/symbols.h"
#include "named_locks.h"

enum { FRAMES_LOOKED_AT = 3, ONCE_FRAMES = 2 };

/* "std::sys::...::futex::Mutex::lock_contended" in both of Rust's manglings; before Rust 1.70
 * the module was futex_mutex.  C++ waits in __cxa_guard_acquire() while another thread has a static variable
 * initialized, and Rust in Once::call(), for LazyLock too, which also calls what initializes: that
 * may wait for anything, a frame or more further in. */
static bool is_lock_function(const char *name, uint32_t depth)
{
	static const char *const WAITS[] = {"14lock_contended", "14read_contended",
					    "15write_contended"};

	if (name && !strcmp(name, "__cxa_guard_acquire"))
		return true;
	if (!name || (strncmp(name, "_R", 2) != 0 && strncmp(name, "_ZN", 3) != 0) ||
	    !strstr(name, "3std3sys") || !strstr(name, "futex"))
		return false;
	for (size_t i = 0; i < sizeof(WAITS) / sizeof(*WAITS); i++)
		if (strstr(name, WAITS[i]))
			return true;
	return depth < ONCE_FRAMES && (strstr(name, "4Once4call") || strstr(name, "4Once4wait"));
}

static const struct trc_module_entry *module_at(const struct trc_named_locks *n, uint64_t address,
						uint32_t epoch)
{
	for (uint32_t i = 1; i < trc_reader_modules(n->reader); i++) {
		const struct trc_module_entry *module = trc_reader_module(n->reader, i);

		if (module && address >= module->start && address < module->limit &&
		    epoch >= module->first_epoch && epoch <= module->last_epoch)
			return module;
	}
	return NULL;
}

static int look_up(struct trc_named_locks *n, uint64_t address, uint32_t epoch, uint32_t depth,
		   bool *is_lock)
{
	const struct trc_module_entry *module = module_at(n, address, epoch);
	struct trc_symbol symbol[TRC_SYMBOL_INLINE_MAX];
	size_t n_symbols;
	int err = 0;

	*is_lock = false;
	if (!module)
		return 0;
	if (!n->symbols)
		err = trc_symbols_open(&n->symbols, TRC_SYMBOLS_MAPPED);
	if (err)
		return err;
	n_symbols = trc_symbols_find(n->symbols, module, address, symbol);
	for (size_t i = 0; i < n_symbols && !*is_lock; i++)
		*is_lock = is_lock_function(
			symbol[i].linkage ? symbol[i].linkage : symbol[i].function, depth);
	return 0;
}

int trc_named_locks_find(struct trc_named_locks *n, uint32_t stack, bool *is_lock)
{
	struct trc_stack_view view;
	int err = 0;

	*is_lock = false;
	if (!stack || trc_reader_stack(n->reader, stack, &view))
		return 0;
	for (uint32_t i = 0; i < view.n_frames && i < FRAMES_LOOKED_AT && !*is_lock && !err; i++) {
		uint64_t key = view.frame[i] ^ (uint64_t)view.epoch << 48;
		uint32_t known = trc_index_get(&n->known, key);

		if (known != TRC_INDEX_NONE) {
			*is_lock = known == 1;
			continue;
		}
		if (!view.frame[i])
			continue;
		err = look_up(n, view.frame[i] - 1, view.epoch, i, is_lock);
		if (!err)
			err = trc_index_put(&n->known, key, *is_lock);
	}
	return err;
}

void trc_named_locks_free(struct trc_named_locks *n)
{
	trc_index_free(&n->known);
	if (n->symbols)
		trc_symbols_close(n->symbols);
}
