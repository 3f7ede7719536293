/* signal_names.c - see signal_names.h. */
#include "signal_names.h"

#include <signal.h>
#include <stddef.h>
#include <string.h>

static const struct code {
	int number, code;
	const char *name, *words;
} codes[] = {
	{SIGSEGV, SEGV_MAPERR, "SEGV_MAPERR", "address not mapped"},
	{SIGSEGV, SEGV_ACCERR, "SEGV_ACCERR", "access not permitted"},
	{SIGSEGV, SEGV_BNDERR, "SEGV_BNDERR", "address out of bounds"},
	{SIGSEGV, SEGV_PKUERR, "SEGV_PKUERR", "access not permitted by a protection key"},
	{SIGSEGV, SI_KERNEL, "SI_KERNEL", "an address that no program can have"},
	{SIGBUS, BUS_ADRALN, "BUS_ADRALN", "address not aligned"},
	{SIGBUS, BUS_ADRERR, "BUS_ADRERR", "no memory there: a file cut short, or a full tmpfs"},
	{SIGBUS, BUS_OBJERR, "BUS_OBJERR", "hardware error"},
	{SIGBUS, BUS_MCEERR_AR, "BUS_MCEERR_AR", "memory error, data needed"},
	{SIGBUS, BUS_MCEERR_AO, "BUS_MCEERR_AO", "memory error, data not needed yet"},
	{SIGFPE, FPE_INTDIV, "FPE_INTDIV", "integer division by zero"},
	{SIGFPE, FPE_INTOVF, "FPE_INTOVF", "integer overflow"},
	{SIGFPE, FPE_FLTDIV, "FPE_FLTDIV", "floating point division by zero"},
	{SIGFPE, FPE_FLTOVF, "FPE_FLTOVF", "floating point overflow"},
	{SIGFPE, FPE_FLTUND, "FPE_FLTUND", "floating point underflow"},
	{SIGFPE, FPE_FLTRES, "FPE_FLTRES", "floating point result not exact"},
	{SIGFPE, FPE_FLTINV, "FPE_FLTINV", "floating point operation not valid"},
	{SIGILL, ILL_ILLOPC, "ILL_ILLOPC", "illegal instruction"},
	{SIGILL, ILL_ILLOPN, "ILL_ILLOPN", "illegal operand"},
	{SIGILL, ILL_ILLADR, "ILL_ILLADR", "illegal addressing mode"},
	{SIGILL, ILL_ILLTRP, "ILL_ILLTRP", "illegal trap"},
	{SIGILL, ILL_PRVOPC, "ILL_PRVOPC", "privileged instruction"},
	{SIGILL, ILL_PRVREG, "ILL_PRVREG", "privileged register"},
	{SIGTRAP, TRAP_BRKPT, "TRAP_BRKPT", "breakpoint"},
	{SIGTRAP, TRAP_TRACE, "TRAP_TRACE", "single step"},
	{SIGSYS, 1, "SYS_SECCOMP", "system call refused by seccomp"},
	{0, SI_USER, "SI_USER", "sent by kill()"},
	{0, SI_TKILL, "SI_TKILL", "sent by abort(), raise() or tgkill()"},
	{0, SI_QUEUE, "SI_QUEUE", "sent by sigqueue()"},
	{0, SI_TIMER, "SI_TIMER", "sent by a timer"},
	{0, SI_KERNEL, "SI_KERNEL", "sent by the kernel"},
};

const char *trc_signal_name(unsigned int number)
{
	return number && number < NSIG ? sigabbrev_np((int)number) : NULL;
}

const char *trc_signal_code_name(unsigned int number, int64_t code, const char **words)
{
	*words = NULL;
	for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
		if (codes[i].code != code ||
		    (codes[i].number && (unsigned int)codes[i].number != number))
			continue;
		*words = codes[i].words;
		return codes[i].name;
	}
	return NULL;
}

bool trc_signal_has_address(unsigned int number, int64_t code)
{
	switch (number) {
	case SIGSEGV:
	case SIGBUS:
	case SIGFPE:
	case SIGILL:
	case SIGTRAP:
		return code > 0 && code != SI_KERNEL;
	default:
		return false;
	}
}
