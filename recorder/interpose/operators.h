/* operators.h - C++'s new and delete: functions for other files (operators.c). */
#ifndef TRC_RECORDER_INTERPOSE_OPERATORS_H
#define TRC_RECORDER_INTERPOSE_OPERATORS_H

#include "real.h"

/* The function in place of an operator that no object has.  Usable before this object is relocated
 * (real:F2). */
trc_function *trc_operator_plain(enum trc_real_idx idx);
/* Before dlclose(): keeps the objects loaded whose operators are called.  Context: any thread, may
 * block. */
void trc_operators_keep(void);

#endif
