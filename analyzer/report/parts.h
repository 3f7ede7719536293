/*
 * parts.h - what the files that make the report share; nobody else includes it.
 */
#ifndef TRC_ANALYZER_REPORT_PARTS_H
#define TRC_ANALYZER_REPORT_PARTS_H

#include "analyzer/model/array.h"
#include "analyzer/model/selection.h"
#include "report.h"
#include "analyzer/text/line.h"
#include "analyzer/model/waits.h"

struct trc_report {
	struct trc_model *m;
	const struct trc_reader *reader;
	const struct trc_stacks *stacks;
	const struct trc_park *park; /* what is wanted of them: parts of waits (TRC_PARK_PIECE) */
	const struct trc_unlock *unlock;
	const struct trc_thread *thread;
	size_t n_parks, n_unlocks, n_threads;
	const struct trc_selection *selection; /* the model's; NULL: everything is wanted */
	/* By row of thread, NULL without a selection: what of its life is selected. */
	struct trc_report_selected {
		int64_t ns, on_cpu_ns;
	} * selected;
	struct trc_park *wanted_parks; /* with a selection, owned */
	uint32_t *wanted_ids;	       /* with a selection: their ids, owned */
	const struct trc_set_label *label;
	size_t n_labels;
	uint32_t *label_first; /* by row of labels: the first with the same key and value */
	bool *label_quoted; /* by row of labels: it is a text that could be taken for something else */
	int64_t start_ns, end_ns;
	FILE *out;
	const char *path;
	int width;
	bool colour;
	bool full; /* stacks frame by frame */
	size_t top;
	/* By stack id: the first stack with the same frames of the program's own. */
	uint32_t *canonical;
	/* By stack id: the first stack whose innermost own frame is at the same line. */
	uint32_t *same_place;
	/* By stack id, of canonical stacks: what trc_report_functions() and trc_report_outermost() are. */
	struct trc_report_ends {
		uint64_t functions, outermost;
	} * ends;
	size_t n_canonical;
	/* By row of thread, then by class: time in waits, each moment counted once. */
	int64_t (*class_ns)[TRC_WAIT_CLASSES];
	/* By row of thread: the reason << 32 and place of most of the waits in which it is idle, 0 = none;
	 * NULL with a filter. */
	uint64_t *idle_at;
	/* Of these threads, where and for what they wait; of each the first, by row of thread. */
	struct trc_array idle_sums;
	uint32_t *idle_first;
	bool *module_shown; /* by module id: has frames without lines in what was printed */
	bool any_section;
	struct trc_causes *causes; /* of trc_report_causes(); owned */
};

/* A group: all waits of one reason at one stack, or all releases of one kind of lock there; or all
 * waits for one object, or for objects that are alike. */
struct trc_group {
	uint8_t reason;	       /* of an object's waits: of the first */
	bool several_reasons;  /* an object's waits have others, too */
	bool several_places;   /* and are at other stacks */
	uint32_t stack;	       /* canonical; of an object's waits: of the first */
	uint32_t slot;	       /* 1.. if it is among those that will be shown */
	uint32_t parent;       /* of a place of an object's: the group of the object */
	uint32_t n_places;     /* of an object that is shown and has several */
	uint32_t allocated_at; /* stack that allocated the objects; 0 = not known */
	uint64_t waits, sections;
	uint64_t timed_out; /* of the waits */
	int64_t total_ns, max_ns;
};

enum { TRC_GROUP_LABELS_MAX = 3 };

/* What is shown of a group beyond that. */
struct trc_group_details {
	const struct trc_group *group;
	uint64_t object; /* the one with most of the time */
	uint32_t n_objects, n_threads;
	int64_t object_ns;
	uint32_t descriptor; /* what was, of those that are known; 0 = none */
	uint32_t n_descriptors;
	int64_t descriptor_ns;
	const char *common_own, *common_peer; /* addresses of all of them; "" = they differ */
	int64_t threads_ns;		      /* how long its threads lived */
	uint32_t thread;		      /* the one with most of the time */
	uint32_t by_stack, by_thread, holder; /* who ended most of it, 0 = not known */
	uint32_t n_by_stacks, n_by_threads;
	int64_t thread_ns, by_stack_ns, by_thread_ns, holder_ns;
	/* The labels with most of the time, each of another key. */
	struct trc_label_share {
		const struct trc_set_label *label;
		int64_t ns;
	} label[TRC_GROUP_LABELS_MAX];
	size_t n_labels;
	/* Of an object with several places: those that are told, largest first. */
	const struct trc_group_details *place;
	size_t n_places;
};

/* Threads that are idle in waits of one reason at one place. */
struct trc_idle {
	uint8_t reason;
	uint32_t stack; /* canonical */
	uint32_t n_threads;
};

struct trc_groups {
	struct trc_array groups; /* struct trc_group */
	struct trc_index index;
	uint32_t *of_row;		   /* the group of each park or unlock + 1, 0 = none */
	struct trc_selected_cause *caused; /* of unlocks, by row */
	struct trc_group_details *details; /* by slot - 1: by class, then largest first */
	size_t n_details;
	size_t n_of[TRC_WAIT_CLASSES]; /* how many of the details are of this class */
	size_t n_groups_of[TRC_WAIT_CLASSES];
	int64_t sum_ns[TRC_WAIT_CLASSES];   /* of all groups */
	int64_t total_ns[TRC_WAIT_CLASSES]; /* of parks: waits within waits counted once */
	uint64_t waits[TRC_WAIT_CLASSES];
	/* Waits of idle threads, which are in no group, but in total_ns and waits. */
	struct trc_array idle; /* struct trc_idle */
	struct trc_index idle_index;
	uint32_t n_idle[TRC_WAIT_CLASSES];
	int64_t idle_ns[TRC_WAIT_CLASSES];
	/* Of groups by object: where those with several places that are shown were waited for. */
	struct trc_groups *places;
};

/* ---- report.c ---- */
int trc_report_begin(struct trc_report *r, struct trc_model *m, FILE *out,
		     const struct trc_report_options *options, struct trc_error *error);
void trc_report_end(struct trc_report *r);
/* What waits were due to: made when it is first asked for, valid until trc_report_end().  0 or
 * -ENOMEM. */
struct trc_causes;
int trc_report_causes(struct trc_report *r, struct trc_causes **causes);
/* An empty line, and the heading in bold; `right` (may be NULL) follows it. */
void trc_report_heading(struct trc_report *r, const char *heading, const char *right);
void trc_report_line(struct trc_report *r, struct trc_line *line);
/* The id of r->park[i] in the model's parks. */
static inline uint32_t trc_report_park_id(const struct trc_report *r, size_t i)
{
	return r->wanted_ids ? r->wanted_ids[i] : (uint32_t)i + 1;
}
/* What the recorder noted under this key, NULL if nothing. */
const char *trc_report_info(const struct trc_report *r, const char *key);
uint64_t trc_report_count_threads(const struct trc_report *r);
/* Adds what is not in the trace: "12 lost", "none lost", "its end is missing". */
void trc_report_lost(const struct trc_report *r, struct trc_line *line);
/* What was lost for one cause. */
struct trc_lost {
	uint64_t events; /* 0 = nothing */
	int64_t first_ns, last_ns;
};
enum { TRC_LOST_CAUSES = 256 };
void trc_report_lost_causes(const struct trc_report *r, struct trc_lost lost[TRC_LOST_CAUSES]);
void trc_report_lost_cause(struct trc_line *line, unsigned int cause, const struct trc_lost *lost);
/* A line for each cause, and what follows. */
void trc_report_lost_lines(struct trc_report *r);
/* If the recorder's tables were full: what is missing for that, and what helps. */
void trc_report_full_lines(struct trc_report *r);
/* Of a recording whose rings were full: how large they had to be. */
void trc_report_ring_line(struct trc_report *r);
/* True if the trace was made of what a dead process left: how long it lived after the trace's end
 * is not known. */
bool trc_report_recovered(const struct trc_report *r);
enum { TRC_LASTED_BYTES = TRC_NUMBER_BYTES + 2 };
/* How long what goes on at the trace's end has lasted, "> 1.25 s" where it may have been longer.
 * Returns `out`. */
const char *trc_report_until_end(const struct trc_report *r, char out[TRC_LASTED_BYTES],
				 int64_t since_ns);

/* ---- names.c ---- */
/* The innermost frame of the program's own: "settings_get trc-demo.c:211". */
void trc_report_place(struct trc_report *r, struct trc_line *line, uint32_t stack);
/* The same and its callers: "... < worker_run :302". */
void trc_report_chain(struct trc_report *r, struct trc_line *line, uint32_t stack);
/* Adds that, or with --full each frame in a line of its own, below the first; prints the line. */
void trc_report_stack(struct trc_report *r, struct trc_line *line, uint32_t stack);
/* The latter always: also where libc is called or calls, but not what starts a thread. */
void trc_report_whole_stack(struct trc_report *r, struct trc_line *line, uint32_t stack);
/* The function alone: "settings_get trc-demo.c"; the module where the file is not known. */
void trc_report_function(struct trc_report *r, struct trc_line *line,
			 const struct trc_frame *frame);
/* All frames, a line each: also where libc is called from, or calls. */
void trc_report_frames(struct trc_report *r, uint32_t stack, size_t max);
/* "worker 3 (4711)" */
void trc_report_thread(struct trc_report *r, struct trc_line *line, uint32_t serial, int max_width);
/* " settings+16", " fd 7", " 0x7f..."; nothing for 0.  `stack`: where it was used; 0 = it is at
 * the trace's end. */
void trc_report_object(struct trc_report *r, struct trc_line *line, unsigned int reason,
		       uint64_t object, uint32_t stack);
/* True if trc_report_object() can do no better than the address. */
bool trc_report_is_nameless(const struct trc_report *r, unsigned int reason, uint64_t object,
			    uint32_t stack);
/* How long the thread lived within the trace, or what of that is selected. */
int64_t trc_report_lifetime_ns(const struct trc_report *r, const struct trc_thread *thread);
uint32_t trc_report_canonical(const struct trc_report *r, uint32_t stack);
/* The first stack that trc_report_place() tells in the same words; 0 = it has no frames. */
uint32_t trc_report_same_place(const struct trc_report *r, uint32_t stack);
/* Equal for stacks whose innermost own function is the same, and called by the same function; 0 = no frames. */
uint64_t trc_report_functions(const struct trc_report *r, uint32_t stack);
/* Equal for stacks whose outermost own function, where a thread began, is the same; above 1; 0 = not
 * known. */
uint64_t trc_report_outermost(const struct trc_report *r, uint32_t stack);
int trc_report_canonical_init(struct trc_report *r);
/* After that, both; 0 or -ENOMEM. */
int trc_report_same_place_init(struct trc_report *r);
int trc_report_ends_init(struct trc_report *r);
/* Modules whose functions were shown without lines, and why. */
void trc_report_troubles(struct trc_report *r);

/* ---- descriptors.c ---- */
struct trc_waited {
	unsigned int reason;
	uint64_t object;
	uint32_t stack, descriptor;
};
/* As trc_report_object(), and " 127.0.0.1:80 (fd 7)" where it is known what the descriptor was. */
void trc_report_waited(struct trc_report *r, struct trc_line *line, const struct trc_waited *w);
void trc_report_waited_park(struct trc_report *r, struct trc_line *line,
			    const struct trc_park *park);
/* What the descriptor was of the wait with this id in the model's parks; 0 = not known. */
uint32_t trc_report_park_descriptor(const struct trc_report *r, uint32_t id);
/* Adds one to those of a group, with the time of its waits. */
void trc_report_descriptor_into(const struct trc_report *r, struct trc_group_details *d,
				uint32_t descriptor, int64_t ns);
/* " /var/wal (fd 3)", " 37 connections of 127.0.0.1:80"; false if nothing is known. */
bool trc_report_descriptors(struct trc_report *r, struct trc_line *line,
			    const struct trc_group_details *d);

/* ---- labels.c ---- */
int trc_report_labels_init(struct trc_report *r);
/* Whether what a thread did at a time is to be told. */
bool trc_report_wanted(const struct trc_report *r, uint32_t thread, int64_t ts_ns, uint64_t place);
/* "tenant=42"; tenant="42" if there is a number 42, too. */
void trc_report_label(const struct trc_report *r, struct trc_line *line,
		      const struct trc_set_label *label);
/* Its value alone, in so many columns at most. */
void trc_report_label_value(const struct trc_report *r, struct trc_line *line,
			    const struct trc_set_label *label, int max_width);
/* A line with all labels of the set; none if it has none. */
void trc_report_labels_line(struct trc_report *r, uint32_t labels);
/* Says that there is a selection. */
void trc_report_selection_lines(struct trc_report *r);
/* How long it is within the trace and its thread's life. */
int64_t trc_report_label_span_ns(const struct trc_report *r, const struct trc_thread_span *span);

/* ---- shares.c ---- */
/* What does not fit is the largest that does. */
static inline int64_t trc_report_int64(uint64_t value)
{
	return value < INT64_MAX ? (int64_t)value : INT64_MAX;
}

/* Adds to a sum; what does not fit stays at the largest that does. */
void trc_report_add(int64_t *sum, int64_t value);
/* A line with the threads that have most of `all`; by row of thread.  0 or -ENOMEM. */
int trc_report_thread_shares(struct trc_report *r, const int64_t *by_thread, int64_t all);
/* A line for each key, in the order in which labels first had any; by label_first.  `total` is what
 * labels are known of, with those that had none; shares are of `all`.  0 or -ENOMEM. */
int trc_report_label_shares(struct trc_report *r, const int64_t *by_label, int64_t total,
			    int64_t all);

/* ---- threads.c ---- */
/* How long threads ran, together, as far as the kernel told; TRC_NEVER = it told nothing. */
int64_t trc_report_ran_ns(const struct trc_report *r);

/* ---- hints.c ---- */
/* A line if the trace shows that another way to record would tell more. */
void trc_report_hints(struct trc_report *r);

/* ---- locks.c ---- */
struct trc_lock_sums;
/* Lines below that of an object's waits; none if it is no lock. */
void trc_report_lock_lines(struct trc_report *r, const struct trc_lock_sums *locks,
			   const struct trc_group_details *d);

/* ---- idle.c ---- */
/* After class_ns and canonical stacks are there.  0 or -ENOMEM. */
int trc_report_idle_init(struct trc_report *r);
/* True if the thread does nearly nothing but wait like this. */
bool trc_report_is_idle(const struct trc_report *r, const struct trc_park *park);
/* Adds such a wait.  0 or -ENOMEM. */
int trc_report_idle_add(struct trc_groups *g, const struct trc_report *r,
			const struct trc_park *park);
/* After all were added. */
void trc_report_idle_count(struct trc_groups *g, const struct trc_report *r);
/* "20.8 s  idle: 3 threads in cond at ..."; nothing if there are none. */
void trc_report_idle_line(struct trc_report *r, const struct trc_groups *g,
			  enum trc_wait_class class);

/* ---- unseen.c ---- */
/* A line for each event of which a tenth or more was not sampled. */
void trc_report_unseen_lines(struct trc_report *r);

/* ---- groups.c: 0 or -ENOMEM; free with trc_groups_free() ---- */
/* By object, with places: a lock that is waited for at several places is one group, and so are locks
 * that are alike.  What is for no object in memory (sleep, descriptors, ...) is grouped by place. */
int trc_groups_of_objects(struct trc_groups *g, struct trc_report *r, size_t top);
int trc_groups_of_unlocks(struct trc_groups *g, struct trc_report *r, size_t top);
void trc_groups_free(struct trc_groups *g);
/* The details of one class: g->n_of[class] of them. */
const struct trc_group_details *trc_groups_details(const struct trc_groups *g,
						   enum trc_wait_class class);

/* What groups.c and group_objects.c share.  The group of this key, added if need be; its index + 1,
 * 0 without memory. */
uint32_t trc_groups_find(struct trc_groups *g, uint64_t key, uint8_t reason, uint32_t stack);
/* A group that no key finds. */
uint32_t trc_groups_new(struct trc_groups *g, uint8_t reason, uint32_t stack);
/* Adds the wait r->park[i] to this group. */
void trc_groups_add_park(struct trc_groups *g, const struct trc_report *r, size_t i, uint32_t id);
/* By parent and class, then largest first; the caller's to free; NULL without memory. */
struct trc_group **trc_groups_sorted(const struct trc_groups *g);
/* After the groups were found: chooses and tallies; sums of classes. */
int trc_groups_finish_parks(struct trc_groups *g, const struct trc_report *r, size_t top);

/* ---- group_waits.c: of unlocks, the waits that the sections of each group were for.  0 or -ENOMEM ---- */
int trc_groups_count_waits(struct trc_groups *g, const struct trc_report *r);

/* ---- group_tallies.c: the details of all groups that have a slot.  0 or -ENOMEM ---- */
int trc_groups_tally_parks(struct trc_groups *g, const struct trc_report *r);
int trc_groups_tally_unlocks(struct trc_groups *g, const struct trc_report *r);

/* ---- longest.c ---- */
enum { TRC_LONGEST_MAX = 32 };
struct trc_longest_row {
	uint32_t row; /* the caller's: index in its array of waits */
	bool goes_on; /* how long it lasted is not known: such come first */
	int64_t ns;
};
/* The longest of the waits that were added, longest first. */
struct trc_longest {
	struct trc_longest_row row[TRC_LONGEST_MAX];
	size_t n, most;
};
void trc_longest_begin(struct trc_longest *longest, const struct trc_report *r);
void trc_longest_add(struct trc_longest *longest, struct trc_longest_row row);
/* The line above the list; `who` is what waits. */
void trc_longest_columns(struct trc_report *r, const char *who);
struct trc_longest_times {
	int64_t start_ns, end_ns;
	bool before; /* it began before start_ns */
	bool longer; /* it lasted for longer than that */
};
/* The first two columns: how long it lasted and when it began. */
void trc_longest_times(const struct trc_report *r, struct trc_line *line,
		       const struct trc_longest_times *times);

/* ---- slowest.c ---- */
enum { TRC_SLOWEST_MAX = 100 }; /* of more tasks only so many are followed */
/* Lines of what the slowest tasks of this type took their time for.  0 or -ENOMEM. */
int trc_report_slowest(struct trc_report *r, const char *type);

/* ---- findings.c ---- */
/* struct trc_finding to *out, which is the caller's to free, also after a failure.  0 or -ENOMEM. */
int trc_report_findings(struct trc_report *r, struct trc_array *out);
struct trc_finding;
/* With what it was due to and what helps; "who: " before the sentence.  finding_print.c */
void trc_finding_print(struct trc_report *r, const struct trc_finding *f, const char *who);
/* The sentence alone, in one line. */
void trc_finding_print_line(struct trc_report *r, const struct trc_finding *f, const char *who);

/* A line for each order of locks that could be a deadlock; none without any.  0 or -ENOMEM. */
int trc_report_risk_lines(struct trc_report *r);
/* The same of threads that could run and had no proc: then waits are long because of that. */
int trc_report_procs_lines(struct trc_report *r);

/* ---- sections ---- */
int trc_report_findings_section(struct trc_report *r);
int trc_report_deadlocks(struct trc_report *r);
/* "DEADLOCK: 2 threads wait for each other"; of n rows, all of one deadlock. */
void trc_report_deadlock_headline(struct trc_report *r, struct trc_line *line,
				  const struct trc_deadlock *row, size_t n);
/* The same as one line; none without a deadlock. */
void trc_report_deadlock_line(struct trc_report *r);
/* That the process crashed or was killed; none if it was not.  0 or -ENOMEM. */
int trc_report_crash_line(struct trc_report *r);
int trc_report_ended(struct trc_report *r);
/* "SIGSEGV, SEGV_MAPERR: address not mapped to object (0x40)" */
void trc_report_signal(struct trc_line *line, const struct trc_signal *s);
/* What the process itself noted of its end: "thread 4711: SIGSEGV, ..."; needs info "signal". */
void trc_report_signal_note(struct trc_report *r, struct trc_line *line);
int trc_report_snapshot(struct trc_report *r);
int trc_report_now(struct trc_report *r);
int trc_report_cpu(struct trc_report *r);
int trc_report_heap(struct trc_report *r);
/* CPU time was sampled. */
bool trc_report_has_cpu(const struct trc_report *r);
int trc_report_waits(struct trc_report *r);
int trc_report_holders(struct trc_report *r);
int trc_report_longest(struct trc_report *r);
int trc_report_threads(struct trc_report *r);
int trc_report_latencies(struct trc_report *r);
int trc_report_fibers(struct trc_report *r);
int trc_report_by_label(struct trc_report *r);
int trc_report_user(struct trc_report *r);
/* "caused by ...", "woken by ...", "89% timed out"; false if nothing is known. */
bool trc_report_blame(struct trc_report *r, struct trc_line *line,
		      const struct trc_group_details *details);
/* "mutex settings.lock", "mutex, 12 objects". */
void trc_report_what(struct trc_report *r, struct trc_line *line,
		     const struct trc_group_details *details);

#endif
