#!/bin/bash
# accuracy/run.sh - how near profiles come to what is known beforehand; `make accuracy` runs it.
#
#   run.sh [PROGRAM...]     programs: concurrent, serial (default: both)
#
# ACCURACY_RUNS=10, ACCURACY_RATES='100 1000 10000' (samples a second of CPU time), and
# ACCURACY_SWEEPS=10 (how often the serial program goes from A to J), and
# ACCURACY_ENGINES, of: auto, timer, EVENT/signal, EVENT/kernel (ours), gperftools, perf/EVENT.  Each run
# goes through all engines and rates in turn, so that what else the machine does concerns all
# of them; it begins with the program alone (engine "none"), whose own clocks tell what the machine
# itself made of equal work.  What was counted is left as accuracy.tsv in the build directory;
# score.awk says what becomes of it.  The exit status only says whether everything could be measured.
#
# SPDX-License-Identifier: Apache-2.0
set -u -o pipefail
: "${top_srcdir:?run through make accuracy}" "${top_builddir:?run through make accuracy}"

programs=$top_builddir/tests/bench/accuracy
trace_record=$top_builddir/recorder/trace-record
trace_analyze=$top_builddir/analyzer/trace-analyze
results=$top_builddir/accuracy.tsv
runs=${ACCURACY_RUNS:-10}
sweeps=${ACCURACY_SWEEPS:-10}
rates=${ACCURACY_RATES:-100 1000 10000}
engines=${ACCURACY_ENGINES:-auto timer cpu-clock/signal cpu-clock/kernel cycles/signal cycles/kernel
	gperftools perf/cpu-clock perf/cycles}
work=$(mktemp -d "${TRC_BENCH_DIR:-/dev/shm}/trc-accuracy-XXXXXX")
status=0
trap 'rm -rf "$work"' EXIT

say()
{
	printf '%s\n' "$*"
}

trouble()
{
	say "could not measure: $*"
	status=1
}

functions_of()
{
	case $1 in
	concurrent) say f1 f2 f3 f4 f5 f6 f7 f8 f9 f10 ;;
	serial) say A B C D E F G H I J ;;
	esac
}

# expect PROGRAM: rows of function, its share in per cent
expect()
{
	functions_of "$1" | tr ' ' '\n' | awk -v program="$1" '{
		printf "%s\t%.6f\n", $1, program == "serial" ? NR / 55 * 100 : 10 }'
}

# Thousands of rounds that make the program take so many milliseconds of CPU time.
rounds_for()
{
	local program=$1 ms=$2 i
	for i in 1 2 3; do
		"$programs/$program" 4000 | awk '{ ns += $2 } END { print ns }'
	done | sort -n | awk -v ms="$ms" 'NR == 2 { printf "%d\n", 4000 * ms * 1e6 / $1 + 1 }'
}

# The period that makes so many samples a second, where nothing takes frequencies: of cycles.
cycles_period()
{
	awk -v rate="$1" -F : '/^cpu MHz/ { mhz = $2 } END {
		printf "%d\n", (mhz ? mhz : 1000) * 1e6 / rate }' /proc/cpuinfo
}

# Whether an engine goes to a rate at all; says why if not.
reaches()
{
	case $1 in
	timer | gperftools)
		[ "$2" -le 1000 ] || {
			say "timers of CPU time tick with the kernel's HZ"
			return 1
		}
		;;
	esac
}

# command_line PROGRAM ROUNDS
command_line()
{
	say "$programs/$1 $2$([ "$1" != serial ] || printf ' %d' "$sweeps")"
}

# Each of the following: PROGRAM ROUNDS EVENT RATE.  It runs the program, whose own clock readings
# go to $work/clock, and prints rows of function (- is any other), weight, samples.

with_trc()
{
	local program=$1 rounds=$2 event=${3%/*} by=auto how=()
	[ "$event" = "$3" ] || by=${3#*/}
	case $event in
	cycles) how=(-e "cycles:$(cycles_period "$4")") ;;
	*) how=(-e "$event" -F "$4") ;;
	esac
	"$trace_record" -q "${how[@]}" --sample-by "$by" -o "$work/run.trc" -- \
		$(command_line "$program" "$rounds") >"$work/clock" || return 1
	"$trace_analyze" --output tsv --sql "
		SELECT coalesce(known.function, '-'), sum(s.value), count(*)
		FROM event_sample AS s LEFT JOIN (
			SELECT f.stack, frames.function, min(f.depth)
			FROM stack_frames AS f JOIN frames ON frames.id = f.frame
			WHERE frames.function IN ('$(functions_of "$program" | sed "s/ /','/g")')
			GROUP BY f.stack) AS known ON known.stack = s.stack
		GROUP BY 1" "$work/run.trc" | tail -n +2
}

with_gperftools()
{
	rm -f "$work/run.prof"
	env LD_PRELOAD=libprofiler.so.0 CPUPROFILE="$work/run.prof" CPUPROFILE_FREQUENCY="$4" \
		$(command_line "$1" "$2") >"$work/clock" 2>"$work/run.err" || return 1
	google-pprof --text "$programs/$1" "$work/run.prof" 2>>"$work/run.err" |
		awk -v known="$(functions_of "$1")" '
			BEGIN { n = split(known, name, " "); for (i = 1; i <= n; i++) is[name[i]] }
			/^Total:/ { next }
			$1 > 0 { print ($NF in is ? $NF : "-") "\t" $1 "\t" $1 }'
}

# The innermost of the known functions: a sample from within an interrupt belongs to it, too.
with_perf()
{
	local how=(-F "$4")
	[ "$3" != cycles ] || how=(-c "$(cycles_period "$4")")
	perf record -q -g -e "$3" "${how[@]}" -o "$work/run.data" -- \
		$(command_line "$1" "$2") >"$work/clock" 2>"$work/run.err" || return 1
	perf script -i "$work/run.data" -F period,ip,sym 2>>"$work/run.err" |
		awk -v known="$(functions_of "$1")" '
			BEGIN { n = split(known, name, " "); for (i = 1; i <= n; i++) is[name[i]] }
			function done()
			{
				if (period)
					print (found ? found : "-") "\t" period "\t" 1
				found = ""
				period = 0
			}
			!NF { done(); next }
			NF == 1 && !period { period = $1; next }
			!found && $2 in is { found = $2 }
			END { done() }'
}

# The program alone: its own clocks stand for a profile.
with_nothing()
{
	$(command_line "$1" "$2") >"$work/clock" && sed 's/$/\t0/' "$work/clock"
}

# with ENGINE PROGRAM ROUNDS RATE
with()
{
	case $1 in
	none) with_nothing "$2" "$3" ;;
	gperftools) with_gperftools "$2" "$3" - "$4" ;;
	perf/*) with_perf "$2" "$3" "${1#perf/}" "$4" ;;
	*) with_trc "$2" "$3" "$1" "$4" ;;
	esac
}

# Why an engine cannot be used here, in a line; nothing if it can.
why_not()
{
	case $1 in
	gperftools)
		command -v google-pprof >/dev/null ||
			say 'not installed (packages libgoogle-perftools4, google-perftools)'
		;;
	perf/*)
		if ! command -v perf >/dev/null; then
			say 'not installed (package linux-perf)'
		elif ! perf_has "${1#perf/}"; then
			no_pmu "${1#perf/}" 'perf does not support it here'
		fi
		;;
	*)
		with_trc serial 1000 "$1" 1000 >/dev/null 2>"$work/try.err" ||
			no_pmu "${1%/*}" "$(head -n 1 "$work/try.err")"
		;;
	esac
}

# perf record takes cpu-clock for cycles where it has to, and perf stat does not.
perf_has()
{
	perf stat -x, -e "$1" -- true 2>&1 >/dev/null | awk -F, '$1 ~ /^[0-9.]+$/ { n++ } END { exit !n }'
}

# no_pmu EVENT REASON: the reason, or a shorter one
no_pmu()
{
	if [ "$1" = cycles ] && ! perf_has cycles; then
		say 'no PMU here'
	else
		say "$2"
	fi
}

# one_run PROGRAM ROUNDS ENGINE RATE RUN: adds its rows to $results
one_run()
{
	with "$3" "$1" "$2" "$4" >"$work/shares" && [ -s "$work/clock" ] || {
		trouble "$1, $3 at $4 Hz, run $5"
		return
	}
	{
		awk '{ print "clock\t" $0 "\t0" }' "$work/clock"
		awk '{ print "share\t" $0 }' "$work/shares"
	} | awk -v OFS='\t' -v head="$1	$3	$4	$5" '{ print head, $0 }' >>"$results"
}

# usable_engines: those of $engines that work here; rows of the others go to $work/skipped
usable_engines()
{
	local engine reason
	: >"$work/skipped"
	for engine in $engines; do
		reason=$(why_not "$engine")
		if [ -z "$reason" ]; then
			say "$engine"
		else
			printf '%s\t%s\n' "$engine" "$reason" >>"$work/skipped"
		fi
	done
}

# measure PROGRAM MILLISECONDS
measure()
{
	local program=$1 rounds usable engine rate run
	rounds=$(rounds_for "$program" "$2")
	usable=$(usable_engines)
	for ((run = 1; run <= runs; run++)); do
		one_run "$program" "$rounds" none 0 "$run"
		for rate in $rates; do
			for engine in $usable; do
				reaches "$engine" "$rate" >/dev/null || continue
				one_run "$program" "$rounds" "$engine" "$rate" "$run"
			done
		done
	done
	expect "$program" >"$work/expect"
	awk -v program="$program" -f "$top_srcdir/tests/bench/accuracy/score.awk" \
		"$work/expect" "$work/skipped" "$results"
}

: >"$results"
say "$(nproc) processors: $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1); $(uname -sr); load $(cut -d ' ' -f 1 /proc/loadavg); $runs runs"
[ $# -gt 0 ] || set -- concurrent serial
for program; do
	say
	case $program in
	concurrent)
		say '-- concurrent: ten equal functions on ten threads, 10 % each; 5 s of CPU time'
		measure concurrent 5000
		;;
	serial)
		say "-- serial: A to J one after the other, 1.82 % to 18.18 %, in $sweeps sweeps; 3 s of CPU time"
		measure serial 3000
		;;
	*) trouble "no such program: $program" ;;
	esac
done
exit $status
