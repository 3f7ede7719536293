/*
 * held_up.c - what in the end held threads up that waited for locks and for each other: the ends of all chains of waits, summed.
 *
 *   held_up:U1  three times add up to the time of the heading, which is that of the blame profile: all rows that are
 *       shown, the rows summed up in the line below them, and the waits of idle threads
 *
 *   held_up:U2  a share whose place samples tell has its margin behind it, in percentage points (draws.h); if no line
 *       has one, there is no column for it
 *
 * Waits of idle threads (idle.c) are summed apart: nobody waits for their end.
 */
#include <errno.h>
#include <stdlib.h>
#include "analyzer/causes/blame_sums.h"
#include "analyzer/causes/causes.h"
#include "analyzer/why/tree.h"
#include "analyzer/why/words.h"
#include "format/check.h"
#include "parts.h"

/* What is less than one part in so many is not told one by one, but for the first few. */
enum { TEXT_COLUMN = 22, MARGIN_WIDTH = 7, INDENT = 2, SHARE_SHOWN = 100, SHOWN_ALWAYS = 3 };

/* What stands in the place of labels. */
enum { MARK_BUSY, MARK_IDLE };

struct node {
	struct trc_why_node why; /* its key's thread is the one with most of the time */
	int64_t thread_ns;	 /* how much that is */
	uint32_t number;	 /* in node_of */
	double margin_ns;	 /* U2; 0 = no sample tells the place */
};

struct held_up {
	struct trc_report *r;
	struct trc_array nodes;	    /* struct node, of what is not idle */
	struct trc_index node;	    /* by trc_check64() of what is alike */
	struct trc_index of_thread; /* by node and thread: the number of a sum */
	struct trc_array thread_ns; /* int64_t, by that */
	int64_t busy_ns, idle_ns;
	uint32_t *node_of;     /* by number of the row: in which node it is, 0 = in none */
	double rest_margin_ns; /* of the nodes that are not shown */
	int text_column;
};

static uint32_t mark(void *context, const struct trc_park *park)
{
	return trc_report_is_idle(context, park) ? MARK_IDLE : MARK_BUSY;
}

/* Who had been woken has no place, and words say of the wait only whether it spun (words.c): what is told alike is one
 * line. */
static bool is_woken(const struct trc_blame_row *row)
{
	return row->kind == TRC_CAUSE_WAKING || row->kind == TRC_CAUSE_FREE;
}

/* Who it was matters only where nothing else tells two apart. */
static uint64_t node_hash(const struct held_up *h, const struct trc_blame_row *row)
{
	uint32_t stack = trc_report_canonical(h->r, row->stack);
	bool woken = is_woken(row);
	const uint64_t alike[] = {
		(uint64_t)row->kind << 32 | (woken ? row->reason == TRC_REASON_SPIN : row->reason),
		woken ? 0 : (uint64_t)row->stack_of << 32 | stack,
		woken || stack ? 0 : row->thread,
	};

	return trc_check64(alike, sizeof(alike), 0);
}

/* Of what is nobody's (a lock that was free, lost events) there is no thread to name, or to count. */
static int held_up_add_thread(struct held_up *h, uint32_t number, const struct trc_blame_row *row)
{
	struct node *node = (struct node *)h->nodes.row + number - 1;
	uint32_t at;
	int64_t *ns;

	if (!row->thread)
		return 0;
	at = trc_index_number(&h->of_thread, (uint64_t)number << 32 | row->thread);
	ns = at > h->thread_ns.n ? trc_array_add(&h->thread_ns)
				 : (int64_t *)h->thread_ns.row + at - 1;

	if (!at || !ns)
		return -ENOMEM;
	node->why.n_threads += !*ns;
	trc_report_add(ns, row->ns);
	if (*ns > node->thread_ns) {
		node->thread_ns = *ns;
		node->why.key.thread = row->thread;
	}
	return 0;
}

static int held_up_add_row(struct held_up *h, const struct trc_blame_row *row)
{
	uint32_t number;
	struct node *node;

	if (row->labels == MARK_IDLE) {
		trc_report_add(&h->idle_ns, row->ns);
		return 0;
	}
	trc_report_add(&h->busy_ns, row->ns);
	number = trc_index_number(&h->node, node_hash(h, row));
	node = number > h->nodes.n ? trc_array_add(&h->nodes)
				   : (struct node *)h->nodes.row + number - 1;
	if (!number || !node)
		return -ENOMEM;
	if (!node->why.n++)
		node->why.key = (struct trc_cause){.kind = row->kind,
						   .reason = row->reason,
						   .stack = trc_report_canonical(h->r, row->stack),
						   .stack_of = row->stack_of};
	node->number = number;
	h->node_of[row->number] = number;
	trc_report_add(&node->why.total_ns, row->ns);
	return held_up_add_thread(h, number, row);
}

static int largest_node_first(const void *a, const void *b)
{
	const struct node *x = a, *y = b;

	return (x->why.total_ns < y->why.total_ns) - (x->why.total_ns > y->why.total_ns);
}

/* How many of the nodes, which are sorted, have lines of their own. */
static size_t count_shown(const struct held_up *h)
{
	const struct node *node = h->nodes.row;
	size_t i = 0;

	while (i < h->nodes.n && i < h->r->top &&
	       (i < SHOWN_ALWAYS || node[i].why.total_ns >= h->busy_ns / SHARE_SHOWN))
		i++;
	return i;
}

/* U2: of the nodes that are shown, each by itself, and of all others together.  n_rows: the numbers of rows are less. */
static int held_up_add_margins(struct held_up *h, const struct trc_draws *draws, size_t n_rows,
			       size_t n_shown)
{
	struct node *node = h->nodes.row;
	enum { IDLE, REST, FIRST };
	uint32_t *group = calloc(h->nodes.n + 1, sizeof(*group));
	double *margin = calloc(n_shown + FIRST, sizeof(*margin));
	int err = group && margin ? 0 : -ENOMEM;

	for (size_t i = 0; i < h->nodes.n && !err; i++)
		group[node[i].number] = i < n_shown ? FIRST + (uint32_t)i : REST;
	for (size_t i = 0; i < n_rows && !err; i++)
		h->node_of[i] = group[h->node_of[i]];
	if (!err)
		err = trc_draws_margins(draws, h->r->m, h->node_of, n_shown + FIRST, margin);
	h->text_column = TEXT_COLUMN;
	for (size_t i = 0; i < n_shown && !err; i++) {
		node[i].margin_ns = margin[FIRST + i];
		if (margin[FIRST + i] > 0)
			h->text_column = TEXT_COLUMN + MARGIN_WIDTH;
	}
	if (!err)
		h->rest_margin_ns = margin[REST];
	free(group);
	free(margin);
	return err;
}

static void held_up_begin_line(const struct held_up *h, struct trc_line *line, int64_t ns,
			       double margin_ns)
{
	char number[TRC_NUMBER_BYTES];

	trc_line_begin(line, h->r->width, h->r->colour);
	trc_line_right(line, 10, trc_text_duration(number, ns));
	trc_line_right(line, 9, trc_text_share(number, ns, h->busy_ns));
	if (h->text_column > TEXT_COLUMN)
		trc_line_right(line, MARGIN_WIDTH, trc_text_margin(number, margin_ns, h->busy_ns));
	trc_line_to(line, h->text_column);
}

static void print_held_up_node(struct held_up *h, const struct node *node)
{
	struct trc_line line;

	held_up_begin_line(h, &line, node->why.total_ns, node->margin_ns);
	trc_why_words(h->r, &line, &node->why);
	if (node->why.n_threads > 1) {
		trc_line_add(&line, ", longest ");
		trc_report_thread(h->r, &line, node->why.key.thread, 26);
	}
	trc_report_line(h->r, &line);
	if (!trc_why_has_place(&node->why))
		return;
	trc_line_begin(&line, h->r->width, h->r->colour);
	trc_line_to(&line, h->text_column + INDENT);
	trc_line_style(&line, TRC_STYLE_DIM);
	if (node->why.key.stack_of == TRC_CAUSE_STACK_END)
		trc_line_add(&line, "up to ");
	trc_report_stack(h->r, &line, node->why.key.stack);
}

static void print_held_up_rest(struct held_up *h, size_t n, int64_t ns)
{
	struct trc_line line;

	if (!n)
		return;
	held_up_begin_line(h, &line, ns, h->rest_margin_ns);
	trc_line_add(&line, "by %zu other%s", n, n == 1 ? "" : "s");
	trc_report_line(h->r, &line);
}

static void print_idle(struct held_up *h)
{
	char number[TRC_NUMBER_BYTES];
	struct trc_line line;

	if (!h->idle_ns)
		return;
	trc_line_begin(&line, h->r->width, h->r->colour);
	trc_line_right(&line, 10, trc_text_duration(number, h->idle_ns));
	trc_line_add(&line, "  idle: threads that wait for work nearly always");
	trc_report_line(h->r, &line);
}

static void print(struct held_up *h, size_t n_shown)
{
	char number[TRC_NUMBER_BYTES], busy[TRC_NUMBER_BYTES], right[2 * TRC_NUMBER_BYTES + 96];
	const struct node *node = h->nodes.row;
	int64_t rest_ns = h->busy_ns, all_ns = h->busy_ns;
	int n;

	trc_report_add(&all_ns, h->idle_ns);
	n = snprintf(right, sizeof(right), "%s of waiting for locks and threads",
		     trc_text_duration(number, all_ns));
	if (h->idle_ns)
		snprintf(right + n, sizeof(right) - (size_t)n, ", %s of it not idle: 100%%",
			 trc_text_duration(busy, h->busy_ns));
	trc_report_heading(h->r, "In the end held up by", right);
	for (size_t i = 0; i < n_shown; i++) {
		print_held_up_node(h, &node[i]);
		rest_ns -= node[i].why.total_ns;
	}
	print_held_up_rest(h, h->nodes.n - n_shown, rest_ns);
	print_idle(h);
}

int trc_report_held_up(struct trc_report *r)
{
	struct held_up h = {.r = r,
			    .nodes = {.row_bytes = sizeof(struct node)},
			    .thread_ns = {.row_bytes = sizeof(int64_t)}};
	struct trc_array rows = {0};
	struct trc_draws draws = {0};
	size_t n_shown = 0;
	int err = trc_blame_rows(r->m, mark, r, &rows, &draws);

	h.node_of = calloc(rows.n + 1, sizeof(*h.node_of));
	if (!err && !h.node_of)
		err = -ENOMEM;
	for (size_t i = 0; i < rows.n && !err; i++)
		err = held_up_add_row(&h, (struct trc_blame_row *)rows.row + i);
	if (!err && h.nodes.n) {
		qsort(h.nodes.row, h.nodes.n, h.nodes.row_bytes, largest_node_first);
		n_shown = count_shown(&h);
		err = held_up_add_margins(&h, &draws, rows.n + 1, n_shown);
	}
	if (!err && h.nodes.n)
		print(&h, n_shown);
	trc_array_free(&rows);
	trc_draws_free(&draws);
	free(h.node_of);
	trc_array_free(&h.nodes);
	trc_index_free(&h.node);
	trc_index_free(&h.of_thread);
	trc_array_free(&h.thread_ns);
	return err;
}
