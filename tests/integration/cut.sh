#!/bin/bash
# Traces that end early, and traces of which a byte changed.  Recordings cut at many lengths and at each block have no violation that is
# not one of the whole trace; neither has that of a recorder that was killed.  A block with a changed byte counts as lost, and all else is told.
. "$(dirname "$0")/lib.sh"
need_unsanitized

demo=$top_builddir/docs/examples/trc-demo
cut_check=$top_builddir/tests/analyzer/check/cut_check

"$trace_record" -q -o demo.trc -- "$demo" -s 2 >/dev/null || fail "trace-record: status $?"
"$trace_record" -q -o waits.trc -- "$here/truth_waits" >/dev/null || fail "trace-record: status $?"
for trace in demo waits; do
	"$cut_check" $trace.trc 60 || fail "$trace.trc"
	passed "$trace.trc, cut anywhere"
done

# flip FILE OFFSET: changes a bit of the byte there
flip()
{
	local byte
	byte=$(od -An -tu1 -j "$2" -N 1 "$1")
	printf '%b' "\\x$(printf '%02x' $((byte ^ 16)))" | dd of="$1" bs=1 seek="$2" conv=notrunc status=none
}

count()
{
	"$trace_analyze" --sql 'SELECT (SELECT count(*) FROM events) AS n, (SELECT coalesce(sum(lost_events), 0) FROM gaps) AS lost,
		(SELECT count(*) FROM gaps WHERE cause = '"'damaged'"') AS damaged' --output tsv "$1" 2>count.err | tail -n 1
}

IFS='	' read -r all lost _ <<<"$(count demo.trc)"
bytes=$(stat -c %s demo.trc) n_blocks=0
for ((i = 0; i < 12; i++)); do
	at=$((bytes / 10 + (bytes - bytes / 10) / 12 * i + RANDOM % (bytes / 20)))
	cp demo.trc changed.trc
	flip changed.trc "$at"
	IFS='	' read -r n now damaged <<<"$(count changed.trc)"
	[ "$(grep -c '^trace-analyze: changed.trc: warning: ' count.err)" = 1 ] || fail "a byte at $at changed: $(cat count.err)"
	"$trace_analyze" changed.trc >report.txt 2>err.txt || fail "no report with a changed byte at $at: $(cat err.txt)"
	grep -q '^warning: ' report.txt || fail "the report does not say that the byte at $at changed"
	"$trace_analyze" --html page.html changed.trc 2>err.txt || fail "no page with a changed byte at $at: $(cat err.txt)"
	grep -q 'block .*: checksum mismatch' count.err || continue # a table: what is behind it is missing
	n_blocks=$((n_blocks + 1))
	[ "$damaged" = 1 ] && [ $((n - 1 + now - lost)) = "$all" ] ||
		fail "a byte at $at changed: $n events, of which $damaged say that $now are lost, and there were $all"
	"$trace_analyze" --check changed.trc >check.txt 2>err.txt
	tail -n 1 check.txt >last.txt
	read -r violations explained <<<"$(sed -n 's/.* \([0-9,]*\) violations\{0,1\}, \([0-9,]*\) of them explained.*/\1 \2/p' last.txt | tr -d ,)"
	[ "$((violations - explained))" = 1 ] || fail "a byte at $at changed: $(cat last.txt)"
done
[ "$n_blocks" -gt 0 ] || fail 'no block was changed'
passed "what $n_blocks blocks had of which a byte changed is told as lost, and the rest is told"

# What it leaves behind stays in the test's own directory.
export TRC_RING_DIR=$work/rings
mkdir "$TRC_RING_DIR"
start "$trace_record" -q -o killed.trc -- "$demo" -s 60 >/dev/null
until_true 60 test -s killed.trc || fail 'trace-record wrote no trace'
command=$(pgrep -P "$pid")
sleep 1
finish "$pid" KILL 2>/dev/null
kill "$command"
"$trace_analyze" --check killed.trc >check.txt 2>err.txt || {
	cat check.txt >&2
	fail "killed.trc does not pass trace-analyze --check"
}
grep -q '^cut off: ' check.txt || fail 'where killed.trc is cut is not told'
passed "a recorder killed: $(tail -n 1 check.txt)"
