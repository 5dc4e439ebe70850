"""Client APIs other than chat completions, translated in both directions."""
