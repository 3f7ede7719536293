#!/bin/sh
# browser.sh - opens timeline pages from disk in Debian's chromium and uses them (browser.mjs).
#
# playwright-core comes from npm, at the version in package.json, into the build directory; it
# brings no browser.  Exit status 77: something of this is missing here.
set -eu
work=$top_builddir/tests/viewer/browser
pages=$work/pages

skip()
{
	echo "browser.sh: skipped: $*"
	exit 77
}

command -v node >/dev/null || skip "no node"
browser=$(command -v chromium || command -v chromium-browser) || skip "no chromium"
mkdir -p "$work" "$pages"
cp "$top_srcdir/tests/viewer/package.json" "$top_srcdir"/tests/viewer/*.mjs "$work"
if [ ! -e "$work/node_modules/playwright-core/package.json" ]; then
	command -v npm >/dev/null || skip "no npm"
	(cd "$work" && timeout 90 npm install --package-lock=false --ignore-scripts --no-audit \
		--no-fund --loglevel=error) >"$work/npm.log" 2>&1 ||
		skip "npm could not install playwright-core: $(tail -n 1 "$work/npm.log")"
fi

make_page=$top_builddir/tests/viewer/make-page
"$make_page" -k "$pages/known.html"
"$make_page" -t 200 -n 40000 "$pages/many.html"
"$make_page" -t 8 -n 20000 -l 5000 "$pages/merged.html"
"$make_page" -t 64 -n 500000 "$pages/million.html"
TRC_BROWSER=$browser node "$work/browser.mjs" "$pages"
rm -f "$pages/million.html"
