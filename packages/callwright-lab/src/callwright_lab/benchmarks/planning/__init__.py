"""Planned graphs and layers against gold."""
