# tests/format
