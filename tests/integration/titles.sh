#!/bin/bash
# What a process is called: by how it was called, not by the file that a link leads to; and where it renamed itself
# (setproctitle()), by its title at the end.
. "$(dirname "$0")/lib.sh"
need_unsanitized
program=$here/titles

# ---- a link ------------------------------------------------------------------------------------
# Without symbols a place is the module and an offset.
cp "$program" file-behind && strip -s file-behind && ln -s file-behind 'a-server' || fail 'no program'
"$trace_record" -q -o link.trc -- ./a-server once || fail "a link: status $?"
"$trace_analyze" link.trc >out.txt || fail "report: status $?"
grep -q 'a-server+0x' out.txt || fail "the place of the wait: $(cat out.txt)"
grep -q 'file-behind+' out.txt && fail "the file's name: $(cat out.txt)"
[ "$("$trace_analyze" link.trc --sql "SELECT count(*) FROM modules WHERE path LIKE '%/file-behind'" --output tsv | tail -n 1)" = 1 ] ||
	fail 'the module is not that of the file'
passed 'a program that was started by a link has the name of the link'
"$trace_record" -q -o link2.trc -- ./file-behind once || fail "without a link: status $?"
"$trace_analyze" link.trc link2.trc >out.txt || fail "two traces: status $?"
grep -q '  a-server once' out.txt && grep -q '  file-behind once' out.txt || fail "the list: $(cat out.txt)"
passed 'in a list of traces it is called by its first argument, without the directory'

# ---- a title ----------------------------------------------------------------------------------
# told FILE TITLE: the report begins with the title
told()
{
	"$trace_analyze" "$1" >out.txt || fail "$1: status $?"
	head -n 1 out.txt | grep -q "^$2, began as " || fail "$1: $(head -n 1 out.txt)"
}
pids=()
# begin OPTION...: the program, until the file "end" is there
begin()
{
	rm -f end pids.txt
	start "$trace_record" -q --follow -o live.trc "$@" -- "$program" rename "$PWD/end" >pids.txt
	recorder=$!
	for _ in $(seq 600); do
		read -r -a pids <pids.txt && [ ${#pids[@]} = 2 ] && return
		sleep 0.1
	done
	fail 'the program did not begin'
}
begin --flight
"$trace_record" -q --snapshot "${pids[0]}" -o parent.trc || fail "a snapshot: status $?"
"$trace_record" -q --snapshot "${pids[1]}" -o child.trc || fail "a snapshot of the child: status $?"
touch end
wait $recorder || fail "trace-record: status $?"
told parent.trc 'titles: parent'
told child.trc 'titles: child 1'
passed 'a snapshot has the title that the process has'
"$trace_analyze" parent.trc child.trc >out.txt || fail "two traces: status $?"
grep -q '  titles: parent, in parent.trc$' out.txt || fail "the list: $(cat out.txt)"
passed 'in a list of traces a process is called by its title'

# trace-record looks about once in a second.  A machine may be so busy that it comes to that late.
for try in 1 2 3; do
	begin
	sleep $((2 * try))
	touch end
	wait $recorder || fail "trace-record: status $?"
	"$trace_analyze" "live.${pids[1]}.trc" | head -n 1 | grep -q 'began as' && break
done
told "live.${pids[0]}.trc" 'titles: parent'
told "live.${pids[1]}.trc" 'titles: child 1'
passed "a recording has the title that the process had last (run $try)"
