"""Optional values of a list: how well a model's probabilities tell the asked from the unasked."""
