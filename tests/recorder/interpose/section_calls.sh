#!/bin/bash
# Between the taking of a lock and its release the recorder makes no system call: that would end the
# kernel's extension of the thread's time slice (rseq, since Linux 7.0).  The memory of rings and
# tables is got when it is first used, which the program does before it counts.  What is recorded while
# a lock is held fills rings: then the drainer is woken after the release.
. "$(dirname "$0")/../../integration/lib.sh"
need_unsanitized
program=$top_builddir/tests/recorder/interpose/section_calls

# said MODE SAMPLES: what the program prints of a mode if no call was made, as a regular expression.
said()
{
	case $1 in
	held) echo "^sections 11250 waits [0-9]{4,} samples $2 calls" ;;
	*) echo "^sections 20000 waits 0 samples [0-9]+ calls" ;;
	esac
}

# none WHAT MODE SAMPLES COMMAND...: the program's mode, run by that command, makes no call.
none()
{
	local status=0 tries

	for tries in 1 2 3; do
		status=0
		"${@:4}" "$program" "$2" >said.txt 2>err.txt || status=$?
		[ $status != 77 ] || skip 'the kernel has no Syscall User Dispatch here'
		[ $status = 0 ] || fail "$1, $2: status $status: $(cat err.txt)"
		grep -qE "$(said "$2" "$3") 0:\$" said.txt && return
		# Three quarters of a ring are full only if the drainer, woken before, has had no processor.
		grep -qE "$(said "$2" "$3") [0-9]+: 202 [0-9]$" said.txt || break
	done
	fail "$1, $2, try $tries: $(cat said.txt)"
}

for mode in control held-control; do
	"$program" $mode >said.txt || [ $? = 77 ] || fail 'the program by itself'
	[ ! -s said.txt ] || grep -qE '^sections ([0-9]+) .* calls \1: 110 \1$' said.txt ||
		fail "a call of the program's own in each section, $mode: $(cat said.txt)"
done

record=("$trace_record" -q -o section.trc)
for mode in free nested labels held; do
	none 'not recorded' $mode 0 env
	none 'recorded' $mode 0 "${record[@]}" --ring-size 256K --
	none 'flight' $mode 0 "${record[@]}" --flight --max-size 4M --
	none 'all locks' $mode 0 "${record[@]}" --ring-size 1M --locks all --
	none 'all locks, flight' $mode 0 "${record[@]}" --flight --max-size 4M --locks all --
	none 'samples by the kernel' $mode 0 "${record[@]}" --ring-size 256K -F 1000 --sample-by kernel --
	none 'samples by signals' $mode '[1-9][0-9]*' "${record[@]}" --ring-size 256K -F 1000 \
		--sample-by signal --
	none 'samples by signals, all locks' $mode '[1-9][0-9]*' "${record[@]}" --ring-size 1M -F 1000 \
		--sample-by signal --locks all --
	passed "no system call in sections: $mode"
done
