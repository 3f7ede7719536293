/* process.h - what the process of a trace is called. */
#ifndef TRC_ANALYZER_MODEL_PROCESS_H
#define TRC_ANALYZER_MODEL_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include "format/reader.h"

enum { TRC_PROGRAM_NAME_BYTES = 256 };

/*
 * The program's name: the last component of its first argument, so the name by which it was called; a link may lead to a
 * file of another name.  Old traces do not have the first argument alone: then the name comes from the command up to
 * a blank.  "" = not known.  Returns out.
 */
const char *trc_program_name(char out[TRC_PROGRAM_NAME_BYTES], const struct trc_reader *reader);
/* What the process called itself at the end, if that is another text than its command; NULL = nothing. */
const char *trc_process_title(const struct trc_reader *reader);
/* The title, else the program with its arguments; "" = not known.  The caller's to free, NULL without memory. */
char *trc_process_name(const struct trc_reader *reader);
/* What a module is called: the program's by the program's name, if that can be a file's name; else by its own
 * file.  Returns out. */
const char *trc_module_name(char out[TRC_PROGRAM_NAME_BYTES], const struct trc_reader *reader,
			    const struct trc_module_entry *module);

#endif
