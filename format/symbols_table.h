/*
 * symbols_table.h - names of functions or of variables by address, from ELF symbol tables.
 *
 *   symbols_table:T1  at most one name for an address, the name that a person would look for:
 *       functions go before labels, globals before locals, few underscores before many
 *   symbols_table:T2  symbol versions are not part of a name
 */
#ifndef TRC_FORMAT_SYMBOLS_TABLE_H
#define TRC_FORMAT_SYMBOLS_TABLE_H

#include <gelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct trc_table_symbol {
	uint64_t start, limit; /* ELF addresses */
	char *name;	       /* owned */
	uint32_t rank;	       /* higher is the better name for one address (T1) */
	bool sized;	       /* false: limit is that of its section; the next symbol ends it */
};

struct trc_symbols_table {
	struct trc_table_symbol *symbol; /* by start */
	size_t n, room;
};

enum trc_symbols_kind { TRC_SYMBOLS_CODE, TRC_SYMBOLS_DATA };

/* Adds the symbols of this kind from elf's .symtab, or from .dynsym if there is no .symtab.  0 or
 * -ENOMEM. */
int trc_symbols_table_add(struct trc_symbols_table *table, Elf *elf, enum trc_symbols_kind kind);
/* Call once, after the last add and before the first find. */
void trc_symbols_table_sort(struct trc_symbols_table *table);
/* The symbol at this ELF address, or NULL.  Borrowed until clear. */
const struct trc_table_symbol *trc_symbols_table_find(const struct trc_symbols_table *table,
						      uint64_t address);
/* Takes over the name, which is malloc()ed. */
void trc_symbols_table_rename(struct trc_symbols_table *table,
			      const struct trc_table_symbol *symbol, char *name);
void trc_symbols_table_clear(struct trc_symbols_table *table);

#endif
