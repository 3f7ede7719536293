/* unwind_bare_fp.c - see unwind_bare.h: with frame pointers. */
#define BARE_NAME bare_with_fp
#include "unwind_bare.inc"
