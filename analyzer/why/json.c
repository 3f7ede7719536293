/* json.c - see json.h. */
#include "json.h"

#include <inttypes.h>
#include "analyzer/text/json.h"
#include "words.h"

static void print_text(struct trc_report *r, const char *name, struct trc_line *line)
{
	fprintf(r->out, ",\"%s\":", name);
	trc_json_text(r->out, trc_line_text(line));
}

/* In the words of the report, and where. */
static void print_words(struct trc_report *r, const struct trc_why_node *node)
{
	struct trc_line line;

	if (trc_why_has_place(node)) {
		trc_line_begin(&line, TRC_WIDTH_MAX, false);
		trc_report_chain(r, &line, node->key.stack);
		print_text(r, "place", &line);
	} else {
		fputs(",\"place\":null", r->out);
	}
	trc_line_begin(&line, TRC_WIDTH_MAX, false);
	trc_why_words(r, &line, node);
	print_text(r, "text", &line);
}

static void print_number(FILE *out, const char *name, uint64_t number)
{
	fprintf(out, ",\"%s\":", name);
	if (number)
		fprintf(out, "%" PRId64, (int64_t)number);
	else
		fputs("null", out);
}

static void print_name(FILE *out, const char *name, const char *text)
{
	fprintf(out, ",\"%s\":", name);
	if (text)
		trc_json_text(out, text);
	else
		fputs("null", out);
}

/* What many rows have in common, after the begin of an object. */
static void print_node(struct trc_report *r, const struct trc_why_node *node)
{
	const struct trc_cause *key = &node->key;

	fprintf(r->out, "\"total_ns\":%" PRId64 ",\"times\":%" PRIu64 ",\"threads\":%" PRIu32,
		node->total_ns, node->n, node->n_threads);
	print_name(r->out, "cause", trc_cause_name((enum trc_cause_kind)key->kind));
	print_number(r->out, "thread", key->thread);
	print_name(r->out, "reason", key->reason ? trc_reason_name(key->reason) : NULL);
	print_number(r->out, "object", key->object);
	fprintf(r->out, ",\"holder\":%d", key->unlock != 0);
	print_number(r->out, "stack", key->stack);
	print_name(r->out, "stack_of", trc_cause_stack_name((enum trc_cause_stack)key->stack_of));
	if (key->stack_of == TRC_CAUSE_STACK_SAMPLE)
		fprintf(r->out, ",\"margin_ns\":%" PRId64, trc_estimate_whole(node->margin_ns));
	if (key->kind == TRC_CAUSE_PREEMPTED) {
		print_number(r->out, "instead_thread", node->instead);
		fprintf(r->out, ",\"instead_ns\":%" PRId64 ",\"instead_threads\":%" PRIu32,
			node->instead_ns, node->n_instead);
	}
	print_words(r, node);
	putc('}', r->out);
}

static void print_tree(struct trc_report *r, const struct trc_why_tree *tree)
{
	fputs(",\n\"tree\":[", r->out);
	for (uint32_t id = 2; id <= tree->nodes.n; id++) {
		const struct trc_why_node *node = trc_why_tree_node(tree, id);

		fprintf(r->out, "%s\n{\"id\":%" PRIu32, id > 2 ? "," : "", id - 1);
		print_number(r->out, "parent", node->parent - 1);
		putc(',', r->out);
		print_node(r, node);
	}
	putc(']', r->out);
}

static void print_leaves(struct trc_report *r, struct trc_why_tree *tree)
{
	const struct trc_why_node *leaf = tree->leaves.row;

	trc_why_tree_sort_leaves(tree);
	fputs(",\n\"leaves\":[", r->out);
	for (size_t i = 0; i < tree->leaves.n; i++) {
		fprintf(r->out, "%s\n{", i ? "," : "");
		print_node(r, &leaf[i]);
	}
	putc(']', r->out);
}

/* Rows as the table causes has them; those of a path with words, and where. */
static void print_rows(struct trc_report *r, const struct trc_why_asked *asked, const char *name,
		       const struct trc_array *rows)
{
	const struct trc_cause *row = rows->row;

	fprintf(r->out, ",\n\"%s\":[", name);
	for (size_t i = 0; i < rows->n; i++) {
		struct trc_why_node node = {.key = row[i], .n_threads = 1, .n = 1};

		fprintf(r->out, "%s\n{", i ? "," : "");
		asked->print_cause(r->out, r->m, &row[i]);
		node.key.stack = trc_report_canonical(r, row[i].stack);
		print_words(r, &node);
		putc('}', r->out);
	}
	putc(']', r->out);
}

void trc_why_json(struct trc_report *r, struct trc_why_tree *tree,
		  const struct trc_why_asked *asked)
{
	fputs("{\"what\":", r->out);
	trc_json_text(r->out, asked->what);
	if (asked->slowest > 0)
		fprintf(r->out, ",\"slowest_percent\":%g", asked->slowest);
	fprintf(r->out, ",\"n\":%" PRIu64 ",\"total_ns\":%" PRId64 ",\"lost_events\":%" PRIu64,
		tree->n, tree->total_ns, trc_model_lost_events(r->m));
	if (trc_reader_warning(r->reader)) {
		fputs(",\"incomplete\":", r->out);
		trc_json_text(r->out, trc_reader_warning(r->reader));
	}
	if (asked->last)
		print_number(r->out, "last_thread", asked->last);
	if (asked->path) {
		fprintf(r->out, ",\"path_ns\":%" PRId64, tree->path_ns);
		print_rows(r, asked, "path", &tree->path);
	} else {
		print_rows(r, asked, "rows", &tree->rows);
		print_tree(r, tree);
	}
	print_leaves(r, tree);
	fputs("}\n", r->out);
}
