"""Exploration-based reflection learning (Tool-MVR, 3.3): a learner's errors become error,
reflection, correction.
"""
