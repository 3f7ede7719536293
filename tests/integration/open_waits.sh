#!/bin/bash
# Waits in progress of calls that may or may not wait (read, recv, open, flock) have their stacks, in each kind of snapshot.
. "$(dirname "$0")/lib.sh"
need_unsanitized
program=$here/open_waits

# begin NAME COMMAND...: in a directory of its own, until its threads wait; the command's pid is in $pid, the
# program's in $recorded.  The program reads its end from descriptor 9.
begin()
{
	mkdir "$1" && mkfifo "$1/in"
	# Where tests run in the background SIGINT is ignored, and a recorder leaves it so.
	(cd "$1" && exec env --default-signal=INT "${@:2}" <in >said 2>err) &
	pid=$!
	started+=("$pid")
	exec 9>"$1/in"
	until_true 60 grep -q '^waiting$' "$1/said" || fail "$1: its threads do not wait: $(cat "$1/err")"
	recorded=$(sed -n 's/^pid\t//p' "$1/said")
	grep -vE '^(waiting|pid|since)' "$1/said" | sort >"$1/truth"
}

# lasting TRACE NAME WHAT: each wait in progress began between the two clocks that the program read before it and after.
lasting()
{
	sql "$1" "SELECT f.function, n.since_ns + i.value, n.waited_ns - (SELECT max(waited_ns + since_ns) FROM threads_now) + n.since_ns
		FROM threads_now n JOIN stack_frames s ON s.stack = n.stack JOIN frames f ON f.id = s.frame
		JOIN trace_info i ON i.key = 'start_monotonic_ns' WHERE n.state = 'waiting' AND f.function LIKE 'place\_%' ESCAPE '\'" >lasting.tsv ||
		fail "$3: no query"
	awk -F '\t' 'NR == FNR { if ($1 == "since") { from[$2] = $3; to[$2] = $4 } next }
		{ n++; bad += $2 < from[$1] || $2 > to[$1] || $3 }
		END { exit bad || n != 4 }' "$2/said" lasting.tsv ||
		fail "$3: since when they wait, as said and as seen: $(grep ^since "$2/said" && cat lasting.tsv)"
}

# stacks TRACE NAME WHAT: each wait in progress that the program told of has the stack of its place.
stacks()
{
	sql "$1" "SELECT n.reason, f.function FROM threads_now n JOIN stack_frames s ON s.stack = n.stack
		JOIN frames f ON f.id = s.frame WHERE n.state = 'waiting'
		AND f.function LIKE 'place\_%' ESCAPE '\' ORDER BY 1" >found.tsv || fail "$3: no query"
	diff "$2/truth" found.tsv >diff.txt || fail "$3: waits in progress, as said and as seen: $(cat diff.txt)"
	sql "$1" "SELECT p.reason, f.function FROM parks p JOIN stack_frames s ON s.stack = p.stack
		JOIN frames f ON f.id = s.frame WHERE p.end_ns IS NULL
		AND f.function LIKE 'place\_%' ESCAPE '\' ORDER BY 1" >found.tsv || fail "$3: no query"
	diff "$2/truth" found.tsv >diff.txt || fail "$3: waits without an end, as said and as seen: $(cat diff.txt)"
	lasting "$1" "$2" "$3"
	"$trace_analyze" "$1" >report.txt 2>&1 || fail "$3: no report: $(tail -n 3 report.txt)"
	while read -r _ place; do
		grep -q "$place" report.txt || fail "$3: the report does not tell of $place"
	done <"$2/truth"
	"$trace_analyze" --check "$1" >check.txt 2>&1 || fail "$3: $(cat check.txt)"
	passed "$3: $(wc -l <found.tsv) waits in progress have their stacks"
}

# ---- from outside -----------------------------------------------------------------------------
begin outside "$trace_record" -q --flight -o flown.trc -- "$program" wait
"$trace_record" -q --snapshot "$recorded" -o asked.trc 2>err || fail "no snapshot: $(cat err)"
stacks asked.trc outside 'trace-record --snapshot'
ring=$(ls "$TRC_RING_DIR"/trc-*/"$recorded".0.ring)
stacks "$ring" outside 'trace-analyze of the ring'
trace_view=$top_builddir/viewer/trace-view
if [ -x "$trace_view" ] && command -v curl >/dev/null; then
	flown=$pid
	start "$trace_view" "$recorded" >url.txt 2>err
	until_true 120 test -s url.txt || fail "trace-view printed no address: $(cat err)"
	url=$(cat url.txt)
	taken=$(curl -s -o body.txt -w '%{redirect_url}' --max-time 120 "${url}take?last=0")
	[[ $taken =~ snapshot=([0-9]+) ]] || fail "trace-view takes no snapshot: $(head -c 300 body.txt)"
	taken=${BASH_REMATCH[1]}
	curl -s --max-time 120 -o viewed.trc "${url}trace?snapshot=$taken"
	stacks viewed.trc outside 'trace-view'
	finish "$pid" TERM
	pid=$flown
fi
exec 9>&-
wait "$pid" || fail "the program that was looked at ended with $?: $(cat outside/err)"

# ---- of a process that dies while trace-record watches it -----------------------------------------
# It looks once a second at what has lasted for a second: nobody says when it has.
died()
{
	local name=crash.$1
	begin "$name" "$trace_record" -q --flight --snapshot-on crash -o died.trc -- "$program" crash
	sleep "$1"
	exec 9>&-
	wait "$pid" 2>/dev/null
	[ $? = 134 ] || fail "the program that was to crash ended with $?: $(cat "$name/err")"
	(stacks "$name/died.1.trc" "$name" 'a crash') >died.txt 2>&1
}
until_died=
for seconds in 3 6 12 24; do
	died $seconds && until_died=$seconds && break
done
[ -n "$until_died" ] || fail "$(cat died.txt)"
stacks "crash.$until_died/died.1.trc" "crash.$until_died" 'a crash'

# ---- of a process that is recorded to its end ---------------------------------------------------------------
# ends HOW: the end, of what has lasted long enough.
ends()
{
	case $1 in
	_exit | thread) exec 9>&- ;;
	SIGKILL) kill -KILL "$recorded" ;;
	SIGINT) kill -INT "$pid" ;;
	SIGTERM) kill -TERM "$pid" ;;
	esac
	wait "$pid" 2>/dev/null
	exec 9>&-
}

# recorded_to_end HOW MODE SECONDS [--follow]: the stacks of waits in the trace of a process that ends like that then.
recorded_to_end()
{
	local name=to_end.$1.$3$4 options=(-q)
	local trace=$name/dump.trc command=("$program" "$2")
	if [ "$4" ]; then
		options+=(--follow)
		command=(bash -c '"$0" "$1" <&0 & wait $!' "${command[@]}")
	fi
	begin "$name" "$trace_record" "${options[@]}" -o dump.trc -- "${command[@]}"
	sleep "$3"
	ends "$1"
	[ -z "$4" ] || trace=$name/dump.$recorded.trc
	(
		stacks "$trace" "$name" "a recording that ends by $1${4:+ ($4)}"
		[ "$(sql "$trace" "SELECT count(descriptor) FROM threads_now WHERE reason IN ('read', 'recv', 'flock')")" -ge 3 ] ||
			fail "$1: it does not tell of the descriptors"
		thread=$(sql "$trace" "SELECT t.tid FROM threads_now n JOIN threads t ON t.id = n.thread WHERE n.reason = 'recv'")
		"$trace_analyze" --why "thread:$thread" "$trace" >why.txt 2>&1 || fail "$1: --why: $(cat why.txt)"
		grep -q place_recv why.txt || fail "$1: --why does not tell of place_recv: $(cat why.txt)"
	) >ended.txt 2>&1
}
for how in '_exit _exit' 'thread thread' 'SIGKILL wait' 'SIGINT wait' 'SIGTERM wait' 'SIGKILL wait --follow'; do
	done=
	for seconds in 3 6 12 24; do
		read -r end mode follow <<<"$how"
		recorded_to_end "$end" "$mode" "$seconds" "$follow" && done=yes && break
	done
	[ "$done" ] || fail "$(cat ended.txt)"
	passed "a recording that ends by $end${follow:+ ($follow)}: waits in progress have their stacks and descriptors"
done

# young_to_end HOW MODE SECONDS MS: the same of waits of which none had lasted longer than that.
young_to_end()
{
	rm -rf "to_end.$1.$3"
	recorded_to_end "$1" "$2" "$3" '' || return 1
	(
		longest=$(sql "to_end.$1.$3/dump.trc" "SELECT (max(CAST(t.value AS INTEGER)) - min(p.start_ns)) / 1000000 FROM parks p, trace_info t
			WHERE t.key = 'trace_end_ns' AND p.end_ns IS NULL AND p.reason IN ('read', 'recv', 'open', 'flock')")
		[ -n "$longest" ] && [ "$longest" -lt "$4" ] || fail "$1: a wait had lasted $longest ms"
	) >ended.txt 2>&1
}
# A signal to trace-record is passed on after a look.  Others are not announced: a few waits are looked at before
# they have lasted a second.
for how in 'SIGTERM wait 0 300' 'SIGINT wait 0 300' 'SIGKILL wait 0.7 1000' '_exit _exit 0.7 1000'; do
	done=
	read -r end mode seconds most <<<"$how"
	for _ in 1 2 3 4 5 6 7 8 9 10; do
		young_to_end "$end" "$mode" "$seconds" "$most" && done=yes && break
	done
	[ "$done" ] || fail "$(cat ended.txt)"
	passed "$end: waits that have not lasted for $most ms have their stacks and descriptors"
done

# ---- of a process that executes another program, which is not recorded ---------------------------------
# Threads that waited are gone, and descriptors of the same numbers are the other program's.
executed()
{
	local name=other.$1
	begin "$name" "$trace_record" -q "${@:3}" -o dump.trc -- "$program" other
	sleep 4 # more than one look
	exec 9>&-
	wait "$pid" 2>/dev/null
	[ "$(sql "$name/$2" "SELECT count(*) FROM threads_now WHERE reason = 'read'")" = 1 ] ||
		fail "$1: the first thread of the first program does not wait"
	found=$(sql "$name/$2" "SELECT descriptor FROM threads_now WHERE reason = 'read'")
	[[ $found != *'a file'* ]] || fail "$1: the first program waits for what the second has open: $found"
	passed "$1: a wait does not have the name of what the next program has open"
}
executed 'a recording' dump.trc
executed 'a crash' dump.1.trc --flight --snapshot-on crash

# ---- of processes that were killed, both ---------------------------------------------------------------
# Each thread has waited there a few times, and so its stack is in its slot from the beginning.
begin again "$trace_record" -q --flight -o never.trc -- "$program" again
kill -9 "$pid" "$recorded"
wait "$pid" 2>/dev/null
until_true 60 "$trace_record" -q --recover "$recorded" -o recovered.trc || fail 'it cannot be recovered'
exec 9>&-
stacks recovered.trc again 'trace-record --recover'
# What was taken at a wait's beginning is what was taken at the ends of those before.
sql recovered.trc "SELECT f.function, count(DISTINCT p.stack) FROM parks p JOIN stack_frames s ON s.stack = p.stack
	JOIN frames f ON f.id = s.frame WHERE f.function LIKE 'place\_%' ESCAPE '\' GROUP BY 1 HAVING count(DISTINCT p.stack) <> 1" >several.tsv ||
	fail 'no query'
[ ! -s several.tsv ] || fail "places with several stacks: $(cat several.tsv)"
passed 'stacks that were taken early are those that were taken late'

# ---- of itself ----------------------------------------------------------------------------------------
mkdir self
(cd self && "$program" self own.trc >said 2>err </dev/null) || fail "a snapshot of itself: $(cat self/err)"
grep -vE '^(waiting|pid|since)' self/said | sort >self/truth
stacks self/own.trc self 'a snapshot that a process takes of itself'
[ "$(sql self/own.trc "SELECT count(descriptor) FROM threads_now WHERE reason IN ('read', 'recv', 'flock')")" = 3 ] ||
	fail 'a snapshot of itself does not tell of the descriptors'
passed 'it has the names of their descriptors'
"$program" storm storm.trc || fail "snapshots of itself while threads come and go: $?"
"$trace_analyze" --check storm.trc >check.txt 2>&1 || fail "the last of them: $(cat check.txt)"
passed 'stacks may go while they are read'

# ---- of itself, while it closes a plugin ----------------------------------------------------------------
# Then objects may be unmapped to which the stacks of other threads lead: none is read.
mkdir closing
(cd closing && "$program" closing after.trc before.trc "$here/.libs/libclosing.so" >said 2>err </dev/null) ||
	fail "snapshots while a plugin is closed, and afterwards: $? $(cat closing/err)"
grep -vE '^(waiting|pid|since)' closing/said | sort >closing/truth
sql closing/before.trc "SELECT n.reason, f.function FROM threads_now n JOIN stack_frames s ON s.stack = n.stack
	JOIN frames f ON f.id = s.frame WHERE f.function LIKE 'place\_%' ESCAPE '\'" >found.tsv || fail 'no query'
[ ! -s found.tsv ] || fail "stacks of other threads were read while a plugin was closed: $(cat found.tsv)"
[ "$(sql closing/before.trc "SELECT count(*) FROM threads_now WHERE reason IN ('read', 'recv', 'open', 'flock')")" = 4 ] ||
	fail 'the snapshot that was taken while a plugin was closed does not tell of the waits'
passed 'while a plugin is closed no stack of another thread is read'
stacks closing/after.trc closing 'a snapshot after that'
