#!/bin/bash
# kill9.sh [N] - a flight recorder is killed with -9 at N random instants under full load (default
# 50); each time the ring that it leaves is recovered, and holds every event that the program knew
# to be committed, unless newer ones have overwritten it.
#
# CI_SEED=SEED chooses the same instants again; each run prints its seed.
#
# SPDX-License-Identifier: Apache-2.0
. "$(dirname "$0")/lib.sh"

instants=${1:-${KILL9_INSTANTS:-50}}
export TRC_RING_DIR=$work/rings
mkdir "$TRC_RING_DIR"
seed=${CI_SEED:-$((RANDOM % 10000))}
RANDOM=$seed
echo "CI_SEED=$seed chooses these instants again"
sizes=(1048576 4194304 33554432)

# In the window the numbers of a thread have no holes; the last is at least what was noted.  A
# thread that is not in the window had its last event before it began.
judge()
{
	"$trace_analyze" --output tsv --sql "
		SELECT t.name, min(c.value), max(c.value), count(*) FROM event_counter c
		JOIN threads t ON t.id = c.thread WHERE c.name = 'n' GROUP BY t.name" out.trc |
		tail -n +2 >found || return 1
	began=$("$trace_analyze" --output tsv --sql "
		SELECT (SELECT value FROM trace_info WHERE key = 'start_time') + max(from_ns)
		FROM coverage" out.trc | tail -n 1) || return 1
	"$here/kill9" show noted >known || return 1
	awk -v began="$began" '
		NR == FNR { min[$1] = $2; max[$1] = $3; n[$1] = $4; next }
		!($1 in n) { if ($3 > began + 20000000) { print $1 " is missing"; bad = 1 }; next }
		max[$1] < $2 { print $1 ": the last is " max[$1] ", noted was " $2; bad = 1 }
		n[$1] != max[$1] - min[$1] + 1 { print $1 ": a hole between " min[$1] " and " max[$1]; bad = 1 }
		END { exit bad }' found known
}

events=0
for ((i = 0; i < instants; i++)); do
	size=${sizes[i % ${#sizes[@]}]}
	rm -f noted out.trc said
	mkfifo said
	"$here/kill9" run noted "$size" >said 2>err &
	pid=$!
	started+=("$pid")
	read -r -t 60 line <said || fail "instant $i: it did not begin: $(cat err)"
	[ "$line" = counting ] || fail "instant $i: it said: $line"
	sleep "0.0$((RANDOM % 10))$((RANDOM % 10))"
	kill -9 "$pid"
	wait "$pid" 2>/dev/null
	started=()
	"$trace_record" -q --recover "$pid" -o out.trc 2>err ||
		fail "instant $i: not recovered: $(cat err)"
	"$trace_analyze" --check out.trc >check.out 2>&1 ||
		fail "instant $i: $(cat check.out)"
	judge >verdict 2>&1 || fail "instant $i, $size bytes: $(cat verdict)"
	events=$((events + $(awk '{ n += $4 } END { print n + 0 }' found)))
	"$trace_record" --clean >clean.out 2>&1 || fail "instant $i: --clean: $(cat clean.out)"
	[ -z "$(ls -A "$TRC_RING_DIR")" ] || fail "instant $i: --clean left $(ls "$TRC_RING_DIR")"
	checks=$((checks + 1))
done
echo "$instants instants, $events events in the recovered windows"
