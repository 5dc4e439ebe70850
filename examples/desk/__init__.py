"""A small travel desk: real tools that work offline, and tasks with answers computed by code."""
