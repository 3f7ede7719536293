# format: what it builds
