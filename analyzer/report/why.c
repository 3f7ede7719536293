/* why.c - see why.h. */
#include "why.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "why_tree.h"

enum {
	THREAD_WIDTH = 30,
	TEXT_COLUMN = 22,
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
	double slowest;	  /* percent of the tasks; 0 = all */
	int64_t least_ns; /* the shortest of the tasks that were added */
};

/* ---- words ---- */

static void add_threads(struct why *w, struct trc_line *line, const struct trc_why_node *node)
{
	char number[TRC_NUMBER_BYTES];

	if (node->n_threads > 1)
		trc_line_add(line, "%s threads", trc_text_count(number, node->n_threads));
	else
		trc_report_thread(w->r, line, node->key.thread, THREAD_WIDTH);
}

static void add_wait(struct why *w, struct trc_line *line, const struct trc_cause *key)
{
	trc_line_add(line, " for %s", trc_reason_name(key->reason));
	trc_report_object(w->r, line, key->reason, key->object, key->stack);
}

/* What the threads were in, after their names. */
static void add_state(struct why *w, struct trc_line *line, const struct trc_cause *key)
{
	static const char *const state[TRC_CAUSE_KINDS] = {
		[TRC_CAUSE_WAITING] = "waited",
		[TRC_CAUSE_RUNNING] = "ran",
		[TRC_CAUSE_ACTIVE] = "did not wait",
		[TRC_CAUSE_PREEMPTED] = "could have run, but had no processor",
		[TRC_CAUSE_OFF] = "was off the processor, in no recorded wait",
		[TRC_CAUSE_SLEEPING] = "slept",
		[TRC_CAUSE_IO] = "waited",
		[TRC_CAUSE_OUTSIDE] = "waited",
		[TRC_CAUSE_UNWOKEN] = "waited, up to the trace's end,",
		[TRC_CAUSE_STARTING] = "had been created, and did not run yet",
		[TRC_CAUSE_GONE] = "had ended",
		[TRC_CAUSE_DEADLOCK] = "waits in turn for what is above, a deadlock:",
		[TRC_CAUSE_CYCLE] = "waited in turn for what is above:",
		[TRC_CAUSE_LOST] = "is not known: events were lost",
		[TRC_CAUSE_UNKNOWN] = "is not known",
		[TRC_CAUSE_DEEP] = "depends on more threads than are followed",
	};

	switch (key->kind) {
	case TRC_CAUSE_SLEEPING:
		if (key->reason == TRC_REASON_SLEEP) {
			trc_line_add(line, " slept");
			break;
		}
		trc_line_add(line, " waited up to its time limit");
		add_wait(w, line, key);
		break;
	case TRC_CAUSE_UNKNOWN:
	case TRC_CAUSE_LOST:
		trc_line_add(line, key->reason ? " waited" : " did what");
		if (key->reason)
			add_wait(w, line, key);
		trc_line_add(line, key->reason ? "; who ended that %s" : " %s", state[key->kind]);
		break;
	default:
		trc_line_add(line, " %s", state[key->kind]);
		if (key->reason)
			add_wait(w, line, key);
	}
}

/* "worker 3 (4711) held the lock and ran". */
static void add_words(struct why *w, struct trc_line *line, const struct trc_why_node *node)
{
	const struct trc_cause *key = &node->key;

	if (key->kind == TRC_CAUSE_FREE) {
		trc_line_add(line, "nobody held the lock: who had been woken had not taken it yet");
		return;
	}
	if (key->kind == TRC_CAUSE_WAKING) {
		add_threads(w, line, node);
		trc_line_add(line, " had been woken, and did not run yet");
		return;
	}
	add_threads(w, line, node);
	if (key->unlock)
		trc_line_add(line, " held the lock and");
	add_state(w, line, key);
}

/* The stack is worth a line of its own, unless the line above has said it. */
static bool has_place(const struct trc_why_node *node)
{
	return node->key.stack && node->key.kind != TRC_CAUSE_WAKING &&
	       node->key.kind != TRC_CAUSE_FREE;
}

static void print_place(struct why *w, const struct trc_why_node *node, int column)
{
	struct trc_line line;

	if (!has_place(node))
		return;
	trc_line_begin(&line, w->r->width, w->r->colour);
	trc_line_to(&line, column);
	trc_line_style(&line, TRC_STYLE_DIM);
	if (node->key.stack_of == TRC_CAUSE_STACK_END)
		trc_line_add(&line, "up to ");
	trc_report_chain(w->r, &line, node->key.stack);
	trc_line_style(&line, TRC_STYLE_PLAIN);
	trc_report_line(w->r, &line);
}

static void print_node(struct why *w, const struct trc_why_node *node, int column)
{
	char number[TRC_NUMBER_BYTES];
	struct trc_line line;

	trc_line_begin(&line, w->r->width, w->r->colour);
	trc_line_right(&line, 10, trc_text_duration(number, node->total_ns));
	trc_line_right(&line, 9, trc_text_share(number, node->total_ns, w->tree.total_ns));
	trc_line_to(&line, column);
	add_words(w, &line, node);
	if (node->n > 1)
		trc_line_add(&line, ", %s times", trc_text_count(number, node->n));
	trc_report_line(w->r, &line);
	print_place(w, node, column + INDENT);
}

/* ---- the tree ---- */

static int print_below(struct why *w, uint32_t id, int depth)
{
	size_t n, shown = 0;
	uint32_t *below = trc_why_tree_below(&w->tree, id, &n);
	int column = TEXT_COLUMN + INDENT * depth, err = below ? 0 : -ENOMEM;
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

	if (w->tree.depth <= 1)
		return; /* the tree is the same list */
	trc_why_tree_sort_leaves(&w->tree);
	trc_report_heading(w->r, "What it comes down to", NULL);
	for (size_t i = 0; i < w->tree.leaves.n && i < LEAVES_SHOWN; i++)
		if (leaf[i].total_ns >= w->tree.total_ns / SHARE_SHOWN)
			print_node(w, &leaf[i], TEXT_COLUMN);
}

/* `heading` is what was asked for. */
static int print_tree(struct why *w, const char *heading)
{
	char number[TRC_NUMBER_BYTES], right[2 * TRC_NUMBER_BYTES];
	int err;

	snprintf(right, sizeof(right), "%s", trc_text_duration(number, w->tree.total_ns));
	trc_report_heading(w->r, heading, right);
	err = print_below(w, 1, 0);
	if (!err)
		print_leaves(w);
	return err;
}

/* ---- what is asked for ---- */

static int no_such(struct why *w, const char *hint)
{
	snprintf(w->error->text, sizeof(w->error->text), "--why %s: %s", w->what, hint);
	return -ENOENT;
}

static bool is_number(const char *text, uint64_t *number)
{
	char *end;

	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	*number = strtoull(text, &end, 10);
	return !*end && !errno;
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
		int64_t ns =
			trc_park_end_ns(w->r->m, &park[i]) - trc_park_start_ns(w->r->m, &park[i]);

		if (class != TRC_WAIT_LOCKS || ns <= longest_ns)
			continue;
		longest = i + 1;
		longest_ns = ns;
	}
	if (!longest)
		return no_such(w, "no thread waited for a lock");
	return add_wait_with_id(w, longest);
}

static int add_stretch(struct why *w, uint32_t thread, int64_t from_ns, int64_t to_ns)
{
	const struct trc_cause *rows;
	size_t n;
	int err;

	if (from_ns == TRC_NEVER || from_ns < w->r->start_ns)
		from_ns = w->r->start_ns;
	if (to_ns == TRC_NEVER || to_ns > w->r->end_ns)
		to_ns = w->r->end_ns;
	err = trc_causes_of_thread(w->causes, thread, from_ns, to_ns, &rows, &n);
	return err ? err : trc_why_tree_add(&w->tree, rows, n);
}

struct picked_task {
	const struct trc_task *task;
	int64_t ns;
};

static int longest_first(const void *a, const void *b)
{
	const struct picked_task *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns > y->ns ? -1 : 1;
	return (x->task > y->task) - (x->task < y->task);
}

/* Of n tasks so many percent, but one at least. */
static size_t slowest_of(size_t n, double percent)
{
	double wanted = ceil((double)n * percent / 100);

	return wanted < 1 ? n > 0 : wanted > (double)n ? n : (size_t)wanted;
}

/* A task is followed back from the thread that ended it: what that one waited for before it had the
 * task is what others did with it until then. */
static int add_picked(struct why *w, struct trc_array *tasks, double slowest, size_t most)
{
	struct picked_task *picked = tasks->row;
	size_t n = tasks->n;
	int err = 0;

	if (n)
		qsort(picked, n, sizeof(*picked), longest_first);
	n = slowest > 0 ? slowest_of(n, slowest) : n;
	n = n > most ? most : n;
	w->least_ns = n ? picked[n - 1].ns : 0;
	for (size_t i = 0; i < n && !err; i++) {
		const struct trc_task *task = picked[i].task;

		err = add_stretch(w, task->end_thread ? task->end_thread : task->start_thread,
				  task->start_ns, task->end_ns);
	}
	return err;
}

/* By id, or if that is NULL by type; those that began and ended in the trace, if some are to be slowest. */
static int pick_tasks(const struct why *w, struct trc_array *tasks, const uint64_t *id,
		      const char *type)
{
	size_t n;
	const struct trc_task *task = trc_model_tasks(w->r->m, &n);

	tasks->row_bytes = sizeof(struct picked_task);
	for (size_t i = 0; i < n; i++) {
		bool whole = task[i].start_ns != TRC_NEVER && task[i].end_ns != TRC_NEVER;
		struct picked_task *picked;

		if (id ? task[i].task != *id : strcmp(task[i].type, type) != 0)
			continue;
		if (w->slowest > 0 && !whole)
			continue;
		if (!trc_report_wanted(w->r, task[i].start_thread, task[i].start_ns,
				       task[i].start_place))
			continue;
		picked = trc_array_add(tasks);
		if (!picked)
			return -ENOMEM;
		picked->task = &task[i];
		picked->ns = whole ? task[i].end_ns - task[i].start_ns : 0;
	}
	return 0;
}

static int add_tasks(struct why *w, const char *name)
{
	struct trc_array tasks = {0};
	uint64_t id;
	int err = pick_tasks(w, &tasks, is_number(name, &id) ? &id : NULL, name);

	if (!err)
		err = add_picked(w, &tasks, w->slowest, SIZE_MAX);
	trc_array_free(&tasks);
	return err || w->tree.n ? err : no_such(w, "no task has this id or type");
}

static int add_threads_named(struct why *w, const char *name)
{
	uint64_t tid;
	bool by_tid = is_number(name, &tid);
	int err = 0;

	for (size_t i = 0; i < w->r->n_threads && !err; i++) {
		const struct trc_thread *t = &w->r->thread[i];

		if (by_tid ? t->tid != tid : strcmp(t->name, name) != 0)
			continue;
		err = add_stretch(w, t->serial, t->start_ns, t->end_ns);
	}
	return err || w->tree.n ? err : no_such(w, "no thread has this tid or name");
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
	rest = after(w->what, "thread:");
	if (rest)
		return add_threads_named(w, rest);
	rest = after(w->what, "wait:");
	if (is_number(rest ? rest : w->what, &id))
		return add_wait_with_id(w, id);
	return no_such(w, "it is longest, wait:ID, task:ID, task:TYPE, thread:TID or thread:NAME");
}

static int print_heading_and_tree(struct why *w)
{
	char heading[200], number[TRC_NUMBER_BYTES];
	struct trc_line line;

	trc_line_begin(&line, sizeof(heading) / 2, false);
	trc_line_add(&line, "Why ");
	trc_line_data(&line, w->what, 60);
	if (w->slowest > 0)
		trc_line_add(&line, ", the slowest %g%%,", w->slowest);
	if (w->tree.n > 1)
		trc_line_add(&line, " (%s)", trc_text_count(number, w->tree.n));
	trc_line_add(&line, " took");
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

/* The largest of what is below the node; 0 = there is nothing. */
static uint32_t largest_below(const struct trc_why_tree *tree, uint32_t id)
{
	uint32_t largest = 0;

	for (uint32_t i = trc_why_tree_node(tree, id)->first; i;
	     i = trc_why_tree_node(tree, i)->next)
		if (!largest || trc_why_tree_node(tree, i)->total_ns >
					trc_why_tree_node(tree, largest)->total_ns)
			largest = i;
	return largest;
}

static void print_slowest_line(struct why *w, const struct trc_why_node *node, const char *before)
{
	char number[TRC_NUMBER_BYTES];
	struct trc_line line;

	trc_line_begin(&line, w->r->width, w->r->colour);
	trc_line_to(&line, 12);
	trc_line_add(&line, "%s%s, ", before,
		     trc_text_share(number, node->total_ns, w->tree.total_ns));
	add_words(w, &line, node);
	if (has_place(node)) {
		trc_line_add(&line,
			     node->key.stack_of == TRC_CAUSE_STACK_END ? ", up to " : " at ");
		trc_report_place(w->r, &line, node->key.stack);
	}
	trc_report_line(w->r, &line);
}

/* Where most of their time went, and what was behind that, as long as it is most of it. */
static void print_slowest(struct why *w)
{
	uint32_t id = largest_below(&w->tree, 1), below;
	char number[TRC_NUMBER_BYTES], slow[2 * TRC_NUMBER_BYTES + 40];

	if (!id)
		return;
	snprintf(slow, sizeof(slow),
		 "slowest 1%%, from %s on: ", trc_text_duration(number, w->least_ns));
	print_slowest_line(w, trc_why_tree_node(&w->tree, id), slow);
	while ((below = largest_below(&w->tree, id)) &&
	       trc_why_tree_node(&w->tree, below)->total_ns >
		       trc_why_tree_node(&w->tree, id)->total_ns / 2) {
		id = below;
		print_slowest_line(w, trc_why_tree_node(&w->tree, id), "for ");
	}
}

int trc_report_slowest(struct trc_report *r, struct trc_causes **causes, const char *type)
{
	enum { TASKS_MAX = 100 };
	struct why w = {.r = r, .slowest = 1};
	struct trc_array tasks = {0};
	int err = *causes ? 0 : trc_causes_open(causes, r->m);

	w.causes = *causes;
	if (!err)
		err = trc_why_tree_begin(&w.tree, r);
	if (!err)
		err = pick_tasks(&w, &tasks, NULL, type);
	if (!err)
		err = add_picked(&w, &tasks, w.slowest, TASKS_MAX);
	if (!err)
		print_slowest(&w);
	trc_why_tree_free(&w.tree);
	trc_array_free(&tasks);
	return err;
}

int trc_report_why(struct trc_model *m, FILE *out, const struct trc_report_options *options,
		   const char *what, struct trc_error *error)
{
	struct trc_report r;
	struct why w = {.r = &r, .what = what, .error = error, .slowest = options->slowest};
	int err = trc_report_begin(&r, m, out, options, error);

	if (!err) {
		error->text[0] = '\0';
		trc_report_lost_lines(&r);
		print_fibers_note(&w);
		err = trc_why_tree_begin(&w.tree, &r);
		if (!err)
			err = trc_causes_open(&w.causes, m);
		if (!err)
			err = collect(&w);
		if (!err)
			err = print_heading_and_tree(&w);
		if (!err)
			trc_report_troubles(&r);
		if (err && !error->text[0])
			snprintf(error->text, sizeof(error->text), "--why: %s", strerror(-err));
		trc_why_tree_free(&w.tree);
		trc_causes_close(w.causes);
	}
	trc_report_end(&r);
	return err;
}
