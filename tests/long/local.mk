# tests/long - what takes too long for every day: make check-long SUITES='posix fuzz'
check-long: all
	$(AM_TESTS_ENVIRONMENT) bash $(srcdir)/tests/long/run.sh $(SUITES)
clean-local: clean-long
clean-long:
	rm -rf tests/long/work
.PHONY: check-long clean-long
# The comparison itself: quick, and every day.
TESTS += tests/long/compare_test.sh
EXTRA_DIST += \
	tests/long/compare_test.sh \
	tests/long/cpython.sh \
	tests/long/cpython_results.py \
	tests/long/diff.sh \
	tests/long/fuzz.sh \
	tests/long/lib.sh \
	tests/long/memcached.sh \
	tests/long/posix.sh \
	tests/long/run.sh \
	tests/long/stress_ng.sh

# Targets of libFuzzer, built by fuzz.sh in a tree of their own (clang, sanitizers).
libfuzzer_targets = tests/long/fuzz_reader tests/long/fuzz_model tests/long/fuzz_ring \
	tests/long/fuzz_http tests/long/fuzz_symbols tests/long/fuzz_sframe
EXTRA_PROGRAMS += $(libfuzzer_targets)
with_libfuzzer = $(AM_LDFLAGS) -fsanitize=fuzzer
tests_long_fuzz_reader_SOURCES = tests/format/fuzz_reader.c
tests_long_fuzz_reader_CPPFLAGS = $(AM_CPPFLAGS) -DTRC_LIBFUZZER
tests_long_fuzz_reader_LDFLAGS = $(with_libfuzzer)
tests_long_fuzz_reader_LDADD = libtrcassemble.la
tests_long_fuzz_ring_SOURCES = tests/long/fuzz_ring.c tests/long/bare/check.h \
	tests/recorder/drain/fake_ring.c tests/recorder/drain/fake_ring.h
tests_long_fuzz_ring_CPPFLAGS = -I$(top_srcdir)/tests/long/bare $(AM_CPPFLAGS)
tests_long_fuzz_ring_LDFLAGS = $(with_libfuzzer)
tests_long_fuzz_ring_LDADD = libtrcdrain.la libtrccore.la libtrcunwind.la libtrcformat.la
tests_long_fuzz_model_SOURCES = tests/long/fuzz_model.c
tests_long_fuzz_model_LDFLAGS = $(with_libfuzzer)
tests_long_fuzz_model_LDADD = libtrcanalyze.la libtrcassemble.la
tests_long_fuzz_http_SOURCES = tests/long/fuzz_http.c recorder/http/index.c recorder/http/query.c \
	recorder/http/reply.c recorder/http/route.c recorder/http/symbol.c
tests_long_fuzz_http_LDFLAGS = $(with_libfuzzer)
tests_long_fuzz_http_LDADD = libtrcsymbols.la libtrcformat.la
tests_long_fuzz_sframe_SOURCES = tests/long/fuzz_sframe.c
tests_long_fuzz_sframe_LDFLAGS = $(with_libfuzzer)
tests_long_fuzz_sframe_LDADD = libtrcunwind.la
tests_long_fuzz_symbols_SOURCES = tests/long/fuzz_symbols.c
tests_long_fuzz_symbols_LDFLAGS = $(with_libfuzzer)
tests_long_fuzz_symbols_LDADD = libtrcsymbols.la libtrcformat.la
