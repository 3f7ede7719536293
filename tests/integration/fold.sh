#!/bin/bash
# Real traces through a fold: the same waits at the same places with the same sums, to the
# nanosecond, as trace-analyze derives for --pprof block and --pprof mutex.
. "$(dirname "$0")/lib.sh"
need_unsanitized

compare=$top_builddir/tests/recorder/fold/fold_compare

# compare_fold NAME ROWS COMMAND...: at least so many rows, of both profiles together, so that there
# was something to compare.  How many places waited depends on the machine's load.
compare_fold()
{
	local what=$1 least=$2 rows
	shift 2
	"$trace_record" -q $locks -o "$what.trc" -- "$@" >"$what.out" 2>&1 ||
		fail "$what: trace-record or the program failed: $?"
	rows=$("$compare" "$what.trc" | awk '{ print $2 }') || fail "$what: they differ"
	[ "$rows" -ge "$least" ] || fail "$what: only $rows rows"
	passed "$what: $rows rows agree"
}

locks=
compare_fold waits 20 "$here/truth_waits"
compare_fold blame 4 "$here/truth_blame" timed
compare_fold labels 2 "$here/truth_labels"
compare_fold demo 4 "$top_builddir/docs/examples/trc-demo"
compare_fold fibers 4 "$top_builddir/docs/examples/fibers"
compare_fold contended 6 "$here/contended"
locks=--locks=all
compare_fold waits_of_all 20 "$here/truth_waits"
