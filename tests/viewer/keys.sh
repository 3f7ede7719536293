#!/bin/sh
# keys.sh - the ten questions of docs/viewer.md, "A tour", answered by keys alone (keys.mjs).
set -eu
work=$top_builddir/tests/viewer/browser
pages=$work/keys

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
	"$analyze" --html "$pages/$name.html" "$pages/$name.trc"
}

recorded demo -F 997 -- "$top_builddir/docs/examples/trc-demo"
recorded program -- "$top_builddir/tests/viewer/keys_program"
"$top_builddir/trc-assemble" "$top_srcdir/tests/viewer/deadlock.txt" "$pages/deadlock.trc"
"$analyze" --html "$pages/deadlock.html" "$pages/deadlock.trc" 2>"$pages/err"
browse "$work/keys.mjs" "$analyze" "$pages" "$top_srcdir/docs/viewer.md"
