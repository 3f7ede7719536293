#!/bin/bash
# flight.sh - trace-record --flight, --snapshot, --recover, --list, --clean: which odd moments are
# caught, what of them, and what is left when something is killed.
name=flight
. "$(dirname "$0")/lib.sh"
flown=$here/flight_guest
mkfifo to from
recorder='' pid=''

after_failure()
{
	exec 5>&- 6<&-
	[ -z "$recorder" ] || kill -s KILL "$recorder" "$pid" 2>/dev/null
	[ -z "$recorder" ] || wait "$recorder" 2>/dev/null
	recorder=''
	"$record" --clean >cleaned
}

# fly OPTION...: starts the guest under trace-record --flight.  $recorder and $pid are the two.
fly()
{
	rm -f ./*.trc
	"$record" --flight -o f.trc "$@" -- "$flown" <to >from 2>err &
	recorder=$!
	exec 5>to 6<from
	heard && pid=${answer#pid }
}

heard()
{
	read -t 60 -r answer <&6 || {
		echo "no answer; stderr:"
		cat err
		return 1
	}
}

# tell WORD...: the guest does this, and answers.
tell()
{
	echo "$@" >&5 && heard && case $answer in
	ok*) answer=${answer#ok} answer=${answer# } ;;
	*) echo "$*: $answer" && return 1 ;;
	esac
}

# land STATUS WORD...: the guest ends so, and trace-record does likewise.
land()
{
	local want=$1
	shift
	[ $# = 0 ] || echo "$@" >&5
	exec 5>&- 6<&-
	wait $recorder 2>/dev/null
	set -- $?
	recorder=''
	same $1 "$want"
}

# appears FILE / none FILE
appears() { until_ 30 test -e "$1"; }
none() { [ ! -e "$1" ] || { echo "there is a $1:"; "$here/trace_dump" "$1"; return 1; }; }
sound() { "$analyze" --check "$1"; }
sql() { "$analyze" --sql "$1" --output csv "$2" | tail -n +2; }

# has FILE PREFIX: a line of the dump begins so.
has()
{
	"$here/trace_dump" "$1" >dump || return 1
	grep -q -- "^$2" dump || {
		echo "$1: no line begins with: $2"
		cat dump
		return 1
	}
}

# ---- usage: what the one line says | options ------------------------------------------------

while IFS='|' read -r text args; do
	# shellcheck disable=SC2086
	check "refused: $args" status 125 "$record" $args
	check "refused with the reason: $args" says err "$text"
	check "refused in one line: $args" same "$(wc -l <err)" 1
done <<'END'
no command|--flight
--window needs --flight, --snapshot or --recover|--window 3s true
--max-size needs --flight|--max-size 3M true
--snapshot-on needs --flight|--snapshot-on exit true
--snapshot-max needs --flight|--snapshot-max 3 true
--snapshot-every needs --flight|--snapshot-every 3s true
--snapshot-after needs --flight|--snapshot-after 3s true
--all needs --snapshot or --recover|--flight --all true
--ring-size does not go with --flight|--flight --ring-size 4M true
--on-full does not go with --flight|--flight --on-full drop true
--max-size 1K: not enough for|--flight --max-size 1K true
--max-size lots: not a size|--flight --max-size lots true
--window 10: not a time|--flight --window 10 true
--window 0s: a window has some length|--flight --window 0s true
--snapshot-max few: not a number|--flight --snapshot-max few true
--snapshot-every 1: not a time|--flight --snapshot-every 1 true
--snapshot-after soon: not a time|--flight --snapshot-after soon true
--snapshot-on: parc>1s: not one of|--flight --snapshot-on parc>1s true
--snapshot-on: cheese: no such reason|--flight --snapshot-on park:cheese>1s true
one of --snapshot, --recover, --list, --clean, --self-test at a time|--list --clean
true: no command is run|--list true
--flight runs a command|--flight --list
END

echo 'exec ./marker' >marker && printf '#!/bin/sh\ntouch ran\n' >marker && chmod +x marker
check "unwritable: an error" status 125 "$record" --flight -o no-dir/x.trc ./marker
check "unwritable: says why" says err 'no-dir/x.1.trc: No such file or directory'
check "unwritable: before the program starts" test ! -e ran

# ---- what sets off a snapshot ------------------------------------------------------------------

# Every condition at once; each event of the guest must be in the snapshots after it.
conditions()
{
	local slow
	fly --snapshot-every 0s --snapshot-max 99 --window 1000s --snapshot-on 'park:mutex>100ms' \
		--snapshot-on 'region:odd>100ms' --snapshot-on 'task:get>100ms' \
		--snapshot-on signal=USR2 || return 1
	tell events 100 || return 1
	# What is quick sets off nothing: if it was quick, on this machine, today.
	tell park 1 && slow=${answer% *} && tell region odd 1 && slow=$((slow + answer)) &&
		tell task get 1 && slow=$((slow + answer)) && tell region even 150 &&
		tell task put 150 || return 1
	[ $slow -lt 100000000 ] || { echo "skipped: too slow"; tell exit 0; land 0; return; }
	tell park 150 && appears f.1.trc || return 1
	has f.1.trc "info trigger park:mutex>100ms: mutex ${answer#* }" &&
		trace f.1.trc 'info snapshot trigger' 'info mode flight' 'count counter 100' \
			'info ended still running' 'lost 0' || return 1
	tell events 100 && tell region odd 150 && appears f.2.trc &&
		has f.2.trc 'info trigger region:odd>100ms: ' && trace f.2.trc 'count counter 200' || return 1
	tell events 100 && tell task get 150 && appears f.3.trc &&
		has f.3.trc 'info trigger task:get>100ms: ' && trace f.3.trc 'count counter 300' || return 1
	kill -s USR2 "$pid" && appears f.4.trc && has f.4.trc 'info trigger signal=USR2: from ' || return 1
	tell events 100 && kill -s USR2 $recorder && appears f.5.trc &&
		trace f.5.trc 'info trigger signal=USR2: sent to trace-record' 'count counter 400' || return 1
	land 0 exit 0 && none f.6.trc && same "$(grep -c ': f\.[1-5]\.trc: ' err)" 5
	for f in f.?.trc; do sound $f || return 1; done
}
check "each condition sets off one snapshot, with all that happened" conditions

wedged()
{
	fly --snapshot-every 0s --snapshot-on 'park>50ms' && tell events 10 && tell stuck || return 1
	appears f.1.trc && has f.1.trc "info trigger park>50ms: mutex ${answer#* } for " || return 1
	grep -q "already, thread ${answer% *}\$" dump || return 1
	tell free && land 0 exit 0 && none f.2.trc
}
check "a wait that lasts sets off one snapshot, while it lasts" wedged

caught()
{
	fly --snapshot-on signal=USR2 && tell catch 12 && tell events 5 && kill -s USR2 $recorder &&
		appears f.1.trc && tell caught && same "$answer" 0 && kill -s USR2 "$pid" &&
		until_ 30 eval 'tell caught && [ "$answer" = 1 ]' || return 1
	land 0 exit 0
}
check "a signal to trace-record is not passed on, one to the process is delivered" caught

# It waits for the next line, by fgets().
reading()
{
	fly --snapshot-on signal=USR2 && tell events 1 && until_ 60 state "$pid" S && kill -s USR2 $recorder &&
		appears f.1.trc && sound f.1.trc || return 1
	same "$(sql "SELECT count(*), sum(function = 'main') FROM parks LEFT JOIN stack_frames USING (stack)
		LEFT JOIN frames ON frames.id = frame WHERE state = 'open' AND reason = 'read' AND
		(function IS NULL OR function = 'main')" f.1.trc)" '1,1' &&
		same "$(sql "SELECT descriptor FROM threads_now WHERE reason = 'read'" f.1.trc)" "$PWD/to" &&
		land 0 exit 0
}
check "a wait that has recorded nothing yet has its stack, and what it is for" reading

passed_on()
{
	fly --snapshot-on signal=USR2 && tell catch 10 && kill -s USR1 $recorder &&
		until_ 30 eval 'tell caught && [ "$answer" = 1 ]' && land 0 exit 0 && none f.1.trc
}
check "other signals are passed on" passed_on
check "no reason, no snapshot: says so" says err 'no snapshot was taken: no condition was met'

after()
{
	local start
	fly --snapshot-on signal=USR2 --snapshot-after 400ms && tell events 10 || return 1
	start=${EPOCHREALTIME/./}
	kill -s USR2 $recorder && appears f.1.trc && [ $((${EPOCHREALTIME/./} - start)) -ge 400000 ] || return 1
	land 0 exit 0
}
check "--snapshot-after: not before" after

after_end()
{
	fly --snapshot-on signal=USR2 --snapshot-after 1000s && kill -s USR2 "$pid" && tell events 10 &&
		land 0 exit 0 && trace f.1.trc 'count counter 10' 'info ended exit 0' 'info snapshot trigger'
}
check "--snapshot-after: with what came until the process ended" after_end

# ---- limits ------------------------------------------------------------------------------------

at_most()
{
	fly --snapshot-every 0s --snapshot-max 2 --snapshot-on signal=USR2 &&
		kill -s USR2 $recorder && appears f.1.trc && kill -s USR2 $recorder && appears f.2.trc &&
		kill -s USR2 "$pid" && tell region x 200 && kill -s USR2 "$pid" && tell region x 200 || return 1
	land 139 raise 11 && none f.4.trc &&
		trace f.3.trc 'info snapshot crash' 'info triggers_suppressed 2' && says err '2 triggers without'
}
check "--snapshot-max: no more, but for the crash; the rest is counted" at_most

seldom()
{
	fly --snapshot-every 1000s --snapshot-on 'region:odd>20ms' --snapshot-on exit &&
		tell region odd 30 && appears f.1.trc && tell region odd 30 && tell region odd 30 || return 1
	land 5 exit 5 && none f.3.trc &&
		trace f.2.trc 'info snapshot exit' 'info triggers_suppressed 2' 'info ended exit 5'
}
check "--snapshot-every: not so soon, but for the end; the rest is counted" seldom

# ---- the end -----------------------------------------------------------------------------------

ended() # STATUS ENDED WHAT WORD...
{
	local status=$1 ended=$2 what=$3
	shift 3
	fly --snapshot-on exit && tell events 5000 && land "$status" "$@" && none f.2.trc &&
		trace f.1.trc "info ended $ended" "info snapshot $what" "info trigger $what" \
			'count counter 5000' 'lost 0' && sound f.1.trc
}
check "exit" ended 7 'exit 7' exit exit 7
check "_exit" ended 7 'exit 7' exit _exit 7
check "abort" ended 134 'killed by signal 6 (SIGABRT)' crash raise 6
check "a fault" ended 139 'killed by signal 11 (SIGSEGV)' crash raise 11
check "the fault is in the trace" has f.1.trc 'info signal 11 (SIGSEGV) code -6 at 0x'
check "kill -9" ended 137 'killed by signal 9 (SIGKILL)' crash raise 9
check "SIGTERM" ended 143 'killed by signal 15 (SIGTERM)' crash raise 15
check "what is said of it is the signal, not a crash" says err 'trace-record: f.1.trc: killed by signal 15 (SIGTERM) ('

quiet_end()
{
	fly && tell events 10 && land 0 exit 0 && none f.1.trc
}
check "the end in good order is nothing by itself" quiet_end
nobody() { fly -q && land 0 exit 0 && empty err; }
check "-q says nothing" nobody

replaced()
{
	rm -f ./*.trc
	status 3 "$record" --flight -q -o f.trc --snapshot-on exit sh -c "exec $guest exit 3" &&
		trace f.1.trc 'info ended exit 3' "info command $guest exit 3" && sound f.1.trc
}
check "exec goes on, with the new program" replaced
replaced_often()
{
	rm -f ./*.trc
	status 3 "$record" --flight -q -o f.trc --snapshot-on exit sh -c "sleep .1; exec sh -c \
		'sleep .1; exec sh -c \"sleep .1; exec sh -c \\\"exec $guest exit 3\\\"\"'" &&
		trace f.1.trc 'info ended exit 3' "info command $guest exit 3" && sound f.1.trc
}
check "however many times" replaced_often
scheduled()
{
	rm -f ./*.trc
	status 3 "$record" --flight --sched -q -o f.trc --snapshot-on exit "$guest" exit 3 &&
		trace f.1.trc && grep -q '^info options .*--sched' dump || return 1
	rm -f ./*.trc
	status 3 "$record" --flight -q -o f.trc --snapshot-on exit "$guest" exit 3 &&
		trace f.1.trc 'info sched no: not asked for (--sched)'
}
check "switch records only if they are asked for" scheduled
followed()
{
	rm -f ./*.trc
	status 0 "$record" --flight --follow -q -o f.trc --snapshot-on exit \
		sh -c "$guest events 50; $guest events 60; true" || return 1
	for f in f.*.1.trc; do trace "$f" >&2 || return 1; dumped 'count counter'; done | sort | xargs >counts
	same "$(cat counts)" '100 120' && same "$(ls f.*.1.trc | wc -l)" 3
}
check "--follow: each process has snapshots of its own" followed
# Nobody waits for the child while sleep(1) lives.
killed_child()
{
	local file
	rm -f ./*.trc
	status 0 "$record" --flight --follow -q -o f.trc bash -c "$guest raise 9 100 & exec sleep 1.5" || return 1
	file=$(ls f.*.trc)
	same "$(ls f.*.1.trc)" "$file" && trace "$file" 'info ended killed by signal 9 (SIGKILL)' \
		'info snapshot crash' 'count counter 100'
}
check "--follow: a child that is killed" killed_child
check "nothing stays behind" same "$(ls -A "$TRC_RING_DIR")" ''

# ---- from outside ------------------------------------------------------------------------------

outside()
{
	local i
	fly && tell events 1000 && "$record" --snapshot "$pid" -o s.trc 2>said &&
		trace s.trc 'info snapshot on request' 'info ended still running' 'count counter 1000' &&
		sound s.trc && says said 's.trc: process ' && kill -s STOP "$pid" && until_ 60 state "$pid" T || return 1
	for i in 1 2 3; do "$record" -q --snapshot "$pid" --all -o s$i.trc & done
	wait %2 %3 %4
	for i in 1 2 3; do trace s$i.trc 'count counter 1000' && sound s$i.trc || return 1; done
	kill -s CONT "$pid" && tell events 1 && land 0 exit 0
}
check "--snapshot: of a process that runs, and that is stopped, several at once" outside

recorded()
{
	local pid
	rm -f ready
	"$record" -q -o r.trc "$guest" await "$work/ready" &
	until_ 30 test -e ready || return 1
	pid=$(pgrep -P $!)
	"$record" -q --snapshot "$pid" -o s.trc && trace s.trc 'info mode recording' 'count thread_start 1' &&
		"$record" --list >listed && grep -Eq "^ +$pid +guest await .* recording +" listed || return 1
	kill "$pid"
	wait $!
	trace r.trc 'count thread_start 1'
}
check "--snapshot and --list: of a process that is recorded to a file" recorded

listed()
{
	"$record" --list >listed && same "$(cat listed)" 'nothing is being recorded' &&
		fly --snapshot-on exit && tell events 20000 && "$record" --list >listed && same "$(wc -l <listed)" 2 &&
		grep -Eq "^ +$pid +flight_guest +flight +[0-9]+\.[0-9]+ +[1-9][0-9]+ +0\$" listed || {
		cat listed
		return 1
	}
	land 0 exit 0
}
check "--list" listed

wrong() # TEXT ARG...
{
	local text=$1
	shift
	status 1 "$record" "$@" -o w.trc && says err "$text" && same "$(wc -l <err)" 1 && none w.trc
}
check "no process" wrong 'no such process' --snapshot 999999999
check "no number" wrong 'not a process id' --snapshot self
check "not recorded" wrong 'it is not being recorded' --snapshot $$
check "no ring" wrong 'No such file' --recover "$work/no.ring"
head -c 100000 /dev/zero >zero.ring
check "not a ring" wrong 'zero.ring: ' --recover zero.ring

# ---- what is killed ----------------------------------------------------------------------------

survives()
{
	local ring
	fly && tell events 3000 && kill -s KILL $recorder || return 1
	wait $recorder 2>/dev/null
	tell events 3000 && "$record" --list >listed && grep -Eq "^ +$pid +flight_guest +flight .* 0\$" listed &&
		"$record" -q --snapshot "$pid" -o s.trc && trace s.trc 'count counter 6000' &&
		wrong 'is alive: trace-record --snapshot' --recover "$pid" || return 1
	"$record" --clean >cleaned && says cleaned 'nothing to remove' && tell events 3000 || return 1
	kill -s KILL "$pid" && until_ 30 test ! -e "/proc/$pid" || return 1
	exec 5>&- 6<&-
	"$record" --list >listed && grep -Eq "^ +$pid .* dead: --recover or --clean\$" listed &&
		wrong "is gone, its ring is not: trace-record --recover $pid" --snapshot "$pid" || return 1
	"$record" -q --recover "$pid" -o s.trc && trace s.trc 'info snapshot recovered' 'count counter 9000' &&
		sound s.trc && ring=$(ls "$TRC_RING_DIR"/trc-*/"$pid".0.ring) &&
		"$record" -q --recover "$ring" -o t.trc && trace t.trc 'count counter 9000' || return 1
	# It ends where its events do, whenever that is done; the clocks are rounded.
	same "$(sql "SELECT abs((SELECT value FROM trace_info WHERE key = 'trace_end_ns') -
		max(to_ns)) < 1000 AS near FROM coverage" t.trc | tr -d '\r')" 1 || return 1
	"$record" --clean >cleaned && says cleaned "removed $ring" && none "$ring" &&
		"$record" --clean >cleaned && says cleaned 'nothing to remove' &&
		same "$(ls -A "$TRC_RING_DIR")" '' && wrong 'no such process' --recover "$pid"
}
check "trace-record killed: the process goes on, and can be looked at, recovered, cleaned up" survives

# ends_alone HOW ENDED: trace-record is killed, the guest ends so, and its ring says that it ENDED.
ends_alone()
{
	local how=$1 ended=$2
	fly && tell events 10 && kill -s KILL $recorder || return 1
	wait $recorder 2>/dev/null
	recorder=''
	echo "$how 0" >&5 && exec 5>&- 6<&- && until_ 30 test ! -e "/proc/$pid" || return 1
	"$record" -q --recover "$pid" -o s.trc && trace s.trc 'count counter 10' "info ended $ended" || return 1
	"$record" --clean >cleaned
}
check "trace-record killed, and the process exits" ends_alone exit 'by exit(), with which status is not known'
check "... or ends without exit()" ends_alone _exit 'without a last word: killed, or _exit()'

clean()
{
	local empty locked locker
	empty=$(mktemp -d "$TRC_RING_DIR/trc-XXXXXX") locked=$(mktemp -d "$TRC_RING_DIR/trc-XXXXXX")
	: >"$TRC_RING_DIR/.trc-$(id -u)-999999999.tmp" && : >"$empty/.trc-$(id -u)-999999998.tmp"
	: >"$TRC_RING_DIR/.trc-$(id -u)-$$.tmp" && : >"$TRC_RING_DIR/.trc-$(id -u)-999999997.tmp"
	touch -d '10 minutes ago' "$TRC_RING_DIR"/.trc-*-99999999[89].tmp "$TRC_RING_DIR"/.trc-*-$$.tmp "$empty"/.trc*
	mkdir "$TRC_RING_DIR/trc-another" && : >"$TRC_RING_DIR/trc-another/1.0.ring" && : >"$TRC_RING_DIR/trc-1.ring"
	flock -s "$locked" sleep 60 &
	locker=$!
	until_ 60 eval '! flock -n -x "$locked" true' || return 1
	fly && "$record" --clean >cleaned || return 1
	says cleaned "removed $empty" && none "$empty" && none "$TRC_RING_DIR/.trc-$(id -u)-999999999.tmp" &&
		test -d "$locked" -a -e "$TRC_RING_DIR/.trc-$(id -u)-$$.tmp" -a \
			-e "$TRC_RING_DIR/.trc-$(id -u)-999999997.tmp" -a -e "$TRC_RING_DIR/trc-another/1.0.ring" \
			-a -e "$TRC_RING_DIR/trc-1.ring" && same "$(wc -l <cleaned)" 3 || {
		cat cleaned
		return 1
	}
	tell events 10 && kill -s USR1 "$pid" && land 138 && trace f.1.trc 'count counter 10' || return 1
	kill $locker
	rm -rf "${TRC_RING_DIR:?}"/trc-* "$TRC_RING_DIR"/.trc-*
}
check "--clean: only what is dead, and ours" clean

elsewhere()
{
	local result inside
	rm -f ready other-err
	# Its trace-record is killed: else nothing of the session would be looked at.
	unshare -p -f sh -c '"$0" --flight -q "$@" & wait; sleep 1000' "$record" "$guest" await "$work/ready" 2>other-err &
	recorder=$!
	until_ 30 test -e ready || return 1
	pid=$(pgrep -P $recorder)
	inside=$(pgrep -P "$(pgrep -P "$pid")")
	pkill -KILL -P "$pid"
	until_ 30 eval '"$record" --clean >cleaned && says cleaned "nothing to remove"' &&
		"$record" --list >listed && grep -Eq "^ *$inside  guest .*[0-9]\$" listed &&
		same "$(ls "$TRC_RING_DIR"/trc-*/*.ring | wc -l)" 1 &&
		status 0 "$record" -q -o inside.trc --snapshot "$inside" && trace inside.trc
	result=$?
	kill -s KILL "$pid"
	wait $recorder 2>/dev/null
	recorder=''
	return $result
}
if unshare -p -f true 2>/dev/null; then
	check "another pid namespace: shown by its pid here, and left alone" elsewhere
	rm -rf "${TRC_RING_DIR:?}"/trc-*
fi

# ---- what the last lines say ---------------------------------------------------------------------

spans()
{
	"$record" --flight --snapshot-on exit -o span.trc sleep 0.1 2>err || return 1
	same "$(sed -n 's/.* of \([0-9.]*\) s, .*/\1/p' err)" \
		"$("$analyze" --sql 'select * from trace_info' span.1.trc |
			awk '$1 == "trace_end_ns" { printf "%.3g", $2 / 1e9 }')"
}
check "the last lines tell of the time that the snapshot covers" spans
check "nothing recorded" status 6 bash -c "ulimit -f 100; exec $record --flight -o l.trc $guest exit 6"
check "nothing recorded: one line says so" same "$(wc -l <err)" 1

# ---- no room, no right -------------------------------------------------------------------------

gone()
{
	mkdir there
	"$record" --flight -o there/f.trc --snapshot-every 0s --snapshot-on signal=USR2 -- "$flown" <to >from 2>err &
	recorder=$!
	exec 5>to 6<from
	heard && tell events 10 && rm -r there && kill -s USR2 $recorder &&
		until_ 30 says err 'there/f.1.trc: No such file or directory' >/dev/null || return 1
	tell events 10 && mkdir there && kill -s USR2 $recorder && appears there/f.2.trc || return 1
	trace there/f.2.trc 'count counter 20' && land 0 exit 0 && none there/f.1.trc
	same "$(grep -c 'No such file' err)" 1
}
check "a directory that is gone: one line, nothing else" gone

# A tmpfs of its own, that is full before the smallest ring is made, or before all of it is.
on_tight() # SIZE COMMAND...
{
	rm -f tight.*
	mkdir -p tight
	unshare -m sh -c 'mount -t tmpfs -o size=$0 none tight && cd tight && TRC_RING_DIR=$PWD exec "$@"' \
		"$1" "$record" -q --flight --snapshot-on exit -o "$work/tight.trc" -- "${@:2}" 2>err
}
tight()
{
	on_tight 16k "$guest" exit 5
	same $? 5 && says err 'is not recorded' && says err 'a smaller --max-size' &&
		same "$(grep -c 'no room for the ring' err)" 1 && none tight.1.trc
}
narrow()
{
	on_tight 2M "$guest" events 100000
	same $? 0 && says err 'no room for' && says err 'a smaller --max-size' && same "$(wc -l <err)" 1 &&
		trace tight.1.trc && test "$(dumped 'count counter')" -gt 1000
}
# What the ring will want some day is nothing that the program's start waits for.
at_start()
{
	mkdir -p alone
	bash -c 'export TRC_SESSION_PID=$$ TRC_SESSION=$1 TRC_FLIGHT=1 LD_PRELOAD=$2
		exec du -k "$1"' - "$work/alone" "$top_builddir/.libs/libtrc-preload.so" >used || return 1
	test "$(ls alone/*.ring | wc -l)" = 1 && test "$(tail -n 1 used | cut -f 1)" -lt 1024 || {
		cat used
		return 1
	}
}
check "a program begins when less than 1 MB has been taken" at_start
# But trace-record does that at once.
reserved()
{
	fly && until_ 30 eval 'test "$(du -k "$TRC_RING_DIR" | tail -n 1 | cut -f 1)" -gt 32768' &&
		land 0 exit 0 && ! grep -F "no room" err
}
check "the rest is reserved beside it" reserved
if unshare -m true 2>/dev/null; then
	check "no room in memory: the program runs on, one line says so" tight
	check "no room for all of the ring: it holds what it can, one line says so" narrow
fi

small()
{
	local ring
	fly --snapshot-every 0s --snapshot-on signal=USR2 && tell events 20000 &&
		prlimit --pid $recorder --fsize=4096 && kill -s USR2 $recorder &&
		until_ 30 says err 'f.1.trc: File too large' >/dev/null && tell events 20000 || return 1
	land 137 raise 9 && same "$(ls f.*)" '' || return 1
	ring=$(sed -n 's/.*f.2.trc: File too large; the ring is kept: trace-record --recover \(.*\) -o FILE/\1/p' err)
	test -n "$ring" && "$record" -q --recover "$ring" -o s.trc && trace s.trc 'count counter 40000' &&
		"$record" --clean >cleaned && says cleaned "removed $ring"
}
check "no room: no half a snapshot, and the ring stays when it is the last one" small

cp /bin/true suid && chown 0 suid 2>/dev/null && chmod 4755 suid
setuid()
{
	status 126 setpriv --reuid=65534 --clear-groups "$record" --flight -o "$work/x.trc" "$work/suid" &&
		says err 'it is set-user-ID' && same "$(wc -l <err)" 1
}
if [ "$(id -u)" = 0 ] && setpriv --reuid=65534 --clear-groups "$record" --version >/dev/null 2>&1; then
	check "set-user-ID: refused" setuid
	# A descendant, or the recorded process itself from then on, has another user's rights, and
	# the loader leaves the recorder out: it runs as without.
	setuid_inside()
	{
		local dir text
		dir=$(mktemp -d) && cp "$(command -v id)" "$dir/id" && chmod 4755 "$dir/id" &&
			chmod 1777 "$dir" || return 1
		text=$(setpriv --reuid=65534 --clear-groups sh -c "$1" "$dir/id")
		same "$(TRC_RING_DIR=/dev/shm setpriv --reuid=65534 --clear-groups "$record" -q --flight \
			--snapshot-on exit -o "$dir/s.trc" -- sh -c "$1" "$dir/id" 2>err)" "$text" &&
			same "$(cat err)" "${2:+trace-record: not recorded, as the recorder is not loaded there: $dir/id (set-user-ID)}" &&
			trace "$dir/s.1.trc"
		local status=$?
		rm -rf "$dir"
		return $status
	}
	check "set-user-ID: as a child" setuid_inside '"$0" -u; exit 0'
	check "set-user-ID: by exec" setuid_inside 'exec "$0" -u' named
	others()
	{
		local text
		fly && text=$(setpriv --reuid=65534 --clear-groups "$record" --snapshot "$pid" -o /dev/null 2>&1)
		land 0 exit 0
		same "$text" "trace-record: process $pid: it is another user's"
	}
	check "another user's" others
fi

# ---- procs -------------------------------------------------------------------------------------

procs() # FILE: the values of the procs_change events
{
	sql 'SELECT procs FROM event_procs_change ORDER BY ts_ns' "$1" | tr -d '\r' | xargs
}
# How often trace-record has gone to sleep.
has_slept() { sed -n 's/^voluntary_ctxt_switches:[^0-9]*//p' "/proc/$recorder/status"; }
# looked: it has looked at where the process may run since this was called.  It looks when it wakes up, if the last
# look is a second old.
looked()
{
	local from
	sleep 1.1
	from=$(has_slept)
	until_ 60 eval '[ $(($(has_slept) - from)) -ge 3 ]'
}
changes() # MODE
{
	local all
	all=$(nproc)
	if [ "$1" = flight ]; then
		fly --snapshot-on exit --window 1000s || return 1
	else
		rm -f ./*.trc
		"$record" -q -o f.1.trc -- "$flown" <to >from 2>err &
		recorder=$!
		exec 5>to 6<from
		heard && pid=${answer#pid } || return 1
	fi
	# By itself: told once, although trace-record sees it, too.
	looked && tell use 1 && looked && taskset -p -c 0-$((all - 1)) "$pid" && looked && tell events 1 &&
		land 0 exit 0 || return 1
	same "$(procs f.1.trc)" "1 $all" && sound f.1.trc
}
if [ "$(nproc)" -ge 2 ] && taskset -c 0 true 2>/dev/null; then
	check "a change of affinity is told once: flight" changes flight
	check "a change of affinity is told once: recording" changes recording
fi

check "nothing stays behind" same "$(ls -A "$TRC_RING_DIR")" ''
finish
