/* unwind_bare_nofp.c - see unwind_bare.h: without frame pointers. */
#define BARE_NAME bare_without_fp
#include "unwind_bare.inc"
