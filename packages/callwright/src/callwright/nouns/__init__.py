"""Values that every room passes on. Standard library only."""
