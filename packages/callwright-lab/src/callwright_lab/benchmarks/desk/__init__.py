"""The desk's tasks."""
