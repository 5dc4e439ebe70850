"""Calibrates the harm of a refiner: which of its changes may be taken."""
