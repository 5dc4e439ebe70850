"""Measures the duration of each strategy with the same knowledge and scripted delays."""
