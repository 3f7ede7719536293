/* why_words.h - what threads were in, in words: for --why and for findings. */
#ifndef TRC_ANALYZER_REPORT_WHY_WORDS_H
#define TRC_ANALYZER_REPORT_WHY_WORDS_H

#include "why_tree.h"

/* "worker 3 (4711) held the lock and ran". */
void trc_why_words(struct trc_report *r, struct trc_line *line, const struct trc_why_node *node);
/* The stack is worth telling: the words have not said it. */
bool trc_why_has_place(const struct trc_why_node *node);
/* "97.0%, worker 3 (4711) held the lock and slept at audit_write demo.c:174", of the whole tree. */
void trc_why_share(struct trc_report *r, struct trc_line *line, const struct trc_why_tree *tree,
		   uint32_t id);

#endif
