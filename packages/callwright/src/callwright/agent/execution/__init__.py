"""The middle of a run: calls on their way, together, one by one, or as a stream."""
