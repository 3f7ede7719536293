# recorder: profiles over HTTP, opened on request by libtrc and trace-record
pkglib_LTLIBRARIES += libtrc-http.la
libtrc_http_la_SOURCES = recorder/http.h \
	recorder/http_address.c \
	recorder/http_index.c \
	recorder/http_pool.c \
	recorder/http_query.c recorder/http_query.h \
	recorder/http_reply.c recorder/http_reply.h \
	recorder/http_route.c \
	recorder/http_server.c recorder/http_server.h \
	recorder/http_symbol.c
if HAVE_MICROHTTPD
libtrc_http_la_SOURCES += recorder/http_loop.c recorder/http_connection.c \
	recorder/http_connection.h recorder/http_peer.c
else
libtrc_http_la_SOURCES += recorder/http_no_loop.c
endif
EXTRA_DIST += recorder/http_loop.c recorder/http_no_loop.c recorder/http_connection.c \
	recorder/http_connection.h recorder/http_peer.c
libtrc_http_la_CFLAGS = $(AM_CFLAGS) $(MICROHTTPD_CFLAGS)
libtrc_http_la_LIBADD = $(MICROHTTPD_LIBS)
libtrc_http_la_LDFLAGS = $(AM_LDFLAGS) -module -avoid-version -shared -Wl,-z,nodelete -Wl,-z,now \
	$(trc_no_undefined) -Wl,--version-script=$(top_srcdir)/recorder/libtrc-http.map
libtrc_http_la_DEPENDENCIES = recorder/libtrc-http.map
EXTRA_DIST += recorder/libtrc-http.map

# The public functions, and what there is to serve.  Last: its constructor wants those before.
libtrcapi_la_SOURCES += \
	recorder/http_names.c recorder/http_names.h \
	recorder/http_own.c recorder/http_own.h \
	recorder/http_profiles.c \
	recorder/http_api.c
