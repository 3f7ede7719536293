#!/bin/sh
# tabs.sh - records programs, and compares the tabs below the timelines of their pages with what SQL says of the same
# traces (tabs.mjs).
set -eu
work=$top_builddir/tests/viewer/browser
pages=$work/tabs
demo=$top_builddir/docs/examples/trc-demo

. "$top_srcdir/tests/viewer/browser_setup.sh"
recording_setup

# page NAME: of NAME.trc; the analyzer warns of one that was cut off.
page()
{
	"$analyze" --html "$pages/$1.html" "$pages/$1.trc" 2>"$pages/err"
}

# recorded NAME OPTION... -- COMMAND...
recorded()
{
	name=$1
	shift
	"$record" -o "$pages/$name.trc" "$@" >"$pages/out" 2>"$pages/err" || {
		echo "exit status $?: $*"
		cat "$pages/err"
		exit 1
	}
	page "$name"
}

recorded demo -- "$demo"
recorded bare --no-sched -- "$demo"
recorded locks --locks=all -- "$demo"
recorded busy -- "$top_builddir/tests/viewer/busy_program"
recorded fibers -- "$top_builddir/docs/examples/fibers"
recorded plain --no-sched -- true
size=$(wc -c <"$pages/demo.trc")
head -c $((size * 2 / 3)) "$pages/demo.trc" >"$pages/cut.trc"
page cut
"$top_builddir/trc-assemble" "$top_srcdir/tests/viewer/hostile.txt" "$pages/hostile.trc"
page hostile
"$top_builddir/tests/viewer/make-page" -c -t 8 -n 120000 "$pages/many.html"
TRC_BROWSER=$browser node "$work/tabs.mjs" "$analyze" "$pages"
