/*
 * change.h - what --what-if asks for, from text.
 *
 *   CHANGE  = ONE {";" ONE} [";"]
 *   ONE     = "lock" NAME "*" FACTOR | "function" NAME "*" FACTOR | "no lock" NAME | "procs" N
 *
 * A name may hold blanks, and the last "*" is that of the factor.  Two changes of one kind have different names.
 */
#ifndef TRC_ANALYZER_WHATIF_CHANGE_H
#define TRC_ANALYZER_WHATIF_CHANGE_H

#include "format/reader.h"

enum trc_change_kind {
	TRC_CHANGE_LOCK,     /* its sections take `factor` of their time */
	TRC_CHANGE_NO_LOCK,  /* nobody waits for it */
	TRC_CHANGE_FUNCTION, /* the function, with what it calls, takes `factor` of its time */
	TRC_CHANGE_PROCS,    /* the threads share `procs` processors */
};

enum { TRC_CHANGES_MAX = 16, TRC_CHANGE_NAME_BYTES = 512, TRC_CHANGE_PROCS_MAX = 65536 };
#define TRC_CHANGE_FACTOR_MAX 100.0

struct trc_change {
	enum trc_change_kind kind;
	char name[TRC_CHANGE_NAME_BYTES];
	double factor;
	uint32_t procs;
};

struct trc_changes {
	struct trc_change change[TRC_CHANGES_MAX];
	size_t n;
};

/* 0, or -EINVAL with a line in error. */
int trc_changes_parse(struct trc_changes *changes, const char *text, struct trc_error *error);

#endif
