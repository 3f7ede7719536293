#!/bin/bash
# rings_left.sh - a test that passes and leaves a ring has failed, and what a failed test leaves is not told a second time.
. "$(dirname "$0")/../integration/lib.sh"
timed=$top_srcdir/tests/timed.sh
export TRC_SANITIZE=no # whatever this build is
mkdir rings

# run STATUS COMMAND: as a test; with that status, and nothing is left
run()
{
	local status=0
	TRC_RING_DIR=$PWD/rings sh "$timed" sh -c "$2" >out.txt 2>&1 || status=$?
	[ $status = "$1" ] || fail "status $status: $2: $(cat out.txt)"
	[ -z "$(ls -A rings)" ] || fail "left by $2: $(ls -A rings)"
	tail -n 1 out.txt | grep -q '^# took [0-9]* s, [0-9.]* s of CPU$' || fail "what it took: $(cat out.txt)"
}

run 0 'touch "$TRC_RING_DIR/ring"; rm "$TRC_RING_DIR/ring"'
passed 'a test that removes its rings passes'
run 0 'touch "$TRC_RING_DIR/ring"; (sleep 1; rm "$TRC_RING_DIR/ring") >/dev/null 2>&1 &'
passed 'so does one of which a process takes its ring with it a little later'
run 1 'touch "$TRC_RING_DIR/ring"'
grep -qx 'rings are left: ring ' out.txt || fail "not said: $(cat out.txt)"
passed 'one that leaves a ring fails, and says so'
for status in 2 77 99; do
	run $status "touch \"\$TRC_RING_DIR/ring\"; exit $status"
	! grep -q 'rings are left' out.txt || fail "status $status: $(cat out.txt)"
done
passed 'other results stay what they are'
touch rings/other
status=0
TRC_RING_DIR=$PWD/rings sh "$timed" true >out.txt 2>&1 || status=$?
[ $status = 0 ] && [ -e rings/other ] || fail "another's ring: status $status, $(cat out.txt)"
passed "another's ring is not the test's"
env -u TRC_RING_DIR sh "$timed" sh -c '[ -z "${TRC_RING_DIR:-}" ]' >out.txt || fail 'a directory for rings where none is asked for'
passed 'rings lie where they lie by themselves where nothing else is asked for'
