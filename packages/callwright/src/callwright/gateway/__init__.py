"""The MCP gateway: many servers behind one, their calls repaired on the way."""
