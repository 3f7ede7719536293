/* own_locks.c - see own_locks.h. */
#include "own_locks.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "at_work.h"
#include "format/check.h"

enum {
	WAITS_LEAST = 20,
	LIVES_PART = 100,
	PEERS_PERCENT = 80,
	WAKINGS_PERCENT = 55,
	AGAIN_NS = 50000,
	PEER_PART = 4,
	AT_WORK_PERCENT = 50,
	OUTER_PART = 10, /* M4: of its waits one in so many at least */
	NAMED_FRAMES = 3
};

/* A thread at a place. */
struct member {
	int64_t ns;
	uint32_t last,
		n_shared; /* row + 1 of its last wait there; the calls shared with the waking */
	bool was_outer;	  /* since then */
};

struct finder {
	struct trc_own_locks *own;
	struct trc_report *r;
	struct trc_index member_of; /* by lock and row of thread */
	struct trc_array members;
	struct trc_array known; /* struct known, by number of member */
	struct latest *latest;	/* by row of thread */
	uint32_t *first_known;	/* by row of thread: the first of its candidates, a number */
	uint8_t *ends;		/* by stack id: what ends_transaction() says, looked at once */
};

/* Numbers of the place that was asked for last of a thread: most threads wait many times at one. */
struct latest {
	uint32_t lock, member;
};

/* A place that a thread has waited at. */
struct known {
	uint32_t lock; /* a number */
	uint32_t row;  /* of the thread */
	uint32_t next; /* number of another candidate of the thread; 0 = none */
};

static bool can_be(const struct trc_park *park)
{
	return park->reason == TRC_REASON_COND || park->reason == TRC_REASON_SEM ||
	       park->reason == TRC_REASON_FUTEX;
}

static uint64_t own_lock_key(const struct trc_report *r, const struct trc_park *park)
{
	const uint64_t key[] = {park->reason, trc_report_functions(r, park->stack)};

	return trc_check64(key, sizeof(key), 0);
}

/* Most stacks have waits for one reason: their places are kept.  0 = it has no place yet, or can have none. */
static uint32_t place_number(const struct trc_own_locks *own, const struct trc_report *r,
			     const struct trc_park *park)
{
	uint32_t number;

	if (!can_be(park))
		return 0;
	if (park->stack < own->n_stacks && own->of_stack[park->stack].reason == park->reason)
		return own->of_stack[park->stack].number;
	if (!trc_report_functions(r, park->stack))
		return 0;
	number = trc_index_get(&own->lock_of, own_lock_key(r, park));
	return number == TRC_INDEX_NONE ? 0 : number;
}

static int64_t own_wait_ns(const struct trc_report *r, const struct trc_park *park)
{
	return trc_park_end_ns(r->m, park) - trc_park_start_ns(r->m, park);
}

/* ---- names ---- */

static bool word_is_lock(const char *word, size_t n)
{
	static const char *const WORDS[] = {"lock",    "locks",	 "latch",
					    "acquire", "rwlock", "lwlock"};

	for (size_t i = 0; i < sizeof(WORDS) / sizeof(*WORDS); i++)
		if (strlen(WORDS[i]) == n && !strncasecmp(word, WORDS[i], n))
			return true;
	return false;
}

/* "lock_free_queue", "LockFreeList". */
static bool goes_on_free(const char *at)
{
	while (*at && !isalpha((unsigned char)*at))
		at++;
	return !strncasecmp(at, "free", 4) && !islower((unsigned char)at[4]);
}

/* "row_lock", "LockManager::wait" and the like; not "unlock", "clock", "lock_free", nor what stands in parameters. */
static bool says_lock(const char *function)
{
	const char *word = function, *at = function;

	for (; *at && *at != '(' && *at != '<'; at++) {
		bool begins =
			isupper((unsigned char)*at) && at > word && islower((unsigned char)at[-1]);

		if (isalpha((unsigned char)*at) && !begins)
			continue;
		if (word_is_lock(word, (size_t)(at - word)) && !goes_on_free(at))
			return true;
		word = begins ? at : at + 1;
	}
	return word_is_lock(word, (size_t)(at - word));
}

/* Whether a function of the first n of this stack is one of these, by its name up to the parameters. */
static bool has_function(const struct trc_report *r, uint32_t stack, size_t max,
			 const char *const *names, size_t n_names)
{
	for (size_t i = 0; i < max; i++) {
		const struct trc_frame *frame = trc_report_own_frame(r, stack, i);

		if (!frame)
			return false;
		for (size_t k = 0; frame->function && k < n_names; k++) {
			size_t n = strlen(names[k]);

			if (!strncmp(frame->function, names[k], n) &&
			    (!frame->function[n] || frame->function[n] == '('))
				return true;
		}
	}
	return false;
}

#define HAS(r, stack, max, names) has_function(r, stack, max, names, sizeof(names) / sizeof(*names))

/* Of MySQL and MariaDB: these are exported, so that they have names also without debug information. */
static bool ends_transaction(const struct trc_report *r, uint32_t stack)
{
	static const char *const ENDS[] = {
		"ha_commit_trans",   "ha_commit_one_phase", "ha_rollback_trans",  "trans_commit",
		"trans_commit_stmt", "trans_rollback",	    "trans_rollback_stmt"};

	return HAS(r, stack, SIZE_MAX, ENDS);
}

static bool is_in_handler(const struct trc_report *r, uint32_t stack)
{
	for (size_t i = 0;; i++) {
		const struct trc_frame *frame = trc_report_own_frame(r, stack, i);

		if (!frame)
			return false;
		if (frame->function && !strncmp(frame->function, "handler::ha_", 12))
			return true;
	}
}

static bool is_named(const struct trc_report *r, uint32_t stack)
{
	for (size_t i = 0; i < NAMED_FRAMES; i++) {
		const struct trc_frame *frame = trc_report_own_frame(r, stack, i);

		if (frame && frame->function && says_lock(frame->function))
			return true;
	}
	return false;
}

const char *trc_own_lock_name(const struct trc_own_lock *lock, const struct trc_report *r)
{
	static const char *const INNODB[] = {"lock_wait", "lock_wait_suspend_thread"};
	uint32_t stack = r->park[lock->longest].stack;

	if (HAS(r, stack, NAMED_FRAMES, INNODB))
		return "InnoDB's row locks";
	if (lock->commits_ns >= lock->ns / 2 && is_in_handler(r, stack))
		return "the storage engine's row locks";
	return NULL;
}

/* ---- who waits where ---- */

static struct member *own_member(struct finder *f, uint32_t lock, uint32_t row)
{
	struct latest *latest = &f->latest[row];
	struct known *known;
	uint32_t number;

	if (latest->lock == lock)
		return (struct member *)f->members.row + latest->member - 1;
	number = trc_index_number(&f->member_of, (uint64_t)lock << 32 | row);
	if (number > f->members.n) {
		known = trc_array_add(&f->known);
		if (!known || !trc_array_add(&f->members))
			return NULL;
		*known = (struct known){.lock = lock, .row = row};
	}
	if (!number)
		return NULL;
	*latest = (struct latest){lock, number};
	return (struct member *)f->members.row + number - 1;
}

/* Of a wait that can be at one: 0 = no memory. */
static uint32_t place_make(struct trc_own_locks *own, const struct trc_report *r,
			   const struct trc_park *park)
{
	uint32_t number = place_number(own, r, park);

	if (number)
		return number;
	number = trc_index_number(&own->lock_of, own_lock_key(r, park));
	if (park->stack < own->n_stacks && !own->of_stack[park->stack].reason)
		own->of_stack[park->stack] = (struct trc_own_place){park->reason, number};
	return number;
}

static int add_wait(struct finder *f, uint32_t i, uint32_t row)
{
	const struct trc_park *park = &f->r->park[i];
	uint32_t number = place_make(f->own, f->r, park);
	struct trc_own_lock *lock = number > f->own->locks.n
					    ? trc_array_add(&f->own->locks)
					    : (struct trc_own_lock *)f->own->locks.row + number - 1;
	struct member *member = number && lock ? own_member(f, number, row) : NULL;
	int64_t ns = own_wait_ns(f->r, park);

	if (!member)
		return -ENOMEM;
	if (!lock->n++ || ns > own_wait_ns(f->r, &f->r->park[lock->longest]))
		lock->longest = i;
	lock->reason = park->reason;
	if (!member->last) {
		lock->n_threads++;
		trc_report_add(&lock->threads_ns, trc_report_lifetime_ns(f->r, &f->r->thread[row]));
	}
	member->last = i + 1;
	trc_report_add(&member->ns, ns);
	trc_report_add(&lock->ns, ns);
	return 0;
}

static int find_places(struct finder *f)
{
	int err = 0;

	for (size_t i = 0; i < f->r->n_parks && !err; i++) {
		const struct trc_park *park = &f->r->park[i];
		const struct trc_thread *thread = trc_model_thread(f->r->m, park->thread);

		if (thread && can_be(park) && trc_report_functions(f->r, park->stack))
			err = add_wait(f, (uint32_t)i, (uint32_t)(thread - f->r->thread));
	}
	return err;
}

/* ---- who wakes whom, and what they do beside it ---- */

static struct trc_own_lock *place_of(const struct finder *f, const struct trc_park *park,
				     uint32_t *number)
{
	*number = place_number(f->own, f->r, park);
	return *number ? (struct trc_own_lock *)f->own->locks.row + *number - 1 : NULL;
}

static bool same_function(const struct trc_frame *a, const struct trc_frame *b)
{
	return a && b && a->function && b->function && !strcmp(a->function, b->function);
}

/* M7 */
static bool is_meeting(const struct trc_report *r, const struct trc_park *park)
{
	enum { WRAPPERS = 1 };
	const struct trc_frame *wakes = trc_report_own_frame(r, park->waker_stack, 0);
	const struct trc_frame *caller = trc_report_own_frame(r, park->waker_stack, 1);

	for (size_t i = 0; i <= WRAPPERS; i++)
		if (same_function(wakes, trc_report_own_frame(r, park->stack, i)) &&
		    same_function(caller, trc_report_own_frame(r, park->stack, i + 1)))
			return true;
	return false;
}

/* M2 */
static bool is_peer(const struct finder *f, const struct trc_own_lock *lock, uint32_t number,
		    const struct trc_park *park)
{
	const struct trc_thread *waker =
		park->waker ? trc_model_thread(f->r->m, park->waker) : NULL;
	uint32_t at, row;

	if (!waker || park->waker == park->thread)
		return false;
	row = (uint32_t)(waker - f->r->thread);
	at = f->latest[row].lock == number
		     ? f->latest[row].member
		     : trc_index_get(&f->member_of, (uint64_t)number << 32 | row);
	return at != TRC_INDEX_NONE &&
	       ((struct member *)f->members.row)[at - 1].ns >=
		       lock->ns / lock->n_threads / PEER_PART &&
	       !is_meeting(f->r, park);
}

/* M2 */
static bool is_among_peers(const struct trc_own_lock *lock)
{
	return lock->n_threads > 1 && lock->n >= WAITS_LEAST && lock->ns > 0 &&
	       lock->ns >= lock->threads_ns / LIVES_PART && /* M8 */
	       lock->peers_ns >= lock->ns / 100 * PEERS_PERCENT;
}

static bool is_candidate(const struct trc_own_lock *lock)
{
	uint64_t n_came_in = lock->n - lock->n_again; /* M6 */

	return is_among_peers(lock) && lock->n_wakings >= n_came_in * WAKINGS_PERCENT / 100 &&
	       n_came_in >= lock->n_wakings / 2;
}

/* A thread's last wait but for locks. */
struct own_before {
	uint32_t place;		   /* number; 0 = of none */
	int64_t end_ns, locked_ns; /* locked_ns: since then it waited for locks */
};

/* M6 */
static int count_waking(struct trc_own_lock *lock, uint32_t number, struct trc_index *wakings,
			const struct trc_park *park, const struct own_before *before)
{
	const uint64_t key[] = {number, park->waker, (uint64_t)park->wake_ns};
	size_t n = wakings->n;

	if (before->place == number &&
	    park->start_ns - before->end_ns - before->locked_ns < AGAIN_NS)
		lock->n_again++;
	if (!park->waker)
		return 0;
	if (!trc_index_number(wakings, trc_check64(key, sizeof(key), 0)))
		return -ENOMEM;
	lock->n_wakings += wakings->n > n;
	return 0;
}

static int count_wakings(struct finder *f)
{
	struct own_before *before = calloc(f->r->n_threads + 1, sizeof(*before));
	struct trc_index wakings = {0};
	int err = before ? 0 : -ENOMEM;

	for (size_t i = 0; i < f->r->n_parks && !err; i++) {
		const struct trc_park *park = &f->r->park[i];
		const struct trc_thread *thread = trc_model_thread(f->r->m, park->thread);
		uint32_t number;
		struct trc_own_lock *lock = place_of(f, park, &number);
		struct own_before *of = thread ? &before[thread - f->r->thread] : NULL;

		if (!of)
			continue;
		if (trc_wait_class(park->reason) == TRC_WAIT_LOCKS) {
			trc_report_add(&of->locked_ns, own_wait_ns(f->r, park));
			continue;
		}
		if (lock && is_among_peers(lock))
			err = count_waking(lock, number, &wakings, park, of);
		*of = (struct own_before){lock ? number : 0, trc_park_end_ns(f->r->m, park), 0};
	}
	trc_index_free(&wakings);
	free(before);
	return err;
}

static void sum_peers(struct finder *f)
{
	uint32_t number;

	for (size_t i = 0; i < f->r->n_parks; i++) {
		const struct trc_park *park = &f->r->park[i];
		struct trc_own_lock *lock = place_of(f, park, &number);

		if (lock && is_peer(f, lock, number, park))
			trc_report_add(&lock->peers_ns, own_wait_ns(f->r, park));
	}
}

static bool any_is(const struct trc_own_locks *own, bool (*is)(const struct trc_own_lock *lock))
{
	const struct trc_own_lock *lock = own->locks.row;
	bool any = false;

	for (size_t i = 0; i < own->locks.n; i++)
		any |= is(&lock[i]);
	return any;
}

static bool is_of_commit(struct finder *f, uint32_t stack)
{
	enum { UNSEEN, OTHER, ENDS };

	if (!stack || stack >= f->r->n_canonical)
		return false;
	if (f->ends[stack] == UNSEEN)
		f->ends[stack] = ends_transaction(f->r, stack) ? ENDS : OTHER;
	return f->ends[stack] == ENDS;
}

/* M3 */
static void look_at_wait(struct finder *f, struct trc_own_lock *lock, uint32_t number, uint32_t i,
			 uint32_t row)
{
	const struct trc_park *park = &f->r->park[i];
	struct member *member = own_member(f, number, row);
	int64_t ns = own_wait_ns(f->r, park);

	if (!member || !is_peer(f, lock, number, park))
		return;
	if (trc_report_is_at_work(f->r, park->thread, trc_park_start_ns(f->r->m, park)))
		trc_report_add(&lock->at_work_ns, ns);
	if (is_of_commit(f, park->waker_stack))
		trc_report_add(&lock->commits_ns, ns);
	member->last = i + 1;
	member->n_shared = (uint32_t)trc_report_shared_calls(f->r, park->stack, park->waker_stack);
	member->was_outer = false;
}

/* M4, for all places at which the thread has waited. */
static void look_further_out(struct finder *f, const struct trc_park *park, uint32_t row,
			     uint32_t place)
{
	uint32_t number = f->first_known[row];
	const struct known *known = f->known.row;

	if (!number || trc_wait_class(park->reason) == TRC_WAIT_LOCKS || !park->stack)
		return;
	for (; number; number = known[number - 1].next) {
		struct member *member = (struct member *)f->members.row + number - 1;
		struct trc_own_lock *lock =
			(struct trc_own_lock *)f->own->locks.row + known[number - 1].lock - 1;

		if (known[number - 1].lock == place || !member->n_shared || member->was_outer)
			continue;
		if (trc_report_shared_calls(f->r, f->r->park[member->last - 1].stack,
					    park->stack) >= member->n_shared)
			continue;
		member->was_outer = true;
		lock->n_outer++;
	}
}

/* From here on a thread's known places are its candidates. */
static void know_candidates(struct finder *f)
{
	struct trc_own_lock *lock = f->own->locks.row;
	struct known *known = f->known.row;

	for (size_t i = 0; i < f->own->locks.n; i++)
		lock[i].is_candidate = is_candidate(&lock[i]);
	for (uint32_t i = 0; i < f->known.n; i++) {
		if (!lock[known[i].lock - 1].is_candidate)
			continue;
		known[i].next = f->first_known[known[i].row];
		f->first_known[known[i].row] = i + 1;
	}
}

static void look_at_waits(struct finder *f)
{
	for (uint32_t i = 0; i < f->r->n_parks; i++) {
		const struct trc_park *park = &f->r->park[i];
		const struct trc_thread *thread = trc_model_thread(f->r->m, park->thread);
		uint32_t number;
		struct trc_own_lock *lock = place_of(f, park, &number);

		if (!thread)
			continue;
		if (lock && lock->is_candidate)
			look_at_wait(f, lock, number, i, (uint32_t)(thread - f->r->thread));
		look_further_out(f, park, (uint32_t)(thread - f->r->thread), number);
	}
}

/* M2, M3 */
static bool is_own_lock(const struct trc_own_lock *lock)
{
	return lock->is_candidate &&
	       (lock->named || lock->at_work_ns >= lock->peers_ns / 100 * AT_WORK_PERCENT ||
		lock->n_outer >= lock->n / OUTER_PART);
}

static int look(struct finder *f)
{
	int err = trc_report_at_work_init(f->r);

	f->ends = calloc(f->r->n_canonical + 1, sizeof(*f->ends));
	f->first_known = calloc(f->r->n_threads + 1, sizeof(*f->first_known));
	if (err || !f->ends || !f->first_known)
		return -ENOMEM;
	know_candidates(f);
	look_at_waits(f);
	for (size_t i = 0; i < f->own->locks.n; i++) {
		struct trc_own_lock *lock = (struct trc_own_lock *)f->own->locks.row + i;

		lock->named = is_named(f->r, f->r->park[lock->longest].stack);
		lock->tells = is_own_lock(lock);
		f->own->any_tells |= lock->tells;
	}
	return 0;
}

static int own_locks_find(struct trc_own_locks *own, struct trc_report *r)
{
	struct finder f = {.own = own,
			   .r = r,
			   .members = {.row_bytes = sizeof(struct member)},
			   .known = {.row_bytes = sizeof(struct known)}};
	int err = -ENOMEM;

	own->locks.row_bytes = sizeof(struct trc_own_lock);
	own->n_stacks = r->n_canonical;
	own->of_stack = calloc(own->n_stacks + 1, sizeof(*own->of_stack));
	f.latest = calloc(r->n_threads + 1, sizeof(*f.latest));
	if (own->of_stack && f.latest)
		err = find_places(&f);
	if (!err) {
		sum_peers(&f);
		if (any_is(own, is_among_peers))
			err = count_wakings(&f);
	}
	if (!err && any_is(own, is_candidate))
		err = look(&f);
	trc_index_free(&f.member_of);
	trc_array_free(&f.members);
	trc_array_free(&f.known);
	free(f.latest);
	free(f.first_known);
	free(f.ends);
	return err;
}

int trc_report_own_locks(struct trc_report *r, const struct trc_own_locks **own)
{
	int err = 0;

	if (!r->own_locks) {
		r->own_locks = calloc(1, sizeof(*r->own_locks));
		err = r->own_locks ? own_locks_find(r->own_locks, r) : -ENOMEM;
	}
	*own = r->own_locks;
	return err;
}

void trc_own_locks_free(struct trc_own_locks *own)
{
	if (!own)
		return;
	trc_array_free(&own->locks);
	trc_index_free(&own->lock_of);
	free(own->of_stack);
	free(own);
}

const struct trc_own_lock *trc_own_lock_of(const struct trc_own_locks *own,
					   const struct trc_report *r, const struct trc_park *park)
{
	const struct trc_own_lock *lock = own->locks.row;
	uint32_t number = own->any_tells ? place_number(own, r, park) : 0;

	return number && lock[number - 1].tells ? &lock[number - 1] : NULL;
}
