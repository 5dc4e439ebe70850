"""``callwright doctor``: probes an endpoint's tool calls."""
