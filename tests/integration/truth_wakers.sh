#!/bin/bash
# Threads wake each other through pipes, FIFOs, eventfds and sockets whose both ends are in the process,
# and know who it was: each such wait names this thread, and no other.
. "$(dirname "$0")/lib.sh"
need_unsanitized

# All waits for descriptors, with the clock that the program reads.
waits="SELECT t.name, CAST(w.start_ns + i.value AS INTEGER), CAST(w.end_ns + i.value AS INTEGER),
		coalesce(k.name, '-')
	FROM parks AS w JOIN threads AS t ON t.id = w.thread
	JOIN trace_info AS i ON i.key = 'start_monotonic_ns'
	LEFT JOIN threads AS k ON k.id = w.waker_thread
	WHERE w.reason IN ('read', 'write', 'recv', 'send', 'epoll') AND t.name GLOB '[rfd]*-*'
	ORDER BY t.name, w.start_ns"

# Each wait lies in one of the program's calls, which tells who woke it.
compare_wakers()
{
	sql dump.trc "$waits" >trace.tsv || return 1
	awk -F '\t' '
		# Whoever was in its call already when the wait began is not named (wakers.h, wakers:V4);
		# who writes then, before the thread that waited has run, may be.
		function was_in_call(who, when, i) {
			for (i = 1; i <= calls[who]; i++)
				if (from[who, i] <= when && when <= to[who, i])
					return 1
			return 0
		}
		NR == FNR {
			n = ++calls[$3]
			kind[$3, n] = $1 " " $2
			from[$3, n] = $4
			to[$3, n] = $5
			waker[$3, n] = $6
			sleeps[$3, n] = $7
			next
		}
		{
			if (!at[$1])
				at[$1] = 1
			while (at[$1] < calls[$1] && to[$1, at[$1]] < $2)
				at[$1]++
			i = at[$1]
			what = kind[$1, i]
			waits[what]++
			if (waker[$1, i] == "?")
				unsure[what]++
			else if ($4 == waker[$1, i])
				right[what]++
			else if ($4 == "-" && !sleeps[$1, i])
				waits[what]-- # it was preempted
			else if (was_in_call(waker[$1, i], $2))
				met[what]++
			else if ($4 == "-") {
				none[what]++
				print "NONE", what, $0
			} else {
				wrong[what]++
				print "WRONG", what, $0, "not", waker[$1, i]
			}
		}
		END {
			for (what in waits) {
				printf "%-18s %5d waits, %5d right, %d unsure, %d met, %d nobody, %d wrong\n",
					what, waits[what], right[what], unsure[what], met[what],
					none[what], wrong[what]
				# The kernel has locks of its own for which a call may wait.
				bad += wrong[what] + (none[what] > waits[what] / 50 + 1) + (right[what] < waits[what] / 2)
				kinds++
			}
			exit bad || kinds != 17
		}' truth.tsv trace.tsv
}

# The clock of the trace and the order of two reads of it are exact; between its own clock and the
# call the program may be preempted.
agrees()
{
	local try
	for try in 1 2 3; do
		"$trace_record" -q -o dump.trc -- "$here/truth_wakers" >truth.tsv ||
			fail "trace-record or the program failed: $?"
		expect_sound dump.trc
		if compare_wakers >compared.txt; then
			cat compared.txt
			passed "every wait names who ended it (run $try)"
			return
		fi
		echo "run $try:"
		cat compared.txt
	done
	fail 'the trace and the program disagree three times'
}

agrees
