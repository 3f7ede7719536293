#!/bin/bash
# servers.sh - what a whole server pays: processor time for each unit of work (transaction, request,
# operation), plain and in each way of being recorded, in turn.
#
#   servers.sh [SERVER...]     mariadb, node, java, nginx, memcached, rocksdb (default: all); a server that
#                              is not installed is skipped
#
# ROUNDS=5: how many rounds; each has a slice of every way, and begins with another way.
# SLICE_S=2: how many seconds a slice lasts.  WAYS="plain again recorded": some ways only; plain is
# what the others are compared with, "again" is a second plain server: how far equals differ.
#
#   recorded, flight   without samples; a recording has the kernel's switch records, a flight recorder has none
#   nosched            recorded, without switch records (not by default)
#   F100, auto         -F 100 and -F 1000, taken as `auto` takes them
#   signal, kernel     1,000 samples a second of perf's clock, by signals and by the kernel
#   timer              the event `timer`, 1,000 a second, which the kernel's tick limits
#   perf               perf record -F 999 -g
#
# PROFILE="recorded flight": where the time of these ways goes.  After the rounds perf samples the plain server and
# that of the way under one slice of load each; the functions whose time for a unit of work differs most are
# printed, in per cent of all that the plain server takes for a unit.  Not for rocksdb.
#
# The servers of all ways are up all the time and are loaded one after the other; rocksdb's
# benchmark is a program that runs and ends.  Prints figures, separated by tabs: what, value, unit,
# and for some of them "<=" or ">=" and a target; or SERVER, "no", why not.  Ratios are of one
# round; a value is the median of rounds and both quartiles, separated by spaces.
#
# SPDX-License-Identifier: Apache-2.0
set -u -o pipefail
: "${top_srcdir:?run through make bench}" "${top_builddir:?run through make bench}"

trace_record=$top_builddir/recorder/trace-record
trace_analyze=$top_builddir/analyzer/trace-analyze
rounds=${ROUNDS:-5}
slice_s=${SLICE_S:-2}
read -r -a ways <<<"${WAYS:-plain again recorded flight F100 auto signal kernel timer perf}"
work=$(mktemp -d "${TRC_BENCH_DIR:-/dev/shm}/trc-servers-XXXXXX")
ticks_per_s=$(getconf CLK_TCK)
. "$top_srcdir/tests/bench/figures.sh"
declare -A wrapper_pid=() server_port=()

# ---- processes -------------------------------------------------------------------------------

# descendants_of PID: itself and all below it, one a line
descendants_of()
{
	local child
	echo "$1"
	for child in $(pgrep -P "$1"); do
		descendants_of "$child"
	done
}

is_wrapped()
{
	[ "$1" != plain ] && [ "$1" != again ]
}

# server_of WAY: the pids of the server alone
server_of()
{
	if is_wrapped "$1"; then
		descendants_of "${wrapper_pid[$1]}" | tail -n +2
	else
		descendants_of "${wrapper_pid[$1]}"
	fi
}

# cpu_s PID...: seconds of processor time of these processes and of their children that have ended
cpu_s()
{
	local pid
	for pid; do
		cat "/proc/$pid/stat" 2>/dev/null
	done | sed 's/.*) //' |
		awk -v hz="$ticks_per_s" '{ n += $12 + $13 + $14 + $15 } END { printf "%.3f\n", n / hz }'
}

# Of the recorder's process alone, whose threads stay: to the nanosecond, for it is little.
wrapper_cpu_s()
{
	if is_wrapped "$1"; then
		cat "/proc/${wrapper_pid[$1]}"/task/*/schedstat |
			awk '{ ns += $1 } END { printf "%.6f\n", ns / 1e9 }'
	else
		echo 0
	fi
}

# The first process of the server ends, and so does what wraps it.
server_end()
{
	local pid
	pid=$(server_of "$1" | head -n 1)
	[ -z "$pid" ] || kill "$pid"
	wait "${wrapper_pid[$1]}"
	unset "wrapper_pid[$1]"
} 2>/dev/null

all_end()
{
	local way
	for way in "${!wrapper_pid[@]}"; do
		server_end "$way"
	done
}

clean_up()
{
	all_end
	rm -rf "$work"
}
trap clean_up EXIT
trap 'exit 130' INT TERM HUP

# wrap WAY FOLLOW COMMAND...: runs it in this way; FOLLOW is --follow, or nothing
wrap()
{
	local way=$1 follow=$2 record
	shift 2
	# shellcheck disable=SC2206 # an option, or nothing
	record=("$trace_record" -q $follow -o "$work/$way.trc")
	case $way in
	plain | again) exec "$@" ;;
	recorded) exec "${record[@]}" -- "$@" ;;
	nosched) exec "${record[@]}" --no-sched -- "$@" ;;
	flight) exec "${record[@]}" --flight -- "$@" ;;
	F100) exec "${record[@]}" -F 100 -- "$@" ;;
	auto) exec "${record[@]}" -F 1000 -- "$@" ;;
	signal | kernel) exec "${record[@]}" -e cpu-clock -F 1000 --sample-by "$way" -- "$@" ;;
	timer) exec "${record[@]}" -e timer -F 1000 -- "$@" ;;
	perf) exec perf record -F 999 -g -o "$work/perf.data" -- "$@" ;;
	*) exit 2 ;;
	esac
}

# up WAY FOLLOW COMMAND...: starts the server of this way
up()
{
	wrap "$@" >"$work/$1.out" 2>"$work/$1.err" </dev/null &
	wrapper_pid[$1]=$!
}

# until_true COMMAND...: within 20 seconds
until_true()
{
	local tries=200
	until "$@" >/dev/null 2>&1; do
		tries=$((tries - 1))
		[ $tries -gt 0 ] || return 1
		sleep 0.1
	done
}

# ---- the servers: why_not_X, prepare_X, start_X WAY, load_X WAY (prints units of work) --------

# missing COMMAND...: those that are not installed
missing()
{
	local command
	for command; do
		command -v "$command" >/dev/null || echo "$command is not installed"
	done | head -n 1
}

why_not_mariadb() { missing mariadbd mariadb-install-db mariadb sysbench; }
why_not_node() { missing node wrk; }
why_not_java() { missing java javac wrk; }
why_not_nginx() { missing nginx wrk; }
why_not_memcached() { missing memcached; }
why_not_rocksdb() { missing db_bench; }

as_user=()
[ "$(id -u)" != 0 ] || as_user=(--user=root)

mariadb_up()
{
	local way=$1 data=$2
	rm -f "$work/$way.sock"
	up "$way" '' mariadbd --no-defaults "${as_user[@]}" --datadir="$data" \
		--socket="$work/$way.sock" --pid-file="$work/$way.pid" --skip-networking \
		--skip-grant-tables --innodb-log-file-size=16M --innodb-buffer-pool-size=64M
	until_true mariadb --no-defaults -S "$work/$way.sock" -e 'SELECT 1'
}

sysbench_on()
{
	local socket=$1
	shift
	sysbench oltp_read_write --mysql-socket="$socket" --mysql-user=root --mysql-db=bench \
		--tables=4 --table-size=10000 --threads=8 "$@"
}

prepare_mariadb()
{
	mariadb-install-db --no-defaults "${as_user[@]}" --datadir="$work/data" \
		--skip-test-db --innodb-log-file-size=16M >"$work/install.out" 2>&1 &&
		mariadb_up plain "$work/data" &&
		mariadb --no-defaults -S "$work/plain.sock" -e 'CREATE DATABASE bench' &&
		sysbench_on "$work/plain.sock" prepare >/dev/null && server_end plain
}

start_mariadb()
{
	cp -a "$work/data" "$work/data.$1" && mariadb_up "$1" "$work/data.$1"
}

load_mariadb()
{
	sysbench_on "$work/$1.sock" --time="$slice_s" run |
		awk '$1 == "transactions:" { print $2 }'
}

# wrk_on PORT: how many requests were answered
wrk_on()
{
	wrk -t 1 -c 16 -d "${slice_s}s" "http://127.0.0.1:$1/" |
		awk '/requests in/ { print $1 } /Non-2xx|Socket errors/ { bad = 1 } END { exit bad }'
}

# Answers with JSON that it makes anew; a file tells its port.
prepare_node()
{
	cat >"$work/server.js" <<-'END'
		const http = require('http'), fs = require('fs');
		const rows = Array.from({length: 40}, (_, i) => ({id: i, name: 'row ' + i}));
		const server = http.createServer((request, response) => {
			const body = JSON.stringify({url: request.url, rows: rows.map(
				row => ({...row, score: Math.sqrt(row.id)}))});
			response.setHeader('Content-Type', 'application/json');
			response.end(body);
		});
		server.listen(0, '127.0.0.1', () =>
			fs.writeFileSync(process.argv[2], String(server.address().port)));
	END
}

start_node()
{
	rm -f "$work/$1.port"
	up "$1" '' node "$work/server.js" "$work/$1.port"
	until_true test -s "$work/$1.port" && server_port[$1]=$(cat "$work/$1.port")
}

# The same answer, by the JDK's own server and four threads.
prepare_java()
{
	cat >"$work/Server.java" <<-'END'
		import com.sun.net.httpserver.HttpServer;
		import java.net.InetSocketAddress;
		import java.nio.file.*;
		import java.util.concurrent.Executors;
		public class Server {
			static byte[] answer(String url) {
				StringBuilder body = new StringBuilder("{\"url\":\"" + url + "\",\"rows\":[");
				for (int i = 0; i < 40; i++)
					body.append(i > 0 ? "," : "").append("{\"id\":").append(i).append(",\"name\":\"row ")
						.append(i).append("\",\"score\":").append(Math.sqrt(i)).append("}");
				return body.append("]}").toString().getBytes();
			}
			public static void main(String[] arguments) throws Exception {
				HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", 0), 0);
				server.setExecutor(Executors.newFixedThreadPool(4));
				server.createContext("/", exchange -> {
					byte[] body = answer(exchange.getRequestURI().toString());
					exchange.getResponseHeaders().set("Content-Type", "application/json");
					exchange.sendResponseHeaders(200, body.length);
					exchange.getResponseBody().write(body);
					exchange.close();
				});
				server.start();
				Files.writeString(Path.of(arguments[0]), "" + server.getAddress().getPort());
			}
		}
	END
	javac -d "$work" "$work/Server.java" >"$work/install.out" 2>&1
}

start_java()
{
	rm -f "$work/$1.port"
	up "$1" '' java -Xmx128m -cp "$work" Server "$work/$1.port"
	until_true test -s "$work/$1.port" && server_port[$1]=$(cat "$work/$1.port")
}

load_java() { wrk_on "${server_port[$1]}"; }

load_node() { wrk_on "${server_port[$1]}"; }

prepare_nginx()
{
	mkdir -p "$work/www" && head -c 2000 /dev/urandom | base64 >"$work/www/index.html"
}

# A port that is taken is not bound; then another is tried.
start_nginx()
{
	local user='' tries
	[ "$(id -u)" != 0 ] || user='user root;'
	for tries in 1 2 3 4 5; do
		server_port[$1]=$((20000 + RANDOM % 10000))
		mkdir -p "$work/nginx.$1"
		cat >"$work/$1.conf" <<-END
			$user daemon off; worker_processes 2; pid $work/nginx.$1/pid; error_log stderr crit;
			events { worker_connections 64; }
			http {
				access_log $work/nginx.$1/access.log;
				client_body_temp_path $work/nginx.$1; proxy_temp_path $work/nginx.$1;
				fastcgi_temp_path $work/nginx.$1; uwsgi_temp_path $work/nginx.$1;
				scgi_temp_path $work/nginx.$1;
				server { listen 127.0.0.1:${server_port[$1]}; root $work/www; }
			}
		END
		up "$1" --follow nginx -e stderr -p "$work/nginx.$1" -c "$work/$1.conf"
		sleep 0.5
		! kill -0 "${wrapper_pid[$1]}" 2>/dev/null ||
			! until_true test "$(server_of "$1" | wc -l)" -ge 3 || return 0
	done
	return 1
}

load_nginx() { wrk_on "${server_port[$1]}"; }

prepare_memcached() { :; }

start_memcached()
{
	local user=()
	[ "$(id -u)" != 0 ] || user=(-u root)
	rm -f "$work/$1.sock"
	up "$1" '' memcached "${user[@]}" -t 4 -m 64 -s "$work/$1.sock"
	until_true test -S "$work/$1.sock"
}

# As many operations as take about a slice.
load_memcached()
{
	"$top_builddir/tests/integration/mc_load" -s "$work/$1.sock" -n $((slice_s * 400000)) -c 32 |
		cut -f 1
}

# ---- slices ----------------------------------------------------------------------------------

# Each slice leaves a line in $work/WAY.slices: units, seconds of the server, of the recorder.

slice_of_server()
{
	local server=$1 way=$2 units pids before after own_before own_after
	pids=$(server_of "$way")
	# shellcheck disable=SC2086 # a list of pids
	before=$(cpu_s $pids)
	own_before=$(wrapper_cpu_s "$way")
	units=$("load_$server" "$way") && [ "${units:-0}" -gt 0 ] || return 1
	# shellcheck disable=SC2086
	after=$(cpu_s $pids)
	own_after=$(wrapper_cpu_s "$way")
	awk -v u="$units" -v a="$before" -v b="$after" -v c="$own_before" -v d="$own_after" \
		'BEGIN { printf "%d\t%.3f\t%.6f\n", u, b - a, d - c }' >>"$work/$way.slices"
}

rocksdb_operations=$((slice_s * 100000))

# run_rocksdb WAY: the shell around the benchmark says what its child used.
run_rocksdb()
{
	# shellcheck disable=SC2016 # for the other shell
	(wrap "$1" --follow bash -c 'times_to=$1; shift
		"$@" >/dev/null 2>&1 && times >"$times_to"' - "$work/times" \
		db_bench --benchmarks=fillrandom,readrandom --threads=4 --db="$work/db" \
		--num=$((rocksdb_operations / 4)) --write_buffer_size=4194304 \
		>"$work/$1.out" 2>"$work/$1.err")
}

# Bash says what all together used.
slice_of_rocksdb()
{
	local TIMEFORMAT='%U %S'
	rm -rf "$work/db" "$work/times"
	{ time run_rocksdb "$2"; } 2>"$work/all"
	tail -n 1 "$work/times" | tr 'ms' '  ' | cat - "$work/all" |
		awk -v u="$rocksdb_operations" 'NR == 1 { server = $1 * 60 + $2 + $3 * 60 + $4 }
			NR == 2 { all = $1 + $2 }
			END { printf "%d\t%.3f\t%.3f\n", u, server, all - server; exit NR != 2 }' \
			>>"$work/$2.slices"
}

slice_of()
{
	if [ "$1" = rocksdb ]; then
		slice_of_rocksdb "$@"
	else
		slice_of_server "$@"
	fi
}

# A round more than asked for: the first is to warm up, and not counted.
rounds_of()
{
	local round i n=${#ways[@]}
	for ((round = 0; round <= rounds; round++)); do
		for ((i = 0; i < n; i++)); do
			slice_of "$1" "${ways[(round + i) % n]}" || {
				echo "${ways[(round + i) % n]}: the load failed" >"$work/why"
				return 1
			}
		done
		[ $round -gt 0 ] || rm -f "$work"/*.slices
	done
}

# ---- figures ---------------------------------------------------------------------------------

# quartiles_of EXPRESSION: of what it comes to, over the lines of $work/pairs: plain's units, server and
# recorder in $1 to $3, the way's in $4 to $6.  Prints the median and both, separated by spaces.
quartiles_of()
{
	awk -F '\t' "{ print $1 }" "$work/pairs" | quartiles
}

# Of all traces of this way, in per cent of the CPU time that was to be sampled.
lost_of()
{
	local trace
	for trace in "$work/$1".trc "$work/$1".*.trc; do
		[ ! -e "$trace" ] || "$trace_analyze" --output tsv "$trace" --sql "
			SELECT (SELECT coalesce(sum(value), 0) FROM event_sample),
			       (SELECT coalesce(sum(lost_samples), 0) FROM event_samples_lost) *
			       (SELECT coalesce(max(period), 0) FROM event_sample)" | tail -n 1
	done | awk -F '\t' '{ got += $1; lost += $2 } END {
		if (got + lost) printf "%.2f\n", 100 * lost / (got + lost); else print "-" }'
}

# target_of SERVER WAY: "<=" and a number, or nothing
target_of()
{
	case $1-$2 in
	mariadb-recorded | node-recorded) echo '<= 1.03' ;;
	mariadb-flight) echo '<= 1.015' ;;
	node-flight | memcached-recorded) echo '<= 1.02' ;;
	memcached-flight) echo '<= 1.01' ;;
	mariadb-auto) echo '<= 1.08' ;;
	node-auto) echo '<= 1.06' ;;
	esac
}

# row WHAT VALUE UNIT [TARGET]
row()
{
	printf '%s\t%s\t%s\t%s\n' "$1" "$2" "$3" "${4-}"
}

tell_way()
{
	local lost
	paste "$work/plain.slices" "$work/$2.slices" >"$work/pairs"
	row "$1, $2" "$(quartiles_of '($5 / $4) / ($2 / $1)')" x "$(target_of "$1" "$2")"
	! is_wrapped "$2" || row "$1, $2: the recorder's own process" \
		"$(quartiles_of '($6 / $4) / ($2 / $1)')" x
	lost=$(lost_of "$2")
	[ "$lost" = - ] || row "$1, $2: samples lost, all causes" "$lost" % \
		"$([ "$2" != auto ] || echo '<= 0.5')"
}

# Samples at 100 a second beyond recording without.
tell_beyond()
{
	[ -e "$work/F100.slices" ] && [ -e "$work/recorded.slices" ] || return 0
	paste "$work/plain.slices" "$work/recorded.slices" "$work/F100.slices" >"$work/pairs"
	row "$1, F100 beyond recorded" "$(quartiles_of '($8 / $7 - $5 / $4) / ($2 / $1)')" x \
		"$([ "$1" != mariadb ] || echo '<= 0.01')"
}

tell()
{
	local way
	for way in "${ways[@]}"; do
		[ "$way" = plain ] || tell_way "$1" "$way"
	done
	tell_beyond "$1"
}

# ---- where the time goes ---------------------------------------------------------------------

profile_hz=1999
read -r -a profiled <<<"${PROFILE-}"

# profile SERVER WAY: one slice of load, sampled.  Leaves in $work/WAY.functions, for each function: microseconds
# for a unit of work, and its name with that of its file.
profile()
{
	local pids units perf_pid
	pids=$(server_of "$2" | paste -s -d ,)
	perf record -q -e cpu-clock -F "$profile_hz" -o "$work/functions.data" -p "$pids" >/dev/null 2>&1 &
	perf_pid=$!
	until_true test -s "$work/functions.data"
	sleep 0.5 # it has attached to all threads by then
	units=$("load_$1" "$2")
	kill -INT "$perf_pid" && wait "$perf_pid"
	[ "${units:-0}" -gt 0 ] || return 1
	perf report -i "$work/functions.data" --stdio -q -n --no-children --sort dso,sym -t "$(printf '\t')" 2>/dev/null |
		awk -F '\t' -v units="$units" -v hz="$profile_hz" 'NF == 4 {
			gsub(/^ +| +$/, "", $3); gsub(/^ +| +$/, "", $4); sub(/^\[[^]]*\] /, "", $4)
			printf "%.6f\t%s (%s)\n", $2 / hz / units * 1e6, $4, $3 }' >"$work/$2.functions"
	rm -f "$work/functions.data"
	[ -s "$work/$2.functions" ]
}

# The functions that differ most, and the sum of all.
tell_profile()
{
	awk -F '\t' -v server="$1" -v way="$2" '
		NR == FNR { plain[$2] += $1; all += $1; seen[$2]; next }
		{ other[$2] += $1; seen[$2] }
		END {
			for (name in seen) {
				more = (other[name] - plain[name]) / all * 100
				sum += more
				printf "%.6f\t%s, %s over plain: %s\t%.2f\n", more < 0 ? -more : more, server, way, name, more
			}
			printf "1e9\t%s, %s over plain: all functions\t%.2f\n", server, way, sum
		}' "$work/plain.functions" "$work/$2.functions" | sort -t "$(printf '\t')" -grk 1,1 | sed 16q |
		while IFS=$'\t' read -r _ what more; do
			row "$what" "$more" %
		done
}

profile_all()
{
	local way
	[ ${#profiled[@]} -gt 0 ] && [ "$1" != rocksdb ] && profile "$1" plain || return 0
	for way in "${profiled[@]}"; do
		[ -n "${wrapper_pid[$way]-}" ] && profile "$1" "$way" && tell_profile "$1" "$way"
	done
}

# Nothing if all of it could be done; else $work/why.
measure()
{
	local way
	rm -f "$work"/*.slices "$work"/*.trc
	"prepare_$1" || {
		echo 'it could not be prepared' >"$work/why"
		return 1
	}
	for way in "${ways[@]}"; do
		"start_$1" "$way" || {
			echo "$way: it did not start: $(tail -n 1 "$work/$way.err")" >"$work/why"
			return 1
		}
	done
	rounds_of "$1"
}

prepare_rocksdb() { :; }
start_rocksdb() { :; }

[ $# -gt 0 ] || set -- mariadb node java nginx memcached rocksdb
for server; do
	declare -F "why_not_$server" >/dev/null || {
		echo "servers.sh: $server: not one of: mariadb node java nginx memcached rocksdb" >&2
		exit 2
	}
done
command -v perf >/dev/null || ways=("${ways[@]/perf/}")
read -r -a ways <<<"${ways[*]}"
for server; do
	reason=$("why_not_$server")
	if [ -z "$reason" ]; then
		measure "$server" || reason=$(cat "$work/why")
		[ -n "$reason" ] || profile_all "$server" >"$work/profile"
		all_end
	fi
	if [ -n "$reason" ]; then
		row "$server" no "$reason"
	else
		tell "$server"
		[ ! -s "$work/profile" ] || cat "$work/profile"
	fi
	rm -rf "$work"/data*
done
