#!/bin/bash
# limits.sh - what a program can have is what it can have without the recorder.
name=limits
. "$(dirname "$0")/lib.sh"
limited=$here/limited

# Not from a pipe: programs would inherit it.
modes=('--locks=all' '--flight' '-F 1000 --heap' '--flight --follow -F 1000 --heap --locks=all')

# ---- as much as without ------------------------------------------------------------------

# A thread that allocates nothing has no arena; descriptors; a thread with little stack.
while read -r what; do
	# shellcheck disable=SC2086
	check "plain: $what" status 0 "$limited" $what
	plain=$(cat out)
	for args in "${modes[@]}"; do
		# shellcheck disable=SC2086
		check "$what: $args" status 0 "$record" -q $args -o a.trc "$limited" $what
		# A thread that is sampled by the kernel's counters has one of its descriptors.
		got=$(cat out)
		[[ $what == files && $args == *-F* ]] && [ $((${got#* } + 1)) = "${plain#* }" ] && got=$plain
		check "$what: $args: as without" same "$got" "$plain"
	done
done <<'END'
arenas 4
small
files
END

# ---- address space -----------------------------------------------------------------------

# What the recorder may take (docs/recorder.md): 3/32 of the limit, and 4 MiB for its own code and data.
# kept PLAIN RECORDED LIMIT_KB: of the pieces of 256 KiB that the program could have all others are left.
kept()
{
	local plain=${1##* } recorded=${2##* }

	[ -n "$recorded" ] && [ $((recorded + $3 * 3 / 32 / 256 + 16 + 1)) -ge "$plain" ] || {
		echo "without the recorder: $1; with it: $2"
		return 1
	}
}

# with_limit KB COMMAND...
with_limit()
{
	bash -c 'ulimit -v "$1"; shift; exec "$@"' - "$@"
}

for kb in 40000 100000 400000; do
	# As many threads as leave half of the limit: their stacks have 8 MiB.
	n=$((kb / 2 / 8192))
	check "plain: ulimit -v $kb" status 0 with_limit $kb bash -c "ulimit -s 8192; exec $limited most $n"
	plain=$(cat out)
	check "plain: ulimit -v $kb: all threads" same "${plain% pieces*}" "threads $n"
	for args in "${modes[@]}"; do
		check "ulimit -v $kb: $args" status 0 with_limit $kb bash -c \
			"ulimit -s 8192; exec $record -q $args -o v.trc -- $limited most $n"
		check "ulimit -v $kb: $args: all threads" same "$(sed 's/ pieces.*//' out)" "threads $n"
		check "ulimit -v $kb: $args: space" kept "$plain" "$(cat out)" $kb
	done
	check "ulimit -v $kb: recorded" status 0 with_limit $kb bash -c \
		"ulimit -s 8192; exec $record -q -F 1000 --heap -o v.trc -- $limited most $n"
	check "ulimit -v $kb: recorded with all threads" trace v.trc "count thread_start $((n + 1))"
done

finish
