"""The MCP gateway: many servers behind one endpoint, their calls repaired on the way."""
