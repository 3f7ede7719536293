#!/bin/sh
# paths.sh - records programs with tasks, and compares the critical paths in their pages with those of --critical-path (paths.mjs).
set -eu
work=$top_builddir/tests/viewer/browser
pages=$work/paths
demo=$top_builddir/docs/examples/trc-demo

. "$top_srcdir/tests/viewer/browser_setup.sh"
recording_setup

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
	"$analyze" --html "$pages/$name.html" "$pages/$name.trc" 2>"$pages/err"
}

recorded demo -- "$demo"
recorded bare --no-sched -- "$demo"
recorded busy -- "$top_builddir/tests/viewer/busy_program"
"$analyze" --window 0.5s..0.7s --html "$pages/part.html" "$pages/demo.trc"
"$top_builddir/trc-assemble" "$top_srcdir/tests/viewer/causes.txt" "$pages/causes.trc"
"$analyze" --html "$pages/causes.html" "$pages/causes.trc" 2>"$pages/err"
browse "$work/paths.mjs" "$analyze" "$pages"
