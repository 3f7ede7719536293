# analyzer: what it builds
noinst_LTLIBRARIES += libtrcsymbols.la
libtrcsymbols_la_SOURCES = \
	analyzer/symbols.c analyzer/symbols.h \
	analyzer/symbols_demangle.c analyzer/symbols_demangle.h \
	analyzer/symbols_dwarf.c analyzer/symbols_dwarf.h \
	analyzer/symbols_file.c analyzer/symbols_file.h \
	analyzer/symbols_table.c analyzer/symbols_table.h
libtrcsymbols_la_CFLAGS = $(AM_CFLAGS) $(DW_CFLAGS) $(ZLIB_CFLAGS)
libtrcsymbols_la_LIBADD = $(DW_LIBS) $(ZLIB_LIBS)

noinst_LTLIBRARIES += libtrcanalyze.la
libtrcanalyze_la_SOURCES = \
	analyzer/array.c analyzer/array.h \
	analyzer/derive_parks.c analyzer/derive_parks.h \
	analyzer/derive_sched.c \
	analyzer/derive_user.c \
	analyzer/derive_waits.c \
	analyzer/derive_wakers.c \
	analyzer/merge.c analyzer/merge.h \
	analyzer/model.c analyzer/model.h analyzer/model_parts.h \
	analyzer/model_symbols.c \
	analyzer/profile.c analyzer/profile.h \
	analyzer/profile_pprof.c \
	analyzer/waits.c analyzer/waits.h
libtrcanalyze_la_LIBADD = libtrcsymbols.la libtrcpprof.la libtrcformat.la -lpthread
