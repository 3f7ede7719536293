/* alarm_names.c - deadlocks and deadly signals in words. */
#include "words.h"

#include <inttypes.h>
#include "analyzer/model/signal_names.h"

void trc_report_signal(struct trc_line *line, const struct trc_signal *s)
{
	const char *name = trc_signal_name(s->signal), *words;
	const char *code = trc_signal_code_name(s->signal, s->code, &words);

	if (name)
		trc_line_add(line, "SIG%s", name);
	else
		trc_line_add(line, "signal %u", s->signal);
	if (code)
		trc_line_add(line, ", %s: %s", code, words);
	else
		trc_line_add(line, ", code %" PRId64, s->code);
	if (trc_signal_has_address(s->signal, s->code))
		trc_line_add(line, " (0x%" PRIx64 ")", s->address);
}

/* "11 (SIGSEGV) code 1 at 0x0 in thread 4711", as the recorder noted it, in words. */
static bool parse_note(const char *text, struct trc_signal *s, uint32_t *tid)
{
	return sscanf(text,
		      "%" SCNu32 " (SIG%*[A-Z0-9]) code %" SCNd64 " at %" SCNx64
		      " in thread %" SCNu32,
		      &s->signal, &s->code, &s->address, tid) == 4;
}

void trc_report_signal_note(struct trc_report *r, struct trc_line *line)
{
	const char *text = trc_report_info(r, "signal");
	struct trc_signal s = {.fatal = true};
	uint32_t tid;

	if (parse_note(text, &s, &tid)) {
		trc_line_add(line, "thread %u: ", tid);
		trc_line_style(line, TRC_STYLE_ALARM);
		trc_report_signal(line, &s);
	} else {
		trc_line_add(line, "signal ");
		trc_line_style(line, TRC_STYLE_ALARM);
		trc_line_data(line, text, 80);
	}
	trc_line_style(line, TRC_STYLE_PLAIN);
}

void trc_report_deadlock_headline(struct trc_report *r, struct trc_line *line,
				  const struct trc_deadlock *row, size_t n)
{
	char number[TRC_NUMBER_BYTES];
	bool certain = true, may_end = false;
	size_t n_cycle = 0;

	for (size_t i = 0; i < n && row[i].deadlock == row->deadlock; i++) {
		if (!row[i].in_cycle)
			continue;
		n_cycle++;
		certain = certain && row[i].certain;
		may_end = may_end || row[i].may_end;
	}
	trc_line_style(line, TRC_STYLE_ALARM);
	trc_line_add(line, "%sDEADLOCK: ", certain ? "" : "perhaps a ");
	if (n_cycle == 1) {
		trc_report_thread(r, line, row->thread, 40);
		trc_line_add(line, " waits for itself");
	} else {
		trc_line_add(line, "%s threads wait for each other",
			     trc_text_count(number, n_cycle));
	}
	if (may_end)
		trc_line_add(line, " (may end: timed wait)");
	trc_line_style(line, TRC_STYLE_PLAIN);
}
