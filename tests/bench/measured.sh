# measured.sh - the processor time and the largest memory of a command, for scripts.
# shellcheck shell=bash
#
# SPDX-License-Identifier: Apache-2.0

# measured FILE COMMAND...: "SECONDS MB", processor time and the largest resident set, which is looked at every 10 ms while
# the command runs.  FILE.* are for its own use; FILE.err has what the command wrote on stderr.
measured()
{
	local file=$1 pid='' most=0 now runner TIMEFORMAT='%U %S'
	shift
	rm -f "$file.pid"
	# shellcheck disable=SC2016 # for the inner shell
	{ time bash -c 'echo $$ >"$0.pid"; exec "$@" >/dev/null 2>"$0.err"' "$file" "$@"; } 2>"$file.time" &
	runner=$!
	while kill -0 "$runner" 2>/dev/null; do
		[ -n "$pid" ] || pid=$(cat "$file.pid" 2>/dev/null)
		now=$(sed -n 's/^VmHWM:[[:space:]]*\([0-9]*\).*/\1/p' "/proc/${pid:-none}/status" 2>/dev/null)
		[ "${now:-0}" -le "$most" ] || most=$now
		sleep 0.01
	done
	wait "$runner" || return 1
	awk -v kb="$most" '{ printf "%.2f %.0f\n", $1 + $2, kb / 1000 }' "$file.time"
}
