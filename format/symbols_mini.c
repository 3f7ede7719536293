/* symbols_mini.c - unpacks .gnu_debugdata (symbols_mini.h). */
#include "symbols_mini.h"

#include <lzma.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Of a hostile file as well. */
enum { UNPACKED_BYTES_MAX = 256 << 20, DECODER_BYTES_MAX = 128 << 20, ROOM_BYTES_MIN = 1 << 16 };

static Elf_Data *find_packed(Elf *elf)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	size_t names;

	if (elf_getshdrstrndx(elf, &names))
		return NULL;
	while ((section = elf_nextscn(elf, section))) {
		const char *name = gelf_getshdr(section, &header)
					   ? elf_strptr(elf, names, header.sh_name)
					   : NULL;

		if (name && !strcmp(name, ".gnu_debugdata") && header.sh_type != SHT_NOBITS)
			return elf_rawdata(section, NULL);
	}
	return NULL;
}

/* False at the limit, or without memory. */
static bool grow(lzma_stream *stream, void **bytes, size_t *room)
{
	size_t larger = *room ? 2 * *room : ROOM_BYTES_MIN;
	void *grown = larger <= UNPACKED_BYTES_MAX ? realloc(*bytes, larger) : NULL;

	if (!grown)
		return false;
	*bytes = grown;
	stream->next_out = (uint8_t *)grown + *room;
	stream->avail_out = larger - *room;
	*room = larger;
	return true;
}

/* How many bytes; 0 = they are damaged, or too many. */
static size_t lzma_unpack(const Elf_Data *packed, void **bytes)
{
	lzma_stream stream = LZMA_STREAM_INIT;
	lzma_ret got = lzma_stream_decoder(&stream, DECODER_BYTES_MAX, 0);
	size_t room = 0;

	stream.next_in = packed->d_buf;
	stream.avail_in = packed->d_size;
	while (got == LZMA_OK) {
		if (!stream.avail_out && !grow(&stream, bytes, &room))
			break;
		got = lzma_code(&stream, LZMA_FINISH);
	}
	lzma_end(&stream);
	return got == LZMA_STREAM_END ? (size_t)stream.total_out : 0;
}

void trc_symbols_mini_open(struct trc_symbols_mini *mini, Elf *elf)
{
	const Elf_Data *packed = find_packed(elf);
	size_t n_bytes = packed && packed->d_buf ? lzma_unpack(packed, &mini->bytes) : 0;

	if (n_bytes)
		mini->elf = elf_memory(mini->bytes, n_bytes);
	if (mini->elf && elf_kind(mini->elf) != ELF_K_ELF)
		trc_symbols_mini_close(mini);
}

void trc_symbols_mini_close(struct trc_symbols_mini *mini)
{
	if (mini->elf)
		elf_end(mini->elf);
	free(mini->bytes);
	*mini = (struct trc_symbols_mini){0};
}
