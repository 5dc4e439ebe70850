"""The ends of calls at the MCP gateway: calls that are right, and of calls that are spoiled."""
