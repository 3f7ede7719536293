# tests/viewer
check_PROGRAMS += tests/viewer/make-page
tests_viewer_make_page_SOURCES = tests/viewer/make_page.c tests/viewer/fake_model.c \
	tests/viewer/fake_model.h
tests_viewer_make_page_LDADD = libtrcviewer.la libtrcformat.la
