/* section_lengths.h - what finding critical sections and assuming their lengths share. */
#ifndef TRC_ANALYZER_WHATIF_SECTION_LENGTHS_H
#define TRC_ANALYZER_WHATIF_SECTION_LENGTHS_H

#include "sections.h"

/* Places that are no stacks: of the lock all that is known; what those last at least whose begin is not; and of readers
 * what may be several sections. */
enum { TRC_WHOLE_LOCK = 0, TRC_SHORTEST = UINT32_MAX, TRC_LONGEST = UINT32_MAX - 1 };

/* One thread and one lock. */
struct trc_lock_user {
	uint32_t thread, lock;
	uint32_t n_held; /* with --locks=all */
	uint32_t park;	 /* the wait that the open section begins with */
	bool open, reader, tried;
	int64_t begin_ns;    /* of the open section */
	int64_t limit_ns;    /* by then it has ended */
	int64_t released_ns; /* the last end; INT64_MIN = none */
	uint32_t wanted;     /* with --locks=all: the wait before the next acquisition */
	uint32_t stack;	     /* of the last wait for it; 0 = none, or not known */
};

/* How long a section was, at a place of a lock. */
struct trc_known_length {
	uint64_t key;
	int64_t ns;
};

struct trc_sweep {
	struct trc_sections *s;
	const struct trc_outer_waits *waits;
	const struct trc_unlock *unlock;
	bool assume, learning;
	struct trc_array uses, known; /* struct trc_lock_user, struct trc_known_length */
	struct trc_index use_row, known_row;
	struct trc_array locks, conds; /* by row of locks, of threads */
};

static inline int64_t trc_ns_between(int64_t from_ns, int64_t to_ns)
{
	int64_t ns;

	if (to_ns <= from_ns)
		return 0;
	return __builtin_sub_overflow(to_ns, from_ns, &ns) ? INT64_MAX : ns;
}

/* Of sections at a place of a lock.  Readers and writers may release a lock at the same place. */
uint64_t trc_length_key(uint32_t lock, bool reader, uint32_t stack);
/* A section with this key was so long.  0 or -ENOMEM. */
int trc_length_learn_one(struct trc_sweep *w, uint64_t key, int64_t ns);
/* stack: of the unlock, or of the wait that it began with; both are learnt, and the lock's. */
int trc_length_learn(struct trc_sweep *w, uint32_t lock, bool reader, uint32_t stack,
		     uint32_t wait_stack, int64_t ns);
/* After the last.  0 or -ENOMEM. */
int trc_length_learned(struct trc_sweep *w);
/* Of sections at this place, or of all of the lock; -1 = not known. */
int64_t trc_length_usual_ns(const struct trc_sweep *w, const struct trc_lock_user *use,
			    uint32_t stack);
/* sections:V5: a wait in the thread is within or without: the nearer of its ends. */
int64_t trc_length_out_of_wait(const struct trc_sweep *w, uint32_t thread, int64_t ts_ns);
/* Back over what the function called that unlocks. */
int64_t trc_length_over_calls(const struct trc_sweep *w, const struct trc_lock_user *use,
			      const struct trc_unlock *unlock, int64_t begin_ns, int64_t least_ns);

#endif
