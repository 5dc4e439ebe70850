"""Tool calls made right: checked against the schema, repaired by rules, by order, and by a
model.
"""
