# tests/recorder
include tests/recorder/unwind.local.mk
