#!/bin/bash
# Waits for the end of a thread, and at a barrier, while a lock is held that the others take: which could be a deadlock.
. "$(dirname "$0")/lib.sh"
need_no_thread_sanitizer
need_unsanitized

"$trace_record" -q --locks=all -o t.trc -- "$here/lock_meets" || fail "the program: status $?"
expect_sound t.trc
sql t.trc "SELECT o.held_reason || ' ' || o.taken_reason || ' ' || coalesce(s.symbol, '') || ' ' || t.name
	FROM lock_order AS o JOIN threads AS t ON t.id = o.thread
	LEFT JOIN objects AS s ON s.address = CASE WHEN o.held_reason IN ('join', 'barrier') THEN o.taken ELSE o.held END
	WHERE deadlock IS NOT NULL" | LC_ALL=C sort >circles.txt
printf '%s\n' 'barrier mutex canvas_lock brush' 'join mutex config_lock saver' 'mutex barrier canvas_lock painter' \
	'mutex join config_lock lock_meets' | LC_ALL=C sort >wanted.txt
cmp -s wanted.txt circles.txt || fail "circles: $(diff wanted.txt circles.txt) in $(sql t.trc 'SELECT * FROM lock_order')"
passed 'a join and a barrier are in a circle, and not those whose threads do without the lock'
"$trace_analyze" t.trc >report.txt || fail 'no report'
tr -s ' \n' ' ' <report.txt >words.txt
for text in 'mutex config_lock may wait for each other: no deadlock happened, but one could' \
	'lock_meets ([0-9]*) waits for the end of saver ([0-9]*) at join_holding lock_meets.c:[0-9]* while it holds mutex config_lock, taken at join_holding' \
	'saver ([0-9]*) takes mutex config_lock at saver lock_meets.c:[0-9]*, and ends then' \
	'painter ([0-9]*) waits for barrier frame at painter' \
	'brush ([0-9]*) and others take mutex canvas_lock at brush lock_meets.c:[0-9]* before they come to barrier frame'; do
	grep -q -e "$text" words.txt || fail "the report does not say: $text: $(head -20 report.txt)"
done
passed 'the report says who waits for whom'
