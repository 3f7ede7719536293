/* json.h - what --why and --critical-path say, for programs. */
#ifndef TRC_ANALYZER_WHY_JSON_H
#define TRC_ANALYZER_WHY_JSON_H

#include "tree.h"

struct trc_why_asked {
	const char *what; /* as it was written */
	double slowest;	  /* percent; 0 = all */
	bool path;	  /* --critical-path */
	uint32_t last; /* of a window, the thread that it is followed back from; 0 = it is none */
	trc_report_cause_fn *print_cause;
};

/* One object; docs/schema.md says what is in it.  The tree must have kept its rows, or its path. */
void trc_why_json(struct trc_report *r, struct trc_why_tree *tree,
		  const struct trc_why_asked *asked);

#endif
