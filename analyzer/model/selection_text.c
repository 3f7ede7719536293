/* selection_text.c - a selection in words. */
#include <string.h>
#include "analyzer/text/line.h"
#include "selection_parts.h"

enum { NAME_WIDTH = 40 };

static void add_names(struct trc_line *line, const char *one, const char *const *name, size_t n)
{
	trc_line_add(line, "%s%s", one, n == 1 ? "" : "s");
	for (size_t i = 0; i < n; i++) {
		trc_line_add(line, i ? ", " : " ");
		trc_line_data(line, name[i], NAME_WIDTH);
	}
}

static void text_add_tasks(struct trc_line *line, const struct trc_selection *s)
{
	char n[TRC_NUMBER_BYTES], of[TRC_NUMBER_BYTES], least[TRC_NUMBER_BYTES];

	if (s->slowest > 0)
		trc_line_add(line, "the slowest %g%% of ", s->slowest);
	add_names(line, "task", s->task, s->n_tasks);
	if (s->slowest > 0)
		trc_line_add(line, " (%s of %s, from %s on)", trc_text_count(n, s->n_picked),
			     trc_text_count(of, s->n_of_type),
			     trc_text_duration(least, s->least_ns));
	else if (s->n_picked != 1)
		trc_line_add(line, " (%s)", trc_text_count(n, s->n_picked));
}

void trc_selection_tell(struct trc_line *line, const struct trc_selection *s)
{
	const char *before = "";

	if (s->n_tasks) {
		text_add_tasks(line, s);
		before = "; ";
	}
	if (s->n_threads) {
		trc_line_add(line, "%s", before);
		add_names(line, "thread", s->thread, s->n_threads);
		before = "; ";
	}
	if (s->window) {
		trc_line_add(line, "%sthe window ", before);
		trc_line_data(line, s->window, NAME_WIDTH);
		before = "; ";
	}
	if (s->labels) {
		trc_line_add(line, "%sunder ", before);
		trc_line_data(line, trc_label_filter_text(s->labels), TRC_WIDTH_MAX / 4);
	}
}

/* ---- as options ---- */

/* As a shell takes it: in quotes, unless it has only what means nothing to one. */
static void add_quoted(struct trc_line *line, const char *text)
{
	static const char PLAIN[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				    "_.,:=+/%@-";
	if (*text && !text[strspn(text, PLAIN)]) {
		trc_line_add(line, "%s", text);
		return;
	}
	trc_line_add(line, "'");
	while (*text) {
		size_t n = strcspn(text, "'");

		if (n)
			trc_line_add(line, "%.*s", (int)n, text);
		text += n;
		if (!*text)
			break;
		trc_line_add(line, "'\\''");
		text++;
	}
	trc_line_add(line, "'");
}

static void add_option(struct trc_line *line, const char *option, const char *text)
{
	trc_line_add(line, " --%s ", option);
	add_quoted(line, text);
}

void trc_selection_options(struct trc_line *line, const struct trc_selection *s)
{
	if (!s)
		return;
	if (s->window)
		add_option(line, "window", s->window);
	for (size_t i = 0; i < s->n_threads; i++)
		add_option(line, "thread", s->thread[i]);
	for (size_t i = 0; i < s->n_tasks; i++)
		add_option(line, "task", s->task[i]);
	if (s->slowest > 0)
		trc_line_add(line, " --slowest %g%%", s->slowest);
	if (s->labels)
		add_option(line, "label-filter", trc_label_filter_text(s->labels));
}
