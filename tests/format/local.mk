# tests/format
check_LTLIBRARIES += libtrcassemble.la
check_PROGRAMS += trc-assemble

libtrcassemble_la_SOURCES = tests/format/assemble.c tests/format/assemble.h
libtrcassemble_la_LIBADD = libtrcformat.la

trc_assemble_SOURCES = tests/format/assemble_main.c
trc_assemble_LDADD = libtrcassemble.la

if HAVE_CHECK
check_PROGRAMS += tests/format/test_format
TESTS += tests/format/test_format
tests_format_test_format_SOURCES = \
	tests/format/common.c \
	tests/format/common.h \
	tests/format/test_clock.c \
	tests/format/test_codings.c \
	tests/format/test_damage.c \
	tests/format/test_example.c \
	tests/format/test_main.c \
	tests/format/test_roundtrip.c \
	tests/format/test_schema.c \
	tests/format/test_versions.c \
	tests/format/test_writer.c
tests_format_test_format_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
# test_damage.c makes allocations fail.
tests_format_test_format_LDFLAGS = $(AM_LDFLAGS) \
	-Wl,--wrap=malloc -Wl,--wrap=calloc -Wl,--wrap=realloc
tests_format_test_format_LDADD = libtrcassemble.la $(CHECK_LIBS)
endif
