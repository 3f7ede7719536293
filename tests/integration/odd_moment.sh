#!/bin/bash
# docs/odd-moment.md: its commands, run one after the other, print what it shows.
#
# Numbers, addresses and the order of what comes out at once differ from run to run; words and
# the order of lines do not.  "..." stands for any lines.
#
# All goes five times as slow as in the document: a machine that stands still for 200 ms, as those
# that others share do, makes the program wait for as long, and that is an odd moment as well.
. "$(dirname "$0")/lib.sh"
need_unsanitized

doc=$top_srcdir/docs/odd-moment.md
PATH=$top_builddir/recorder:$top_builddir/analyzer:$PATH
sed 's/EVICT_MS = 300/EVICT_MS = 1500/' "$top_srcdir/docs/examples/odd-moment.c" >odd-moment.c
grep -q 'EVICT_MS = 1500' odd-moment.c || fail 'odd-moment.c does not say how long it evicts'

slowed()
{
	command=${command//200ms/1000ms}
	command=${command//window 2s/window 10s}
}

# A line of the document, or one that was printed, without what differs between two runs.  Which of
# the two threads waits last is chance: they leave their barrier at once.  So is whether main()
# found cache_lock taken by a worker: then its wait tells where it took the lock, and since when it
# holds it.
plain()
{
	sed -E '/^ *taken at cache_reindex odd-moment.c:102$/ {
			N
			s/^.*\n *main odd-moment.c:138$/where it was taken was not recorded/
		}
		s/^( *holds mutex cache_lock, for which [0-9]+ threads wait), for [0-9.]+ m?s now$/\1/
		s/^ *(odd-moment|indexer) \([0-9]+\), (the last to wait), would take .*_lock before .*_lock$/\2/
		s/0x[0-9a-f]+/ADDRESS/g
		s/[0-9][0-9.,]* (s|ms|µs|ns)\b/TIME/g
		s/[^ ]*\/trc-[A-Za-z0-9]*/RINGS/g
		s/[0-9][0-9.,]*/N/g
		s/ +/ /g; s/^ //; s/ $//'
}

# prints FILE: the lines of expected.txt are in FILE, in order; between two that no "..."
# separates there is nothing.
prints()
{
	plain <expected.txt >want.txt
	plain <"$1" >got.txt
	awk '
		NR == FNR { want[++n] = $0; next }
		at <= n && want[at] == "..." { skipping = 1; at++ }
		at > n { if (!skipping) { print "more than is shown: " $0; bad = 1; exit }; next }
		$0 == want[at] { at++; skipping = 0; next }
		!skipping { print "not \"" want[at] "\" but \"" $0 "\""; bad = 1; exit }
		BEGIN { at = 1 }
		END {
			while (at <= n && want[at] == "...") at++
			if (!bad && at <= n) { print "missing: " want[at]; bad = 1 }
			exit bad
		}' want.txt got.txt || { cat "$1" >&2; fail "$command"; }
}

# Its threads have met, and the workers run into it.
all_wait()
{
	trace-record --snapshot "$hang_pid" -o wait.trc &&
		[ "$(trace-analyze wait.trc | grep -c 'blocked by it: worker')" = 4 ]
}

hang_pid=
ends=0 # which of the lists this is: the second comes after the end of trace-record

run_command()
{
	case $command in
	*--deadlock*)
		start bash -c "exec ${command}"
		recorder=$pid
		until_true 60 pgrep -P "$recorder" >/dev/null || fail "$command: did not start"
		hang_pid=$(pgrep -P "$recorder")
		until_true 60 all_wait || fail "$command: no deadlock"
		return
		;;
	'trace-record --list')
		ends=$((ends + 1))
		[ $ends != 2 ] || finish "$recorder" KILL 2>/dev/null
		if [ $ends = 3 ]; then
			kill -9 "$hang_pid"
			until_true 60 gone "$hang_pid"
		fi
		;;
	esac
	bash -c "${command/ 11907 / $hang_pid }" >output.txt 2>&1 </dev/null
	# Nothing shown is nothing said about it.
	[ ! -s expected.txt ] || prints output.txt
	passed "$command"
}

gone()
{
	[ ! -e "/proc/$1/exe" ] # also of one that nobody has waited for yet
}

command=
: >expected.txt
while IFS= read -r line; do
	case $line in
	'    $ '* | '    cc '* | '')
		[ -z "$command" ] || run_command
		: >expected.txt
		command=${line#    }
		command=${command#\$ }
		slowed
		;;
	'    '*) [ -z "$command" ] || printf '%s\n' "${line#    }" >>expected.txt ;;
	esac
done <"$doc"
[ -z "$command" ] || run_command
for trace in odd.1.trc now.trc last.trc crash.1.trc; do
	"$trace_analyze" --check $trace >check.txt || fail "$trace: $(cat check.txt)"
done
[ -s odd.html ] || fail 'no odd.html'
