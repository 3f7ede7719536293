#!/bin/bash
# Waits of every kind, at places of their own, measured by the program itself: the trace has the
# same number at each place, and the same total within 5 % or the noise floor; whatever locks are recorded.
. "$(dirname "$0")/lib.sh"
need_unsanitized

# A program that is preempted between its own two readings of the clock has measured something
# else than the wait; on a busy machine that happens.  Three runs may try.  Where a hypervisor takes processors
# away all the time they say nothing.
agrees()
{
	local try
	stolen=0
	for try in 1 2 3; do
		measure "$trace_record" -q "$@" -o dump.trc -- "$here/truth_waits" >truth.tsv ||
			fail "trace-record or the program failed: $?"
		expect_sound dump.trc
		if compare_truth dump.trc truth.tsv >compared.txt; then
			cat compared.txt
			passed "every place agrees with the program ($*, run $try)"
			return
		fi
		echo "run $try:"
		cat compared.txt
	done
	[ $stolen -lt 20 ] || skip "the trace and the program disagree three times, while $stolen ticks were stolen"
	fail 'the trace and the program disagree three times'
}

agrees --locks=contended
agrees --locks=all
