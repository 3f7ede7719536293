/*
 * unwind_coverage.c - goes through every row of every FDE of ELF files: how many the unwinder
 * can follow, in short or wide rules, and whether elfutils reads the same out of them.
 *
 *	unwind_coverage FILE...
 */
#include <dwarf.h>
#include <elf.h>
#include <elfutils/libdw.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "recorder/unwind/cache.h"
#include "recorder/unwind/cfi.h"

enum {
	ROW_SHORT,
	ROW_WIDE, /* followed, by a wide rule */
	ROW_END,
	ROW_REGISTER, /* followed only where all registers are known: the innermost frame */
	ROW_UNKNOWN,  /* an expression beyond us */
	ROW_ERROR,
	ROWS,
};
static const char *const row_names[ROWS] = {"short", "wide", "end", "register", "unknown", "error"};

struct file {
	const char *name;
	uint8_t *image; /* as loaded: image + (address - base) */
	uintptr_t base;
	struct trc_cfi_bytes bytes;
	Dwarf_CFI *cfi;
	uint64_t rows[ROWS], code_bytes[ROWS];
	uint64_t registers[TRC_REGS];
	uint64_t compared, differ;
};

/* ---- loading ---------------------------------------------------------------------------- */

static bool file_load(struct file *file, Elf *elf, int fd)
{
	size_t count;
	GElf_Phdr ph;
	uint64_t lo = UINT64_MAX, hi = 0;

	if (elf_getphdrnum(elf, &count) != 0)
		return false;
	for (size_t i = 0; i < count; i++) {
		gelf_getphdr(elf, (int)i, &ph);
		if (ph.p_type != PT_LOAD)
			continue;
		lo = ph.p_vaddr < lo ? ph.p_vaddr : lo;
		hi = ph.p_vaddr + ph.p_memsz > hi ? ph.p_vaddr + ph.p_memsz : hi;
	}
	file->base = lo & ~0xffful;
	file->image = mmap(NULL, hi - file->base, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (file->image == MAP_FAILED)
		return false;
	for (size_t i = 0; i < count; i++) {
		gelf_getphdr(elf, (int)i, &ph);
		if (ph.p_type == PT_LOAD &&
		    pread(fd, file->image + (ph.p_vaddr - file->base), ph.p_filesz,
			  (off_t)ph.p_offset) != (ssize_t)ph.p_filesz)
			return false;
		if (ph.p_type == PT_GNU_EH_FRAME)
			file->bytes.hdr = file->image + (ph.p_vaddr - file->base);
	}
	for (size_t i = 0; i < count; i++) {
		uint8_t *start;

		gelf_getphdr(elf, (int)i, &ph);
		start = file->image + (ph.p_vaddr - file->base);
		if (ph.p_type == PT_LOAD && file->bytes.hdr >= start &&
		    file->bytes.hdr < start + ph.p_filesz) {
			file->bytes.start = start;
			file->bytes.end = start + ph.p_filesz;
		}
	}
	return file->bytes.start;
}

/* ---- one row ---------------------------------------------------------------------------- */

static bool known(uint32_t reg)
{
	return reg == TRC_REG_SP || reg == TRC_REG_FP;
}

static uint32_t row_class(struct file *file, const struct trc_rule *rule)
{
	const struct trc_place *place[] = {&rule->cfa, &rule->ra, &rule->sp};

	if (trc_short_make(rule))
		return ROW_SHORT;
	if (rule->kind == TRC_RULE_END)
		return ROW_END;
	for (uint32_t i = 0; i < 3; i++) {
		if (place[i]->how == TRC_HOW_UNKNOWN)
			return ROW_UNKNOWN;
	}
	for (uint32_t i = 0; i < 3; i++) {
		if ((place[i]->how == TRC_HOW_REG || place[i]->how == TRC_HOW_REG_MEM) &&
		    !known(place[i]->reg)) {
			file->registers[place[i]->reg]++;
			return ROW_REGISTER;
		}
	}
	if (rule->ra.how == TRC_HOW_SAME)
		return ROW_REGISTER;
	return ROW_WIDE;
}

/* Where elfutils says something that a place can say, it must say the same. */
static void row_compare(struct file *file, Dwarf_Frame *frame, const struct trc_rule *rule,
			uint64_t pc)
{
	Dwarf_Op *op, memory[3];
	size_t count;
	bool same = true;

	if (dwarf_frame_cfa(frame, &op, &count) != 0)
		return;
	if (count == 1 && op->atom == DW_OP_bregx)
		same = rule->cfa.how == TRC_HOW_REG && rule->cfa.reg == op->number &&
		       rule->cfa.off == (int64_t)op->number2;
	else if (count == 1 && op->atom >= DW_OP_breg0 && op->atom <= DW_OP_breg31)
		same = rule->cfa.how == TRC_HOW_REG &&
		       rule->cfa.reg == (uint32_t)(op->atom - DW_OP_breg0) &&
		       rule->cfa.off == (int64_t)op->number;
	if (dwarf_frame_register(frame, TRC_REG_FP, memory, &op, &count) == 0 &&
	    rule->kind == TRC_RULE_STEP) {
		if (count == 0 && op == NULL)
			same &= rule->fp.how == TRC_HOW_SAME;
		else if (count == 2 && op[0].atom == DW_OP_call_frame_cfa &&
			 op[1].atom == DW_OP_plus_uconst)
			same &= rule->fp.how == TRC_HOW_CFA_MEM &&
				rule->fp.off == (int64_t)op[1].number;
	}
	file->compared++;
	if (!same && file->differ++ < 5)
		fprintf(stderr, "%s: %#" PRIx64 ": elfutils reads another rule\n", file->name, pc);
}

static void file_fde(struct file *file, uint64_t pc)
{
	for (;;) {
		Dwarf_Frame *frame;
		Dwarf_Addr start, end;
		bool signal;
		struct trc_rule rule;
		uintptr_t at = pc - file->base + (uintptr_t)file->image;
		uint32_t class;
		int err;

		if (dwarf_cfi_addrframe(file->cfi, pc, &frame) != 0)
			return;
		dwarf_frame_info(frame, &start, &end, &signal);
		err = trc_cfi_rule(&file->bytes, at, &rule);
		class = err ? ROW_ERROR : row_class(file, &rule);
		file->rows[class]++;
		file->code_bytes[class] += end - pc;
		if (!err)
			row_compare(file, frame, &rule, pc);
		else
			fprintf(stderr, "%s: %#" PRIx64 ": %s\n", file->name, pc, strerror(-err));
		free(frame);
		pc = end;
		if (trc_cfi_rule(&file->bytes, pc - file->base + (uintptr_t)file->image, &rule) ==
		    -ENOENT)
			return;
	}
}

static void file_scan(struct file *file)
{
	/* The table: version 1, encodings 0x1b 0x03 0x3b, what every linker writes. */
	const uint8_t *hdr = file->bytes.hdr;
	uint32_t count;

	memcpy(&count, hdr + 8, 4);
	for (uint32_t i = 0; i < count; i++) {
		int32_t off;

		memcpy(&off, hdr + 12 + 8ul * i, 4);
		file_fde(file, (uint64_t)((int64_t)(hdr - file->image) + off) + file->base);
	}
}

static void file_report(const struct file *file)
{
	uint64_t rows = 0, bytes = 0;

	for (uint32_t i = 0; i < ROWS; i++) {
		rows += file->rows[i];
		bytes += file->code_bytes[i];
	}
	printf("%s: %" PRIu64 " rows, %" PRIu64 " bytes of code; %" PRIu64 " compared, %" PRIu64
	       " differ\n",
	       file->name, rows, bytes, file->compared, file->differ);
	for (uint32_t i = 0; i < ROWS; i++)
		printf("  %-9s %9" PRIu64 " rows %8.4f %%  %8.4f %% of the code\n", row_names[i],
		       file->rows[i], rows ? 100.0 * (double)file->rows[i] / (double)rows : 0,
		       bytes ? 100.0 * (double)file->code_bytes[i] / (double)bytes : 0);
	for (uint32_t i = 0; i < TRC_REGS; i++) {
		if (file->registers[i])
			printf("  needs register %" PRIu32 ": %" PRIu64 " rows\n", i,
			       file->registers[i]);
	}
}

int main(int argc, char **argv)
{
	int status = 0;

	elf_version(EV_CURRENT);
	for (int i = 1; i < argc; i++) {
		struct file file = {.name = argv[i]};
		int fd = open(argv[i], O_RDONLY);
		Elf *elf = elf_begin(fd, ELF_C_READ, NULL);

		if (!elf || !file_load(&file, elf, fd) || !(file.cfi = dwarf_getcfi_elf(elf))) {
			fprintf(stderr, "%s: cannot be read\n", argv[i]);
			status = 1;
			continue;
		}
		file_scan(&file);
		file_report(&file);
		status |= file.differ || file.rows[ROW_ERROR];
		dwarf_cfi_end(file.cfi);
		elf_end(elf);
		close(fd);
	}
	return status;
}
