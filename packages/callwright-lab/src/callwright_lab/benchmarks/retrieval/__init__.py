"""Rankings of a large catalogue."""
