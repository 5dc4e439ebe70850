"""One module per family of text formats for tool calls."""
