/* profile_parts.h - what the files of profile_test share. */
#ifndef TRC_TESTS_ANALYZER_PROFILE_PARTS_H
#define TRC_TESTS_ANALYZER_PROFILE_PARTS_H

#include <check.h>

struct trc_model;

/* A model of these events, with the modules, stacks s1 to s3, labels and threads 1 to 3 before them. */
struct trc_model *model_with(const char *events, unsigned int parts);

/* The part of the suite that is in profile_comments.c. */
void profile_comments(TCase *tests);

#endif
