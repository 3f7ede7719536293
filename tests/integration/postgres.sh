#!/bin/bash
# PostgreSQL, one process for each connection, against its own account: its log says how long a statement waited for a row that
# another transaction had changed, and for a table; how long a checkpoint wrote and synced; its statistics how long commits synced the journal.
. "$(dirname "$0")/lib.sh"
need_unsanitized
pg=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -V | tail -n 1)
[ -x "$pg/postgres" ] && [ -x "$pg/pgbench" ] || skip 'postgresql is not installed'
PATH=$pg:$PATH
as=()
if [ "$(id -u)" = 0 ]; then # it does not run as root
	need setpriv
	id postgres >/dev/null 2>&1 || skip 'no user to run it as'
	as=(setpriv --reuid postgres --regid postgres --clear-groups)
fi
"${as[@]}" test -x "$trace_record" || skip "$trace_record is out of that user's reach"
home=$(mktemp -d /tmp/trc-pg-XXXXXX) || exit 99 # paths of sockets are short
trap 'status=$?; [ $status != 0 ] || rm -rf "$home"; (exit $status); end_test' EXIT
[ ${#as[@]} = 0 ] || chown postgres "$home" "$TRC_RING_DIR"
export PGHOST=$home PGUSER=shop HOME=$home

"${as[@]}" initdb -D "$home/data" -A trust -U shop >initdb.log 2>&1 || fail "initdb: $(cat initdb.log)"
cat >>"$home/data/postgresql.conf" <<-END_CONF
	listen_addresses = ''
	unix_socket_directories = '$home'
	max_connections = 20
	autovacuum = off
	log_lock_waits = on
	deadlock_timeout = 50ms
	log_checkpoints = on
	track_wal_io_timing = on
	wal_sync_method = fdatasync
	lc_messages = 'C'
END_CONF
(cd "$home" && exec "${as[@]}" "$trace_record" --follow -q -o "$home/pg.trc" -- postgres -D "$home/data") >server.log 2>&1 &
server=$!
ask()
{
	psql -q -X -A -t -c "$1" "${2:-shop}"
}
until_true 60 ask 'SELECT 1' postgres || fail "postgres did not come up: $(cat server.log)"
postmaster=$(head -n 1 "$home/data/postmaster.pid")
started+=("$postmaster")
createdb shop && pgbench -i -q shop >bench.log 2>&1 || fail "pgbench: $(cat bench.log)"

is_locked_out()
{
	[ "$(ask "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'")" = 1 ]
}

# behind STATEMENT STATEMENT: the second waits until the transaction with the first has slept.
behind()
{
	local first second
	rm -f first.txt to_first
	mkfifo to_first
	psql -q -X -A -t shop <to_first >first.txt &
	first=$!
	exec 3>to_first
	echo "BEGIN; $1; SELECT 'taken';" >&3
	until_true 60 grep -q taken first.txt || fail "no transaction: $(cat first.txt server.log)"
	ask "$2" >/dev/null 3>&- &
	second=$!
	until_true 60 is_locked_out || fail "nobody waits: $(cat server.log)"
	echo 'SELECT pg_sleep(0.4); COMMIT;' >&3
	exec 3>&-
	wait $second || fail "$2: $(cat server.log)"
	wait $first
}
behind 'UPDATE pgbench_accounts SET abalance = 1 WHERE aid = 7' 'UPDATE pgbench_accounts SET abalance = 2 WHERE aid = 7'
behind 'LOCK TABLE pgbench_tellers IN ACCESS EXCLUSIVE MODE' 'SELECT count(*) FROM pgbench_tellers'
pgbench -n -c 2 -t 200 shop >bench.log 2>&1 || fail "pgbench: $(cat bench.log)"
ask CHECKPOINT || fail 'no checkpoint'
# A process adds its figures when it ends; the journal's writer, too, when it is asked.
read -r synced_ms asked_ns < <(ask "SELECT pg_sleep(1); SELECT wal_sync_time::bigint || ' ' ||
	(extract(epoch FROM clock_timestamp()) * 1e9)::bigint FROM pg_stat_wal" | tail -n 1)
[ -n "${asked_ns:-}" ] || skip 'this version of the server does not say how long it synced its journal'
kill -INT "$postmaster"
wait $server || fail "the server: status $?: $(cat server.log)"

# of PID QUERY: in the trace of this process
of()
{
	sql "$home/pg.$1.trc" "$2"
}

# near WHAT GOT WANTED [PERCENT]: in ms, within 10 % and 10 ms; more where the server also counts what it did besides, perhaps
# without a processor
near()
{
	awk -v got="$2" -v wanted="$3" -v percent="${4:-10}" 'BEGIN {
		off = got - wanted
		exit !(got != "" && (off < 0 ? -off : off) <= wanted * percent / 100 + 10) }' ||
		fail "$1: $2 ms in the trace, the server says $3 ms"
	passed "$1: $2 ms, the server says $3 ms"
}

# "process 4936 acquired ShareLock on transaction 740 after 351.123 ms"
for lock in ShareLock AccessShareLock; do
	read -r pid ms < <(sed -n "s/.*process \([0-9]*\) acquired $lock on .* after \([0-9.]*\) ms.*/\1 \2/p" server.log | head -n 1)
	[ -n "${ms:-}" ] || fail "no process waited for $lock: $(cat server.log)"
	near "the wait for a lock in LockAcquireExtended ($lock)" "$(of "$pid" "SELECT sum(waited_ns) / 1e6 FROM parks WHERE reason = 'epoll' AND
		stack IN (SELECT s.stack FROM stack_frames AS s JOIN frames AS f ON f.id = s.frame WHERE f.function = 'LockAcquireExtended')")" "$ms" 25
	"$trace_analyze" "$home/pg.$pid.trc" >report.txt || fail "$lock: no report"
	grep -q 'WaitLatch < ProcSleep < .*LockAcquireExtended' report.txt || fail "$lock: the report does not say where: $(cat report.txt)"
	"$trace_analyze" --why "$("$trace_analyze" --sql "SELECT 'wait:' || id FROM parks ORDER BY waited_ns DESC LIMIT 1" --output tsv \
		"$home/pg.$pid.trc" | tail -n 1)" "$home/pg.$pid.trc" >why.txt || fail "$lock: --why: status $?"
	grep -q 'waited for epoll' why.txt || fail "$lock: $(cat why.txt)"
done

# "checkpoint complete: wrote 4332 buffers ...; write=0.265 s, sync=0.270 s, ...; sync files=320, longest=0.026 s, ..."
read -r pid sync longest < <(sed -n 's/.*\[\([0-9]*\)\] LOG: *checkpoint complete.*sync=\([0-9.]*\) s,.* longest=\([0-9.]*\) s.*/\1 \2 \3/p' server.log | head -n 1)
[ -n "${longest:-}" ] || fail "no checkpoint: $(cat server.log)"
synced="FROM parks WHERE reason = 'fsync' AND stack IN (SELECT s.stack FROM stack_frames AS s JOIN frames AS f ON f.id = s.frame
	WHERE f.function = 'ProcessSyncRequests')"
near 'files that the checkpoint synced' "$(of "$pid" "SELECT sum(waited_ns) / 1e6 $synced")" "$(awk "BEGIN { print $sync * 1e3 }")" 30
near 'the longest of them' "$(of "$pid" "SELECT max(waited_ns) / 1e6 $synced")" "$(awk "BEGIN { print $longest * 1e3 }")" 30

sum=0
for trace in "$home"/pg.*.trc; do
	expect_accounted "$trace"
	ms=$(sql "$trace" "SELECT coalesce(sum(waited_ns), 0) / 1e6 FROM parks WHERE reason = 'fsync' AND
		end_ns < $asked_ns - (SELECT value FROM trace_info WHERE key = 'start_realtime_ns') AND stack IN (SELECT s.stack FROM stack_frames AS s
		JOIN frames AS f ON f.id = s.frame WHERE f.function IN ('XLogFlush', 'XLogBackgroundFlush'))")
	sum=$(awk "BEGIN { print $sum + $ms }")
done
near 'the journal, synced' "$sum" "$synced_ms" 25
