"""Callwright makes small and open language models use tools reliably."""

__version__ = "0.1.0"
