"""Leading a client's agent by our own engine: the questions for calls, and the decisions between
them.
"""
