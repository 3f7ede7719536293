#!/bin/bash
# Answers on a terminal are no wider than it, in whatever of its widths; what goes into a pipe or a file is cut nowhere, so that
# searching it finds what is there.  Of a C++ program, whose names are long.
. "$(dirname "$0")/lib.sh"
need_unsanitized
need script stty
export LC_ALL=C.UTF-8
[ "$(printf '…' | wc -L)" = 1 ] || skip 'no locale of UTF-8'
unset NO_COLOR

"$trace_record" -q -F 1000 --locks=all -o t.trc -- "$here/cxx_names" >truth.txt || fail "status $?"
cp t.trc again.trc
lock=$(sed -n 's/^lock\t//p' truth.txt)

# on_terminal COLUMNS ARGUMENT...: what trace-analyze prints on such a terminal, without colours
on_terminal()
{
	local columns=$1
	shift
	script -qefc "stty cols $columns rows 40; $(printf '%q ' "$trace_analyze" "$@")" /dev/null </dev/null >raw.txt ||
		fail "$* at $columns columns: status $?: $(cat raw.txt)"
	tr -d '\r' <raw.txt | sed 's/\x1b\[[0-9;]*[mK]//g'
}

answers()
{
	echo t.trc
	echo --full t.trc
	echo --why longest t.trc
	echo --critical-path '0ms..50ms' t.trc
	echo --what-if "lock $lock * 0.5" t.trc
	echo --diff t.trc again.trc
}

while IFS= read -r answer; do
	case $answer in
	*what-if*) arguments=(--what-if "lock $lock * 0.5" t.trc) ;;
	*) read -r -a arguments <<<"$answer" ;;
	esac
	for columns in 60 80 100 200; do
		on_terminal $columns "${arguments[@]}" >shown.txt
		widest=$(wc -L <shown.txt)
		[ "$(wc -l <shown.txt)" -gt 2 ] || fail "$answer at $columns columns: $(cat shown.txt)"
		[ "$widest" -le $columns ] || fail "$answer: $widest columns at $columns: $(awk -v n=$columns 'length > n' shown.txt)"
	done
	"$trace_analyze" "${arguments[@]}" >piped.txt || fail "$answer: status $?"
	grep -q $'\x1b' piped.txt && fail "$answer: colours in a pipe"
	grep -q '…' piped.txt && fail "$answer: cut in a pipe: $(grep '…' piped.txt)"
	passed "$answer: no line is too wide for a terminal, nothing is cut in a pipe"
done < <(answers)

# Each function of the longest wait's stack has its whole name.
"$trace_analyze" --full t.trc >piped.txt || fail "--full: status $?"
sql t.trc "SELECT DISTINCT f.function FROM stack_frames AS s JOIN frames AS f ON f.id = s.frame WHERE f.function GLOB 'settings::*' AND
	s.stack = (SELECT stack FROM parks WHERE reason = 'mutex' ORDER BY waited_ns DESC LIMIT 1)" >functions.txt
[ -s functions.txt ] || fail 'no function waited for a mutex'
while IFS= read -r function; do
	grep -q -F -e "$function" piped.txt || fail "not in --full: $function"
done <functions.txt
passed 'names are whole in a pipe'
