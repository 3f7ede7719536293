/*
 * early.c - finds a libc function before anything else works.
 *
 * A statically initialised lock may be taken before the constructors of this object have run, or
 * before the loader has relocated it (by an IFUNC resolver).  So nothing here
 * may need a relocation: no call leaves this file, no pointer is read from initialised data, and
 * the one symbol from outside is weak, so that it reads as NULL until the loader has set it.
 * Context: traced thread, signal handlers.
 */
#include <elf.h>
#include <link.h>
#include "format/raw.h"
#include "real.h"

extern struct r_debug _r_debug __attribute__((weak));
extern ElfW(Dyn) _DYNAMIC[] __attribute__((visibility("hidden")));

enum { VERSION_HIDDEN = 0x8000, VERSION_MASK = 0x7fff };

/* The parts of a loaded object that a lookup needs. */
struct object {
	uintptr_t base;
	const ElfW(Sym) * symbols;
	const char *strings;
	const uint32_t *hash;
	const ElfW(Half) * versions;
	const char *verdef;
	uint64_t n_verdef;
};

static bool name_is_same(const char *a, const char *b)
{
	while (*a && *a == *b)
		a++, b++;
	return *a == *b;
}

/* The program headers of the executable, as the kernel told the loader. */
static const ElfW(Phdr) * executable_headers(uint64_t *n_headers)
{
	static const char path[] = "/proc/self/auxv";
	const ElfW(Phdr) *headers = NULL;
	ElfW(auxv_t) entry;
	long fd = trc_raw3(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC);

	*n_headers = 0;
	if (fd < 0)
		return NULL;
	while (trc_raw3(SYS_read, fd, &entry, sizeof(entry)) == (long)sizeof(entry) &&
	       entry.a_type != AT_NULL) {
		if (entry.a_type == AT_PHDR)
			headers = (const ElfW(Phdr) *)entry.a_un.a_val;
		else if (entry.a_type == AT_PHNUM)
			*n_headers = entry.a_un.a_val;
	}
	trc_raw1(SYS_close, fd);
	return headers;
}

static const struct r_debug *debug_of_executable(void)
{
	uint64_t n_headers;
	const ElfW(Phdr) *headers = executable_headers(&n_headers);
	const ElfW(Dyn) *dyn = NULL;
	uintptr_t base = 0;
	uint64_t i;

	if (!headers)
		return NULL;
	for (i = 0; i < n_headers; i++)
		if (headers[i].p_type == PT_PHDR)
			base = (uintptr_t)headers - headers[i].p_vaddr;
	for (i = 0; i < n_headers; i++)
		if (headers[i].p_type == PT_DYNAMIC)
			dyn = (const ElfW(Dyn) *)(base + headers[i].p_vaddr);
	for (; dyn && dyn->d_tag != DT_NULL; dyn++)
		if (dyn->d_tag == DT_DEBUG)
			return (const struct r_debug *)dyn->d_un.d_ptr;
	return NULL;
}

static const struct link_map *first_map(void)
{
	/* The address is NULL until this object is relocated. */
	const struct r_debug *debug = &_r_debug;

	__asm__("" : "+r"(debug));
	if (!debug)
		debug = debug_of_executable();
	return debug ? debug->r_map : NULL;
}

/* The loader has added the base to the pointers of a dynamic section, but not to a read-only one
 * (the vDSO's). */
static const void *in_object(uintptr_t base, uintptr_t value)
{
	return (const void *)(value < base ? value + base : value);
}

static bool object_open(struct object *o, const struct link_map *map)
{
	const ElfW(Dyn) *dyn = map->l_ld;

	*o = (struct object){.base = map->l_addr};
	for (; dyn && dyn->d_tag != DT_NULL; dyn++) {
		const void *at = in_object(o->base, dyn->d_un.d_ptr);

		if (dyn->d_tag == DT_SYMTAB)
			o->symbols = at;
		else if (dyn->d_tag == DT_STRTAB)
			o->strings = at;
		else if (dyn->d_tag == DT_GNU_HASH)
			o->hash = at;
		else if (dyn->d_tag == DT_VERSYM)
			o->versions = at;
		else if (dyn->d_tag == DT_VERDEF)
			o->verdef = at;
		else if (dyn->d_tag == DT_VERDEFNUM)
			o->n_verdef = dyn->d_un.d_val;
	}
	return o->symbols && o->strings && o->hash;
}

/* Is `index` of the version table the version `wanted`? */
static bool version_is(const struct object *o, unsigned int index, const char *wanted)
{
	const char *at = o->verdef;
	uint64_t i;

	for (i = 0; at && i < o->n_verdef; i++) {
		const ElfW(Verdef) *def = (const void *)at;
		const ElfW(Verdaux) *aux = (const void *)(at + def->vd_aux);

		if ((def->vd_ndx & VERSION_MASK) == index)
			return name_is_same(o->strings + aux->vda_name, wanted);
		at += def->vd_next;
	}
	return false;
}

static bool version_fits(const struct object *o, uint32_t symbol, const char *version)
{
	unsigned int index;

	if (!o->versions)
		return true;
	index = o->versions[symbol];
	if (version)
		return (index & VERSION_MASK) <= VER_NDX_GLOBAL ||
		       version_is(o, index & VERSION_MASK, version);
	return !(index & VERSION_HIDDEN);
}

static uint32_t early_hash(const char *name)
{
	uint32_t hash = 5381;

	for (; *name; name++)
		hash = hash * 33 + (unsigned char)*name;
	return hash;
}

/* The table: n_buckets, first hashed symbol, n_bloom words, bloom shift; bloom filter; buckets; a
 * chain of hashes, the last of a bucket with bit 0 set. */
static trc_function *early_object_find(const struct object *o, const char *name,
				       const char *version)
{
	const uint32_t *head = o->hash;
	const uint32_t *bucket = head + 4 + head[2] * (sizeof(ElfW(Addr)) / sizeof(uint32_t));
	const uint32_t *chain = bucket + head[0];
	uint32_t hash = early_hash(name);
	uint32_t i = head[0] ? bucket[hash % head[0]] : 0;

	for (; i >= head[1] && i; i++) {
		const ElfW(Sym) *symbol = &o->symbols[i];
		uint32_t found = chain[i - head[1]];

		if ((found | 1) == (hash | 1) && symbol->st_shndx != SHN_UNDEF &&
		    ELF64_ST_TYPE(symbol->st_info) == STT_FUNC &&
		    name_is_same(o->strings + symbol->st_name, name) && version_fits(o, i, version))
			return (trc_function *)(o->base + symbol->st_value);
		if (found & 1)
			break;
	}
	return NULL;
}

/* As dlsym(RTLD_NEXT) would find it; where this object comes after libc (it was dlopened), from
 * the first object on.  NULL if nobody has it. */
trc_function *trc_early_lookup(const char *name, const char *version)
{
	const struct link_map *map, *own;
	struct object o;
	trc_function *found;

	for (own = first_map(); own && own->l_ld != _DYNAMIC; own = own->l_next)
		;
	for (map = own ? own->l_next : NULL; map; map = map->l_next)
		if (object_open(&o, map) && (found = early_object_find(&o, name, version)))
			return found;
	for (map = first_map(); map && map != own; map = map->l_next)
		if (object_open(&o, map) && (found = early_object_find(&o, name, version)))
			return found;
	return NULL;
}
