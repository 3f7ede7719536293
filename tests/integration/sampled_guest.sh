#!/bin/bash
# Programs that close what samples are made with, among all their descriptors, or leave no room for
# it; programs that use SIGPROF in earnest: they do the same with samples by signals as without, and
# are sampled all the same.
. "$(dirname "$0")/lib.sh"
need_unsanitized
program=$top_builddir/tests/integration/sampled_guest

# sampled WHAT MINIMUM OPTION... -- ARGUMENT...: prints what it does alone, and has that many
# samples
sampled()
{
	local what=$1 minimum=$2 options=() samples
	shift 2
	while [ "$1" != -- ]; do
		options+=("$1")
		shift
	done
	shift
	BRIEF=1 "$program" "$@" >alone.txt || fail "$what: status $? untraced"
	rm -f t.trc
	timeout -s ABRT 120 "$trace_record" -q -o t.trc "${options[@]}" "$program" "$@" \
		>sampled.txt 2>err.txt || fail "$what: status $?: $(cat err.txt)"
	[ ! -s err.txt ] || fail "$what: $(cat err.txt)"
	cmp -s alone.txt sampled.txt || fail "$what: $(diff alone.txt sampled.txt)"
	samples=$(sql t.trc 'SELECT count(*) FROM samples')
	[ "$samples" -ge "$minimum" ] || fail "$what: only $samples samples"
	passed "$what: $samples samples"
}

# Whether perf allows counters: the ways to sample by signals.
ways=('-e timer')
"$trace_record" -q -o t.trc -e cpu-clock --sample-by signal true 2>/dev/null &&
	ways+=('-e cpu-clock -F 1000 --sample-by signal')

for at in "${!ways[@]}"; do
	takes_turn "$at" "${#ways[@]}" || continue
	way=${ways[at]}
	for how in closefrom close_range close; do
		# shellcheck disable=SC2086
		sampled "$how, $way" 40 $way -- "$how"
		value=$(sql t.trc 'SELECT sum(value) / 1000000 FROM samples')
		[ "$value" -ge 500 ] || fail "$how, $way: samples for $value ms out of 1000"
	done
	for how in preempts preempts-alternate overflows; do
		# shellcheck disable=SC2086
		sampled "$how, $way" 10 $way -- "$how"
	done
	# What is armed 200 times loses what a timer's tick came too late for.
	for how in ignores vfork-exits; do
		# shellcheck disable=SC2086
		sampled "$how, $way" 15 $way -- "$how"
		value=$(sql t.trc 'SELECT sum(value) / 1000000 FROM samples')
		[ "$value" -ge 150 ] || fail "$how, $way: samples for $value ms out of 500, the last at $(
			sql t.trc 'SELECT max(ts_ns) FROM samples') ns; lost: $(
			sql t.trc "SELECT group_concat(thread || ' ' || cause || ' ' || lost_samples, ', ')
				FROM samples_lost")"
	done
	# shellcheck disable=SC2086
	sampled "setrlimit, $way" 20 $way -- setrlimit
	[ "$way" = '-e timer' ] && continue
	# Timers stand in where there are no descriptors: their samples stand for several ms each.  Of a
	# counter a sample does that comes late.
	several=$(sql t.trc 'SELECT count(*) FROM samples WHERE value > 1000000')
	[ "$several" -le 10 ] || fail "$several samples are of timers, in spite of descriptors"
	passed 'counters find descriptors below the new limit'
done
