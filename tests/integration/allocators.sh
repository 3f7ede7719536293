#!/bin/bash
# Programs with allocators other than libc's, preloaded and linked, in C and in C++: they say
# the same as when they are not recorded, and the trace knows every object and its end, once;
# estimates are within 3 standard errors.
. "$(dirname "$0")/lib.sh"
. "$top_srcdir/tests/integration/heap_lib.sh"
need_unsanitized
need c++

c_object=$here/truth_heap-truth_heap.o
cxx_object=$here/truth_new-truth_new.o

# both WHAT LIBRARY C_PROGRAM CXX_PROGRAM: with LIBRARY preloaded, if that is a name.  Libc's pvalloc()
# is not for jemalloc's free(), and mimalloc ends a program instead of throwing.
both()
{
	local what=$1 ways=all
	preloaded=$2
	case $what in
	jemalloc*) ways=no-pvalloc ;;
	mimalloc*) ways=no-throw ;;
	esac
	exactly "$what, C" "$3" 16 $ways
	the_same "$what, C" "$3" 16 $ways
	exactly "$what, C++" "$4" 16 $ways
	the_same "$what, C++" "$4" 16 $ways
	roughly 4096 "$what, C++" "$4" 480 $ways
	preloaded=
}

both glibc '' "$here/truth_heap" "$here/truth_new"
for pair in jemalloc:libjemalloc.so.2 tcmalloc:libtcmalloc_minimal.so.4 mimalloc:libmimalloc.so.2; do
	name=${pair%:*}
	library=${pair#*:}
	if ! c++ -o c_linked "$c_object" -l:"$library" -lpthread 2>err.txt ||
		! c++ -o cxx_linked "$cxx_object" -l:"$library" -lpthread 2>err.txt; then
		echo "$name: skipped: $(head -n 1 err.txt)"
		continue
	fi
	both "$name, linked" '' ./c_linked ./cxx_linked
	both "$name, preloaded" "$library" "$here/truth_heap" "$here/truth_new"
done

for library in operators arrays; do
	preloaded=$here/.libs/lib$library.so
	exactly "$library of its own" "$here/truth_new" 16
	the_same "$library of its own" "$here/truth_new" 16
	preloaded=
done
