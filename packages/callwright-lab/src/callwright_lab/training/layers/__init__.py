"""Training of the layer network (RETO, section 3.2)."""
