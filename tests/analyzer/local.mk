# tests/analyzer
check_PROGRAMS += symbols_probe
symbols_probe_SOURCES = tests/analyzer/symbols_probe.c
symbols_probe_LDADD = libtrcsymbols.la
TESTS += tests/analyzer/symbols_test.sh
EXTRA_DIST += tests/analyzer/symbols_test.sh tests/analyzer/symbols_program.c
