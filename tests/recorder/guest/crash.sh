#!/bin/bash
# What the recorded process itself does at odd moments: faults and deadly signals end up in the ring,
# with the stack of the thread that got them; conditions ask for snapshots; children leave their
# parent's ring alone; threads that come and go leave nothing behind.
. "$(dirname "$0")/../../integration/lib.sh"
need_unsanitized
program=$top_builddir/tests/recorder/guest/crash_program
ring_trace=$top_builddir/tests/recorder/ring/ring_trace
export TRC_FLIGHT=1 TRC_MAX_SIZE=8M TRC_SESSION=$work/rings

# recorded ARGUMENT...: runs the program; $status is as a shell gives it.  Its ring is then said in
# ring.txt, and lies as a trace in ring.trc.
recorded()
{
	local rings
	rm -rf rings ring.txt ring.trc
	mkdir rings
	status=0
	{ bash -c 'ulimit -s 1024; ulimit -c 0; export TRC_SESSION_PID=$$ LD_PRELOAD=$1; shift; exec "$@"' \
		recorded "$top_builddir/.libs/libtrc-preload.so" "$program" "$@" \
		>out.txt 2>err.txt || status=$?; } 2>/dev/null # a shell tells of such ends
	rings=(rings/*.ring)
	[ ${#rings[@]} = 1 ] || fail "$*: rings: ${rings[*]}"
	"$ring_trace" "${rings[0]}" ring.trc >ring.txt || fail "$*: the ring cannot be read"
	"$trace_analyze" --check ring.trc >check.txt 2>&1 || fail "$*: $(cat check.txt)"
}

# ask QUERY: its answer, columns separated by blanks.
ask()
{
	"$trace_analyze" --sql "$1" --output tsv ring.trc 2>/dev/null | tail -n +2 | tr '\t' ' '
}

# The functions of the stack of the first fatal signal, innermost first.
stack_of_end()
{
	ask 'SELECT coalesce(group_concat(coalesce(function, "?"), " "), "") FROM (SELECT f.function
		FROM event_signal AS e JOIN stack_frames AS s ON s.stack = e.stack
		JOIN frames AS f ON f.id = s.frame WHERE e.fatal = 1 ORDER BY e.ts_ns, s.depth)'
}

# ends NAME STATUS CRASH STACK: the program ends so, and so it is recorded (patterns of bash).
ends()
{
	local crash stack
	recorded "$1"
	[ "$status" = "$2" ] || fail "$1: status $status instead of $2"
	crash=$(head -n 2 ring.txt | tail -n 1)
	# shellcheck disable=SC2053
	[[ $crash == $3 ]] || fail "$1: $crash"
	stack=$(stack_of_end)
	# shellcheck disable=SC2053
	[[ $stack == $4 ]] || fail "$1: stack $stack"
	passed "$1: $crash: ${stack:0:60}"
}

threads='worker start_thread*'
ends write 139 'crash 11 code 1 address 0x10 tid * stack known' "write_nowhere outer $threads"
ends call 139 'crash 11 code 1 address 0x0 tid * stack known' "\? call_nothing outer $threads"
ends jump 139 'crash 11 code 1 address 0x5ead0000beef tid * stack known' \
	"\? jump_nowhere outer $threads"
ends smash 139 'crash 11 code * address * tid * stack known' '*'
ends stack 139 'crash 11 code * address 0x* tid * stack known' 'descend descend descend *'
ends main 139 'crash 11 code * address 0x* tid * stack known' 'descend descend descend *'
ends abort 134 'crash 6 code -6 address 0x0 tid * stack known' "*abort abort_here outer $threads"
ends kill 139 'crash 11 code 0 address 0x0 tid * stack known' '*@(kill_self|end_by) *'
[ "$(uname -m)" != x86_64 ] || ends frame 139 'crash 11 code 128 address 0x0 tid * stack known' '*'
ends two 139 'crash 11 code 1 address 0x10 tid * stack known' 'write_nowhere outer two_at_once *'

ends handled 0 'no crash' ''
[ "$(ask 'SELECT signal, code, address, fatal, count(*) FROM event_signal')" = '11 1 16 0 3' ] ||
	fail "handled: $(ask 'SELECT * FROM event_signal')"
passed 'signals that a handler deals with are recorded'
recorded on_stack
[ "$status" = 0 ] || fail "on_stack: status $status"
passed 'handlers for an alternate stack run where they would'
TRC_MAX_SIZE=64M recorded storm
[ "$status" = 0 ] || fail "storm: status $status"
[ "$(ask 'SELECT count(*) FROM event_signal')" = "$(cat out.txt)" ] ||
	fail "storm: $(ask 'SELECT count(*) FROM event_signal') signals instead of $(cat out.txt)"
passed "each of $(cat out.txt) signals that found threads anywhere is recorded"
TRC_CRASH=off ends write 139 'no crash' ''

# ---- conditions ---------------------------------------------------------------------------
TRC_TRIGGERS='park>1us;park>3600s;park:mutex>10ms;region:slow>1ms;region:slow>3600s;region:inner>1ms;'
TRC_TRIGGERS+='region:none>1us;task:job>1ms;task:job>3600s;signal=USR2;signal=USR1;signal=ALRM;signal=HUP'
export TRC_TRIGGERS
recorded conditions
[ "$status" = 0 ] || fail "conditions: status $status"
told()
{
	grep -cE "^trigger [0-9]+ $1\$" ring.txt
}
for line in 'park:mutex>10ms: mutex 0x[0-9a-f]+, [0-9]+ ms, thread [0-9]+ .conditions.' \
	'region:slow>1ms: task [0-9]+, [0-9]+ [um]s, thread [0-9]+ .conditions.' \
	'region:inner>1ms: task [0-9]+, [0-9]+ [um]s, thread [0-9]+ .conditions.' \
	'task:job>1ms: task [0-9]+, [0-9]+ [um]s, thread [0-9]+ .conditions.' \
	'signal=USR2: from process [0-9]+' 'signal=USR1: from process [0-9]+' \
	'signal=ALRM'; do
	[ "$(told "$line")" = 1 ] || fail "conditions: not once: $line: $(cat ring.txt)"
done
[ "$(told 'park>1us: mutex .*')" -ge 1 ] || fail "conditions: no short park: $(cat ring.txt)"
! grep -E '3600s|none|HUP' ring.txt || fail 'conditions: what was not met'
requests=$(sed -n 's/^triggers //p' ring.txt)
[ "$(ask 'SELECT count(*) FROM event_trigger')" = "$requests" ] ||
	fail "conditions: $requests requests, but other events"
passed "conditions that are met ask once, $requests requests in all"

TRC_TRIGGERS=signal=USR2 recorded triggers
[ "$status" = 0 ] || fail "triggers: status $status"
grep -qx 'triggers 100' ring.txt || fail "triggers: $(cat ring.txt)"
[ "$(sed -n 's/^trigger \([0-9]*\) .*/\1/p' ring.txt | sort -n | tr '\n' ' ')" = \
	"$(seq 85 100 | tr '\n' ' ')" ] || fail "triggers: not the newest: $(cat ring.txt)"
passed 'of more requests than have room the newest are kept'
unset TRC_TRIGGERS

# ---- a program that records itself ----------------------------------------------------------
unset TRC_FLIGHT
export TRC_RING_DIR=$work/own
rm -rf own && mkdir own
{ status=0; (ulimit -c 0; exec "$program" api) || status=$?; } 2>/dev/null
[ "$status" = 139 ] || fail "api: status $status"
"$ring_trace" own/*.ring ring.trc >ring.txt || fail 'api: the ring cannot be read'
grep -qx 'crash 11 code 1 address 0x10 tid .* stack known' ring.txt || fail "api: $(cat ring.txt)"
[[ $(stack_of_end) == 'write_nowhere outer worker by_itself main '* ]] ||
	fail "api: stack $(stack_of_end)"
passed 'between trace_start and trace_stop, too, and not beyond'
export TRC_FLIGHT=1

# ---- children, threads, procs -------------------------------------------------------------
recorded forks
[ "$status" = 0 ] || fail "forks: $(cat out.txt)"
passed 'no child writes to its parent ring'

recorded churn 10000
[ "$status" = 0 ] || fail "churn: status $status"
read -r _ _ kb _ _ maps _ <out.txt
[ "$kb" -lt 1000 ] && [ "$maps" -lt 150 ] || fail "10,000 threads: $(cat out.txt)"
passed "10,000 threads: $(cat out.txt)"

recorded interrupted 5000
[ "$status" = 0 ] || fail "interrupted: status $status"
read -r signals _ _ _ maps _ <out.txt
[ "$signals" = 25000 ] && [ "$maps" -lt 100 ] || fail "5,000 threads: $(cat out.txt)"
grep -qx 'threads without a slot 0' ring.txt || fail "interrupted: $(cat ring.txt)"
passed "5,000 threads, interrupted as they begin and end: $(cat out.txt)"

recorded procs
[ "$(ask 'SELECT group_concat(procs, " ") FROM event_procs_change')" = "1 $(cat out.txt)" ] ||
	fail "procs: $(ask 'SELECT procs FROM event_procs_change')"
passed 'changes of the first thread affinity are recorded'
