"""Strategies against each other: same tasks, model, limits and accounting."""
