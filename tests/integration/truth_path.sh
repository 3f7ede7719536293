#!/bin/bash
# The critical path of tasks that go through three threads and wait behind a fourth, against a program that writes down
# who had each task when: the same threads in the same order, within 2 %; in the report, SQL, --json and pprof.  So those of
# regions, of a thread and of the program, as far as they lie in a task; the path of the same time as a window is the same; pieces add up.
. "$(dirname "$0")/lib.sh"
need_unsanitized

# path WHAT OPTION...: its pieces: thread, what it did, ns; those that follow each other and are alike are one.
path()
{
	"$trace_analyze" --critical-path "$@" dump.trc >path.txt || fail "no critical path: $*"
	awk -v OFS='\t' '
		function ns(text, unit) {
			return text * (unit == "s" ? 1e9 : unit == "ms" ? 1e6 : unit == "ns" ? 1 : 1e3)
		}
		/^What / { exit }
		/%/ && $6 ~ /^[a-z]/ {
			thread = $6
			did = / slept$/ ? "slept" : "worked"
			if ($6 == "nobody") # held the lock: who is to have it is woken
				thread = "worker"
			if (thread == last && did == last_did) {
				sum += ns($3, $4)
				next
			}
			if (last)
				print last, last_did, sum
			last = thread; last_did = did; sum = ns($3, $4)
		}
		END { print last, last_did, sum }' path.txt
}

# joined: rows of thread, what it did, ns; those that follow each other and are alike are one.
joined()
{
	awk -F '\t' -v OFS='\t' '
		$1 == last && $2 == did { sum += $3; next }
		{ if (last) print last, did, sum; last = $1; did = $2; sum = $3 }
		END { print last, did, sum }'
}

did="CASE cause WHEN 'sleeping' THEN 'slept' ELSE 'worked' END"
# table_path TABLE OF ID: the same of SQL.
table_path()
{
	sql dump.trc "SELECT name, $did, duration_ns FROM $1 JOIN threads AS t ON t.id = thread WHERE $2 = $3 ORDER BY $1.id" | joined
}

# agrees NUMBER: pieces.tsv with those of the request, or r and its number: of its region.
# The clock is read a little before or after what it stands for, three digits are told, and between the signal and
# the end of the wait for it there may be a wait for the mutex.
agrees()
{
	awk -F '\t' -v number="$1" '
		NR == FNR { n++; who[n] = $1; did[n] = $2; ns[n] = $3; next }
		$1 == number {
			k++
			off = ns[k] - $4
			allowed = 0.02 * $4 + (number ~ /^r?1$/ ? 300000 : 60000) # the first stacks take longest to walk
			if (who[k] != $2 || did[k] != $3 || (off < 0 ? -off : off) > allowed) {
				bad++
				printf "request %s, piece %d: %s %s for %.3f ms, and by the program %s %s for %.3f ms\n",
					number, k, who[k], did[k], ns[k] / 1e6, $2, $3, $4 / 1e6
			}
		}
		END { exit bad || k != n }' pieces.tsv truth.tsv
}

requests_agree()
{
	local number=0 id
	for id in $(sql dump.trc 'SELECT id FROM tasks ORDER BY start_ns'); do
		number=$((number + 1))
		path "task:$id" >pieces.tsv
		agrees $number || differs "the path of request $number is not the program's" || return
		table_path task_path task "$id" >pieces.tsv
		agrees $number || differs "the path of request $number in SQL is not the program's" || return
	done
	[ $number = 30 ] || fail "$number requests of 30"
}

regions_agree()
{
	local number=0 id
	for id in $(sql dump.trc "SELECT id FROM regions WHERE type = 'serve' ORDER BY start_ns"); do
		number=$((number + 1))
		table_path region_path region "$id" >pieces.tsv
		agrees r$number || differs "the path of region $number is not the program's" || return
	done
	[ $number = 30 ] || fail "$number regions of 30"
	# Of several the longest is told.
	path region:serve >pieces.tsv
	number=$(sql dump.trc "SELECT n FROM (SELECT row_number() OVER (ORDER BY start_ns) AS n, duration_ns FROM regions)
		ORDER BY duration_ns DESC LIMIT 1")
	agrees "r$number" || differs "the path of the longest region is not the program's"
}

# What all requests come down to, by thread: as many places and times as the program has, in the profile of all instances too.
totals_agree()
{
	"$trace_analyze" --critical-path task:request --output json dump.trc >all.json || fail 'no critical path of all'
	sed -n '/"leaves":/,$s/.*"total_ns":\([0-9]*\),.*"cause":"\([a-z_]*\)","thread":\([0-9]*\),.*/\3\t\2\t\1/p' all.json >leaves.tsv
	sql dump.trc 'SELECT id, name FROM threads' >names.tsv
	awk -F '\t' '
		FILENAME == "names.tsv" { name[$1] = $2; next }
		FILENAME == "leaves.tsv" { sum[name[$1], $2 == "sleeping" ? "slept" : "worked"] += $3; next }
		$1 !~ /^r/ { truth[$2, $3] += $4 }
		END {
			for (of in truth) {
				n++
				off = sum[of] - truth[of]
				bad += (off < 0 ? -off : off) > 0.02 * truth[of] + 30 * 30000
				printf "%s %.3f of %.3f ms\n", of, sum[of] / 1e6, truth[of] / 1e6
			}
			for (of in sum)
				bad += !(of in truth) && sum[of] > 30 * 30000
			exit bad || n != 6
		}' names.tsv leaves.tsv truth.tsv >totals.txt || differs "what all requests come down to: $(cat totals.txt)"
}

# When another thread than those that begin and end a request worked for it: while it was in its region.
spans_agree()
{
	sql dump.trc "SELECT n, total(duration_ns) FROM (SELECT id, row_number() OVER (ORDER BY start_ns) AS n FROM tasks) AS t JOIN task_spans AS s
		ON s.task = t.id JOIN threads AS w ON w.id = s.thread WHERE w.name = 'worker' GROUP BY 1" >spans.tsv
	awk -F '\t' 'NR == FNR { span[$1] = $2; n++; next }
		sub("^r", "", $1) { served[$1] += $4 }
		END { for (i in served) { off = span[i] - served[i]; bad += (off < 0 ? -off : off) > 0.02 * served[i] + 60000 }
			exit bad || n != 30 }' spans.tsv truth.tsv || differs "the worker's part of requests is not the program's: $(cat spans.tsv)"
}

# lasting_agrees WHAT: what of its path lies in a request is the request's.
lasting_agrees()
{
	local number
	"$trace_analyze" --critical-path "$1" --output json dump.trc >lasting.json || fail "no critical path: $1"
	sed -n '/"path":/,/"leaves":/s/.*"cause":"\([a-z_]*\)","thread":\([0-9]*\),"from_ns":\([0-9]*\),"to_ns":\([0-9]*\),.*/\1\t\2\t\3\t\4/p' \
		lasting.json >lasting.tsv
	for number in 1 2 10 29 30; do
		sql dump.trc "SELECT start_ns, end_ns FROM tasks ORDER BY start_ns LIMIT 1 OFFSET $((number - 1))" >request.tsv
		sql dump.trc "SELECT id, name FROM threads" >names.tsv
		awk -F '\t' -v OFS='\t' '
			FILENAME == "names.tsv" { name[$1] = $2; next }
			FILENAME == "request.tsv" { start = $1; end = $2; next }
			$4 > start && $3 < end {
				from = $3 > start ? $3 : start
				to = $4 < end ? $4 : end
				print name[$2], $1 == "sleeping" ? "slept" : "worked", to - from
			}' names.tsv request.tsv lasting.tsv | joined >pieces.tsv
		agrees $number || differs "request $number in the path of $1 is not the program's" || return
	done
}

while another_run; do
	measure "$trace_record" -q -o dump.trc -- "$here/truth_path" >truth.tsv ||
		fail "trace-record or the program failed: $?"
	expect_sound dump.trc
	requests_agree && totals_agree && spans_agree && regions_agree && lasting_agrees thread:sender && lasting_agrees program
done
passed 'the critical paths of 30 tasks over four threads are what the program did, in its order'
passed 'what they come down to by thread, and for how long one served each, is what the program says'
passed 'so are those of 30 regions, that of a thread, and that of the program'

# ---- four ways ----

# by_cause JSON: what all leaves come down to.
by_cause()
{
	sed -n '/"leaves":/,$s/.*"total_ns":\([0-9]*\),.*"cause":"\([a-z_]*\)".*/\2\t\1/p' "$1" |
		awk -F '\t' -v OFS='\t' '{ sum[$1] += $2 } END { for (cause in sum) print cause, sum[cause] }' | LC_ALL=C sort
}

for id in $(sql dump.trc 'SELECT id FROM tasks ORDER BY duration_ns DESC LIMIT 3'); do
	"$trace_analyze" --critical-path "task:$id" --output json dump.trc >path.json || fail "no JSON of task $id"
	sed -n '/"path":/,/"leaves":/s/.*"cause":"\([a-z_]*\)","thread":\([0-9]*\),"from_ns":\([0-9]*\),"to_ns":\([0-9]*\),.*/\1\t\2\t\3\t\4/p' \
		path.json >json.tsv
	sql dump.trc "SELECT cause, thread, from_ns, to_ns FROM task_path WHERE task = $id ORDER BY id" >table.tsv
	expect "task $id: --output json and SQL have the same pieces" diff table.tsv json.tsv
done
same=$(sql dump.trc "SELECT count(*), total(p.ns <> t.duration_ns OR holes) FROM tasks AS t JOIN (SELECT task, sum(duration_ns) AS ns,
	max(to_ns) - min(from_ns) <> sum(duration_ns) AS holes FROM task_path GROUP BY task) AS p ON p.task = t.id")
expect 'each path is as long as its task' test "$same" = '30	0.0'
sql dump.trc 'SELECT cause, sum(duration_ns) FROM task_path GROUP BY 1 ORDER BY 1' >table.tsv
"$trace_analyze" --critical-path task:request --output json dump.trc >path.json || fail 'no JSON of all'
by_cause path.json >json.tsv
expect 'all tasks: --output json and SQL have the same sums' diff table.tsv json.tsv
"$trace_analyze" --critical-path region:serve --output json dump.trc >path.json || fail 'no JSON of regions'
by_cause path.json >json.tsv
sql dump.trc 'SELECT cause, sum(duration_ns) FROM region_path GROUP BY 1 ORDER BY 1' | diff - json.tsv || fail 'the sums of regions differ'
passed 'all regions: likewise'
plan=$(sql dump.trc 'EXPLAIN QUERY PLAN SELECT * FROM task_path WHERE task = 1')
expect 'one task is asked for' grep -q 'task=?' <<<"$plan"

if command -v go >tags.txt; then
	# profile FILE OPTION...: its sums by cause
	profile()
	{
		"$trace_analyze" "${@:2}" --pprof path -o "$1" dump.trc || fail "no profile: $*"
		go tool pprof -tags -unit=ns "$1" >tags.txt 2>pprof.err || fail "go tool pprof: $(cat pprof.err)"
		sed -n '/^ *cause:/,/^ *$/s/^ *\([0-9]*\)ns (.*): \([a-z_]*\)$/\2\t\1/p' tags.txt | LC_ALL=C sort
	}
	profile all.pb.gz >pprof.tsv
	expect 'all tasks: pprof and SQL have the same sums' diff table.tsv pprof.tsv
	profile some.pb.gz --task request --slowest 20% >pprof.tsv
	"$trace_analyze" --critical-path task:request --slowest 20% --output json dump.trc >path.json || fail 'no JSON'
	by_cause path.json >json.tsv
	expect 'the slowest: likewise' diff json.tsv pprof.tsv
	go tool pprof -top -unit=ns -tagfocus=cause=sleeping all.pb.gz >top.txt 2>pprof.err || fail "go tool pprof: $(cat pprof.err)"
	expect 'totals by function: who slept' awk '/ pass/ { n += $1 + 0 > 30 * 5e6 } END { exit n != 1 }' top.txt
fi

# ---- windows ----

# Back from the end of the same time, through who was last: of a task at whose end the other three had gone to their barrier, and that
# was not held up for so long that its last thread worked for less than a hundredth of its time.
id=$(sql dump.trc "SELECT t.id FROM tasks AS t JOIN parks AS p ON p.start_ns < t.end_ns AND p.end_ns > t.end_ns
	WHERE p.thread <> t.end_thread AND p.reason = 'barrier' GROUP BY t.id HAVING count(*) = 3 ORDER BY t.duration_ns LIMIT 1")
[ -n "$id" ] || skip 'the machine is too busy: at the end of each task some other thread was still at work'
path "task:$id" >of_task.tsv
path program --window "task:$id" >of_window.tsv
expect 'the path of a window as long as a task is the path of the task' diff of_task.tsv of_window.tsv
"$trace_analyze" --critical-path 0s..100s dump.trc >path.txt || fail 'no path of all'
expect 'of all of the trace there is one' grep -q '^Critical path of 0s..100s, back from ' path.txt

# Where threads worked for the request by the table of its time: who ended it, from its begin on, and who was in a region of it.
who=$(sql dump.trc "SELECT group_concat(name) FROM (SELECT DISTINCT name FROM task_times JOIN threads ON id = thread ORDER BY 1)")
expect 'task_times has who ended them, and who served them' test "$who" = sender,worker
