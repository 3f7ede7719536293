# sframe.awk - assembles a section .sframe for x86-64 from a text: prints it as assembler source.
#
#	awk -v address=N -f sframe.awk TEXT
#
# The section will lie at the address N.  The text:
#
#	sframe VERSION [field]            starts of functions count from their field, not the section
#	function START BYTES [flexible] [repeats N]
#	row OFF CFA [PLACE]               of the function before; PLACE is that of the frame pointer
#	row OFF end                       the outermost frame
#
# CFA is a register and an offset, sp+16; PLACE is *cfa-16.  In a flexible function (not in version
# 2) they may also be read from memory, *fp-8, and PLACE may name a register.  Functions must be in order.
BEGIN {
	register["sp"] = 7
	register["fp"] = 6
	register["r10"] = 10
}
# "*fp-8" becomes reg = "fp", off = -8, memory = 1.
function place(text,    at) {
	memory = sub(/^\*/, "", text)
	at = match(text, /[-+]/)
	reg = substr(text, 1, at - 1)
	off = substr(text, at) + 0
	if (off > 32767 || off < -32768) wide = 1
}
function pair(text) {
	place(text)
	# What is relative to the CFA is always in memory.
	words = words ", " (reg == "cfa" ? 2 : register[reg] * 8 + memory * 2 + 1) ", " off
	n += 2
}
$1 == "sframe" {
	version = $2
	from_field = $3 == "field"
}
$1 == "function" {
	start[++functions] = $2
	bytes[functions] = $3
	rows[functions] = 0
	flexible[functions] = repeats[functions] = 0
	for (i = 4; i <= NF; i++) {
		if ($i == "flexible") flexible[functions] = version > 2
		if ($i == "repeats") repeats[functions] = $(i + 1)
	}
}
$1 == "row" {
	n = 0
	words = ""
	base = wide = 0
	if ($3 != "end" && flexible[functions]) {
		pair($3)
		if (NF > 3) {
			# Nothing is said of the return address: one word; or it is said again.
			if (++paddings % 2) {
				words = words ", 0"
				n++
			} else {
				pair("*cfa-8")
			}
			pair($4)
		}
	} else if ($3 != "end") {
		place($3)
		base = reg == "sp"
		words = ", " off
		n = 1
		if (NF > 3) {
			place($4)
			words = words ", " off
			n++
		}
	}
	size = ++all % 3 && !wide ? 1 : 2 # words of two and of four bytes
	text = "\t.4byte " $2 "\n\t.byte " (base + 2 * n + 32 * size) "\n"
	if (n) text = text (size == 1 ? "\t.2byte " : "\t.4byte ") substr(words, 3) "\n"
	row[functions, ++rows[functions]] = text
}
END {
	print "section:\n\t.2byte 0xdee2\n\t.byte " version ", " 1 + 4 * from_field ", 3, 0, -8, 0"
	print "\t.4byte " functions ", " all ", end - rows, 0, rows - functions"
	print "functions:"
	for (f = 1; f <= functions; f++) {
		printf "\t.%dbyte %s - %s%s\n", version == 2 ? 4 : 8, start[f], address,
			from_field ? " - (. - section)" : ""
		print "\t.4byte " bytes[f] ", rows_" f " - rows"
		# Rows begin with addresses of four bytes.
		info = 2 + (repeats[f] ? 16 : 0)
		if (version == 2) print "\t.4byte " rows[f] "\n\t.byte " info ", " repeats[f] ", 0, 0"
		more[f] = "\t.2byte " rows[f] "\n\t.byte " info ", " flexible[f] ", " repeats[f]
	}
	print "rows:"
	for (f = 1; f <= functions; f++) {
		print "rows_" f ":"
		if (version > 2) print more[f]
		for (i = 1; i <= rows[f]; i++) printf "%s", row[f, i]
	}
	print "end:"
}
