/* finding_names.c - what the kinds of findings are called; see findings.h. */
#include "findings.h"

const char *trc_finding_kind_name(unsigned int kind)
{
	static const char *const name[TRC_FINDING_KINDS] = {
		[TRC_FINDING_CRASH] = "crash", [TRC_FINDING_DEADLOCK] = "deadlock",
		[TRC_FINDING_LOCK] = "lock",   [TRC_FINDING_PROCS] = "procs",
		[TRC_FINDING_LOST] = "lost",
	};

	return kind < TRC_FINDING_KINDS && name[kind] ? name[kind] : "";
}

const char *trc_severity_name(unsigned int severity)
{
	static const char *const name[] = {"", "alarm", "cost", "note"};

	return severity < sizeof(name) / sizeof(*name) ? name[severity] : "";
}
