#!/bin/bash
# A wait behind a wait behind a wait: what the table `causes` says of all of them, against a program
# that writes down what each of its threads did meanwhile; within 1 %.
. "$(dirname "$0")/lib.sh"
need_unsanitized

causes="SELECT t.name, iif(c.cause = 'sleeping', 'slept', 'worked'), sum(c.duration_ns)
	FROM causes c JOIN parks p ON p.id = c.wait JOIN threads w ON w.id = p.thread
		JOIN threads t ON t.id = c.thread
	WHERE c.leaf AND w.name = 'last' AND p.reason = 'mutex'
	GROUP BY 1, 2"

# The clock is read a little before or after what it stands for.
agrees()
{
	awk -F '\t' '
		NR == FNR { trace[$1, $2] = $3; next }
		{
			off = trace[$1, $2] - $3
			allowed = 0.01 * $3 + 60 * 10000
			verdict = (off < 0 ? -off : off) > allowed ? "TIME" : "ok"
			bad += verdict != "ok"
			printf "%-4s %-7s %-7s %10.3f of %10.3f ms\n", verdict, $1, $2,
				trace[$1, $2] / 1e6, $3 / 1e6
		}
		END { exit bad || FNR != 5 }' causes.tsv truth.tsv
}

while another_run; do
	measure "$trace_record" -q -o dump.trc -- "$here/truth_chain" >truth.tsv ||
		fail "trace-record or the program failed: $?"
	expect_sound dump.trc
	sql dump.trc "$causes" >causes.tsv || fail 'no causes'
	agrees || differs 'the causes are not those of the program'
done
passed 'what was waited for, three waits deep, is what the program did'

# However the waits are cut, the leaves are the waits.
off=$(sql dump.trc "SELECT count(*) FROM (SELECT p.waited_ns - sum(c.duration_ns) AS off
	FROM parks p JOIN causes c ON c.wait = p.id WHERE c.leaf GROUP BY p.id) WHERE off")
expect 'the leaves of every wait add up to it, 0 ns off' test "$off" = 0
off=$(sql dump.trc "SELECT count(*) FROM (SELECT u.caused_ns - sum(c.duration_ns) AS off
	FROM unlocks u JOIN causes c ON c.\"unlock\" = u.id WHERE c.depth = 1 GROUP BY u.id)
	WHERE off")
expect 'an unlock is charged with what it caused, 0 ns off' test "$off" = 0

# Read in the order of time, it is what the program does in each round, one after the other.
wait=$(sql dump.trc "SELECT p.id FROM parks p JOIN threads t ON t.id = p.thread
	WHERE t.name = 'last' AND p.reason = 'mutex' ORDER BY p.waited_ns DESC LIMIT 1")
"$trace_analyze" --critical-path "wait:$wait" dump.trc >path.txt || fail 'no critical path'
awk '/^What it/ { exit }
	/ (held the lock and |)(ran|slept)$/ {
		for (i = 1; i <= NF && $i !~ /^\(/; i++) ;
		print $(i - 1), $NF }' path.txt | uniq >order.txt
expect 'the critical path is sleep, work, and the two sections, in this order' diff - order.txt <<'END'
source ran
source slept
source ran
first ran
middle ran
END
