/* path.h - a path of causes, piece after piece. */
#ifndef TRC_ANALYZER_WHY_PATH_H
#define TRC_ANALYZER_WHY_PATH_H

#include "tree.h"

/* The path that the tree kept, in the order of time; pieces that are alike and follow each other are one.
 * 0 or -ENOMEM. */
int trc_why_path_print(struct trc_report *r, const struct trc_why_tree *tree);

#endif
