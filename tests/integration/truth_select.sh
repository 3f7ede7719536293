#!/bin/bash
# What --slowest, --thread and --window leave, against a program that wrote down what each of its
# threads did and when: waits within 2 %; and SQL, profiles, --json and the report among each other.
. "$(dirname "$0")/lib.sh"
need_unsanitized
need go

declare -A options=(
	[slowest]='--slowest 10% --task request'
	[thread]='--thread worker?0'
	[window]='--window task:WINDOW'
	[both]='--thread worker?0 --slowest 10% --task request'
)

# selected SELECTION ARGUMENT...: trace-analyze, narrowed
selected()
{
	local word words=()
	for word in ${options[$1]}; do
		word=${word/WINDOW/$window}
		words+=("${word/\?/ }")
	done
	shift
	"$trace_analyze" "${words[@]}" "$@" dump.trc
}

# of SELECTION QUERY: one value
of()
{
	selected "$1" --output tsv --sql "$2" | tail -n +2
}

# ns_of PROFILE: all nanoseconds in it
ns_of()
{
	go tool pprof -raw "$1" 2>raw.txt | awk '/^Samples:/ { on = 1; next } /^Locations/ { on = 0 }
		on && /^ *-?[0-9]+ +-?[0-9]+:/ { sub(":", "", $2); sum += $2 } END { printf "%.0f", sum }'
}

near()
{
	local off=$(($2 - $3)) allowed=$(($3 * $4 / 100 + $5))
	# No other program is to blame for what is off by half of it.
	[ ${off#-} -le $(($3 / 2 + 10 * allowed)) ] || fail "$1: $2 instead of $3"
	[ ${off#-} -le $allowed ] || differs "$1: $2 instead of $3, give or take $allowed"
}

# The program reads the clock a little before and after what the trace has.
truth_holds()
{
	local selection what value got
	while IFS=$'\t' read -r selection what value; do
		case $what in
		gap) ;;
		requests)
			got=$(of "$selection" "SELECT count(*) FROM tasks WHERE type = 'request'")
			near "$selection: requests" "$got" "$value" 0 0 || return
			;;
		cpu)
			# Timers of CPU time expire at ticks only: their samples are of the request before, too.
			[ "$clock" = cpu-clock ] || continue
			got=$(of "$selection" 'SELECT total(scaled_value) FROM samples' | cut -d. -f1)
			near "$selection: $what" "$got" "$value" 10 10000000 || return
			;;
		*)
			got=$(of "$selection" "SELECT coalesce(sum(waited_ns), 0) FROM parks
				JOIN threads ON threads.id = thread
				WHERE reason = '$what' AND name LIKE 'worker%'")
			near "$selection: $what" "$got" "$value" 2 3000000 || return
			;;
		esac
		echo "$selection $what: $got of $value"
	done <truth.tsv
}

# What was waited for a lock, what was caused by locks, and CPU time: to the nanosecond.
outputs_agree()
{
	local selection=$1 sql_ns
	selected "$selection" --pprof block -o block.pb.gz --pprof mutex -o mutex.pb.gz \
		--pprof cpu -o cpu.pb.gz || fail "$selection: no profiles"
	selected "$selection" --json >all.json || fail "$selection: no JSON"
	sql_ns=$(of "$selection" "SELECT coalesce(sum(waited_ns), 0) FROM parks WHERE reason IN ('mutex', 'join')")
	expect "$selection: block, $sql_ns ns" test "$(ns_of block.pb.gz)" = "$sql_ns"
	expect "$selection: waits in --json" test "$(json waits waited_ns mutex join)" = "$sql_ns"
	expect "$selection: the table selected" test "$(of "$selection" "SELECT coalesce(sum(ns), 0)
		FROM selected AS s JOIN main.parks AS p USING (id)
		WHERE kind = 'parks' AND reason IN ('mutex', 'join')")" = "$sql_ns"
	sql_ns=$(of "$selection" 'SELECT coalesce(sum(caused_ns), 0) FROM unlocks')
	expect "$selection: mutex, $sql_ns ns" test "$(ns_of mutex.pb.gz)" = "$sql_ns"
	expect "$selection: critical sections in --json" test "$(json critical_sections caused_ns)" = "$sql_ns"
	sql_ns=$(of "$selection" 'SELECT coalesce(sum(scaled_value), 0) FROM samples')
	expect "$selection: cpu, $sql_ns ns" test "$(ns_of cpu.pb.gz)" = "$sql_ns"
	expect "$selection: samples in --json" test "$(json samples scaled_value)" = "$sql_ns"
	report_agrees "$selection"
	findings_agree "$selection"
}

# What a finding costs is what its query shows of the same selection; a note says what was not looked for.
findings_agree()
{
	local selection=$1 id kind cost sum
	expect "$selection: a note says what was not looked for" test \
		"$(of "$selection" "SELECT sentence LIKE 'not looked for in what is selected: %lock_order' FROM findings WHERE kind = 'narrowed'")" = 1
	while IFS=$'\t' read -r id kind cost; do
		case $kind in
		lock*) sum=waited_ns ;;
		procs*) sum=without_ns ;;
		*) continue ;;
		esac
		expect "$selection: $kind, $cost ns" test "$cost" = \
			"$(of "$selection" "SELECT sum($sum) FROM ($(of "$selection" "SELECT sql FROM findings WHERE id = $id"))")"
	done < <(of "$selection" "SELECT id, kind, cost_ns FROM findings WHERE severity = 'cost'")
}

# json PART COLUMN [REASON...]: the sum of the column of the part's rows, each of which is a line
json()
{
	awk -v part="\"$1\":" -v column="\"$2\":" -v reasons=" ${*:3} " '
		/^[,{]"[a-z_]*":$/ { on = substr($0, 2) == part; next }
		on && (at = index($0, column)) {
			reason = $0
			sub(/.*"reason":"/, "", reason)
			sub(/".*/, "", reason)
			if (reasons == "  " || index(reasons, " " reason " "))
				sum += substr($0, at + length(column)) + 0
		}
		END { printf "%.0f", sum }' all.json
}

# The report says three digits.
report_agrees()
{
	local selection=$1 sql_ns said
	sql_ns=$(of "$selection" "SELECT coalesce(sum(waited_ns), 0) FROM parks WHERE reason IN ('mutex', 'cond_mutex')")
	selected "$selection" >report.txt || fail "$selection: no report"
	grep -q '^from here on only ' report.txt || fail "$selection: the report does not say it"
	said=$(awk '/^Waiting for locks/ { unit = $5; v = $4
		printf "%.0f", v * (unit == "s" ? 1e9 : unit == "ms" ? 1e6 : unit == "ns" ? 1 : 1e3) }' report.txt)
	expect "$selection: the report says $said ns" test $((${said:-0} * 100)) -ge $((sql_ns * 99)) -a \
		$((${said:-0} * 99)) -le $((sql_ns * 100))
}

while another_run; do
	measure "$trace_record" -q -e auto -F 1000 -o dump.trc -- "$here/truth_select" >truth.tsv ||
		fail "trace-record or the program failed: $?"
	window=$(sql dump.trc "SELECT id FROM tasks WHERE type = 'window'")
	clock=$(sql dump.trc 'SELECT name FROM sample_events')
	awk '$2 == "gap" { n++; close_ones += $3 <= 500000 } END { exit n != 2 || close_ones }' truth.tsv ||
		undecided 'which requests were the slowest was decided by less than 0.5 ms' || continue
	truth_holds || continue
done
expect_sound dump.trc
passed 'what is selected is what the program did then'
for selection in "${!options[@]}"; do
	outputs_agree "$selection"
done

# Every hundredth of the time, and every thread: nothing is lost between them.
whole=$(sql dump.trc 'SELECT sum(waited_ns) FROM parks')
sum=0
for ((i = 0; i < 10; i++)); do
	[ $i = 9 ] && to= || to=$((i * 30 + 30))ms
	sum=$((sum + $("$trace_analyze" --window "$((i * 30))ms..$to" --output tsv \
		--sql 'SELECT coalesce(sum(waited_ns), 0) FROM parks' dump.trc | tail -n 1)))
done
expect 'windows one after the other have all waits' test $sum = "$whole"
sum=0
for tid in $(sql dump.trc 'SELECT DISTINCT tid FROM threads'); do
	sum=$((sum + $("$trace_analyze" --thread "$tid" --output tsv \
		--sql 'SELECT coalesce(sum(waited_ns), 0) FROM parks' dump.trc | tail -n 1)))
done
expect 'threads one after the other have all waits' test $sum = "$whole"

# --why of the slowest is of the same tasks.
why=$("$trace_analyze" --why task:request --slowest 10% dump.trc | sed -n 's/.*slowest 10%, (\([0-9]*\)) took.*/\1/p')
expect "--why and the selection pick $why tasks" test "$why" = "$(of slowest 'SELECT count(*) FROM tasks')"

# What the table task_times has of one request is what --task leaves of waits, and of the processors outside of them.
for id in $(sql dump.trc "SELECT id FROM tasks WHERE type = 'request' ORDER BY duration_ns DESC LIMIT 3"); do
	options[one]="--task $id"
	for reason in mutex sleep; do
		expect "task $id, $reason: task_times and --task" test \
			"$(sql dump.trc "SELECT coalesce(sum(ns), 0) FROM task_times WHERE task = $id AND reason = '$reason'")" = \
			"$(of one "SELECT coalesce(sum(waited_ns), 0) FROM parks WHERE reason = '$reason'")"
	done
	expect "task $id: its threads' time is its spans" test \
		"$(sql dump.trc "SELECT sum(ns) FROM task_times WHERE task = $id AND thread IS NOT NULL")" = \
		"$(sql dump.trc "SELECT sum(duration_ns) FROM task_spans WHERE task = $id")"
done
unset 'options[one]'
# And of all: each thread's by itself.
for reason in mutex sleep; do
	expect "task_times and --task request: $reason" test \
		"$(sql dump.trc "SELECT sum(ns) FROM task_times JOIN tasks ON id = task WHERE type = 'request' AND reason = '$reason'")" = \
		"$("$trace_analyze" --task request --output tsv --sql "SELECT sum(waited_ns) FROM parks
			WHERE reason = '$reason'" dump.trc | tail -n 1)"
done

# refused STATUS LINE OPTION...
refused()
{
	local status=$1 line=$2
	shift 2
	"$trace_analyze" "$@" dump.trc >out.txt 2>err.txt
	[ "$? $(cat err.txt)" = "$status trace-analyze: $line" ] || fail "$*: $(cat err.txt)"
	[ ! -s out.txt ] || fail "$*: it prints $(head -n 1 out.txt)"
	passed "refused: $*"
}

refused 1 'dump.trc: --thread nobody: no thread has this tid or name' --thread nobody
refused 1 'dump.trc: --task nothing: no task has this id or type' --task nothing --sql 'SELECT 1'
refused 2 '--window 2s..1s: 2s..1s ends before it begins' --window 2s..1s
refused 2 '--slowest needs the type of the tasks: --task TYPE' --slowest 1%
refused 2 '--slowest 0%: it is a share of the tasks such as 1%, not 0%' --slowest 0% --task request
refused 2 '--slowest 101%: it is a share of the tasks such as 1%, not 101%' --slowest 101% --task request
refused 2 '--slowest nan: it is a share of the tasks such as 1%, not nan' --slowest nan --task request
"$trace_analyze" --window 1000s.. dump.trc >out.txt 2>err.txt
expect 'a window behind the trace is refused' test $? = 1
expect 'and why' grep -q 'window 1000s..: the trace lasts' err.txt
