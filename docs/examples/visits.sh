#!/bin/bash
# visits.sh - a redis server's clients, for docs/slow-request.md: one counts the visits of 500,000 users, which are kept for
# a second; then another asks for a session, again and again, and logs what takes longer than 50 ms.
#
#   visits.sh PORT
#
# SPDX-License-Identifier: Apache-2.0
set -eu
export LC_ALL=C TZ=UTC0
port=$1

until [ "$(redis-cli -p "$port" PING 2>/dev/null)" = PONG ]; do
	sleep 0.05
done
seq 500000 | sed 's/.*/HINCRBY visits user:& 1/' | redis-cli -p "$port" --pipe >/dev/null
redis-cli -p "$port" SET session:42 alice >/dev/null
redis-cli -p "$port" EXPIRE visits 1 >/dev/null

exec 3<>"/dev/tcp/127.0.0.1/$port"
end=$((SECONDS + 3))
requests=0
slowest_us=0
while [ $SECONDS -lt $end ]; do
	began=$EPOCHREALTIME
	printf 'GET session:42\r\n' >&3
	read -r length <&3
	read -r value <&3
	took_us=$((${EPOCHREALTIME/./} - ${began/./}))
	requests=$((requests + 1))
	[ $took_us -le $slowest_us ] || slowest_us=$took_us
	[ $took_us -le 50000 ] ||
		printf '%(%H:%M:%S)T.%s GET session:42 took %d ms\n' "${began%.*}" "${began#*.}" $((took_us / 1000))
done
echo "$requests requests, the slowest took $((slowest_us / 1000)) ms"
