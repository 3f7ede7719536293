/* symbols_stubs.c - see symbols_stubs.h */
#include "symbols_stubs.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "wire.h"
#include "symbols_stub_code.h"

enum { RELOCATION_TABLES_MAX = 4 };

/* Tables of relocations, by address. */
struct tables {
	struct {
		uint64_t address, n_bytes;
	} table[RELOCATION_TABLES_MAX];
	size_t n;
};

/* ---- the file, by address -------------------------------------------------------------- */

/* The segment that has this address in the file; NULL = none. */
static const GElf_Phdr *stub_segment(const struct trc_stubs *stubs, uint64_t address)
{
	for (size_t i = 0; i < stubs->n_segments; i++)
		if (address >= stubs->segment[i].p_vaddr &&
		    address - stubs->segment[i].p_vaddr < stubs->segment[i].p_filesz)
			return &stubs->segment[i];
	return NULL;
}

/* Where in the file this address is; -1 = not all of so many bytes is in one segment. */
static int64_t offset_of(const struct trc_stubs *stubs, uint64_t address, uint64_t n_bytes)
{
	const GElf_Phdr *segment = stub_segment(stubs, address);
	uint64_t into = segment ? address - segment->p_vaddr : 0;

	if (!segment || !n_bytes || n_bytes > segment->p_filesz - into ||
	    segment->p_offset > INT64_MAX - into)
		return -1;
	return (int64_t)(segment->p_offset + into);
}

/* What lies at an address, as libelf keeps it: for tables, which are asked for once (U3).  NULL =
 * not all of it is in one segment and in the file. */
static Elf_Data *data_at(const struct trc_stubs *stubs, uint64_t address, uint64_t n_bytes,
			 Elf_Type type)
{
	int64_t offset = offset_of(stubs, address, n_bytes);

	/* Looks whether the file is as long. */
	return offset < 0 ? NULL : elf_getdata_rawchunk(stubs->elf, offset, (size_t)n_bytes, type);
}

/* Copies what lies at an address; false: not all of it is in one segment and in the file. */
static bool read_at_address(const struct trc_stubs *stubs, uint64_t address, void *bytes,
			    size_t n_bytes)
{
	int64_t offset = offset_of(stubs, address, n_bytes);

	return offset >= 0 && pread(stubs->fd, bytes, n_bytes, offset) == (ssize_t)n_bytes;
}

/* ---- where stubs are ------------------------------------------------------------------- */

static bool is_stub_section(const char *name)
{
	return !strcmp(name, ".plt") || !strncmp(name, ".plt.", 5) || !strcmp(name, ".iplt");
}

static void stub_sections(struct trc_stubs *stubs)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	size_t names;

	if (elf_getshdrstrndx(stubs->elf, &names))
		return;
	while ((section = elf_nextscn(stubs->elf, section))) {
		const char *name = gelf_getshdr(section, &header)
					   ? elf_strptr(stubs->elf, names, header.sh_name)
					   : NULL;

		stubs->has_sections = true;
		if (name && is_stub_section(name) && header.sh_type != SHT_NOBITS &&
		    stubs->n_sections < TRC_STUB_SECTIONS_MAX &&
		    header.sh_addr + header.sh_size >= header.sh_addr)
			stubs->section[stubs->n_sections++] = (struct trc_stub_section){
				header.sh_addr, header.sh_addr + header.sh_size};
	}
}

static void list_segments(struct trc_stubs *stubs)
{
	size_t n;

	if (elf_getphdrnum(stubs->elf, &n))
		return;
	for (int i = 0; i < (int)(n < INT16_MAX ? n : INT16_MAX); i++) {
		GElf_Phdr *header = &stubs->segment[stubs->n_segments];

		if (stubs->n_segments < TRC_STUB_SEGMENTS_MAX - 1 &&
		    gelf_getphdr(stubs->elf, i, header) && header->p_type == PT_LOAD)
			stubs->n_segments++;
	}
}

void trc_stubs_open(struct trc_stubs *stubs, Elf *elf, int fd)
{
	GElf_Ehdr header;

	*stubs = (struct trc_stubs){0};
	if (!gelf_getehdr(elf, &header) || header.e_ident[EI_CLASS] != ELFCLASS64 ||
	    header.e_ident[EI_DATA] != ELFDATA2LSB ||
	    (header.e_machine != EM_X86_64 && header.e_machine != EM_AARCH64))
		return;
	stubs->elf = elf;
	stubs->fd = fd;
	stubs->machine = header.e_machine;
	stub_sections(stubs);
	list_segments(stubs);
}

/* ---- relocations ----------------------------------------------------------------------- */

static void tables_add(struct tables *tables, uint64_t address, uint64_t n_bytes)
{
	if (tables->n == RELOCATION_TABLES_MAX || !address || !n_bytes)
		return;
	tables->table[tables->n].address = address;
	tables->table[tables->n++].n_bytes = n_bytes;
}

static Elf_Data *relocations_at(const struct trc_stubs *stubs, uint64_t address, uint64_t n_bytes)
{
	return data_at(stubs, address, n_bytes - n_bytes % sizeof(Elf64_Rela), ELF_T_RELA);
}

/* As the dynamic linker finds them.  False: the file has nothing for it. */
static bool read_dynamic(struct trc_stubs *stubs, struct tables *tables)
{
	uint64_t value[DT_JMPREL + 1] = {0};
	Elf_Data *data = NULL;
	GElf_Phdr header;
	GElf_Dyn entry;
	size_t n;

	if (elf_getphdrnum(stubs->elf, &n))
		return false;
	for (int i = 0; i < (int)(n < INT16_MAX ? n : INT16_MAX) && !data; i++)
		if (gelf_getphdr(stubs->elf, i, &header) && header.p_type == PT_DYNAMIC)
			data = data_at(stubs, header.p_vaddr,
				       header.p_filesz - header.p_filesz % sizeof(Elf64_Dyn),
				       ELF_T_DYN);
	for (int i = 0; data && gelf_getdyn(data, i, &entry) && entry.d_tag != DT_NULL; i++)
		if (entry.d_tag > 0 && entry.d_tag <= DT_JMPREL)
			value[entry.d_tag] = entry.d_un.d_val;
	if (!data)
		return false;
	stubs->symbols = value[DT_SYMTAB];
	stubs->strings = data_at(stubs, value[DT_STRTAB], value[DT_STRSZ], ELF_T_BYTE);
	tables_add(tables, value[DT_RELA], value[DT_RELASZ]);
	if (value[DT_PLTREL] == DT_RELA) {
		tables_add(tables, value[DT_JMPREL], value[DT_PLTRELSZ]);
		stubs->lazy = relocations_at(stubs, value[DT_JMPREL], value[DT_PLTRELSZ]);
	}
	return true;
}

/* Of a program that needs no dynamic linker: for its own start code. */
static void find_static_tables(const struct trc_stubs *stubs, struct tables *tables)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;

	while ((section = elf_nextscn(stubs->elf, section)))
		if (gelf_getshdr(section, &header) && header.sh_type == SHT_RELA &&
		    (header.sh_flags & SHF_ALLOC))
			tables_add(tables, header.sh_addr, header.sh_size);
}

/* False: no such relocation fills a slot. */
static bool slot_of(const struct trc_stubs *stubs, const GElf_Rela *relocation,
		    struct trc_stub_slot *slot)
{
	bool x86 = stubs->machine == EM_X86_64;
	uint64_t type = GELF_R_TYPE(relocation->r_info);

	*slot = (struct trc_stub_slot){.address = relocation->r_offset};
	if (type == (x86 ? R_X86_64_IRELATIVE : R_AARCH64_IRELATIVE)) {
		slot->resolver = (uint64_t)relocation->r_addend;
		return slot->resolver != 0;
	}
	slot->symbol = (uint32_t)GELF_R_SYM(relocation->r_info);
	return slot->symbol && (type == (x86 ? R_X86_64_JUMP_SLOT : R_AARCH64_JUMP_SLOT) ||
				type == (x86 ? R_X86_64_GLOB_DAT : R_AARCH64_GLOB_DAT));
}

/* Adds a table's slots to stubs->slot, or counts them only. */
static size_t table_slots(struct trc_stubs *stubs, Elf_Data *data, bool count_only)
{
	struct trc_stub_slot slot;
	GElf_Rela relocation;
	size_t n = 0;

	for (int i = 0; i < INT32_MAX && gelf_getrela(data, i, &relocation); i++) {
		if (!slot_of(stubs, &relocation, &slot))
			continue;
		if (!count_only)
			stubs->slot[stubs->n_slots++] = slot;
		n++;
	}
	return n;
}

static int compare_slots(const void *a, const void *b)
{
	const struct trc_stub_slot *x = a, *y = b;

	return (x->address > y->address) - (x->address < y->address);
}

static void list_slots(struct trc_stubs *stubs)
{
	struct tables tables = {0};
	Elf_Data *data[RELOCATION_TABLES_MAX];
	size_t n = 0;

	stubs->listed = true;
	if (!read_dynamic(stubs, &tables))
		find_static_tables(stubs, &tables);
	for (size_t i = 0; i < tables.n; i++) {
		data[i] = relocations_at(stubs, tables.table[i].address, tables.table[i].n_bytes);
		n += data[i] ? table_slots(stubs, data[i], true) : 0;
	}
	stubs->slot = n ? reallocarray(NULL, n, sizeof(*stubs->slot)) : NULL;
	if (!stubs->slot)
		return;
	for (size_t i = 0; i < tables.n; i++)
		if (data[i])
			table_slots(stubs, data[i], false);
	qsort(stubs->slot, stubs->n_slots, sizeof(*stubs->slot), compare_slots);
}

/* ---- names ----------------------------------------------------------------------------- */

/* NULL = it has none, or that does not end within the table. */
static const char *symbol_name(const struct trc_stubs *stubs, uint32_t index)
{
	uint64_t address = stubs->symbols + (uint64_t)index * sizeof(Elf64_Sym);
	const Elf_Data *strings = stubs->strings;
	uint8_t symbol[sizeof(Elf64_Sym)];
	const char *name;
	uint32_t at;

	if (!strings || !read_at_address(stubs, address, symbol, sizeof(symbol)))
		return NULL;
	at = trc_get32(symbol + offsetof(Elf64_Sym, st_name));
	if (at >= strings->d_size)
		return NULL;
	name = (const char *)strings->d_buf + at;
	return *name && memchr(name, 0, strings->d_size - at) ? name : NULL;
}

static bool name_slot(const struct trc_stubs *stubs, uint64_t address, struct trc_stub_name *name)
{
	const struct trc_stub_slot wanted = {.address = address};
	const struct trc_stub_slot *slot = NULL;

	if (stubs->n_slots)
		slot = bsearch(&wanted, stubs->slot, stubs->n_slots, sizeof(wanted), compare_slots);
	if (!slot)
		return false;
	name->resolver = slot->resolver;
	name->symbol = slot->resolver ? NULL : symbol_name(stubs, slot->symbol);
	return name->symbol || name->resolver;
}

static bool name_stub(const struct trc_stubs *stubs, const struct trc_stub *stub,
		      struct trc_stub_name *name)
{
	GElf_Rela relocation;

	*name = (struct trc_stub_name){.start = stub->start};
	switch (stub->kind) {
	case TRC_STUB_SLOT:
		return name_slot(stubs, stub->value, name);
	case TRC_STUB_RELOCATION:
		return stubs->lazy && stub->value < INT32_MAX &&
		       gelf_getrela(stubs->lazy, (int)stub->value, &relocation) &&
		       name_slot(stubs, relocation.r_offset, name);
	case TRC_STUB_HEADER:
		name->header = true;
		return true;
	}
	return false;
}

/* The part of the code that may hold a stub at this address; false: none can be there. */
static bool bounds_of(const struct trc_stubs *stubs, uint64_t address, uint64_t *start,
		      uint64_t *limit)
{
	const GElf_Phdr *segment = stub_segment(stubs, address);

	if (!segment || !(segment->p_flags & PF_X))
		return false;
	*start = segment->p_vaddr;
	*limit = segment->p_vaddr + segment->p_filesz;
	if (!stubs->has_sections)
		return *limit >= *start;
	for (size_t i = 0; i < stubs->n_sections; i++) {
		const struct trc_stub_section *section = &stubs->section[i];

		if (address < section->start || address >= section->limit)
			continue;
		*start = section->start > *start ? section->start : *start;
		*limit = section->limit < *limit ? section->limit : *limit;
		return *limit >= *start;
	}
	return false;
}

bool trc_stubs_find(struct trc_stubs *stubs, uint64_t address, struct trc_stub_name *name)
{
	struct trc_stub_code code = {.address = address};
	struct trc_stub stub[TRC_STUBS_MAX];
	uint8_t bytes[2 * TRC_STUB_REACH_BYTES];
	uint64_t limit;
	size_t n;

	if (!stubs->elf || !bounds_of(stubs, address, &code.start, &limit))
		return false;
	if (address - code.start > TRC_STUB_REACH_BYTES)
		code.start = address - TRC_STUB_REACH_BYTES;
	if (limit - address > TRC_STUB_REACH_BYTES)
		limit = address + TRC_STUB_REACH_BYTES;
	code.bytes = bytes;
	code.n = (size_t)(limit - code.start); /* fits: so far before and behind it */
	if (!read_at_address(stubs, code.start, bytes, code.n))
		return false;
	n = trc_stub_decode(stubs->machine, &code, stub);
	if (n && !stubs->listed)
		list_slots(stubs);
	for (size_t i = 0; i < n; i++)
		if (name_stub(stubs, &stub[i], name))
			return true;
	return false;
}

void trc_stubs_clear(struct trc_stubs *stubs)
{
	free(stubs->slot);
	*stubs = (struct trc_stubs){0};
}
