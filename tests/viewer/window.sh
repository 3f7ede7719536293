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
size=$(wc -c <"$pages/demo.trc")
head -c $((size * 2 / 3)) "$pages/demo.trc" >"$pages/cut.trc"
browse "$work/window.mjs" "$analyze" "$pages"
