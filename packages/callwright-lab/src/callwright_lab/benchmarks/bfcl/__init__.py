"""BFCL's own harness, with a model direct and behind the proxy."""
