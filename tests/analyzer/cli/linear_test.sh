#!/bin/bash
# linear_test.sh - what trace-analyze takes of many threads, locks and tasks grows as they do: of four times as many no more than nine
# times the processor time.  What grew by the square would take sixteen times as long.
#
# SPDX-License-Identifier: Apache-2.0
set -u
: "${top_srcdir:?}" "${top_builddir:?}"

[ "${TRC_SANITIZE:-no}" = no ] || {
	echo "linear_test: skipped: a build with -fsanitize=$TRC_SANITIZE"
	exit 77
}
analyze=$(cd "$top_builddir" && pwd)/analyzer/trace-analyze
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
. "$top_srcdir/tests/bench/measured.sh"
failed=0

# took FILE ARGUMENT...: hundredths of a second; 10 at least, since below that the clock's ticks and the program's start count
took()
{
	local file=$1 got
	shift
	got=$(measured "$dir/run" "$analyze" "$@" "$file") || {
		printf 'FAIL: trace-analyze %s: %s\n' "$*" "$(tail -n 2 "$dir/run.err")" >&2
		echo 0
		return
	}
	awk '{ t = $1 * 100; print int(t < 10 ? 10 : t) }' <<<"$got"
}

# grows WHAT ARGUMENT...: the least of each of three runs counts, for other programs make some take longer
grows()
{
	local what=$1 small=1000000 large=1000000 now
	shift
	for _ in 1 2 3; do
		now=$(took "$dir/small.trc" "$@")
		[ "$now" -ge "$small" ] || small=$now
		now=$(took "$dir/large.trc" "$@")
		[ "$now" -ge "$large" ] || large=$now
		[ "$large" -gt $((9 * small)) ] || break
	done
	printf '%s, %s: %s and %s hundredths of a second\n' "$what" "$1" "$small" "$large"
	[ "$small" -gt 0 ] && [ "$large" -gt 0 ] && [ "$large" -le $((9 * small)) ] || {
		printf 'FAIL: %s: %s\n' "$what" "$*"
		failed=1
	}
}

# takes_turn N: whether this run has the n-th of the three kinds of traces, as in tests/turns.h.
takes_turn()
{
	[ -z "${CI_SEED:-}" ] || [ "${CI_WHOLE:-no}" = yes ] || [ $((($1 + CI_SEED) % 3)) = 0 ]
}

# traces EVENTS THREADS LOCKS TASKS: and one of a fourth of them in small.trc.  TASKS are those of 100 steps.
traces()
{
	"$top_builddir/tests/bench/gen_trace" "$dir/small.trc" $(($1 / 4)) "$5" "$6" "$4" >/dev/null &&
		"$top_builddir/tests/bench/gen_trace" "$dir/large.trc" "$1" "$2" "$3" "$4" >/dev/null || exit 2
}

if takes_turn 0; then
	traces 400000 5000 1875 8 1250 468
	grows '5,000 threads' --report
	grows '5,000 threads' --json
	grows '5,000 threads' --check
	grows '5,000 threads' --what-if 'lock 0x7f0000001000 * 0.5'
	grows '5,000 threads' --without-sql --html "$dir/page.html"
fi
if takes_turn 1; then
	traces 1200000 32 100000 8 32 25000
	grows '100,000 locks' --report
	grows '100,000 locks' --sql 'SELECT count(*), sum(waits) FROM locks'
	grows '100,000 locks' --sql 'SELECT count(*) FROM causes'
fi
if takes_turn 2; then
	traces 4200000 32 12 58 32 12
	tasks=$("$analyze" --sql 'SELECT count(*) >= 1000000 FROM tasks' --output tsv "$dir/large.trc" | tail -n 1)
	[ "$tasks" = 1 ] || {
		printf 'FAIL: these are less than a million tasks\n'
		failed=1
	}
	grows 'a million tasks' --report
	grows 'a million tasks' --sql 'SELECT count(*) FROM task_times'
fi

# Who holds what, and who waits for whom: so many threads wait to write to one lock that as many read, and twice as many wait two by
# two for locks of each other.  There are as many deadlocks as pairs, and each reader has all writers waiting.
n=500
awk -v n=$n 'BEGIN {
	for (i = 1; i <= 4 * n; i++)
		printf "thread %d tid=%d\n", i, 1000 + i
	for (i = 1; i <= n; i++)
		printf "@%d thread=%d acquire reason=rwlock_read object=0x10\n", i, i
	for (i = 1; i <= 2 * n; i++)
		printf "@%d thread=%d acquire reason=mutex object=%d\n", n + i, 2 * n + i, 4096 * (100 + i)
	for (i = 1; i <= n; i++)
		printf "@%d thread=%d park reason=rwlock_write object=0x10\n", 4 * n + i, n + i
	for (i = 1; i <= 2 * n; i++)
		printf "@%d thread=%d park reason=mutex object=%d holder=%d\n", 6 * n + i, 2 * n + i, \
			4096 * (100 + (i % 2 ? i + 1 : i - 1)), 2 * n + (i % 2 ? i + 1 : i - 1)
	printf "@%d thread=1 counter name=\"n\" value=1\n", 9 * n
}' | "$top_builddir/trc-assemble" - "$dir/stuck.trc" || exit 2
rows=$("$analyze" --sql 'SELECT (SELECT count(*) FROM deadlocks), (SELECT max(deadlock) FROM deadlocks), (SELECT sum(waiters) FROM locks_held)' \
	--output csv "$dir/stuck.trc" | tail -n 1)
[ "$rows" = "$((2 * n)),$n,$((2 * n + n * n))" ] || {
	printf 'FAIL: deadlocks and waiters: %s\n' "$rows"
	failed=1
}

# Each of so many threads waits at one lock until all before it have had it and slept with it: millions of causes, and what a finding says
# is of all of these waits.
n=2000
awk -v n=$n 'BEGIN {
	for (i = 1; i <= n; i++)
		printf "thread %d tid=%d\n", i, 1000 + i
	print "stack a 0x300 0x200 0x1f"
	for (i = 2; i <= n; i++)
		printf "@%d thread=%d park reason=mutex object=0x10 holder=1 stack=a\n", 1000 + i, i
	for (i = 1; i < n; i++) {
		printf "@%d thread=%d park reason=sleep stack=a\n", 10000 * i, i
		printf "@%d thread=%d resume reason=sleep\n", 10000 * i + 9000, i
		printf "@%d thread=%d unlock reason=mutex object=0x10 waiters=1 stack=a\n", 10000 * i + 9010, i
		printf "@%d thread=%d resume reason=mutex object=0x10\n", 10000 * i + 9020, i + 1
	}
}' | "$top_builddir/trc-assemble" - "$dir/queue.trc" || exit 2
said=$("$analyze" --sql "SELECT why FROM findings WHERE kind = 'lock_blocking'" --output tsv "$dir/queue.trc" | tail -n 1)
[[ $said == 'for '*'held the lock and slept'* ]] || {
	printf 'FAIL: a finding of %s waits says: %s\n' $((n - 1)) "$said"
	failed=1
}

exit $failed
