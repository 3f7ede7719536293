/* operators.h - C++'s new and delete: what their neighbours tell and ask (operators.c). */
#ifndef TRC_RECORDER_INTERPOSE_OPERATORS_H
#define TRC_RECORDER_INTERPOSE_OPERATORS_H

#include "real.h"

/* What stands for an operator that no object has.  Usable before this object is relocated
 * (real:F2). */
trc_function *trc_operator_plain(enum trc_real_idx idx);
/* Before dlclose(): what is called for operators stays loaded.  Context: any thread, may block. */
void trc_operators_keep(void);

#endif
