/* path.c - see path.h. */
#include "path.h"

#include <errno.h>
#include <stdlib.h>
#include "words.h"

enum { TEXT_COLUMN = 34, MARGIN_WIDTH = 7, INDENT = 2, PIECES_SHOWN = 50 };

/* Where the lines of the pieces have what. */
struct columns {
	int64_t all_ns;
	int text; /* behind the margins, if any piece has one */
};

static bool are_alike(const struct trc_cause *a, const struct trc_cause *b)
{
	return a->thread == b->thread && a->kind == b->kind && a->reason == b->reason &&
	       a->object == b->object && a->descriptor == b->descriptor && a->stack == b->stack &&
	       a->stack_of == b->stack_of && !a->unlock == !b->unlock && a->instead == b->instead;
}

/* struct trc_why_node, of one piece or of several that follow each other; its key lasts from the first's begin
 * to the last's end. */
static int join_pieces(const struct trc_why_tree *tree, struct trc_array *joined,
		       struct trc_draws *draws)
{
	const struct trc_cause *row = tree->path.row;
	struct trc_why_node *last = NULL;

	for (size_t i = 0; i < tree->path.n; i++) {
		if (!last || !are_alike(&last->key, &row[i])) {
			last = trc_array_add(joined);
			if (!last)
				return -ENOMEM;
			last->key = row[i];
			last->n_threads = 1;
			last->instead = row[i].instead;
			last->n_instead = row[i].instead != 0;
		}
		last->n++;
		last->key.to_ns = row[i].to_ns;
		if (trc_causes_draws(tree->r->causes, &row[i], 1, (uint32_t)joined->n - 1, draws))
			return -ENOMEM;
		trc_report_add(&last->total_ns, row[i].to_ns - row[i].from_ns);
		if (row[i].instead)
			trc_report_add(&last->instead_ns, row[i].instead_ns);
	}
	return 0;
}

static int set_margins(const struct trc_report *r, const struct trc_draws *draws,
		       struct trc_array *joined, struct columns *columns)
{
	struct trc_why_node *node = joined->row;
	double *margin = calloc(joined->n + 1, sizeof(*margin));
	int err = margin ? trc_draws_margins(draws, r->m, NULL, joined->n, margin) : -ENOMEM;
	char text[TRC_NUMBER_BYTES];

	for (size_t i = 0; i < joined->n && !err; i++) {
		node[i].margin_ns = margin[i];
		if (*trc_text_margin(text, margin[i], columns->all_ns))
			columns->text = TEXT_COLUMN + MARGIN_WIDTH;
	}
	free(margin);
	return err;
}

static int longest_first(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x < y) - (x > y);
}

/* So long are the PIECES_SHOWN longest.  0 = all are shown; -1 = no memory. */
static int64_t least_shown_ns(const struct trc_array *joined)
{
	const struct trc_why_node *node = joined->row;
	int64_t *ns, least_ns;

	if (joined->n <= PIECES_SHOWN)
		return 0;
	ns = malloc(joined->n * sizeof(*ns));
	if (!ns)
		return -1;
	for (size_t i = 0; i < joined->n; i++)
		ns[i] = node[i].total_ns;
	qsort(ns, joined->n, sizeof(*ns), longest_first);
	least_ns = ns[PIECES_SHOWN - 1];
	free(ns);
	return least_ns;
}

static void begin_line(struct trc_report *r, struct trc_line *line, const struct columns *columns,
		       int64_t at_ns, int64_t ns, double margin_ns)
{
	char number[TRC_NUMBER_BYTES];

	trc_line_begin(line, r->width, r->colour);
	trc_line_right(line, 12, trc_text_duration(number, at_ns));
	trc_line_right(line, 11, trc_text_duration(number, ns));
	trc_line_right(line, 9, trc_text_share(number, ns, columns->all_ns));
	if (columns->text > TEXT_COLUMN)
		trc_line_right(line, MARGIN_WIDTH,
			       trc_text_margin(number, margin_ns, columns->all_ns));
	trc_line_to(line, columns->text);
}

static void print_place(struct trc_report *r, const struct columns *columns,
			const struct trc_why_node *node)
{
	struct trc_line line;

	if (!trc_why_has_place(node))
		return;
	trc_line_begin(&line, r->width, r->colour);
	trc_line_to(&line, columns->text + INDENT);
	trc_line_style(&line, TRC_STYLE_DIM);
	if (node->key.stack_of == TRC_CAUSE_STACK_END)
		trc_line_add(&line, "up to ");
	trc_report_stack(r, &line, node->key.stack);
}

/* Those between two that are shown. */
struct skipped {
	size_t n;
	int64_t from_ns, ns;
};

static void print_skipped(struct trc_report *r, const struct columns *columns,
			  struct skipped *skipped, int64_t start_ns)
{
	char number[TRC_NUMBER_BYTES];
	struct trc_line line;

	if (skipped->n) {
		begin_line(r, &line, columns, skipped->from_ns - start_ns, skipped->ns, 0);
		trc_line_style(&line, TRC_STYLE_DIM);
		trc_line_add(&line, "in %s shorter piece%s", trc_text_count(number, skipped->n),
			     skipped->n == 1 ? "" : "s");
		trc_line_style(&line, TRC_STYLE_PLAIN);
		trc_report_line(r, &line);
	}
	*skipped = (struct skipped){0};
}

static void print_pieces(struct trc_report *r, const struct columns *columns,
			 const struct trc_array *joined, int64_t least_ns)
{
	const struct trc_why_node *node = joined->row;
	int64_t start_ns = joined->n ? node[0].key.from_ns : 0;
	struct skipped skipped = {0};
	struct trc_line line;

	for (size_t i = 0; i < joined->n; i++) {
		if (node[i].total_ns < least_ns) {
			skipped.from_ns = skipped.n ? skipped.from_ns : node[i].key.from_ns;
			skipped.n++;
			trc_report_add(&skipped.ns, node[i].total_ns);
			continue;
		}
		print_skipped(r, columns, &skipped, start_ns);
		begin_line(r, &line, columns, node[i].key.from_ns - start_ns, node[i].total_ns,
			   node[i].margin_ns);
		trc_why_words(r, &line, &node[i]);
		trc_why_instead(r, &line, &node[i]);
		trc_report_line(r, &line);
		print_place(r, columns, &node[i]);
	}
	print_skipped(r, columns, &skipped, start_ns);
}

int trc_why_path_print(struct trc_report *r, const struct trc_why_tree *tree)
{
	struct trc_array joined = {.row_bytes = sizeof(struct trc_why_node)};
	struct trc_draws draws = {0};
	struct columns columns = {.all_ns = tree->path_ns, .text = TEXT_COLUMN};
	int err = join_pieces(tree, &joined, &draws);
	int64_t least_ns = err ? 0 : least_shown_ns(&joined);
	struct trc_line line;

	if (least_ns < 0)
		err = -ENOMEM;
	if (!err)
		err = set_margins(r, &draws, &joined, &columns);
	if (!err) {
		trc_line_begin(&line, r->width, r->colour);
		trc_line_style(&line, TRC_STYLE_DIM);
		trc_line_right(&line, 12, "after");
		trc_line_right(&line, 11, "for");
		trc_line_style(&line, TRC_STYLE_PLAIN);
		trc_report_line(r, &line);
		print_pieces(r, &columns, &joined, least_ns);
	}
	trc_draws_free(&draws);
	trc_array_free(&joined);
	return err;
}
