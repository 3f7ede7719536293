# tests/viewer
