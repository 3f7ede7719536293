#!/bin/bash
# Locks that are taken in a circle could be a deadlock: which ones, as a program says that knows.
. "$(dirname "$0")/lib.sh"
need_no_thread_sanitizer
need_unsanitized

expect 'the program runs recorded' "$trace_record" -q --locks=all -o t.trc "$here/lock_order" >pairs.txt
sed -i '/^ok /d' pairs.txt
expect_sound t.trc

# Pairs of locks, one taken while the other was held, and how often.
"$trace_analyze" --output tsv --sql "
	SELECT h.name, t.name, sum(o.times) FROM lock_order AS o
	JOIN objects AS h ON h.address = o.held JOIN objects AS t ON t.address = o.taken
	WHERE h.symbol IS NOT NULL AND t.symbol IS NOT NULL GROUP BY 1, 2" t.trc |
	tail -n +2 | tr '\t' ' ' | LC_ALL=C sort >found.txt
LC_ALL=C sort pairs.txt >wanted.txt
cmp -s wanted.txt found.txt || fail "the order of locks: $(diff wanted.txt found.txt)"
passed "$(wc -l <found.txt) pairs, each as often as the program says"

# Those that could be a deadlock, and none that could not.
sql t.trc "SELECT group_concat(name, ' ') FROM (SELECT DISTINCT deadlock, h.name AS name FROM lock_order AS o
	JOIN objects AS h ON h.address = o.held WHERE deadlock IS NOT NULL ORDER BY 1, 2)
	GROUP BY deadlock" | LC_ALL=C sort >circles.txt
printf '%s\n' 'both_a both_b' 'mixed_a mixed_b' 'ring_a ring_b ring_c' >wanted.txt
cmp -s wanted.txt circles.txt || fail "circles: $(diff wanted.txt circles.txt)"
passed 'three circles, and not those behind a gate, tried, read, in one thread, or before'

# The report leads with them.
"$trace_analyze" t.trc >report.txt || fail 'no report'
tr -s ' \n' ' ' <report.txt >words.txt
for text in 'mutex both_a and mutex both_b are taken in both orders, at take_one_way lock_order.c:[0-9]* and at take_other_way lock_order.c:[0-9]*: no deadlock happened, but one could' \
	'takes mutex both_b at take_one_way' 'while it holds mutex both_a, taken at take_one_way' \
	'takes mutex both_a at take_other_way' 'helps: take locks in the same order everywhere'; do
	grep -q -e "$text" words.txt || fail "the report does not say: $text: $(head -20 report.txt)"
done
passed 'the report says where'
"$trace_analyze" --json t.trc >report.json || fail 'no JSON'
part=$(awk '/^[,{]"[a-z_]*":$/ { on = $0 == ",\"lock_order\":"; next } on' report.json)
sql t.trc "SELECT value ->> 'held', value ->> 'taken', value ->> 'times', value ->> 'held_place', value ->> 'taken_place'
	FROM json_each('${part//\'/\'\'}')" | tr '\t' ' ' | LC_ALL=C sort >edges.txt
sql t.trc 'SELECT held, taken, times, chain(held_stack), chain(taken_stack) FROM lock_order' | tr '\t' ' ' |
	LC_ALL=C sort >wanted.txt
[ -s edges.txt ] && cmp -s wanted.txt edges.txt || fail "not in the JSON: $(diff wanted.txt edges.txt)"
[ "$(sql t.trc "SELECT count(*) FROM findings WHERE kind = 'lock_order' AND severity = 'risk'")" = 2 ] ||
	fail 'the findings are not two'
passed 'so do JSON and SQL'

"$trace_analyze" --summary t.trc | grep -q '^RISK: mutex both_a and mutex both_b are taken in both orders' ||
	fail 'not in the summary'
passed 'the summary has it, too'

# libunwind takes mutexes of its own for each stack, which are not the program's.
expect 'the program runs with stacks by libunwind' "$trace_record" -q --locks=all --unwind libunwind -o u.trc "$here/lock_order" >/dev/null
expect_sound u.trc
[ "$(sql u.trc 'SELECT count(*) FROM locks')" = "$(sql t.trc 'SELECT count(*) FROM locks')" ] ||
	fail "with stacks by libunwind: $(sql u.trc 'SELECT kind, name FROM locks')"
passed 'with stacks by libunwind the same locks'

# Without --locks=all nothing is known, and nothing is said.
"$trace_record" -q -o less.trc "$here/lock_order" >/dev/null || fail 'no second trace'
[ "$(sql less.trc 'SELECT count(*) FROM lock_order')" = 0 ] || fail 'an order of locks from nowhere'
! "$trace_analyze" less.trc | grep -q 'no deadlock happened' || fail 'a risk from nowhere'
passed 'nothing without --locks=all'
