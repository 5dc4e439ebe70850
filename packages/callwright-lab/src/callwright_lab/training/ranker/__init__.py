"""Training of the learned rankers of retrieval and of repair."""
