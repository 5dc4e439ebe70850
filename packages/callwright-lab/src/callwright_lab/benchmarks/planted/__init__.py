"""Defects put into rows of tool-use data by program."""
