#!/bin/sh
# timed.sh TEST... - runs a test; the last line of its log says what it took: make's LOG_COMPILER.
#
# CPU seconds are of the test and of the processes that it has waited for: unlike elapsed seconds they
# are nearly the same however much else the machine does.  Most of a browser's processes nobody waits for: tests of
# the viewer take more than this says (browser.sh: 55 s, of which 21 s are counted).
began=$(date +%s)
"$@"
status=$?
took=$(mktemp) || exit $status
times >"$took" # not into a pipe: a child has waited for nobody
awk -v elapsed=$(($(date +%s) - began)) '
	{ for (i = 1; i <= 2; i++) { split($i, t, /[ms]/); cpu += t[1] * 60 + t[2] } }
	END { printf "# took %d s, %.1f s of CPU\n", elapsed, cpu }' "$took"
rm -f "$took"
exit $status
