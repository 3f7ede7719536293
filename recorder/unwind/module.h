/*
 * module.h - from an address to the loaded module that it lies in, and to its unwind rules.
 */
#ifndef TRC_RECORDER_UNWIND_MODULE_H
#define TRC_RECORDER_UNWIND_MODULE_H

#include <stdbool.h>
#include <stdint.h>
#include "cfi.h"
#include "sframe.h"

/*
 * Finds the .eh_frame of the module that holds `pc`.  Returns 0, -ENOENT (no module, or one
 * without it), -EBADMSG (its program headers are malformed).
 * Context: traced thread, signal handlers.
 */
int trc_module_cfi(uintptr_t pc, struct trc_cfi_bytes *bytes);

/* The rule for `pc`, by the module's .sframe or, if that has no rule, by the module's .eh_frame.
 * Returns 0 or an error of cfi.h; *has_rules tells whether the module was found to have either.
 * Context: traced thread, signal handlers. */
int trc_module_rule(uintptr_t pc, struct trc_rule *rule, bool *has_rules);

/* True if the code just before `ra` is a call: in the executable segment of a module, or in memory
 * of no module (made at run time).  Context: traced thread, signal handlers. */
bool trc_module_is_return(uintptr_t ra);

/* True if the code at `pc` is the kernel's signal return; emulators keep their signal return in no
 * module.  Context: traced thread, signal handlers. */
bool trc_module_is_sigreturn(uintptr_t pc);

/* Learns how to find modules, and which modules there are; with `own_list` as if the C library
 * could not tell.  Returns 0 or -errno.  Context: any thread, may block; one at a time. */
int trc_module_setup(bool own_list);
void trc_module_refresh(void);

#endif
