/* print.c - findings as a section of the report. */
#include <string.h>
#include "parts.h"
#include "print.h"

enum {
	WRAP_WIDTH = 100, /* sentences read badly in longer lines */
	REST_INDENT = 6,
	SCREEN_WIDTH = 480 /* of a sentence, on a terminal: a few lines */
};

/* What a sentence may take; G5. */
static int room_of(const struct trc_report *r)
{
	return r->width < TRC_WIDTH_MAX ? SCREEN_WIDTH : TRC_WIDTH_MAX;
}

/* In as many lines as it takes; those behind the first further in. */
static void print_wrapped(struct trc_report *r, const char *whole, int indent, enum trc_style style)
{
	int columns = r->width < WRAP_WIDTH ? r->width : WRAP_WIDTH;
	struct trc_line shown;
	const char *text;

	trc_line_begin(&shown, room_of(r), false);
	trc_line_add(&shown, "%s", whole);
	text = trc_line_text(&shown);

	for (; *text; indent = REST_INDENT) {
		size_t n = trc_text_fitting(text, columns - indent);
		struct trc_line line;

		trc_line_begin(&line, r->width, r->colour);
		trc_line_style(&line, style);
		trc_line_to(&line, indent);
		trc_line_add(&line, "%.*s", (int)n, text);
		trc_line_style(&line, TRC_STYLE_PLAIN);
		trc_report_line(r, &line);
		text += n;
		text += strspn(text, " ");
	}
}

/* Names from a trace may hold anything. */
static void add_who(struct trc_report *r, const char *who, char *text, size_t n_bytes)
{
	struct trc_line line;

	trc_line_begin(&line, r->width, false);
	trc_line_data(&line, who, r->width);
	snprintf(text, n_bytes, "%s", trc_line_text(&line));
}

void trc_finding_print_line(struct trc_report *r, const struct trc_finding *f, const char *who)
{
	struct trc_line line;

	trc_line_begin(&line, r->width, r->colour);
	trc_line_add(&line, "  ");
	trc_line_data(&line, who, r->width);
	trc_line_add(&line, ": ");
	trc_line_data(&line, f->sentence, r->width);
	trc_report_line(r, &line);
}

void trc_finding_print(struct trc_report *r, const struct trc_finding *f, const char *who)
{
	const char *remedy = trc_finding_remedy(f);
	char helps[TRC_FINDING_BYTES], sentence[2 * TRC_FINDING_BYTES], name[TRC_FINDING_BYTES];

	if (who) {
		add_who(r, who, name, sizeof(name));
		snprintf(sentence, sizeof(sentence), "%s: %s", name, f->sentence);
	}
	print_wrapped(r, who ? sentence : f->sentence, 2,
		      f->severity == TRC_SEVERITY_ALARM ? TRC_STYLE_ALARM : TRC_STYLE_PLAIN);
	print_wrapped(r, f->why, 4, TRC_STYLE_PLAIN);
	if (!remedy)
		return;
	snprintf(helps, sizeof(helps), "helps: %s", remedy);
	print_wrapped(r, helps, 4, TRC_STYLE_DIM);
}

/* The sentences of what is found, a line each. */
static int print_found(struct trc_report *r, trc_find_fn *find, const char *before)
{
	struct trc_array found = {.row_bytes = sizeof(struct trc_finding)};
	int err = trc_finding_seek(r, find, &found);
	const struct trc_finding *f = found.row;
	struct trc_line line;

	for (size_t i = 0; i < found.n && !err; i++) {
		trc_line_begin(&line, room_of(r), r->colour);
		trc_line_add(&line, "%s%s", before, f[i].sentence);
		trc_report_line(r, &line);
	}
	trc_array_free(&found);
	return err;
}

int trc_report_risk_lines(struct trc_report *r)
{
	return print_found(r, trc_find_lock_order, "RISK: ");
}

int trc_report_procs_lines(struct trc_report *r)
{
	return print_found(r, trc_find_short_procs, "");
}

int trc_report_abandoned_lines(struct trc_report *r)
{
	return print_found(r, trc_find_abandoned, "");
}

int trc_finding_print_narrowed(struct trc_report *r)
{
	struct trc_array found = {.row_bytes = sizeof(struct trc_finding)};
	int err = trc_find_narrowed(r, &found);

	if (!err && found.n)
		print_wrapped(r, ((const struct trc_finding *)found.row)->sentence, 2,
			      TRC_STYLE_DIM);
	trc_array_free(&found);
	return err;
}

/* The head has lost events and the signal that ended the process; crashes and deadlocks have sections of their own. */
static bool is_told_elsewhere(const struct trc_finding *f)
{
	return f->kind == TRC_FINDING_LOST || f->kind == TRC_FINDING_CRASH ||
	       f->kind == TRC_FINDING_DEADLOCK || f->kind == TRC_FINDING_KILLED;
}

int trc_report_findings_section(struct trc_report *r)
{
	struct trc_array findings;
	bool any_section = r->any_section, any = false;
	int err = trc_report_findings(r, &findings);
	const struct trc_finding *f = findings.row;

	for (size_t i = 0; i < findings.n && !err; i++) {
		if (is_told_elsewhere(&f[i]))
			continue;
		if (!any) {
			trc_report_heading(r, "Findings", NULL);
			err = trc_finding_print_narrowed(r);
		}
		any = true;
		if (f[i].kind != TRC_FINDING_NARROWED)
			trc_finding_print(r, &f[i], NULL);
	}
	r->any_section = any_section; /* of those with columns */
	trc_array_free(&findings);
	return err;
}
