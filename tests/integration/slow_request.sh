#!/bin/bash
# docs/slow-request.md: its commands, run one after the other on the distribution's redis (and MariaDB, if it is there), find what
# it says they find.
#
# What each command has to say stands below, in claims(); the document has to show it, too.  Figures and the order of equal
# things differ from run to run.  On a machine with other work more requests are slow.  Which one is meant redis tells by itself: a
# machine that stood still for a moment may have made another one slower.
. "$top_srcdir/tests/integration/lib.sh"
need_unsanitized
need redis-server redis-cli redis-benchmark

doc=$top_srcdir/docs/slow-request.md
PATH=$top_builddir/recorder:$top_builddir/analyzer:$PATH:/usr/sbin:/usr/local/go/bin
cp "$top_srcdir"/docs/examples/{visits,stock}.sh .
mariadb=$(command -v mariadbd) # without it that section is left out
port=$((10000 + RANDOM % 20000)) # below those that the kernel gives to clients
while (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; do
	port=$((port + 1))
done

declare -A actual=([7777]=$port) # what the document has, and what this run has in its place
slow_ms=0 slow_at=               # the slow request of the client that ran last

# Regular expressions, of the command as the document has it: the output has each of them, and so has the document.
claims()
{
	case $1 in
	*'&' | 'sleep 1' | mariadb-* | *--html* | *'>benchmark.log' | *SLOWLOG* | *'--pprof cpu'*) ;;
	'./visits.sh 7777') echo '^[0-9]+ requests, the slowest took [0-9]+ ms$' ;;
	*SHUTDOWN*) ;;
	'trace-analyze redis.trc')
		echo '^Findings$'
		echo '^CPU time .* samples of cpu-clock'
		echo '^ .*redis-server$'
		;;
	*'--why '*' --full')
		for function in _dictClear dictRelease deleteExpiredKeyAndPropagate activeExpireCycle serverCron aeMain main; do
			echo "^ +$function\$"
		done
		;;
	*db.trc*--why*)
		echo '^ +[0-9.]+ m?s +100.0%   mariadbd \([0-9]+\) waited for cond '
		echo ' < handler::ha_index_read_map < '
		echo '^ +[0-9.]+ m?s +[0-9.]+%     mariadbd \([0-9]+\) waited for poll '
		echo '^ +vio_io_wait < vio_socket_io_wait < vio_read < .*my_net_read_packet'
		;;
	*slow.trc*--why*)
		echo ', back from redis-server|redis-server \([0-9]+\) did not wait'
		echo 'dictRelease'
		;;
	*--why*)
		echo ', back from redis-server \([0-9]+\), which took'
		echo ' redis-server \([0-9]+\) ran, [0-9]+ times$'
		echo '^ +(.* < )?_dictClear < dictRelease < decrRefCount'
		;;
	*--critical-path*)
		echo '^Critical path of .*, back from redis-server'
		echo '_dictClear < dictRelease < decrRefCount'
		;;
	*'lead(p.start_ns)'*) echo '^redis-server +[0-9.]+ +[0-9.]+$' ;;
	'go tool pprof'*)
		echo '^only the window '
		echo ' activeExpireCycle$'
		;;
	*lazy.trc*) echo '^bio_lazy_free +[0-9]+$' ;;
	'./stock.sh sock') echo '^[0-9:.]+ UPDATE stock took [0-9]+ ms$' ;;
	*db.trc*--sql*) echo '^ *[0-9]+ +[0-9]+ +[0-9.]+$' ;;
	*--list) echo ' [0-9]+ +redis-server --port .* flight ' ;;
	*--snapshot*) echo '^trace-record: slow.trc: process [0-9]+, ' ;;
	'trace-analyze aof.trc')
		echo ' fsync .*/appendonlydir/appendonly.aof.1.incr.aof \(fd [0-9]+\)$'
		echo '^ +flushAppendOnlyFile < beforeSleep < '
		;;
	*) fail "nothing is claimed of: $1" ;;
	esac
}

# The text with this run's port, times and process.
here()
{
	local text=$1 word
	for word in "${!actual[@]}"; do
		text=${text//"$word"/"${actual[$word]}"}
	done
	printf '%s\n' "$text"
}

# slow_of FILE: the requests that a client logged: ms, when each began; the slowest is the last.
slow_of()
{
	sed -n 's/^\([0-9:.]*\) GET session:42 took \([0-9]*\) ms$/\2 \1/p' "$1" | sort -n
}

# Of such lines the last that was waiting in the second in which redis had deleted an expired key.
meant()
{
	local ended ms at later
	ended=$(redis-cli -p "$port" LATENCY HISTORY expire-del | tail -n 2 | head -n 1)
	[ -n "$ended" ] || fail 'redis deleted nothing for long'
	while read -r ms at; do
		later=$(((ended - 10#${at:0:2} * 3600 - 10#${at:3:2} * 60 - 10#${at:6:2}) % 86400)) # whatever day it is
		[ $((later * 1000)) -le $((ms + 1000)) ] && echo "$ms $at"
	done | tail -n 1
}

# The id in the first row of an answer.
row_id()
{
	sed -n 's/^ *\([0-9][0-9]*\)  *[0-9].*/\1/p' "$1" | head -n 1
}

# What the text says beyond words.
judge()
{
	local of share longest
	case $1 in
	'./visits.sh 7777')
		of=$(slow_of expected.txt | tail -n 1)
		[ -n "$of" ] || return # of this server the document has none
		share=$(slow_of output.txt | meant)
		slow_ms=${share%% *} slow_at=${share#* }
		[ -n "$slow_at" ] || fail "no request was slow, but for: $(slow_of output.txt)"
		actual[${of#* }..+${of%% *}ms]=$slow_at..+${slow_ms}ms
		;;
	*SLOWLOG*) # in microseconds
		longest=$(redis-cli --json -p "$port" SLOWLOG GET 1000 |
			grep -o -E '\[[0-9]+,[0-9]+,[0-9]+,\["GET"' | cut -d, -f3 | sort -n | tail -n 1)
		[ "${longest:-0}" -lt $((slow_ms * 1000)) ] || fail "a GET took $longest us, the slow request $slow_ms ms"
		;;
	*redis.trc*--why*) # without lines, calls from two places of a function read alike
		awk '/ ran(, [0-9,]+ times)?$/ { getline; print }' output.txt | grep ' < ' | sort | uniq -d >twice.txt
		[ ! -s twice.txt ] || fail "$1: the same place twice: $(cat twice.txt)"
		;;
	*'lead(p.start_ns)'*) # one of the long ones is half of when the client waited, or more
		of=$(sql redis.trc "SELECT value / 1000000000.0 FROM trace_info WHERE key = 'start_realtime_ns'")
		eval "${command/LIMIT 3/LIMIT 100}" >long.txt || fail "$command: status $?"
		awk -v began="$of" -v at="$(date -d "1970-01-01 $slow_at UTC" +%s.%N)" -v ms="$slow_ms" '
			BEGIN {
				at = (at - began + 43200) % 86400 # whatever day it is
				at = (at < 0 ? at + 86400 : at) - 43200
			}
			/^redis-server / {
				from = at > $2 ? at : $2
				to = at + ms / 1e3 < $2 + $3 / 1e3 ? at + ms / 1e3 : $2 + $3 / 1e3
				found += to - from >= ms / 2e3
			}
			END { exit !found }' long.txt || fail "no long time is half of when the client waited, at $slow_at for $slow_ms ms: $(cat long.txt)"
		;;
	'go tool pprof'*)
		share=$(awk '$NF == "activeExpireCycle" { print int($5) }' output.txt)
		[ "${share:-0}" -ge 50 ] || fail "activeExpireCycle has $share % of the samples"
		;;
	*lazy.trc*--sql*)
		[ "$(grep -c -E '^[a-z-]+_?.* +[0-9]+$' output.txt)" = 1 ] || fail "not on one thread: $(cat output.txt)"
		;;
	*db.trc*--sql*)
		actual[wait:$(row_id expected.txt)]=wait:$(row_id output.txt)
		;;
	*--html*) [ -s slow.html ] || fail 'no slow.html' ;;
	*--list) actual[$(sed -n 's/^ *\([0-9]*\) *redis-server.*/\1/p' expected.txt)]=$(sed -n 's/^ *\([0-9]*\) *redis-server.*/\1/p' output.txt) ;;
	esac
}

# Places where a thread ran for less than a hundredth of the time are not told: there may be none where the machine was too busy.
starved()
{
	[[ $1 = *redis.trc*--why* ]] || return 0
	! awk '/ could have run, but had no processor/ && $3 + 0 > 80 { found = 1 } END { exit !found }' output.txt ||
		skip "the machine is too busy: in the slow request redis had no processor: $(cat output.txt)"
}

# run COMMAND: as the document has it; what it shows is in expected.txt.
run()
{
	local command pattern
	command=$(here "$1")
	case $1 in
	'go tool'*) command -v go >/dev/null || return 0 ;;
	*mariadb* | *stock.sh* | *db.trc*) [ -n "$mariadb" ] || return 0 ;;&
	./visits.sh*)
		until_true 60 redis-cli -p "$port" CONFIG SET latency-monitor-threshold 20 || fail 'redis did not come up'
		;;
	'sleep 1')
		until_true 60 redis-cli -p "$port" PING || fail 'redis did not come up'
		return
		;;
	*'&')
		: >record.err
		eval "${command% &} 2>>record.err &"
		started+=($!)
		return
		;;
	esac
	eval "$command" >output.txt 2>&1 </dev/null || fail "$command: status $?: $(cat output.txt)"
	[[ $1 != *wait ]] || cat record.err >>output.txt
	while IFS= read -r pattern; do
		grep -q -E -e "$pattern" output.txt || {
			starved "$1"
			fail "$command: no \"$pattern\" in: $(cat output.txt)"
		}
		[ ! -s expected.txt ] || grep -q -E -e "$pattern" expected.txt ||
			fail "the document does not show \"$pattern\" of: $1"
	done < <(claims "$1")
	judge "$1"
	passed "$1"
}

command=
while IFS= read -r line; do
	case $line in
	'') ;; # a paragraph of the output, or the end of it
	'    $ '*)
		[ -z "$command" ] || run "$command"
		: >expected.txt
		command=${line#    \$ }
		;;
	'    '*)
		[ -n "$command" ] || continue
		# A command goes on as long as it is not whole.
		if bash -n <<<"$command" 2>/dev/null; then
			printf '%s\n' "${line#    }" >>expected.txt
		else
			command+=$'\n'${line#    }
		fi
		;;
	*)
		[ -z "$command" ] || run "$command"
		command=
		;;
	esac
done <"$doc"
for trace in redis.trc lazy.trc slow.trc aof.trc db.trc; do
	[ ! -e $trace ] || expect_accounted $trace
done
