"""Measures the changes that refinement makes to correct calls."""
