#!/bin/sh
# Locks that are used before the interposers were set up: in IFUNC resolvers and constructors of
# objects that are relocated, and initialised, before or after them.
. "$top_srcdir/tests/recorder/interpose/lib.sh"
early=$here/.libs/libearly.so
program=$(program same_cxx)

LD_PRELOAD=$early "$program" >"$work/plain" || fail "plain: $?"
for object in "$fake" "$preload"; do
	for order in "$early $object" "$object $early"; do
		LD_PRELOAD=$order TRC_SESSION=$work TRC_FOLLOW=1 "$program" >"$work/now" ||
			fail "$order: $?"
		cmp "$work/plain" "$work/now" || fail "$order: other output"
	done
done
exit $failed
