"""Simulated worlds: state, and the tools that read and change it."""
