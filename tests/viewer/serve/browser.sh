#!/bin/sh
# browser.sh - trace-view's pages in Debian's chromium: of a trace, and of a process that is recorded (serve.mjs).
set -eu
work=$top_builddir/tests/viewer/browser
pages=$work/serve
record=$top_builddir/recorder/trace-record
view=$top_builddir/viewer/trace-view
demo=$top_builddir/docs/examples/trc-demo

. "$top_srcdir/tests/viewer/browser_setup.sh"

[ -x "$view" ] || skip "built without libmicrohttpd"
if ldd "$record" | grep -E 'lib[atu]b?san' >/dev/null; then
	skip "a sanitizer's library cannot be preloaded into other programs"
fi
rm -rf "$pages"
mkdir -p "$pages"
XDG_CACHE_HOME=$pages/cache # pages of whole traces are kept there
export XDG_CACHE_HOME
ring_home=/dev/shm
[ -w $ring_home ] || ring_home=/tmp
TRC_RING_DIR=$(mktemp -d "$ring_home/trc-test-XXXXXX")
export TRC_RING_DIR
recorder=
end_all()
{
	[ -z "$recorder" ] || kill "$recorder" 2>/dev/null || true
	rm -rf "$TRC_RING_DIR"
}
trap end_all EXIT

"$record" -o "$pages/demo.trc" -- "$demo" -s 1 >"$pages/out" 2>&1
"$record" --flight -o "$pages/flown.trc" -- "$demo" -s 3600 >"$pages/flown.out" 2>&1 &
recorder=$! tries=0
until pid=$("$record" --list 2>/dev/null | awk '$1 ~ /^[0-9]+$/ { print $1; exit }') && [ -n "$pid" ]; do
	tries=$((tries + 1))
	[ $tries -lt 600 ] || { cat "$pages/flown.out"; exit 1; }
	sleep 0.1
done
browse "$work/serve.mjs" "$view" "$pages/demo.trc" "$pid"
