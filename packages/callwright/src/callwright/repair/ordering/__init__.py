"""The order of calls and the values that flow between them."""
