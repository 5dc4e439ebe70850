"""The upstream's answers: read as they come, whole or streamed, and written again with decided
calls."""
