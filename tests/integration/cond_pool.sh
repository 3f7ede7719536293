#!/bin/bash
# A mutex that nobody wants is not recorded, however many threads wait for its condition and
# whichever of them was woken: no thread stays counted as one that wants it.
. "$(dirname "$0")/lib.sh"
need_unsanitized

"$trace_record" -q -o t.trc -- "$here/cond_pool" >out.txt || fail "status $?"
[ "$(cat out.txt)" = 300 ] || fail "jobs: $(cat out.txt)"
"$trace_analyze" --check t.trc >check.txt 2>&1 || fail "$(tail -n 3 check.txt)"
recorded=$(sql t.trc "SELECT count(*) FROM unlocks WHERE stack IN (
	SELECT stack FROM stack_frames f JOIN frames n ON n.id = f.frame WHERE n.function = 'alone')")
[ "$recorded" = 0 ] || fail "$recorded of 1000 unlocks that nobody waited for are recorded"
passed 'an idle pool wants no mutex'
