#!/bin/bash
# Programs with gaps between their segments, as linkers make them for large pages or large programs:
# all of their functions have names, in waits, samples, snapshots and over HTTP, also after
# something else was unloaded.
#
# SPDX-License-Identifier: Apache-2.0
. "$(dirname "$0")/lib.sh"
need_unsanitized
plugin=$here/.libs/libreloadwork.so
rounds=5

# stacks_of TABLE WHERE: rows, those in the far function, those that the near caller leads to as well,
# and those with a frame of the program's (or of nothing) that has no name.
stacks_of()
{
	sql t.trc "WITH named AS (SELECT s.stack AS stack,
			max(f.function LIKE 'segments_far_%') AS far,
			max(f.function IN ('segments_near', 'segments_thread')) AS near,
			max(f.function IS NULL AND (m.path IS NULL OR m.path LIKE '%/$program')) AS bare
		FROM stack_frames s JOIN frames f ON f.id = s.frame LEFT JOIN modules m ON m.id = f.module
		GROUP BY s.stack)
	SELECT count(*), total(far), total(near), total(bare)
	FROM $1 JOIN named USING (stack) WHERE $2" | tr '\t' ' ' | sed 's/\.0//g'
}

sound()
{
	"$trace_analyze" --check t.trc >check.txt 2>&1 || fail "$1: $(cat check.txt)"
	row=$(stacks_of parks "reason = 'sleep'")
	[ "$row" = "$((rounds * 2)) $((rounds * 2)) $((rounds * 2)) 0" ] ||
		fail "$1: of $((rounds * 2)) sleeps: rows, far, near, without a name: $row"
	passed "$1: all sleeps have their names"
}

# Sleeps and samples; of the samples those in the program, whatever else it may have called.
sampled()
{
	sound "$1"
	read -r all far near bare < <(stacks_of samples far)
	[ "$all" -ge 10 ] && [ "$far" = "$all" ] && [ "$near" = "$all" ] && [ "$bare" = 0 ] ||
		fail "$1: of the samples: $all far, $far $near, without a name: $bare"
	read -r all far near bare < <(stacks_of samples bare)
	[ "$all" = 0 ] || fail "$1: $all samples have frames without a name"
	passed "$1: all samples have their names"
}

for program in segments_far segments_wide; do
	"$trace_record" -q -o t.trc -e timer -F 500 --sample-by signal -- \
		"$here/$program" $rounds 40 "$plugin" </dev/null >out.txt || fail "$program: status $?"
	sampled "$program, by signal"
	if "$trace_record" -q -o t.trc -e cpu-clock -F 500 --sample-by kernel -- \
		"$here/$program" $rounds 40 "$plugin" </dev/null >out.txt 2>err.txt; then
		sound "$program, by the kernel"
		read -r all far near bare < <(stacks_of samples bare)
		[ "$all" = 0 ] || fail "$program, by the kernel: $all samples have frames without a name"
		read -r all far near bare < <(stacks_of samples far)
		[ "$all" -ge 10 ] || fail "$program, by the kernel: $all samples in the far function"
		passed "$program, by the kernel: all samples have their names"
	else
		echo "not by the kernel here: $(cat err.txt)"
	fi
	rm -f t.trc t.1.trc
	"$trace_record" -q --flight --snapshot-on exit -o t.trc -- \
		"$here/$program" $rounds 1 "$plugin" </dev/null >out.txt || fail "$program: status $?"
	[ -e t.trc ] || mv t.[0-9]*.trc t.trc || fail "$program: no snapshot"
	sound "$program, a snapshot"
done

# What the process tells of itself over HTTP.
command -v curl >/dev/null || exit 0
[ -e "$top_builddir/.libs/libtrc-http.so" ] || exit 0
for program in segments_far segments_wide; do
	mkfifo input.$program
	exec 3<>input.$program # opened both ways it waits for nobody
	env TRC_HTTP=127.0.0.1:0 TRC_HTTP_FILE="$work/served.$program" \
		LD_PRELOAD="$top_builddir/.libs/libtrc.so" "$here/$program" 1 1 "$plugin" <&3 >out.txt &
	pid=$!
	started+=("$pid")
	until_true 60 grep -q '^port: ' "served.$program" || fail "$program: no server"
	port=$(sed -n 's/^port: //p' "served.$program")
	until_true 60 grep -q . out.txt || fail "$program: no addresses"
	read -r far near <out.txt
	# A stub of the linkage table, by what lies between it and a function.
	at=$(objdump -d "$here/$program" | sed -n 's/^\([0-9a-f]*\) <clock_gettime@plt>:$/\1/p')
	static=$(nm "$here/$program" | awk '$3 == "segments_near" { print $1 }')
	[ -n "$at" ] && [ -n "$static" ] || fail "$program: no stub"
	stub=$(printf '0x%x' $((near - 0x$static + 0x$at)))
	curl -sS -f -o names.txt "http://127.0.0.1:$port/debug/pprof/symbol?$far+$near+$stub" || fail "$program: no names over HTTP"
	echo >&3
	exec 3>&-
	wait "$pid" || fail "$program: status $?"
	grep -q ' segments_far_work' names.txt && grep -q ' segments_near' names.txt &&
		grep -q ' clock_gettime@plt$' names.txt || fail "$program: over HTTP: $(cat names.txt)"
	passed "$program: names over HTTP"
done
