#!/bin/bash
# No sample that was due is dropped without being counted: what there are and what is told as lost
# stand together for the CPU time that a program has used.
. "$(dirname "$0")/lib.sh"
need_unsanitized
program=$top_builddir/tests/integration/samples_due

# sampled WHAT OPTION...: into $used_ns and $stalled_ns, and in periods $came (what samples stand for)
# and $lost; $made is how many samples there are
sampled()
{
	local what=$1
	shift
	rm -f t.trc
	measure "$trace_record" -q -o t.trc "$@" "$program" "$what" >used.txt 2>err.txt ||
		fail "$what, $*: status $?: $(cat err.txt)"
	read -r used_ns stalled_ns <used.txt
	read -r came lost made < <(sql t.trc "SELECT
		(SELECT coalesce(sum(value) / max(period), 0) FROM event_sample),
		(SELECT coalesce(sum(lost_samples), 0) FROM samples_lost),
		(SELECT count(*) FROM samples)")
}

# adds_up WHAT PERIOD_NS: within 7 per cent.  What a signal and its handler take themselves, at most
# 15 us on any machine seen, is the program's CPU time, and not counted.
adds_up()
{
	local due=$((used_ns / $2)) all=$((came + lost)) taking_ns=0
	[ "$2" -ge 1000000 ] || taking_ns=$((made * 15000))
	[ $all -ge $(((used_ns - taking_ns) / $2 * 93 / 100)) ] && [ $all -le $((due * 107 / 100 + 2)) ] ||
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
		sampled blocked "${options[@]}"
		adds_up "blocked half of the time, $1 Hz" $period || continue
		# The first sample after it stands for it.
		[ "$(lost_by busy)" -le $((used_ns / period / 50 + 1)) ] ||
			differs "blocked half of the time, $1 Hz: $(lost_by busy) lost by it" || continue
		[ $made -lt $((used_ns / period * 3 / 4)) ] ||
			differs "blocked half of the time, $1 Hz: as many samples as if it were not"
	done
	runs=0
	while another_run; do
		sampled open "${options[@]}"
		adds_up "never blocked, $1 Hz" $period || continue
		# What the machine took in one piece has one signal, the thread blocked it or not.
		[ "$(lost_by busy)" -le $((used_ns / period / 50 + stalled_ns / period)) ] ||
			differs "never blocked, $1 Hz: $(lost_by busy) lost by it, $stalled_ns ns in stalls"
	done
	runs=0
	while another_run; do
		sampled closed "${options[@]}"
		adds_up "all signals blocked, $1 Hz" $period || continue
		[ "$(lost_by busy)" -le $((used_ns / period / 10)) ] || # all of it, if not seen
			differs "all signals blocked, $1 Hz: $(lost_by busy) lost by it"
	done
}

# Threads take their first samples themselves, or do not: then these threads have none.
by_the_kernel()
{
	local options=(-e cpu-clock -F 1000 --sample-by kernel) runs=0
	while another_run; do
		sampled threads "${options[@]}"
		adds_up 'short threads, by the kernel' 1000000 || continue
		[ $came -gt $((used_ns / 2000000)) ] ||
			differs "short threads, by the kernel: only $came samples of $((used_ns / 1000000))" ||
			continue
		[ "$(lost_by unarmed)" -gt 0 ] ||
			differs 'short threads, by the kernel: nothing told of their starts and ends'
	done
	runs=0
	while another_run; do
		TRC_FIRST_SAMPLES=kernel sampled threads "${options[@]}"
		adds_up 'short threads, by the kernel alone' 1000000 || continue
		[ "$(lost_by short)" -gt 0 ] ||
			differs 'short threads, by the kernel alone: none told as short'
	done
	runs=0
	while another_run; do
		sampled open "${options[@]}"
		adds_up 'one thread, by the kernel' 1000000 || continue
		[ "$(lost_by short)$(lost_by unarmed)" = 00 ] ||
			differs "one thread: $(lost_by short) told as short, $(lost_by unarmed) as its start and end"
	done
}

# Threads of half a millisecond, and starting and ending each takes a good part of that.  One is
# sampled with a chance of about 0.6: of 3,000 the count's standard deviation is 27, which is 1.6 per
# cent of what is due, and adds_up() is a matter of chance with few hundreds.  However they are sampled, what no sampler was there for is told, as such.  Timers find one thread in eight, for a
# whole tick, and on a loaded machine fewer, which nobody tells: their sum is not judged.
short_threads()
{
	local how=$1 runs=0
	shift
	while another_run; do
		sampled threads "$@"
		[ "$how" = 'by timers' ] || adds_up "short threads, $how" 1000000 || continue
		[ "$(lost_by unarmed)" -gt 0 ] ||
			differs "short threads, $how: nothing told of their starts and ends" || continue
		passed "short threads, $how: $(lost_by unarmed) periods of them told as their starts and ends"
	done
	runs=0
	while another_run; do
		sampled open "$@"
		[ "$(lost_by unarmed)" = 0 ] ||
			differs "one thread, $how: $(lost_by unarmed) told as its start and end"
	done
}

# What a program used before its exec is told then, and what the next one uses is not this one's.
executes()
{
	local runs=0
	while another_run; do
		sampled leaves -e cpu-clock -F 1000 --sample-by signal
		adds_up 'short threads, and an exec of what is not recorded' 1000000 || continue
		[ "$(lost_by unarmed)" -gt 0 ] || differs 'before an exec: nothing told of starts and ends'
	done
}

# can BY: whether samples are taken so here; says why if not
can()
{
	"$trace_record" -q -o t.trc -e cpu-clock --sample-by "$1" true 2>err.txt ||
		! echo "not by the $1 here: $(cat err.txt)"
}

if can signal; then
	by_signals 1000
	by_signals 10000
	short_threads 'by signals' -e cpu-clock -F 1000 --sample-by signal
	executes
fi
short_threads 'as is best here' -F 1000
short_threads 'by timers' -e timer -F 1000
if can kernel; then
	by_the_kernel
fi
[ $checks -gt 0 ] || skip 'no counters here'
