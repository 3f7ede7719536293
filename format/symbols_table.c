/* symbols_table.c - see symbols_table.h. */
#include "symbols_table.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* How far back a function is looked for that reaches over those that begin after it. */
enum { NESTING_MAX = 32 };

static uint32_t leading_underscores(const char *name)
{
	return (uint32_t)strspn(name, "_");
}

/* Higher is better (T1). */
static uint32_t symbol_rank(const GElf_Sym *symbol, const char *name)
{
	uint32_t rank = 0;
	uint32_t underscores = leading_underscores(name);

	if (GELF_ST_TYPE(symbol->st_info) != STT_NOTYPE)
		rank += 1000;
	if (symbol->st_size)
		rank += 500;
	if (GELF_ST_BIND(symbol->st_info) != STB_LOCAL)
		rank += 100;
	return rank + (underscores < 10 ? 10 - underscores : 0);
}

/* True if it names such; *header is then that of its section, or has no size. */
static bool symbol_is_wanted(Elf *elf, const GElf_Sym *symbol, enum trc_symbols_kind kind,
			     GElf_Shdr *header)
{
	Elf_Scn *section = NULL;
	int type = GELF_ST_TYPE(symbol->st_info);

	*header = (GElf_Shdr){0};
	if (symbol->st_shndx == SHN_UNDEF)
		return false;
	if (kind == TRC_SYMBOLS_DATA)
		return type == STT_OBJECT && symbol->st_size;
	if (symbol->st_shndx < SHN_LORESERVE)
		section = elf_getscn(elf, symbol->st_shndx);
	if (!section || !gelf_getshdr(section, header))
		*header = (GElf_Shdr){0};
	if (type == STT_FUNC || type == STT_GNU_IFUNC)
		return true;
	/* Assembler code often has no type. */
	return type == STT_NOTYPE && (header->sh_flags & SHF_EXECINSTR);
}

static int table_append(struct trc_symbols_table *table, const GElf_Sym *symbol,
			const GElf_Shdr *section, const char *name)
{
	struct trc_table_symbol *slot;

	if (table->n == table->room) {
		size_t room = table->room ? 2 * table->room : 256;

		slot = reallocarray(table->symbol, room, sizeof(*slot));
		if (!slot)
			return -ENOMEM;
		table->symbol = slot;
		table->room = room;
	}
	slot = &table->symbol[table->n];
	slot->name = strndup(name, strcspn(name, "@")); /* T2 */
	if (!slot->name)
		return -ENOMEM;
	slot->sized = symbol->st_size != 0;
	slot->start = symbol->st_value;
	slot->limit = slot->sized ? symbol->st_value + symbol->st_size
				  : section->sh_addr + section->sh_size;
	slot->rank = symbol_rank(symbol, name);
	table->n++;
	return 0;
}

static int table_add_section(struct trc_symbols_table *table, Elf *elf, Elf_Scn *section,
			     const GElf_Shdr *header, enum trc_symbols_kind kind)
{
	Elf_Data *data = elf_getdata(section, NULL);
	size_t n = header->sh_entsize ? header->sh_size / header->sh_entsize : 0;
	int err = 0;

	for (size_t i = 1; data && i < n && i < INT32_MAX && !err; i++) {
		GElf_Shdr home;
		GElf_Sym symbol;
		const char *name;

		if (!gelf_getsym(data, (int)i, &symbol))
			break;
		if (!symbol_is_wanted(elf, &symbol, kind, &home) ||
		    symbol.st_value + symbol.st_size < symbol.st_value)
			continue;
		name = elf_strptr(elf, header->sh_link, symbol.st_name);
		if (name && *name && *name != '@' && *name != '$')
			err = table_append(table, &symbol, &home, name);
	}
	return err;
}

static Elf_Scn *find_section(Elf *elf, GElf_Word type, GElf_Shdr *header)
{
	Elf_Scn *section = NULL;

	while ((section = elf_nextscn(elf, section)))
		if (gelf_getshdr(section, header) && header->sh_type == type)
			return section;
	return NULL;
}

int trc_symbols_table_add(struct trc_symbols_table *table, Elf *elf, enum trc_symbols_kind kind)
{
	GElf_Shdr header;
	Elf_Scn *section = find_section(elf, SHT_SYMTAB, &header);

	if (!section)
		section = find_section(elf, SHT_DYNSYM, &header);
	return section ? table_add_section(table, elf, section, &header, kind) : 0;
}

static int compare_symbols(const void *a, const void *b)
{
	const struct trc_table_symbol *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	if (x->rank != y->rank)
		return x->rank > y->rank ? -1 : 1;
	return strcmp(x->name, y->name);
}

void trc_symbols_table_sort(struct trc_symbols_table *table)
{
	size_t n = 0;

	if (table->n)
		qsort(table->symbol, table->n, sizeof(*table->symbol), compare_symbols);
	for (size_t i = 0; i < table->n; i++) {
		if (n && table->symbol[n - 1].start == table->symbol[i].start)
			free(table->symbol[i].name);
		else
			table->symbol[n++] = table->symbol[i];
	}
	table->n = n;
}

const struct trc_table_symbol *trc_symbols_table_find(const struct trc_symbols_table *table,
						      uint64_t address)
{
	size_t low = 0, high = table->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (table->symbol[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	for (size_t i = low; i > 0 && low - i < NESTING_MAX; i--) {
		const struct trc_table_symbol *symbol = &table->symbol[i - 1];

		if (address < symbol->limit && (symbol->sized || i == low))
			return symbol;
		if (!symbol->sized)
			return NULL;
	}
	return NULL;
}

void trc_symbols_table_rename(struct trc_symbols_table *table,
			      const struct trc_table_symbol *symbol, char *name)
{
	struct trc_table_symbol *own = &table->symbol[symbol - table->symbol];

	free(own->name);
	own->name = name;
}

void trc_symbols_table_clear(struct trc_symbols_table *table)
{
	for (size_t i = 0; i < table->n; i++)
		free(table->symbol[i].name);
	free(table->symbol);
	*table = (struct trc_symbols_table){0};
}
