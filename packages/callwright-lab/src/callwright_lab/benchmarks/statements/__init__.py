"""Planted true and false statements against the answer check."""
