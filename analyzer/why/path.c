/* path.c - see path.h. */
#include "path.h"

#include <errno.h>
#include <stdlib.h>
#include "words.h"

enum { TEXT_COLUMN = 34, INDENT = 2, PIECES_SHOWN = 50 };

static bool are_alike(const struct trc_cause *a, const struct trc_cause *b)
{
	return a->thread == b->thread && a->kind == b->kind && a->reason == b->reason &&
	       a->object == b->object && a->descriptor == b->descriptor && a->stack == b->stack &&
	       a->stack_of == b->stack_of && !a->unlock == !b->unlock && a->instead == b->instead;
}

/* struct trc_why_node, of one piece or of several that follow each other; its key lasts from the first's begin
 * to the last's end. */
static int join_pieces(const struct trc_array *path, struct trc_array *joined)
{
	const struct trc_cause *row = path->row;
	struct trc_why_node *last = NULL;

	for (size_t i = 0; i < path->n; i++) {
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
		trc_report_add(&last->total_ns, row[i].to_ns - row[i].from_ns);
	}
	return 0;
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

static void begin_line(struct trc_report *r, struct trc_line *line, int64_t at_ns, int64_t ns,
		       int64_t all_ns)
{
	char number[TRC_NUMBER_BYTES];

	trc_line_begin(line, r->width, r->colour);
	trc_line_right(line, 12, trc_text_duration(number, at_ns));
	trc_line_right(line, 11, trc_text_duration(number, ns));
	trc_line_right(line, 9, trc_text_share(number, ns, all_ns));
	trc_line_to(line, TEXT_COLUMN);
}

static void print_place(struct trc_report *r, const struct trc_why_node *node)
{
	struct trc_line line;

	if (!trc_why_has_place(node))
		return;
	trc_line_begin(&line, r->width, r->colour);
	trc_line_to(&line, TEXT_COLUMN + INDENT);
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

static void print_skipped(struct trc_report *r, struct skipped *skipped, int64_t start_ns,
			  int64_t all_ns)
{
	char number[TRC_NUMBER_BYTES];
	struct trc_line line;

	if (skipped->n) {
		begin_line(r, &line, skipped->from_ns - start_ns, skipped->ns, all_ns);
		trc_line_style(&line, TRC_STYLE_DIM);
		trc_line_add(&line, "in %s shorter piece%s", trc_text_count(number, skipped->n),
			     skipped->n == 1 ? "" : "s");
		trc_line_style(&line, TRC_STYLE_PLAIN);
		trc_report_line(r, &line);
	}
	*skipped = (struct skipped){0};
}

static void print_pieces(struct trc_report *r, const struct trc_why_tree *tree,
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
		print_skipped(r, &skipped, start_ns, tree->path_ns);
		begin_line(r, &line, node[i].key.from_ns - start_ns, node[i].total_ns,
			   tree->path_ns);
		trc_why_words(r, &line, &node[i]);
		trc_why_instead(r, &line, &node[i]);
		trc_report_line(r, &line);
		print_place(r, &node[i]);
	}
	print_skipped(r, &skipped, start_ns, tree->path_ns);
}

int trc_why_path_print(struct trc_report *r, const struct trc_why_tree *tree)
{
	struct trc_array joined = {.row_bytes = sizeof(struct trc_why_node)};
	int err = join_pieces(&tree->path, &joined);
	int64_t least_ns = err ? 0 : least_shown_ns(&joined);
	struct trc_line line;

	if (least_ns < 0)
		err = -ENOMEM;
	if (!err) {
		trc_line_begin(&line, r->width, r->colour);
		trc_line_style(&line, TRC_STYLE_DIM);
		trc_line_right(&line, 12, "after");
		trc_line_right(&line, 11, "for");
		trc_line_style(&line, TRC_STYLE_PLAIN);
		trc_report_line(r, &line);
		print_pieces(r, tree, &joined, least_ns);
	}
	trc_array_free(&joined);
	return err;
}
