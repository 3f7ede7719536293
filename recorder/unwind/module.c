/*
 * module.c - see module.h.
 *
 * glibc's _dl_find_object() answers without a lock, in signal handlers too.  Where it is missing
 * (glibc before 2.35, musl) we keep a list, made when told that modules changed.
 *
 *   module:O1  a reader of the list believes what it copied only if `sequence` was even and the
 *       same before and after
 *   module:O2  the answer that a call lies before an address is believed for MADE_USES more uses:
 *       while a frame is to return there, nobody changes the code; and an address that only looks
 *       like a return address was checked not long ago.  The answer that no call lies there is
 *       never believed.  Whether the address now lies in a module is looked up each time
 *   module:O3  a word is stored whole and is valid alone.  Threads and handlers that use a word at
 *       the same time may miss uses of each other, no more
 */
#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <link.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include "memory.h"
#include "module.h"
#include "poison.h"

/* As glibc's struct dl_find_object on the machines that have no data base address. */
struct found {
	unsigned long long flags;
	void *map_start;
	void *map_end;
	void *link_map;
	void *eh_frame; /* the PT_GNU_EH_FRAME segment */
	unsigned long long reserved[7];
};
typedef int find_object_fn(void *address, struct found *result);

struct module {
	uintptr_t start;
	uintptr_t end;
	uintptr_t hdr; /* of the unwind rules; 0 = none */
};

#ifndef PT_GNU_SFRAME
#define PT_GNU_SFRAME 0x6474e554 /* glibc's elf.h has it since 2.41 */
#endif

enum {
	MODULES_MAX = 4096,
	HEADERS_BYTES = 4096, /* program headers beyond the first page are not looked at */
};

struct headers {
	const ElfW(Phdr) * ph;
	uint32_t count;
	uintptr_t bias; /* from the file's addresses to those in memory */
};

/* All stored by trc_module_setup(), before the first capture. */
static find_object_fn *find_object;
static uintptr_t page_bytes = 4096;
static struct headers main_headers; /* of the program; count is 0 if they are not known */

/* Without find_object; a mapping of its own. */
struct list {
	_Atomic uint32_t sequence;
	_Atomic uint32_t count;
	struct {
		_Atomic uintptr_t start, end, hdr;
	} module[MODULES_MAX];
};
static struct list *_Atomic list;

/* ---- which module ----------------------------------------------------------------------- */

static bool modules_list_find(uintptr_t pc, struct module *module)
{
	/* acquire: pairs with the release in list_make(): the list is zeroed and written. */
	struct list *from = atomic_load_explicit(&list, memory_order_acquire);
	uint32_t before, count;
	bool found = false;

	if (!from)
		return false;
	/* acquire: what is read below is at least as new as this count (O1). */
	before = atomic_load_explicit(&from->sequence, memory_order_acquire);
	count = atomic_load_explicit(&from->count, memory_order_relaxed);
	for (uint32_t i = 0; i < count && !found; i++) {
		module->start = atomic_load_explicit(&from->module[i].start, memory_order_relaxed);
		module->end = atomic_load_explicit(&from->module[i].end, memory_order_relaxed);
		module->hdr = atomic_load_explicit(&from->module[i].hdr, memory_order_relaxed);
		found = pc - module->start < module->end - module->start;
	}
	/* acquire fence: the copies come before the second look at the sequence (O1). */
	atomic_thread_fence(memory_order_acquire);
	return found && !(before & 1) &&
	       atomic_load_explicit(&from->sequence, memory_order_relaxed) == before;
}

static bool module_find(uintptr_t pc, struct module *module)
{
	struct found found;

	if (!find_object)
		return modules_list_find(pc, module);
	if (find_object((void *)pc, &found) != 0)
		return false;
	*module = (struct module){(uintptr_t)found.map_start, (uintptr_t)found.map_end,
				  (uintptr_t)found.eh_frame};
	return true;
}

static void modules_list_add(struct list *to, struct dl_phdr_info *info)
{
	uintptr_t start = UINTPTR_MAX, end = 0, hdr = 0;
	uint32_t at = atomic_load_explicit(&to->count, memory_order_relaxed);

	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *ph = &info->dlpi_phdr[i];
		uintptr_t lo = info->dlpi_addr + ph->p_vaddr;

		if (ph->p_type == PT_GNU_EH_FRAME)
			hdr = lo;
		if (ph->p_type != PT_LOAD)
			continue;
		start = lo < start ? lo & ~(page_bytes - 1) : start;
		end = lo + ph->p_memsz > end ? lo + ph->p_memsz : end;
	}
	if (at == MODULES_MAX || start >= end)
		return;
	/* relaxed: list_make() orders them by the sequence. */
	atomic_store_explicit(&to->module[at].start, start, memory_order_relaxed);
	atomic_store_explicit(&to->module[at].end, end, memory_order_relaxed);
	atomic_store_explicit(&to->module[at].hdr, hdr, memory_order_relaxed);
	atomic_store_explicit(&to->count, at + 1, memory_order_relaxed);
}

static int list_each(struct dl_phdr_info *info, size_t bytes, void *to)
{
	(void)bytes;
	modules_list_add(to, info);
	return 0;
}

static int list_make(void)
{
	struct list *to = atomic_load_explicit(&list, memory_order_relaxed);

	if (!to) {
		to = mmap(NULL, sizeof(*to), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			  -1, 0);
		if (to == MAP_FAILED)
			return -errno;
	}
	atomic_fetch_add_explicit(&to->sequence, 1, memory_order_relaxed);
	/* release fence: readers that see a change below see the odd sequence (O1). */
	atomic_thread_fence(memory_order_release);
	atomic_store_explicit(&to->count, 0, memory_order_relaxed);
	dl_iterate_phdr(list_each, to);
	/* release: whoever sees the even sequence sees the whole list (O1). */
	atomic_fetch_add_explicit(&to->sequence, 1, memory_order_release);
	/* release: pairs with the acquire in modules_list_find(). */
	atomic_store_explicit(&list, to, memory_order_release);
	return 0;
}

static void main_headers_find(void)
{
	const ElfW(Phdr) *ph = (const void *)getauxval(AT_PHDR);
	uint32_t count = (uint32_t)getauxval(AT_PHNUM);

	for (uint32_t i = 0; ph && i < count; i++) {
		if (ph[i].p_type == PT_PHDR)
			main_headers = (struct headers){ph, count, (uintptr_t)ph - ph[i].p_vaddr};
	}
}

int trc_module_setup(bool own_list)
{
	unsigned long page = getauxval(AT_PAGESZ);
	void *symbol = own_list ? NULL : dlsym(RTLD_DEFAULT, "_dl_find_object");

	if (page)
		page_bytes = page;
	main_headers_find();
	memcpy(&find_object, &symbol, sizeof(find_object));
	return find_object ? 0 : list_make();
}

void trc_module_refresh(void)
{
	if (!find_object && atomic_load_explicit(&list, memory_order_relaxed))
		list_make();
}

/* ---- which segment ---------------------------------------------------------------------- */

static bool segment_find(const struct headers *headers, uintptr_t at, uint32_t flags,
			 struct module *segment)
{
	for (uint32_t i = 0; i < headers->count; i++) {
		const ElfW(Phdr) *ph = &headers->ph[i];

		segment->start = headers->bias + ph->p_vaddr;
		segment->end = segment->start + ph->p_filesz;
		if (ph->p_type == PT_LOAD && (ph->p_flags & flags) == flags &&
		    at - segment->start < ph->p_filesz)
			return true;
	}
	return false;
}

/* Of a module that is being closed it may have been unmapped already, while what the loader says of
 * it still holds; other code may run there by now. */
static bool is_mapped(uintptr_t at)
{
	return trc_memory_readable(at);
}

/* The program headers of a mapped module: they lie in its first page. */
static bool module_headers(const struct module *module, struct headers *headers)
{
	const ElfW(Ehdr) *elf = (const void *)module->start;
	uint32_t i = 0;

	if (module->end - module->start < sizeof(*elf) || !is_mapped(module->start) ||
	    memcmp(elf->e_ident, ELFMAG, SELFMAG) != 0 || elf->e_ident[EI_CLASS] != ELFCLASS64 ||
	    elf->e_phentsize != sizeof(ElfW(Phdr)) || elf->e_phoff % 8 != 0 ||
	    elf->e_phoff > HEADERS_BYTES ||
	    elf->e_phnum > (HEADERS_BYTES - elf->e_phoff) / sizeof(ElfW(Phdr)))
		return false;
	headers->ph = (const void *)(module->start + elf->e_phoff);
	headers->count = elf->e_phnum;
	while (i < headers->count && headers->ph[i].p_type != PT_LOAD)
		i++;
	if (i == headers->count)
		return false;
	headers->bias = module->start - (headers->ph[i].p_vaddr & ~(page_bytes - 1));
	return true;
}

/* The program headers of the module that holds `pc`, which are the program's or in *made; NULL: they
 * are malformed. */
static const struct headers *headers_of(const struct module *module, uintptr_t pc,
					struct headers *made)
{
	struct module segment;

	/* A program may have gaps between its segments; then `module` is only one of them. */
	if (segment_find(&main_headers, pc, 0, &segment))
		return &main_headers;
	return module_headers(module, made) ? made : NULL;
}

/* The part of the module's file that is mapped around `at`, with the rights `flags`.  headers: of
 * headers_of(). */
static bool module_segment(const struct module *module, const struct headers *headers, uintptr_t at,
			   uint32_t flags, struct module *segment)
{
	return headers && segment_find(headers, at, flags, segment) &&
	       (headers == &main_headers ||
		(segment->start >= module->start && segment->end <= module->end));
}

/* ---- its rules -------------------------------------------------------------------------- */

static int module_cfi(const struct module *module, const struct headers *headers,
		      struct trc_cfi_bytes *bytes)
{
	struct module segment;

	if (!module->hdr)
		return -ENOENT;
	if (!module_segment(module, headers, module->hdr, PF_R, &segment) ||
	    !is_mapped(module->hdr))
		return -EBADMSG;
	*bytes = (struct trc_cfi_bytes){(const uint8_t *)segment.start,
					(const uint8_t *)segment.end, (const uint8_t *)module->hdr};
	return 0;
}

/* False: it has no .sframe that can be read. */
static bool module_sframe(const struct module *module, const struct headers *headers,
			  struct trc_sframe_bytes *bytes)
{
	struct module segment;

	for (uint32_t i = 0; headers && i < headers->count; i++) {
		const ElfW(Phdr) *ph = &headers->ph[i];
		uintptr_t start = headers->bias + ph->p_vaddr;

		if (ph->p_type != PT_GNU_SFRAME)
			continue;
		if (!module_segment(module, headers, start, PF_R, &segment) ||
		    ph->p_filesz > segment.end - start || !is_mapped(start))
			return false;
		*bytes = (struct trc_sframe_bytes){(const uint8_t *)start,
						   (const uint8_t *)start + ph->p_filesz};
		return true;
	}
	return false;
}

int trc_module_cfi(uintptr_t pc, struct trc_cfi_bytes *bytes)
{
	struct headers made;
	struct module module;

	if (!module_find(pc, &module))
		return -ENOENT;
	return module_cfi(&module, headers_of(&module, pc, &made), bytes);
}

int trc_module_rule(uintptr_t pc, struct trc_rule *rule, bool *has_rules)
{
	struct trc_sframe_bytes sframe;
	struct trc_cfi_bytes cfi;
	struct headers made;
	const struct headers *headers;
	struct module module;
	int err;

	*has_rules = false;
	if (!module_find(pc, &module))
		return -ENOENT;
	headers = headers_of(&module, pc, &made);
	if (module_sframe(&module, headers, &sframe)) {
		*has_rules = true;
		if (trc_sframe_rule(&sframe, pc, rule) == 0)
			return 0;
	}
	err = module_cfi(&module, headers, &cfi);
	if (err)
		return err;
	*has_rules = true;
	return trc_cfi_rule(&cfi, pc, rule);
}

/* Copies `bytes` of code at `from`, which lies in this module: of one executable segment. */
static TRC_NO_SANITIZE bool code_read(const struct module *module, uintptr_t from, uint32_t bytes,
				      uint8_t *to)
{
	struct module segment;
	struct headers made;

	if (!module_segment(module, headers_of(module, from, &made), from, PF_R | PF_X, &segment) ||
	    segment.end - from < bytes)
		return false;
	for (uint32_t i = 0; i < bytes; i++)
		to[i] = ((const volatile uint8_t *)from)[i];
	return true;
}

/* ---- what the code is ------------------------------------------------------------------- */

#if defined(__x86_64__)
enum { CALL_BYTES_MAX = 7 };

/* Bytes of `ff /2` with this ModRM byte, 0 = another instruction. */
static uint32_t call_bytes(uint8_t modrm, uint8_t sib)
{
	uint32_t mod = modrm >> 6, rm = modrm & 7;
	uint32_t bytes = mod != 3 && rm == 4 ? 3 : 2;

	if ((modrm & 0x38) != 0x10)
		return 0;
	if (mod == 1)
		return bytes + 1;
	if (mod == 2 || (mod == 0 && rm == 5) || (mod == 0 && rm == 4 && (sib & 7) == 5))
		return bytes + 4;
	return bytes;
}

/* Whether these bytes, followed by a zero, end with a call. */
static bool is_call_before(const uint8_t code[CALL_BYTES_MAX + 1])
{
	if (code[CALL_BYTES_MAX - 5] == 0xe8)
		return true;
	for (uint32_t bytes = 2; bytes <= CALL_BYTES_MAX; bytes++) {
		const uint8_t *call = code + CALL_BYTES_MAX - bytes;

		if (call[0] == 0xff && call_bytes(call[1], call[2]) == bytes)
			return true;
	}
	return false;
}

/* mov $__NR_rt_sigreturn, %rax; syscall */
static const uint8_t sigreturn[] = {0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05};
#else
enum { CALL_BYTES_MAX = 4 };

static bool is_call_before(const uint8_t bytes[CALL_BYTES_MAX + 1])
{
	uint32_t code;

	memcpy(&code, bytes, sizeof(code));
	return (code & 0xfc000000) == 0x94000000 || /* bl */
	       (code & 0xfefff000) == 0xd63f0000;   /* blr, blraa, blrab */
}

/* mov x8, #__NR_rt_sigreturn; svc #0 */
static const uint8_t sigreturn[] = {0x68, 0x11, 0x80, 0xd2, 0x01, 0, 0, 0xd4};
#endif

/*
 * What was found out of code that lies in no module.  Each look is a system call, for such code may
 * go at any time; a stack of a program that compiles as it runs has a dozen such return addresses.  O2, O3.
 */
enum {
	MADE_WORDS = 2048,
	MADE_USES = 64,
	MADE_USES_SHIFT = 8,
	MADE_SHIFT = 16,
	MADE_CALL = 1, /* a call lies before it */
	MADE_SIGRETURN = 2,
};
static _Atomic uint64_t made_word[MADE_WORDS]; /* address, uses that are left, what it is */

/* What is around pc, with zeros for what cannot be read: a mapping may begin or end between. */
static void made_read(uintptr_t pc, uint8_t code[CALL_BYTES_MAX + sizeof(sigreturn)])
{
	uint32_t bytes = CALL_BYTES_MAX + sizeof(sigreturn);
	/* Of CALL_BYTES_MAX, those in the page of the last. */
	uint32_t near = (uint32_t)((pc - 1) & (page_bytes - 1)) + 1;

	near = near < CALL_BYTES_MAX ? near : CALL_BYTES_MAX;
	if (trc_memory_copy(code, pc - CALL_BYTES_MAX, bytes))
		return;
	memset(code, 0, bytes);
	if (!trc_memory_copy(code + CALL_BYTES_MAX - near, pc - near, near))
		memset(code, 0, CALL_BYTES_MAX);
	if (!trc_memory_copy(code + CALL_BYTES_MAX, pc, sizeof(sigreturn)))
		memset(code + CALL_BYTES_MAX, 0, sizeof(sigreturn));
}

static uint32_t made_look(uintptr_t pc)
{
	uint8_t code[CALL_BYTES_MAX + sizeof(sigreturn)], call[CALL_BYTES_MAX + 1] = {0};
	uint32_t what = 0;

	made_read(pc, code);
	memcpy(call, code, CALL_BYTES_MAX);
	if (is_call_before(call))
		what = MADE_CALL;
	if (memcmp(code + CALL_BYTES_MAX, sigreturn, sizeof(sigreturn)) == 0)
		what |= MADE_SIGRETURN;
	return what;
}

static uint32_t made_what(uintptr_t pc)
{
	_Atomic uint64_t *at =
		&made_word[pc * UINT64_C(0x9e3779b97f4a7c15) >> 32 & (MADE_WORDS - 1)];
	/* relaxed, here and below: O3. */
	uint64_t word = atomic_load_explicit(at, memory_order_relaxed);
	uint32_t what;

	if (word >> MADE_SHIFT == pc && word >> MADE_USES_SHIFT & 0xff) {
		atomic_store_explicit(at, word - (1u << MADE_USES_SHIFT), memory_order_relaxed);
		return (uint32_t)word & 0xff;
	}
	what = made_look(pc);
	if (what & MADE_CALL)
		atomic_store_explicit(
			at, (uint64_t)pc << MADE_SHIFT | MADE_USES << MADE_USES_SHIFT | what,
			memory_order_relaxed);
	return what;
}

bool trc_module_is_return(uintptr_t ra)
{
	uint8_t code[CALL_BYTES_MAX + 1] = {0};
	struct module module;

#if defined(__aarch64__)
	if (ra & 3)
		return false;
#endif
	if (!module_find(ra - CALL_BYTES_MAX, &module))
		return made_what(ra) & MADE_CALL;
	return code_read(&module, ra - CALL_BYTES_MAX, CALL_BYTES_MAX, code) &&
	       is_call_before(code);
}

bool trc_module_is_sigreturn(uintptr_t pc)
{
	uint8_t code[sizeof(sigreturn)];
	struct module module;

	if (!module_find(pc, &module))
		return made_what(pc) & MADE_SIGRETURN;
	return code_read(&module, pc, sizeof(code), code) &&
	       memcmp(code, sigreturn, sizeof(code)) == 0;
}
