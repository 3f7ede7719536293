#!/bin/sh
# details.sh - records programs, and compares what the pages of their traces say of single rows
# with what SQL says of the same traces (details.mjs).
set -eu
work=$top_builddir/tests/viewer/browser
pages=$work/details

. "$top_srcdir/tests/viewer/browser_setup.sh"
recording_setup

# recorded NAME COMMAND...: it ends with status $wanted; recorded with $options.
recorded()
{
	trace=$pages/$1.trc page=$pages/$1.html
	shift
	status=0
	# shellcheck disable=SC2086 # a list of options
	"$record" $options -o "$trace" -- "$@" >"$pages/out" 2>"$pages/err" || status=$?
	[ $status = "$wanted" ] || {
		echo "exit status $status, not $wanted: $*"
		cat "$pages/err"
		exit 1
	}
	"$analyze" --html "$page" "$trace"
	all="$all $trace $page"
}

all= options=
wanted=0
ulimit -c 0
recorded busy "$top_builddir/tests/viewer/busy_program"
recorded busy_before "$top_builddir/tests/viewer/busy_program" true
options=--locks=all
recorded all_locks "$top_builddir/tests/viewer/busy_program"
options=
if command -v pigz >/dev/null; then
	recorded pigz pigz -p 4 -c "$top_builddir/viewer/assets.c"
fi
recorded fibers "$top_builddir/docs/examples/fibers"
options=--heap=4096
recorded labelled "$top_builddir/tests/viewer/flame_program"
options=
wanted=139
recorded crashed "$top_builddir/tests/viewer/busy_program" crash
wanted=137
recorded killed sh -c 'kill -KILL $$'
wanted=143
recorded asked sh -c 'kill -TERM $$'
wanted=0
size=$(wc -c <"$pages/busy.trc")
head -c $((size * 2 / 3)) "$pages/busy.trc" >"$pages/cut.trc"
"$analyze" --html "$pages/cut.html" "$pages/cut.trc" 2>"$pages/err"
all="$all $pages/cut.trc $pages/cut.html"
recorded execs sh -c 'sleep 0.1; exec sh -c "sleep 0.1; exec sleep 0.1"'
# Words: no file here has a blank in its name.
browse "$work/details.mjs" "$analyze" $all
