#!/bin/bash
# labels_test.sh - labels in what trace-analyze answers: SQL, the report, and --label-filter.
#
# SPDX-License-Identifier: Apache-2.0
set -u
: "${top_srcdir:?}" "${top_builddir:?}"

analyze=$top_builddir/analyzer/trace-analyze
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
failed=0

fail()
{
	printf 'FAIL: %s\n' "$*"
	failed=1
}

# same WHAT WANTED GOT
same()
{
	[ "$2" = "$3" ] || fail "$1"$'\n'"wanted: $2"$'\n'"got: $3"
}

# report [OPTION...]: into $dir/out
report()
{
	"$analyze" "$@" "$dir/t.trc" >"$dir/out" 2>"$dir/err" || fail "$*: status $?"
	[ ! -s "$dir/err" ] || fail "$*: $(cat "$dir/err")"
}

# tells WHAT LINE: a line of the report, blanks at its ends and runs of them left out
tells()
{
	sed 's/^ *//; s/  */ /g' "$dir/out" | grep -qxF -- "$2" || fail "$1: wanted: $2"$'\n'"$(cat "$dir/out")"
}

# silent WHAT TEXT
silent()
{
	! grep -qF -- "$2" "$dir/out" || fail "$1: found: $2"$'\n'"$(cat "$dir/out")"
}

# Two workers serve two tenants: 30 ms of waiting for acme in thread 2, 10 ms for other in
# thread 3; the lock is released by thread 1, which has labels of its own.
"$top_builddir/trc-assemble" - "$dir/t.trc" <<'END_OF_TRACE' || exit 1
thread 1 tid=101 name="main"
thread 2 tid=102 creator=1 name="worker a"
thread 3 tid=103 creator=1 name="worker b"
stack s1 0x401000
stack s2 0x402000
labels acme request=17 tenant="acme"
labels other tenant="other"
labels late size=512:bytes tenant="acme"
labels clean phase="clean up"
@1000000 proc=0 thread=2 labels labels=acme
@1100000 proc=1 thread=3 labels labels=other
@2000000 proc=2 thread=1 labels labels=clean
@2100000 proc=0 thread=2 region_begin type="serve"
@2200000 proc=1 thread=3 region_begin type="refuse"
@3000000 proc=0 thread=2 park reason=mutex object=0x10 holder=1 stack=s1
@3000000 proc=1 thread=3 park reason=mutex object=0x20 holder=1 stack=s1
@3500000 proc=2 thread=1 log category="news" message="busy"
@3600000 proc=1 thread=3 counter name="queue" value=4
@3700000 proc=0 thread=2 counter name="queue" value=7
@3800000 proc=2 thread=1 counter name="queue" value=9
@3900000 proc=1 thread=3 counter name="refused" value=1
@13000000 proc=2 thread=1 unlock reason=mutex object=0x20 waiters=1 stack=s2
@13000000 proc=1 thread=3 resume reason=mutex object=0x20
@33000000 proc=2 thread=1 unlock reason=mutex object=0x10 waiters=1 stack=s2
@33000000 proc=0 thread=2 resume reason=mutex object=0x10
@33100000 proc=0 thread=2 region_end
@33200000 proc=1 thread=3 region_end
@34000000 proc=0 thread=2 labels labels=late before=acme
@35000000 proc=0 thread=2 park reason=sleep stack=s1
@41000000 proc=1 thread=3 labels before=other
END_OF_TRACE

sql()
{
	"$analyze" --output tsv --sql "$1" "$dir/t.trc" | tail -n +2
}

same 'what sets consist of' $'1\trequest\t17\t17\t\\N\n1\ttenant\tacme\t\\N\t\\N\n2\ttenant\tother\t\\N\t\\N\n3\tsize\t512bytes\t512\tbytes\n3\ttenant\tacme\t\\N\t\\N\n4\tphase\tclean up\t\\N\t\\N' \
	"$(sql 'SELECT * FROM labels')"
same 'when which thread had them' $'1\t\\N\t2000000\t\\N\n1\t2000000\t\\N\t4\n2\t\\N\t1000000\t\\N\n2\t1000000\t34000000\t1\n2\t34000000\t\\N\t3\n3\t\\N\t1100000\t\\N\n3\t1100000\t41000000\t2\n3\t41000000\t\\N\t\\N' \
	"$(sql 'SELECT thread, start_ns, end_ns, labels FROM label_spans')"
same 'those of one thread are found without looking at others' \
	'SCAN label_spans VIRTUAL TABLE INDEX 1:thread=?' \
	"$(sql 'EXPLAIN QUERY PLAN SELECT labels FROM label_spans WHERE thread = 2' | cut -f 4)"
same 'waits' $'2\tmutex\t1\n3\tmutex\t2\n2\tsleep\t3' "$(sql 'SELECT thread, reason, labels FROM parks')"
same 'unlocks: the labels of who releases' $'4\n4' "$(sql 'SELECT labels FROM unlocks')"
same 'regions' $'serve\t1\nrefuse\t2' "$(sql 'SELECT type, labels FROM regions')"
same 'logs' $'busy\t4' "$(sql 'SELECT message, labels FROM logs')"
same 'threads at the end' $'1\t4\n2\t3\n3\t\\N' "$(sql 'SELECT thread, labels FROM threads_now')"
same 'waiting by label' $'acme\t30\nother\t10' \
	"$(sql "SELECT value, sum(waited_ns) / 1000000 FROM parks JOIN labels USING (labels) WHERE key = 'tenant' AND reason = 'mutex' GROUP BY value")"

"$analyze" --pprof blame -o "$dir/blame.pb.gz" "$dir/t.trc" || fail 'no blame profile'
same 'a blame profile has the labels of who waited, and says so' $'waiter.request\nwaiter.tenant' \
	"$(gunzip <"$dir/blame.pb.gz" | grep -ao 'waiter\.[a-z]*' | sort -u)"
same 'and what was charged was in' active "$(gunzip <"$dir/blame.pb.gz" | grep -ao active | sort -u)"

report
tells 'the labels with most of a group, and their share' 'under request=17, 75.0% of it; tenant=acme, 75.0% of it'
tells 'of a critical section those of who holds' 'under phase=clean up'
tells 'of a single wait all' 'under request=17, tenant=acme'
tells 'time by label, and waiting in it' 'tenant=acme 40.0 ms 4.00 ms 30.0 ms 6.00 ms'
tells 'the values of a key by their time' 'tenant=other 39.9 ms 29.9 ms 10.0 ms'
same 'acme before other' 'tenant=acme tenant=other' \
	"$(grep -o '^  tenant=[a-z]*' "$dir/out" | xargs)"

report --label-filter tenant=acme
tells 'the filter is told' 'from here on only what was done under tenant=acme'
grep -q 'Waiting for locks  30.0 ms in 1 wait' "$dir/out" || fail "filtered waits: $(cat "$dir/out")"
silent 'no critical section under other labels' 'Critical sections'
tells 'the time of threads is that under the labels' 'worker a (102) 40.0 ms 10.0% 75.0% 15.0%'
silent 'a thread that was never under them' 'worker b'
silent 'its regions' refuse
tells 'but those under them' 'serve 1 31.0 ms 31.0 ms 31.0 ms 31.0 ms 31.0 ms'
silent 'logs under other labels' news
silent 'labels of other sets' 'tenant=other'
tells 'values of counters that were given under them' 'queue 1 7 7 7'
silent 'counters that had none there' refused
silent 'what there is, as long as something is asked for that there is' 'nothing was'

report --label-filter phase --label-filter 'phase=clean up'
tells 'conditions add up' 'from here on only what was done under phase,phase=clean up'
grep -q '^Critical sections  40.0 ms' "$dir/out" || fail "critical sections: $(cat "$dir/out")"
silent 'no waits' 'Waiting for'
tells 'and logs' 'news 1'

report --label-filter tenant=nobody
tells 'a label that there is not' 'nothing was: the keys of its labels are request, tenant, size, phase'
silent 'no counters either' Counters

# What is proposed next is narrowed in the same way, and can be pasted into a shell.
# more OPTION...: the command that the report proposes, as a shell takes it
more()
{
	report "$@"
	sed -n 's/^more: \(trace-analyze.*\) \[.*/\1/p' "$dir/out"
}
same 'nothing more' 'trace-analyze' "$(more)"
same 'a window' 'trace-analyze --window 1ms..6ms' "$(more --window 1ms..6ms)"
same 'threads and a label' "trace-analyze --thread 102 --thread 'worker b' --label-filter 'tenant=it'\\''s'" \
	"$(more --thread 102 --thread "worker b" --label-filter "tenant=it's")"
report --summary --window 1ms..6ms
grep -q '^next: trace-analyze --window 1ms..6ms ' "$dir/out" || fail "the summary: $(tail -1 "$dir/out")"

report --summary --label-filter tenant=other
tells 'the summary, too' 'from here on only what was done under tenant=other'
grep -q '10.0 ms .* 1 wait of 1 thread for mutex' "$dir/out" || fail "summary: $(cat "$dir/out")"

# Profiles, where there is Go to read them.
if command -v go >/dev/null; then
	GOCACHE=$(go env GOCACHE) # else it makes its pprof anew, which takes a minute
	export GOCACHE HOME="$dir" PPROF_TMPDIR="$dir" GOTOOLCHAIN=local GOFLAGS= GOTELEMETRY=off

	# tags NAME [OPTION...]: what go tool pprof says of the labels in a profile, blanks left out
	tags()
	{
		local name=$1
		shift
		"$analyze" "$@" --pprof "$name" -o "$dir/p.pb.gz" "$dir/t.trc" || fail "--pprof $name: $?"
		go tool pprof -tags "$dir/p.pb.gz" 2>&1 | sed 's/^ *//; s/ *$//; s/  */ /g' | grep -v '^$'
	}

	same 'the waiter'"'"'s labels in the block profile' $'request: Total 30ms of 40ms (75.00%)\n30ms (75.00%): 17\ntenant: Total 40ms of 40ms ( 100%)\n30ms (75.00%): acme\n10ms (25.00%): other' \
		"$(tags block)"
	same 'the releaser'"'"'s in the mutex profile' $'phase: Total 40ms of 40ms ( 100%)\n40ms ( 100%): clean up' \
		"$(tags mutex)"
	same 'a filter leaves what is under it' $'tenant: Total 10ms of 10ms ( 100%)\n10ms ( 100%): other' \
		"$(tags block --label-filter tenant=other)"
	same 'which may be nothing' '' "$(tags mutex --label-filter tenant 2>/dev/null)"
fi

# A profile of which nothing is left says why.
for asked in 'block:tenant=nobody:nothing was done under tenant=nobody: the keys of its labels are request, tenant, size, phase' \
	'mutex:tenant:it has nothing that was done under tenant' block:tenant=acme:; do
	IFS=: read -r profile filter why <<<"$asked"
	"$analyze" --label-filter "$filter" --pprof "$profile" -o "$dir/p.pb.gz" "$dir/t.trc" 2>"$dir/err"
	same "--pprof $profile under $filter" "0${why:+trace-analyze: $dir/t.trc: --pprof $profile: $why}" "$?$(cat "$dir/err")"
done
"$analyze" --help | grep -q -F -e '--label-filter KEY[=VALUE]' || fail '--help does not tell that a key will do'

for wrong in '' =x 'a,' 'a,,b'; do
	"$analyze" --label-filter "$wrong" "$dir/t.trc" >"$dir/out" 2>"$dir/err"
	same "'$wrong' makes no sense" 2 $?
	same "'$wrong' is refused in one line" 1 "$(wc -l <"$dir/err")"
done
# A snapshot: who has had its labels for longer than the window is in no event.
"$top_builddir/trc-assemble" - "$dir/t.trc" <<'END_OF_TRACE' || exit 1
thread 1 tid=101 name="main"
thread 2 tid=102 creator=1 name="worker a"
labels acme tenant="acme"
labels other tenant="other"
coverage proc=0 from=1000000 to=9000000
@2000000 proc=0 thread=1 park reason=mutex object=0x10
@3000000 proc=0 thread=2 labels labels=acme
@3100000 proc=0 thread=2 park reason=read object=4
thread_labels thread=1 labels=other
thread_labels thread=2 labels=acme
END_OF_TRACE
report
same 'what each thread is at, and for whom' 'under tenant=other under tenant=acme' \
	"$(sed -n '/^Threads now/,/^$/s/^ *\(under .*\)/\1/p' "$dir/out" | xargs)"
report --label-filter tenant=acme
grep -q '^Threads now  when the trace ends: 1 waiting, 0 not in a recorded wait' "$dir/out" ||
	fail "threads now: $(cat "$dir/out")"

# Fibers: their waits, by the labels under which each began.
"$top_builddir/trc-assemble" - "$dir/t.trc" <<'END_OF_TRACE' || exit 1
labels acme tenant="acme"
labels other tenant="other"
@1000000 thread=1 labels labels=acme
@2000000 thread=1 fiber_switch left=1 reason=user
@2000100 thread=1 labels labels=other before=acme
@3000000 thread=1 fiber_switch fiber=2 name="conn 2"
@4000000 thread=1 fiber_switch left=2 reason=user
@5000000 thread=1 fiber_switch fiber=1 name="conn 1"
@5000100 thread=1 labels labels=acme before=other
@6000000 thread=1 fiber_switch fiber=2 left=1 name="conn 2" reason=sleep
@6000100 thread=1 labels labels=other before=acme
@9000000 thread=1 fiber_switch left=2
END_OF_TRACE
report --label-filter tenant=acme
tells 'how many waited under them' 'Fibers 1 that waited in what is selected'
tells 'and for how long' 'conn 1 1 2 0 ns 6.00 ms'
tells 'the single ones' '3.00 ms 6.00 ms conn 1 sleep, still waiting'
silent 'and nobody else' 'conn 2'
report --label-filter tenant=other
tells 'which are those of others under theirs' 'conn 2 1 1 0 ns 2.00 ms'
silent 'whose sleep is none of theirs' sleep
report --label-filter size
silent 'no fiber waited under a label that there is not' Fibers

# Numbers and texts that look like them, of one key; of another key they are alone.
"$top_builddir/trc-assemble" - "$dir/t.trc" <<'END_OF_TRACE' || exit 1
thread 1 tid=101 name="main"
thread 2 tid=102 creator=1 name="worker"
sample_event 1 name="cpu-clock" frequency=100 how=signal
labels text alone="7" tenant="42"
labels number tenant=42
labels empty tenant=""
@1000000 thread=1 labels labels=text
@1000000 thread=2 labels labels=number
@2000000 thread=1 sample event=1 value=10000000 labels=text
@2000000 thread=2 sample event=1 value=20000000 labels=number
@3000000 thread=1 sample event=1 value=10000000 labels=empty
@4000000 thread=1 park reason=sleep
@5000000 thread=2 park reason=sleep
@9000000 thread=1 resume reason=sleep
END_OF_TRACE
report
tells 'shares of both' 'by tenant: 42 50.0% ±100, "42" 25.0% ±88.5, "" 25.0% ±88.5'
tells 'and time under both' 'tenant="42" 8.00 ms 3.00 ms 5.00 ms'
tells 'and what nothing is like as it is' 'alone=7 8.00 ms 3.00 ms 5.00 ms'

# A text that is empty is one.
"$top_builddir/trc-assemble" - "$dir/t.trc" <<'END_OF_TRACE' || exit 1
labels empty tenant=""
@1000000 thread=1 labels labels=empty
@2000000 thread=1 log message=""
@3000000 thread=1 log message="more"
END_OF_TRACE
same 'an empty value is known' $'text\t1\ttext\t1' "$(sql "SELECT typeof(value), value = '', typeof(message), message = '' FROM labels JOIN logs USING (labels) ORDER BY logs.ts_ns LIMIT 1")"

echo '@1000 thread=1 log message="alone"' | "$top_builddir/trc-assemble" - "$dir/t.trc" || exit 1
report --label-filter tenant
tells 'a trace without labels' 'nothing was: the trace has no labels'

"$analyze" --label-filter tenant --check "$dir/t.trc" >"$dir/out" 2>"$dir/err"
same 'what does not obey it does not ignore it' \
	'2 trace-analyze: --label-filter is for the report, SQL, profiles and pages, not --check' "$? $(cat "$dir/err")"
"$analyze" --task a --html "$dir/t.html" "$dir/t.trc" >"$dir/out" 2>"$dir/err"
same 'a page is of what there is' \
	"1 trace-analyze: $dir/t.trc: --task a: no task has this id or type, and there is no page: no" \
	"$? $(cat "$dir/err"), and there is no page: $([ -e "$dir/t.html" ] && echo yes || echo no)"
exit $failed
