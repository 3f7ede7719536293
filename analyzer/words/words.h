/*
 * words.h - the parts of an answer in words: the selected part of a trace, names of its threads, stacks, objects and
 * labels, and its waits in groups.
 */
#ifndef TRC_ANALYZER_WORDS_WORDS_H
#define TRC_ANALYZER_WORDS_WORDS_H

#include "analyzer/model/array.h"
#include "analyzer/model/between.h"
#include "analyzer/model/selection.h"
#include "analyzer/model/waits.h"
#include "analyzer/text/line.h"
#include "report_options.h"

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
	int64_t length_ns; /* of the trace; with a selection the most that any thread has of it */
	FILE *out;
	const char *path;
	int width;
	bool colour;
	bool full; /* stacks frame by frame */
	size_t top;
	/* By stack id: the first stack of the same place. */
	uint32_t *canonical;
	/* By the id of such a stack: a stack of this place, and how many of its own frames all stacks of the place have; the others
	 * were called by several.  Of a selection these are the stacks that trc_report_canonical() was asked for. */
	struct trc_report_callers {
		uint32_t stack, n_frames;
		bool several;
		bool is_told; /* by the id of any stack: it was asked for */
	} * callers;
	uint32_t *frames_alike; /* by id of a frame: the first one of which the same is said */
	/* By stack id: the first stack whose innermost own frame is at the same line. */
	uint32_t *same_place;
	/* By stack id: what trc_report_functions() and trc_report_outermost() are. */
	struct trc_report_ends {
		uint64_t functions, outermost;
	} * ends;
	size_t n_canonical;
	/* By row of thread, then by class: time in waits, each moment counted once, without what of them had no proc
	 * (timeline:P1); and that. */
	int64_t (*class_ns)[TRC_WAIT_CLASSES];
	int64_t *no_proc_ns;
	/* By row of thread: the reason << 32 and place of most of the waits in which it is idle, 0 = none;
	 * NULL with a filter. */
	uint64_t *idle_at;
	/* Of these threads, where and for what they wait; of each the first, by row of thread. */
	struct trc_array idle_sums;
	uint32_t *idle_first;
	struct trc_array at_work; /* of at_work.c: by thread and time */
	bool *module_shown;	  /* by module id: has frames without lines in what was printed */
	bool any_section;
	bool any_line;			 /* was printed before, of this answer or another */
	struct trc_causes *causes;	 /* of trc_report_causes(); owned */
	struct trc_own_locks *own_locks; /* of trc_report_own_locks(); owned */
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
	int64_t no_proc_ns; /* of total_ns: timeline:P1 */
};

enum { TRC_GROUP_LABELS_MAX = 3 };

/* What is shown of a group beyond its sums. */
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

/* ---- context.c ---- */
int trc_report_begin(struct trc_report *r, struct trc_model *m, FILE *out,
		     const struct trc_report_options *options, struct trc_error *error);
void trc_report_end(struct trc_report *r);
/* The causes of waits: made when they are first asked for, valid until trc_report_end().  0 or
 * -ENOMEM. */
struct trc_causes;
int trc_report_causes(struct trc_report *r, struct trc_causes **causes);
/* The rows of causes of r->park[i], which may be a part of a wait; valid until the next call.  0 or -ENOMEM. */
struct trc_cause;
int trc_report_causes_of_park(struct trc_report *r, size_t i, const struct trc_cause **row,
			      size_t *n);
/* True if the same time of all threads is selected: all of it, or a window. */
bool trc_report_has_all_threads(const struct trc_report *r);
/* Which part of this time is selected, if the same time of all threads is. */
int64_t trc_report_later_ns(const struct trc_report *r, int64_t from_ns);
int64_t trc_report_earlier_ns(const struct trc_report *r, int64_t to_ns);
/* An empty line, unless nothing is above it, and the heading in bold; `right` (may be NULL) follows it. */
void trc_report_heading(struct trc_report *r, const char *heading, const char *right);
void trc_report_line(struct trc_report *r, struct trc_line *line);
/* "    and 5 more", if n rows are more than are printed. */
void trc_report_more(struct trc_report *r, size_t n);
/* The table's first row from `i` on that may have something of what is selected (between:W1). */
size_t trc_report_next_row(const struct trc_report *r, enum trc_between_table table, size_t i);
/* The id of r->park[i] in the model's parks. */
static inline uint32_t trc_report_park_id(const struct trc_report *r, size_t i)
{
	return r->wanted_ids ? r->wanted_ids[i] : (uint32_t)i + 1;
}
/* What the recorder noted under this key, NULL if nothing. */
const char *trc_report_info(const struct trc_report *r, const char *key);
uint64_t trc_report_count_threads(const struct trc_report *r, enum trc_thread_counts as);
/* True if the trace was made of what a dead process left: how long it lived after the trace's end
 * is not known. */
bool trc_report_recovered(const struct trc_report *r);
enum { TRC_LASTED_BYTES = TRC_NUMBER_BYTES + 2 };
/* How long what goes on at the trace's end has lasted, "> 1.25 s" where it may have been longer.
 * Returns `out`. */
const char *trc_report_until_end(const struct trc_report *r, char out[TRC_LASTED_BYTES],
				 int64_t since_ns);
/* The time on a proc in the selected part of the thread in this row; TRC_NEVER = not known. */
int64_t trc_report_on_cpu_ns(const struct trc_report *r, size_t row);

/* ---- lost.c ---- */
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
/* If the recorder's tables were full: what is therefore missing, and what helps. */
void trc_report_full_lines(struct trc_report *r);
/* A line for a recording whose rings were full: how large they had to be. */
void trc_report_ring_line(struct trc_report *r);
/* Rings were full: how large they were, and would have had to be.  false: none was. */
struct trc_ring_hint {
	uint64_t now_bytes, enough_bytes;
};
bool trc_report_ring_of(const struct trc_report *r, struct trc_ring_hint *ring);
/* "with --ring-size 8M instead of 4M the rings would have held them" */
void trc_report_ring_words(struct trc_line *line, const struct trc_ring_hint *ring);

/* ---- names.c ---- */
/* The innermost frame of the program's own: "settings_get trc-demo.c:211".  Without a name it has that of the first caller that
 * has one: "postgres+0x1e8646 (below XLogFlush)", of the callers that all stacks of this place have. */
void trc_report_place(struct trc_report *r, struct trc_line *line, uint32_t stack);
/* Whether that says the same of both. */
bool trc_report_reads_alike(const struct trc_report *r, uint32_t a, uint32_t b);
/* For a canonical stack, the innermost frame and its callers: "... < worker_run :302".  The callers are those that all
 * stacks of this place have; where the stacks differ, "< (several callers)". */
void trc_report_chain(struct trc_report *r, struct trc_line *line, uint32_t stack);
/* Adds the chain, or with --full each frame in a line of its own, below the first; prints the line. */
void trc_report_stack(struct trc_report *r, struct trc_line *line, uint32_t stack);
/* The same for this one stack alone: all of its callers. */
void trc_report_one_stack(struct trc_report *r, struct trc_line *line, uint32_t stack);
/* Always each frame in a line of its own: also where libc is called or calls, but not the frames that start a thread. */
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
/* How long the thread lived within the trace, or within the selected part. */
int64_t trc_report_lifetime_ns(const struct trc_report *r, const struct trc_thread *thread);
uint32_t trc_report_canonical(const struct trc_report *r, uint32_t stack);
/* The first stack for which trc_report_place() gives the same words; 0 = it has no frames. */
uint32_t trc_report_same_place(const struct trc_report *r, uint32_t stack);
/* Equal for stacks whose innermost own function is the same, and called by the same function; 0 = no frames. */
uint64_t trc_report_functions(const struct trc_report *r, uint32_t stack);
/* Equal for stacks whose outermost own function, where a thread began, is the same; above 1; 0 = not
 * known. */
uint64_t trc_report_outermost(const struct trc_report *r, uint32_t stack);
/* A frame of the program's own, 0 is the innermost; NULL = the stack has fewer. */
const struct trc_frame *trc_report_own_frame(const struct trc_report *r, uint32_t stack, size_t i);
/* How many calls of these, from the outermost on, led to both stacks. */
size_t trc_report_shared_calls(const struct trc_report *r, uint32_t a, uint32_t b);
int trc_report_canonical_init(struct trc_report *r);
/* After that, both; 0 or -ENOMEM. */
int trc_report_same_place_init(struct trc_report *r);
int trc_report_ends_init(struct trc_report *r);
/* troubles.c: modules whose functions were shown without lines, and why; addresses without names. */
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
/* What the descriptor was in the wait with this id in the model's parks; 0 = not known. */
uint32_t trc_report_park_descriptor(const struct trc_report *r, uint32_t id);
/* Adds a descriptor to the descriptors of a group, with the time of its waits. */
void trc_report_descriptor_into(const struct trc_report *r, struct trc_group_details *d,
				uint32_t descriptor, int64_t ns);
/* " /var/wal (fd 3)", " 37 connections of 127.0.0.1:80"; false if nothing is known. */
bool trc_report_descriptors(struct trc_report *r, struct trc_line *line,
			    const struct trc_group_details *d);

/* ---- label_names.c ---- */
int trc_report_labels_init(struct trc_report *r);
/* Whether a thread is selected at this time and place, so that what it did then is told. */
bool trc_report_wanted(const struct trc_report *r, uint32_t thread, int64_t ts_ns, uint64_t place);
/* "tenant=42"; tenant="42" if there is a number 42, too. */
void trc_report_label(const struct trc_report *r, struct trc_line *line,
		      const struct trc_set_label *label);
/* Its value alone, in so many columns at most. */
void trc_report_label_value(const struct trc_report *r, struct trc_line *line,
			    const struct trc_set_label *label, int max_width);
/* A line with all labels of the set; none if it has none. */
void trc_report_labels_line(struct trc_report *r, uint32_t labels);

/* ---- selection.c ---- */
/* Says that there is a selection. */
void trc_report_selection_lines(struct trc_report *r);

/* ---- context.c: sums ---- */
/* A value that does not fit becomes the largest that does. */
static inline int64_t trc_report_int64(uint64_t value)
{
	return value < INT64_MAX ? (int64_t)value : INT64_MAX;
}

/* Adds to a sum; what does not fit stays at the largest that does. */
void trc_report_add(int64_t *sum, int64_t value);

/* ---- idle.c ---- */
/* After class_ns and canonical stacks are there.  0 or -ENOMEM. */
int trc_report_idle_init(struct trc_report *r);
/* True if the thread does nearly nothing but wait like this. */
bool trc_report_is_idle(const struct trc_report *r, const struct trc_park *park);
/* Adds an idle wait.  0 or -ENOMEM. */
int trc_report_idle_add(struct trc_groups *g, const struct trc_report *r,
			const struct trc_park *park);
/* After all were added. */
void trc_report_idle_count(struct trc_groups *g, const struct trc_report *r);
/* "20.8 s  idle: 3 threads in cond at ..."; nothing if there are no idle threads. */
void trc_report_idle_line(struct trc_report *r, const struct trc_groups *g,
			  enum trc_wait_class class);

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

/* ---- group_names.c ---- */
/* "mutex settings.lock", "mutex, 12 objects". */
void trc_report_what(struct trc_report *r, struct trc_line *line,
		     const struct trc_group_details *details);

/* ---- alarm_names.c ---- */
/* "DEADLOCK: 2 threads wait for each other"; of n rows, all of one deadlock. */
void trc_report_deadlock_headline(struct trc_report *r, struct trc_line *line,
				  const struct trc_deadlock *row, size_t n);
/* "SIGSEGV, SEGV_MAPERR: address not mapped to object (0x40)" */
void trc_report_signal(struct trc_line *line, const struct trc_signal *s);
/* What the process itself noted of its end: "thread 4711: SIGSEGV, ..."; needs info "signal". */
void trc_report_signal_note(struct trc_report *r, struct trc_line *line);

/* ---- deadlock_remedy.c ---- */
/* What helps against the deadlock of these rows, those in the cycle; and in *order whose order of locks to change: an
 * empty line if that is not known. */
const char *trc_report_deadlock_remedy(struct trc_report *r, struct trc_line *order,
				       const struct trc_deadlock *row, size_t n_cycle);

#endif
