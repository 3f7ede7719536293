#!/bin/bash
# A mutex that nobody wants is not recorded, however many threads wait for its condition and
# whichever of them was woken: no thread stays counted as one that wants it.  A forked child has none
# of its parent's waiters.
. "$(dirname "$0")/lib.sh"
need_unsanitized

"$trace_record" -q --follow -o t.trc -- "$here/cond_pool" >out.txt || fail "status $?"
{ read -r jobs && read -r child; } <out.txt
[ "$jobs" = 300 ] || fail "jobs: $jobs"
for trc in t.*.trc; do
	"$trace_analyze" --check "$trc" >check.txt 2>&1 || fail "$trc: $(tail -n 3 check.txt)"
	[ "$trc" = "t.$child.trc" ] || parent=$trc
done
recorded=$(sql "$parent" "SELECT count(*) FROM unlocks WHERE stack IN (
	SELECT stack FROM stack_frames f JOIN frames n ON n.id = f.frame WHERE n.function = 'alone')")
[ "$recorded" = 0 ] || fail "$recorded of 1000 unlocks that nobody waited for are recorded"
passed 'an idle pool wants no mutex'

[ "$(sql "t.$child.trc" 'SELECT count(*) FROM threads')" = 1 ] || fail 'the child has other threads'
recorded=$(sql "t.$child.trc" 'SELECT count(*) FROM unlocks')
[ "$recorded" = 0 ] || fail "$recorded of 1000 unlocks of a child are recorded: for its parent's threads"
passed "a child has none of its parent's waiters"
