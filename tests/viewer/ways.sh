#!/bin/sh
# ways.sh - the ways through a page: undo and redo, what led to a selection, lists that lead on; threads that are hidden and moved (ways.mjs).
set -eu
work=$top_builddir/tests/viewer/browser
pages=$work/ways

. "$top_srcdir/tests/viewer/browser_setup.sh"
mkdir -p "$pages"

"$top_builddir/tests/viewer/make-page" -k "$pages/known.html"
"$top_builddir/tests/viewer/make-page" -t 40 -n 2000 -i 6 "$pages/groups.html"
# 60 threads: each waits for a lock that the next one holds, and the last lets go.  It then makes 100 others go on.
awk 'BEGIN {
	n = 60
	for (i = 1; i <= n + 100; i++)
		printf "thread %d tid=%d name=\"%s %d\"\n", i, 600 + i, i <= n ? "step" : "late", i
	for (i = 1; i < n; i++)
		printf "@%d thread=%d park reason=mutex object=%d holder=%d\n", 1000 + i, i, 4096 * (100 + i), i + 1
	for (i = n + 1; i <= n + 100; i++)
		printf "@%d thread=%d park reason=mutex object=%d holder=%d\n", 1000 + i, i, 4096 * (100 + i), n
	for (i = n - 1; i >= 1; i--) {
		at = 100000 + 1000 * (n - i)
		printf "@%d thread=%d unlock reason=mutex object=%d waiters=1\n", at, i + 1, 4096 * (100 + i)
		printf "@%d thread=%d resume reason=mutex object=%d\n", at + 100, i, 4096 * (100 + i)
	}
	for (i = n + 1; i <= n + 100; i++) {
		at = 200000 + 1000 * (i - n)
		printf "@%d thread=%d unlock reason=mutex object=%d waiters=1\n", at, n, 4096 * (100 + i)
		printf "@%d thread=%d resume reason=mutex object=%d\n", at + 100, i, 4096 * (100 + i)
	}
	print "@400000 thread=1 log message=\"end\""
}' >"$pages/chain.txt"
"$top_builddir/trc-assemble" "$pages/chain.txt" "$pages/chain.trc"
"$top_builddir/analyzer/trace-analyze" --html "$pages/chain.html" "$pages/chain.trc"
browse "$work/ways.mjs" "$pages"
