"""Training of planners of whole graphs (Beyond ReAct)."""
