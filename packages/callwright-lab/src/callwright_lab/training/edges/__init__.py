"""Training of the pairwise edge model and of the models that read it."""
