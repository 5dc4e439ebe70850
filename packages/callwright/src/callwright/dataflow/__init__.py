"""Finds the tools whose output can feed another tool's input, and the tools that must be called
first.
"""
