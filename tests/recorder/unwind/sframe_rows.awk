# sframe_rows.awk - the rows of .eh_frame, as readelf -wF shows them, as functions and rows of a text
# for sframe.awk.
#
#	readelf -wF PROGRAM | awk -v wrong=0 -f sframe_rows.awk
#
# Functions with a row that needs an expression are left out.  Every third function becomes a
# flexible one.  With wrong=1 frames are told 8 bytes too large.
function finish() {
	if (rows == "") rows = common[cie]
	if (start != "" && !beyond)
		print start, end (++functions % 3 ? "" : " flexible") rows | "sort"
	start = ""
}
function row(at,    fp_place) {
	cfa = $2
	sub(/^rsp/, "sp", cfa)
	sub(/^rbp/, "fp", cfa)
	fp_place = fp ? $fp : "u"
	if ($ra == "u") return ";row " at " end"
	if (cfa !~ /^[sf]p[+]/ || $ra != "c-8" || fp_place !~ /^(u|s|c-.*)$/) beyond = 1
	if (wrong && cfa != "sp+8") cfa = substr(cfa, 1, 3) substr(cfa, 4) + 8
	return ";row " at " " cfa (fp_place ~ /^c/ ? " *cfa" substr(fp_place, 2) : "")
}
$4 == "CIE" {
	finish()
	cie = $1
	common[cie] = ""
}
$4 == "FDE" {
	finish()
	cie = substr($5, 5)
	split(substr($6, 4), part, /\.\./)
	start = "0x" part[1]
	end = "0x" part[2] "-" start
	rows = ""
	beyond = 0
}
$1 == "LOC" {
	fp = 0
	for (i = 3; i <= NF; i++) {
		if ($i == "rbp") fp = i
		if ($i == "ra") ra = i
	}
}
length($1) == 16 && $1 ~ /^[0-9a-f]+$/ {
	if (start == "") common[cie] = common[cie] row(0)
	else rows = rows row("0x" $1 "-" start)
}
END {
	finish()
}
