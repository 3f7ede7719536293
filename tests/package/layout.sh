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
		-- *.[chS] /dev/null) | sed 's/:[^"<]*["<]/ /; s/[">]$//' | while read -r file included; do
		case $included in
		*.pb-c.h) continue ;; # made in the build tree
		trc/*) used=recorder/include/trc ;;
		*/*) used=${included%/*} ;;
		*) continue ;; # the room's own, or the system's
		esac
		[[ $known == *" $used "* ]] || continue
		[ "$used" = "$room" ] && [ "$room" != recorder/include/trc ] &&
			echo "$room/$file includes $included: of its own room, by its name alone"
		case " $room $uses " in
		*" $used "*) ;;
		*) echo "$room/$file includes $included" ;;
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
