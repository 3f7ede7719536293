#!/bin/bash
# No kind of code has more samples than it ran, or fewer: computing, taking locks (each recorded), allocating (with
# samples of the heap), calling the kernel, deep calls; by timers and by signals.  (The kernel's samples of code in libc
# have no callers: it has no frame pointers.)  Samples in the recorder's own code have callers, too.
. "$(dirname "$0")/lib.sh"
need_unsanitized

# shares_of TRACE: "function<TAB>value<TAB>samples<TAB>sum of squared values" for each kind
shares_of()
{
	sql "$1" "SELECT f.function, total(s.scaled_value), count(*), total(1.0 * s.scaled_value * s.scaled_value)
		FROM samples AS s JOIN (SELECT DISTINCT sf.stack, f.function FROM stack_frames AS sf
			JOIN frames AS f ON f.id = sf.frame WHERE f.function GLOB 'work_*') AS f ON f.stack = s.stack
		GROUP BY 1"
}

# compare TRACE_SHARES OWN: within four standard errors of draws that are independent, and a quarter of a point.  Where a machine
# takes its processors away some samples stand for many periods: then a share is told as well as by sum(w)^2 / sum(w^2) that are alike.
compare()
{
	awk -F '\t' '
		NR == FNR { value[$1] = $2; samples += $3; all += $2; squares += $4; next }
		{ own[$1] = $2; own_all += $2 }
		END {
			alike = squares ? all * all / squares : 0
			for (f in own) {
				share = all ? value[f] / all : 0
				truth = own[f] / own_all
				room = alike ? 4 * sqrt(truth * (1 - truth) / alike) + 0.0025 : 0
				off = share - truth
				if (off > room || off < -room)
					bad++
				printf "%-14s %5.2f %% of the time, %5.2f %% of %d samples (%d alike), room %.2f points\n", f,
					100 * truth, 100 * share, samples, alike, 100 * room
			}
			exit bad || samples < 500
		}' "$1" "$2"
}

# alike TRACE_SHARES: how many samples that are alike tell a share as well
alike()
{
	awk -F '\t' '{ all += $2; squares += $4 } END { printf "%d", squares ? all * all / squares : 0 }' "$1"
}

# fair WHAT LEAST OPTION...: with at least so many samples that are alike
fair()
{
	runs=0
	while another_run; do
		measure "$trace_record" -q --locks=all --heap -o dump.trc "${@:3}" -- "$here/favoured" 3000 >own.tsv 2>err.txt ||
			fail "$1: $(cat err.txt)"
		shares_of dump.trc >had.tsv
		compare had.tsv own.tsv >told.txt || fail "$1: $(cat told.txt)"
		cat told.txt
		[ "$(alike had.tsv)" -ge "$2" ] ||
			differs "$1: samples tell no more than $(alike had.tsv) that are alike" || continue
		passed "$1: $(sql dump.trc 'SELECT coalesce(sum(lost_samples), 0) FROM samples_lost') samples lost, no kind of code is favoured"
	done
}

fair '1,000 a second, as is best here' 200 -F 1000
# So many that a fifth more for one kind, which is 3.3 points, is more than four standard errors and a quarter of a point.
fair '4,000 a second by signals' 4000 -F 4000 --sample-by signal

# A signal in a restartable sequence finds the thread at its abort address, which is in no function.
alone=$(sql dump.trc "SELECT count(*) FROM samples WHERE stack IN (SELECT sf.stack FROM stack_frames AS sf
	JOIN frames AS f ON f.id = sf.frame JOIN modules AS m ON m.id = f.module WHERE m.path GLOB '*libtrc-preload*'
	GROUP BY 1 HAVING count(*) = (SELECT count(*) FROM stack_frames AS all_of WHERE all_of.stack = sf.stack))")
[ "$alone" = 0 ] || fail "$alone samples have nothing but the recorder's own code in their stacks"
passed 'samples in the recorder have callers'

# The comparison can fail.
awk -F '\t' -v OFS='\t' '$1 == "work_lock" { $2 *= 1.2 } 1' had.tsv >wrong.tsv
! compare wrong.tsv own.tsv >told.txt || fail 'a fifth more for one kind passes'
passed 'a kind that is favoured would be found'
