#!/bin/bash
# limits.sh - what a program can have is what it can have without the recorder.
name=limits
. "$(dirname "$0")/lib.sh"
limited=$here/limited

# ---- memory of the C library's ------------------------------------------------------------

check "plain: threads that allocate nothing have no arena" status 0 "$limited" arenas 4
plain=$(cat out)
while read -r args; do
	# shellcheck disable=SC2086
	check "arenas: $args" status 0 "$record" -q $args -o a.trc "$limited" arenas 4
	check "arenas: $args: as many as without" same "$(cat out)" "$plain"
done <<'END'
--locks=all
--flight
-F 1000 --heap
END

finish
