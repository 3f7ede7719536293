#!/bin/bash
# Traces that end early: recordings cut at many lengths and at each block have no violation that is
# not one of the whole trace; neither has that of a recorder that was killed.
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
