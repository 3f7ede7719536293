/*
 * fuzz_symbols.c - any bytes as the file of a module, whose names, lines and variables are looked
 * up: a libFuzzer target.  Seeds are real symbol files.
 *
 * Most of it is elfutils' work, which is not ours: but a trace names files that somebody else may
 * have put there, and looking at them must not end trace-analyze, nor keep it for long.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "format/symbols.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n_bytes);

static void promise(bool kept, const char *what)
{
	if (kept)
		return;
	fprintf(stderr, "broken: %s\n", what);
	abort();
}

static uint64_t look_at(struct trc_symbols *s, const struct trc_module_entry *module, uint64_t address)
{
	struct trc_symbol found[TRC_SYMBOL_INLINE_MAX];
	size_t n = trc_symbols_find(s, module, address, found);
	uint64_t sum = trc_symbols_start(s, module, address), offset, tail[TRC_SYMBOL_TAIL_MAX];
	size_t n_tails = trc_symbols_tail_calls(s, module, address, tail);

	promise(n <= TRC_SYMBOL_INLINE_MAX, "as many frames as there is room for");
	promise(n_tails <= TRC_SYMBOL_TAIL_MAX, "as many jumps as there is room for");
	for (size_t i = 0; i < n_tails; i++)
		sum += tail[i];
	for (size_t i = 0; i < n; i++) {
		sum += found[i].function ? strlen(found[i].function) : 0;
		sum += found[i].linkage ? strlen(found[i].linkage) : 0;
		sum += found[i].file ? strlen(found[i].file) : 0;
	}
	sum += strlen(trc_symbols_member(s, module, address, &offset)) + offset;
	return trc_symbols_variable(s, module, address, &offset) ? sum + offset : sum;
}

/* Where the seeds have their code and their variable closely, and the rest now and then. */
static void look_up(struct trc_symbols *s, const struct trc_module_entry *module)
{
	uint64_t sum = 0;

	for (uint64_t off = 0; off < 0x40; off += 4)
		sum += look_at(s, module, module->start + 0x1000 + off) +
		       look_at(s, module, module->start + 0x4000 + off);
	for (uint64_t address = module->start; address < module->limit; address += 0x3fd)
		sum += look_at(s, module, address);
	__asm__ volatile("" : : "r"(sum)); /* everything has to be read for it */
	trc_symbols_trouble(s, module);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n_bytes)
{
	struct trc_module_entry module = {.start = 0x10000, .limit = 0x18000, .load_bias = 0x10000,
					  .last_epoch = UINT32_MAX};
	struct trc_symbols *s;
	char path[40];
	int fd = memfd_create("module", MFD_CLOEXEC);

	promise(fd >= 0 && write(fd, bytes, n_bytes) == (ssize_t)n_bytes, "a file");
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	module.path = path;
	promise(!trc_symbols_open(&s, TRC_SYMBOLS_READ), "memory");
	look_up(s, &module);
	trc_symbols_close(s);
	close(fd);
	return 0;
}
