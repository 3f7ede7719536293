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
# trace FILE PID COMMAND MILLISECONDS
trace()
{
	"$assemble" - "$1" <<END || fail "$1 is not assembled"
sync ticks=0 realtime=1700000000000000000
info command "$3"
info pid "$2"
thread 1 tid=$2 name="main"
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
      pid    lasted  threads  CPU time for locks for files  command
       12    1.00 s        2              800 ms            large -c x.conf
            1 thread waited 800 ms for mutex 0x7f10 at 0xf, 80.0% of its time
       11    1.00 s        2             20.0 ms            small --once
            1 thread waited 20.0 ms for mutex 0x7f10 at 0xf, 2.0% of its time
       13    1.00 s        2             5.00 ms            third, in other.trc
                           2                                in 1 more

Findings
  large (12): 1 thread waited 800 ms for mutex 0x7f10 at 0xf, 80.0% of its time
    helps: hold the lock for less time, or split what it guards
  small (11): 1 thread waited 20.0 ms for mutex 0x7f10 at 0xf, 2.0% of its time
    helps: hold the lock for less time, or split what it guards

next: least (14): no wait explains 2.00 s, 200.0% of one proc'\''s time, and so 3 more; trace-record -F 1000 samples where
one of them: trace-analyze dump.12.trc'

run 0 --summary dump.11.trc dump.12.trc other.trc least.trc
same 'the summary is shorter' '4 traces: 8 threads, 12 events in SIZE, none lost
      pid    lasted  threads  CPU time for locks for files  command
       12    1.00 s        2              800 ms            large -c x.conf
       11    1.00 s        2             20.0 ms            small --once
       13    1.00 s        2             5.00 ms            third, in other.trc
                           2                                in 1 more
  large (12): 1 thread waited 800 ms for mutex 0x7f10 at 0xf, 80.0% of its time
  small (11): 1 thread waited 20.0 ms for mutex 0x7f10 at 0xf, 2.0% of its time
one of them: trace-analyze dump.12.trc'

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

for verb in --json --shell '--sql x' '--html x' '--pprof block' --check '--db x' '--why longest'; do
	# shellcheck disable=SC2086
	run 2 $verb dump.11.trc dump.12.trc
	[ "$(cat err)" = "trace-analyze: ${verb% *} takes one trace at a time, not 2" ] ||
		fail "$verb: $(cat err)"
done
run 0 --label-filter tenant=acme dump.11.trc dump.12.trc
grep -q '^from here on only what was done under tenant=acme$' out || fail "the filter is not told: $(head -3 out)"

exit $failed
