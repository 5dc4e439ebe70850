"""One request through the proxy, without I/O."""
