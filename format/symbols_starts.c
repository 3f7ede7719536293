/* symbols_starts.c - see symbols_starts.h */
#include "symbols_starts.h"

#include <gelf.h>
#include <string.h>
#include "wire.h"

enum {
	PAIR_BYTES = 8,
	HEAD_BYTES = 12, /* version, three encodings, .eh_frame's place, number of pairs */
	/* DW_EH_PE: unsigned, signed 4 bytes; the latter relative to the section. */
	UDATA4 = 0x03,
	SDATA4 = 0x0b,
	SIZE_BITS = 0x0f,
	DATAREL_SDATA4 = 0x3b,
};

static Elf_Data *section_data(Elf *elf, const char *name, GElf_Shdr *header)
{
	Elf_Scn *section = NULL;
	size_t names;

	if (elf_getshdrstrndx(elf, &names))
		return NULL;
	while ((section = elf_nextscn(elf, section))) {
		const char *its_name;

		if (!gelf_getshdr(section, header) || header->sh_type == SHT_NOBITS)
			continue;
		its_name = elf_strptr(elf, names, header->sh_name);
		if (its_name && !strcmp(its_name, name))
			return elf_rawdata(section, NULL);
	}
	return NULL;
}

void trc_starts_find_table(struct trc_starts *starts, Elf *elf)
{
	GElf_Shdr header;
	Elf_Data *data = section_data(elf, ".eh_frame_hdr", &header);
	const uint8_t *bytes = data ? data->d_buf : NULL;

	*starts = (struct trc_starts){0};
	if (!bytes || data->d_size < HEAD_BYTES || bytes[0] != 1 ||
	    ((bytes[1] & SIZE_BITS) != UDATA4 && (bytes[1] & SIZE_BITS) != SDATA4) ||
	    bytes[2] != UDATA4 || bytes[3] != DATAREL_SDATA4)
		return;
	starts->n = trc_get32(bytes + 8);
	if (starts->n > (data->d_size - HEAD_BYTES) / PAIR_BYTES)
		starts->n = (data->d_size - HEAD_BYTES) / PAIR_BYTES;
	starts->pair = bytes + HEAD_BYTES;
	starts->base = header.sh_addr;
}

static uint64_t pair_start(const struct trc_starts *starts, size_t i)
{
	return starts->base + (uint64_t)(int64_t)(int32_t)trc_get32(starts->pair + i * PAIR_BYTES);
}

bool trc_starts_find(const struct trc_starts *starts, uint64_t address, uint64_t *start)
{
	size_t first = 0, end = starts->n; /* those from `end` on begin behind the address */

	while (first < end) {
		size_t middle = first + (end - first) / 2;

		if (pair_start(starts, middle) <= address)
			first = middle + 1;
		else
			end = middle;
	}
	if (!end)
		return false;
	*start = pair_start(starts, end - 1);
	return true;
}
