# tests/analyzer
