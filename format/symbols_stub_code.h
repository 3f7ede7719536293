/*
 * symbols_stub_code.h - the machine code of linkage table stubs, as linkers write it.
 *
 * x86-64: 8 or 16 bytes, at multiples of 8: [endbr64] [mov $N,%r11d] [bnd] jmp *SLOT(%rip), with
 * push $N; jmp .plt behind it, or only these. aarch64: [bti c]; adrp x16; ldr x17,[x16,#N]; at most
 * two more; br x17.  These forms are written by GNU ld, gold, lld and mold.
 */
#ifndef TRC_FORMAT_SYMBOLS_STUB_CODE_H
#define TRC_FORMAT_SYMBOLS_STUB_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* All code of a stub lies within so many bytes before and behind any address in the stub. */
enum { TRC_STUB_REACH_BYTES = 32 };

/* Code of a module, and the place of interest in the code: bytes[address - start]. */
struct trc_stub_code {
	const uint8_t *bytes;
	size_t n;
	uint64_t start, address;
};

enum trc_stub_kind {
	TRC_STUB_SLOT,	     /* jumps to what is at the address `value` */
	TRC_STUB_RELOCATION, /* has the dynamic linker look up relocation `value` of the table */
	TRC_STUB_HEADER,     /* what the others jump to for it */
};

struct trc_stub {
	enum trc_stub_kind kind;
	uint64_t start, value;
};

enum { TRC_STUBS_MAX = 8 };
/*
 * The stubs that may contain the address, the likeliest first.  There may be several: bytes from
 * the middle of an instruction on may look like code.  An unknown machine (not EM_X86_64 or
 * EM_AARCH64) gives no stubs.
 */
size_t trc_stub_decode(uint16_t machine, const struct trc_stub_code *code,
		       struct trc_stub out[TRC_STUBS_MAX]);

#endif
