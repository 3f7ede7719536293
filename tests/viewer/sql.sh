#!/bin/sh
# sql.sh - records programs, and compares what the SQL boxes of their pages answer with what SQL answers for
# the same traces (sql.mjs).
set -eu
work=$top_builddir/tests/viewer/browser
pages=$work/sql
demo=$top_builddir/docs/examples/trc-demo

. "$top_srcdir/tests/viewer/browser_setup.sh"
recording_setup

# page NAME: of NAME.trc; the analyzer warns of one that was cut off.
page()
{
	"$analyze" --html "$pages/$1.html" "$pages/$1.trc" 2>"$pages/err"
	all="$all $pages/$1.trc $pages/$1.html"
}

# recorded NAME OPTION... -- COMMAND...: it ends with status $wanted.
recorded()
{
	name=$1
	shift
	status=0
	"$record" -o "$pages/$name.trc" "$@" >"$pages/out" 2>"$pages/err" || status=$?
	[ $status = "$wanted" ] || {
		echo "exit status $status, not $wanted: $*"
		cat "$pages/err"
		exit 1
	}
	[ -e "$pages/$name.trc" ] || mv "$pages/$name.1.trc" "$pages/$name.trc"
	page "$name"
}

# Redis with threads of its own, under load; over loopback.
redis_served()
{
	port=$1 tries=0
	"$record" -o "$pages/redis.trc" -- redis-server --bind 127.0.0.1 --port "$port" --save "" --io-threads 3 \
		--io-threads-do-reads yes --dir "$pages" >"$pages/out" 2>"$pages/err" &
	recorder=$!
	until redis-cli -p "$port" ping >"$pages/out" 2>&1; do
		tries=$((tries + 1))
		[ $tries -lt 600 ] || return 1
		sleep 0.1
	done
	redis-benchmark -p "$port" -n 2000 -c 20 -t set,get -q >"$pages/out" 2>&1
	redis-cli -p "$port" shutdown nosave >"$pages/out" 2>&1 || true
	wait $recorder
	page redis
}

all=
wanted=0
ulimit -c 0
recorded demo -F 500 -- "$demo"
recorded fibers -- "$top_builddir/docs/examples/fibers"
recorded locks --locks=all --heap=16K -- "$demo"
recorded flight --flight --snapshot-on exit --window 500ms -- "$demo"
snapshot_of_demo held --all --window 200ms # with what is held from before its window
page held
wanted=139
recorded crashed -- "$top_builddir/tests/viewer/busy_program" crash
size=$(wc -c <"$pages/demo.trc")
head -c $((size * 2 / 3)) "$pages/demo.trc" >"$pages/cut.trc"
page cut
"$top_builddir/trc-assemble" "$top_srcdir/tests/viewer/hostile.txt" "$pages/hostile.trc"
page hostile
"$top_builddir/trc-assemble" "$top_srcdir/tests/viewer/aligned.txt" "$pages/aligned.trc"
page aligned
for column in region.start_in_task log.time_in_task region.end_in_task; do
	grep -a -q "\"$column\"" "$pages/aligned.html" || {
		echo "the page of aligned.txt has no $column"
		exit 1
	}
done
"$top_builddir/trc-assemble" "$top_srcdir/tests/viewer/fibers.txt" "$pages/assembled.trc"
page assembled
if command -v redis-server >/dev/null && command -v redis-benchmark >/dev/null; then
	redis_served $((20000 + $$ % 10000))
fi
cp "$pages/demo.trc" "$pages/few.trc"
"$top_builddir/tests/viewer/trace-page" "$pages/few.trc" "$pages/few.html" few
cp "$pages/demo.trc" "$pages/without.trc"
"$analyze" --without-sql --html "$pages/without.html" "$pages/without.trc"
# Words: no file here has a blank in its name.
browse "$work/sql.mjs" "$analyze" $all "$pages/few.trc" "$pages/few.html" \
	"$pages/without.trc" "$pages/without.html"
