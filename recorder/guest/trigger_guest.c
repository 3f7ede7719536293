/*
 * trigger_guest.c - in the recorded process: requests for snapshots, and the conditions that make
 * requests (trigger.h).
 *
 *   trigger_guest:Q1  one thread at a time fills in a place of the mapping's list.  A thread that
 *       finds the place taken leaves it, and the thread's request is only counted
 *   trigger_guest:Q2  an open task of a type in a condition has a place in `tasks`: 4096 places in
 *       sets of 8.  If a set is full, the task that began first loses its place, and is not
 *       reported
 *   trigger_guest:Q3  a member of `trc_trigger_least` is UINT64_MAX if no condition of its kind was
 *       asked for
 *   trigger_guest:Q4  conditions may be replaced while something records.  A thread that is reading
 *       the old conditions goes on with them, as they stay until the replacement after the next
 */
#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <string.h>
#include <sys/prctl.h>
#include "format/raw.h"
#include "recorder/ring/rec.h"
#include "recorder/shared/text.h"
#include "recorder/shared/trigger.h"
#include "recorder/unwind/poison.h"

struct trc_trigger_least trc_trigger_least = {UINT64_MAX, UINT64_MAX, UINT64_MAX};

struct condition {
	struct trc_trigger_spec spec;
	uint64_t min_ticks;
	uint64_t type; /* string id of spec.name */
};
struct conditions {
	struct condition at[TRC_TRIGGER_SPECS_MAX];
	unsigned int n;
};
static struct conditions either[2]; /* Q4 */
static const struct conditions *_Atomic current = &either[0];

static const struct conditions *conditions_now(void)
{
	/* acquire: pairs with the release in trc_triggers_set(). */
	return atomic_load_explicit(&current, memory_order_acquire);
}

static _Atomic uint32_t filling[TRC_TRIGGERS_MAX]; /* Q1 */

/* ---- open tasks ------------------------------------------------------------------------ */

enum { TASK_SETS = 512, TASK_WAYS = 8 };
#define TASK_BUSY UINT64_MAX
static struct open_task {
	_Atomic uint64_t task; /* 0 = free, TASK_BUSY = being filled in */
	_Atomic uint64_t type, since;
} tasks[TASK_SETS][TASK_WAYS];

static struct open_task *trigger_set(uint64_t task)
{
	return tasks[task * UINT64_C(0x9e3779b97f4a7c15) >> 55];
}

static bool trigger_is_watched(uint64_t type)
{
	const struct conditions *now = conditions_now();

	for (unsigned int i = 0; i < now->n; i++)
		if (now->at[i].spec.kind == TRC_TRIGGER_TASK && trc_id_same(now->at[i].type, type))
			return true;
	return false;
}

/* The place to use in a set: a free one, or else that of the task that began first. */
static struct open_task *place_for(struct open_task set[TASK_WAYS], uint64_t *holds)
{
	struct open_task *first = NULL;

	*holds = UINT64_MAX;
	for (int way = 0; way < TASK_WAYS; way++) {
		uint64_t task = atomic_load_explicit(&set[way].task, memory_order_relaxed);

		if (task != TASK_BUSY && task < *holds) { /* ids count up; 0 is a free place */
			first = &set[way];
			*holds = task;
		}
	}
	return first;
}

/* Takes a place; NULL if each is just being filled in. */
static struct open_task *trigger_place_take(struct open_task set[TASK_WAYS])
{
	/* Where a signal handler or another thread was faster there is another place. */
	for (int attempt = 0; attempt < TASK_WAYS; attempt++) {
		uint64_t holds;
		struct open_task *place = place_for(set, &holds);

		/* acquire: what is stored behind this stays behind it. */
		if (!place || atomic_compare_exchange_strong_explicit(
				      &place->task, &holds, TASK_BUSY, memory_order_acquire,
				      memory_order_relaxed))
			return place;
	}
	return NULL;
}

void trc_trigger_task_begin(uint64_t task, uint64_t type)
{
	struct open_task *place;

	if (!type || !trigger_is_watched(type))
		return;
	place = trigger_place_take(trigger_set(task));
	if (!place)
		return;
	atomic_store_explicit(&place->type, type, memory_order_relaxed);
	atomic_store_explicit(&place->since, trc_clock_now(), memory_order_relaxed);
	/* release: pairs with the acquire in task_take(). */
	atomic_store_explicit(&place->task, task, memory_order_release);
}

/* Takes the task out of the table.  False if it is not there. */
static bool task_take(uint64_t task, uint64_t *type, uint64_t *since)
{
	struct open_task *set = trigger_set(task);

	for (int way = 0; way < TASK_WAYS; way++) {
		uint64_t seen = task;

		/* acquire: pairs with the release that put it there. */
		if (atomic_load_explicit(&set[way].task, memory_order_acquire) != task)
			continue;
		*type = atomic_load_explicit(&set[way].type, memory_order_relaxed);
		*since = atomic_load_explicit(&set[way].since, memory_order_relaxed);
		/* release: the loads above are done before the place is another task's. */
		return atomic_compare_exchange_strong_explicit(
			&set[way].task, &seen, 0, memory_order_release, memory_order_relaxed);
	}
	return false;
}

/* ---- text ------------------------------------------------------------------------------ */

enum { TEXT_BYTES = TRC_TRIGGER_WORDS * 8 + 1 };

/* "132 ms": in the largest unit that leaves two digits. */
static void put_duration(struct trc_text *t, uint64_t ticks)
{
	static const char unit[][4] = {" ns", " us", " ms", " s"};
	uint64_t n = (uint64_t)((unsigned __int128)ticks * 1000000000 /
				trc_rec.shared->ticks_per_second);
	unsigned int i = 0;

	for (; i < 3 && n >= 10000; i++)
		n /= 1000;
	trc_text_put_number(t, n, 10);
	trc_text_put(t, unit[i]);
}

/* ", 132 ms, thread 4711 'worker'" */
static void trigger_put_thread(struct trc_text *t, uint64_t ticks)
{
	char name[16] = "";

	trc_text_put(t, ", ");
	put_duration(t, ticks);
	trc_text_put(t, ", thread ");
	trc_text_put_number(t, trc_self.tid, 10);
	trc_raw2(SYS_prctl, PR_GET_NAME, name);
	trc_text_put(t, " '");
	trc_text_put_bytes(t, name, strnlen(name, sizeof(name)));
	trc_text_put(t, "'");
}

/* ---- asking ---------------------------------------------------------------------------- */

static void request_fill(struct trc_trigger *request, uint64_t number, const char *what,
			 size_t n_bytes)
{
	uint64_t word[TRC_TRIGGER_WORDS] = {0};

	memcpy(word, what, n_bytes);
	atomic_store_explicit(&request->number, 0, memory_order_relaxed);
	/* release fence: a reader that sees new content sees that the number was taken back. */
	atomic_thread_fence(memory_order_release);
	atomic_store_explicit(&request->ticks, trc_clock_now(), memory_order_relaxed);
	atomic_store_explicit(&request->serial, trc_self.session ? trc_self.serial : 0,
			      memory_order_relaxed);
	atomic_store_explicit(&request->n_bytes, (uint32_t)n_bytes, memory_order_relaxed);
	for (int i = 0; i < TRC_TRIGGER_WORDS; i++)
		atomic_store_explicit(&request->text[i], word[i], memory_order_relaxed);
	/* release: pairs with the acquire of whoever takes snapshots: it is complete. */
	atomic_store_explicit(&request->number, number, memory_order_release);
}

static void request(struct trc_shared *shared, const char *what, size_t n_bytes)
{
	uint64_t number =
		atomic_fetch_add_explicit(&shared->n_triggers, 1, memory_order_relaxed) + 1;
	uint32_t place = (uint32_t)((number - 1) % TRC_TRIGGERS_MAX);

	/* acquire, release: fillings of one place follow each other (Q1). */
	if (!atomic_exchange_explicit(&filling[place], 1, memory_order_acquire)) {
		request_fill(&shared->trigger[place], number, what, n_bytes);
		atomic_store_explicit(&filling[place], 0, memory_order_release);
	}
	atomic_fetch_add_explicit(&shared->trigger_wake, 1, memory_order_release);
	/* Not FUTEX_PRIVATE: it may be another process that takes snapshots. */
	trc_raw3(SYS_futex, &shared->trigger_wake, FUTEX_WAKE, INT_MAX);
}

static void request_record(const char *what, size_t n_bytes)
{
	struct trc_args_trigger args = {.condition = n_bytes};
	uint64_t text[TRC_TRIGGER_WORDS] = {0}, words = (n_bytes + 7) / 8;
	struct trc_seg seg[2] = {{&args, TRC_ARGS_WORDS(args)}, {text, words}};

	memcpy(text, what, n_bytes);
	trc_self.no_wait++;
	trc_record(TRC_ARGS_WORD1(args, 0, words), seg, 2);
	trc_self.no_wait--;
}

void trc_trigger_fire(const char *what, size_t n_bytes)
{
	int saved_errno = errno;

	if (!trc_recording())
		return;
	if (n_bytes > TRC_TRIGGER_WORDS * 8)
		n_bytes = TRC_TRIGGER_WORDS * 8;
	/* The event first: a snapshot taken at once has it. */
	if (trc_self_ready())
		request_record(what, n_bytes);
	request(trc_rec.shared, what, n_bytes);
	errno = saved_errno;
}

/* ---- conditions ------------------------------------------------------------------------ */

static void condition_fill(struct condition *c, const struct trc_trigger_spec *spec)
{
	c->spec = *spec;
	c->min_ticks = trc_clock_ns_to_ticks(spec->min_ns);
	c->type = trc_string_intern(spec->name, (uint32_t)strlen(spec->name));
	if (c->type) /* or else the id could come to mean another name */
		trc_string_pin(c->type);
}

/* The shortest time of any condition of this kind. */
static uint64_t least_ticks(const struct conditions *conditions, enum trc_trigger_kind kind)
{
	uint64_t ticks = UINT64_MAX;

	for (unsigned int i = 0; i < conditions->n; i++)
		if (conditions->at[i].spec.kind == kind && conditions->at[i].min_ticks < ticks)
			ticks = conditions->at[i].min_ticks;
	return ticks;
}

void trc_triggers_set(const struct trc_trigger_spec *specs, unsigned int n)
{
	static bool tasks_used; /* or else their memory stays untouched */
	struct conditions *next = &either[conditions_now() == &either[0]];
	uint64_t task;

	next->n = n < TRC_TRIGGER_SPECS_MAX ? n : TRC_TRIGGER_SPECS_MAX;
	for (unsigned int i = 0; i < next->n; i++)
		condition_fill(&next->at[i], &specs[i]);
	task = least_ticks(next, TRC_TRIGGER_TASK);
	if (!trc_recording()) { /* what an earlier recording left */
		memset(filling, 0, sizeof(filling));
		if (tasks_used)
			memset(tasks, 0, sizeof(tasks));
		tasks_used = false;
	}
	tasks_used |= task != UINT64_MAX;
	/* release: pairs with the acquire in conditions_now(): *next is filled in. */
	atomic_store_explicit(&current, next, memory_order_release);
	/* relaxed: who sees them finds the conditions themselves, or looks at the old ones once. */
	atomic_store_explicit(&trc_trigger_least.park, least_ticks(next, TRC_TRIGGER_PARK),
			      memory_order_relaxed);
	atomic_store_explicit(&trc_trigger_least.region, least_ticks(next, TRC_TRIGGER_REGION),
			      memory_order_relaxed);
	atomic_store_explicit(&trc_trigger_least.task, task, memory_order_relaxed);
}

uint64_t trc_trigger_signals(void)
{
	const struct conditions *now = conditions_now();
	uint64_t signals = 0;

	for (unsigned int i = 0; i < now->n; i++)
		if (now->at[i].spec.kind == TRC_TRIGGER_SIGNAL)
			signals |= UINT64_C(1) << (now->at[i].spec.signal - 1);
	return signals;
}

/* "park>100ms: mutex 0x55d0c0de, 132 ms, thread 4711 'worker'" */
void trc_trigger_waited(enum trc_reason reason, uint64_t object, uint64_t ticks)
{
	const struct conditions *now = conditions_now();

	for (unsigned int i = 0; i < now->n; i++) {
		const struct condition *c = &now->at[i];
		char text[TEXT_BYTES];
		struct trc_text t = TRC_TEXT_IN(text);

		if (c->spec.kind != TRC_TRIGGER_PARK || ticks < c->min_ticks ||
		    !(c->spec.reasons & 1u << reason))
			continue;
		trc_text_put(&t, c->spec.text);
		trc_text_put(&t, ": ");
		trc_text_put(&t, trc_reason_name(reason));
		trc_text_put(&t, " 0x");
		trc_text_put_number(&t, object, 16);
		trigger_put_thread(&t, ticks);
		trc_trigger_fire(text, (size_t)(t.at - text));
	}
}

static void spanned(enum trc_trigger_kind kind, uint64_t type, uint64_t task, uint64_t ticks)
{
	const struct conditions *now = conditions_now();

	for (unsigned int i = 0; i < now->n; i++) {
		const struct condition *c = &now->at[i];
		char text[TEXT_BYTES];
		struct trc_text t = TRC_TEXT_IN(text);

		if (c->spec.kind != kind || !trc_id_same(c->type, type) || ticks < c->min_ticks)
			continue;
		trc_text_put(&t, c->spec.text);
		trc_text_put(&t, ": ");
		trc_text_put(&t, task ? "task " : "no task");
		if (task)
			trc_text_put_number(&t, task, 10);
		trigger_put_thread(&t, ticks);
		trc_trigger_fire(text, (size_t)(t.at - text));
	}
}

void trc_trigger_region_end(void)
{
	struct trc_slot *slot = trc_self.slot;
	uint32_t n = atomic_load_explicit(&slot->n_regions, memory_order_relaxed);
	uint64_t ticks, type;

	if (!n || n > TRC_OPEN_REGIONS)
		return;
	ticks = trc_clock_now() -
		atomic_load_explicit(&slot->region[n - 1].since, memory_order_relaxed);
	type = atomic_load_explicit(&slot->region[n - 1].type, memory_order_relaxed);
	if (type && ticks >= trc_trigger_shortest(&trc_trigger_least.region))
		spanned(TRC_TRIGGER_REGION, type,
			atomic_load_explicit(&slot->region[n - 1].task, memory_order_relaxed),
			ticks);
}

void trc_trigger_task_end(uint64_t task)
{
	uint64_t type, since, ticks;

	if (!task_take(task, &type, &since))
		return;
	ticks = trc_clock_now() - since;
	if (ticks >= trc_trigger_shortest(&trc_trigger_least.task))
		spanned(TRC_TRIGGER_TASK, type, task, ticks);
}

/* "signal=USR2: from process 4711, thread 12 'main'" */
void trc_trigger_signal(int number, uint32_t from_pid)
{
	const struct conditions *now = conditions_now();

	for (unsigned int i = 0; i < now->n; i++) {
		char text[TEXT_BYTES];
		struct trc_text t = TRC_TEXT_IN(text);

		if (now->at[i].spec.kind != TRC_TRIGGER_SIGNAL || now->at[i].spec.signal != number)
			continue;
		trc_text_put(&t, now->at[i].spec.text);
		if (from_pid) {
			trc_text_put(&t, ": from process ");
			trc_text_put_number(&t, from_pid, 10);
		}
		trc_trigger_fire(text, (size_t)(t.at - text));
	}
}
