/*
 * encode.h - the services of libtrc-profile.so for libtrc: names of code, and profiles as bytes.
 *
 * libtrc-profile.so needs elfutils, protobuf and zlib, which libtrc itself does not need.  It is
 * loaded for the first profile, and stays; other objects do not see its symbols.  It may use libc
 * as any library does: callers make sure that the thread records nothing meanwhile
 * (trc_self.quiet).
 */
#ifndef TRC_RECORDER_PROFILE_ENCODE_H
#define TRC_RECORDER_PROFILE_ENCODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "format/pprof.h"   /* struct trc_pprof_label */
#include "format/symbols.h" /* struct trc_symbol */

enum { TRC_ENCODE_VERSION = 4, TRC_ENCODE_TYPES_MAX = 64 };

struct trc_names;
struct trc_encoder;

/* Tells whether the names are still wanted.  May be called for every new name, as it returns at
 * once. */
struct trc_encode_wanted {
	bool (*is)(void *context);
	void *context;
};

struct trc_encode_type {
	const char *type, *unit;
};

/* The styles of text, by first line and form of lines, as people and pprof know them from Go. */
enum trc_encode_style {
	TRC_STYLE_VALUES,     /* "NAME: TYPE/UNIT ...", then "VALUE ... @ ADDRESS ..." */
	TRC_STYLE_COUNTS,     /* "NAME profile: total N", then "COUNT @ ADDRESS ..." */
	TRC_STYLE_CONTENTION, /* "--- contention:"; the values are a count and nanoseconds */
	TRC_STYLE_MUTEX,      /* "--- mutex:", the same, with a sampling period */
	TRC_STYLE_HEAP,	      /* "heap profile: ..."; objects and bytes, allocated and in use */
};

/* Everything is borrowed until the encoder is closed. */
struct trc_encode_info {
	struct trc_names *names;
	bool text;
	bool skip; /* leave out innermost frames of libc and trc: how the program waits, not why */
	enum trc_encode_style style; /* of text */
	const char *name;
	struct trc_encode_type type[TRC_ENCODE_TYPES_MAX];
	uint32_t n_types;
	const char *default_type; /* NULL = not said */
	struct trc_encode_type period_type;
	int64_t period;
	int64_t begin_realtime_ns; /* since 1970 */
	int64_t duration_ns;	   /* 0 = of an instant */
	const char *const *comment;
	size_t n_comments;
};

/* Only read during the call. */
struct trc_encode_sample {
	const uint64_t *frame; /* return addresses, innermost first, as trc_unwind() takes them */
	uint32_t n_frames;
	uint32_t epoch;	      /* of modules; 0 = any */
	const int64_t *value; /* as many as types */
	const struct trc_pprof_label *label;
	size_t n_labels;
	bool skip; /* as in struct trc_encode_info, for this one */
	/* A constant that stands for frames, where there are none; NULL = "(no stack)". */
	const char *words;
};

struct trc_encode_module {
	uint32_t version; /* TRC_ENCODE_VERSION */

	/* The modules, the program's first, stay the caller's until the names are closed.  0 or
	 * -ENOMEM. */
	int (*names_open)(struct trc_names **out, const struct trc_module_entry *module,
			  size_t n_modules);
	void (*names_close)(struct trc_names *names); /* accepts NULL */
	/*
	 * The functions that a return address lies in, as trc_symbols_find() gives them; *module
	 * may be NULL, and is NULL if it lies in none.  How many; 0 = it has no name.  Strings stay
	 * valid until the names are closed.
	 */
	size_t (*names_find)(struct trc_names *names, uint32_t epoch, uint64_t return_address,
			     struct trc_symbol out[TRC_SYMBOL_INLINE_MAX],
			     const struct trc_module_entry **module);

	/* From now on it is asked, until it says no: then nothing has a name any more, and what is
	 * written with these names fails with -ECANCELED.  *wanted stays until they are closed;
	 * NULL = they are wanted to the end. */
	void (*names_while)(struct trc_names *names, const struct trc_encode_wanted *wanted);

	/* Samples of the same stack with the same labels become one.  0 or -ENOMEM. */
	int (*open)(struct trc_encoder **out, const struct trc_encode_info *info);
	void (*sample)(struct trc_encoder *encoder, const struct trc_encode_sample *sample);
	/* Hands the bytes to `sink`, once.  0, what it returned first, -ENOMEM, or -ECANCELED: the
	 * names were not wanted any more. */
	int (*write)(struct trc_encoder *encoder,
		     int (*sink)(void *context, const void *bytes, size_t n_bytes), void *context);
	void (*close)(struct trc_encoder *encoder); /* accepts NULL */
};

/* What libtrc-profile.so exports, and nothing else: a struct trc_encode_module. */
#define TRC_ENCODE_SYMBOL "trc_encode_module"

/* Loads libtrc-profile.so if need be.  NULL: it cannot be loaded, with a sentence in why.
 * trace-record has its own (tool/http.c).  Context: any thread, may block; the first time not with
 * a lock held that constructors could want (part.h). */
const struct trc_encode_module *trc_encode_load(char *why, size_t n_bytes);

/* ---- encode_modules.c, in libtrc: modules for names_open() ------------------------------- */

struct trc_module_list {
	struct trc_module_entry *module; /* the program's first */
	size_t n_modules;
};
/* Lists modules and their addresses: with `recorded` the modules that the session's stacks refer
 * to, else the modules that are loaded now.  0 or -ENOMEM. free() the module.  Context: any thread,
 * may block; with `recorded` the session stays meanwhile. */
int trc_module_list(struct trc_module_list *list, bool recorded);

#endif
