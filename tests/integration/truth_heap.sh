#!/bin/bash
# What a program says that it allocated, and what of it is left, against the trace: all of it with
# a period of 1, estimates within 3 standard errors with a coarse one.
. "$(dirname "$0")/lib.sh"
. "$top_srcdir/tests/integration/heap_lib.sh"
need_unsanitized
program=$here/truth_heap

exactly 'glibc' "$program" 16
without=$("$trace_analyze" --output tsv --sql 'SELECT count(*) - count(creator_stack) FROM threads' dump.trc | tail -n 1)
[ "$without" = 1 ] || fail "$without threads are not known to have been created, not the first one alone"
passed 'of all threads but the first it is known where they were created'
roughly 4096 'glibc' "$program" 480
roughly 65536 'glibc' "$program" 1600
