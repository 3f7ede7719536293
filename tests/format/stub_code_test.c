/* stub_code_test.c - stubs of linkage tables, as linkers of both machines write them. */
#include <check.h>
#include <elf.h>
#include <stdlib.h>
#include "format/symbols_stub_code.h"
#include "tests/suite.h"

/* Code at 0x1000; the stub that the address lies in. */
static const struct {
	const char *what;
	uint16_t machine;
	const char *code;
	uint64_t address;
	size_t n; /* stubs */
	struct trc_stub stub;
} ROWS[] = {
#define LAZY "ff25ca2f0000 6800000000 e9e0ffffff"
	{"x86: its first byte", EM_X86_64, LAZY, 0x1000, 1, {TRC_STUB_SLOT, 0x1000, 0x3fd0}},
	{"x86: push", EM_X86_64, LAZY, 0x1006, 1, {TRC_STUB_SLOT, 0x1000, 0x3fd0}},
	{"x86: the last jump", EM_X86_64, LAZY, 0x100b, 1, {TRC_STUB_SLOT, 0x1000, 0x3fd0}},
	{"x86: cut short, what is left counts",
	 EM_X86_64,
	 "ff25ca2f0000 68",
	 0x1000,
	 1,
	 {TRC_STUB_SLOT, 0x1000, 0x3fd0}},
	{"x86: cut short in the jump", EM_X86_64, "ff25ca2f00", 0x1000, 0, {0}},
	{"x86: padding behind the jump", EM_X86_64, "ff25ca2f0000 6690", 0x1006, 0, {0}},
	{"x86: the second of two of eight bytes",
	 EM_X86_64,
	 "ff25ca2f0000 6690 ff25f8ffffff 6690",
	 0x1008,
	 1,
	 {TRC_STUB_SLOT, 0x1008, 0x1006}},
	{"x86: with endbr64",
	 EM_X86_64,
	 "f30f1efa ff25562f0000",
	 0x1004,
	 1,
	 {TRC_STUB_SLOT, 0x1000, 0x3f60}},
	{"x86: with endbr64 and bnd",
	 EM_X86_64,
	 "f30f1efa f2ff25562f0000",
	 0x1004,
	 1,
	 {TRC_STUB_SLOT, 0x1000, 0x3f61}},
	{"x86: only endbr64 and push",
	 EM_X86_64,
	 "f30f1efa 6803000000 e9e2ffffff",
	 0x1009,
	 1,
	 {TRC_STUB_RELOCATION, 0x1000, 3}},
	{"x86: likewise with bnd",
	 EM_X86_64,
	 "6804000000 f2e9e2ffffff",
	 0x1005,
	 1,
	 {TRC_STUB_RELOCATION, 0x1000, 4}},
	{"x86: mold's",
	 EM_X86_64,
	 "f30f1efa 41bb07000000 ff2500200000",
	 0x100a,
	 1,
	 {TRC_STUB_SLOT, 0x1000, 0x3010}},
	{"x86: the header",
	 EM_X86_64,
	 "ff35ca2f0000 ff25cc2f0000",
	 0x1006,
	 1,
	 {TRC_STUB_HEADER, 0x1000, 0}},
	{"x86: mold's header",
	 EM_X86_64,
	 "f30f1efa 4153 ff3508200000 ff250a200000",
	 0x100c,
	 1,
	 {TRC_STUB_HEADER, 0x1000, 0}},
	{"x86: like a header, of no pair of slots",
	 EM_X86_64,
	 "ff35ca2f0000 ff25ca2f0000",
	 0x1000,
	 0,
	 {0}},
	{"x86: another jump", EM_X86_64, "ff24c5ca2f0000 90", 0x1000, 0, {0}},
	{"x86: before the code", EM_X86_64, LAZY, 0xfff, 0, {0}},
	{"x86: behind the code", EM_X86_64, LAZY, 0x1010, 0, {0}},
	{"another machine", EM_386, LAZY, 0x1000, 0, {0}},
/* adrp x16, 0x12000; ldr x17, [x16, #8]; add x16, x16, #8; br x17 */
#define ARM "900000b0 110640f9 10220091 20021fd6"
	{"arm: its first byte", EM_AARCH64, ARM, 0x1000, 1, {TRC_STUB_SLOT, 0x1000, 0x12008}},
	{"arm: its last instruction", EM_AARCH64, ARM, 0x100c, 1, {TRC_STUB_SLOT, 0x1000, 0x12008}},
	{"arm: cut short", EM_AARCH64, "900000b0 110640f9 10220091 20021f", 0x1000, 0, {0}},
	{"arm: the second one", EM_AARCH64, ARM ARM, 0x101c, 1, {TRC_STUB_SLOT, 0x1010, 0x12008}},
	{"arm: bti c, a page below, autia1716",
	 EM_AARCH64,
	 "5f2403d5 f0ffffd0 110a40f9 10420091 9f2103d5 20021fd6",
	 0x1014,
	 2,
	 {TRC_STUB_SLOT, 0x1004, 0xfffffffffffff010}},
	{"arm: bti c itself",
	 EM_AARCH64,
	 "5f2403d5 f0ffffd0 110a40f9 10420091 9f2103d5 20021fd6",
	 0x1000,
	 1,
	 {TRC_STUB_SLOT, 0x1000, 0xfffffffffffff010}},
	{"arm: without add",
	 EM_AARCH64,
	 "900000b0 110640f9 20021fd6 1f2003d5",
	 0x1008,
	 1,
	 {TRC_STUB_SLOT, 0x1000, 0x12008}},
	{"arm: the no-operation behind it",
	 EM_AARCH64,
	 "900000b0 110640f9 20021fd6 1f2003d5",
	 0x100c,
	 0,
	 {0}},
	{"arm: the header's first instruction",
	 EM_AARCH64,
	 "f07bbfa9 90000090 11fe47f9 10e23f91 20021fd6",
	 0x1000,
	 1,
	 {TRC_STUB_HEADER, 0x1000, 0x11ff8}},
	{"arm: another register", EM_AARCH64, "910000b0 110640f9 20021fd6", 0x1000, 0, {0}},
};

static size_t bytes_of(const char *hex, uint8_t *bytes)
{
	size_t n = 0;

	for (; *hex; hex += 2) {
		char digits[3] = {0};

		while (*hex == ' ')
			hex++;
		digits[0] = hex[0];
		digits[1] = hex[1];
		bytes[n++] = (uint8_t)strtoul(digits, NULL, 16);
	}
	return n;
}

START_TEST(stubs)
{
	uint8_t room[64], *bytes;
	size_t n_bytes = bytes_of(ROWS[_i].code, room);
	struct trc_stub_code code = {.n = n_bytes, .start = 0x1000, .address = ROWS[_i].address};
	struct trc_stub stub[TRC_STUBS_MAX];

	/* As long as the code: sanitizers see what reads on. */
	bytes = malloc(n_bytes);
	ck_assert_ptr_nonnull(bytes);
	for (size_t i = 0; i < n_bytes; i++)
		bytes[i] = room[i];
	code.bytes = bytes;
	ck_assert_msg(trc_stub_decode(ROWS[_i].machine, &code, stub) == ROWS[_i].n, "%s",
		      ROWS[_i].what);
	if (ROWS[_i].n) {
		ck_assert_msg(stub[0].kind == ROWS[_i].stub.kind, "%s: kind", ROWS[_i].what);
		ck_assert_msg(stub[0].start == ROWS[_i].stub.start, "%s: start", ROWS[_i].what);
		ck_assert_msg(stub[0].value == ROWS[_i].stub.value, "%s: 0x%llx", ROWS[_i].what,
			      (unsigned long long)stub[0].value);
	}
	free(bytes);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("stub code");
	TCase *tests = tcase_create("stub code");

	tcase_add_loop_test(tests, stubs, 0, sizeof(ROWS) / sizeof(*ROWS));
	suite_add_tcase(suite, tests);
	return suite_run(suite);
}
