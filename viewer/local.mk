# viewer: what it builds
