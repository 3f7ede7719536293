/* parts.h - what check.c and events.c share. */
#ifndef TRC_ANALYZER_CHECK_PARTS_H
#define TRC_ANALYZER_CHECK_PARTS_H

#include "check.h"
#include "analyzer/model/parts.h"

struct trc_check {
	struct trc_model *m;
	bool all;
	struct trc_array sums; /* struct trc_check_sum, in the order of their first */
	trc_check_fn *report;
	void *context;
	struct trc_check_totals totals;
	struct trc_array gaps; /* struct trc_gap, by since_ns once all blocks have been looked at */
	struct trc_array gaps_latest_ns; /* int64_t, one for each: see check.c */
	int64_t cut_ns; /* from here events may be missing (check:V4); INT64_MAX = none are */
};

/* Explained violations of a kind (check:V2). */
struct trc_check_sum {
	const char *format; /* its kind */
	uint8_t cause;	    /* enum trc_gap_cause */
	uint64_t n;
	char example[512];
};

/* A violation that has to do with what happened from from_ns to until_ns: explained if events
 * were lost in between. */
void trc_check_violation(struct trc_check *check, int64_t from_ns, int64_t until_ns,
			 const char *format, ...) __attribute__((format(printf, 4, 5)));
/* Something that is a violation unless an event happened from from_ns to until_ns: check:V4. */
void trc_check_missing(struct trc_check *check, int64_t from_ns, int64_t until_ns,
		       const char *format, ...) __attribute__((format(printf, 4, 5)));

/* The thread's row of the file's table; NULL = it has none. */
const struct trc_thread_entry *trc_check_thread_entry(const struct trc_reader *r, uint32_t serial);

/* cut.c: sets cut_ns, and tells where each stream is cut.  0 or -ENOMEM. */
int trc_check_cut(struct trc_check *check);
/* All that needs events in order.  0 or -ENOMEM. */
int trc_check_events(struct trc_check *check);

/* The thread says this of the fiber at now_ns, which must not be after its end; with
 * TRC_PART_FIBERS. */
void trc_check_fiber_named(struct trc_check *check, const char *kind, uint64_t number,
			   uint32_t thread, int64_t now_ns);
/* The row id of the fiber of this number, 0 = there is none; with TRC_PART_FIBERS. */
uint32_t trc_check_fiber_id(const struct trc_check *check, uint64_t number);
/* When fibers ran.  0 or -ENOMEM. */
int trc_check_fibers(struct trc_check *check);

/* Stretches on procs.  0 or -ENOMEM. */
int trc_check_on_cpu(struct trc_check *check);

/* Sampled allocations and their frees.  0 or -ENOMEM. */
int trc_check_heap(struct trc_check *check);
/* causes.c: the causes of waits.  0 or -ENOMEM. */
int trc_check_causes(struct trc_check *check);
/* wakers.c: whether waits for mutexes have wakers.  0 or -ENOMEM. */
int trc_check_wakers(struct trc_check *check);

#endif
