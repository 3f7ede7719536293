#!/bin/sh
# screenshot.sh DIRECTORY [WORDS] - records trc-demo, memcached and redis under load, and makes the pictures of the README and of docs/viewer.md
# from their pages, which have to show what the document says.  With WORDS, a pictures.json, also
# says which of its pictures are old.  Needs Debian's memcached, redis-server, redis-tools, and pngquant for
# small pictures.
set -eu
pictures=$1
work=$top_builddir/tests/viewer/browser
pages=$work/screenshot # both absolute

. "$top_srcdir/tests/viewer/browser_setup.sh"
recording_setup
for tool in memcached redis-server redis-benchmark; do
	command -v $tool >/dev/null || skip "no $tool"
done
cd "$pages" # the servers' arguments stand in the pictures: a socket there has a short name
socket=socket
as_root=
[ "$(id -u)" != 0 ] || as_root='-u root'

"$record" -q -F 997 -o "$pages/demo.trc" -- "$top_builddir/docs/examples/trc-demo" >"$pages/out"
# shellcheck disable=SC2086 # a list of options
serving memcached -q -F 997 -- memcached $as_root -t 4 -m 64 -s "$socket" -a 0700
"$top_builddir/tests/integration/mc_load" -s "$socket" -n 100000 -c 32 >"$pages/out"
kill -TERM "$(pgrep -P $recorder memcached)"
wait $recorder
rm -f "$socket"
data=$(mktemp -d /tmp/redis-XXXXXX) # stands in a picture, too
trap 'rm -rf "$TRC_RING_DIR" "$data"' EXIT
cd "$data"
serving redis -q -F 997 -- redis-server --port 0 --unixsocket "$socket" --save '' --appendonly yes --daemonize no
redis-benchmark -s "$socket" -q -n 20000 -c 32 -P 16 -r 1000 -t set,lpush,sadd,zadd,lrange_100 >"$pages/out" 2>&1
redis-cli -s "$socket" shutdown nosave
wait $recorder
for name in demo memcached redis; do
	"$analyze" --html "$pages/$name.html" "$pages/$name.trc"
done
browse "$work/screenshot.mjs" "$pages" "$pages" ${2:+"$2"}
cp -f "$pages/pictures.json" "$pictures"
for picture in "$pages"/*.png; do
	if command -v pngquant >/dev/null; then
		pngquant --force --speed 1 --output "$pictures/${picture##*/}" 256 "$picture"
	else
		cp -f "$picture" "$pictures"
	fi
done
