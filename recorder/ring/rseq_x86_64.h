/*
 * rseq_x86_64.h - the restartable sequences on x86-64 (included by ring_inline.h).
 *
 * Each sequence begins by storing the address of its descriptor into rseq_cs.  Until the last
 * store, the kernel moves the thread to the abort address if the thread was preempted, migrated or
 * interrupted by a signal.  The last store is the commit.  Layout of struct rseq and the signature
 * before the abort address: linux/rseq.h, and the x86 part of glibc's sys/rseq.h.
 */
/* Columns of instructions. */
/* clang-format off */
#define RSEQ_CPU_ID "4" /* offset of cpu_id */
#define RSEQ_CS	    "8" /* offset of rseq_cs */

#define RSEQ_BEGIN                                                                                 \
	".pushsection __rseq_cs, \"aw\"\n"                                                         \
	".balign 32\n"                                                                             \
	"30: .long 0, 0\n"                                                                         \
	".quad 31f, 32f - 31f, 34f\n"                                                              \
	".popsection\n"                                                                            \
	"leaq 30b(%%rip), %%rax\n"                                                                 \
	"movq %%rax, %%fs:" RSEQ_CS "(%[rseq])\n"                                                  \
	"31:\n"
#define RSEQ_END(label)                                                                            \
	"32:\n"                                                                                    \
	".pushsection __rseq_abort, \"ax\"\n"                                                      \
	".byte 0x0f, 0xb9, 0x3d\n"                                                                 \
	".long 0x53053053\n"                                                                       \
	"34: jmp %l[" #label "]\n"                                                                 \
	".popsection\n"

/*
 * Finds room in the ring that the thread used last, if it still runs on that proc: r8 = ring, r9 =
 * where the record goes, r10 = head after it, as `add_words` makes it from rcx.  Only the loads of
 * ring and head wait for another load: little overlaps with rdtsc.
 */
#define RSEQ_RESERVE(which, add_words)                                                             \
	"movq trc_self@gottpoff(%%rip), %%r8\n"                                                    \
	"movq %%fs:%c[" #which "](%%r8), %%r8\n"                                                   \
	"movl %%fs:" RSEQ_CPU_ID "(%[rseq]), %%eax\n"                                              \
	"movq (%%r8), %%rcx\n"                                                                     \
	"cmpl 36(%%r8), %%eax\n"                                                                   \
	"jne %l[no_proc]\n"                                                                        \
	add_words                                                                                  \
	"cmpq 8(%%r8), %%r10\n"                                                                    \
	"ja %l[no_room]\n"                                                                         \
	"andq %[mask], %%rcx\n"                                                                    \
	"leaq (%%r8, %%rcx, 8), %%r9\n"                                                            \
	"addq 40(%%r8), %%r9\n"
#define RSEQ_SELF                                                                                  \
	[rseq] "r"(trc_rseq_offset), [ring] "i"(offsetof(struct trc_self, ring)),                  \
		[counter_ring] "i"(offsetof(struct trc_self, counter_ring)),                       \
		[mask] "m"(trc_rec.ring_mask)
/* Both halves go into word 0 one by one: nothing overlaps with rdtsc, so the number of instructions
 * before the commit counts. */
#define RSEQ_TSC                                                                                   \
	"rdtsc\n"                                                                                  \
	"movl %%eax, (%%r9)\n"                                                                     \
	"movl %%edx, 4(%%r9)\n"
#define RSEQ_ADD_WORDS "leaq (%%rcx, %[words]), %%r10\n"
/* Word 1, then the pieces from seg up to end, behind the time to which r9 points. */
#define RSEQ_COPY                                                                                  \
	"movq %[word1], 8(%%r9)\n"                                                                 \
	"addq $16, %%r9\n"                                                                         \
	"movq %[seg], %%rdx\n"                                                                     \
	"40: cmpq %[end], %%rdx\n"                                                                 \
	"jae 43f\n"                                                                                \
	"movq (%%rdx), %%r11\n"                                                                    \
	"movq 8(%%rdx), %%rcx\n"                                                                   \
	"leaq (%%r11, %%rcx, 8), %%r11\n"                                                          \
	"leaq (%%r9, %%rcx, 8), %%r9\n"                                                            \
	"negq %%rcx\n"                                                                             \
	"jz 42f\n"                                                                                 \
	"41: movq (%%r11, %%rcx, 8), %%rax\n"                                                      \
	"movq %%rax, (%%r9, %%rcx, 8)\n"                                                           \
	"incq %%rcx\n"                                                                             \
	"jnz 41b\n"                                                                                \
	"42: addq $16, %%rdx\n"                                                                    \
	"jmp 40b\n"                                                                                \
	"43:\n"
#define RSEQ_COMMIT "movq %%r10, (%%r8)\n"

enum rseq_result { RSEQ_DONE, RSEQ_ABORTED, RSEQ_NO_PROC, RSEQ_NO_ROOM, RSEQ_OLDER };

#define RSEQ_RESULTS                                                                               \
	return RSEQ_DONE;                                                                          \
aborted:                                                                                           \
	return RSEQ_ABORTED;                                                                       \
no_proc:                                                                                           \
	return RSEQ_NO_PROC;                                                                       \
no_room:                                                                                           \
	return RSEQ_NO_ROOM

/* Four words: the time, word 1 and two arguments.  Uses few registers, as its callers save none;
 * the commit is one instruction that adds to head.  The place of the next records in the ring is
 * fetched ahead: it was last touched a whole lap ago. */
static inline __attribute__((always_inline)) enum rseq_result
rseq_put_two(uint64_t word1, uint64_t a, uint64_t b)
{
	__asm__ volatile goto(
		RSEQ_BEGIN
		"movq trc_self@gottpoff(%%rip), %%r8\n"
		"movq %%fs:%c[counter_ring](%%r8), %%r8\n"
		"movl %%fs:" RSEQ_CPU_ID "(%[rseq]), %%eax\n"
		"movq (%%r8), %%rcx\n"
		"cmpl 36(%%r8), %%eax\n"
		"jne %l[no_proc]\n"
		"leaq 4(%%rcx), %%rax\n"
		"cmpq 8(%%r8), %%rax\n"
		"ja %l[no_room]\n"
		"andq %[mask], %%rcx\n"
		"leaq (%%r8, %%rcx, 8), %%rcx\n"
		"addq 40(%%r8), %%rcx\n"
		"prefetchw 1024(%%rcx)\n"
		"rdtsc\n"
		"movl %%eax, (%%rcx)\n"
		"movl %%edx, 4(%%rcx)\n"
		"movq %[word1], 8(%%rcx)\n"
		"movq %[a], 16(%%rcx)\n"
		"movq %[b], 24(%%rcx)\n"
		"addq $4, (%%r8)\n" RSEQ_END(aborted)
		:
		: RSEQ_SELF, [word1] "r"(word1), [a] "r"(a), [b] "r"(b)
		: "memory", "cc", "rax", "rcx", "rdx", "r8"
		: aborted, no_proc, no_room);
	RSEQ_RESULTS;
}

/* Any record: words at seg[0..n), n >= 0 pieces ending at seg_end. */
static inline enum rseq_result rseq_put(uint64_t word1, uint64_t words, const struct trc_seg *seg,
				 const struct trc_seg *seg_end)
{
	__asm__ volatile goto(
		RSEQ_BEGIN RSEQ_RESERVE(ring, RSEQ_ADD_WORDS) RSEQ_TSC
		RSEQ_COPY RSEQ_COMMIT RSEQ_END(aborted)
		:
		: RSEQ_SELF, [words] "r"(words), [word1] "r"(word1), [seg] "m"(seg), [end] "m"(seg_end)
		: "memory", "cc", "rax", "rcx", "rdx", "r8", "r9", "r10", "r11"
		: aborted, no_proc, no_room);
	RSEQ_RESULTS;
}

/* The same with a time read before: refused if the ring's newest record is younger. */
static inline enum rseq_result rseq_put_at(uint64_t time, uint64_t word1, uint64_t words,
				    const struct trc_seg *seg, const struct trc_seg *seg_end)
{
	__asm__ volatile goto(
		RSEQ_BEGIN RSEQ_RESERVE(ring, RSEQ_ADD_WORDS)
		"cmpq 16(%%r8), %[time]\n"
		"jb %l[older]\n"
		"movq %[time], 16(%%r8)\n"
		"movq %[time], (%%r9)\n"
		RSEQ_COPY RSEQ_COMMIT RSEQ_END(aborted)
		:
		: RSEQ_SELF, [words] "r"(words), [word1] "r"(word1), [seg] "m"(seg), [end] "m"(seg_end), [time] "r"(time)
		: "memory", "cc", "rax", "rcx", "rdx", "r8", "r9", "r10", "r11"
		: aborted, no_proc, no_room, older);
	RSEQ_RESULTS;
older:
	return RSEQ_OLDER;
}

/*
 * On proc `cpu` only: if *expected_at is still `expected`, stores `first` to *first_at, then
 * commits by storing `last` to *last_at.  RSEQ_NO_ROOM: *expected_at has changed.
 */
static inline enum rseq_result rseq_store_two(uint32_t cpu, _Atomic uint64_t *expected_at,
				       uint64_t expected, _Atomic uint64_t *first_at,
				       uint64_t first, _Atomic uint64_t *last_at, uint64_t last)
{
	__asm__ volatile goto(
		RSEQ_BEGIN
		"cmpl %[cpu], %%fs:" RSEQ_CPU_ID "(%[rseq])\n"
		"jne %l[no_proc]\n"
		"cmpq (%[expected_at]), %[expected]\n"
		"jne %l[no_room]\n"
		"movq %[first], (%[first_at])\n"
		"movq %[last], (%[last_at])\n" RSEQ_END(aborted)
		:
		: [rseq] "r"(trc_rseq_offset), [cpu] "r"(cpu), [expected_at] "r"(expected_at),
		  [expected] "r"(expected), [first_at] "r"(first_at), [first] "r"(first),
		  [last_at] "r"(last_at), [last] "r"(last)
		: "memory", "cc", "rax"
		: aborted, no_proc, no_room);
	RSEQ_RESULTS;
}

/* The proc that the thread runs on; negative if it is not registered. */
static inline int rseq_current_proc(void)
{
	int cpu;

	__asm__ volatile("movl %%fs:" RSEQ_CPU_ID "(%1), %0" : "=r"(cpu) : "r"(trc_rseq_offset));
	return cpu;
}

/*
 * A descriptor of a sequence that nobody runs (offproc.h).  The kernel checks it like any other:
 * the abort address lies outside of the stretch, and the signature is before it.
 */
extern TRC_HIDDEN const char trc_rseq_mark[];
#define RSEQ_MARK_DEFINE                                                                           \
	__asm__(".pushsection __rseq_abort, \"ax\"\n"                                              \
		"31: ud2\n"                                                                        \
		"32: .byte 0x0f, 0xb9, 0x3d\n"                                                     \
		".long 0x53053053\n"                                                               \
		"34: ud2\n"                                                                        \
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
	__asm__ volatile("movq %0, %%fs:" RSEQ_CS "(%1)"
			 :
			 : "r"(trc_rseq_mark), "r"(trc_rseq_offset)
			 : "memory");
}

static inline void rseq_unmark(void)
{
	__asm__ volatile("movq $0, %%fs:" RSEQ_CS "(%0)" : : "r"(trc_rseq_offset) : "memory");
}

/* False also for a thread that is not registered: nobody would remove its mark. */
static inline bool rseq_mark_stayed(void)
{
	const char *found;

	__asm__ volatile("movq %%fs:" RSEQ_CS "(%1), %0"
			 : "=r"(found)
			 : "r"(trc_rseq_offset)
			 : "memory");
	return found == trc_rseq_mark && rseq_current_proc() >= 0;
}
