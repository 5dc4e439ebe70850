"""Shapes of the outside world <-> our types. Pure: no I/O, no JSON text."""
