# shellcheck shell=bash disable=SC2034
# lib.sh - what the integration tests share; sourced by bash scripts.
#
# A test works in a directory of its own, $work, which is emptied when it begins and kept when it
# fails.  Whatever it starts in the background by `start` is ended when it ends.
#
# SPDX-License-Identifier: Apache-2.0

set -u -o pipefail
: "${top_srcdir:?run through make check}" "${top_builddir:?run through make check}"

name=$(basename "$0" .sh)
work=$top_builddir/tests/integration/$name.dir
here=$top_builddir/tests/integration
trace_record=$top_builddir/recorder/trace-record
trace_analyze=$top_builddir/analyzer/trace-analyze
started=()
checks=0

rm -rf "$work"
mkdir -p "$work"
# What is killed leaves its ring: here, and not beside other processes' rings.
ring_home=/dev/shm
[ -w $ring_home ] || ring_home=/tmp
TRC_RING_DIR=$(mktemp -d "$ring_home/trc-test-XXXXXX") || exit 99
export TRC_RING_DIR
own_rings=$TRC_RING_DIR
cd "$work" || exit 99
trap end_test EXIT
# Otherwise the status of the last command before the signal would be that of the test.
trap 'exit 130' INT
trap 'exit 141' PIPE
trap 'exit 143' TERM

end_test()
{
	local status=$? pid

	# A command in the background that a signal ends before it has begun is still this shell, with its traps.
	[ "$BASHPID" = $$ ] || exit $status
	for pid in "${started[@]}"; do
		kill "$pid" 2>/dev/null && wait "$pid" 2>/dev/null
	done
	rm -rf "$own_rings"
	if [ $status = 0 ]; then
		if [ $checks = 0 ]; then
			echo "$name: checked nothing" >&2
			exit 99
		fi
		cd / && rm -rf "$work"
	fi
	exit $status
}

fail()
{
	echo "$name: $*" >&2
	exit 1
}

skip()
{
	echo "$name: skipped: $*"
	trap - EXIT
	rm -rf "$own_rings"
	exit 77
}

# passed WHAT: a check that held.
passed()
{
	checks=$((checks + 1))
	echo "ok $checks - $*"
}

# expect WHAT COMMAND...: the command has to succeed.
expect()
{
	local what=$1
	shift
	"$@" || fail "$what: failed (status $?): $*"
	passed "$what"
}

need()
{
	local program
	for program; do
		command -v "$program" >/dev/null 2>&1 || skip "$program is not installed"
	done
}

# Preloading a sanitized library into a program that is not sanitized cannot work.
need_unsanitized()
{
	[ "${TRC_SANITIZE:-no}" = no ] || skip "a build with -fsanitize=$TRC_SANITIZE"
}

# The thread sanitizer interposes what libtrc interposes; only one of them can be first.
need_no_thread_sanitizer()
{
	case ${TRC_SANITIZE:-no} in
	*thread*) skip 'the thread sanitizer and libtrc both interpose pthreads' ;;
	esac
}

# start COMMAND...: in the background; its pid is in $pid.
start()
{
	"$@" &
	pid=$!
	started+=("$pid")
}

# finish PID SIGNAL: sends the signal, waits, leaves the status in $status.
finish()
{
	kill "-$2" "$1" || fail "process $1 is gone already"
	status=0
	wait "$1" || status=$?
}

# takes_turn N PARTS: whether the n-th of equal things is in this run's part of so many, as in tests/turns.h.
takes_turn()
{
	[ -z "${CI_SEED:-}" ] || [ "${CI_WHOLE:-no}" = yes ] || [ $((($1 + CI_SEED) % $2)) = 0 ]
}

# until_true SECONDS COMMAND...
until_true()
{
	local tries=$(($1 * 20))
	shift
	until "$@" >/dev/null 2>&1; do
		tries=$((tries - 1))
		[ $tries -gt 0 ] || return 1
		sleep 0.05
	done
}

# ---- figures that are compared with time ------------------------------------------------------
#
# What a hypervisor takes away of the processors counts as some thread's time, or passes for the
# kernel's timers only: what is sampled meanwhile says nothing.  What other programs have of them is time between a
# program's clock and what it measures.  Figures that disagree are a failure if nothing was taken; if something
# was, the run is made again, and if something was in all runs, the test is skipped: it can say nothing here.
#
#	runs=0
#	while another_run; do
#		measure COMMAND...
#		... || differs WHAT
#	done
runs_max=5
runs=0
differed=
stolen=0

# In clock ticks, of the whole machine: what was stolen, what programs had, and all that there was; then what
# this test had, with all that it waited for.  0 where nobody knows.
ticks()
{
	awk '$1 == "cpu" { print $9 + 0, $2 + $3 + $4 + $7 + $8, $2 + $3 + $4 + $5 + $6 + $7 + $8 + $9 }' /proc/stat || echo 0 0 0
	sed 's/.*) //' /proc/$$/stat | awk '{ print $12 + $13 + $14 + $15 }'
}

# The first one, and the next if the last one's figures differ.
another_run()
{
	[ $runs = 0 ] || [ -n "$differed" ] || return 1
	runs=$((runs + 1))
	differed=
	stolen=0
}

# measure COMMAND...: a run, or a part of it; what was stolen meanwhile is added to $stolen, and what other programs
# had, if that was more than a twentieth of all: less may be the clock ticks.
measure()
{
	local before after others status=0
	mapfile -t before < <(ticks | tr ' ' '\n')
	"$@" || status=$?
	sleep 0.05 # it is told at a processor's next tick
	mapfile -t after < <(ticks | tr ' ' '\n')
	others=$((after[1] - before[1] - (after[3] - before[3]) - (after[2] - before[2]) / 20))
	stolen=$((stolen + after[0] - before[0] + (others > 0 ? others : 0)))
	return $status
}

# differs WHAT: of a run; fails, or is false and has it made again.
differs()
{
	[ $stolen -gt 0 ] || fail "$*"
	[ $runs -lt $runs_max ] || skip "$*; time was taken in each of $runs runs"
	differed=$*
	echo "again, for $stolen ticks were taken: $*"
	return 1
}

# judged STATUS WHAT: of a comparison that ends with 0 if figures agree, and with 2 if they are so far off that no other program is to
# blame for that; with anything else they differ.
judged()
{
	[ "$1" != 2 ] || fail "$2"
	[ "$1" = 0 ] || differs "$2"
}

# undecided WHY: the run cannot be judged, which is nobody's fault; false, and it is made again.
undecided()
{
	[ $runs -lt $runs_max ] || skip "$*, in each of $runs runs"
	differed=$*
	echo "again: $*"
	return 1
}

# sql TRACE QUERY: rows, columns separated by tabs, without the header.
sql()
{
	"$trace_analyze" --sql "$2" --output tsv "$1" | tail -n +2
}

# sql_json TRACE FILE QUERY: the same of a query in which JSON stands for the text of a file, which may be longer than an argument.
sql_json()
{
	{
		printf '.output tsv\n%s' "${3%%JSON*}'"
		sed "s/'/''/g" "$2" | tr -d '\n'
		printf '%s;\n' "'${3#*JSON}"
	} | "$trace_analyze" --shell "$1" | tail -n +2
}

# accounted TRACE WHAT: the trace keeps every promise, but for what the events that it lost explain; $lost is their number,
# which is not 0 where rings overflow, as on a busy machine.
accounted()
{
	local counts
	lost=$(sql "$1" "SELECT coalesce(sum(lost_events), 0) FROM gaps WHERE cause <> 'kernel'") || fail "$2: no gaps table"
	[ "$lost" = 0 ] || echo "$2: $lost events are lost"
	"$trace_analyze" --check "$1" >check.txt 2>&1 && return
	counts=$(sed -n 's/.* \([0-9]*\) violations*, \([0-9]*\) of them explained by lost events$/\1 \2/p' check.txt)
	[ -n "$counts" ] && [ "${counts% *}" = "${counts#* }" ] || {
		grep -v '(explained by' check.txt | head -n 40 >&2
		fail "$2 does not pass trace-analyze --check"
	}
	echo "$2: all ${counts% *} violations are explained by lost events"
}

expect_accounted()
{
	local lost
	accounted "$1" "$1"
	passed "$1: trace-analyze --check, $lost events lost"
}

# The same, and it lost nothing; but the kernel's own buffer of switch records may overflow on a
# busy machine, and is only counted.
expect_sound()
{
	local lost
	"$trace_analyze" --check "$1" >check.txt 2>&1 || {
		head -n 40 check.txt >&2
		fail "$1 does not pass trace-analyze --check"
	}
	passed "$1 passes trace-analyze --check"
	lost=$(sql "$1" "SELECT coalesce(sum(lost_events), 0) FROM gaps
		WHERE cause <> 'kernel'") || fail "no gaps table"
	[ "$lost" = 0 ] || fail "$1 lost $lost events"
	passed "$1 lost no event"
}

# expect_sampled TRACE MINIMUM: it has samples for at least that many ms of CPU time, most of them
# with a stack.
expect_sampled()
{
	local row
	row=$(sql "$1" "SELECT count(*), sum(value) / 1000000, count(stack) FROM samples") ||
		fail "no samples table"
	# shellcheck disable=SC2086 # three figures
	set -- "$1" "$2" $row
	[ "$4" -ge "$2" ] || fail "$1: $3 samples for $4 ms"
	[ "$5" -ge $(($3 / 2)) ] || fail "$1: $5 of $3 samples have a stack"
	passed "$1 has $3 samples for $4 ms of CPU time"
}

# Waits per place and reason as the trace has them, in the columns of the truth.
trace_waits='SELECT f.function, p.reason, count(DISTINCT p.id), total(p.duration_ns), 0
	FROM (SELECT DISTINCT s.stack, f.function FROM stack_frames s JOIN frames f ON f.id = s.frame
		WHERE f.function LIKE "site\_%" ESCAPE "\") f
	JOIN parks p ON p.stack = f.stack
	WHERE p.duration_ns >= 500000
	GROUP BY 1, 2'
trace_caused='SELECT f.function, u.reason, count(DISTINCT u.id), total(u.caused_ns), 0
	FROM (SELECT DISTINCT s.stack, f.function FROM stack_frames s JOIN frames f ON f.id = s.frame
		WHERE f.function LIKE "site\_%" ESCAPE "\") f
	JOIN unlocks u ON u.stack = f.stack
	GROUP BY 1, 2'

# compare_truth TRACE TRUTH: every place of the truth, within 5 % and a noise floor: 300 us, and
# 50 us for each wait (the clock is read outside the call, and threads are switched).
compare_truth()
{
	sql "$1" "${trace_waits//\"/\'}" | sed 's/^/wait\t/' >trace.tsv || return 1
	sql "$1" "${trace_caused//\"/\'}" | sed 's/^/caused\t/' >>trace.tsv || return 1
	awk -F '\t' -v OFS='\t' '
		function off(a, b) { return a > b ? a - b : b - a }
		NR == FNR { count[$1, $2, $3] = $4; total[$1, $2, $3] = $5; next }
		{
			key = $1 SUBSEP $2 SUBSEP $3
			floor_ns = 300000 + 50000 * $4
			verdict = "ok"
			if (!(key in count))
				verdict = "MISSING"
			else if (count[key] != $4)
				verdict = "COUNT"
			else if (off(total[key], $5) > 0.05 * $5 + floor_ns)
				verdict = "TIME"
			if (verdict != "ok")
				bad++
			printf "%-8s %-7s %-26s %-13s %4d of %4d  %10.3f of %10.3f ms\n", verdict,
				$1, $2, $3, count[key], $4, total[key] / 1e6, $5 / 1e6
		}
		END { exit bad || !FNR }' trace.tsv "$2"
}
