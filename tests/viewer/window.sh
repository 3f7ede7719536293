#!/bin/sh
# window.sh - records programs, makes pages of parts of their traces, and compares them with what SQL and profiles
# say of the same parts (window.mjs).
set -eu
work=$top_builddir/tests/viewer/browser
pages=$work/window
demo=$top_builddir/docs/examples/trc-demo

. "$top_srcdir/tests/viewer/browser_setup.sh"
recording_setup

# recorded NAME OPTION... -- COMMAND...
recorded()
{
	name=$1
	shift
	"$record" -o "$pages/$name.trc" "$@" >"$pages/out" 2>"$pages/err" || {
		cat "$pages/err"
		exit 1
	}
}

recorded demo -F 500 --heap=16K -- "$demo"
recorded fibers -- "$top_builddir/docs/examples/fibers"
recorded flame -F 1000 --heap=4096 -- "$top_builddir/tests/viewer/flame_program"
recorded busy -- "$top_builddir/tests/viewer/busy_program"
"$top_builddir/trc-assemble" "$top_srcdir/tests/viewer/hostile.txt" "$pages/hostile.trc"
"$top_builddir/trc-assemble" "$top_srcdir/tests/viewer/nested.txt" "$pages/nested.trc"
"$top_builddir/trc-assemble" "$top_srcdir/tests/viewer/contexts.txt" "$pages/contexts.trc"
# More locks than a table has rows, at more places than a page has, each waited for at one of them.
awk 'BEGIN {
	print "thread 1 tid=901 name=\"waits\""
	for (i = 0; i < 250; i++)
		printf "stack at%d 0x%x\n", i, 4096 + 16 * i
	for (i = 0; i < 250; i++) {
		printf "@%d thread=1 park reason=mutex object=0x%x stack=at%d\n", 1000 * i + 100, 65536 + 64 * (i % 20), i
		printf "@%d thread=1 resume reason=mutex object=0x%x\n", 1000 * i + 200 + i % 7, 65536 + 64 * (i % 20)
	}
}' >"$pages/places.txt"
"$top_builddir/trc-assemble" "$pages/places.txt" "$pages/places.trc"
for name in noted semaphores; do
	"$top_builddir/trc-assemble" "$top_srcdir/tests/viewer/$name.txt" "$pages/$name.trc"
done
size=$(wc -c <"$pages/demo.trc")
head -c $((size * 2 / 3)) "$pages/demo.trc" >"$pages/cut.trc"
browse "$work/window.mjs" "$analyze" "$pages"
