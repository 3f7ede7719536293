#!/bin/sh
# Every interposed name binds to the interposer, whatever version a program asks for, and old
# versions of names that have two bind to theirs.
. "$top_srcdir/tests/recorder/interpose/lib.sh"

# bindings OBJECT PROGRAM: what the loader binds PROGRAM's names to OBJECT, one "NAME VERSION"
# a line.
bindings()
{
	LD_BIND_NOW=1 LD_DEBUG=bindings LD_PRELOAD=$1 "$2" >"$work/out" 2>"$work/debug" ||
		fail "$2 under $1"
	sed -n "s|.*binding file $2 \[0\] to $1 \[0\]: normal symbol .\([^']*\)'|\1|p" \
		"$work/debug" | tr -d '[]' | sort -u
}

for object in "$fake" "$preload"; do
	all=$(program uses_all)
	bindings "$object" "$all" >"$work/bound"
	sort -u "$work/out" >"$work/names"
	cut -d' ' -f1 "$work/bound" | sort -u >"$work/bound_names"
	comm -23 "$work/names" "$work/bound_names" >"$work/missing"
	test -s "$work/names" || fail "no names"
	test -s "$work/missing" && fail "${object##*/} does not bind: $(tr '\n' ' ' <"$work/missing")"

	fortified=$(program uses_fortified)
	bindings "$object" "$fortified" >"$work/bound"
	for name in __poll_chk __ppoll_chk __read_chk __pread_chk __recv_chk __recvfrom_chk __open_2; do
		grep -q "^$name " "$work/bound" || fail "${object##*/} does not bind $name"
	done

	case $(uname -m) in
	x86_64)
		old=$(program old_cond)
		bindings "$object" "$old" >"$work/bound"
		for name in wait timedwait signal broadcast; do
			grep -qx "pthread_cond_$name GLIBC_2.2.5" "$work/bound" ||
				fail "${object##*/} does not bind the old pthread_cond_$name"
		done
		;;
	esac
done
exit $failed
