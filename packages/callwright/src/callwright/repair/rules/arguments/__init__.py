"""Rules for the arguments of one call, surest first; what is left is reported."""
