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
