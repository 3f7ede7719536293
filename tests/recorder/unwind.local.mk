# The unwinder, against libunwind and the C library's.
EXTRA_DIST += tests/recorder/unwind_shapes.sh tests/recorder/unwind_shapes.c \
	tests/recorder/unwind_compare.h tests/recorder/unwind_compare.c
if !SANITIZED
TESTS += tests/recorder/unwind_shapes.sh
endif
