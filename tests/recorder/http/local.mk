# tests/recorder: profiles over HTTP
if HAVE_CHECK
if HAVE_MICROHTTPD
check_PROGRAMS += http_test
TESTS += http_test
http_test_SOURCES = tests/recorder/http/http_test.c tests/recorder/http/http_access.c \
	tests/recorder/http/http_profiles.c tests/recorder/http/http_server.c \
	tests/recorder/http/http_fixture.c tests/recorder/http/http_fixture.h \
	tests/recorder/http/http_client.c tests/recorder/http/http_client.h tests/forks.h
http_test_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS) $(ZLIB_CFLAGS)
http_test_LDADD = libtrc.la libtrcformat.la $(ZLIB_LIBS) $(CHECK_LIBS)
check_PROGRAMS += http_connection_test
TESTS += http_connection_test
http_connection_test_SOURCES = tests/recorder/http/http_connection_test.c recorder/http/connection.c \
	recorder/http/connection.h
http_connection_test_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
http_connection_test_LDADD = $(CHECK_LIBS)
endif
endif
