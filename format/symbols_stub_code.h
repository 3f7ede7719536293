/*
 * symbols_stub_code.h - the machine code of linkage table stubs, as linkers write it.
 *
 * x86-64: 8 or 16 bytes, at multiples of 8: [endbr64] [mov $N,%r11d] [bnd] jmp *SLOT(%rip), with
 * push $N; jmp .plt behind it, or only these.  aarch64: [bti c]; adrp x16; ldr x17,[x16,#N]; at
 * most two more; br x17.  Those of GNU ld, gold, lld and mold.
 */
#ifndef TRC_FORMAT_SYMBOLS_STUB_CODE_H
#define TRC_FORMAT_SYMBOLS_STUB_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A stub that has an address has all of its code in so many bytes before and behind it. */
enum { TRC_STUB_REACH_BYTES = 32 };

/* Code of a module, and the place in it that is asked for: bytes[address - start]. */
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
 * The stubs that the address may lie in, in the order in which they are to be believed.  More than
 * one: code in the middle of an instruction may look like code.  Of a machine (EM_X86_64,
 * EM_AARCH64) that is not known there are none.
 */
size_t trc_stub_decode(uint16_t machine, const struct trc_stub_code *code,
		       struct trc_stub out[TRC_STUBS_MAX]);

#endif
