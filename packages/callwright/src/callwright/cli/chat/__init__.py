"""``callwright chat``: a conversation in the terminal."""
