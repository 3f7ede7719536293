# analyzer: what it builds
