#!/bin/sh
# types.sh [--write] - the viewer's programs under TypeScript's checker and eslint (check.mjs); skipped where npm cannot install them.
#
# With --write (`make update-imports`) their import lines and `export` words are made anew first (imports.mjs).
#
# Types stand in JSDoc comments and in viewer/assets/types.d.ts.  Neither a build nor a page needs npm.
set -eu
work=$top_builddir/tests/viewer/types/work
here=$top_srcdir/tests/viewer/types

skip()
{
	echo "types.sh: skipped: $*"
	exit 77
}

command -v node >/dev/null || skip "no node"
mkdir -p "$work"
if ! cmp -s "$here/package.json" "$work/package.json" || [ ! -e "$work/installed" ]; then
	command -v npm >/dev/null || skip "no npm"
	rm -rf "$work/installed" "$work/node_modules"
	cp -f "$here/package.json" "$work"
	(cd "$work" && timeout 90 npm install --package-lock=false --ignore-scripts --no-audit --no-fund --loglevel=error) \
		>"$work/npm.log" 2>&1 || skip "npm could not install eslint and typescript: $(tail -n 1 "$work/npm.log")"
	touch "$work/installed"
fi
cp -f "$here/check.mjs" "$here/imports.mjs" "$work"
node "$work/check.mjs" "$top_srcdir" "$@"
