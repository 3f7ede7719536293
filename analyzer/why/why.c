/* why.c - see why.h. */
#include "why.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "json.h"
#include "path.h"
#include "tree.h"
#include "tasks.h"
#include "window.h"
#include "words.h"

enum {
	TEXT_COLUMN = 22,
	MARGIN_WIDTH = 7,
	INDENT = 2,
	DEPTH_SHOWN = 20,
	SHARE_SHOWN = 100, /* what is less than one part in so many is left out */
	LEAVES_SHOWN = 10
};

struct why {
	struct trc_report *r;
	struct trc_causes *causes;
	struct trc_why_tree tree;
	const char *what;
	struct trc_error *error;
	double slowest; /* percent of the tasks; 0 = all */
	bool path;	/* --critical-path */
	uint32_t last;	/* the thread that a window is followed back from; 0 = it is no window */
	int column;	/* where the text of a line begins: behind a margin, if any node has one */
};

static const char *verb_of(const struct why *w)
{
	return w->path ? "--critical-path" : "--why";
}

static void print_place(struct why *w, const struct trc_why_node *node, int column)
{
	struct trc_line line;

	if (!trc_why_has_place(node))
		return;
	trc_line_begin(&line, w->r->width, w->r->colour);
	trc_line_to(&line, column);
	trc_line_style(&line, TRC_STYLE_DIM);
	if (node->key.stack_of == TRC_CAUSE_STACK_END)
		trc_line_add(&line, "up to ");
	trc_report_stack(w->r, &line, node->key.stack);
}

static void print_node(struct why *w, const struct trc_why_node *node, int column)
{
	char number[TRC_NUMBER_BYTES];
	struct trc_line line;

	trc_line_begin(&line, w->r->width, w->r->colour);
	trc_line_right(&line, 10, trc_text_duration(number, node->total_ns));
	trc_line_right(&line, 9, trc_text_share(number, node->total_ns, w->tree.total_ns));
	if (w->column > TEXT_COLUMN)
		trc_line_right(&line, MARGIN_WIDTH,
			       trc_text_margin(number, node->margin_ns, w->tree.total_ns));
	trc_line_to(&line, column);
	trc_why_words(w->r, &line, node);
	if (node->n > 1)
		trc_line_add(&line, ", %s times", trc_text_count(number, node->n));
	trc_why_instead(w->r, &line, node);
	trc_report_line(w->r, &line);
	print_place(w, node, column + INDENT);
}

/* ---- the tree ---- */

static int print_below(struct why *w, uint32_t id, int depth)
{
	size_t n, shown = 0;
	uint32_t *below = trc_why_tree_below(&w->tree, id, &n);
	int column = w->column + INDENT * depth, err = below ? 0 : -ENOMEM;
	int64_t rest_ns = 0;

	for (size_t i = 0; i < n && !err; i++) {
		const struct trc_why_node *node = trc_why_tree_node(&w->tree, below[i]);

		if (depth == DEPTH_SHOWN || node->total_ns < w->tree.total_ns / SHARE_SHOWN) {
			trc_report_add(&rest_ns, node->total_ns);
			continue;
		}
		shown++;
		print_node(w, node, column);
		err = print_below(w, below[i], depth + 1);
	}
	if (!err && rest_ns && rest_ns >= w->tree.total_ns / SHARE_SHOWN) {
		char number[TRC_NUMBER_BYTES];
		struct trc_line line;

		trc_line_begin(&line, w->r->width, w->r->colour);
		trc_line_right(&line, 10, trc_text_duration(number, rest_ns));
		trc_line_right(&line, 9, trc_text_share(number, rest_ns, w->tree.total_ns));
		trc_line_to(&line, column);
		trc_line_add(&line, "in %zu %smore of less than 1 %% each", n - shown,
			     shown ? "" : "or ");
		trc_report_line(w->r, &line);
	}
	free(below);
	return err;
}

static void print_leaves(struct why *w)
{
	const struct trc_why_node *leaf = w->tree.leaves.row;

	char heading[80], number[TRC_NUMBER_BYTES];

	if (w->tree.depth <= 1 && !w->path)
		return; /* the tree is the same list */
	trc_why_tree_sort_leaves(&w->tree);
	snprintf(heading, sizeof(heading), "What it comes down to");
	if (w->path && w->tree.n > 1)
		snprintf(heading, sizeof(heading), "What all %s come down to",
			 trc_text_count(number, w->tree.n));
	trc_report_heading(w->r, heading, NULL);
	for (size_t i = 0; i < w->tree.leaves.n && i < LEAVES_SHOWN; i++)
		if (leaf[i].total_ns >= w->tree.total_ns / SHARE_SHOWN)
			print_node(w, &leaf[i], w->column);
}

/* Margins have a column if any is worth telling. */
static bool has_margin(const struct why *w)
{
	const struct trc_why_node *leaf = w->tree.leaves.row;
	char text[TRC_NUMBER_BYTES];

	for (size_t i = 0; i < w->tree.leaves.n; i++)
		if (leaf[i].total_ns >= w->tree.total_ns / SHARE_SHOWN &&
		    *trc_text_margin(text, leaf[i].margin_ns, w->tree.total_ns))
			return true;
	return false;
}

/* `heading` is what was asked for. */
static int print_tree(struct why *w, const char *heading)
{
	char number[TRC_NUMBER_BYTES], right[2 * TRC_NUMBER_BYTES];
	int err;

	snprintf(right, sizeof(right), "%s",
		 trc_text_duration(number, w->path ? w->tree.path_ns : w->tree.total_ns));
	trc_report_heading(w->r, heading, right);
	w->column = TEXT_COLUMN + (has_margin(w) ? MARGIN_WIDTH : 0);
	err = w->path ? trc_why_path_print(w->r, &w->tree) : print_below(w, 1, 0);
	if (!err)
		print_leaves(w);
	return err;
}

/* ---- what is asked for ---- */

static int no_such(struct why *w, const char *hint)
{
	snprintf(w->error->text, sizeof(w->error->text), "%s %s: %s", verb_of(w), w->what, hint);
	return -ENOENT;
}

static int add_wait_with_id(struct why *w, uint64_t id)
{
	const struct trc_cause *rows;
	size_t n;
	int err;

	trc_model_parks(w->r->m, &n);
	if (!id || id > n)
		return no_such(w, "no such wait; their ids are those of the table parks");
	err = trc_causes_of_wait(w->causes, (uint32_t)id, &rows, &n);
	return err ? err : trc_why_tree_add(&w->tree, rows, n);
}

/* Of the waits that threads of the program end. */
static int add_longest(struct why *w)
{
	size_t n, longest = 0;
	const struct trc_park *park = trc_model_parks(w->r->m, &n);
	int64_t longest_ns = -1;

	for (size_t i = 0; i < n; i++) {
		enum trc_wait_class class = trc_wait_class(park[i].reason);
		int64_t ns = trc_selection_ns(w->r->selection, park[i].thread,
					      trc_park_start_ns(w->r->m, &park[i]),
					      trc_park_end_ns(w->r->m, &park[i]));

		if (class != TRC_WAIT_LOCKS || ns <= longest_ns || (w->r->selection && !ns))
			continue;
		longest = i + 1;
		longest_ns = ns;
	}
	if (!longest)
		return no_such(
			w, "no thread waited for a lock; thread:NAME, wait:ID or FROM..TO tell of "
			   "other waits");
	return add_wait_with_id(w, longest);
}

static int add_tasks(struct why *w, const char *name)
{
	uint64_t id;
	struct trc_why_tasks tasks = {.type = name, .slowest = w->slowest};
	int err;

	if (trc_selection_number(name, &id))
		tasks.id = &id;
	err = trc_why_add_tasks(&w->tree, w->causes, &tasks);
	return err || w->tree.n ? err : no_such(w, "no task has this id or type");
}

/* What of its life is selected. */
static int why_add_thread(struct why *w, const struct trc_thread *t)
{
	int64_t at_ns = t->start_ns > w->r->start_ns ? t->start_ns : w->r->start_ns;
	int64_t end_ns = t->end_ns == TRC_NEVER ? w->r->end_ns : t->end_ns, from_ns, until_ns;
	int err = 0;

	while (!err &&
	       trc_selection_next(w->r->selection, t->serial, &at_ns, end_ns, &from_ns, &until_ns))
		err = trc_why_add_stretch(&w->tree, w->causes, t->serial, from_ns, until_ns);
	return err;
}

static int add_threads_named(struct why *w, const char *name)
{
	uint64_t tid;
	bool by_tid = trc_selection_number(name, &tid);
	int err = 0;

	for (size_t i = 0; i < w->r->n_threads && !err; i++) {
		const struct trc_thread *t = &w->r->thread[i];

		if (by_tid ? t->tid != tid : strcmp(t->name, name) != 0)
			continue;
		err = why_add_thread(w, t);
	}
	return err || w->tree.n ? err : no_such(w, "no thread has this tid or name");
}

static int add_regions(struct why *w, const char *name)
{
	uint64_t id;
	int err =
		trc_why_add_regions(&w->tree, w->causes,
				    trc_selection_number(name, &id) ? &id : NULL, name, w->slowest);

	return err || w->tree.n ? err : no_such(w, "no region has this id or type");
}

static int add_between(struct why *w, int64_t from_ns, int64_t to_ns)
{
	int err;

	from_ns = from_ns > w->r->start_ns ? from_ns : w->r->start_ns;
	to_ns = to_ns < w->r->end_ns ? to_ns : w->r->end_ns;
	err = trc_why_add_window(&w->tree, w->causes, from_ns, to_ns, &w->last);
	return err || w->tree.n ? err : no_such(w, "no thread was there then");
}

/* What a selection says of a window, without the option that asks for it elsewhere. */
static const char *of_window(const char *text)
{
	static const char OPTION[] = "--window ";
	const char *colon = strncmp(text, OPTION, strlen(OPTION)) ? NULL : strstr(text, ": ");

	return colon ? colon + 2 : text;
}

static int add_window(struct why *w)
{
	struct trc_selection window = {0};
	struct trc_error error = {""};
	int err;

	if (w->r->selection && w->r->selection->window)
		return no_such(w, "there is one window at a time: either this or --window");
	err = trc_selection_ask_window(&window, w->what, &error);
	if (!err)
		err = trc_selection_find(&window, w->r->m, &error);
	if (!err)
		err = add_between(w, window.from_ns, window.to_ns);
	else
		no_such(w, of_window(error.text));
	trc_selection_free(&window);
	return err;
}

/* Nothing but a window. */
static bool is_window(const struct trc_selection *s)
{
	return s && s->window && !s->n_threads && !s->n_tasks && !s->labels;
}

/* The program lasts as long as the thread that main() runs on: what that one waits for, it waits for.  In a window it may
 * have waited for the end of something that went on. */
static int add_program(struct why *w)
{
	const char *pid = trc_report_info(w->r, "pid");
	const struct trc_thread *first = NULL;
	uint64_t tid;
	int err = 0;

	if (is_window(w->r->selection))
		return add_between(w, w->r->selection->from_ns, w->r->selection->to_ns);
	for (size_t i = 0; i < w->r->n_threads; i++) {
		const struct trc_thread *t = &w->r->thread[i];

		if (!first || (pid && trc_selection_number(pid, &tid) && t->tid == tid))
			first = t;
	}
	if (first)
		err = why_add_thread(w, first);
	return err || w->tree.n ? err : no_such(w, "its first thread is not in the trace");
}

/* The text behind the prefix; NULL if it does not begin so. */
static const char *after(const char *text, const char *prefix)
{
	size_t n = strlen(prefix);

	return strncmp(text, prefix, n) ? NULL : text + n;
}

static int collect(struct why *w)
{
	const char *rest;
	uint64_t id;

	if (!strcmp(w->what, "longest"))
		return add_longest(w);
	rest = after(w->what, "task:");
	if (rest)
		return add_tasks(w, rest);
	rest = after(w->what, "region:");
	if (rest)
		return add_regions(w, rest);
	if (!strcmp(w->what, "program"))
		return add_program(w);
	rest = after(w->what, "thread:");
	if (rest)
		return add_threads_named(w, rest);
	rest = after(w->what, "wait:");
	if (trc_selection_number(rest ? rest : w->what, &id))
		return add_wait_with_id(w, id);
	if (strstr(w->what, ".."))
		return add_window(w);
	return no_such(w, "it is longest, wait:ID, task:ID, task:TYPE, region:ID, region:TYPE, "
			  "thread:TID, thread:NAME, FROM..TO or program");
}

static int print_heading_and_tree(struct why *w)
{
	char heading[400], number[TRC_NUMBER_BYTES];
	struct trc_line line;

	trc_line_begin(&line, 140, false);
	trc_line_add(&line, w->path ? "Critical path of " : "Why ");
	trc_line_data(&line, w->what, 60);
	if (w->slowest > 0)
		trc_line_add(&line, ", the slowest %g%%%s", w->slowest, w->path ? "" : ",");
	if (w->tree.n > 1 && w->path)
		trc_line_add(&line, ", the longest of %s", trc_text_count(number, w->tree.n));
	else if (w->tree.n > 1)
		trc_line_add(&line, " (%s)", trc_text_count(number, w->tree.n));
	if (w->last) {
		trc_line_add(&line, ", back from ");
		trc_report_thread(w->r, &line, w->last, 40);
	}
	if (!w->path)
		trc_line_add(&line, w->last ? ", which took" : " took");
	snprintf(heading, sizeof(heading), "%s", trc_line_text(&line));
	return print_tree(w, heading);
}

/* A fiber that waits is told as its thread, which meanwhile runs others. */
static void print_fibers_note(struct why *w)
{
	struct trc_line line;
	size_t n;

	trc_model_fibers(w->r->m, &n);
	if (!n)
		return;
	trc_line_begin(&line, w->r->width, w->r->colour);
	trc_line_add(&line, "the program has fibers: here threads are followed, whatever fibers "
			    "they run");
	trc_report_line(w->r, &line);
}

/* What the trace ends before, or what of it cannot be read, is in no chain. */
static void print_damage(struct why *w)
{
	const char *damage = trc_reader_warning(w->r->reader);
	struct trc_line line;

	if (!damage)
		return;
	trc_line_begin(&line, w->r->width, w->r->colour);
	trc_line_style(&line, TRC_STYLE_ALARM);
	trc_line_add(&line, "Incomplete: the trace is %s", damage);
	trc_line_style(&line, TRC_STYLE_PLAIN);
	trc_report_line(w->r, &line);
}

static void print_head(struct why *w)
{
	print_damage(w);
	trc_report_lost_lines(w->r);
	trc_report_selection_lines(w->r);
	print_fibers_note(w);
}

static int print_text(struct why *w)
{
	int err = print_heading_and_tree(w);

	if (!err)
		trc_report_troubles(w->r);
	return err;
}

static void print_json(struct why *w, const struct trc_report_options *options)
{
	const struct trc_why_asked asked = {.what = w->what,
					    .slowest = w->slowest,
					    .path = w->path,
					    .last = w->last,
					    .print_cause = options->print_cause};

	trc_why_json(w->r, &w->tree, &asked);
}

static int report(struct trc_model *m, FILE *out, const struct trc_report_options *options,
		  const char *what, bool path, struct trc_error *error)
{
	struct trc_report r;
	struct why w = {
		.r = &r, .what = what, .error = error, .slowest = options->slowest, .path = path};
	int err = trc_report_begin(&r, m, out, options, error);

	if (!err) {
		error->text[0] = '\0';
		if (!options->print_cause)
			print_head(&w);
		err = trc_why_tree_begin(&w.tree, &r);
		w.tree.keeps_path = path;
		w.tree.keeps_kinds = options->print_cause;
		w.tree.keeps_rows = options->print_cause && !path;
		if (!err)
			err = trc_report_causes(&r, &w.causes);
		if (!err)
			err = collect(&w);
		if (!err)
			err = trc_why_tree_margins(&w.tree);
		if (!err && options->print_cause)
			print_json(&w, options);
		else if (!err)
			err = print_text(&w);
		if (err && !error->text[0])
			snprintf(error->text, sizeof(error->text), "%s: %s", verb_of(&w),
				 strerror(-err));
		trc_why_tree_free(&w.tree);
	}
	trc_report_end(&r);
	return err;
}

int trc_report_why(struct trc_model *m, FILE *out, const struct trc_report_options *options,
		   const char *what, struct trc_error *error)
{
	return report(m, out, options, what, false, error);
}

int trc_report_critical_path(struct trc_model *m, FILE *out,
			     const struct trc_report_options *options, const char *what,
			     struct trc_error *error)
{
	return report(m, out, options, what, true, error);
}
