#!/bin/bash
# valgrind.sh - a recorded program has no errors of the recorder's, for those who look for its own.
name=valgrind
. "$(dirname "$0")/lib.sh"
limited=$here/limited

command -v valgrind >/dev/null || {
	echo "skipped: no valgrind"
	exit 77
}

# Some compilers are newer than valgrind, which then gives up on whatever they made.
valgrind -q "$limited" arenas 4 >plain.txt 2>&1
grep -q 'unhandled dwarf' plain.txt && {
	echo "skipped: valgrind does not read this compiler's debug information"
	exit 77
}

# What valgrind says, which has the number of the process.
said() { sed 's/[0-9]\{2,\}/N/g' err | grep -v '^trace-record:'; }

for tool in memcheck helgrind drd; do
	valgrind=(valgrind -q --error-exitcode=9 --tool=$tool)
	check "plain: $tool" status 0 "${valgrind[@]}" "$limited" arenas 4
	plain=$(said)
	for args in '' '-F 1000 --heap --locks=all' '--flight --follow'; do
		# shellcheck disable=SC2086
		check "$tool: $args" status 0 "$record" -q $args -o v.trc -- "${valgrind[@]}" "$limited" arenas 4
		check "$tool: $args: says what it says without" same "$(said)" "$plain"
		case $tool in
		memcheck) check "$tool: $args: recorded" same "$(grep -c 'not recorded' err)" 0 ;;
		*) check "$tool: $args: not recorded" says err "is not recorded: valgrind's" ;;
		esac
	done
done

finish
