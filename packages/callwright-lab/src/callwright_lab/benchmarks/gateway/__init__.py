"""What the MCP gateway makes of calls that are right, and of calls that are spoiled."""
