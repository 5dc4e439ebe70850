"""Files of trajectories in the formats of others, read and written without loss."""
