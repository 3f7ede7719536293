#!/bin/bash
# docs/coming-from.md: every command of trc in it runs, every function, macro and address is there, and the report has the
# sections that it names.
#
# ./server is a program that ends at once where only the options are to be taken; the traces that are asked are the demo's.
. "$top_srcdir/tests/integration/lib.sh"
need_unsanitized
need curl

doc=$top_srcdir/docs/coming-from.md
demo=$top_builddir/docs/examples/trc-demo
PATH=$top_builddir/recorder:$top_builddir/analyzer:$top_builddir/viewer:$PATH:/usr/local/go/bin

# What stands between backquotes in the text and in the last column of the tables: what is typed here.
awk -F ' \\| ' '/^\| / { print $NF; next } { print }' "$doc" | grep -o '`[^`]*`' | tr -d '`' | awk '!seen[$0]++' >codes.txt
grep -E '^(trace-(record|analyze|view)|go tool pprof) ' codes.txt >commands.txt
[ "$(wc -l <commands.txt)" -ge 40 ] || fail "$(wc -l <commands.txt) commands in the document"

# ---- functions and macros ----
grep -v '^trace-' codes.txt | grep -o -E '\b(trace_[a-z_]+|TRACE_[A-Z_]+)\b' | sort -u >names.txt
[ -s names.txt ] || fail 'no function in the document'
while read -r word; do
	grep -q -w "$word" "$top_srcdir"/recorder/include/trc/*.h || fail "no $word in the headers"
done <names.txt
passed "$(wc -l <names.txt) functions and macros are in the headers"

# ---- traces to ask ----
"$trace_record" -q -F 10000 --locks=all --heap=1 -o dump.trc -- "$demo" -s 1 >/dev/null || fail 'the demo was not recorded'
cp dump.trc old.trc
switches=$(sql dump.trc 'SELECT count(*) FROM on_cpu')

# process_of RECORDER: the pid of what it records.
process_of()
{
	until_true 60 pgrep -P "$1" || fail 'nothing is recorded'
	pgrep -P "$1"
}

recorded()
{
	trace-record --list | grep -q "^ *$process "
}

start trace-record -q --flight -o odd.trc -- "$demo" -s 3600 >/dev/null 2>&1
recorder=$pid
process=$(process_of "$recorder")
until_true 60 recorded || fail 'no flight recorder'
trace-record -q --snapshot "$process" -o now.trc || fail 'no snapshot'
kill -ABRT "$process"
wait "$recorder" 2>/dev/null
[ -s odd.1.trc ] || fail 'no snapshot of the crash'
start trace-record -q --flight -o last.trc -- "$demo" -s 3600 >/dev/null 2>&1
recorder=$pid
process=$(process_of "$recorder")
until_true 60 recorded || fail 'no flight recorder'
finish "$recorder" KILL 2>/dev/null
dead=$process # for --recover: when the snapshots have been taken
dead_at=${#started[@]}
started+=("$dead")

start trace-record --http 127.0.0.1:0 -F 100 -o http.trc -- "$demo" -s 3600 >/dev/null 2>http.err
server=$pid
until_true 60 grep -q ' at port [0-9]' http.err || fail "no server: $(cat http.err)"
port=$(sed -n 's/.* at port \([0-9]*\).*/\1/p' http.err)

# ---- commands ----
mkdir empty
cp "$(type -P true)" empty/server

run()
{
	local command=$1
	case $command in
	*-e\ page-faults* | *on_cpu* | *sched_latency* | *'--pprof '[lw]* | *offcpu*)
		[ "$switches" -gt 0 ] || return 0 # the kernel does not let this machine
		;;
	esac
	case $command in
	'trace-view '*)
		[ -x "$top_builddir/viewer/trace-view" ] || return 0
		start trace-view --no-browser dump.trc >view.txt 2>&1
		until_true 60 grep -q 'http://' view.txt || fail "$command: $(cat view.txt)"
		finish "$pid" TERM
		;;
	'go tool'*)
		command -v go >/dev/null || return 0
		command=${command/6060/$port}
		bash -c "${command/seconds=5/seconds=1}" >output.txt 2>&1 || fail "$command: $(cat output.txt)"
		;;
	'trace-record --snapshot '* | 'trace-record --recover '*)
		if [[ $command = *recover* ]] && [ -e "/proc/$dead" ]; then
			kill -9 "$dead"
			unset "started[$dead_at]"
			until_true 60 test ! -e "/proc/$dead/exe"
		fi
		(cd empty && bash -c "${command/PID/$dead}") >output.txt 2>&1 || fail "$command: $(cat output.txt)"
		;;
	'trace-record '*)
		(cd empty && bash -c "${command/6060/0}") >output.txt 2>&1 </dev/null || fail "$command: $(cat output.txt)"
		;;
	*)
		bash -c "$command" >output.txt 2>&1 </dev/null || fail "$command: status $?: $(tail -n 3 output.txt)"
		;;
	esac
	passed "$command"
}

# What asks for profiles that others make comes after these; what needs the process dead comes last.
grep -v -e '^go tool' -e ' --recover ' commands.txt >order.txt
grep -e '^go tool' commands.txt >>order.txt
grep -e ' --recover ' commands.txt >>order.txt
while IFS= read -r command; do
	run "$command"
done <order.txt

# ---- what else is named ----
trace-analyze dump.trc >sections.txt || fail 'no report'
trace-analyze odd.1.trc >>sections.txt || fail 'no report of the crash'
grep -o -E '[sS]ections? "[^"]*"( and "[^"]*")?' "$doc" | grep -o '"[^"]*"' | tr -d '"' | sort -u >named.txt
while IFS= read -r section; do
	grep -q "^$section" sections.txt || fail "the report has no section $section"
done <named.txt
passed "the report has $(wc -l <named.txt) sections that are named"
grep -E '^(/debug/pprof/|block\?)' codes.txt | sort -u >addresses.txt
while IFS= read -r address; do
	address=/debug/pprof/${address#/debug/pprof/}
	curl -sS -f -m 60 -o answer "http://127.0.0.1:$port${address/seconds=5/seconds=1}" || fail "no $address"
done <addresses.txt
passed "$(wc -l <addresses.txt) addresses answer"
finish "$server" TERM
