#!/bin/sh
# tabs.sh - records programs, and compares the tabs below the timelines of their pages with what SQL says of the same
# traces (tabs.mjs).
set -eu
work=$top_builddir/tests/viewer/browser
pages=$work/tabs
demo=$top_builddir/docs/examples/trc-demo

. "$top_srcdir/tests/viewer/browser_setup.sh"
recording_setup

# page NAME: of NAME.trc; the analyzer warns of one that was cut off.
page()
{
	"$analyze" --html "$pages/$1.html" "$pages/$1.trc" 2>"$pages/err"
}

# recorded NAME OPTION... -- COMMAND...
recorded()
{
	name=$1
	shift
	"$record" -o "$pages/$name.trc" "$@" >"$pages/out" 2>"$pages/err" || {
		echo "exit status $?: $*"
		cat "$pages/err"
		exit 1
	}
	page "$name"
}

recorded demo -- "$demo"
"$analyze" --window 0.5s..0.7s --html "$pages/part.html" "$pages/demo.trc"
recorded bare --no-sched -- "$demo"
recorded locks --locks=all -- "$demo"
recorded busy -- "$top_builddir/tests/viewer/busy_program"
recorded fibers -- "$top_builddir/docs/examples/fibers"
recorded plain --no-sched -- true
size=$(wc -c <"$pages/demo.trc")
head -c $((size * 2 / 3)) "$pages/demo.trc" >"$pages/cut.trc"
page cut
# assembled NAME FILE
assembled()
{
	"$top_builddir/trc-assemble" "$2" "$pages/$1.trc"
	page "$1"
}

# hang NAME OPTION...: a program whose threads wait for each other, which is killed then.
hang()
{
	name=$1 tries=0
	shift
	rm -f "$pages/ready"
	"$record" -o "$pages/$name.trc" "$@" -- "$top_builddir/tests/integration/deadlock" two "$pages/ready" 2>"$pages/err" &
	recorder=$!
	until [ -s "$pages/ready" ]; do
		tries=$((tries + 1))
		if [ $tries -ge 1200 ]; then
			kill $recorder
			cat "$pages/err"
			exit 1
		fi
		sleep 0.1
	done
	kill -KILL "$(cat "$pages/ready")"
	wait $recorder 2>"$pages/err" || true # it ends as the program does, which the signal ended
	page "$name"
}

hang hang
hang hang_all --locks=all
snapshot_of_demo snapshot
page snapshot
assembled hostile "$top_srcdir/tests/viewer/hostile.txt"
assembled deadlock "$top_srcdir/tests/viewer/deadlock.txt"
# Two threads in a circle; behind the first wait three more, one of which has a thread behind it, and behind the second two.
seq 8 | sed 's/.*/thread & tid=70& name="worker &"/' >"$pages/ring.txt"
cat >>"$pages/ring.txt" <<'END'
@1000 thread=1 acquire reason=mutex object=0x7f000000a000
@1100 thread=2 acquire reason=mutex object=0x7f000000b000
@1200 thread=3 acquire reason=mutex object=0x7f000000c000
@2000 thread=1 park reason=mutex object=0x7f000000b000 holder=2
@2100 thread=2 park reason=mutex object=0x7f000000a000 holder=1
@2200 thread=3 park reason=mutex object=0x7f000000a000 holder=1
@2300 thread=4 park reason=mutex object=0x7f000000a000 holder=1
@2400 thread=5 park reason=mutex object=0x7f000000a000 holder=1
@2500 thread=6 park reason=mutex object=0x7f000000c000 holder=3
@2600 thread=7 park reason=mutex object=0x7f000000b000 holder=2
@2700 thread=8 park reason=mutex object=0x7f000000b000 holder=2
END
assembled ring "$pages/ring.txt"
# 300 threads that wait for one, the last longest.
awk 'BEGIN {
	for (i = 1; i <= 301; i++)
		printf "thread %d tid=%d name=\"pool %d\"\n", i, 600 + i, i
	print "@1000 thread=1 acquire reason=mutex object=0x7f000000a000"
	for (i = 301; i >= 2; i--)
		printf "@%d thread=%d park reason=mutex object=0x7f000000a000 holder=1\n", 1000 + 10 * (303 - i), i
}' >"$pages/crowd.txt"
assembled crowd "$pages/crowd.txt"
# Locks that two threads take in both orders, three in a circle, one that waits for the end of another; and a pair in one order.
cat >"$pages/order.txt" <<'END'
stack s1 0x401000 0x402000
stack s2 0x403000 0x402000
stack s3 0x404000
thread 1 tid=601 name="main"
thread 2 tid=602 name="one" creator=1
thread 3 tid=603 name="other" creator=1
END
awk 'function nest(thread, outer, inner, kind, from, to) {
	printf "@%d thread=%d acquire reason=%s object=%s stack=%s\n", t++, thread, kind, outer, from
	printf "@%d thread=%d acquire reason=%s object=%s stack=%s\n", t++, thread, kind, inner, to
	printf "@%d thread=%d release reason=%s object=%s\n", t++, thread, kind, inner
	printf "@%d thread=%d release reason=%s object=%s\n", t++, thread, kind, outer
}
BEGIN {
	t = 1000
	nest(2, "0x7f000000a000", "0x7f000000b000", "mutex", "s1", "s2")
	nest(1, "0x7f000000a000", "0x7f000000b000", "mutex", "s3", "s1")
	nest(3, "0x7f000000b000", "0x7f000000a000", "mutex", "s2", "s1")
	nest(1, "0x7f0000001000", "0x7f0000002000", "rwlock_write", "s1", "s2")
	nest(2, "0x7f0000002000", "0x7f0000003000", "rwlock_write", "s2", "s3")
	nest(3, "0x7f0000003000", "0x7f0000001000", "rwlock_write", "s3", "s1")
	nest(2, "0x7f0000004000", "0x7f0000005000", "spin", "s1", "s2")
	printf "@%d thread=2 acquire reason=mutex object=0x7f000000c000 stack=s1\n", t++
	printf "@%d thread=2 release reason=mutex object=0x7f000000c000\n", t++
	printf "@%d thread=1 acquire reason=mutex object=0x7f000000c000 stack=s3\n", t++
	printf "@%d thread=1 park reason=join object=1000 holder=2 stack=s2\n", t++
	printf "@%d thread=1 resume reason=join object=1000\n", t++
}' >>"$pages/order.txt"
assembled order "$pages/order.txt"
# Requests of 1 to 1.9 ms, and one of 90 ms.
awk 'BEGIN {
	print "thread 1 tid=601 name=\"server\""
	for (i = 0; i <= 10; i++) {
		printf "@%d thread=1 task_begin task=%d type=\"request\"\n", i * 2000000, i + 1
		printf "@%d thread=1 task_end task=%d\n", i * 2000000 + (i < 10 ? 1000000 + i * 100000 : 90000000), i + 1
	}
}' >"$pages/apart.txt"
assembled apart "$pages/apart.txt"
"$top_builddir/tests/viewer/make-page" -c -t 8 -n 120000 "$pages/many.html"
"$top_builddir/tests/viewer/make-page" -t 8 -i 3 -n 4000 "$pages/idle.html"
browse "$work/tabs.mjs" "$analyze" "$pages"
