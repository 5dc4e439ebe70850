"""BFCL's executable multi-turn scenarios."""
