#!/bin/bash
# Stacks deeper than 128 frames keep their root, and say in one frame that others were left out: of
# waits, samples and allocations, in SQL, profiles and over HTTP.
. "$(dirname "$0")/lib.sh"
need_unsanitized
program=$top_builddir/tests/integration/deep
mark='(frames elided)'

# shapes TRACE TABLE SITE: for each stack there that was taken in SITE, its addresses, the frames
# before the mark, those behind it, and whether main or the thread's own root is among the latter
shapes()
{
	sql "$1" "WITH f AS (SELECT s.stack, s.depth, f.function FROM stack_frames s
			JOIN frames f ON f.id = s.frame),
		m AS (SELECT stack, min(depth) AS depth, count(*) AS n FROM f
			WHERE function = '$mark' GROUP BY 1),
		u AS (SELECT DISTINCT stack FROM $2)
		SELECT (SELECT addresses FROM stacks WHERE id = u.stack), coalesce(m.n, 0), m.depth,
			(SELECT max(depth) FROM f WHERE f.stack = u.stack) - m.depth,
			EXISTS (SELECT 1 FROM f WHERE f.stack = u.stack AND f.depth > coalesce(m.depth, 0)
				AND function IN ('main', 'thread_root'))
		FROM u LEFT JOIN m USING (stack)
		WHERE EXISTS (SELECT 1 FROM f WHERE f.stack = u.stack AND f.depth < 8
			AND function = '$3')
		GROUP BY u.stack"
}

# all_are WHAT ROW MINIMUM: shapes.txt has that many rows, and no other
all_are()
{
	local n
	n=$(wc -l <shapes.txt)
	[ "$n" -ge "$3" ] || fail "$1: only $n stacks"
	sort -u shapes.txt | tr '\t' ' ' | diff - <(echo "$2") >&2 || fail "$1: see above"
	passed "$1: $n stacks have the frames '$2'"
}

for unwind in auto fp libunwind; do
	"$trace_record" -q -o t.trc --unwind $unwind -F 1000 --sample-by signal --heap=1024 \
		"$program" 1000 2>err.txt || fail "$unwind: status $?: $(cat err.txt)"
	for kind in 'parks waits 2' 'samples computes 2' 'allocs allocates 2'; do
		# shellcheck disable=SC2086
		set -- $kind
		shapes t.trc "$1" "site_$2" >shapes.txt
		all_are "$1, $unwind" '128 1 111 16 1' "$3"
	done
done

# A frame more each time: none is left out before there is need; then all are the same stack.
# shellcheck disable=SC2046
"$trace_record" -q -o steps.trc "$program" $(seq 100 140) || fail "steps: status $?"
shapes steps.trc "(SELECT stack FROM parks
	WHERE thread = (SELECT min(id) FROM threads))" site_waits >shapes.txt
tr '\t' ' ' <shapes.txt | awk '
	{ n[$1]++; whole += !$2; if ($2) { cut++; if ($1 != 128) bad++ } if (!$NF) bad++ }
	END { for (i = 128 - whole + 1; i <= 128; i++) if (n[i] < 1) bad++
		exit bad || whole < 10 || cut != 1 || n[128] != 2 }' ||
	fail "depths of 100 to 140: $(cat shapes.txt)"
passed 'as many frames as there is room for are kept'

# Nobody can follow it to its root in a sensible time: the mark stands for the root.
"$trace_record" -q -o far.trc "$program" 20000 || fail "far: status $?"
shapes far.trc parks site_waits >shapes.txt
all_are 'a stack of 20,000 frames' '128 1 127 0 0' 1

# ---- what is made of them
"$trace_record" -q -o t.trc -F 1000 --sample-by signal --heap=1024 "$program" 1000
for profile in cpu heap allocs offcpu; do
	"$trace_analyze" --pprof $profile -o $profile.pb.gz t.trc || fail "$profile: status $?"
	zcat $profile.pb.gz | grep -a -q "$mark" || fail "$profile: no mark"
	zcat $profile.pb.gz | grep -a -q 'main' || fail "$profile: no main"
done
passed 'profiles name the mark'
if command -v go >/dev/null; then
	GOCACHE=$(HOME=${HOME:-/root} go env GOCACHE) && export GOCACHE
	export HOME="$work" PPROF_TMPDIR="$work" GOTOOLCHAIN=local GOTELEMETRY=off
	go tool pprof -peek 'frames elided' cpu.pb.gz >peek.txt 2>err.txt ||
		fail "go tool pprof: $(cat err.txt)"
	# It is called by what is outside and calls what is inside.
	[ "$(grep -c '| *recurse' peek.txt)" = 2 ] || fail "go tool pprof: $(cat peek.txt)"
	passed 'go tool pprof has the mark between its frames'
fi

if command -v curl >/dev/null && [ -e "$top_builddir/.libs/libtrc-http.so" ]; then
	mkfifo input
	sleep 1000 >input &
	started+=($!)
	LD_PRELOAD="$top_builddir/.libs/libtrc.so" TRC_HTTP=127.0.0.1:0 TRC_HTTP_FILE="$work/served" \
		"$program" http 1000 <input &
	pid=$!
	started+=("$pid")
	until_true 120 test -s served || fail 'no server'
	port=$(sed -n 's/^port: //p' served)
	[ -n "$port" ] || skip "no server: $(cat served)"
	until_true 60 sh -c "curl -sS http://127.0.0.1:$port/debug/pprof/goroutine?debug=2 |
		grep -q site_waits" || fail 'goroutine: no thread waits there'
	for path in 'goroutine?debug=2' 'goroutine?debug=1'; do
		curl -sS -f "http://127.0.0.1:$port/debug/pprof/$path" >got.txt || fail "$path: status $?"
		[ "$(grep -c -F "$mark" got.txt)" = 1 ] || fail "$path: $(grep -v recurse got.txt)"
		grep -q main got.txt || fail "$path: no main"
	done
	passed 'profiles over HTTP have the mark, and main'
fi
