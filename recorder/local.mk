# recorder: what it builds
