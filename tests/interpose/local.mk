# tests/interpose
