"""A repairing proxy: OpenAI- and Anthropic-compatible in front, any OpenAI-compatible endpoint
behind.
"""
