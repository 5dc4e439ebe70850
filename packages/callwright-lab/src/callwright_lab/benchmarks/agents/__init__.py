"""Whole jobs: unmodified agent loops on worlds with real state, judged by code alone."""
