#!/bin/bash
# A program that does at once everything that a sample may land in, at 10 kHz: no deadlock, no
# crash, every errno and EINTR as ever (it checks these itself).  SAMPLED_HARD_SECONDS for longer.
. "$(dirname "$0")/lib.sh"
need_unsanitized
program=$top_builddir/tests/integration/sampled_hard
plugin=$top_builddir/tests/recorder/interpose/.libs/libplugin.so
seconds=${SAMPLED_HARD_SECONDS:-4}

# did_all FILE: it says how many rounds it did of each.
did_all()
{
	[ "$(wc -l <"$1")" -ge 10 ] && ! grep -q ' 0$' "$1"
}

expect 'untraced it finds nothing wrong' "$program" 1 "$plugin"

# sampled WHAT ARGUMENT...
sampled()
{
	local what=$1
	shift
	rm -f t.trc
	timeout -s ABRT $((seconds * 4 + 60)) "$trace_record" -q -o t.trc "$@" \
		"$program" "$seconds" "$plugin" >rounds.txt 2>err.txt ||
		fail "$what: status $?: $(cat err.txt)"
	[ ! -s err.txt ] || fail "$what: $(cat err.txt)"
	did_all rounds.txt || fail "$what: $(cat rounds.txt)"
	accounted t.trc "$what" # what a signal interrupts does not wait for room
	own=$(sql t.trc "SELECT value FROM trace_info WHERE key = 'sigprof'")
	[ "$own" = 'used by the program as well' ] || fail "$what: SIGPROF is not told: $own"
	samples=$(sql t.trc 'SELECT count(*) FROM samples')
	cpu_ms=$(sed -n 's/^cpu_ms //p' rounds.txt)
	[ $((samples * 20)) -gt "$cpu_ms" ] || fail "$what: only $samples samples of $cpu_ms ms"
	passed "$what: $samples samples; $(tr '\n' ' ' <rounds.txt)"
}

sampled 'counters at 10 kHz' -e cpu-clock -F 10000 --sample-by signal
sampled 'timers' -e timer -F 1000

# All threads have one alternate stack, or have had it before: several samples at once must not be taken on it.
one_stack=$top_builddir/tests/integration/shared_altstack
expect 'one alternate stack for all threads, untraced' "$one_stack" 1
for how in '-e cpu-clock -F 10000 --sample-by signal' '-e timer -F 1000'; do
	rm -f t.trc
	# shellcheck disable=SC2086 # a list of options
	timeout -s ABRT $((seconds * 4 + 60)) "$trace_record" -q -o t.trc $how "$one_stack" "$seconds" 2>err.txt ||
		fail "one alternate stack for all threads, $how: status $?: $(cat err.txt)"
	samples=$(sql t.trc 'SELECT count(*) FROM samples')
	[ "$samples" -gt 100 ] || fail "one alternate stack for all threads, $how: only $samples samples"
	passed "one alternate stack for all threads, $how: $samples samples"
done
TRC_CRASH=off timeout -s ABRT $((seconds * 4 + 60)) "$trace_record" -q -o t.trc -F 10000 --sample-by signal "$one_stack" "$seconds" \
	2>err.txt || fail "one alternate stack for all threads, without crashes: status $?: $(cat err.txt)"
passed 'one alternate stack for all threads, where crashes are not looked for'
timeout -s ABRT $((seconds * 4 + 60)) "$trace_record" -q -o t.trc -F 10000 --sample-by signal "$one_stack" "$seconds" large \
	2>err.txt || fail "one alternate stack for all threads, a large one: status $?: $(cat err.txt)"
passed 'one alternate stack for all threads, which is larger than the recorder'"'"'s'
timeout -s ABRT $((seconds * 4 + 60)) "$trace_record" -q -o t.trc "$one_stack" race "$seconds" >rounds.txt 2>err.txt ||
	fail "threads that ask for one stack at the same instant: status $?: $(cat err.txt)"
passed "threads that ask for one stack at the same instant: $(cat rounds.txt)"
timeout -s ABRT $((seconds * 4 + 60)) "$trace_record" -q -o t.trc -F 1000 --sample-by signal "$one_stack" forks "$seconds" 2>err.txt ||
	fail "one stack, asked for in forked children: status $?: $(cat err.txt)"
passed 'one stack, asked for in forked children'
"$trace_record" -q -o t.trc "$one_stack" ends 2>err.txt || fail "a stack of a thread that ends: $(cat err.txt)"
passed 'a stack is not given on while the thread that ends has it'
for how in 'cpu-clock' timer; do
	[ "$how" = timer ] || "$trace_record" -q -o t.trc -e "$how" --sample-by signal true 2>/dev/null || continue
	rm -f t.trc
	timeout -s ABRT $((seconds * 4 + 60)) "$one_stack"_before "$seconds" "$how" t.trc 2>err.txt ||
		fail "a stack from before the recording, $how: status $?: $(cat err.txt)"
	samples=$(sql t.trc 'SELECT count(*) FROM samples')
	threads=$(sql t.trc 'SELECT count(DISTINCT thread) FROM samples')
	[ "$samples" -gt 100 ] && [ "$threads" -ge 8 ] ||
		fail "a stack from before the recording, $how: $samples samples of $threads threads"
	passed "a stack from before the recording, $how: $samples samples of $threads threads"
	rm -f t.trc
	timeout -s ABRT $((seconds * 4 + 60)) "$one_stack"_before "$seconds" "$how" t.trc handlers 2>err.txt ||
		fail "a stack from before the recording, and handlers, $how: status $?: $(cat err.txt)"
	passed "a stack from before the recording, and handlers, $how"
done

