/* troubles.c - of which files that were shown there are no source lines, or no names, and what would help. */
#include <string.h>
#include "words.h"
#include "format/symbols.h"

/* A program that executes itself again has its modules once more. */
static bool trouble_was_told(const struct trc_report *r, struct trc_symbols *symbols,
			     uint32_t until, const char *path, const char *trouble)
{
	for (uint32_t i = 1; i < until; i++) {
		const struct trc_module_entry *module =
			r->module_shown[i] ? trc_reader_module(r->reader, i) : NULL;
		const char *before = module && !strcmp(module->path, path)
					     ? trc_symbols_trouble(symbols, module)
					     : NULL;

		if (before && !strcmp(before, trouble))
			return true;
	}
	return false;
}

/* Addresses of no module were shown, and no such address has a name. */
static bool lacks_made_code(const struct trc_report *r)
{
	const struct trc_stacks *stacks = r->stacks;

	if (!trc_reader_modules(r->reader) || !r->module_shown[0])
		return false;
	for (size_t i = 0; i < stacks->n_frames; i++)
		if (!stacks->frame[i].module && stacks->frame[i].function)
			return false;
	return true;
}

static void print_made_code(struct trc_report *r)
{
	const char *pid = trc_report_info(r, "pid");
	struct trc_line line;

	trc_line_begin(&line, r->width, r->colour);
	trc_line_add(&line,
		     "  addresses in no file, as of code made by a virtual machine: no /tmp/perf-");
	trc_line_data(&line, pid ? pid : "PID", 20);
	trc_line_add(&line, ".map");
	trc_report_line(r, &line);
	trc_line_begin(&line, r->width, r->colour);
	trc_line_style(&line, TRC_STYLE_DIM);
	trc_line_add(&line, "  java -XX:+DumpPerfMapAtExit and node --perf-basic-prof write it");
	trc_line_style(&line, TRC_STYLE_PLAIN);
	trc_report_line(r, &line);
}

void trc_report_troubles(struct trc_report *r)
{
	struct trc_symbols *symbols = trc_model_symbols(r->m);
	struct trc_line line;
	bool any = lacks_made_code(r), lacks = false;

	if (any) {
		trc_report_heading(r, "No source lines for", NULL);
		print_made_code(r);
	}

	for (uint32_t i = 1; symbols && i < trc_reader_modules(r->reader); i++) {
		const struct trc_module_entry *module = trc_reader_module(r->reader, i);
		const char *trouble;

		if (!r->module_shown[i] || !module)
			continue;
		trouble = trc_symbols_trouble(symbols, module);
		if (!trouble || trouble_was_told(r, symbols, i, module->path, trouble))
			continue;
		if (!any)
			trc_report_heading(r, "No source lines for", NULL);
		any = true;
		trc_line_begin(&line, r->width, r->colour);
		trc_line_add(&line, "  ");
		trc_line_data(&line, module->path, 60);
		trc_line_add(&line, ": %s", trouble);
		trc_report_line(r, &line);
		lacks |= !strcmp(trouble, TRC_SYMBOLS_NO_DEBUG_FILE);
	}
	if (!lacks)
		return;
	trc_line_begin(&line, r->width, r->colour);
	trc_line_style(&line, TRC_STYLE_DIM);
	trc_line_add(&line, "  debug packages have them, or servers that DEBUGINFOD_URLS names");
	trc_line_style(&line, TRC_STYLE_PLAIN);
	trc_report_line(r, &line);
}
