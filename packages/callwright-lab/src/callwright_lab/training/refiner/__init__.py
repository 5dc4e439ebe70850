"""Training of the tool-use refiner: data, warm start, DAPO."""
