/*
 * on_procs.h - which of the program's threads ran on each proc, at each time: who ran instead of a thread that could
 * have run.
 */
#ifndef TRC_ANALYZER_MODEL_ON_PROCS_H
#define TRC_ANALYZER_MODEL_ON_PROCS_H

#include "array.h"
#include "model.h"

struct trc_on_procs {
	const struct trc_model *m;
	const struct trc_on_cpu *on_cpu;
	size_t n_on_cpu;
	struct trc_index proc_row;
	struct trc_array procs;
	uint32_t *stretch;  /* rows of on_cpu by proc */
	int64_t *ran_ns;    /* by place in stretch[]: all up to its end, since the proc's first */
	int64_t *of_thread; /* by row of threads: what it ran, while somebody asks */
	uint64_t n_looked_at, n_asked;
};

struct trc_instead {
	uint32_t thread; /* that the proc ran longest; 0 = none, or not known */
	int64_t ns; /* for how long; TRC_NEVER = a file that was made to be hard: it is not known */
	int64_t all_ns; /* how long it ran threads of the program */
};

/* TRC_PART_SCHED must have been derived.  0 or -ENOMEM; free it in both cases. */
int trc_on_procs_make(struct trc_on_procs *p, const struct trc_model *m);
void trc_on_procs_free(struct trc_on_procs *p);
/* What this proc ran from from_ns to to_ns. */
void trc_on_procs_instead(struct trc_on_procs *p, uint32_t proc, int64_t from_ns, int64_t to_ns,
			  struct trc_instead *instead);

#endif
