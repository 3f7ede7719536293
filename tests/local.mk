# Tests, one fragment a room.
include tests/format/local.mk
include tests/recorder/local.mk
include tests/interpose/local.mk
include tests/record/local.mk
include tests/analyzer/local.mk
include tests/viewer/local.mk
include tests/integration/local.mk
include tests/package/local.mk
include tests/bench/local.mk
include tests/long/local.mk
