# browser_setup.sh - what tests need that open pages in Debian's chromium; sourced by them with `work` set.
#
# playwright-core comes from npm, at the version in package.json, into the build directory; it
# brings no browser.  Exit status 77: something of this is missing here.

record=$top_builddir/recorder/trace-record
analyze=$top_builddir/analyzer/trace-analyze

skip()
{
	echo "$(basename "$0"): skipped: $*"
	exit 77
}

# For tests that record programs: an empty $pages, and a place for rings that goes with the test.
recording_setup()
{
	if ldd "$record" | grep -E 'lib[atu]b?san' >/dev/null; then
		skip "a sanitizer's library cannot be preloaded into other programs"
	fi
	rm -rf "$pages"
	mkdir -p "$pages"
	ring_home=/dev/shm
	[ -w $ring_home ] || ring_home=/tmp
	TRC_RING_DIR=$(mktemp -d "$ring_home/trc-test-XXXXXX")
	export TRC_RING_DIR
	trap 'rm -rf "$TRC_RING_DIR"' EXIT
}

# snapshot_of_demo NAME [OPTION...]: of the demo program at work, which then is ended.
snapshot_of_demo()
{
	"$record" --flight -o "$pages/flown.trc" -- "$demo" -s 600 >"$pages/out" 2>"$pages/err" &
	recorder=$! tries=0 snapshot=$pages/$1.trc
	shift
	until "$record" --snapshot "$(pgrep -P $recorder trc-demo)" "$@" -o "$snapshot" >"$pages/out" 2>&1; do
		tries=$((tries + 1))
		if [ $tries -ge 600 ]; then
			kill $recorder
			cat "$pages/out" "$pages/err"
			return 1
		fi
		sleep 0.1
	done
	kill $recorder
	wait $recorder 2>"$pages/err" || true # it ends as the program does, which the signal ended
}

# browse SCRIPT ARGUMENT...: the pages are there.  A sanitizer has seen how they were made; of what a
# browser does with them it sees nothing, and a browser takes minutes.
browse()
{
	[ "${TRC_SANITIZE:-no}" = no ] ||
		skip "the pages were made in a build with -fsanitize=$TRC_SANITIZE, and not opened"
	TRC_BROWSER=$browser node "$@"
}

# serving NAME OPTION... -- COMMAND...: recorded in the background; returns when it listens at $socket.
serving()
{
	name=$1 tries=0
	shift
	"$record" -o "$pages/$name.trc" "$@" >"$pages/$name.out" 2>&1 &
	recorder=$!
	until [ -S "$socket" ]; do
		tries=$((tries + 1))
		if [ $tries -ge 600 ] || ! kill -0 $recorder; then
			echo "it does not listen: $*"
			cat "$pages/$name.out"
			exit 1
		fi
		sleep 0.1
	done
}

command -v node >/dev/null || skip "no node"
browser=$(command -v chromium || command -v chromium-browser) || skip "no chromium"
mkdir -p "$work" "$pages"

# Two tests may begin at once: one installs.
exec 9>"$work/npm.lock"
flock 9
for file in "$top_srcdir/tests/viewer/package.json" "$top_srcdir"/tests/viewer/*.mjs; do
	cmp -s "$file" "$work/${file##*/}" || cp -f "$file" "$work"
done
if [ ! -e "$work/node_modules/playwright-core/package.json" ]; then
	command -v npm >/dev/null || skip "no npm"
	(cd "$work" && timeout 90 npm install --package-lock=false --ignore-scripts --no-audit \
		--no-fund --loglevel=error) 9>&- >"$work/npm.log" 2>&1 ||
		skip "npm could not install playwright-core: $(tail -n 1 "$work/npm.log")"
fi
exec 9>&-
