"""Callwright's lab: data sets, verification, reflection, training and benchmarks."""

__version__ = "0.1.0"
