"""The answer in words: asked for, read, checked, repaired or quoted."""
