#!/bin/bash
# Locks of a stripped program are told by the section of its file that they lie in, and where in it: the same in each run.
. "$(dirname "$0")/lib.sh"
need_unsanitized
for tool in cc nm readelf strip; do
	command -v $tool >/dev/null || skip "$tool is not there"
done

cat >locks.c <<'END'
#include <pthread.h>
#include <time.h>

static pthread_mutex_t first = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP, table[3];
static int sum;

static void *run(void *arg)
{
	for (int i = 0; i < 20; i++) {
		pthread_mutex_t *lock = i % 2 ? &first : &table[2];

		pthread_mutex_lock(lock);
		nanosleep(&(struct timespec){0, 1000000}, NULL);
		sum += i;
		pthread_mutex_unlock(lock);
	}
	return arg;
}

int main(void)
{
	pthread_t thread[3];

	for (int i = 0; i < 3; i++)
		pthread_create(&thread[i], NULL, run, NULL);
	for (int i = 0; i < 3; i++)
		pthread_join(thread[i], NULL);
	return sum == 0;
}
END
cc -O1 -g -D_GNU_SOURCE -pthread locks.c -o locks || skip 'it cannot be compiled'

# Where a variable lies, as the linker has it: "locks .bss+0x40".
at()
{
	local address section start
	address=$((16#$(nm locks | awk -v name="$1" '$3 == name { print $1 }') + $2))
	while read -r section start size; do
		[ $address -lt $((16#$start)) ] || [ $address -ge $((16#$start + 16#$size)) ] ||
			printf 'locks %s+0x%x\n' "$section" $((address - 16#$start))
	done < <(readelf -SW locks | sed 's/^ *\[ *[0-9]*\] *//' | awk '$1 == ".data" || $1 == ".bss" { print $1, $3, $5 }')
}
first=$(at first 0)
last=$(at table $((2 * $(nm -S locks | awk '$4 == "table" { print "0x" $2 }') / 3)))
[ -n "$first" ] && [ -n "$last" ] || fail "where the locks lie: $(nm locks) $(readelf -SW locks)"
strip locks

for run in 1 2; do
	"$trace_record" -q -o t.trc -- ./locks || fail 'recording'
	names=$(sql t.trc "SELECT name FROM objects WHERE kind = 'mutex' AND symbol IS NULL ORDER BY name")
	[ "$names" = "$(printf '%s\n%s\n' "$first" "$last" | sort)" ] || fail "run $run: $names, not $first and $last"
done
passed "$first and $last, in two runs"

"$trace_analyze" t.trc | sed -n '/^Waiting for locks/,/^$/p' | grep -q "mutex \($first\|$last\) and 1 other$" || fail "the report: $("$trace_analyze" t.trc)"
passed 'in the report'
