# tests/recorder
