"""Which tool's output can feed which tool's input, and what has to be called first."""
