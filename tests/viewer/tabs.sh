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
"$analyze" --window 0.5s..0.7s --html "$pages/part.html" "$pages/demo.trc"
recorded bare --no-sched -- "$demo"
recorded locks --locks=all -- "$demo"
recorded busy -- "$top_builddir/tests/viewer/busy_program"
recorded fibers -- "$top_builddir/docs/examples/fibers"
recorded plain --no-sched -- true
size=$(wc -c <"$pages/demo.trc")
head -c $((size * 2 / 3)) "$pages/demo.trc" >"$pages/cut.trc"
page cut
# assembled NAME FILE
assembled()
{
	"$top_builddir/trc-assemble" "$2" "$pages/$1.trc"
	page "$1"
}

snapshot_of_demo snapshot
page snapshot
assembled hostile "$top_srcdir/tests/viewer/hostile.txt"
assembled deadlock "$top_srcdir/tests/viewer/deadlock.txt"
# 300 threads that wait for one, the last longest.
awk 'BEGIN {
	for (i = 1; i <= 301; i++)
		printf "thread %d tid=%d name=\"pool %d\"\n", i, 600 + i, i
	print "@1000 thread=1 acquire reason=mutex object=0x7f000000a000"
	for (i = 301; i >= 2; i--)
		printf "@%d thread=%d park reason=mutex object=0x7f000000a000 holder=1\n", 1000 + 10 * (303 - i), i
}' >"$pages/crowd.txt"
assembled crowd "$pages/crowd.txt"
"$top_builddir/tests/viewer/make-page" -c -t 8 -n 120000 "$pages/many.html"
"$top_builddir/tests/viewer/make-page" -t 8 -i 3 -n 4000 "$pages/idle.html"
TRC_BROWSER=$browser node "$work/tabs.mjs" "$analyze" "$pages"
