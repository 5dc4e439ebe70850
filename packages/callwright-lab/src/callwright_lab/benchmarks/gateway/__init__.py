"""Ends of calls at the MCP gateway: of right ones, and of spoiled ones."""
