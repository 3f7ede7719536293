# docs: what it builds
