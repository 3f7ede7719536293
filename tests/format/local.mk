# tests/format
check_LTLIBRARIES += libtrcassemble.la
check_PROGRAMS += trc-assemble

libtrcassemble_la_SOURCES = tests/format/assemble.c tests/format/assemble.h
libtrcassemble_la_LIBADD = libtrcformat.la

trc_assemble_SOURCES = tests/format/assemble_main.c
trc_assemble_LDADD = libtrcassemble.la
