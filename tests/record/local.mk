# tests/record
