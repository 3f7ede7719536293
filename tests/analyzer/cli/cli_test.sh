#!/bin/bash
# cli_test.sh - trace-analyze from the outside: answers, one line for each trouble, exit status.
#
# SPDX-License-Identifier: Apache-2.0
set -u
: "${top_srcdir:?}" "${top_builddir:?}"

analyze=$top_builddir/analyzer/trace-analyze
assemble=$top_builddir/trc-assemble
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
failed=0

fail()
{
	printf 'FAIL: %s\n' "$*"
	failed=1
}

# same WHAT WANTED GOT
same()
{
	[ "$2" = "$3" ] || fail "$1"$'\n'"wanted: $2"$'\n'"got:    $3"
}

# A command's status, its stdout in out and its stderr in err.
run()
{
	"$@" >out 2>err
	status=$?
}

# refused WHAT STATUS LINE COMMAND...: the status, nothing on stdout, exactly this line on stderr
refused()
{
	local what=$1 want=$2 line=$3
	shift 3
	run "$@"
	same "$what: status" "$want" "$status"
	same "$what: line" "$line" "$(cat err)"
	same "$what: stdout" '' "$(cat out)"
}

cat >good.txt <<'END'
thread 1 tid=101 name="main"
thread 2 tid=102 creator=1 name="worker"
stack s1 0x401000 0x402000
@1000 thread=1 task_begin task=7 type="request"
@1010 thread=1 region_begin task=7 type="parse"
@1100 proc=1 thread=2 park reason=mutex object=0x10 holder=1 stack=s1
@1500 thread=1 log task=7 category="a,b" message="say \"hi\"\nthere"
@2000 thread=1 unlock reason=mutex object=0x10 waiters=1 stack=s1
@2100 proc=1 thread=2 resume reason=mutex object=0x10
@2200 thread=1 counter name="q" value=-3
@2250 thread=1 region_end
@2300 thread=1 gap lost_events=2 since=2260 cause=ring_full
@2500 thread=1 task_end task=7
@2550 proc=1 thread=2 region_begin type="loop"
@2560 proc=1 thread=2 park reason=cond object=0x30
END
"$assemble" good.txt good.trc || exit 1

# --- answers ---

run "$analyze" --sql 'SELECT id, caused_ns FROM unlocks' --output csv good.trc
same 'csv' $'id,caused_ns\n1,900' "$(cat out)"
run "$analyze" --output json --sql 'SELECT message FROM logs' good.trc
same 'json' '[{"message":"say \"hi\"\nthere"}]' "$(cat out)"
run "$analyze" --sql 'SELECT 1 AS a' --check --sql 'SELECT 2 AS b' --output tsv good.trc
same 'several verbs, in order' $'a\n1\n12 events checked: nothing is wrong\nb\n2' "$(cat out)"
same 'several verbs: status' 0 "$status"
run "$analyze" --sql 'SELECT count(*) AS n FROM events WHERE kind = :kind' good.trc
same 'what is not bound is NULL' $'n\n-\n0' "$(cat out)"

printf '%s\n' '.output tsv' 'SELECT count(*) AS n' 'FROM events;' '.tables' '.nonsense' '.quit' 'SELECT 3;' |
	"$analyze" --shell good.trc >out 2>err
same 'shell: statement of two lines' $'n\n12\nevents' "$(head -n 3 out)"
same 'shell: quit' '' "$(grep -x 3 out)"
same 'shell: what is no command' 'not known: .nonsense; try .help' "$(cat err)"
echo 'SELECT nope;' | "$analyze" --shell good.trc >out 2>err && fail 'shell: a script that fails'
same 'shell: an error' 'trace-analyze: good.trc: no such column: nope' "$(cat err)"

run "$analyze" --schema
same 'schema without a trace' 0 "$status"
run "$analyze" --version
grep -q '^trace-analyze (trc) [0-9]' out || fail '--version'
run "$analyze" -h
for verb in sql shell db pprof html check schema output; do
	grep -q -e "--$verb" out || fail "--$verb is not in --help"
done

# --- the database has the same tables with the same rows ---

run "$analyze" --db good.db good.trc
same 'db: status' 0 "$status"
same 'db: no temporary file stays' '' "$(ls | grep tmp)"
if command -v sqlite3 >/dev/null; then
	for table in $("$analyze" --schema | sed -n 's/^CREATE TABLE \(.*\)($/\1/p'); do
		# Derived while it is read: --db leaves it out.
		[ "$table" = causes ] || [ "$table" = task_path ] || [ "$table" = region_path ] && continue
		# Quoting is a matter of taste.
		"$analyze" --sql "SELECT * FROM $table" --output csv good.trc | tr -d '"' | sort >want
		sqlite3 -csv -header good.db "SELECT * FROM $table" | tr -d '\r"' | sort >got
		# sqlite3 prints no head without rows.
		[ ! -s got ] && [ "$(wc -l <want)" = 1 ] && continue
		cmp -s want got || fail "db: $table differs: $(diff want got | head -n 4)"
	done
	same 'db: indices' 0 "$(sqlite3 good.db "SELECT count(*) = 0 FROM sqlite_master WHERE type = 'index'")"
fi
echo old >keep.db
run "$analyze" --db missing/x.db good.trc
same 'db: unwritable' "1 trace-analyze: good.trc: missing/x.db: No such file or directory" \
	"$status $(cat err)"

# --- troubles ---

refused 'a missing file' 1 'trace-analyze: none.trc: No such file or directory' \
	"$analyze" --check none.trc
refused 'no trace' 2 "trace-analyze: no trace was named; try 'trace-analyze --help'" \
	"$analyze" --check
refused 'two traces' 2 'trace-analyze: --check takes one trace at a time, not 2' \
	"$analyze" --check good.trc good.trc
refused '--full of what has no stacks' 2 'trace-analyze: --full is for the report, not --sql' \
	"$analyze" --full --sql 'SELECT 1' good.trc
for option in --source --source-map=a=b --without-sql; do
	refused "$option without a page" 2 "trace-analyze: ${option%%=*} is for --html, which was not given" \
		"$analyze" "$option" --summary good.trc
done
refused '--full with a value' 2 "trace-analyze: --full=yes: it takes no value; try 'trace-analyze --help'" \
	"$analyze" --full=yes good.trc
refused 'a mistyped option' 2 "trace-analyze: --summery: no such option; try 'trace-analyze --help'" \
	"$analyze" --summery good.trc
refused 'a letter that is no option' 2 "trace-analyze: -x: no such option; try 'trace-analyze --help'" \
	"$analyze" -xh good.trc
refused 'a value that is not wanted' 2 "trace-analyze: --check=all: it takes no value; try 'trace-analyze --help'" \
	"$analyze" --check=all good.trc
refused 'an option without its value' 2 "trace-analyze: --sql: a value is missing; try 'trace-analyze --help'" \
	"$analyze" good.trc --sql
# Nothing that a trace or an argument says reaches the terminal as it is.
refused 'bytes that a terminal would obey' 2 'trace-analyze: --output is table, csv, tsv or json, not \x1b[2J\xe2\x80\xae\n' \
	"$analyze" --output $'\e[2J\xe2\x80\xae\n' good.trc
refused 'a path likewise' 1 'trace-analyze: \x1b]0;x\x07.trc: No such file or directory' \
	"$analyze" --check $'\e]0;x\a.trc'
columns=$("$analyze" --sql "SELECT group_concat(name, ', ') FROM pragma_table_info('gaps')" --output tsv good.trc | tail -n 1)
refused 'a query likewise' 1 "trace-analyze: good.trc: no such column: \\x1b[2J; of gaps there are $columns" \
	"$analyze" --sql $'SELECT [\e[2J] FROM gaps' good.trc
printf '.x\e[2J\n' | "$analyze" --shell good.trc >out 2>err
same 'shell: what is no command' 'not known: .x\x1b[2J; try .help' "$(cat err)"

refused 'an output of no kind' 2 'trace-analyze: --output is table, csv, tsv or json, not xml' \
	"$analyze" --output xml --check good.trc
refused 'a profile of what was not sampled' 1 \
	'trace-analyze: good.trc: it has no samples of cycles; it has block, mutex, blame, offcpu' \
	"$analyze" --pprof cycles -o x good.trc
refused 'a profile of CPU time that was not sampled' 1 \
	'trace-analyze: good.trc: no CPU time was sampled: trace-record -e auto does; it has block, mutex, blame, offcpu' \
	"$analyze" --pprof cpu -o x good.trc
[ ! -e x ] || fail 'a profile that there is not was written'
refused 'a profile without a file' 2 'trace-analyze: --pprof block needs -o FILE' \
	"$analyze" --pprof block good.trc
refused 'two profiles in one file' 2 'trace-analyze: x: both --pprof and --pprof would write it' \
	"$analyze" --pprof block -o x --pprof mutex -o x good.trc
refused 'two profiles on stdout' 2 'trace-analyze: -: both --pprof and --pprof would write it' \
	"$analyze" --pprof block -o - --pprof mutex -o - good.trc
refused 'a profile and a database in one file' 2 'trace-analyze: x: both --pprof and --db would write it' \
	"$analyze" --pprof block -o x --db x good.trc
[ ! -e x ] || fail 'something was written to a file that two would write'
cp good.trc same.trc
ln same.trc linked.trc
refused 'a database in place of the trace' 2 \
	'trace-analyze: same.trc: --db would replace the trace itself' "$analyze" --db same.trc same.trc
refused 'a page in place of the trace' 2 \
	'trace-analyze: linked.trc: --html would replace the trace itself' \
	"$analyze" --html linked.trc same.trc
refused 'a profile in place of the trace' 2 \
	'trace-analyze: ./same.trc: --pprof would replace the trace itself' \
	"$analyze" --pprof block -o ./same.trc same.trc
cmp good.trc same.trc || fail 'the trace was written over'
refused 'a page that cannot be written' 1 \
	'trace-analyze: good.trc: missing/x.html: No such file or directory' \
	"$analyze" --html missing/x.html good.trc
refused '-o without a profile' 2 'trace-analyze: -o comes after the --pprof that it belongs to' \
	"$analyze" -o x --check good.trc
refused 'a query that writes' 1 \
	"trace-analyze: good.trc: query refused: it may only read the trace's tables" \
	"$analyze" --sql 'CREATE TABLE t(a)' good.trc
refused 'a query with a mistake' 1 'trace-analyze: good.trc: near "SELEC": syntax error' \
	"$analyze" --sql 'SELEC 1' good.trc
if [ -w /dev/full ]; then
	"$analyze" --sql 'SELECT 1' good.trc >/dev/full 2>err && fail 'a full disk goes unnoticed'
	same 'a full disk' 'trace-analyze: good.trc: writing the answer: No space left on device' \
		"$(cat err)"
fi
: >empty.trc
run "$analyze" --check empty.trc
same 'an empty file' "1 1" "$status $(wc -l <err)"
run "$analyze" --check good.txt
same 'a file of another kind' "1 1" "$status $(wc -l <err)"

# Cut: what is before the cut is answered, with a warning.
{ cat good.txt; echo flush; for i in 1 2 3 4 5 6 7 8; do echo "@90$i thread=1 log message=\"$i$i$i\""; done |
	sed 's/@90/@90000/'; } >long.txt
"$assemble" long.txt long.trc || exit 1
head -c $(($(stat -c %s long.trc) - 60)) long.trc >cut.trc
run "$analyze" --sql 'SELECT count(*) >= 12 AS n FROM events' --output tsv cut.trc
same 'cut: status' 0 "$status"
same 'cut: rows' $'n\n1' "$(cat out)"
same 'cut: one warning' 1 "$(grep -c '^trace-analyze: cut.trc: warning: ' err)"
run "$analyze" --check cut.trc
same 'cut: no violation' 0 "$status"
grep -q '^cut off: proc 0: ' out || fail "cut: not said by --check: $(cat out)"

# A flipped byte in a block: one line that names it.
"$analyze" --sql "SELECT 1" good.trc >/dev/null || fail 'good.trc'
size=$(stat -c %s good.trc)
flipped=0
checked=0
for ((off = size / 4; off < size; off += 37)); do
	cp good.trc flip.trc
	printf '\xff' | dd of=flip.trc bs=1 seek="$off" conv=notrunc status=none
	run "$analyze" --sql 'SELECT count(thread), sum(ts_ns), count(message) FROM events' flip.trc
	[ "$status" -le 1 ] || fail "byte $off flipped: status $status"
	[ "$status" = 0 ] || { [ "$(grep -c '' err)" -le 2 ] && [ -s err ]; } ||
		fail "byte $off flipped: $(cat err)"
	[ -s err ] && flipped=$((flipped + 1))
	# The check goes on with all that can be read.
	run "$analyze" --check flip.trc
	if grep -q '^block [0-9]*: ' out; then
		checked=$((checked + 1))
		same "byte $off flipped: --check: warning" "trace-analyze: flip.trc: warning: $(grep '^block [0-9]*: ' out)" "$(cat err)"
		grep -q ' checked: [1-9][0-9]* violation' <(tail -n 1 out) ||
			fail "byte $off flipped: --check: $(cat out)"
	fi
done
[ "$flipped" -gt 0 ] || fail 'no flipped byte was noticed'
[ "$checked" -gt 0 ] || fail '--check noticed no flipped byte'

# --- what --check finds: a trace each, and the line ---

# violation LINE <TEXT
violation()
{
	"$assemble" - bad.trc || fail "cannot assemble for: $1"
	run "$analyze" --check bad.trc
	same "check: status for: $1" 1 "$status"
	grep -qxF -- "$1" out || fail "check: wanted: $1"$'\n'"got: $(cat out)"
	same "check: lines for: $1" "${2:-2}" "$(wc -l <out)"
}
two='thread 1 tid=1 start=10
thread 2 tid=2 creator=1 start=20'

violation 'thread 1: its resume at 1000 ns (mutex 0x10) has no park' <<END
$two
@1000 thread=1 resume reason=mutex object=0x10
END
violation 'thread 1: its resume at 4000 ns (mutex 0x10) has no park (explained by the gap on proc 0: 2 lost from 2000 to 3000 ns)' <<END
$two
@1000 thread=1 log category="c" message="m"
@3000 gap lost_events=2 since=2000 cause=ring_full
@3900 thread=1 acquire reason=mutex object=0x10
@4000 thread=1 resume reason=mutex object=0x10
END
violation 'thread 1: its resume at 4000 ns (cond 0x30) has no park (explained by the gap on proc 0: 2 lost from 2000 to 3000 ns)' <<END
$two
@1000 thread=1 log category="c" message="m"
@3000 gap lost_events=2 since=2000 cause=ring_full
@3700 thread=1 unlock reason=mutex object=0x10 waiters=1
@3800 thread=1 wait reason=cond_mutex object=0x10 since=3750
@3900 thread=1 acquire reason=mutex object=0x10
@4000 thread=1 resume reason=cond object=0x30
END
violation 'thread 1: its resume at 4000 ns (mutex 0x20) has no park' <<END
$two
@1000 thread=1 log category="c" message="m"
@3000 gap lost_events=2 since=2000 cause=ring_full
@3900 thread=1 acquire reason=mutex object=0x10
@4000 thread=1 resume reason=mutex object=0x20
END
violation 'thread 1: its park at 1000 ns (cond 0x30) has no resume' <<END
$two
@1000 thread=1 park reason=cond object=0x30
@2000 thread=1 park reason=mutex object=0x10
@2500 thread=1 resume reason=mutex object=0x10
@3000 thread=1 thread_exit
END
violation 'thread 1: its park at 1000 ns (mutex 0x10) has no resume (explained by the gap on proc 1: 3 lost from 1500 to 2000 ns)' <<END
$two
@1000 thread=1 park reason=mutex object=0x10
@2000 proc=1 thread=2 gap lost_events=3 since=1500 cause=ring_full
@3000 thread=1 thread_exit
END
violation 'thread 1: until 2000 ns it had label set 2, but at 1000 ns it was given set 1' <<END
$two
labels a tenant="acme"
labels b tenant="other"
@1000 thread=1 labels labels=a
@2000 thread=1 labels before=b
END
# waits_for_mutex KIND...: twelve waits for a mutex that a thread holds, where every acquire is recorded, with events of these kinds.
waits_for_mutex()
{
	local i
	echo "$two"
	for ((i = 1; i <= 12; i++)); do
		echo "@${i}000 thread=1 acquire reason=mutex object=0x10"
		echo "@${i}100 thread=2 park reason=mutex object=0x10 holder=1"
		[[ " $* " != *" gap "* ]] || echo "@${i}480 proc=1 thread=1 gap lost_events=1 since=${i}470 cause=ring_full"
		[[ " $* " != *" unlock "* ]] || echo "@${i}500 thread=1 unlock reason=mutex object=0x10 waiters=1"
		echo "@${i}600 thread=2 resume reason=mutex object=0x10"
	done
}
no_wakers='12 of 12 waits for mutexes that threads of the trace held have no waker, though every acquire was recorded: the first at 1100 ns, of thread 2'
violation "$no_wakers" < <(waits_for_mutex)
violation "$no_wakers (explained by the gap on proc 1: 1 lost from 1470 to 1480 ns)" < <(waits_for_mutex gap)
waits_for_mutex unlock | "$assemble" - whole.trc || exit 1
run "$analyze" --check whole.trc
same 'waits for a mutex with wakers' '0 48 events checked: nothing is wrong' "$status $(cat out)"
waits_for_mutex | grep -v acquire | "$assemble" - whole.trc || exit 1
run "$analyze" --check whole.trc
same 'waits for a mutex where not every acquire is recorded' '0 24 events checked: nothing is wrong' "$status $(cat out)"

# Many that lost events explain: one line for each kind and cause; the others as ever.
{
	echo "$two"
	for ((i = 1; i <= 40; i++)); do
		echo "@$((i * 1000)) thread=1 park reason=mutex object=$i"
		echo "@$((i * 1000 + 10)) proc=1 thread=2 gap lost_events=3 since=$((i * 1000 + 1)) cause=ring_full"
		echo "@$((i * 1000 + 20)) proc=1 thread=2 region_end"
		echo "@$((i * 1000 + 21)) proc=1 thread=2 gap lost_events=1 since=$((i * 1000 + 15)) cause=overwritten"
	done
	echo '@50000 thread=1 park reason=mutex object=99'
	echo '@51000 thread=1 park reason=mutex object=98'
	echo '@52000 thread=1 thread_exit'
} | "$assemble" - many.trc || exit 1
run "$analyze" --check many.trc
grep -v '^[0-9]' out >told
same 'summed up: lost events explain none of these' "thread 1: its park at 50000 ns (mutex 0x63) has no resume
thread 1: its park at 51000 ns (mutex 0x62) has no resume" "$(cat told)"
same 'summed up: the rest' "40 of a kind, explained by lost events (ring_full), as: thread 1: its park at 1000 ns (mutex 0x1) has no resume (explained by the gap on proc 1: 3 lost from 1001 to 1010 ns)" \
	"$(grep 'its park' out | grep '^[0-9]')"
totals=$(tail -n 1 out)
run "$analyze" --check-all many.trc
same 'all: as many lines as violations' "$(awk '{print $4}' <<<"$totals")" "$(grep -c '^thread' out)"
same 'all: totals' "$totals" "$(tail -n 1 out)"
same 'all: status' 1 "$status"

violation 'thread 1: until 2000 ns it had label set 0, but at 1000 ns it was given set 1 (explained by the gap on proc 1: 3 lost from 1500 to 1600 ns)' <<END
$two
labels a tenant="acme"
@1000 thread=1 labels labels=a
@1600 proc=1 thread=2 gap lost_events=3 since=1500 cause=ring_full
@2000 thread=1 labels labels=a
END
violation 'thread 2: the sample at 2000 ns is of event 2, which is in no table' <<END
$two
sample_event 1 name="cpu-clock" how=timer
@1000 thread=1 sample event=1 value=10
@2000 thread=2 sample event=2 value=10
END
violation 'thread 1: the region end at 2000 ns has no begin' <<END
$two
@1000 thread=1 region_begin
@1500 thread=1 region_end
@2000 thread=1 region_end
END
violation 'thread 1: its region "parse" of 1000 ns is open when it exits' <<END
$two
@1000 thread=1 region_begin type="parse"
@2000 thread=1 thread_exit
END
violation 'thread 1: until 2000 ns it ran fiber 6, but at 1000 ns it went over to fiber 5' <<END
$two
@1000 thread=1 fiber_switch fiber=5
@2000 thread=1 fiber_switch left=6
END
violation 'thread 1: until 2000 ns it ran fiber 6, but at 10 ns it went over to fiber 0' <<END
$two
@2000 thread=1 fiber_switch left=6
END
violation 'thread 1: until 2000 ns it ran fiber 6, but at 1000 ns it went over to fiber 5 (explained by the gap on proc 1: 3 lost from 1500 to 1600 ns)' <<END
$two
@1000 thread=1 fiber_switch fiber=5
@1600 proc=1 thread=2 gap lost_events=3 since=1500 cause=ring_full
@2000 thread=1 fiber_switch left=6
END
violation 'fiber 5: thread 2 runs it from 2000 ns on, but thread 1 runs it until 30000 ns' <<END
$two
@1000 thread=1 fiber_switch fiber=5
@2000 proc=1 thread=2 fiber_switch fiber=5
@30000 thread=1 fiber_switch left=5
@40000 proc=1 thread=2 fiber_switch left=5
END
violation 'fiber 5: thread 2 runs it from 2000 ns on, but thread 1 runs it until 50000 ns' <<END
$two
@1000 thread=1 fiber_switch fiber=5
@2000 proc=1 thread=2 fiber_switch fiber=5
@50000 thread=1 log message="still in it"
END
violation 'fiber 5: thread 2 runs it from 22000 ns on, after its end at 2000 ns' <<END
$two
@1000 thread=1 fiber_switch fiber=5
@2000 thread=1 fiber_switch left=5
@2000 thread=1 fiber_end fiber=5
@22000 proc=1 thread=2 fiber_switch fiber=5
END
violation 'fiber 5: thread 1 runs it until 900000 ns, after its end at 50000 ns' <<END
$two
@1000 thread=1 fiber_switch fiber=5
@50000 proc=1 thread=2 fiber_end fiber=5
@900000 thread=1 fiber_switch left=5
END
violation 'fiber 5: thread 1 runs it until 900000 ns, after its end at 50000 ns' <<END
$two
@1000 thread=1 fiber_switch fiber=5
@50000 proc=1 thread=2 fiber_end fiber=5
@900000 thread=1 log message="still in it"
END
violation 'fiber 5: thread 1 runs it until 900000 ns, after its end at 50000 ns (explained by the gap on proc 1: 3 lost from 60000 to 70000 ns)' <<END
$two
@1000 thread=1 fiber_switch fiber=5
@50000 proc=1 thread=2 fiber_end fiber=5
@70000 proc=1 thread=2 gap lost_events=3 since=60000 cause=ring_full
@900000 thread=1 fiber_switch left=5
END
violation 'fiber 5: thread 2 has a fiber_ready of it at 30000 ns, after its end at 2000 ns' <<END
$two
@1000 thread=1 fiber_switch fiber=5
@2000 thread=1 fiber_switch left=5
@2000 thread=1 fiber_end fiber=5
@30000 proc=1 thread=2 fiber_ready fiber=5
END
violation 'fiber 5: thread 2 has a fiber_create of it at 30000 ns, after its end at 2000 ns' <<END
$two
@1000 thread=1 fiber_switch fiber=5
@2000 thread=1 fiber_switch left=5
@2000 thread=1 fiber_end fiber=5
@30000 proc=1 thread=2 fiber_create fiber=5
END
violation 'fiber 5: thread 2 has a fiber_end of it at 30000 ns, after its end at 2000 ns' <<END
$two
@1000 thread=1 fiber_switch fiber=5
@2000 thread=1 fiber_switch left=5
@2000 thread=1 fiber_end fiber=5
@30000 proc=1 thread=2 fiber_end fiber=5
END
violation 'fiber 5: the region end at 3000 ns has no begin' <<END
$two
@500 thread=1 region_begin type="of the thread's own"
stack made 0x10
@1000 thread=1 fiber_create fiber=5 stack=made
@2000 thread=1 fiber_switch fiber=5
@3000 thread=1 region_end
@4000 thread=1 fiber_switch left=5
@5000 thread=1 region_end
END
violation 'fiber 5: its region "parse" of 1000 ns is open when it ends' <<END
$two
@500 thread=1 fiber_switch fiber=5
@1000 thread=1 region_begin type="parse"
@2000 thread=1 fiber_switch left=5
@3000 proc=1 thread=2 fiber_end fiber=5
END
violation 'fiber 5: its region "parse" of 1000 ns is open when it ends (explained by the gap on proc 1: 3 lost from 1200 to 1300 ns)' <<END
$two
@500 thread=1 fiber_switch fiber=5
@1000 thread=1 region_begin type="parse"
@1300 proc=1 thread=2 gap lost_events=3 since=1200 cause=ring_full
@2000 thread=1 fiber_switch left=5
@3000 proc=1 thread=2 fiber_end fiber=5
END
violation 'fiber 6: its region "of 6" of 1500 ns is open when it ends' <<END
$two
@500 thread=1 fiber_switch fiber=5
@1000 thread=1 region_begin type="ended where the clock is late"
@1100 thread=1 fiber_switch fiber=6 left=5
@1500 thread=1 region_begin type="of 6"
@2000 thread=1 fiber_switch fiber=5 left=6
@2100 proc=1 thread=2 fiber_end fiber=6
@2500 proc=1 thread=2 fiber_end fiber=5
@3000 thread=1 region_end
@3100 thread=1 fiber_switch left=5
END
violation 'thread 1: its region "of its own" of 500 ns is open when it exits' <<END
$two
@500 thread=1 region_begin type="of its own"
@2000 thread=1 fiber_switch fiber=5
@3000 thread=1 region_begin type="of the fiber"
@4000 thread=1 fiber_switch left=5
@5000 thread=1 thread_exit
END
violation 'thread 1: its region "of its own" of 1000 ns is open when it exits' <<END
$two
@1000 thread=1 region_begin type="of its own"
@1000 thread=1 fiber_switch fiber=5
@1000 thread=1 region_begin type="of the fiber"
@1000 thread=1 fiber_switch left=5
@5000 thread=1 thread_exit
END
violation 'task 7: ends at 2000 ns without having begun' <<END
$two
@2000 thread=1 task_end task=7
END
violation 'task 7: begins at 1000 ns, and again at 2000 ns' <<END
$two
@1000 thread=1 task_begin task=7
@2000 thread=1 task_begin task=7
END
violation 'task 7: ends at 2000 ns, and again at 3000 ns' <<END
$two
@1000 thread=1 task_begin task=7
@2000 thread=1 task_end task=7
@3000 thread=1 task_end task=7
END
violation 'task 9: named at 1000 ns but never begun' <<END
$two
@1000 thread=1 log task=9 message="x"
END
violation 'thread 2: log at 2000 ns, after its exit at 1000 ns' <<END
$two
@1000 thread=2 thread_exit
@2000 thread=2 log message="x"
END
violation 'thread 2: starts at 2000 ns, after an event at 1000 ns' <<END
$two
@1000 thread=2 log message="x"
@2000 thread=2 thread_start
END
violation 'thread 2: on procs for 320000000 ns, but it lives for 19999980 ns' <<END
$two
@1000 source=kernel proc=1 thread=2 proc_start
@1000 proc=1 thread=2 thread_start
@20000000 proc=1 thread=2 thread_exit
@20001000 source=kernel proc=1 thread=2 proc_stop
@20002000 source=kernel thread=2 proc_start
@320002000 source=kernel thread=2 proc_stop
END
violation 'thread 2: on procs for 2000001000 ns, but it lives for 19999980 ns' <<END
$two
@1000 source=kernel proc=1 thread=2 proc_start
@1000 proc=1 thread=2 thread_start
@20000000 proc=1 thread=2 thread_exit
@2000002000 source=kernel proc=1 thread=2 proc_stop
END
violation '1 id is in no table' <<END
$two
@1000 thread=1 park reason=mutex object=0x10 stack=99
@1100 thread=1 resume reason=mutex object=0x10
END
violation '1 id is in no table' <<END
$two
@1000 thread=1 thread_exit
thread_labels thread=1 labels=99
END
violation 'thread 2: its labels at the end are told twice' <<END
$two
labels a tenant="acme"
@1000 thread=1 thread_exit
thread_labels thread=2 labels=a
thread_labels thread=2
END
violation '1 id is in no table' <<END
$two
@1000 thread=1 thread_exit
thread_fiber thread=1 fiber=7 name=99
END
violation 'thread 2: its fiber at the end is told twice' <<END
$two
@1000 thread=1 thread_exit
thread_fiber thread=2 fiber=7 name="session"
thread_fiber thread=2
END
# The writer makes entries of all threads that it tells of; there is none of serial 0.
violation 'thread 0: its fiber at the end is all there is of it' <<END
$two
@1000 thread=1 thread_exit
thread_fiber thread=0 fiber=7 name="session"
END
# A fiber may have gone from one thread to another while threads were looked at.
"$assemble" - moved.trc <<END || exit 1
$two
@1000 thread=1 thread_exit
thread_fiber thread=1 fiber=7 name="session"
thread_fiber thread=2 fiber=7 name="session"
END
run "$analyze" --check moved.trc
same 'a fiber of two threads at the end' '0 1 event checked: nothing is wrong' "$status $(cat out)"
# After its exit the machine may stand still under it: not for longer, not again, not where others run.
exits="$two
@1000 source=kernel proc=1 thread=2 proc_start
@1000 proc=1 thread=2 thread_start
@2000 proc=1 thread=2 thread_exit
@3000 source=kernel proc=1 thread=2 proc_stop"
violation 'thread 2: on procs for 300002000 ns, but it lives for 1980 ns' <<END
$exits
@4000 source=kernel thread=2 proc_start
@300004000 source=kernel thread=2 proc_stop
@300005000 source=kernel thread=2 proc_start
END
violation 'thread 2: on procs for 40002000 ns, but it lives for 1980 ns' <<END
$exits
@4000 source=kernel thread=2 proc_start
@20004000 source=kernel thread=2 proc_stop
@20005000 source=kernel thread=2 proc_start
@40005000 source=kernel thread=2 proc_stop
@40006000 source=kernel thread=2 proc_start
END
violation 'thread 2: on procs for 20002000 ns, but it lives for 1980 ns' <<END
$exits
@4000 source=kernel thread=2 proc_start
@9000000 thread=1 log message="on the same proc"
@20004000 source=kernel thread=2 proc_stop
@20005000 source=kernel thread=2 proc_start
END
violation 'thread 2: on procs for 2305843009213691951 ns, but it lives for 1980 ns' <<END
$exits
@4000 source=kernel thread=2 proc_start
@18446744073709551000 source=kernel thread=2 proc_stop
@18446744073709551001 source=kernel thread=2 proc_start
END
# Nor is being on a proc for long before the start is seen, or after the exit.
"$assemble" - late.trc <<END || exit 1
$two
@1000 source=kernel proc=1 thread=2 proc_start
@20001000 source=kernel proc=1 thread=2 proc_stop
@20002000 source=kernel proc=1 thread=2 proc_start
@30001000 proc=1 thread=2 thread_start
@30002000 proc=1 thread=2 thread_exit
@60002000 source=kernel proc=1 thread=2 proc_stop
@60003000 source=kernel proc=1 thread=2 proc_start
@160003000 source=kernel proc=1 thread=2 proc_stop
@160004000 source=kernel proc=1 thread=2 proc_start
@160005000 proc=1 thread=1 log message="after it, and so is the next before it"
END
run "$analyze" --check late.trc
same 'slow to start and to end' '0 10 events checked: nothing is wrong' "$status $(cat out)"
# That it was put on a proc again may be lost.
"$assemble" - unknown.trc <<END || exit 1
$exits
@4000 source=kernel proc=1 thread=2 proc_start
@20004000 source=kernel proc=1 thread=2 proc_stop
@20009000 source=kernel proc=1 thread=2 gap lost_events=3 since=20005000 cause=kernel
END
run "$analyze" --check unknown.trc
same 'records lost after the exit' '0 7 events checked: nothing is wrong' "$status $(cat out)"
# A fiber goes from thread to thread, with its regions, which those need not close.  What two procs say
# of the same time may be a little out of order.
"$assemble" - fibers.trc <<END || exit 1
$two
@500 thread=1 region_begin type="of the thread's own"
stack made 0x10
@1000 thread=1 fiber_create fiber=5 stack=made
@2000 thread=1 fiber_switch fiber=5
@3000 thread=1 region_begin type="handle"
@4000 proc=1 thread=2 fiber_switch fiber=5
@5000 thread=1 fiber_switch left=5 reason=user
@6000 thread=1 region_end
@7000 thread=1 thread_exit
@20000 proc=1 thread=2 region_end
@21000 proc=1 thread=2 region_begin type="parse"
@22000 proc=1 thread=2 region_end
@22000 proc=1 thread=2 fiber_switch left=5
@22000 proc=1 thread=2 fiber_end fiber=5
@23000 proc=1 thread=2 thread_exit
END
run "$analyze" --check fibers.trc
same 'fibers' '0 14 events checked: nothing is wrong' "$status $(cat out)"
"$assemble" - ends.trc <<END || exit 1
$two
@1000 thread=1 fiber_switch fiber=5
@45000 proc=1 thread=2 fiber_end fiber=5
@49000 thread=1 fiber_ready fiber=5
@50000 thread=1 fiber_switch left=5
END
run "$analyze" --check ends.trc
same 'a fiber that ends' '0 4 events checked: nothing is wrong' "$status $(cat out)"
# That a fiber was left may have been recorded before.
"$assemble" - late.trc <<END || exit 1
$two
@1000 thread=1 fiber_switch fiber=5
@2000 proc=1 thread=2 fiber_switch left=5
@50000 proc=1 thread=2 log message="x"
END
run "$analyze" --check late.trc
grep -q '^fiber 5: ' out && fail "a run of which the beginning is not known: $(cat out)"
# What began before the trace is no violation.
"$assemble" - before.trc <<'END' || exit 1
thread 1 tid=1
@1000 thread=1 resume reason=mutex object=0x10
@1500 thread=1 region_end
@1600 thread=1 park reason=cond object=0x30
END
run "$analyze" --check before.trc
same 'begun before the trace' '0 3 events checked: nothing is wrong' "$status $(cat out)"

# A file that was cut off: the check says so, and where.
{
	echo "$two"
	echo '@1000 thread=1 park reason=mutex object=0x10'
	echo '@2000 thread=1 thread_exit'
	echo unfinished
} | "$assemble" - cut.trc || exit 1
run "$analyze" --check cut.trc
same 'cut off' "0 cut off: proc 0: events from 2000 ns on may be missing
cut off: streams that have no events: events from -10000000 ns on may be missing
2 events checked: nothing is wrong; the end is missing, 1 thing that it may settle was not judged" \
	"$status $(cat out)"

# Whether another thread had left the fiber may be behind the cut.
{
	echo "$two"
	echo '@1000 thread=1 fiber_switch fiber=5'
	echo '@2000 proc=1 thread=2 fiber_switch fiber=5'
	echo '@50000 proc=1 thread=2 log message="x"'
	echo unfinished
} | "$assemble" - cut.trc || exit 1
run "$analyze" --check cut.trc
same 'a fiber, cut off' '3 events checked: nothing is wrong; the end is missing, 1 thing that it may settle was not judged' \
	"$(tail -n 1 out)"

# The recorder's tables were full: no event is lost, but what some of them say, and threads without a number
# are no thread.
{
	echo 'header procs=1 memory_bytes=8388608'
	echo 'thread 1 tid=101'
	seq 9000 | awk '{ print "@" $1 " thread=1 region_begin type=\"kind " $1 "\""
		print "@" $1 " thread=1 region_end" }'
	echo '@9010 thread=0 thread_start created=9005 creator=1'
	echo '@9020 thread=0 thread_name name="x"'
	echo '@9030 thread=0 thread_exit'
} >full.txt
"$assemble" full.txt full.trc || exit 1
for verb in '' --summary; do
	run "$analyze" $verb full.trc
	! grep -q 'none lost' out || fail "full tables: $verb: none lost: $(cat out)"
	grep -q '^lost: [0-9,]* times there was no room for a stack, name' out ||
		fail "full tables: $verb: $(cat out)"
	grep -q 'a shorter recording needs less room' out || fail "full tables: $verb: what helps: $(cat out)"
done
sed 's/tid=101/tid=102/' full.txt | "$assemble" - other.trc || exit 1
run "$analyze" full.trc other.trc
grep -q '^2 traces.*, in 2 the tables were full$' out || fail "full tables, several traces: $(cat out)"
run "$analyze" --sql 'SELECT id FROM threads' --output tsv full.trc
same 'full tables: threads' $'id\n1' "$(cat out)"

# What the check takes grows as the threads do: some tenths of a second of CPU time, and half a minute if it is
# as the square of them.
{
	echo 'header procs=1 memory_bytes=536870912'
	seq 100000 | awk '{ print "thread " $1 " tid=" $1 + 100 " start=" $1 * 10
		print "@" $1 * 10 + 5 " thread=" $1 " log" }'
} | "$assemble" - threads.trc || exit 1
run eval '(ulimit -t 10; exec "$analyze" --check threads.trc)'
same 'many threads' '0 100000 events checked: nothing is wrong' "$status $(cat out)"

exit $failed
