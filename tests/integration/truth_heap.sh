#!/bin/bash
# What a program says that it allocated, and what of it is left, against the trace: all of it with
# a period of 1, estimates within 3 standard errors with a coarse one.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/heap_lib.sh"
need_unsanitized
program=$here/truth_heap

exactly 'glibc' "$program" 16
roughly 4096 'glibc' "$program" 480
roughly 65536 'glibc' "$program" 1600
