"""One run, from the choices of its orchestrator to its record."""
