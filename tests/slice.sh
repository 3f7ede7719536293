#!/bin/sh
# slice.sh N - of the words on standard input each N-th, in a line: those whose turn it is in a run with CI_SEED.
#
# Of any N seeds that follow each other each word has one.  With CI_WHOLE=yes, or without a seed, all of them.
tr ' ' '\n' | grep . | awk -v n="$1" -v seed="${CI_SEED:-}" -v whole="${CI_WHOLE:-no}" '
	seed == "" || whole == "yes" || (NR + seed) % n == 0 { printf "%s ", $0 }'
