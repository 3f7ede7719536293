# recorder: what it builds
include recorder/unwind.local.mk
