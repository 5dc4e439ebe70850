"""Traces the values of a call to their source: the conversation, a result, or none."""
