/* slowest.c - where the time of the slowest tasks of a type went. */
#include "parts.h"
#include "analyzer/why/tasks.h"
#include "analyzer/why/words.h"

static void print_line(struct trc_report *r, const struct trc_why_tree *tree, uint32_t id,
		       const char *before)
{
	struct trc_line line;

	trc_line_begin(&line, r->width, r->colour);
	trc_line_to(&line, 12);
	trc_line_add(&line, "%s", before);
	trc_why_share(r, &line, tree, id, tree->total_ns);
	trc_report_line(r, &line);
}

/* Where most of their time went, and what was behind that, as long as it is most of it. */
static void print_slowest(struct trc_report *r, const struct trc_why_tree *tree, int64_t least_ns)
{
	char number[TRC_NUMBER_BYTES], slow[2 * TRC_NUMBER_BYTES + 40];
	uint32_t id = trc_why_tree_largest_below(tree, 1);

	if (!id)
		return;
	snprintf(slow, sizeof(slow),
		 "slowest 1%%, from %s on: ", trc_text_duration(number, least_ns));
	print_line(r, tree, id, slow);
	while ((id = trc_why_tree_most_of(tree, id)))
		print_line(r, tree, id, "for ");
}

int trc_report_slowest(struct trc_report *r, const char *type)
{
	struct trc_why_tasks tasks = {.type = type, .slowest = 1, .most = TRC_SLOWEST_MAX};
	struct trc_causes *causes;
	struct trc_why_tree tree;
	int err = trc_report_causes(r, &causes);

	if (err)
		return err;
	err = trc_why_tree_begin(&tree, r);
	if (!err)
		err = trc_why_add_chain(&tree, causes, &tasks);
	if (!err)
		err = trc_why_tree_margins(&tree);
	if (!err)
		print_slowest(r, &tree, tasks.least_ns);
	trc_why_tree_free(&tree);
	return err;
}
