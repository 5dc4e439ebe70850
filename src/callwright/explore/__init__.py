"""Exploration-based reflection learning (Tool-MVR, 3.3): a learner's own errors become error, reflection, correction."""
