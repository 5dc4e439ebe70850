"""Recorded replies and spoiled gold calls, refined and scored."""
