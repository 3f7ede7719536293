#!/bin/bash
# memcached.sh - memcached's own tests (Debian's source package) against Debian's memcached, plain
# and recorded.  A unit is a script of theirs.  How many checks it makes is not always the same, so
# they are not compared one by one: its status is, and which checks failed.
. "$(dirname "$0")/lib.sh"

all_modes='record all'
modes=${LONG_MODES:-$all_modes}
need memcached perl gcc
debian_source memcached
place=$work/memcached
mkdir -p "$place"
cp -r "$sources/memcached/t" "$sources/memcached/timedrun.c" "$place/"
# An option of memcached's debug build, which Debian does not have.
sed -i 's/ -o relaxed_privileges//' "$place/t/lib/MemcachedTest.pm" "$place"/t/*.t
gcc -w -o "$place/timedrun" "$place/timedrun.c" || fail 'timedrun cannot be built'

# What the tests start: `timedrun 600 ./memcached-debug ...`.
run_unit()
{
	local status=0

	printf '#!/bin/sh\nexec %s memcached "$@"\n' "$(recorder_words "$1")" >"$place/memcached-debug"
	chmod +x "$place/memcached-debug"
	(cd "$place" && limited 120 "$3" perl "t/$2.t") || status=$?
	sed -n -E "s/^not ok [0-9]+ *-? *(.*)/$2: \1\tnot ok/p" "$3"
	grep -c '^ok ' "$3" >>"$work/checks.$1"
	printf '%s\t%s\n' "$2" $status
	: >"$3.short" && grep -v '^ok ' "$3" >"$3.short" && mv "$3.short" "$3" # some say 170 MB
}

memcached --version
(cd "$place/t" && ls -- *.t) | sed 's/\.t$//' | compare || suite_failed=1
for mode in plain $modes; do
	say "$mode: $(awk '{ n += $1 } END { print n }' "$work/checks.$mode") checks were ok"
done
exit $suite_failed
