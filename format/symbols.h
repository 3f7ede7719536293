/*
 * symbols.h - from an address in a module to functions, files and lines, by libdw.
 *
 * Modules are opened on first use: by the recorded path if its build id still matches,
 * else by build id below the debug directories (/usr/lib/debug/.build-id and
 * $TRC_DEBUG_PATH).  Names of a module without DWARF come from its ELF symbol tables, or from the table in
 * its .gnu_debugdata.  A module that is gone or has changed gives no names, and says so once.
 *
 *   symbols:Y1  fetches files over a network only if opened with TRC_SYMBOLS_FETCHED and if the
 *       environment names servers (symbols_fetch.h)
 *   symbols:Y2  strings stay valid until trc_symbols_close()
 */
#ifndef TRC_FORMAT_SYMBOLS_H
#define TRC_FORMAT_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "writer.h" /* struct trc_module_entry */

struct trc_symbols;

struct trc_symbol {
	const char *function; /* NULL = not known */
	const char *
		linkage; /* its name as the linker knows it, or only its unit; NULL = as `function` */
	const char *file;      /* NULL = not known */
	const char *directory; /* what a relative `file` is relative to; NULL = not known */
	uint32_t line;	       /* 0 = not known */
	uint32_t start_line;   /* of the function; 0 = not known */
	bool inlined;	       /* into the next function */
};

/*
 * Mapped files are fast, but reading a page that another process has cut off ends this process.  A
 * guest in other people's processes reads files instead.  A tool that answers a user may fetch
 * files that are not on this machine; such a tool maps files, too.  0 or -ENOMEM.
 */
enum trc_symbols_how { TRC_SYMBOLS_MAPPED, TRC_SYMBOLS_READ, TRC_SYMBOLS_FETCHED };
int trc_symbols_open(struct trc_symbols **out, enum trc_symbols_how how);
void trc_symbols_close(struct trc_symbols *s);

enum { TRC_SYMBOL_INLINE_MAX = 32 };
/*
 * The functions at `address` of the traced process in `module`. out[0] is the innermost; the last
 * is the function that is not inlined.  Returns the number of functions (0 = not known), at most
 * TRC_SYMBOL_INLINE_MAX.
 */
size_t trc_symbols_find(struct trc_symbols *s, const struct trc_module_entry *module,
			uint64_t address, struct trc_symbol out[TRC_SYMBOL_INLINE_MAX]);

enum { TRC_SYMBOL_TAIL_MAX = 4 };
/*
 * Functions without a frame between the caller at `return_address` and the next frame: each ended
 * in a jump to another function (trc_dwarf_tail_calls()).  Stores their addresses, innermost first;
 * 0 = none.
 */
size_t trc_symbols_tail_calls(struct trc_symbols *s, const struct trc_module_entry *module,
			      uint64_t return_address, uint64_t out[TRC_SYMBOL_TAIL_MAX]);

/*
 * Where the function at `address` begins, by the module's unwind tables: works for stripped code,
 * too.  0 = not known.
 */
uint64_t trc_symbols_start(struct trc_symbols *s, const struct trc_module_entry *module,
			   uint64_t address);

/*
 * The variable that contains `address`, and the offset of `address` in the variable; NULL = no
 * variable with a name.  `module` is the module loaded around `address`; its data lies outside of
 * [start, limit).
 */
const char *trc_symbols_variable(struct trc_symbols *s, const struct trc_module_entry *module,
				 uint64_t address, uint64_t *offset);

/* The section that `address` lies in, ".bss", and its offset there: also of stripped files.  NULL = not known. */
const char *trc_symbols_section(struct trc_symbols *s, const struct trc_module_entry *module,
				uint64_t address, uint64_t *offset);

/*
 * The member of the variable that contains `address`, by debug information, as written behind the
 * variable's name: ".gil.cond", "[3].lock".  "" = the member is not known, or the variable has no
 * members.  *offset is the offset of `address` in the member.
 */
const char *trc_symbols_member(struct trc_symbols *s, const struct trc_module_entry *module,
			       uint64_t address, uint64_t *offset);

/* The text of trc_symbols_trouble() if only debug information is missing, and no server was
 * asked. */
#define TRC_SYMBOLS_NO_DEBUG_FILE "no debug information found"

/* NULL, or one line on why this module has no (or poorer) symbols: "changed since", "not found". */
const char *trc_symbols_trouble(struct trc_symbols *s, const struct trc_module_entry *module);

struct trc_symbols_visit {
	void (*path)(void *context, const char *path);
	void *context;
};
/* Lists the files that may hold names of the module, whether the files exist or not.  Files of
 * servers and of dwz are not listed. */
void trc_symbols_places(const struct trc_module_entry *module,
			const struct trc_symbols_visit *visit);

#endif
