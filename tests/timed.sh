#!/bin/sh
# timed.sh TEST... - runs a test; the last line of its log says what it took: make's LOG_COMPILER.
#
# CPU seconds are of the test and of all that it started: adopt waits for what the test does not, as most of a browser's
# processes.  Unlike elapsed seconds they are nearly the same however much else the machine does.
#
# Where TRC_RING_DIR says where rings lie, the test has a directory in it.  A test that passes and leaves something
# there has failed; a process that it has ended has ten seconds to go.  What a failed test leaves is removed: it says nothing more.
# In builds with sanitizers what is left is removed, and nobody has looked whether it should be there.
rings=
if [ -n "${TRC_RING_DIR:-}" ] && rings=$(mktemp -d "$TRC_RING_DIR/test-XXXXXX"); then
	TRC_RING_DIR=$rings
	export TRC_RING_DIR
fi
began=$(date +%s)
"$top_builddir/tests/adopt" "$@"
status=$?
if [ -n "$rings" ]; then
	tries=100
	[ "${TRC_SANITIZE:-no}" = no ] || rm -rf "${rings:?}"/*
	while [ $status = 0 ] && [ -n "$(ls -A "$rings")" ] && [ $tries -gt 0 ]; do
		sleep 0.1
		tries=$((tries - 1))
	done
	if [ $status = 0 ] && [ -n "$(ls -A "$rings")" ]; then
		echo "rings are left: $(ls -A "$rings" | tr '\n' ' ')"
		status=1
	fi
	rm -rf "$rings"
fi
took=$(mktemp) || exit $status
times >"$took" # not into a pipe: a child has waited for nobody
awk -v elapsed=$(($(date +%s) - began)) '
	{ for (i = 1; i <= 2; i++) { split($i, t, /[ms]/); cpu += t[1] * 60 + t[2] } }
	END { printf "# took %d s, %.1f s of CPU\n", elapsed, cpu }' "$took"
rm -f "$took"
exit $status
