"""The same requests over 10, 100 and 1,000 tools."""
