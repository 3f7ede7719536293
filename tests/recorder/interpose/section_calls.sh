#!/bin/bash
# Between the taking of a lock and its release the recorder makes no system call: that would end the
# kernel's extension of the thread's time slice (rseq, since Linux 7.0).  The memory of rings and
# tables is got when it is first used, which the program does before it counts.  What is recorded while
# a lock is held (labels, --locks all) fills rings: then there is one call for each half of a ring.
. "$(dirname "$0")/../../integration/lib.sh"
need_unsanitized
program=$top_builddir/tests/recorder/interpose/section_calls

# none WHAT MODE COMMAND...: the program's mode, run by that command, makes no call.
none()
{
	local status=0
	"${@:3}" "$program" "$2" >said.txt 2>err.txt || status=$?
	[ $status != 77 ] || skip 'the kernel has no Syscall User Dispatch here'
	[ $status = 0 ] || fail "$1, $2: status $status: $(cat err.txt)"
	case $1,$2 in
	*,held)
		grep -q '^sections 11250 calls 0:$' said.txt ;;
	*flight,*)
		grep -q '^sections 4000 calls 0:$' said.txt ;;
	'all locks',* | *,labels) # the drainer is woken when half a ring is full of their events
		grep -qE '^sections 4000 calls [0-9]+:( 202 [0-9])?$' said.txt ;;
	*)
		grep -q '^sections 4000 calls 0:$' said.txt ;;
	esac || fail "$1, $2: $(cat said.txt)"
}

env "$program" control >said.txt || [ $? = 77 ] || fail 'the program by itself'
[ ! -s said.txt ] || grep -q '^sections 4000 calls 4000: 110 4000$' said.txt ||
	fail "a call of the program's own in each section: $(cat said.txt)"

record=("$trace_record" -q -o section.trc)
for mode in free nested labels held; do
	none 'not recorded' $mode env
	none 'recorded' $mode "${record[@]}" --ring-size 256K --
	none 'flight' $mode "${record[@]}" --flight --max-size 4M --
	none 'all locks' $mode "${record[@]}" --ring-size 1M --locks all --
	none 'all locks, flight' $mode "${record[@]}" --flight --max-size 4M --locks all --
	none 'samples by the kernel' $mode "${record[@]}" --ring-size 256K -F 1000 --sample-by kernel --
	passed "no system call in sections: $mode"
done
