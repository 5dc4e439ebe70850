"""OAuth on both sides of the gateway: as a protected resource for its clients, and as a client of
the servers behind it. The two never meet: a client's token ends at the door.
"""
