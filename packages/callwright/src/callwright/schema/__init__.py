"""JSON Schema: compiled, checked, coerced and normalised. Pure; opens no socket."""
