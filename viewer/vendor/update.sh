#!/bin/sh
# update.sh [--check] - fetches sql.js from npm's registry, as sql.js.version says, and puts its files
# here; with --check it compares them with those that are here instead.
#
# Run by people who maintain trc (`make update-vendor`), never by the build.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
version=$(cat "$here/sql.js.version")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

(cd "$work" && npm pack --silent "sql.js@$version" >/dev/null && tar xzf "sql.js-$version.tgz")
dist=$work/package/dist
cp "$work/package/LICENSE" "$work/LICENSE.sql.js"
cp "$work/package/AUTHORS" "$work/AUTHORS.sql.js"
cp "$dist/sql-wasm-browser.js" "$dist/sql-wasm-browser.wasm" "$work"
cd "$work"
sha256sum sql-wasm-browser.js sql-wasm-browser.wasm LICENSE.sql.js AUTHORS.sql.js >SHA256SUMS

if [ "${1-}" = --check ]; then
	for file in SHA256SUMS $(awk '{ print $2 }' SHA256SUMS); do
		cmp "$file" "$here/$file"
	done
	echo "viewer/vendor is sql.js $version"
else
	install -m 644 SHA256SUMS $(awk '{ print $2 }' SHA256SUMS) "$here"
	echo "sql.js $version is in viewer/vendor"
fi
