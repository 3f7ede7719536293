#!/bin/bash
# self_test.sh - trace-record --self-test: what a machine can, and what is taken from it.
name=self_test
. "$(dirname "$0")/lib.sh"

# verdict WORD WHAT: the last run's line on this begins so.
verdict()
{
	grep -qE "^$1 +$2 " out || {
		echo "not $1: $2"
		cat out err
		return 1
	}
}

no_traces_left()
{
	[ -z "$(ls -A "$TMPDIR" "$TRC_RING_DIR" | grep -v ':$' | grep .)" ]
}

mkdir -p tmp
export TMPDIR=$work/tmp

# ---- a machine that runs this test can record ----------------------------------------------

check 'it can record' status 0 "$record" --self-test
for what in room clock events waits stacks switches samples counters; do
	check "a line on $what" verdict '(ok|limited)' $what
done
check 'all waits' verdict ok waits
check 'with their stacks' verdict ok stacks
check 'the last line' same "$(tail -n 1 out)" 'this machine can record'
check 'nothing is left' no_traces_left

# ---- what is missing -----------------------------------------------------------------------

check 'without rseq' status 0 env GLIBC_TUNABLES=glibc.pthread.rseq=0 "$record" --self-test
check 'the slow path' verdict limited events
check 'all waits there, too' verdict ok waits

check 'without unwinding' status 1 "$record" --self-test --unwind none
check 'no stack' verdict FAILED stacks

check 'elsewhere' status 0 env TRC_RING_DIR="$work" "$record" --self-test
[ "$(stat -f -c %T "$work")" = tmpfs ] || check 'not on tmpfs' verdict limited room

"$here/no_perf" 1 true
if [ $? != 77 ]; then
	check 'without perf' status 0 "$here/no_perf" 1 "$record" --self-test
	check 'no switches' verdict limited switches
	level=$(cat /proc/sys/kernel/perf_event_paranoid)
	if [ "$level" -le 2 ] || [ "$(id -u)" = 0 ]; then
		check 'a filter is not told as the paranoid setting' verdict limited \
			'switches +the kernel does not say when threads run: perf_event_open: Operation not permitted \(a seccomp filter,'
	fi
	check 'timers instead' verdict '(ok|limited)' samples
	check 'no counters' verdict limited counters
fi

check 'another clock' status 0 env TRC_CLOCK=monotonic "$record" --self-test
check 'it was asked for' grep -q '^limited  clock .*TRC_CLOCK' out

if "$here/no_perf" --getrusage 1 true; then
	check 'a kernel that does not count waits' status 0 "$here/no_perf" --getrusage 1 "$record" --self-test
	check 'the program tells waits by their length' verdict ok waits
fi

# A waiter that has no processor before it sleeps is waited for: else the lock is free by then, and the trace had a wait more
# than the kernel.  One processor for both threads, beside a loop that has half of it.
one=$(taskset -cp $$ 2>/dev/null | sed -n 's/.*: \([0-9]*\).*/\1/p')
if [ -n "$one" ]; then
	timeout 300 taskset -c "$one" sh -c 'while :; do :; done' &
	busy=$!
	check 'on a processor that another program has as well' status 0 taskset -c "$one" "$record" --self-test
	check 'all waits are the kernel'"'"'s, too' grep -q '^[a-z]* *waits *20 waits .*; the program counted 20 and ' out
	kill $busy
	wait $busy 2>/dev/null
fi

# ---- what cannot be ------------------------------------------------------------------------

check 'no place for rings' status 1 env TRC_RING_DIR="$work/none" "$record" --self-test
check 'said so' verdict FAILED room
check 'no recorder' status 1 env TRC_PRELOAD="$work/none.so" "$record" --self-test
check 'said so, too' verdict FAILED waits
check 'the last line then' same "$(tail -n 1 out)" 'this machine cannot record as it should'
check 'no place for a trace' status 1 env TMPDIR="$work/none" "$record" --self-test
check 'nobody can read it' status 1 bash -c '"$0" --self-test >/dev/full' "$record"
check 'no command with it' status 125 "$record" --self-test ls
check 'no options with it' status 125 "$record" --self-test -F 99
check 'no descendants, either' status 125 "$record" --self-test --follow
check 'no stack to run on' status 125 bash -c 'ulimit -s 96; "$0" --self-test' "$record"
check 'in one line' grep -q 'a stack of 160 KiB is needed, and 96 KiB are allowed' err
if unshare -m true 2>/dev/null; then
	check 'rings without room' status 1 unshare -m sh -c 'mount -t tmpfs -o size=64k tmpfs "$TRC_RING_DIR"
		"$0" --self-test' "$record"
	check 'no waits' verdict FAILED waits
	check 'no stacks of them' verdict FAILED stacks
	check 'no room for a ring' status 1 unshare -m sh -c 'mount -t tmpfs -o size=8k tmpfs "$TRC_RING_DIR"
		"$0" --self-test' "$record"
	check 'then there is no trace' verdict FAILED 'waits +the program was not recorded: the line on standard error'
	check 'and that line' grep -q 'is not recorded: .*no room for the ring' err
fi
check 'nothing is left of all that' no_traces_left

finish
