#!/bin/sh
# What is recorded, with each choice of --locks; and who is named as a waker.
. "$top_srcdir/tests/recorder/interpose/lib.sh"
program=$(program events)
LD_PRELOAD=$fake timeout 300 "$program" || fail "contended: $?"
FAKE_LOCKS=all LD_PRELOAD=$fake timeout 300 "$program" || fail "all: $?"
FAKE_LOCKS=none LD_PRELOAD=$fake timeout 300 "$program" || fail "none: $?"
LD_PRELOAD="$fake $here/.libs/libothermutex.so" timeout 300 "$program" ||
	fail "with another library that interposes mutexes: $?"
LD_PRELOAD=$fake timeout 300 "$(program wakers)" || fail "wakers: $?"
exit $failed
