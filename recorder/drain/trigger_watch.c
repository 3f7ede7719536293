/* trigger_watch.c - see trigger_watch.h */
#include <errno.h>
#include <string.h>
#include "format/path.h"
#include "recorder/shared/slot_look.h"
#include "recorder/shared/text.h"
#include "trigger_watch.h"

enum {
	POLL_NS_MIN = 5000000,
	POLL_NS_MAX = 200000000,
	SLOTS_MAX = 1 << 20,
};

void trc_trigger_watch_init(struct trc_trigger_watch *w, const struct trc_trigger_spec *specs,
			    unsigned int n_specs, const struct trc_trigger_limits *limits)
{
	memset(w, 0, sizeof(*w));
	w->n_specs = n_specs < TRC_TRIGGER_SPECS_MAX ? n_specs : TRC_TRIGGER_SPECS_MAX;
	memcpy(w->spec, specs, w->n_specs * sizeof(*specs));
	w->limits = *limits;
}

void trc_trigger_watch_attach(struct trc_trigger_watch *w, const struct trc_shared *shared,
			      const struct trc_shared *header, uint64_t n_seen)
{
	w->shared = shared;
	w->slots_off = header->threads_off;
	w->n_slots = header->n_threads < SLOTS_MAX ? header->n_threads : 0;
	w->ticks_per_second = header->ticks_per_second;
	w->n_seen = n_seen;
	memset(w->scanned, 0, sizeof(w->scanned));
	memset(w->told, 0, sizeof(w->told));
}

/* ---- the text of a wait that lasts ----------------------------------------------------- */

static void spec_describe(char text[TRC_TRIGGER_TEXT_BYTES], const struct trc_trigger_spec *spec,
			  const struct trc_slot_wait *wait, uint64_t lasted_ns)
{
	struct trc_text t = trc_text_in(text, TRC_TRIGGER_TEXT_BYTES);

	trc_text_put(&t, spec->text);
	trc_text_put(&t, ": ");
	trc_text_put(&t, trc_reason_name(wait->reason));
	trc_text_put(&t, " 0x");
	trc_text_put_number(&t, wait->object, 16);
	trc_text_put(&t, " for ");
	trc_text_put_number(&t, lasted_ns / 1000000, 10);
	trc_text_put(&t, " ms already, thread ");
	trc_text_put_number(&t, wait->tid, 10);
}

/* ---- what asks for a snapshot ---------------------------------------------------------- */

static uint64_t watch_time_after(uint64_t now_ns, uint64_t ns)
{
	return ns > UINT64_MAX - now_ns ? UINT64_MAX : now_ns + ns;
}

/* The odd moment was now, or a little earlier (C3). */
void trc_trigger_watch_ask(struct trc_trigger_watch *w, uint64_t now_ns,
			   const struct trc_trigger_due *due)
{
	if (w->pending)
		return;
	if (w->n_taken >= w->limits.max ||
	    (w->n_taken && now_ns - w->last_ns < w->limits.every_ns)) {
		w->n_passed_over++;
		return;
	}
	w->pending = true;
	w->due = *due;
	w->due_ns = watch_time_after(now_ns, w->limits.after_ns);
}

static uint64_t watch_load(const _Atomic uint64_t *from)
{
	return atomic_load_explicit(from, memory_order_relaxed);
}

/* Copies request p.  False if it is being filled in, or gone. */
static bool request_copy(const struct trc_shared *shared, uint64_t p, struct trc_trigger_due *due)
{
	const struct trc_trigger *request = &shared->trigger[(p - 1) % TRC_TRIGGERS_MAX];
	uint64_t word[TRC_TRIGGER_WORDS];
	uint32_t n_bytes;

	/* acquire: pairs with the release that completed it. */
	if (atomic_load_explicit(&request->number, memory_order_acquire) != p)
		return false;
	due->ticks = watch_load(&request->ticks);
	due->serial = atomic_load_explicit(&request->serial, memory_order_relaxed);
	n_bytes = atomic_load_explicit(&request->n_bytes, memory_order_relaxed);
	for (int i = 0; i < TRC_TRIGGER_WORDS; i++)
		word[i] = watch_load(&request->text[i]);
	/* acquire fence: the copy comes before the second look at the number. */
	atomic_thread_fence(memory_order_acquire);
	if (atomic_load_explicit(&request->number, memory_order_relaxed) != p)
		return false;
	memcpy(due->text, word, sizeof(word));
	due->text[n_bytes < sizeof(word) ? n_bytes : sizeof(word)] = '\0';
	return true;
}

static bool names(const struct trc_trigger_spec *spec, const char *text)
{
	size_t n = strlen(spec->text);

	return n && !strncmp(text, spec->text, n);
}

/* The end of a wait that was reported while it lasted (C2). */
static bool was_told(struct trc_trigger_watch *w, const struct trc_trigger_due *due)
{
	for (unsigned int i = 0; i < TRC_TRIGGER_TOLD; i++) {
		if (!w->told[i].serial || w->told[i].serial != due->serial ||
		    !names(&w->spec[w->told[i].spec], due->text))
			continue;
		w->told[i].serial = 0;
		return true;
	}
	return false;
}

/* A request that stays half made does not hold up those after it: it is looked at again as long as
 * it is the last, and given up when the next one is complete. */
static void look_at_requests(struct trc_trigger_watch *w, uint64_t now_ns)
{
	/* acquire: what was asked for before is complete, or marked as not. */
	uint64_t n = atomic_load_explicit(&w->shared->n_triggers, memory_order_acquire);
	uint64_t p = n > TRC_TRIGGERS_MAX ? n - TRC_TRIGGERS_MAX : 0;

	if (p > w->n_seen)
		w->n_passed_over += p - w->n_seen;
	for (p = p > w->n_seen ? p : w->n_seen; p < n; p++) {
		struct trc_trigger_due due;

		if (!request_copy(w->shared, p + 1, &due))
			continue;
		w->n_seen = p + 1;
		if (!was_told(w, &due))
			trc_trigger_watch_ask(w, now_ns, &due);
	}
}

/* ---- waits that last ------------------------------------------------------------------- */

/* One consistent look at a thread that waits. */
static bool wait_copy(const struct trc_slot *slot, struct trc_slot_wait *wait)
{
	for (int i = 0; i < TRC_SLOT_TRIES; i++) {
		uint32_t seq = trc_slot_look(slot);

		trc_slot_wait_load(slot, wait);
		if (trc_slot_same(slot, seq))
			return trc_slot_waits(wait);
	}
	return false;
}

static uint64_t ns_to_ticks(const struct trc_trigger_watch *w, uint64_t ns)
{
	return (uint64_t)((unsigned __int128)ns * w->ticks_per_second / 1000000000);
}

static void watch_report(struct trc_trigger_watch *w, unsigned int i,
			 const struct trc_slot_wait *wait, uint64_t now_ns, uint64_t now_ticks)
{
	uint64_t lasted_ns = (uint64_t)((unsigned __int128)(now_ticks - wait->since) * 1000000000 /
					w->ticks_per_second);
	struct trc_trigger_due due = {.ticks = now_ticks, .serial = wait->serial};

	spec_describe(due.text, &w->spec[i], wait, lasted_ns);
	w->told[w->next_told].serial = wait->serial;
	w->told[w->next_told].spec = i;
	w->next_told = (w->next_told + 1) % TRC_TRIGGER_TOLD;
	trc_trigger_watch_ask(w, now_ns, &due);
}

/* A wait is too long from the moment when `since` is no later than `limit`; those up to the limit
 * of the last time have been reported. */
static void watch_look_at_slot(struct trc_trigger_watch *w, const struct trc_slot *slot,
			       uint64_t now_ns, uint64_t now_ticks, const uint64_t *limit)
{
	struct trc_slot_wait wait;

	/* acquire: pairs with the release in slot_fill(): the slot is filled in. */
	if (atomic_load_explicit(&slot->state, memory_order_acquire) != TRC_SLOT_LIVE ||
	    !wait_copy(slot, &wait))
		return;
	for (unsigned int i = 0; i < w->n_specs; i++) {
		if (w->spec[i].kind == TRC_TRIGGER_PARK &&
		    (w->spec[i].reasons & UINT32_C(1) << wait.reason) && wait.since <= limit[i] &&
		    wait.since > w->scanned[i]) {
			watch_report(w, i, &wait, now_ns, now_ticks);
			return;
		}
	}
}

static bool watches_waits(const struct trc_trigger_watch *w)
{
	for (unsigned int i = 0; i < w->n_specs; i++)
		if (w->spec[i].kind == TRC_TRIGGER_PARK)
			return w->ticks_per_second != 0;
	return false;
}

static void watch_look_at_slots(struct trc_trigger_watch *w, uint64_t now_ns, uint64_t now_ticks)
{
	const struct trc_slot *slots =
		(const struct trc_slot *)((const char *)w->shared + w->slots_off);
	uint32_t n = trc_slots_used(w->shared, w->n_slots);
	uint64_t limit[TRC_TRIGGER_SPECS_MAX];

	for (unsigned int i = 0; i < w->n_specs; i++) {
		uint64_t min_ticks = ns_to_ticks(w, w->spec[i].min_ns);

		limit[i] = now_ticks > min_ticks ? now_ticks - min_ticks : 0;
	}
	for (uint32_t i = 0; i < n; i++)
		watch_look_at_slot(w, &slots[i], now_ns, now_ticks, limit);
	for (unsigned int i = 0; i < w->n_specs; i++)
		if (limit[i] > w->scanned[i])
			w->scanned[i] = limit[i];
}

/* ---- for the caller -------------------------------------------------------------------- */

static bool due_take(struct trc_trigger_watch *w, uint64_t now_ns, struct trc_trigger_due *due)
{
	*due = w->due;
	w->pending = false;
	w->last_ns = now_ns;
	w->n_taken++;
	return true;
}

bool trc_trigger_watch_look(struct trc_trigger_watch *w, uint64_t now_ns, uint64_t now_ticks,
			    struct trc_trigger_due *due)
{
	if (!w->shared)
		return false;
	look_at_requests(w, now_ns);
	if (watches_waits(w))
		watch_look_at_slots(w, now_ns, now_ticks);
	return w->pending && now_ns >= w->due_ns && due_take(w, now_ns, due);
}

bool trc_trigger_watch_last(struct trc_trigger_watch *w, uint64_t now_ns, uint64_t now_ticks,
			    struct trc_trigger_due *due)
{
	if (trc_trigger_watch_look(w, now_ns, now_ticks, due))
		return true;
	return w->pending && due_take(w, now_ns, due);
}

bool trc_trigger_watch_end(const struct trc_trigger_watch *w, enum trc_trigger_kind kind)
{
	for (unsigned int i = 0; i < w->n_specs; i++)
		if (w->spec[i].kind == kind)
			return true;
	return false;
}

uint64_t trc_trigger_watch_passed_over(const struct trc_trigger_watch *w)
{
	return w->n_passed_over;
}

uint64_t trc_trigger_watch_sleep_ns(const struct trc_trigger_watch *w, uint64_t now_ns)
{
	uint64_t sleep_ns = UINT64_MAX;

	for (unsigned int i = 0; i < w->n_specs; i++) {
		uint64_t poll_ns = w->spec[i].min_ns / 4;

		if (w->spec[i].kind != TRC_TRIGGER_PARK || w->n_taken >= w->limits.max)
			continue;
		if (poll_ns < POLL_NS_MIN)
			poll_ns = POLL_NS_MIN;
		if (poll_ns > POLL_NS_MAX)
			poll_ns = POLL_NS_MAX;
		if (poll_ns < sleep_ns)
			sleep_ns = poll_ns;
	}
	if (!w->pending)
		return sleep_ns;
	if (w->due_ns <= now_ns)
		return 0;
	return w->due_ns - now_ns < sleep_ns ? w->due_ns - now_ns : sleep_ns;
}

int trc_trigger_path(char *path, size_t n_bytes, const char *base, const char *child,
		     uint64_t number)
{
	const char *name = trc_path_name(base);
	const char *suffix = strrchr(name, '.');
	struct trc_text t = {path, path + n_bytes - 1};

	if (!suffix || suffix == name)
		suffix = name + strlen(name);
	if (strlen(base) + (child ? strlen(child) : 0) + 1 + 21 + 1 > n_bytes)
		return -ENAMETOOLONG;
	memcpy(path, base, (size_t)(suffix - base));
	t.at = path + (suffix - base);
	if (child) {
		trc_text_put(&t, ".");
		trc_text_put(&t, child);
	}
	trc_text_put(&t, ".");
	trc_text_put_number(&t, number, 10);
	trc_text_put(&t, suffix);
	return 0;
}
