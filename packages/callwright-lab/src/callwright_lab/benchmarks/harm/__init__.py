"""What refinement does to calls that were right."""
