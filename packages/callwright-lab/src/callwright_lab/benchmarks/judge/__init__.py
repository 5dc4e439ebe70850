"""Judging with a model, and how far a judge can be believed."""
