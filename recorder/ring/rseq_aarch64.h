/*
 * rseq_aarch64.h - the restartable sequences on aarch64 (included by ring_inline.h).
 *
 * As rseq_x86_64.h; here the commit is a store-release, so that a reader on another proc that sees
 * the commit sees the record.  The signature before the abort address is the instruction brk
 * #0x45e0 (linux/rseq.h, glibc's sys/rseq.h).
 */
/* Columns of instructions. */
/* clang-format off */
#define RSEQ_BEGIN                                                                                 \
	".pushsection __rseq_cs, \"aw\"\n"                                                         \
	".balign 32\n"                                                                             \
	"30: .long 0, 0\n"                                                                         \
	".quad 31f, 32f - 31f, 34f\n"                                                              \
	".popsection\n"                                                                            \
	"adrp x9, 30b\n"                                                                           \
	"add x9, x9, :lo12:30b\n"                                                                  \
	"str x9, [%[rseq], #8]\n"                                                                  \
	"31:\n"
#define RSEQ_END(label)                                                                            \
	"32:\n"                                                                                    \
	".pushsection __rseq_abort, \"ax\"\n"                                                      \
	".inst 0xd428bc00\n"                                                                       \
	"34: b %l[" #label "]\n"                                                                   \
	".popsection\n"

/* x10 = ring, x11 = where the record goes, x12 = head after it; uses x9, x13. */
#define RSEQ_RESERVE(which)                                                                        \
	"ldr x10, [%[self], %[" #which "]]\n"                                                      \
	"ldr w9, [%[rseq], #4]\n"                                                                  \
	"ldr w13, [x10, #36]\n"                                                                    \
	"cmp w9, w13\n"                                                                            \
	"b.ne %l[no_proc]\n"                                                                       \
	"ldp x13, x9, [x10]\n"                                                                     \
	"add x12, x13, %[words]\n"                                                                 \
	"cmp x12, x9\n"                                                                            \
	"b.hi %l[no_room]\n"                                                                       \
	"ldr x11, [x10, #40]\n"                                                                    \
	"add x11, x11, x10\n"                                                                      \
	"and x13, x13, %[mask]\n"                                                                  \
	"add x11, x11, x13, lsl #3\n"
#define RSEQ_COUNTER "mrs x9, cntvct_el0\n"
#define RSEQ_COMMIT  "stlr x12, [x10]\n"
#define RSEQ_COPY_SEGMENTS                                                                         \
	"mov x13, %[seg]\n"                                                                        \
	"40: cmp x13, %[end]\n"                                                                    \
	"b.hs 43f\n"                                                                               \
	"ldp x14, x15, [x13], #16\n"                                                               \
	"41: cbz x15, 40b\n"                                                                       \
	"ldr x9, [x14], #8\n"                                                                      \
	"str x9, [x11], #8\n"                                                                      \
	"sub x15, x15, #1\n"                                                                       \
	"b 41b\n"                                                                                  \
	"43:\n"

enum rseq_result { RSEQ_DONE, RSEQ_ABORTED, RSEQ_NO_PROC, RSEQ_NO_ROOM, RSEQ_OLDER };

#define RSEQ_RESULTS                                                                               \
	return RSEQ_DONE;                                                                          \
aborted:                                                                                           \
	return RSEQ_ABORTED;                                                                       \
no_proc:                                                                                           \
	return RSEQ_NO_PROC;                                                                       \
no_room:                                                                                           \
	return RSEQ_NO_ROOM

static inline char *rseq_area(void)
{
	return (char *)__builtin_thread_pointer() + trc_rseq_offset;
}

#define RSEQ_INPUTS                                                                                \
	[rseq] "r"(rseq_area()), [self] "r"(&trc_self),                                            \
		[ring] "i"(offsetof(struct trc_self, ring)),                                       \
		[counter_ring] "i"(offsetof(struct trc_self, counter_ring)),                       \
		[mask] "r"(trc_rec.ring_mask)

static inline __attribute__((always_inline)) enum rseq_result
rseq_put_two(uint64_t word1, uint64_t a, uint64_t b)
{
	__asm__ volatile goto(
		RSEQ_BEGIN RSEQ_RESERVE(counter_ring) RSEQ_COUNTER
		"stp x9, %[word1], [x11]\n"
		"stp %[a], %[b], [x11, #16]\n" RSEQ_COMMIT RSEQ_END(aborted)
		:
		: RSEQ_INPUTS, [words] "r"(4L), [word1] "r"(word1), [a] "r"(a), [b] "r"(b)
		: "memory", "cc", "x9", "x10", "x11", "x12", "x13"
		: aborted, no_proc, no_room);
	RSEQ_RESULTS;
}

static inline enum rseq_result rseq_put(uint64_t word1, uint64_t words, const struct trc_seg *seg,
				 const struct trc_seg *seg_end)
{
	__asm__ volatile goto(
		RSEQ_BEGIN RSEQ_RESERVE(ring) RSEQ_COUNTER
		"stp x9, %[word1], [x11], #16\n" RSEQ_COPY_SEGMENTS RSEQ_COMMIT RSEQ_END(aborted)
		:
		: RSEQ_INPUTS, [words] "r"(words), [word1] "r"(word1), [seg] "r"(seg),
		  [end] "r"(seg_end)
		: "memory", "cc", "x9", "x10", "x11", "x12", "x13", "x14", "x15"
		: aborted, no_proc, no_room);
	RSEQ_RESULTS;
}

static inline enum rseq_result rseq_put_at(uint64_t time, uint64_t word1, uint64_t words,
				    const struct trc_seg *seg, const struct trc_seg *seg_end)
{
	__asm__ volatile goto(
		RSEQ_BEGIN RSEQ_RESERVE(ring)
		"ldr x9, [x10, #16]\n"
		"cmp %[time], x9\n"
		"b.lo %l[older]\n"
		"str %[time], [x10, #16]\n"
		"stp %[time], %[word1], [x11], #16\n" RSEQ_COPY_SEGMENTS RSEQ_COMMIT
			RSEQ_END(aborted)
		:
		: RSEQ_INPUTS, [words] "r"(words), [word1] "r"(word1), [seg] "r"(seg),
		  [end] "r"(seg_end), [time] "r"(time)
		: "memory", "cc", "x9", "x10", "x11", "x12", "x13", "x14", "x15"
		: aborted, no_proc, no_room, older);
	RSEQ_RESULTS;
older:
	return RSEQ_OLDER;
}

static inline enum rseq_result rseq_store_two(uint32_t cpu, _Atomic uint64_t *expected_at,
				       uint64_t expected, _Atomic uint64_t *first_at,
				       uint64_t first, _Atomic uint64_t *last_at, uint64_t last)
{
	__asm__ volatile goto(
		RSEQ_BEGIN
		"ldr w9, [%[rseq], #4]\n"
		"cmp w9, %w[cpu]\n"
		"b.ne %l[no_proc]\n"
		"ldr x9, [%[expected_at]]\n"
		"cmp x9, %[expected]\n"
		"b.ne %l[no_room]\n"
		"str %[first], [%[first_at]]\n"
		/* The floor, or the page's end, is seen before any word written after it. */
		"dmb ishst\n"
		"stlr %[last], [%[last_at]]\n" RSEQ_END(aborted)
		:
		: [rseq] "r"(rseq_area()), [cpu] "r"(cpu), [expected_at] "r"(expected_at),
		  [expected] "r"(expected), [first_at] "r"(first_at), [first] "r"(first),
		  [last_at] "r"(last_at), [last] "r"(last)
		: "memory", "cc", "x9"
		: aborted, no_proc, no_room);
	RSEQ_RESULTS;
}

static inline int rseq_current_proc(void)
{
	int cpu;

	__asm__ volatile("ldr %w0, [%1, #4]" : "=r"(cpu) : "r"(rseq_area()));
	return cpu;
}

/*
 * A descriptor of a sequence that nobody runs (offproc.h).  The kernel checks it like any other:
 * the abort address lies outside of the stretch, and the signature is before it.
 */
extern TRC_HIDDEN const char trc_rseq_mark[];
#define RSEQ_MARK_DEFINE                                                                           \
	__asm__(".pushsection __rseq_abort, \"ax\"\n"                                              \
		"31: .inst 0\n"                                                                     \
		"32: .inst 0xd428bc00\n"                                                           \
		"34: .inst 0\n"                                                                     \
		".popsection\n"                                                                    \
		".pushsection __rseq_cs, \"aw\"\n"                                                 \
		".balign 32\n"                                                                     \
		".globl trc_rseq_mark\n"                                                           \
		".hidden trc_rseq_mark\n"                                                          \
		"trc_rseq_mark: .long 0, 0\n"                                                      \
		".quad 31b, 32b - 31b, 34b\n"                                                      \
		".popsection\n")

static inline void rseq_mark(void)
{
	__asm__ volatile("str %0, [%1, #8]" : : "r"(trc_rseq_mark), "r"(rseq_area()) : "memory");
}

static inline void rseq_unmark(void)
{
	__asm__ volatile("str xzr, [%0, #8]" : : "r"(rseq_area()) : "memory");
}

/* False also for a thread that is not registered: nobody would remove its mark. */
static inline bool rseq_mark_stayed(void)
{
	const char *found;

	__asm__ volatile("ldr %0, [%1, #8]" : "=r"(found) : "r"(rseq_area()) : "memory");
	return found == trc_rseq_mark && rseq_current_proc() >= 0;
}
