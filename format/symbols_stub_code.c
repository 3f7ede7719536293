/* symbols_stub_code.c - see symbols_stub_code.h */
#include "symbols_stub_code.h"

#include <elf.h>
#include <string.h>
#include "wire.h"

/* Instructions read one after the other; all of them lie in [at, end). */
struct cursor {
	const uint8_t *at, *end;
};

static bool code_take(struct cursor *c, const void *bytes, size_t n)
{
	if ((size_t)(c->end - c->at) < n || memcmp(c->at, bytes, n) != 0)
		return false;
	c->at += n;
	return true;
}

static bool take_u32(struct cursor *c, uint32_t *value)
{
	if (c->end - c->at < 4)
		return false;
	*value = trc_get32(c->at);
	c->at += 4;
	return true;
}

/* ---- x86-64 ---------------------------------------------------------------------------- */

static const uint8_t BND = 0xf2;

/* "ff MODRM disp32", relative to the next instruction; the address of its operand. */
static bool take_operand(struct cursor *c, const struct trc_stub_code *code, uint8_t modrm,
			 uint64_t *operand)
{
	const uint8_t opcode[] = {0xff, modrm};
	struct cursor after = *c;
	uint32_t displacement;

	if (!code_take(&after, opcode, sizeof(opcode)) || !take_u32(&after, &displacement))
		return false;
	*operand = code->start + (uint64_t)(after.at - code->bytes) +
		   (uint64_t)(int64_t)(int32_t)displacement;
	*c = after;
	return true;
}

/* jmp *SLOT(%rip) */
static bool take_jump(struct cursor *c, const struct trc_stub_code *code, uint64_t *slot)
{
	struct cursor after = *c;

	code_take(&after, &BND, 1);
	if (!take_operand(&after, code, 0x25, slot))
		return false;
	*c = after;
	return true;
}

/* push $INDEX; jmp .plt */
static bool take_lazy(struct cursor *c, uint32_t *index)
{
	struct cursor after = *c;
	uint32_t distance;

	if (!code_take(&after, "\x68", 1) || !take_u32(&after, index))
		return false;
	code_take(&after, &BND, 1);
	if (!code_take(&after, "\xe9", 1) || !take_u32(&after, &distance))
		return false;
	*c = after;
	return true;
}

/* push GOT+8(%rip); jmp *GOT+16(%rip) */
static bool take_header(struct cursor *c, const struct trc_stub_code *code)
{
	uint64_t link_map, resolver;

	code_take(c, "\x41\x53", 2); /* push %r11 */
	return take_operand(c, code, 0x35, &link_map) && take_jump(c, code, &resolver) &&
	       resolver == link_map + 8;
}

/* Whether a stub begins at *c, which is then moved behind it. */
static bool decode_x86_64(struct cursor *c, const struct trc_stub_code *code, struct trc_stub *stub)
{
	uint32_t index;

	code_take(c, "\xf3\x0f\x1e\xfa", 4); /* endbr64 */
	if (code_take(c, "\x41\xbb", 2) && !take_u32(c, &index))
		return false;
	if (take_jump(c, code, &stub->value)) {
		stub->kind = TRC_STUB_SLOT;
		take_lazy(c, &index);
		return true;
	}
	if (take_lazy(c, &index)) {
		stub->kind = TRC_STUB_RELOCATION;
		stub->value = index;
		return true;
	}
	stub->kind = TRC_STUB_HEADER;
	stub->value = 0;
	return take_header(c, code);
}

/* ---- aarch64 --------------------------------------------------------------------------- */

/* adrp x16, PAGE; ldr x17, [x16, #N] */
static bool take_load(struct cursor *c, const struct trc_stub_code *code, uint64_t *slot)
{
	uint64_t here = code->start + (uint64_t)(c->at - code->bytes);
	uint32_t adrp, ldr, page;

	if (!take_u32(c, &adrp) || (adrp & 0x9f00001f) != 0x90000010 || !take_u32(c, &ldr) ||
	    (ldr & 0xffc003ff) != 0xf9400211)
		return false;
	/* 21 bits with a sign. */
	page = (adrp >> 5 & 0x7ffff) << 2 | (adrp >> 29 & 3);
	*slot = (here & ~UINT64_C(0xfff)) +
		(uint64_t)((int64_t)(int32_t)(page << 11) >> 11) * 4096 + (ldr >> 10 & 0xfff) * 8;
	return true;
}

static bool decode_aarch64(struct cursor *c, const struct trc_stub_code *code,
			   struct trc_stub *stub)
{
	enum { BETWEEN_MAX = 2 }; /* add x16, x16, #N; autia1716 */

	code_take(c, "\x5f\x24\x03\xd5", 4); /* bti c */
	stub->kind = TRC_STUB_SLOT;
	if (code_take(c, "\xf0\x7b\xbf\xa9", 4)) /* stp x16, x30, [sp, #-16]! */
		stub->kind = TRC_STUB_HEADER;
	if (!take_load(c, code, &stub->value))
		return false;
	for (int i = 0; i <= BETWEEN_MAX; i++) {
		uint32_t other;

		if (code_take(c, "\x20\x02\x1f\xd6", 4)) /* br x17 */
			return true;
		if (!take_u32(c, &other))
			return false;
	}
	return false;
}

/* ---- either ---------------------------------------------------------------------------- */

/* Adds the stub that begins `back` bytes before the address, if there is one that has it. */
static size_t try_start(uint16_t machine, const struct trc_stub_code *code, uint64_t back,
			struct trc_stub *out)
{
	uint64_t at = code->address - code->start;
	struct cursor c = {.end = code->bytes + code->n};

	if (back > at)
		return 0;
	c.at = code->bytes + (at - back);
	out->start = code->address - back;
	if (!(machine == EM_X86_64 ? decode_x86_64(&c, code, out) : decode_aarch64(&c, code, out)))
		return 0;
	return (uint64_t)(c.at - code->bytes) > at;
}

size_t trc_stub_decode(uint16_t machine, const struct trc_stub_code *code,
		       struct trc_stub out[TRC_STUBS_MAX])
{
	enum { X86_STEP = 8, AARCH64_STEP = 4, AARCH64_STUB_MAX = 7 };
	size_t n = 0;

	if (code->address < code->start || code->address - code->start >= code->n)
		return 0;
	if (machine == EM_X86_64) {
		/* The longer one first: its second half is looked at only if there is none. */
		n += try_start(machine, code, code->address % X86_STEP + X86_STEP, &out[n]);
		n += try_start(machine, code, code->address % X86_STEP, &out[n]);
	} else if (machine == EM_AARCH64) {
		/* The header's middle looks like a stub, whose slot nobody relocates. */
		for (uint64_t i = 0; i < AARCH64_STUB_MAX; i++)
			n += try_start(machine, code,
				       code->address % AARCH64_STEP + i * AARCH64_STEP, &out[n]);
	}
	return n;
}
