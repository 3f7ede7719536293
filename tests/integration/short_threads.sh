#!/bin/bash
# Threads that live for less than the time between two samples have the share of samples that their
# own clocks say, by all ways; and where the kernel samples and threads take no first samples
# themselves, the report begins with what it did not see.
. "$top_srcdir/tests/integration/lib.sh"
need_unsanitized
program=$here/short_threads
tick_ns=$("$program" tick)

# samples TRACE: "short_ms long_ms rows" of the samples in the program's two functions.
samples()
{
	"$trace_analyze" --output tsv --sql "SELECT sum(s.value * (f.function = 'work_short')) / 1e6,
		sum(s.value * (f.function = 'work_long')) / 1e6, count(*)
		FROM samples AS s JOIN (SELECT DISTINCT sf.stack, f.function FROM stack_frames AS sf
			JOIN frames AS f ON f.id = sf.frame
			WHERE f.function IN ('work_short', 'work_long')) AS f ON f.stack = s.stack" "$1" \
		2>err.txt | tail -n +2
}

# share WHAT OPTION... [-- FILES]: within four standard errors, by the number of samples, and half a point for
# what starting a thread takes before its sampling begins.  Timers find what runs when the kernel ticks: of what began
# late for other programs had the processors they may have found all or nothing.
share()
{
	local by_ticks=0 options=("${@:2}") limits=()
	[ "$2" != -e ] || by_ticks=1
	if [ $# -gt 3 ] && [ "${*: -2:1}" = -- ]; then
		by_ticks=1
		limits=("${*: -1}")
		options=("${@:2:$#-3}")
	fi
	"$trace_record" -q -o short.trc "${options[@]}" -- "$program" 3000 300 "${limits[@]}" >said.txt 2>err.txt ||
		fail "$1: $(cat err.txt)"
	samples short.trc >had.txt
	awk -v what="$1" -v by_ticks=$by_ticks 'NR == FNR {
			truth = $2 / ($2 + $4)
			least = by_ticks ? ($2 - $6) / ($2 + $4 - $6) : truth
			most = by_ticks ? $2 / ($2 + $4 - $7) : truth
			next
		}
		{
			had = $1 / ($1 + $2)
			error = sqrt(truth * (1 - truth) / $3)
			room = 4 * error + 0.005
			off = had < least ? had - least : had > most ? had - most : 0
			print off / error >>"errors.txt"
			printf "%s: %.1f %% of the time (%.1f to %.1f), %.1f %% of %d samples, room %.1f points\n",
				what, 100 * truth, 100 * least, 100 * most, 100 * had, $3, 100 * room
			exit $3 < 60 || off > room || off < -room
		}' said.txt had.txt >told.txt || fail "$(cat said.txt had.txt told.txt)"
	passed "$(cat told.txt)"
}

# together: all of them in the same direction is no chance, where each alone may be: the sum of n standard
# errors has one of the root of n.
together()
{
	awk '{ sum += $1 } END {
		printf "together: %.1f standard errors off, room 4\n", sum / sqrt(NR)
		exit NR < 6 || sum * sum > 16 * NR }' errors.txt >told.txt || fail "$(cat errors.txt told.txt)"
	passed "$(cat told.txt)"
}

rm -f errors.txt
share '1,000 a second by signals' -F 1000 --sample-by signal
share '1,000 a second, as is best here' -F 1000
share '100 a second, as is best here' -F 100
share 'a timer, once a tick' -e "timer:$tick_ns"
share 'a timer, every third tick' -e "timer:$((3 * tick_ns))"
share 'a timer, more often than there are ticks' -e "timer:$((tick_ns * 3 / 10))"
by_kernel=1
"$trace_record" -q -F 1000 --sample-by kernel -o kernel.trc -- true 2>err.txt || by_kernel=0
if [ $by_kernel = 1 ]; then
	share '1,000 a second by the kernel' -F 1000 --sample-by kernel
	share '100 a second by the kernel' -F 100 --sample-by kernel
	share '2,500 a second by the kernel' -F 2500 --sample-by kernel
	# One descriptor, which the thread has that creates the others.
	for rate in 1000 100; do
		share "$rate a second by the kernel, without descriptors" -F $rate --sample-by kernel -- 5
	done
fi
together

if [ $by_kernel = 1 ]; then
	"$trace_record" -q -F 1000 --sample-by kernel -o execs.trc -- "$program" execs 100 >said.txt 2>err.txt ||
		fail "execs that fail: $(cat err.txt)"
	seen=$(sql execs.trc 'SELECT round(sum(value) / 1e6) FROM samples')
	awk -v seen="$seen" '{ exit !(seen > 0.9 * $1 && seen < 1.1 * $1) }' said.txt ||
		fail "execs that fail: $seen ms of $(cat said.txt)"
	passed "a thread goes on as it was sampled when its exec has failed: $seen ms of $(cat said.txt)"

	# Neither descriptors nor timers: the kernel's samples stand for all, but for half a period of each thread.
	"$trace_record" -q -F 1000 --sample-by kernel -o limited.trc -- "$program" 150 5500 5 0 >said.txt 2>err.txt ||
		fail "without descriptors and timers: $(cat err.txt)"
	samples limited.trc >had.txt
	awk 'NR == FNR { own = $2; next } { exit !($1 > 0.8 * own && $1 < 1.1 * own) }' said.txt had.txt ||
		fail "without descriptors and timers: $(cat said.txt had.txt)"
	passed "threads that can take no first samples have the kernel's: $(cut -f 1 had.txt) ms of $(cat said.txt)"

	"$trace_record" -q -F 1000 --sample-by kernel -o refused.trc -- "$here/../recorder/tool/no_perf" 1 \
		"$program" 300 300 >said.txt 2>err.txt || fail "where counters are refused: $(cat err.txt)"
	[ "$(sql refused.trc 'SELECT count(*) FROM threads')" -gt 300 ] ||
		fail "where counters are refused: not recorded: $(cat err.txt)"
	passed 'where a filter refuses counters the process is recorded all the same'

	export TRC_FIRST_SAMPLES=kernel
	"$trace_record" -q -F 1000 --sample-by kernel -o kernel.trc -- "$program" 500 300 >said.txt 2>err.txt ||
		fail "by the kernel alone: $(cat err.txt)"
	"$trace_analyze" kernel.trc >report.txt 2>&1
	head -5 report.txt | grep -q 'of the CPU time was not seen: threads ran for less than a period' ||
		[ "$("$trace_analyze" --output tsv --sql "SELECT 2 * sum(value) >
			(SELECT sum(lost_samples) * 1000000 FROM samples_lost) FROM samples" \
			kernel.trc 2>err.txt | tail -1)" = 1 ] ||
		fail "by the kernel alone: $(head -5 report.txt)"
	passed 'by the kernel alone: what it did not see is told first'
fi
