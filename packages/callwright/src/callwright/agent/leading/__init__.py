"""A small model led through a turn: which tools it is offered, in what form it is asked for calls,
and which of its calls are made. The proxy leads a client's agent by it, ``guided`` our own.
"""
