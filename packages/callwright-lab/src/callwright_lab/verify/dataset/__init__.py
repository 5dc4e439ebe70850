"""Somebody else's data set, judged by rule."""
