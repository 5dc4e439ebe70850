"""Calls that were meant right, made right: rules, then the order of calls, then a model. First do no harm."""
