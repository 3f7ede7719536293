/* remote_stack.c - see remote_stack.h */
#include <elf.h>
#include <errno.h>
#include <inttypes.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include "remote_stack.h"
#include "recorder/unwind/unwind.h"
#include "recorder/unwind/cfi.h"
#include "recorder/unwind/walk.h"

enum {
	PAGE_BYTES = 4096, /* the smallest of any kernel */
	PAGES = 4,	   /* of a stack, read at once */
	HEADERS_MAX = 64,
};
#define RULES_BYTES_MAX ((uint64_t)256 << 20) /* of one module */

struct mapping {
	uint64_t start, end, offset, file; /* file 0 = none */
	bool executable, is_vdso;
};

struct module {
	uint64_t start;	  /* its ELF header, there */
	uint64_t segment; /* that has the rules, there */
	struct trc_cfi_bytes bytes;
	uint8_t *copy; /* of the segment; NULL = it has no rules for us */
};

struct trc_remote {
	pid_t pid;
	struct mapping *mapping; /* by address */
	struct module *module;
	uint32_t n_mappings, max_mappings, n_modules, max_modules;
	uint64_t stack_lo, stack_hi; /* what `stack` has of it */
	uint64_t stack[PAGES * PAGE_BYTES / sizeof(uint64_t)];
	uint64_t frame[TRC_UNWIND_WALK_MAX];
};

/* ---- its memory -------------------------------------------------------------------------- */

/* How much could be read from `from` on: pages, up to the first one that could not. */
static uint64_t read_pages(const struct trc_remote *r, void *to, uint64_t from, uint64_t n_bytes)
{
	struct iovec local = {to, n_bytes}, there[PAGES + 1];
	unsigned long n = 0;
	ssize_t got;

	for (uint64_t at = from, end = from + n_bytes; at < end && n <= PAGES; n++) {
		uint64_t next = (at | (PAGE_BYTES - 1)) + 1;

		there[n] = (struct iovec){(void *)(uintptr_t)at, (next < end ? next : end) - at};
		at = next;
	}
	got = process_vm_readv(r->pid, &local, 1, there, n, 0);
	return got > 0 ? (uint64_t)got : 0;
}

static bool remote_read_all(const struct trc_remote *r, void *to, uint64_t from, uint64_t n_bytes)
{
	struct iovec local = {to, n_bytes}, there = {(void *)(uintptr_t)from, n_bytes};

	return process_vm_readv(r->pid, &local, 1, &there, 1, 0) == (ssize_t)n_bytes;
}

static bool remote_read_word(struct trc_remote *r, uint64_t at, uint64_t *value)
{
	if (at & 7)
		return false;
	if (at < r->stack_lo || at >= r->stack_hi) {
		uint64_t got = at < UINT64_MAX - sizeof(r->stack)
				       ? read_pages(r, r->stack, at, sizeof(r->stack))
				       : 0;

		r->stack_lo = at;
		r->stack_hi = at + got / 8 * 8;
		if (got < 8)
			return false;
	}
	*value = r->stack[(at - r->stack_lo) / 8];
	return true;
}

/* ---- what is mapped ---------------------------------------------------------------------- */

static bool remote_array_grow(void *array, size_t element_bytes, uint32_t n, uint32_t *max)
{
	void **at = array;
	void *grown;

	if (n < *max)
		return true;
	grown = reallocarray(*at, 2 * (size_t)n + 64, element_bytes);
	if (!grown)
		return false;
	*at = grown;
	*max = 2 * n + 64;
	return true;
}

static bool remote_mapping_parse(struct mapping *m, const char *line)
{
	unsigned int major, minor;
	char rights[8];
	unsigned long inode;
	int behind = 0;

	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64 " %x:%x %lu %n", &m->start, &m->end,
		   rights, &m->offset, &major, &minor, &inode, &behind) < 7)
		return false;
	m->executable = rights[0] && rights[1] && rights[2] == 'x';
	/* No two files of one process are mixed up but by chance, and then there are no rules. */
	m->file = inode ? inode ^ (uint64_t)major << 56 ^ (uint64_t)minor << 40 : 0;
	m->is_vdso = behind && strncmp(line + behind, "[vdso]", 6) == 0;
	return true;
}

static int mappings_read(struct trc_remote *r)
{
	char path[32], *line = NULL;
	size_t n_bytes = 0;
	int err = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)r->pid);
	f = fopen(path, "re");
	if (!f)
		return -errno;
	while (!err && getline(&line, &n_bytes, f) > 0) {
		if (!remote_array_grow(&r->mapping, sizeof(*r->mapping), r->n_mappings,
				       &r->max_mappings))
			err = -ENOMEM;
		else if (remote_mapping_parse(&r->mapping[r->n_mappings], line))
			r->n_mappings++;
	}
	free(line);
	fclose(f);
	return err;
}

int trc_remote_open(struct trc_remote **out, int pid)
{
	struct trc_remote *r = calloc(1, sizeof(*r));
	int err;

	if (!r)
		return -ENOMEM;
	r->pid = pid;
	err = mappings_read(r);
	if (err)
		trc_remote_close(r);
	else
		*out = r;
	return err;
}

void trc_remote_close(struct trc_remote *r)
{
	if (!r)
		return;
	for (uint32_t i = 0; i < r->n_modules; i++)
		free(r->module[i].copy);
	free(r->module);
	free(r->mapping);
	free(r);
}

/* ---- modules ----------------------------------------------------------------------------- */

static int remote_by_address(const void *key, const void *element)
{
	uint64_t at = *(const uint64_t *)key;
	const struct mapping *m = element;

	return at < m->start ? -1 : at >= m->end;
}

/* Where the ELF header lies of the file whose code is at `pc`; 0 = nowhere. */
static uint64_t header_of(const struct trc_remote *r, uint64_t pc)
{
	const struct mapping *m = r->n_mappings ? bsearch(&pc, r->mapping, r->n_mappings,
							  sizeof(*m), remote_by_address)
						: NULL;

	if (!m || !m->executable)
		return 0;
	if (m->is_vdso)
		return m->start;
	for (const struct mapping *at = m; m->file && at >= r->mapping; at--)
		if (at->file == m->file && at->offset == 0)
			return at->start;
	return 0;
}

/* The segment that has `at` and may be read; NULL = none. */
static const ElfW(Phdr) * segment_of(const ElfW(Phdr) * ph, uint32_t n, uint64_t at)
{
	for (uint32_t i = 0; i < n; i++)
		if (ph[i].p_type == PT_LOAD && ph[i].p_flags & PF_R &&
		    at - ph[i].p_vaddr < ph[i].p_filesz)
			return &ph[i];
	return NULL;
}

static void rules_copy(const struct trc_remote *r, struct module *m, const ElfW(Phdr) * ph,
		       uint32_t n)
{
	const ElfW(Phdr) *first = NULL, *rules = NULL, *segment;

	for (uint32_t i = 0; i < n; i++) {
		if (!first && ph[i].p_type == PT_LOAD)
			first = &ph[i];
		if (ph[i].p_type == PT_GNU_EH_FRAME)
			rules = &ph[i];
	}
	segment = first && rules ? segment_of(ph, n, rules->p_vaddr) : NULL;
	if (!segment || segment->p_filesz > RULES_BYTES_MAX)
		return;
	m->segment = m->start - (first->p_vaddr & ~(uint64_t)(PAGE_BYTES - 1)) + segment->p_vaddr;
	m->copy = malloc(segment->p_filesz);
	if (m->copy && !remote_read_all(r, m->copy, m->segment, segment->p_filesz)) {
		free(m->copy);
		m->copy = NULL;
	}
	if (m->copy)
		m->bytes = (struct trc_cfi_bytes){m->copy, m->copy + segment->p_filesz,
						  m->copy + (rules->p_vaddr - segment->p_vaddr)};
}

static void module_read(const struct trc_remote *r, struct module *m)
{
	ElfW(Phdr) ph[HEADERS_MAX];
	ElfW(Ehdr) elf;

	if (remote_read_all(r, &elf, m->start, sizeof(elf)) &&
	    memcmp(elf.e_ident, ELFMAG, SELFMAG) == 0 && elf.e_ident[EI_CLASS] == ELFCLASS64 &&
	    elf.e_phentsize == sizeof(ph[0]) && elf.e_phnum <= HEADERS_MAX &&
	    remote_read_all(r, ph, m->start + elf.e_phoff, elf.e_phnum * sizeof(ph[0])))
		rules_copy(r, m, ph, elf.e_phnum);
}

/* NULL = no module, or no memory. */
static const struct module *remote_module(struct trc_remote *r, uint64_t pc)
{
	uint64_t start = header_of(r, pc);
	struct module *m;

	if (!start)
		return NULL;
	for (uint32_t i = 0; i < r->n_modules; i++)
		if (r->module[i].start == start)
			return &r->module[i];
	if (!remote_array_grow(&r->module, sizeof(*r->module), r->n_modules, &r->max_modules))
		return NULL;
	m = &r->module[r->n_modules++];
	*m = (struct module){.start = start};
	module_read(r, m);
	return m;
}

/* ---- from frame to frame ----------------------------------------------------------------- */

struct walk {
	struct trc_registers at;
	bool exact; /* pc was interrupted: it is no return address */
	bool has_fp;
};

/* A value of the caller's that is another one than this frame's. */
static bool remote_place_value(struct trc_remote *r, const struct walk *w,
			       const struct trc_place *place, uint64_t cfa, uint64_t *value)
{
	uint64_t base = cfa;

	switch ((enum trc_how)place->how) {
	case TRC_HOW_REG:
	case TRC_HOW_REG_MEM:
		if (place->reg != TRC_REG_SP && (place->reg != TRC_REG_FP || !w->has_fp))
			return false;
		base = place->reg == TRC_REG_SP ? w->at.sp : w->at.fp;
		break;
	case TRC_HOW_CFA:
	case TRC_HOW_CFA_MEM:
		break;
	case TRC_HOW_SAME:
	case TRC_HOW_UNDEFINED:
	case TRC_HOW_CONST:
	case TRC_HOW_UNKNOWN:
		return false;
	}
	*value = base + (uint64_t)(int64_t)place->off;
	if (place->how == TRC_HOW_REG || place->how == TRC_HOW_CFA)
		return true;
	if (!remote_read_word(r, *value, value))
		return false;
	*value += (uint64_t)(int64_t)place->add;
	return true;
}

/* Where its caller is (walk:W2, walk:W3); false: the walk is over. */
static bool walk_step(struct trc_remote *r, struct walk *w)
{
	const struct module *m = remote_module(r, w->at.pc - !w->exact);
	struct walk to = {.has_fp = true};
	struct trc_rule rule;
	uint64_t cfa;
	uintptr_t at;

	if (!m || !m->copy)
		return false;
	/* As if its module had been loaded where the copy is. */
	at = (uintptr_t)(w->at.pc - !w->exact - m->segment + (uintptr_t)m->copy);
	if (trc_cfi_rule(&m->bytes, at, &rule) || rule.kind != TRC_RULE_STEP ||
	    !remote_place_value(r, w, &rule.cfa, 0, &cfa) ||
	    !remote_place_value(r, w, &rule.ra, cfa, &to.at.pc))
		return false;
	if (rule.sp.how == TRC_HOW_SAME)
		to.at.sp = cfa;
	else if (!remote_place_value(r, w, &rule.sp, cfa, &to.at.sp))
		return false;
	if (rule.fp.how == TRC_HOW_SAME) {
		to.at.fp = w->at.fp;
		to.has_fp = w->has_fp;
	} else {
		to.has_fp = remote_place_value(r, w, &rule.fp, cfa, &to.at.fp);
	}
	to.at.pc = trc_pc_plain(to.at.pc);
	to.exact = rule.exact;
	if (!trc_pc_plausible(to.at.pc) || (!rule.exact && to.at.sp <= w->at.sp))
		return false;
	*w = to;
	return true;
}

uint32_t trc_remote_stack(struct trc_remote *r, const struct trc_registers *from, bool skip_module,
			  uint64_t frame[TRC_STACK_DEPTH_MAX])
{
	enum { INNERMOST = TRC_STACK_DEPTH_MAX - TRC_STACK_OUTERMOST - 1 };
	struct walk w = {.at = *from, .has_fp = from->fp != 0};
	uint64_t own = skip_module ? header_of(r, from->pc - 1) : 0;
	uint32_t n = 0, first = 0;

	r->stack_hi = r->stack_lo = 0;
	if (!trc_pc_plausible(from->pc))
		return 0;
	do
		r->frame[n++] = w.at.pc;
	while (n < TRC_UNWIND_WALK_MAX && walk_step(r, &w));
	while (own && first < n && header_of(r, r->frame[first] - 1) == own)
		first++;
	if (n - first <= TRC_STACK_DEPTH_MAX) {
		memcpy(frame, r->frame + first, (n - first) * sizeof(*frame));
		return n - first;
	}
	memcpy(frame, r->frame + first, INNERMOST * sizeof(*frame));
	frame[INNERMOST] = TRC_FRAMES_ELIDED;
	if (n == TRC_UNWIND_WALK_MAX)
		return INNERMOST + 1;
	memcpy(frame + INNERMOST + 1, r->frame + n - TRC_STACK_OUTERMOST,
	       TRC_STACK_OUTERMOST * sizeof(*frame));
	return TRC_STACK_DEPTH_MAX;
}
