/* encode_private.h - declarations that the parts of libtrc-profile.so share. */
#ifndef TRC_RECORDER_PROFILE_ENCODE_PRIVATE_H
#define TRC_RECORDER_PROFILE_ENCODE_PRIVATE_H

#include "encode.h"

/* ---- encode_names.c ---- */

int trc_names_open(struct trc_names **out, const struct trc_module_entry *module, size_t n_modules);
void trc_names_close(struct trc_names *names);
size_t trc_names_find(struct trc_names *names, uint32_t epoch, uint64_t return_address,
		      struct trc_symbol out[TRC_SYMBOL_INLINE_MAX],
		      const struct trc_module_entry **module);
void trc_names_while(struct trc_names *names, const struct trc_encode_wanted *wanted);
/* 0, or -ECANCELED: the names were not wanted any more. */
int trc_names_error(const struct trc_names *names);
/* The offset of an address in its function; -1 = not known. */
int64_t trc_names_offset(struct trc_names *names, uint32_t epoch, uint64_t return_address);
/* The program's own module; NULL = no module is known. */
const struct trc_module_entry *trc_names_program(const struct trc_names *names);
/* The number of modules, and the place of one module among them. */
size_t trc_names_modules(const struct trc_names *names);
size_t trc_names_index(const struct trc_names *names, const struct trc_module_entry *module);
/* The first epoch since which the modules of all frames, except the innermost ones given, have not
 * moved. Samples of the same frames are of the same stack if this epoch is the same. 0 = from the
 * beginning, or any. */
uint32_t trc_names_since(struct trc_names *names, const struct trc_encode_sample *sample,
			 uint32_t skip);
/* The number of innermost frames to leave out. */
uint32_t trc_encode_skip(const struct trc_encode_info *info,
			 const struct trc_encode_sample *sample);

/* ---- encode_pprof.c ---- */

/* These functions fill in and write the profile that trc_pprof_open() made. */
struct trc_encode_pprof;
int trc_encode_pprof_open(struct trc_encode_pprof **out, const struct trc_encode_info *info);
void trc_encode_pprof_sample(struct trc_encode_pprof *e, const struct trc_encode_sample *sample);
int trc_encode_pprof_write(struct trc_encode_pprof *e,
			   int (*sink)(void *context, const void *bytes, size_t n_bytes),
			   void *context);
void trc_encode_pprof_close(struct trc_encode_pprof *e); /* accepts NULL */

/* ---- encode_text.c ---- */

struct trc_encode_text;
int trc_encode_text_open(struct trc_encode_text **out, const struct trc_encode_info *info);
void trc_encode_text_sample(struct trc_encode_text *e, const struct trc_encode_sample *sample);
int trc_encode_text_write(struct trc_encode_text *e,
			  int (*sink)(void *context, const void *bytes, size_t n_bytes),
			  void *context);
void trc_encode_text_close(struct trc_encode_text *e); /* accepts NULL */

#endif
