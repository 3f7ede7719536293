#!/bin/sh
# Stacks found by .sframe are those found by .eh_frame: programs of every shape get a section of all
# rows of their own .eh_frame, in each version and encoding, and compare their stacks with other
# unwinders' as ever.  With a section that lies, they must differ: so it was read, and read first.
# A module that has nothing but .sframe is walked through.
set -eu
[ "$(uname -m)" = x86_64 ] || exit 77
src=$top_srcdir/tests/recorder/unwind
lib=$top_builddir/.libs/libtrcunwind.a
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

# Turns a text into the bytes of a section that lies at this address.
assemble() { # TEXT ADDRESS BINARY
	awk -v address="$2" -f "$src/sframe.awk" "$1" >"$dir/section.s"
	# shellcheck disable=SC2086  # CC may hold options
	$CC -c -o "$dir/section.o" "$dir/section.s"
	objcopy -O binary -j .text "$dir/section.o" "$3"
}

# The address, offset or bytes (columns 1 to 3) of a section of an ELF file.
section_field() { # FILE SECTION COLUMN
	readelf -SW "$1" | sed -n "s/.*] \\($2 \\)/\\1/p" | awk -v n="$3" '{ print "0x" $(n + 2) }'
}

# Puts a text into the section .room of an ELF file, and has its last PT_NOTE point there as PT_GNU_SFRAME.
put() { # FILE TEXT
	address=$(section_field "$1" .room 1)
	offset=$(section_field "$1" .room 2)
	assemble "$2" "$address" "$dir/section.bin"
	bytes=$(wc -c <"$dir/section.bin")
	[ "$bytes" -gt 60 ] && [ "$bytes" -le $(($(section_field "$1" .room 3))) ]
	dd if="$dir/section.bin" of="$1" bs=1 seek=$((offset)) conv=notrunc status=none
	note=$(readelf -lW "$1" | awk '/^Program Headers/ { on = 1; n = -2 }
		on && !/Requesting/ { if ($1 == "NOTE") last = n; n++ } END { print last }')
	printf '.4byte 0x6474e554, 4\n.8byte %s, %s, %s, %s, %s, 1\n' \
		"$offset" "$address" "$address" "$bytes" "$bytes" >"$dir/header.s"
	# shellcheck disable=SC2086  # CC may hold options
	$CC -c -o "$dir/header.o" "$dir/header.s"
	objcopy -O binary -j .text "$dir/header.o" "$dir/header.bin"
	dd if="$dir/header.bin" of="$1" bs=1 seek=$((64 + note * 56)) conv=notrunc status=none
	readelf -lW "$1" 2>/dev/null | grep -q 'LOOS+0x474e554\|GNU_SFRAME'
}

rows() { # FILE WRONG FIRST_LINE
	echo "$3"
	readelf -wF "$1" | awk -v wrong="$2" -f "$src/sframe_rows.awk" | sed 's/^/function /' |
		tr ';' '\n'
}

printf '.section .room,"a"\n.skip 65536\n.section .note.GNU-stack,"",@progbits\n' \
	>"$dir/room.s"
status=0
for level in "-O0" "-O2" "-O3 -fomit-frame-pointer" "-O2 -fno-omit-frame-pointer"; do
	# shellcheck disable=SC2086  # CC and the level are lists of words
	$CC -std=gnu17 -D_GNU_SOURCE $level -g -I"$top_srcdir" -I"$src" -o "$dir/shapes" \
		"$src/unwind_shapes.c" "$src/unwind_compare.c" "$dir/room.s" "$lib" -lunwind \
		-lpthread
	for kind in "sframe 3 field" "sframe 3" "sframe 2 field" "sframe 2"; do
		cp "$dir/shapes" "$dir/told"
		rows "$dir/told" 0 "$kind" >"$dir/text"
		put "$dir/told" "$dir/text"
		printf '%s, %s, %d functions: ' "$level" "$kind" "$(grep -c ^function "$dir/text")"
		"$dir/told" || status=1
		cp "$dir/shapes" "$dir/lied"
		rows "$dir/lied" 1 "$kind" >"$dir/text"
		put "$dir/lied" "$dir/text"
		if "$dir/lied" >/dev/null 2>&1; then
			echo "$level, $kind: what it says is not used" >&2
			status=1
		fi
	done
done

# A function without .eh_frame, on a frame of its own without frame pointer.
cat >"$dir/only.s" <<'END'
	.globl sframe_only_calls
	.type sframe_only_calls, @function
sframe_only_calls:
	subq $24, %rsp
	call *%rdi
	addq $24, %rsp
	ret
	.size sframe_only_calls, . - sframe_only_calls
	.section .note.GNU-stack,"",@progbits
END
# shellcheck disable=SC2086  # CC may hold options
$CC -shared -nostdlib -Wl,--build-id,--no-ld-generated-unwind-info -o "$dir/only.so" \
	"$dir/only.s" "$dir/room.s"
# shellcheck disable=SC2086  # the same
$CC -std=gnu17 -D_GNU_SOURCE -O2 -fomit-frame-pointer -I"$top_srcdir" -o "$dir/only" \
	"$src/unwind_sframe_only.c" "$lib" -lpthread
"$dir/only" "$dir/only.so" 1 || status=1
at=$(readelf -sW "$dir/only.so" | awk '$8 == "sframe_only_calls" { print "0x" $2; exit }')
cat >"$dir/text" <<END
sframe 3 field
function $at 11
row 0 sp+8
row 4 sp+32
row 10 sp+8
END
put "$dir/only.so" "$dir/text"
"$dir/only" "$dir/only.so" 3 || status=1
exit $status
