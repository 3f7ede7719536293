#!/bin/bash
# lttng.sh - runs a command with a snapshot session of LTTng-UST that has trc_bench:counter on.
#
#   lttng.sh COMMAND [ARG...]
#
# A session daemon of our own is started, and ended by its pid; one that runs already is used and
# left alone.  Exits with 77 if there is no LTTng here.
#
# SPDX-License-Identifier: Apache-2.0
set -u
command -v lttng >/dev/null && command -v lttng-sessiond >/dev/null || exit 77

dir=$(mktemp -d /tmp/trc-bench-lttng-XXXXXX)
session=trc-bench-$$
daemon=
export LTTNG_HOME=$dir LTTNG_UST_REGISTER_TIMEOUT=-1

clean_up()
{
	lttng destroy "$session" >/dev/null 2>&1
	if [ -n "$daemon" ]; then
		kill "$daemon" 2>/dev/null
		wait "$daemon" 2>/dev/null
	fi
	rm -rf "$dir"
}
trap clean_up EXIT

if ! lttng --no-sessiond list >/dev/null 2>&1; then
	lttng-sessiond --no-kernel >"$dir/log" 2>&1 &
	daemon=$!
	for ((i = 0; i < 100; i++)); do
		lttng --no-sessiond list >/dev/null 2>&1 && break
		sleep 0.1
	done
fi
{
	lttng --no-sessiond create "$session" --snapshot --output="$dir/out" &&
		lttng --no-sessiond enable-channel -u --overwrite --subbuf-size=128K \
			--num-subbuf=4 -s "$session" bench &&
		lttng --no-sessiond enable-event -u 'trc_bench:*' -c bench -s "$session" &&
		lttng --no-sessiond start "$session"
} >>"$dir/log" 2>&1 || {
	tail -n 5 "$dir/log" >&2
	exit 77
}
"$@"
