/*
 * unwind_compare.c - see unwind_compare.h.  With COMPARE_WITHOUT_LIBUNWIND only the C library's:
 * libunwind would take over the unwinding of C++ exceptions.
 */
#define UNW_LOCAL_ONLY
#include <dlfcn.h>
#include <execinfo.h>
#include <inttypes.h>
#include <stdio.h>
#ifndef COMPARE_WITHOUT_LIBUNWIND
#include <libunwind.h>
#endif
#include "recorder/unwind/unwind.h"
#include "unwind_compare.h"

enum { MAX = 64 };

uint32_t compare_made, compare_failed;

static void tell(const char *who, const uint64_t *frame, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		Dl_info info = {0};

		dladdr((void *)(uintptr_t)frame[i], &info);
		fprintf(stderr, "  %s %2" PRIu32 " %#" PRIx64 " %s+%#" PRIx64 " (%s)\n", who, i,
			frame[i], info.dli_sname ? info.dli_sname : "?",
			info.dli_sname ? frame[i] - (uintptr_t)info.dli_saddr : 0,
			info.dli_fname ? info.dli_fname : "?");
	}
}

static bool differ(const char *what, const char *who, const uint64_t *ours, uint32_t n,
		   const uint64_t *theirs, uint32_t m)
{
	uint32_t common = 0;

	while (common < n && common < m && ours[common] == theirs[common])
		common++;
	if (common == m && n == m)
		return false;
	fprintf(stderr, "%s: frame %" PRIu32 " differs from %s:\n", what, common, who);
	tell("ours", ours, n);
	tell(who, theirs, m);
	return true;
}

/* Frames of `from` after those up to and including index `own`. */
static uint32_t take(uint64_t *to, void **from, int count, int own)
{
	uint32_t n = 0;

	for (int i = own + 1; i < count; i++)
		to[n++] = (uintptr_t)from[i];
	while (n && !to[n - 1]) /* a final null of those that show it */
		n--;
	return n;
}

__attribute__((noinline)) uint32_t compare_here(const char *what, uint32_t min_frames)
{
	uint64_t ours[MAX], theirs[MAX + 1];
	void *address[MAX + 1];
	uint32_t n = trc_unwind(ours, MAX, 0), m;
	bool bad = n < min_frames;

	compare_made++;
	if (bad)
		fprintf(stderr, "%s: %" PRIu32 " frames where there are %" PRIu32 "\n", what, n,
			min_frames);
	m = take(theirs, address, backtrace(address, MAX + 1), 0);
	bad |= differ(what, "glibc", ours, n, theirs, m);
#ifndef COMPARE_WITHOUT_LIBUNWIND
	m = take(theirs, address, unw_backtrace(address, MAX + 1), 0);
	bad |= differ(what, "libunwind", ours, n, theirs, m);
#endif
	compare_failed += bad;
	return n;
}

#ifdef COMPARE_WITHOUT_LIBUNWIND
bool compare_context(const char *what, void *ucontext)
{
	uint64_t ours[MAX];

	compare_made++;
	if (trc_unwind_context(ucontext, ours, MAX) > 2)
		return true;
	fprintf(stderr, "%s: hardly a frame\n", what);
	compare_failed++;
	return false;
}
#else
bool compare_context(const char *what, void *ucontext)
{
	uint64_t ours[MAX], theirs[MAX];
	uint32_t n = trc_unwind_context(ucontext, ours, MAX), m = 0;
	unw_cursor_t cursor;
	unw_word_t pc;
	bool bad;

	unw_init_local2(&cursor, ucontext, UNW_INIT_SIGNAL_FRAME);
	do {
		unw_get_reg(&cursor, UNW_REG_IP, &pc);
		if (!pc)
			break;
		theirs[m++] = pc;
	} while (m < MAX && unw_step(&cursor) > 0);
	compare_made++;
	bad = differ(what, "unw_step", ours, n, theirs, m);
	compare_failed += bad;
	return !bad;
}
#endif
