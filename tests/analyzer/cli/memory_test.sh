#!/bin/bash
# memory_test.sh - how much memory trace-analyze takes: --memory, ulimit, and traces that ask for too much.
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

# A sanitizer ends the program where malloc() would return NULL.
if [ "${TRC_SANITIZE:-no}" != no ]; then
	echo "skipped: a build with -fsanitize=$TRC_SANITIZE"
	exit 77
fi

# Small, and honest: events that differ little from each other.
{
	echo 'thread 1 tid=101 name="main"'
	echo 'thread 2 tid=102 name="worker"'
	awk 'BEGIN {
		for (i = 1; i <= 60000; i++) {
			printf "@%d thread=2 park reason=mutex object=%d holder=1\n", i * 1000 + i * i % 97, i
			printf "@%d thread=2 resume reason=mutex object=%d\n", i * 1000 + 500 + i * i % 89, i
		}
	}'
} | "$top_builddir/trc-assemble" - "$dir/many.trc" || exit 1
cd "$dir" || exit 1

# every_verb EXPECT LINE BOUND: what each verb says of many.trc; EXPECT is the status
every_verb()
{
	local want=$1 line=$2 status
	shift 2
	for verb in --report --summary '--sql SELECT/sum(end_ns)/FROM/parks' \
		'--db x.db' '--html x.html' '--pprof block -o x.pb.gz'; do
		read -ra words <<<"$verb"
		"$@" "${words[@]//\// }" many.trc >out 2>err
		status=$?
		[ "$status" = "$want" ] || fail "$*: $verb: status $status, not $want: $(head -n 3 err)"
		[ "$want" = 0 ] && [ -s err ] && fail "$*: $verb: $(head -n 3 err)"
		[ "$want" = 0 ] && continue
		grep -q "^trace-analyze: many.trc: .*$line\$" err || fail "$*: $verb: $(head -n 3 err)"
		[ "$(wc -l <err)" = 1 ] || fail "$*: $verb: lines: $(cat err)"
	done
}

limited()
{
	ulimit -v "$1"
	shift
	"$analyze" "$@"
}

every_verb 1 ': 1024 kB is the bound; --memory SIZE sets another' "$analyze" --memory 1M
every_verb 0 '' "$analyze" --memory 1G
every_verb 0 '' "$analyze"

# Wherever memory ends, nothing but an error comes of it.
for ((mb = 1; mb <= 25; mb += 3)); do
	for verb in --report --html --db --check; do
		case $verb in --html | --db) words=("$verb" x.out) ;; *) words=("$verb") ;; esac
		rm -f x.out
		"$analyze" --memory "${mb}M" "${words[@]}" many.trc >out 2>err
		status=$?
		case $status in
		0) [ -s err ] && fail "$verb with $mb MB: $(cat err)" ;;
		1) [ "$(wc -l <err)" = 1 ] || fail "$verb with $mb MB: $(cat err)"
			[ -e x.out ] && fail "$verb with $mb MB: a file in spite of an error" ;;
		*) fail "$verb with $mb MB: status $status: $(cat err)" ;;
		esac
	done
done

# The shell's own limit is obeyed, and named: as much as the program takes to say who it is, and a bit.
vm_kb=8000
until (limited $vm_kb --version) >/dev/null 2>&1; do
	vm_kb=$((vm_kb + 2000))
done
(limited $((vm_kb + 6000)) --report many.trc) >out 2>err
status=$?
[ $status = 1 ] || fail "ulimit -v: status $status: $(cat err)"
grep -q "^trace-analyze: many.trc: .*out of memory: .* is the bound that 'ulimit' sets\$" err ||
	fail "ulimit -v: $(cat err)"
[ "$(wc -l <err)" = 1 ] || fail "ulimit -v: $(cat err)"

for size in 0 -1 many 1X 1MB 99999999999999999999 ''; do
	"$analyze" --memory "$size" --check many.trc >out 2>err
	[ $? = 2 ] || fail "--memory $size is taken"
	[ "$(cat err)" = "trace-analyze: --memory is a size such as 512M or 4G, not $size" ] ||
		fail "--memory $size: $(cat err)"
done

exit $failed
