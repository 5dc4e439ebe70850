"""Rankings of tools of which some are really broken."""
