#!/bin/bash
# Two recorders of each kind at different rates over overlapping windows: each finds what the
# program measures itself, whoever else records, and the finer one no more and no less than alone.
. "$(dirname "$0")/lib.sh"
need_unsanitized

# off: figures that are off by more than 3 standard errors, or at all if there is no chance in them;
# and what is said to be missing because a trace began or ended
off()
{
	awk -F '\t' 'NF == 5 ? $2 < $3 - 3 * $5 || $2 > $4 + 3 * $5 : /handed over/' figures.tsv
}

# may_be_chance: a run that lost nothing is exact where it can be.
may_be_chance()
{
	grep -qE 'events were lost|left out' figures.tsv || awk -F '\t' '$5 == 0 { exit 1 }' off.txt
}

# One in 370 figures is that far off by chance, and a processor that is taken away for long may lose
# events: up to three runs.  What is biased is off in all of them.
for run in 1 2 3; do
	"$here/recorders" >figures.tsv 2>err.txt || fail "status $?: $(cat err.txt)"
	off >off.txt
	[ -s off.txt ] || break
	if [ $run = 3 ] || ! may_be_chance; then
		fail "figure, found, least, most, standard error: $(cat off.txt)"
	fi
done
for kind in block mutex cpu allocs heap; do
	[ "$(grep -c "^$kind, " figures.tsv)" -ge 3 ] || fail "no figures of $kind"
	passed "$kind: $(grep -c "^$kind, " figures.tsv) figures within 3 standard errors"
done
