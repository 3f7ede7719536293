#!/bin/bash
# The map in docs/architecture.md is what the includes say: each room uses the rooms that its line
# names, all of which stand above it.  Each room has a README of at most 40 lines that names its files.
. "$(dirname "$0")/../integration/lib.sh"

map=$top_srcdir/docs/architecture.md

# The rooms in order, each with those that it uses: "room used used ...".
rooms()
{
	awk -F'|' '$2 ~ /^ `[a-z\/]+` $/ && NF == 5 { gsub(/[ `]+/, " "); print $2, $4 }' "$map"
}

# Sources of a folder, and not of those inside of it.
sources_of()
{
	find "$top_srcdir/$1" -maxdepth 1 -type f | sed 's,.*/,,' |
		grep -E '\.(c|h|S|js|css|html|sh|proto)$' | LC_ALL=C sort
}

rooms >rooms.txt
[ "$(wc -l <rooms.txt)" -gt 15 ] || fail "docs/architecture.md has no map"

# ---- every source is in a room ----------------------------------------------------------------
(cd "$top_srcdir" && find format recorder analyzer viewer -name '*.[chS]' -o -name '*.js') |
	sed 's,/[^/]*$,,' | sort -u | while read -r folder; do
	grep -q "^ *$folder " rooms.txt || echo "$folder"
done >unknown.txt
[ ! -s unknown.txt ] || fail "folders that docs/architecture.md does not name: $(tr '\n' ' ' <unknown.txt)"
passed "the map names every folder"

# ---- arrows -----------------------------------------------------------------------------------
above=' '
known=" $(awk '{ print $1 }' rooms.txt | tr '\n' ' ')"
shopt -s nullglob
while read -r room uses; do
	for used in $uses; do
		[[ $above == *" $used "* ]] || fail "the map lets $room use $used, which does not stand above it"
	done
	above="$above$room "
	(cd "$top_srcdir/$room" && grep -HoE '^[[:space:]]*#[[:space:]]*include[[:space:]]*["<][^">]*[">]' \
		-- *.[chS] /dev/null) | sed 's/:[^"<]*\(["<]\)/ \1/; s/[">]$//' | while read -r file included; do
		case $included in
		*.pb-c.h) continue ;; # made in the build tree
		?trc/*) used=recorder/include/trc ;;
		?*/*) used=${included#?} used=${used%/*} ;;
		*) continue ;; # the room's own, or the system's
		esac
		if [[ $known != *" $used "* ]]; then
			[[ $included == \<* ]] || echo "$room/$file includes $included\", which is in no room"
			continue
		fi
		[ "$used" = "$room" ] && [ "$room" != recorder/include/trc ] &&
			echo "$room/$file includes ${included#?}: of its own room, by its name alone"
		case " $room $uses " in
		*" $used "*) ;;
		*) echo "$room/$file includes ${included#?}" ;;
		esac
	done
done <rooms.txt >arrows.txt
if [ -s arrows.txt ]; then
	sed 's/^/    /' arrows.txt
	fail "arrows that docs/architecture.md does not allow"
fi
passed "the includes go along the map"

# ---- READMEs ----------------------------------------------------------------------------------
while read -r room uses; do
	readme=$top_srcdir/$room/README.md
	[ "$room" = recorder/include/trc ] && continue # docs/api.md is about these
	[ -f "$readme" ] || fail "$room has no README.md"
	[ "$(wc -l <"$readme")" -le 40 ] || fail "$room/README.md has more than 40 lines"
	grep '^- ' "$readme" | sed 's/`: .*/`/' | grep -o '`[^`]*`' | tr -d '`' | LC_ALL=C sort >named.txt
	sources_of "$room" >there.txt
	cmp -s named.txt there.txt || fail "$room/README.md and its files differ:
$(diff named.txt there.txt)"
done <rooms.txt
passed "each README names the files of its folder, each once"

# ---- files that the documentation names -------------------------------------------------------
(cd "$top_srcdir" && grep -ohE '`(format|recorder|analyzer|viewer|tests|docs)/[A-Za-z0-9_./-]+\.(c|h|S|js|mjs|sh|md|mk|css)`' \
	./*.md docs/*.md $(awk '$1 !~ /include/ { print $1 "/README.md" }' "$OLDPWD/rooms.txt")) | tr -d '`' | sort -u | while read -r file; do
	[ -e "$top_srcdir/$file" ] || echo "$file"
done >gone.txt
[ ! -s gone.txt ] || fail "files that the documentation names, and that are not there: $(tr '\n' ' ' <gone.txt)"
passed "the files that the documentation names are there"

# ---- the folders of tests ---------------------------------------------------------------------
(cd "$top_srcdir" && find tests -type f ! -path '*/node_modules/*' ! -name local.mk |
	sed 's,/[^/]*$,,' | sort -u) | grep -v '^tests$' >folders.txt
grep -oE '^\| `tests/[a-z/]+` \|' "$top_srcdir/docs/hacking.md" | tr -d '|` ' | sort >mapped.txt
cmp -s folders.txt mapped.txt || fail "the map of tests in docs/hacking.md and the folders differ:
$(diff mapped.txt folders.txt)"
passed "docs/hacking.md names every folder of tests"

# ---- what records may not allocate, print or lock ---------------------------------------------
# Each interposer, but for what runs before the program; poison.h makes compile errors of it, for what follows.
for file in "$top_srcdir"/recorder/interpose/*.c; do
	case ${file##*/} in early.c | preload.c) continue ;; esac
	[ "$(grep '^#include' "$file" | tail -n 1)" = '#include "recorder/unwind/poison.h"' ] || echo "${file##*/}"
done >unpoisoned.txt
[ ! -s unpoisoned.txt ] || fail "files that do not include recorder/unwind/poison.h last: $(tr '\n' ' ' <unpoisoned.txt)"
passed "interposers cannot allocate, print or take a lock"
