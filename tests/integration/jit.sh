#!/bin/bash
# jit.sh - code that the program made itself has the names of /tmp/perf-PID.map, if that is to be
# believed.
#
# SPDX-License-Identifier: Apache-2.0
. "$top_srcdir/tests/integration/lib.sh"
need_unsanitized
[ "$(uname -m)" = x86_64 ] || skip 'the made code is for x86-64'

status=0
"$trace_record" -q -F 1000 -o jit.trc -- "$here/jit" >account || status=$?
[ $status != 77 ] || skip 'no memory that is writable and executable, or no /tmp'
[ $status = 0 ] || fail "it failed: $status"
map=/tmp/perf-$(sql jit.trc "SELECT value FROM trace_info WHERE key = 'pid'").map
[ -f "$map" ] || fail "there is no $map"
trap 'status=$?; rm -f "$map"; (exit $status); end_test' EXIT
mv "$map" names.map

# milliseconds NAME: of all samples in a function of this name.
milliseconds()
{
	sql jit.trc "SELECT coalesce(sum(s.scaled_value), 0) / 1e6 FROM samples AS s
		JOIN stack_frames AS sf ON sf.stack = s.stack AND sf.depth = 0
		JOIN frames AS f ON f.id = sf.frame WHERE f.function = '$1'"
}

cp names.map "$map"
while IFS=$'\t' read -r _ name ms; do
	got=$(milliseconds "$name")
	awk -v got="$got" -v ms="$ms" 'BEGIN { d = got - ms; exit !(d * d < (ms / 4 + 5) ^ 2) }' ||
		fail "$name: $got ms of $ms"
	passed "$name: $got of $ms ms"
done <account
expect 'what lay there before has nothing' test "$(milliseconds gone)" = 0.0

# Not to be believed: older than the recording; a link.
touch -d '2001-01-01' "$map"
expect 'a file that is older says nothing' test "$(milliseconds second)" = 0.0
rm -f "$map"
ln -s "$PWD/names.map" "$map"
got=$(milliseconds second)
rm -f "$map"
expect 'a link says nothing' test "$got" = 0.0
