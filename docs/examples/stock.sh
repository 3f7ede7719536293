#!/bin/bash
# stock.sh - two clients of a MariaDB server, for docs/slow-request.md: one takes an item out of stock and thinks for 0.3 s
# before it commits; meanwhile another wants the same item, and logs how long that took.
#
#   stock.sh SOCKET
#
# SPDX-License-Identifier: Apache-2.0
set -eu
export LC_ALL=C TZ=UTC0
socket=$1

sql()
{
	mariadb --no-defaults --socket="$socket" --skip-column-names --unbuffered "$@"
}

until sql -e 'SELECT 1' >/dev/null 2>&1; do
	sleep 0.1
done
sql -e 'CREATE DATABASE shop; CREATE TABLE shop.stock (item INT PRIMARY KEY, n INT); INSERT INTO shop.stock VALUES (1, 100)'

coproc sql shop
echo "BEGIN; UPDATE stock SET n = n - 1 WHERE item = 1; SELECT 'taken';" >&"${COPROC[1]}"
read -r _ <&"${COPROC[0]}"
(
	began=$EPOCHREALTIME
	sql shop -e 'UPDATE stock SET n = n - 1 WHERE item = 1'
	took_us=$((${EPOCHREALTIME/./} - ${began/./}))
	printf '%(%H:%M:%S)T.%s UPDATE stock took %d ms\n' "${began%.*}" "${began#*.}" $((took_us / 1000))
) &
second=$!
until [ "$(sql -e "SELECT count(*) FROM information_schema.processlist WHERE info LIKE 'UPDATE stock%'")" = 1 ]; do
	sleep 0.05
done
sleep 0.3
echo 'COMMIT;' >&"${COPROC[1]}"
wait $second
