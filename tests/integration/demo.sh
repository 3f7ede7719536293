#!/bin/bash
# The demo program, recorded in each of the three ways: the trace tells its story, which is that
# settings_reload() holds the settings lock while it writes to a disk.
. "$(dirname "$0")/lib.sh"
need_no_thread_sanitizer

demo=$top_builddir/docs/examples/trc-demo

# The total, in ms, that the program measured: "trc-demo: WHAT  N times,  M ms in all, ..."
measured_ms()
{
	sed -n "s/^trc-demo: $1 .* times, *\([0-9.]*\) ms in all.*/\1/p" out.txt
}

# within 5 % and 5 ms
close_to()
{
	awk -v a="$1" -v b="$2" 'BEGIN { d = a > b ? a - b : b - a; exit !(d <= 0.05 * b + 5) }'
}

# tells_the_story HOW TRACE
tells_the_story()
{
	local how=$1 trace=$2 waited caused truth
	expect_sound "$trace"
	truth=$(measured_ms 'settings_price() took the lock')
	[ -n "$truth" ] || fail "$how: the program printed no results"
	waited=$(sql "$trace" "SELECT sum(duration_ns) / 1e6 FROM parks WHERE reason = 'mutex' AND stack IN
		(SELECT s.stack FROM stack_frames s JOIN frames f ON f.id = s.frame
			WHERE f.function = 'settings_price')")
	close_to "$waited" "$truth" ||
		fail "$how: waited $waited ms for the settings, the program says $truth ms"
	passed "$how: waited $waited ms for the settings, the program says $truth ms"
	caused=$(sql "$trace" "SELECT sum(caused_ns) / 1e6 FROM unlocks WHERE stack IN
		(SELECT s.stack FROM stack_frames s JOIN frames f ON f.id = s.frame
			WHERE f.function = 'settings_reload')")
	truth=$(measured_ms 'settings_reload() made it wait')
	close_to "$caused" "$truth" ||
		fail "$how: settings_reload() caused $caused ms, the program says $truth ms"
	passed "$how: settings_reload() caused $caused ms of them, the program says $truth ms"
	"$trace_analyze" "$trace" >report.txt || fail "$how: no report"
	for word in settings_price settings_reload trc-demo.c; do
		grep -q "$word" report.txt || fail "$how: the report does not mention $word"
	done
	passed "$how: the report names both functions and the file"
}

# names_as_the_report HOW TRACE: what the report names, the table of objects names the same.
names_as_the_report()
{
	"$trace_analyze" "$2" >report.txt || fail "$1: no report"
	# "     613 ms    15.3%   36   17.0 ms   27.4 ms   4  mutex settings.lock"
	sed -n '/^Waiting for locks/,/^Waiting for files/p' report.txt |
		grep -oE '  (mutex|cond_mutex|cond|sem) [^ ]+$' | sed 's/cond_mutex/mutex/; s/^ *//' | LC_ALL=C sort -u >report.names
	sql "$2" "SELECT DISTINCT o.kind || ' ' || o.name FROM objects AS o
		JOIN parks AS p ON p.object = o.address AND replace(p.reason, 'cond_mutex', 'mutex') = o.kind" |
		LC_ALL=C sort >table.names
	grep -qx 'mutex settings.lock' table.names || fail "$1: the table does not name the settings' lock"
	[ "$(wc -l <report.names)" -ge 3 ] || fail "$1: the report names only: $(cat report.names)"
	[ -z "$(LC_ALL=C comm -23 report.names table.names)" ] ||
		fail "$1: the report names what the table of objects does not: $(diff report.names table.names)"
	! grep ' 0x' table.names || fail "$1: all objects of the program are variables"
	passed "$1: $(wc -l <report.names) objects of the report have the same names in SQL"
}

# has_annotations HOW TRACE
has_annotations()
{
	local served refused tasks
	served=$(sed -n 's/^trc-demo: served \([0-9]*\) requests.*/\1/p' out.txt)
	tasks=$(sql "$2" "SELECT count(*) FROM tasks WHERE type = 'request' AND end_ns IS NOT NULL")
	# On a busy machine the queue may fill up: those are tasks as well, ended at once.
	refused=$(sed -n 's/^trc-demo: refused \([0-9]*\) requests.*/\1/p' out.txt)
	served=$((served + ${refused:-0}))
	[ "$tasks" = "$served" ] || fail "$1: $tasks tasks, but the program served $served"
	passed "$1: $tasks tasks, as many as the program served"
	truth=$(measured_ms 'a request, from arrival to answer')
	total=$(sql "$2" "SELECT sum(duration_ns) / 1e6 FROM tasks WHERE type = 'request'")
	close_to "$total" "$truth" || fail "$1: tasks took $total ms, the program says $truth ms"
	passed "$1: tasks took $total ms, the program says $truth ms"
}

"$demo" -s 1 -o self.trc >out.txt || fail "the demo program: status $?"
tells_the_story 'recording itself' self.trc
has_annotations 'recording itself' self.trc

need_unsanitized
"$trace_record" -q -o linked.trc -- "$demo" -s 1 >out.txt || fail "trace-record: status $?"
tells_the_story 'under trace-record, with libtrc' linked.trc
has_annotations 'under trace-record, with libtrc' linked.trc
"$trace_record" -q -o plain.trc -- "$demo-plain" -s 1 >out.txt || fail "trace-record: status $?"
tells_the_story 'under trace-record, knowing nothing of trc' plain.trc
names_as_the_report 'under trace-record, knowing nothing of trc' plain.trc

for profile in block mutex; do
	"$trace_analyze" --pprof $profile -o $profile.pb.gz plain.trc || fail "--pprof $profile"
	gzip -t $profile.pb.gz || fail "$profile.pb.gz is not gzip"
done
"$trace_analyze" --html demo.html plain.trc || fail '--html'
[ "$(stat -c %s demo.html)" -gt 10000 ] || fail 'demo.html is empty'
passed 'profiles and timeline are written'
