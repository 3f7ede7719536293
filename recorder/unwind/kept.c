/*
 * kept.c - see kept.h.
 *
 * One table for all threads of the process: threads that do the same work have the same stacks
 * (K2).  The set of a stack follows from the address that it is walked from and from its depth.
 * Each way of a set has a hint: a place on the stack and the return address there.  With few
 * exceptions one hint of a set fits, and only the words of that way are compared.
 */
#include <errno.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include "kept.h"
#include "mode.h"
#include "valgrind.h"
#include "walk.h"
#include "poison.h"

enum {
	SET_BITS = 6,
	WAYS = 8,
	WORDS_MAX = 96, /* compared of one stack */
	LANES = 4,	/* offsets in one word */
	QUADS = WORDS_MAX / LANES,
	OFF_MAX = 0x7fff, /* words above the stack pointer; the highest bit of a lane is clear */
	SEEN = 512,
	REPLACE_TURNS = 8,
	CROSSING_USES = 64, /* K6 */
};
#define LANES_OF(x) ((uint64_t)(x)*UINT64_C(0x0001000100010001))
#define HINT_BITS   48

/* Words are compared four at a time. */
struct quad {
	_Atomic uint64_t off; /* four lanes, in words above the stack pointer */
	_Atomic uint64_t word[LANES];
};

/* From the front lie those that are compared as they are; from the back those that are relative
 * to the stack pointer (K2). */
struct kept {
	_Atomic uint32_t seq;	 /* odd: it is being changed (K4) */
	_Atomic uint32_t counts; /* quads from the front, quads from the back, USES_FP, CROSSES */
	_Atomic uint64_t pc, fp, depth, rules, tag, number;
	_Atomic uint64_t uses; /* that are left, if it CROSSES (K6) */
	struct quad quad[QUADS];
};
_Static_assert(sizeof(struct kept) <= 1024, "stacks are kept in little memory");
enum { BACK_SHIFT = 8, COUNT_MASK = 0xff, USES_FP = 1 << 16, CROSSES = 1 << 17 };

struct set {
	_Atomic uint64_t hint[WAYS]; /* offset, low 48 bits of the word there; 0 = no entry */
};

struct table {
	struct set set[1 << SET_BITS];
	struct kept kept[1 << SET_BITS][WAYS];
	/* Numbers that were met once, each at its place; those that cannot be kept are inverted. */
	_Atomic uint64_t seen[SEEN];
	_Atomic uint32_t turn;
};

/* Stored once, by trc_kept_setup(); NULL = there is none. */
static struct table *_Atomic table;

static inline uint64_t get(const _Atomic uint64_t *word)
{
	/* relaxed: a word of an entry counts only if the entry's seq stayed (K4); hints and what was
	 * seen stand for themselves. */
	return atomic_load_explicit(word, memory_order_relaxed);
}

static inline void word_put(_Atomic uint64_t *word, uint64_t value)
{
	atomic_store_explicit(word, value, memory_order_relaxed);
}

/* What chooses the rules of an address (K1). */
static inline uint64_t rules_now(void)
{
	/* acquire: pairs with the release in trc_unwind_setup(). */
	uint32_t mode = atomic_load_explicit(&trc_unwind_how.mode, memory_order_acquire);

	return (uint64_t)trc_cache_epoch() << 8 | mode;
}

static inline uint32_t kept_set_of(uintptr_t pc, uintptr_t depth)
{
	return (uint32_t)(((pc << 20) ^ depth) * UINT64_C(0x9e3779b97f4a7c15) >> (64 - SET_BITS));
}

static inline TRC_NO_SANITIZE uint64_t stack_word(uintptr_t sp, uint64_t off)
{
	return ((const volatile uint64_t *)sp)[off];
}

/* ---- finding ----------------------------------------------------------------------------- */

/* The last place that may be read, in words above the stack pointer. */
static inline uint64_t last_off(uintptr_t depth)
{
	uint64_t last = depth / 8 - 1;

	return last < OFF_MAX ? last : OFF_MAX;
}

static inline TRC_NO_SANITIZE bool hint_fits(uint64_t hint, uintptr_t sp, uint64_t last)
{
	uint64_t off = hint >> HINT_BITS;

	return off && off <= last && (stack_word(sp, off) ^ hint) << (64 - HINT_BITS) == 0;
}

/* Whether the words of these quads are what they were, `base` taken off. */
static inline __attribute__((always_inline)) TRC_NO_SANITIZE bool
quads_same(const struct quad *quad, const struct quad *end, uintptr_t sp, uint64_t last_lanes,
	   uint64_t base)
{
	const uint64_t top = LANES_OF(0x8000);

	for (; quad < end; quad++) {
		uint64_t off = get(&quad->off), differ;

		/* K5: a lane's highest bit is borrowed where its offset is beyond the last. */
		if (__builtin_expect(((last_lanes - off) & top) != top, 0))
			return false;
		differ = (stack_word(sp, off & 0xffff) - base) ^ get(&quad->word[0]);
		differ |= (stack_word(sp, off >> 16 & 0xffff) - base) ^ get(&quad->word[1]);
		differ |= (stack_word(sp, off >> 32 & 0xffff) - base) ^ get(&quad->word[2]);
		differ |= (stack_word(sp, off >> 48) - base) ^ get(&quad->word[3]);
		if (differ)
			return false;
	}
	return true;
}

static __attribute__((noinline)) TRC_NO_SANITIZE bool
words_same(const struct kept *kept, uint32_t counts, uintptr_t sp, uint64_t last)
{
	uint32_t front = counts & COUNT_MASK, back = counts >> BACK_SHIFT & COUNT_MASK;
	const struct quad *quad = kept->quad;

	last = LANES_OF(last | 0x8000);
	/* K4: counts may be changing. */
	if (front > QUADS || back > QUADS)
		return false;
	return quads_same(quad, quad + front, sp, last, 0) &&
	       quads_same(quad + QUADS - back, quad + QUADS, sp, last, sp);
}

/* Whether it is to be walked anew: what it crosses was looked at long ago (K6). */
static inline bool is_used_up(const struct kept *kept)
{
	return atomic_load_explicit(&kept->counts, memory_order_relaxed) & CROSSES &&
	       !get(&kept->uses);
}

/* The number of the kept stack if all that the walk depends on is as it was (K1), or 0. */
static inline TRC_NO_SANITIZE uint64_t number_if_same(struct kept *kept,
						      const struct trc_unwind_start *start,
						      uintptr_t depth, uint64_t tag)
{
	/* acquire: pairs with the release in entry_publish(). */
	uint32_t seq = atomic_load_explicit(&kept->seq, memory_order_acquire);
	uint32_t counts = atomic_load_explicit(&kept->counts, memory_order_relaxed);
	uint64_t number = get(&kept->number), uses = get(&kept->uses);

	if (seq & 1 || get(&kept->pc) != trc_pc_plain(start->pc) || get(&kept->depth) != depth ||
	    get(&kept->rules) != rules_now() || get(&kept->tag) != tag)
		return 0;
	if (counts & USES_FP && get(&kept->fp) != start->fp - start->sp)
		return 0;
	if (counts & CROSSES && !uses)
		return 0;
	if (!words_same(kept, counts, start->sp, last_off(depth)))
		return 0;
	/* acquire fence: seq is read again after all that was compared; pairs with the fence in
	 * entry_claim(). */
	atomic_thread_fence(memory_order_acquire);
	if (atomic_load_explicit(&kept->seq, memory_order_relaxed) != seq)
		return 0;
	/* Threads that find it at the same time may count one use: K6 does not need them all. */
	if (__builtin_expect(counts & CROSSES, 0))
		word_put(&kept->uses, uses - 1);
	return number;
}

/* Bytes of the calling thread's stack above this stack pointer of its own; 0 = not known. */
static uintptr_t depth_of(uintptr_t sp)
{
	return sp & 7 ? 0 : trc_range_above(sp);
}

TRC_NO_SANITIZE uint64_t trc_kept_find(const struct trc_unwind_start *start, uint64_t tag)
{
	/* acquire: pairs with the release in trc_kept_setup(). */
	struct table *t = atomic_load_explicit(&table, memory_order_acquire);
	uintptr_t depth = depth_of(start->sp);
	uint64_t last = last_off(depth);
	uint32_t set;

	if (__builtin_expect(!t || depth < 8, 0))
		return 0;
	set = kept_set_of(trc_pc_plain(start->pc), depth);
	for (uint32_t way = 0; way < WAYS; way++) {
		uint64_t number;

		if (!hint_fits(get(&t->set[set].hint[way]), start->sp, last))
			continue;
		number = number_if_same(&t->kept[set][way], start, depth, tag);
		if (__builtin_expect(number != 0, 1))
			return number;
	}
	return 0;
}

/* ---- changing an entry -------------------------------------------------------------------- */

/* False: somebody else is changing it: another thread, or who was interrupted by this one. */
static bool entry_claim(struct kept *kept)
{
	uint32_t seq = atomic_load_explicit(&kept->seq, memory_order_relaxed);

	/* acquire: what is stored below was not stored before. */
	if (seq & 1 ||
	    !atomic_compare_exchange_strong_explicit(&kept->seq, &seq, seq | 1,
						     memory_order_acquire, memory_order_relaxed))
		return false;
	/* release fence: who sees a changed word sees the odd seq; pairs with the fence in
	 * number_if_same(). */
	atomic_thread_fence(memory_order_release);
	return true;
}

static void entry_publish(struct kept *kept)
{
	uint32_t seq = atomic_load_explicit(&kept->seq, memory_order_relaxed);

	/* release: pairs with the acquire in number_if_same(). */
	atomic_store_explicit(&kept->seq, seq + 1, memory_order_release);
}

/* What a walk goes by, while it is written into an entry that is claimed. */
struct note {
	struct kept *kept;
	struct trc_walk walk;
	uintptr_t start_sp, depth;
	uint32_t n_front, n_back; /* words */
	uintptr_t fp_slot;	  /* where the frame pointer was loaded from; 0 = at the start */
	bool fp_noted;		  /* it is compared already */
	bool uses_fp;
	bool crosses; /* K6 */
	bool full;
};

static void word_note(struct note *note, uint32_t at, uintptr_t slot, uint64_t value)
{
	struct quad *quad = &note->kept->quad[at / LANES];
	uint32_t shift = at % LANES * 16;
	uint64_t distance = (slot - note->start_sp) / 8;

	if (distance > OFF_MAX) {
		note->full = true;
		return;
	}
	word_put(&quad->off, (get(&quad->off) & ~(UINT64_C(0xffff) << shift)) | distance << shift);
	word_put(&quad->word[at % LANES], value);
}

static bool note_has_room(struct note *note)
{
	/* Whole quads on either side. */
	if ((note->n_front + LANES) / LANES + (note->n_back + LANES) / LANES > QUADS)
		note->full = true;
	return !note->full;
}

static TRC_NO_SANITIZE void front_note(struct note *note, uintptr_t slot)
{
	if (note_has_room(note))
		word_note(note, note->n_front++, slot, *(const volatile uintptr_t *)slot);
}

/* The walk's frame pointer is about to be used.  One so low that it lies below all stacks is
 * compared as it is: in another thread it is the same, as at the end of a chain. */
static TRC_NO_SANITIZE void fp_note(struct note *note)
{
	if (note->fp_noted)
		return;
	note->fp_noted = true;
	if (!note->fp_slot)
		note->uses_fp = true;
	else if (note->walk.fp < TRC_PC_MIN)
		front_note(note, note->fp_slot);
	else if (note_has_room(note))
		word_note(note, WORDS_MAX - 1 - note->n_back++, note->fp_slot,
			  note->walk.fp - note->start_sp);
}

/* To the caller, whose return address and, unless `fp_slot` is 0, frame pointer lie there. */
static TRC_NO_SANITIZE bool note_step(struct note *note, uintptr_t cfa, uintptr_t ra_slot,
				      uintptr_t fp_slot)
{
	front_note(note, ra_slot);
	note->walk.pc = trc_pc_plain(*(const volatile uintptr_t *)ra_slot);
	note->walk.sp = cfa;
	if (fp_slot) {
		note->walk.fp = *(const volatile uintptr_t *)fp_slot;
		note->fp_slot = fp_slot;
		note->fp_noted = false;
	}
	return trc_pc_plausible(note->walk.pc) && !note->full;
}

/* Steps as trc_walk_step() does in code without rules (K6), by the frame pointer. */
static bool note_crossing(struct note *note)
{
	struct trc_walk *walk = &note->walk;
	uintptr_t slot = walk->fp;

	fp_note(note);
	if (!trc_walk_step(walk) || walk->sp != slot + 16)
		return false;
	front_note(note, slot + 8);
	note->fp_slot = slot;
	note->fp_noted = false;
	note->crosses = true;
	return !note->full;
}

/* Steps as walk_frames() does, through frame[*i..n).  True: to the end; or, with `until_fp`, to
 * where walk_chain() goes on, which is frame[*i]. */
static bool note_by_rules(struct note *note, const uint64_t *frame, uint32_t *i, uint32_t n,
			  bool until_fp)
{
	struct trc_walk *walk = &note->walk;

	while (*i < n && frame[*i] == walk->pc) {
		uint32_t brief = trc_cache_get(walk->cache, walk->pc, walk->epoch);
		struct trc_slots at = trc_short_slots(brief, walk->sp, walk->fp);
		uint32_t kind = trc_short_kind(brief);

		if (until_fp || kind == TRC_SHORT_FP)
			fp_note(note);
		if (until_fp && brief && at.fp_saved && at.fp == walk->fp)
			return true;
		++*i;
		if (kind - TRC_SHORT_SP > 1 && !until_fp && trc_walk_is_crossing(walk)) {
			if (!note_crossing(note))
				return false;
			continue;
		}
		if (kind - TRC_SHORT_SP > 1) {
			*i -= until_fp;
			return *i + until_fp == n && trc_walk_is_outermost(walk);
		}
		if (at.cfa <= walk->sp || at.fp < walk->sp || at.cfa > walk->range.hi)
			return false;
		if (!note_step(note, at.cfa, at.ra, at.fp_saved ? at.fp : 0))
			return *i == n && !until_fp && !note->full;
	}
	return false;
}

/* Steps as walk_chain() does. */
static bool note_by_chain(struct note *note, const uint64_t *frame, uint32_t *i, uint32_t n)
{
	struct trc_walk *walk = &note->walk;
	uintptr_t slot = walk->fp;

	while (*i < n && frame[*i] == walk->pc) {
		++*i;
		fp_note(note);
		slot = walk->fp;
		if (slot < walk->sp || slot & 7 || !trc_range_has(&walk->range, slot) ||
		    !trc_range_has(&walk->range, slot + 8) ||
		    !note_step(note, slot + 16, slot + 8, slot))
			return *i == n && !note->full;
	}
	return false;
}

/* In a quad that is not full some words are compared twice. */
static void quads_fill(struct note *note)
{
	const struct quad *first = &note->kept->quad[0], *last = &note->kept->quad[QUADS - 1];

	for (; note->n_front % LANES; note->n_front++)
		word_note(note, note->n_front, note->start_sp + (get(&first->off) & 0xffff) * 8,
			  get(&first->word[0]));
	for (; note->n_back % LANES; note->n_back++)
		word_note(note, WORDS_MAX - 1 - note->n_back,
			  note->start_sp + (get(&last->off) >> 48) * 8,
			  get(&last->word[LANES - 1]));
}

/* Walks once more, into an entry that is claimed.  False: this walk cannot be kept (K3). */
static bool note_walk(struct note *note, const struct trc_unwind_start *start, uint64_t rules,
		      const uint64_t *frame, uint32_t n)
{
	bool by_pointers = (rules & 0xff) == TRC_UNWIND_FP, whole;
	uint32_t i = 0;

	/* acquire: pairs with the release of trc_cache.word in cache.c: the words are zero. */
	note->walk = (struct trc_walk){
		.pc = trc_pc_plain(start->pc),
		.sp = start->sp,
		.fp = start->fp,
		.cache = atomic_load_explicit(&trc_cache.word, memory_order_acquire),
		.epoch = (uint32_t)(rules >> 8),
		.guess = (rules & 0xff) == TRC_UNWIND_AUTO,
		.followed = TRC_REGS};
	trc_range_stack(&note->walk.range, start->sp, start->sp);
	whole = note_by_rules(note, frame, &i, n, by_pointers);
	if (whole && i < n)
		whole = note_by_chain(note, frame, &i, n);
	if (!whole || !note->n_front)
		return false;
	quads_fill(note);
	return true;
}

static void entry_store(const struct note *note, const struct trc_unwind_start *start,
			uint64_t rules, uint64_t tag, uint64_t number)
{
	struct kept *kept = note->kept;
	uint32_t counts = note->n_front / LANES | note->n_back / LANES << BACK_SHIFT;

	word_put(&kept->pc, trc_pc_plain(start->pc));
	word_put(&kept->fp, start->fp - start->sp);
	word_put(&kept->depth, note->depth);
	word_put(&kept->rules, rules);
	word_put(&kept->tag, tag);
	word_put(&kept->number, number);
	counts |= (note->uses_fp ? USES_FP : 0u) | (note->crosses ? CROSSES : 0u);
	word_put(&kept->uses, CROSSING_USES);
	atomic_store_explicit(&kept->counts, counts, memory_order_relaxed);
}

/* Of word number `at` from the front.  Its offset is not 0 unless the walk's first frame has no room
 * for anything but its return address. */
static uint64_t hint_of(const struct kept *kept, uint32_t at)
{
	const struct quad *quad = &kept->quad[at / LANES];
	uint64_t off = get(&quad->off) >> at % LANES * 16 & 0xffff;

	return off << HINT_BITS | (get(&quad->word[at % LANES]) & ((UINT64_C(1) << HINT_BITS) - 1));
}

/* ---- what is kept ------------------------------------------------------------------------- */

static _Atomic uint64_t *seen_at(struct table *t, uint64_t number)
{
	return &t->seen[number * UINT64_C(0x9e3779b97f4a7c15) >> 32 & (SEEN - 1)];
}

/* Stacks that are met once are many, and each would take the place of one that comes again. */
static bool is_second(struct table *t, uint64_t number)
{
	_Atomic uint64_t *seen = seen_at(t, number);
	uint64_t last = get(seen);

	if (last == number)
		return true;
	if (last != ~number)
		word_put(seen, number);
	return false;
}

/* A way for another stack; WAYS = none now.  If all are in use, most stacks are turned away: where
 * more stacks take turns than there are ways, each would otherwise be kept in vain. */
static uint32_t way_choose(struct table *t, uint32_t set, uint64_t rules, uint64_t tag)
{
	uint32_t turn;

	for (uint32_t way = 0; way < WAYS; way++) {
		const struct kept *kept = &t->kept[set][way];

		/* One that stays odd was left by a handler's longjmp(), or by a thread that ended: it is
		 * lost. */
		if (atomic_load_explicit(&kept->seq, memory_order_relaxed) & 1)
			continue;
		if (!get(&t->set[set].hint[way]) || get(&kept->rules) != rules ||
		    get(&kept->tag) != tag || is_used_up(kept))
			return way;
	}
	/* Not exact when threads meet; it need not be. */
	turn = atomic_load_explicit(&t->turn, memory_order_relaxed);
	atomic_store_explicit(&t->turn, turn + 1, memory_order_relaxed);
	return turn % REPLACE_TURNS ? WAYS : turn / REPLACE_TURNS % WAYS;
}

void trc_kept_add(const struct trc_unwind_start *start, uint64_t tag, uint64_t number,
		  const uint64_t *frame, uint32_t n, uint32_t telling)
{
	/* acquire: pairs with the release in trc_kept_setup(). */
	struct table *t = atomic_load_explicit(&table, memory_order_acquire);
	struct note note = {.depth = depth_of(start->sp), .start_sp = start->sp};
	uint64_t rules = rules_now(); /* before the walk looks up any */
	uint32_t set, way, at = telling > 1 ? telling - 1 : 0;

	if (!t || note.depth < 8 || !is_second(t, number))
		return;
	set = kept_set_of(trc_pc_plain(start->pc), note.depth);
	way = way_choose(t, set, rules, tag);
	if (way == WAYS || !entry_claim(&t->kept[set][way]))
		return;
	note.kept = &t->kept[set][way];
	word_put(&t->set[set].hint[way], 0);
	if (note_walk(&note, start, rules, frame, n)) {
		entry_store(&note, start, rules, tag, number);
		word_put(&t->set[set].hint[way], hint_of(note.kept, at < note.n_front ? at : 0));
	} else {
		word_put(&note.kept->rules, 0);
		word_put(seen_at(t, number), ~number);
	}
	entry_publish(note.kept);
}

void trc_kept_drop(const struct trc_unwind_start *start, uint64_t number)
{
	/* acquire: pairs with the release in trc_kept_setup(). */
	struct table *t = atomic_load_explicit(&table, memory_order_acquire);
	uint32_t set = kept_set_of(trc_pc_plain(start->pc), depth_of(start->sp));

	for (uint32_t way = 0; t && way < WAYS; way++) {
		struct kept *kept = &t->kept[set][way];

		if (get(&kept->number) != number || !entry_claim(kept))
			continue;
		word_put(&t->set[set].hint[way], 0);
		word_put(&kept->number, 0);
		entry_publish(kept);
	}
}

int trc_kept_setup(void)
{
	void *pages;

	/* valgrind would complain that hints are compared with anything. */
	if (atomic_load_explicit(&table, memory_order_relaxed) || trc_on_valgrind())
		return 0;
	pages = mmap(NULL, sizeof(struct table), PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (pages == MAP_FAILED)
		return -errno;
	/* release: pairs with the acquire of who finds and adds. */
	atomic_store_explicit(&table, pages, memory_order_release);
	return 0;
}
