#!/bin/bash
# Of struct rseq a recorded program writes rseq_cs alone: kernels from 7.0 on end a process that
# writes any other field.  The processor counts the program's stores there, in all of what the
# recorder takes part in.
. "$(dirname "$0")/../../integration/lib.sh"
need_unsanitized
program=$top_builddir/tests/recorder/ring/rseq_area

# none WHAT COMMAND...: the program, run by that command, stores nothing there.
none()
{
	local what=$1 status=0
	shift
	runs=0
	while another_run; do
		"$@" >said.txt 2>err.txt || status=$?
		[ $status != 77 ] || skip 'no stores can be watched here: no breakpoints, or no struct rseq'
		[ $status = 0 ] || fail "$what: status $status: $(cat err.txt)"
		awk '{ exit !($1 == "stores" && $2 == 0 && $4 <= 1000) }' said.txt || fail "$what: $(cat said.txt)"
		# A processor that is taken from its guest misses some of the 1,000 of the control; what misses most
		# of them watched nothing.
		awk '{ exit !($4 > 500) }' said.txt || undecided "$what: $(cat said.txt)"
	done
	passed "$what"
}

none 'not recorded' "$program"
none 'recorded' "$trace_record" -q -o a.trc -- "$program"
none 'samples by signals' "$trace_record" -q -F 1000 -o b.trc -- "$program"
none 'samples by timers' "$trace_record" -q -e timer -o c.trc -- "$program"
none 'samples by the kernel' "$trace_record" -q -F 1000 --sample-by kernel -o d.trc -- "$program"
none 'all locks' "$trace_record" -q --locks all -o e.trc -- "$program"
none 'flight' "$trace_record" -q --flight -o f.trc -- "$program"
none 'children, too' "$trace_record" -q --follow -o g.trc -- "$program"
TRC_RING_PATH=overflow none 'without restartable sequences' "$trace_record" -q -o h.trc -- "$program"
