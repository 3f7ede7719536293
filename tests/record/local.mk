# tests/record: the drain, and trace-record
if HAVE_CHECK
check_PROGRAMS += test-drain
TESTS += test-drain
test_drain_SOURCES = tests/record/test_drain.c tests/record/fake_ring.c tests/record/fake_ring.h
test_drain_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
test_drain_LDADD = libtrcdrain.la libtrccore.la libtrcformat.la $(CHECK_LIBS)
endif
