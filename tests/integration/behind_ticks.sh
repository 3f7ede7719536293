#!/bin/bash
# Threads that the kernel's tick never finds at work have all their samples by `auto`, at the places where they work:
# those that wait by libc, by system calls of their own, that end soon, and one that never waits.
. "$(dirname "$0")/lib.sh"
need_unsanitized
program=$here/behind_ticks

# used_and_had: "function used_ns value_ns samples largest_ns", of each kind
used_and_had()
{
	sql t.trc "SELECT f.function, total(s.value), count(*), max(s.value)
		FROM samples AS s JOIN (SELECT DISTINCT sf.stack, f.function FROM stack_frames AS sf
			JOIN frames AS f ON f.id = sf.frame WHERE f.function GLOB 'work_*') AS f ON f.stack = s.stack
		GROUP BY 1" >had.tsv
	awk 'NR == FNR { used["work_" $1] += $2; next } { had[$1] = $2; n[$1] = $3; most[$1] = $4 }
		END { for (f in used) printf "%s %.0f %.0f %d %.0f\n", f, used[f], had[f], n[f], most[f] }' used.txt had.tsv
}

lost_ns()
{
	sql t.trc "SELECT coalesce((SELECT sum(lost_samples) FROM samples_lost), 0) * (SELECT max(period) FROM event_sample)"
}

# How late a thread's samples may come: eight ticks and a period until this is seen, at a wait, and the next sample.
late_ns()
{
	echo $((12 * tick_ns + 2 * period_ns))
}

# A sample and its signal take the thread 15 us at most, which no sample stands for.
is_right()
{
	local function used had n most all_ns=0
	while read -r function used had n most; do
		all_ns=$((all_ns + used))
		[ "$had" -ge $((used / 100 * 98 - n * 15000 - 2 * period_ns)) ] && [ "$had" -le $((used / 100 * 102 + 2 * period_ns)) ] ||
			differs "$1: $function has samples for $had ns of $used" || return 1
		[ "$most" -le "$(late_ns)" ] ||
			differs "$1: a sample of $function stands for $most ns" || return 1
	done <told.txt
	[ "$(lost_ns)" -le $((all_ns / 200 + period_ns)) ] ||
		differs "$1: samples of $(lost_ns) ns are lost, of $all_ns" || return 1
	passed "$1: $(tr '\n' ';' <told.txt) $(lost_ns) ns lost"
}

# fair OPTION...: -F HZ first
fair()
{
	period_ns=$((1000000000 / $2))
	runs=0
	while another_run; do
		measure "$trace_record" -q -o t.trc "$@" -- "$program" 1000 libc direct gone busy >used.txt 2>err.txt ||
			fail "$*: $(cat err.txt)"
		used_and_had >told.txt
		[ "$(wc -l <told.txt)" = 4 ] || fail "$*: $(cat told.txt)"
		is_right "$*"
	done
}

tick_ns=$("$here/short_threads" tick)
"$trace_record" -q -o t.trc -F 1000 true 2>err.txt || fail "$(cat err.txt)"
[ "$(sql t.trc 'SELECT name FROM sample_events')" = cpu-clock ] || skip 'no counters here: a timer is all that there is'
fair -F 1000
fair -F 100
# The same while nobody waits by libc, so that no thread looks after another.
runs=0
while another_run; do
	measure "$trace_record" -q -o t.trc -F 1000 -- "$program" 1000 direct direct >used.txt 2>err.txt || fail "$(cat err.txt)"
	period_ns=1000000
	used_and_had >told.txt
	is_right 'direct calls alone'
done
