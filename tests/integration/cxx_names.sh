#!/bin/bash
# cxx_names.sh - C++ functions have the names that a person would look for: lambdas apart from each
# other, members of local classes and templates, locks; and the report leads with the program's own
# code, not with headers of the library.
#
# SPDX-License-Identifier: Apache-2.0
. "$top_srcdir/tests/integration/lib.sh"
need_unsanitized

"$trace_record" -q -F 1000 -o names.trc -- "$here/cxx_names" >account || fail "it failed: $?"
[ "$(grep -c '^cpu' account)" -ge 6 ] || fail "no account: $(cat account)"

# All functions that a sample was taken in, inner and outer, with their milliseconds of CPU time.
sql names.trc "SELECT DISTINCT s.ts_ns, s.thread, f.function, s.scaled_value / 1e6
	FROM samples AS s JOIN stack_frames AS sf ON sf.stack = s.stack JOIN frames AS f ON f.id = sf.frame" |
	awk -F '\t' '{ ms[$3] += $4 } END { for (name in ms) printf "%s\t%.1f\n", name, ms[name] }' |
	sort >seen || fail 'no samples'

# Each has its time, within a quarter and what single samples are worth.
while IFS=$'\t' read -r _ name ms; do
	got=$(awk -F '\t' -v name="$name" '$1 == name { print $2 }' seen)
	[ -n "$got" ] || fail "no function is called $name:
$(cat seen)"
	awk -v got="$got" -v ms="$ms" 'BEGIN { d = got - ms; exit !(d * d < (ms / 4 + 5) ^ 2) }' ||
		fail "$name: $got ms of $ms"
	passed "$name: $got of $ms ms"
done < <(grep '^cpu' account)

# Locks that are static variables, of a file or of a function, have the names of the program, and its waits.
sql names.trc "SELECT name, symbol, waited_ns / 1e6 FROM locks WHERE kind = 'mutex'" >locks.tsv || fail 'no locks'
while IFS=$'\t' read -r _ name ms; do
	got=$(awk -F '\t' -v name="$name" '$1 == name && $2 == name { print $3 }' locks.tsv)
	[ -n "$got" ] || fail "no lock is called $name: $(cat locks.tsv)"
	awk -v got="$got" -v ms="$ms" 'BEGIN { d = got - ms; exit !(d * d < (ms / 4 + 5) ^ 2) }' ||
		fail "waits for $name: $got ms of $ms"
	[ "$(sql names.trc "SELECT count(*) FROM objects WHERE name = '$name' AND symbol = '$name' AND offset_bytes = 0 AND kind = 'mutex'")" = 1 ] ||
		fail "$name is not in the table objects: $(sql names.trc 'SELECT * FROM objects')"
	passed "a lock called $name: $got of $ms ms"
done < <(grep '^waited' account)

lock=$(awk -F '\t' '$1 == "lock" { print $2 }' account)
holder=$(awk -F '\t' '$1 == "holder" { print $2 }' account)
"$trace_analyze" names.trc >report || fail 'no report'
grep -q "^  $holder cxx_names.cc:[0-9]* caused .* for" report ||
	fail "the findings do not lead with $holder: $(head -n 12 report)"
passed 'the finding names who kept the lock'
grep -q " mutex $lock\$" report || fail "the lock is not called $lock: $(grep mutex report)"
passed 'a lock in a namespace'
grep -q '^            settings::get cxx_names.cc:[0-9]*' report ||
	fail "a wait is not where the program has it: $(grep -A 3 '^Waiting for locks' report)"
passed 'a wait is where the program calls the library'
grep -q '…' report && fail "cut lines: $(grep -n '…' report)"
# Where samples were taken is told as it is, be it in the library.
sed '/^CPU time /,/^$/d' report >waits
grep -qE 'gthr-default|std_mutex' waits && fail "headers of the library: $(grep -nE 'gthr-|std_mutex' waits)"
passed 'a report in a file is not cut'
grep -q 'run_routine\|barrier_once' report &&
	fail "trc's own code between the program's: $(grep 'run_routine\|barrier_once' report)"
grep -A 1 ' join ' report | grep -q '^            main cxx_names.cc:' ||
	fail "who waits for a future is not where the program does: $(grep -A 1 ' join ' report)"
passed 'a wait through pthread_once() is where the program asks for it'

# Without names: how the process was started is no code of the program's.
strip -o stripped "$here/cxx_names" && "$trace_record" -q -o stripped.trc -- ./stripped >/dev/null ||
	fail 'the stripped program was not recorded'
"$trace_analyze" stripped.trc >report || fail 'no report of the stripped program'
grep -q '__libc_start' report && fail "libc starts it: $(grep __libc_start report)"
passed 'a stripped program does not begin in libc'
[ "$("$trace_analyze" names.trc | grep -c 'linux-vdso.so.1+0x')" = 0 ] ||
	fail "addresses in the vDSO: $(grep vdso report)"
passed 'the vDSO has names'

# A program that mostly reads the clock: whatever address of the vDSO was sampled, it is the function's, or [vdso].
"$trace_record" -q -F 2000 -o clock.trc -- "$here/truth_chain" >/dev/null || fail 'truth_chain was not recorded'
sql clock.trc "SELECT f.function, count(*), count(DISTINCT f.address) FROM samples AS s
	JOIN stack_frames AS x ON x.stack = s.stack AND x.depth = 0 JOIN frames AS f ON f.id = x.frame
	JOIN modules AS m ON m.id = f.module WHERE m.path LIKE 'linux-vdso%' GROUP BY 1" >vdso.tsv || fail 'no samples'
if [ -s vdso.tsv ]; then
	grep -qvE '^((__vdso_)?(clock_gettime|gettimeofday|time|clock_getres|getcpu)|\[vdso\])	' vdso.tsv &&
		fail "functions of the vDSO: $(cat vdso.tsv)"
	"$trace_analyze" clock.trc >report || fail 'no report'
	grep -q 'vdso.so.1+0x' report && fail "addresses in the vDSO: $(grep vdso report)"
	passed "samples in the vDSO are of its functions: $(awk '{ printf "%s %d at %d addresses ", $1, $2, $3 }' vdso.tsv)"
else
	echo 'no sample lies in the vDSO: this machine reads the clock by a system call'
fi
