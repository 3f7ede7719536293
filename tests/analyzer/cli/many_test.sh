#!/bin/bash
# many_test.sh - one report over several traces: its index, its findings, and what it leaves out.
#
# SPDX-License-Identifier: Apache-2.0
set -u
: "${top_srcdir:?}" "${top_builddir:?}"

analyze=$(cd "$top_builddir" && pwd)/analyzer/trace-analyze
assemble=$(cd "$top_builddir" && pwd)/trc-assemble
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
failed=0
cd "$dir" || exit 2

fail()
{
	printf 'FAIL: %s\n' "$*"
	failed=1
}

# same WHAT WANTED: stdout is that, but for the sizes of files
same()
{
	sed 's/ in [0-9.]* k\{0,1\}B,/ in SIZE,/' out >got
	printf '%s\n' "$2" | cmp -s - got || fail "$1"$'\n'"wanted: $2"$'\n'"got: $(cat got)"
}

# run STATUS ARGUMENT...: into out and err
run()
{
	local wanted=$1 status
	shift
	"$analyze" "$@" >out 2>err
	status=$?
	[ "$status" -eq "$wanted" ] || fail "$*: exit status $status: $(cat err)"
}

# A process of one second, in which worker waited so long for a mutex.
# trace FILE PID COMMAND MILLISECONDS [LINES]
trace()
{
	"$assemble" - "$1" <<END || fail "$1 is not assembled"
sync ticks=0 realtime=1700000000000000000
info command "$3"
info pid "$2"
thread 1 tid=$2 name="main"
${5:-}
thread 2 tid=9 name="worker"
stack get 0x10
@0 thread=1 counter name="n" value=1
@${4}000000 thread=2 wait reason=mutex object=0x7f10 since=0 stack=get
@1000000000 thread=1 counter name="n" value=2
END
}

trace dump.11.trc 11 '/usr/bin/small --once' 20
trace dump.12.trc 12 '/usr/sbin/large -c x.conf' 800
trace other.trc 13 'third' 5
trace least.trc 14 'least' 0

# A file that is given twice counts once.
run 0 dump.11.trc dump.12.trc
cp out once
run 0 dump.11.trc dump.12.trc ./dump.11.trc
cmp -s out once || fail "a trace that is given twice: $(cat out)"
grep -q 'dump.11.trc: the same file as dump.11.trc' err || fail "not told: $(cat err)"

run 0 dump.11.trc dump.12.trc other.trc least.trc
same 'what cost most is first' '4 traces: 8 threads, 12 events in SIZE, none lost
      pid     ended    lasted  threads for locks  command
       12              1.00 s        2    800 ms  large -c x.conf
            1 thread waited 800 ms for mutex 0x7f10 at 0xf, 80.0% of its time
       11              1.00 s        2   20.0 ms  small --once
            1 thread waited 20.0 ms for mutex 0x7f10 at 0xf, 2.0% of its time
       13              1.00 s        2   5.00 ms  third, in other.trc
                                     2            in 1 more

Findings
  large (12): 1 thread waited 800 ms for mutex 0x7f10 at 0xf, 80.0% of its time
    helps: hold the lock for less time, or split what it guards
  small (11): 1 thread waited 20.0 ms for mutex 0x7f10 at 0xf, 2.0% of its time
    helps: hold the lock for less time, or split what it guards

next: least (14): no wait explains 2.00 s, 200.0% of one proc'\''s time, and so 3 more; trace-record -F 1000 samples where
one of them: trace-analyze dump.12.trc'

run 0 --summary dump.11.trc dump.12.trc other.trc least.trc
same 'the summary is shorter' '4 traces: 8 threads, 12 events in SIZE, none lost
      pid     ended    lasted  threads for locks  command
       12              1.00 s        2    800 ms  large -c x.conf
       11              1.00 s        2   20.0 ms  small --once
       13              1.00 s        2   5.00 ms  third, in other.trc
                                     2            in 1 more
  large (12): 1 thread waited 800 ms for mutex 0x7f10 at 0xf, 80.0% of its time
  small (11): 1 thread waited 20.0 ms for mutex 0x7f10 at 0xf, 2.0% of its time
one of them: trace-analyze dump.12.trc'

# What tells which of them to open: how it ended, what it waited for, its tasks, what is missing.  One that failed is told,
# however little it did.
trace ends.31.trc 31 '/bin/died' 0 'info ended "killed by signal 11 (SIGSEGV)"'
trace ends.32.trc 32 '/bin/failed' 0 'info ended "exit 3"'
trace ends.33.trc 33 '/bin/lives' 0 'info ended "still running"'
trace ends.34.trc 34 '/bin/odd' 0 'info ended "exit status not known"'
"$assemble" - ends.35.trc <<END || fail 'a trace with tasks is not assembled'
sync ticks=0 realtime=1700000000000000000
info command "/bin/serves"
info pid "35"
info ended "exit 0"
thread 1 tid=35 name="main"
thread 2 tid=36 name="worker"
stack wait 0x20
@0 thread=2 task_begin task=7 type="request"
@1000000 thread=2 task_end task=7
@1000000 thread=2 task_begin task=8 type="request"
@10000000 thread=2 wait reason=mutex object=0x7f10 since=5000000
@15000000 thread=2 gap lost_events=5 since=12000000 cause=ring_full
@200000000 thread=1 park reason=cond object=0x7f20 stack=wait
@700000000 thread=1 resume reason=cond object=0x7f20
@900000000 thread=2 task_end task=8
END
run 0 ends.3?.trc
grep -qx ' *31   SIGSEGV .*  died' out || fail "killed: $(cat out)"
grep -qx ' *32    exit 3 .*  failed' out || fail "failed: $(cat out)"
grep -qx ' *35    exit 0 .*  serves' out || fail "ended well: $(cat out)"
grep -q ' in 2 more$' out || fail "those that did nothing: $(cat out)"
grep -qx '            5 events lost; 2 tasks request, p99 899 ms; most waiting 500 ms for cond 0x7f20 at 0x1f' out ||
	fail "what the columns do not say: $(cat out)"
run 0 ends.33.trc ends.34.trc
grep -qx ' *33   running .*  lives' out || fail "still running: $(cat out)"
grep -qx ' *34    *1.00 s .*  odd' out || fail "not known: $(cat out)"
# No line is wider than a terminal of 100 columns but for the command.
run 0 ends.3?.trc
awk 'NR == 2 && length($0) > 80 { exit 1 }' out || fail "the columns are too wide: $(sed -n 2p out)"

# The same for programs.
run 1 --json ends.3?.trc missing.trc
if command -v python3 >/dev/null; then
	python3 - <<'END' >got 2>&1 || fail "--json: $(cat got)"
import json
j = json.load(open('out'))
row = {r['pid']: r for r in j['traces']}
assert j['unread'] == 1, j['unread']
assert sorted(row) == ['31', '32', '33', '34', '35'], row
r = row['35']
assert (r['ended'], r['lost_events'], r['incomplete'], r['threads']) == ('exit 0', 5, None, 2), r
assert (r['task_type'], r['tasks'], r['task_p99_ns']) == ('request', 2, 899000000), r
assert (r['wait_kind'], r['wait_for'], r['wait_place'], r['waits'], r['waited_ns']) == ('cond', 'cond 0x7f20', '0x1f', 1, 500000000), r
assert (r['locks_ns'], r['files_ns'], r['lasted_ns'], r['path']) == (5000000, 0, 900000000, 'ends.35.trc'), r
assert row['31']['ended'] == 'killed by signal 11 (SIGSEGV)' and row['31']['task_type'] is None, row['31']
assert [(f['path'], f['kind'], f['severity']) for f in j['findings']] == [('ends.31.trc', 'crash', 'alarm')], j['findings']
END
fi

# Each class of time has a column, where a trace has any.  What costs counts, and what may be idle does not.
# busy FILE PID COMMAND MILLISECONDS: worker runs for 100 ms, waits so long to run, then in turn for a mutex, a condition,
# a file and a time, 100 ms each
busy()
{
	local to=$((100 + $4))
	"$assemble" - "$1" <<END || fail "$1 is not assembled"
sync ticks=0 realtime=1700000000000000000
info command "$3"
info pid "$2"
info sched "yes"
thread 1 tid=8 name="main"
thread 2 tid=9 name="worker"
stack get 0x10
@0 proc=2 source=kernel thread=2 proc_start
@100000000 proc=2 source=kernel thread=2 proc_stop preempted=1
@${to}000000 proc=2 source=kernel thread=2 proc_start
@${to}000000 thread=2 park reason=mutex object=0x7f10 stack=get
@$((to + 100))000000 thread=2 resume reason=mutex object=0x7f10
@$((to + 100))000000 thread=2 park reason=cond object=0x7f20 stack=get
@$((to + 200))000000 thread=2 resume reason=cond object=0x7f20
@$((to + 300))000000 thread=2 wait reason=fsync object=5 since=$((to + 200))000000 stack=get
@$((to + 300))000000 thread=2 park reason=sleep stack=get
@$((to + 400))000000 thread=2 resume reason=sleep
@$((to + 500))000000 proc=2 source=kernel thread=2 proc_stop preempted=0
END
}
busy busy.51.trc 51 '/bin/short' 50
busy busy.52.trc 52 '/bin/long' 300
run 0 busy.5?.trc
sed -n 2p out | grep -qx ' *pid *ended *lasted *threads *CPU time *to run *for locks *others *for files *outside  command' ||
	fail "all columns: $(sed -n 2p out)"
[ "$(grep -cE '  (short|long)' out)" -ge 2 ] || fail "rows: $(cat out)"
[[ $(sed -n 3p out) == *' 300 ms '*' 100 ms '*' 100 ms '*' 100 ms '*' 100 ms  long' ]] || fail "what waited longer to run is first: $(cat out)"
grep -q '1 other finding$' out || fail "how many findings a trace has: $(cat out)"
run 0 --json busy.5?.trc
if command -v python3 >/dev/null; then
	python3 - <<'END' >got 2>&1 || fail "--json: $(cat got)"
import json
j = json.load(open('out'))
r = j['traces'][0]
assert r['pid'] == '52' and r['to_run_ns'] == 300000000, r
assert [r[k] for k in ('locks_ns', 'others_ns', 'files_ns', 'outside_ns')] == [100000000] * 4, r
assert r['findings'] >= 2 and r['worst'], r
assert r['cpu_ns'] > 0, r
END
fi
run 0 --json dump.11.trc dump.12.trc
grep -q '"cpu_ns":null,"to_run_ns":null,' out || fail "without switch records it is not known: $(cat out)"
# A terminal leaves the command ten columns: what may be idle goes first, and CPU time stays.
if command -v script >/dev/null; then
	columns()
	{
		script -qec "stty cols $1; '$analyze' busy.51.trc busy.52.trc" /dev/null </dev/null | tr -d '\r' | sed -n 2p |
			sed 's/\x1b\[[0-9;]*m//g'
	}
	[[ $(columns 100) == *'CPU time    to run for locks    others for files  command' ]] || fail "100 columns: $(columns 100)"
	[[ $(columns 80) =~ threads\ *CPU\ time\ *to\ run\ *for\ (locks|files)\ *command ]] || fail "80 columns: $(columns 80)"
fi

# What cannot be read is told in the first line and on stderr, and changes the exit status.
head -c 30 dump.11.trc >short.trc
run 1 dump.12.trc short.trc missing.trc
head -1 out | grep -q '^1 trace of 3, 2 cannot be read: ' || fail "unread: $(head -1 out)"
grep -q '^trace-analyze: missing.trc: No such file or directory$' err || fail "missing: $(cat err)"
grep -q '^trace-analyze: short.trc: ' err || fail "short: $(cat err)"
[ "$(wc -l <err)" -eq 2 ] || fail "a line for each: $(cat err)"
run 1 missing.trc missing.trc
[ ! -s out ] || fail "none can be read: $(cat out)"

# A trace that was cut off is not whole.
head -c "$(($(stat -c %s dump.12.trc) / 2))" dump.12.trc >cut.trc
run 0 dump.11.trc cut.trc
head -1 out | grep -q 'of 1 the end is missing' || fail "cut: $(head -1 out)"
grep -q '^            the end is missing' out || fail "which one is cut: $(cat out)"
run 0 --json dump.11.trc cut.trc
grep -q '"path":"cut.trc".*"incomplete":"[^"]*cut' out || fail "cut, for programs: $(cat out)"

# At most fifteen lines, however many; the rest is summed, and nothing of it is lost.
many=
for i in $(seq 50); do
	trace "many.$((100 + i)).trc" $((100 + i)) "prog$i" "$((100 + i))"
	many="$many many.$((100 + i)).trc"
done
# shellcheck disable=SC2086
run 0 --summary $many
[ "$(wc -l <out)" -le 15 ] || fail "a summary of $(wc -l <out) lines"
grep -q ' in 44 more$' out || fail "the rest: $(cat out)"
# shellcheck disable=SC2086
run 0 $many
grep -q '^ *20 *1.05 s *in 10 more$' out || fail "the rest: $(grep 'more' out)"
[ "$(grep -c '^  prog' out)" -eq 7 ] || fail "findings: $(grep '^  prog' out)"
grep -q '^  prog50 (150): ' out || fail 'the most harmful is not first'

# What to record next time: of the one that lacks it most, and how many others do.
# lacking FILE PID COMMAND MILLISECONDS EVENT [INFO]: a process that does not wait for so long
lacking()
{
	"$assemble" - "$1" <<END || fail "$1 is not assembled"
sync ticks=0 realtime=1700000000000000000
info command "$3"
info pid "$2"
info ring_bytes "4194304"
${6:-}
thread 1 tid=$2 name="main"
@0 thread=1 counter name="n" value=1
@10 $5
@${4}000000 thread=1 park reason=sleep
@1000000000 thread=1 resume reason=sleep
END
}
next()
{
	grep '^next: ' out | sed 's/^next: //'
}
lacking lack.1.trc 21 '/bin/one' 600 'gap lost_events=100000 since=1 cause=ring_full'
lacking lack.2.trc 22 '/bin/two' 900 'gap lost_events=200000 since=1 cause=ring_full'
lacking lack.3.trc 23 '/bin/three' 100 'thread=1 process what=1 value=99'
lacking lack.4.trc 24 '/bin/four' 100 'thread=1 process what=1 value=98' 'info options "--follow"'
run 0 lack.1.trc lack.2.trc lack.3.trc lack.4.trc
wanted='two (22): events were lost, and so 1 more; with --ring-size 16M instead of 4M the rings would have held them
two (22): no wait explains 900 ms, 90.0% of one proc'\''s time, and so 1 more; trace-record -F 1000 samples where
1 process was forked by programs that were recorded one by one; trace-record --follow records descendants'
[ "$(next)" = "$wanted" ] || fail "hints: $(next)"
run 0 --summary lack.1.trc lack.2.trc lack.3.trc lack.4.trc
[ "$(next)" = "$(head -n 1 <<<"$wanted")" ] || fail "hints of a summary: $(next)"
run 0 lack.1.trc lack.4.trc
[ "$(next | wc -l)" = 2 ] && ! next | grep -q 'and so' || fail "hints of one: $(next)"
lacking lack.5.trc 25 '/bin/five' 100 'thread=1 counter name="n" value=2'
run 0 lack.4.trc lack.5.trc
[ -z "$(next)" ] || fail "no hints: $(next)"

# Names from a trace may be anything.
trace evil.1.trc 1 $'x\033[31m' 500
run 0 evil.1.trc dump.11.trc
! grep -q $'\033' out || fail 'a control character'

for verb in --shell '--sql x' '--html x' '--pprof block' --check '--db x' '--why longest'; do
	# shellcheck disable=SC2086
	run 2 $verb dump.11.trc dump.12.trc
	[ "$(cat err)" = "trace-analyze: ${verb% *} takes one trace at a time, not 2" ] ||
		fail "$verb: $(cat err)"
done
run 0 --label-filter tenant=acme dump.11.trc dump.12.trc
grep -q '^from here on only what was done under tenant=acme$' out || fail "the filter is not told: $(head -3 out)"

exit $failed
