"""Measures what a model's one letter tells: of a sentence the deed, of a request the write."""
