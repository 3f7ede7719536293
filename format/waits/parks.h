/*
 * parks.h - the waits that a thread is in, while its events go by.
 *
 * The owner has the memory, and knows the identity of threads and stacks; this engine says which
 * wait an event begins or ends.  The analyzer feeds it from files, the recorder's fold while events
 * come.
 *
 *   parks:K1  the open parks of a thread are a stack: a signal handler may park while the
 *       thread that it interrupted is parked
 *   parks:K2  a resume ends the innermost open park with the resume's reason and object.  Parks
 *       that are open inside this park were left without a resume: they are abandoned
 *   parks:K3  an open park is abandoned, too, when its thread does something that a signal handler
 *       inside the park could not do: it exits, ends a region that was open when it parked, runs
 *       another fiber, or has a stack that does not contain the park's; the last two do not count
 *       for a wait that the program announced.  Steps of the wait itself do not count either: a
 *       wait for a condition gives up its mutex and takes it again, and a wait for a lock takes the
 *       lock
 *   parks:K4  a park that is open at the end is still in progress, unless other events of the
 *       thread followed and the status table does not confirm the wait
 *   parks:K7  a wait for a condition ends when its thread was signalled.  A wait for the mutex
 *       follows, which is recorded at its end, before the resume
 *
 * The owner's rules say what happens to waits if a window begins in their middle.
 *
 * Times are of any unit and order; 0 = not known.
 */
#ifndef TRC_FORMAT_WAITS_PARKS_H
#define TRC_FORMAT_WAITS_PARKS_H

#include <stdbool.h>
#include <stdint.h>

/* A wait in progress, in memory of the owner's. */
struct trc_open_park {
	struct trc_open_park *around; /* the park that goes on around it; NULL = none */
	uint64_t start, object;
	uint64_t next;	/* the thread's first event since; 0 = none */
	uint64_t woken; /* of a condition: when it began to wait for its mutex; 0 = not told */
	uint32_t stack; /* the owner's id; 0 = not known */
	int32_t region_depth;
	uint8_t reason;
};

/* The waits of a thread.  All zero: the thread is in no wait. */
struct trc_parks {
	struct trc_open_park *top; /* the innermost */
	uint32_t n_open;
	int32_t region_depth; /* as of its first event, or switch to a fiber */
};

/* An event that a thread recorded itself: trc_kind_is_own(). */
struct trc_park_event {
	uint64_t time, object;
	uint64_t since; /* WAIT: when it began, no later than `time` */
	uint32_t stack; /* if the kind has one: the owner's id */
	int result;	/* RESUME, WAIT */
	uint8_t kind, reason;
};

struct trc_parks_owner {
	/* frame[0] is the innermost, valid until the next call but one; false: not known. */
	bool (*stack)(void *context, uint32_t stack, const uint64_t **frame, uint32_t *n_frames);
	/* The park, which is the innermost no more, has ended; its memory is the owner's again.
	 * result: as the event told; -1 = it was abandoned. */
	void (*ended)(void *context, struct trc_open_park *park, uint64_t end, int result);
};

/* True if such an event changes the state of a thread that is in no wait. */
bool trc_parks_need(unsigned int kind);
/*
 * The thread's next event: ends the parks that the event ends, from the innermost outwards.  False:
 * the event is a RESUME, and there is no park that it could end.  For a PARK the owner then begins
 * the new wait by trc_park_begin().
 */
bool trc_parks_event(struct trc_parks *parks, const struct trc_park_event *e,
		     const struct trc_parks_owner *owner, void *context);
/* The thread waits in `park` from now on, as a PARK says. */
void trc_park_begin(struct trc_parks *parks, struct trc_open_park *park,
		    const struct trc_park_event *e);
/* Nobody can tell any more which waits the thread is in. */
void trc_parks_abandon(struct trc_parks *parks, uint64_t now, const struct trc_parks_owner *owner,
		       void *context);

/* The park that the WAIT was within, after trc_parks_event(); NULL = none.  K7: a wait for a
 * condition had ended by then. */
struct trc_open_park *trc_park_around(const struct trc_parks *parks,
				      const struct trc_park_event *wait);

/* K4, at the end, for each park from the innermost outwards: does the park still go on?  It does if
 * the park inside of it does, and began when nothing was lost any more. */
static inline bool trc_park_goes_on(const struct trc_open_park *park, bool inner_goes_on,
				    uint64_t last_gap)
{
	return !park->next || (inner_goes_on && last_gap < park->start);
}

#endif
