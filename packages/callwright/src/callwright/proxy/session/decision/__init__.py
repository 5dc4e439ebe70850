"""Decides what the client gets for an answer's calls."""
