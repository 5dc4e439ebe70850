"""Training on verified trajectories and reflections (Tool-MVR, 3.4)."""
