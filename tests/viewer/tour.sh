#!/bin/sh
# tour.sh - the pictures of the README and of docs/viewer.md, made anew in a directory of their own: each is there, as large as the document's,
# and shows what the document says; and the document's pictures show no words that the page no longer has (screenshot.mjs).
set -eu
pictures=$top_builddir/tests/viewer/pictures
rm -rf "$pictures"
mkdir -p "$pictures"
sh "$top_srcdir/tests/viewer/screenshot.sh" "$pictures" "$top_srcdir/docs/pictures.json" || exit $?

# Width and height, as the file says them.
size_of()
{
	od -An -tx1 -j16 -N8 "$1"
}

# shellcheck disable=SC2013 # names without spaces
for picture in $(grep -h -o '([a-z/-]*\.png)' "$top_srcdir/README.md" "$top_srcdir/docs/viewer.md" | tr -d '()' | sed 's,docs/,,' | sort -u); do
	[ -s "$pictures/$picture" ] || { echo "tour.sh: $picture was not made" && exit 1; }
	[ "$(size_of "$pictures/$picture")" = "$(size_of "$top_srcdir/docs/$picture")" ] ||
		{ echo "tour.sh: $picture is not as large as in the document" && exit 1; }
done
echo "ok - $(find "$pictures" -name '*.png' | wc -l) pictures show what the document says"
