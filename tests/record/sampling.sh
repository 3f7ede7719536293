#!/bin/bash
# sampling.sh - what trace-record makes of -e, -F and --sample-by.
name=sampling
. "$(dirname "$0")/lib.sh"

# ---- refusals, before the command runs: what the one line says | options -----------------

while IFS='|' read -r text args; do
	# shellcheck disable=SC2086
	check "refused: $args" status 125 "$record" $args -q -o r.trc touch ran
	check "refused with the reason: $args" says err "$text"
	check "refused in one line: $args" same "$(wc -l <err)" 1
	check "refused before anything ran: $args" test ! -e ran -a ! -e r.trc
done <<'END'
trace-record: cpu: no such event; there are auto, timer, cpu-clock, |-e cpu
cycles: twice the same event|-e cycles -e page-faults,cycles
r11: one too many: at most 16|-e r1,r2,r3,r4,r5,r6,r7,r8 -e r9,ra,rb,rc,rd,re,rf,r10,r11
rxyz: not an event such as r1a8|-e rxyz
a frequency is for clocks|-e page-faults -F 100
--frequency 0: not a frequency|-F 0
--frequency fast: not a number|-F fast
100001: this frequency is too high|-F 100001
--sample-by luck: not one of: auto signal kernel|--sample-by luck -e timer
--sample-by needs -e or -F|--sample-by signal
timer: a timer sends a signal|--sample-by kernel -e timer
END
check "no sampling without a command" status 125 "$record" --list -e timer
check "no sampling without a command: says so" says err '-e needs a command'

"$here/no_perf" 1 true
if [ $? != 77 ]; then
	check "an event that is forbidden" \
		status 125 "$here/no_perf" 13 "$record" -e cpu-clock -q -o r.trc touch ran
	check "an event that is forbidden: which, why, and what is possible" \
		grep -q '^trace-record: cpu-clock: .*perf_event_paranoid is .*; what works: timer$' err
	check "no perf: which, why, and what is possible" \
		status 125 "$here/no_perf" 38 "$record" -e page-faults -q -o r.trc touch ran
	check "no perf: says so" says err \
		'page-faults: no perf in this kernel, or hidden by a seccomp filter; what works: timer'
	check "forbidden: nothing ran" test ! -e ran
fi

# ---- what the command's recorder is told -------------------------------------------------

# told VARIABLE=VALUE...: of the last command, in this order; nothing else.
told()
{
	same "$(grep -E '^TRC_(CPU|SAMPLE)' out | sort | tr '\n' ' ')" "${*:+$* }"
}
check "nothing" status 0 "$record" -q -o e.trc env
check "nothing is sampled unless asked for" told
check "a timer" status 0 "$record" -e timer:20000000 -q -o e.trc env
check "a timer is the command's own" told TRC_CPU_EVENTS=timer:20000000 TRC_SAMPLE_BY=signal
check "a frequency" status 0 "$record" -F 50 -q -o e.trc env
check "a frequency is auto" told TRC_CPU_EVENTS=auto TRC_CPU_FREQUENCY=50 TRC_SAMPLE_BY=signal
check "what was there before" status 0 env TRC_CPU_FREQUENCY=7 TRC_CPU_EVENTS=cycles \
	"$record" -e timer -q -o e.trc env
check "what was there before is replaced" told TRC_CPU_EVENTS=timer TRC_SAMPLE_BY=signal
check "the options are in the trace" status 0 "$record" -e timer -F 50 -q -o e.trc "$guest" exit 0
check "as they were given" trace e.trc 'info options -e timer -F 50'

finish
