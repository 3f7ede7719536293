# tests/format
check_LTLIBRARIES += libtrcassemble.la
check_PROGRAMS += trc-assemble

libtrcassemble_la_SOURCES = \
	tests/format/assemble.c \
	tests/format/assemble.h \
	tests/format/assemble_words.c \
	tests/format/assemble_words.h \
	tests/format/repair.c \
	tests/format/repair.h
libtrcassemble_la_LIBADD = libtrcformat.la

trc_assemble_SOURCES = tests/format/assemble_main.c
trc_assemble_LDADD = libtrcassemble.la

check_PROGRAMS += tests/format/print_kinds
tests_format_print_kinds_SOURCES = tests/format/print_kinds.c
tests_format_print_kinds_LDADD = libtrcformat.la

TESTS += tests/format/writer_calls.sh
EXTRA_DIST += tests/format/writer_calls.sh

# The fuzzer's own mutations, a few seconds of them; `make fuzz` runs libFuzzer's.
check_PROGRAMS += tests/format/fuzz_reader
TESTS += tests/format/fuzz_reader
tests_format_fuzz_reader_SOURCES = tests/format/fuzz_reader.c
tests_format_fuzz_reader_LDADD = libtrcassemble.la

# FUZZ_SECONDS=60, FUZZ_CC=clang
fuzz: fuzz-format
fuzz-format: tests/format/fuzz_reader
	@$(MKDIR_P) tests/format/fuzz-corpus
	tests/format/fuzz_reader --seeds tests/format/fuzz-corpus
	$${FUZZ_CC:-clang} $(DEFS) $(DEFAULT_INCLUDES) $(AM_CPPFLAGS) -std=gnu17 -O1 -g \
		-fsanitize=fuzzer,address,undefined -fno-sanitize-recover=undefined \
		-DTRC_LIBFUZZER -o tests/format/fuzz_libfuzzer \
		$(addprefix $(top_srcdir)/,$(filter-out format/pprof%,$(filter %.c,$(libtrcformat_la_SOURCES)))) \
		$(top_srcdir)/tests/format/fuzz_reader.c $(top_srcdir)/tests/format/repair.c $(LZ4_LIBS)
	cd tests/format && ./fuzz_libfuzzer -max_total_time=$${FUZZ_SECONDS:-60} -max_len=65536 \
		-rss_limit_mb=1024 -print_final_stats=1 fuzz-corpus
clean-local: clean-fuzz-format
clean-fuzz-format:
	rm -rf tests/format/fuzz-corpus tests/format/fuzz_libfuzzer tests/format/crash-* tests/format/oom-*
.PHONY: fuzz fuzz-format clean-fuzz-format

if HAVE_CHECK
check_PROGRAMS += tests/format/stub_code_test
TESTS += tests/format/stub_code_test
tests_format_stub_code_test_SOURCES = tests/format/stub_code_test.c
tests_format_stub_code_test_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_format_stub_code_test_LDADD = libtrcsymbols.la libtrcformat.la $(CHECK_LIBS)
check_PROGRAMS += tests/format/test_format
TESTS += tests/format/test_format
tests_format_test_format_SOURCES = \
	tests/format/common.c \
	tests/format/common.h \
	tests/format/test_clock.c \
	tests/format/test_codings.c \
	tests/format/test_damage.c \
	tests/format/test_density.c \
	tests/format/test_example.c \
	tests/format/test_lies.c \
	tests/often.h tests/turns.h \
	tests/format/test_main.c \
	tests/format/test_path.c \
	tests/format/test_roundtrip.c \
	tests/format/test_row_index.c \
	tests/format/test_symbols_rust.c format/symbols_rust.c format/symbols_rust_v0.c \
	tests/format/test_schema.c \
	tests/format/test_versions.c \
	tests/format/test_writer.c \
	tests/format/test_writer_tables.c \
	tests/format/waits/test_charges.c \
	tests/format/waits/test_locks.c \
	tests/format/waits/test_parks.c \
	tests/format/written.c \
	tests/format/written.h
tests_format_test_format_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
# test_damage.c makes allocations fail.
tests_format_test_format_LDFLAGS = $(AM_LDFLAGS) \
	-Wl,--wrap=malloc -Wl,--wrap=calloc -Wl,--wrap=realloc
tests_format_test_format_LDADD = libtrcassemble.la $(LZ4_LIBS) $(CHECK_LIBS)
endif
