# browser_setup.sh - what tests need that open pages in Debian's chromium; sourced by them with `work` set.
#
# playwright-core comes from npm, at the version in package.json, into the build directory; it
# brings no browser.  Exit status 77: something of this is missing here.

skip()
{
	echo "$(basename "$0"): skipped: $*"
	exit 77
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
