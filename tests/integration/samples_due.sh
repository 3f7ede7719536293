#!/bin/bash
# No sample that was due is dropped without being counted: what there are and what is told as lost
# stand together for the CPU time that a program has used.
. "$(dirname "$0")/lib.sh"
need_unsanitized
program=$top_builddir/tests/integration/samples_due

# sampled WHAT OPTION...: into $used_ns, $came and $lost, in periods; false if it cannot be
sampled()
{
	local what=$1
	shift
	rm -f t.trc
	measure "$trace_record" -q -o t.trc "$@" "$program" "$what" >used.txt 2>err.txt || return 1
	used_ns=$(cat used.txt)
	read -r came lost < <(sql t.trc "SELECT (SELECT count(*) FROM samples),
		(SELECT coalesce(sum(lost_samples), 0) FROM samples_lost)")
}

# adds_up WHAT PERIOD_NS: within 7 per cent
adds_up()
{
	local due=$((used_ns / $2)) all=$((came + lost))
	[ $all -ge $((due * 93 / 100)) ] && [ $all -le $((due * 107 / 100 + 2)) ] ||
		differs "$1: $came samples and $lost lost instead of $due" || return 1
	passed "$1: $came samples and $lost lost; $due were due"
}

lost_by()
{
	sql t.trc "SELECT coalesce(sum(lost_samples), 0) FROM samples_lost WHERE cause = '$1'"
}

by_signals()
{
	local options=(-e cpu-clock -F "$1" --sample-by signal) period=$((1000000000 / $1)) runs=0
	while another_run; do
		sampled blocked "${options[@]}" || return 1
		adds_up "blocked half of the time, $1 Hz" $period || continue
		[ "$(lost_by busy)" -gt $((used_ns / period / 3)) ] ||
			differs "blocked half of the time, $1 Hz: only $(lost_by busy) lost by it"
	done
	runs=0
	while another_run; do
		sampled open "${options[@]}" || return 1
		adds_up "never blocked, $1 Hz" $period || continue
		[ "$(lost_by busy)" -le $((used_ns / period / 50)) ] ||
			differs "never blocked, $1 Hz: $(lost_by busy) lost by it"
	done
}

by_the_kernel()
{
	local options=(-e cpu-clock -F 1000 --sample-by kernel) runs=0
	while another_run; do
		sampled threads "${options[@]}" || return 1
		adds_up 'short threads, by the kernel' 1000000 || continue
		[ "$(lost_by short)" -gt 0 ] || differs 'short threads, by the kernel: none told as short'
	done
	runs=0
	while another_run; do
		sampled open "${options[@]}" || return 1
		adds_up 'one thread, by the kernel' 1000000 || continue
		[ "$(lost_by short)" = 0 ] || differs "one thread: $(lost_by short) told as short"
	done
}

if by_signals 1000; then
	by_signals 10000
else
	echo "no signals of counters here: $(cat err.txt)"
fi
by_the_kernel || echo "no samples by the kernel here: $(cat err.txt)"
[ $checks -gt 0 ] || skip 'no counters here'
