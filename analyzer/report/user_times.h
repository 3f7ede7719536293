/* user_times.h - what the time of tasks and regions of a type went to. */
#ifndef TRC_ANALYZER_REPORT_USER_TIMES_H
#define TRC_ANALYZER_REPORT_USER_TIMES_H

#include "analyzer/causes/task_times.h"
#include "analyzer/words/user_types.h"
#include "parts.h"

/* By type, of the first n_types types in the report: the times of ended tasks or regions, as in the tables task_times and region_times. */
struct trc_user_times {
	int64_t (*ns)[TRC_TASK_STATES][TRC_REASON_COUNT]; /* NULL = not known */
	size_t n_types;
};

/* regions: of regions, else of tasks.  0 or -ENOMEM; free it in both cases. */
int trc_user_times_make(struct trc_user_times *times, struct trc_report *r,
			const struct trc_user_types *t, bool regions);
void trc_user_times_free(struct trc_user_times *times);
/* A line: "62.1% waited for mutex, 20.3% slept, 12.0% ran"; nothing if nothing is known. */
void trc_user_times_print(const struct trc_user_times *times, struct trc_report *r, size_t type);

#endif
