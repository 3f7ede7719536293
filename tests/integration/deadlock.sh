#!/bin/bash
# deadlock.sh - programs that hang: the trace says who waits for whom, for which locks, and where;
# and programs that crash.
#
# SPDX-License-Identifier: Apache-2.0
. "$top_srcdir/tests/integration/lib.sh"
need_unsanitized

ulimit -c 0
program=$here/deadlock
export TRC_RING_DIR=$work/rings
mkdir -p -m 700 "$TRC_RING_DIR"

# hang HOW [OPTION...]: recorded with these options until it hangs; then its pid is in $hung, and
# that of trace-record in $pid.
hang()
{
	local how=$1
	shift
	rm -f ready
	start "$trace_record" -o "$how.trc" "$@" -- "$program" "$how" ready 2>"$how.err"
	until_true 120 test -s ready || fail "$how: does not hang: $(cat "$how.err")"
	hung=$(cat ready)
}

# killed HOW: ends the program and waits for its trace.
killed()
{
	kill -KILL "$hung" || fail "$1: is not there any more"
	wait "$pid"
	[ -s "$1.trc" ] || fail "$1: no trace: $(cat "$1.err")"
}

# cycle TRACE: the rows of deadlocks, one a line: the cycle in its order, from the name that comes
# first; then those behind it, by name.
cycle()
{
	sql "$1" "SELECT d.role, t.name, d.reason, h.name,
			CASE WHEN d.certain THEN 'certain' ELSE 'perhaps' END
		FROM deadlocks AS d JOIN threads AS t ON t.id = d.thread
		JOIN threads AS h ON h.id = d.holder ORDER BY d.rowid" | tr '\t' ' ' >rows.txt || return 1
	awk '$1 == "cycle" { row[n++] = $0; if (n == 1 || $2 < least) { least = $2; first = n - 1 } }
		END { for (i = 0; i < n; i++) print row[(first + i) % n] }' rows.txt
	sort rows.txt | sed -n '/^blocked/p'
}

# expect_cycle WHAT TRACE LINE...
expect_cycle()
{
	local what=$1 trace=$2 got wanted
	shift 2
	wanted=$(printf '%s\n' "$@")
	got=$(cycle "$trace") || fail "$what: no answer"
	[ "$got" = "$wanted" ] || fail "$what: got
$got
not
$wanted"
	passed "$what"
}

# expect_line WHAT FILE PATTERN: a line of the file is like this.
expect_line()
{
	grep -q -- "$3" "$2" || fail "$1: no line like '$3' in:
$(head -n 40 "$2")"
	passed "$1"
}

two=('cycle alice mutex bob certain' 'cycle bob mutex alice certain'
	'blocked carol mutex alice certain' 'blocked deadlock join alice certain')

hang two
killed two
expect_cycle 'two threads, one behind them, and main that joins one' two.trc "${two[@]}"
expect_line 'the closing summary says so' two.err '^DEADLOCK: 2 threads wait for each other'
"$trace_analyze" two.trc >two.txt || fail 'no report'
expect_line 'the report says so' two.txt '^DEADLOCK: 2 threads wait for each other'
expect_line 'who wants which lock' two.txt \
	'^  alice ([0-9]*) has waited .* for mutex lock_b, held by bob ([0-9]*)$'
expect_line 'where' two.txt '^            take deadlock.c:[0-9]*$'
expect_line 'and from where' two.txt '^            a_then_b deadlock.c:[0-9]*$'
expect_line 'who holds which' two.txt '^      holds mutex lock_a, for which 2 threads wait'
expect_line 'where it took that was not recorded' two.txt '^            where it was taken was not recorded$'
expect 'what helps, as a finding' test 1 = "$(sql two.trc "SELECT remedy GLOB
	'take locks in the same order everywhere: * the last to wait, would take mutex lock_* before mutex lock_*'
	FROM findings WHERE kind = 'deadlock'")"
expect_line 'who is behind' two.txt '^  blocked by it: carol '
expect_line 'and what every thread is at' two.txt '^Threads now  when the trace ends: 4 waiting'
expect_sound two.trc

# only_three: the process has three threads.
only_three()
{
	[ "$(ls "/proc/$hung/task" | wc -l)" -eq 3 ]
}

hang leave
until_true 120 only_three || fail 'leave: the thread does not end'
sleep 0.3 # an end counts when it is older than the last functions of a thread may take
killed leave
said='ABANDONED LOCK: 2 threads wait for mutex lock_a, which alice ([0-9]*) held when it ended, '
expect_line 'a lock whose holder has ended, in the closing summary' leave.err "^$said"
"$trace_analyze" leave.trc >leave.txt || fail 'leave: no report'
expect_line 'in the report' leave.txt '^  ABANDONED LOCK: 2 threads wait for mutex lock_a, which'
[ "$(sql leave.trc "SELECT sentence GLOB 'ABANDONED LOCK*lock_a*at take deadlock.c:*'
	FROM findings WHERE kind = 'abandoned_lock' AND severity = 'alarm'")" = 1 ] ||
	fail "leave: $(sql leave.trc 'SELECT kind, sentence FROM findings')"
passed 'in SQL, once'
[ "$(sql leave.trc "SELECT count(*) FROM findings WHERE kind GLOB 'lock*'")" = 0 ] ||
	fail 'leave: told as a lock, too'
expect_sound leave.trc

hang three -q
killed three
expect_cycle 'three threads, in their order' three.trc 'cycle alice mutex bob certain' \
	'cycle bob mutex carol certain' 'cycle carol mutex alice certain' \
	'blocked deadlock join alice certain'

hang rwlock -q
killed rwlock
expect_cycle 'a rwlock and a mutex' rwlock.trc 'cycle bob rwlock_read writer certain' \
	'cycle writer mutex bob certain' 'blocked deadlock join writer certain'

hang self -q
killed self
expect_cycle 'a mutex locked twice' self.trc 'cycle alice mutex alice certain' \
	'blocked deadlock join alice certain'
expect 'no order of locks helps it' test 'release the lock before the thread takes it again, or make it recursive' = \
	"$(sql self.trc "SELECT remedy FROM findings WHERE kind = 'deadlock'")"

hang join -q
killed join
expect_cycle 'main joins, as soon as it is created, a thread that wants what main holds' join.trc \
	'cycle alice mutex deadlock certain' 'cycle deadlock join alice certain'
names=$(sql join.trc "SELECT name, count(*) FROM threads GROUP BY name" | tr '\t\n' '  ')
[ "$names" = 'alice 1 bob 1 crowd 1500 deadlock 1 helper 5000 ' ] ||
	fail "not every thread has the name that its creator gave it: $names"
passed 'threads have the names that their creators gave them'
# Also those whose thread lost its processor before it could say who it is.
expect 'joins say who was joined' test 0 = "$(sql join.trc "SELECT count(*) FROM parks
	WHERE reason = 'join' AND holder_thread IS NULL")"

hang readers -q --locks=all
killed readers
expect_cycle 'a writer that waits for a reader, with --locks=all' readers.trc \
	'cycle bob rwlock_write reader certain' 'cycle reader mutex bob certain' \
	'blocked deadlock join reader certain'
"$trace_analyze" readers.trc >readers.txt || fail 'no report'
expect_line 'where each lock was taken' readers.txt '^            taken at .*read_then_a'

hang none -q
killed none
expect_cycle 'who waits for a thread that only sleeps is in no deadlock' none.trc ''
[ "$(sql none.trc "SELECT h.name, l.waiters FROM locks_held AS l JOIN threads AS h
	ON h.id = l.thread" | tr '\t' ' ')" = 'alice 2' ] || fail 'alice holds lock_a for two'
passed 'and who holds the lock is known'

# In flight mode, from outside: while it hangs, while it is stopped, after its end.
hang two -q --flight --window 1s
ring=$(ls "$TRC_RING_DIR"/*/*.ring)
"$trace_record" --snapshot "$hung" -o live.trc || fail 'no snapshot'
expect_cycle 'a snapshot of the hanging process' live.trc "${two[@]}"
expect_sound live.trc
kill -STOP "$hung"
"$trace_analyze" --sql 'SELECT count(*) FROM deadlocks' --output tsv "$ring" >ring.tsv ||
	fail 'no answer of a ring'
kill -CONT "$hung"
[ "$(tail -n 1 ring.tsv)" = 4 ] || fail "of the ring itself: $(cat ring.tsv)"
passed 'trace-analyze reads the ring of a stopped process'
cp -p "$ring" kept.ring
kill -KILL "$hung"
wait "$pid"
expect_cycle 'the snapshot of its end' two.1.trc "${two[@]}"
"$trace_analyze" kept.ring >ring.txt || fail 'no report of a ring'
expect_line 'trace-analyze reads a ring that is left' ring.txt '^DEADLOCK: 2 threads'

# A real crash: the signal in words, the address, and the stack of the thread that got it.
rm -f ready
"$trace_record" -q -o segv.trc -- "$program" segv ready 2>segv.err
[ $? = 139 ] || fail "segv: another status: $(cat segv.err)"
"$trace_analyze" segv.trc >segv.txt || fail 'no report'
expect_line 'how it ended' segv.txt '^How it ended  killed by signal 11 (SIGSEGV)$'
expect_line 'in words' segv.txt \
	'^  faulty ([0-9]*) at .*: SIGSEGV, SEGV_MAPERR: address not mapped (0x40)$'
expect_line 'the instruction' segv.txt '^            touch deadlock.c:[0-9]*$'
expect_line 'and its callers' segv.txt '^            crash deadlock.c:[0-9]*$'
expect_line 'the thread first' segv.txt '^  faulty ([0-9]*) *not in a recorded wait  got SIGSEGV'
line=$(grep -n '[*]address = 1' "$top_srcdir/tests/integration/deadlock.c" | cut -d : -f 1)
expect_line 'the very line' segv.txt "^            touch deadlock.c:$line\$"
expect_sound segv.trc

rm -f ready
"$trace_record" -q -o abort.trc -- "$program" abort ready 2>abort.err
[ $? = 134 ] || fail "abort: another status: $(cat abort.err)"
"$trace_analyze" abort.trc >abort.txt || fail 'no report'
expect_line 'abort()' abort.txt \
	'^  faulty ([0-9]*) at .*: SIGABRT, SI_TKILL: sent by abort(), raise() or tgkill()$'
expect_line 'from where' abort.txt '^            fail_an_assertion deadlock.c:[0-9]*$'

# Rings that are none.
# refused WHAT FILE: one line, and the status of a failure.
refused()
{
	"$trace_analyze" "$2" >out.txt 2>err.txt && fail "$1: was read"
	[ "$(wc -l <err.txt)" = 1 ] && grep -q "^trace-analyze: $2: ." err.txt && [ ! -s out.txt ] ||
		fail "$1: $(cat err.txt out.txt)"
	passed "$1: $(cat err.txt)"
}
head -c 5000 kept.ring >short.ring
chmod 600 short.ring
refused 'a ring that is cut short' short.ring
printf 'TRCRING\0' >magic.ring
chmod 600 magic.ring
refused 'nothing but a magic' magic.ring
cp kept.ring version.ring
printf '\377' | dd of=version.ring bs=1 seek=8 conv=notrunc 2>/dev/null
refused 'a ring of another version' version.ring
cp kept.ring zeros.ring
dd if=/dev/zero of=zeros.ring bs=1 seek=40 count=400 conv=notrunc 2>/dev/null
refused 'a header without its numbers' zeros.ring
