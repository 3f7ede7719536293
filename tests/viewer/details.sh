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

# served NAME PROGRAM: ends the server, and makes its page.
served()
{
	kill -TERM "$(pgrep -P $recorder "$2")"
	wait $recorder
	recorder=
	rm -f "$socket"
	"$analyze" --html "$pages/$1.html" "$pages/$1.trc"
	all="$all $pages/$1.trc $pages/$1.html"
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
# Servers of which some threads are idle, and so folded: under a short load, where they are installed.
socket=$(mktemp -u /tmp/trc-socket-XXXXXX) recorder=
trap 'rm -rf "$TRC_RING_DIR" "$socket"; [ -z "$recorder" ] || kill "$recorder"' EXIT # also of a load that failed
if command -v redis-server >/dev/null && command -v redis-benchmark >/dev/null; then
	serving redis -- redis-server --port 0 --unixsocket "$socket" --io-threads 4 --save '' --daemonize no
	timeout 120 redis-benchmark -s "$socket" -q -n 2000 -c 16 -P 8 -r 1000 -t set,get,lpush >"$pages/out" 2>&1
	served redis redis-server
fi
if command -v memcached >/dev/null; then
	as_root=
	[ "$(id -u)" != 0 ] || as_root='-u root'
	# shellcheck disable=SC2086 # a list of options
	serving memcached -- memcached $as_root -t 4 -m 64 -s "$socket" -a 0700
	timeout 120 "$top_builddir/tests/integration/mc_load" -s "$socket" -n 20000 -c 32 >"$pages/out"
	served memcached memcached
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
# So many threads with names of two patterns that all are folded.
awk 'BEGIN {
	print "stack take 0x2010 0x2020"
	for (i = 1; i <= 30; i++)
		printf "thread %d tid=%d name=\"%s %d\"\n", i, 200 + i, i % 2 ? "reader" : "writer", i
	for (i = 1; i <= 30; i++)
		printf "@%d thread=%d park reason=mutex object=0x7f0000 stack=take\n", 1000000 + i, i
	for (i = 1; i <= 30; i++)
		printf "@%d thread=%d resume reason=mutex object=0x7f0000\n", 999000000 + i, i
}' >"$pages/folded.txt"
"$top_builddir/trc-assemble" "$pages/folded.txt" "$pages/folded.trc"
"$analyze" --html "$pages/folded.html" "$pages/folded.trc"
all="$all $pages/folded.trc $pages/folded.html"
recorded execs sh -c 'sleep 0.1; exec sh -c "sleep 0.1; exec sleep 0.1"'
# Words: no file here has a blank in its name.
browse "$work/details.mjs" "$analyze" $all
