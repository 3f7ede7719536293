#!/bin/bash
# Calls that wait are waits, whichever function of libc makes them: each place has exactly its own,
# for as long at least as the program knows that it took.
. "$(dirname "$0")/lib.sh"
need_unsanitized

"$trace_record" -q -o dump.trc -- "$here/wait_calls" >truth.tsv ||
	fail "trace-record or the program failed: $?"
expect_sound dump.trc
sql dump.trc "SELECT f.function, p.reason, count(DISTINCT p.id), min(p.duration_ns)
	FROM (SELECT DISTINCT s.stack, f.function FROM stack_frames s JOIN frames f ON f.id = s.frame
		WHERE f.function LIKE 'place\_%' ESCAPE '\') f
	JOIN parks p ON p.stack = f.stack
	WHERE p.duration_ns >= 3000000 GROUP BY 1, 2" >places.tsv || fail "no query"
awk -F '\t' '
	NR == FNR { count[$1, $2] = $3; shortest_ns[$1, $2] = $4; next }
	{
		told++
		if (count[$1, $2] == $3 && shortest_ns[$1, $2] >= $4)
			next
		printf "%s: %d waits (%s) instead of %d, %d ns instead of %d\n", $1,
			count[$1, $2], $2, $3, shortest_ns[$1, $2], $4
		bad++
	}
	END { exit bad || !told }' places.tsv truth.tsv || fail "not as the program tells"
[ "$(wc -l <places.tsv)" = "$(wc -l <truth.tsv)" ] ||
	fail "waits where there were none: $(cut -f 1,2 places.tsv | sort - <(cut -f 1,2 truth.tsv) | uniq -u)"
passed "$(wc -l <truth.tsv) calls that wait are waits"

# What is no lock has a descriptor, or nothing, as its object; pointers are nobody's.
sql dump.trc "SELECT DISTINCT reason, object FROM parks
	WHERE reason IN ('open', 'read', 'write', 'recv', 'send', 'accept', 'connect', 'epoll', 'flock', 'fsync')
	AND (object > 65535 OR (reason = 'open' AND object != 0))" >pointers.tsv || fail "no query"
[ ! -s pointers.tsv ] || fail "pointers for descriptors: $(cat pointers.tsv)"
passed "no pointer is told as a descriptor"
