"""Output of commands: terminal, streams, live runs, JSON Lines, exit codes."""
