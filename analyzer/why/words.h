/* words.h - what threads were in, in words: for --why and for findings. */
#ifndef TRC_ANALYZER_WHY_WORDS_H
#define TRC_ANALYZER_WHY_WORDS_H

#include "tree.h"

/* "worker 3 (4711) held the lock and ran". */
void trc_why_words(struct trc_report *r, struct trc_line *line, const struct trc_why_node *node);
/* After the words and the place: who had the proc meanwhile, if threads could have run. */
void trc_why_instead(struct trc_report *r, struct trc_line *line, const struct trc_why_node *node);
/* Whether the stack should be shown: the words have not said it. */
bool trc_why_has_place(const struct trc_why_node *node);
/* "97.0%, worker 3 (4711) held the lock and slept at audit_write demo.c:174", of so much time; "97.0% ±1.2, ..." if the node
 * has a margin. */
void trc_why_share(struct trc_report *r, struct trc_line *line, const struct trc_why_tree *tree,
		   uint32_t id, int64_t whole_ns);

#endif
