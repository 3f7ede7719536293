#!/bin/bash
# cli_schema_test.sh - the example queries of docs/schema.md are answered, and the man page has the
# options of the program.  (Its tables: tests/package/docs_tables.sh.)
#
# SPDX-License-Identifier: Apache-2.0
set -u
: "${top_srcdir:?}" "${top_builddir:?}"

analyze=$top_builddir/analyzer/trace-analyze
assemble=$top_builddir/trc-assemble
doc=$top_srcdir/docs/schema.md
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
failed=0

cat >"$dir/t.txt" <<'END'
thread 1 tid=101 name="main"
thread 2 tid=102 creator=1 name="worker"
stack s1 0x401000 0x402000
labels l1 tenant="acme"
sample_event 1 period=1000000
@900 thread=2 fiber_create fiber=5 name="f" stack=s1
@910 thread=2 fiber_switch fiber=5 name="f"
@920 thread=2 fiber_switch left=5 reason=user object=0x40 stack=s1
@930 thread=1 fiber_ready fiber=5 stack=s1
@940 thread=2 fiber_switch fiber=5 name="f"
@1000 thread=1 task_begin task=7 type="request"
@1010 thread=1 region_begin task=7 type="parse"
@1050 proc=1 thread=2 labels labels=l1
@1100 proc=1 thread=2 park reason=mutex object=0x10 holder=1 stack=s1
@2000 thread=1 unlock reason=mutex object=0x10 waiters=1 stack=s1
@2100 proc=1 thread=2 resume reason=mutex object=0x10
@2101 proc=2 source=kernel thread=3 proc_start
@2102 proc=2 source=kernel thread=3 proc_stop preempted=1
@2104 proc=2 source=kernel thread=3 proc_start
@2105 thread=1 sample event=1 value=1000000 period=1000000 stack=s1 labels=l1
@2150 thread=1 alloc sample=1 address=0x5000 bytes=1048576 period=524288 stack=s1 labels=l1
@2160 thread=1 alloc sample=2 address=0x9000 bytes=64 period=524288 stack=s1
@2170 thread=2 free sample=2 address=0x9000 bytes=64 period=524288
@2200 thread=1 wait reason=read object=3 since=2110 stack=s1
@2240 thread=1 wait reason=recv object=4 since=2210 descriptor="tcp 127.0.0.1:80 127.0.0.1:4711"
@2250 thread=1 region_end
@2300 thread=1 gap lost_events=2 since=2260 cause=ring_full
@2500 thread=1 task_end task=7
@2600 proc=1 thread=2 park reason=mutex object=0x20 holder=1
@2700 thread=1 park reason=mutex object=0x30 holder=2
END
"$assemble" "$dir/t.txt" "$dir/t.trc" || exit 1

# Each example on its own; on this trace each has an answer.
awk -v dir="$dir" '
	/^```sql/ { n++; inside = 1; next }
	/^```/ { inside = 0 }
	inside { print > (dir "/query." n) }' "$doc"
n=0
for query in "$dir"/query.*; do
	n=$((n + 1))
	if ! "$analyze" --sql "$(cat "$query")" --output tsv "$dir/t.trc" >"$dir/out" 2>"$dir/err" ||
		[ -s "$dir/err" ] || [ "$(wc -l <"$dir/out")" -lt 2 ]; then
		printf 'FAIL: this example has no answer: %s\n%s\n' "$(cat "$query")" "$(cat "$dir/err")"
		failed=1
	fi
done
[ "$n" -ge 10 ] || { echo "FAIL: only $n examples found"; failed=1; }

# The man page names every option of the program, and no other.
page=$top_srcdir/docs/trace-analyze.1
"$analyze" --help | grep -o -e '--[a-z][a-z-]*' | sort -u >"$dir/options"
sed -n 's/^\.It.* Fl Fl \([a-z-]*\).*/--\1/p' "$page" | sort -u >"$dir/page"
if ! diff "$dir/options" "$dir/page"; then
	echo 'FAIL: trace-analyze.1 (>) and --help (<) differ'
	failed=1
fi

# And every kind of finding, as docs/schema.md does.
n=0
for kind in $(tr '\n' ' ' <"$top_srcdir/analyzer/findings/names.c" |
	grep -oE '\[TRC_FINDING_[A-Z_]+\] =[[:space:]]*\{"[a-z_]+"' | sed 's/.*"\(.*\)"/\1/'); do
	n=$((n + 1))
	grep -qE "^\.It Li (.* )?$kind( |\$)" "$page" || { echo "FAIL: trace-analyze.1 without findings of kind $kind"; failed=1; }
	grep -qE "^- (.*, )?\`$kind\`[,:]" "$top_srcdir/docs/schema.md" ||
		grep -qE "^\| \`kind\`.*[ ,;]$kind[,;:]" "$top_srcdir/docs/schema.md" ||
		{ echo "FAIL: docs/schema.md without findings of kind $kind"; failed=1; }
done
[ "$n" -ge 21 ] || { echo "FAIL: only $n kinds of findings found"; failed=1; }
exit $failed
