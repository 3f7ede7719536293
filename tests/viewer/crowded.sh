#!/bin/sh
# crowded.sh - pages in which many tasks are under way at once, or that have thousands of threads: what is told of those
# for which there is little room (crowded.mjs).
set -eu
work=$top_builddir/tests/viewer/browser
pages=$work/crowded

. "$top_srcdir/tests/viewer/browser_setup.sh"
recording_setup

# at_once N: so many tasks of one type that are all under way from 1 to 20 ms.  The first that begin end last.
at_once()
{
	awk -v n="$1" 'BEGIN {
		print "thread 1 tid=101 name=\"main\""
		for (i = 1; i <= n; i++) {
			printf "@%d thread=1 task_begin task=%d type=\"job\"\n", i * 10000, i
			printf "@%d thread=1 task_end task=%d\n", 30000000 - i * 100000, i
		}
		print "@40000000 thread=1 log category=\"x\" message=\"last\""
	}' | sort -t@ -k2,2n -s >"$pages/$1.txt"
	"$top_builddir/trc-assemble" "$pages/$1.txt" "$pages/$1.trc"
	"$analyze" --html "$pages/$1.html" "$pages/$1.trc"
}

at_once 20
at_once 70
at_once 90
"$record" -o "$pages/demo.trc" -- "$top_builddir/docs/examples/trc-demo" >"$pages/out" 2>"$pages/err" || {
	cat "$pages/err"
	exit 1
}
"$analyze" --html "$pages/demo.html" "$pages/demo.trc"
"$top_builddir/tests/viewer/make-page" -t 2500 -n 5000 "$pages/threads.html"
TRC_BROWSER=$browser node "$work/crowded.mjs" "$analyze" "$pages"
