"""``callwright gateway``: many MCP servers behind one."""
